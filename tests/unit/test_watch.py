"""Watch events on a real file system: early hints, folders that come and go, and throttling."""

from __future__ import annotations

import queue
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.events import FileModifiedEvent
from watchdog.observers.api import BaseObserver

from skilld.ingest import watch
from skilld.ingest.watch import Throttle, Watcher
from support.inotify import LINUX, inotify, overflow
from support.waiting import LIMIT, wait_for


class EventRecorder:
    """What a watcher has told."""

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.lost = 0
        self.appeared = 0

    def is_lost(self) -> None:
        self.lost += 1

    def has_appeared(self) -> None:
        self.appeared += 1


@pytest.fixture
def events() -> EventRecorder:
    return EventRecorder()


@pytest.fixture
def watcher(events: EventRecorder) -> Iterator[Watcher]:
    made = Watcher(changed=events.changed.append, lost=events.is_lost, appeared=events.has_appeared)
    yield made
    made.stop()


def _write(events: EventRecorder, path: Path) -> None:
    events.changed.clear()
    path.write_text("x")
    wait_for(f"a word of {path.name}", lambda: str(path) in events.changed)


def test_a_created_written_or_moved_file_is_reported(watcher: Watcher, events: EventRecorder, tmp_path: Path) -> None:
    folder = tmp_path / "projects"
    (folder / "p").mkdir(parents=True)
    assert watcher.watch([folder]) == [folder]
    assert watcher.watch([folder]) == []
    assert watcher.folders == 1
    _write(events, folder / "p/a.jsonl")
    _write(events, folder / "p/a.jsonl")
    (tmp_path / "b.jsonl").write_text("x")
    (tmp_path / "b.jsonl").rename(folder / "p/b.jsonl")
    wait_for("the moved file", lambda: str(folder / "p/b.jsonl") in events.changed)


def test_a_file_in_a_new_folder_is_reported(watcher: Watcher, events: EventRecorder, tmp_path: Path) -> None:
    watcher.watch([tmp_path])
    (tmp_path / "new/deeper").mkdir(parents=True)
    (tmp_path / "new/deeper/a.jsonl").write_text("x")
    wait_for("the file", lambda: str(tmp_path / "new/deeper/a.jsonl") in events.changed)


def test_a_folder_created_later_is_reported_step_by_step(
    watcher: Watcher, events: EventRecorder, tmp_path: Path
) -> None:
    folder = tmp_path / ".claude/projects"
    assert watcher.watch([folder]) == []
    for part in (folder.parent, folder):
        before = events.appeared
        part.mkdir()
        wait_for(f"{part} to be told", lambda before=before: events.appeared > before)  # type: ignore[misc]
        watcher.watch([folder])
    assert watcher.folders == 1
    _write(events, folder / "a.jsonl")


@pytest.mark.parametrize("way", ["deleted", "moved"])
def test_a_folder_that_was_deleted_and_recreated_is_watched_again(
    watcher: Watcher, events: EventRecorder, tmp_path: Path, way: str
) -> None:
    folder = tmp_path / "projects"
    folder.mkdir()
    watcher.watch([folder])
    if way == "deleted":
        shutil.rmtree(folder)
    else:
        folder.rename(tmp_path / "old")
    assert watcher.watch([folder]) == []
    assert watcher.folders == 0
    folder.mkdir()
    assert watcher.watch([folder]) == [folder]
    _write(events, folder / "a.jsonl")


@LINUX
def test_events_lost_by_the_kernel_are_reported(watcher: Watcher, events: EventRecorder, tmp_path: Path) -> None:
    watcher.watch([tmp_path])
    inotify(watcher)._fd.handle_event(overflow())
    assert events.lost == 1


@LINUX
def test_a_watcher_that_died_restarts(watcher: Watcher, events: EventRecorder, tmp_path: Path) -> None:
    watcher.watch([tmp_path])
    inotify(watcher).stop()
    before = watcher.alive
    watcher.restart()
    assert (before, watcher.alive) == (False, True)
    _write(events, tmp_path / "a.jsonl")


@LINUX
def test_a_folder_that_took_the_name_of_another_is_watched(
    watcher: Watcher, events: EventRecorder, tmp_path: Path
) -> None:
    for name in ("p/a", "p/b"):
        (tmp_path / name).mkdir(parents=True)
    watcher.watch([tmp_path / "p"])
    (tmp_path / "p/a").rename(tmp_path / "p/b")  # over an empty one, which is no more
    wait_for("the new name", lambda: (tmp_path / "p/b/x").write_text("x") and str(tmp_path / "p/b/x") in events.changed)
    (tmp_path / "p/b/below").mkdir()
    _write(events, tmp_path / "p/b/x")
    wait_for("a folder in it", lambda: str(tmp_path / "p/b/below") in inotify(watcher)._watches)


