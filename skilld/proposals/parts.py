"""A proposal of several operations, taken apart: each as what it adds and takes away, and any of them alone. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import pairwise
from pathlib import Path

from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.git import line_diff
from skilld.git.environment import scrub_environment
from skilld.git.managed_repos import open_any
from skilld.git.objects import read_blob, read_commit
from skilld.git.run import one_command
from skilld.proposals.reverse_patch import undo
from skilld.proposals.submit import applier, private_repositories
from skilld.types import Operation, Proposal


@dataclass(frozen=True, slots=True)
class Part:
    """What one operation takes away and adds, as lines without endings."""

    removed: tuple[str, ...]
    added: tuple[str, ...]


def parts(before: bytes, operations: Sequence[Operation]) -> list[Part]:
    """Return the parts in order, each against the text the ones before it left. Raises as `apply` does."""
    steps = _steps(before, operations)
    return [_part(old, new) for old, new in pairwise(steps)]


def _part(old: bytes, new: bytes) -> Part:
    hunks = line_diff.hunks(old, new)
    removed = tuple(line for hunk in hunks for line in hunk.removed if line.strip())
    return Part(removed, tuple(line for hunk in hunks for line in hunk.added if line.strip()))


def only(before: bytes, operations: Sequence[Operation], chosen: Collection[int]) -> bytes:
    """Return the text with the chosen operations (numbers from 0) and without the others.

    The others are taken out of the whole by their lines, since one operation may be anchored on what another added.
    Raises SkilldError where they cannot be told apart.
    """
    steps = _steps(before, operations)
    text = steps[-1]
    for number in reversed(range(len(operations))):
        if number not in chosen:
            text = undo(steps[number], steps[number + 1], text)
    return text


def _steps(before: bytes, operations: Sequence[Operation]) -> list[bytes]:
    """Return the text before, and after each operation."""
    texts = [before]
    for operation in operations:
        texts.append(apply(texts[-1], [operation], limited=False))
    return texts


# A proposal's skill before and after, as git has it, or as its file stands while it waits for a commit.


@one_command()
def versions(proposal: Proposal) -> tuple[bytes, bytes] | None:
    """Return the skill before (b"" where it makes it) and after; None where neither git nor the file tells any more."""
    if proposal.commit:
        scrub_environment()
        try:
            git = open_any(Path(proposal.repo), private_repositories()).git
            commit = read_commit(git, proposal.commit)
            before = read_blob(git, commit.parents[0], proposal.relpath) if commit and commit.parents else None
            after = read_blob(git, proposal.commit, proposal.relpath)
        except SkilldError:
            before = after = None
        if before is None and proposal.creates:
            before = b""
        if before is not None and after is not None:
            return before, after
    try:
        current = b"" if proposal.creates else Path(proposal.path).read_bytes()
        return current, applier(proposal)(current)
    except (OSError, SkilldError):
        return None


def diff(proposal: Proposal) -> Iterator[str]:
    """Yield the lines of a unified diff; where there is nothing to compare with, the lines that are to be added."""
    found = versions(proposal)
    if found is None:
        for operation in proposal.operations:
            yield from (f"+{line}" for line in operation.text.split("\n"))
        return
    name = proposal.relpath or Path(proposal.path).name
    old, new = (data.decode("utf-8", "replace").splitlines() for data in found)
    yield from unified_diff(old, new, "/dev/null" if proposal.creates else f"a/{name}", f"b/{name}", lineterm="")
