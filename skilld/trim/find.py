"""Finds cuts in one file that code alone is sure of, and doubtful lines. Pure.

Sure is what an agent cannot miss: the same words below the same heading again, a list of the file's own headings, a
badge, a heading with nothing below it, a pointer to a file that is gone, when to choose a skill in the part that is
read once it was chosen, and a rule that never mattered. docs/trim.md has how right they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from skilld.classify.offline.sections import Block
from skilld.markdown import structure
from skilld.text import fold, folded
from skilld.trim.cuts import SHOWN, Cut, Kept, Why, cuts, one_cut, ordered, speaks_of
from skilld.trim.units import Sheet, head

_MIN_TWICE = 40  # characters: what is shorter may well stand twice


@dataclass(frozen=True, slots=True)
class Doubt:
    """A line that any model may know without being told: for the person to judge, no finding."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file besides its text.

    A skill that is `described` says in its front matter when to choose it. `others` are always loaded with the file, by
    name; `dead` and `unused` are numbers of lines (from 1). What stands in `own` was said by the person, folded:
    nothing but a repetition of it goes.
    """

    is_skill: bool = False
    described: bool = False
    others: Mapping[str, Sheet] | None = None
    dead: Collection[int] = ()
    unused: Collection[int] = ()
    own: Collection[str] = ()


_CONTENTS = re.compile(r"(?:table of )?contents|toc|inhalt(?:sverzeichnis)?|sommaire|índice|目录|目次", re.IGNORECASE)
_TO_HEADING = re.compile(r"\s*[-*+\d.)]+\s+\[[^\]]+\]\(#[^)]*\)\s*")
_BADGES = re.compile(r"\s*(?:\[?!\[[^\]]*\]\(https?://[^)\s]*\)\]?(?:\([^)\s]*\))?\s*)+")
_CHOOSING = re.compile(
    r"when to (?:use|activate|apply|invoke|trigger|run|reach for)(?: (?:this|the))?(?: skill)?"
    r"|use cases?|triggers?|activation",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:not|never|n['’]t|no|unless|except|only|skip|instead|rather|without|must|always|ask|first|before|after|then|if)\b|[`@]",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"see|read|also|refer|to|more|details?|for|in|the|a|and|docs?|documentation|further|information|here|guide|of|full|is|are",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:clean,? (?:readable|maintainable)|(?:write|keep) (?:clean|readable|maintainable|good|high[- ]quality)"
    r"|meaningful (?:variable|function|names?)|descriptive names|self-documenting|DRY|KISS|SOLID|YAGNI"
    r"|(?:senior|expert|world[- ]class|experienced) (?:software |\w+ )?(?:engineer|developer|programmer)"
    r"|(?:handle|consider) (?:all )?(?:errors|edge cases)(?: gracefully| properly)?|think (?:step by step|carefully)"
    r"|be (?:helpful|concise and clear|thorough|professional))\b",
    re.IGNORECASE,
)


def sure(sheet: Sheet, known: FileFacts, count: Callable[[str], int]) -> list[Cut]:
    """Return the cuts that code alone is sure of, the largest saving first."""
    free = writable(sheet)
    chosen: dict[int, tuple[Why, str]] = {}
    seen = {unit.key: name for name, other in (known.others or {}).items() for unit in other.units}
    for at, unit in enumerate(sheet.units):
        if at not in free:
            continue
        said = seen.get(unit.key)
        if said is not None and len(folded(unit.text)) >= _MIN_TWICE:
            chosen[at] = Why.TWICE, said
        elif unit.kind is Block.PARAGRAPH and _BADGES.fullmatch(unit.text):
            chosen[at] = Why.BADGE, ""
        elif sheet.told(unit.first, unit.last) & set(known.dead) and _only_points(unit.text):
            chosen[at] = Why.DEAD, ""
        elif (
            sheet.told(unit.first, unit.last) <= set(known.unused) and folded(unit.text.lstrip("-*+ ")) not in known.own
        ):
            chosen[at] = Why.UNUSED, ""
        seen.setdefault(unit.key, f"line {sheet.line(unit.first)}")
    for section in sheet.sections:
        inside = sheet.inside(section)
        told = [sheet.units[at].text for at in inside]
        lines = (line for text in told for line in text.split("\n") if line.strip())
        if _CONTENTS.fullmatch(section.title) and told and all(map(_TO_HEADING.fullmatch, lines)):
            chosen |= {at: (Why.CONTENTS, "") for at in inside if at in free}
        listed = all(sheet.units[at].kind is Block.ITEM or sheet.units[at].leads for at in inside)
        if (
            known.is_skill
            and known.described
            and _CHOOSING.fullmatch(section.title)
            and listed
            and not any(map(_LIMITS.search, told))
        ):
            chosen |= {at: (Why.CHOOSING, "") for at in inside if at in free}
    kept = Kept(set(range(len(sheet.units))) - free, known.own)
    return ordered(sheet, [*cuts(sheet, chosen, count, kept), *_empty(sheet, count)])


def doubtful(sheet: Sheet) -> list[Doubt]:
    """Return the lines of general advice: any model may follow them untold."""
    units = [unit for unit in sheet.units if unit.kind is not Block.OTHER and len(unit.text) <= 2 * SHOWN]
    return [Doubt(sheet.line(unit.first), fold(unit.text)) for unit in units if _ADVICE.search(unit.text)]


def writable(sheet: Sheet) -> set[int]:
    """Return the units that no program writes."""
    kept = {number for block in structure.managed(sheet.body) for number in block}
    return {at for at, unit in enumerate(sheet.units) if kept.isdisjoint(range(unit.first, unit.last + 1))}


def _only_points(text: str) -> bool:
    """Whether a unit says nothing but where to read more."""
    bare = re.sub(r"\[[^\[\]]*+\]\([^()]*+\)|`[^`]*`|(?<!\S)(?:@\S+|[^\s/]*+/\S*+)", " ", text)
    return "\n" not in text and all(_POINTER.fullmatch(word) for word in re.findall(r"\w+", bare))


def _empty(sheet: Sheet, count: Callable[[str], int]) -> list[Cut]:
    found = []
    for section in sheet.sections:
        blank = not any(line.key for line in sheet.body[section.start : section.end])
        if not blank or section.level <= 1:
            continue
        lines = head(sheet, section)
        others = [line.text for at, line in enumerate(sheet.body) if at not in lines]
        if speaks_of("\n".join([sheet.file.front, *others]), section.title):
            found.append(one_cut(sheet, lines.start, lines.stop, (Why.EMPTY, ""), count))
    return [one for one in found if one is not None]
