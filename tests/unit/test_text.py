from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from skilld.text import fold, fold_case, join_sentences, match_full_stop, one_line, safe_text, truncate
from support.rows import for_each


def test_folding_turns_whitespace_runs_into_one_space() -> None:
    assert fold("  use \t tabs\r\n\n, not\u00a0spaces\u3000 ") == "use tabs , not spaces"
    assert fold(" \n ") == ""


def test_folded_texts_compare_case_insensitively() -> None:
    assert fold_case(" Run\n MAKE\ttest ") == fold_case("run make TEST") == "run make test"


def test_one_line_has_no_newline_and_no_terminal_escape() -> None:
    assert one_line(" a\r\nb\x1b[1m  c ") == r"a\x0d b\x1b[1m c"


def test_cutting_keeps_head_and_tail_and_marks_the_gap() -> None:
    assert truncate("abcdefghijkl", 12) == "abcdefghijkl"
    assert truncate("abcdefghijklm", 12) == "abcdef … klm"


@for_each(
    ("text", "others", "out"),
    [
        ("Be kind.", ["Short", "No dates"], "Be kind"),
        ("Be kind.", ["Short", "No dates."], "Be kind."),
        ("Be kind.", [], "Be kind."),
        ("Be kind", ["Short."], "Be kind"),
        ("要客气。", ["短"], "要客气"),
        ("And so on...", ["Short"], "And so on..."),
        (".", ["Short"], "."),
    ],
)
def test_a_text_ends_with_a_full_stop_if_most_others_do(text: str, others: list[str], out: str) -> None:
    assert match_full_stop(text, others) == out


@for_each(
    ("texts", "out"),
    [
        ((), ""),
        (("No emojis",), "No emojis"),
        (("Use tabs.", "Use tabs.", ""), "Use tabs."),
        (("Use tabs.", "Never push"), "Use tabs. Never push."),
        (("必ずタブを使う。", "Ask first!"), "必ずタブを使う。 Ask first!"),
    ],
)
def test_sentences_are_joined_once_each_with_a_full_stop(texts: tuple[str, ...], out: str) -> None:
    assert join_sentences(texts) == out


@given(st.text(max_size=60), st.integers(8, 40))
def test_a_cut_text_never_exceeds_the_limit(text: str, limit: int) -> None:
    shown = truncate(text, limit)
    assert len(shown) <= limit
    assert shown == text or (text.startswith(shown[:3]) and text.endswith(shown[-1]))


@for_each(
    ("given_", "shown"),
    [
        ("plain, é, 中文, 🎉", "plain, é, 中文, 🎉"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("a\tb\nc", "a b c"),
        ("a\r\nb", r"a\x0d b"),
        ("\x9b31m", r"\x9b31m"),  # the one-byte form of ESC [
        ("cp\u202e txt", r"cp\u202e txt"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("a\u2028b", r"a\u2028b"),
        ("\U000e0041\U000e0042", r"\U000e0041\U000e0042"),  # tags
        ("x\U000e0100\U000e0101", r"x\U000e0100\U000e0101"),  # variation selectors that spell bytes
        ("\u3164\u115f\uffa0", r"\u3164\u115f\uffa0"),  # letters that show nothing
        ("torn \ud83d", r"torn \ud83d"),
        ("👩\u200d💻 ❤\ufe0f", "👩\u200d💻 ❤\ufe0f"),
        ("a\u200db", r"a\u200db"),
    ],
)
def test_control_and_hidden_characters_are_escaped(given_: str, shown: str) -> None:
    assert safe_text(given_) == shown


def test_newlines_stay_only_if_requested() -> None:
    assert safe_text("a\nb", newlines=True) == "a\nb"


@given(st.text())
def test_a_safe_text_is_one_encodable_line(text: str) -> None:
    shown = safe_text(text)
    shown.encode()
    assert len(shown.splitlines()) <= 1
    assert not {"Cc", "Cs", "Co", "Cn"} & {unicodedata.category(char) for char in shown}
    assert safe_text(shown) == shown
