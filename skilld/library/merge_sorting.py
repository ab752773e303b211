"""Sorts the passages of a skill that is merged away: what is said already, what must be left out, what is new. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from skilld.classify.contradiction import contradicted_block
from skilld.classify.offline.sections import BlockKind, sections
from skilld.library.merge_said import SaidIn, cells, conflicts, denies, is_table, nested_passages
from skilld.library.passages import (
    Passage,
    find_passages,
    find_sentences,
    heading_paths,
    map_paths,
    plain_text,
    same_title,
    title_of,
)
from skilld.text import Redact, fold
from skilld.values import value_class

HIDDEN = "it contains a secret"
COMMENT = "a comment"
EMPTY_HEADING = "a heading with nothing below it"
LEAD = "it introduces something that the kept skill has elsewhere"
SAID = "the kept skill already says: "
OPPOSITE = "the kept skill says the opposite; decide which of the two applies: "
DECIDED = "it was offered to you before, and is not in the kept skill"
OTHER_ROW = "the kept skill has a different line for this: "


@value_class
class Omission:
    """One thing that is left out, and why."""

    what: str
    why: str


@dataclass(slots=True)
class Row:
    """A passage, what of it is to be carried over, and the text of the kept skill that says or nearly says it."""

    passage: Passage
    rest: Passage | None = None
    near: str = ""


@dataclass(slots=True)
class Sorted:
    """The passages in order, what is left out, and what is left out because it is already said in other words."""

    rows: list[Row]
    left: list[Omission] = field(default_factory=list)
    same: list[Omission] = field(default_factory=list)


def sort_passages(own: str, source: str, redact: Redact, decided: frozenset[str] = frozenset()) -> Sorted:
    """Return the passages of the skill `source`, sorted by what the skill `own` says.

    `decided` has lines that were offered before.
    """
    passages, mine = find_passages(source), find_passages(own)
    theirs = [(one.level, one.heading) for one in sections(source)]
    held = heading_paths([(one.level, one.heading) for one in sections(own)])
    paths = map_paths(heading_paths(theirs), held, title_of(source), title_of(own))
    for path in paths:  # "## Rules" may be "Rules:" there
        lead = next((one for one in mine if one.is_lead and path and same_title(one.text, path[-1])), None)
        paths[path] = lead.path if lead is not None and paths[path] not in held else paths[path]
    rows = [Row(replace(one, path=paths[one.path])) for one in passages]
    _join_leads(rows, held)
    _join_steps(rows, mine)
    said = SaidIn(mine)
    _join_bullets(rows, said)
    sorter = _Sorter(own, said, redact, Sorted(rows))
    for row in rows:
        sorter.sort(row)
    sorter.settle_leads()
    sorter.drop_decided(decided)
    filled = {one.path[:end] for one in passages for end in range(1, len(one.path) + 1)}
    for (level, title), path in zip(theirs, heading_paths(theirs), strict=True):
        if path and path not in filled and paths[path] not in held:
            sorter.result.left.append(Omission(f"{'#' * level} {title}", EMPTY_HEADING))
    return sorter.result


def _join_leads(rows: list[Row], held: Sequence[tuple[str, ...]]) -> None:
    """Move a list below "Rules:" to the section called "Rules" that the kept skill has."""
    for lead, below in pairwise([*rows]):
        path = next((one for one in held if one and same_title(one[-1], lead.passage.text)), None)
        if lead.passage.is_lead and below.passage.is_item and path is not None:
            rows.remove(lead)
            for row in rows:
                if row.passage.group == below.passage.group:
                    row.passage = replace(row.passage, path=path)


def _join_steps(rows: Sequence[Row], mine: Sequence[Passage]) -> None:
    """Move steps to the section in which the kept skill has its steps, if one of the two has them below the title."""
    own, theirs = ({one.path for one in passages if one.is_step} for passages in (mine, [row.passage for row in rows]))
    if len(own) == len(theirs) == 1 and own != theirs and () in own | theirs:
        for row in rows:
            row.passage = replace(row.passage, path=next(iter(own))) if row.passage.is_step else row.passage


def _join_bullets(rows: Sequence[Row], said: SaidIn) -> None:
    """Turn steps into bullets where the kept skill has most of them as the bullets of one list, and as no steps."""
    for group in dict.fromkeys(row.passage.group for row in rows if row.passage.is_step):
        steps = [row for row in rows if row.passage.is_step and row.passage.group == group]
        if bullet := said.bullet_for([row.passage for row in steps]):
            for row in steps:
                row.passage = replace(row.passage, marker=bullet, ordered=True)


class _Sorter:
    def __init__(self, own: str, said: SaidIn, redact: Redact, result: Sorted) -> None:
        self._own, self._said, self._redact, self.result = own, said, redact, result
        # What both say leaves nothing to choose, because the other skill has it beside the rest.
        both = {plain_text(one) for row in result.rows for one in find_sentences(row.passage.head)}
        # A paragraph has words about many things, some of which may seem to contradict each other.
        self._own_sentences = [
            sentence
            for section in sections(own)
            for block in section.blocks
            if block.kind is not BlockKind.OTHER
            for sentence in find_sentences(block.text)
            if plain_text(sentence) not in both
        ]
        self._sentences = "\n".join(f"- {sentence}" for sentence in self._own_sentences)
        self._seen: set[tuple[object, ...]] = set()  # passages carried over
        self._sentences_seen: set[tuple[bool, str]] = set()  # of paragraphs carried over

    def sort(self, row: Row) -> None:
        """Decide on one passage."""
        one = row.passage
        key = (denies(one.path), one.is_step, tuple(map(plain_text, one.lines)))
        if one.is_comment:
            self._leave(one.text, COMMENT)
        elif any(self._redact(text) != text for text in (*one.lines, "\n".join(one.lines))):
            self._leave(one.text, HIDDEN)
        elif one.kind is BlockKind.OTHER:
            self._sort_block(row)
        elif one.is_item:
            self._sort_item(row)
        else:
            self._sort_paragraph(row)
        may_repeat = one.is_step or one.is_lead or one.is_code
        if row.rest is not None and not may_repeat and key in self._seen:
            row.rest, row.near = None, row.near or one.head
        elif row.rest is not None:
            self._seen.add(key)

    def _leave(self, what: str, why: str) -> None:
        self.result.left.append(Omission(what, why))

    def _sort_block(self, row: Row) -> None:
        one = row.passage
        if (same := self._said.find_block(one.lines)) is not None:
            row.near = same.head
            return
        table = self._said.find_table(one) if is_table(one) else None
        if table is None:
            row.rest = one
            return
        known, rows = {cells(line) for line in table.lines}, []
        first = {cells(line)[:1]: line for line in table.lines[2:]}
        for line in one.lines[2:]:
            if cells(line) in known:
                continue
            if cells(line)[:1] in first and len(first) == len(table.lines) - 2:
                self._leave(fold(line), OTHER_ROW + fold(first[cells(line)[:1]]))
            else:
                rows.append(line)
        row.near = table.head
        row.rest = replace(one, lines=tuple(rows), own=len(rows), columns=table.lines[0]) if rows else None

    def _sort_item(self, row: Row) -> None:
        one = row.passage
        groups = self._said.steps_like(self._steps_of(one)) if one.is_step else None  # that a step may belong to
        same = self._find(one, groups)
        if same is not None:
            same = next(filter(partial(self._has_nested, one), self._said.find_literal(one, one.head, groups)), same)
            row.near = same.head
            if self._has_nested(one, same):
                self._note_same(one.text, one.head, same)
                return
            if not same.is_item:
                row.near = ""
        elif (shorter := self._said.find_shorter(one, groups)) is not None:
            row.near = shorter.head
        if (opposite := self._opposite(one)) is not None:
            self._leave(one.text, OPPOSITE + opposite)
        else:
            row.rest = one

    def _steps_of(self, one: Passage) -> list[Passage]:
        return [row.passage for row in self.result.rows if row.passage.group == one.group and row.passage.is_step]

    def _find(self, one: Passage, groups: frozenset[int] | None) -> Passage | None:
        """Return what says an item. A step counts as said by a rule only if all steps of its list are."""
        if groups is None or groups:
            return self._said.find(one, one.head, groups)
        if any(self._said.find(step, step.head) is None for step in self._steps_of(one)):
            return None
        return self._said.find(one, one.head)

    def _has_nested(self, one: Passage, same: Passage) -> bool:
        """Whether all that is nested in an item is nested in `same`, or said anywhere if `same` is not an item."""
        inner = SaidIn(nested_passages(same)) if same.is_item else self._said

        def is_said(part: Passage) -> bool:
            if part.kind is BlockKind.OTHER:
                return inner.find_block(part.lines) is not None
            return inner.find(part, part.head) is not None and all(map(is_said, nested_passages(part)))

        return all(map(is_said, nested_passages(one)))

    def _opposite(self, one: Passage) -> str | None:
        """Return the text of the kept skill that contradicts a sentence of an item, or None."""
        texts = [one.head, *(part.head for part in nested_passages(one) if part.kind is not BlockKind.OTHER)]
        for text in (sentence for part in texts for sentence in find_sentences(part)):
            if (block := self._contradicted(text)) is not None and self._said.find(one, text) is None:
                return block
        return None

    def _contradicted(self, text: str) -> str | None:
        """Return the sentence of the kept skill that a person must choose between and this one, or None."""
        if (block := contradicted_block(text, self._sentences)) is not None:
            return fold(block.text)
        return next((other for other in self._own_sentences if conflicts(text, other)), None)

    def _sort_paragraph(self, row: Row) -> None:
        one = row.passage
        sentences = find_sentences(one.text)
        rest: list[str] = []
        for sentence in sentences:
            if (same := self._said.find(one, sentence)) is not None:
                row.near = row.near or same.head
                self._note_same(sentence, sentence, same)
            elif (block := self._contradicted(sentence)) is not None:
                self._leave(sentence, OPPOSITE + block)
            elif (key := (denies(one.path), plain_text(sentence))) not in self._sentences_seen or one.is_lead:
                self._sentences_seen.add(key)
                rest.append(sentence)
        if rest:
            lines = one.lines if len(rest) == len(sentences) else (" ".join(rest),)
            row.rest = replace(one, lines=lines, own=len(lines))

    def _note_same(self, what: str, text: str, same: Passage) -> None:
        """List a text that is said in other words."""
        if not self._said.holds(text):
            self.result.same.append(Omission(what, SAID + same.head))

    def settle_leads(self) -> None:
        """Keep each paragraph that introduces something together with that."""
        for row, below in pairwise(self.result.rows):
            lead, one = row.passage, below.passage
            if not lead.is_lead or one.path != lead.path or one.kind is BlockKind.PARAGRAPH:
                continue
            led = [other for other in self.result.rows if one.is_item and other.passage.group == one.group] or [below]
            joined = any(other.near for other in led if one.is_item)
            if row.rest is not None and one.is_code and below.rest is None:
                below.rest, below.near = one, ""  # the same command for something else
            elif row.rest is not None and (joined or all(other.rest is None for other in led)):
                self.result.same.append(Omission(lead.text, LEAD))
                row.rest = None
            elif row.rest is None and not joined and below.rest is not None:
                there = self._said.find_literal(lead, lead.text)
                if there and all(other.path != lead.path for other in there):
                    row.rest, row.near = lead, ""

    def drop_decided(self, decided: frozenset[str]) -> None:
        """Leave out passages if everything in them that the kept skill lacks was offered before."""
        own = frozenset(map(plain_text, self._own.splitlines()))
        for row in self.result.rows:
            lines = {plain_text(line) for line in row.rest.lines} - own - {""} if row.rest else set()
            if row.rest is not None and lines and lines <= decided:
                self._leave(row.rest.text, DECIDED)
                row.rest = None
