"""Splits units into the pieces that a model is asked about, and removes or rewords single pieces of a unit. Pure.

A piece is a whole unit, or a part of one: a sentence, a sub-item, a row of a table, or the text of a list item around
its code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from skilld.classify.offline.sections import BlockKind
from skilld.markdown.structure import list_item
from skilld.text import indentation, sentence_starts
from skilld.trim.units import ParsedFile, Unit, announces
from skilld.values import value_class

_FENCE = re.compile(r"\s*(?:```|~~~)")
_TABLE_RULE = re.compile(r"[ \t]*+\|?+(?:[ \t]*+:?-++:?[ \t]*+\|)++(?:[ \t]*+:?-++:?)?+[ \t]*+")
_TABLE_HEADER_ROWS = 2  # the names of the columns, and the rule below them
_MIN_SENTENCE = 3  # words
_REFERS_BACK = re.compile(
    r"[\W_]*(?:this|that|these|those|it|its|they|their|them|he|she|such|then|otherwise|however|but|so|also|thus|hence|"
    r"therefore|and|or|both|neither|either|each|instead|else|if not|if so|here|there|e\.g|for example|for instance|"
    r"second|third|finally|similarly|likewise|another|the (?:former|latter|same|first|second))\b",
    re.IGNORECASE,
)


@value_class
class Piece:
    """A part of the unit with this index: lines [first, last] of the body, or the `span` of a sentence in its text."""

    unit: int
    first: int
    last: int
    text: str
    span: range | None = None


def pieces(parsed: ParsedFile) -> list[Piece]:
    """Return the pieces of a file in order; a unit that cannot be split is one piece."""
    return [part for parts in pieces_by_unit(parsed).values() for part in parts]


def pieces_by_unit(parsed: ParsedFile) -> dict[int, list[Piece]]:
    """Return the pieces of each unit."""
    found: dict[int, list[Piece]] = {}
    for at, unit in enumerate(parsed.units):
        parts = [*_split(at, unit, [line.text for line in parsed.body[unit.first : unit.last + 1]])]
        alone = len(parts) < 2 and not _contains_code(unit)  # noqa: PLR2004
        found[at] = [Piece(at, unit.first, unit.last, unit.text)] if alone else parts
    return found


def _split(at: int, unit: Unit, lines: Sequence[str]) -> Iterator[Piece]:
    if unit.kind is BlockKind.OTHER:
        if len(lines) > _TABLE_HEADER_ROWS and _TABLE_RULE.fullmatch(lines[1]):
            yield from _line_pieces(
                at, unit, lines, [range(row, row + 1) for row in range(_TABLE_HEADER_ROWS, len(lines))]
            )
    elif _contains_code(unit):
        yield from _line_pieces(at, unit, lines, [*_prose_runs(lines)])
    elif unit.kind is BlockKind.ITEM and len(inner := [*_nested_items(lines)]) > 0:
        yield from _line_pieces(at, unit, lines, [range(inner[0].start), *inner])
    elif not unit.leads:
        yield from _sentences(at, unit)


def _line_pieces(at: int, unit: Unit, lines: Sequence[str], parts: Sequence[range]) -> Iterator[Piece]:
    for part in parts:
        text = "\n".join(lines[part.start : part.stop]).rstrip()
        yield Piece(at, unit.first + part.start, unit.first + part.stop - 1, text)


def _contains_code(unit: Unit) -> bool:
    return unit.kind is BlockKind.ITEM and any(map(_FENCE.match, unit.text.split("\n")))


def _prose_runs(lines: Sequence[str]) -> Iterator[range]:
    """Yield the runs of lines of an item that are neither code nor blank, split at markers and blank lines."""
    start, inside = 0, False
    for at, line in enumerate([*lines, ""]):
        fence = bool(_FENCE.match(line))
        if (fence or inside or not line.strip() or list_item(line)) and start < at:
            yield range(start, at)
            start = at
        inside ^= fence
        if fence or inside or not line.strip():
            start = at + 1


def _nested_items(lines: Sequence[str]) -> Iterator[range]:
    """Yield the lines of the items nested in an item; none if other text follows them."""
    starts = [at for at, line in enumerate(lines) if at and list_item(line)]
    least = min((indentation(lines[at]) for at in starts), default=0)
    starts = [at for at in starts if indentation(lines[at]) == least]
    if not starts or any(line.strip() and indentation(line) < least for line in lines[starts[0] :]):
        return
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield range(start, stop)


def _sentences(at: int, unit: Unit) -> Iterator[Piece]:
    starts = [0]
    for start in sentence_starts(unit.text):
        before = unit.text[starts[-1] : start]
        if len(before.split()) >= _MIN_SENTENCE and is_balanced(before) and not before.rstrip().endswith(";"):
            starts.append(start)
    for start, stop in zip(starts, [*starts[1:], len(unit.text)], strict=True):
        yield Piece(at, unit.first, unit.last, unit.text[start:stop].strip(), range(start, stop))


def is_balanced(text: str) -> bool:
    """Whether a text closes every quotation, code span, bold text and bracket."""
    pairs = text.count("“") == text.count("”") and text.count("(") == text.count(")")
    return pairs and not any(text.count(mark) % 2 for mark in ('"', "`", "**"))


def rewrite(parsed: ParsedFile, parts: Sequence[Piece], new: Mapping[Piece, str]) -> list[tuple[range, list[str]]]:
    """Return lines of the body with their replacements, the last first, for the pieces in `new` ("" removes one).

    Nothing is removed if the rest could not be read alone: a label without its text, a table without a row, a sentence
    that refers back to the one before it.
    """
    gone = [part for part in parts if new.get(part) == ""]
    if gone and not _reads_alone(parsed, parts, gone):
        new, gone = {part: text for part, text in new.items() if text}, []
    changed = [part for part in parts if part in new]
    if not changed:
        return []
    if parts[0].span is not None:
        return _reword(parsed, parts, new)
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
        while not parsed.body[start - 1].key:
            start -= 1
        runs[-1] = range(start, runs[-1].stop)
    return sorted([*edits, *((run, []) for run in runs)], key=lambda edit: -edit[0].start)


def _reads_alone(parsed: ParsedFile, parts: Sequence[Piece], gone: Collection[Piece]) -> bool:
    """Whether the rest of a unit can be read without the removed pieces."""
    stays = [part for part in parts if part not in gone]
    unit = parsed.units[parts[0].unit]
    labels = unit.kind is BlockKind.ITEM or parts[0].text.startswith(("**", "__", "> **"))
    if not stays or unit.is_step or _contains_code(unit) or (labels and parts[0] in gone):
        return False
    if parts[0].span is not None:
        return not any(
            before in gone and part not in gone and _REFERS_BACK.match(part.text) for before, part in pairwise(parts)
        )
    return not (unit.kind is BlockKind.ITEM and announces(parts[0].text) and len(stays) == 1)


def is_code(text: str) -> bool:
    """Whether a text begins with the fence of code."""
    return bool(_FENCE.match(text))


def _reword(parsed: ParsedFile, parts: Sequence[Piece], new: Mapping[Piece, str]) -> list[tuple[range, list[str]]]:
    unit, texts = parsed.units[parts[0].unit], []
    for part in parts:
        text = unit.text[part.span.start : part.span.stop] if part.span else ""
        texts.append(text if part not in new else new[part] and text.replace(part.text, new[part]))
    text = _indented("".join(texts).rstrip(), unit.text)
    old = [line.text for line in parsed.body[unit.first : unit.last + 1]]
    lines = [line for line in text.split("\n") if line.strip()]
    same = 0
    while same < min(len(old), len(lines)) and old[same].rstrip() == lines[same].rstrip():
        same += 1
    return [(range(unit.first + same, unit.last + 1), [line.rstrip() for line in lines[same:]])]


def _indented(text: str, old: str) -> str:
    return " " * indentation(old) + text.lstrip()
