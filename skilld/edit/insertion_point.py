"""Finds the place for an instruction in a skill, and writes it in the file's own list style.

Takes the skill's bytes, a hint at the section and the instruction, and returns one `Operation`. Decides by words only,
not by whether the skill should have the instruction at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.edit.operations import anchor_operation, apply
from skilld.edit.tokens import FILE_ENDING
from skilld.errors import RefusedError, SkilldError
from skilld.markdown.skill_file import Line, is_blank, parse
from skilld.markdown.structure import (
    DEFAULT_TITLE,
    Item,
    Role,
    Section,
    blank_code,
    list_item,
    managed_blocks,
    manual_lines,
    roles,
    sections,
)
from skilld.text import compare_lines, fold, match_full_stop
from skilld.types import Op, Operation
from skilld.words import content_stems, stems

# Only the outermost items of a list count: an item's sublists and further paragraphs belong to it.

_INDENTED_CODE = 4


@dataclass(frozen=True, slots=True)
class BulletList:
    """One list: its items in order, its first line, the line after its last, whether blank lines separate items."""

    items: tuple[Item, ...]
    start: int
    end: int
    loose: bool

    def next_item(self, text: Sequence[str]) -> list[str]:
        """Return the lines of a new last item that says `text`, with a blank line before it in a loose list."""
        last = self.items[-1]
        first = f"{last.indent}{self._marker()}{last.gap or ' '}{'[ ] ' if last.box else ''}"
        margin = " " * (len(last.indent.expandtabs(4)) + len(self._marker()) + max(1, len(last.gap.expandtabs(4))))
        further = [margin + line if line.strip() else "" for line in text[1:]]
        return [*([""] if self.loose else []), first + text[0], *further]

    def _marker(self) -> str:
        """Return the last item's marker; in a numbered list the next number, unless all items carry the same one."""
        marker = self.items[-1].marker
        if not marker[0].isdigit():
            return marker
        same = len(self.items) > 1 and all(item.marker == marker for item in self.items)
        return marker if same else f"{int(marker[:-1]) + 1}{marker[-1]}"


def find_lists(body: Sequence[Line], roles: Sequence[Role], start: int, end: int) -> list[BulletList]:
    """Return the outermost lists between lines `start` and `end`, in order."""
    out: list[BulletList] = []
    at = start
    while at < end:
        item = list_item(body[at].text) if roles[at] is Role.TEXT else None
        if item is None or len(item.indent.expandtabs(4)) >= _INDENTED_CODE:
            at += 1
        else:
            out.append(_parse_list(body, roles, at, end))
            at = out[-1].end
    return out


def _parse_list(body: Sequence[Line], roles: Sequence[Role], start: int, end: int) -> BulletList:
    items: list[Item] = []
    loose = gap = False
    behind = at = start
    while at < end:
        text = body[at].text
        item = list_item(text) if roles[at] is Role.TEXT else None
        if is_blank(text):
            gap = True
        elif item is not None and not (items and len(item.indent.expandtabs(4)) >= items[0].width):
            if items and item.marker[-1] != items[0].marker[-1]:
                break
            loose, gap, behind = gap and bool(items), False, at + 1
            items.append(item)
        elif text[:1].strip() and (gap or roles[at] is not Role.TEXT):
            break
        else:
            gap, behind = False, at + 1
        at += 1
    return BulletList(tuple(items), start, behind, loose)


_MIN_HINT_SHARE = 0.5  # share of the words of title and hint that both contain
_MIN_SHARED_WORDS = 2  # words that an instruction shares with a section; one in the title counts twice


