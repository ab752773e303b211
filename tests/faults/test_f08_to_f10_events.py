"""F-08 to F-10: events lost, no watches to be had, no events at all. What was typed is found by looking."""

from __future__ import annotations

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from faults import apart
from faults.clock import Clock
from skilld.store.connection import file_system_type
from support.claude_lines import append_lines, prompt_line
from support.live_project import Project
from support.program import Program
from support.rows import for_each
from support.session import LASTING, Session
from support.waiting import LIMIT, wait_for

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")
WATCHES = "echo {} > /proc/sys/user/max_inotify_watches"
SWEEP = 31  # seconds until everything is looked at
INSTANCES = "echo 0 > /proc/sys/user/max_inotify_instances"


def _turns(program: Program) -> int:
    return int(program.json("status")["agents"]["claude-code"]["turns"])


@pytest.mark.skipif(not QUEUE.exists(), reason="no inotify here: overflow is a matter of Linux")
def test_f08_more_events_than_the_queue_holds(home: Path, program: Program) -> None:
    folder = home / ".claude/projects/-p"
    folder.mkdir(parents=True)
    noise = [(folder / f"noise{number}.txt").open("ab", buffering=0) for number in (1, 2)]
    clock = Clock(program)
    with program.daemon() as daemon:
        apart.stop(daemon.pid)
        for _ in range(int(QUEUE.read_text()) // 2 + 100):  # two files in turn, or the kernel makes one event of two
            for file in noise:
                file.write(b"x")
        (folder / "s1.jsonl").write_bytes(prompt_line("t1") + prompt_line("t2"))
        other = folder.with_name("-q") / "s2.jsonl"
        other.parent.mkdir()
        other.write_bytes(prompt_line("u1", session="s2"))
        daemon.send_signal(signal.SIGCONT)
        wait_for("the turns", lambda: _turns(program) == 3, every=0.5, context=program.output)
        wait_for("the word in status", lambda: "watching  events were lost " in program.run("status").stdout, every=0.5)
        append_lines(other, prompt_line("u2", session="s2"))
        clock.set(SWEEP)
        wait_for("a turn in a folder that is new", lambda: _turns(program) == 4, every=0.5, context=program.output)


@pytest.mark.slow
def test_f09_more_folders_than_may_be_watched(home: Path, program: Program) -> None:
    apart.skip_unless(WATCHES.format(20))
    clock = Clock(program)
    for number in range(40):
        (home / f".claude/projects/p{number}").mkdir(parents=True)
    with apart.daemon(program, WATCHES.format(20)) as daemon:
        wait_for("the word in status", lambda: program.json("status")["daemon"]["unwatched"] > 20, every=0.3)
        assert " folders every 30 s" in program.run("status").stdout
        for number in range(40):
            (home / f".claude/projects/p{number}/s.jsonl").write_bytes(prompt_line(f"t{number}", session=f"s{number}"))
        clock.set(SWEEP)
        wait_for("all turns", lambda: _turns(program) == 40, every=1, context=program.output)
        assert apart.read_log(daemon, program).count("the kernel's limit of watches is reached") == 1


MOUNTS = """\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 21 0:26 / /proc rw - proc proc rw
40 21 0:50 /export/ada /home/ada rw,nosuid shared:9 - nfs4 server:/export/ada rw,vers=4.2
41 40 0:51 / /home/ada/on\\040this\\040disk rw - btrfs /dev/sda2 rw
42 21 0:52 / /mnt/c rw - 9p drvfs rw
43 21 0:53 / /home/ada/far rw shared:11 master:2 - fuse.sshfs ada@host: rw
"""


@for_each(
    ("path", "kind"),
    [
        ("/home/ada/.local/state/skilld/skilld.db", "nfs4"),
        ("/home/ada/on this disk/skilld.db", "btrfs"),
        ("/home/adam/skilld.db", "ext4"),
        ("/mnt/c/Users/x.db", "9p"),
        ("/home/ada/far/x.db", "fuse.sshfs"),
    ],
)
def test_f10_the_file_system_of_a_file_is_recognized(path: str, kind: str) -> None:
    assert file_system_type(Path(path), MOUNTS) == kind


def test_f10_no_write_ahead_log_on_a_network_file_system(home: Path, program: Program) -> None:
    # The kernel's word on where the home lies is replaced for one process; the file system itself is this machine's.
    table = home / "mountinfo"
    table.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {home} rw - nfs4 server:/home rw\n")
    fake = f"mount --bind {table} /proc/$$/mountinfo"
    apart.skip_unless("mount --bind /etc/hostname /proc/$$/mountinfo")
    clock = Clock(program)
    with apart.daemon(program, fake):
        (home / ".claude/projects/-p").mkdir(parents=True)
        (home / ".claude/projects/-p/s.jsonl").write_bytes(prompt_line("t1"))
        state = home / ".local/state/skilld"
        wait_for("the turn", lambda: _count_recorded(state / "skilld.db") == 1, every=0.5, context=program.output)
        assert not (state / "skilld.db-wal").exists()
        clock.set(SWEEP)
        wait_for(
            "the word that no events come",
            lambda: _unwatched_files(state / "skilld.db") == [str(home / ".claude/projects")],
            every=0.5,
        )


def _unwatched_files(database: Path) -> list[str]:
    """Return the folders from which no events come, as `status` is told of them."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=LIMIT)) as db:
        row = db.execute("SELECT value FROM meta WHERE key = 'daemon'").fetchone()
    return [*json.loads(row[0])["silent"]] if row else []


def _count_recorded(database: Path) -> int:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=LIMIT)) as db:
        return int(db.execute("SELECT count(*) FROM turns").fetchone()[0])


@pytest.mark.slow
def test_f10_no_events_at_all(home: Path, project: Project, program: Program) -> None:
    # As on a network file system or with another system's files mounted: nothing tells what changes.
    apart.skip_unless(INSTANCES)
    clock = Clock(program)
    (home / ".claude/projects").mkdir(parents=True)
    with apart.daemon(program, INSTANCES):
        session = Session(home, project)
        session.use_skill()
        session.type("Let us begin", LASTING, "ok", "thanks", "go on")
        clock.set(SWEEP)
        wait_for("a proposal", lambda: program.json("proposals"), every=1, context=program.output)
    assert len(program.json("proposals")) == 1
