"""Figures for a detector on labelled turns and on a person's own decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from skilld.scoring.loader import LabelledTurn
from skilld.types import Proposal, State
from skilld.values import value_class

MIN_CERTAIN = 0.7  # labels and predictions from this certainty on are also scored separately
MIN_PROPOSED = 0.5  # updates below this are kept as learnings and not proposed
QUOTED_STRATUM = "quoted_user_message"  # easy rows: an agent had already considered them worth keeping
RANDOM_SAMPLE = "random"
T = TypeVar("T")


@value_class
class JudgedTurn:
    """A labelled turn and the confidence of the detector's best update, 0 for none."""

    turn: LabelledTurn
    confidence: float

    @property
    def found(self) -> bool:
        """Whether the detector found anything in the turn."""
        return self.confidence > 0


def figures(judged: Sequence[JudgedTurn]) -> dict[str, Any]:
    """Return the figures for `skilld eval turns --json`.

    Precision, recall and f1 are shares; false alarms are per 100 turns of the random part. Besides the whole set:
    only rows with certain labels, only certain or proposed predictions, without the quoted stratum, with equal weight
    for each repository, by repository, by language, and by tag (the kind and stratum of a row).
    """
    return {
        "kind": "turns",
        "n": len(judged),
        **_figures(judged),
        "false_alarms_per_100_random": _false_alarms([one for one in judged if one.turn.sample == RANDOM_SAMPLE]),
        "random": _figures([one for one in judged if one.turn.sample == RANDOM_SAMPLE]),
        "certain_labels": _figures([one for one in judged if one.turn.certainty >= MIN_CERTAIN]),
        "certain_predictions": _figures(_at_least(judged, MIN_CERTAIN)),
        "proposed_predictions": _figures(_at_least(judged, MIN_PROPOSED)),
        "without_quoted": _figures([one for one in judged if one.turn.stratum != QUOTED_STRATUM]),
        "macro_by_repo": _macro_average(judged),
        "by_repo": _figures_by(judged, lambda turn: (_repo(turn),)),
        "by_lang": _figures_by(judged, lambda turn: (turn.lang,)),
        "by_tag": _figures_by(judged, lambda turn: tuple(tag for tag in (turn.kind, turn.stratum) if tag)),
        "calls": 0,
        "tokens": 0,
    }


def outcome_rows(judged: Sequence[JudgedTurn]) -> list[dict[str, Any]]:
    """Return the outcome of each case, without its text."""
    return [
        {"id": one.turn.id, "label": one.turn.label, "confidence": round(one.confidence, 4), "found": one.found}
        for one in judged
    ]


def _figures(judged: Sequence[JudgedTurn]) -> dict[str, Any]:
    hits = sum(one.found and one.turn.durable for one in judged)
    found = sum(one.found for one in judged)
    durable = sum(one.turn.durable for one in judged)
    precision = share(hits, found)
    recall = share(hits, durable)
    f1 = None if precision is None or recall is None else share(2 * hits, found + durable)
    return {"precision": precision, "recall": recall, "f1": f1, "durable": durable, "found": found, "true": hits}


def _at_least(judged: Sequence[JudgedTurn], floor: float) -> list[JudgedTurn]:
    return [JudgedTurn(one.turn, one.confidence if one.confidence >= floor else 0.0) for one in judged]


def _false_alarms(judged: Sequence[JudgedTurn]) -> float:
    wrong = sum(one.found and not one.turn.durable for one in judged)
    return round(100 * wrong / len(judged), 4) if judged else 0.0


def _macro_average(judged: Sequence[JudgedTurn]) -> dict[str, Any]:
    """Return the mean over repositories; all unknown repositories count as one."""
    groups = group_by_key((_repo(one.turn), one) for one in judged)
    found = [_figures(group) for group in groups.values()]
    return {
        name: _mean([each[name] for each in found if each[name] is not None]) for name in ("precision", "recall")
    } | {"repos": len(groups)}


def _repo(turn: LabelledTurn) -> str:
    return turn.repo.split("/")[0] if turn.repo.startswith("unresolved/") else turn.repo


