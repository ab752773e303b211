"""Whether a running daemon notices that its program was replaced (database: test_f15_taken_away.py)."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skilld.daemon import lock
from skilld.daemon.lock import FileIdentity
from skilld.errors import SkilldError


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name in ("lock", "skilld.db", "__init__.py"):
        (tmp_path / name).write_text("old")
    return tmp_path / "__init__.py"


def test_an_upgrade_is_noticed_by_the_file_time_too(program: Path) -> None:
    identity = FileIdentity(program.with_name("lock"), program.with_name("skilld.db"), program)
    identity.check()
    program.unlink()
    program.write_text("old")  # perhaps with the same inode
    with pytest.raises(SkilldError, match="it was upgraded or removed"):
        identity.check()


def test_a_deleted_program_is_noticed(program: Path) -> None:
    identity = FileIdentity(program.with_name("lock"), program.with_name("skilld.db"), program)
    program.unlink()
    with pytest.raises(SkilldError, match="it was upgraded or removed"):
        identity.check()


class _Checkout:
    """A git checkout with a program in it, and its identity as taken when it started."""

    def __init__(self, root: Path) -> None:
        self.root, self.now = root, 0.0
        self.package = root / "skilld"
        for name, text in {
            "__init__.py": "",
            "cli/run.py": "one\n",
            "store/schema.sql": "one\n",
            "words.txt": "a\n",
        }.items():
            (self.package / name).parent.mkdir(parents=True, exist_ok=True)
            (self.package / name).write_text(text)
        (root / "notes.md").write_text("one\n")
        for name in ("lock", "skilld.db"):
            (root / name).write_text("")
        self.git("init", "-q")
        self.commit("one")
        self.start()

    def git(self, *args: str) -> None:
        named = "-c", "user.name=A", "-c", "user.email=a@example.org"
        subprocess.run(["git", *named, *args], cwd=self.root, check=True, capture_output=True)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def start(self) -> None:
        self.identity = FileIdentity(
            self.root / "lock", self.root / "skilld.db", self.package / "__init__.py", lambda: self.now
        )

    def check(self) -> None:
        self.identity.check()


@pytest.fixture
def checkout(tmp_path: Path) -> _Checkout:
    return _Checkout(tmp_path / "checkout")


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ("checkout", "cli/run.py"),
        ("merge", "store/schema.sql"),
        ("reset", "words.txt"),
        ("stash", "new.py"),
        ("linked", "cli/run.py"),
    ],
)
def test_an_upgrade_of_a_checkout_is_noticed_at_once(checkout: _Checkout, name: str, how: str, tmp_path: Path) -> None:
    checkout.git("switch", "-q", "-c", "newer")
    (checkout.package / name).write_text("two, which is longer\n")
    checkout.commit("two")
    checkout.git("switch", "-q", "-")
    if how == "linked":
        checkout.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
        checkout.root, checkout.package = tmp_path / "linked", tmp_path / "linked/skilld"
        (checkout.root / "lock").write_text("")
    if how == "stash":
        checkout.git("checkout", "-q", "newer", "--", f"skilld/{name}")
    checkout.start()
    checkout.check()
    commands = {
        "checkout": ("checkout", "-q", "newer"),
        "merge": ("merge", "-q", "newer"),
        "reset": ("reset", "-q", "--hard", "newer"),
        "stash": ("stash", "-q"),
        "linked": ("checkout", "-q", "--detach", "newer"),
    }
    checkout.git(*commands[how])
    with pytest.raises(SkilldError, match=rf"it was upgraded or removed: \S*{name} has changed"):
        checkout.check()


def test_git_commands_that_leave_the_program_as_it_is_do_not_stop_it(checkout: _Checkout) -> None:
    (checkout.root / "notes.md").write_text("two, which is longer\n")
    for command in (
        ("status",),
        ("add", "-A"),
        ("commit", "-q", "-m", "two"),
        ("switch", "-q", "-c", "other"),
        ("gc", "-q"),
    ):
        checkout.git(*command)
        checkout.check()
    (checkout.package / "cli/__pycache__").mkdir()
    (checkout.package / "cli/__pycache__/run.cpython-311.pyc").write_bytes(b"compiled")
    checkout.now += 3600
    checkout.check()


def test_a_file_written_into_is_noticed_within_a_minute(checkout: _Checkout) -> None:
    (checkout.package / "cli/run.py").write_text("two, which is longer\n")
    checkout.check()
    checkout.now += 61
    with pytest.raises(SkilldError, match=r"cli/run\.py has changed"):
        checkout.check()


def test_a_new_file_is_noticed_at_once(checkout: _Checkout) -> None:
    (checkout.package / "cli/added.py").write_text("")
    with pytest.raises(SkilldError, match=r"cli/added\.py has changed"):
        checkout.check()


def test_a_program_whose_folder_is_gone_is_noticed(checkout: _Checkout) -> None:
    shutil.rmtree(checkout.package)
    with pytest.raises(SkilldError, match="it was upgraded or removed"):
        checkout.check()


def test_a_message_costs_no_look_at_all_files(checkout: _Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    real = os.lstat

    def look(path: Path) -> os.stat_result:
        looks.append(str(path))
        return real(path)

    monkeypatch.setattr(os, "lstat", look)
    checkout.check()
    assert len(looks) == 5, looks  # the lock, the database, and three folders


def test_a_folder_that_cannot_be_listed_is_no_upgrade(checkout: _Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def failing(path: str) -> object:
        if Path(path).name == "cli":
            raise OSError(errno.EIO, "the disk does not answer")
        return scandir(path)

    checkout.now += 86400
    with monkeypatch.context() as broken:
        broken.setattr(os, "scandir", failing)
        checkout.check()
    (checkout.package / "cli/run.py").unlink()
    checkout.now += 86400
    with pytest.raises(SkilldError, match="it was upgraded or removed"):
        checkout.check()


def test_a_lock_tells_whether_the_program_was_changed_since(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = program.with_name("lock")
    away = program.with_name("away")
    away.mkdir()
    code = away / "__init__.py"
    code.write_text("old")
    monkeypatch.setattr(lock, "_PROGRAM", code)
    held = lock.Lock.acquire(place)
    assert not lock.is_outdated(place)
    (away / "__pycache__").mkdir()
    (away / "__pycache__" / "x.pyc").touch()
    assert not lock.is_outdated(place), "compiled only"
    assert not lock.is_outdated(place, program), "another installation"
    (away / "run.py").write_text("new")
    assert lock.is_outdated(place)
    for text in ('{"pid": 1}', "", "[]", "7"):
        place.write_text(text)
        assert not lock.is_outdated(place), text
    held.release()
