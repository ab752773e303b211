"""Has this been proposed or decided before? Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilld.classify.offline.said import says_already
from skilld.text import fold
from skilld.types import Proposal, Update


def why_known(
    update: Update, path: str, session_id: str, standing: Sequence[Proposal], decided: Sequence[Mapping[str, Any]]
) -> str:
    """Return why an update for the skill at `path` must not be proposed again; empty where it may.

    A learning that was rejected or reverted comes again only when the person says it anew: in a later session and in
    other words.
    """
    for proposal in standing:
        if proposal.path == path and _says(update.change, [operation.text for operation in proposal.operations]):
            return f"the open proposal {proposal.id} says it already"
    for decision in decided:
        if decision["path"] == path and _says(update.change, decision["changes"]):
            anew = decision["session"] != session_id and fold(update.quote).casefold() not in decision["quotes"]
            if not anew:
                return f"it was {decision['state']} before"
    return ""


def _says(change: str, texts: Sequence[str]) -> bool:
    return any(says_already(change, text) for text in texts)
