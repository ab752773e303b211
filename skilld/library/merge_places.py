"""Finds where a passage of one skill belongs in another. Pure.

A fuller item takes the place of a shorter one, what is nested goes to the item that has its head, a row to the table
with its columns, a step among the steps it stood between, and everything else below its heading: behind what it
followed, in the list that has its neighbours, or at the end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from skilld.classify.offline.sections import BlockKind
from skilld.edit.insertion_point import insert_bullet, quote_mentions
from skilld.edit.new_section import main_level, usual_bullet
from skilld.edit.operations import anchor_operation
from skilld.errors import SkilldError
from skilld.library.merge_said import SaidIn, is_table, nested_passages, says_more
from skilld.library.passages import Passage, find_passages, heading_paths, plain_text
from skilld.markdown import structure
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import Role, list_item, managed_blocks, roles
from skilld.text import fold, match_full_stop, pluralize
from skilld.types import Operation
from skilld.values import value_class
from skilld.words import stems

_NUMBER_PATTERN = re.compile(r"\d+")
_BOX_PATTERN = re.compile(r"\[[ xX]\] ")
_MAX_LEVEL = 6


@value_class
class Neighbour:
    """A passage of the other skill, with the text that corresponds to it in the kept one, "" if there is none."""

    passage: Passage
    text: str


@value_class
class Wanted:
    """A passage to carry over; those before it, the nearest first, and behind it; the texts carried or replaced so far.

    `near` is the text of the kept skill that says its head already, or "".
    """

    passage: Passage
    before: Sequence[Neighbour]
    behind: Sequence[Neighbour]
    done: frozenset[str]
    near: str = ""


@value_class
class Spot:
    """Lines [start, end) of the body that become `lines`.

    With the text that a fuller one replaces, what is added if not the whole passage, and what a person should check.
    """

    start: int
    end: int
    lines: list[str]
    replaced: str = ""
    added: str = ""
    doubt: str = ""


class Ground:
    """The kept skill, in which places are looked for."""

    def __init__(self, data: bytes) -> None:
        """Read the skill; it can be parsed."""
        self.data = data
        self.body = parse(data).body
        self.passages = find_passages(data.decode("utf-8-sig"))
        self._by_head: dict[str, list[Passage]] = {}
        for one in self.passages:
            self._by_head.setdefault(one.head, []).append(one)
        self.sections = structure.sections(self.body)
        self.paths = heading_paths([(one.level, one.title) for one in self.sections])

    def section(self, path: tuple[str, ...]) -> structure.Section | None:
        """Return the section with this path; for the empty one that of the title if there is one."""
        found = [one for one, own in zip(self.sections, self.paths, strict=True) if own == path]
        return next((one for one in found if one.level), found[0] if found else None)

    def find(self, text: str, like: Passage, *, near: bool = False, last: bool = False) -> Passage | None:
        """Return the passage with this text, a step if `like` is one; with `near` only below the same headings.

        Of several, those below the same headings come first; with `last` the last of them is meant, which was added.
        """
        found = [one for one in self._by_head.get(text, ()) if text and one.is_step == like.is_step]
        beside = [one for one in found if one.path == like.path]
        found = beside if beside or near else found
        return (found[-1] if last else found[0]) if found else None

    def group(self, passage: Passage) -> list[Passage]:
        """Return the items of the list that an item is in."""
        return [one for one in self.passages if one.group == passage.group]

    def end_with_attached(self, passage: Passage) -> int:
        """Return the line after a passage and the code or tables that follow it in its section."""
        end = passage.behind
        for one in self.passages[self.passages.index(passage) + 1 :]:
            if one.path != passage.path or one.kind is not BlockKind.OTHER or one.is_comment:
                break
            end = one.behind
        return end


def operations_for(wanted: Wanted, ground: Ground) -> Iterator[tuple[Operation, Spot | None]]:
    """Yield the operations that may carry a passage over, the best first; each with what it does, if that is known."""
    for find in _FINDERS:
        spot = find(wanted, ground)
        if spot is not None and _is_plain_text(ground.body, spot):
            yield anchor_operation(ground.body, spot.start, spot.end, spot.lines), spot
    one = wanted.passage
    title = one.path[-1] if one.path else next((part.title for part in ground.sections if part.level), "")
    if one.kind is not BlockKind.OTHER:
        with suppress(SkilldError):
            yield insert_bullet(ground.data, title, "\n".join(one.lines)), None


def _is_plain_text(body: Sequence[Line], spot: Spot) -> bool:
    """Whether the new lines are text there, not in a comment, code or a managed block."""
    if any(block.start < spot.start < block.stop for block in managed_blocks(body)):
        return False
    new = [*body[: spot.start], *(Line(line, "\n") for line in spot.lines), *body[spot.end :]]
    first = next(at for at, line in enumerate(spot.lines) if line.strip())
    return roles(new)[spot.start + first] in {Role.TEXT, Role.FENCE}


def _rows(wanted: Wanted, ground: Ground) -> Spot | None:
    columns = wanted.passage.columns
    table = next((one for one in ground.passages if columns and is_table(one) and one.lines[0] == columns), None)
    return Spot(table.behind, table.behind, list(wanted.passage.lines)) if table else None


def _fuller(wanted: Wanted, ground: Ground) -> Spot | None:
    """Replace an item that says less; what is nested in it stays."""
    one = wanted.passage
    less = ground.find(wanted.near, one)
    if less is None or not less.is_item or less.head in wanted.done or not says_more(one, less):
        return None
    own = replace(one, lines=one.lines[: one.own])
    lines = _rendered(own, less.indent, less.marker, less.gap)
    merged = _with_nested(less, one) if one.nested else list(less.nested)
    return Spot(less.first, less.behind, [*lines, *_shifted(merged, less)], less.head)


def _nested(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put what is nested in an item below the item that has its head."""
    one = wanted.passage
    same = ground.find(wanted.near, one) or ground.find(wanted.near, replace(one, marker="-" if one.is_step else "1."))
    if same is None or not (one.is_item and same.is_item and one.nested):
        return None
    own = [line.text for line in ground.body[same.first : same.first + same.own]]
    lines = _with_nested(same, one)
    held = Counter(same.nested)
    new = [line for line in lines if not held[line]]
    return Spot(same.first, same.behind, [*own, *_shifted(lines, same)], added=fold(" ".join(new)))


