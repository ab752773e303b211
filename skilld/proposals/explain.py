"""Explains a proposal to a person: its parts, the text before and after, whether it can be accepted, lines' origins."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from itertools import pairwise
from pathlib import Path

from skilld.errors import SkilldError, UsageError
from skilld.files import read_whole
from skilld.git import line_diff, objects, refs
from skilld.git.errors import NotTrackedError
from skilld.git.line_diff import undo
from skilld.git.managed_repos import root_of
from skilld.git.objects import merges_cleanly, read_blob, read_commit
from skilld.git.repo import Repo, TrackedFile, allows_only_fast_forward, find_for_new, find_tracked
from skilld.git.session import shared_git
from skilld.git.staging_branch import STAGING_REF
from skilld.paths import places
from skilld.proposals.branch import needed_first
from skilld.proposals.current_work_tree import in_current_work_tree
from skilld.proposals.file_history import path_in, read_history
from skilld.proposals.refit import Edit, step_texts
from skilld.proposals.repositories import find_file, is_private, repo_at
from skilld.proposals.whereabouts import find_amended_commit
from skilld.proposals.worktree import NEEDS_BRANCH, find_obstacle
from skilld.skills.set_aside import trash_folder, way_back
from skilld.text import compare_lines, pluralize
from skilld.types import Operation, Proposal, State, Update
from skilld.values import value_class

_LIST_MARKER = re.compile(r"^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?")  # where a line of a list begins


@value_class
class Part:
    """What one operation removes and adds, as lines without endings; or several, which are decided on together.

    `numbers` are the numbers (from 0) of these operations.
    """

    removed: tuple[str, ...]
    added: tuple[str, ...]
    numbers: tuple[int, ...] = ()

    @property
    def line(self) -> str:
        """Its lines on a single line, without list markers."""
        changes = (("-", self.removed), ("+", self.added))
        return "  ".join(f"{mark} {_LIST_MARKER.sub('', line)}" for mark, lines in changes for line in lines)


def parts(before: bytes, operations: Sequence[Operation], updates: Sequence[Update] = ()) -> list[Part]:
    """Return the parts of an edit that says the updates, each compared with the text that the ones before it left.

    Raises as `apply` does.
    """
    steps = pairwise(step_texts(before, operations))
    pieces = [_build_part(old, new, number) for number, (old, new) in enumerate(steps)]
    if len(pieces) == 1 or not updates:
        return pieces
    from skilld.proposals.narrow import join_parts  # it takes a while to load, and is rarely needed

    return join_parts(pieces, updates)


def _build_part(old: bytes, new: bytes, number: int) -> Part:
    hunks = line_diff.hunks(old, new)
    removed = tuple(line for hunk in hunks for line in hunk.removed if line.strip())
    return Part(removed, tuple(line for hunk in hunks for line in hunk.added if line.strip()), (number,))


def apply_only(before: bytes, operations: Sequence[Operation], chosen: Collection[int]) -> bytes:
    """Return the text with the chosen operations (numbers from 0) and without the others.

    The others are undone in the complete text by their lines, since one operation may be anchored on what another
    added. Raises SkilldError if they cannot be told apart.
    """
    texts = step_texts(before, operations)
    text = texts[-1]
    for number in reversed(range(len(operations))):
        if number not in chosen:
            text = undo(texts[number], texts[number + 1], text)
    return text


@shared_git()
def read_versions(proposal: Proposal) -> tuple[bytes, bytes] | None:
    """Return the skill before (b"" if it is created) and after; None if neither git nor the file shows it any more."""
    before, after = _committed_versions(proposal, proposal.relpath)
    if before is None and proposal.creates:
        before = b""
    if before is not None and after is not None:
        return before, after
    try:
        current = b"" if proposal.creates else read_whole(proposal.path)
        return current, Edit(proposal)(current)
    except (OSError, SkilldError):
        return None


@shared_git()
def shown_versions(proposal: Proposal) -> tuple[bytes, bytes] | None:
    """Return what `read_versions` does; for an open proposal without the lines of other open ones, if it fits there."""
    found = read_versions(proposal)
    if found is None or proposal.state is not State.OPEN or not proposal.commit:
        return found
    try:
        base = read_blob(repo_at(proposal.repo).git, proposal.base, proposal.relpath)
        if base is None or base == found[0]:
            return found
        after = Edit(proposal).refit_from(*found, base, lambda: base)
    except SkilldError:
        return found
    return (base, after) if after != base else found


def _committed_versions(proposal: Proposal, relpath: str) -> list[bytes | None]:
    """Return a file before and after a proposal's commit, None for a version that cannot be read."""
    if not proposal.commit:
        return [None, None]
    try:
        repo = repo_at(proposal.repo)
        made = read_commit(repo.git, proposal.commit)
        if made is not None and relpath == proposal.relpath:
            relpath = path_in(repo, made, relpath)
        return [read_blob(repo.git, commit, relpath) for commit in (f"{proposal.commit}^", proposal.commit)]
    except SkilldError:
        return [None, None]


