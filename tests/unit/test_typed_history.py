"""Lists of typed prompts: which file is used, and when a prompt in it counts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pytest

from skilld.agents import ADAPTERS, copilot_cli, gemini_cli
from skilld.agents.typed_history import ProvingParser
from skilld.ingest import side_files
from skilld.types import Event, Ignored, RawLine, Reply, Turn
from support.event_lists import ignored_counts, reply_texts, turn_texts
from support.rows import for_each

SESSION = "s"


def time_at(second: int) -> str:
    return f"2026-11-03T09:{second // 60:02}:{second % 60:02}.000Z"


def prompt(text: str, second: int) -> dict[str, Any]:
    return {"type": "user", "id": f"u{second}", "timestamp": time_at(second), "content": text}


def answer(second: int) -> dict[str, Any]:
    return {"type": "gemini", "id": f"g{second}", "timestamp": time_at(second), "content": f"answer {second}"}


def log(*lines: tuple[str, int], session: str = SESSION) -> bytes:
    keys = ("sessionId", "message", "timestamp", "type")
    return json.dumps(
        [dict(zip(keys, (session, text, time_at(second), "user"), strict=True)) for text, second in lines]
    ).encode()


class Reader:
    """Feeds records to a Gemini parser as the daemon does: the list is told before the lines of each reading."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.parser: ProvingParser = gemini_cli.parser(PurePath("s.jsonl"), state)
        self.end = 0

    def read(self, typed: bytes | None, *records: Mapping[str, Any]) -> list[Event]:
        self.parser.set_typed_list(typed)
        return [event for record in records for event in self.feed(record)]

    def feed(self, record: Mapping[str, Any]) -> Sequence[Event]:
        data = json.dumps({"sessionId": SESSION, **record}).encode()
        line = RawLine(self.end, self.end + len(data) + 1, data)
        self.end = line.end
        return self.parser.feed(line)


def test_a_listed_prompt_is_a_turn_at_once() -> None:
    assert turn_texts(Reader().read(log(("hello", 1)), prompt("hello", 2))) == [("typed", "hello")]


def test_whitespace_does_not_matter() -> None:
    assert turn_texts(Reader().read(log(("a\n\nb", 1)), prompt("a b\n", 2))) == [("typed", "a b\n")]


def steering(words: str, second: int) -> dict[str, Any]:
    form = f"User steering update:\n<user_input>\n{words}\n</user_input>\nInternal instruction: go on."
    return prompt(form, second)


def test_steering_counts_in_an_interactive_session() -> None:
    """Numbered part 1: the client lists no steering, and a headless prompt can have its form."""
    typed = log(("hello", 1))
    assert turn_texts(Reader().read(typed, prompt("hello", 2), steering("shorter", 3))) == [
        ("typed", "hello"),
        ("queued", "shorter"),
    ]
    for unlisted in (None, b"[]", log(("hello", 1), session="other")):
        events = Reader().read(unlisted, steering("shorter", 3), answer(4))
        assert (turn_texts(events), ignored_counts(events)) == ([], {"not-typed": 1})


@for_each("typed", [None, b"[]", log(("hello", 1), session="other"), log(("hello", 60))])
def test_an_answered_prompt_that_was_not_listed_is_no_turn(typed: bytes | None) -> None:
    reader = Reader()
    assert reader.read(typed, prompt("hello", 2), answer(3)) == []  # the list may be older than these lines
    events = reader.read(typed, answer(4))
    assert turn_texts(events) == []
    assert ignored_counts(events) == {"not-typed": 1}
    assert reply_texts(events) == ["answer 3", "answer 4"]


def test_a_list_written_after_the_transcript_is_awaited_and_the_order_kept() -> None:
    reader = Reader()
    assert reader.read(None, prompt("hello", 2)) == []
    assert reader.parser.checkpoint(reader.end)[0] == 0
    events = reader.read(log(("hello", 1)), answer(3))
    assert [type(event) for event in events] == [Turn, Reply]
    assert reader.parser.checkpoint(reader.end)[0] == reader.end


def test_a_prompt_answered_while_the_list_was_read_is_not_given_up() -> None:
    reader = Reader()
    assert reader.read(log(("before", 0)), prompt("hello", 2), answer(3)) == []
    assert turn_texts(reader.read(log(("before", 0), ("hello", 1)), answer(4))) == [("typed", "hello")]


def test_a_half_written_list_decides_nothing() -> None:
    reader = Reader()
    assert reader.read(log(("hello", 1))[:-5], prompt("hello", 2), answer(3)) == []
    assert turn_texts(reader.read(log(("hello", 1)), answer(4))) == [("typed", "hello")]


def test_a_never_listed_prompt_is_given_up_when_the_file_is_idle() -> None:
    reader = Reader()
    assert reader.read(b"[", prompt("hello", 2)) == []
    assert ignored_counts(reader.parser.flush()) == {"not-typed": 1}
    assert reader.parser.flush() == []


