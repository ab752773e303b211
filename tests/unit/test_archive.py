"""Archiving and restoring a skill: complete at every moment, and never over an existing file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skilld.errors import RefusedError, SkilldError
from skilld.library.archive import archive_skill, remove_leftovers, restore_skill
from skilld.skills.set_aside import NOTE_FILE, archived_skills, way_back

NOW = 1_780_000_000.0
FILES = {"SKILL.md": b"---\nname: tidy\n---\n\n- Tidy.\r\n", "scripts/run.sh": b"#!/bin/sh\n", "a/b/c.bin": bytes(256)}


def make_skill(folder: Path) -> Path:
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "link").symlink_to("SKILL.md")
    return folder


def is_complete(folder: Path) -> bool:
    return (
        all((folder / name).is_file() and (folder / name).read_bytes() == data for name, data in FILES.items())
        and os.readlink(folder / "link") == "SKILL.md"  # noqa: PTH115 - the text of the link, whatever it is
        and (folder / "scripts/run.sh").stat().st_mode & 0o777 == 0o755
    )


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return make_skill(tmp_path / "project/.claude/skills/tidy")


@pytest.fixture
def archive_place(tmp_path: Path) -> Path:
    (tmp_path / "archive").mkdir()
    return tmp_path / "archive"


@pytest.fixture
def other_file_system(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on another device."""
    device = tmp_path.stat().st_dev
    places = ("/dev/shm", "/var/tmp")  # noqa: S108 - in memory, where there is such a folder, and on a disk
    others = (place for place in places if os.access(place, os.W_OK) and Path(place).stat().st_dev != device)
    if (other := next(others, None)) is None:
        pytest.skip("there is no second device to write to here")
    folder = Path(tempfile.mkdtemp(dir=other))
    yield folder
    shutil.rmtree(folder)


def test_a_skill_is_archived_and_restored_byte_for_byte(skill: Path, archive_place: Path) -> None:
    archived_skill = archive_skill(skill, archive_place, NOW)
    assert not skill.exists()
    assert is_complete(archived_skill.folder)
    assert (archived_skill.name, archived_skill.origin, archived_skill.at) == ("tidy", skill, "2026-05-28T20:26:40Z")
    assert archived_skills(archive_place) == [archived_skill]
    assert restore_skill(archived_skill) == skill
    assert is_complete(skill)
    assert list(archive_place.iterdir()) == []


def test_it_is_restored_even_if_git_removed_the_empty_folders(skill: Path, archive_place: Path) -> None:
    archived_skill = archive_skill(skill, archive_place, NOW)
    shutil.rmtree(skill.parents[1])
    assert is_complete(restore_skill(archived_skill))
    again = archive_skill(skill, archive_place, NOW)
    shutil.rmtree(skill.parents[2])
    with pytest.raises(RefusedError, match="is gone"):
        restore_skill(again)
    assert is_complete(again.folder)


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_restoring_never_overwrites_existing_files(skill: Path, archive_place: Path, kind: str) -> None:
    archived_skill = archive_skill(skill, archive_place, NOW)
    if kind == "folder":
        skill.mkdir()
    elif kind == "file":
        skill.write_text("mine")
    else:
        skill.symlink_to(archived_skill.folder)
    with pytest.raises(RefusedError, match="already exists"):
        restore_skill(archived_skill)
    assert is_complete(archived_skill.folder)
    assert os.path.lexists(skill)
    assert archived_skills(archive_place) == [archived_skill]


