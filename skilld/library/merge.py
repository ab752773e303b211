"""Merges one skill into another that is kept. Pure.

Two SKILL.md files in, operations on the one to keep out, and every line that is left out with the reason. Nothing is
reworded: each operation carries over lines of the other file, so that a person can accept some of them. A merge that
would exceed the limits of one edit is split; each part fits the file with and without the others. What fits only after
another part is left to the next merge.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.edit.change import Severity
from skilld.edit.insertion_point import quote_mentions
from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.errors import RefusedError, SkilldError
from skilld.library.merge_places import Ground, Neighbour, Spot, Wanted, operations_for
from skilld.library.merge_sorting import Omission, Sorted, sort_passages
from skilld.library.passages import Passage, find_passages, plain_text
from skilld.markdown.skill_file import parse
from skilld.skills.spec import entries, front_lines, read_front, scalar
from skilld.text import Redact, fold
from skilld.types import Op, Operation

MERGED_FROM = "skilld-merged-from"
# Of a skill beside the one that took it, the mark has the folder's name; of any other, the way to its folder from the
# folder of skills. By name alone, a skill of the same name elsewhere would count as merged too.
NO_MARK_FLAG = "the front matter cannot record where these lines come from"
MAX_PARTS = 5
NEXT_TIME = "its place depends on another part; once you have accepted that one, run skilld consolidate again"


def origin_entry(keep: Path, away: Path) -> str:
    """Return how the mark of the SKILL.md `keep` names the skill `away`, another SKILL.md."""
    return Path(os.path.relpath(away.parent, keep.parent.parent)).as_posix()


def merged_files(keep: Path, mark: str) -> frozenset[Path]:
    """Return the paths of the SKILL.md files that the mark of the skill `keep` names."""
    names = filter(None, (name.strip() for name in mark.split(",")))
    return frozenset(Path(os.path.normpath(keep.parent.parent / name)) / keep.name for name in names)


class TooMuchError(SkilldError):
    """The skills are similar, but one says so much more that nobody could review the merge."""


class _LaterError(SkilldError):
    """A passage fits only after another part of the merge."""


@dataclass(frozen=True, slots=True)
class Portion:
    """One proposal: the new file, the operations, what is carried over, and what a person should look at.

    `headings` are the paths of the sections that it begins, `whole` is the file with the parts before it, too.
    """

    data: bytes
    whole: bytes
    operations: tuple[Operation, ...] = ()
    carried: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    headings: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """What one skill takes from another, in one or several parts; no parts if it already says everything."""

    parts: tuple[Portion, ...]
    left: tuple[Omission, ...]


def merge_skills(keep: bytes, away: bytes, name: str, redact: Redact, decided: frozenset[str] = frozenset()) -> Merge:
    """Return what the skill `keep` takes from `away`, called `name` in the mark. `redact` removes secrets.

    Passages all of whose lines are `decided` were offered before, and are left out.

    Raises SkilldError if one of them cannot be parsed or the kept one has no text, TooMuchError if more than MAX_PARTS
    would be needed.
    """
    for data in (keep, away):
        parse(data)
    if not any(line.key for line in parse(keep).body):
        raise SkilldError(
            "The merge was not proposed", "the skill that would be kept has no text below its front matter"
        )
    merger = _Merger(keep, away, redact, decided)
    merger.run()
    made = tuple(part for part in merger.parts if part.operations)
    left = [*merger.left, *_front_matter_omissions(keep, away), *merger.same]
    return Merge(
        _with_origin_mark(made, keep, name), tuple(Omission(redact(one.what), redact(one.why)) for one in left)
    )


class _Merger:
    """Carries the passages of one skill over to another, one after the other."""

    def __init__(self, keep: bytes, away: bytes, redact: Redact, decided: frozenset[str]) -> None:
        self.keep = keep
        self.source = away.decode("utf-8-sig")
        self.sorted: Sorted = sort_passages(keep.decode("utf-8-sig"), self.source, redact, decided)
        self.left, self.same = list(self.sorted.left), list(self.sorted.same)
        self.parts = [Portion(keep, keep)]
        self.texts = [row.near for row in self.sorted.rows]  # that stand for the passages in the kept skill
        self.done: list[set[str]] = [set()]  # texts that each part carries or replaces

    def run(self) -> None:
        """Carry over what has a section in the kept skill, then each new section, in one part if it fits."""
        ground, rows = Ground(self.keep), self.sorted.rows
        held = [bool(ground.section(row.passage.path)) or not row.passage.path for row in rows]
        self._add_rows([number for number, is_held in enumerate(held) if is_held])
        tops = dict.fromkeys(row.passage.path[:1] for row, is_held in zip(rows, held, strict=True) if not is_held)
        for top in tops:
            numbers = [at for at, row in enumerate(rows) if not held[at] and row.passage.path[:1] == top]
            before, count = self._state(), len(self.parts)
            self._add_rows(numbers)
            split = len(self.parts) > count or any(one.why == NEXT_TIME for one in self.left[len(before[3]) :])
            if split and before[0][-1].operations and self.parts[count - 1] != before[0][-1]:
                self.parts, self.texts, self.done, self.left, self.same = before
                self._start_part()
                self._add_rows(numbers)

    def _state(self) -> tuple[list[Portion], list[str], list[set[str]], list[Omission], list[Omission]]:
        return [*self.parts], [*self.texts], [set(one) for one in self.done], [*self.left], [*self.same]

    def _add_rows(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            passage = self.sorted.rows[number].rest
            if passage is None:
                continue
            try:
                self._add(number, passage)
            except TooMuchError:
                raise
            except SkilldError as error:
                self.left.append(Omission(passage.text, error.cause or error.title))

    def _add(self, number: int, passage: Passage) -> None:
        """Add a passage to the last part, or to a new one if that is full."""
        try:
            self._add_to(self.parts[-1], number, passage)
        except RefusedError:
            if not self.parts[-1].operations:
                raise
        else:
            return
        self._start_part()
        try:
            self._add_to(self.parts[-1], number, passage)
        finally:
            if not self.parts[-1].operations:
                self.parts.pop()
                self.done.pop()

    def _start_part(self) -> None:
        if len(self.parts) == MAX_PARTS:
            raise TooMuchError(
                "The merge was not proposed",
                f"it would take more than {MAX_PARTS} proposals, which is too many to review",
            )
        self.parts.append(Portion(self.keep, self.parts[-1].whole))
        self.done.append(set())

    def _add_to(self, part: Portion, number: int, passage: Passage) -> None:
        wanted = self._wanted(number, passage)
        ground = Ground(part.data)
        path = passage.path
        taken = [one for other in self.parts[:-1] for one in other.headings]
        begun = ground.section(path) is None and any(path[: len(one)] == one[: len(path)] for one in taken)
        if begun or (passage.is_step and self._steps_before(passage)):
            raise _LaterError("Not carried over", NEXT_TIME)
        trouble: SkilldError | None = None
        for operation, spot in operations_for(wanted, ground):
            if isinstance(trouble, _LaterError) and not (spot and spot.heading):
                break
            try:
                new = self._extended(part, operation, spot, passage)
            except RefusedError:
                raise
            except SkilldError as error:
                trouble = error
                continue
            self._record(number, passage, new, spot)
            return
        raise trouble or SkilldError("Not carried over", "the skill that is kept has no place for it")

    def _steps_before(self, passage: Passage) -> bool:
        """Whether an earlier part carries steps of the same procedure: its numbers depend on them."""
        earlier: set[str] = set().union(*self.done[:-1])
        steps = [row.passage for row in self.sorted.rows if row.passage.group == passage.group]
        return any(step.head in earlier for step in steps if step.is_step)

    def _wanted(self, number: int, passage: Passage) -> Wanted:
        row = [Neighbour(one.passage, text) for one, text in zip(self.sorted.rows, self.texts, strict=True)]
        done = frozenset(self.done[-1])
        return Wanted(passage, row[:number][::-1], row[number + 1 :], done, self.texts[number])

    def _extended(self, part: Portion, operation: Operation, spot: Spot | None, passage: Passage) -> Portion:
        """Return the part with one more operation. Raises SkilldError if a line would be lost or a part not fit."""
        operations = (*part.operations, operation)
        after = apply(self.keep, operations)
        _check_nothing_lost(part.data, after, passage, spot.replaced if spot else "")
        heading = spot.heading if spot else None
        whole = _check_order(part.whole, after, [other.operations for other in self.parts[:-1]], operation)
        findings = lint(part.data, after, self.source)
        if refused := next((found for found in findings if found.severity is Severity.REFUSE), None):
            raise SkilldError("Not carried over", refused.sentence)
        flags = (*part.flags, *(found.sentence for found in findings))
        headings = (*part.headings, heading) if heading else part.headings
        carried = (*part.carried, (spot and spot.added) or passage.text)
        return Portion(after, whole, operations, carried, tuple(dict.fromkeys(flags)), headings)

    def _record(self, number: int, passage: Passage, new: Portion, spot: Spot | None) -> None:
        self.parts[-1] = new
        self.done[-1].add(passage.head)
        if spot is not None and spot.replaced:
            if spot.replaced not in passage.text:
                self.same.append(Omission(spot.replaced, f"replaced by the fuller line: {passage.text}"))
            self.texts = [passage.head if text == spot.replaced else text for text in self.texts]
        if not passage.columns and not (spot and spot.added):
            self.texts[number] = passage.head


def _check_nothing_lost(before: bytes, after: bytes, passage: Passage, replaced: str) -> None:
    """Raise SkilldError unless every line of the skill and of the passage is in the result."""
    wanted = _line_counts(line.text for line in parse(before).body)
    if replaced:
        own = next(one for one in Ground(before).passages if one.head == replaced)
        wanted -= _line_counts(own.lines[: own.own])
    found = _line_counts(line.text for line in parse(after).body)
    if wanted - found or set(_line_counts(quote_mentions(passage.lines))) - set(found):
        raise SkilldError("Not carried over", "there is no place where it would replace nothing")


def _line_counts(lines: Iterator[str] | Sequence[str]) -> Counter[str]:
    return Counter(plain for line in lines if (plain := plain_text(line)))


def _check_order(whole: bytes, after: bytes, others: Sequence[Sequence[Operation]], operation: Operation) -> bytes:
    """Return `whole`, which has the other parts and then this one, with one more operation.

    `after` has this part alone, with that operation. Raises SkilldError if it is not the same with the other parts.
    """
    if not others:
        return after
    try:
        whole = apply(whole, [operation])
        for other in others:
            after = apply(after, other)
    except SkilldError:
        raise _LaterError("Not carried over", NEXT_TIME) from None
    if _passages_in(whole) != _passages_in(after):
        raise _LaterError("Not carried over", NEXT_TIME)
    return whole


def _passages_in(data: bytes) -> Counter[tuple[tuple[str, ...], tuple[str, ...]]]:
    return Counter((one.path, one.lines) for one in find_passages(data.decode("utf-8-sig")))


def folder_omissions(files: Sequence[str], away_agents: Sequence[str], keep_agents: Sequence[str]) -> list[Omission]:
    """Return what is lost with the merged folder: its other files, and agents that see only that skill."""
    only = [agent for agent in away_agents if agent not in keep_agents]
    who = "this agent sees" if len(only) == 1 else "these agents see"
    unseen = [Omission(", ".join(only), f"{who} only the other skill, not the one that is kept")] if only else []
    return [*(Omission(name, "a file in the other skill's folder; files are not copied") for name in files), *unseen]


def _with_origin_mark(parts: tuple[Portion, ...], keep: bytes, name: str) -> tuple[Portion, ...]:
    """Record the merged skill in the front matter with the last part, if the front matter permits."""
    if not parts:
        return parts
    merged = read_front(keep.decode("utf-8", "replace")).metadata.get(MERGED_FROM, "")
    *others, last = parts
    names = dict.fromkeys(filter(None, (*(one.strip() for one in merged.split(",")), name)))
    operations = (*last.operations, Operation(Op.MARK, MERGED_FROM, ", ".join(names)))
    try:
        after = apply(keep, operations)
    except SkilldError:
        return (*others, replace(last, flags=(*last.flags, NO_MARK_FLAG)))
    return (*others, replace(last, data=after, operations=operations))


def _front_matter_omissions(keep: bytes, away: bytes) -> Iterator[Omission]:
    """Yield the front matter fields that the kept skill has not or has with another value."""
    mine, theirs = _fields(keep), _fields(away)
    for key, value in theirs.items():
        if key != "name" and value and mine.get(key) != value:
            yield Omission(f"{key}: {value}", _TRIGGER if key == "description" else _NOT_CHANGED)


_NOT_CHANGED = "the front matter of the skill that is kept is not changed"
_TRIGGER = "agents choose a skill by its description, so add to the kept skill's when else to use it"


def _fields(data: bytes) -> Mapping[str, str]:
    lines = front_lines(data.decode("utf-8", "replace")) or ()
    return {key: fold(scalar(value, rest)) for key, value, rest in entries(lines)}
