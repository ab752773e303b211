"""Merges one skill into another that is kept. Pure.

Two SKILL.md files in, operations on the one to keep out, and every line that is left out with the reason. Nothing is
reworded: each operation carries over lines of the other file, so that a person can accept some of them. What exceeds
the limits of one edit is left to the next merge.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.edit.change import Severity
from skilld.edit.insertion_point import quote_mentions
from skilld.edit.lint import lint
from skilld.edit.operations import MAX_CHANGED_CHARACTERS, MAX_CHANGED_LINES, apply
from skilld.errors import RefusedError, SkilldError
from skilld.library.merge_places import Ground, Neighbour, Spot, Wanted, operations_for
from skilld.library.merge_sorting import Omission, sort_passages
from skilld.library.passages import Passage, plain_text
from skilld.markdown.skill_file import parse
from skilld.skills.spec import entries, front_lines, read_front, scalar
from skilld.text import Redact, fold
from skilld.types import Op, Operation
from skilld.values import value_class

MERGED_FROM = "skilld-merged-from"
# Of a skill beside the one that took it, the mark has the folder's name; of any other, the way to its folder from the
# folder of skills. By name alone, a skill of the same name elsewhere would count as merged too.
NO_MARK_FLAG = "the front matter cannot record where these lines come from"
MAX_ROUNDS = 5  # of one pair of skills, one after the other
NEXT_TIME = "it exceeds the limits of one proposal; once you have accepted this one, run skilld consolidate again"


def origin_entry(keep: Path, away: Path) -> str:
    """Return how the mark of the SKILL.md `keep` names the skill `away`, another SKILL.md."""
    return Path(os.path.relpath(away.parent, keep.parent.parent)).as_posix()


def merged_files(keep: Path, mark: str) -> frozenset[Path]:
    """Return the paths of the SKILL.md files that the mark of the skill `keep` names."""
    names = filter(None, (name.strip() for name in mark.split(",")))
    return frozenset(Path(os.path.normpath(keep.parent.parent / name)) / keep.name for name in names)


@value_class
class Merge:
    """What one skill takes from another; no operations if it already says everything.

    The operations, what they carry over, what a person should look at, and what is left out.
    """

    operations: tuple[Operation, ...] = ()
    carried: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    left: tuple[Omission, ...] = ()


def merge_skills(keep: bytes, away: bytes, name: str, redact: Redact, decided: frozenset[str] = frozenset()) -> Merge:
    """Return what the skill `keep` takes from `away`, called `name` in the mark. `redact` removes secrets.

    Passages all of whose lines are `decided` were offered before, and are left out.

    Raises SkilldError if one of them cannot be parsed, the kept one has no text, or it would take more than MAX_ROUNDS.
    """
    for data in (keep, away):
        parse(data)
    if not any(line.key for line in parse(keep).body):
        raise SkilldError(
            "The merge was not proposed", "the skill that would be kept has no text below its front matter"
        )
    merger = _Merger(keep, away, redact, decided)
    merger.run()
    left = [*merger.left, *_front_matter_omissions(keep, away), *merger.same]
    made = replace(merger.made, left=tuple(Omission(redact(one.what), redact(one.why)) for one in left))
    return _with_origin_mark(made, keep, name) if made.operations else made


class _Merger:
    """Carries the passages of one skill over to another, one after the other."""

    def __init__(self, keep: bytes, away: bytes, redact: Redact, decided: frozenset[str]) -> None:
        self.keep, self.data = keep, keep
        self.source = away.decode("utf-8-sig")
        self.sorted = sort_passages(keep.decode("utf-8-sig"), self.source, redact, decided)
        self.left, self.same = list(self.sorted.left), list(self.sorted.same)
        self.made = Merge()
        self.texts = [row.near for row in self.sorted.rows]  # that stand for the passages in the kept skill
        self.done: set[str] = set()  # texts that were carried or replaced

    def run(self) -> None:
        """Carry over what has a section in the kept skill, then each new section, as much as one edit may."""
        ground = Ground(self.keep)
        groups: dict[tuple[bool, object], list[tuple[int, Passage]]] = {}
        for number, row in enumerate(self.sorted.rows):
            if row.rest is not None:
                path = row.passage.path
                is_new = bool(path) and ground.section(path) is None
                groups.setdefault((is_new, path[0] if is_new else number), []).append((number, row.rest))
        waiting: list[Passage] = []
        for _, rows in sorted(groups.items(), key=lambda one: one[0][0]):
            done = 0 if waiting else self._add_group(rows)
            waiting += [passage for _, passage in rows[done:]]
        self.left += [Omission(one.text, NEXT_TIME) for one in waiting]
        lines, size = sum(len(one.lines) for one in waiting), sum(len(one.text) for one in waiting)
        if lines > (MAX_ROUNDS - 1) * MAX_CHANGED_LINES or size > (MAX_ROUNDS - 1) * MAX_CHANGED_CHARACTERS:
            raise SkilldError(
                "The merge was not proposed",
                f"it would take more than {MAX_ROUNDS} proposals, which is too many to review",
            )

    def _add_group(self, rows: Sequence[tuple[int, Passage]]) -> int:
        """Carry over what belongs together; return how many are done with. What fits an edit alone is not parted."""
        before = self.data, self.made, [*self.texts], {*self.done}, [*self.left], [*self.same]
        for at, (number, passage) in enumerate(rows):
            try:
                self._add(number, passage)
            except SkilldError as error:
                if isinstance(error, RefusedError) and self.made.operations:
                    if not before[1].operations:
                        return at
                    self.data, self.made, self.texts, self.done, self.left, self.same = before
                    return 0
                self.left.append(Omission(passage.text, error.cause or error.title))
        return len(rows)

    def _add(self, number: int, passage: Passage) -> None:
        row = [Neighbour(one.passage, text) for one, text in zip(self.sorted.rows, self.texts, strict=True)]
        wanted = Wanted(passage, row[:number][::-1], row[number + 1 :], frozenset(self.done), self.texts[number])
        trouble = SkilldError("Not carried over", "the kept skill has no place for it")
        for operation, spot in operations_for(wanted, Ground(self.data)):
            try:
                self._extend(operation, spot, passage)
            except RefusedError:
                raise
            except SkilldError as error:
                trouble = error
                continue
            self._record(number, passage, spot)
            return
        raise trouble

    def _extend(self, operation: Operation, spot: Spot | None, passage: Passage) -> None:
        """Add one more operation. Raises SkilldError if a line would be lost or a part not fit."""
        operations = (*self.made.operations, operation)
        after = apply(self.keep, operations)
        _check_nothing_lost(self.data, after, passage, spot.replaced if spot else "")
        findings = lint(self.data, after, self.source)
        if refused := next((found for found in findings if found.severity is Severity.REFUSE), None):
            raise SkilldError("Not carried over", refused.sentence)
        doubts = [spot.doubt] if spot and spot.doubt else []
        flags = dict.fromkeys((*self.made.flags, *doubts, *(found.sentence for found in findings)))
        carried = (*self.made.carried, (spot and spot.added) or passage.text)
        self.data, self.made = after, Merge(operations, carried, tuple(flags))

    def _record(self, number: int, passage: Passage, spot: Spot | None) -> None:
        self.done.add(passage.head)
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
        raise SkilldError("Not carried over", "it could only be added by replacing something else")


def _line_counts(lines: Iterator[str] | Sequence[str]) -> Counter[str]:
    return Counter(plain for line in lines if (plain := plain_text(line)))


def folder_omissions(files: Sequence[str], away_agents: Sequence[str], keep_agents: Sequence[str]) -> list[Omission]:
    """Return what is lost with the merged folder: its other files, and agents that see only that skill."""
    only = [agent for agent in away_agents if agent not in keep_agents]
    who = "this agent sees" if len(only) == 1 else "these agents see"
    unseen = [Omission(", ".join(only), f"{who} only the other skill, not the one that is kept")] if only else []
    return [*(Omission(name, "a file in the other skill's folder; files are not copied") for name in files), *unseen]


def _with_origin_mark(made: Merge, keep: bytes, name: str) -> Merge:
    """Record the merged skill in the front matter, if that permits it."""
    merged = read_front(keep.decode("utf-8", "replace")).metadata.get(MERGED_FROM, "")
    names = dict.fromkeys(filter(None, (*(one.strip() for one in merged.split(",")), name)))
    operations = (*made.operations, Operation(Op.MARK, MERGED_FROM, ", ".join(names)))
    try:
        apply(keep, operations)
    except SkilldError:
        return replace(made, flags=(*made.flags, NO_MARK_FLAG))
    return replace(made, operations=operations)


def _front_matter_omissions(keep: bytes, away: bytes) -> Iterator[Omission]:
    """Yield the front matter fields that the kept skill has not or has with another value."""
    mine, theirs = _fields(keep), _fields(away)
    for key, value in theirs.items():
        if key != "name" and value and mine.get(key) != value:
            yield Omission(f"{key}: {value}", _TRIGGER if key == "description" else _NOT_CHANGED)


_NOT_CHANGED = "the kept skill's front matter is not changed"
_TRIGGER = "agents choose a skill by its description, so add this use to the kept skill's description"


def _fields(data: bytes) -> Mapping[str, str]:
    lines = front_lines(data.decode("utf-8", "replace")) or ()
    return {key: fold(scalar(value, rest)) for key, value, rest in entries(lines)}
