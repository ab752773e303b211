"""Turns chosen units into cuts: related lines go together, and no introduction to a removed part stays. Pure.

A cut that empties a section takes its heading, and so upwards; where the heading has to stay, so does what is below it.
Where only several cuts together empty a section, the smallest waits for the others: made in any order, each leaves a
file that reads well, and what is left of the section then goes with the heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from skilld.edit.operations import MAX_CHANGED_CHARACTERS, MAX_CHANGED_LINES, anchored, apply
from skilld.errors import SkilldError
from skilld.markdown.structure import Section
from skilld.text import cut, fold, folded
from skilld.trim.said import binding
from skilld.trim.units import Sheet, closed, head, leads, whole
from skilld.types import Operation
from skilld.words import content_stems

SHOWN = 120  # characters of what goes that are shown


class Why(StrEnum):
    """Why something can go."""

    TWICE = "it appears twice"
    CONTENTS = "it lists the file's own headings, which the agent reads anyway"
    BADGE = "it is only an image, which the agent does not see"
    EMPTY = "it is a heading with nothing under it"
    DEAD = "it only points to a file that no longer exists"
    CHOOSING = (
        "it says when to choose the skill, but is only read once the skill has been chosen; move it to "
        "the description instead"
    )
    UNUSED = "it never applied in any session that loaded it"
    SAID = "according to a model, the file already says this elsewhere"
    SHORTER = "a model found a shorter way to say it"


@dataclass(frozen=True, slots=True)
class Cut:
    """Lines of a file that can go, and the tokens that saves.

    `line` and `last` count from 1, `where` names what else says it. It waits for the cuts `after`, by their keys, with
    which it would leave a heading or a lead with nothing below it.
    """

    line: int
    last: int
    why: Why
    lost: str
    tokens: int
    operations: tuple[Operation, ...]
    where: str = ""
    after: tuple[str, ...] = ()
    name: str = ""

    @property
    def key(self) -> str:
        """What it is known by, wherever in the file it stands: two cuts between the same lines have one anchor."""
        operation = self.operations[0]
        if self.name:  # whatever a model says the next time
            return f"{self.why.name}\n{self.name}"
        return f"{self.why.name}\n{folded(operation.anchor)}\n{folded(operation.text)}"


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays whatever is chosen: `units` that may not go as the lead of others, and headings.

    `own` are lines that the person said, folded; `going` are the lines (from 1) that other cuts take.
    """

    units: Collection[int] = ()
    own: Collection[str] = ()
    going: Collection[int] = ()


