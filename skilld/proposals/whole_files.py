"""Files in a work tree, each written completely or not at all; it only replaces the bytes that were read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from skilld.errors import RefusedError, cause_of
from skilld.files import read_regular, write_atomically
from skilld.git.attributes import is_pointer

_MAX_BYTES = 1 << 26  # far more than an edit may produce


def read_file(path: Path) -> bytes:
    """Return the bytes of a plain file; a link, a device or a missing file is refused."""
    try:
        data = read_regular(path, _MAX_BYTES, links=False)[0]
    except OSError as error:
        raise RefusedError("Could not change the file", f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise RefusedError("Could not change the file", f"{path} {str(error).removeprefix('it ')}") from error
    if is_pointer(data):
        cause = f"{path} is a Git LFS pointer, not the text itself"
        raise RefusedError("Could not change the file", cause, "Fetch the text: git lfs pull")
    return data


def _write_failure(verb: str, path: Path, error: OSError) -> tuple[str, str, str]:
    """Return title, cause and remedy of a change to a file that the system refused."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    remedy = "Free some space there." if full else f"Make the folder writable: {path.parent}"
    return f"Could not {verb} the file", f"{path} cannot be {verb}d: {cause_of(error)}", remedy


def replace_file(path: Path, old: bytes, new: bytes) -> None:
    """Replace a file's bytes, keeping its mode.

    Raises RefusedError if the file no longer holds `old`, or cannot be written.
    """

    def unchanged() -> None:
        if read_file(path) != old:
            raise RefusedError("Could not change the file", f"another program changed {path} in the meantime")

    try:
        write_atomically(path, new, stat.S_IMODE(path.lstat().st_mode), unchanged)
    except OSError as error:
        raise RefusedError(*_write_failure("change", path, error)) from error


def create_file(path: Path, data: bytes) -> None:
    """Create a file and the folders above it, with the permissions of its folder.

    Raises RefusedError and leaves no folder behind if something already exists there or a link is on the way.
    """
    if path.resolve() != path:
        raise RefusedError("Could not create the file", f"{path} is reached through a symlink")

    def free() -> None:
        if os.path.lexists(path):
            raise RefusedError("Could not create the file", f"{path} already exists")

    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        free()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data, stat.S_IMODE(path.parent.stat().st_mode) & 0o666, free)
    except OSError as error:
        _remove_empty(missing)
        raise RefusedError(*_write_failure("create", path, error)) from error
    except RefusedError:
        _remove_empty(missing)
        raise


def remove_file(path: Path, data: bytes, top: Path) -> None:
    """Remove a file that still holds `data`, and the folders above it that are empty then, up to below `top`."""
    if read_file(path) != data:
        raise RefusedError("Could not remove the file", f"another program changed {path} in the meantime")
    try:
        path.unlink()
    except OSError as error:
        raise RefusedError(*_write_failure("remove", path, error)) from error
    _remove_empty(folder for folder in path.parents if folder != top and folder.is_relative_to(top))


def read_if_there(path: Path) -> bytes | None:
    """Return what `read_file` does, None if there is nothing at the path."""
    return read_file(path) if os.path.lexists(path) else None


def write_file(path: Path, old: bytes | None, new: bytes | None, top: Path) -> None:
    """Create, replace or remove a file, as the three functions above do; None: it does not exist."""
    if new is None and old is not None:
        remove_file(path, old, top)
    elif new is not None and old is None:
        create_file(path, new)
    elif new is not None and old is not None and new != old:
        replace_file(path, old, new)


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, innermost first, up to one that is not empty."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
