"""A proposal's skill before and after, as git has it, or as its file stands while it waits for a commit."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from skilld.errors import SkilldError
from skilld.git.environment import scrub_environment
from skilld.git.objects import read_blob, read_commit
from skilld.git.private import open_any
from skilld.types import Proposal
from skilld.worker.staging import applier, private_repositories


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