def _figures_by(judged: Sequence[JudgedTurn], keys: Callable[[LabelledTurn], Sequence[str]]) -> dict[str, Any]:
    groups = group_by_key((key, one) for one in judged for key in keys(one.turn))
    return {key: {"n": len(group), **_figures(group)} for key, group in groups.items()}


def group_by_key(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """Group values by key, sorted by key."""
    found: dict[str, list[T]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return dict(sorted(found.items()))


def share(part: int, whole: int) -> float | None:
    """Return a part as a share of the whole, to four places; None if there is no whole."""
    return round(part / whole, 4) if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


# Figures on a person's own decisions: accepted proposals were right, rejected or reverted ones were not. Undecided
# proposals have no label, and merges of skills have no words to detect anything in.

DECIDED = (State.ACCEPTED, State.REJECTED, State.REVERTED)
_CONFIDENCE_BANDS = (0.9, 0.7, 0.5)  # lower ends; everything below is one band


def cases_from_decisions(proposals: Sequence[Proposal]) -> list[LabelledTurn]:
    """Return the quotes of each decided proposal as one labelled turn; the store has no other words."""
    return [
        LabelledTurn(
            id=proposal.id,
            repo=proposal.repo,
            lang="",
            text="\n".join(evidence.quote for evidence in proposal.evidence),
            prev_assistant="",
            label="durable" if proposal.state is State.ACCEPTED else "one_off",
            sample="",
            stratum=None,
            kind=proposal.kind.value,
            certainty=1.0,
        )
        for proposal in proposals
        if proposal.state in DECIDED and proposal.evidence
    ]


def decision_figures(proposals: Sequence[Proposal], judged: Sequence[JudgedTurn]) -> dict[str, Any]:
    """Return the figures for `skilld eval decisions --json`.

    `accepted_share` is the share of accepted among decided proposals; recall is unknown, since nobody knows what was
    missed. `heard_now` counts, by decision, the proposals whose words the detector finds now. A share of nothing is
    None.
    """
    decided = [proposal for proposal in proposals if proposal.state in DECIDED and proposal.evidence]
    found = {one.turn.id for one in judged if one.found}
    return {
        "kind": "decisions",
        "n": len(decided),
        **_counts(decided),
        "heard_now": {state.value: sum(one.state is state and one.id in found for one in decided) for state in DECIDED},
        "by_confidence": _share_by(decided, lambda proposal: _band(proposal.confidence)),
        "by_kind": _share_by(decided, lambda proposal: proposal.kind.value),
        "by_skill": _share_by(decided, lambda proposal: proposal.skill),
        "by_model": _share_by(decided, lambda proposal: proposal.model),
        "by_agent": _share_by(decided, lambda proposal: proposal.agent),
        "calls": 0,
        "tokens": 0,
    }


def decision_rows(proposals: Sequence[Proposal], judged: Sequence[JudgedTurn]) -> list[dict[str, Any]]:
    """Return the outcome of each decided proposal, without its words."""
    found = {one.turn.id: one for one in judged}
    return [
        {
            "id": proposal.id,
            "state": proposal.state.value,
            "skill": proposal.skill,
            "kind": proposal.kind.value,
            "model": proposal.model,
            "proposed_at": proposal.confidence,
            "found": found[proposal.id].found,
            "confidence": round(found[proposal.id].confidence, 4),
        }
        for proposal in proposals
        if proposal.id in found
    ]


def _band(confidence: float) -> str:
    """Return the band of a confidence, as words that sort from low to high."""
    above = next((least for least in _CONFIDENCE_BANDS if confidence >= least), None)
    return f"below {_CONFIDENCE_BANDS[-1]}" if above is None else f"from {above}"


def _counts(decided: Sequence[Proposal]) -> dict[str, Any]:
    counts = {state.value: sum(proposal.state is state for proposal in decided) for state in DECIDED}
    return {**counts, "accepted_share": share(counts[State.ACCEPTED.value], len(decided))}


def _share_by(decided: Sequence[Proposal], name: Callable[[Proposal], str]) -> Mapping[str, Any]:
    groups = group_by_key((name(proposal), proposal) for proposal in decided)
    return {group: {"n": len(members), **_counts(members)} for group, members in groups.items()}
