"""A small disk of its own for some folder, filled to the last byte; and what a process has read."""

from __future__ import annotations

from pathlib import Path

MOUNT = "mount -t tmpfs -o size={size},mode=700 tmpfs {folder}"
PROBE = MOUNT.format(size="1m", folder="/tmp")  # noqa: S108 - a mount nobody else sees
TRIED = 3_000_000  # bytes: a transcript of this size is seen in what a process has read


def fill(folder: Path) -> Path:
    """Leave no byte of room where `folder` is; returns the file to be removed for that."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


def has_read(process: int) -> int:
    """Return how many bytes a process has read so far."""
    facts = dict(line.split(": ") for line in Path(f"/proc/{process}/io").read_text().splitlines())
    return int(facts["rchar"])
