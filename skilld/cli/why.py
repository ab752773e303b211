"""`skilld why FILE:LINE`: which proposal brought a line of a skill, and from which words."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.cli.show import origin
from skilld.errors import SkilldError, UsageError

if TYPE_CHECKING:
    from skilld.proposals.explain import Origin
    from skilld.store import Store
    from skilld.types import Proposal


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "why", run, "show whose words brought a line of a skill", listing=True)
    parser.add_argument("place", metavar="FILE:LINE")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.git.environment import scrub_environment
    from skilld.git.errors import NotTrackedError
    from skilld.proposals.explain import uncommitted, why
    from skilld.proposals.refresh import refresh
    from skilld.proposals.submit import private_repositories

    path, line = _place(arguments.place)
    scrub_environment()
    store = common.store()
    refresh(store)
    try:
        origin = why(path, line, private_repositories())
    except NotTrackedError as error:
        if not any(proposal.creates for proposal in _accepted(store, path)):
            raise SkilldError("No proposal brought this line: that is no skill in a repository", error.cause) from error
        origin = uncommitted(path, line)  # made by `accept --worktree`
    found = _proposals(store, path, origin)
    if arguments.json:
        shown = {"file": str(path), "line": line, "text": origin.text, "commit": origin.commit}
        return common.write_json(shown | {"proposals": [_as_json(store, proposal) for proposal in found]})
    console.line(f"  {console.plain(origin.text)}")
    console.line(console.paint(f"  commit {origin.commit[:10]}" if origin.commit else "  not committed", "dim"))
    for proposal in found:
        _present(store, proposal)
    if not found:
        console.line("No proposal of skilld's brought this line.")
    return 0


def _place(given: str) -> tuple[Path, int]:
    name, _, number = given.rpartition(":")
    if not name or not number.isascii() or not number.isdigit():
        raise UsageError("That is no line of a file", given, "Write FILE:LINE, as in SKILL.md:12.")
    try:
        return Path(name).expanduser().resolve(strict=True), int(number)
    except (OSError, RuntimeError, ValueError):
        raise UsageError("There is no such file", name) from None


def _proposals(store: Store, path: Path, origin: Origin) -> list[Proposal]:
    """Return the proposals behind a line: those its commit names, else those whose edit has the line.

    Where a commit brought several, those whose edit has the line go alone; a squash may name none at all, and a line
    that is not committed was written by `accept --worktree`.
    """
    named = [proposal for name in origin.proposals if (proposal := store.proposals.get(name)) is not None]
    candidates = named or _accepted(store, path)
    text = origin.text.strip()
    with_line = [proposal for proposal in candidates if text and text in _added(proposal)]
    return with_line or named


def _accepted(store: Store, path: Path) -> list[Proposal]:
    from skilld.types import State

    return [proposal for proposal in store.proposals.in_states([State.ACCEPTED]) if proposal.path == str(path)]


def _added(proposal: Proposal) -> set[str]:
    return {line.strip() for operation in proposal.operations for line in operation.text.splitlines()}


def _as_json(store: Store, proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "state": proposal.state.value,
        "skill": proposal.skill,
        "summary": proposal.summary,
        "reason": proposal.reason,
        "evidence": [{"turn": evidence.turn, "quote": evidence.quote} for evidence in proposal.evidence],
        "agent": proposal.agent,
        "session_id": proposal.session_id,
        "model": proposal.model,
        "created_at": proposal.created_at,
        "decided_at": proposal.decided_at,
        "accepted_at": store.proposals.accepted_at(proposal.id),
        "landed": proposal.landed,
        "decided_by": store.proposals.decided_by(proposal.id),
    }


def _present(store: Store, proposal: Proposal) -> None:
    from skilld.proposals.remarks import doubt

    accepted = store.proposals.accepted_at(proposal.id)
    when = f"accepted {accepted}" if accepted else f"made {proposal.created_at}"
    console.line(f"{console.paint(proposal.id, 'bold')}  {console.plain(proposal.skill)}  {proposal.state.value}")
    console.line(f"  {console.plain(proposal.summary)}")
    for evidence in proposal.evidence:
        console.line(f"  you: “{console.plain(evidence.quote)}”")
    who = f"{origin(proposal)}, {when}, by {console.plain(proposal.model)}"
    console.line(console.paint(f"  {who}", "dim"))
    if maybe := doubt(store, proposal):
        console.line(console.paint(f"  look: {console.plain(maybe)}", "yellow"))
