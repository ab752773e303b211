"""Loaded by every Python that has this folder in PYTHONPATH: freezes the reading of transcripts while a file is there.

The rest of the process goes on. PYTHONFROZEN names the file.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from pathlib import Path

from skilld.ingest import tail

_read_new = tail.read_new


def _frozen(path: Path, cursor: tail.Cursor | None) -> AbstractContextManager[tail.FileRead]:
    if Path(os.environ["PYTHONFROZEN"]).exists():
        threading.Event().wait()
    return _read_new(path, cursor)


tail.__dict__["read_new"] = _frozen
