"""Open proposals that later words take back: whose they are, and of which words."""

from __future__ import annotations

from dataclasses import replace

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.offline import Offline
from skilld.classify.offline.release import taking_back
from skilld.classify.rule_repeats import repeats_rule
from skilld.jobs.taken_back import find_taken_back, find_unclear
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


@for_each(
    ("said", "rule"),
    [
        (
            "the request id at the start of the log lines: drop that again, the formatter adds it",
            "Put the request id at the start of the log lines.",
        ),
        ("skip the dry run before a build from now on, the server does it", "Always do a dry run before a build."),
        ("about the PR numbers in the changelog: drop those again", "Add the PR number to each entry."),
        ("das mit den Kommentaren auf Deutsch kannst du vergessen", "Schreib die Kommentare auf Deutsch."),
        ("we don't prefix branches any more, forget the feat/ thing", "Branch names start with feat/ or fix/ here."),
    ],
)
def test_taking_a_rule_back_with_a_reason_repeats_no_rule(said: str, rule: str) -> None:
    assert taking_back(said, Update(1, "", rule, "", Kind.PREFERENCE, 1, ""))
    assert not repeats_rule(said, rule)


@for_each(
    ("said", "rule", "repeats"),
    [
        ("doch wieder Kommentare auf Deutsch", "Schreib die Kommentare auf Englisch, nicht auf Deutsch.", False),
        ("schon wieder Kommentare auf Deutsch!", "Schreib die Kommentare auf Englisch, nicht auf Deutsch.", True),
        ("you touched the lock file again, revert it. We don't touch it", "Do not touch the lock file.", True),
        ("the tests don't need a database any more, you began one again", "Run the tests without a database.", True),
        ("release 1.5.0 please", "Bump the version in `VERSION`.", False),
        ("you forgot to bump the version for 1.5.0", "Bump the version in `VERSION`.", True),
        ("you dropped the PR number again", "Put the PR number at the end of each changelog entry.", True),
        ("functions of at most 50 lines please", "Keep functions under 50 lines.", True),
    ],
)
def test_a_reversal_or_a_task_that_follows_a_rule_is_not_a_repeat(said: str, rule: str, *, repeats: bool) -> None:
    assert repeats_rule(said, rule) is repeats


@for_each(("said", "rule"), [row[:2] for row in table_rows("taken_back", "not taken back")])
def test_a_complaint_that_a_rule_was_forgotten_does_not_take_it_back(said: str, rule: str) -> None:
    assert not taking_back(said, Update(1, "", rule, "", Kind.PREFERENCE, 1, ""))


def test_only_the_persons_own_words_take_back() -> None:
    assert taken_back(PROJECT, JOB, Message(SAID)) == []
    assert taken_back(PROJECT, JOB, Message(f"Bob wrote: {SAID}", turn=1)) == []
    assert taken_back(PROJECT, JOB, Message("Bob wrote: the ticket number is no longer needed", turn=1)) == []
    assert taken_back(PROJECT, JOB, Message(SAID), Message(f"> {SAID}\nwhy?", turn=1)) == []


FORCE = replace(PROJECT, id="force", evidence=(Evidence("t2", "never force-push to a shared branch"),))
ASK = replace(PROJECT, id="ask", evidence=(Evidence("t3", "never push to main without asking me"),))
TESTS = replace(PROJECT, id="tests", evidence=(Evidence("t4", "always run the tests before you merge"),))
REVIEW = replace(PROJECT, id="review", evidence=(Evidence("t5", "never merge without a review"),))


@for_each(
    ("said", "rules", "marked", "unclear"),
    [
        ("forget the force-push rule", (ASK, FORCE), ["force"], False),
        ("forget the force-push rule", (ASK,), [], False),
        ("forget the push rule", (ASK, FORCE), [], True),
        ("forget all the push rules", (ASK, FORCE), ["ask", "force"], False),
        ("forget the merge rule", (TESTS, REVIEW), [], True),
        ("forget the merge rule", (TESTS,), ["tests"], False),
        ("forget what I said about the review before a merge", (TESTS, REVIEW), ["review"], False),
        ("olvida la regla de merge", (TESTS, REVIEW), [], True),
        ("vergiss die Regel mit dem force-push", (ASK, FORCE), ["force"], False),
    ],
)
def test_words_that_fit_several_rules_take_none_of_them_back(
    said: str, rules: tuple[Proposal, ...], marked: list[str], *, unclear: bool
) -> None:
    job = AnalyseBatch(
        batch=JOB,
        closed_at="",
        backend=Spec(OFFLINE),
        open=tuple(replace(one, summary=one.evidence[0].quote) for one in rules),
    )
    messages = [Message(said, turn=1)]
    assert [one.proposal for one in find_taken_back(job, messages)] == marked
    why = [f'"{said}" fits several rules, so none of them was taken back']
    assert [*find_unclear(job, messages)] == why * unclear


@for_each(
    ("turns", "left"),
    [
        (
            (
                "Never force-push to shared branches.",
                "Never push to main without asking.",
                "forget the force-push rule",
            ),
            ["Never push to main without asking."],
        ),
        (
            ("Always run the tests before you merge.", "Never merge without a review.", "forget the merge rule"),
            ["Always run the tests before you merge.", "Never merge without a review."],
        ),
        (("Always run the tests before you merge.", "forget the merge rule"), []),
        (("Always use httpx, not requests.", "and drop requests from setup.cfg"), ["Always use httpx, not requests."]),
        (("Always use httpx, not requests.", "throw requests out, httpx is in"), ["Always use httpx, not requests."]),
        (("Ab jetzt immer httpx, nie requests.", "requests raus damit"), ["Immer httpx, nie requests."]),
        (("Never use emojis in titles.", "take the emojis out of the first one"), ["Never use emojis in titles."]),
        (("Always use httpx, not requests.", "drop httpx, it is too slow"), []),
        (("Never use emojis in titles.", "drop the emoji rule"), []),
        (
            ("From now on, every chart needs a legend.", "forget the legend on this one chart"),
            ["Every chart needs a legend."],
        ),
        (("From now on, every chart needs a legend.", "forget the legends after all"), []),
    ],
)
def test_only_the_named_rule_of_a_batch_is_dropped(turns: tuple[str, ...], left: list[str]) -> None:
    messages = [Message(text, turn=number) for number, text in enumerate(turns, 1)]
    assert [one.change for one in Offline().detect(messages, ())] == left
