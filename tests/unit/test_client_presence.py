"""A waiting session is over once its client has exited or moved on to another session."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from skilld.batching.closing import SessionKey
from skilld.caller.clients import Client, find_clients, parse_lsof
from skilld.daemon.engine import Engine
from skilld.daemon.presence import Presence
from skilld.ingest.discover import Host
from skilld.settings import Settings
from skilld.store import Store
from support.claude_lines import prompt_line, write_transcript
from support.new_store import new_store
from support.waiting import wait_for

NOW = 1772442000.0
on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked at by lsof here")
CLAUDE, CODEX = "Claude Code", "Codex"


class World:
    """Sessions in a store, and the clients that are to be seen; `ended_sessions` is one look of the daemon."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clients: list[Client] = []
        self.looks = 0
        self.presence = Presence(store.transcripts, self._look)

    def _look(self) -> list[Client]:
        self.looks += 1
        return list(self.clients)

    def add_turn(self, name: str, at: float = NOW - 60, cwd: str = "/w/shop", agent: str = "claude-code") -> SessionKey:
        self.store.transcripts.record_activity(agent, name, cwd=cwd, activity=at)
        self.presence.note_activity((agent, name))
        return agent, name

    def start_client(self, pid: int, title: str = CLAUDE, folder: str = "/w/shop") -> None:
        self.clients.append(Client(pid, title, folder))

    def ended_sessions(self, *waiting: SessionKey) -> list[str]:
        return [name for _, name in self.presence.end_sessions(waiting, NOW)]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    store = new_store(tmp_path / "skilld.db")
    yield World(store)
    store.close()


@contextmanager
def program(folder: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of this name in the folder until the block ends."""
    there = folder / "bin" / name
    there.parent.mkdir(exist_ok=True)
    shutil.copy(shutil.which("sleep") or "/bin/sleep", there)
    process = subprocess.Popen([there, "60"], cwd=folder)
    try:
        wait_for("the program", lambda: Path(f"/proc/{process.pid}/exe").samefile(there))
        yield process
    finally:
        process.kill()
        process.wait()


def test_u5_a_session_is_over_once_its_client_has_exited(world: World, tmp_path: Path) -> None:
    with program(tmp_path, "claude") as client:
        one = world.add_turn("one")
        world.start_client(client.pid)
        assert world.ended_sessions(one) == []
        world.add_turn("one")
        assert world.ended_sessions(one) == []
        assert world.looks == 1  # its client is known, and runs
    world.add_turn("one")
    assert world.ended_sessions(one) == []  # it was seen just now
    assert world.looks == 2
    assert world.ended_sessions(one) == ["one"]
    assert world.store.transcripts.activity(*one)[1]


@on_linux
def test_an_exited_client_not_yet_reaped_counts_as_gone(world: World, tmp_path: Path) -> None:
    """Its parent (here this test, else a terminal) leaves it as a zombie, which still takes signals."""
    with program(tmp_path, "claude") as client:
        one = world.add_turn("one")
        world.start_client(client.pid)
        assert world.ended_sessions(one) == []
        client.kill()
        stat = Path(f"/proc/{client.pid}/stat")
        wait_for("a zombie", lambda: ") Z " in stat.read_text())
        assert world.ended_sessions(one) == ["one"]


def test_u5_the_previous_session_is_over_once_its_client_starts_the_next(world: World) -> None:
    one, two = world.add_turn("one", NOW - 60), world.add_turn("two", NOW - 30)
    world.start_client(os.getpid())
    assert world.ended_sessions(one, two) == ["one"]


def test_two_clients_in_one_folder_keep_two_sessions(world: World) -> None:
    sessions = [world.add_turn("one", NOW - 60), world.add_turn("two", NOW - 30), world.add_turn("three", NOW - 20)]
    world.start_client(os.getpid())
    world.start_client(os.getppid())
    assert world.ended_sessions(*sessions) == ["one"]
    assert world.ended_sessions(*sessions[1:]) == []


def test_a_recent_turn_keeps_the_session_open(world: World) -> None:
    one = world.add_turn("one", NOW - 1)
    world.add_turn("two", NOW)
    world.start_client(os.getpid())
    assert world.ended_sessions(one) == []


def test_a_session_whose_client_was_never_seen_keeps_waiting(world: World) -> None:
    one = world.add_turn("one")
    world.start_client(os.getpid(), CODEX)
    world.start_client(os.getpid(), CLAUDE, "/w/other")
    world.start_client(os.getpid(), CLAUDE, "/w/shopping")
    assert world.ended_sessions(one) == []
    world.add_turn("one")
    assert world.ended_sessions(one) == []
    assert world.looks == 1  # once a minute


def test_other_agents_folders_and_headless_runs_end_nothing(world: World) -> None:
    one = world.add_turn("one")
    world.add_turn("codex", NOW - 5, agent="codex")
    world.add_turn("other", NOW - 5, cwd="/w/other")
    world.store.transcripts.record_activity("claude-code", "headless", cwd=None, activity=NOW - 5)
    ended = world.add_turn("ended", NOW - 5)
    world.store.transcripts.end_session(*ended)
    world.start_client(os.getpid())
    assert world.ended_sessions(one) == []


def test_a_command_may_have_moved_the_session_into_a_subfolder(world: World, tmp_path: Path) -> None:
    with program(tmp_path, "claude") as client:
        one = world.add_turn("one", cwd="/w/shop/src/api")
        world.start_client(client.pid)
        assert world.ended_sessions(one) == []
    assert world.ended_sessions(one) == ["one"]


@on_linux
def test_u5_waiting_turns_are_judged_when_the_client_exits(tmp_path: Path) -> None:
    line = prompt_line("t1", "from now on always put the ticket number first", cwd=str(tmp_path))
    with closing(new_store(tmp_path / "skilld.db")) as store:
        engine = Engine(store, Settings(model="offline"), Host(tmp_path, {}), NOW)
        write_transcript(tmp_path / ".claude/projects/-p/s1.jsonl", line, mtime=NOW)
        with program(tmp_path, "claude"):
            engine.follower.sweep()
            assert engine.close_due(NOW + 3) == 0
            assert engine.close_due(NOW + 8) == 0
        assert engine.close_due(NOW + 13) == 1
        batch = engine.next_batch(NOW + 13)
        assert batch is not None
        assert batch.closed_by == "ended"


@on_linux
def test_a_client_is_found_by_its_program_and_folder(tmp_path: Path) -> None:
    with program(tmp_path, "codex") as codex, program(tmp_path, "vim"):
        assert [client for client in find_clients() if client.folder == str(tmp_path)] == [
            Client(codex.pid, CODEX, str(tmp_path))
        ]


def test_lsof_output_yields_folders() -> None:
    assert parse_lsof("p12\nfcwd\nn/w/a b\np13\nfcwd\np14\nfcwd\nn/w/shop\n") == {12: "/w/a b", 14: "/w/shop"}
