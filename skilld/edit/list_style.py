"""How the lines beside a place are written, and a new line like them: its capital, its full stop, its distance.

Takes lines and returns lines. Knows neither operations nor whether a line is right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from skilld.markdown.skill_file import Line
from skilld.markdown.structure import Role, labelled_sections, list_item
from skilld.text import match_full_stop, split_sentences, word_set
from skilld.words import content_stems

_FIRST_WORD = re.compile(r"(?:\*\*|__|[*_\"(])?([^\W\d_]+(?:['\u2019][^\W\d_]+)?)(?=[\s,:;!?*_-]|\.?$)")
# Begin an instruction and are no name; function words are known anyway.
_VERBS = word_set(
    """
    add answer build call close commit copy create delete deploy explain fix format install leave lint merge open plan
    push put read rebase reload remove rename reply run show start tell test wait
    """
)
_MAY_BE_NAMES = word_set("may will go")
_MIN_SMALL = 2  # lines beside it that begin with a small letter
_SMALL_PER_CAPITAL = 3
_MIN_LINES = 3  # of a block of lines, from which on each is one rule and not a part of a paragraph
_MIN_WIDTH = 60  # characters of the longest line, from which on lines may be those of one paragraph
_OTHER_BLOCKS = ("#", "|", ">", "<", " ", "\t")


def write_like(text: str, others: Sequence[str], endings: Sequence[str]) -> str:
    """Return one line with the capital and the full stop that `others` begin with and `endings` end with.

    A text of several sentences stays as it is. The first letter becomes small only in a word that is surely no name.
    """
    if len(split_sentences(text.replace(";", ","))) > 1:
        return text
    return _match_capital(match_full_stop(text, endings), others)


def _match_capital(text: str, others: Sequence[str]) -> str:
    first = _FIRST_WORD.match(text)
    word = first[1] if first else ""
    if first is None or not (word[:1].isupper() and word[1:2].islower()):
        return text
    found = [match[1] for other in others if (match := _FIRST_WORD.match(other))]
    small = sum(one.islower() for one in found)
    capital = sum(one[:1].isupper() and one[1:].islower() for one in found)
    if small < _MIN_SMALL or small < _SMALL_PER_CAPITAL * capital or not _is_common(word, text[first.end() :]):
        return text
    return f"{text[: first.start(1)]}{word.lower()}{text[first.end(1) :]}"


def _is_common(word: str, rest: str) -> bool:
    """Whether a capitalized word is no name, nor the beginning of one: "Los Angeles", "Go 1.22"."""
    after = rest.lstrip(" ,:")[:1]
    known = word.lower() in _VERBS or not content_stems(word)
    return known and word.lower() not in _MAY_BE_NAMES and not (after.isupper() or after.isdigit())


def separate_lines(body: Sequence[Line], kinds: Sequence[Role], at: int) -> list[str]:
    """Return the lines of the block of text around the place before line `at` if each says a thing of its own.

    They do if all are sentences, or if none was full when the next began. Of a paragraph, and in a list, none.
    """
    found = labelled_sections(body)
    start = first = max((part.start for part in found if part.start <= at), default=0)
    last = min((part.head for part in found if part.level and part.head >= at), default=len(body))
    start = end = at
    while start > first and kinds[start - 1] is Role.TEXT and is_plain(body[start - 1].text):
        start -= 1
    while end < last and kinds[end] is Role.TEXT and is_plain(body[end].text):
        end += 1
    lines = [line.text.rstrip() for line in body[start:end]]
    width = max(map(len, lines), default=0)
    is_full = width >= _MIN_WIDTH and any(
        len(line) + 1 + len(below.split(maxsplit=1)[0]) > width for line, below in pairwise(lines)
    )
    own = all(len(match_full_stop(line, [""])) < len(line) for line in lines)
    return lines if len(lines) >= _MIN_LINES and (own or not is_full) else []


def is_plain(text: str) -> bool:
    """Whether a line is text of a paragraph: not blank, no item, heading, table, quotation or further line of one."""
    return bool(text.strip()) and not text.startswith(_OTHER_BLOCKS) and list_item(text) is None
