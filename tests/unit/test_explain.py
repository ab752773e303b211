"""`skilld inspect --explain`: how each record was understood and why, without anybody's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilld.agents import ADAPTERS
from skilld.ingest.explain import explain, kind_of, shape_of
from support.claude_lines import prompt_line, write_transcript
from support.forged import CARRIERS
from support.program import Program
from support.rows import for_each

_DROID = [
    {"type": "session_start", "id": "s", "cwd": "/w"},
    {
        "type": "message",
        "id": "m1",
        "timestamp": "2026-11-22T16:27:54.494Z",
        "message": {
            "role": "user",
            "content": [{"type": "text", "text": "never use tabs"}],
            "userMessageSource": "cli_tui",
        },
    },
    {"type": "message", "id": "m2", "message": {"role": "user", "content": [{"type": "text", "text": "by a script"}]}},
    {"type": "message", "id": "m3", "message": {"role": "narrator", "secret phrase": "hunter2", "n": [1]}},
]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / ".factory/sessions/-w/s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in _DROID) + "torn\n")
    return path


def test_each_record_is_explained(session: Path) -> None:
    found = list(explain(session, ADAPTERS["droid"]))
    assert [each.taken for each in found] == [
        ("the head of a session",),
        ("a turn (typed)",),
        ("not a turn: headless",),
        ("an unknown kind",),
        ("malformed",),
    ]
    assert "message.userMessageSource is cli_tui" in found[1].why
    assert "nobody was at the keyboard" in found[2].why
    assert found[3].shape == {
        "type": "string",
        "id": "string",
        "message": {"role": "string", "...": "string", "n": ["number"]},
    }
    assert [each.span.start for each in found] == sorted(each.span.start for each in found)


def test_it_quotes_nobody(session: Path, tmp_path: Path) -> None:
    for arguments in (["--explain"], ["--explain", "--json"]):
        output = Program(tmp_path).run("inspect", str(session), *arguments).stdout
        assert "userMessageSource is cli_tui" in output
        assert not [words for words in ("tabs", "by a script", "hunter2", "secret phrase") if words in output]


def test_an_unproven_claim_is_explained_at_its_own_record(tmp_path: Path) -> None:
    path = tmp_path / "agents/main/wire.jsonl"
    path.parent.mkdir(parents=True)
    carrier = next(carrier for carrier in CARRIERS["kimi-code"] if carrier.wrapper == "headless prompt")
    path.write_bytes(carrier.data("by a script", "by a person"))
    found = list(explain(path, ADAPTERS["kimi-code"]))
    assert [each.taken for each in found] == [("not a turn: not-typed",), ("not a turn: not-typed",)]
    assert "it is not in the agent's prompt history" in found[0].why


def test_other_adapters_are_explained_by_the_events_they_emit(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt_line("t1"), b'{"type":"brand-new","x":"y"}\n')
    first, second = explain(path, ADAPTERS["claude-code"])
    assert first.taken == ("a turn (typed)",)
    assert (second.kind, second.taken) == ("type=brand-new", ("nothing",))


@for_each("value", ["words", 7, None, [], [{"a": "words"}], {"/home/me": 1, "sk-12345678901234567890": 2}])
def test_a_shape_contains_no_values(value: Any) -> None:
    text = json.dumps(shape_of({"x": value}))
    assert not [words for words in ("words", "7", "home", "sk-") if words in text]


def test_a_kind_is_described_by_short_names_only() -> None:
    record = {"type": "user", "role": "My own words", "message": {"role": "user"}, "a b": {"type": "x"}}
    assert kind_of(record) == "type=user message.role=user"
