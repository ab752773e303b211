"""A git repository that was made once, copied: as good as one that git has made there, without a process."""

from __future__ import annotations

import hashlib
import shutil
import struct
from pathlib import Path

_STAT = struct.Struct("!10I")  # gitformat-index(5): times of change, of content, device, inode, mode, owners, size
_FIXED = 62  # bytes before a file's name
_DIGEST = 20


def copy_repository(kept: Path, root: Path) -> None:
    """Copy a work tree with its repository; its index knows the copies as it knew the files."""
    shutil.copytree(kept, root, symlinks=True)
    know_files(root)


def know_files(root: Path) -> None:
    """Write into the index of a copied work tree what the system says of its files: `git update-index --refresh`.

    A file with another time or size than the index has stays unknown, which `git status` looks into.
    """
    path = root / ".git/index"
    data = bytearray(path.read_bytes())
    kind, version, count = struct.unpack_from("!4s2I", data)
    digest = hashlib.sha1(data[:-_DIGEST], usedforsecurity=False).digest()
    assert (kind, version, digest) == (b"DIRC", 2, bytes(data[-_DIGEST:])), "an index of another format"
    start = 12
    for _ in range(count):
        end = data.index(0, start + _FIXED)
        known, file = _STAT.unpack_from(data, start), root / bytes(data[start + _FIXED : end]).decode()
        found = file.lstat()
        if known[2:4] == divmod(found.st_mtime_ns, 10**9) and known[9] == found.st_size:
            changed = divmod(found.st_ctime_ns, 10**9)
            numbers = (
                *changed,
                *known[2:4],
                found.st_dev,
                found.st_ino,
                known[6],
                found.st_uid,
                found.st_gid,
                known[9],
            )
            _STAT.pack_into(data, start, *(number & 0xFFFFFFFF for number in numbers))
        start += (end - start) // 8 * 8 + 8
    data[-_DIGEST:] = hashlib.sha1(data[:-_DIGEST], usedforsecurity=False).digest()
    path.write_bytes(data)
