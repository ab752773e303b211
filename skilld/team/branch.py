"""The branch of the team's pull request: one commit per rule, in the file that the team's agents load.

Written by plumbing into skilld's own copy; no work tree is touched. The same rules on the same commit give the same
commits, so a run that was killed is made again without a second branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from skilld.edit.change import Severity
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.git import objects, tree
from skilld.git.objects import Ident
from skilld.git.run import Git
from skilld.proposals.model import compose
from skilld.team.candidates import Candidate
from skilld.team.project import FILE, INSTRUCTIONS, RULE, TEAM
from skilld.text import counted, one_line

# The only files that a record of somebody else's may name.
_NAMES = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", "SKILL.md"})
_FOLDERS = {".claude/rules/": ".md", ".cursor/rules/": ".mdc", ".github/instructions/": ".instructions.md"}
_COPILOT = ".github/copilot-instructions.md"
_MAX_FILE = 1 << 20
_NEW = "# Instructions for agents\n"

Loaded = Callable[[Candidate], Sequence[str]]
"""The files, by their paths in the repository, that the agents of a candidate load, the best first."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One rule's commit: the file, and the lines that it adds."""

    candidate: Candidate
    oid: str
    path: str
    added: str


@dataclass(frozen=True, slots=True)
class Built:
    """The branch: its tip, the commits made, and why others were left out."""

    tip: str
    commits: tuple[Commit, ...]
    left_out: tuple[tuple[Candidate, SkilldError], ...] = ()


def build(
    git: Git, start: str, wanted: Iterable[Candidate], loaded: Loaded, who: Ident, *, named: Sequence[str] = ()
) -> Built:
    """Put a commit for each rule on `start`, as `who`, and return what came of it; no ref is moved.

    A rule with a flag is left out unless its id begins with one that the person `named`.
    """
    tip, commits, left_out = start, [], []
    for one in wanted:
        try:
            if not one.id.startswith(tuple(named)):
                _check_flags(one)
            made = _commit(git, tip, one, loaded, who)
        except SkilldError as error:
            left_out.append((one, error))
            continue
        commits.append(made)
        tip = made.oid
    return Built(tip, tuple(commits), tuple(left_out))


def _commit(git: Git, tip: str, one: Candidate, loaded: Loaded, who: Ident) -> Commit:
    path, before = _file(git, tip, one, loaded)
    section = next((voice.record.section for voice in one.voices if voice.record.section), "")
    whole = before or _NEW.encode()
    after = apply(whole, [insert_bullet(whole, section, one.rule)])
    # Nothing vouches for others' words; what is foreign to the project's files alone every new rule may be.
    found = [
        *lint(whole, after, one.rule),
        *(each for each in lint(whole, after, "") if not each.rule.startswith("foreign-")),
    ]
    if refused := [finding for finding in found if finding.severity is Severity.REFUSE]:
        raise SkilldError("The rule was left out", refused[0].sentence)
    parent = objects.read_commit(git, tip)
    assert parent is not None  # noqa: S101 - it is the tip that was read
    day = datetime.strptime(one.last, "%Y-%m-%d").replace(tzinfo=UTC)
    seconds = max(int(day.timestamp()), parent.committer.seconds)
    was = tree.read_entry(git, tip, path)
    now = tree.Entry(was.mode if was else "100644", git.add("blob", after))
    oid = objects.write_commit(
        git,
        tree=tree.rewrite_tree(git, tip, {path: now}),
        parents=[tip],
        message=_message(one, path),
        author=replace(who, seconds=seconds, zone="+0000"),
        committer=replace(who, seconds=seconds, zone="+0000"),
    )
    old = before.decode("utf-8", "replace").splitlines()
    added = [line for line in after.decode("utf-8", "replace").splitlines() if line.strip() and line not in old]
    return Commit(one, oid, path, "\n".join(added))


def flags(rule: str) -> tuple[str, ...]:
    """Return what somebody must see of a rule before it is proposed to everybody."""
    found = lint(_NEW.encode(), f"{_NEW}\n- {rule}\n".encode("utf-8", "replace"), rule)
    return tuple(one.sentence for one in found if one.severity is Severity.FLAG)


def _check_flags(one: Candidate) -> None:
    if flagged := flags(one.rule):
        remedy = f"To propose it anyway: skilld team pr {one.id[:8]}"
        raise SkilldError("The rule was left out", flagged[0], remedy)


def subject(one: Candidate) -> str:
    """Return the first line of the commit of a rule."""
    return _message(one, "").decode().partition("\n")[0]


def _message(one: Candidate, path: str) -> bytes:
    said = f"Said by {counted(one.people, 'person', 'people')} in {counted(one.sessions, 'session')} since {one.since}."
    message = compose(skill="team", summary=one.rule, reason=said, quotes=(), trailers={"Kind": one.kind})
    ours = f"{TEAM}: {one.id}\n{RULE}: {one_line(one.rule)}\n{FILE}: {path}\n"
    return message.rstrip(b"\n") + (b"\n" if one.kind else b"\n\n") + ours.encode()


def _file(git: Git, tip: str, one: Candidate, loaded: Loaded) -> tuple[str, bytes]:
    """Return the file that a rule goes to, and what it says; empty bytes where it is to be made."""
    for path in dict.fromkeys((*one.places, *loaded(one), *INSTRUCTIONS)):
        if not _is_instructions(path):
            continue
        tree.check_relpath(path)
        entry = tree.read_entry(git, tip, path)
        if entry is None or entry.mode not in tree.FILE_MODES:  # a link leads to one that is looked at, too
            continue
        found = objects.read_objects(git, [entry.oid])[0]
        if found is not None and len(found.data) <= _MAX_FILE:
            return path, found.data
    return ("CLAUDE.md" if one.agents == ("claude-code",) else "AGENTS.md"), b""


def _is_instructions(path: str) -> bool:
    in_folder = any(path.startswith(folder) and path.endswith(end) for folder, end in _FOLDERS.items())
    return path.rpartition("/")[2] in _NAMES or path == _COPILOT or in_folder