@LINUX
def test_a_sparsely_watched_folder_keeps_its_watches_and_gets_new_ones(
    watcher: Watcher, events: EventRecorder, tmp_path: Path
) -> None:
    for name in ("old", "new"):
        (tmp_path / "p" / name).mkdir(parents=True)
    assert watcher.watch([tmp_path], sparse=[tmp_path]) == [tmp_path]
    kept = {str(tmp_path / "p"), str(tmp_path / "p/new"), str(tmp_path / "p/gone")}
    assert watcher.watch_only(tmp_path, kept) == kept - {str(tmp_path / "p/gone")}
    assert watcher.watch_only(tmp_path, kept) == set()
    (tmp_path / "p/old/a.jsonl").write_text("x")
    _write(events, tmp_path / "p/new/a.jsonl")
    (tmp_path / "p/newest/main").mkdir(parents=True)
    (tmp_path / "p/newest/main/a.jsonl").write_text("x")
    wait_for("the newest", lambda: str(tmp_path / "p/newest/main/a.jsonl") in events.changed)
    assert str(tmp_path / "p/old/a.jsonl") not in events.changed


@LINUX
def test_folders_of_old_sessions_are_unwatched(
    watcher: Watcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_MAX_SPARE_WATCHES", 1)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    watcher.watch([tmp_path], sparse=[tmp_path])
    watcher.watch_only(tmp_path, {str(tmp_path / "a"), str(tmp_path / "b")})
    watcher.watch_only(tmp_path, {str(tmp_path / "c")})
    assert set(inotify(watcher)._watches) == {str(tmp_path), str(tmp_path / "c")}


@pytest.fixture
def observing(monkeypatch: pytest.MonkeyPatch, events: EventRecorder) -> Iterator[Watcher]:
    """Give a watcher as on macOS, with this system's observer."""
    monkeypatch.setattr(sys, "platform", "darwin")
    made = Watcher(changed=events.changed.append, lost=events.is_lost, appeared=events.has_appeared)
    yield made
    made.stop()


def test_an_event_for_the_real_path_of_a_linked_folder_uses_the_links_name(
    observing: Watcher, events: EventRecorder, tmp_path: Path
) -> None:
    (tmp_path / "dotfiles/projects").mkdir(parents=True)
    (tmp_path / ".claude").symlink_to(tmp_path / "dotfiles")
    folder = tmp_path / ".claude/projects"
    assert observing.watch([folder]) == [folder]
    assert isinstance(observing._backend, watch._ObserverBackend)
    emitter = next(iter(observing._backend._observer.emitters))
    emitter.queue_event(FileModifiedEvent(str(tmp_path / "dotfiles/projects/p/a.jsonl")))  # as FSEvents does
    wait_for("the word", lambda: str(folder / "p/a.jsonl") in events.changed)


def test_on_macos_the_home_is_not_watched_for_future_folders(
    observing: Watcher, events: EventRecorder, tmp_path: Path
) -> None:
    folder = tmp_path / ".claude/projects"
    assert observing.watch([folder]) == []
    folder.mkdir(parents=True)
    assert observing.watch([folder]) == [folder]
    _write(events, folder / "a.jsonl")
    assert events.appeared == 0


@pytest.mark.parametrize("error", [OSError, RuntimeError, SystemError])
def test_an_impossible_watch_is_left_to_the_sweep(
    monkeypatch: pytest.MonkeyPatch, observing: Watcher, tmp_path: Path, error: type[Exception]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(BaseObserver, "schedule", refuse)
    assert observing.watch([tmp_path]) == []
    assert observing.folders == 0


A, B = Path("/a"), Path("/b")


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


def test_a_hint_that_comes_too_soon_is_returned_once_later(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(watch, "time", clock)
    again: queue.SimpleQueue[Path] = queue.SimpleQueue()
    looks = Throttle(again.put, seconds=0.2)
    assert looks.is_due(A)
    assert not looks.is_due(A)
    assert not looks.is_due(A)
    assert looks.is_due(B)
    assert again.get(timeout=LIMIT) == A
    clock.now += 0.2
    assert looks.is_due(A)
    assert again.empty()
