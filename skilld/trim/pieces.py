"""Splits units into the pieces that a model is asked about, and takes out or rewords single ones where a unit stays.

A piece is a whole unit, or of one a sentence, a sub-item, a row of a table, or the words of a list around its code.
Pure: a sheet in, pieces and lines out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skilld.classify.offline.sections import Block
from skilld.markdown.structure import list_item
from skilld.text import sentence_starts
from skilld.trim.units import Sheet, Unit, announces, indent

_FENCE = re.compile(r"\s*(?:```|~~~)")
_TABLE_RULE = re.compile(r"[ \t]*+\|?+(?:[ \t]*+:?-++:?[ \t]*+\|)++(?:[ \t]*+:?-++:?)?+[ \t]*+")
_HEAD_OF_TABLE = 2  # rows: the names of the columns and the rule below them
_MIN_SENTENCE = 3  # words
_LEANS = re.compile(
    r"[\W_]*(?:this|that|these|those|it|its|they|their|them|he|she|such|then|otherwise|however|but|so|also|thus|hence|"
    r"therefore|and|or|both|neither|either|each|instead|else|if not|if so|here|there|e\.g|for example|for instance|"
    r"second|third|finally|similarly|likewise|another|the (?:former|latter|same|first|second))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the unit with a number: lines [first, last] of the body, or a sentence's characters of its text."""

    unit: int
    first: int
    last: int
    text: str
    span: range | None = None


def pieces(sheet: Sheet) -> list[Piece]:
    """Return the pieces of a file in its order; of a unit that cannot be split, one."""
    return [part for parts in by_unit(sheet).values() for part in parts]


def by_unit(sheet: Sheet) -> dict[int, list[Piece]]:
    """Return the pieces of each unit."""
    found: dict[int, list[Piece]] = {}
    for at, unit in enumerate(sheet.units):
        parts = [*_parts(at, unit, [line.text for line in sheet.body[unit.first : unit.last + 1]])]
        alone = len(parts) < 2 and not _holds_code(unit)  # noqa: PLR2004
        found[at] = [Piece(at, unit.first, unit.last, unit.text)] if alone else parts
    return found


def _parts(at: int, unit: Unit, lines: Sequence[str]) -> Iterator[Piece]:
    if unit.kind is Block.OTHER:
        if len(lines) > _HEAD_OF_TABLE and _TABLE_RULE.fullmatch(lines[1]):
            yield from _of_lines(at, unit, lines, [range(row, row + 1) for row in range(_HEAD_OF_TABLE, len(lines))])
    elif _holds_code(unit):
        yield from _of_lines(at, unit, lines, [*_around_code(lines)])
    elif unit.kind is Block.ITEM and len(inner := [*_inner(lines)]) > 0:
        yield from _of_lines(at, unit, lines, [range(inner[0].start), *inner])
    elif not unit.leads:
        yield from _sentences(at, unit)


def _of_lines(at: int, unit: Unit, lines: Sequence[str], parts: Sequence[range]) -> Iterator[Piece]:
    for part in parts:
        text = "\n".join(lines[part.start : part.stop]).rstrip()
        yield Piece(at, unit.first + part.start, unit.first + part.stop - 1, text)


def _holds_code(unit: Unit) -> bool:
    return unit.kind is Block.ITEM and any(map(_FENCE.match, unit.text.split("\n")))


def _around_code(lines: Sequence[str]) -> Iterator[range]:
    """Return the runs of lines of an item that are neither code nor blank, each from a marker or a blank line on."""
    start, inside = 0, False
    for at, line in enumerate([*lines, ""]):
        fence = bool(_FENCE.match(line))
        if (fence or inside or not line.strip() or list_item(line)) and start < at:
            yield range(start, at)
            start = at
        inside ^= fence
        if fence or inside or not line.strip():
            start = at + 1


def _inner(lines: Sequence[str]) -> Iterator[range]:
    """Return the lines of the items below an item; none where something else stands behind them."""
    starts = [at for at, line in enumerate(lines) if at and list_item(line)]
    least = min((indent(lines[at]) for at in starts), default=0)
    starts = [at for at in starts if indent(lines[at]) == least]
    if not starts or any(line.strip() and indent(line) < least for line in lines[starts[0] :]):
        return
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield range(start, stop)