def list_parts(proposal: Proposal) -> list[Part]:
    """Return the parts of a proposal that can be accepted separately; none if they cannot be told apart."""
    found = read_versions(proposal)
    try:
        return parts(found[0], proposal.operations, proposal.updates) if found is not None else []
    except SkilldError:  # the person amended its commit: it is one piece
        return []


def diff(proposal: Proposal) -> Iterator[str]:
    """Yield the lines of a unified diff; if there is nothing to compare with, the lines to be added."""
    found = shown_versions(with_landing_commit(proposal))
    if found is None:
        for operation in proposal.operations:
            yield from (f"+{line}" for line in operation.text.split("\n"))
        return
    name = proposal.relpath or Path(proposal.path).name
    old, new = (data.decode("utf-8", "replace").splitlines() for data in found)
    yield from unified_diff(old, new, "/dev/null" if proposal.creates else f"a/{name}", f"b/{name}", lineterm="")
    for relpath, before, after in side_versions(proposal):
        old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
        yield from unified_diff(old, new, f"a/{relpath}", f"b/{relpath}", lineterm="")


def side_versions(proposal: Proposal) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield each other file that a proposal changes, with what it was before and is after."""
    for one in proposal.also:
        before, after = _committed_versions(proposal, one.relpath)
        if before is not None and after is not None:
            yield one.relpath, before, after


@shared_git()
def with_landing_commit(proposal: Proposal) -> Proposal:
    """Return an accepted proposal with the commit that brought it in, if that contains nothing else."""
    if proposal.state is not State.ACCEPTED or not proposal.landed:
        return proposal
    try:
        commit = read_commit(repo_at(proposal.repo).git, proposal.landed)
    except SkilldError:
        return proposal
    alone = commit is not None and commit.proposals == (proposal.id,)
    return replace(proposal, commit=proposal.landed) if alone else proposal


def find_way_back(proposal: Proposal) -> str:
    """Return the command that brings back the skill of a proposal from the archive or the trash, "" if none does."""
    if proposal.creates or os.path.lexists(proposal.path):
        return ""
    where = places()
    return way_back(
        Path(proposal.path).parent, where.archive, trash_folder(Path.home(), where.data.parent, sys.platform)
    )


@value_class
class Applicability:
    """Whether `git cherry-pick` of a proposal and `git merge` of its branch succeed, the latter by a commit of its own.

    `obstacle` says why accepting fails; `personal_file` is the name of the person's own file, where it may go instead.
    """

    can_cherry_pick: bool = False
    can_merge: bool = False
    makes_merge: bool = False
    obstacle: str = ""
    personal_file: str = ""


class ProposalReader:
    """Checks whether proposals can be accepted; opens each repository once."""

    def __init__(self) -> None:
        self._repos: dict[str, Repo | None] = {}

    def applicability(self, proposal: Proposal) -> Applicability:
        """Return whether an open proposal can be accepted; an empty answer if its repository cannot be opened."""
        repo = self._open(proposal.repo) if proposal.commit else None
        if repo is None:
            return Applicability()
        commits = f"{proposal.commit}^", repo.head, proposal.commit, proposal.base, STAGING_REF
        texts = [
            objects.read_texts(repo.git, [f"{commit}:{relpath}" for commit in commits])
            for relpath in (proposal.relpath, *(one.relpath for one in proposal.also))
        ]
        before, current, after, base, _ = texts[0]
        if after is None:
            remedy = f"to write the file without committing: skilld accept --worktree {proposal.id}"
            return Applicability(
                obstacle=f"accepting it would fail: an object of its commit {proposal.commit[:10]} is missing; {remedy}"
            )
        here = self._open(in_current_work_tree(proposal).repo) or repo
        cause, first = find_obstacle(here)
        if cause:  # on a detached HEAD git itself can commit; `describe_standing` says where the staging branch is
            by_hand = first == NEEDS_BRANCH and merges_cleanly(repo.git, before, current, after)
            why = "" if here.branch == STAGING_REF else f"{cause}; "
            return Applicability(by_hand, obstacle=f"{why}{first[:1].lower()}{first[1:]} before you accept it")
        picks = all(merges_cleanly(repo.git, then, here, made) for then, here, made, _, _ in texts)
        whole = all(merges_cleanly(repo.git, rested, here, top) for _, here, _, rested, top in texts)
        back = find_way_back(proposal)
        if back or (current is None and not proposal.creates and repo.private):
            missing = f"accepting it would fail: {proposal.path} does not exist"
            return Applicability(obstacle=f"{missing}; to bring it back: {back}" if back else missing)
        moved_on = not refs.is_reachable(repo.git, repo.head, proposal.base)
        whole = whole and not (moved_on and allows_only_fast_forward(repo))
        if picks or proposal.creates or before is None or after is None or current is None:
            return Applicability(picks, whole, whole and moved_on)
        amended = find_amended_commit(repo, proposal) is not None

        def fit(text: bytes) -> bytes:
            return Edit(proposal).place(before, after, text, lambda: base, amended=amended)

        try:
            fit(current)
        except SkilldError as error:
            why = f"accepting it on this branch would fail: {error.cause or error.title}"
            if names := needed_first(repo, proposal, current, fit):
                why = f"to accept it, accept {' and '.join(names)} first: its lines belong to those"
            return Applicability(picks, whole, obstacle=why)
        return Applicability(picks, whole, whole and moved_on)

    def _open(self, address: str) -> Repo | None:
        if address not in self._repos:
            try:
                self._repos[address] = repo_at(address)
            except (OSError, SkilldError):
                self._repos[address] = None
        return self._repos[address]


def describe_destination(proposal: Proposal) -> str:
    """Return that accepting an open proposal commits nothing to the person's repository, and why; empty if it does."""
    path = Path(proposal.path)
    if proposal.state is not State.OPEN or not is_private(proposal.repo):
        return ""
    try:
        (find_for_new if proposal.creates else find_tracked)(path)
    except SkilldError as error:
        if isinstance(error, NotTrackedError) and error.reason == "no-repository":
            return ""  # they have none here
        why = error.cause
    else:
        why = "git did not track the file when it was proposed"
    return f"accepting it commits to the repository that skilld keeps for {root_of(path)}, not to yours: {why}"


