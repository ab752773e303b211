"""What `status` says about unwatched folders, lost events, and file systems without events."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.cli.status import _print_daemon
from skilld.daemon.messages import FileChanged, Message, Tick
from skilld.daemon.watching import FolderWatch
from skilld.ingest.discover import Root
from skilld.store import connection
from support.inotify import LINUX, inotify, overflow
from support.waiting import LIMIT, wait_for


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "projects"
    for number in range(9):
        (top / f"p{number}").mkdir(parents=True)
    return top


@pytest.fixture
def messages() -> list[Message]:
    return []


@pytest.fixture
def watching(folder: Path, messages: list[Message]) -> Iterator[FolderWatch]:
    watch = FolderWatch([Root("claude-code", folder)], messages.append)
    yield watch
    watch.stop()


def printed_status(watching: FolderWatch, capsys: pytest.CaptureFixture[str]) -> str:
    watching.check_events()
    capsys.readouterr()  # what was logged meanwhile
    _print_daemon(watching.facts(), "", running=True)
    return capsys.readouterr().out


def test_nothing_is_reported_if_everything_is_watched(
    watching: FolderWatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed_status(watching, capsys) == ""
    assert watching.reliable


@LINUX
def test_folders_beyond_the_kernels_limit_are_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from watchdog.observers import inotify_c

    add, calls = inotify_c.inotify_add_watch, []

    def only_four(descriptor: int, path: bytes, mask: int) -> int:
        """Answer as the kernel does where the person has no watch left (inotify_add_watch(2))."""
        calls.append(path)
        if len(calls) <= 4:
            return add(descriptor, path, mask)
        ctypes.set_errno(errno.ENOSPC)
        return -1

    monkeypatch.setattr(inotify_c, "inotify_add_watch", only_four)
    watching = FolderWatch([Root("claude-code", folder)], lambda _: None)
    try:
        text = printed_status(watching, capsys)
        assert not watching.reliable
    finally:
        watching.stop()
    assert text == "watching  the kernel's watch limit is reached: polling 6 folders every 30 s\n"


@LINUX
def test_a_kernel_without_a_descriptor_for_watching_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from watchdog.observers import inotify_c

    def none_left() -> int:
        """Answer as the kernel does where the person has no instance left (inotify_init(2))."""
        ctypes.set_errno(errno.EMFILE)
        return -1

    monkeypatch.setattr(inotify_c, "inotify_init", none_left)
    watching = FolderWatch([Root("claude-code", folder)], lambda _: None)
    try:
        text = printed_status(watching, capsys)
        assert (watching.facts()["watched"], watching.facts()["unwatched"]) == (0, 1)
    finally:
        watching.stop()
    assert text == "watching  the kernel's watch limit is reached: polling 1 folder every 30 s\n"


@LINUX
@pytest.mark.parametrize(("times", "words"), [(1, "once"), (2, "2 times")])
def test_lost_events_are_reported(
    watching: FolderWatch, messages: list[Message], capsys: pytest.CaptureFixture[str], times: int, words: str
) -> None:
    for _ in range(times):
        inotify(watching._watcher)._fd.handle_event(overflow())
    assert printed_status(watching, capsys) == f"watching  events were lost {words}, so everything was rescanned\n"
    assert messages == [Tick("full sweep")] * times
    assert watching.reliable


@LINUX
def test_folders_left_unwatched_by_lost_events_are_watched_again(
    watching: FolderWatch, messages: list[Message], folder: Path
) -> None:
    watches = inotify(watching._watcher)
    watches._remove_watch(str(folder / "p0"))  # as a folder is of which the kernel could not tell that it came
    watches._fd.handle_event(overflow())
    watching.watch_new_folders()
    file = folder / "p0/s.jsonl"
    file.write_bytes(b"{}\n")
    wait_for("the file", lambda: FileChanged(str(file)) in messages, LIMIT)


@LINUX
def test_a_session_that_continued_before_it_was_watched_is_read(tmp_path: Path, messages: list[Message]) -> None:
    root = Root("kimi-code", tmp_path)
    paths = [tmp_path / f"wd_p/session_{name}/agents/main/wire.jsonl" for name in "ab"]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}\n")
    watching = FolderWatch([root], messages.append)
    try:
        watching.watch_sessions({root: {str(paths[0]): paths[0].stat().st_mtime, str(paths[1]): 1.0}})
        assert messages == [FileChanged(str(paths[1]))]
        paths[0].write_bytes(b"{}\n{}\n")
        wait_for("its next line", lambda: FileChanged(str(paths[0])) in messages, LIMIT)
    finally:
        watching.stop()


@pytest.mark.parametrize("kind", ["nfs4", "9p", "cifs", "fuse.sshfs"])
def test_file_systems_without_events_are_reported(
    watching: FolderWatch, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    table = folder.parent / "mountinfo"
    table.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {folder.resolve()} rw - {kind} far:/home rw\n")
    monkeypatch.setattr(connection, "_MOUNT_TABLE", table)
    assert printed_status(watching, capsys) == f"watching  no events from {folder}; it is polled every 30 s\n"
    assert not watching.reliable
