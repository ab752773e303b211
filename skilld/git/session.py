"""What one command or job keeps of git until it ends. Imports nothing, because many need no git."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from skilld.values import value_class

if TYPE_CHECKING:
    from pathlib import Path

    from skilld.git.run import Git

T = TypeVar("T")


@value_class
class SharedState:
    """The git processes and answers that one command of the person's, or one job, keeps until its end.

    `silent` are the folders in which git did not answer in time: it gets little time there from then on.
    """

    silent: set[Path] = field(default_factory=set)
    readers: list[Git] = field(default_factory=list)
    cache: dict[Any, Any] = field(default_factory=dict)


_SHARED: ContextVar[SharedState | None] = ContextVar("command", default=None)


@contextmanager
def shared_git() -> Iterator[None]:
    """Open repositories once until the block ends, and read each one's objects from one process.

    A repository's location, settings and that process are kept; its refs are read again each time. A nested block is
    part of the outer one.
    """
    if _SHARED.get() is not None:
        yield
        return
    command = SharedState()
    token = _SHARED.set(command)
    try:
        yield
    finally:
        _SHARED.reset(token)
        for git in command.readers:
            git.close()


def cached(key: object, make: Callable[[], T]) -> T:
    """Return the result of `make`; within `shared_git` it is called once for each key."""
    command = _SHARED.get()
    if command is None:
        return make()
    if key not in command.cache:
        command.cache[key] = make()
    found: T = command.cache[key]
    return found


def current_session() -> SharedState | None:
    """Return what the block of `shared_git` keeps; None outside of one."""
    return _SHARED.get()
