"""`skilld logs [-f]`: the daemon's log, from the journal or its file."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from skilld import console
from skilld.cli import common
from skilld.errors import UsageError

_JOURNAL = ("journalctl", "--user", "--unit=skilld.service", "--output=cat", "--no-pager", "--quiet")
_PAUSE = 0.5  # seconds between looks at a file that is followed
_COLOURS = {"warning": "yellow", "error": "red", "critical": "red"}
_SHOWN = ("timestamp", "level", "event")  # in this order; the rest follows


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "logs", run, "show the daemon's log: IDs, counts and times, never your words", listing=True
    )
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing new entries")
    parser.add_argument(
        "-n",
        "--lines",
        metavar="NUMBER",
        type=_number,
        default=50,
        help="how many entries to show (default: %(default)s)",
    )


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a whole number, at least 0")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    if arguments.json and arguments.follow:
        raise UsageError("Conflicting options", "--json prints one document, but --follow never ends")
    log = common.places().log
    in_journal = shutil.which(_JOURNAL[0]) is not None and bool(_journal(1))
    lines = _journal(arguments.lines) if in_journal else _last(log, arguments.lines)
    if arguments.json:
        return common.write_json([_entry(line) for line in lines])
    for line in lines:
        _print(line)
    if arguments.lines and not lines and not arguments.follow:
        console.line(
            f"The log is empty. Entries go to {console.plain(str(log))}, or to the journal if skilld runs as a service."
        )
    if arguments.follow:
        for line in _followed_journal() if in_journal else follow(log, lambda: time.sleep(_PAUSE)):
            _print(line)
            sys.stdout.flush()
    return 0


def _journal(number: int) -> list[str]:
    import subprocess

    done = subprocess.run([*_JOURNAL, f"--lines={number}"], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []


def _followed_journal() -> Iterator[str]:
    import subprocess

    command = [*_JOURNAL, "--follow", "--lines=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as journal:
        try:
            for line in journal.stdout or ():
                yield line.decode("utf-8", "replace").rstrip("\n")
        finally:
            journal.kill()


def _last(log: Path, number: int) -> list[str]:
    """Return the last lines of the log; those of the file before it too, where it was rotated just now."""
    found: deque[str] = deque(maxlen=number)
    for path in (log.with_name(f"{log.name}.1"), log):
        with suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
            found.extend(line.rstrip("\n") for line in file)
    return list(found)


def follow(log: Path, wait: Callable[[], None]) -> Iterator[str]:
    """Yield the lines that are written to a log from now on, also through rotations; `wait` passes some time."""
    file = _open(log)
    if file is not None:
        file.seek(0, os.SEEK_END)
    while True:
        wait()
        # Held open until it was read to its end, so that no other file gets its number.
        newer = _open(log)
        if file is not None:
            yield from _whole_lines(file)
        if newer is not None and (file is None or not os.path.sameopenfile(file.fileno(), newer.fileno())):
            file, newer = newer, file
            yield from _whole_lines(file)
        if newer is not None:
            newer.close()


def _open(log: Path) -> BinaryIO | None:
    try:
        return log.open("rb")
    except FileNotFoundError:
        return None


def _whole_lines(file: BinaryIO) -> Iterator[str]:
    """Yield what was added to a file, leaving a line that is being written for the next time."""
    while (line := file.readline()).endswith(b"\n"):
        yield line.decode("utf-8", "replace").rstrip("\n")
    file.seek(-len(line), os.SEEK_CUR)


def _entry(line: str) -> dict[str, Any]:
    """Return a line as its fields; what is none of ours, such as the manager's own words, as an event."""
    with suppress(ValueError):
        entry = json.loads(line)
        if isinstance(entry, dict):
            return entry
    return {"event": line}


def _print(line: str) -> None:
    entry = _entry(line)
    level = str(entry.get("level", ""))
    when, _, event = (console.plain(str(entry.get(name, ""))) for name in _SHOWN)
    rest = " ".join(f"{name}={value}" for name, value in entry.items() if name not in _SHOWN)
    shown = console.paint(f"{level or '-':8}", _COLOURS.get(level, "dim"))
    console.line(f"{when[:19]:19}  {shown}  {event}  {console.paint(console.plain(rest), 'dim')}".rstrip())
