"""Writes files atomically, checks who else can change them, finds programs, and quotes paths for a shell."""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

_MAX_BYTES = 16 << 20


def write_atomically(
    path: Path, data: bytes | Iterable[bytes], mode: int, check: Callable[[], object] | None = None
) -> None:
    """Replace the file at `path`, which must not be a link, with `data`; a crash leaves the old file or the new one.

    `check` is called before the final rename; if it raises, nothing has changed. Raises OSError, also for a device or
    a pipe: a rename would remove it.
    """
    import tempfile  # it and shutil take 4 ms, which every command would pay

    descriptor, name = tempfile.mkstemp(prefix=".skilld-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        if check is not None:
            check()
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_regular(path: Path, limit: int, *, links: bool = True) -> tuple[bytes, os.stat_result]:
    """Return the bytes and the facts of a regular file; with `links`, follow links. Never blocks on a pipe.

    Raises OSError if it cannot be read, ValueError if it is not a regular file or has more than `limit` bytes.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("it is not a regular file")
        if facts.st_size > limit:
            raise ValueError(f"it is {facts.st_size} bytes; the limit is {limit}")
        return file.read(limit), facts


def read_start(path: Path, limit: int, *, skip: int = 0) -> bytes:
    """Return at most `limit` bytes of a regular file after the first `skip`.

    Raises OSError, also for a pipe or a device.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        file.seek(skip)
        return file.read(limit)


def read_whole(path: str | Path) -> bytes:
    """Return the bytes of a file as `read_regular` does, for a path that may have changed since it was checked.

    Raises OSError, also for a pipe, a device or more than 16 MiB.
    """
    try:
        return read_regular(Path(path), _MAX_BYTES)[0]
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from error


def exposure_reason(facts: os.stat_result, *, secret: bool) -> str | None:
    """Return why others can change a file, or read it if it contains a `secret`; None if they cannot.

    A file of root that nobody else may write is trusted: some systems manage settings that way.
    """
    mode = stat.S_IMODE(facts.st_mode)
    if facts.st_uid not in {os.geteuid(), 0}:
        return "belongs to another user"
    if mode & 0o022:
        return "can be changed by other users"
    return "contains an API key and can be read by other users" if secret and mode & 0o044 else None


def file_stamp(path: str | Path) -> tuple[int, ...]:
    """Return what changes whenever a file or its mode does: times, size and inode. Empty if there is no such file."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - a string too: this runs for every turn
    except (OSError, ValueError):
        return ()
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino


def free_bytes(folder: Path) -> int:
    """Return how many bytes can still be written to the disk of a folder."""
    facts = os.statvfs(folder)
    # Without free inodes nothing can be written either; a file system that does not count them has 0 of 0.
    return facts.f_bavail * facts.f_frsize if facts.f_favail or not facts.f_files else 0


def are_nested(one: str, other: str) -> bool:
    """Whether one folder is the other or within it, judged by their names; an empty name is no folder."""
    return bool(one and other) and (Path(one).is_relative_to(other) or Path(other).is_relative_to(one))


def below_home(path: str | Path, home: str | Path) -> str:
    """Return a path as people write it: with `~` for the home folder."""
    inside = f"{path}/".startswith(f"{home}/")
    return f"~{str(path)[len(str(home)) :]}" if inside else str(path)


def shell_quoted(path: Path | str) -> str:
    """Return a path, or another word, quoted for a command to copy: on macOS the path of skilld's folders has a blank.

    A newline or another control character is written as an escape, which shells but the plainest (dash) understand.
    """
    text = str(path)
    if text.isprintable():
        return shlex.quote(text)
    shown = (
        one if one.isprintable() and one not in "\\'" else "".join(map(r"\x{:02x}".format, os.fsencode(one)))
        for one in text
    )
    return f"$'{''.join(shown)}'"


def shell_command(words: Iterable[str]) -> str:
    """Return a command as a person can copy it, each word as `shell_quoted`: on one line, whatever a path has."""
    return " ".join(map(shell_quoted, words))


def denied_place(path: Path) -> Path:
    """Return what keeps the person from `path`: the outermost folder above it that cannot be entered, or it itself."""
    above = (folder for folder in reversed(path.parents) if os.path.lexists(folder))
    return next((folder for folder in above if not os.access(folder, os.X_OK)), path)


def access_remedy(path: Path, mode: str, *, inside: bool = False) -> str:
    """Return what gives the person access to a file or folder again, where it may have a wrong owner or mode.

    `mode` is what `chmod` should set; empty if only the owner is wrong. With `inside`, the owner is also wrong of what
    is in the folder. Root must not take over what is another's.
    """
    chmod = f"chmod {mode} {shell_quoted(path)}" if mode else ""
    try:
        owner = path.stat().st_uid
        is_read_only = os.statvfs(path).f_flag & os.ST_RDONLY
    except OSError:
        return chmod
    if is_read_only:
        return "Its file system is read-only: mount it so that it can be written, or move skilld's folder."
    if owner == os.geteuid():
        return chmod
    if os.geteuid() == 0:
        return f"Run it as {user_name(owner)}, not as root."
    deep = "-R " if inside and path.is_dir() else ""
    return " && ".join(filter(None, (f'sudo chown {deep}"$USER" {shell_quoted(path)}', chmod)))


def user_name(number: int) -> str:
    """Return the name of a user, or their number if they have none here."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


class FileFacts(NamedTuple):
    """The facts that identify a transcript and its state, named as in `os.stat_result`."""

    st_dev: int
    st_ino: int
    st_size: int
    st_mtime: float


def find_program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program, None if no absolute folder of PATH contains it."""
    from shutil import which

    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    return which(name, path=os.pathsep.join(folder for folder in folders if folder.startswith("/")))


def first_program(names: Iterable[str], environment: Mapping[str, str]) -> Path | None:
    """Return the path of the first of these programs on PATH, with links resolved; None if there is none."""
    return next((Path(path).resolve() for name in names if (path := find_program(name, environment))), None)
