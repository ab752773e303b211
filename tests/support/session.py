"""A Claude Code session written by a test: the demo's writer, with what only tests need."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from skilld.demo import Transcript
from support.live_project import SKILL, Project

LASTING = "From now on, always put the ticket number first in each entry."
LASTING_2 = "Never mention internal hostnames in the release notes again."
# What an agent ran for a task: enough of it for a skill where it came in two sessions.
SQUASHING = ("!make squash", "make squash ONTO=main", "make check")
TAGGING = ("!make tag", "make tag SIGNED=yes", "make check")
CHATTER = ("thanks", "ok go on", "looks good", "now run it again", "yes please")


class Session:
    """One session in `home`, in a project with the skill release-notes."""

    def __init__(self, home: Path, project: Project, name: str = "") -> None:
        folder = home / ".claude/projects/-x-project"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name or uuid.uuid4()}.jsonl"
        self._transcript = Transcript(self.path, project.root, project.skill_path.parents[1])

    def use_skill(self, name: str = SKILL) -> None:
        """Make the agent call the skill."""
        self._transcript.add({"skill": name})

    def type(self, *texts: str) -> None:
        """Type one turn after the other, each answered."""
        for text in texts:
            self._transcript.add({"person": text})
            self._transcript.add({"agent": f"Done ({len(text)})."})

    def work(self, text: str, *commands: str) -> None:
        """Type a turn for which the agent runs commands; one that begins with "!" fails."""
        self._transcript.add({"person": text})
        for number, command in enumerate(commands):
            call, failed = f"toolu_{uuid.uuid4().hex[:20]}{number:04}", command.startswith("!")
            run = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command.lstrip("!")}}
            self._record("assistant", [run])
            result = {"type": "tool_result", "tool_use_id": call, "content": "no" if failed else "ok"}
            self._record("user", [result | ({"is_error": True} if failed else {})])
        self._transcript.add({"agent": f"Done ({len(text)})."})

    def _record(self, kind: str, content: list[object]) -> None:
        record = {"type": kind, "uuid": str(uuid.uuid4()), "sessionId": self.path.stem, "isSidechain": False}
        self.raw(json.dumps(record | {"message": {"role": kind, "content": content}}).encode() + b"\n")

    def reply(self, text: str) -> None:
        """Make the agent write something."""
        self._transcript.add({"agent": text})

    def tool_output(self, text: str) -> None:
        """Make a tool print something, which is nobody's words."""
        result = {"type": "tool_result", "tool_use_id": "toolu_bash", "content": text}
        self.raw(
            json.dumps(
                {
                    "type": "user",
                    "uuid": str(uuid.uuid4()),
                    "sessionId": self.path.stem,
                    "message": {"role": "user", "content": [result]},
                    "toolUseResult": {"stdout": text},
                }
            ).encode()
            + b"\n"
        )

    def raw(self, data: bytes) -> None:
        """Append bytes as they are."""
        with self.path.open("ab") as file:
            file.write(data)
