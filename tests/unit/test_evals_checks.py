"""What is checked in an answer, and the cases made from corrections."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skilld.evals.checks import Literal, judged_statements, parse_literal, passes_code, statements_for
from skilld.evals.grow import grow
from skilld.mining.sessions import Session
from skilld.types import Evidence, Kind, Message, Proposal, SkillUse, Span, Update
from support.proposals import make_proposal
from support.rows import for_each


@for_each(
    ("change", "statements"),
    [
        ("Use `pnpm`, not `npm`.", ['The output contains "pnpm"', 'The output does not contain "npm"']),
        ("Use `ruff` instead of `flake8`.", ['The output contains "ruff"', 'The output does not contain "flake8"']),
        ('Never write "utilize".', ['The output does not contain "utilize"']),
        ("Don't use `foo()` in tests.", ['The output does not contain "foo()"']),
        # Whether these hold is no matter of a text alone.
        ("Never commit without `make check`.", None),
        ("Never use `foo` unless I say so.", None),
        ("Always use `uv run`.", None),
        ("Use `pnpm install --frozen` instead of `pnpm install`.", None),
        ("Put the ticket number first.", None),
    ],
)
def test_a_change_becomes_code_checks_or_a_question(change: str, statements: list[str] | None) -> None:
    found = statements_for(change)
    assert found == (statements or [f"The output follows this instruction: {change}"])
    assert judged_statements(found) == ([] if statements else found)


@for_each(
    ("statement", "check"),
    [
        ('The output contains "pnpm"', Literal("pnpm", wanted=True)),
        ("the answer mentions `a b`.", Literal("a b", wanted=True)),
        ("The response does not include the word \u201cx\u201d", Literal("x", wanted=False)),
        ("The output doesn't contain 'x'", Literal("x", wanted=False)),
        ("The output never mentions 'x'", Literal("x", wanted=False)),
        ("The output contains a greeting", None),
        ('The output contains "a" and is short', None),
        # Two texts: neither is looked for by itself, so a judge has to read it.
        ('The output contains "a" and "b"', None),
        ('The output does not contain "npm" or "yarn"', None),
        ('The answer mentions "pnpm", not "npm"', None),
        ("The output contains \u2018a\u2019 and \u2018b\u2019", None),
        ("The output contains 'don't do it'", Literal("don't do it", wanted=True)),
        ('The output contains "use `x`"', Literal("use `x`", wanted=True)),
        ("x", None),
    ],
)
def test_a_plain_sentence_is_checked_by_code(statement: str, check: Literal | None) -> None:
    assert parse_literal(statement) == check


@for_each(
    ("text", "answer", "stands"),
    [
        ("npm", "run npm ci", True),
        ("npm", "run pnpm ci", False),
        ("npm", "Npm is", True),
        ("npm", "NPM is", False),
        ("github", "GitHub", False),
        ("foo()", "call foo().", True),
        ("a.b", "xa.b a.b", True),
        ("x" * 50, "x" * 5000, False),
    ],
)
def test_a_text_matches_only_as_whole_words(text: str, answer: str, stands: bool) -> None:  # noqa: FBT001 - a column
    assert Literal(text, wanted=True).holds(answer) is stands
    assert Literal(text, wanted=False).holds(answer) is not stands


def test_an_empty_answer_passes_nothing() -> None:
    assert not passes_code(['The output does not contain "npm"'], " \n")
    assert passes_code(['The output does not contain "npm"', "It is short"], "pnpm")


def make_messages(*texts: str) -> list[Message]:
    """Return messages: those of the agent begin with a dash."""
    turns = 0
    found = []
    for text in texts:
        turns += not text.startswith("- ")
        found.append(Message(text) if text.startswith("- ") else Message(text, turns, f"t{turns}"))
    return found


RULE = "Always put the ticket number first."
TALK = make_messages("Write the release notes for 2.4.0", "- done", "ok", f"Hm. {RULE}", "- ok", "thanks")


def talk(messages: Sequence[Message], loads: dict[str, str] | None = None) -> Session:
    """Return a session with these messages, in which skills (by name) were loaded in turns."""
    uses = ((SkillUse("s1", name, None, None, Span(0, 0)), turn) for turn, name in (loads or {}).items())
    return Session("claude-code", "s1", Path("s1.jsonl"), "", "", "", tuple(messages), (), loaded=tuple(uses))


def corrected_proposal(turn: str = "t3", **more: object) -> Proposal:
    update = Update(1, "", "Put the ticket number first.", "", Kind.PREFERENCE, 1, RULE)
    return make_proposal(**{"evidence": (Evidence(turn, RULE),), "updates": (update,), "summary": "x", **more})


def test_a_case_asks_what_was_asked_before_the_correction() -> None:
    grown = grow([corrected_proposal()], lambda *_: talk(TALK))
    ((name, case),) = grown.cases
    assert name == "0123abcd"
    assert case.prompt == "Write the release notes for 2.4.0"
    assert case.expected == f"Put the ticket number first. You said: \u201c{RULE}\u201d"
    assert case.statements == ("The output follows this instruction: Put the ticket number first.",)


def test_the_requests_that_a_mined_skill_quotes_are_no_corrections() -> None:
    both = (Evidence("t1", "Write the release notes for 2.4.0"), Evidence("t3", RULE))
    mined = corrected_proposal(evidence=both, batch_id="mine-20260101T000000Z")
    assert [case.prompt for _, case in grow([mined], lambda *_: talk(TALK)).cases] == [
        "Write the release notes for 2.4.0"
    ]


@for_each(
    ("messages", "asked"),
    [
        (make_messages(f"Draft the notes for version 3. {RULE}"), "Draft the notes for version 3."),
        (make_messages(RULE), ""),
        (make_messages("thanks", "- ok", RULE), ""),
        (
            make_messages("Write the notes please now", "- ok", "Never mention hosts in the notes", "- ok", RULE),
            "Write the notes please now",
        ),
        (
            make_messages("Write the notes please now", "This is not it. Never mention hosts in the notes", RULE),
            "Write the notes please now",
        ),
        (make_messages("\x1b[2JWrite the notes\u202e now please", RULE), "\\x1b[2JWrite the notes\\u202e now please"),
    ],
)
def test_what_counts_as_a_request(messages: Sequence[Message], asked: str) -> None:
    turn = next(message.turn_key for message in messages if RULE in message.text)
    assert turn
    both = (Evidence(turn, RULE), Evidence("t2", "Never mention hosts in the notes"))
    grown = grow([corrected_proposal(evidence=both)], lambda *_: talk(messages))
    assert [case.prompt for _, case in grown.cases] == ([asked] if asked else [])
    assert [why for _, why in grown.left_out] == (
        [] if asked else ["you had not asked for anything earlier in that session"]
    )


@for_each(
    ("said", "asked"),
    [
        (("release 1.7.0", RULE), "release 1.7.0"),
        (("time for 1.6.0, please do the release", "- done", RULE), "time for 1.6.0, please do the release"),
        (("Releasing?", RULE), "Releasing?"),
        (("deploy 1.7.0", RULE), ""),
        (("not the release", RULE), ""),
        (("write the notes for 2.0", "1.7.0", RULE), "write the notes for 2.0"),
        ((f"Release: {RULE}",), ""),
    ],
)
def test_the_name_of_the_skill_is_enough_for_a_request(said: tuple[str, ...], asked: str) -> None:
    messages = make_messages(*said)
    turn = next(message.turn_key for message in messages if RULE in message.text)
    assert turn
    grown = grow([corrected_proposal(turn, skill="cut-release")], lambda *_: talk(messages))
    assert [case.prompt for _, case in grown.cases] == ([asked] if asked else [])


NOTES, MORE = "Write the notes for 1.4 please", "Now write the notes for 1.5"
OTHER_WISH = "Great. And explain the reverse proxy to me, thanks :)"


@for_each(
    ("said", "loads", "asked"),
    [
        ((NOTES, "- ok", OTHER_WISH, RULE), {"t1": "release-notes"}, NOTES),
        (("How old is the database?", NOTES, OTHER_WISH, "many thanks", RULE), {"t2": "release-notes"}, NOTES),
        (
            (NOTES, MORE, RULE),
            {"t1": "release-notes", "t2": "release-notes"},
            MORE,
        ),
        ((NOTES, RULE, MORE), {"t1": "release-notes", "t3": "release-notes"}, NOTES),
        ((f"{NOTES}. {RULE}", OTHER_WISH), {"t1": "release-notes"}, f"{NOTES}."),
        ((NOTES, OTHER_WISH, RULE), {"t1": "deploy"}, OTHER_WISH),  # another skill
        ((NOTES, "- I wrote the notes into the file.", RULE), {}, NOTES),
        (("go on", OTHER_WISH, RULE), {"t1": "release-notes"}, OTHER_WISH),
    ],
)
def test_a_case_asks_what_its_skill_was_loaded_for(said: tuple[str, ...], loads: dict[str, str], asked: str) -> None:
    messages = make_messages(*said)
    turn = next(message.turn_key for message in messages if RULE in message.text)
    assert turn
    grown = grow([corrected_proposal(turn, skill="release-notes")], lambda *_: talk(messages, loads))
    assert [case.prompt for _, case in grown.cases] == [asked]


def test_a_turn_whose_quote_cannot_be_found_is_no_request() -> None:
    both = (Evidence("t2", RULE), Evidence("t1", "Never mention hosts"))
    proposal = corrected_proposal("t2", evidence=both, skill="release-notes")
    assert grow([proposal], lambda *_: talk(make_messages(NOTES, RULE), {"t1": "release-notes"})).cases == ()


def no_messages(*_: object) -> Session:
    raise LookupError("the transcript of its session is gone")


def test_the_reason_why_a_correction_makes_no_case() -> None:
    removed = Update(1, "", "No more tickets.", "", Kind.REMOVE_STEP, 1, RULE)
    assert grow([corrected_proposal()], no_messages).left_out == (
        ("0123abcd", "the transcript of its session is gone"),
    )
    (told,) = grow([corrected_proposal(updates=(removed,))], lambda *_: talk(TALK)).left_out
    assert told[1] == "it removes something from the skill, which a test case cannot check"
    assert grow([corrected_proposal(evidence=())], no_messages) == grow([], no_messages), (
        "nobody said it: no correction"
    )


def test_the_same_request_and_check_are_one_case() -> None:
    grown = grow([corrected_proposal(), corrected_proposal(id="99999999")], lambda *_: talk(TALK))
    assert [name for name, _ in grown.cases] == ["0123abcd"]
