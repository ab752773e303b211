"""The result of an evaluation: as a value, as a sentence, and as a note on a proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skilld.evals.significance import Comparison, Tally, compare, interval, p_value, tally
from skilld.store import Store
from skilld.store.evals import StoredCase, StoredEval, StoredRun
from skilld.types import Proposal
from skilld.values import value_class

FLAG_PREFIX = "did worse in an evaluation: "
_MIN_SHOWN_P = 0.001


@value_class
class CaseOutcome:
    """The outcome of one case. `failed` is the beginning of a failed answer with the edit, if there is one."""

    case: StoredCase
    tally: Tally
    failed: str


@value_class
class EvalOutcome:
    """The outcome of an evaluation so far."""

    plan: StoredEval
    tally: Tally
    cases: tuple[CaseOutcome, ...]

    @property
    def tested(self) -> str:
        """What only one side has, in words for people."""
        return "the edit" if self.plan.proposal else "the skill"

    @property
    def verdict(self) -> Comparison | None:
        """The verdict; None until all pairs are in."""
        return compare(self.tally) if self.tally.pairs >= self.plan.pairs else None

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        counts = self.tally
        if self.verdict is None:
            return f"{counts.pairs} of {self.plan.pairs} pairs run; no result until all have run"
        p = p_value(counts.gained, counts.lost)
        shown = "p < 0.001" if p < _MIN_SHOWN_P else f"p = {p:.2g}"
        sides = f"{counts.with_it} of {counts.pairs} with {self.tested}, {counts.without} of {counts.pairs} without"
        return f"passed {sides}; {self.verdict.value}, {shown}"

    def as_json(self) -> dict[str, Any]:
        """Return the outcome for JSON; the verdict's fields are null while pairs are missing."""
        plan, counts, done = self.plan, self.tally, self.verdict is not None
        low, high = interval(counts)
        return {
            "id": plan.id,
            "proposal": plan.proposal or None,
            "side": "without" if plan.without else "with" if plan.proposal else "skill",
            "model": plan.model,
            "judge": plan.judge,
            "at": plan.at,
            "pairs": counts.pairs,
            "planned": plan.pairs,
            "with": counts.with_it,
            "without": counts.without,
            "only_with": counts.gained,
            "only_without": counts.lost,
            "verdict": self.verdict.value if self.verdict is not None else None,
            "p": round(p_value(counts.gained, counts.lost), 6) if done else None,
            "difference": round((counts.with_it - counts.without) / counts.pairs, 4) if done else None,
            "interval": [round(low, 4), round(high, 4)] if done else None,
            "cases": [
                {
                    "file": one.case.file,
                    "id": one.case.id,
                    "pairs": one.tally.pairs,
                    "with": one.tally.with_it,
                    "without": one.tally.without,
                    "failed": one.failed,
                }
                for one in self.cases
            ],
        }


def eval_outcome(evaluation: StoredEval, runs: Mapping[tuple[int, bool], StoredRun]) -> EvalOutcome:
    """Return the outcome of an evaluation, from its runs."""
    pairs: dict[int, tuple[bool, bool]] = {}
    for number in range(evaluation.pairs):
        ours, theirs = (runs.get((number, side)) for side in (True, False))
        if ours is not None and theirs is not None and ours.passed is not None and theirs.passed is not None:
            pairs[number] = ours.passed, theirs.passed
    cases = []
    for place, case in enumerate(evaluation.cases):
        mine = [number for number in pairs if number % len(evaluation.cases) == place]
        failed = next((runs[number, True].answer for number in mine if not pairs[number][0]), "")
        cases.append(CaseOutcome(case, tally(pairs[number] for number in mine), failed))
    return EvalOutcome(evaluation, tally(pairs.values()), tuple(cases))


def outcomes_of(store: Store, proposal: Proposal) -> list[EvalOutcome]:
    """Return the evaluations of a proposal, the newest first."""
    return [eval_outcome(one, store.evals.runs(one.id)) for one in store.evals.of_proposal(proposal.id)]


def result_lines(store: Store, proposal: Proposal) -> list[str]:
    """Return the newest evaluation of a proposal as a line; nothing if a flag already says it."""
    found = outcomes_of(store, proposal)[:1]
    return [f"evals: {one.sentence}" for one in found if FLAG_PREFIX + one.sentence not in proposal.flags]


def with_flag(proposal: Proposal, found: EvalOutcome) -> Proposal:
    """Return a proposal with the flag of its newest evaluation, if it did worse, instead of any earlier flag."""
    flags = tuple(one for one in proposal.flags if not one.startswith(FLAG_PREFIX))
    if found.verdict is Comparison.WORSE:
        flags = (*flags, FLAG_PREFIX + found.sentence)
    return replace(proposal, flags=flags)