def rank_sections(body: Sequence[Line], hint: str, text: str) -> tuple[list[Section], list[Section]]:
    """Return the sections that fit, best first, and the others.

    The hint decides, or the words of the text if it names no section.
    """
    found = _open_sections(body)
    likeness = {part: _title_similarity(hint, part.title) for part in found}
    named = [part for part in found if likeness[part] >= _MIN_HINT_SHARE]
    if named:
        return sorted(named, key=likeness.__getitem__, reverse=True), [part for part in found if part not in named]
    words = content_stems(text)  # "use" is in every other section
    shared = {part: _count_shared(words, body, part) for part in found}
    ranked = sorted(found, key=lambda part: (shared[part], part.start), reverse=True)
    if not _plain_title(hint) and len(found) == 1:
        return found, []
    least = _MIN_SHARED_WORDS + bool(_plain_title(hint))  # a new section is better than a poor fit if it has a name
    fitting = [part for part in ranked if shared[part] >= least]
    if not fitting and not _plain_title(hint):  # reuse our section from an earlier change
        fitting = [part for part in found if _plain_title(part.title) == _plain_title(DEFAULT_TITLE)]
    ranked = fitting + [part for part in ranked if part not in fitting]
    return fitting, ranked[len(fitting) :]


def _open_sections(body: Sequence[Line]) -> list[Section]:
    """Return the sections that are not empty; for a generated file only their lines in the part left to people."""
    free = manual_lines(body)
    if free is None:
        return [one for one in sections(body) if one.title or any(line.key for line in body[one.start : one.own_end])]
    around = Section("", 0, free.start, free.stop, free.stop)
    own = [one for one in sections(body) if one.start in free]
    first = replace(around, own_end=min((one.start for one in own), default=free.stop))
    own = [replace(one, own_end=min(one.own_end, free.stop), end=min(one.end, free.stop)) for one in own]
    says_something = any(line.key for line in body[first.start : first.own_end])
    return [first, *own] if says_something or not own else own


def _title_similarity(hint: str, title: str) -> float:
    if _plain_title(hint) and _plain_title(hint) == _plain_title(title):
        return 1.0
    wanted, words = stems(hint), stems(title)
    return len(wanted & words) / len(wanted | words) if wanted and words else 0.0


def _plain_title(title: str) -> str:
    return fold(title).strip("# :").casefold()


def _count_shared(words: frozenset[str], body: Sequence[Line], section: Section) -> int:
    own = stems(" ".join(line.text for line in body[section.start : section.own_end]))
    return len(words & own) + 2 * len(words & stems(section.title))


_MENTION_PATTERN = re.compile(r"(?<![\w@`/.])@(?:\.{1,2}/)*[\w-][\w.-]*(?:/[\w.-]+)*/?(?<=[\w/])(?![\w@(`])")
_MAX_TITLE = 80
# A numbered list of rules differs from the steps of a procedure by its heading, or by how half of its items begin.
_RULES_TITLE_PATTERN = re.compile(
    r"rule|guideline|convention|principle|practice|prefer|note|regla|regra|règle|regel|правил|规则|规范|ルール|규칙",
    re.IGNORECASE,
)
_RULE_START_PATTERN = re.compile(r"\W*(?:always|never|avoid|prefer|only|no|must|do not|don.t)\b", re.IGNORECASE)


def insert_bullet(data: bytes, section_hint: str, text: str, *, step: bool = True) -> Operation:
    """Return the operation that adds `text` to the skill as another item, numbered step or paragraph.

    The section is the one that the hint names, or the one that shares most words with the text, or a new one at the
    end, named by the hint; if the file ends in open code, any section will do. An empty file starts like a new one.
    `text` may have several lines; its list marker is dropped, and a file that it mentions with an at sign is put into
    code, where no client includes it. Text that is no `step` is not added to the steps of a procedure.

    Raises SkilldError if the skill cannot be parsed or has no place at all, RefusedError if the text is blank.
    """
    file = parse(data)
    body = file.body
    said = _instruction_lines(text)
    kinds = roles(body)
    if not file.front and not any(line.key for line in body):
        lines = [f"# {DEFAULT_TITLE}", "", f"- {said[0]}", *("  " + line if line else "" for line in said[1:])]
        return anchor_operation(body, 0, 0, lines)
    fitting, others = rank_sections(body, section_hint, fold(text))
    places = [_place_in_section(body, kinds, section, said, step=step) for section in fitting]
    places.append(_new_section(body, kinds, section_hint, said))
    for at, lines in (*places, *(_place_in_section(body, kinds, section, said, step=step) for section in others)):
        if at and _is_plain_text(body, at, lines):
            return anchor_operation(body, at, at, lines)
    raise SkilldError("The skill has no place for the instruction", "its body is empty or contains only code")


