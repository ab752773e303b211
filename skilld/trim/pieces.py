"""Splits units into the pieces that a model is asked about, and takes single pieces out of a unit that stays.

A piece is a whole unit, or of one a sentence, a sub-item, a row of a table, or code below a comment of its own. Pure: a
sheet in, pieces and lines out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skilld.classify.offline.sections import Block
from skilld.markdown.structure import list_item
from skilld.text import sentence_starts
from skilld.trim.units import Sheet, Unit

_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([\w+#-]*)")
_TABLE_RULE = re.compile(r"[ \t]*+\|?+(?:[ \t]*+:?-++:?[ \t]*+\|)++(?:[ \t]*+:?-++:?)?+[ \t]*+")
_HEAD_OF_TABLE = 2  # rows: the names of the columns and the rule below them
_MIN_SENTENCE = 3  # words
# Languages whose statements do not lean on each other but by name; a Dockerfile or YAML without a part is another one.
_APART = re.compile(
    r"(?:ba|z|fi)?sh|shell|console|powershell|ps1|sql|http|te?xt|py(?:thon)?|javascript|jsx?|typescript|tsx?|go|rust|java"
    r"|kotlin|swift|ruby|rb|php|css|html|markdown|md|csharp|cs|c|cpp|regex|diff"
)
_COMMENT = re.compile(r"\s*(?:#(?!!)|//|--\s|/\*|<!--|%)")
_FROM_COMMENT = re.compile(r"(?:(?<!\S)#(?!!)|(?<!:)//|(?<!\S)--(?=\s)|/\*|<!--|(?<!\S)\*(?=\s)).*")
_COUNTED = re.compile(
    r"\s*(?:#|//|--|/\*|<!--)\s*(?:(?:step|phase|part|option|variant|approach|then|or|now|next|also|alternatively)\b|\d+[.)])",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:def|class|function|const|let|var|func|type|interface|enum|struct|import|export|TABLE|INDEX|VIEW|AS|as|for)"
    r"\s++(?:\w++\.)*+\{?\s*+([A-Za-z_]\w*)|(?:^|[\s;])([A-Za-z_]\w*+)\s*+(?::[\w\[\], .]++)?+:?="
    r"|^[ \t]*+(?:from[ \t]++\S++[ \t]++)?+import[ \t]++(.+)$",
    re.MULTILINE,
)
_OPENS, _CLOSES = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")
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
    found: list[Piece] = []
    for at, unit in enumerate(sheet.units):
        parts = [*_parts(at, unit, [line.text for line in sheet.body[unit.first : unit.last + 1]])]
        found += parts if len(parts) > 1 else [Piece(at, unit.first, unit.last, unit.text)]
    return found


def _parts(at: int, unit: Unit, lines: Sequence[str]) -> Iterator[Piece]:
    fence = _FENCE.match(lines[0]) if unit.kind is Block.OTHER else None
    fenced = any(_FENCE.match(line) for line in lines)
    if fence:
        yield from _of_lines(at, unit, lines, _statements(lines, fence[1].lower()))
    elif unit.kind is Block.OTHER:
        if len(lines) > _HEAD_OF_TABLE and _TABLE_RULE.fullmatch(lines[1]):
            yield from _of_lines(at, unit, lines, [range(row, row + 1) for row in range(_HEAD_OF_TABLE, len(lines))])
    elif unit.kind is Block.ITEM and len(inner := [*_inner(lines)]) > 0 and not fenced:
        yield from _of_lines(at, unit, lines, [range(inner[0].start), *inner])
    elif not fenced and not unit.leads:
        yield from _sentences(at, unit)


def _of_lines(at: int, unit: Unit, lines: Sequence[str], parts: Sequence[range]) -> Iterator[Piece]:
    for part in parts:
        text = "\n".join(lines[part.start : part.stop]).rstrip()
        yield Piece(at, unit.first + part.start, unit.first + part.stop - 1, text)


def _inner(lines: Sequence[str]) -> Iterator[range]:
    """Return the lines of the items below an item; none where something else stands behind them."""
    starts = [at for at, line in enumerate(lines) if at and list_item(line)]
    least = min((_indent(lines[at]) for at in starts), default=0)
    starts = [at for at in starts if _indent(lines[at]) == least]
    if not starts or any(line.strip() and _indent(line) < least for line in lines[starts[0] :]):
        return
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield range(start, stop)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _sentences(at: int, unit: Unit) -> Iterator[Piece]:
    starts = [0]
    for start in sentence_starts(unit.text):
        before = unit.text[starts[-1] : start]
        if len(before.split()) >= _MIN_SENTENCE and _is_closed(before):
            starts.append(start)
    for start, stop in zip(starts, [*starts[1:], len(unit.text)], strict=True):
        yield Piece(at, unit.first, unit.last, unit.text[start:stop].strip(), range(start, stop))


def _is_closed(text: str) -> bool:
    """Whether no clause, code, bold text or bracket goes on behind a text."""
    paired = all(text.count(mark) % 2 == 0 for mark in ("`", "**"))
    return paired and not text.rstrip().endswith(";") and text.count("(") == text.count(")")


def _statements(lines: Sequence[str], language: str) -> list[range]:
    """Return the statements below a comment each, blank lines included; one for all where they need each other."""
    inside = range(1, len(lines) - bool(_FENCE.fullmatch(lines[-1])))
    whole = [range(len(lines))]
    if not inside or not _APART.fullmatch(language) or lines[inside.start].startswith("#!"):
        return whole
    outer = _indent(lines[inside.start])
    starts: list[int] = []
    for at in inside:
        if not starts or (_indent(lines[at]) == outer and _begins(lines, starts[-1], at)):
            starts.append(at)
    parts = [range(start, stop) for start, stop in zip(starts, [*starts[1:], inside.stop], strict=True)]
    texts = ["\n".join(lines[part.start : part.stop]) for part in parts]
    if any(len(_OPENS.findall(text)) != len(_CLOSES.findall(text)) or _COUNTED.match(text) for text in texts):
        return whole
    return parts


def _begins(lines: Sequence[str], start: int, at: int) -> bool:
    """Whether a comment opens another statement than the one from `start`: what has none belongs to the code above."""
    above = [line for line in lines[start:at] if line.strip()]
    if not _COMMENT.match(lines[at]) or all(map(_COMMENT.match, above)):
        return False
    return not above[-1].rstrip().endswith(("\\", "|", "&&"))


def taken_out(sheet: Sheet, parts: Sequence[Piece], gone: Collection[Piece]) -> list[tuple[range, list[str]]] | None:
    """Return lines of the body with what comes in their place, the last first, so that some pieces of a unit are gone.

    None where the rest would not stand by itself: a label without its text, a table without a row, code that lacks a
    name, a sentence that leans on the one before it.
    """
    stays = [part for part in parts if part not in gone]
    unit = sheet.units[parts[0].unit]
    labels = unit.kind is Block.ITEM or parts[0].text.startswith(("**", "__", "> **"))
    if not stays or unit.is_step or (labels and parts[0] in gone):
        return None
    if parts[0].span is not None:
        return _without_sentences(sheet, unit, parts, gone)
    if unit.kind is Block.ITEM and unit_leads(parts[0].text) and len(stays) == 1:
        return None
    if _FENCE.match(sheet.body[unit.first].text) and _lacks_a_name(stays, gone):
        return None
    runs: list[range] = []
    for part in (part for part in parts if part in gone):
        start = runs.pop().start if runs and runs[-1].stop == part.first else part.first
        runs.append(range(start, part.last + 1))
    if runs[-1].stop == parts[-1].last + 1:
        start = runs[-1].start
        while not sheet.body[start - 1].key:
            start -= 1
        runs[-1] = range(start, runs[-1].stop)
    return [(run, []) for run in reversed(runs)]


def comments(sheet: Sheet, part: Piece) -> str | None:
    """Return the comments of a piece of code, and of what is none, None."""
    if not _FENCE.match(sheet.body[sheet.units[part.unit].first].text):
        return None
    return "\n".join(_FROM_COMMENT.findall(part.text))


def unit_leads(text: str) -> bool:
    """Whether a text announces what follows."""
    return text.rstrip("*_ \n").endswith(":")


def _without_sentences(
    sheet: Sheet, unit: Unit, parts: Sequence[Piece], gone: Collection[Piece]
) -> list[tuple[range, list[str]]] | None:
    for before, part in pairwise(parts):
        if before in gone and part not in gone and _LEANS.match(part.text):
            return None
    kept = [unit.text[part.span.start : part.span.stop] for part in parts if part.span and part not in gone]
    text = "".join(kept).rstrip()
    if len(text) - len(text.lstrip()) != _indent(unit.text):
        text = " " * _indent(unit.text) + text.lstrip()
    old = [line.text for line in sheet.body[unit.first : unit.last + 1]]
    new = [line for line in text.split("\n") if line.strip()]
    same = 0
    while same < min(len(old), len(new)) and old[same].rstrip() == new[same].rstrip():
        same += 1
    return [(range(unit.first + same, unit.last + 1), [line.rstrip() for line in new[same:]])]


def _lacks_a_name(stays: Collection[Piece], gone: Collection[Piece]) -> bool:
    used = set(re.findall(r"[A-Za-z_]\w*", "\n".join(part.text for part in stays)))
    for part in gone:
        for found in _NAMED.finditer(part.text):
            if used & set(re.findall(r"[A-Za-z_]\w*", found[1] or found[2] or found[3] or "")):
                return True
    return any(_COUNTED.match(part.text) for part in stays)
