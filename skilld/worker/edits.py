"""Verified updates of one skill to operations and new bytes, checked once more in code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.classify.backends import Backend
from skilld.classify.support import adds_only
from skilld.classify.verify import Checked
from skilld.edit.from_file import operations_from
from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.edit.place import insert_bullet
from skilld.errors import RefusedError, SkilldError
from skilld.types import Kind, Op, Operation, Update
from skilld.worker.documents import Loaded

# Kinds that only add: where a model's anchors do not fit, the verified change can be placed by code.
_ADDS = frozenset({Kind.ADD_STEP, Kind.PREFERENCE, Kind.CORRECTION, Kind.FACT})


@dataclass(frozen=True, slots=True)
class Composed:
    """An edit that passed: what to do, what comes of it, and what a person should look at before accepting."""

    operations: tuple[Operation, ...]
    after: bytes
    flags: tuple[str, ...]


def compose(backend: Backend, checked: Sequence[Checked], loaded: Loaded, typed: str) -> Composed:
    """Return the edit that puts the updates into the skill; `typed` is everything the person typed in their turns.

    Raises RefusedError where the edit would do what no edit may, SkilldError where none could be made.
    """
    updates = [item.update for item in checked]
    operations = _together(backend, updates, loaded) if backend.together else _one_by_one(backend, updates, loaded)
    return check(operations, checked, loaded, typed)


def check(operations: Sequence[Operation], checked: Sequence[Checked], loaded: Loaded, typed: str) -> Composed:
    """Return what the operations come to, or raise as `compose` does where they may not be proposed."""
    after = apply(loaded.data, operations)
    ground = "\n".join([typed, loaded.doc.text, *(item.update.change for item in checked)])
    if not all(adds_only(operation.text, ground) for operation in operations):
        raise RefusedError("The edit was not made", "it says more than the person did")
    flags = ["taken from the agent's offer"] if any(item.by_assent for item in checked) else []
    for finding in lint(loaded.data, after, typed):
        if finding.verdict == "refuse":
            raise RefusedError("The edit was not made", finding.sentence)
        flags.append(finding.sentence)
    return Composed(tuple(operations), after, tuple(dict.fromkeys(flags)))


def _together(backend: Backend, updates: Sequence[Update], loaded: Loaded) -> list[Operation]:
    suggestion = backend.edit(updates, loaded.doc)
    try:
        operations = operations_from(loaded.data, suggestion) if isinstance(suggestion, str) else suggestion
        apply(loaded.data, operations)
    except SkilldError:
        if not all(update.kind in _ADDS for update in updates):
            raise
        return placed(updates, loaded.data)
    return operations


def _one_by_one(backend: Backend, updates: Sequence[Update], loaded: Loaded) -> list[Operation]:
    operations: list[Operation] = []
    data = loaded.data
    for update in updates:
        suggestion = backend.edit([update], replace(loaded.doc, text=data.decode("utf-8-sig")))
        steps = suggestion if isinstance(suggestion, list) and suggestion else placed([update], data)
        data = apply(data, steps)
        operations += steps
    return operations


def placed(updates: Sequence[Update], data: bytes) -> list[Operation]:
    """Return the operations that put each change into its section word for word."""
    operations: list[Operation] = []
    for update in updates:
        operation = insert_bullet(data, update.section, update.change)
        data = apply(data, [operation])
        operations.append(operation)
    return operations


def removes(operations: Sequence[Operation]) -> bool:
    """Whether an edit takes something away: such a proposal is never applied without a person."""
    return any(operation.op is not Op.INSERT_AFTER for operation in operations)
