"""The result of an evaluation: as a value, as a sentence, and as a note on a proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skilld.evals.sureness import Tally, Word, chance, interval, tally, word
from skilld.store import Store
from skilld.store.evals import StoredEval, StoredRun
from skilld.types import Proposal

FLAG = "did worse in an evaluation: "  # what the flag of a proposal begins with
_TINY = 0.001


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """How one case came out. `failed` is the beginning of an answer with the edit that failed, if one did."""

    file: str
    id: str
    tally: Tally
    failed: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an evaluation came out so far. Nothing is claimed before all pairs are in: `word` is None until then."""

    id: str
    proposal: str
    without: bool
    model: str
    judge: str
    at: str
    planned: int
    tally: Tally
    cases: tuple[CaseOutcome, ...]

    @property
    def tested(self) -> str:
        """What one side has and the other lacks, for a person."""
        return "the edit" if self.proposal else "the skill"

    @property
    def word(self) -> Word | None:
        """What may be said."""
        return word(self.tally) if self.tally.pairs >= self.planned else None

    @property
    def sentence(self) -> str:
        """It in words."""
        counts = self.tally
        if self.word is None:
            return f"{counts.pairs} of {self.planned} pairs run; no result until all have run"
        p = chance(counts.gained, counts.lost)
        shown = "p < 0.001" if p < _TINY else f"p = {p:.2g}"
        sides = f"{counts.with_it} of {counts.pairs} with {self.tested}, {counts.without} of {counts.pairs} without"
        return f"passed {sides}; {self.word.value}, {shown}"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON shows it; the verdict's fields are null while pairs are missing."""
        counts, done = self.tally, self.word is not None
        low, high = interval(counts)
        return {
            "id": self.id,
            "proposal": self.proposal or None,
            "side": "without" if self.without else "with" if self.proposal else "skill",
            "model": self.model,
            "judge": self.judge,
            "at": self.at,
            "pairs": counts.pairs,
            "planned": self.planned,
            "with": counts.with_it,
            "without": counts.without,
            "only_with": counts.gained,
            "only_without": counts.lost,
            "verdict": self.word.value if self.word is not None else None,
            "p": round(chance(counts.gained, counts.lost), 6) if done else None,
            "difference": round((counts.with_it - counts.without) / counts.pairs, 4) if done else None,
            "interval": [round(low, 4), round(high, 4)] if done else None,
            "cases": [
                {
                    "file": one.file,
                    "id": one.id,
                    "pairs": one.tally.pairs,
                    "with": one.tally.with_it,
                    "without": one.tally.without,
                    "failed": one.failed,
                }
                for one in self.cases
            ],
        }


def outcome(evaluation: StoredEval, runs: Mapping[tuple[int, bool], StoredRun]) -> Outcome:
    """Return how an evaluation came out, by its runs."""
    pairs: dict[int, tuple[bool, bool]] = {}
    for number in range(evaluation.pairs):
        ours, theirs = (runs.get((number, side)) for side in (True, False))
        if ours is not None and theirs is not None and ours.passed is not None and theirs.passed is not None:
            pairs[number] = ours.passed, theirs.passed
    cases = []
    for place, case in enumerate(evaluation.cases):
        mine = [number for number in pairs if number % len(evaluation.cases) == place]
        failed = next((runs[number, True].answer for number in mine if not pairs[number][0]), "")
        cases.append(CaseOutcome(case.file, case.id, tally(pairs[number] for number in mine), failed))
    return Outcome(
        id=evaluation.id,
        proposal=evaluation.proposal,
        without=evaluation.without,
        model=evaluation.model,
        judge=evaluation.judge,
        at=evaluation.at,
        planned=evaluation.pairs,
        tally=tally(pairs.values()),
        cases=tuple(cases),
    )


def of_proposal(store: Store, proposal: Proposal) -> list[Outcome]:
    """Return the evaluations of a proposal, the newest first."""
    return [outcome(one, store.evals.runs(one.id)) for one in store.evals.of_proposal(proposal.id)]


def told(store: Store, proposal: Proposal) -> list[str]:
    """Return what the newest evaluation of a proposal says, as a line; nothing if a flag says it already."""
    found = of_proposal(store, proposal)[:1]
    return [f"evals: {one.sentence}" for one in found if FLAG + one.sentence not in proposal.flags]


def flagged(proposal: Proposal, found: Outcome) -> Proposal:
    """Return a proposal with the flag that its newest evaluation calls for, and without that of an earlier one."""
    flags = tuple(one for one in proposal.flags if not one.startswith(FLAG))
    if found.word is Word.WORSE:
        flags = (*flags, FLAG + found.sentence)
    return replace(proposal, flags=flags)
