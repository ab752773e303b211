"""`skilld report`: what you taught, where it went and whether it helped, in thirty lines or as a web page."""

from __future__ import annotations

import argparse
import errno
import os
import time
from contextlib import closing
from dataclasses import asdict
from shutil import get_terminal_size

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError
from skilld.files import write_atomically
from skilld.report.gather import gather
from skilld.report.lines import report_lines

_MIN_WIDTH, _MAX_WIDTH = 40, 98  # columns


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    with closing(common.store_or_empty()) as store:
        report = gather(store, time.time(), words=arguments.with_words)
    if (path := arguments.html) is not None:
        from skilld.report.page import page

        try:
            write_atomically(common.expand_path(path).absolute(), page(report, str(common.home())).encode(), 0o600)
        except OSError as error:
            raise SkilldError("Cannot write the page", f"{path}: {error.strerror}") from error
    if arguments.json:
        return common.write_json(asdict(report))
    if path is not None:
        console.say(f"Wrote {console.message(common.as_text(str(path)))}")
        return 0
    width = min(get_terminal_size().columns - 2, _MAX_WIDTH)
    for line in report_lines(report, str(common.home()), max(width, _MIN_WIDTH)):
        console.say(console.plain(line))
    return 0


def check_page(arguments: argparse.Namespace) -> None:
    """Raise SkilldError if no page can be written there."""
    path = common.expand_path(arguments.html).absolute()
    if os.path.exists(path) and not path.is_file():  # noqa: PTH110 - raises nothing
        raise SkilldError("Cannot write the page", f"{path}: it is not a regular file")
    if not path.parent.is_dir():
        raise SkilldError("Cannot write the page", f"{path}: {os.strerror(errno.ENOENT)}")
