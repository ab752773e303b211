"""Reads the state of the team's rules from the remote's default branch and the branch of the team's pull request.

Commits of the pull request name their rule in trailers; the files show whether it is still in effect. Reads only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache

from skilld.classify.said_already import find_same_words
from skilld.git import objects, refs
from skilld.git.run import Git
from skilld.team.candidates import Candidate, RemoteStatus, is_same_rule
from skilld.team.records import KEY_PATTERN
from skilld.values import value_class
from skilld.words import content_stems, is_same_ask

TEAM_TRAILER, RULE_TRAILER, FILE_TRAILER = "Skilld-Team", "Skilld-Rule", "Skilld-File"
_TRAILER_PATTERN = re.compile(rf"^[ \t>*-]*({TEAM_TRAILER}|{RULE_TRAILER}|{FILE_TRAILER}): (.{{1,600}})$", re.MULTILINE)
_MAX_COMMITS = 500  # commits of the team's that are read
_MAX_FILE_BYTES = 1 << 20
# Files of instructions at the top of a project, whichever agent they are for.
INSTRUCTIONS = (
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    ".github/copilot-instructions.md",
)


@value_class
class RuleTrailers:
    """A rule as the trailers of a commit name it."""

    key: str
    rule: str
    place: str
    commit: str


def read_rules(git: Git, tip: str, behind: str = "") -> list[RuleTrailers]:
    """Return the rules that commits up to `tip`, except those of `behind`, name; the newest first.

    A squash joins the messages of several commits: each key there is one rule.
    """
    without = [f"^{behind}"] if behind else []
    out = (
        git.run("rev-list", f"--grep=^{TEAM_TRAILER}: ", f"--max-count={_MAX_COMMITS}", tip, *without).decode().split()
    )
    found: list[RuleTrailers] = []
    for commit in objects.read_commits(git, out):
        found += _parse_rules(commit.text, commit.oid) if commit else []
    return found


def _parse_rules(message: str, commit: str) -> Iterator[RuleTrailers]:
    """Yield the rules that a message names: a key, then its values up to the next key."""
    values: dict[str, str] = {}
    for name, value in [*_TRAILER_PATTERN.findall(message.replace("\r\n", "\n")), (TEAM_TRAILER, "")]:
        if name == TEAM_TRAILER:
            if KEY_PATTERN.fullmatch(values.get(TEAM_TRAILER, "")):
                yield RuleTrailers(
                    values[TEAM_TRAILER], values.get(RULE_TRAILER, ""), values.get(FILE_TRAILER, ""), commit
                )
            values = {}
        values[name] = value.strip()


def read_status(git: Git, base: str, rules: str, *, today: str) -> RemoteStatus:
    """Return what the default branch (its commit `base`) and the pull request's (`rules`, empty: none) show."""
    if not base or refs.read_tip(git, base) is None:
        return RemoteStatus(lambda _: False, {}, {}, today, today)
    landed = read_rules(git, base)
    proposed = read_rules(git, rules, base) if rules and refs.read_tip(git, rules) else []
    places = {one.key: one.place for one in landed if one.place}
    text = cache(lambda path: read_text(git, base, path))

    def says(one: Candidate) -> bool:
        own = [places[voice.record.key] for voice in one.voices if voice.record.key in places]
        is_of_skill = any(place.endswith("SKILL.md") for place in one.places)
        files = dict.fromkeys((*own, *one.places, *(() if is_of_skill else INSTRUCTIONS)))
        return any(is_said(one.rule, text(path)) for path in files)

    head = objects.read_commit(git, base)
    day = datetime.fromtimestamp(head.committer.seconds, UTC).strftime("%Y-%m-%d") if head else today
    return RemoteStatus(
        says, {one.key: one.rule for one in landed}, {one.key: one.rule for one in proposed}, min(day, today), today
    )


def is_said(rule: str, text: str) -> bool:
    """Whether a line of a file says a rule, possibly reworded."""
    if find_same_words(rule, text):
        return True
    stems = content_stems(rule)
    return any(
        is_same_ask(stems, content_stems(line)) and is_same_rule(rule, line.lstrip("-*+ "))
        for line in text.splitlines()
    )


def read_text(git: Git, commit: str, path: str) -> str:
    """Return the text of a file in a commit; empty if it is missing or too large."""
    found = objects.read_objects(git, [f"{commit}:{path}"])[0]
    is_readable = found is not None and found.kind == "blob" and len(found.data) <= _MAX_FILE_BYTES
    return found.data.decode("utf-8", "replace") if found is not None and is_readable else ""
