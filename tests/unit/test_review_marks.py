"""A change as rows: lines in context, and the words that differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skilld.review.diff import DiffRow, diff_rows

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
