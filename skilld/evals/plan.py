"""Plans an evaluation: its id, its pairs, and their cost. Pure.

The id covers everything that decides the outcome: both texts, the cases, the models, the wording of the questions and
the number of pairs. So no evaluation is paid for twice, and an interrupted one continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from skilld.classify import trial_prompt
from skilld.classify.trial import TrialCase, TrialPair
from skilld.evals.checks import judged_statements
from skilld.evals.stored_cases import CaseToRun
from skilld.store.evals import StoredCase, StoredEval, StoredRun
from skilld.text import pluralize
from skilld.values import value_class

_CHARACTERS_PER_TOKEN = 4  # roughly, in any language
_ANSWER_TOKENS = 600
_VERDICT_TOKENS = 40  # for one answer and one statement
Runs = Mapping[tuple[int, bool], StoredRun]


@value_class
class ComparedTexts:
    """The two texts of a skill that are compared: with the edit of a proposal, and without it.

    `proposal` is empty if the whole skill is compared with none; `without` says that the edit was taken out.
    """

    ours: str
    theirs: str
    proposal: str = ""
    without: bool = False


@value_class
class Plan:
    """What to run: the skill, its cases and the models."""

    skill: str
    path: str
    sides: ComparedTexts
    cases: tuple[CaseToRun, ...]
    pairs: int
    model: str
    judge: str

    @property
    def id(self) -> str:
        """A hash of everything that decides the outcome."""
        texts = [self.path, self.sides.ours, self.sides.theirs, self.sides.proposal, self.model, self.judge]
        contents = [one.case.content for one in self.cases]
        whole = json.dumps([trial_prompt.VERSION, self.pairs, texts, contents])
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def stored(self, at: str) -> StoredEval:
        """Return the row for the store, begun at a time (RFC 3339)."""
        cases = tuple(StoredCase(one.file, one.case.id) for one in self.cases)
        named = (self.skill, self.path, self.sides.proposal, self.sides.without, self.model, self.judge)
        return StoredEval(self.id, *named, self.pairs, cases, at)

    def trial_cases(self) -> tuple[TrialCase, ...]:
        """Return the cases as a worker receives them."""
        return tuple(TrialCase(one.case.prompt, tuple(judged_statements(one.case.statements))) for one in self.cases)


def pending_pairs(plan: Plan, runs: Runs) -> list[TrialPair]:
    """Return the pairs that lack an answer or a verdict, with the answers they have.

    The plan's id decides which side of a pair comes first: random, but the same after an interruption.
    """
    found = []
    for number in range(plan.pairs):
        ours, theirs = (runs.get((number, side)) for side in (True, False))
        if ours is None or theirs is None or ours.passed is None or theirs.passed is None:
            dealt = hashlib.sha256(f"{plan.id} {number}".encode()).digest()[0] % 2 == 0
            answers = (one.answer if one is not None else None for one in (ours, theirs))
            found.append(TrialPair(number, number % len(plan.cases), dealt, *answers))
    return found


@value_class
class Estimate:
    """The approximate cost of running pairs."""

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
        """Tokens in both directions."""
        return self.tokens_in + self.tokens_out

    def describe(self, model: str) -> str:
        """Return the estimate as a text."""
        judge = f" and {pluralize(self.judged, 'question')} to the judge" if self.judged else ""
        calls = f"{pluralize(self.calls, 'call')} to {model}"
        return f"{pluralize(self.runs, 'run')}{judge}, {calls}, about {self.tokens:,} tokens"


def estimate(plan: Plan, pairs: Sequence[TrialPair]) -> Estimate:
    """Estimate the cost of running these pairs, from the length of the questions."""
    cases = plan.trial_cases()
    runs = judged = read = written = 0
    for pair in pairs:
        case = cases[pair.case]
        for answer, skill in ((pair.ours, plan.sides.ours), (pair.theirs, plan.sides.theirs)):
            if answer is None:
                runs += 1
                read += len(case.request) + len(skill) + _PROMPT_SIZES[0]
                written += _ANSWER_TOKENS
        if case.statements:
            judged += 1
            asked = len(case.request) + sum(map(len, case.statements)) + _PROMPT_SIZES[1]
            read += asked + 2 * _ANSWER_TOKENS * _CHARACTERS_PER_TOKEN
            written += 2 * _VERDICT_TOKENS * len(case.statements)
    return Estimate(len(pairs), runs, judged, read // _CHARACTERS_PER_TOKEN, written)


def _prompt_sizes() -> tuple[int, int]:
    """Return the number of characters of both questions without their content."""
    asked, judged = trial_prompt.ask_case("", ""), trial_prompt.ask_judge("", [""], ["", ""]).request
    return len(asked.system) + len(asked.user), len(judged.system) + len(judged.user)


_PROMPT_SIZES = _prompt_sizes()
