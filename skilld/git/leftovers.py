"""Objects that a git which was killed, or found no room, began to write: `tmp_obj_*` files that nothing ever reads.

Git itself leaves them for two weeks. A folder of objects enters, the files that were removed leave.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_FOLDER = re.compile(r"[0-9a-f]{2}")
_BEGUN = "tmp_obj_"
_PROCESSES = Path("/proc")
_SURELY = 3600.0  # seconds: older than what any process still writes, where it cannot be seen who does


def remove_begun_objects(objects: Path, older_than: float) -> list[Path]:
    """Remove our own files of that kind that nobody wrote to for so many seconds and no process has open."""
    found = {path: facts for path in _begun(objects) if (facts := _facts(path)) is not None}
    seen = _PROCESSES.is_dir()
    before = time.time() - (older_than if seen else max(older_than, _SURELY))
    old = [path for path, facts in found.items() if facts.st_mtime <= before]
    held = _open_files() if old and seen else set()
    removed = [path for path in old if (found[path].st_dev, found[path].st_ino) not in held]
    for path in removed:
        with suppress(OSError):
            path.unlink()
    return removed


def _begun(objects: Path) -> Iterator[Path]:
    with suppress(OSError):
        for entry in os.scandir(objects):
            if entry.name.startswith(_BEGUN):
                yield Path(entry.path)
            elif _FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    yield from (Path(one.path) for one in os.scandir(entry.path) if one.name.startswith(_BEGUN))


def _facts(path: Path) -> os.stat_result | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() else None


def _open_files() -> set[tuple[int, int]]:
    """Return device and inode of what processes have open, as far as we may see."""
    found = set()
    for process in _PROCESSES.glob("[0-9]*/fd"):
        with suppress(OSError):
            for name in os.listdir(process):  # noqa: PTH208 - names, not paths
                with suppress(OSError):
                    facts = os.stat(process / name)  # noqa: PTH116 - the open file, not the link
                    found.add((facts.st_dev, facts.st_ino))
    return found
