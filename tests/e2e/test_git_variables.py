"""Variables for git in the person's environment end no verb and no job of the daemon, and a bug in a job is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from e2e.test_targets import make_project, teach
from skilld.errors import Exit
from support.program import Program

RULE = "- Use pnpm, never npm, in this repository.\n"
PNPM = "You ran npm again. Use pnpm here, never npm!"
VARIABLES = {"GIT_DIR": "/nowhere", "GIT_EDITOR": "vim", "GIT_SSH_COMMAND": "ssh -4", "GIT_SSL_CAINFO": "/nowhere"}
MEND = """
import sys
from skilld.cli.parser import build_parser
arguments = build_parser("effect").parse_args(["effect", "--mend"])
sys.exit(arguments.run(arguments))
"""  # past the check that the daemon started it
BUG = "from skilld.cli.daemon_job import run_as_job; run_as_job('rules', lambda: 1 / 0)"
JOBS = (("-c", MEND), ("-m", "skilld", "mine", "--nightly", "--yes"), ("-m", "skilld", "team", "sync", "--unasked"))
LOOKS = (
    ("effect",),
    ("status",),
    ("doctor",),
    ("proposals",),
    ("learnings",),
    ("report",),
    ("context",),
    ("trim", "--dry-run"),
    ("skills", "list"),
    ("recommend", "install the packages"),
    ("mine", "--dry-run"),
)


def _job(program: Program, *verb: str) -> tuple[int, str, str]:
    """Run Python as the daemon runs a verb: it ends when its standard input is closed, so that stays open."""
    with subprocess.Popen(
        [sys.executable, *verb],
        cwd=program.home,
        env={**program.environment, "SKILLD_CHILD": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        out, errors = child.stdout.read(), child.stderr.read()
        return child.wait(), out, errors


@pytest.fixture
def repeated(home: Path, tmp_path: Path, program: Program) -> Program:
    """A world in which a rule had to be repeated in three sessions, so that there is something to mend."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"# Probe\n\n{RULE}- Keep functions short.\n"})
    program.run("run", "--once")
    for _ in range(3):
        teach(home, project, program, PNPM)
    program.environment.update(VARIABLES)
    return program


def test_no_job_and_no_verb_fails_over_variables_for_git(repeated: Program) -> None:
    ended = {verb: _job(repeated, *verb) for verb in JOBS}
    assert {verb: (code, errors) for verb, (code, _, errors) in ended.items()} == dict.fromkeys(JOBS, (0, ""))
    assert not [out for _, out, _ in ended.values() if '"failed"' in out]
    bugs = [verb for verb in LOOKS if repeated.run(*verb).returncode == Exit.BUG]
    assert bugs == []
    assert not list(repeated.home.rglob("crashes/*"))


def test_a_bug_in_a_job_is_told_with_its_report(home: Path, program: Program) -> None:
    program.run("run", "--once")
    code, out, errors = _job(program, "-c", BUG)
    assert (code, '"failed"' in out, errors) == (0, True, "")
    (report,) = home.rglob("crashes/*.txt")
    for verb in ("status", "doctor"):
        told = " ".join(program.run(verb).stdout.split())
        assert "rules: Internal error: ZeroDivisionError. Details for a bug report" in told
        assert report.name in told
