from __future__ import annotations

from pathlib import Path

import pytest

from skilld.agents import ADAPTERS
from skilld.ingest.inspect import guess_agent, inspect
from support.claude_lines import (
    AFTER,
    OLD_VERSION,
    append_lines,
    dequeued_line,
    enqueued_line,
    prompt_line,
    write_transcript,
)

CLAUDE = ADAPTERS["claude-code"]


def test_the_json_has_the_promised_shape_and_the_typed_words(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "s.jsonl", prompt_line("t1", "always  use\ttabs\n"), b"{torn\n", prompt_line("t2", "ok")
    )
    assert inspect(path, CLAUDE).as_json() == {
        "agent": "claude-code",
        "session_id": "s1",
        "cwd": "/somewhere",
        "main_dir": "/somewhere",
        "turns": [
            {"id": "claude-code:t1", "text": "always  use\ttabs\n", "at": AFTER, "how": "typed"},
            {"id": "claude-code:t2", "text": "ok", "at": AFTER, "how": "typed"},
        ],
        "skills": [],
        "tools": {},
        "ignored": {},
        "malformed": 1,
    }


def test_a_copied_turn_counts_once_and_a_late_delivery_is_listed(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "s.jsonl",
        prompt_line("t1"),
        prompt_line("t1", version=OLD_VERSION),
        enqueued_line("never push"),
        dequeued_line(),
    )
    assert [turn.text for turn in inspect(path, CLAUDE).turns.values()] == ["always use tabs", "never push"]


def test_an_unterminated_line_is_not_read(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt_line("t1"), prompt_line("t2").rstrip(b"\n"))
    assert len(inspect(path, CLAUDE).turns) == 1
    append_lines(path, b"\n")
    assert len(inspect(path, CLAUDE).turns) == 2


def test_a_huge_line_is_skipped_and_counted(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "s.jsonl", b'{"type":"user","x":"' + b"x" * (9 << 20) + b'"}\n', prompt_line("t1")
    )
    view = inspect(path, CLAUDE)
    assert len(view.turns) == 1
    assert view.as_json()["ignored"] == {"line over 8 MiB": 1}


def test_the_agent_is_recognized_by_path_or_content(tmp_path: Path) -> None:
    by_place = write_transcript(tmp_path / "projects/-p/s.jsonl", b"")
    by_content = write_transcript(tmp_path / "copied.txt", prompt_line("t1"))
    assert guess_agent(by_place) == "claude-code"
    assert guess_agent(by_content) == "claude-code"


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"plain words\n", b"SQLite format 3\0" + bytes(4096), b"[1, 2]\n", b"{}\n"]
)
def test_an_unrecognized_file_has_no_agent(tmp_path: Path, content: bytes) -> None:
    assert guess_agent(write_transcript(tmp_path / "x", content)) is None
