"""What an agent did in a session, as its log tells: single commands with their outcome, files changed. Pure.

Tool events in, actions out. A call of a shell is taken apart into the commands it runs. An action is a claim of the
log and nobody's word: `skilld.mining.procedure` keeps only what came again, and `unfit` says what no skill may repeat.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from skilld.agents.tools import READ_TOOLS, SEARCH_TOOLS, SHELL_TOOLS, command_of, files_named, patched_by
from skilld.edit.lint import lint
from skilld.types import ToolCall, ToolEvent, ToolOutcome

MAX_ACTIONS = 1000  # of one session; what follows is not looked at
MAX_COMMAND = 300  # characters: a longer one is a program of its own
_MAX_PATH = 200
_MAX_FILES = 20  # of one call


@dataclass(frozen=True, slots=True)
class Action:
    """One command, or (`edits`) one file that was changed: `text` is the command, or the path.

    `at` is the place in the transcript, `alone` whether the outcome is this command's: of several in one call it is
    not known which one failed. `looks`: it changes and tests nothing (`ls`, `git status`).
    """

    text: str
    outcome: ToolOutcome
    at: int
    edits: bool = False
    alone: bool = True
    looks: bool = False

    @property
    def failed(self) -> bool:
        """Whether the log marks it as failed."""
        return self.outcome is ToolOutcome.FAILED

    @property
    def ran(self) -> bool:
        """Whether it ran and the log does not mark it as failed, rejected or interrupted."""
        return self.outcome in {ToolOutcome.OK, ToolOutcome.UNKNOWN}


@dataclass(slots=True)
class Doings:
    """Takes in the tool events of one session in order."""

    _calls: dict[str, list[Action]] = field(default_factory=dict)
    _outcomes: dict[str, ToolOutcome] = field(default_factory=dict)
    _seen: int = 0

    def see(self, event: ToolEvent) -> None:
        """Take in one event; a call that is written again, and what is over the bound, is passed over."""
        if isinstance(event, ToolCall):
            key = event.call_id or f"@{event.span.start}"
            if key not in self._calls and self._seen < MAX_ACTIONS:
                self._calls[key] = [*_actions(event)]
                self._seen += len(self._calls[key])
        elif event.outcome is not ToolOutcome.UNKNOWN and self._outcomes.get(event.call_id) in {None, ToolOutcome.OK}:
            self._outcomes[event.call_id] = event.outcome

    def actions(self, folder: str) -> tuple[Action, ...]:
        """Return what was done, paths below `folder` relative to it."""
        found = []
        for key, actions in self._calls.items():
            outcome = self._outcomes.get(key, ToolOutcome.UNKNOWN)
            for one in actions:
                text = _below(one.text, folder)
                if text:
                    found.append(Action(text, outcome, one.at, one.edits, one.alone, one.looks))
        return tuple(found)


def _actions(call: ToolCall) -> Iterator[Action]:
    name, at = call.name.lower(), call.span.start
    files = list(dict.fromkeys(patched_by(call)))
    if not files and name in SHELL_TOOLS:
        parts = commands(command_of(call))
        for text in parts:
            yield Action(text, ToolOutcome.UNKNOWN, at, alone=len(parts) == 1, looks=is_look(text))
        return
    if not files and (called := _called(call)):
        yield Action(called, ToolOutcome.UNKNOWN, at, looks=bool(_ASKS.search(name.rpartition("__")[2])))
        return
    if not files and name not in READ_TOOLS | SEARCH_TOOLS:
        files = list(dict.fromkeys(files_named(call.input))) if _CHANGING.search(name) else []
    for path in files[:_MAX_FILES]:
        if len(path) <= _MAX_PATH:
            yield Action(path, ToolOutcome.UNKNOWN, at, edits=True)


_CHANGING = re.compile(r"edit|write|replace|patch|create|insert|update")
_SERVED = re.compile(r"mcp__[\w-]{1,100}__[\w-]{1,100}")
_ASKS = re.compile(r"(?:\A|_)(?:get|list|search|read|find|fetch|query|resolve|view|show|describe|extract)")
_SETTING = re.compile(r"[\w@.:#/-]{1,60}")


def _called(call: ToolCall) -> str:
    """Return a call of an MCP server's tool as a command: its name, and those arguments that are one word each."""
    if not _SERVED.fullmatch(call.name):
        return ""
    given = sorted((name, str(value)) for name, value in call.input.items() if isinstance(value, str | int))
    words = [f"{name}={value}" for name, value in given if _SETTING.fullmatch(f"{value}") and name.isidentifier()]
    return " ".join([call.name, *words])[:MAX_COMMAND]


def is_called(text: str) -> bool:
    """Whether an action is a call of an MCP server's tool, not a command."""
    return text.startswith("mcp__")


# A command line as the commands it runs one after the other.

