"""F-11: no room for the database, or in the repository. It waits, says so, and goes on when there is room."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from faults import apart
from faults.disk import MOUNT, PROBE, TRIED, fill, has_read
from faults.model import teach
from skilld.notify.notice import CANNOT_STORE
from support.live_project import Project
from support.notifications import notification_server
from support.program import Program
from support.session import LASTING, Session
from support.waiting import wait_for

# It reads a transcript more than once before it writes, and all over again where that failed: so much is a second try.
AGAIN = 4 * TRIED


def _begin(home: Path, project: Project) -> Session:
    session = Session(home, project)
    session.use_skill()
    session.type("Let us begin")
    return session


def _go_on(session: Session) -> None:
    session.tool_output("x" * TRIED)
    session.type(LASTING, "ok", "thanks", "go on")


@contextmanager
def _notices(program: Program) -> Iterator[list[dict[str, Any]] | None]:
    """Have notices shown, if there is a bus to be had; yields them."""
    if shutil.which("dbus-daemon") is None:
        yield None
        return
    with notification_server() as server:
        program.environment |= {"DBUS_SESSION_BUS_ADDRESS": server.address, "SKILLD_NOTIFY__ENABLED": "true"}
        yield server.shown


def _turns(status: dict[str, Any]) -> int:
    return int(status["agents"]["claude-code"]["turns"])


# A tenth of what a verb of skilld's takes there.
COUNT = (
    "import sqlite3, sys; db = sqlite3.connect(f'file:{sys.argv[1]}/skilld.db?mode=ro', uri=True); "
    "print(*db.execute(f'SELECT count(*) FROM {sys.argv[2]}').fetchone())"
)


def _rows(process: subprocess.Popen[bytes], program: Program, table: str) -> int:
    """Return how many there are where that daemon is."""
    state = str(program.home / ".local/state/skilld")
    return int(apart.run_inside(process, program, sys.executable, "-IS", "-c", COUNT, state, table))


def test_f11_no_room_for_the_database(home: Path, project: Project, program: Program) -> None:
    state = home / ".local/state/skilld"
    mount = MOUNT.format(size="3m", folder=state)
    state.mkdir(mode=0o700, parents=True)
    apart.skip_unless(PROBE)
    before = project.fingerprint()
    with apart.daemon(program, mount) as process:
        session = _begin(home, project)
        wait_for("a turn", lambda: _rows(process, program, "turns") == 1, every=0.2)
        filler = fill(Path(f"/proc/{process.pid}/root{state}"))
        read = has_read(process.pid)
        _go_on(session)
        wait_for("it to try again", lambda: has_read(process.pid) > read + AGAIN)
        assert _rows(process, program, "turns") == 1
        wait_for("the terminal to say so", lambda: CANNOT_STORE in program.output(), context=program.output)
        assert "disk      0 MB free at " in apart.run_inside(process, program, *apart.SKILLD, "status")
        assert project.git("for-each-ref", "refs/heads/skilld", "refs/skilld") == ""
        filler.unlink()
        wait_for("a proposal", lambda: _rows(process, program, "proposals"), every=0.2, context=program.output)
        error = wait_for(
            "why it waited", lambda: apart.json_inside(process, program, "status")["last_error"], every=0.2
        )
        assert "full" in error["message"]
        assert len(apart.json_inside(process, program, "proposals")) == 1
    assert project.fingerprint() == before


TMPFS = f"cp -a {{root}} {{root}}.kept; {MOUNT.format(size='3m', folder='{root}')}; cp -a {{root}}.kept/. {{root}}"
READ_ONLY = "mount --bind {root} {root}; mount -o remount,bind,ro {root}"


@pytest.mark.parametrize(("mount", "words"), [(TMPFS, "Free some space"), (READ_ONLY, "Make it writable")])
def test_f11_a_decision_that_git_could_not_finish_is_refused_before_it_starts(
    home: Path, project: Project, program: Program, mount: str, words: str
) -> None:
    apart.skip_unless(PROBE)
    program.run("run", "--once")
    teach(home, project)
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    with apart.mount_point(program, mount.format(root=project.root)) as root:
        inside = Path(f"{root}{project.root}")
        skill, before = inside / project.skill_path.relative_to(project.root), project.fingerprint()
        filler = fill(inside) if mount == TMPFS else None
        refused = program.run("accept", proposal["id"])
        assert refused.returncode == 5
        assert words in refused.stderr
        assert program.run("accept", "--worktree", proposal["id"]).returncode == 5
        assert skill.read_bytes() == project.skill_path.read_bytes()
        assert not (inside / ".git/CHERRY_PICK_HEAD").exists()
        if filler is not None:
            filler.unlink()
            assert program.run("accept", proposal["id"]).returncode == 0
            assert skill.read_bytes() != project.skill_path.read_bytes()
    assert project.fingerprint() == before


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux sets the limits of another process")
def test_f11_a_disk_that_refuses_writes_for_a_while(home: Path, project: Project, program: Program) -> None:
    # A limit on the size of files, lifted later: SQLite is told of an input/output error, on any account.
    with _notices(program) as shown, apart.daemon(program) as process:
        session = _begin(home, project)
        wait_for("a turn", lambda: _turns(program.json("status")) == 1, every=0.5)
        _, most = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, most))
        read = has_read(process.pid)
        _go_on(session)
        wait_for("it to try again", lambda: has_read(process.pid) > read + AGAIN)
        assert _turns(program.json("status")) == 1
        if shown is not None:
            wait_for("a notice", lambda: shown)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, most))
        wait_for("a proposal", lambda: program.json("proposals"), every=0.5, context=program.output)
        if shown is not None:
            assert sum(CANNOT_STORE in notice["body"] for notice in shown) == 1
    assert len(program.json("proposals")) == 1
    assert "disk I/O error" in program.json("status")["last_error"]["message"]
