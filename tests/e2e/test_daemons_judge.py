"""`status` and `doctor` report the judge of the running daemon, whatever the shell that asks has set."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.program import Program

ELSEWHERE = "To test it, in a shell with the settings that skilld was started with: skilld doctor --ask"


@pytest.mark.parametrize(("daemons", "shells"), [("openai/theirs", "offline"), ("offline", "openai/gpt-5-mini")])
def test_the_daemons_own_judge_is_reported(home: Path, program: Program, daemons: str, shells: str) -> None:
    program.environment["SKILLD_MODEL"] = daemons
    program.environment["OPENAI_API_KEY"] = "x"
    with program.daemon():
        asking = Program(home, {"SKILLD_MODEL": shells})
        assert asking.json("status")["backend"]["name"] == daemons
        (judge,) = (check for check in asking.json("doctor")["checks"] if check["name"] == "judge")
        assert judge["detail"].startswith(f"{daemons}: skilld was started with it, but this shell has other settings")
        assert judge["verdict"] == "ok"
        (judge,) = (check for check in program.json("doctor")["checks"] if check["name"] == "judge")
        assert judge["detail"].startswith(f"{daemons}: you chose it")
        if daemons != "offline":
            for lacking in (asking, Program(home, {"SKILLD_MODEL": daemons})):  # the second lacks only the key
                (judge,) = (check for check in lacking.json("doctor", "--ask")["checks"] if check["name"] == "judge")
                assert judge["detail"].endswith("this shell has other settings; not tested")
                assert (judge["verdict"], judge["remedy"]) == ("ok", ELSEWHERE)
    assert asking.json("status")["backend"]["name"] == shells


def test_the_daemons_path_decides_which_agents_can_judge(home: Path, program: Program, tmp_path: Path) -> None:
    (tmp_path / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "claude").chmod(0o755)
    program.environment["PATH"] += f":{tmp_path}"
    program.environment["SKILLD_MODEL"] = "auto"
    with program.daemon():
        asking = Program(home, {"SKILLD_MODEL": "auto", "PATH": "/usr/bin:/bin"})
        (found,) = asking.json("status")["backend"]["found"]
        assert "Claude Code" in found
        assert "PATH" not in (asking.json("status")["daemon"] or {})


def test_status_tells_of_no_daemon_before_one_has_reported(program: Program) -> None:
    assert program.json("status")["daemon"] is None  # `skilld demo` waits for it before it types
    with program.daemon():
        assert program.json("status")["daemon"]["version"]
