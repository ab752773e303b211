"""A skill as passages: its list items with what is nested in them, paragraphs, code, tables and quotations. Pure.

Each passage knows the headings above it and its lines in the body, so that two skills can be compared passage by
passage, and what one lacks can be put where it belongs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from skilld.classify.offline.choices import same_choice
from skilld.classify.offline.sections import BlockKind, ProseBlock, body_lines, sections
from skilld.markdown.structure import list_item
from skilld.text import fold, fold_case, indentation
from skilld.values import value_class
from skilld.words import has_negation, numbers, stems

_BOX_PATTERN = re.compile(r"^\s*\[[ xX]\]\s+")
_RULE_PATTERN = re.compile(r"[\W_]*")


@value_class
class Passage:
    """Lines [first, behind) of a body: `lines` is without the indentation and marker of an item.

    The first `own` lines are the passage itself, the others are nested in it. `path` has the headings above it without
    the skill's title. Items of one list have the same `group`. `close`: there is no blank line above. `columns`: the
    first line of the table that the lines are rows of. `ordered`: its place among the items of its list matters.
    """

    path: tuple[str, ...]
    kind: BlockKind
    lines: tuple[str, ...]
    own: int
    first: int
    behind: int
    indent: str = ""
    marker: str = ""
    gap: str = " "
    close: bool = False
    group: int = 0
    columns: str = ""
    ordered: bool = False

    @property
    def text(self) -> str:
        """The passage on one line, as it is listed."""
        return fold(" ".join(self.lines))

    @property
    def head(self) -> str:
        """The passage without what is nested in it, on one line and without a task's box, for comparison."""
        return plain_text(" ".join(self.lines[: self.own]))

    @property
    def nested(self) -> tuple[str, ...]:
        """The lines that are nested in an item."""
        return self.lines[self.own :]

    @property
    def is_item(self) -> bool:
        """Whether it is a list item."""
        return self.kind is BlockKind.ITEM

    @property
    def is_step(self) -> bool:
        """Whether it is a numbered item."""
        return self.marker[:1].isdigit()

    @property
    def number(self) -> int:
        """The number of a step, or 0."""
        return int(self.marker[:-1]) if self.is_step else 0

    @property
    def is_lead(self) -> bool:
        """Whether it introduces what follows: a paragraph that ends with a colon."""
        return self.kind is BlockKind.PARAGRAPH and self.text.rstrip("*_ ").endswith((":", "\uff1a"))

    @property
    def is_code(self) -> bool:
        """Whether it is fenced code."""
        return self.kind is BlockKind.OTHER and self.lines[0].lstrip().startswith(("```", "~~~"))

    @property
    def is_comment(self) -> bool:
        """Whether it is a comment, which the person does not see when reading."""
        return self.kind is BlockKind.OTHER and self.lines[0].lstrip().startswith("<!--")


def plain_text(text: str) -> str:
    """Return a line without list marker, box and final full stop, with each run of white space as one blank."""
    item = list_item(text)
    rest = text[len(item.indent + item.marker + item.gap) :] if item else text
    return fold(_BOX_PATTERN.sub("", rest, count=1)).rstrip(".。")


def find_passages(text: str) -> list[Passage]:
    """Return the passages of a SKILL.md in order; none if it cannot be parsed."""
    body, found = body_lines(text), sections(text)
    paths = heading_paths([(one.level, one.heading) for one in found])
    passages: list[Passage] = []
    for section, path in zip(found, paths, strict=True):
        passages += _section_passages(path, section.blocks, body, len(passages))
    return passages


def heading_paths(headings: Iterable[tuple[int, str]]) -> list[tuple[str, ...]]:
    """Return the path of each heading, given by level and title: the titles of those it is below, and its own.

    The skill's title, a first heading of level 1, is left out: its path is empty, as that of text above it.
    """
    stack: list[tuple[int, str]] = []
    paths: list[tuple[str, ...]] = []
    titled = False
    for level, title in headings:
        if level:
            is_title = level == 1 and not titled
            titled = True
            stack = [] if is_title else [*((above, name) for above, name in stack if above < level), (level, title)]
        paths.append(tuple(name for _, name in stack))
    return paths


def title_of(text: str) -> str:
    """Return a skill's title: its first heading if that is of level 1, or ""."""
    first = next((section for section in sections(text) if section.level), None)
    return first.heading if first and first.level == 1 else ""


def same_title(one: str, other: str) -> bool:
    """Whether two headings say the same: in case and inflection they may differ, not in numerals."""
    mine, theirs = _plain_title(one), _plain_title(other)
    if mine == theirs:
        return True
    words = stems(mine)
    same = bool(words) and words == stems(theirs) and has_negation(mine) == has_negation(theirs)
    same = same and numbers(mine) == numbers(theirs)
    return same and same_choice(mine, theirs) and same_choice(theirs, mine)


