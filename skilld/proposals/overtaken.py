"""Proposals that others made pointless: their line has changed since, or another one says the same. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skilld.git.same_project import is_same_file
from skilld.proposals.model import REMEDY_PREFIX, said_updates
from skilld.types import Kind, Op, Operation, Proposal


def find_overtaken(newer: Proposal, others: Iterable[Proposal]) -> list[Proposal]:
    """Return the open proposals that only reword lines that `newer` removes, so that both cannot be accepted.

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


def find_said(accepted: Proposal, others: Iterable[Proposal]) -> list[Proposal]:
    """Return the open proposals that only add to the same file what the lines of an `accepted` one say there."""
    text = "\n".join(one.text for one in accepted.operations)
    same = [one for one in others if is_same_file(one.path, accepted.path) and adds_rules(one)]
    if not (same and text):
        return []
    from skilld.classify.said_already import find_line  # takes time to load, and is rarely needed

    return [one for one in same if all(find_line(update, text) for update in said_updates(one))]


_ADDING = {Op.INSERT_AFTER, Op.CREATE}
_NO_RULE_OF_ITS_OWN = {Kind.CHANGE_STEP, Kind.REMOVE_STEP}


def adds_rules(proposal: Proposal) -> bool:
    """Whether all that a proposal does is to add rules which the person said to its file."""
    adds = all(one.op in _ADDING for one in proposal.operations) and not proposal.also
    rules = [] if proposal.batch_id.startswith(REMEDY_PREFIX) or not proposal.updates else said_updates(proposal)
    return adds and bool(rules) and not any(one.kind in _NO_RULE_OF_ITS_OWN for one in rules)


def find_rival(newer: Proposal, others: Iterable[Proposal]) -> Proposal | None:
    """Return an open proposal that changes a line that `newer` also changes; None if there is none."""
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
