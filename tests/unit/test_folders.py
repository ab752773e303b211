"""What a quick sweep of the folders skips, and what it must not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.ingest.discover import FileStates, FolderScanner, Root, find_transcripts

NOW = 1772442000.0
LONG_AGO = NOW - 90_000
HOUR_AGO = NOW - 3600


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a/one.jsonl", "b/c/two.jsonl", "b/notes.txt"):
        write(tmp_path / name)
    for folder in (tmp_path / "a", tmp_path / "b/c", tmp_path / "b", tmp_path):
        os.utime(folder, (LONG_AGO, LONG_AGO))
    return tmp_path


def write(path: Path, text: str = "x", at: float = LONG_AGO) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))


class Looker:
    """Looks again and again at one folder, and has seen what it was told."""

    def __init__(self, root: Path) -> None:
        self._folders, self._top, self._root = FolderScanner(), root, Root("codex", root)
        self._seen = FileStates()

    def look(self, quiet_since: float | None = HOUR_AGO, now: float = NOW) -> list[str]:
        found = list(self._folders.changed_files(self._root, self._seen, now, quiet_since=quiet_since))
        for path in found:
            facts = Path(path).stat()
            self._seen.record(path, facts.st_size, facts.st_mtime)
        return sorted(str(Path(path).relative_to(self._top)) for path in found)


def test_the_first_sweep_sees_all_transcripts_and_the_next_only_changes(root: Path) -> None:
    looker = Looker(root)
    assert looker.look() == ["a/one.jsonl", "b/c/two.jsonl"]
    assert looker.look(None) == []
    write(root / "a/one.jsonl", "longer")
    assert looker.look(None) == ["a/one.jsonl"]


def test_a_quiet_folder_is_skipped_until_a_full_sweep(root: Path) -> None:
    looker = Looker(root)
    looker.look()
    write(root / "a/one.jsonl", "longer")  # a file that grows leaves its folder as it was
    assert looker.look() == []
    assert looker.look(None) == ["a/one.jsonl"]


def test_a_recently_active_folder_is_swept(root: Path) -> None:
    looker = Looker(root)
    write(root / "b/c/two.jsonl", at=NOW - 60)
    looker.look()
    write(root / "b/c/two.jsonl", "longer", at=NOW - 30)
    assert looker.look() == ["b/c/two.jsonl"]


def test_new_files_are_seen_at_once_even_below_quiet_folders(root: Path) -> None:
    looker = Looker(root)
    looker.look()
    write(root / "b/c/new.jsonl")
    write(root / "b/d/e/newer.jsonl")
    assert looker.look() == ["b/c/new.jsonl", "b/d/e/newer.jsonl"]


def test_a_folder_changed_just_before_the_sweep_is_swept_again(root: Path) -> None:
    looker = Looker(root)
    os.utime(root / "a", (NOW, NOW))
    looker.look()
    write(root / "a/new.jsonl")
    os.utime(root / "a", (NOW, NOW))  # within the same tick of the clock
    assert looker.look(now=NOW + 10) == ["a/new.jsonl"]


def test_a_folder_that_returns_counts_as_new(root: Path) -> None:
    looker = Looker(root)
    looker.look()
    (root / "a").rename(root.parent / "away")
    assert looker.look() == []
    (root.parent / "away").rename(root / "a")
    write(root / "a/one.jsonl", "longer")
    assert looker.look() == ["a/one.jsonl"]
    assert Looker(root / "nowhere").look() == []


def test_only_a_databases_own_folder_is_swept_and_its_wal_counts(tmp_path: Path) -> None:
    write(tmp_path / "opencode.db")
    write(tmp_path / "below/opencode.db")
    root, folders, seen = Root("opencode", tmp_path, "opencode.db"), FolderScanner(), FileStates()
    (file,) = folders.changed_files(root, seen, NOW, quiet_since=HOUR_AGO)
    assert file == str(tmp_path / "opencode.db")
    seen.record(file, 1, LONG_AGO)
    assert list(folders.changed_files(root, seen, NOW, quiet_since=HOUR_AGO)) == []
    write(tmp_path / "opencode.db-wal", "more", NOW)
    assert list(folders.changed_files(root, seen, NOW, quiet_since=HOUR_AGO)) == [file]


def test_a_sessions_own_folder_is_not_searched_and_the_newest_sessions_are_known(tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path / f"wd_p/session_{number:02}/agents/main/wire.jsonl", at=LONG_AGO + number)
    write(tmp_path / "wd_p/session_00/agents/agent-0/wire.jsonl")
    (tmp_path / "wd_q/session_x/agents/main/wire.jsonl").mkdir(parents=True)  # no file, whatever its name
    root, folders, seen = Root("kimi-code", tmp_path), FolderScanner(), FileStates()
    found = sorted(folders.changed_files(root, seen, NOW, quiet_since=HOUR_AGO))
    assert found == [str(tmp_path / f"wd_p/session_{number:02}/agents/main/wire.jsonl") for number in range(40)]
    assert [path.split("/")[-4] for path in folders.newest[root]] == [f"session_{number:02}" for number in range(8, 40)]
    assert sorted(path for path, _ in find_transcripts(root)) == list(map(Path, found))


def test_a_resumed_old_session_is_among_the_newest_after_a_full_sweep(tmp_path: Path) -> None:
    for number in range(33):
        write(tmp_path / f"p/{number:02}/updates.jsonl", at=LONG_AGO + number)
    for folder in (tmp_path / "p", tmp_path):
        os.utime(folder, (LONG_AGO, LONG_AGO))
    root, folders, seen = Root("grok-build", tmp_path), FolderScanner(), FileStates()
    for path in folders.changed_files(root, seen, NOW, quiet_since=HOUR_AGO):
        seen.record(path, 1, Path(path).stat().st_mtime)
    oldest = tmp_path / "p/00/updates.jsonl"
    write(oldest, "longer", at=NOW - 60)
    assert list(folders.changed_files(root, seen, NOW, quiet_since=HOUR_AGO)) == []
    assert list(folders.changed_files(root, seen, NOW, quiet_since=None)) == [str(oldest)]
    assert str(oldest) in folders.newest[root]