def merge_into_heading(data: bytes, operation: Operation) -> list[Operation]:
    """Return operations that put an inserted section's items below a heading of the same name if the file has one.

    Text above the section stays where it is inserted. The operation is returned unchanged if it does not insert a
    heading with items, or the file has no such heading.
    """
    lines = operation.text.split("\n")
    head = first_heading(lines)
    if operation.op is not Op.INSERT_AFTER or head is None:
        return [operation]
    title, items = lines[head].lstrip("#").strip(), _split_items(lines[head + 1 :])
    if not items or _plain_title(title) not in _titles(data):
        return [operation]
    above = "\n".join(lines[:head]).rstrip()
    steps: list[Operation] = [replace(operation, text=above)] if above else []
    data = apply(data, steps, limited=False) if steps else data
    for item in items:
        step = insert_bullet(data, title, item)
        steps.append(step)
        data = apply(data, [step], limited=False)
    return steps


def cut_known_section(before: bytes, after: bytes, current: bytes) -> tuple[bytes, Operation | None]:
    """Return `after` without a section of items that it adds to `before` if `current` has its heading, and the section.

    The section is an operation for `merge_into_heading`, None if there is none.
    """
    if not _titles(after) & _titles(current) - _titles(before):
        return after, None
    file = parse(after)
    keys = [line.key for line in file.body]
    for piece in compare_lines([line.key for line in parse(before).body], keys):
        lines = keys[piece.new_start : piece.new_end]
        head = None if piece.equal or piece.old_start < piece.old_end else first_heading(lines)
        if head is None or not _split_items(lines[head + 1 :]):
            continue
        if _plain_title(lines[head].lstrip("#")) in _titles(current) - _titles(before):
            end = piece.new_end
            start = piece.new_start + head
            while start > piece.new_start and not keys[start - 1]:
                start -= 1
            rest = replace(file, body=(*file.body[:start], *file.body[end:])).data
            return rest, Operation(Op.INSERT_AFTER, "", "\n".join(lines[head:]))
    return after, None


def first_heading(lines: Sequence[str]) -> int | None:
    """Return the first line that is a heading with a number sign and a title, None if there is none."""
    heads = (part.head for part in sections([Line(line, "\n") for line in lines]) if part.level and part.title)
    return next((head for head in heads if lines[head].startswith("#")), None)


def _titles(data: bytes) -> set[str]:
    return {_plain_title(part.title) for part in sections(parse(data).body) if part.level}


def _split_items(lines: Sequence[str]) -> list[str]:
    """Return the list items in these lines, each with its further lines; none if there is any other text."""
    items: list[list[str]] = []
    for line in lines:
        item = list_item(line)
        if item is not None and not item.indent:
            items.append([line])
        elif items and line.startswith(("  ", "\t")):
            items[-1].append(line.removeprefix("  "))
        elif line.strip():
            return []
    return ["\n".join(item) for item in items]


def _new_section(body: Sequence[Line], kinds: Sequence[Role], hint: str, said: list[str]) -> tuple[int, list[str]]:
    """Return the line after the last one with text, and the lines of a new section to put there."""
    end = next((at + 1 for at in range(len(body) - 1, -1, -1) if body[at].key), 0)
    lines = ["", f"{'#' * main_level(body)} {_section_title(hint)}", "", f"{usual_bullet(body, kinds)} {said[0]}"]
    return end, [*lines, *("  " + line if line.strip() else "" for line in said[1:])]


def _instruction_lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    item = list_item(lines[0])
    if item is not None:
        lines[0] = lines[0][len(item.indent + item.marker + item.gap + item.box) :]
    if not lines[0].strip():
        raise RefusedError("The edit was not made", "the instruction is blank")
    quoted = quote_mentions(lines)
    return [quoted[0].strip(), *(line.rstrip() for line in quoted[1:])]


