"""An agent whose folder of transcripts is gone is named, with what to do, instead of going quiet."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.cli.run import print_introduction
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.session import Session


def test_a_folder_that_is_gone_is_named_until_it_is_back(
    daemon: InProcessDaemon, home: Path, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    Session(home, project).type("hello")
    daemon.run()
    program = Program(home)
    folder = home / ".claude/projects"
    assert program.json("status")["agents"]["claude-code"]["gone"] is None
    (home / ".claude").rename(home / ".claude2")
    gone = f"{folder} is gone; 1 session file was read there"
    (check,) = (one for one in program.json("doctor")["checks"] if one["name"] == "agent claude-code")
    remedy = "If its sessions are elsewhere now: skilld config set roots.claude-code FOLDER"
    assert (check["verdict"], check["detail"], check["remedy"]) == ("warn", gone, remedy)
    status = program.json("status")["agents"]
    assert (status["claude-code"]["gone"], status["codex"]["gone"]) == (gone, None)
    assert "is gone; 1 session file was read there" in " ".join(program.run("status").stdout.split())
    capsys.readouterr()
    print_introduction(daemon.engine, new_here=False, follows=False)
    begun = " ".join(capsys.readouterr().out.split())
    assert "is gone; 1 session file was read there" in begun
    assert "Claude Code 1 session file " not in begun
    assert program.run("config", "set", "roots.claude-code", str(home / ".claude2")).returncode == 0
    (check,) = (one for one in program.json("doctor")["checks"] if one["name"] == "agent claude-code")
    assert check["verdict"] == "ok"
    assert program.run("config", "unset", "roots.claude-code").returncode == 0
    (home / ".claude2").rename(home / ".claude")
    (check,) = (one for one in program.json("doctor")["checks"] if one["name"] == "agent claude-code")
    assert check["verdict"] == "ok"
