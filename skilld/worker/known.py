"""Has this been proposed or decided before? Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilld.classify.offline.said import says_already
from skilld.text import folded
from skilld.types import Proposal, Update


def why_known(
    update: Update, path: str, session_id: str, standing: Sequence[Proposal], decided: Sequence[Mapping[str, Any]]
) -> str:
    """Return why an update for the skill at `path` must not be proposed again; empty where it may.

    A learning that was rejected or reverted comes again only when the person says it anew: in a later session and in
    other words.
    """
    if (proposal := said_by(update, path, standing)) is not None:
        return f"the open proposal {proposal.id} says it already"
    for decision in decided:
        if decision["path"] == path and _says(update.change, decision["changes"]):
            anew = decision["session"] != session_id and folded(update.quote) not in decision["quotes"]
            if not anew:
                return f"it was {decision['state']} before"
    return ""


def was_decided(proposal: Proposal, decided: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all that a proposal would write was rejected or reverted in another one of the same skill."""
    texts = {operation.text for operation in proposal.operations if operation.text}
    return bool(texts) and any(
        decision["path"] == proposal.path and texts <= set(decision["changes"]) for decision in decided
    )


def said_by(update: Update, path: str, standing: Sequence[Proposal]) -> Proposal | None:
    """Return the open proposal for the skill at `path` that says what an update says, if there is one."""
    same = (proposal for proposal in standing if proposal.path == path)
    return next((p for p in same if _says(update.change, [operation.text for operation in p.operations])), None)


def _says(change: str, texts: Sequence[str]) -> bool:
    return any(says_already(change, text) for text in texts)
