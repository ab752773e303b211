"""A person's machine as it is before something goes wrong, and what must have come of it afterwards.

The machine is made once and laid out at the same path for every run, so that ids, which hold paths, can be compared.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faults.clock import Clock
from support.git_clock import NO_TIDYING
from support.live_project import Project
from support.processes import processes_of
from support.program import Program
from support.session import CHATTER, LASTING, LASTING_2, Session
from support.waiting import wait_in_time
from support.warm import Process

DATABASE = ".local/state/skilld/skilld.db"
HOUR = 3600.0
# What runs of the same machine may differ in: when it was, and what a commit is called because of that.
_BY_TIME = {"created_at", "done_at", "decided_at", "not_before", "attempts", "detail", "commit", "landed", "job"}
_BY_TIME |= {"failures", "crashes", "kills"}  # what went wrong on the way
_BY_TIME |= {"file_id"}  # files are found in any order
_IDENTITY = "[user]\n\tname = Ada Tester\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
_TABLES = ("turns", "skill_uses", "sessions", "batches", "proposals", "learnings")


class World:
    """A home with a repository of two skills, a proposal that was merged, and four sessions nobody has read yet."""

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None) -> None:
        self.home = home
        self._kept = home.with_name(f"{home.name}-kept")
        home.mkdir(parents=True, exist_ok=True)
        (home / ".gitconfig").write_text(_IDENTITY + NO_TIDYING)
        self.project = Project(home / "project", home, ".claude/skills")
        self._add_skill("deploy")
        self.program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false", **(settings or {})})
        self.clock = Clock(self.program)
        self.faults = self.clock.folder
        self._prepare()
        self.before = self.project.fingerprint()
        self.keep()

    def _add_skill(self, name: str) -> None:
        """Add a second skill like the first, in a commit of its own."""
        other = self.project.skill_path.parents[1] / name / "SKILL.md"
        other.parent.mkdir()
        other.write_text(self.project.skill_path.read_text().replace("release-notes", name))
        self.project.git("add", "--all")
        self.project.git("commit", "--quiet", "--message", f"Add the {name} skill")

    def _prepare(self) -> None:
        self.finish()
        self._say("release-notes", "Always sign the release notes with the name of the editor.")
        self.finish()
        self.project.git("merge", "--quiet", "--no-edit", "skilld/staging")
        self._say("release-notes", LASTING)
        self._say("deploy", LASTING_2)
        Session(self.home, self.project).type(*CHATTER)
        Session(self.home, self.project).type("hello", "Always use tabs, never spaces.", "ok", "thanks", "go on")

    def _say(self, skill: str, lasting: str) -> None:
        session = Session(self.home, self.project)
        session.use_skill(skill)
        session.type("Let us begin", lasting, "ok, looks good", "thanks", "go on")

    def keep(self) -> None:
        """Take the machine as it is now for what `reset` lays out again."""
        shutil.rmtree(self._kept, ignore_errors=True)
        shutil.copytree(self.home, self._kept, symlinks=True)

    def reset(self) -> None:
        """Lay the machine out again as it was kept."""
        shutil.rmtree(self.home)
        shutil.copytree(self._kept, self.home, symlinks=True)

    def steps(self) -> list[str]:
        """Return the steps of the last runs: daemon or worker, number, function, process."""
        try:
            text = (self.faults / "steps").read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        return text[: text.rfind("\n") + 1].splitlines()  # the last one may be half written

    def start(self, *, once: bool = True) -> Process:
        """Start `skilld run`, with or without `--once`, and return at once."""
        return self.program.start("run", *(["--once"] if once else []))

    def wait_for_end(self) -> None:
        """Wait until the last process is gone, as it must be 5 s after a kill."""
        wait_in_time("all processes to be gone", lambda: not processes_of(self.home), 5)

    def finish(self) -> None:
        """Let skilld do all that is left."""
        result = self.program.run("run", "--once")
        assert result.returncode == 0, result.stderr

    def later(self) -> None:
        """Let two hours pass: every batch that waits for its next try is due then."""
        self.clock.pass_by(2 * HOUR)

    # what came of it ------------------------------------------------------------------------------------------------

    def outcome(self) -> dict[str, Any]:
        """Return everything two runs of this machine must agree in."""
        return {
            "rows": {table: self._rows(table) for table in _TABLES},
            "commits": self._commits(),
            "files": self.project.git("ls-tree", "-r", "skilld/staging"),
            "refs": self._refs(),
        }

    def check(self) -> None:
        """Check what holds after any fault: the database is sound, the repository the person's, nothing is stuck."""
        assert self._query("PRAGMA integrity_check") == [("ok",)]
        assert self.project.fingerprint() == self.before
        assert self.project.git("fsck", "--strict", "--no-dangling") == ""
        assert [path.name for path in (self.project.root / ".git").rglob("*.lock")] == []
        assert self._query("SELECT id FROM batches WHERE state != 'done'") == []
        open_ones = self._query("SELECT id, \"commit\" FROM proposals WHERE state = 'open'")
        hung = self.project.git("for-each-ref", "--format=%(refname:lstrip=3) %(objectname)", "refs/skilld/proposals")
        assert sorted(hung.splitlines()) == sorted(f"{name} {commit}" for name, commit in open_ones)

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(f"file:{self.home / DATABASE}?mode=ro", uri=True) as db:
            return db.execute(sql).fetchall()

    def _rows(self, table: str) -> list[str]:
        with sqlite3.connect(f"file:{self.home / DATABASE}?mode=ro", uri=True) as db:
            db.row_factory = sqlite3.Row
            rows = [dict(row) for row in db.execute(f"SELECT * FROM {table}")]  # noqa: S608 - fixed names
        same = [{name: value for name, value in row.items() if name not in _BY_TIME} for row in rows]
        return sorted(json.dumps(row, sort_keys=True) for row in same)

    def _commits(self) -> list[str]:
        """Return message and patch of every proposal on the branch, in whatever order they were made."""
        names = self.project.git("rev-list", "main..skilld/staging").split()
        return sorted(self.project.git("show", "--format=%an%n%B", "--unified=0", name) for name in names)

    def _refs(self) -> list[str]:
        return self.project.git("for-each-ref", "--format=%(refname)", "refs/heads/skilld", "refs/skilld").splitlines()
