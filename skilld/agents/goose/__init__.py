"""The adapter for Goose: one SQLite database for all sessions.

From schema 17 of its source, not the client. `goose run` creates an ordinary session, so prompts must be in the
terminal's history. Compaction rewrites the conversation with other row numbers: a turn's key is made of time and words.
"""

from __future__ import annotations

from skilld.agents.base import AgentInfo, Folder, Query, objects, read_object, string
from skilld.agents.declared import DeclaredAdapter, Format, Record, RecordKind, Role, unix_time, value
from skilld.agents.typed_history import Entry
from skilld.text import read_json


def _shape(record: Record) -> Record:
    """Return a message with its content as a list."""
    row = next(iter(objects(record.get("message"))), {})
    shown = value(read_object(string(row.get("metadata"))), "userVisible")
    return {**row, "content": read_json(string(row.get("content"))), "shown": "no" if shown is False else "yes"}


def _plain_text(record: Record) -> str:
    """Return the text of a message that consists only of text, else ""."""
    parts = objects(record.get("content"))
    return "\n".join(string(p.get("text")) for p in parts) if all(p.get("type") == "text" for p in parts) else ""


def read_history(data: bytes) -> list[Entry]:
    """Return the entries of the terminal's history: one on a line, with escapes since its second version."""
    lines = data.decode("utf-8", "replace").splitlines()
    escaped = bool(lines) and lines[0].startswith("#V2")
    return [Entry(line.replace("\\n", "\n").replace("\\\\", "\\") if escaped else line) for line in lines]


_QUERY = Query(
    tables={
        "sessions": frozenset({"id", "session_type", "working_dir", "parent_session_id"}),
        "messages": frozenset({"id", "session_id", "role", "content_json", "created_timestamp", "metadata_json"}),
    },
    newer=(),
    newest="SELECT max(CASE WHEN created_timestamp < 10000000000 THEN created_timestamp * 1000"
    " ELSE created_timestamp END) FROM messages",
    last_row="SELECT coalesce(max(id), 0) FROM messages",
    index="""
        SELECT at, id FROM (
          SELECT m.id AS id, CASE WHEN m.created_timestamp < 10000000000 THEN m.created_timestamp * 1000
          ELSE m.created_timestamp END AS at FROM messages m JOIN sessions s ON s.id = m.session_id
          WHERE s.session_type = 'user' AND s.parent_session_id IS NULL AND (:session IS NULL OR s.id = :session)
        ) WHERE at >= :since OR id > :row ORDER BY at, id LIMIT :limit
    """,
    record={
        "message": """
            SELECT m.session_id AS session, s.working_dir AS directory, m.role AS role, m.created_timestamp AS created,
            m.metadata_json AS metadata,
            CASE WHEN length(m.content_json) <= :longest THEN m.content_json ELSE '[]' END AS content
            FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = :key
        """
    },
)
FORMAT = Format(
    "goose",
    (
        RecordKind(Role.HEAD, {"session": "*"}, more=True),
        RecordKind(Role.NOTHING, {"role": "user", "shown": "no"}, why="injected"),
        RecordKind(
            Role.RESULT, {"role": "user"}, "content", {"type": "toolResponse"},
            call="id", text="toolResult.value", failed={"toolResult.status": "error"},
        ),
        RecordKind(Role.PROMPT, {"role": "user"}, words=_plain_text),
        RecordKind(Role.REPLY, {"role": "assistant"}, "content", {"type": "text"}, text="text", more=True),
        RecordKind(
            Role.CALL, {"role": "assistant"}, "content", {"type": "toolRequest"},
            call="id", tool="toolCall.value.name", input="toolCall.value.arguments",
        ),
        RecordKind(Role.NOTHING, {"role": "assistant"}),
    ),
    session="session",
    cwd="directory",
    at="created",
    time=unix_time,
    skills={"loadSkill": "name", "load_skill": "name"},
    shape=_shape,
    listed=True,
)  # fmt: skip
INFO = AgentInfo(
    name="goose",
    title="Goose",
    home=".local/share/goose/sessions",
    home_parents=(("XDG_DATA_HOME", "goose/sessions"),),
    stores=("",),
    suffixes=("sessions.db",),
    flat=True,
    queries=(_QUERY,),
    typed_list=("~/.config/goose/history.txt", "~/.local/state/goose/history.txt"),
    asked_for=True,
    project_skills=(".goose/skills", ".agents/skills", ".claude/skills"),
    user_skills=(".agents/skills", ".claude/skills"),
    skill_homes=(),
    skill_folders=(Folder(".config/goose/skills", (("XDG_CONFIG_HOME", "goose/skills"),)),),
    wrappers=("headless prompt", "tool result"),
    instructions=(".goosehints", "AGENTS.md"),
    verified="its source (schema 17), not the client",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT, lambda path: path.name == "sessions.db", read_history)