def test_an_entry_proves_only_one_prompt() -> None:
    typed = log(("ok", 1), ("ok", 50))
    records = [prompt("ok", 2), answer(3), prompt("ok", 20), answer(21), prompt("ok", 51)]
    reader = Reader()
    events = [event for record in records for event in reader.read(typed, record)]
    assert [event.key for event in events if isinstance(event, Turn)] == ["gemini-cli:u2", "gemini-cli:u51"]
    assert ignored_counts(events) == {"not-typed": 1}


def test_a_restart_remembers_which_entries_were_used() -> None:
    typed = log(("ok", 1))
    reader = Reader()
    reader.read(typed, prompt("ok", 2), answer(3))
    _, state = reader.parser.checkpoint(reader.end)
    later = Reader(json.loads(json.dumps(state)))
    assert turn_texts(later.read(typed, prompt("ok", 20), answer(21))) == []


def test_the_number_of_waiting_prompts_is_bounded() -> None:
    reader = Reader()
    events = reader.read(b"[", *(prompt(f"prompt {second}", second) for second in range(1200)))
    assert len(events) > 900
    assert all(isinstance(event, Ignored) for event in events)


def test_without_any_list_a_possibly_typed_prompt_counts() -> None:
    reader = Reader()
    assert turn_texts(reader.feed(prompt("hello", 2))) == [("typed", "hello")]


def test_a_list_without_sessions_and_times_proves_by_words_alone() -> None:
    parser: Any = copilot_cli.ADAPTER.parser(PurePath("session-state/s/events.jsonl"))
    parser.set_typed_list(b'{"commandHistory": ["hello"]}')
    for number in (1, 2):
        data = json.dumps({"type": "user.message", "data": {"content": "hello", "messageId": f"m{number}"}}).encode()
        assert turn_texts(parser.feed(RawLine(number, number + 1, data))) == [("typed", "hello")]


@for_each(
    ("text", "expected"),
    [
        ("/menu without cents", [("command", "without cents")]),
        ("/team:menu\nwithout cents", [("command", "without cents")]),
        ("/menu", []),
        ("/w/shop is full", [("typed", "/w/shop is full")]),
        ("/ is full", [("typed", "/ is full")]),
    ],
)
def test_a_slash_command_counts_as_its_arguments(text: str, expected: list[tuple[str, str]]) -> None:
    assert turn_texts(Reader().read(log((text, 1)), prompt(text, 2), answer(3))) == expected


INFO = replace(ADAPTERS["codex"].INFO, typed_list=("../list.jsonl", "$TOY_STATE/toy/list.jsonl", "~/.toy/list.jsonl"))


def write_list(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_first_existing_list_is_used(tmp_path: Path) -> None:
    transcript = write_list(tmp_path / "data" / "store" / "t.jsonl", "")
    environment = {"HOME": str(tmp_path / "home"), "TOY_STATE": str(tmp_path / "state")}
    assert side_files.read_typed_list(transcript, INFO, environment) is None
    write_list(tmp_path / "home" / ".toy" / "list.jsonl", "home")
    assert side_files.read_typed_list(transcript, INFO, environment) == b"home"
    write_list(tmp_path / "state" / "toy" / "list.jsonl", "variable")
    assert side_files.read_typed_list(transcript, INFO, environment) == b"variable"
    write_list(tmp_path / "data" / "list.jsonl", "beside")
    assert side_files.read_typed_list(transcript, INFO, environment) == b"beside"
    assert side_files.read_typed_list(transcript, replace(INFO, typed_list=()), environment) is None


def test_a_relative_path_in_a_variable_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_list(tmp_path / "toy" / "list.jsonl", "here")
    assert side_files.read_typed_list(tmp_path / "a" / "b" / "t", INFO, {"TOY_STATE": "."}) is None


def test_only_a_regular_file_is_a_list(tmp_path: Path) -> None:
    transcript = write_list(tmp_path / "data" / "store" / "t.jsonl", "")
    (tmp_path / "data" / "list.jsonl").symlink_to(write_list(tmp_path / "elsewhere", "x"))
    assert side_files.read_typed_list(transcript, INFO, {}) is None
    (tmp_path / "data" / "list.jsonl").unlink()
    os.mkfifo(tmp_path / "data" / "list.jsonl")
    assert side_files.read_typed_list(transcript, INFO, {}) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_list_must_have_the_same_owner_as_the_transcript(tmp_path: Path) -> None:
    transcript = write_list(tmp_path / "data" / "store" / "t.jsonl", "")
    written = write_list(tmp_path / "data" / "list.jsonl", "x")
    os.chown(written, 65534, 65534)
    assert side_files.read_typed_list(transcript, INFO, {}) is None
    os.chown(transcript, 65534, 65534)
    assert side_files.read_typed_list(transcript, INFO, {}) == b"x"
