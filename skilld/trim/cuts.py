"""Turns chosen units into cuts: related lines go together, and no introduction to a removed part stays. Pure.

A cut that empties a section takes its heading too, and so on upwards; if the heading has to stay, so does its text. If
only several cuts together empty a section, the smallest waits for the others: in any order, each leaves a file that
reads well, and the rest of the section then goes with the heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from skilld.edit.operations import MAX_CHANGED_CHARACTERS, MAX_CHANGED_LINES, anchor_operation, apply
from skilld.errors import SkilldError
from skilld.markdown.structure import Section
from skilld.text import fold, fold_case, truncate
from skilld.trim.equivalence import binding_words
from skilld.trim.units import ParsedFile, emptied_sections, lead_followers, whole_units
from skilld.types import Operation
from skilld.values import value_class
from skilld.words import content_stems

NOTHING = "nothing"  # what is lost by cutting what is said elsewhere
MAX_SHOWN = 120  # characters shown of removed text


class CutReason(StrEnum):
    """Why a text can go."""

    TWICE = "it appears twice"
    CONTENTS = "it lists the file's own headings, which the agent reads anyway"
    BADGE = "it is only an image, which the agent does not see"
    EMPTY = "it is a heading with nothing under it"
    DEAD = "it only points to a file that no longer exists"
    CHOOSING = (
        "it says when to choose the skill, but is only read once the skill has been chosen; move it to "
        "the description instead"
    )
    UNUSED = "it applied in no session that loaded it"
    SAID = "according to a model, the file already says this elsewhere"
    SHORTER = "a model found a shorter way to say it"


@value_class
class Cut:
    """Lines of a file that can go, and the tokens saved.

    `line` and `last` count from 1; `where` names the other place that says the same. It waits for the cuts `after`, by
    their keys: together with them it would leave a heading or a lead with nothing below it.
    """

    line: int
    last: int
    why: CutReason
    lost: str
    tokens: int
    operations: tuple[Operation, ...]
    where: str = ""
    after: tuple[str, ...] = ()
    name: str = ""

    @property
    def key(self) -> str:
        """Its identity, wherever in the file it is: two cuts between the same lines have one anchor."""
        operation = self.operations[0]
        if self.name:  # independent of the model's wording
            return f"{self.why.name}\n{self.name}"
        return f"{self.why.name}\n{fold_case(operation.anchor)}\n{fold_case(operation.text)}"


@value_class
class Protected:
    """Lines that must stay: `units` may not go as the lead of others; `own` are lines that the person said, folded.

    `going` are the lines (from 1) that other cuts take.
    """

    units: Collection[int] = ()
    own: Collection[str] = ()
    going: Collection[int] = ()


Reason = tuple[CutReason, str]  # with the other place that says the same
MODEL_REASONS = {CutReason.SAID, CutReason.SHORTER}
_JUDGED_REASONS = {*MODEL_REASONS, CutReason.UNUSED, CutReason.DEAD}
_NUMBERED = re.compile(r"(?:(?:step|phase|part|stage)\s*)?\d+\b", re.IGNORECASE)
_CHOICES = re.compile(r"\b(?:strategies|ways|options|approaches|alternatives|variants|modes|choices)\b", re.IGNORECASE)
_PARENTHESIS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NON_SLUG_CHARACTERS = re.compile(r"[^\w\- ]")


def cuts(parsed: ParsedFile, chosen: Mapping[int, Reason], count: Callable[[str], int], kept: Protected) -> list[Cut]:
    """Return cuts of the chosen units, one for neighbours with the same reason, within the limits of an edit."""
    left = _removable_units(parsed, chosen, kept)
    reasons = dict(chosen)
    for at in sorted(left - set(chosen), reverse=True):  # a lead has the reason of the unit it leads to
        reasons[at] = reasons[at + 1]
    runs: list[tuple[range, Reason]] = []
    for lines, reason in _groups(parsed, left, reasons):
        joined = range(runs[-1][0].start, lines.stop) if runs else lines
        if runs and runs[-1][0].stop == lines.start and runs[-1][1] == reason and _fits_one_edit(parsed, joined):
            runs[-1] = joined, reason
        else:
            runs.append((lines, reason))
    made = [make_cut(parsed, lines.start, lines.stop, reason, count) for lines, reason in runs]
    return [one for one in made if one is not None]


def _removable_units(parsed: ParsedFile, chosen: Mapping[int, Reason], kept: Protected) -> set[int]:
    """Return the chosen units without those that would leave a heading that has to stay with nothing below it."""
    left = whole_units(parsed, chosen, kept.units)
    judged = {at for at, (why, _) in chosen.items() if why in _JUDGED_REASONS}
    while True:
        headings = _Headings(parsed, kept, judged, left)
        bare = [one for one in headings.gone if headings.has_to_stay(one)]
        if not bare:
            return left
        for section in bare:
            left -= (set(parsed.units_under(section)) & left) or headings.shortest_section(section)
        left = whole_units(parsed, left, kept.units)


class _Headings:
    """The headings of a file after some of its units are removed, some of these only by judgement."""

    def __init__(self, parsed: ParsedFile, kept: Protected, judged: Collection[int], left: Collection[int]) -> None:
        self._parsed, self._kept, self._judged = parsed, kept, judged
        self.gone = emptied_sections(parsed, left)
        lines = {number for at in left for number in parsed.units[at].lines}
        lines.update(number for one in self.gone for number in range(one.head, one.end))
        stays = [
            line.text for at, line in enumerate(parsed.body) if at not in lines and parsed.line(at) not in kept.going
        ]
        self._rest = [*parsed.file.front.split("\n"), *stays]

    def has_to_stay(self, section: Section) -> bool:
        """Whether it is the file's title, the person's words, a link's target, a choice, or one of several ways."""
        lines, title = range(section.head, section.end), section.title
        body = [line.text for line in self._parsed.body]
        first = next(one for one in self._parsed.sections if one.level)
        link = f"](#{'-'.join(_NON_SLUG_CHARACTERS.sub('', title.casefold()).split(' '))})"
        if section == first and section.level == 1:
            return True
        if any(link in text.casefold() for at, text in enumerate(body) if at not in lines):
            return True
        if any(fold_case(text.strip()) in self._kept.own for text in body[lines.start : section.start]):
            return True
        if not any(at in self._judged for at in self._parsed.units_within(section)):
            return False
        return bool(binding_words(title)) or self._is_counted_on(section)

    def _is_counted_on(self, section: Section) -> bool:
        """Whether it is numbered, or one of several ways to do something and mentioned nowhere else."""
        above = [one for one in self._parsed.sections if _contains(one, section)]
        parent = above[-1] if above else None
        if parent in self.gone and _fits_one_edit(self._parsed, range(parent.head, parent.end)):
            return False  # they all go at once
        if _NUMBERED.match(section.title):
            return True
        kind = _head_noun(section.title)
        beside = [one for one in self._parsed.sections if one.level == section.level and one not in self.gone]
        ways = any(
            _head_noun(one.title) == kind for one in beside if kind and (parent is None or _contains(parent, one))
        )
        if not ways and not (parent and _CHOICES.search(parent.title)):
            return False
        return not any(mentions(line, section.title) for line in self._rest)

    def shortest_section(self, section: Section) -> set[int]:
        """Return the units of the shortest section below a heading that has no text of its own."""
        inner = [one for one in self.gone if _contains(section, one)]
        return set(self._parsed.units_within(min(inner, key=lambda one: one.end - one.start, default=section)))


