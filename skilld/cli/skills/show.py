"""`skilld skills show NAME`: a skill with all that is known of it, whose words made it so, and its text."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common, inventory
from skilld.cli.skills import library
from skilld.text import counted

if TYPE_CHECKING:
    from skilld.library.rows import Shelved
    from skilld.store import Store
    from skilld.store.learnings import Learning
    from skilld.types import Proposal


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "show", run, "show a skill: its facts, the words behind it, its text", listing=True)
    parser.add_argument("name", metavar="NAME", help="its name, or its folder where two have that name")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store()
    row = library.the_skill(store, arguments.name)
    text = inventory.skill_text(row.skill)
    proposals, learnings = _proposals(store, row), _learnings(store, row)
    if arguments.json:
        return common.write_json(
            library.as_json(row)
            | {
                "metadata": row.skill.front.metadata,
                "proposals": [_proposal_json(one) for one in proposals],
                "learnings": [{"id": one.id, "change": one.change, "quote": one.quote} for one in learnings],
                "text": text,
            }
        )
    _facts(row)
    for proposal in proposals:
        said = console.plain(proposal.summary)
        console.line(f"{proposal.state.value:10} {console.paint(proposal.id, 'bold')}  {said}")
        for evidence in proposal.evidence:
            console.line(f"           you: \u201c{console.plain(evidence.quote)}\u201d")
    for learning in learnings:
        console.line(f"learned    {console.paint(learning.id, 'bold')}  {console.plain(learning.change)}")
    console.line()
    console.piece(text)
    return 0


def _facts(row: Shelved) -> None:
    """Print what a row says, and what the front matter says besides."""
    shown = library.as_json(row)
    metadata = row.skill.front.metadata
    console.line(f"{console.paint(console.plain(row.name), 'bold')}  {console.plain(row.skill.front.description)}")
    lines = [(name, shown[name]) for name in ("path", "source", "kind", "marks", "agents", "uses")]
    lines += [(name, shown[name]) for name in ("corrections", "success_rate", "last_used_at", "edited_at")]
    lines += list(metadata.items())
    rows = [(name.replace("_", " "), _shown(value)) for name, value in lines if value not in (None, "", [], 0)]
    console.table(rows, indent="  ")
    if row.origins:
        console.line(f"  Generated from {counted(row.origins, 'session')}.")


def _shown(value: object) -> str:
    return console.plain(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _proposals(store: Store, row: Shelved) -> list[Proposal]:
    """Return what was proposed for it: what it is made of first, oldest first, then the rest."""
    from skilld.types import State

    found = [one for one in store.proposals.in_states([*State]) if one.path == str(row.path)]
    return sorted(found, key=lambda one: one.state is not State.ACCEPTED)


def _learnings(store: Store, row: Shelved) -> list[Learning]:
    """Return what was said of the skill and kept, as no proposal came of it."""
    project = str(row.skill.project) if row.skill.project else None
    of_it = [one for one in store.learnings.all() if one.skill == row.name]
    return [one for one in of_it if project is None or one.project in {None, project}]


def _proposal_json(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "state": proposal.state.value,
        "summary": proposal.summary,
        "evidence": [{"turn": one.turn, "quote": one.quote} for one in proposal.evidence],
        "session_id": proposal.session_id,
        "created_at": proposal.created_at,
        "decided_at": proposal.decided_at,
        "landed": proposal.landed,
    }