def _with_nested(own: Passage, other: Passage) -> list[str]:
    """Return the lines nested in an item, followed by what is nested only in another one."""
    lines, said = list(own.nested), SaidIn(nested_passages(own))
    is_same_list = any(one.is_step and said.find_literal(one, one.head) for one in nested_passages(other))
    for one in nested_passages(other):
        same = next((mine for mine in nested_passages(own) if mine.is_item and mine.head == one.head), None)
        raw = _with_marker_of(own, other.nested[one.first - 1 : one.behind - 1], steps=is_same_list)
        if one.kind is BlockKind.OTHER:
            lines += [] if said.find_block(one.lines) else raw
        elif same is None:
            lines += raw if one.is_item or not lines else ["", *raw]
        elif one.nested:
            at = next(at for at, line in enumerate(lines) if plain_text(line) == plain_text(same.lines[0]))
            lines[at + same.own : at + same.behind - same.first] = _shifted(_with_nested(same, one), same)
    return lines


def _with_marker_of(item: Passage, lines: Sequence[str], *, steps: bool) -> list[str]:
    """Return nested lines with the bullets that an item has nested in it, with `steps` also in place of numbers."""
    bullet = next((one.marker for one in nested_passages(item) if one.is_item and not one.is_step), "")
    kinds = roles([Line(line, "\n") for line in lines])
    return [
        line.replace(found.marker, bullet, 1)
        if bullet and kind is Role.TEXT and (found := list_item(line)) and (steps or not found.marker[0].isdigit())
        else line
        for line, kind in zip(lines, kinds, strict=True)
    ]


_REPEATED_DOUBT = "check the order, and look for duplicates: no step is worded the same in both skills"