def _contains(above: Section, section: Section) -> bool:
    return above.level > 0 and above.start < section.start <= above.end and above.level < section.level


def _head_noun(title: str) -> frozenset[str]:
    """Return the stem of a heading's last word: in English, the noun that says what it is about."""
    return content_stems((_PARENTHESIS.sub(" ", title).split() or [""])[-1])


def mentions(text: str, title: str) -> bool:
    """Whether a text contains every content word of a heading."""
    return content_stems(title) <= content_stems(text)


def _groups(parsed: ParsedFile, left: Collection[int], reasons: Mapping[int, Reason]) -> Iterator[tuple[range, Reason]]:
    """Yield the lines that go together, in order: whole sections, leads with their followers, single units."""
    done = 0
    followed = lead_followers(parsed)
    sections: dict[int, list[Section]] = {}  # by their first unit, the outermost one first
    for one in emptied_sections(parsed, left):
        sections.setdefault(min(set(parsed.units_within(one)) & set(left)), []).append(one)
    for at in sorted(left):
        unit = parsed.units[at]
        if unit.first < done:
            continue
        groups = [(range(one.head, one.end), set(parsed.units_within(one)) & set(left)) for one in sections.get(at, [])]
        if at in followed:
            groups.append((parsed.with_blanks(unit.first, parsed.units[max(followed[at])].last), followed[at]))
        else:
            groups.append((parsed.with_blanks(unit.first, unit.last), {at}))
        for lines, units in groups:
            if len({reasons[one] for one in (*units, at)}) == 1 and _fits_one_edit(parsed, lines):
                yield lines, reasons[at]
                done = lines.stop
                break
        else:
            if at not in followed:
                yield groups[-1][0], reasons[at]


