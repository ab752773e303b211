"""Finds the cuts in a file that code alone can be certain of, and doubtful lines. Pure.

An agent cannot miss these: the same words again under the same heading, a list of the file's own headings, a badge, an
empty heading, a pointer to a deleted file, the conditions for choosing a skill in the part that is read only after the
choice, and a rule that never mattered. docs/measurements/trim.md has their precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from skilld.classify.offline.sections import BlockKind
from skilld.markdown import structure
from skilld.text import fold, fold_case
from skilld.trim.cuts import MAX_SHOWN, Cut, CutReason, Protected, cuts, make_cut, mentions, order_cuts
from skilld.trim.equivalence import binding_words
from skilld.trim.units import ParsedFile, item_lists
from skilld.values import value_class
from skilld.words import content_stems

_MIN_DUPLICATE = 40  # characters: a shorter text may well appear twice


@value_class
class DoubtfulLine:
    """A line that any model may follow without being told; shown for the person to judge."""

    line: int
    text: str


@value_class
class FileFacts:
    """What is known about a file besides its text.

    A skill that is `described` says in its front matter when to choose it. `others` are always loaded with the file, by
    name; `dead` and `unused` are line numbers (from 1). `own` are lines that the person said, folded: only a repetition
    of them may go.
    """

    is_skill: bool = False
    described: bool = False
    others: Mapping[str, ParsedFile] | None = None
    dead: Collection[int] = ()
    unused: Collection[int] = ()
    own: Collection[str] = ()


_CONTENTS = re.compile(r"(?:table of )?contents|toc|inhalt(?:sverzeichnis)?|sommaire|índice|目录|目次", re.IGNORECASE)
_HEADING_LINK = re.compile(r"\s*[-*+\d.)]+\s+\[[^\]]+\]\(#[^)]*\)\s*")
_BADGES = re.compile(r"\s*(?:\[?!\[[^\]]*\]\(https?://[^)\s]*\)\]?(?:\([^)\s]*\))?\s*)+")
_WHEN_TO_USE = re.compile(
    r"when to (?:use|activate|apply|invoke|trigger|run|reach for)(?: (?:this|the))?(?: skill)?"
    r"|use cases?|triggers?|activation",
    re.IGNORECASE,
)
_LIMITING_WORD = re.compile(
    r"\b(?:not|never|n['’]t|no|unless|except|only|skip|instead|rather|without|must|always|ask|first|before|after|then|if)\b|[`@]",
    re.IGNORECASE,
)
_POINTER_WORD = re.compile(
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


def certain_cuts(parsed: ParsedFile, known: FileFacts, count: Callable[[str], int]) -> list[Cut]:
    """Return the cuts that code alone is certain of, the largest saving first."""
    free = unmanaged_units(parsed)
    chosen: dict[int, tuple[CutReason, str]] = {}
    twice = _repetitions(parsed, known.others or {})
    for at, unit in enumerate(parsed.units):
        if at not in free:
            continue
        if at in twice:
            chosen[at] = CutReason.TWICE, twice[at]
        elif unit.kind is BlockKind.PARAGRAPH and _BADGES.fullmatch(unit.text):
            chosen[at] = CutReason.BADGE, ""
        elif parsed.text_lines(unit.first, unit.last) & set(known.dead) and _is_pointer(unit.text):
            chosen[at] = CutReason.DEAD, ""
        elif (
            parsed.text_lines(unit.first, unit.last) <= set(known.unused)
            and fold_case(unit.text.lstrip("-*+ ")) not in known.own
        ):
            chosen[at] = CutReason.UNUSED, ""
    for section in parsed.sections:
        inside = parsed.units_under(section)
        told = [parsed.units[at].text for at in inside]
        lines = (line for text in told for line in text.split("\n") if line.strip())
        if _CONTENTS.fullmatch(section.title) and told and all(map(_HEADING_LINK.fullmatch, lines)):
            chosen |= {at: (CutReason.CONTENTS, "") for at in inside if at in free}
        listed = all(parsed.units[at].kind is BlockKind.ITEM or parsed.units[at].leads for at in inside)
        if (
            known.is_skill
            and known.described
            and _WHEN_TO_USE.fullmatch(section.title)
            and listed
            and not any(map(_LIMITING_WORD.search, told))
        ):
            chosen |= {at: (CutReason.CHOOSING, "") for at in inside if at in free}
    kept = Protected(set(range(len(parsed.units))) - free, known.own)
    return order_cuts(parsed, [*cuts(parsed, chosen, count, kept), *_empty_headings(parsed, count)])


def _repetitions(parsed: ParsedFile, others: Mapping[str, ParsedFile]) -> dict[int, str]:
    """Return the units that repeat earlier ones under the same headings, each with the place of the earlier one.

    A short text may well appear twice, unless it is in the same list, or the whole section is repeated.
    """
    seen = {unit.key: name for name, other in others.items() for unit in other.units}
    same: dict[int, str] = {}
    for at, unit in enumerate(parsed.units):
        if unit.key in seen:
            same[at] = seen[unit.key]
        seen.setdefault(unit.key, f"line {parsed.line(unit.first)}")
    found = {at: where for at, where in same.items() if len(fold_case(parsed.units[at].text)) >= _MIN_DUPLICATE}
    for run in item_lists(parsed):
        known: dict[tuple[str, str], int] = {}
        for at in sorted(run):
            first = known.setdefault(parsed.units[at].key, at)
            if first != at:
                found.setdefault(at, f"line {parsed.line(parsed.units[first].first)}")
    for section in parsed.sections:
        inside = parsed.units_under(section)
        size = sum(len(fold_case(parsed.units[at].text)) for at in inside)
        if section.level and size >= _MIN_DUPLICATE and all(at in same for at in inside):
            found |= dict.fromkeys(inside, same[inside[0]])
    return found


def doubtful_lines(parsed: ParsedFile, own: Collection[str] = ()) -> list[DoubtfulLine]:
    """Return the lines of general advice, which any model may follow without being told; `own` as in FileFacts.

    What the person told an agent is none: they had to.
    """
    units = [unit for unit in parsed.units if unit.kind is not BlockKind.OTHER and len(unit.text) <= 2 * MAX_SHOWN]
    found = [DoubtfulLine(parsed.line(unit.first), fold(unit.text)) for unit in units if _ADVICE.search(unit.text)]
    return [one for one in found if fold_case(one.text.lstrip("-*+ ")) not in own]


def unmanaged_units(parsed: ParsedFile) -> set[int]:
    """Return the units outside of blocks that a program manages."""
    kept = {number for block in structure.managed_blocks(parsed.body) for number in block}
    return {at for at, unit in enumerate(parsed.units) if kept.isdisjoint(range(unit.first, unit.last + 1))}


def _is_pointer(text: str) -> bool:
    """Whether a unit only says where to read more."""
    bare = re.sub(r"\[[^\[\]]*+\]\([^()]*+\)|`[^`]*`|(?<!\S)(?:@\S+|[^\s/]*+/\S*+)", " ", text)
    return "\n" not in text and all(_POINTER_WORD.fullmatch(word) for word in re.findall(r"\w+", bare))


def _is_label(title: str) -> bool:
    """Whether a heading says nothing by itself: a single word that is no name in code and binds nobody."""
    return len(content_stems(title)) == 1 and title.isalpha() and title[1:].islower() and not binding_words(title)


def _empty_headings(parsed: ParsedFile, count: Callable[[str], int]) -> list[Cut]:
    found = []
    for section in parsed.sections:
        blank = not any(line.key for line in parsed.body[section.start : section.end])
        if not blank or section.level <= 1:
            continue
        lines = range(section.head, section.start)
        others = [line.text for at, line in enumerate(parsed.body) if at not in lines]
        parents = [one for one in parsed.sections if one.level < section.level and one.start < section.start]
        is_label = _is_label(section.title) and bool(parents and parsed.units_within(parents[-1]))
        if is_label or mentions("\n".join([parsed.file.front, *others]), section.title):
            found.append(make_cut(parsed, lines.start, lines.stop, (CutReason.EMPTY, ""), count))
    return [one for one in found if one is not None]
