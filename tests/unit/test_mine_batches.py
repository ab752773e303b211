"""Questions about many drafts: a dozen in each, and none of them lost."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path

import pytest

from skilld.classify.backends import Spec
from skilld.classify.draft_lines import DraftAnswer, DraftLine
from skilld.classify.question_jobs import WordSkills
from skilld.ingest.discover import Host
from skilld.mining.draft_questions import DraftQuestions, NoAnswerError, word_skills
from skilld.mining.evidence import Transcripts
from skilld.mining.new_skill import with_free_names
from skilld.mining.proposing import MiningRun
from skilld.mining.questions import Terms
from skilld.mining.values import Candidate, Part, PartKind, Proof, Recurrence, Savings
from skilld.protocol import ChoiceResult, Result
from skilld.settings import Settings
from skilld.skills.draft import SkillKind
from skilld.store import Store
from skilld.types import Outcome
from skilld.values import value_class


@value_class
class _Run(MiningRun):
    """A run whose model takes each draft's second and third line."""

    asked: list[int] = field(default_factory=list)

    def ask(self, work: WordSkills) -> Result:  # type: ignore[override]
        self.asked.append(len(work.drafts))
        lines = DraftLine("step", "", (2,)), DraftLine("step", "", (3,))
        return ChoiceResult(outcome=Outcome.NOTHING, drafts=tuple(DraftAnswer((), "", lines) for _ in work.drafts))


@pytest.fixture
def run(store: Store) -> _Run:
    terms = Terms(Spec("openai/stub"), Settings().budget, 1.0, 0o022, {})
    return _Run("mine-1", store, terms, Host(Path("/home/ada"), {}), Transcripts({}, str), str)


def _draft(number: int) -> Candidate:
    name = f"{chr(97 + number % 26)}{chr(97 + number // 26)}ware"
    request = f"prepare the {name} ledger"
    parts = [Part(PartKind.REQUEST, request, tuple(Proof(f"s{n}", f"t{number}", request) for n in (1, 2)))]
    for verb in ("post", "close"):
        ran = f"ledger-{name} {verb} --all"
        parts.append(Part(PartKind.COMMAND, ran, tuple(Proof(f"s{n}", "t", ran, observed=True) for n in (1, 2))))
    saved = Savings(2 + number)
    return Candidate(
        "same-name",
        "create",
        "/shop",
        SkillKind.WORKFLOW,
        (),
        tuple(parts),
        recurrence=Recurrence(request),
        saved=saved,
    )


def test_every_draft_is_asked_about_a_dozen_at_a_time_and_the_most_frequent_comes_first(run: _Run) -> None:
    drafts = [_draft(number) for number in range(30)]
    made, left_out = word_skills(drafts, DraftQuestions(run, lambda: True))
    assert (run.asked, left_out) == ([12, 12, 6], [])
    assert [one.saved.sessions for one in made] == [*range(31, 1, -1)]
    again, _ = word_skills(drafts, DraftQuestions(run, lambda: False))  # every answer is stored
    assert again == made
    assert len(run.asked) == 3


def test_a_draft_that_may_not_be_asked_about_is_reported_and_the_others_stand(run: _Run) -> None:
    drafts = [_draft(number) for number in range(14)]
    answers = iter([True, False])
    made, left_out = word_skills(drafts, DraftQuestions(run, lambda: next(answers)))
    assert len(made) == 12
    assert [one.missed for one in left_out] == ["the model did not word it: nobody agreed to send them"] * 2
    with pytest.raises(NoAnswerError, match="nobody agreed to send them"):
        word_skills([_draft(40)], DraftQuestions(run, lambda: False))


def test_no_two_skills_have_one_name_nor_that_of_an_existing_skill(run: _Run) -> None:
    made, _ = word_skills([_draft(1), _draft(2)], DraftQuestions(run, lambda: True))
    same = [replace(one, name="x") for one in made]
    named = with_free_names(same, {"x"})
    assert [one.name for one in named] == ["x-2", "x-3"]
