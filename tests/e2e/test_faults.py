"""Common faults on real machines: survived, reported, with no turn lost or proposal doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from faults.model import program_with
from support.live_project import Project
from support.model_answers import NO_UPDATES, operations_answer, updates_answer
from support.processes import workers_of
from support.program import Program
from support.session import LASTING, LASTING_2, Session
from support.stub_model import Reply, StubModel
from support.waiting import NEVER, wait_for

TURNS = ("Write the release notes for 2.4.0", LASTING, "ok, looks good", LASTING_2)
HANGS = Reply(text="<updates>[]</updates>", delay=NEVER)


def test_a_20_mb_line_is_skipped_and_counted(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    session = Session(home, project)
    session.use_skill()
    session.type(*TURNS)
    session.raw(b'{"type":"user","message":{"content":"' + b"x" * 20_000_000 + b'"}}\n')
    session.type("thanks, go on")
    program.run("run", "--once")
    status = program.json("status")["agents"]["claude-code"]
    assert (status["turns"], status["overlong"]) == (5, 1)
    assert len(program.json("proposals")) == 1


def test_an_unreadable_file_is_reported_and_the_others_are_read(home: Path, project: Project, program: Program) -> None:
    # A link in place of a file: refused for every user, root included.
    program.run("run", "--once")
    session = Session(home, project)
    session.use_skill()
    session.type(*TURNS, "thanks, go on")
    folder = session.path.parent
    (folder / "fifo.jsonl").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.jsonl")
    assert program.run("run", "--once").returncode == 0
    assert len(program.json("proposals")) == 1


def test_transcripts_that_appear_later_are_found(home: Path, project: Project, program: Program) -> None:
    assert not (home / ".claude").exists()
    with program.daemon():
        session = Session(home, project)
        session.use_skill()
        session.type(*TURNS, "thanks, go on")
        wait_for("a proposal", lambda: program.json("proposals"), every=0.3)


def test_a_broken_settings_file_is_explained(home: Path, program: Program) -> None:
    path = home / ".config/skilld/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("model = \n")
    result = program.run("run", "--once")
    assert result.returncode == 2
    assert "~/.config/skilld/config.toml" in result.stderr
    assert "Traceback" not in result.stderr
    path.write_text("[batch]\nturn = 5\n")
    result = program.run("status")
    assert result.returncode == 2
    assert "unknown setting batch.turn (did you mean batch.turns?)" in result.stderr


def test_settings_changed_under_the_daemon_apply_from_the_next_batch(
    home: Path, project: Project, program: Program
) -> None:
    path = home / ".config/skilld/config.toml"
    path.parent.mkdir(parents=True)
    session = Session(home, project)
    with program.daemon():
        path.write_text('[batch]\nturns = 2\n[roots]\ncodex = ["/elsewhere"]\n')
        said = "changed; roots takes effect only after a restart"
        wait_for("the change to be seen", lambda: _settings_message(program) == said, every=0.2)
        session.type("ok", "thanks")
        wait_for("a batch of two", lambda: program.json("status")["batches"]["done"] == 1, every=0.2)


def test_a_kill_in_mid_batch_still_gives_exactly_one_proposal(home: Path, project: Project) -> None:
    """Asked to end in the middle of one it ends in time, with its worker; so does the worker of one that is killed."""
    with StubModel() as model:
        program = program_with(home, model)
        model.queue(HANGS, HANGS)
        with program.daemon():
            session = Session(home, project)
            session.use_skill()
            session.type(*TURNS, "thanks, go on")
            model.wait_for_requests(1)
        assert not workers_of(home)
        assert program.json("status")["batches"]["pending"] == 1
        with program.daemon() as daemon:
            model.wait_for_requests(2)
            daemon.send_signal(signal.SIGKILL)
            daemon.wait()
            wait_for("the worker to be gone", lambda: not workers_of(home))
        assert program.json("status")["batches"]["pending"] == 1
        model.queue(updates_answer(), operations_answer(), NO_UPDATES)
        for _ in range(2):
            assert program.run("run", "--once").returncode == 0
    assert len(program.json("proposals", "--state", "all")) == 1
    assert project.git("rev-list", "--count", f"{project.skill_commit}..skilld/staging") == "1"


def test_the_daemon_imports_no_heavy_library_and_stays_small(home: Path, project: Project, program: Program) -> None:
    for number in range(100):
        Session(home, project, f"session-{number}").type("hello")
    with program.daemon(anew=True) as daemon:
        modules = subprocess.run(
            [sys.executable, "-c", _MODULES_OF, str(daemon.pid)], capture_output=True, text=True, check=True
        ).stdout
        resident = _resident_memory(daemon.pid)
    assert "litellm" not in modules
    assert "/git/" not in modules
    assert resident < 60_000_000, f"{resident} bytes resident"


_MODULES_OF = "import sys; print(open(f'/proc/{sys.argv[1]}/maps').read())"


def _resident_memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def _settings_message(program: Program) -> str:
    daemon = program.json("status")["daemon"]  # nothing before it was there for a moment
    return str(daemon["settings"]) if daemon else ""
