"""What complaints and corrections in other words come to in a mined draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skilld.mining.said import is_alike, sentences, wanted_line
from skilld.mining.selection import judge
from skilld.mining.session_summary import Feedback
from skilld.mining.values import Candidate, Judgement, PartKind, RejectedCandidate
from support.rows import for_each
from support.session_rows import NOW, Turn, lines_of, session_row


@for_each(
    ("texts", "line"),
    [
        (
            ("Again no resource limits.", "You forgot the resource limits, every service needs them"),
            "the resource limits",
        ),
        (("The dead letter queue is missing once more", "again no dead letter queue"), "the dead letter queue"),
        (("No retention again", "You missed the retention"), "the retention"),
        (("Still without a health check", "you forgot the health check again"), "the health check"),
        (("again you forgot to run the linter", "You forgot to run the linter this time"), "to run the linter"),
    ],
)
def test_a_complaint_about_something_missing_becomes_a_rule_not_to_forget_it(texts: Sequence[str], line: str) -> None:
    assert is_alike(*texts)
    assert wanted_line(texts) == f"Do not forget {line}"


@for_each(
    ("texts", "line"),
    [
        (("Again no emojis", "no emojis again"), ""),  # to be left out, or to be there?
        (("You forgot it again", "You forgot that"), ""),
        (("You forgot withTenant around it", "Wrap every handler in withTenant"), "Wrap every handler in withTenant"),
        (
            ("The owner is a team slug: team-ops, never a bare name", "the owner is a team slug, I told you already"),
            "The owner is a team slug",
        ),
        (
            ("Tags have to be annotated - fine, this one is", "tags must be annotated, use git tag -a"),
            "Tags must be annotated",
        ),
        (("no force pushes please", "No force pushes"), "No force pushes"),
    ],
)
def test_an_instruction_makes_a_rule_and_a_mere_complaint_does_not(texts: Sequence[str], line: str) -> None:
    assert wanted_line(texts) == line


@for_each(
    ("typed", "text"),
    [
        ("From now on, paste the changelog into the chat.", "Paste the changelog into the chat"),
        ("going forward, tag every image", "Tag every image"),
        ("De ahora en adelante, muestra las notas", "Muestra las notas"),
        ("In the report, name the owner", "In the report, name the owner"),
    ],
)
def test_how_long_it_holds_is_not_part_of_a_rule(typed: str, text: str) -> None:
    assert [one.text for one in sentences("s1", "t1", typed)] == [text]


_DONE = "bin/new {0}", "bin/check {0}", "bin/end {0}"
_NAMES = "alpha", "beta", "gamma"


def _judged(*typed: Sequence[str], lasting: Sequence[tuple[int, str, str]] = ()) -> Judgement:
    """Return what becomes of a task in the sessions of these turns; `lasting` has numbers, quotes and changes."""
    rows = []
    for number, (name, turns) in enumerate(zip(_NAMES, typed, strict=True), 1):
        row = session_row(number, (f"Provision {name}", [one.format(name) for one in _DONE]), *((t, []) for t in turns))
        found = [
            Feedback(one.turn, quote, change, "preference", 0.9)
            for at, quote, change in lasting
            for one in row.tasks
            if at == number and quote in one.text
        ]
        rows.append(replace(row, user_feedback=tuple(found)))
    return judge(rows, [], {}, now=NOW)


def _rules(judged: Judgement) -> list[str]:
    (candidate,) = judged.candidates
    return lines_of(candidate, PartKind.SAID, PartKind.RULE, PartKind.PITFALL)


def _sessions(candidate: Candidate, text: str) -> list[str]:
    return sorted(proof.session for part in candidate.parts if part.text == text for proof in part.proofs)


@for_each(
    ("first", "second", "rule"),
    [
        ("you forgot the swap file, every machine needs one", "again no swap file.", "Always set the swap."),
        ("the swap is missing", "no swap again.", "Always set the swap."),
        ("you did not show me the notes before the tag", "no.", "Show me the notes before the tag."),
        ("you tagged without showing me the release notes", "no.", "Show me the release notes before you tag."),
        ("no, leave the reload to me", "no.", "Never reload nginx yourself."),
        ("don't reload nginx yourself, I do it at night", "no.", "Never reload nginx yourself."),
    ],
)
def test_a_complaint_is_evidence_of_the_rule_that_says_what_is_wanted(first: str, second: str, rule: str) -> None:
    judged = _judged([], [first], [f"{second} {rule}"], lasting=[(3, rule, rule)])
    assert _rules(judged) == [rule]
    assert {"s2", "s3"} == {*_sessions(judged.candidates[0], rule)}
    assert judged.rejected == ()
    earlier = _judged([f"{second} {rule}"], [first], [], lasting=[(1, rule, rule)])  # the complaint came later
    assert _rules(earlier) == [rule]
    assert {"s1", "s2"} == {*_sessions(earlier.candidates[0], rule)}
    assert lines_of(earlier.candidates[0], PartKind.RULE) == [rule]  # it was not taken back


def test_a_rule_is_listed_once_however_it_was_found() -> None:
    rule, quote = (
        "Paste the notes into the chat before you tag.",
        "From now on, paste the notes into the chat before you tag.",
    )
    complaint = "you did not paste the notes into the chat"
    for at, turns in ((3, ([], [complaint], [quote])), (2, ([quote], [quote], [complaint]))):
        assert _rules(_judged(*turns, lasting=[(at, quote, rule)])) == [rule]
    assert _rules(_judged([], [quote], [quote.removeprefix("From now on, ")])) == [rule]


def test_a_mere_complaint_stays_listed_and_is_not_a_rule() -> None:
    judged = _judged([], ["again no status emojis"], ["no status emojis again"])
    assert judged.rejected == (
        RejectedCandidate("Again no status emojis", "it is a complaint that does not say what you want instead"),
    )
    judged = _judged([], [], ["you forgot the swap file"])
    assert judged.rejected == (
        RejectedCandidate("You forgot the swap file", "only one session of this task said it like this"),
    )


def test_a_correction_that_was_acted_on_still_belongs_to_the_task() -> None:
    first: Turn = "the owner is a slug with a dash: team-beta, never the bare name", []
    again: Turn = "the owner must be a slug with a dash, team-gamma, I told you already", ["~owners/gamma"]
    rows = [
        session_row(number, (f"Provision {name}", [one.format(name) for one in _DONE]), *turns)
        for number, (name, turns) in enumerate(zip(_NAMES, ((), (first,), (again,)), strict=True), 1)
    ]
    assert _rules(judge(rows, [], {}, now=NOW)) == ["The owner is a slug with a dash."]
