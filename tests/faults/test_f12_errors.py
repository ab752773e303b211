"""F-12: file systems that refuse. What fails is tried again later, and everything else goes on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from faults import apart
from support.claude_lines import prompt_line, write_transcript
from support.program import Program


def test_f12_an_inaccessible_folder_stops_nothing(home: Path, program: Program) -> None:
    as_nobody_special = ["unshare", "--user", "--map-user=1000"]  # root may enter every folder
    if subprocess.run([*as_nobody_special, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system has no user namespaces to give up root's rights in")

    def look() -> int:
        command = [*as_nobody_special, *apart.SKILLD, "run", "--once"]
        result = subprocess.run(command, cwd=home, env=program.environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return int(program.json("status")["agents"]["claude-code"]["turns"])

    assert program.run("run", "--once").returncode == 0
    for name in ("shut", "open"):
        write_transcript(home / f".claude/projects/{name}/s.jsonl", prompt_line(name, session=name))
    (home / ".claude/projects/shut").chmod(0)
    assert look() == 1
    (home / ".claude/projects/shut").chmod(0o700)
    assert look() == 2
