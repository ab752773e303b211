"""The tailer against a simple model: every complete line is read, in order, whatever happens to a file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.ingest import tail
from skilld.types import RawLine, Span


@dataclass(frozen=True)
class Reading:
    """Everything one look gave."""

    lines: tuple[RawLine, ...]
    overlong: tuple[Span, ...]
    cursor: tail.Cursor
    restarted: bool
    more: bool
    size: int


def read(path: Path, cursor: tail.Cursor | None, budget: int = 4 << 20) -> Reading:
    """Take one look at a file."""
    with tail.read_new(path, cursor) as look:
        lines: list[RawLine] = []
        for part in look.parts(budget):
            lines += [part] if isinstance(part, RawLine) else part.raw_lines()
        return Reading(tuple(lines), tuple(look.overlong), look.cursor, look.restarted, look.more, look.size)


def _texts(reading: Reading) -> list[bytes]:
    return [line.data for line in reading.lines]


def test_lines_have_offsets_and_a_partial_one_waits(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n\ntwo\nthr")
    first = read(path, None)
    assert first.lines == (RawLine(0, 4, b"one"), RawLine(4, 5, b""), RawLine(5, 9, b"two"))
    assert first.cursor.offset == 9
    assert (first.size, first.more, first.restarted) == (12, False, False)
    with path.open("ab") as file:
        file.write(b"ee\n")
    assert read(path, first.cursor).lines == (RawLine(9, 15, b"three"),)


def test_what_comes_during_a_look_is_for_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    with tail.read_new(path, None) as look:
        with path.open("ab") as file:
            file.write(b"two\n")
        assert [part.size for part in look.parts() if not isinstance(part, RawLine)] == [4]
        assert (look.size, look.more, look.cursor.offset) == (4, False, 4)
        assert _texts(read(path, look.cursor)) == [b"two"]


def test_a_budget_limits_one_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "CHUNK_BYTES", 18)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"12345\n" * 10)
    seen, cursor, looks = [], None, 0
    more = True
    while more:
        reading = read(path, cursor, budget=13)
        seen += _texts(reading)
        cursor, more, looks = reading.cursor, reading.more, looks + 1
    assert seen == [b"12345"] * 10
    assert looks == 4


@pytest.mark.parametrize("change", ["truncate", "replace", "rewrite"])
def test_a_replaced_file_is_read_from_its_start(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"old one\nold two\n")
    cursor = read(path, None).cursor
    if change == "truncate":
        path.write_bytes(b"new\n")
    elif change == "replace":
        (tmp_path / "b").write_bytes(b"new\nand longer than the old one was\n")
        (tmp_path / "b").replace(path)
    else:
        with path.open("r+b") as file:
            file.write(b"new one\nnew")
    reading = read(path, cursor)
    assert reading.restarted
    assert _texts(reading)[0].startswith(b"new")


def test_an_overlong_line_is_skipped_in_one_or_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_LINE", 10)
    for chunk in (3, 7, 1000):
        monkeypatch.setattr(tail, "CHUNK_BYTES", chunk)
        path = tmp_path / f"{chunk}.jsonl"
        path.write_bytes(b"short\n" + b"x" * 30 + b"\nexactly 10\nlast\n")
        reading = read(path, None)
        assert _texts(reading) == [b"short", b"exactly 10", b"last"]
        assert reading.overlong == (Span(6, 37),)


@pytest.mark.parametrize("pictures", [1, 3])
def test_an_overlong_line_is_read_without_its_images(tmp_path: Path, pictures: int) -> None:
    picture = b'{"type":"image","data":"' + b"iVBORw0KGgo/+" * 750_000 + b'"},'
    line = b'{"content":[' + picture * pictures + b'{"type":"text","text":"always crop them"}]}'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"short\n" + line + b"\nlast\n")
    reading = read(path, None, budget=1 << 30)
    assert len(line) > tail.MAX_LINE
    assert [text.count(b"always crop them") for text in _texts(reading)] == [0, 1, 0]
    assert json.loads(_texts(reading)[1])["content"][-1]["text"] == "always crop them"
    assert reading.overlong == (Span(6, 7 + len(line)),)
    assert (reading.lines[1].start, reading.lines[1].end) == (6, 7 + len(line))


def test_an_incomplete_overlong_line_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "MAX_LINE", 10)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"short\n" + b"x" * 30)
    reading = read(path, None)
    assert (_texts(reading), reading.overlong, reading.cursor.offset) == ([b"short"], (), 6)


def test_special_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(tail.UnreadableError):
        read(tmp_path / "pipe", None)
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"symbolic"):
        read(tmp_path / "link", None)


_PIECE = st.binary(min_size=1, max_size=12).map(lambda data: data.replace(b"\n", b"."))
_STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("append"), st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b".")), max_size=4)
        ),
        st.tuples(st.just("partial"), _PIECE),
        st.tuples(st.just("finish"), st.none()),
        st.tuples(st.just("replace"), st.none()),
        st.tuples(st.just("read"), st.none()),
        st.tuples(st.just("restart"), st.none()),
    ),
    max_size=20,
)


@given(_STEPS)
def test_any_sequence_of_writes_and_restarts_yields_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("model") / "a.jsonl"
    number = 0  # every line is unique, so that losing and doubling both show

    def unique(data: bytes) -> bytes:
        nonlocal number
        number += 1
        return b"%d:" % number + data

    whole: list[bytes] = []  # the model: complete lines of the present file
    part = b""
    got: list[bytes] = []
    cursor: tail.Cursor | None = None
    path.write_bytes(b"")
    for step, value in [*steps, ("finish", None), ("read", None)]:
        match step, value:
            case "append", list():
                new = [part + unique(line) if i == 0 else unique(line) for i, line in enumerate(value)]
                with path.open("ab") as file:
                    file.write(b"".join(line + b"\n" for line in new)[len(part) :])
                whole, part = (whole + new, b"") if new else (whole, part)
            case "partial", bytes():
                piece = value if part else unique(value)
                part += piece
                with path.open("ab") as file:
                    file.write(piece)
            case "finish", _:
                if part:
                    whole.append(part)
                    part = b""
                    with path.open("ab") as file:
                        file.write(b"\n")
            case "replace", _:
                reading = read(path, cursor)  # what was complete before the file went is read first
                got += _texts(reading)
                other = path.with_suffix(".new")
                whole, part = [unique(b"fresh")], b""
                other.write_bytes(whole[0] + b"\n")
                other.replace(path)
                got, cursor = [], reading.cursor
            case "restart", _:
                cursor = replace(cursor) if cursor else None
            case _:
                reading = read(path, cursor)
                got = _texts(reading) if reading.restarted else got + _texts(reading)
                cursor = reading.cursor
    assert got == whole
