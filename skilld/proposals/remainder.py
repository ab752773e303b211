"""What is left of a proposal whose parts a person decides on one after another: it has an ID of its own."""

from __future__ import annotations

from itertools import dropwhile

from skilld.store import Store
from skilld.types import Proposal, State


def open_remainder_id(store: Store, proposal: Proposal) -> str:
    """Return the ID of the proposal with the undecided parts of a decided one; empty if there are none.

    A batch makes one proposal for a file, whose ID stays with the parts that are decided on first. The others are
    stored after it.
    """
    if proposal.state is State.OPEN:
        return ""
    return next((one.id for one in _split_off(store, proposal) if one.state is State.OPEN), "")


def _split_off(store: Store, proposal: Proposal) -> list[Proposal]:
    """Return the proposals with the parts of one that it left, in the order in which they were stored."""
    same = proposal.batch_id, proposal.path
    found = [one for one in store.proposals.in_states([*State], proposal.repo) if (one.batch_id, one.path) == same]
    return [*dropwhile(lambda one: one.id != proposal.id, found)][1:]


def rest_of_rejected(store: Store, proposal: Proposal) -> list[Proposal]:
    """Return what is left of a proposal if a part of it was rejected under its ID: what is undecided, else the others.

    Nothing if nothing was split off it, or if all of that was rejected, too.
    """
    parts = _split_off(store, proposal) if proposal.state is State.REJECTED else []
    wanted = [one for one in parts if one.state is not State.REJECTED]
    return [one for one in wanted if one.state in {State.OPEN, State.DROPPED, State.STALE}] or wanted


def describe_remainder(store: Store, proposal: Proposal) -> str:
    """Return a sentence if parts of a decided proposal are still open under another ID; empty if none are."""
    name = open_remainder_id(store, proposal)
    return f"the rest of it is still open as {name}" if name else ""