def test_a_file_changed_during_the_copy_cancels_the_move(
    skill: Path, other_file_system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.copytree

    def copy(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        (skill / "SKILL.md").write_bytes(b"new")

    monkeypatch.setattr(shutil, "copytree", copy)
    with pytest.raises(RefusedError, match="changed by another program"):
        archive_skill(skill, other_file_system, NOW)
    assert (skill / "SKILL.md").read_bytes() == b"new"
    assert archived_skills(other_file_system) == []
    assert list(other_file_system.iterdir()) == []


def test_a_full_disk_is_reported_and_leaves_nothing(
    skill: Path, other_file_system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path, **_: object) -> None:
        target.mkdir()
        (target / "half").touch()
        raise shutil.Error([(str(source), str(target), "[Errno 28] No space left on device: 'a' -> 'b'")])

    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(SkilldError, match=r"No space left on device$"):
        archive_skill(skill, other_file_system, NOW)
    assert is_complete(skill)
    assert [*other_file_system.iterdir()] == []


def test_a_failed_removal_after_the_copy_loses_no_data(
    skill: Path, other_file_system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", _failing_rmtree)
        archive_skill(skill, other_file_system, NOW)
    (one,) = archived_skills(other_file_system)
    assert is_complete(one.folder)
    remove_leftovers(other_file_system, NOW + 10 * 86400)
    assert restore_skill(one) == skill
    assert is_complete(skill)


def _failing_rmtree(folder: Path, *, ignore_errors: bool = False) -> None:
    if not ignore_errors:
        raise PermissionError(13, "Permission denied", str(folder))


def _kill_at(step: int, skill: Path, archive_place: Path, what: str) -> bool:
    """Run archive or restore in a child that dies at its so-manieth call that changes a folder; say whether it died."""
    child = os.fork()
    if not child:
        left = step

        def count(event: str, details: tuple[Any, ...]) -> None:
            nonlocal left
            writes = event == "open" and details[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes or event in {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink"}:
                left -= 1
                if left < 0:
                    os._exit(9)

        sys.addaudithook(count)
        try:
            if what == "archive":
                archive_skill(skill, archive_place, NOW)
            else:
                restore_skill(archived_skills(archive_place)[0])
        except BaseException:  # noqa: BLE001 - the child must end here, whatever happens
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in {0, 9}
    return status == 9


def _find_copies(skill: Path, archive_place: Path) -> list[Path]:
    return [folder for folder in (skill, *(one.folder for one in archived_skills(archive_place))) if folder.is_dir()]


@pytest.mark.parametrize("device", ["same", "other"])
@pytest.mark.parametrize("what", ["archive", "restore"])
def test_a_kill_at_any_moment_loses_nothing_and_the_next_call_finishes(
    tmp_path: Path, request: pytest.FixtureRequest, device: str, what: str
) -> None:
    base = tmp_path if device == "same" else request.getfixturevalue("other_file_system")
    killed = True
    step = 0
    while killed:
        skill = make_skill(tmp_path / f"{step}/.claude/skills/tidy")
        archive_place = base / f"archive-{step}"
        archive_place.mkdir()
        if what == "restore":
            archive_skill(skill, archive_place, NOW)
        killed = _kill_at(step, skill, archive_place, what)
        whole = _find_copies(skill, archive_place)
        assert whole, f"killed at step {step}"
        assert all(map(is_complete, whole)), f"killed at step {step}"
        remove_leftovers(archive_place, NOW)
        if what == "archive" and skill.exists():
            archive_skill(skill, archive_place, NOW)
        elif what == "restore" and archived_skills(archive_place):
            restore_skill(archived_skills(archive_place)[0])
        remove_leftovers(archive_place, sys.maxsize)
        ended = [archived_skills(archive_place)[0].folder] if what == "archive" else [skill]
        assert _find_copies(skill, archive_place) == ended
        assert is_complete(ended[0])
        left = {path.name for path in skill.parent.iterdir()} - {"tidy"}
        assert {name for name in left if not name.startswith(".skilld-copying-")} == set()
        step += 1
    assert step > 3, "the child was never killed"


def test_an_entry_without_useful_data_is_no_skill(archive_place: Path) -> None:
    for name, note in {"a": "", "b": "[]", "c": '{"name": "x"}', "d": '{"name": "x", "origin": "y", "at": ""}'}.items():
        (archive_place / name / "x").mkdir(parents=True)
        (archive_place / name / NOTE_FILE).write_text(note)
    assert archived_skills(archive_place) == []


def test_a_skill_whose_name_begins_alike_is_not_the_deleted_one(tmp_path: Path) -> None:
    """The trash of macOS does not say where a folder was."""
    trash = tmp_path / ".Trash"
    make_skill(trash / "tidy-up-20260302-090000")
    assert way_back(tmp_path / "tidy", tmp_path / "archive", trash) == ""
    make_skill(trash / "tidy-20260302-090000")
    assert way_back(tmp_path / "tidy", tmp_path / "archive", trash).startswith(f"mv {trash}/tidy-2026")
