"""Proposals as JSON between daemon, worker and command line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from skilld.types import Evidence, Kind, Op, Operation, Proposal, State


def proposal_to_json(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as JSON-able values."""
    return asdict(proposal)


def proposal_from_json(item: Mapping[str, Any]) -> Proposal:
    """Return the proposal of such values. Raises KeyError, TypeError or ValueError where they are not one."""
    values = dict(item)
    values["state"] = State(values["state"])
    values["kind"] = Kind(values["kind"])
    values["operations"] = operations_from_json(values["operations"])
    values["evidence"] = tuple(Evidence(e["turn"], e["quote"]) for e in values["evidence"])
    values["flags"] = tuple(values["flags"])
    return Proposal(**values)


def operations_from_json(items: Iterable[Mapping[str, str]]) -> tuple[Operation, ...]:
    """Return the operations of such values. Raises as `proposal_from_json` does."""
    return tuple(Operation(Op(item["op"]), item["anchor"], item["text"]) for item in items)
