"""Following agents whose transcripts do not tell who typed, with the client's prompt history beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skilld.ingest.discover import Root
from skilld.ingest.follow import Follower
from skilld.ingest.tail import Cursor
from skilld.pipeline.messages import read_batch
from skilld.protocol import BatchJob, Source
from support.new_store import new_store

INSTALLED = 1_793_600_000.0  # before all that is said here
SESSION = "s1"


def time_at(second: int) -> str:
    return f"2026-11-03T09:{second // 60:02}:{second % 60:02}.000Z"


def prompt(text: str, second: int) -> dict[str, Any]:
    return {"id": f"u{second}", "timestamp": time_at(second), "type": "user", "content": text}


def answer(second: int) -> dict[str, Any]:
    return {"id": f"g{second}", "timestamp": time_at(second), "type": "gemini", "content": "Fine."}


class Project:
    """A project of Gemini CLI: its chats, its log of typed prompts, and a daemon that can be killed."""

    def __init__(self, root: Path) -> None:
        self.root = root / ".gemini" / "tmp"
        self.chats = self.root / "shop" / "chats"
        self.chats.mkdir(parents=True)
        self.lines = self.chats / "session-2026-11-03T09-00-s1.jsonl"
        self.lines.write_text(json.dumps({"sessionId": SESSION, "kind": "main"}) + "\n")
        self.document = self.chats / "session-2026-01-03T09-00-s1.json"
        self.database = root / "skilld.db"
        self.store = new_store(self.database)

    def start(self) -> Follower:
        self.store.close()
        self.store = new_store(self.database)
        return Follower(self.store, [Root("gemini-cli", self.root)], INSTALLED)

    def write(self, *records: dict[str, Any]) -> None:
        with self.lines.open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)

    def rewrite(self, *records: dict[str, Any]) -> None:
        whole = {"sessionId": SESSION, "lastUpdated": records[-1]["timestamp"], "messages": records, "kind": "main"}
        self.document.write_text(json.dumps(whole, indent=2))

    def log(self, *typed: tuple[str, int]) -> None:
        entries = [
            {"sessionId": SESSION, "messageId": i, "type": "user", "message": text, "timestamp": time_at(second)}
            for i, (text, second) in enumerate(typed)
        ]
        (self.root / "shop" / "logs.json").write_text(json.dumps(entries))

    def waiting(self) -> list[str]:
        return [turn.key for turn in self.store.transcripts.waiting("gemini-cli", SESSION)]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.store.close()


def test_a_typed_prompt_counts_at_once_and_a_headless_one_never(project: Project) -> None:
    follower = project.start()
    project.log(("hello", 1))
    project.write(prompt("hello", 2))
    assert follower.sweep() == 1
    project.write(answer(3), prompt("from a program", 10), answer(11))
    assert follower.sweep() == 0
    assert project.waiting() == ["gemini-cli:u2"]


def test_a_history_file_written_after_a_kill_still_proves_prompts(project: Project) -> None:
    follower = project.start()
    project.write(prompt("hello", 2))
    assert follower.sweep() == 0
    follower = project.start()
    project.log(("hello", 1))
    project.write(answer(3))
    assert follower.sweep() == 1
    project.write(prompt("from a program", 10), answer(11))
    assert project.start().sweep() == 0
    assert project.waiting() == ["gemini-cli:u2"]


def test_a_document_rewritten_at_every_message_counts_each_turn_once(project: Project) -> None:
    project.start()
    records: list[dict[str, Any]] = []
    typed = [(f"prompt {second}", second) for second in (1, 11, 21)]
    for number, (text, second) in enumerate(typed, 1):
        project.log(*typed[:number])
        records += [prompt(text, second + 1), answer(second + 2)]
        project.rewrite(*records)
        assert project.start().sweep() == 1
    project.write(*records)  # the client goes on with the session in a file of lines
    assert project.start().sweep() == 0
    assert project.waiting() == ["gemini-cli:u2", "gemini-cli:u12", "gemini-cli:u22"]


def test_a_document_that_an_older_version_read_by_lines_is_read_again(project: Project) -> None:
    follower = project.start()
    project.log(("hello", 1))
    project.rewrite(prompt("hello", 2), answer(3))
    assert follower.sweep() == 1
    file = project.store.transcripts.file(str(project.document))
    assert file is not None
    with project.store.transaction():
        by_lines = Cursor(1, 2, "", 0, 90)
        project.store.transcripts.save_reading(file.id, cursor=by_lines, parser={}, size=90, mtime=0)
    project.log(("hello", 1), ("and bread", 11))
    project.rewrite(prompt("hello", 2), answer(3), prompt("and bread", 12), answer(13))
    assert project.start().sweep() == 1
    assert project.waiting() == ["gemini-cli:u2", "gemini-cli:u12"]


def test_the_worker_finds_the_words_even_if_the_history_is_gone(project: Project) -> None:
    project.write(prompt("hello", 2), answer(3), prompt("from a program", 10), answer(11))
    source = Source(str(project.lines), 0, project.lines.stat().st_size)
    job = BatchJob(agent="gemini-cli", session_id=SESSION, turns=("gemini-cli:u2",), sources=(source,))
    assert [message.text for message in read_batch(job, str)] == ["hello"]
