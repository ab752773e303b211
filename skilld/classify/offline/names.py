"""Names in code-like form within a person's words: they keep their case and their colon. Pure."""

from __future__ import annotations

import re

# Begins with a path, a name in code, a machine ("glas02", "db-1") or a tool whose name is written small.
_NAME = re.compile(
    r"\S{0,60}[\w)][./_:]\S{0,60}\w|\S{0,60}\w/(?=\s)|[a-z][a-z-]{0,30}\d[\w.-]{0,30}(?![^\s,;:.])|[a-z]{1,30}[A-Z]\w"
    r"|(?:npm|npx|pnpm|yarn|pip|pipx|uv|uvx|conda|pytest|vitest|eslint|biome|ruff|mypy|pylint|rg|ripgrep|grep|sed|awk|jq|git|gh|glab"
    r"|kubectl|helm|terraform|nginx|rsync|ssh|scp|curl|wget|systemd|systemctl|docker|podman|psql|sqlite3?|cargo|rustc|rustfmt|gofmt"
    r"|golangci-lint|tsc|vite|webpack|esbuild|prettier|stylelint|zsh|bash|tmux|vim|nvim|tar|cron|crontab|ffmpeg|pandoc)(?![\w'’])"
)
# The prefix of a line or a name, with its colon: "feat:" but not "here is the fix:".
_PREFIX = (
    r"(?:\w{1,30}::|(?:feat|fix|docs?|chore|refactor|perf|tests?|build|ci|style|revert|wip|todo|fixme|hack|closes|fixes|refs?"
    r"|signed-off-by|co-authored-by|https?|file|node|npm)(?:\([\w*-]{1,30}\))?!?:)"
)
# Behind a word that takes it as a name: "here is the fix:" and "for tests:" announce something.
_ENDS_IN_PREFIX = re.compile(
    r"\b(?:use|using|with|or|and|as|by|of|write|prefix|say|put|not|never|than|und|oder|mit|nutze|verwende|schreib\w*|y|o|con|usa"
    rf"|usar|et|ou|avec|utilise\w*|e|com|usi|en|met|gebruik)\s+{_PREFIX}\Z",
    re.IGNORECASE,
)
_BESIDE = re.compile(rf"(?<![\w`:/.-]){_PREFIX}(?=\s(?:and|or|und|oder|y|o|et|ou|e|en|of)\s|\s*[,)]|\Z)", re.IGNORECASE)
_MAX_PREFIX = 80  # characters
# What something is that has a name in capitals: "Never Stop Learning is the title of the course".
_NAMED = re.compile(
    r"\W*(?:[A-Z][\w'’-]*\s+(?:(?:of|the|to|and|in|a|for|on|your)\s+){0,2}){2,8}(?:is|are|was|were|becomes|will be)\s+"
    r"(?:(?:just|still|now|only)\s+)?(?:the|our|an?|my|their|his|her|its)\b"
)


def capitalized(text: str) -> str:
    """Return `text` with a capital letter at its start, unless it begins with a name that has none."""
    return text if _NAME.match(text) or _BESIDE.match(text) else text[:1].upper() + text[1:]


def tells_of_name(text: str) -> bool:
    """Whether `text` says what something with a name in capitals is, whatever words the name has."""
    return _NAMED.match(text) is not None


def ends_in_prefix(text: str, first: int, last: int) -> bool:
    """Whether a stretch of `text` ends in a prefix whose colon belongs to it: "use feat: or fix:"."""
    if last <= first or text[last - 1] != ":":
        return False
    return _ENDS_IN_PREFIX.search(text[max(first, last - _MAX_PREFIX) : last]) is not None


def with_marked_prefixes(text: str) -> str:
    """Return `text`, which ends in a prefix, with its prefixes in code quotes, so that the last one does not end it."""
    return _BESIDE.sub(lambda found: f"`{found[0]}`", text)
