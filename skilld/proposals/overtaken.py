"""Proposals about a line that the person has had more to say about since. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skilld.git.same_project import is_same_file
from skilld.proposals.model import REMEDY_PREFIX
from skilld.types import Kind, Op, Operation, Proposal


def find_overtaken(newer: Proposal, others: Iterable[Proposal]) -> list[Proposal]:
    """Return the open proposals that only reword lines which `newer` takes away, so that both cannot stand.

    One that skilld made itself, to have a rule followed, gives way to whatever the person says about its line; what
    they asked for themselves only to words that take the line back.
    """
    if not newer.updates or newer.batch_id.startswith(REMEDY_PREFIX):
        return []
    takes_back = any(update.kind is Kind.REMOVE_STEP for update in newer.updates)
    gone = removed_lines(newer.operations)
    return [
        one
        for one in others
        if is_same_file(one.path, newer.path)
        and (takes_back or one.batch_id.startswith(REMEDY_PREFIX))
        and all(_rewords(step, gone) for step in one.operations)
    ]


def find_rival(newer: Proposal, others: Iterable[Proposal]) -> Proposal | None:
    """Return an open proposal that changes a line which `newer` changes, too; None if there is none."""
    gone = removed_lines(newer.operations)
    same = (one for one in others if is_same_file(one.path, newer.path) and one.id != newer.id)
    return next((one for one in same if gone & removed_lines(one.operations)), None)


def takes_lines_of(newer: Proposal, older: Proposal) -> bool:
    """Whether a proposal takes a line away that an older one wrote into the same file."""
    wrote = {line for one in older.operations for line in one.text.split("\n")}
    return not wrote.isdisjoint(removed_lines(newer.operations)) and is_same_file(newer.path, older.path)


def _rewords(step: Operation, gone: set[str]) -> bool:
    removed = removed_lines([step])
    return step.op is Op.REPLACE and bool(removed) and removed <= gone


def removed_lines(operations: Sequence[Operation]) -> set[str]:
    """Return the lines that operations take out of a file as they are."""
    steps = (one for one in operations if one.op in {Op.REPLACE, Op.DELETE})
    return {line for one in steps for line in one.anchor.split("\n") if line.strip()} - {
        line for one in operations for line in one.text.split("\n")
    }
