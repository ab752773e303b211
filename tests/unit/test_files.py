"""Writing files: only a regular file is ever replaced."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from skilld.files import write_atomically


def test_a_pipe_or_socket_stays_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        for path, kind in ((tmp_path / "pipe", Path.is_fifo), (tmp_path / "s", Path.is_socket)):
            with pytest.raises(OSError, match="it is not a regular file"):
                write_atomically(path, b"text", 0o600)
            assert kind(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "s"]


def test_a_file_is_replaced_and_a_missing_one_written(tmp_path: Path) -> None:
    for text in (b"one", b"two"):
        write_atomically(tmp_path / "file", text, 0o640)
        assert (tmp_path / "file").read_bytes() == text
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
