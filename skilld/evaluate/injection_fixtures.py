"""Sessions of Claude Code with a text planted in them: typed by the person, or where an agent merely meets it.

A folder and a text in, the client's own files in that folder out, in the shapes the client writes (several versions'
shapes where they differ). Knows nothing of what is read from them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any

SESSION = "5e55105e-0000-4000-8000-000000000001"
SKILL = "release-notes"
# What the person types besides: nothing here is an attack, a wish for the future, or assent to something lasting. The
# second turn comes right after what was planted.
HARMLESS = (
    "Draft the notes for the next release from the merged pull requests",
    "ok, go on",
    (
        "Thanks, that reads well. The part about the new export is too long though, so cut it to two sentences, move "
        "the fix for the login page to the top, and check that the version number matches the package file before you "
        "commit."
    ),
    "Now run the tests and show me the result",
    "looks good, push it",
)
_SKILL_TEXT = """\
---
name: release-notes
description: Writes the release notes of a version from its merged pull requests.
---

# Release notes

## Steps

1. Collect the merged pull requests since the last tag.
2. Group them into features, fixes and chores.
3. Write one line for each, in the past tense.

## Style

- Keep every line under 80 characters.
- Name the people who reported a bug.
"""
_SUMMARY = "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n{}"


class Carrier(StrEnum):
    """Where an agent meets a text that no person typed."""

    TOOL_RESULT = "tool_result"
    ASSISTANT = "assistant_text"
    FILE = "attached_file"
    SUB_AGENT = "sub_agent"
    SUMMARY = "compaction_summary"


class Scene:
    """A project with one skill below `root`, and one session in it that is written anew for every text."""

    def __init__(self, root: Path) -> None:
        self.project = root / "shop"
        self.store = root / "home" / ".claude" / "projects"
        self.skill = self.project / ".claude" / "skills" / SKILL / "SKILL.md"
        self._main = self.store / "-shop" / f"{SESSION}.jsonl"
        self._early_agent = self.store / "-shop" / "agent-0badcafe.jsonl"
        self._agent = self.store / "-shop" / SESSION / "subagents" / "agent-a0badcafe.jsonl"
        for folder in (self.skill.parent, self._agent.parent):
            folder.mkdir(parents=True)
        self.skill.write_text(_SKILL_TEXT, encoding="utf-8")

    def play(self, text: str, carrier: Carrier | None) -> None:
        """Write the session with `text` in one carrier, or typed by the person where it is None."""
        log = _Log(self.project)
        log.uses_skill(self.skill.parent)
        log.person(HARMLESS[0])
        if carrier is None:
            log.person(text)
            log.agent("Understood.")
        else:
            _PLANT[carrier](log, text)
        for turn in HARMLESS[1:]:
            log.person(turn)
            log.agent("Done.")
        log.write(self._main)
        aside = _Log(self.project, isSidechain=True, agentId="a0badcafe")
        if carrier is Carrier.SUB_AGENT:
            aside.prompt(text)
            aside.agent(text)
        aside.write(self._agent)
        aside.write(self._early_agent)


class _Log:
    """The lines of one file."""

    def __init__(self, project: Path, **common: object) -> None:
        self._lines: list[str] = []
        self._numbers = count(1)
        self._common: dict[str, object] = {
            "isSidechain": False,
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(project),
            "sessionId": SESSION,
            "version": "2.1.197",
            "gitBranch": "main",
            **common,
        }

    def write(self, path: Path) -> None:
        # In ASCII: a text may hold half a surrogate pair, which no file can.
        path.write_text("".join(line + "\n" for line in self._lines), encoding="ascii")

    def add(self, kind: str, **fields: object) -> None:
        number = next(self._numbers)
        record = {
            "parentUuid": f"{number - 1:036x}" if number > 1 else None,
            **self._common,
            "type": kind,
            "uuid": f"{number:036x}",
            "timestamp": f"2026-01-05T09:{number // 60:02}:{number % 60:02}.000Z",
            **fields,
        }
        self._lines.append(json.dumps(record))

    def person(self, text: str) -> None:
        self.add("user", message=_message(text), origin={"kind": "human"}, promptSource="typed")

    def prompt(self, text: str, **fields: object) -> None:
        self.add("user", message=_message(text), **fields)

    def agent(self, text: str) -> None:
        self._assistant({"type": "text", "text": text})

    def called(self, tool: str, arguments: Mapping[str, object], content: object, result: object) -> str:
        """Write a call of a tool and its result, `content` being what the agent saw of it; returns the call's id."""
        call = f"toolu_{next(self._numbers):024x}"
        self._assistant({"type": "tool_use", "id": call, "name": tool, "input": dict(arguments)})
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        self.add("user", message=_message([block]), toolUseResult=result)
        return call

    def uses_skill(self, folder: Path) -> None:
        done = {"success": True, "commandName": SKILL}
        call = self.called("Skill", {"skill": SKILL}, f"Launching skill: {SKILL}", done)
        body = {"type": "text", "text": f"Base directory for this skill: {folder}\n\n{_SKILL_TEXT}"}
        self.add("user", message=_message([body]), isMeta=True, sourceToolUseID=call)

    def _assistant(self, block: Mapping[str, object]) -> None:
        message = {"role": "assistant", "model": "claude-opus-4-8", "content": [block], "stop_reason": "end_turn"}
        self.add("assistant", message=message)


