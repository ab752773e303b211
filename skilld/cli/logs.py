"""`skilld logs [-f]`: the daemon's log, from the journal or its file."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common
from skilld.errors import UsageError

_JOURNAL = ("journalctl", "--user", "--unit=skilld.service", "--output=cat", "--no-pager", "--quiet")
_COLOURS = {"warning": "yellow", "error": "red", "critical": "red"}
_MAIN_FIELDS = ("timestamp", "level", "event")  # in this order, before the others


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    if arguments.json and arguments.follow:
        raise UsageError("Conflicting options", "--json prints one document, but --follow never ends")
    log = common.places().log
    in_journal = shutil.which(_JOURNAL[0]) is not None and bool(_read_journal(1))
    size = log.stat().st_size if log.is_file() else 0  # before it is read: what is written meanwhile is followed
    lines = _read_journal(arguments.lines) if in_journal else _last_lines(log, arguments.lines)
    if arguments.json:
        return common.write_json([_parse_entry(line) for line in lines])
    for line in lines:
        _print_entry(line)
    if arguments.lines and not lines and not arguments.follow:
        where = f"{console.plain(str(log))}, or to the journal if skilld runs as a service"
        console.line(f"The log is empty. Entries go to {where}.")
    if arguments.follow:
        command = [*_JOURNAL, "-f", "-n", "0"] if in_journal else ["tail", "-F", "-c", f"+{size + 1}", str(log)]
        for line in follow(command):
            _print_entry(line)
            sys.stdout.flush()
    return 0


def _read_journal(number: int) -> list[str]:
    import subprocess

    done = subprocess.run([*_JOURNAL, f"--lines={number}"], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []


def follow(command: Sequence[str]) -> Generator[str, None, None]:
    """Yield the lines that a program prints, as it prints them."""
    import subprocess

    quiet = subprocess.DEVNULL  # tail tells of each rotation
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=quiet, stderr=quiet) as program:
        try:
            for line in program.stdout or ():
                yield line.decode("utf-8", "replace").rstrip("\n")
        finally:
            program.kill()


def _last_lines(log: Path, number: int) -> list[str]:
    """Return the last lines of the log, including those of the previous file, as it may just have been rotated."""
    found: deque[str] = deque(maxlen=number)
    for path in (log.with_name(f"{log.name}.1"), log):
        with suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
            found.extend(line.rstrip("\n") for line in file)
    return list(found)


def _parse_entry(line: str) -> dict[str, Any]:
    """Return a line's fields; a line that skilld did not write, such as the service manager's, as an event."""
    with suppress(ValueError):
        entry = json.loads(line)
        if isinstance(entry, dict):
            return entry
    return {"event": line}


def _print_entry(line: str) -> None:
    entry = _parse_entry(line)
    level = str(entry.get("level", ""))
    when, _, event = (console.plain(str(entry.get(name, ""))) for name in _MAIN_FIELDS)
    rest = " ".join(f"{name}={value}" for name, value in entry.items() if name not in _MAIN_FIELDS)
    shown = console.paint(f"{level or '-':8}", _COLOURS.get(level, "dim"))
    console.line(f"{when[:19]:19}  {shown}  {event}  {console.paint(console.plain(rest), 'dim')}".rstrip())