_SHELL = re.compile(r"(?:/\S{1,64}/)?(?:ba|z|da)?sh\s+-l?i?c\s+")
_TOKEN = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+""")
_PIECE = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|'[^']*'|&&|\|\||[;\n|()]|\$\(|[^\\"'&|;\n$()]+|.""", re.DOTALL)
_PROGRAM = re.compile(r"<<|(?:^|[\s;])(?:for|while|until|if|case|function)\s|\{\s")
# What only silences or picks from output, and so do the last parts of a pipeline with these programs.
_QUIET = re.compile(r"(?:2>&1|[12&]?>[ \t]{0,3}/dev/null|< ?/dev/null|\|\|[ \t]{0,3}(?:true|:))\Z")
_PICKED = re.compile(r""" (?:--jq|-q|--json) (?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'-]\S*)""")
_PICKS = frozenset({"tail", "head", "cat", "less", "jq", "grep", "rg", "wc", "sort", "uniq", "cut", "awk"})
_AROUND = re.compile(r"\A(?:time |timeout (?:-\S{1,20} ){0,3}\d{1,6}[smh]? |nice (?:-n ?\d{1,2} )?|command ){1,3}")
_LOOKS = frozenset(
    re.findall(
        r"\S+",
        "ls cat head tail grep egrep rg ag find fd pwd wc which type tree stat file echo printf env printenv less more"
        " du df ps whoami date sleep true test [ sed awk jq diff sort uniq cut column man help history jobs wait clear"
        " nl bat export set unset source . cd pushd popd hostname uname id",
    )
)
_TELLS = re.compile(r"\A\S+ (?:\S+-)?help\b|(?:\A|-- )\S+ version\Z| (?:--help|--version|auth status)\Z")
_KEPT = re.compile(r"[A-Za-z_]\w*=\$\(.*\)", re.DOTALL)  # for the next command alone
_GIT_LOOKS = frozenset({"status", "diff", "log", "show", "branch", "blame", "remote", "rev-parse", "ls-files", "grep"})
_CHANGES_IN_PLACE = re.compile(r"\s-\w*i\b|>")


@lru_cache(maxsize=16384)  # each command is compared with those of many sessions
def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a command as a shell would part them, quotes kept."""
    return tuple(_TOKEN.findall(text))


def commands(text: str) -> list[str]:
    """Return the commands of a command line that run one after the other; none of one that is a program itself."""
    text = text.strip()
    if wrapped := _SHELL.match(text):
        text = text[wrapped.end() :].strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text = text[1:-1]
    text = _CONTINUED.sub(" ", _without_documents(text)).strip()
    if not text or len(text) > 4 * MAX_COMMAND or _PROGRAM.search(text):
        return []
    found = [_plain(part) for part in _split(text, {"&&", ";", "\n"}) if not part.lstrip().startswith("#")]
    return [part for part in _with_folder(found) if part and len(part) <= MAX_COMMAND]


# A text that is handed over as a document: `git commit -m "$(cat <<'EOF' ...)"`.
_OPENS = re.compile(r"""\"\$\(cat <<-?[ \t]{0,3}['"]?(\w{1,40})['"]?\n""")
_CLOSES = re.compile(r"[ \t]{0,9}\n?[ \t]{0,9}\)\"")
_CONTINUED = re.compile(r"[ \t]{0,9}\\\n[ \t]{0,9}")
_MAX_LINE = 60


def _without_documents(text: str) -> str:
    """Return a command with the first line of a text in place of one that is handed over as a document."""
    parts, at = [], 0
    while opened := _OPENS.search(text, at):
        end = text.find(f"\n{opened[1]}", opened.end() - 1)
        closed = _CLOSES.match(text, end + 1 + len(opened[1])) if end >= 0 else None
        if closed is None:
            break
        said = re.sub(r"[\"`$\\]", "", text[opened.end() : max(end, opened.end())]).strip().partition("\n")[0]
        parts += [text[at : opened.start()], f'"{said[:_MAX_LINE].rstrip()} \u2026"']
        at = closed.end()
    return "".join([*parts, text[at:]])


def _split(text: str, separators: Collection[str]) -> Iterator[str]:
    part, depth = "", 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        depth += piece in {"(", "$("}
        depth -= piece == ")"
        if piece in separators and depth <= 0:
            yield part
            part = ""
        else:
            part += piece
    yield part


def _plain(part: str) -> str:
    stages = [*_split(part, {"|"})]
    while len(stages) > 1 and (tokens(stages[-1]) or ("",))[0] in _PICKS and ">" not in _quieted(stages[-1]):
        stages.pop()
    plain = _AROUND.sub("", _quieted("|".join(stages)))
    return _PICKED.sub("", plain) if plain.startswith("gh ") else plain


def _quieted(part: str) -> str:
    part = part.strip()
    while quiet := _QUIET.search(part):
        part = part[: quiet.start()].rstrip()
    return part


def _with_folder(parts: list[str]) -> Iterator[str]:
    """Keep a change of folder with each command behind it: alone it does nothing."""
    folder = ""
    for part in parts:
        if part.startswith("cd "):
            folder = part if part[3:4] in "/~\"'$" or not folder else f"{folder.rstrip('/')}/{part[3:]}"
        else:
            yield f"{folder} && {part}" if folder and part and not is_look(part) else part


def is_look(text: str) -> bool:
    """Whether a command only looks at things."""
    words = [word for word in tokens(text.rpartition("&& ")[2]) if not re.match(r"[A-Za-z_]\w*=", word)]
    if not words or _TELLS.search(text) or _KEPT.fullmatch(text):
        return True
    if words[0] == "git":
        words = words[2:] if words[1:2] in (["-C"], ["-c"]) else words
        return next((word for word in words[1:] if not word.startswith("-")), "") in _GIT_LOOKS
    return words[0] in _LOOKS and not (words[0] in {"sed", "echo", "cat", "printf"} and _CHANGES_IN_PLACE.search(text))


_GENERIC = re.compile(
    r"(?:mise\s+exec\s+--\s+)?(?:"
    r"(?:git|hg|jj)\s+(?:-C\s+\S+\s+|-\S+\s+)*(?:add|commit|push|pull|fetch|checkout|switch|stash|restore|reset)\b"
    r"|(?:go|cargo|mise\s+run|deno|dotnet|swift|mix|gradle|\./gradlew|mvn)\s+(?:test|vet|fmt|lint|clippy|build)\b"
    r"|(?:npm|pnpm|yarn|bun|mise|just|task|make|tox|nox|cargo|go|uv|poetry|gradle|\./gradlew|mvn|deno|rake)"
    r"(?:\s+(?:run|exec))?(?:\s+(?:all|tests?|lint|fmt|format|build|check|vet|typecheck|ci|clippy)\S*(?:\s+\S*)?)?\s*\Z"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install)\b|mkdir\b|(?:pip3?|uv|poetry)\s+\S*(?:install|sync)\b"
    r"|(?:(?:uv|poetry)\s+run\s+|python3?\s+-m\s+|npx\s+)?(?:pytest|mypy|ruff|black|tsc|eslint|prettier|jest|vitest)\b"
    r"|(?:gofmt|goimports|rustfmt|clang-format|golangci-lint)\b)"
)


