"""`skilld show ID`: a proposal with its evidence, its diff and what to do with it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.cli.proposals import as_json, rests_on

if TYPE_CHECKING:
    from skilld.types import Proposal


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "show", run, "show one proposal: your words, the diff, how to decide", listing=True)
    parser.add_argument("id", metavar="ID")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.proposals.doubtful import doubt
    from skilld.proposals.refresh import refresh
    from skilld.proposals.versions import diff

    store = common.store()
    refresh(store)
    proposal = common.the_proposal(store, arguments.id)
    lines = list(diff(proposal))
    if arguments.json:
        return common.write_json(as_json(store, proposal) | {"diff": "\n".join(lines)})
    present(proposal, lines, rests_on(store, proposal), doubt(store, proposal))
    return 0


def present(proposal: Proposal, lines: list[str], warning: str = "", doubt: str = "") -> None:
    """Print a proposal for a person; a `warning` says what a merge of its branch would bring besides.

    A `doubt` says who else may have decided on it.
    """
    console.line(f"{console.paint(proposal.id, 'bold')}  {console.plain(proposal.skill)}  {proposal.state.value}")
    console.line(f"  {console.plain(proposal.summary)}")
    if proposal.reason:
        console.line(f"  why: {console.plain(proposal.reason)}")
    for evidence in proposal.evidence:
        console.line(f"  you: \u201c{console.plain(evidence.quote)}\u201d")
    console.line(
        console.paint(
            f"  {origin(proposal)}, {proposal.created_at}, "
            f"by {console.plain(proposal.model)}, confidence {proposal.confidence:.2f}",
            "dim",
        )
    )
    console.line(console.paint(f"  {console.plain(str(Path(proposal.path).parent))}", "dim"))
    for remark in (doubt, proposal.note, warning, *proposal.flags):
        if remark:
            console.line(console.paint(f"  look: {console.plain(remark)}", "yellow"))
    console.line()
    console.diff(lines)
    ways = list(_ways(proposal, warning)) if proposal.commit else []
    if ways:
        console.line()
        console.table(ways, indent="  ")


def origin(proposal: Proposal) -> str:
    """Return where a proposal came from: a session, or the verb that makes those without one."""
    if not proposal.evidence and not proposal.session_id:
        return f"skilld {'skills import' if proposal.creates else 'consolidate'}"
    return f"{proposal.agent}, session {console.plain(proposal.session_id)}"


def _ways(proposal: Proposal, warning: str) -> Iterator[tuple[str, str]]:
    """Yield the commands that decide, and what each does. A merge that would bring in more is not offered."""
    state = proposal.state.value
    if state == "accepted":
        yield f"skilld revert {proposal.id}", "take it out again"
    elif state in {"rejected", "reverted", "stale"}:
        yield f"skilld accept {proposal.id}", "take it in after all"
    if state != "open":
        return
    git, where = "git", "take it into the branch that is checked out"
    if Path(proposal.repo).parent == common.places().repositories:
        root = proposal.path.removesuffix(f"/{proposal.relpath}")
        git, where = f"skilld git --root {shlex.quote(root)}", "write it into the skill"
    yield f"skilld accept {proposal.id}", where
    yield f"skilld reject {proposal.id}", "drop it, and do not propose it again"
    yield f"{git} cherry-pick {proposal.commit[:10]}", "the same as accept, in plain git"
    if not warning:
        yield f"{git} merge {proposal.branch.removeprefix('refs/heads/')}", "take everything that is proposed"