_Reason = tuple[Why, str]
NAMED = {Why.SAID, Why.SHORTER}  # by a model
_JUDGED = {*NAMED, Why.UNUSED, Why.DEAD}
_NUMBERED = re.compile(r"(?:(?:step|phase|part|stage)\s*)?\d+\b", re.IGNORECASE)
_WAYS = re.compile(r"\b(?:strategies|ways|options|approaches|alternatives|variants|modes|choices)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NO_SLUG = re.compile(r"[^\w\- ]")


def cuts(sheet: Sheet, chosen: Mapping[int, _Reason], count: Callable[[str], int], kept: Kept) -> list[Cut]:
    """Return cuts of the chosen units: one for what stands together and has one reason, as far as one edit may go."""
    left = _left(sheet, chosen, kept)
    reasons = dict(chosen)
    for at in sorted(left - set(chosen), reverse=True):  # a lead, with the reason of what it leads to
        reasons[at] = reasons[at + 1]
    runs: list[tuple[range, _Reason]] = []
    for lines, reason in _atoms(sheet, left, reasons):
        joined = range(runs[-1][0].start, lines.stop) if runs else lines
        if runs and runs[-1][0].stop == lines.start and runs[-1][1] == reason and _fits(sheet, joined):
            runs[-1] = joined, reason
        else:
            runs.append((lines, reason))
    made = [one_cut(sheet, lines.start, lines.stop, reason, count) for lines, reason in runs]
    return [one for one in made if one is not None]


def _left(sheet: Sheet, chosen: Mapping[int, _Reason], kept: Kept) -> set[int]:
    """Return the chosen units less those below a heading that has to stay and would have nothing below it."""
    left = whole(sheet, chosen, kept.units)
    judged = {at for at, (why, _) in chosen.items() if why in _JUDGED}
    while True:
        headings = _Headings(sheet, kept, judged, left)
        bare = [one for one in headings.gone if headings.has_to_stay(one)]
        if not bare:
            return left
        for section in bare:
            left -= (set(sheet.inside(section)) & left) or headings.least(section)
        left = whole(sheet, left, kept.units)


class _Headings:
    """The headings of a file of which some units would go, some of these only by judgement."""

    def __init__(self, sheet: Sheet, kept: Kept, judged: Collection[int], left: Collection[int]) -> None:
        self._sheet, self._kept, self._judged = sheet, kept, judged
        self.gone = closed(sheet, left)
        lines = {number for at in left for number in sheet.units[at].lines}
        lines.update(number for one in self.gone for number in _whole(sheet, one))
        stays = [
            line.text for at, line in enumerate(sheet.body) if at not in lines and sheet.line(at) not in kept.going
        ]
        self._rest = [*sheet.file.front.split("\n"), *stays]

    def has_to_stay(self, section: Section) -> bool:
        """Whether it is the file's title, the person's words, the aim of a link, a choice, or one of several ways."""
        lines, title = _whole(self._sheet, section), section.title
        body = [line.text for line in self._sheet.body]
        first = next(one for one in self._sheet.sections if one.level)
        link = f"](#{'-'.join(_NO_SLUG.sub('', title.casefold()).split(' '))})"
        if section == first and section.level == 1:
            return True
        if any(link in text.casefold() for at, text in enumerate(body) if at not in lines):
            return True
        if any(folded(text.strip()) in self._kept.own for text in body[lines.start : section.start]):
            return True
        if not any(at in self._judged for at in self._sheet.below(section)):
            return False
        return bool(binding(title)) or self._is_counted_on(section)

    def _is_counted_on(self, section: Section) -> bool:
        """Whether it is a numbered one, or one of several ways to do the same of which nothing that stays tells."""
        above = [one for one in self._sheet.sections if _holds(one, section)]
        parent = above[-1] if above else None
        if parent in self.gone and _fits(self._sheet, _whole(self._sheet, parent)):
            return False  # all of them go at once
        if _NUMBERED.match(section.title):
            return True
        kind = _kind(section.title)
        beside = [one for one in self._sheet.sections if one.level == section.level and one not in self.gone]
        ways = any(_kind(one.title) == kind for one in beside if kind and (parent is None or _holds(parent, one)))
        if not ways and not (parent and _WAYS.search(parent.title)):
            return False
        return not any(speaks_of(line, section.title) for line in self._rest)

    def least(self, section: Section) -> set[int]:
        """Return the units of the shortest section below a heading that has no text of its own."""
        inner = [one for one in self.gone if _holds(section, one)]
        return set(self._sheet.below(min(inner, key=lambda one: one.end - one.start, default=section)))


def _whole(sheet: Sheet, section: Section) -> range:
    """Return the lines of a section with its heading."""
    return range(head(sheet, section).start, section.end)


def _holds(above: Section, section: Section) -> bool:
    return above.level > 0 and above.start < section.start <= above.end and above.level < section.level


def _kind(title: str) -> frozenset[str]:
    """Return the stem of the last word of a heading, which in English says what sort of thing it names."""
    return content_stems((_ASIDE.sub(" ", title).split() or [""])[-1])


def speaks_of(text: str, title: str) -> bool:
    """Whether a text names all that a heading names."""
    return content_stems(title) <= content_stems(text)


def _atoms(sheet: Sheet, left: Collection[int], reasons: Mapping[int, _Reason]) -> Iterator[tuple[range, _Reason]]:
    """Return the lines that go together, in order: whole sections, leads with what they lead to, units."""
    done = 0
    followed = leads(sheet)
    sections: dict[int, list[Section]] = {}  # by their first unit, the outermost one first
    for one in closed(sheet, left):
        sections.setdefault(min(set(sheet.below(one)) & set(left)), []).append(one)
    for at in sorted(left):
        unit = sheet.units[at]
        if unit.first < done:
            continue
        groups = [(_whole(sheet, one), set(sheet.below(one)) & set(left)) for one in sections.get(at, [])]
        if at in followed:
            groups.append((sheet.with_blanks(unit.first, sheet.units[max(followed[at])].last), followed[at]))
        else:
            groups.append((sheet.with_blanks(unit.first, unit.last), {at}))
        for lines, units in groups:
            if len({reasons[one] for one in (*units, at)}) == 1 and _fits(sheet, lines):
                yield lines, reasons[at]
                done = lines.stop
                break
        else:
            if at not in followed:
                yield groups[-1][0], reasons[at]


def _fits(sheet: Sheet, lines: range) -> bool:
    """Whether one edit may take as much."""
    size = sum(len(sheet.body[number].text) for number in lines)
    return len(lines) <= MAX_CHANGED_LINES and size <= MAX_CHANGED_CHARACTERS


def one_cut(sheet: Sheet, first: int, stop: int, reason: _Reason, count: Callable[[str], int]) -> Cut | None:
    """Return the cut of lines [first, stop) of the body; None where one edit may not make it."""
    why, where = reason
    text = "\n".join(line.text for line in sheet.body[first:stop])
    if not _fits(sheet, range(first, stop)):
        return None
    try:
        operation = anchored(sheet.body, first, stop, ())
        apply(sheet.file.data, [operation])
    except SkilldError:
        return None
    lost = "nothing" if why in {Why.TWICE, Why.EMPTY, Why.CONTENTS, Why.BADGE} else cut(fold(text), SHOWN)
    return Cut(sheet.line(first), sheet.line(stop - 1), why, lost, count(text + "\n"), (operation,), where)


def ordered(sheet: Sheet, made: Iterable[Cut], besides: Iterable[Cut] = ()) -> list[Cut]:
    """Return cuts, the largest saving first, those waiting that with others would leave nothing to announce.

    A cut that would do so by itself is left out. `besides` are made already: none of them waits for these.
    """
    left, others = list(made), [one for one in besides if not one.after]
    announced = [*_announced(sheet)]
    while True:
        free = [*others, *(one for one in left if not one.after)]
        parts = (_emptied(sheet, title, body, free) for title, body in announced)
        together = next((one for one in parts if not set(left).isdisjoint(one)), [])
        if not together:
            return sorted(left, key=lambda one: (-one.tokens, one.line))
        last = min(set(left) & set(together), key=lambda one: (one.why not in NAMED, one.tokens, -one.line))
        left.remove(last)
        if len(together) > 1:
            left.append(replace(last, after=tuple(one.key for one in together if one != last)))


def _announced(sheet: Sheet) -> Iterator[tuple[range, range]]:
    """Return the lines of all that announces something, each with the lines of that, the innermost ones first."""
    for at, units in leads(sheet).items():
        if units:
            yield sheet.units[at].lines, range(sheet.units[min(units)].first, sheet.units[max(units)].last + 1)
    for section in reversed(sheet.sections):
        if section.level:
            yield head(sheet, section), range(section.start, section.end)


def _emptied(sheet: Sheet, title: range, body: range, cuts: Sequence[Cut]) -> list[Cut]:
    """Return the cuts that take all of a body, and leave what announces it."""
    says = {sheet.line(number) for number in body if sheet.says(number)}
    parts = [one for one in cuts if not says.isdisjoint(range(one.line, one.last + 1))]
    taken = {number for one in parts for number in range(one.line, one.last + 1)}
    stays = any(sheet.line(number) not in taken for number in title)
    return parts if stays and says <= taken else []
