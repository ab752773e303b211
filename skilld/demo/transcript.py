"""Writes the demo's session as Claude Code would: one record per line, appended. Pure but for the append."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_VERSION = "2.1.197"


class Transcript:
    """One session file that grows."""

    def __init__(self, path: Path, project: Path, skills: Path) -> None:
        self._path = path
        self._project = project
        self._skills = skills
        self._parent: str | None = None
        self.session_id = path.stem

    def add(self, step: Mapping[str, str]) -> None:
        """Append one step of the session: what the person typed, what the agent wrote, or a skill it called."""
        if "person" in step:
            self._append("user", {"role": "user", "content": step["person"]}, _HUMAN)
        elif "agent" in step:
            self._append("assistant", _assistant({"type": "text", "text": step["agent"]}), {})
        else:
            self._call(step["skill"])

    def _call(self, skill: str) -> None:
        call = f"toolu_{uuid.uuid4().hex[:24]}"
        use = {"type": "tool_use", "id": call, "name": "Skill", "input": {"skill": skill}}
        self._append("assistant", _assistant(use), {})
        result = {"type": "tool_result", "tool_use_id": call, "content": f"Launching skill: {skill}"}
        done = {"toolUseResult": {"success": True, "commandName": skill}}
        self._append("user", {"role": "user", "content": [result]}, done)
        body = f"Base directory for this skill: {self._skills / skill}\n\n"
        meta = {"isMeta": True, "sourceToolUseID": call}
        self._append("user", {"role": "user", "content": [{"type": "text", "text": body}]}, meta)

    def _append(self, kind: str, message: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        own = str(uuid.uuid4())
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            "message": message,
            "uuid": own,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self._project),
            "sessionId": self.session_id,
            "version": _VERSION,
            "gitBranch": "main",
            **extra,
        }
        self._parent = own
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


_HUMAN = {"origin": {"kind": "human"}, "promptSource": "typed", "permissionMode": "default"}


def _assistant(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "model": "demo", "content": [block], "stop_reason": "end_turn"}
