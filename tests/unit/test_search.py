"""Whoever searches, the same is found: the library where it is there, Python where it is not."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.agents import chunk
from skilld.agents.chunk import Chunk

PIECES = st.sampled_from([b'"type":"', b'"typ', b"\n", b"\0", b'":"', b"x" * 70, b"toolDenialKind", b"\xff\xfe"])
NEEDLES = st.sampled_from([b'"type":"', b"toolDenialKind", b'"parentUuid"', b"\n"])


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(chunk, "_fast_find", None)
    return monkeypatch


@given(st.lists(PIECES, max_size=40).map(b"".join), NEEDLES, st.integers(0, 3000), st.integers(0, 3000))
def test_the_library_finds_what_python_finds(data: bytes, needle: bytes, start: int, stop: int) -> None:
    stringzilla = pytest.importorskip("stringzilla", reason="there is no wheel for this machine")
    buffer, start, stop = bytearray(data), min(start, len(data)), min(stop, len(data))
    found = stringzilla.find(buffer, needle, start, stop) if start <= stop else -1
    assert found == buffer.find(needle, start, stop)


def test_a_few_lines_load_no_library(unloaded: pytest.MonkeyPatch) -> None:
    del unloaded
    assert chunk.finder(2000) is bytearray.find


def test_after_a_large_text_the_library_is_always_used(unloaded: pytest.MonkeyPatch) -> None:
    del unloaded
    stringzilla = pytest.importorskip("stringzilla", reason="there is no wheel for this machine")
    assert [chunk.finder(size) for size in (1 << 18, 2000)] == [stringzilla.find, stringzilla.find]


def test_without_the_library_python_searches(unloaded: pytest.MonkeyPatch) -> None:
    unloaded.setitem(sys.modules, "stringzilla", None)  # importing it fails
    data = bytearray(b"x" * (1 << 18) + b'"type":"\n')
    assert Chunk(data, len(data), 0).find(b'"type":"', 0, len(data)) == 1 << 18
