"""F-01 on a machine in use: kill -9 of the daemon and of what a person types, at random moments and steps.

Two agents, two projects, one of them with unfinished work. After a kill the same is done again: what comes of it is
what comes of it unharmed, and nobody's bytes have changed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from faults.clock import Clock
from faults.world import DATABASE
from support.live_project import Project, folder_contents
from support.processes import processes_of
from support.program import Program
from support.session import CHATTER, LASTING, SQUASHING, Session
from support.teams import ssh_key
from support.waiting import NEVER, pause, wait_for

GUIDE = "# Guide\n\n## Rules\n\n- Be brief.\n"
PNPM = "From now on, always use pnpm and never npm to install packages."
MINED_AT = re.compile(r"(?<=^Skilld-Batch: mine-)\d+T\d+Z$", re.MULTILINE)  # which time it was given does not matter
KILLS = 10  # of each command: sixty together
IDENTITY = "[user]\n\tname = Ada Tester\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
IDENTITY += '[protocol "file"]\n\tallow = always\n'


class Desk:
    """A home with two projects; what was typed in them is not read yet."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        (home / ".gitconfig").write_text(IDENTITY)
        ssh_key(home)
        self.one = Project(home / "one", home, ".claude/skills")
        self.two = Project(home / "two", home, ".agents/skills")
        self.one.commit("Add a guide", {"CLAUDE.md": GUIDE})
        self.two.commit("Add a guide", {"AGENTS.md": GUIDE})
        (self.one.root / "README.md").write_text("# Probe\n\nHalf a sen")
        (self.one.root / "staged.txt").write_text("staged\n")
        self.one.git("add", "staged.txt")
        (self.one.root / "untracked.txt").write_text("untracked\n")
        self.one.git("init", "--quiet", "--bare", str(home / "hub.git"))
        self.program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_WORKER__ATTEMPTS": "20"})
        self.faults = Clock(self.program).folder
        self.done("run", "--once")
        session = Session(home, self.one)
        session.use_skill()
        session.type("Let us begin", LASTING, *CHATTER[:3])
        for name in ("1", "2"):
            worked = Session(home, self.one, f"0d000000-0000-4000-8000-00000000000{name}")
            worked.work("squash my commits", *SQUASHING)
            worked.type(*CHATTER[:3])
        self._say_to_codex(PNPM)

    def _say_to_codex(self, text: str) -> None:
        name = "0c000000-0000-7000-8000-0000000000c0"
        meta: dict[str, object] = {
            "id": name,
            "cwd": str(self.two.root),
            "cli_version": "0.169.0",
            "originator": "codex-tui",
        }
        rows: list[tuple[str, dict[str, object]]] = [("session_meta", meta)]
        for said in (text, *CHATTER[:4]):
            rows.append(("event_msg", {"type": "user_message", "message": said, "images": []}))
            rows.append(("event_msg", {"type": "agent_message", "message": "Done."}))
        path = self.home / f".codex/sessions/2026/11/22/rollout-2026-11-22T10-00-00-{name}.jsonl"
        path.parent.mkdir(parents=True)
        lines = ({"timestamp": "2026-11-22T10:00:00.000Z", "type": kind, "payload": row} for kind, row in rows)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def done(self, *words: str) -> None:
        """Run a command, which must succeed."""
        ran = self.program.run(*words)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def proposal(self, file: str) -> str:
        """Return the ID of the proposal for a file."""
        return next(
            str(one["id"]) for one in self.program.json("proposals", "--state", "all") if one["path"].endswith(file)
        )

    def keep(self) -> Path:
        """Return a copy of everything as it is now."""
        return Path(shutil.copytree(self.home, self.home.with_name("kept"), symlinks=True))

    def lay_out(self, kept: Path) -> None:
        """Lay everything out again as it was kept, at the same place."""
        shutil.rmtree(self.home)
        shutil.copytree(kept, self.home, symlinks=True)
        (self.faults / "steps").unlink(missing_ok=True)

    def steps(self) -> list[list[str]]:
        """Return the steps of the command: who, number, function, process."""
        try:
            text = (self.faults / "steps").read_text()
        except FileNotFoundError:
            return []
        return [line.split() for line in text[: text.rfind("\n") + 1].splitlines()]

    def outcome(self) -> dict[str, Any]:
        """Return all that must be the same whatever was killed."""
        with sqlite3.connect(f"file:{self.home / DATABASE}?mode=ro", uri=True) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            rows = db.execute("SELECT id, state, path, operations, summary FROM proposals ORDER BY id").fetchall()
            batches = db.execute("SELECT id, state FROM batches ORDER BY id").fetchall()
            learnings = db.execute("SELECT quote, place FROM learnings ORDER BY 1, 2").fetchall()
        hub = self.one.git("--git-dir", str(self.home / "hub.git"), "for-each-ref", "--format=%(refname)")
        found = {"proposals": rows, "batches": batches, "learnings": learnings, "hub": hub}
        config = self.home / ".config/skilld/config.toml"
        found["settings"] = config.read_text() if config.exists() else ""
        return found | {project.root.name: self._state_of(project) for project in (self.one, self.two)}

    def _state_of(self, project: Project) -> dict[str, Any]:
        git, folder, files = project.git, project.root / ".git", folder_contents(project.root)
        assert git("fsck", "--strict", "--no-dangling") == ""
        assert [path.name for path in folder.rglob("*.lock")] == []
        staged = git("rev-list", "main..skilld/staging").split() if git("branch", "--list", "skilld/staging") else []
        return {
            "files": {name: data for name, data in files.items() if not name.startswith(".git/")},
            "log": git("log", "--format=%an %cn%n%B", "--name-status"),
            "tree": git("ls-tree", "-r", "HEAD"),
            "index": git("ls-files", "--stage"),
            "status": git("status", "--porcelain"),
            "refs": git("for-each-ref", "--format=%(refname)"),
            "staged": sorted(MINED_AT.sub("", git("show", "--format=%an%n%B", "--unified=0", name)) for name in staged),
            "config": (folder / "config").read_bytes(),
            "stash": git("stash", "list"),
        }


