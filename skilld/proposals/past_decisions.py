"""What past decisions teach: what not to propose again, and the confidence an update needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skilld.git.same_project import is_same_file
from skilld.protocol import PastDecision
from skilld.text import fold_case, split_sentences
from skilld.types import Kind, Proposal, State, Update

_MIN_WORDS = 2  # a sentence with fewer may depend on the one before it


def past_decisions(unwanted: Iterable[Proposal]) -> tuple[PastDecision, ...]:
    """Return what unwanted proposals would have written, with the words that they quote."""
    return tuple(
        PastDecision(
            path=proposal.path,
            state=proposal.state,
            changes=tuple(operation.text for operation in proposal.operations),
            quotes=tuple(fold_case(evidence.quote) for evidence in proposal.evidence),
            session=proposal.session_id,
            id=proposal.id,
        )
        for proposal in unwanted
    )


def known_reason(
    update: Update, path: str, session_id: str, open_proposals: Sequence[Proposal], decided: Sequence[PastDecision]
) -> str | None:
    """Return why an update for the skill at `path` must not be proposed again; None if it may."""
    proposal, rest = match_open_proposal(update, path, open_proposals)
    if proposal is not None and not rest:
        return open_reason(proposal, path)
    against = decision_against(update, path, session_id, decided)
    return f"it was {against.state} earlier" if against is not None else None


def open_reason(proposal: Proposal, path: str) -> str:
    """Return why an update for the skill at `path` is not proposed that an open proposal makes."""
    where = "" if proposal.path == path else f", for {proposal.path},"
    return f"the open proposal {proposal.id}{where} already says this"


def decision_against(update: Update, path: str, session: str, decided: Sequence[PastDecision]) -> PastDecision | None:
    """Return the newest decision that keeps an update for the skill at `path` from being proposed again, if any.

    A rejected or reverted learning is proposed again only if the person repeats it in a later session and in other
    words: punctuation is none, nor is an "and" before them. One that was accepted and waits elsewhere, never.
    """
    for decision in reversed(decided):
        if is_same_file(decision.path, path) and _any_says(update.change, decision.changes):
            is_repeated = (
                decision.state is not State.ACCEPTED
                and decision.session != session
                and not any(_is_same_wording(update.quote, quote) for quote in decision.quotes)
            )
            if not is_repeated:
                return decision
    return None


def _is_same_wording(one: str, other: str) -> bool:
    """Whether two quotes have the same words in order, but for punctuation and one more word at either end."""
    short, long = sorted((_spoken_words(one), _spoken_words(other)), key=len)
    return bool(short) and len(long) - len(short) <= 1 and short in (long[: len(short)], long[len(long) - len(short) :])


def _spoken_words(quote: str) -> list[str]:
    words = ("".join(filter(str.isalnum, word)) for word in fold_case(quote).split())
    return [word for word in words if word]


def find_refused_sentence(sentence: str, decided: Sequence[PastDecision]) -> PastDecision | None:
    """Return the newest decision against a rule that a sentence states in nearly the same words, if there is one."""
    from skilld.classify.said_already import is_same_change  # as in _any_says

    if sentence.rstrip().endswith("?"):
        return None
    for decision in reversed(decided):
        lines = (line for change in decision.changes for line in change.splitlines())
        if any(is_same_change(sentence, line) for line in lines):
            return decision
    return None


def was_declined(proposal: Proposal, decided: Sequence[PastDecision]) -> bool:
    """Whether everything a proposal would write was rejected or reverted in another one for the same skill."""
    texts = {operation.text for operation in proposal.operations if operation.text}
    return bool(texts) and any(texts <= set(one.changes) and is_same_file(one.path, proposal.path) for one in decided)


def match_open_proposal(update: Update, path: str, open_proposals: Sequence[Proposal]) -> tuple[Proposal | None, str]:
    """Return an open proposal for the skill at `path` that says an update or a sentence of it, and what no one says.

    The latter is empty if no remaining sentence is complete by itself. An update that changes or removes a line is
    matched as a whole or not at all.
    """
    from skilld.classify.clauses import may_state_exception  # as in _any_says
    from skilld.classify.subject import points_elsewhere

    mine = [proposal for proposal in open_proposals if is_same_file(proposal.path, path)]
    whole = next((one for one in mine if _proposal_says(update.change, one)), None)
    if whole is not None or not mine or update.kind in {Kind.CHANGE_STEP, Kind.REMOVE_STEP}:
        return whole, "" if whole is not None else update.change
    from skilld.words import content_stems  # as in _any_says

    parts = split_sentences(update.change)
    by = [next((one for one in mine if _proposal_says(part, one)), None) for part in parts]
    first = next((one for one in by if one is not None), None)
    rest = [part for part, one in zip(parts, by, strict=True) if one is None]
    alone = [part for part in rest if not points_elsewhere(part)]
    if first is None or any(len(content_stems(part)) < _MIN_WORDS or may_state_exception(part) for part in alone):
        return None, update.change
    return first, " ".join(alone)


def _proposal_says(change: str, proposal: Proposal) -> bool:
    """Whether a proposal says a change: in a line that it writes, or in an update that it is based on."""
    written = [operation.text for operation in proposal.operations]
    return _any_says(change, [*written, *(update.change for update in proposal.updates)])


def _any_says(change: str, texts: Sequence[str]) -> bool:
    from skilld.classify.said_already import says_same_rule  # keeps its tables out of the daemon

    return any(says_same_rule(change, text) for text in texts)


# The confidence an update needs, by the person's earlier decisions about such updates: 0.5 + 0.4 x (no - yes) /
# (no + yes + 4), limited to 0.5 to 0.8, for each skill and kind. `yes` counts the accepted proposals, `no` the rejected
# and reverted ones. No decisions: 0.5. One rejection: 0.58. Six: 0.74. The 4 keeps a single decision from moving it by
# more than 0.08. Acceptances only make up for rejections: below 0.5 the back-end itself says that an update should not
# be proposed.

DEFAULT_THRESHOLD = 0.5
MAX_THRESHOLD = 0.8
_THRESHOLD_SWING = 0.4
_PRIOR_DECISIONS = 4


def threshold(yes: int, no: int) -> float:
    """Return the confidence that an update needs after so many decisions."""
    moved = DEFAULT_THRESHOLD + _THRESHOLD_SWING * (no - yes) / (no + yes + _PRIOR_DECISIONS)
    return round(min(MAX_THRESHOLD, max(DEFAULT_THRESHOLD, moved)), 3)


def thresholds(decided: Iterable[Proposal]) -> Mapping[str, Mapping[str, float]]:
    """Return the thresholds that differ from the default, by the skill's path and the kind of update."""
    counts: dict[tuple[str, str], list[int]] = {}
    for proposal in decided:
        if not proposal.evidence:
            continue  # a merge of skills is based on no update
        count = counts.setdefault((proposal.path, proposal.kind.value), [0, 0])
        count[proposal.state is not State.ACCEPTED] += 1
    found: dict[str, dict[str, float]] = {}
    for (path, kind), (yes, no) in counts.items():
        found.setdefault(path, {})[kind] = threshold(yes, no)
    return found