def _among_steps(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put a step after the nearest earlier one that the skill has, otherwise before the nearest later one."""
    one = wanted.passage
    if not (one.is_step or one.ordered):
        return None
    for after, row in ((True, wanted.before), (False, wanted.behind)):
        for other in row:
            same = ground.find(other.text, one, last=after)
            if other.passage.group == one.group and same is not None:
                spot = _beside_step(one, same, ground, after=after)
                return replace(spot, doubt=_order_doubt(wanted, same, ground)) if after else spot
    return None


def _order_doubt(wanted: Wanted, step: Passage, ground: Ground) -> str:
    """Return what to check about a last step of the other skill that is put after `step`, which is not the last."""
    one, later = wanted.passage, ground.passages[ground.passages.index(step) + 1 :]
    follow = sum(other.group == step.group for other in later)
    if not follow or any(other.passage.group == one.group for other in wanted.behind):
        return ""
    count = pluralize(follow, "step follows", "steps follow")
    return f"check the order: the other skill ends with this step, and {count} it here: {one.text}"


def _beside_step(one: Passage, step: Passage, ground: Ground, *, after: bool) -> Spot:
    steps = ground.group(step)
    at = steps.index(step) + after
    loose = _is_loose(steps)
    same = len(steps) > 1 and len({other.marker for other in steps}) == 1
    number = step.number + (after and not same)
    new = _rendered(one, step.indent, _with_number(step.marker, number), step.gap)
    if at == len(steps):
        end = ground.end_with_attached(step)
        return Spot(end, end, [*([""] if loose else []), *new])
    lines = [*new, *([""] if loose else [])]
    start = end = steps[at].first
    for place, other in enumerate(steps[at:], 1):
        if same or other.marker != _with_number(other.marker, number + place - 1):
            break
        marker = _with_number(other.marker, number + place)
        text = [line.text for line in ground.body[other.first : other.behind]]
        text[0] = f"{other.indent}{marker}{text[0][len(other.indent + other.marker) :]}"
        wider = " " * (len(marker) - len(other.marker))
        lines += [line.text for line in ground.body[end : other.first]]
        lines += [text[0], *(wider + line if line.strip() else line for line in text[1:])]
        end = other.behind
    return Spot(start, end, lines)


def _in_list(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put an item at the end of the list that has others of its list; of another section, if it has half of them."""
    one = wanted.passage
    if not one.is_item:
        return None
    mates = [other for other in (*wanted.before, *wanted.behind) if other.passage.group == one.group]
    found = [same for other in mates if (same := ground.find(other.text, one, near=True)) and same.is_item]
    if not found and ground.section(one.path) is None:
        anywhere = [same for other in mates if (same := ground.find(other.text, one)) and same.is_item]
        most = Counter(same.group for same in anywhere).most_common(1)
        found = [same for same in anywhere if same.group == most[0][0] and 2 * most[0][1] > len(mates)]
    return _at_end_of_list(one, found[0], ground) if found and found[0].is_step == one.is_step else None


def _is_loose(items: Sequence[Passage]) -> bool:
    """Whether blank lines separate most items of a list."""
    return 2 * sum(not one.close for one in items[1:]) > len(items) - 1


def _at_end_of_list(one: Passage, item: Passage, ground: Ground) -> Spot:
    items = ground.group(item)
    if item.is_step:
        return _beside_step(one, items[-1], ground, after=True)
    last = items[-1]
    lines = list(one.lines)
    if all(_BOX_PATTERN.match(other.lines[0]) for other in items) and not _BOX_PATTERN.match(lines[0]):
        lines[0] = f"[ ] {lines[0]}"
    if len(lines) == 1:
        lines = [match_full_stop(lines[0], [other.lines[-1] for other in items])]
    new = _rendered(replace(one, lines=tuple(lines)), last.indent, last.marker, last.gap)
    loose = _is_loose(items)
    return Spot(last.behind, last.behind, [*([""] if loose else []), *new])


def _behind_previous(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put a passage after the one before it in its section, if that was carried over or is not a list item."""
    one = wanted.passage
    last = next((other for other in wanted.before if other.passage.path == one.path), None)
    if one.kind is BlockKind.PARAGRAPH and wanted.near:
        last = Neighbour(one, wanted.near)  # other sentences of it are there
    same = ground.find(last.text, last.passage, near=True, last=last.text in wanted.done) if last else None
    if last is None or same is None or (one.is_item and not last.passage.is_lead):
        return None
    if one.is_item:
        below = next(iter(ground.passages[ground.passages.index(same) + 1 :]), None)
        if below is not None and below.path == one.path and below.is_item and below.is_step == one.is_step:
            return _at_end_of_list(one, below, ground)
        return _spaced(ground, same.behind, _new_item(one, ground))
    if same.is_item and not (one.close or one.kind is BlockKind.OTHER):
        same = ground.group(same)[-1]
    end = same.behind if last.text in wanted.done and not same.is_item else ground.end_with_attached(same)
    return _spaced(ground, end, _rendered(one), close=one.close)


def _among_rules(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put an item that would go to the variables with which a skill opens into its section of rules."""
    one, section = wanted.passage, ground.section(wanted.passage.path)
    rules = next((path for path in ground.paths if path and path[-1].casefold() == "rules"), None)
    if section is None or rules is None or not one.is_item or one.is_step:
        return None
    there = [other for other in ground.passages if section.start <= other.first < section.own_end and other.is_item]
    if not there or not all(other.head.startswith("`{{") for other in there):
        return None
    return _in_section(replace(wanted, passage=replace(one, path=rules)), ground)


def _in_section(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put a passage into its section: an item into its most similar list, an opening paragraph at the top."""
    one, section = wanted.passage, ground.section(wanted.passage.path)
    if section is None:
        return None
    there = [other for other in ground.passages if section.start <= other.first < section.own_end]
    items = [other for other in there if other.is_item and other.is_step == one.is_step]
    if one.is_item and items:
        words = stems(one.text)
        texts = {
            group: " ".join(other.text for other in items if other.group == group) for group in {i.group for i in items}
        }
        best = max(sorted(texts, reverse=True), key=lambda group: len(words & stems(texts[group])))
        spot = _at_end_of_list(one, next(other for other in items if other.group == best), ground)
        return replace(spot, doubt=_REPEATED_DOUBT) if one.is_step else spot
    own = [other for other in there if other.head not in wanted.done]
    if own and _is_lone_rule(wanted) and all(other.kind is BlockKind.PARAGRAPH for other in own):
        one = replace(one, kind=BlockKind.PARAGRAPH)
    lines = _new_item(one, ground) if one.is_item else _rendered(one)
    if one.kind is BlockKind.PARAGRAPH and not one.is_lead and _opens_section(wanted, there):
        at = section.start
        for other in there:
            if other.kind is not BlockKind.PARAGRAPH or other.is_lead:
                break
            at = other.behind
        return _spaced(ground, at, lines)
    return _spaced(ground, _text_end(ground.body, section.own_end), lines)


def _opens_section(wanted: Wanted, there: Sequence[Passage]) -> bool:
    """Whether a paragraph is above all lists of its section, and there are lists in both skills or none in this one."""
    path = wanted.passage.path
    above = all(other.passage.kind is BlockKind.PARAGRAPH for other in wanted.before if other.passage.path == path)
    introduces = any(other.passage.is_item for other in wanted.behind if other.passage.path == path)
    return above and (introduces or not any(other.is_item for other in there))


def _is_lone_rule(wanted: Wanted) -> bool:
    """Whether a passage is the only item of its list, without nested ones: among paragraphs it becomes one."""
    one = wanted.passage
    alone = not any(other.passage.group == one.group for other in (*wanted.before, *wanted.behind))
    return one.is_item and not one.is_step and not one.nested and alone and not _BOX_PATTERN.match(one.lines[0])


def _opening(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put text above the first heading of a skill without a title."""
    one = wanted.passage
    if one.path or ground.section(()) is not None:
        return None
    return _spaced(ground, 0, _new_item(one, ground) if one.is_item else _rendered(one))


def _new_section(wanted: Wanted, ground: Ground) -> Spot | None:
    """Put a passage below its own headings at the end of the section that it is below, or of the file."""
    one = wanted.passage
    if ground.section(one.path) is not None or not one.path:
        return None
    known = len(one.path)
    while known and ground.section(one.path[:known]) is None:
        known -= 1
    above = ground.section(one.path[:known]) if known else None
    level = above.level + 1 if above else main_level(ground.body)
    lines: list[str] = []
    for depth, title in enumerate(one.path[known:]):
        lines += [f"{'#' * min(_MAX_LEVEL, level + depth)} {fold(title)}", ""]
    lines += _new_item(one, ground) if one.is_item else _rendered(one)
    return _spaced(ground, _text_end(ground.body, above.end if above else len(ground.body)), lines)


def _text_end(body: Sequence[Line], end: int) -> int:
    while end and not body[end - 1].key:
        end -= 1
    return end


def _spaced(ground: Ground, at: int, lines: Sequence[str], *, close: bool = False) -> Spot:
    """Return the insertion of lines at `at`, with a blank line before them unless `close`, and one after them."""
    before = at > 0 and bool(ground.body[at - 1].key) and not close
    behind = at < len(ground.body) and bool(ground.body[at].key) and not close
    return Spot(at, at, [*([""] if before else []), *lines, *([""] if behind else [])])


def _new_item(one: Passage, ground: Ground) -> list[str]:
    """Return the lines of the first item of a new list."""
    marker = _with_number(one.marker, 1) if one.is_step else usual_bullet(ground.body, roles(ground.body))
    return _rendered(one, "", marker, " ")


def _rendered(one: Passage, indent: str = "", marker: str = "", gap: str = "") -> list[str]:
    lines = quote_mentions(one.lines)
    if not one.is_item and not marker:
        return lines
    head = f"{indent}{marker}{gap}"
    return [head + lines[0].strip(), *(" " * len(head) + line if line.strip() else "" for line in lines[1:])]


def _shifted(nested: Sequence[str], item: Passage) -> list[str]:
    """Return lines nested in an item with the indentation of the nested lines that it has, or as its text has."""
    width = len(item.indent + item.marker + item.gap)
    return [" " * width + line if line.strip() else "" for line in quote_mentions(nested)]


def _with_number(marker: str, number: int) -> str:
    return _NUMBER_PATTERN.sub(str(number), marker, count=1)


_FINDERS = (
    _rows,
    _fuller,
    _nested,
    _among_steps,
    _in_list,
    _behind_previous,
    _among_rules,
    _in_section,
    _opening,
    _new_section,
)
