"""`skilld proposals`: what waits for you, and what became of the rest."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.errors import UsageError
from skilld.git import STAGING_BRANCH

if TYPE_CHECKING:
    from skilld.proposals.explain import Here
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
        help="open, dropped, accepted, rejected, reverted, superseded, stale, or all; several with commas; "
        "default: open",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.proposals.refresh import refresh

    states = _states(arguments.state)
    store = common.store()
    refresh(store)
    found = store.proposals.in_states(states)
    if arguments.json:
        return common.write_json([as_json(store, proposal) for proposal in found])
    if arguments.state == "open":  # what was dropped can still be brought back
        found += store.proposals.in_states(_states("dropped"))
    heres = _heres(found)
    for proposal in found:
        _print(store, proposal, heres.get(proposal.id))
    if not found:
        console.line("Nothing waits for you." if arguments.state == "open" else "None.")
    elif arguments.state == "open":
        console.line()
        merge = (
            f"; or with git: git merge {STAGING_BRANCH}" if all(_mergeable(store, one, heres) for one in found) else ""
        )
        console.line(f"skilld show ID, accept ID, reject ID{merge}")
    return 0


def _heres(found: Sequence[Proposal]) -> dict[str, Here]:
    """Return what would come of the open ones on the branch that is checked out."""
    waiting = [proposal for proposal in found if proposal.state.value == "open" and proposal.commit]
    if not waiting:
        return {}
    from skilld.proposals.explain import Looking  # git takes 0.15 s to load

    looking = Looking()
    return {proposal.id: looking.look(proposal) for proposal in waiting}


def _print(store: Store, proposal: Proposal, here: Here | None) -> None:
    from skilld.clock import ago, seconds
    from skilld.proposals.remarks import doubt, standing

    state = "" if proposal.state.value == "open" else f" [{proposal.state.value}]"
    head = f"{console.paint(proposal.id, 'bold')}  {console.plain(proposal.skill)}{state}"
    console.line(f"{head}  {console.plain(proposal.summary)}")
    for evidence in proposal.evidence:
        console.line(f"    you: \u201c{console.plain(evidence.quote)}\u201d")
    more = f"{len(proposal.flags) - _FLAGS} more in: skilld show {proposal.id}" if len(proposal.flags) > _FLAGS else ""
    told = (*proposal.flags[:_FLAGS], more)
    now = time.time()
    when, where = ago(seconds(proposal.created_at), now), str(Path(proposal.path).parent)
    unfit = here.unfit if here is not None else ""
    remarks = [when, where, doubt(store, proposal), proposal.note, standing(store, proposal, now), unfit, *told]
    console.line(console.paint("    " + "; ".join(console.plain(remark) for remark in remarks if remark), "dim"))


def as_json(store: Store, proposal: Proposal) -> dict[str, Any]:
    """Return the shape that `skilld proposals --json` promises; only what is open stands on a branch."""
    from skilld.proposals.remarks import rests_on
    from skilld.types import TargetKind

    branch = proposal.branch if proposal.state.value == "open" else ""
    shown = asdict(proposal)
    agents = shown.pop("agents") or [proposal.agent]
    turns = [said.turn for said in proposal.evidence]
    return shown | {
        "skill": proposal.skill if proposal.target is TargetKind.SKILL else "",
        "target": {"kind": proposal.target.value, "agents": agents},
        "sessions": len({proposal.session_id, *store.transcripts.sessions_of(turns)}),
        "conflicts": [],
        "branch": branch,
        "rests_on": rests_on(store, proposal),
        "decided_by": store.proposals.decided_by(proposal.id),
    }


def _mergeable(store: Store, proposal: Proposal, heres: Mapping[str, Here]) -> bool:
    """Whether plain `git merge skilld/staging` in the skill's folder brings it in, and nothing else."""
    from skilld.proposals.remarks import on_staging, rests_on

    own = proposal.repo.startswith(f"{common.places().repositories}/")
    clean = proposal.id in heres and heres[proposal.id].merges
    return clean and on_staging(proposal) and not own and not rests_on(store, proposal)


def _states(text: str) -> Sequence[Any]:
    from skilld.types import State

    if text == "all":
        return list(State)
    try:
        return [State(part.strip()) for part in text.split(",")]
    except ValueError:
        raise UsageError("No such state", text, f"One of {', '.join(State)}, or all.") from None
