"""Moving a folder, also onto another device, so that a crash at any moment leaves it whole in at least one place."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from skilld.errors import RefusedError


def move(source: Path, target: Path) -> None:
    """Move the folder `source` to the path `target`, where nothing is and whose parent exists.

    Onto another device it is copied, written through and compared before the first file of the old place goes. Raises
    OSError, and RefusedError where a file changed meanwhile; the source is then as it was.
    """
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, target)
        remove(source)
    else:
        _sync(source.parent)
        _sync(target.parent)


def remove(folder: Path) -> None:
    """Remove a folder that has been copied. It goes under a hidden name first: half of it is never taken for it.

    What cannot be removed then stays there: the copy is whole, so that is no failure of the move.
    """
    hidden = going(folder)
    if hidden.exists():
        shutil.rmtree(hidden)  # of an earlier, interrupted move
    folder.rename(hidden)
    _sync(folder.parent)
    shutil.rmtree(hidden, ignore_errors=True)


def going(folder: Path) -> Path:
    """Return where a folder is while it is being removed."""
    return folder.with_name(f".skilld-moved-{folder.name}")


def same(one: Path, other: Path) -> bool:
    """Whether two folders hold the same files with the same bytes, links and permissions."""
    return _content(one) == _content(other)


def _copy(source: Path, target: Path) -> None:
    copy = target.with_name(f".skilld-copying-{target.name}")
    if copy.exists():
        shutil.rmtree(copy)
    before = _content(source)
    try:
        shutil.copytree(source, copy, symlinks=True)
    except OSError as error:
        shutil.rmtree(copy, ignore_errors=True)
        if isinstance(error, shutil.Error):  # one for each file: (from, to, what the first error said)
            said = str(error.args[0][0][2])
            raise OSError(errno.EIO, said.partition("] ")[2].partition(":")[0] or said) from error
        raise
    for path in (*copy.rglob("*"), copy):
        if not path.is_symlink():
            _sync(path)
    if _content(copy) != before or _content(source) != before:
        shutil.rmtree(copy)
        raise RefusedError("The skill was not moved", f"{source} was changed by someone else meanwhile")
    copy.rename(target)
    _sync(target.parent)


def _content(folder: Path) -> list[tuple[str, int, str]]:
    """Return every file, folder and link below a folder: name, mode, and the digest of what it holds."""
    return sorted((str(path.relative_to(folder)), path.lstat().st_mode, _held(path)) for path in _below(folder))


def _below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        yield from (Path(here) / name for name in (*folders, *files))


def _held(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return str(path.readlink())
    if stat.S_ISREG(mode):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
