"""Finds the cuts that a model named, in pieces of a file, as far as code approves of each. Pure.

A piece goes because any model knows it, where no choice speaks in it, or because another one says the same, where that
one has all its measures, conditions and names and stays. docs/trim.md has how right they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from skilld.classify.offline.choices import TELLING, choices
from skilld.edit.operations import anchored, apply, places
from skilld.errors import SkilldError
from skilld.text import cut, fold, folded
from skilld.trim.cuts import SHOWN, Cut, Kept, Why, cuts, ordered
from skilld.trim.find import CHOICE, Known, names_a_choice, writable
from skilld.trim.pieces import Piece, comments, pieces, taken_out
from skilld.trim.said import says_it
from skilld.trim.units import Sheet, leads
from skilld.types import Operation

_MOST = 0.5  # share of a file's tokens that a model may name
# A value that somebody set: a measure in a command or a setting, and the form that a name or a message has.
_VALUE = re.compile(
    r"(?:^|\s)--?[a-z][\w-]*[= ][\"']?\d"
    r"|(?:delay|timeout|interval|period|limit|max|min|retr|threshold|replicas|ttl|attempts|workers|seconds|size)"
    r"[\w-]{0,20}[\"']?\s?[:=]\s?[\"']?\d"
    r"|\b\d+\s?(?:ms|s|sec|seconds?|min|minutes?|h|hours?|days?|px|[kmg]i?b)\b|\b\d+\s?%"
    r"|\b\d+\s?(?:/|per )\s?(?:s|sec|second|min|minute|h|hour|d|day|week|month)\b"
    r"|\b(?:[vx]\d+\.\d+\.\d+|x\.y\.z|yyyy\W?mm)\b|(?<![\w<])<[a-z]+(?:[-_ ][a-z]+)+>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said of a piece, by its number from 0: that it is known, or that the piece `same` says it."""

    number: int
    same: int | None = None


def shown(sheet: Sheet) -> list[tuple[int, str]]:
    """Return all texts of a file in its order, each piece with its number from 1 and what cannot be named with 0."""
    found = [(-1, 0, sheet.file.front)] if sheet.file.front else []
    found += [(one.start - 1, 0, f"{'#' * one.level} {one.title}") for one in sheet.sections if one.level]
    before = None
    for number, part in enumerate(pieces(sheet), 1):
        unit = sheet.units[part.unit]
        if part.unit != before and part.first > unit.first:  # a fence, the names of columns
            found.append((unit.first, 0, "\n".join(line.text for line in sheet.body[unit.first : part.first])))
        found.append((part.first, number, part.text))
        before = part.unit
    return [(number, text) for _, number, text in sorted(found, key=lambda one: one[0])]


def candidates(sheet: Sheet, known: Known) -> list[Piece]:
    """Return the pieces that may go because any model knows them: no choice of a person's speaks in them.

    A value that was set is one: of 49 cuts two were harmful, and what they took were timings and the form of a message.
    Code is one as well: a file's author chose that case to be shown, and every harmful cut of known pieces that a blind
    reader found had taken code (docs/trim.md).
    """
    free = _free(sheet, known)
    found = [
        part for part in pieces(sheet) if part in free and comments(sheet, part) is None and not _chooses(sheet, part)
    ]
    whole = {part.unit for part in found if part.text == sheet.units[part.unit].text}
    bound = {at for lead, units in leads(sheet).items() if lead not in whole for at in units}
    return [part for part in found if part.unit in whole or part.unit not in bound]


def _free(sheet: Sheet, known: Known) -> set[Piece]:
    """Return the pieces that no program writes and no person said, none that begins or ends inside of a quotation."""
    own = set(known.own)
    free = {at for at in writable(sheet) if folded(sheet.units[at].text.strip().lstrip("-*+ ")) not in own}
    return {
        part
        for part in pieces(sheet)
        if part.unit in free
        and _is_closed(part.text)
        and own.isdisjoint(folded(line.strip().lstrip("-*+ ")) for line in part.text.split("\n"))
    }


def _is_closed(text: str) -> bool:
    pairs = text.count("“") == text.count("”") and text.count("(") == text.count(")")
    return pairs and not any(text.count(mark) % 2 for mark in ('"', "`", "**"))


def _chooses(sheet: Sheet, part: Piece) -> bool:
    said = comments(sheet, part)
    return bool(
        CHOICE.search(part.text if said is None else said)
        or CHOICE.search(sheet.units[part.unit].heading)
        or _VALUE.search(part.text)
    )


