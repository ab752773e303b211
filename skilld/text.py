"""Small pure helpers for text that several stages need. Imports nothing of skilld."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_STOPS = (".", "!", "?", ":", ";", "…", "。", "！", "？")
_SENTENCE_END = re.compile(
    r"(?<=[.!;])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bz\.B\.)\s+(?=\S)|(?<=[。！；])\s*(?=\S)"
)
_SPACE = re.compile(r"\s+")
# Cc without tab and newline, Cf (bidi, zero width, tags), Co, Cn, Cs and the line/paragraph separators.
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
# Letters and marks that show nothing, so that text can hide in them: fillers, joiners, variation selectors 17 to 256.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U000e0100-\U000e01ef]")


def fold(text: str) -> str:
    """Return `text` with every run of white space made one blank and none at the ends: how quotes are compared."""
    return _SPACE.sub(" ", text).strip()


def folded(text: str) -> str:
    """Return `text` with white space and case folded: how words are compared."""
    return fold(text).casefold()


def word_set(words: str) -> frozenset[str]:
    """Return the words of a table that is written as one text, with white space between."""
    return frozenset(words.split())


def one_line(text: str) -> str:
    """Return `text` on one line, harmless to show."""
    return fold(safe_text(text))


def cut(text: str, limit: int, *, tail_share: float = 1 / 3) -> str:
    """Return at most `limit` characters of `text`, head and tail kept, the gap marked by an ellipsis.

    `limit` is at least 8; `tail_share` is the part of it that goes to the tail. A text that fits comes back unchanged.
    """
    if len(text) <= limit:
        return text
    gap = " … "
    room = limit - len(gap)
    tail = round(room * tail_share)
    return text[: room - tail] + gap + text[len(text) - tail :]


def counted(number: int, one: str, more: str = "") -> str:
    """Return a number with its noun: `more`, or `one` with an s, unless it is 1."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def often(number: int) -> str:
    """Return how often something happened: once, or a number of times."""
    return "once" if number == 1 else f"{number} times"


def sentences(texts: Sequence[str]) -> str:
    """Return `texts` one behind the other, each once; where there are several, each with a stop at its end."""
    once = [text for text in dict.fromkeys(texts) if text]
    return once[0] if len(once) == 1 else " ".join(text if text.endswith(_STOPS) else f"{text}." for text in once)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of an instruction, each with its stop; a stop inside a name or an abbreviation ends none."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def sentence_starts(text: str) -> list[int]:
    """Return where each sentence of prose but the first begins, as `sentences_of` parts them."""
    return [found.end() for found in _SENTENCE_END.finditer(text)]


def ended_like(text: str, others: Sequence[str]) -> str:
    """Return `text` without the full stop at its end where most of `others` end without one."""
    closed = sum(other.rstrip().endswith((".", "!", "。", "！")) for other in others)
    bare = text if closed * 2 >= len(others) or text.endswith("..") else text.removesuffix(".").removesuffix("。")
    return bare or text


def safe_text(text: str, *, newlines: bool = False) -> str:
    r"""Make text from outside harmless for a terminal, a notification, a log or a commit message.

    Control, format, invisible, private and unassigned characters become visible escapes (ESC is `\x1b`, U+202E is
    `\u202e`); tabs become blanks; newlines stay only where `newlines` is true. Emoji joiners (U+200D, U+FE0F) are kept
    between symbols, where they join and hide nothing.
    """
    if text.isprintable() and not _INVISIBLE.search(text):
        return text
    out: list[str] = []
    for i, char in enumerate(text):
        if char == "\n" and newlines:
            out.append(char)
        elif char in "\t\n":
            out.append(" ")
        elif _INVISIBLE.match(char) or (
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
