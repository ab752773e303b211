"""The words of a batch, read again from the transcripts and redacted before anything else sees them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.agents import ADAPTERS
from skilld.agents.claude_code import Parser
from skilld.errors import SkilldError
from skilld.ingest.inspect import inspect
from skilld.pipeline.messages import read_batch
from skilld.protocol import BatchJob, Source
from skilld.redact import KEY_BYTES, Redactor
from skilld.types import Event, How, Message, RawLine, Turn
from support.claude_lines import AFTER, OLD_VERSION, dequeued_line, enqueued_line, prompt_line, write_transcript
from support.ground_truth import events_of

SHARED = Path(__file__).parents[3] / "shared/data/transcripts/claude-code"

SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
redact = Redactor(b"k" * KEY_BYTES).redact


def _reply(text: str) -> bytes:
    message = {"role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}
    record = {"type": "assistant", "uuid": text[:8], "sessionId": "s1", "entrypoint": "cli", "message": message}
    return json.dumps(record).encode() + b"\n"


def _plain(text: str) -> bytes:
    """Return a reply as the client writes it, which need not be parsed to know that it is one."""
    record = {"parentUuid": "p", "isSidechain": False, "userType": "external", "cwd": "/work", "sessionId": "s1"}
    record |= {"version": "2.1.197", "gitBranch": "main", "type": "assistant", "uuid": text[:8], "entrypoint": "cli"}
    said = {"model": "m", "id": "msg", "type": "message", "role": "assistant"}
    record["message"] = {**said, "content": [{"type": "text", "text": text}]}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _job(*keys: str, sources: list[tuple[Path, int, int]]) -> BatchJob:
    return BatchJob(
        agent="claude-code",
        session_id="s1",
        turns=tuple(f"claude-code:{key}" for key in keys),
        sources=tuple(Source(str(path), start, end) for path, start, end in sources),
    )


def _file_job(path: Path, *keys: str, start: int = 0) -> BatchJob:
    return _job(*keys, sources=[(path, start, path.stat().st_size)])


def _shown(messages: list[Message]) -> list[tuple[int | None, str]]:
    return [(message.turn, message.text) for message in messages]


def test_the_batch_is_read_with_the_agents_messages_between(tmp_path: Path) -> None:
    old = [prompt_line("t0", "old"), _reply("old answer")]
    lines = [*old, prompt_line("t1", "first"), _reply("answer"), prompt_line("t2", "second"), _reply("after the batch")]
    path = write_transcript(tmp_path / "s.jsonl", *lines)
    messages = read_batch(_file_job(path, "t1", "t2", start=len(old[0])), redact)
    assert _shown(messages) == [(None, "old answer"), (1, "first"), (None, "answer"), (2, "second")]
    assert (messages[1].turn_key, messages[1].how) == ("claude-code:t1", How.TYPED)


def test_every_message_is_redacted(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "s.jsonl", _reply(f"I found {SECRET}"), prompt_line("t1", f"my token is {SECRET}")
    )
    messages = read_batch(_file_job(path, "t1"), redact)
    assert len(messages) == 2
    assert all(SECRET not in message.text and "[REDACTED:" in message.text for message in messages)


def test_a_secret_is_not_missed_by_being_cut_in_half(tmp_path: Path) -> None:
    half = 32 * 1024
    for before in range(half - len(SECRET), half, 7):
        text = "x" * (before - 1) + " " + SECRET + " " + "y " * half
        path = write_transcript(tmp_path / "s.jsonl", prompt_line("t1", text))
        (message,) = read_batch(_file_job(path, "t1"), redact)
        assert SECRET[:12] not in message.text
        assert len(message.text) <= 64 * 1024 + 100


def test_a_long_text_without_whitespace_is_dropped(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt_line("t1", "x" * 100_000))
    (message,) = read_batch(_file_job(path, "t1"), redact)
    assert message.text.strip() == ""


def test_a_turn_in_two_files_is_one_message(tmp_path: Path) -> None:
    first = write_transcript(tmp_path / "a.jsonl", prompt_line("t1", "first"))
    fork = write_transcript(tmp_path / "b.jsonl", prompt_line("t1", "first"), prompt_line("t2", "second"))
    sources = [(path, 0, path.stat().st_size) for path in (first, fork)]
    assert _shown(read_batch(_job("t1", "t2", sources=sources), redact)) == [(1, "first"), (2, "second")]


def test_a_turn_that_waited_in_the_queue_is_found_again(tmp_path: Path) -> None:
    path = write_transcript(
        tmp_path / "s.jsonl",
        prompt_line("t1", "first", version=OLD_VERSION),
        enqueued_line("never push"),
        dequeued_line(),
    )
    found = [turn for turn in inspect(path, ADAPTERS["claude-code"]).turns if f"s1:{AFTER}" in turn]
    job = replace(_file_job(path, "t1"), turns=("claude-code:t1", *found))
    assert _shown(read_batch(job, redact)) == [(1, "first"), (2, "never push")]


def test_a_long_run_of_agent_messages_is_cut_to_the_newest(tmp_path: Path) -> None:
    replies = [_reply(f"step {number}") for number in range(60)]
    path = write_transcript(tmp_path / "s.jsonl", *replies, prompt_line("t1", "stop"))
    messages = read_batch(_file_job(path, "t1"), redact)
    assert [messages[0].text, messages[-1].text, len(messages)] == ["step 20", "stop", 41]


@pytest.mark.parametrize("aside", [0, 1, -1])
def test_text_before_the_batch_is_only_skimmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aside: int) -> None:
    """The start of a batch is the end of a line; where it is not, the line is read whole."""
    before = [prompt_line("t0", "old"), *(_plain(f"old answer {number}") for number in range(20))]
    batch = [prompt_line("t1", "first"), _plain("answer"), prompt_line("t2", "second")]
    path = write_transcript(tmp_path / "s.jsonl", *before, *batch, *(_plain(f"after {number}") for number in range(9)))
    fed: list[RawLine] = []
    feed = Parser.feed

    def noted(self: Parser, line: RawLine) -> list[Event]:
        fed.append(line)
        return feed(self, line)

    monkeypatch.setattr(Parser, "feed", noted)
    messages = read_batch(_file_job(path, "t1", "t2", start=sum(map(len, before)) + aside), redact)
    assert _shown(messages) == [(1, "first"), (None, "answer"), (2, "second")]
    assert len(fed) <= len(batch) + 3  # and the first turn, the line that the start cuts, and one behind the batch


def test_skimming_does_not_change_what_a_batch_reads() -> None:
    """On the collected transcripts: skimmed before the batch, and parsed from the first line."""
    files = sorted(SHARED.rglob("*.jsonl"), key=lambda path: path.stat().st_size)[:30]
    if not files:
        pytest.skip("no collected transcripts beside the repository")
    for path in files:
        turns = {turn.key: turn for turn in events_of(ADAPTERS["claude-code"], path) if isinstance(turn, Turn)}
        said = list(turns.values())
        for at in range(3, len(said), 3):
            job = replace(_file_job(path, start=said[at - 1].span.end), session_id=said[at].session_id)
            job = replace(job, turns=tuple(turn.key for turn in said[at : at + 3]))
            skimmed, (source,) = read_batch(job, str), job.sources
            assert skimmed == read_batch(replace(job, sources=(replace(source, start=0),)), str)[-len(skimmed) :]


@pytest.mark.parametrize("fate", ["deleted", "rewritten", "a link", "a folder"])
def test_missing_words_are_reported(tmp_path: Path, fate: str) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt_line("t1", "first"))
    job = _file_job(path, "t1")
    path.unlink()
    if fate == "rewritten":
        write_transcript(path, prompt_line("other", "x"))
    elif fate == "a link":
        path.symlink_to(write_transcript(tmp_path / "elsewhere", prompt_line("t1", "first")))
    elif fate == "a folder":
        path.mkdir()
    with pytest.raises(SkilldError, match="Cannot read the transcript: "):
        read_batch(job, redact)


def test_a_missing_turn_does_not_renumber_the_others(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt_line("t2", "second"))
    assert _shown(read_batch(_file_job(path, "t1", "t2"), redact)) == [(2, "second")]


def test_half_a_surrogate_pair_becomes_valid_text(tmp_path: Path) -> None:
    path = write_transcript(tmp_path / "s.jsonl", prompt_line("t1", "cut \ud83d here"))
    (message,) = read_batch(_file_job(path, "t1"), redact)
    assert message.text.encode("utf-8", "strict").startswith(b"cut ")


def test_nothing_past_the_recorded_end_is_read(tmp_path: Path) -> None:
    first = prompt_line("t1", "first")
    path = write_transcript(tmp_path / "s.jsonl", first, prompt_line("t2", "second"))
    assert _shown(read_batch(_job("t1", "t2", sources=[(path, 0, len(first))]), redact)) == [(1, "first")]
