"""Writing a SKILL.md in the work tree: whole or not at all, and only over the bytes that were read, or over nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from skilld.errors import RefusedError
from skilld.files import write_whole


def read(path: Path) -> bytes:
    """Return the bytes of a plain file; a link, a device or a missing file is refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise RefusedError("The skill is not changed", f"{path} cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RefusedError("The skill is not changed", f"{path} is no plain file")
        return file.read()


def replace(path: Path, old: bytes, new: bytes) -> None:
    """Put `new` in place of `old`, mode kept.

    Raises RefusedError when the file no longer holds `old`, or nothing can be written there.
    """

    def unchanged() -> None:
        if read(path) != old:
            raise RefusedError("The skill is not changed", f"{path} was changed by someone else meanwhile")

    try:
        write_whole(path, new, stat.S_IMODE(path.lstat().st_mode), unchanged)
    except OSError as error:
        raise RefusedError("The skill is not changed", f"{path} cannot be written: {error.strerror}") from error


def make(path: Path, data: bytes) -> None:
    """Make a file where nothing stands, as open to others as its folder, with the folders above it.

    Raises RefusedError, and leaves no folder behind, where something stands there or a link is on the way.
    """
    if path.resolve() != path:
        raise RefusedError("The skill is not made", f"{path} is reached through a link")

    def free() -> None:
        if os.path.lexists(path):
            raise RefusedError("The skill is not made", f"something stands at {path}")

    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        free()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, stat.S_IMODE(path.parent.stat().st_mode) & 0o666, free)
    except OSError as error:
        _remove_empty(missing)
        raise RefusedError("The skill is not made", f"{path} cannot be written: {error.strerror}") from error
    except RefusedError:
        _remove_empty(missing)
        raise


def remove(path: Path, data: bytes, top: Path) -> None:
    """Remove a file that still holds `data`, and the folders above it that are empty then, up to below `top`."""
    if read(path) != data:
        raise RefusedError("The skill is not removed", f"{path} was changed by someone else meanwhile")
    try:
        path.unlink()
    except OSError as error:
        raise RefusedError("The skill is not removed", f"{path} cannot be removed: {error.strerror}") from error
    _remove_empty(folder for folder in path.parents if folder != top and folder.is_relative_to(top))


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the innermost first, up to one that is not empty."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