def quote_mentions(lines: Sequence[str]) -> list[str]:
    """Return lines with each file that they mention with an at sign in code, where no client includes it."""
    kinds = roles([Line(line, "\n") for line in lines])
    return [_quote(line) if kind is Role.TEXT else line for line, kind in zip(lines, kinds, strict=True)]


def _quote(line: str) -> str:
    """Put mentions of files below the project (`@docs/style.md`) into code spans."""
    for match in reversed(list(_MENTION_PATTERN.finditer(blank_code(line)))):
        if "/" in match[0] or FILE_ENDING.search(match[0]):
            line = f"{line[: match.start()]}`{match[0]}`{line[match.end() :]}"
    return line


def _place_in_section(
    body: Sequence[Line], kinds: Sequence[Role], section: Section, said: list[str], *, step: bool
) -> tuple[int, list[str]]:
    """Return the line of the section before which to insert the instruction, and its lines."""
    kept = managed_blocks(body)
    found = [
        part
        for part in find_lists(body, kinds, section.start, section.own_end)
        if not any(block.start < part.end < block.stop for block in kept)
    ]
    procedures = [part for part in found if not step and _is_procedure(body, part, section.title)]
    found = [part for part in found if part not in procedures]
    if found:
        words = stems(" ".join(said))
        texts = {part: " ".join(line.text for line in body[part.start : part.end]) for part in found}
        best = max(reversed(found), key=lambda part: len(words & stems(texts[part])))
        if len(said) == 1:
            said = [match_full_stop(said[0], _item_endings(body, best))]
        return best.end, best.next_item(said)
    spoken = [at for at in range(section.start, section.own_end) if body[at].key]
    at = spoken[-1] + 1 if spoken else section.start
    style = [] if spoken and not procedures else [f"{usual_bullet(body, kinds)} "]
    lines = ["", "".join(style) + said[0], *(("  " if style and line else "") + line for line in said[1:])]
    return at, [*lines, *([""] if at < len(body) and body[at].key else [])]


def _is_procedure(body: Sequence[Line], part: BulletList, title: str) -> bool:
    """Whether a list numbers the steps of a procedure, not rules."""
    if not part.items[0].marker[0].isdigit() or _RULES_TITLE_PATTERN.search(title):
        return False
    found = [(item, line.text) for line in body[part.start : part.end] if (item := list_item(line.text)) is not None]
    rules = sum(bool(_RULE_START_PATTERN.match(text[item.width :])) for item, text in found if item in part.items)
    return 2 * rules < len(part.items)


def _item_endings(body: Sequence[Line], part: BulletList) -> list[str]:
    """Return the last line of each item of a list, including items of sublists."""
    lines = [line.text for line in body[part.start : part.end] if line.key]
    return [line for line, below in zip(lines, [*lines[1:], lines[0]], strict=True) if list_item(below) is not None]


def _is_plain_text(body: Sequence[Line], at: int, lines: list[str]) -> bool:
    """Whether the first new line with text would be plain text there: no code, comment or managed block."""
    if any(block.start < at < block.stop for block in managed_blocks(body)):
        return False
    first = next(i for i, line in enumerate(lines) if line.strip())
    new = [*body[:at], *(Line(line, "\n") for line in lines), *body[at:]]
    return roles(new)[at + first] is Role.TEXT


def usual_bullet(body: Sequence[Line], kinds: Sequence[Role]) -> str:
    """Return the bullet that the file uses most, a hyphen if it has none."""
    items = [list_item(line.text) for line, kind in zip(body, kinds, strict=True) if kind is Role.TEXT]
    counts = Counter(item.marker for item in items if item is not None and item.marker in "-*+")
    return counts.most_common(1)[0][0] if counts else "-"


def main_level(body: Sequence[Line]) -> int:
    """Return the level of the file's main sections; a single first-level heading is its title."""
    levels = [part.level for part in sections(body) if part.level]
    return 1 if levels.count(1) > 1 else min((level for level in levels if level > 1), default=2)


def _section_title(hint: str) -> str:
    title = fold(hint).strip("# ")
    return title[:_MAX_TITLE].rstrip() or DEFAULT_TITLE
