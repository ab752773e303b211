"""Finds the place for an instruction in a skill, and writes it in the file's own list style.

Takes the skill's bytes, a hint at the section and the instruction, and returns one `Operation`. Decides by words only,
not by whether the skill should have the instruction at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

from skilld.edit.list_style import separate_lines, write_like
from skilld.edit.marks import next_mark
from skilld.edit.new_section import RULER, new_section, text_end, usual_bullet, writes_bullets
from skilld.edit.operations import anchor_operation, apply
from skilld.edit.tokens import FILE_ENDING
from skilld.errors import RefusedError, SkilldError
from skilld.markdown.skill_file import Line, is_blank, parse
from skilld.markdown.structure import (
    DEFAULT_TITLE,
    LABEL_LEVEL,
    Item,
    Role,
    Section,
    blank_code,
    is_default_title,
    is_procedure,
    keeps_meaning,
    labelled_sections,
    list_item,
    managed_blocks,
    manual_lines,
    names_subject,
    roles,
    sections,
)
from skilld.text import compare_lines, fold
from skilld.types import Op, Operation
from skilld.values import value_class
from skilld.words import stems

# Only the outermost items of a list count: an item's sublists and further paragraphs belong to it.

_INDENTED_CODE = 4


@value_class
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


def named_sections(body: Sequence[Line], hint: str, text: str) -> tuple[list[Section], list[Section]]:
    """Return the sections that the hint names, best first, and the others.

    Without a hint the sole section is meant, or the one for what belongs to no other. In a generated file, where no
    section may be added outside the part left to people, the last of theirs always fits.
    """
    found = _open_sections(body)
    likeness = {part: _title_similarity(hint, part.title) for part in found}
    fitting = sorted(
        (part for part in found if likeness[part] >= _MIN_HINT_SHARE), key=likeness.__getitem__, reverse=True
    )
    if not fitting and manual_lines(body) is not None:
        kinds = roles(body)
        fitting = [part for part in found if _may_take(part, text, body, kinds)][-1:] or found
    elif not fitting and not _plain_title(hint):
        fitting = found if len(found) == 1 else [part for part in found if is_default_title(part.title)]
    known = {*fitting}
    return fitting, [part for part in reversed(found) if part not in known]


def _open_sections(body: Sequence[Line]) -> list[Section]:
    """Return the sections that are not empty; for a generated file only their lines in the part left to people."""
    free = manual_lines(body)
    if free is None:
        return [
            one
            for one in labelled_sections(body)
            if one.title or any(line.key for line in body[one.start : one.own_end])
        ]
    around = Section("", 0, free.start, free.stop, free.stop)
    own = [one for one in labelled_sections(body) if one.start in free]
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
    return fold(title).strip("#*_ :").casefold()


def _may_take(section: Section, text: str, body: Sequence[Line], kinds: Sequence[Role]) -> bool:
    """Whether a section that nobody named can take an instruction: not a mere introduction, and not a "Don't"."""
    lists = find_lists(body, kinds, section.start, section.own_end)
    items = [one for part in lists for one in _item_texts(body, part)]
    introduces = not lists and (not section.level or _is_title(section, body))
    return not introduces and keeps_meaning(text, section.title, items)


def _is_title(section: Section, body: Sequence[Line]) -> bool:
    """Whether a section is the whole file, which its title names."""
    return section.level == 1 and section.end == len(body) and not any(line.key for line in body[: section.head])


_LINK = re.compile(r"\[[^\]]*\]\(|<?https?:")
_MENTION_PATTERN = re.compile(r"(?<![\w@`/.])@(?:\.{1,2}/)*[\w-][\w.-]*(?:/[\w.-]+)*/?(?<=[\w/])(?![\w@(`])")


def insert_bullet(
    data: bytes, section_hint: str, text: str, *, step: bool = True, title: str = DEFAULT_TITLE
) -> Operation:
    """Return the operation that adds `text` to the skill as another item, numbered step or paragraph.

    The section is the one that the hint names, or the one that shares most words with the text, or a new one at the
    end, named by the hint or else `title`; if the file ends in open code, any section will do. An empty file starts
    like a new one. `text` may have several lines; its list marker is dropped, and a file that it mentions with an at
    sign is put into code, where no client includes it. Text that is no `step` does not go into a section that is only a
    procedure, but below the list if the heading names a subject; nothing goes into one that is only a list of links.

    Raises SkilldError if the skill cannot be parsed or has no place at all, RefusedError if the text is blank.
    """
    file = parse(data)
    body = file.body
    said = _instruction_lines(text)
    kinds = roles(body)
    if not file.front and not any(line.key for line in body):
        lines = [f"# {DEFAULT_TITLE}", "", f"- {said[0]}", *("  " + line if line else "" for line in said[1:])]
        return anchor_operation(body, 0, 0, lines)
    fitting, others = named_sections(body, section_hint, fold(text))
    unfit = [part for part in fitting if not _takes_rules(body, kinds, part, step=step)]
    if unfit and len(unfit) == len(fitting) and not is_default_title(section_hint):
        return insert_bullet(data, title, text, step=step, title=title)
    known = {*unfit}
    fitting = [part for part in fitting if part not in known]
    # One after the other: a file may have thousands of sections, and the first one mostly takes it.
    places = chain(
        (_place_in_section(body, kinds, section, said, step=step) for section in fitting),
        (new_section(body, kinds, section_hint or title, said) for _ in range(1)),
        (_place_in_section(body, kinds, section, said, step=step) for section in (*unfit, *others)),
    )
    for at, lines in places:
        if at and _is_plain_text(body, at, lines):
            return anchor_operation(body, at, at, lines)
    raise SkilldError("The skill has no place for the instruction", "its body is empty or contains only code")


def merge_into_heading(data: bytes, operation: Operation) -> list[Operation]:
    """Return operations that put an inserted section's items below a heading of the same name if the file has one.

    Text above the section stays where it is inserted. The operation is returned unchanged if it does not insert a
    heading with items, or the file has no such heading.
    """
    lines = operation.text.split("\n")
    head = _first_heading(lines)
    if operation.op is not Op.INSERT_AFTER or head is None:
        return [operation]
    title, items = head.title, _only_items(lines[head.start :])
    if not items or _plain_title(title) not in _titles(data):
        return [operation]
    above = "\n".join(line for line in lines[: head.head] if not RULER.fullmatch(line)).rstrip()
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
        head = None if piece.equal or piece.old_start < piece.old_end else _first_heading(lines)
        if head is None or not _only_items(lines[head.start :]):
            continue
        if _plain_title(head.title) in _titles(current) - _titles(before):
            end = piece.new_end
            start = piece.new_start + head.head
            while start > piece.new_start and (not keys[start - 1] or RULER.fullmatch(keys[start - 1])):
                start -= 1
            rest = replace(file, body=(*file.body[:start], *file.body[end:])).data
            return rest, Operation(Op.INSERT_AFTER, "", "\n".join(lines[head.head :]))
    return after, None


def adds_heading(lines: Sequence[str]) -> bool:
    """Whether one of the lines is a heading with a title."""
    return _first_heading(lines) is not None


def _first_heading(lines: Sequence[str]) -> Section | None:
    """Return the first section that the lines begin, with a heading or with a line that is the usual title."""
    found = sections([Line(line, "\n") for line in lines])
    labels = [at for at, line in enumerate(lines) if list_item(line) is None and is_default_title(line)]
    named = [part for part in found if part.level and part.title]
    named += [Section(fold(lines[at]), LABEL_LEVEL, at + 1, len(lines), len(lines), at) for at in labels[:1]]
    return named[0] if named else None


def _titles(data: bytes) -> set[str]:
    return {_plain_title(part.title) for part in labelled_sections(parse(data).body) if part.level}


def split_items(lines: Sequence[str]) -> list[str]:
    """Return the items and paragraphs in these lines, each with its further lines, less their margin."""
    items: list[list[str]] = []
    is_open, margin = False, 0
    for at, line in enumerate(lines):
        if not line.strip():
            is_open = is_open and at + 1 < len(lines) and lines[at + 1][:1].isspace()
            if is_open:
                items[-1].append("")
        elif is_open and (list_item(line) is None or line[:1].isspace()):
            items[-1].append(line[min(margin, len(line) - len(line.lstrip())) :])
        else:
            item = list_item(line)
            items.append([line])
            is_open, margin = True, item.width if item else 0
    return ["\n".join(item) for item in items]


def _only_items(lines: Sequence[str]) -> list[str]:
    """Return the list items in these lines; none if there is any other text."""
    items = split_items(lines)
    return items if all(list_item(one.split("\n")[0]) for one in items) else []


def _instruction_lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    lines[0] = _item_text(lines[0])
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
        best = _group_for(words, body, kinds, best) or best
        if len(said) == 1:
            said = [write_like(said[0], _item_texts(body, best), _item_endings(body, best))]
        firsts = [line.text for line in body[best.start : best.end] if list_item(line.text) in best.items]
        said = [next_mark(firsts) + said[0], *said[1:]]
        return best.end, best.next_item(said)
    at = text_end(body, kinds, section.start, section.own_end)
    if mark := next_mark(above := [line.text for line in body[section.start : at] if line.key]):
        gap = [""] if not body[at - 2].key else []
        said = [mark + write_like(said[0], above, above), *said[1:]]
        return at, [*gap, *said, *([""] if at < len(body) and body[at].key else [])]
    as_item = at == section.start or procedures or writes_bullets(body, kinds)
    if not as_item and len(said) == 1 and (beside := separate_lines(body, kinds, at)):
        return at, [write_like(said[0], beside, beside)]
    marker = f"{usual_bullet(body, kinds)} " if as_item else ""
    lines = ["", marker + said[0], *(("  " if marker and line else "") + line for line in said[1:])]
    return at, [*lines, *([""] if at < len(body) and body[at].key else [])]


def _group_for(
    words: frozenset[str], body: Sequence[Line], kinds: Sequence[Role], whole: BulletList
) -> BulletList | None:
    """Return the list below the item that names what an instruction is about, in a list of groups of rules."""
    width = whole.items[0].width
    starts = [at for at in range(whole.start, whole.end) if list_item(body[at].text) in whole.items]
    groups: dict[BulletList, int] = {}
    for start, end in pairwise([*starts, whole.end]):
        for at in range(start + 1, end):
            item = list_item(body[at].text) if kinds[at] is Role.TEXT else None
            if item is not None and len(item.indent.expandtabs(4)) >= width:
                below = _parse_list(body, kinds, at, end)
                texts = " ".join(line.text for line in body[start + 1 : end])
                groups[below] = 2 * len(words & stems(body[start].text)) + len(words & stems(texts))
                break
    if 2 * len(groups) <= len(starts) or not any(groups.values()):
        return None
    return max(groups, key=groups.__getitem__)


def _takes_rules(body: Sequence[Line], kinds: Sequence[Role], section: Section, *, step: bool) -> bool:
    """Whether a section has a list that is neither links nor, unless for a further `step`, a procedure; or no list.

    Below a procedure with a heading that names its subject there is room for rules on that.
    """
    lists = find_lists(body, kinds, section.start, section.own_end)
    no_steps = not step and (_is_title(section, body) or not names_subject(section.title))
    return not lists or not all(
        all(map(_LINK.match, _item_texts(body, part))) or (no_steps and _is_procedure(body, part, section.title))
        for part in lists
    )


def _is_procedure(body: Sequence[Line], part: BulletList, title: str) -> bool:
    """Whether a list numbers the steps of a procedure, not rules."""
    return part.items[0].marker[0].isdigit() and is_procedure(title, _item_texts(body, part))


def write_items_alike(body: Sequence[Line], start: int, end: int) -> list[str]:
    """Return lines [start, end) of a file, new in it, with each new item of one line written like the list's others."""
    out = [line.text for line in body[start:end]]
    for part in find_lists(body, roles(body), 0, len(body)):
        if end <= part.start or part.end <= start:
            continue
        outermost = set(part.items)
        firsts = [at for at in range(part.start, part.end) if list_item(body[at].text) in outermost]
        items = list(pairwise([*firsts, part.end]))
        others = [(at, below) for at, below in items if not start <= at < end]
        texts = [_item_text(body[at].text) for at, _ in others]
        endings = [next(line.text for line in reversed(body[at:below]) if line.key) for at, below in others]
        for at, below in items:
            text = _item_text(body[at].text)
            if start <= at < end and text and not any(line.key for line in body[at + 1 : below]):
                out[at - start] = f"{body[at].text.removesuffix(text)}{write_like(text, texts, endings)}"
    return out


def _item_text(line: str) -> str:
    """Return a line without the list marker that it begins with."""
    item = list_item(line)
    return line[len(item.indent + item.marker + item.gap + item.box) :] if item else line


def _item_texts(body: Sequence[Line], part: BulletList) -> list[str]:
    """Return the first line of each item of a list, without its marker."""
    return [_item_text(line.text) for line in body[part.start : part.end] if list_item(line.text) in part.items]


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