def same_path(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two paths of headings are the same."""
    return len(one) == len(other) and all(map(same_title, one, other))


def _plain_title(title: str) -> str:
    return re.sub(r"^\d+(?:\.\d+)*[.)]?\s+", "", fold_case(title).strip("# :*_`"))


def _section_passages(
    path: tuple[str, ...], blocks: Sequence[ProseBlock], body: Sequence[str], number: int
) -> Iterator[Passage]:
    above: Passage | None = None  # the last item, as long as its list may go on
    for block, behind in whole_blocks(blocks, body):
        if block.kind is BlockKind.OTHER and _RULE_PATTERN.fullmatch(block.text):
            continue
        number += 1
        close = block.first > 0 and bool(body[block.first - 1].strip())
        item = block.kind is BlockKind.ITEM
        lines = body[block.first : behind]
        if item:  # without its marker and the indentation of what is nested
            lines = [lines[0][len(block.indent + block.marker) :].strip(), *outdent(lines[1:])]
        goes_on = item and above is not None and _is_next(above, block, body)
        one = Passage(
            path,
            block.kind,
            tuple(lines),
            block.last + 1 - block.first,
            block.first,
            behind,
            block.indent,
            block.marker,
            block.gap.partition("[")[0] or " ",
            close=close,
            group=above.group if goes_on and above else number,
        )
        above = one if item else above
        yield one


def map_paths(
    theirs: Iterable[tuple[str, ...]], mine: Sequence[tuple[str, ...]], their_title: str, my_title: str
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the path in one skill of each path of headings in another: an equal one, or a new one.

    The whole of a skill may be one section of another: its title is then a heading there.
    """
    found: dict[tuple[str, ...], tuple[str, ...]] = {(): ()}
    if their_title and not same_title(their_title, my_title):
        found[()] = next((one for one in mine if same_path(one, (their_title,))), ())
    for path in sorted({part[:end] for part in theirs for end in range(1, len(part) + 1)}, key=len):
        wanted = (*found[path[:-1]], path[-1])
        new = () if my_title and same_path(wanted, (my_title,)) else wanted
        found[path] = next((one for one in mine if same_path(one, wanted)), new)
    return found


def _is_next(above: Passage, block: ProseBlock, body: Sequence[str]) -> bool:
    """Whether an item continues the list of the one above; other blocks may only stand between numbered items."""
    if block.marker[:1].isdigit() != above.is_step or block.marker[-1] != above.marker[-1]:
        return False
    if not any(line.strip() for line in body[above.behind : block.first]):
        return True
    return above.is_step and int(block.marker[:-1]) == above.number + 1


def whole_blocks(blocks: Sequence[ProseBlock], body: Sequence[str]) -> Iterator[tuple[ProseBlock, int]]:
    """Yield each block with the line after it; what is indented below a list item belongs to it."""
    at = 0
    while at < len(blocks):
        block, last = blocks[at], blocks[at].last
        at += 1
        width = indentation(block.indent + "x")
        while block.kind is BlockKind.ITEM and at < len(blocks) and indentation(body[blocks[at].first]) > width:
            last, at = blocks[at].last, at + 1
        yield block, last + 1


def outdent(lines: Sequence[str]) -> list[str]:
    """Return lines without the indentation that all have."""
    return [line.rstrip() for line in dedent("\n".join(lines)).split("\n")][: len(lines)]


_SENTENCE_PATTERN = re.compile(r"(?<=[.!?。！？])\s+(?=\W*[A-ZÀ-ÞА-Я\d`])")
# A full stop that ends no sentence: "z. B.", "e.g.", "am 3. Mai".
_ABBREVIATION_PATTERN = re.compile(
    r"(?:^|[\W_])(?:[^\W\d_]|e\.g|i\.e|vs|bzw|ca|nr|no|dr|mrs?|ms|st|abs|ggf|evtl|inkl|exkl|vgl|approx|cf|fig|art"
    r"|z\.b|d\.h|u\.a|usw|etc|sog|max|min"
    r"|(?:am|im|in|zum|zur|vom|ab|bis|der|den|dem|des|die|das|jeden?|the)\s\d{1,2})\.$",
    re.IGNORECASE,
)


def find_sentences(text: str) -> list[str]:
    """Return the sentences of one line of text; an abbreviation or a code span does not end one."""
    found: list[str] = []
    for piece in _SENTENCE_PATTERN.split(fold(text)):
        open_ = found and (_ABBREVIATION_PATTERN.search(found[-1]) or found[-1].count("`") % 2)
        if found and (open_ or " " not in piece or " " not in found[-1]):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found
