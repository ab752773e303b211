from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.measure_signs import main

ROW = {"lang": "en", "prev_assistant": "", "sample": "random", "stratum": None, "confidence": 0.9}
ROWS = [
    {
        **ROW,
        "id": "1",
        "repo": "a/new",
        "text": "don't use mocks in integration tests",
        "label": "durable",
        "kind": "fact",
    },
    {**ROW, "id": "2", "repo": "a/new", "text": "why is it red?", "label": "chat", "kind": None},
    {
        **ROW,
        "id": "3",
        "repo": "edobry/minsky",
        "text": "no comments in tests, and never use snapshots",
        "label": "one_off",
        "kind": None,
    },
]


def test_parts_of_the_data_are_counted_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "turns.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    assert main([str(data)]) == 0
    printed = capsys.readouterr().out.split("from 0.0")[1].split("from 0.2")[0]
    lines = {line[2:22].strip(): line[22:].split() for line in printed.splitlines()[1:]}
    assert lines["all"] == ["3", "1", "2", "1", "1", "3"]
    assert lines["not read"] == ["2", "1", "1", "1", "0", "2"]
    assert lines["without the largest"] == lines["not read"]
