"""Pure text functions that several stages need. Imports nothing of skilld."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

Redact = Callable[[str], str]
MAX_SHOWN_ARGUMENT = 200  # characters of one that a message names
_MAX_SHORTENED = 8  # arguments of one message: with thousands it would take quadratic time
SMALL_USD = 0.1  # below it, more decimals are shown
_SENTENCE_STOPS = (".", "!", "?", ":", ";", "…", "。", "！", "？")
_SENTENCE_END_PATTERN = re.compile(
    r"(?<=[.!;])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bz\.B\.)\s+(?=\S)|(?<=[。！；])\s*(?=\S)"
)
_USERINFO_PATTERN = re.compile(r"(?<!ssh://)(?<=://)[^/\s'\"]*@")
# Pairs of equal lines: difflib visits each of them, and would take forever for 10,000 blank lines on each side.
_MAX_EQUAL_PAIRS = 100_000
# Cc without tab and newline, Cf (bidi, zero width, tags), Co, Cn, Cs and the line/paragraph separators.
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
# Invisible letters and marks, which can hide text: fillers, joiners, variation selectors 17 to 256.
_INVISIBLE_PATTERN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U000e0100-\U000e01ef]")


def fold(text: str) -> str:
    """Return `text` with each run of white space as one blank and none at the ends, as quotes are compared."""
    return " ".join(text.split())


def fold_case(text: str) -> str:
    """Return `text` with white space and case folded, as words are compared."""
    return fold(text).casefold()


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that are separated by white space."""
    return frozenset(words.split())


def indentation(line: str) -> int:
    """Return the number of white-space characters that a line begins with."""
    return len(line) - len(line.lstrip())


def one_line(text: str) -> str:
    """Return `text` on one line, safe to show."""
    return fold(safe_text(text))


def truncate(text: str, limit: int, *, tail_share: float = 1 / 3) -> str:
    """Return at most `limit` characters of `text`: its head and tail with an ellipsis between.

    `limit` is at least 8; `tail_share` is the tail's share of it. A text that fits is returned unchanged.
    """
    if len(text) <= limit:
        return text
    gap = " … "
    room = limit - len(gap)
    tail = round(room * tail_share)
    return text[: room - tail] + gap + text[len(text) - tail :]


def shorten_arguments(text: str, given: Sequence[str], limit: int = MAX_SHOWN_ARGUMENT) -> str:
    """Return a message with each command-line argument in it, or value of one, truncated to `limit` characters."""
    values = [one.partition("=")[2] for one in given if one.startswith("--")]
    long = [one for one in (*given, *values) if len(one) > limit]
    for one in sorted(long, key=len, reverse=True)[:_MAX_SHORTENED]:
        text = text.replace(one, truncate(one, limit)).replace(repr(one)[1:-1], truncate(one, limit))
    return text


def without_login(text: str, shown: str = "") -> str:
    """Return a text with the logins in its addresses replaced by `shown`. A user of ssh stays."""
    return _USERINFO_PATTERN.sub(shown, text)


def pluralize(number: float, singular: str, plural: str = "") -> str:
    """Return a number with its noun: `singular` for 1, otherwise `plural` or `singular` with an s."""
    amount = f"{number:g}" if isinstance(number, float) else f"{number:,}"
    return f"{amount} {singular if number == 1 else plural or singular + 's'}"


def format_usd(usd: float) -> str:
    """Return an amount of US dollars: to the cent, or to a hundredth of a cent if it is less than ten cents."""
    return f"${usd:.4f}" if 0 < usd < SMALL_USD and round(usd, 2) != usd else f"${usd:,.2f}"


def count_times(number: int) -> str:
    """Return "once" or the number of times."""
    return "once" if number == 1 else f"{number:,} times"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Return words as a list in a sentence: "a", "a and b", "a, b and c"."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def join_sentences(texts: Sequence[str]) -> str:
    """Join distinct `texts`; if there are several, each ends with a stop."""
    once = [text for text in dict.fromkeys(texts) if text]
    return (
        once[0] if len(once) == 1 else " ".join(text if text.endswith(_SENTENCE_STOPS) else f"{text}." for text in once)
    )


def split_sentences(text: str) -> list[str]:
    """Split an instruction into sentences with their stops, but not at stops in names or abbreviations."""
    return [part for part in _SENTENCE_END_PATTERN.split(text) if part.strip()]


def sentence_starts(text: str) -> list[int]:
    """Return the positions where sentences begin, except the first, as `split_sentences` splits them."""
    return [found.end() for found in _SENTENCE_END_PATTERN.finditer(text)]


def match_full_stop(text: str, others: Sequence[str]) -> str:
    """Return `text` without its final full stop if most of `others` have none."""
    closed = sum(other.rstrip().endswith((".", "!", "。", "！")) for other in others)
    bare = text if closed * 2 >= len(others) or text.endswith("..") else text.removesuffix(".").removesuffix("。")
    return bare or text


def safe_text(text: str, *, newlines: bool = False) -> str:
    r"""Make untrusted text safe for a terminal, a notification, a log or a commit message.

    Control, format, invisible, private and unassigned characters become visible escapes (ESC is `\x1b`, U+202E is
    `\u202e`); tabs become blanks; newlines stay only where `newlines` is true. Emoji joiners (U+200D, U+FE0F) are kept
    between symbols, where they hide nothing.
    """
    if text.isprintable() and not _INVISIBLE_PATTERN.search(text):
        return text
    out: list[str] = []
    for i, char in enumerate(text):
        if char == "\n" and newlines:
            out.append(char)
        elif char in "\t\n":
            out.append(" ")
        elif _INVISIBLE_PATTERN.match(char) or (
            unicodedata.category(char) in _UNSAFE_CATEGORIES and not _joins_symbols(text, i)
        ):
            out.append(_escape(ord(char)))
        else:
            out.append(char)
    return "".join(out)


def _escape(code: int) -> str:
    if code < 0x100:  # noqa: PLR2004 - the ranges of Python's own escapes
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - as above


def _joins_symbols(text: str, i: int) -> bool:
    return (
        text[i] == "\u200d"
        and 0 < i < len(text) - 1
        and unicodedata.category(text[i + 1]) == "So"
        and unicodedata.category(text[i - 1]) in {"So", "Sk", "Mn"}
    )


def read_json(data: bytes | str) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON value of a text, None if it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


class Piece(NamedTuple):
    """Lines [old_start, old_end) became lines [new_start, new_end); `equal` says whether they are the same."""

    equal: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def compare_lines(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Piece]:
    """Return the pieces of both lists in order. Equal heads and tails are split off before difflib runs.

    If lines repeat too often for difflib, only those that `new` has once, and equal lines next to them, are matched.
    """
    from difflib import SequenceMatcher

    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    tail = next((i for i in range(least - head) if old[-1 - i] != new[-1 - i]), least - head)
    middle, wanted = old[head : len(old) - tail], new[head : len(new) - tail]
    there = Counter(wanted)
    rough = sum(there[line] for line in middle) > _MAX_EQUAL_PAIRS
    matcher = SequenceMatcher((lambda line: there[line] > 1) if rough else None, middle, wanted, autojunk=False)
    codes = matcher.get_opcodes()
    pieces = [Piece(tag == "equal", head + a, head + b, head + c, head + d) for tag, a, b, c, d in codes]
    first = [Piece(True, 0, head, 0, head)] if head else []  # noqa: FBT003 - a field of the tuple
    last = [Piece(True, len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []  # noqa: FBT003 - as above
    return [*first, *pieces, *last]