def _fits_one_edit(parsed: ParsedFile, lines: range) -> bool:
    """Whether one edit may remove these lines."""
    size = sum(len(parsed.body[number].text) for number in lines)
    return len(lines) <= MAX_CHANGED_LINES and size <= MAX_CHANGED_CHARACTERS


def make_cut(parsed: ParsedFile, first: int, stop: int, reason: Reason, count: Callable[[str], int]) -> Cut | None:
    """Return the cut of lines [first, stop) of the body, or None if one edit may not make it."""
    why, where = reason
    lines = parsed.with_one_gap(first, stop)
    says = [number for number in lines if parsed.body[number].key]
    text = "\n".join(line.text for line in parsed.body[lines.start : lines.stop])
    if not _fits_one_edit(parsed, lines):
        return None
    try:
        operation = anchor_operation(parsed.body, lines.start, lines.stop, ())
        apply(parsed.file.data, [operation])
    except SkilldError:
        return None
    lost = (
        NOTHING
        if why in {CutReason.TWICE, CutReason.EMPTY, CutReason.CONTENTS, CutReason.BADGE}
        else truncate(fold(text), MAX_SHOWN)
    )
    return Cut(parsed.line(says[0]), parsed.line(says[-1]), why, lost, count(text + "\n"), (operation,), where)


def order_cuts(parsed: ParsedFile, made: Iterable[Cut], besides: Iterable[Cut] = ()) -> list[Cut]:
    """Return cuts, the largest saving first; one that together with others leaves a lead with nothing below waits.

    A cut that would do so by itself is left out. `besides` are already made: none of them waits for these.
    """
    left, others = list(made), [one for one in besides if not one.after]
    announced = [*_announcements(parsed)]
    while True:
        free = [*others, *(one for one in left if not one.after)]
        parts = (_emptying_cuts(parsed, title, body, free) for title, body in announced)
        together = next((one for one in parts if not set(left).isdisjoint(one)), [])
        if not together:
            return sorted(left, key=lambda one: (-one.tokens, one.line))
        last = min(set(left) & set(together), key=lambda one: (one.why not in MODEL_REASONS, one.tokens, -one.line))
        left.remove(last)
        if len(together) > 1:
            left.append(replace(last, after=tuple(one.key for one in together if one != last)))


def _announcements(parsed: ParsedFile) -> Iterator[tuple[range, range]]:
    """Yield the lines of each lead and heading with the lines they announce, the innermost first."""
    for at, units in lead_followers(parsed).items():
        if units:
            yield parsed.units[at].lines, range(parsed.units[min(units)].first, parsed.units[max(units)].last + 1)
    for section in reversed(parsed.sections):
        if section.level:
            yield range(section.head, section.start), range(section.start, section.end)


def _emptying_cuts(parsed: ParsedFile, title: range, body: range, cuts: Sequence[Cut]) -> list[Cut]:
    """Return the cuts that remove the whole body but leave its announcement."""
    says = {parsed.line(number) for number in body if parsed.has_text(number)}
    parts = [one for one in cuts if not says.isdisjoint(range(one.line, one.last + 1))]
    taken = {number for one in parts for number in range(one.line, one.last + 1)}
    stays = any(parsed.line(number) not in taken for number in title)
    return parts if stays and says <= taken else []
