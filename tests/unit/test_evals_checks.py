"""What is checked in an answer, and the cases made from corrections."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.evals.checks import Literal, judged_statements, parse_literal, passes_code, statements_for
from skilld.evals.grow import grow
from skilld.types import Evidence, Kind, Message, Proposal, Update
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


def corrected_proposal(turn: str = "t3", **more: object) -> Proposal:
    update = Update(1, "", "Put the ticket number first.", "", Kind.PREFERENCE, 1, RULE)
    return make_proposal(**{"evidence": (Evidence(turn, RULE),), "updates": (update,), "summary": "x", **more})


def test_a_case_asks_what_was_asked_before_the_correction() -> None:
    grown = grow([corrected_proposal()], lambda *_: TALK)
    ((name, case),) = grown.cases
    assert name == "0123abcd"
    assert case.prompt == "Write the release notes for 2.4.0"
    assert case.expected == f"Put the ticket number first. You said: \u201c{RULE}\u201d"
    assert case.statements == ("The output follows this instruction: Put the ticket number first.",)


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
        (make_messages("\x1b[2JWrite the notes\u202e now please", RULE), "\\x1b[2JWrite the notes\\u202e now please"),
    ],
)
def test_what_counts_as_a_request(messages: Sequence[Message], asked: str) -> None:
    turn = next(message.turn_key for message in messages if RULE in message.text)
    assert turn
    both = (Evidence(turn, RULE), Evidence("t2", "Never mention hosts in the notes"))
    grown = grow([corrected_proposal(evidence=both)], lambda *_: messages)
    assert [case.prompt for _, case in grown.cases] == ([asked] if asked else [])
    assert [why for _, why in grown.left_out] == (
        [] if asked else ["you had not asked for anything earlier in that session"]
    )


def no_messages(*_: object) -> Sequence[Message]:
    raise LookupError("the transcript of its session is gone")


def test_the_reason_why_a_correction_makes_no_case() -> None:
    removed = Update(1, "", "No more tickets.", "", Kind.REMOVE_STEP, 1, RULE)
    assert grow([corrected_proposal()], no_messages).left_out == (
        ("0123abcd", "the transcript of its session is gone"),
    )
    (told,) = grow([corrected_proposal(updates=(removed,))], lambda *_: TALK).left_out
    assert told[1] == "it removes something from the skill, which a test case cannot check"
    assert grow([corrected_proposal(evidence=())], no_messages) == grow([], no_messages), (
        "nobody said it: no correction"
    )


def test_the_same_request_and_check_are_one_case() -> None:
    grown = grow([corrected_proposal(), corrected_proposal(id="99999999")], lambda *_: TALK)
    assert [name for name, _ in grown.cases] == ["0123abcd"]
