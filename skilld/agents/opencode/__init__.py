"""opencode: one SQLite database for all sessions, `opencode.db` (a channel of its own: `opencode-<channel>.db`).

Seen in 1.18.33: a message has parts; those of a prompt are written once, a moment after it, those of an answer change
where they stand. A fork copies messages under new ids with their old times. Ids are no order: they hold 36 bits of the
time and began anew in August 2026. The tables with accounts and credentials are never asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, Folder, Query
from skilld.agents.opencode.parser import AGENT, Parser

_FIRST = Query(
    tables={
        "session": frozenset({"id", "parent_id", "directory", "permission"}),
        "message": frozenset({"id", "session_id", "time_created", "data"}),
        "part": frozenset({"id", "message_id", "data"}),
    },
    newer=("session_v2", "session_message"),
    newest="SELECT max(time_created) FROM message",
    last_row="SELECT coalesce(max(rowid), 0) FROM message",
    # The cross join fixes the order: the sessions, then by the index on session and time the new messages of each.
    index="""
        WITH fresh (id) AS (
          SELECT m.id FROM session s CROSS JOIN message m ON m.session_id = s.id AND m.time_created >= :since
          WHERE s.parent_id IS NULL AND (:session IS NULL OR s.id = :session)
          UNION
          SELECT m.id FROM message m JOIN session s ON s.id = m.session_id
          WHERE m.rowid > :row AND s.parent_id IS NULL AND (:session IS NULL OR s.id = :session)
        )
        SELECT m.time_created, m.id FROM fresh JOIN message m ON m.id = fresh.id
        WHERE typeof(m.time_created) = 'integer' AND typeof(m.id) = 'text' ORDER BY 1, 2 LIMIT :most
    """,
    record={
        "message": """
            SELECT m.id, m.session_id AS session, s.directory, s.permission, m.time_created AS created,
            CASE WHEN length(m.data) <= :longest THEN m.data END AS data
            FROM message m JOIN session s ON s.id = m.session_id WHERE m.id = :key
        """,
        # Of a tool's part what it was asked and where it stands, never what it gave.
        "parts": """
            SELECT id, json_extract(data, '$.type') AS type, json_extract(data, '$.text') AS text,
            json_extract(data, '$.synthetic') AS synthetic, json_extract(data, '$.ignored') AS ignored,
            json_extract(data, '$.tool') AS tool, json_extract(data, '$.state.status') AS status,
            json_extract(data, '$.state.input') AS input, json_extract(data, '$.state.metadata') AS metadata,
            json_extract(data, '$.state.time.start') AS started
            FROM part WHERE message_id = :key AND CASE WHEN length(data) <= :longest AND json_valid(data)
            THEN json_extract(data, '$.type') IN ('text', 'tool', 'compaction', 'subtask') ELSE 0 END ORDER BY id
        """,
    },
)

INFO = AgentInfo(
    name=AGENT,
    title="opencode",
    home=".local/share/opencode",
    home_variables=(),
    home_parents=(("XDG_DATA_HOME", "opencode"),),
    file_variables=("OPENCODE_DB",),
    stores=("",),
    suffixes=(".db",),
    flat=True,
    queries=(_FIRST,),
    typed_list=(
        "../../state/opencode/prompt-history.jsonl",
        "$XDG_STATE_HOME/opencode/prompt-history.jsonl",
        "~/.local/state/opencode/prompt-history.jsonl",
    ),
    templates=(
        "$XDG_CONFIG_HOME/opencode/command",
        "$XDG_CONFIG_HOME/opencode/commands",
        "~/.config/opencode/command",
        "~/.config/opencode/commands",
    ),
    project_templates=(".opencode/command", ".opencode/commands"),
    project_skills=(".opencode/skills", ".opencode/skill", ".claude/skills", ".agents/skills"),
    user_skills=(".claude/skills", ".agents/skills"),
    skill_homes=(),
    skill_folders=(
        Folder(".config/opencode/skills", (("XDG_CONFIG_HOME", "opencode/skills"),)),
        Folder(".config/opencode/skill", (("XDG_CONFIG_HOME", "opencode/skill"),)),
        Folder("", (("OPENCODE_CONFIG_DIR", "skills"),)),
        Folder("", (("OPENCODE_CONFIG_DIR", "skill"),)),
    ),
    wrappers=("synthetic part", "skill body", "command file", "headless prompt", "option label", "tool result"),
    instructions=("AGENTS.md", "CLAUDE.md"),
    verified="1.18.33 on 2026-11-20",
    kept_as="rows of SQLite",
    typed_by="`prompt-history.jsonl`; without it the parts that are not `synthetic`",
    unattended="the session's `permission` rules, or what the prompt history lacks; sub-agents by `parent_id`",
    skill_use="the `skill` tool's `metadata.dir`, a `read` of a SKILL.md, or the body put in for `/name`",
    own_runs="`OPENCODE_DB=:memory:`, which keeps nothing",
)

_NAME = re.compile(r"opencode(-[\w.-]+)?\.db")


def is_transcript(path: PurePath) -> bool:
    """Whether a path is that of a database with sessions."""
    return _NAME.fullmatch(path.name) is not None


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
    """Return a parser for one database, fresh or resumed with the state of a checkpoint."""
    del path
    return Parser(state or {})
