"""Turns a model's answers about pieces of a file into cuts, as far as code approves of each. Pure.

A piece goes if another one that stays says the same, with all its measures, conditions and names; or it is reworded in
fewer of its own words. docs/measurements/trim.md has their precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from skilld.classify.offline.sections import BlockKind
from skilld.edit.operations import anchor_operation, apply, find_lines
from skilld.errors import SkilldError
from skilld.markdown.structure import list_item
from skilld.text import fold, fold_case, indentation, sentence_starts, truncate
from skilld.trim.code_cuts import FileFacts, unmanaged_units
from skilld.trim.cuts import MAX_SHOWN, Cut, CutReason, Protected, Reason, cuts, order_cuts
from skilld.trim.equivalence import binding_words, checked_rewording, is_covered, is_redundant
from skilld.trim.units import ParsedFile, Unit, announces
from skilld.types import Operation
from skilld.values import value_class
from skilld.words import content_stems

_MIN_SAVED = 5  # tokens: a rewording that saves less is not proposed


@value_class
class PieceAnswer:
    """A model's answer about a piece, by its number from 0: `same` covers it (None: the rest does), or a new `text`."""

    number: int
    same: int | None = None
    text: str = ""


def numbered_texts(parsed: ParsedFile) -> list[tuple[int, str]]:
    """Return all texts of a file in order, the pieces numbered from 1 and everything else with 0."""
    found = [(-1, 0, parsed.file.front)] if parsed.file.front else []
    found += [(one.start - 1, 0, f"{'#' * one.level} {one.title}") for one in parsed.sections if one.level]
    number = 0
    for at, parts in pieces_by_unit(parsed).items():
        unit, done = parsed.units[at], parsed.units[at].first
        for part in parts:
            number += 1
            found += _lines_between(parsed, done, part.first)
            found.append((part.first, number, part.text))
            done = part.last + 1
        found += _lines_between(parsed, done, unit.last + 1) if unit.kind is BlockKind.ITEM else []
    return [(number, text) for _, number, text in sorted(found, key=lambda one: one[0])]


def _lines_between(parsed: ParsedFile, start: int, stop: int) -> list[tuple[int, int, str]]:
    """Return the lines of a unit between its pieces: a fence, the header of a table, code in a list."""
    text = "\n".join(line.text for line in parsed.body[start:stop]).rstrip()
    return [(start, 0, text)] if text else []


def _editable_pieces(parsed: ParsedFile, known: FileFacts) -> set[Piece]:
    """Return the pieces that no program manages and no person said, without code and unclosed quotations."""
    own = set(known.own)
    free = {at for at in unmanaged_units(parsed) if fold_case(parsed.units[at].text.strip().lstrip("-*+ ")) not in own}
    return {
        part
        for part in pieces(parsed)
        if part.unit in free
        and not is_code(part.text)
        and is_balanced(part.text)
        and own.isdisjoint(fold_case(line.strip().lstrip("-*+ ")) for line in part.text.split("\n"))
    }


def cuts_from_answers(
    parsed: ParsedFile,
    known: FileFacts,
    answers: Iterable[PieceAnswer],
    count: Callable[[str], int],
    besides: Sequence[Cut] = (),
) -> list[Cut]:
    """Return the cuts that follow from a model's answers, as far as code approves of them.

    `besides` are the certain cuts: text they remove is neither cut again nor relied on to say something.
    """
    parts, free = pieces(parsed), _editable_pieces(parsed, known)
    going = {number for one in besides for number in range(one.line, one.last + 1)}
    told = [parsed.text_lines(part.first, part.last) for part in parts]
    given = {parts[one.number]: one for one in answers if told[one.number].isdisjoint(going)}
    said = {
        part: text
        for part, one in given.items()
        if one.text and part in free and parsed.units[part.unit].kind is not BlockKind.OTHER
        if (text := checked_rewording(part.text, one.text)) and count(text) < count(part.text)
    }
    reasons = _redundant_pieces(parsed, free, given.values(), said, going)
    chosen: dict[int, Reason] = {}
    anew: list[tuple[range, list[str]]] = []
    for at, inside in pieces_by_unit(parsed).items():
        gone = [part for part in inside if part in reasons]
        if len(gone) == len(inside):
            chosen[at] = CutReason.SAID, ", ".join(dict.fromkeys(where for part in gone if (where := reasons[part])))
        else:
            anew += rewrite(parsed, inside, said | dict.fromkeys(gone, ""))
    made = unit_cuts(parsed, known, chosen, count, besides)
    return _order_by_anchor(parsed, [*made, *_rewording_cuts(parsed, anew, count)], besides)


def unit_cuts(
    parsed: ParsedFile,
    known: FileFacts,
    chosen: Mapping[int, Reason],
    count: Callable[[str], int],
    besides: Sequence[Cut] = (),
) -> list[Cut]:
    """Return the cuts of whole units; a line that announces them stays if it says more than that."""
    free = {part.unit for part in _editable_pieces(parsed, known)}
    kept = {at for at, unit in enumerate(parsed.units) if at not in free or binding_words(unit.text)}
    going = {number for one in besides for number in range(one.line, one.last + 1)}
    return order_cuts(parsed, cuts(parsed, chosen, count, Protected(kept, known.own, going)), besides)


