"""Whether a running daemon notices that its program was replaced (database: test_f15_taken_away.py)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
    os.utime(program, ns=(1, 1))  # the same inode, as when an installer is given it again
    with pytest.raises(SkilldError, match="it was upgraded or removed"):
        identity.check()


def test_a_deleted_program_is_noticed(program: Path) -> None:
    identity = FileIdentity(program.with_name("lock"), program.with_name("skilld.db"), program)
    program.unlink()
    with pytest.raises(SkilldError, match="it was upgraded or removed"):
        identity.check()
