"""Agents that are tables, and gathered sessions: what their fixtures hold, and how they grow on disk."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pytest

from skilld.agents import ADAPTERS
from skilld.agents.base import TruncatedFileError, hash_name
from skilld.agents.declared import local_time
from skilld.agents.gatherers import Document
from skilld.agents.questions import OpenQuestion, ToolOutput, quoted_answers
from skilld.ingest.discover import Root, find_roots, skill_places
from skilld.ingest.follow import Follower
from skilld.ingest.inspect import guess_agent, inspect
from skilld.ingest.session_records import GatheredSource
from skilld.store import Store
from skilld.types import How, RawLine, SkillUse, Turn
from support.ground_truth import events_of, events_of_records
from support.rows import for_each

FIXTURES = Path(__file__).parents[1] / "fixtures"
NOW = 1_795_000_000.0
SAID = "draft the notes with the ticket number first"
TABLES = ("cline", "droid", "letta-code", "grok-build", "mistral-vibe", "openhands", "kiro")


@for_each("agent", TABLES)
def test_everything_typed_in_the_fixture_is_found(agent: str) -> None:
    parser = ADAPTERS[agent].parser(PurePath("s/session.jsonl"))
    lines = (FIXTURES / agent / "session.jsonl").read_bytes().splitlines()
    events = [event for n, line in enumerate(lines) for event in parser.feed(_line(n, line))] + parser.flush()
    assert [event.text for event in events if isinstance(event, Turn)] == [SAID]


def _line(number: int, data: bytes) -> Any:
    return RawLine(number, number + 1, data)


def test_kilo_reports_skill_arguments_and_free_text_answers() -> None:
    parser = ADAPTERS["kilo"].parser(PurePath("kilo.db"))
    typed = [SAID, "/release-notes:skill for 1.3, past tense"]
    parser.set_typed_list("".join(f"{json.dumps({'input': each})}\n" for each in typed).encode())  # type: ignore[attr-defined]
    lines = (FIXTURES / "kilo" / "records.jsonl").read_bytes().splitlines()
    events = [event for n, line in enumerate(lines) for event in parser.feed(_line(n, line))]
    turns = [event for event in events if isinstance(event, Turn)]
    assert [turn.text for turn in turns] == [SAID, "for 1.3, past tense", "plain text"]
    assert all(turn.agent == "kilo" and turn.key.startswith("kilo:") for turn in turns)
    skills = {(event.name, event.path) for event in events if isinstance(event, SkillUse)}
    assert skills == {("release-notes", "/w/acme/.kilo/skills/release-notes/SKILL.md")}


def test_only_listed_entries_of_aiders_history_count() -> None:
    events = events_of(ADAPTERS["aider"], FIXTURES / "aider" / ".aider.chat.history.md")
    turns = [event for event in events if isinstance(event, Turn)]
    assert [turn.text.replace("\n", " ") for turn in turns] == [SAID, "why is add() not typed?"]
    assert [turn.at for turn in turns] == [
        local_time("2026-11-22 16:25:32.780127"),
        local_time("2026-11-22 16:25:46.476618"),
    ]
    assert [event.name for event in events if isinstance(event, SkillUse)] == ["notes"]


@dataclass
class Cline:
    """A client that writes its document anew at each message."""

    home: Path
    messages: list[dict[str, Any]] = field(default_factory=list)
    interactive: bool = True

    @property
    def path(self) -> Path:
        return self.home / "data/sessions/17_ab/17_ab.messages.json"

    def say(self, words: str) -> None:
        number = len(self.messages)
        part = {"type": "text", "text": f'<user_input mode="act">{words}</user_input>'}
        at = int(NOW * 1000) + number * 1000 + 1000
        self.messages.append({"id": f"u{number}", "role": "user", "content": [part], "ts": at})
        self.write()

    def answer(self, words: str) -> None:
        part = {"type": "text", "text": words}
        self.messages.append({"id": f"m{len(self.messages)}", "role": "assistant", "content": [part]})
        self.write()

    def write(self, *, cut: int = 0) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        head = {"version": 1, "updated_at": len(self.messages), "agent": "lead", "sessionId": "17_ab"}
        text = json.dumps({**head, "messages": self.messages, "system_prompt": "x" * 500}, indent=2)
        self.path.write_text(text[: len(text) - cut])
        manifest = {"interactive": self.interactive, "cwd": "/w"}
        self.path.with_name("17_ab.json").write_text(json.dumps(manifest))


def count_turns(store: Store, agent: str) -> int:
    return int(store.transcripts.summary().get(agent, {}).get("turns", 0))


def test_cline_wrapper_text_around_a_prompt_is_dropped() -> None:
    notice = "<mode_notice>The user switched from plan mode to act mode before sending this message.</mode_notice>\n"
    team = "spawn a team of agents for the following task: find TODO"
    commands = (f'<user_command slash="{name}">{words}</user_command>' for name, words in (("team", team), ("new", "")))
    said = ("no, keep Python", *commands)
    texts = [notice + f'<user_input mode="act">{words}</user_input>' for words in said]
    records = [
        {"id": f"u{number}", "role": "user", "content": [{"type": "text", "text": text}], "ts": number}
        for number, text in enumerate(texts)
    ]
    turns = [event for event in events_of_records(ADAPTERS["cline"], *records) if isinstance(event, Turn)]
    assert [(turn.text, turn.how) for turn in turns] == [("no, keep Python", How.TYPED), ("find TODO", How.COMMAND)]


def _grok(session: str, event: str, words: str, at: int) -> dict[str, Any]:
    update = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": words}}
    meta = {"eventId": event, "agentTimestampMs": at}
    return {"params": {"sessionId": session, "update": {**update, "_meta": {"promptIndex": 0}}, "_meta": meta}}


def test_turns_copied_by_a_grok_build_fork_keep_the_original_key() -> None:
    first = events_of_records(ADAPTERS["grok-build"], _grok("s1", "s1-2", "no tabs", 1), name="s1/updates.jsonl")
    fork = (_grok("s2", "s1-2", "no tabs", 1), _grok("s2", "s2-13", "no tabs", 2))
    copies = events_of_records(ADAPTERS["grok-build"], *fork, name="s2/updates.jsonl")
    keys = [event.key for event in (*first, *copies) if isinstance(event, Turn)]
    assert len(keys) == 3
    assert keys[0] == keys[1] != keys[2]


def test_only_prompts_typed_since_a_continue_fork_began_count(tmp_path: Path) -> None:
    sessions = tmp_path / ".continue/sessions"
    sessions.mkdir(parents=True)
    typed = [{"text": "after the fork", "timestamp": 70_000}, {"text": "good morning", "timestamp": 10_000}]
    (sessions.parent / "input_history.json").write_text(json.dumps(typed))
    index = [{"sessionId": "a", "title": "b", "dateCreated": "10003"}, {"sessionId": "b", "dateCreated": "60000"}]
    (sessions / "sessions.json").write_text(json.dumps(index, indent=2))
    history = [{"message": {"role": "user", "content": words}} for words in ("good morning", "after the fork")]
    read = {}
    for name, said in (("a", history[:1]), ("b", history)):
        (sessions / f"{name}.json").write_text(json.dumps({"sessionId": name, "history": said}))
        events = events_of(ADAPTERS["continue"], sessions / f"{name}.json")
        read[name] = [event.text for event in events if isinstance(event, Turn)]
    assert read == {"a": ["good morning"], "b": ["after the fork"]}


def test_a_mistral_vibe_branch_is_no_sub_agent(tmp_path: Path) -> None:
    about: dict[str, dict[str, Any]] = {
        "a": {"parent_session_id": None, "child_sessions": [{"session_id": "c", "tool_call_id": "t", "agent": "x"}]},
        **{name: {"parent_session_id": "a"} for name in "bc"},
        "d": {"parent_session_id": "gone"},
    }
    typed = {"type": "message", "role": "user", "id": "rs-1", "content": [{"type": "text", "text": "no tabs"}]}
    read = {}
    for name, meta in about.items():
        for below, content in (
            ("meta.json", meta),
            ("CURRENT", {"generation": "1", "session_id": name}),
            ("generations/1/manifest.json", {"projection_state": {"chunks": ["x"]}}),
            ("chunks/x.json", [typed]),
        ):
            (tmp_path / name / below).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / below).write_text(json.dumps(content))
    for name in about:
        events = events_of(ADAPTERS["mistral-vibe"], tmp_path / name / "CURRENT")
        read[name] = [event.key for event in events if isinstance(event, Turn)]
    assert read == {"a": ["mistral-vibe:rs-1"], "b": ["mistral-vibe:rs-1"], "c": [], "d": []}


class TestADocumentThatIsRewritten:
    def test_new_messages_count_once_however_often_they_are_written(self, store: Store, tmp_path: Path) -> None:
        client = Cline(tmp_path / ".cline")
        client.say("said before skilld was there")
        follower = Follower(store, [Root("cline", client.home / "data/sessions")], NOW)
        follower.sweep()
        assert count_turns(store, "cline") == 0
        for number in range(3):
            client.say(f"always use tabs, part {number}")
            assert follower.read_all_new([("cline", client.path)]) == 1
            client.answer("I will" * number)
            client.messages[-1]["content"][0]["text"] += " do so"  # grows where it stands
            client.write()
            assert follower.read_all_new([("cline", client.path)]) == 0
        assert count_turns(store, "cline") == 3

    def test_a_half_written_document_loses_and_doubles_nothing(self, store: Store, tmp_path: Path) -> None:
        client = Cline(tmp_path / ".cline")
        follower = Follower(store, [Root("cline", client.home / "data/sessions")], NOW)
        client.say("always use tabs")
        client.say("and dates in ISO form")
        for cut in (0, 5, 600, 800, 0):
            client.write(cut=cut)
            follower.read_all_new([("cline", client.path)])
        client.say("no emoji")
        client.messages[0]["edited"] = True  # all is read again
        client.write()
        follower.read_all_new([("cline", client.path)])
        again = Follower(store, [Root("cline", client.home / "data/sessions")], NOW)
        assert again.sweep() == 0
        assert count_turns(store, "cline") == 3
        assert not follower.unreadable

    def test_read_messages_are_not_repeated_except_the_last(self, tmp_path: Path) -> None:
        client = Cline(tmp_path / ".cline")
        for number in range(5):
            client.say(f"part {number}")
        gather = ADAPTERS["cline"].INFO.gather
        assert gather is not None
        source = GatheredSource(gather=gather)
        with source.read_new(client.path, None) as look:
            assert len(list(look.parts())) == 6
        client.say("part 5")
        with source.read_new(client.path, look.cursor) as look:
            assert [line.start for line in look.parts()] == [5, 6]
        assert not look.restarted

    def test_all_files_of_a_session_are_read_together(self, tmp_path: Path) -> None:
        client = Cline(tmp_path / ".cline")
        client.say("always use tabs")
        for path in (client.path, client.path.with_name("17_ab.json")):
            assert guess_agent(path) == "cline"
            assert len(inspect(path, ADAPTERS["cline"]).turns) == 1

    def test_a_long_document_is_read_in_little_memory(self, tmp_path: Path) -> None:
        import tracemalloc

        path = tmp_path / "s.json"
        big = json.dumps({"sessionId": "s", "history": [{"n": n, "text": "word " * 2000} for n in range(2500)]})
        path.write_text(big)
        source = GatheredSource(gather=Document("history", ("sessionId",)))
        tracemalloc.start()
        try:
            count = sum(1 for _ in source.records(path))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert count == 2501
        assert peak < len(big) / 8

    @pytest.mark.parametrize(
        "text", ["", "{", '{"a"', '{"history": [', '{"history": [{"a": 1}', '{"history": 7', "[1]"]
    )
    def test_any_text_is_read_or_reported_as_truncated(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "s.json").write_text(text)
        try:
            found = list(GatheredSource(gather=Document("history", ("x",))).records(tmp_path / "s.json"))
        except TruncatedFileError:
            return
        assert len(found) == 1


def _event(folder: Path, number: int, **fields: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    body = {"id": f"e{number}", "timestamp": f"2026-11-22T16:{number:02}:00.1", **fields}
    (folder / f"event-{number:05}-x.json").write_text(json.dumps(body))


def _message(source: str, words: str) -> dict[str, Any]:
    content = [{"type": "text", "text": words}]
    return {"kind": "MessageEvent", "source": source, "llm_message": {"role": source, "content": content}}


def test_an_openhands_conversation_counts_once_a_person_appears(store: Store, tmp_path: Path) -> None:
    state = tmp_path / "conversations" / "c1" / "base_state.json"
    events = state.parent / "events"
    _event(events, 1, **_message("user", "draft the notes"))
    _event(events, 2, **_message("agent", "done"))
    state.write_text(json.dumps({"workspace": {"working_dir": "/w"}, "confirmation_policy": {"kind": "NeverConfirm"}}))
    follower = Follower(store, [Root("openhands", tmp_path / "conversations")], 0.0)
    path = Root("openhands", tmp_path / "conversations").transcript(events / "event-00002-x.json")
    assert path == state
    assert follower.read_all_new([("openhands", state)]) == 0
    _event(events, 3, kind="ActionEvent", source="agent", tool_name="terminal", tool_call_id="t", action={})
    _event(events, 4, **_message("user", "no, tabs"))
    assert follower.read_all_new([("openhands", state)]) == 2
    assert follower.read_all_new([("openhands", state)]) == 0


def test_an_opt_in_agent_has_roots_only_where_named(tmp_path: Path) -> None:
    asked = [name for name, adapter in ADAPTERS.items() if adapter.INFO.asked_for]
    assert asked == ["aider", "openhands", "antigravity", "goose", "kiro"]
    assert not {root.agent for root in find_roots(tmp_path, {})} & set(asked)
    named = find_roots(tmp_path, {}, {"kiro": [tmp_path / ".kiro"], "aider": [tmp_path / "acme"]})
    assert Root("kiro", tmp_path / ".kiro/sessions/cli") in named
    assert Root("aider", tmp_path / "acme") in named
    store = tmp_path / "data/sessions"
    assert Root("cline", store) in find_roots(tmp_path, {}, {"cline": [store]})
    assert tmp_path / "skills" in skill_places("cline", tmp_path, {}, {"cline": [store]}).absolute


def _second(path: Path, sessions: Sequence[str]) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    for table, more in (("session", ""), ("session_v2", "")):
        db.execute(f"CREATE TABLE {table} (id, parent_id, directory, permission{more})")
        db.executemany(f"INSERT INTO {table} VALUES (?, NULL, '/w', NULL)", [(s,) for s in sessions])  # noqa: S608
    db.execute("CREATE TABLE message (id, session_id, time_created INTEGER, data)")
    db.execute("CREATE TABLE part (id, message_id, data)")
    db.execute(
        "CREATE TABLE session_message (id TEXT, session_id, type, seq, time_created INTEGER, time_updated, data)"
    )
    return db


def test_a_session_in_both_opencode_tables_counts_once(tmp_path: Path) -> None:
    share = tmp_path / ".local/share/opencode"
    share.mkdir(parents=True)
    db = _second(share / "opencode.db", ["s1"])
    db.execute("INSERT INTO session VALUES ('old', NULL, '/w', NULL)")
    for session, key, words in (("s1", "m1", "always use tabs"), ("old", "m2", "no emoji")):
        at = int(NOW * 1000)
        db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (key, session, at, json.dumps({"role": "user"})))
        part = json.dumps({"type": "text", "text": words})
        db.execute("INSERT INTO part VALUES (?, ?, ?)", (f"p{key}", key, part))
    rows = [
        ("m1", "user", {"text": "always use tabs", "files": []}),
        ("m3", "user", {"text": '"a headless prompt"', "files": []}),
        ("m4", "synthetic", {"text": "a reminder"}),
        ("m5", "assistant", {"time": {"completed": 1}, "content": [{"type": "text", "text": "ok"}]}),
        ("m6", "user", {"text": "and ISO dates", "files": []}),
    ]
    for number, (key, kind, data) in enumerate(rows):
        at = int(NOW * 1000) + number
        values = (key, "s1", kind, number, at, at, json.dumps(data))
        db.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    db.commit()
    db.close()
    listed = [{"input": words} for words in ("always use tabs", "no emoji", "and ISO dates")]
    history = tmp_path / ".local/state/opencode/prompt-history.jsonl"
    history.parent.mkdir(parents=True)
    history.write_text("".join(f"{json.dumps(each)}\n" for each in listed))
    turns = inspect(share / "opencode.db", ADAPTERS["opencode"]).turns.values()
    assert sorted(turn.text for turn in turns) == ["always use tabs", "and ISO dates", "no emoji"]
    history.unlink()
    texts = {turn.text for turn in inspect(share / "opencode.db", ADAPTERS["opencode"]).turns.values()}
    assert texts == {"no emoji"}  # of the new tables nothing counts that no list proves


def test_goose_sessions_are_read_from_its_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = sqlite3.connect(tmp_path / "sessions.db")
    db.execute("CREATE TABLE sessions (id, session_type, working_dir, parent_session_id)")
    columns = "id INTEGER PRIMARY KEY, session_id, role, content_json, created_timestamp, metadata_json"
    db.execute(f"CREATE TABLE messages ({columns})")
    db.executemany("INSERT INTO sessions VALUES (?, ?, '/w', NULL)", [("a", "user"), ("b", "scheduled")])
    for number, (session, words) in enumerate([("a", "always use\ntabs"), ("a", "by a script"), ("b", "scheduled")]):
        content = json.dumps([{"type": "text", "text": words}])
        db.execute("INSERT INTO messages VALUES (?, ?, 'user', ?, ?, '{}')", (number, session, content, 1_795_000_000))
    db.commit()
    db.close()
    (tmp_path / ".config/goose").mkdir(parents=True)
    (tmp_path / ".config/goose/history.txt").write_text("#V2\nalways use\\ntabs\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    turns = inspect(tmp_path / "sessions.db", ADAPTERS["goose"]).turns.values()
    assert [turn.text for turn in turns] == ["always use\ntabs"]


@for_each(
    ("text", "answers"),
    [
        ('You said: "Which?"="plain". Go on.', ["plain"]),
        ('You said: "Which?"="a "quoted" one". Go on.', ['a "quoted" one']),
        ('You said: "Which?"="a", "Tests?"="b". Go on.', ["a", "b"]),
        ('You said: "Which?"="x"="y". Go on.', ['x"="y']),
        ('You said: "Who?"="x". Go on.', []),
    ],
)
def test_an_answer_follows_a_question_that_was_asked(text: str, answers: list[str]) -> None:
    asked = ["Which?", "Tests?"][: max(1, len(answers))]
    waiting = OpenQuestion("ask", [hash_name("title", title) for title in asked])
    assert list(quoted_answers(ToolOutput(text, {}), waiting)) == answers


def test_a_vibe_session_is_read_from_its_store(tmp_path: Path) -> None:
    def put_file(name: str, value: Any) -> None:
        path = tmp_path / "s1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))

    def entry(name: str, words: str) -> dict[str, Any]:
        said = {"type": "message", "role": "user", "source": "turn_start", "id": name, "createdAt": 1_795_000_000_000}
        return {**said, "content": [{"type": "text", "text": words}]}

    put_file("CURRENT", {"generation": "07", "session_id": "s1"})
    put_file("meta.json", {"environment": {"working_directory": "/w"}})
    journal = {"projection_state": {"chunks": ["aa"]}, "recovery_journal_segment": {"path": "journal/08.jsonl"}}
    put_file("generations/07/manifest.json", journal)
    put_file("chunks/aa.json", [entry("rs-1", "always use tabs"), entry("user-turn-2", "by a script")])
    delta = {
        "type": "projection_delta",
        "payload": {"delta": [{"op": "append_entry", "entry": entry("rs-3", "no emoji")}]},
    }
    put_file("journal/08.jsonl", json.dumps(delta) + "\n" + '{"type": "proj')
    view = inspect(tmp_path / "s1" / "CURRENT", ADAPTERS["mistral-vibe"])
    assert [turn.text for turn in view.turns.values()] == ["always use tabs", "no emoji"]
    assert (view.cwd, view.session_id) == ("/w", "s1")
    put_file("generations/07/manifest.json", {"projection_state": {"chunks": ["../../../../etc/passwd"]}})
    (tmp_path / "aa.json").write_text(json.dumps([entry("rs-9", "of another session")]))
    put_file("generations/07/manifest.json", {"projection_state": {"chunks": ["../../aa", "../aa", "/etc/passwd"]}})
    assert not inspect(tmp_path / "s1" / "CURRENT", ADAPTERS["mistral-vibe"]).turns
    shutil.rmtree(tmp_path / "s1" / "generations")
    assert not inspect(tmp_path / "s1" / "CURRENT", ADAPTERS["mistral-vibe"]).turns


@pytest.mark.parametrize(
    ("summary", "said"),
    [({"info": {"id": "s"}}, ["always use tabs"]), ({"info": {"id": "s"}, "session_kind": "headless"}, []), (None, [])],
)
def test_a_grok_session_stays_the_persons_when_a_script_continues_it(
    tmp_path: Path, summary: dict[str, Any] | None, said: list[str]
) -> None:
    def record(sort: str, words: str, event: int, **told: int) -> str:
        update = {"sessionUpdate": sort, "content": {"type": "text", "text": words}, "_meta": told}
        meta = {"eventId": f"s-{event}", "agentTimestampMs": 1_795_000_000_000 + 1000 * event}
        return json.dumps({"method": "session/update", "params": {"sessionId": "s", "update": update, "_meta": meta}})

    lines = [
        record("user_message_chunk", "always use tabs", 2, promptIndex=0),
        record("agent_message_chunk", "Understood.", 4),
        record("user_message_chunk", "by a script", 2, promptIndex=1),
    ]
    if summary:
        (tmp_path / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "prompt_context.json").write_text('{"is_non_interactive": true}')
    (tmp_path / "updates.jsonl").write_text("\n".join(lines) + "\n")
    view = inspect(tmp_path / "updates.jsonl", ADAPTERS["grok-build"])
    assert [turn.text for turn in view.turns.values()] == said