def _order_by_anchor(parsed: ParsedFile, made: Sequence[Cut], besides: Sequence[Cut]) -> list[Cut]:
    """Return cuts, the largest saving first; one whose anchor has a line that another cut removes waits for it."""
    found: list[Cut] = []
    for one in sorted(made, key=lambda one: (-one.tokens, one.line)):
        own = _anchors(parsed, one)
        others = [each for each in (*besides, *found) if not own.isdisjoint(_anchors(parsed, each))]
        found.append(replace(one, after=(*one.after, *(each.key for each in others))) if others else one)
    return found


def _anchors(parsed: ParsedFile, made: Cut) -> set[int]:
    return {
        number
        for operation in made.operations
        for start in find_lines(parsed.body, operation.anchor.split("\n"))
        for number in range(start, start + operation.anchor.count("\n") + 1)
    }


def _redundant_pieces(
    parsed: ParsedFile,
    free: Collection[Piece],
    answers: Iterable[PieceAnswer],
    said: Mapping[Piece, str],
    going: Collection[int],
) -> dict[Piece, str]:
    """Return the pieces that others make redundant, each with the place that says the same; those others stay."""
    parts = pieces(parsed)
    gone, needed = (
        {part for part in parts if not parsed.text_lines(part.first, part.last).isdisjoint(going)},
        set[Piece](),
    )
    found: dict[Piece, str] = {}
    for one in sorted(answers, key=lambda one: -one.number):
        part, other = parts[one.number], None if one.same is None else parts[one.same]
        unit = parsed.units[part.unit]
        if one.text or part not in free or part in needed or part in gone or other in (part, *gone):
            continue
        left = {each: said.get(each, each.text) for each in parts if each not in gone and each != part}
        rest = "\n".join([parsed.file.front, *(section.title for section in parsed.sections), *left.values()])
        if other is None:
            prose = unit.kind is not BlockKind.OTHER and not unit.leads
            goes = prose and is_redundant(part.text, unit.heading, rest)
        else:
            goes = is_covered(part.text, unit.heading, left[other], parsed.units[other.unit].heading, rest)
            needed |= {other} if goes else set()
        if goes:
            found[part] = f"line {parsed.line(other.first)}" if other else ""
            gone.add(part)
    return found


_Edit = tuple[range, list[str]]
_TOP_LEVEL = 2  # level of the headings whose sections get a cut of their own


def _rewording_cuts(parsed: ParsedFile, edits: Iterable[_Edit], count: Callable[[str], int]) -> list[Cut]:
    """Return the rewordings, one cut for each section, or several if they do not fit one edit."""
    runs: list[tuple[str, list[_Edit], list[Operation]]] = []
    for lines, text in sorted(edits, key=lambda edit: -edit[0].start):
        above = (one for one in reversed(parsed.sections) if one.level <= _TOP_LEVEL and one.start <= lines.start)
        title = next((one.title for one in above), "")
        for name, taken, operations in (*(run for run in runs[-1:] if run[0] == title), (title, [], [])):
            try:
                operation = anchor_operation(parsed.body, lines.start, lines.stop, text)
                apply(parsed.file.data, [*operations, operation])
            except SkilldError:
                continue
            if not taken:
                runs.append((name, taken, operations))
            taken.append((lines, text))
            operations.append(operation)
            break
    made = [_rewording_cut(parsed, runs, at, count) for at in range(len(runs))]
    return [one for one in made if one.tokens >= _MIN_SAVED]


def _rewording_cut(
    parsed: ParsedFile, runs: Sequence[tuple[str, list[_Edit], list[Operation]]], at: int, count: Callable[[str], int]
) -> Cut:
    title, edits, operations = runs[at]
    old = "\n".join(parsed.body[number].text for lines, _ in reversed(edits) for number in lines)
    new = "\n".join(line for _, text in reversed(edits) for line in text)
    lost = [word for word in dict.fromkeys(old.split()) if content_stems(word) - content_stems(new)]
    quoted = ", ".join(f"\u201c{fold(word.strip('.,:;'))}\u201d" for word in lost)
    what = truncate(f"the {'word' if len(lost) == 1 else 'words'} {quoted}", MAX_SHOWN) if lost else "filler words only"
    first, last = edits[-1][0].start, edits[0][0].stop - 1
    saved, name = (
        count(old + "\n") - count(new + "\n"),
        f"{fold_case(title)} {sum(one[0] == title for one in runs[:at])}",
    )
    steps = _downwards(parsed, operations)
    return Cut(parsed.line(first), parsed.line(last), CutReason.SHORTER, what, saved, steps, name=name)


def _downwards(parsed: ParsedFile, operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return operations made upwards in the order of the file, in which a person numbers them, if they fit that way."""
    steps = tuple(reversed(operations))
    try:
        return steps if apply(parsed.file.data, steps) == apply(parsed.file.data, operations) else tuple(operations)
    except SkilldError:
        return tuple(operations)


# Units split into the pieces that a model is asked about, and single pieces of a unit removed or reworded. A piece is a
# whole unit, or a part of one: a sentence, a sub-item, a row of a table, or the text of a list item around its code.

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
