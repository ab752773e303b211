"""Plans an evaluation: its identity, its pairs, and what they will cost. Pure.

The identity is that of everything that decides the outcome: both texts, the cases, the models, the wording of the
questions and the number of pairs. The same evaluation is thus never paid for twice, and one that was broken off goes on
where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skilld.classify import trial_prompt
from skilld.classify.trial import TrialCase, TrialPair
from skilld.evals.checks import questions
from skilld.evals.shelf import Kept
from skilld.store.evals import StoredCase, StoredEval, StoredRun
from skilld.text import counted

_CHARACTERS = 4  # of a token, roughly, in whatever language
_ANSWER = 600  # tokens of an answer
_VERDICT = 40  # tokens of a judge's word on one answer and one statement
Runs = Mapping[tuple[int, bool], StoredRun]


@dataclass(frozen=True, slots=True)
class Sides:
    """The two texts of a skill: with the edit of a proposal, and without it.

    `proposal` is empty if it is the whole skill against none, `without` says that the edit was taken out.
    """

    ours: str
    theirs: str
    proposal: str = ""
    without: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run: of which skill, with which cases, by which models."""

    skill: str
    path: str
    sides: Sides
    cases: tuple[Kept, ...]
    pairs: int
    model: str
    judge: str

    @property
    def id(self) -> str:
        """Its identity."""
        texts = [self.path, self.sides.ours, self.sides.theirs, self.sides.proposal, self.model, self.judge]
        contents = [one.case.content for one in self.cases]
        whole = json.dumps([trial_prompt.VERSION, self.pairs, texts, contents])
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def stored(self, at: str) -> StoredEval:
        """Return what the store keeps of it, begun at a time (RFC 3339)."""
        cases = tuple(StoredCase(one.file, one.case.id) for one in self.cases)
        named = (self.skill, self.path, self.sides.proposal, self.sides.without, self.model, self.judge)
        return StoredEval(self.id, *named, self.pairs, cases, at)

    def trial_cases(self) -> tuple[TrialCase, ...]:
        """Return the cases as a worker is told of them."""
        return tuple(TrialCase(one.case.prompt, tuple(questions(one.case.statements))) for one in self.cases)


def left(plan: Plan, runs: Runs) -> list[TrialPair]:
    """Return the pairs that lack an answer or a verdict, with the answers that are there.

    Which side of a pair comes first is dealt by the identity: at random, and the same when it is gone on with.
    """
    found = []
    for number in range(plan.pairs):
        ours, theirs = (runs.get((number, side)) for side in (True, False))
        if ours is None or theirs is None or ours.passed is None or theirs.passed is None:
            dealt = hashlib.sha256(f"{plan.id} {number}".encode()).digest()[0] % 2 == 0
            answers = (one.answer if one is not None else None for one in (ours, theirs))
            found.append(TrialPair(number, number % len(plan.cases), dealt, *answers))
    return found


@dataclass(frozen=True, slots=True)
class Estimate:
    """What pairs will take, about."""

    pairs: int
    runs: int
    judged: int
    tokens_in: int
    tokens_out: int

    @property
    def calls(self) -> int:
        """Questions to models."""
        return self.runs + self.judged

    @property
    def tokens(self) -> int:
        """Both ways."""
        return self.tokens_in + self.tokens_out

    def told(self, model: str) -> str:
        """Return it in words."""
        judge = f" and {counted(self.judged, 'question')} to the judge" if self.judged else ""
        return (
            f"{counted(self.runs, 'run')}{judge}, {counted(self.calls, 'call')} to {model}, about {self.tokens} tokens"
        )


def estimate(plan: Plan, pairs: Sequence[TrialPair]) -> Estimate:
    """Return what it will take to run these pairs, by the length of the questions."""
    cases = plan.trial_cases()
    runs = judged = read = written = 0
    for pair in pairs:
        case = cases[pair.case]
        for answer, skill in ((pair.ours, plan.sides.ours), (pair.theirs, plan.sides.theirs)):
            if answer is None:
                runs += 1
                read += len(case.request) + len(skill) + _FRAME[0]
                written += _ANSWER
        if case.statements:
            judged += 1
            asked = len(case.request) + sum(map(len, case.statements)) + _FRAME[1]
            read += asked + 2 * _ANSWER * _CHARACTERS
            written += 2 * _VERDICT * len(case.statements)
    return Estimate(len(pairs), runs, judged, read // _CHARACTERS, written)


def _frame() -> tuple[int, int]:
    """Return the characters of both questions without what they are about."""
    asked, judged = trial_prompt.attempt("", ""), trial_prompt.held("", [""], ["", ""])
    return len(asked.system) + len(asked.user), len(judged.system) + len(judged.user)


_FRAME = _frame()
