"""Errors with a title, a cause and one remedy. Imports nothing of skilld and nothing heavy.

Only the entry point prints them. An error without a known remedy has none instead of a guess.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command line (docs/architecture.md)."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    BUG = 3
    NOT_RUNNING = 4  # or already running
    REFUSED = 5
    INTERRUPTED = 130


class SkilldError(Exception):
    """An expected failure: `title` says what did not happen, `cause` why, `remedy` the one thing to do about it."""

    code = Exit.FAILURE

    def __init__(self, title: str, cause: str = "", remedy: str = "") -> None:
        super().__init__(": ".join(part for part in (title, cause) if part))
        self.title = title
        self.cause = cause
        self.remedy = remedy


def cause_of(error: Exception) -> str:
    """Return the reason for an error, in the system's own words if it has one."""
    return getattr(error, "strerror", None) or str(error) or "the system gave no reason"


class UsageError(SkilldError):
    """The command line or a setting is invalid."""

    code = Exit.USAGE


class RefusedError(SkilldError):
    """Not done because it could do harm; nothing was changed."""

    code = Exit.REFUSED


class NotRunningError(SkilldError):
    """No daemon is running, or one is already."""

    code = Exit.NOT_RUNNING


class RetryError(SkilldError):
    """A temporary failure (network, rate limit, lost race): the same job may succeed later.

    `after` is the number of seconds that the other side asked us to wait, if any.
    """

    def __init__(self, title: str, cause: str = "", remedy: str = "", after: float | None = None) -> None:
        super().__init__(title, cause, remedy)
        self.after = after
