"""Throw-away homes with many transcripts in them."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from benchmarks.kit.corpus import Session

STORE = Path(".claude/projects")
_MONTH = 30 * 86400.0


def furnish(home: Path, files: int, *, per_folder: int = 10, turns: int = 2) -> None:
    """Write `files` small sessions of `turns` prompts each below `home`, `per_folder` to a project, over a month.

    Folders are as old as their files: the next sweep looks again through each that changed just before a look.
    """
    for number in range(files):
        folder = home / STORE / f"-work-project-{number // per_folder}"
        if number % per_folder == 0:
            folder.mkdir(parents=True)
        session = Session(folder, random.Random(f"home/{number}"))
        lines = [line for _ in range(turns) for line in (session.prompt("ok go on"), session.reply("Done."))]
        session.path.write_bytes(b"".join(lines))
        written = time.time() - 300 - (number + 1) * _MONTH / files  # as sessions come: not all of them just now
        for path in (session.path, folder):
            os.utime(path, (written, written))


def person(home: Path) -> None:
    """Put the git identity of a person into `home`."""
    (home / ".gitconfig").write_text("[user]\n\tname = Pat Person\n\temail = pat@example.org\n", encoding="utf-8")
