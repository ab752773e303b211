"""F-08 to F-10: events lost, no watches to be had, no events at all. What was typed is found by looking."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from faults import apart
from faults.clock import Clock
from support.claude_lines import append, typed
from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.waiting import wait_for

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
    with program.daemon() as daemon:
        daemon.send_signal(signal.SIGSTOP)
        for _ in range(int(QUEUE.read_text()) // 2 + 100):  # two files in turn, or the kernel makes one event of two
            for file in noise:
                file.write(b"x")
        (folder / "s1.jsonl").write_bytes(typed("t1") + typed("t2"))
        other = folder.with_name("-q") / "s2.jsonl"
        other.parent.mkdir()
        other.write_bytes(typed("u1", session="s2"))
        daemon.send_signal(signal.SIGCONT)
        wait_for("the turns", lambda: _turns(program) == 3, 25, every=0.5, context=program.output)
        append(other, typed("u2", session="s2"))
        wait_for("a turn in a folder that is new", lambda: _turns(program) == 4, 25, every=0.5, context=program.output)


def test_f09_more_folders_than_may_be_watched(home: Path, program: Program) -> None:
    apart.needs(WATCHES.format(20))
    clock = Clock(program)
    for number in range(40):
        (home / f".claude/projects/p{number}").mkdir(parents=True)
    with apart.daemon(program, WATCHES.format(20)) as daemon:
        wait_for("the word in status", lambda: program.json("status")["daemon"]["unwatched"] > 20, 10, every=0.3)
        for number in range(40):
            (home / f".claude/projects/p{number}/s.jsonl").write_bytes(typed(f"t{number}", session=f"s{number}"))
        clock.set(SWEEP)
        wait_for("all turns", lambda: _turns(program) == 40, 30, every=1, context=program.output)
        assert apart.log_of(daemon, program).count("the kernel's limit of watches is reached") == 1


def test_f10_no_events_at_all(home: Path, project: Project, program: Program) -> None:
    # As on a network file system or with another system's files mounted: nothing tells what changes.
    apart.needs(INSTANCES)
    clock = Clock(program)
    (home / ".claude/projects").mkdir(parents=True)
    with apart.daemon(program, INSTANCES):
        session = Session(home, project)
        session.use_skill()
        session.type("Let us begin", LASTING, "ok", "thanks", "go on")
        clock.set(SWEEP)
        wait_for("a proposal", lambda: program.json("proposals"), 30, every=1, context=program.output)
    assert len(program.json("proposals")) == 1