def named(
    sheet: Sheet, known: Known, answers: Iterable[Answer], count: Callable[[str], int], besides: Sequence[Cut] = ()
) -> list[Cut]:
    """Return the cuts of the pieces that a model named, as far as code approves of them.

    Where they are most of the file, what is known stays, and what is said twice as well if that alone is most of it.
    `besides` are the sure ones: what goes with them is neither named again nor counted on to say anything.
    """
    parts = pieces(sheet)
    going = {number for one in besides for number in range(one.line, one.last + 1)}
    given = {parts[one.number]: one for one in answers if _lines(sheet, parts[one.number]).isdisjoint(going)}
    most = _MOST * sum(count(part.text) for part in parts)
    for first in (_known(sheet, known, given), {}):
        reasons = first | _said(sheet, known, given.values(), first, going)
        if sum(count(part.text) for part in reasons) <= most:
            break
    else:
        return []
    of_unit: dict[int, list[Piece]] = {}
    for part in parts:
        of_unit.setdefault(part.unit, []).append(part)
    chosen: dict[int, tuple[Why, str]] = {}
    split: list[Cut | None] = []
    for at, inside in of_unit.items():
        gone = [part for part in inside if part in reasons]
        if gone and len(gone) == len(inside):
            chosen[at] = _reason(gone, reasons)
        elif gone:
            split.append(_split(sheet, inside, gone, _reason(gone, reasons), count))
    free = {part.unit for part in candidates(sheet, known)}
    kept = Kept(set(range(len(sheet.units))) - free, known.own, names_a_choice, going)
    made = ordered(sheet, cuts(sheet, chosen, count, kept), besides)
    return _apart(sheet, [*made, *(one for one in split if one)], besides)


def _apart(sheet: Sheet, made: Sequence[Cut], besides: Sequence[Cut]) -> list[Cut]:
    """Return cuts, the largest saving first, those waiting that are anchored on a line which another one takes."""
    found: list[Cut] = []
    for one in sorted(made, key=lambda one: (-one.tokens, one.line)):
        own = _anchors(sheet, one)
        others = [each for each in (*besides, *found) if not own.isdisjoint(_anchors(sheet, each))]
        found.append(replace(one, after=(*one.after, *(each.key for each in others))) if others else one)
    return found


def _anchors(sheet: Sheet, made: Cut) -> set[int]:
    return {
        number
        for operation in made.operations
        for start in places(sheet.body, operation.anchor.split("\n"))
        for number in range(start, start + operation.anchor.count("\n") + 1)
    }


_Reasons = Mapping[Piece, tuple[Why, str]]


def _known(sheet: Sheet, known: Known, given: Mapping[Piece, Answer]) -> dict[Piece, tuple[Why, str]]:
    free = set(candidates(sheet, known))
    allowed = [part for part, one in given.items() if one.same is None and part in free]
    stays = "\n".join([sheet.file.front, *(part.text for part in pieces(sheet) if part not in allowed)])
    there = frozenset().union(*choices(stays).values())
    return {part: (Why.KNOWN, "") for part in allowed if not _only_here(part.text, there)}


def _only_here(text: str, there: Collection[str]) -> bool:
    """Whether a text names one tool of a kind which nothing that stays names."""
    return any(not each <= set(there) for family, each in choices(text).items() if family < TELLING)


def _said(
    sheet: Sheet, known: Known, answers: Iterable[Answer], reasons: _Reasons, going: Collection[int]
) -> dict[Piece, tuple[Why, str]]:
    """Return the pieces that another one says, which stays; each is judged with those gone that were allowed before."""
    parts, free = pieces(sheet), _free(sheet, known)
    gone, needed = set(reasons), set[Piece]()
    gone |= {part for part in parts if not _lines(sheet, part).isdisjoint(going)}
    found: dict[Piece, tuple[Why, str]] = {}
    for one in sorted(answers, key=lambda one: -one.number):
        if one.same is None or one.same == one.number:
            continue
        part, other = parts[one.number], parts[one.same]
        if part not in free or part in needed or part in gone or other in gone:
            continue
        stays = [left.text for left in parts if left not in gone and left != part]
        rest = "\n".join([sheet.file.front, *(section.title for section in sheet.sections), *stays])
        headings = [sheet.units[each.unit].heading for each in (part, other)]
        if says_it(part.text, headings[0], other.text, headings[1], rest):
            found[part] = Why.SAID, f"line {sheet.line(other.first)}"
            gone.add(part)
            needed.add(other)
    return found


def _reason(gone: Sequence[Piece], reasons: _Reasons) -> tuple[Why, str]:
    """Return one reason for all: what is known is the weaker one."""
    told = dict.fromkeys(reasons[part] for part in gone)
    if any(why is Why.KNOWN for why, _ in told):
        return Why.KNOWN, ""
    return Why.SAID, ", ".join(where for _, where in told)


def _lines(sheet: Sheet, part: Piece) -> set[int]:
    return {sheet.line(number) for number in range(part.first, part.last + 1) if sheet.body[number].key}


def _split(
    sheet: Sheet, parts: Sequence[Piece], gone: Sequence[Piece], reason: tuple[Why, str], count: Callable[[str], int]
) -> Cut | None:
    """Return the cut of some pieces of a unit of which others stay, or None where that cannot be."""
    edits = taken_out(sheet, parts, gone)
    if not edits:
        return None
    operations: list[Operation] = []
    saved = 0
    try:
        for lines, text in edits:
            operations.append(anchored(sheet.body, lines.start, lines.stop, text))
            old = "\n".join(sheet.body[number].text for number in lines)
            saved += count(old + "\n") - count("".join(f"{line}\n" for line in text))
        apply(sheet.file.data, operations)
    except SkilldError:
        return None
    first, last = edits[-1][0].start, edits[0][0].stop - 1
    lost = cut(fold(" … ".join(part.text for part in gone)), SHOWN)
    where = reason[1]
    return Cut(sheet.line(first), sheet.line(last), reason[0], lost, saved, tuple(operations), where)
