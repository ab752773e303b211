"""What past decisions teach: what is not proposed again, and the confidence an update needs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skilld.protocol import PastDecision
from skilld.text import folded, sentences_of
from skilld.types import Kind, Proposal, State, Update

_ALONE = 2  # words that say something: a sentence with fewer may lean on the one before it


def past_decisions(unwanted: Iterable[Proposal]) -> tuple[PastDecision, ...]:
    """Return what proposals that the person did not want would have written, and by which words."""
    return tuple(
        PastDecision(
            path=proposal.path,
            state=proposal.state,
            changes=tuple(operation.text for operation in proposal.operations),
            quotes=tuple(folded(evidence.quote) for evidence in proposal.evidence),
            session=proposal.session_id,
            id=proposal.id,
        )
        for proposal in unwanted
    )


def known_reason(
    update: Update, path: str, session_id: str, standing: Sequence[Proposal], decided: Sequence[PastDecision]
) -> str:
    """Return why an update for the skill at `path` must not be proposed again; empty if it may."""
    proposal, rest = said_of(update, path, standing)
    if proposal is not None and not rest:
        return f"the open proposal {proposal.id} already says this"
    against = decision_against(update, path, session_id, decided)
    return f"it was {against.state} earlier" if against is not None else ""


def decision_against(
    update: Update, path: str, session_id: str, decided: Sequence[PastDecision]
) -> PastDecision | None:
    """Return the newest decision that keeps an update for the skill at `path` from being proposed again, if one does.

    A learning that was rejected or reverted comes again only when the person says it again: in a later session and in
    other words.
    """
    for decision in reversed(decided):
        if decision.path == path and _says(update.change, decision.changes):
            anew = decision.session != session_id and folded(update.quote) not in decision.quotes
            if not anew:
                return decision
    return None


def unwanted_again(sentence: str, decided: Sequence[PastDecision]) -> PastDecision | None:
    """Return the newest decision against a rule that a sentence lays down in nearly the same words, if there is one."""
    from skilld.classify.said_already import is_same  # as in _says

    if sentence.rstrip().endswith("?"):
        return None
    for decision in reversed(decided):
        lines = (line for change in decision.changes for line in change.splitlines())
        if any(is_same(sentence, line) for line in lines):
            return decision
    return None


def was_decided(proposal: Proposal, decided: Sequence[PastDecision]) -> bool:
    """Whether all that a proposal would write was rejected or reverted in another one of the same skill."""
    texts = {operation.text for operation in proposal.operations if operation.text}
    return bool(texts) and any(
        decision.path == proposal.path and texts <= set(decision.changes) for decision in decided
    )


def said_of(update: Update, path: str, standing: Sequence[Proposal]) -> tuple[Proposal | None, str]:
    """Return an open proposal for the skill at `path` that says an update or a sentence of it, and what none says.

    That is empty if nothing stands alone without what is said. What changes or removes a line is said whole or not.
    """
    from skilld.classify.clauses import excepts  # as in _says
    from skilld.classify.subject import leans

    mine = [proposal for proposal in standing if proposal.path == path]
    whole = next((one for one in mine if _says_again(update.change, one)), None)
    if whole is not None or not mine or update.kind in {Kind.CHANGE_STEP, Kind.REMOVE_STEP}:
        return whole, "" if whole is not None else update.change
    from skilld.words import content_stems  # as in _says

    parts = sentences_of(update.change)
    by = [next((one for one in mine if _says_again(part, one)), None) for part in parts]
    first = next((one for one in by if one is not None), None)
    rest = [part for part, one in zip(parts, by, strict=True) if one is None]
    alone = [part for part in rest if not leans(part)]
    if first is None or any(len(content_stems(part)) < _ALONE or excepts(part) for part in alone):
        return None, update.change
    return first, " ".join(alone)


def _says_again(change: str, proposal: Proposal) -> bool:
    """Whether a proposal says a change: in a line that it writes, or in what it was made for."""
    written = [operation.text for operation in proposal.operations]
    return _says(change, [*written, *(update.change for update in proposal.updates)])


def _says(change: str, texts: Sequence[str]) -> bool:
    from skilld.classify.said_already import says_already  # the daemon, which never asks, goes without its tables

    return any(says_already(change, text) for text in texts)


# How sure an update must be, by what the person decided about such updates before. threshold = 0.5 + 0.4 x (no - yes) /
# (no + yes + 4), kept between 0.5 and 0.8, for each skill and kind: `yes` are the accepted proposals, `no` the rejected
# and reverted ones. Nothing decided: 0.5. One rejection: 0.58. Six: 0.74. The 4 keeps a single decision from moving it
# by more than 0.08. Acceptances only win back what rejections took: below 0.5 a back-end says itself that an update
# should not be proposed.

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
