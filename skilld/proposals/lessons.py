"""What past decisions teach: what is not proposed again, and the confidence an update needs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skilld.protocol import PastDecision
from skilld.text import folded
from skilld.types import Proposal, State, Update

# Has this been proposed or decided before? Pure.

UNWANTED = (State.REJECTED, State.REVERTED, State.DROPPED)


def past_decisions(unwanted: Iterable[Proposal]) -> tuple[PastDecision, ...]:
    """Return what proposals that the person did not want would have written, and by which words."""
    return tuple(
        PastDecision(
            path=proposal.path,
            state=proposal.state,
            changes=tuple(operation.text for operation in proposal.operations),
            quotes=tuple(folded(evidence.quote) for evidence in proposal.evidence),
            session=proposal.session_id,
        )
        for proposal in unwanted
    )


def why_known(
    update: Update, path: str, session_id: str, standing: Sequence[Proposal], decided: Sequence[PastDecision]
) -> str:
    """Return why an update for the skill at `path` must not be proposed again; empty where it may.

    A learning that was rejected or reverted comes again only when the person says it anew: in a later session and in
    other words.
    """
    if (proposal := said_by(update, path, standing)) is not None:
        return f"the open proposal {proposal.id} already says this"
    for decision in decided:
        if decision.path == path and _says(update.change, decision.changes):
            anew = decision.session != session_id and folded(update.quote) not in decision.quotes
            if not anew:
                return f"it was {decision.state} before"
    return ""


def was_decided(proposal: Proposal, decided: Sequence[PastDecision]) -> bool:
    """Whether all that a proposal would write was rejected or reverted in another one of the same skill."""
    texts = {operation.text for operation in proposal.operations if operation.text}
    return bool(texts) and any(
        decision.path == proposal.path and texts <= set(decision.changes) for decision in decided
    )


def said_by(update: Update, path: str, standing: Sequence[Proposal]) -> Proposal | None:
    """Return the open proposal for the skill at `path` that says what an update says, if there is one."""
    same = (proposal for proposal in standing if proposal.path == path)
    return next((p for p in same if _says(update.change, [operation.text for operation in p.operations])), None)


def _says(change: str, texts: Sequence[str]) -> bool:
    from skilld.classify.said_already import says_already  # the daemon, which never asks, goes without its tables

    return any(says_already(change, text) for text in texts)


# How sure an update must be, by what the person decided about such updates before. Pure.
#
# threshold = 0.5 + 0.4 x (no - yes) / (no + yes + 4), kept between 0.5 and 0.8, for each skill and kind: `yes` are
# the accepted proposals, `no` the rejected and reverted ones. Nothing decided: 0.5. One rejection: 0.58. Six: 0.74.
# The 4 keeps a single decision from moving it by more than 0.08. Acceptances only win back what rejections took:
# below 0.5 a back-end says itself that an update should not be proposed.

START = 0.5
MOST = 0.8
_SWING = 0.4
_WEIGHT = 4


def threshold(yes: int, no: int) -> float:
    """Return the confidence that an update needs after so many decisions."""
    moved = START + _SWING * (no - yes) / (no + yes + _WEIGHT)
    return round(min(MOST, max(START, moved)), 3)


def thresholds(decided: Iterable[Proposal]) -> Mapping[str, Mapping[str, float]]:
    """Return the thresholds that differ from START, by the skill's path and the kind of update."""
    counts: dict[tuple[str, str], list[int]] = {}
    for proposal in decided:
        if not proposal.evidence:
            continue  # a merge of skills: no update was heard
        count = counts.setdefault((proposal.path, proposal.kind.value), [0, 0])
        count[proposal.state is not State.ACCEPTED] += 1
    found: dict[str, dict[str, float]] = {}
    for (path, kind), (yes, no) in counts.items():
        found.setdefault(path, {})[kind] = threshold(yes, no)
    return found