def is_generic(text: str) -> bool:
    """Whether a command belongs to nearly all work in a repository, so that it tells no task from another."""
    run = text.rpartition("&& ")[2]
    return bool(_GENERIC.match(run) or _GENERIC.match(run.partition(" ")[2]))  # what wraps it is no other work


def _below(text: str, folder: str) -> str:
    """Return a command or a path as seen from a project's folder."""
    base = folder.rstrip("/")
    if not base.startswith("/"):
        return text
    text = re.sub(rf"(?<![\w./-])cd {{1,4}}([\"']?){re.escape(base)}/?\1 {{1,4}}&& {{1,4}}", "", text)
    text = re.sub(rf"(?<![\w.-]){re.escape(base)}/(?=[\w.-])", "", text)
    text = re.sub(rf"(?<![\w.-]){re.escape(base)}(?![\w./-])", ".", text)
    return re.sub(r"\bgit -C \. ", "git ", text)


# What no skill may repeat of what was done, whoever did it: stricter than the linter is with a person's own words.

_RIGHTS = re.compile(
    r"(?<![\w./-])(?:sudo|doas|su|pkexec|runas|chmod|chown|chgrp|chattr|setfacl|icacls|setcap|usermod|adduser|useradd"
    r"|groupadd|passwd|visudo|sudoedit|csrutil|spctl|xattr|setenforce|kill|pkill|killall)(?![\w-])"
    r"|--privileged\b|--no-sandbox\b|--allow-root\b|--cap-add\b|\bacls?\b|\bgrant\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"(?:^|[\s;&|])(?:y|yes)\s*\|")
# It is told from the log and runs in its own project; the person sees these flags at the proposal.
_PASSING = ("foreign-", "joined-command", "runs-script", "deletes", "money", "contested-topic", "no-instruction")


@lru_cache(maxsize=4096)
def unfit(text: str) -> str:
    """Return why no skill may repeat a command or path that the log shows; "" where it may."""
    if "\n" in text or "`" in text:
        return "it is not a single line of plain text"
    if _RIGHTS.search(text) or _ANSWER.search(text):
        return "it changes permissions, stops processes or answers prompts for you"
    if _MACHINE.search(text):
        return "it contains a path specific to this machine"
    findings = lint(b"", f"# Steps\n\n- Run `{text}`.\n".encode("utf-8", "replace"), "")
    return next((one.sentence for one in findings if not one.rule.startswith(_PASSING)), "")


# Folders in which one person's machine differs from another's; `/api/users` is no such thing.
_MACHINE = re.compile(
    r"(?<![\w.:/-])(?:~\w*/|\$HOME\b|\$\{HOME\}|/(?:Users|home|root|private|Volumes|tmp|var|opt|mnt|media|srv|usr|etc)(?:/|(?=[\s;&|)\"']|\Z)))"
    r"|\b[A-Za-z]:(?:\\|/(?!/))|\bfile:/|%(?:USERPROFILE|APPDATA|LOCALAPPDATA|HOMEPATH)%",
)


def names_machine(text: str) -> bool:
    """Whether a text names a folder of one person's machine."""
    return bool(_MACHINE.search(text))
