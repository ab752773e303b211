"""A person's day at one machine: its clock, what is typed in sessions, and what skilld has made of it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from faults.clock import Clock
from faults.world import HOUR
from support.live_project import SKILL, Project
from support.program import Program
from support.session import Session

SKILLS = (SKILL, "changelog", "announcement")
BETWEEN = 0.5 * HOUR  # sessions


class Day:
    """A project with three skills, and sessions that begin one after the other."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = Project(home / "project", home, ".claude/skills")
        for name in SKILLS[1:]:
            self._add_skill(name)
        self.before = self.project.fingerprint()
        self.program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
        self.clock = Clock(self.program)
        self.passed = 0.0
        self.turns = 0
        self.sessions = 0
        self._folder = home / ".claude/projects/-x-project"
        self._folder.mkdir(parents=True)

    def _add_skill(self, name: str) -> None:
        path = self.project.skill_path.parents[1] / name / "SKILL.md"
        path.parent.mkdir()
        path.write_text(self.project.skill_path.read_text().replace(SKILL, name))
        self.project.git("add", "--all")
        self.project.git("commit", "--quiet", "--message", f"Add the {name} skill")

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        self.passed += seconds
        self.clock.set(self.passed)

    def session(self, skill: str, *texts: str, output: str = "") -> Path:
        """Have a session take place: a skill is used (if one is named), a tool prints something, turns are typed.

        It is there all at once, last touched at the time of the day, as no wait for single lines would be.
        """
        self.pass_by(BETWEEN)
        draft = Session(self.home / "draft", self.project)
        if skill:
            draft.use_skill(skill)
        if output:
            draft.tool_output(output)
        draft.type(*texts)
        self.turns += len(texts)
        self.sessions += 1
        return self._put(draft.path.read_bytes(), self._folder / draft.path.name)

    def fork(self, original: Path, *texts: str) -> Path:
        """Have a session be taken up again under another name, with all that was said in it."""
        self.pass_by(BETWEEN)
        draft = Session(self.home / "draft", self.project)
        draft.type(*texts)
        self.turns += len(texts)
        self.sessions += 1
        copied = original.read_bytes() + draft.path.read_bytes()
        return self._put(copied, original.with_name(draft.path.name))

    def _put(self, data: bytes, path: Path) -> Path:
        new = path.with_suffix(".new")
        new.write_bytes(data)
        now = time.time() + self.passed
        os.utime(new, (now, now))
        return new.rename(path)

    def is_read(self) -> bool:
        """Whether all that was typed is known."""
        return self._is_read(self.program.json("status"))

    def is_idle(self) -> bool:
        """Whether all that was typed is known, and no batch waits."""
        status = self.program.json("status")
        return self._is_read(status) and status["batches"]["pending"] == 0

    def _is_read(self, status: dict[str, Any]) -> bool:
        agent = status["agents"].get("claude-code", {"turns": 0})
        return int(agent["turns"]) == self.turns

    def proposals_made(self) -> list[tuple[str, str]]:
        """Return skill and quote of every proposal there is; all are open. What was said again is told once."""
        proposals = self.program.json("proposals", "--state", "all")
        assert {proposal["state"] for proposal in proposals} <= {"open"}
        quotes = [
            (proposal["skill"], {evidence["quote"] for evidence in proposal["evidence"]}) for proposal in proposals
        ]
        return sorted((skill, quote) for skill, said in quotes for quote in said)

    def commits_made(self) -> list[str]:
        """Return the ids on the staging branch."""
        return self.project.git("log", "--format=%(trailers:key=Skilld-Proposal,valueonly)", "skilld/staging").split()
