"""Open proposals that later words take back: whose they are, and of which words."""

from __future__ import annotations

from dataclasses import replace

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.offline.retraction import taking_back
from skilld.classify.rule_repeats import repeats_rule
from skilld.jobs.taken_back import find_taken_back
from skilld.protocol import AnalyseBatch, BatchJob, TakenBack
from skilld.types import Evidence, Kind, Message, Proposal, SkillRef, Update
from support.proposals import make_proposal
from support.rows import for_each
from support.tables import table_rows

SAID = "Forget what I said about the ticket number."
PROJECT = make_proposal(
    id="p1",
    batch_id="b1",
    path="/srv/shop/.claude/skills/notes/SKILL.md",
    repo="/srv/shop",
    evidence=(Evidence("t1", "always put the ticket number first"),),
)
OWN = replace(PROJECT, path="/home/ada/.claude/skills/notes/SKILL.md", repo="/home/ada/.local/share/skilld/repo")
JOB = BatchJob(batch="b2", cwd="/srv/shop/src", home="/home/ada")
ELSEWHERE = replace(JOB, cwd="/srv/other")
USING = replace(ELSEWHERE, skills=(SkillRef("notes", PROJECT.path),))


def taken_back(proposal: Proposal, job: BatchJob, *messages: Message) -> list[TakenBack]:
    analysis = AnalyseBatch(batch=job, closed_at="", backend=Spec(OFFLINE), open=(proposal,))
    return [*find_taken_back(analysis, messages)]


@for_each(
    ("proposal", "job", "is_near"),
    [
        (PROJECT, JOB, True),
        (PROJECT, ELSEWHERE, False),
        (PROJECT, USING, True),
        (OWN, ELSEWHERE, True),
        (replace(PROJECT, repo=""), JOB, False),
        (PROJECT, replace(JOB, batch="b1"), False),  # the same batch is for the judge
        (replace(PROJECT, evidence=()), JOB, False),  # not based on the person's words
    ],
)
def test_words_take_back_what_is_near_to_where_they_were_said(
    proposal: Proposal, job: BatchJob, *, is_near: bool
) -> None:
    assert taken_back(proposal, job, Message(SAID, turn=1)) == [TakenBack("p1", SAID)] * is_near


@for_each(("said", "rule"), [row[:2] for row in table_rows("taken_back", "taken back")])
def test_a_rule_is_taken_back_by_naming_what_was_said(said: str, rule: str) -> None:
    assert taking_back(said, Update(1, "", rule, "", Kind.PREFERENCE, 1, ""))
    assert not repeats_rule(said, rule)


@for_each(("said", "rule"), [row[:2] for row in table_rows("taken_back", "not taken back")])
def test_a_complaint_that_a_rule_was_forgotten_does_not_take_it_back(said: str, rule: str) -> None:
    assert not taking_back(said, Update(1, "", rule, "", Kind.PREFERENCE, 1, ""))


def test_only_the_persons_own_words_take_back() -> None:
    assert taken_back(PROJECT, JOB, Message(SAID)) == []
    assert taken_back(PROJECT, JOB, Message(f"Bob wrote: {SAID}", turn=1)) == []
    assert taken_back(PROJECT, JOB, Message("Bob wrote: the ticket number is no longer needed", turn=1)) == []
    assert taken_back(PROJECT, JOB, Message(SAID), Message(f"> {SAID}\nwhy?", turn=1)) == []