def _sentences(at: int, unit: Unit) -> Iterator[Piece]:
    starts = [0]
    for start in sentence_starts(unit.text):
        before = unit.text[starts[-1] : start]
        if len(before.split()) >= _MIN_SENTENCE and is_closed(before) and not before.rstrip().endswith(";"):
            starts.append(start)
    for start, stop in zip(starts, [*starts[1:], len(unit.text)], strict=True):
        yield Piece(at, unit.first, unit.last, unit.text[start:stop].strip(), range(start, stop))


def is_closed(text: str) -> bool:
    """Whether no quotation, code, bold text or bracket goes on behind a text."""
    pairs = text.count("“") == text.count("”") and text.count("(") == text.count(")")
    return pairs and not any(text.count(mark) % 2 for mark in ('"', "`", "**"))


def rewritten(sheet: Sheet, parts: Sequence[Piece], new: Mapping[Piece, str]) -> list[tuple[range, list[str]]]:
    """Return lines of the body with what comes in their place, the last first, for pieces with a new text ("": gone).

    What goes stays where the rest would not stand by itself: a label without its text, a table without a row, a
    sentence that leans on the one before it.
    """
    gone = [part for part in parts if new.get(part) == ""]
    if gone and not _stands(sheet, parts, gone):
        new, gone = {part: text for part, text in new.items() if text}, []
    changed = [part for part in parts if part in new]
    if not changed:
        return []
    if parts[0].span is not None:
        return _with_sentences(sheet, parts, new)
    edits = [
        (range(part.first, part.first + part.text.count("\n") + 1), _indented(new[part], part.text).split("\n"))
        for part in changed
        if new[part]
    ]
    runs: list[range] = []
    for part in gone:
        start = runs.pop().start if runs and runs[-1].stop == part.first else part.first
        runs.append(range(start, part.last + 1))
    if runs and runs[-1].stop == parts[-1].last + 1:
        start = runs[-1].start
        while not sheet.body[start - 1].key:
            start -= 1
        runs[-1] = range(start, runs[-1].stop)
    return sorted([*edits, *((run, []) for run in runs)], key=lambda edit: -edit[0].start)


def _stands(sheet: Sheet, parts: Sequence[Piece], gone: Collection[Piece]) -> bool:
    """Whether what is left of a unit stands without the pieces that go."""
    stays = [part for part in parts if part not in gone]
    unit = sheet.units[parts[0].unit]
    labels = unit.kind is Block.ITEM or parts[0].text.startswith(("**", "__", "> **"))
    if not stays or unit.is_step or _holds_code(unit) or (labels and parts[0] in gone):
        return False
    if parts[0].span is not None:
        return not any(
            before in gone and part not in gone and _LEANS.match(part.text) for before, part in pairwise(parts)
        )
    return not (unit.kind is Block.ITEM and announces(parts[0].text) and len(stays) == 1)


def is_code(text: str) -> bool:
    """Whether a text begins with the fence of code."""
    return bool(_FENCE.match(text))


def _with_sentences(sheet: Sheet, parts: Sequence[Piece], new: Mapping[Piece, str]) -> list[tuple[range, list[str]]]:
    unit, told = sheet.units[parts[0].unit], []
    for part in parts:
        text = unit.text[part.span.start : part.span.stop] if part.span else ""
        told.append(text if part not in new else new[part] and text.replace(part.text, new[part]))
    text = _indented("".join(told).rstrip(), unit.text)
    old = [line.text for line in sheet.body[unit.first : unit.last + 1]]
    lines = [line for line in text.split("\n") if line.strip()]
    same = 0
    while same < min(len(old), len(lines)) and old[same].rstrip() == lines[same].rstrip():
        same += 1
    return [(range(unit.first + same, unit.last + 1), [line.rstrip() for line in lines[same:]])]


def _indented(text: str, old: str) -> str:
    return " " * indent(old) + text.lstrip()