BLAME_TIMEOUT_SECONDS = 30.0  # a blame of a long history takes longer than other git commands


@value_class
class Origin:
    """Where a line came from.

    `commit` is empty for an uncommitted line. `proposals` are the IDs of that commit's proposals: none if a person
    wrote the line, several if they were squashed. `text` is the line itself.
    """

    text: str
    commit: str
    proposals: tuple[str, ...]
    trailers: dict[str, str]


@shared_git()
def find_origin(path: Path, line: int) -> Origin:
    """Return the origin of line `line` (from 1) of the skill at `path` as it stands in the work tree.

    Lines that moved within the file, or from another one, are followed. Raises UsageError for a line the file does not
    have, and as `skilld.git.repo.find_tracked` does.
    """
    tracked = find_file(path)
    git, relpath = tracked.repo.git, tracked.relpath
    origin = uncommitted_origin(path, line)
    now = _lines_of(path)
    stored = objects.read_blob(git, tracked.repo.head, relpath) or b""
    committed = _committed_line_number(stored.splitlines(), now, line)
    if committed is None:
        return origin
    oid = ""
    if b"\r" not in stored.replace(b"\r\n", b""):
        # The list of commits to ignore may name one of ours. No option helps if it is configured but missing.
        options = (
            "--no-textconv",
            "--porcelain",
            "-C",
            "-w",
            "--ignore-revs-file=",
            "-L",
            f"{committed},{committed}",
        )
        found = git.call("blame", *options, tracked.repo.head, "--", relpath, seconds=BLAME_TIMEOUT_SECONDS)
        oid = found.out.split(b" ", 1)[0].decode() if found.status == 0 else ""
    oid = oid or _introducing_commit(tracked, now[line - 1])
    commit = objects.read_commit(git, oid)
    if commit is None or _ends_history(tracked.repo, oid):
        return replace(origin, commit=oid)
    return Origin(origin.text, oid, commit.proposals, commit.trailers)


def _ends_history(repo: Repo, commit: str) -> bool:
    """Whether a shallow clone ends at a commit, which then also seems to have brought all older lines."""
    try:
        return commit.encode() in read_whole(repo.common_dir / "shallow").split()
    except OSError:
        return False


def _introducing_commit(tracked: TrackedFile, line: bytes) -> str:
    """Return the newest commit that added a line, where `git blame` cannot tell.

    It takes a bare CR for no line ending, and fails if the list of commits to ignore is missing.
    """
    sightings = read_history(tracked.repo, tracked.repo.head, tracked.relpath, None)
    brought = [
        one
        for one in reversed(sightings)
        if line in (one.text or b"").splitlines() and line not in (one.before or b"").splitlines()
    ]
    alone = (one.oid for one in brought if one.signature[1])  # a merge may have brought in what another commit added
    return next(alone, brought[0].oid if brought else tracked.repo.head)


def uncommitted_origin(path: Path, line: int) -> Origin:
    """Return line `line` of a file without asking git. Raises UsageError for a line the file does not have."""
    now = _lines_of(path)
    if not 1 <= line <= len(now):
        raise UsageError("No such line", f"{path} has {pluralize(len(now), 'line')}")
    return Origin(now[line - 1].decode("utf-8", "replace"), "", (), {})


def _committed_line_number(stored: list[bytes], now: list[bytes], line: int) -> int | None:
    """Return the number that a line of the work tree has in HEAD's version, or None if it is not in it."""
    pieces = compare_lines(stored, now)
    return next((i + line - k for equal, i, _, k, m in pieces if equal and k < line <= m), None)


def _lines_of(path: Path) -> list[bytes]:
    try:
        return read_whole(path).splitlines()
    except OSError as error:
        raise SkilldError("Cannot read the file", f"{path}: {error.strerror}") from error
