"""Finds the cuts that a model named, in pieces of a file, as far as code approves of each. Pure.

A piece goes because another one says the same, where that one has all its measures, conditions and names and stays; or
it is said in fewer of its own words. docs/trim.md has how right they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from skilld.classify.offline.sections import Block
from skilld.edit.operations import anchored, apply, places
from skilld.errors import SkilldError
from skilld.text import cut, fold, folded
from skilld.trim.cuts import SHOWN, Cut, Kept, Why, cuts, ordered
from skilld.trim.find import FileFacts, writable
from skilld.trim.pieces import Piece, by_unit, is_closed, is_code, pieces, rewritten
from skilld.trim.said import binding, says_it, says_nothing, shorter
from skilld.trim.units import Sheet
from skilld.types import Operation
from skilld.words import content_stems

_MIN_SAVED = 5  # tokens, below which what is said anew is not proposed


_Reason = tuple[Why, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said of a piece, by its number from 0: that `same` says it (None: the rest does), or a `text`."""

    number: int
    same: int | None = None
    text: str = ""


def shown(sheet: Sheet) -> list[tuple[int, str]]:
    """Return all texts of a file in its order, each piece with its number from 1 and what cannot be named with 0."""
    found = [(-1, 0, sheet.file.front)] if sheet.file.front else []
    found += [(one.start - 1, 0, f"{'#' * one.level} {one.title}") for one in sheet.sections if one.level]
    number = 0
    for at, parts in by_unit(sheet).items():
        unit, done = sheet.units[at], sheet.units[at].first
        for part in parts:
            number += 1
            found += _only_shown(sheet, done, part.first)
            found.append((part.first, number, part.text))
            done = part.last + 1
        found += _only_shown(sheet, done, unit.last + 1) if unit.kind is Block.ITEM else []
    return [(number, text) for _, number, text in sorted(found, key=lambda one: one[0])]


def _only_shown(sheet: Sheet, start: int, stop: int) -> list[tuple[int, int, str]]:
    """Return lines of a unit between its pieces: a fence, the names of columns, code in a list."""
    text = "\n".join(line.text for line in sheet.body[start:stop]).rstrip()
    return [(start, 0, text)] if text else []


def _free(sheet: Sheet, known: FileFacts) -> set[Piece]:
    """Return the pieces that no program writes and no person said, none of code or that ends inside of a quotation."""
    own = set(known.own)
    free = {at for at in writable(sheet) if folded(sheet.units[at].text.strip().lstrip("-*+ ")) not in own}
    return {
        part
        for part in pieces(sheet)
        if part.unit in free
        and not is_code(part.text)
        and is_closed(part.text)
        and own.isdisjoint(folded(line.strip().lstrip("-*+ ")) for line in part.text.split("\n"))
    }


def named(
    sheet: Sheet, known: FileFacts, answers: Iterable[Answer], count: Callable[[str], int], besides: Sequence[Cut] = ()
) -> list[Cut]:
    """Return the cuts of the pieces that a model named, as far as code approves of them.

    `besides` are the sure ones: what goes with them is neither named again nor counted on to say anything.
    """
    parts, free = pieces(sheet), _free(sheet, known)
    going = {number for one in besides for number in range(one.line, one.last + 1)}
    told = [sheet.told(part.first, part.last) for part in parts]
    given = {parts[one.number]: one for one in answers if told[one.number].isdisjoint(going)}
    said = {
        part: text
        for part, one in given.items()
        if one.text and part in free and sheet.units[part.unit].kind is not Block.OTHER
        if (text := shorter(part.text, one.text)) and count(text) < count(part.text)
    }
    reasons = _said(sheet, free, given.values(), said, going)
    chosen: dict[int, _Reason] = {}
    anew: list[tuple[range, list[str]]] = []
    for at, inside in by_unit(sheet).items():
        gone = [part for part in inside if part in reasons]
        if len(gone) == len(inside):
            chosen[at] = Why.SAID, ", ".join(dict.fromkeys(where for part in gone if (where := reasons[part])))
        else:
            anew += rewritten(sheet, inside, said | dict.fromkeys(gone, ""))
    made = of_units(sheet, known, chosen, count, besides)
    return _apart(sheet, [*made, *_of_sections(sheet, anew, count)], besides)


