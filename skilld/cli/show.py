"""`skilld show ID`: a proposal with its evidence, its diff and what to do with it."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.cli.proposals import as_json

if TYPE_CHECKING:
    from skilld.proposals.explain import Here
    from skilld.types import Proposal


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "show", run, "show one proposal: your words, the diff, how to decide", listing=True)
    parser.add_argument("id", metavar="ID")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.proposals.explain import Here, Looking, diff
    from skilld.proposals.refresh import refresh
    from skilld.proposals.remarks import doubt, on_staging, standing

    store = common.store()
    refresh(store)
    proposal = common.the_proposal(store, arguments.id)
    lines = list(diff(proposal))
    if arguments.json:
        return common.write_json(as_json(store, proposal) | {"diff": "\n".join(lines)})
    remark = standing(store, proposal, time.time())
    here = Looking().look(proposal) if proposal.state.value == "open" else Here()
    here = replace(here, merges=here.merges and on_staging(proposal) and not remark)
    present(proposal, lines, (doubt(store, proposal), remark, here.unfit), here)
    return 0


def present(proposal: Proposal, lines: list[str], remarks: Iterable[str], here: Here) -> None:
    """Print a proposal for a person; `remarks` say what to mind about where it stands, `here` which commands work."""
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
    for said in (proposal.note, *remarks, *proposal.flags):
        if said:
            console.line(console.paint(f"  look: {console.plain(said)}", "yellow"))
    console.line()
    console.diff(lines)
    ways = list(_ways(proposal, here)) if proposal.commit else []
    if ways:
        console.line()
        console.table(ways, indent="  ")


def origin(proposal: Proposal) -> str:
    """Return where a proposal came from: a session, or the verb that makes those without one."""
    if not proposal.evidence and not proposal.session_id:
        return f"skilld {'skills import' if proposal.creates else 'consolidate'}"
    return f"{proposal.agent}, session {console.plain(proposal.session_id)}"


def _ways(proposal: Proposal, here: Here) -> Iterator[tuple[str, str]]:
    """Yield the commands that decide, and what each does; none that would conflict or bring in more."""
    state = proposal.state.value
    if state == "accepted":
        yield f"skilld revert {proposal.id}", "take it out again"
    elif state == "dropped":
        yield f"skilld restore {proposal.id}", "put it back on the branch"
        yield f"skilld accept {proposal.id}", "take it into the branch that is checked out"
        yield f"skilld reject {proposal.id}", "drop it now, and do not propose it again"
    elif state in {"rejected", "reverted", "stale"}:
        yield f"skilld accept {proposal.id}", "take it in after all"
    if state != "open":
        return
    git, where = "git", "take it into the branch that is checked out"
    if Path(proposal.repo).parent == common.places().repositories:
        root = proposal.path.removesuffix(f"/{proposal.relpath}")
        git, where = f"skilld git --root {shlex.quote(root)}", "write it into the skill"
    if not here.unfit:
        yield f"skilld accept {proposal.id}", where
    yield f"skilld reject {proposal.id}", "drop it, and do not propose it again"
    if here.picks:
        yield f"{git} cherry-pick {proposal.commit[:10]}", "the same as accept, in plain git"
    if here.merges:
        yield f"{git} merge {proposal.branch.removeprefix('refs/heads/')}", "take everything that is proposed"
