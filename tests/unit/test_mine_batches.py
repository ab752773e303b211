"""Questions about many drafts: a dozen in each, and none of them lost."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path

import pytest

from skilld.classify.backends import Spec
from skilld.classify.draft_lines import DraftAnswer, DraftLine
from skilld.classify.question_jobs import WordSkills
from skilld.ingest.discover import Host
from skilld.mining.draft_questions import word_skills
from skilld.mining.evidence import Transcripts
from skilld.mining.new_skill import with_free_names
from skilld.mining.proposing import MiningRun, NoAnswerError
from skilld.mining.questions import Consent, QuestionStats, Terms
from skilld.mining.values import Candidate, MiningContext, Part, PartKind, Proof, Recurrence, Savings
from skilld.protocol import ChoiceResult, Result
from skilld.settings import Settings
from skilld.skills.draft import SkillKind
from skilld.store import Store
from skilld.types import Outcome
from skilld.values import value_class


@value_class
class _Run(MiningRun):
    """A run whose model takes each draft's second and third line."""

    sizes: list[int] = field(default_factory=list)
    most: int = 99  # questions

    def ask(self, work: WordSkills) -> Result:  # type: ignore[override]
        self.sizes.append(len(work.drafts))
        self.asked.stopped = "it is late" if len(self.sizes) == self.most else ""
        lines = DraftLine("step", "", (2,)), DraftLine("step", "", (3,))
        return ChoiceResult(outcome=Outcome.NOTHING, drafts=tuple(DraftAnswer((), "", lines) for _ in work.drafts))


@pytest.fixture
def run(store: Store) -> _Run:
    terms = Terms(Spec("openai/stub"), Settings().budget, 1.0, 0o022, {})
    world = MiningContext(store, terms, Host(Path("/home/ada"), {}), str, lambda _: [])
    return _Run("mine-1", world, Transcripts([]))


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
    made, left_out = word_skills(drafts, run)
    assert (run.sizes, left_out) == ([12, 12, 6], [])
    assert [one.saved.sessions for one in made] == [*range(31, 1, -1)]
    run.asked.stopped = "it is late"
    again, _ = word_skills(drafts, run)  # every answer is stored
    assert again == made
    assert len(run.sizes) == 3


def test_a_draft_that_may_not_be_asked_about_is_reported_and_the_others_stand(run: _Run) -> None:
    drafts = [_draft(number) for number in range(14)]
    run = replace(run, most=1)
    made, left_out = word_skills(drafts, run)
    assert len(made) == 12
    assert [one.missed for one in left_out] == ["the model did not word it: it is late"] * 2
    declined = replace(run.world.terms, consent=Consent(given=False))
    with pytest.raises(NoAnswerError, match="nobody agreed to send them"):
        word_skills([_draft(40)], replace(run, world=replace(run.world, terms=declined), asked=QuestionStats()))


def test_no_two_skills_have_one_name_nor_that_of_an_existing_skill(run: _Run) -> None:
    made, _ = word_skills([_draft(1), _draft(2)], run)
    same = [replace(one, name="x") for one in made]
    named = with_free_names(same, {"x"})
    assert [one.name for one in named] == ["x-2", "x-3"]
