"""`skilld proposals`: what waits for you, and what became of the rest."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.errors import UsageError

if TYPE_CHECKING:
    from skilld.store import Store
    from skilld.types import Proposal


_FLAGS = 3  # of one proposal that the list shows


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "proposals", run, "list the proposals that wait for you", listing=True)
    parser.add_argument(
        "--state",
        metavar="STATE",
        default="open",
        help="open, accepted, rejected, reverted, superseded, stale, or all; several with commas (default: open)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.proposals.doubtful import doubt
    from skilld.proposals.refresh import refresh
    from skilld.times import ago, seconds

    states = _states(arguments.state)
    store = common.store()
    refresh(store)
    found = store.proposals.in_states(states)
    if arguments.json:
        return common.write_json([as_json(store, proposal) for proposal in found])
    now = time.time()
    for proposal in found:
        state = "" if proposal.state.value == "open" else f" [{proposal.state.value}]"
        head = f"{console.paint(proposal.id, 'bold')}  {console.plain(proposal.skill)}{state}"
        console.line(f"{head}  {console.plain(proposal.summary)}")
        for evidence in proposal.evidence:
            console.line(f"    you: \u201c{console.plain(evidence.quote)}\u201d")
        more = (
            f"{len(proposal.flags) - _FLAGS} more in: skilld show {proposal.id}" if len(proposal.flags) > _FLAGS else ""
        )
        told = (*proposal.flags[:_FLAGS], more)
        when, where = ago(seconds(proposal.created_at), now), str(Path(proposal.path).parent)
        remarks = [when, where, doubt(store, proposal), proposal.note, _place(store, proposal), *told]
        console.line(console.paint("    " + "; ".join(console.plain(remark) for remark in remarks if remark), "dim"))
    if not found:
        console.line("Nothing waits for you." if arguments.state == "open" else "None.")
    elif arguments.state == "open":
        console.line()
        merge = "; or with git: git merge skilld/staging" if all(_mergeable(store, item) for item in found) else ""
        console.line(f"skilld show ID, accept ID, reject ID{merge}")
    return 0


def as_json(store: Store, proposal: Proposal) -> dict[str, Any]:
    """Return the shape that `skilld proposals --json` promises."""
    from skilld.wire import proposal_to_json

    return proposal_to_json(proposal) | {
        "rests_on": rests_on(store, proposal),
        "decided_by": store.proposals.decided_by(proposal.id),
    }


def rests_on(store: Store, proposal: Proposal) -> str:
    """Return what to mind before merging the branch that an open proposal is on; empty where there is nothing."""
    from skilld.store.meta import RESTS_ON

    on_branch = proposal.state.value == "open" and proposal.commit
    return str(store.meta.get(RESTS_ON, {}).get(proposal.repo, "")) if on_branch else ""


def _place(store: Store, proposal: Proposal) -> str:
    """Return what to mind about where an open proposal stands, or that it does not stand there any more."""
    if _dropped(store, proposal):
        return f"no longer on {proposal.branch}: rejected after a day, unless you bring it back"
    return rests_on(store, proposal)


def _dropped(store: Store, proposal: Proposal) -> bool:
    return proposal.state.value == "open" and bool(store.proposals.missing_since(proposal.id))


def _mergeable(store: Store, proposal: Proposal) -> bool:
    """Whether plain `git merge skilld/staging` in the skill's folder brings it in, and nothing else."""
    own = proposal.repo.startswith(f"{common.places().repositories}/")
    return bool(proposal.commit) and not own and not rests_on(store, proposal) and not _dropped(store, proposal)


def _states(text: str) -> Sequence[Any]:
    from skilld.types import State

    if text == "all":
        return list(State)
    try:
        return [State(part.strip()) for part in text.split(",")]
    except ValueError:
        raise UsageError("No such state", text, f"One of {', '.join(State)}, or all.") from None