def of_units(
    sheet: Sheet,
    known: FileFacts,
    chosen: Mapping[int, _Reason],
    count: Callable[[str], int],
    besides: Sequence[Cut] = (),
) -> list[Cut]:
    """Return the cuts of units that go as wholes; a line that announces them stays where it says more than that."""
    free = {part.unit for part in _free(sheet, known)}
    kept = {at for at, unit in enumerate(sheet.units) if at not in free or binding(unit.text)}
    going = {number for one in besides for number in range(one.line, one.last + 1)}
    return ordered(sheet, cuts(sheet, chosen, count, Kept(kept, known.own, going)), besides)


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


def _said(
    sheet: Sheet, free: Collection[Piece], answers: Iterable[Answer], said: Mapping[Piece, str], going: Collection[int]
) -> dict[Piece, str]:
    """Return the pieces that another one says, as it then stands, with where; what others go by stays."""
    parts = pieces(sheet)
    gone, needed = {part for part in parts if not sheet.told(part.first, part.last).isdisjoint(going)}, set[Piece]()
    found: dict[Piece, str] = {}
    for one in sorted(answers, key=lambda one: -one.number):
        part, other = parts[one.number], None if one.same is None else parts[one.same]
        unit = sheet.units[part.unit]
        if one.text or part not in free or part in needed or part in gone or other in (part, *gone):
            continue
        left = {each: said.get(each, each.text) for each in parts if each not in gone and each != part}
        rest = "\n".join([sheet.file.front, *(section.title for section in sheet.sections), *left.values()])
        if other is None:
            prose = unit.kind is not Block.OTHER and not unit.leads
            goes = prose and says_nothing(part.text, unit.heading, rest)
        else:
            goes = says_it(part.text, unit.heading, left[other], sheet.units[other.unit].heading, rest)
            needed |= {other} if goes else set()
        if goes:
            found[part] = f"line {sheet.line(other.first)}" if other else ""
            gone.add(part)
    return found


_Edit = tuple[range, list[str]]
_TOP = 2  # level of the headings whose sections are decided on by themselves


def _of_sections(sheet: Sheet, edits: Iterable[_Edit], count: Callable[[str], int]) -> list[Cut]:
    """Return what is said anew, one cut for each section; of one that a single edit may not take, several."""
    runs: list[tuple[str, list[_Edit], list[Operation]]] = []
    for lines, text in sorted(edits, key=lambda edit: -edit[0].start):
        title = [one for one in sheet.sections if one.level <= _TOP and one.start <= lines.start][-1].title
        for name, taken, operations in (*(run for run in runs[-1:] if run[0] == title), (title, [], [])):
            try:
                operation = anchored(sheet.body, lines.start, lines.stop, text)
                apply(sheet.file.data, [*operations, operation])
            except SkilldError:
                continue
            if not taken:
                runs.append((name, taken, operations))
            taken.append((lines, text))
            operations.append(operation)
            break
    made = [_anew(sheet, runs, at, count) for at in range(len(runs))]
    return [one for one in made if one.tokens >= _MIN_SAVED]


def _anew(
    sheet: Sheet, runs: Sequence[tuple[str, list[_Edit], list[Operation]]], at: int, count: Callable[[str], int]
) -> Cut:
    title, edits, operations = runs[at]
    old = "\n".join(sheet.body[number].text for lines, _ in reversed(edits) for number in lines)
    new = "\n".join(line for _, text in reversed(edits) for line in text)
    lost = [word for word in dict.fromkeys(old.split()) if content_stems(word) - content_stems(new)]
    quoted = ", ".join(f"\u201c{fold(word.strip('.,:;'))}\u201d" for word in lost)
    what = cut(f"the {'word' if len(lost) == 1 else 'words'} {quoted}", SHOWN) if lost else "filler words only"
    first, last = edits[-1][0].start, edits[0][0].stop - 1
    saved, name = count(old + "\n") - count(new + "\n"), f"{folded(title)} {sum(one[0] == title for one in runs[:at])}"
    return Cut(sheet.line(first), sheet.line(last), Why.SHORTER, what, saved, tuple(operations), name=name)
