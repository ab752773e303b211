"""A quote in its context, and a change as rows with the differing words highlighted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skilld.review.diff import DiffRow, diff_rows
from skilld.review.draw import can_show
from skilld.review.excerpts import Excerpt, ShownExcerpts, excerpts_around
from skilld.types import Evidence, Message
from support.rows import for_each

MESSAGES = [
    Message("Done. \x1b[2J"),
    Message("hm, ok. From  now on say it.\nThanks", turn=1, turn_key="k1"),
    Message("I will."),
    Message("bye", turn=2, turn_key="k2"),
]


def test_the_quote_is_shown_between_the_words_around_it() -> None:
    assert excerpts_around(MESSAGES, Evidence("k1", "From now on say it.")) == [
        Excerpt(by_person=False, before="Done. \\x1b[2J"),
        Excerpt(by_person=True, before="hm, ok. ", quote="From now on say it.", after=" Thanks"),
        Excerpt(by_person=False, before="I will."),
    ]


def test_a_quote_not_found_verbatim_shows_the_whole_message() -> None:
    (_, said) = excerpts_around(MESSAGES, Evidence("k2", "something else"))
    assert said == Excerpt(by_person=True, before="bye")
    assert excerpts_around(MESSAGES, Evidence("gone", "bye")) == []


def test_gaps_between_quotes_are_marked_and_nothing_is_repeated() -> None:
    messages = [Message("Done.", turn, str(turn)) if turn else Message("Understood.") for turn in (1, 0, 2, 0, 3, 0)]

    def add(shown: ShownExcerpts, turn: int, batch: str = "b") -> list[tuple[int, bool]]:
        return [(one.at, one.gap) for one in shown.add(batch, messages, Evidence(str(turn), "Done."))]

    one, two = ShownExcerpts(), ShownExcerpts()
    assert [add(one, 1), add(one, 2)] == [[(0, False), (1, False)], [(2, False), (3, False)]]
    assert [add(two, 1), add(two, 3)] == [[(0, False), (1, False)], [(3, True), (4, False), (5, False)]]
    assert add(two, 3, "another batch") == [(3, True), (4, False), (5, False)]


def test_a_message_with_two_quotes_is_shown_once() -> None:
    both = "Hello! Use tabs here. And never use npm, please."
    messages, shown = [Message("Done."), Message(both, 1, "1"), Message("Understood.")], ShownExcerpts()
    assert len(shown.add("b", messages, Evidence("1", "Use tabs"))) == 3
    (again,) = shown.add("b", messages, Evidence("1", "never use npm"))
    assert (again.before, again.quote, again.after, again.gap) == ("", "never use npm", "", False)


def test_a_long_message_is_cut_around_its_quote() -> None:
    text = "a" * 3000 + " keep it " + "b" * 3000
    (excerpt,) = excerpts_around([Message(text, turn=1, turn_key="k")], Evidence("k", "keep it"))
    assert excerpt.quote == "keep it"
    assert len(excerpt.before) + len(excerpt.after) < 900


@for_each(
    ("text", "fine"),
    [("a\n\tb\r\nü\n", True), ("\ufeffa\n", True), ("a \x1b[2J", False), ("a\u202eb", False), ("a\rb", False)],
)
def test_only_text_without_hidden_characters_is_edited_on_screen(text: str, fine: bool) -> None:  # noqa: FBT001 - a case
    assert can_show(text) is fine


BEFORE = "# T\n\na\nb\nc\nd\ne\n\n- Past tense, one line per entry.\n- No marketing words.\n"


def _shown_rows(found: list[DiffRow]) -> list[str]:
    """Return rows as text, what is marked in brackets."""
    return [row.kind + "".join(f"[{text}]" if differs else text for text, differs in row.segments) for row in found]


def test_an_added_line_has_three_lines_of_context_and_marks_the_rest() -> None:
    after = BEFORE + "- Say it.\n"
    assert _shown_rows(diff_rows(BEFORE.encode(), after.encode())) == [
        "@",
        " ",
        " - Past tense, one line per entry.",
        " - No marketing words.",
        "+- Say it.",
    ]


def test_a_reworded_line_is_highlighted_by_word() -> None:
    after = BEFORE.replace("Past tense, one line", "Present tense, one short line")
    assert _shown_rows(diff_rows(BEFORE.encode(), after.encode())) == [
        "@",
        " d",
        " e",
        " ",
        "-- [Past] tense, one line per entry.",
        "+- [Present] tense, one[ short] line per entry.",
        " - No marketing words.",
    ]


def test_two_unrelated_lines_are_not_highlighted() -> None:
    found = diff_rows(b"- Past tense only.\n", b"0123456789\n")
    assert _shown_rows(found) == ["-- Past tense only.", "+0123456789"]


def test_terminal_escapes_are_shown_escaped() -> None:
    (row,) = diff_rows(b"", "- \x1b[2J\u202e".encode())
    assert row.text == "- \\x1b[2J\\u202e"


LINES = st.lists(st.sampled_from(["a", "b", "- one two", "- one three", "", "x"]), max_size=14)


@given(old=LINES, new=LINES)
def test_the_rows_hold_every_added_or_removed_line(old: list[str], new: list[str]) -> None:
    found = diff_rows("\n".join(old).encode(), "\n".join(new).encode())
    for kind, mine, other in (("-", old, new), ("+", new, old)):
        listed = [row.text for row in found if row.kind == kind]
        assert not set(mine) - set(other) - set(listed) - {""}
        assert set(listed) <= set(mine)
