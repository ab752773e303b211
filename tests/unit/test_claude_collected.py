"""Sessions collected from many people and Claude Code versions are read without complaint."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.agents import claude_code
from skilld.types import Malformed, Turn
from support.truth import SHARED, events_of, raw_lines

COLLECTED = sorted((SHARED / "transcripts" / "claude-code").rglob("*.jsonl"))


@pytest.mark.parametrize("path", COLLECTED or [None], ids=lambda path: path.name if path else "absent")
def test_collected_sessions_are_read_without_complaint(path: Path | None) -> None:
    if path is None:
        pytest.skip("no collected sessions beside the repository")
    events = events_of(claude_code, path)
    lines = list(raw_lines(path.read_bytes()))
    assert events
    assert len([event for event in events if isinstance(event, Malformed)]) <= len(lines) / 4
    keys = [event.key for event in events if isinstance(event, Turn)]
    assert len(keys) == len(set(keys))
    if "subagents" in path.parts:
        assert not keys
