"""The folder in which most of a session's work was done, for every way agents name files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skilld.agents import ADAPTERS
from skilld.agents.tools import tools_of
from skilld.ingest.inspect import FolderCounter, deepest_common_folder, inspect
from skilld.mining.actions import unfit_reason
from skilld.mining.sessions import Reader, Transcript
from skilld.redact import Redactor
from skilld.types import Span
from support.opencode_db import OpenCodeDb
from support.rows import for_each


def count_folders(*records: bytes, agent: str = "claude-code") -> FolderCounter:
    made = FolderCounter()
    for record in b"\n".join(records).splitlines():
        for event in tools_of(ADAPTERS[agent])(json.loads(record), "s", Span(0, 1)):
            made.add(event)
    return made


PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** End Patch"
READ = {"type": "tool", "tool": "read", "input": json.dumps({"filePath": "/w/api/src/a.py"})}


@for_each(
    ("agent", "record"),
    [
        (
            "claude-code",
            {"message": {"content": [{"type": "tool_use", "name": "Edit", "input": {"file_path": "/w/api/src/a.py"}}]}}
            | {"type": "assistant"},
        ),
        (
            "gemini-cli",
            {"type": "gemini", "toolCalls": [{"name": "read_file", "args": {"absolute_path": "/w/api/src/a.py"}}]},
        ),
        (
            "pi",
            {
                "type": "message",
                "message": {"role": "assistant", "content": [{"type": "toolCall", "arguments": {"path": "src/a.py"}}]},
            },
        ),
        ("codex", {"type": "function_call", "arguments": json.dumps({"cmd": "make", "workdir": "/w/api/src"})}),
        ("codex", {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH}),
        ("codex", {"type": "function_call", "name": "shell", "arguments": json.dumps({"cmd": ["apply_patch", PATCH]})}),
        ("opencode", {"message": [{"session": "s"}], "parts": [READ]}),
    ],
)
def test_every_way_of_naming_a_file_is_recognized(agent: str, record: dict[str, object]) -> None:
    assert count_folders(json.dumps(record).encode(), agent=agent).main_dir("/w/api") == "/w/api/src"


def test_a_search_does_not_count_as_work() -> None:
    assert count_folders(CALL.replace(b"Read", b"Grep") % (b"toolu_1", b"/w/api/src")).main_dir("/w") == "/w"


def test_the_main_folder_holds_more_than_half_and_the_deepest_wins() -> None:
    assert deepest_common_folder({"/w/api/src": 3, "/w/api/tests": 1, "/w": 1}, "/w") == "/w/api/src"
    assert deepest_common_folder({"/w/api/src": 2, "/w/api/tests": 2, "/w/web": 1}, "/w") == "/w/api"
    assert deepest_common_folder({"/w/api": 1, "/w/web": 1}, "/w/api") == "/w"
    assert deepest_common_folder({"/other/repo/x": 5, "/w": 1}, "/w") == "/other/repo/x"


def test_without_a_main_folder_it_is_where_the_session_started() -> None:
    assert count_folders(b'{"type": "assistant"}').main_dir("/w") == "/w"
    assert deepest_common_folder({"/a": 1, "/b": 1}, "/w") is None
    assert deepest_common_folder({"a": 1}, None) is None
    assert deepest_common_folder({"../../../..": 1}, "/w") is None


def test_reading_a_skill_does_not_count_as_work() -> None:
    assert count_folders(CALL % (b"toolu_1", b"/w/.agents/skills/x/SKILL.md")).main_dir("/w") == "/w"


CALL = (
    b'{"type":"assistant","message":{"id":"msg_1","content":'
    b'[{"type":"tool_use","id":"%s","name":"Read","input":{"file_path":"%s"}}]}}'
)
TEMPORARY = "/tmp/project"  # noqa: S108 - a name; nothing is made there
RESULT = b'{"type":"user","message":{"content":[{"tool_use_id":"%s","type":"tool_result","content":"%s"%s}]}}'


def test_u7_a_failed_read_does_not_count_as_work() -> None:
    failed = RESULT % (b"toolu_1", b"File does not exist.", b',"is_error":true')
    assert count_folders(CALL % (b"toolu_1", b"/elsewhere/notes.txt"), failed).main_dir("/w") == "/w"
    assert count_folders(CALL % (b"toolu_1", b"/tmp/out.txt"), failed).main_dir(TEMPORARY) == TEMPORARY
    fine = CALL % (b"toolu_2", b"/w/api/a.py"), RESULT % (b"toolu_2", b"print()", b"")
    assert count_folders(CALL % (b"toolu_1", b"/x/y.txt"), *fine, failed).main_dir("/w") == "/w/api"
    quoted = RESULT % (b"toolu_2", b'it said \\"is_error\\":true', b"")
    assert count_folders(fine[0], quoted).main_dir("/w") == "/w/api", "what a result says is nobody's word on it"


@pytest.mark.parametrize(
    ("agent", "record"),
    [
        (
            "gemini-cli",
            {
                "type": "gemini",
                "toolCalls": [
                    {"id": "r1", "args": {"file_path": "/x/a"}, "status": "error"},
                    {"id": "r2", "args": {"file_path": "/w/api/b"}, "status": "success"},
                ],
            },
        ),
        (
            "opencode",
            {
                "parts": [
                    {"type": "tool", "id": "c1", "status": "error", "input": '{"filePath": "/x/a"}'},
                    {"type": "tool", "id": "c2", "status": "completed", "input": '{"filePath": "/w/api/b"}'},
                ]
            },
        ),
    ],
)
def test_u7_a_failed_call_is_told_apart_from_its_neighbours(agent: str, record: dict[str, object]) -> None:
    assert count_folders(json.dumps(record).encode(), agent=agent).main_dir("/w") == "/w/api"


def test_u7_temporary_files_count_only_in_a_session_started_among_them() -> None:
    scratch = CALL % (b"toolu_1", b"/tmp/claude-1000/out.txt")
    assert count_folders(scratch).main_dir("/w") == "/w"
    assert count_folders(scratch).main_dir(None) is None
    assert count_folders(CALL % (b"toolu_1", b"/tmp/project/src/a.py")).main_dir(TEMPORARY) == f"{TEMPORARY}/src"


@for_each(
    "other",
    [
        "/home/ada/.claude/plans",
        "/home/ada/.claude/projects/p/s/tool-results",
        "/usr/lib/python3/dist-packages/yaml",
        "/w/node_modules/left-pad",
        "/w/.venv/lib/python3.13/site-packages/yaml",
        "/mnt/c/Users/ada/AppData/Local/Temp",
    ],
)
def test_u7_folders_that_are_no_projects_are_ignored(other: str) -> None:
    seen = _calls("Read", f"{other}/a", f"{other}/b", f"{other}/c")
    assert count_folders(*seen, *_calls("Edit", "/w/api/a.py")).main_dir("/w") == "/w/api"
    assert count_folders(*seen).main_dir("/w") == "/w"


def test_u7_work_in_the_agents_folder_a_session_started_in_counts() -> None:
    assert count_folders(*_calls("Edit", "/home/ada/.claude/hooks/a.py")).main_dir("/home/ada/.claude") == (
        "/home/ada/.claude/hooks"
    )


def _calls(tool: str, *paths: str) -> list[bytes]:
    return [CALL.replace(b"Read", tool.encode()) % (f"{tool}{path}".encode(), path.encode()) for path in paths]


@for_each(
    ("written", "read", "expected"),
    [
        (["/w/api/a.py", "/w/api/b.py"], ["/lib/one.py"], "/w/api"),  # one look elsewhere moves nothing
        (["/w/api/a.py"], ["/w/api/a.py", "/lib/one.py"], "/w/api"),  # what is written and read counts twice
        (["/w/notes.md"], ["/lib/one.py", "/lib/two.py"], "/lib"),  # reading is work too
        (["/w/api/a.py"], ["/w/web/b.ts"], "/w"),  # a draw: where both are
        ([], [], "/w"),
    ],
)
def test_18_10_the_main_folder_is_where_most_was_written_and_read(
    written: list[str], read: list[str], expected: str
) -> None:
    assert count_folders(*_calls("Edit", *written), *_calls("Read", *read)).main_dir("/w") == expected


def test_inspect_shows_it_beside_where_the_session_started(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with OpenCodeDb(path) as client:
        client.session("s1", "/w")
        client.prompt("s1", "look at it")
        message = client.message("s1", {"role": "assistant"})
        for name in ("a.py", "b.py"):
            state = {"status": "completed", "input": {"filePath": f"/w/api/src/{name}"}}
            client.part(message, {"type": "tool", "tool": "edit", "state": state})
        shown = inspect(path, ADAPTERS["opencode"]).as_json()
    assert (shown["cwd"], shown["main_dir"]) == ("/w", "/w/api/src")


def test_mining_tells_the_sessions_of_one_database_apart(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with OpenCodeDb(path) as client:
        for session in ("s1", "s2"):
            client.session(session, "/w")
            client.prompt(session, f"look at {session}")
            message = client.message(session, {"role": "assistant"})
            state = {"status": "completed", "input": {"filePath": f"/w/{session}/src/a.py"}}
            client.part(message, {"type": "tool", "tool": "edit", "state": state})
        client.prompt("s1", "and again")
        found = Reader(lambda text: text).sessions(Transcript("opencode", path, 0.0))
    assert {session.id: (session.cwd, session.main_dir) for session in found} == {
        "s1": ("/w", "/w/s1/src"),
        "s2": ("/w", "/w/s2/src"),
    }


def test_a_session_read_for_mining_has_no_secret_in_what_the_agent_ran(tmp_path: Path) -> None:
    """A draft says why it left a command out, and that note is printed and stored."""
    commands = ("PGPASSWORD=s3cr3t-ledger-99 pg_restore -d ledger dump", "psql postgres://me:Pa55word77@db.test/x")
    calls = [
        {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": one}} for n, one in enumerate(commands)
    ]
    records = [
        {"type": "user", "message": {"role": "user", "content": "load the dump"}, "promptId": "p"},
        {"type": "assistant", "message": {"role": "assistant", "content": calls}},
    ]
    path = tmp_path / "s.jsonl"
    shared = {"sessionId": "s", "cwd": "/w/api", "version": "2.1.0", "isSidechain": False}
    path.write_text("".join(json.dumps({"uuid": f"u{n}", **shared, **one}) + "\n" for n, one in enumerate(records)))
    (session,) = Reader(Redactor(b"k" * 32).redact).sessions(Transcript("claude-code", path, 0.0))
    texts = [action.text for action, _ in session.actions]
    assert [text.split("[REDACTED:")[0] for text in texts] == ["PGPASSWORD=", "psql postgres://me:"]
    assert {unfit_reason(text) for text in texts} == {"it contains a secret"}
