"""The adapter for Factory's Droid: one JSONL file for each session, sub-agents in the same folder.

Seen: 0.225.2. Only typed messages of role user have `userMessageSource` "cli_tui"; `droid exec` writes none. A fork
copies lines with their ids. A typed skill comes before its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.agents.base import AgentInfo, objects, string
from skilld.agents.declared import ANY, DeclaredAdapter, Format, Record, RecordKind, Role, value
from skilld.agents.questions import OpenQuestion, Question, ToolOutput
from skilld.agents.skill_reads import Use, use_of_path
from skilld.agents.wrappers import Wrappers

_ACTIVE = re.compile(r'Skill "[^"\n]*" is now active\.\n\n<skill name="[^"\n]*" filePath="([^"\n]*)">')
_SELECTED = re.compile(r'<system-notification>\nSkills provide [^\n]*\n+<skill filePath="([^"\n]*)">')
_TITLE = re.compile(r"^\d+\. \[question\] ", re.MULTILINE)
_OPTION = re.compile(r"^\[option\] (.*)$", re.MULTILINE)


def _selected_skill(record: Record) -> Use | None:
    texts = (string(part.get("text")) for part in objects(value(record, "message.content")))
    found = next(filter(None, map(_SELECTED.match, texts)), None)
    return use_of_path(found[1]) if found else None


def _skill_file(text: str) -> str | None:
    found = _ACTIVE.match(text)
    return found[1] if found else None


def _answers(result: ToolOutput, waiting: OpenQuestion) -> Iterator[str]:
    """Yield the answers; none if a question or an answer contains the mark of another."""
    pieces = result.text.split("\n[answer] ")
    if len(pieces) != len(waiting.titles) + 1 or len(_TITLE.findall(result.text)) != len(waiting.titles):
        return
    for piece in pieces[1:]:
        at = _TITLE.search(piece)
        yield (piece[: at.start()] if at else piece).strip()


_MESSAGE = {"type": "message", "message.role": "user"}
_ASSISTANT = {"type": "message", "message.role": "assistant"}
_TYPED = {**_MESSAGE, "message.userMessageSource": "cli_tui", "message.visibility": "\0none"}
_TEXT = {"type": "text"}
FORMAT = Format(
    "droid",
    (
        RecordKind(Role.HEAD, {"type": "session_start"}),
        RecordKind(
            Role.RESULT, _MESSAGE, "message.content", {"type": "tool_result"}, more=True,
            call="tool_use_id", text="content", failed={"is_error": "true"},
        ),
        RecordKind(Role.SKILL, _TYPED, more=True, skill=_selected_skill),
        RecordKind(Role.PROMPT, _TYPED, "message.content", _TEXT, text="text", key="id", why="bare-command"),
        RecordKind(Role.NOTHING, {**_MESSAGE, "message.visibility": ANY}, why="injected"),
        RecordKind(
            Role.NOTHING, {**_MESSAGE, "id": ("context-*", "__internal__*", "task-completion:*")}, why="injected"
        ),
        RecordKind(Role.NOTHING, _MESSAGE, "message.content", _TEXT, why="headless"),
        RecordKind(Role.REPLY, _ASSISTANT, "message.content", _TEXT, text="text", more=True),
        RecordKind(
            Role.CALL, _ASSISTANT, "message.content", {"type": "tool_use"}, call="id", tool="name", input="input"
        ),
        RecordKind(Role.NOTHING, {"type": "agent_turn_outcome"}),
    ),
    session="id",
    cwd="cwd",
    subagent={"callingSessionId": ANY},
    wrappers=Wrappers(
        opens=r"<(system-notification|system-reminder)>", closes=r"</(system-notification|system-reminder)>"
    ),
    skills={"Skill": "skill"},
    skill_file=_skill_file,
    questions={
        "AskUser": Question(
            answers=_answers,
            labels=lambda asked: _OPTION.findall(string(asked.get("questionnaire"))),
            titles=lambda asked: [f"{n}" for n, _ in enumerate(_TITLE.findall(string(asked.get("questionnaire"))))],
        )
    },
    refused=("Tool execution cancelled by user",),
)  # fmt: skip
INFO = AgentInfo(
    name="droid",
    title="Droid",
    home=".factory",
    home_parents=(("FACTORY_HOME_OVERRIDE", ".factory"),),
    stores=("sessions",),
    project_skills=(".factory/skills", ".claude/skills"),
    wrappers=(
        "system-notification",
        "system-reminder",
        "injected message",
        "headless prompt",
        "option label",
        "tool result",
    ),
    instructions=("AGENTS.md",),
    verified="0.225.2 on 2026-11-30",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT, lambda path: path.suffix == ".jsonl")
