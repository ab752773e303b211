"""The errors of working with a repository, one class for each so that callers can tell them apart."""

from __future__ import annotations

import errno
import os
import re

from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.files import shell_quoted

_LOCK_PATTERN = re.compile(r"Unable to create '([^'\n]{1,4096}\.lock)': File exists")


_DISK_ERRORS = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS))
_DISK_REMEDY = "Check the repository's permissions and its disk."


def known_remedy(stderr: str) -> str:
    """Return what to do about an error of git's: a lock that it could not take, a disk; empty if unknown."""
    if lock := _LOCK_PATTERN.search(stderr):
        return f"If no other git process is running, delete the lock: rm {shell_quoted(lock[1])}"
    return _DISK_REMEDY if any(words in stderr for words in _DISK_ERRORS) else ""


class GitMissingError(SkilldError):
    """No git program is in an absolute folder of PATH."""


class GitFailedError(RetryError):
    """A git command ended with an unexpected status: the disk is full, the file system read-only, git was killed.

    `status` and `stderr` are git's own.
    """

    def __init__(self, title: str, status: int, stderr: str) -> None:
        super().__init__(title, stderr, known_remedy(stderr))
        self.status = status
        self.stderr = stderr


class GitTimeoutError(RetryError):
    """A git command did not end in time and was killed."""


class LostRaceError(RetryError):
    """A ref no longer had the value that was read: read it again and retry."""


class RefLockedError(RetryError):
    """Another program holds the lock of one of our refs, or of the index, and did not release it in time."""

    def __init__(self, title: str, what: str, stderr: str) -> None:
        super().__init__(title, f"another program holds {what}", known_remedy(stderr), after=60)


class RepoUnreadableError(RetryError):
    """A file of a repository exists but cannot be read now; this may be temporary."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__("Cannot read the repository", f"{path}: {why}", _DISK_REMEDY)


class RepoRefusedError(RefusedError):
    """The repository is in a state in which we do not write, or that we do not support."""


class NotTrackedError(RefusedError):
    """HEAD of a repository does not hold the skill: there is none, or the file is untracked, ignored or filtered.

    `reason` is a short stable word: `no-repository`, `no-commit`, `gone`, `untracked`, `filtered` or `ignored`.
    """

    def __init__(self, reason: str, cause: str, remedy: str = "") -> None:
        titles = {"no-repository": "Not in a git repository", "no-commit": "Cannot use this repository"}
        super().__init__(titles.get(reason, "Cannot edit this file"), cause, remedy)
        self.reason = reason


class StagingBusyError(RefusedError):
    """The staging branch is checked out, being rebased or bisected: we leave it to the person until they are done."""
