"""Lines of a Claude Code transcript with given ids and times, for tests of bytes, offsets and copies."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from skilld.clock import rfc3339

BEFORE = "2026-03-01T10:00:00.000Z"  # said before skilld came
AFTER = rfc3339(time.time())  # not long before: a first start in the same test is a little later


def prompt_line(key: str, text: str = "always use tabs", *, session: str = "s1", at: str = AFTER, **more: Any) -> bytes:
    """Return the line of a prompt that a person typed, with its newline."""
    record = {
        "type": "user",
        "uuid": key,
        "sessionId": session,
        "timestamp": at,
        "isSidechain": False,
        "entrypoint": "cli",
        "version": "2.1.197",
        "cwd": "/somewhere",
        "origin": {"kind": "human"},
        "message": {"role": "user", "content": text},
    }
    return json.dumps(record | more).encode() + b"\n"


OLD_VERSION = "2.1.33"  # a version that delivers in mid-turn without a record: the end of the wait is all that tells


def enqueued_line(text: str, *, session: str = "s1", at: str = AFTER) -> bytes:
    """Return the line of a prompt that waits in the client's queue: whether it is a turn, a later line says."""
    record = {"type": "queue-operation", "operation": "enqueue", "content": text, "sessionId": session, "timestamp": at}
    return json.dumps(record).encode() + b"\n"


def dequeued_line(*, session: str = "s1") -> bytes:
    """Return the line by which an OLD client says that it delivered a prompt of its queue."""
    record = {"type": "queue-operation", "operation": "remove", "sessionId": session, "timestamp": AFTER}
    return json.dumps(record).encode() + b"\n"


def session_end_line(*, session: str = "s1") -> bytes:
    """Return the line by which the client says that the session is over."""
    return json.dumps({"type": "ended", "sessionId": session, "timestamp": AFTER}).encode() + b"\n"


def write_transcript(path: Path, *lines: bytes, mtime: float | None = None) -> Path:
    """Write a file of these lines, with a modification time if one is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    return path


def append_lines(path: Path, *lines: bytes) -> None:
    """Append lines to a file."""
    with path.open("ab") as file:
        file.write(b"".join(lines))
