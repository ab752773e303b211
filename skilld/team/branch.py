"""The branch of the team's pull request: one commit per rule, in the file that the team's agents load.

Written with plumbing into skilld's own copy; no work tree is touched. The same rules on the same commit give the same
commits, so a killed run is repeated without making a second branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.offline.placement import replacement, target_section
from skilld.classify.offline.sections import BlockKind, sections
from skilld.clock import parse_time
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
from skilld.team.project import FILE_TRAILER, INSTRUCTIONS, RULE_TRAILER, TEAM_TRAILER, read_text
from skilld.text import one_line, pluralize
from skilld.values import value_class

# The only files that another person's record may name.
_INSTRUCTION_NAMES = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", "SKILL.md"})
_INSTRUCTION_FOLDERS = {".claude/rules/": ".md", ".cursor/rules/": ".mdc", ".github/instructions/": ".instructions.md"}
_COPILOT = ".github/copilot-instructions.md"
_MAX_FILE_BYTES = 1 << 20
_NEW_FILE = "# Instructions for agents\n"

LoadedFiles = Callable[[Candidate], Sequence[str]]
"""Returns the paths in the repository of the files that a candidate's agents load, the best first."""


@value_class
class RuleCommit:
    """One rule's commit: the file, the lines that it adds, and those that said the opposite and are `removed`.

    `against` names lines that say the opposite and stay.
    """

    candidate: Candidate
    oid: str
    path: str
    added: str
    removed: str = ""
    against: tuple[str, ...] = ()


@value_class
class BranchResult:
    """The branch: its tip, the commits made, and why others were left out."""

    tip: str
    commits: tuple[RuleCommit, ...]
    left_out: tuple[tuple[Candidate, SkilldError], ...] = ()


def build_branch(
    git: Git, start: str, wanted: Iterable[Candidate], loaded: LoadedFiles, who: Ident, *, named: Sequence[str] = ()
) -> BranchResult:
    """Make a commit for each rule on top of `start`, as `who`, and return the result; no ref is moved.

    A rule takes the place of a line of its file that says the opposite, or only of the choice in it. One that is
    flagged, or that a line opposes, is left out unless the person `named` its ID or the beginning of it.
    """
    tip = start
    commits: list[RuleCommit] = []
    left_out: list[tuple[Candidate, SkilldError]] = []
    for one in wanted:
        try:
            _check_alone(one, commits)
            made = _commit_rule(git, tip, one, loaded, who)
            if not one.id.startswith(tuple(named)):
                _check_flags(made)
        except SkilldError as error:
            left_out.append((one, error))
            continue
        commits.append(made)
        tip = made.oid
    return BranchResult(tip, tuple(commits), tuple(left_out))


def _commit_rule(git: Git, tip: str, one: Candidate, loaded: LoadedFiles, who: Ident) -> RuleCommit:
    path, before = _find_file(git, tip, one, loaded)
    section = next((voice.record.section for voice in one.voices if voice.record.section), "")
    whole = before or _NEW_FILE.encode()
    text = whole.decode("utf-8", "replace")
    section = section or target_section(one.rule, text).heading
    change = replacement(one.rule, text) or insert_bullet(whole, section, one.rule)
    after = apply(whole, [change])
    # Nothing vouches for others' words; but every new rule may contain things that are new to the project's files.
    found = [
        *lint(whole, after, one.rule),
        *(each for each in lint(whole, after, "") if not each.rule.startswith("foreign-")),
    ]
    if refused := [finding for finding in found if finding.severity is Severity.REFUSE]:
        raise SkilldError("The rule was left out", refused[0].sentence)
    parent = objects.read_commit(git, tip)
    assert parent is not None  # noqa: S101 - it is the tip that was read
    seconds = max(int(parse_time(one.last) or 0.0), parent.committer.seconds)
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
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    added, removed = (
        "\n".join(line for line in ours if line.strip() and line not in others)
        for ours, others in ((new, old), (old, new))
    )
    return RuleCommit(one, oid, path, added, removed, _lines_against(git, tip, one.rule, path, after))


def _lines_against(git: Git, tip: str, rule: str, own: str, after: bytes) -> tuple[str, ...]:
    """Return the blocks that say the opposite of a rule in the project's instructions and in its own file `after`."""
    texts = {own: after.decode("utf-8", "replace")}
    texts |= {path: read_text(git, tip, path) for path in INSTRUCTIONS if path != own}
    return tuple(
        f"{path}: {one_line(block.text)}"
        for path, text in texts.items()
        for section in sections(text)
        for block in section.blocks
        if block.kind is not BlockKind.OTHER and contradicts_clearly(rule, block.text)
    )


def rule_flags(rule: str) -> tuple[str, ...]:
    """Return warnings that somebody must see before a rule is proposed to everybody."""
    found = lint(_NEW_FILE.encode(), f"{_NEW_FILE}\n- {rule}\n".encode("utf-8", "replace"), rule)
    return tuple(one.sentence for one in found if one.severity is Severity.FLAG)


def _check_alone(one: Candidate, commits: Iterable[RuleCommit]) -> None:
    for other in commits:
        if contradicts_clearly(one.rule, other.candidate.rule):
            raise SkilldError(
                "The rule was left out", f"it is the opposite of {other.candidate.id[:8]}, which is on the branch"
            )


def _check_flags(made: RuleCommit) -> None:
    against = [f"a line says the opposite: {line}" for line in made.against]
    if flagged := [*rule_flags(made.candidate.rule), *against]:
        remedy = f"To propose it anyway: skilld team pr {made.candidate.id[:8]}"
        raise SkilldError("The rule was left out", flagged[0], remedy)


def commit_subject(one: Candidate) -> str:
    """Return the first line of the commit of a rule."""
    return _message(one, "").decode().partition("\n")[0]


def _message(one: Candidate, path: str) -> bytes:
    people, sessions = pluralize(one.people, "person", "people"), pluralize(one.sessions, "session")
    note = f"Said by {people} in {sessions} since {one.since}."
    message = compose(skill="team", summary=one.rule, reason=note, quotes=(), trailers={"Kind": one.kind})
    ours = f"{TEAM_TRAILER}: {one.id}\n{RULE_TRAILER}: {one_line(one.rule)}\n{FILE_TRAILER}: {path}\n"
    return message.rstrip(b"\n") + (b"\n" if one.kind else b"\n\n") + ours.encode()


def _find_file(git: Git, tip: str, one: Candidate, loaded: LoadedFiles) -> tuple[str, bytes]:
    """Return the file for a rule, and its contents; empty bytes if it is to be created."""
    for path in dict.fromkeys((*one.places, *loaded(one), *INSTRUCTIONS)):
        if not _is_instructions(path):
            continue
        tree.check_relpath(path)
        entry = tree.read_entry(git, tip, path)
        if entry is None or entry.mode not in tree.FILE_MODES:  # a link's target is tried as well
            continue
        found = objects.read_objects(git, [entry.oid])[0]
        if found is not None and len(found.data) <= _MAX_FILE_BYTES:
            return path, found.data
    return ("CLAUDE.md" if one.agents == ("claude-code",) else "AGENTS.md"), b""


def _is_instructions(path: str) -> bool:
    in_folder = any(path.startswith(folder) and path.endswith(end) for folder, end in _INSTRUCTION_FOLDERS.items())
    return path.rpartition("/")[2] in _INSTRUCTION_NAMES or path == _COPILOT or in_folder
