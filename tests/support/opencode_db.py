"""A database as opencode 1.18.33 keeps it, written the way its client writes: WAL, a message, then its parts.

Holds the tables that skilld asks and, with a secret in each, those it must never ask.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from support.live_project import Project

SECRET = "sk-" + "do-not-read-this-0123456789"
HEADLESS = [{"permission": name, "pattern": "*", "action": "deny"} for name in ("question", "plan_enter", "plan_exit")]
_TABLES = """
CREATE TABLE account (id text PRIMARY KEY, access_token text, refresh_token text);
CREATE TABLE credential (id text PRIMARY KEY, value text);
CREATE TABLE session_share (session_id text PRIMARY KEY, secret text);
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text NOT NULL, title text,
  version text, permission text, revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, data text);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
"""


class OpenCodeDb:
    """The client's side of a database. Times are milliseconds; each prompt takes a second."""

    def __init__(self, path: Path, *, now: int = 1_795_000_000_000) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.now = now
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.executescript(_TABLES)
        for statement in (
            "INSERT INTO account VALUES ('a', ?1, ?1)",
            "INSERT INTO credential VALUES ('c', ?1)",
            "INSERT INTO session_share VALUES ('s', ?1)",
        ):
            self.db.execute(statement, (SECRET,))
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def session(self, name: str, directory: str, *, parent: str | None = None, rules: object = None) -> str:
        """Begin a session and return its id."""
        row = (name, parent, directory, json.dumps(rules) if rules is not None else None, self.now)
        self.db.execute("INSERT INTO session VALUES (?1, 'global', ?2, ?3, 't', '1', ?4, NULL, ?5, ?5)", row)
        return name

    def message(self, session: str, data: Mapping[str, Any], *, at: int | None = None) -> str:
        """Add a message without parts and return its id."""
        self._number += 1
        self.now += 1000
        created = self.now if at is None else at
        key = f"msg_{self._number:06}"
        text = json.dumps({"time": {"created": created}, **data}, ensure_ascii=False)
        self.db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (key, session, created, created, text))
        return key

    def part(self, message: str, data: Mapping[str, Any]) -> str:
        """Add a part to a message and return its id."""
        self._number += 1
        key = f"prt_{self._number:06}"
        row = (key, message, self.now, json.dumps(data, ensure_ascii=False))
        self.db.execute("INSERT INTO part VALUES (?1, ?2, '', ?3, ?3, ?4)", row)
        return key

    def prompt(self, session: str, text: str, *, at: int | None = None, **more: object) -> str:
        """Add a prompt with its text, and return the message's id."""
        message = self.message(session, {"role": "user", "agent": "build"}, at=at)
        self.part(message, {"type": "text", "text": text, **more})
        return message

    def answer(self, session: str, text: str = "Understood.", *, ended: bool = True) -> str:
        """Add an answer, and return the message's id."""
        message = self.message(session, {"role": "assistant", **_ended(ended, self.now)})
        self.part(message, {"type": "text", "text": text})
        return message

    def skill(self, session: str, folder: Path, *, ended: bool = True) -> str:
        """Add an answer that calls the skill tool, and return the id of the tool's part."""
        message = self.message(session, {"role": "assistant", **_ended(ended, self.now)})
        return self.part(message, skill_call(folder, "completed" if ended else "pending"))

    def end(self, part: str, data: Mapping[str, Any]) -> None:
        """Store a part's outcome, and end its message."""
        self.db.execute("UPDATE part SET data = ? WHERE id = ?", (json.dumps(data), part))
        ended = json.dumps({"role": "assistant", **_ended(True, self.now)})  # noqa: FBT003 - reads as it says
        self.db.execute(
            "UPDATE message SET data = ?1 WHERE id = (SELECT message_id FROM part WHERE id = ?2)", (ended, part)
        )


def skill_call(folder: Path, status: str) -> dict[str, Any]:
    """Return a tool part of the skill tool."""
    done = {"metadata": {"name": folder.name, "dir": str(folder)}, "output": "<skill_content>"}
    state = {"status": status, "input": {"name": folder.name}, **(done if status == "completed" else {})}
    return {"type": "tool", "tool": "skill", "callID": "call", "state": state}


def _ended(ended: bool, now: int) -> dict[str, Any]:  # noqa: FBT001 - one private caller
    return {"time": {"created": now, **({"completed": now} if ended else {})}}


class Client:
    """opencode in a project, with the skill in use."""

    def __init__(self, home: Path, project: Project) -> None:
        self._list = home / ".local" / "state" / "opencode" / "prompt-history.jsonl"
        self._list.parent.mkdir(parents=True)
        self.path = home / ".local" / "share" / "opencode" / "opencode.db"
        self.database = OpenCodeDb(self.path, now=int(time.time() * 1000))
        self.database.session("s1", str(project.root))
        self.database.skill("s1", project.skill_path.parent)

    def type(self, *texts: str) -> None:
        for text in texts:
            with self._list.open("a") as file:
                file.write(json.dumps({"input": text, "parts": [], "mode": "normal"}) + "\n")
            self.database.prompt("s1", text)
            self.database.answer("s1")
