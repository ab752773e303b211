"""Which sort of file system holds a file: SQLite's write-ahead log does not work over a network.

Source: https://sqlite.org/wal.html, "All processes using a database must be on the same host computer"; proc(5).
"""

from __future__ import annotations

import re
from pathlib import Path

_TABLE = Path("/proc/self/mountinfo")
_REMOTE = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
    }
)
_REMOTE_PROGRAMS = "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs"
_ESCAPED = re.compile(r"\\([0-7]{3})")


def is_remote(path: Path) -> bool:
    """Whether a file lies on a network file system; False where the system does not tell (macOS)."""
    try:
        mounts = _TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    kind = kind_of(path.resolve(), mounts)
    return kind in _REMOTE or kind.startswith(_REMOTE_PROGRAMS)


def kind_of(path: Path, mounts: str) -> str:
    """Return the type of the file system that holds a real path, by a table as in /proc/self/mountinfo."""
    found, depth = "", -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:  # noqa: PLR2004 - the mount point is the fifth
            point = Path(_ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4]))
            if path.is_relative_to(point) and len(point.parts) >= depth:  # a later one lies over an earlier one
                found, depth = after.split(" ")[0], len(point.parts)
    return found
