"""On a terminal of 80 columns, no verb prints a line that the terminal would break inside a word."""

from __future__ import annotations

import os
import pty
import re
from contextlib import suppress

from support.taught_project import TaughtProject

WIDTH = 80
VERBS = (
    "status", "status --check", "cost", "proposals", "proposals --state all", "learnings", "skills", "skills list",
    "skills show {skill}", "skills eval {skill} --dry-run", "skills archive {skill} --yes", "skills restore {skill}",
    "skills disable {skill}", "skills enable {skill}", "config set notify.desktop false", "config", "context",
    "trim --dry-run", "consolidate --dry-run", "mine", "mine --dry-run", "team status", "team", "machines",
    "machines status", "report", "report --html {home}/a-long-name-of-a-report-about-all-that-was-taught.html",
    "effect", "doctor", "recommend write the release notes of the next version", "service status", "pause", "resume",
    "feedback {skill} --helpful --note good", "sync --dry-run", "accept {one}", "reject {two}", "revert {one}",
    "statusline", "setup offline", "git status", "nosuchverb",
)  # fmt: skip


def test_no_line_breaks_inside_a_word(world: TaughtProject) -> None:
    """Long names: of a skill, of its folder and of the project."""
    name = "an-unusually-long-name-of-a-skill-for-release-notes"
    there = world.home / ".claude/skills" / name
    there.mkdir(parents=True)
    description = (
        "Writes the notes of a release from all that was merged since the last one, in the order of the parts."
    )
    (there / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n# Notes\n\n- Be brief.\n")
    given = {"skill": name, "home": str(world.home), "one": world.one, "two": world.two}
    world.program.environment |= {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb", "PAGER": "cat"}
    broken = {
        verb: long
        for verb in VERBS
        if (long := [one for one in _lines(world, *verb.format(**given).split()) if _breaks_word(one)])
    }
    assert broken == {}


def _lines(world: TaughtProject, *arguments: str) -> list[str]:
    """Return what a verb prints on a terminal, and its errors."""
    ours, theirs = pty.openpty()
    child = world.program.start(*arguments, output=theirs, folder=world.project.root)
    os.close(theirs)
    parts: list[bytes] = []
    with suppress(OSError):  # the end of a terminal is an error
        while part := os.read(ours, 65536):
            parts.append(part)
    os.close(ours)
    child.wait()
    return b"".join(parts).decode().splitlines()


def _breaks_word(line: str) -> bool:
    """Whether a line that could end before its last word goes on; a command to copy is never broken."""
    return len(line) > WIDTH and " " in line[:WIDTH].strip() and not re.match(r" *skilld feedback ", line)