def nothing(_: Desk) -> None:
    """Leave everything unread."""


def read(desk: Desk) -> None:
    desk.done("run", "--once")


def accepted(desk: Desk) -> None:
    read(desk)
    desk.done("accept", desk.proposal("release-notes/SKILL.md"))


def joined(desk: Desk) -> None:
    desk.done("machines", "join", str(desk.home / "hub.git"), "--name", "desk", "--yes")
    accepted(desk)


SKILL = "release-notes/SKILL.md"
COMMANDS: dict[str, tuple[Callable[[Desk], None], tuple[str, ...]]] = {
    "daemon": (nothing, ("run", "--once")),
    "accept": (read, ("accept", SKILL)),
    "revert": (accepted, ("revert", SKILL)),
    "mine": (read, ("mine", "--yes")),
    "setup": (nothing, ("setup", "offline")),
    "sync": (joined, ("machines", "sync")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_f01_a_command_killed_and_given_again_does_the_same(tmp_path: Path, name: str) -> None:
    desk, dice = Desk(tmp_path / "home"), random.Random(name)
    prepare, words = COMMANDS[name]
    prepare(desk)
    command = [desk.proposal(SKILL) if word == SKILL else word for word in words]
    kept = desk.keep()
    desk.lay_out(kept)
    begun = time.monotonic()
    desk.done(*command)
    seconds = time.monotonic() - begun
    steps = [int(number) for who, number, _, _ in desk.steps() if who == "daemon"]
    desk.done("run", "--once")
    unharmed = desk.outcome()
    died = 0
    for round_ in range(KILLS):
        desk.lay_out(kept)
        if round_ % 2:
            died += kill_at_step(desk, command, dice.choice(steps))
        else:
            died += kill_after(desk, command, dice.uniform(0, seconds))
        wait_for("everything to end", lambda: not processes_of(desk.home))
        desk.program.run(*command)
        desk.done("run", "--once")
        assert desk.outcome() == unharmed, f"round {round_}"
    assert died >= KILLS // 2


def kill_at_step(desk: Desk, command: list[str], step: int) -> bool:
    """Run a command that kills itself before a step; return whether it did."""
    (desk.faults / "kill").write_text(f"daemon {step}")
    desk.program.run(*command)
    (desk.faults / "kill").unlink()
    return ["daemon", str(step)] in [row[:2] for row in desk.steps()]


def kill_after(desk: Desk, command: list[str], seconds: float) -> bool:
    """Run a command and kill it so many seconds after its first step; return whether it still ran."""
    killed: list[int] = []

    def kill() -> None:
        first = wait_for("the first step", desk.steps, every=0.005)[0]
        pause(seconds)
        with suppress(ProcessLookupError):
            os.kill(int(first[3]), signal.SIGKILL)
            killed.append(int(first[3]))

    killer = threading.Thread(target=kill)
    killer.start()
    desk.program.run(*command)
    killer.join(NEVER)
    return bool(killed)
