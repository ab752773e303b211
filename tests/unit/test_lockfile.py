"""One daemon per person: the kernel's lock decides, whatever the file says."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from skilld.daemon import lock as daemon_lock
from skilld.daemon.lock import Lock, holder, is_held, last_seen, show_life
from skilld.errors import NotRunningError, SkilldError

_HOLD = """
import sys
from pathlib import Path
from skilld.daemon import lock as daemon_lock
from skilld.daemon.lock import Lock
lock = Lock.acquire(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "daemon.lock"


def test_a_lock_is_held_until_it_is_released(path: Path) -> None:
    assert not is_held(path)
    lock = Lock.acquire(path)
    assert is_held(path)
    assert holder(path) == os.getpid()
    lock.release()
    assert not is_held(path)


def test_its_date_is_the_sign_of_life(path: Path) -> None:
    show_life(path, 1e9)  # it is gone: for others to report
    assert last_seen(path) is None
    lock = Lock.acquire(path)
    show_life(path, 1e9)
    assert is_held(path)
    assert (last_seen(path), holder(path)) == (1e9, os.getpid())
    lock.release()


def test_a_second_daemon_is_refused_and_told_the_first_ones_process(path: Path) -> None:
    lock = Lock.acquire(path)
    with pytest.raises(NotRunningError) as error:
        Lock.acquire(path)
    assert error.value.code == 4
    assert error.value.cause == f"process {os.getpid()}"
    lock.release()


def test_a_killed_process_releases_the_lock_though_its_file_stays(path: Path) -> None:
    root = Path(__file__).parents[2]
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    assert is_held(path)
    child.kill()
    child.communicate()
    assert path.exists()
    assert not is_held(path)
    Lock.acquire(path).release()


def test_checking_the_lock_does_not_prevent_a_start(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Lock.acquire(path).release()
    looking = os.open(path, os.O_RDWR)
    fcntl.flock(looking, fcntl.LOCK_SH)
    pauses = iter([*[None] * 20, looking])  # for a long time, on a busy machine

    def sleep(_: float) -> None:
        if (done := next(pauses)) is not None:
            os.close(done)

    monkeypatch.setattr(daemon_lock, "time", SimpleNamespace(sleep=sleep))
    Lock.acquire(path).release()
    assert next(pauses, None) is None


@pytest.mark.parametrize("content", [b"", b"{", b"5", b"[]", b'{"pid": "x"}', b"\xff\xfe"])
def test_the_file_content_is_only_a_hint(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert holder(path) is None
    assert not is_held(path)
    lock = Lock.acquire(path)
    assert json.loads(path.read_text())["pid"] == os.getpid()
    lock.release()


def test_a_lock_file_is_private_whatever_the_umask(path: Path) -> None:
    before = os.umask(0o022)
    try:
        Lock.acquire(path).release()
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_symlink_or_folder_in_its_place_is_reported(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SkilldError, match="symbolic"):
        Lock.acquire(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(SkilldError, match="directory"):
        Lock.acquire(path)
    assert not is_held(path)


def test_a_file_system_without_locks_means_no_running_daemon(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(SkilldError, match="No locks available") as error:
        Lock.acquire(path)
    assert "XDG_STATE_HOME" in error.value.remedy