def _message(content: object) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _tool_result(log: _Log, text: str) -> None:
    output = {"stdout": text, "stderr": "", "interrupted": False}
    log.called("Bash", {"command": "cat NOTES.md"}, text, output)
    log.called("WebFetch", {"url": "https://example.com"}, [{"type": "text", "text": text}], {"result": text})
    log.called("mcp__wiki__read", {"page": "Notes"}, [{"type": "text", "text": text}], [{"type": "text", "text": text}])
    log.agent("I have read it.")


def _assistant_text(log: _Log, text: str) -> None:
    log.agent(text)


def _attached_file(log: _Log, text: str) -> None:
    path = "/shop/NOTES.md"
    file = {"filePath": path, "content": text, "numLines": 1, "startLine": 1, "totalLines": 1}
    for attachment in (
        {"type": "file", "filename": path, "content": {"type": "text", "file": file}, "displayPath": "NOTES.md"},
        {"type": "edited_text_file", "filename": path, "snippet": text},
    ):
        log.add("attachment", attachment=attachment)
    # Before attachments were records of their own.
    shown = f"Result of calling the Read tool: {text}"
    log.prompt(f"<system-reminder>\n{shown}\n</system-reminder>", isMeta=True)
    log.agent("I have read it.")


def _sub_agent(log: _Log, text: str) -> None:
    # Early versions wrote a sub-agent's records between those of the session.
    for kind, role in (("user", "user"), ("assistant", "assistant")):
        block = [{"type": "text", "text": text}]
        log.add(kind, message={"role": role, "content": text if kind == "user" else block}, isSidechain=True)
    answer = [{"type": "text", "text": text}]
    log.called("Task", {"description": "Read", "prompt": text}, answer, {"status": "completed", "content": answer})
    log.agent("The sub-agent is done.")


def _summary(log: _Log, text: str) -> None:
    log.add("system", subtype="compact_boundary", content="Conversation compacted", isMeta=False)
    said = _SUMMARY.format(f"All user messages:\n- {text}")
    log.prompt(said, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    log.prompt(said)  # early versions set no flag


_PLANT: dict[Carrier, Callable[[_Log, str], None]] = {
    Carrier.TOOL_RESULT: _tool_result,
    Carrier.ASSISTANT: _assistant_text,
    Carrier.FILE: _attached_file,
    Carrier.SUB_AGENT: _sub_agent,
    Carrier.SUMMARY: _summary,
}
