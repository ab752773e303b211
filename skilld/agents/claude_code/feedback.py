"""What a person said beside or inside the result of a tool: why they refused it, what they answered, what they added.

Takes a user record with tool results and the names of the tools that were called; gives turns. The text of a result
comes from programs and servers that may imitate the client's sentences, so a note counts only for a built-in tool whose
result cannot begin with foreign text (seen: an MCP server's result is equal to a refusal in every field of 2.1.197), or
where the client keeps the words beside the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilld.agents.claude_code.records import Record, items, mapping, string, texts
from skilld.agents.claude_code.wrappers import Words, words
from skilld.agents.wrapped import labels_of, picks_of, typed_answer
from skilld.types import How, Ignored, Turn

ASK = "AskUserQuestion"
_OTHER = "Other"  # the client's own last option

REFUSED = "The user doesn't want to proceed with this tool use."
REFUSED_COPY = "Error: The user doesn't want"
_SAID = "To tell you how to proceed, the user said:\n"
DENIED = "user-rejected"
_ADVICE = "\n\nNote: The user's next message may contain a correction or preference"
# What the client itself writes as the person's reason when a button was pressed.
_BUTTONS = (
    "The user wants to clarify these questions.",
    "The user has indicated they have provided enough answers",
)
_PROGRAM_TOOLS = frozenset(("Bash", "BashOutput", "PowerShell", "TaskOutput", "Monitor"))
# Before, the output of a failed command was the whole result; since, "Exit code N" comes first (seen in 2.0.76).
_EXIT_CODE_FIRST = (2, 1)
# Tools that only pass on what the client says itself: trusted where a record lacks the second copy of the sentence.
_CLIENT_TOOLS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit", "ExitPlanMode", ASK))


def notes(record: Record, tools: Mapping[str, str]) -> list[Turn | Ignored]:
    """Return what was typed when tool calls were refused, allowed or answered; `tools` maps the calls' ids to names."""
    found: list[Turn | Ignored] = []
    names: list[str] = []
    refused = False
    for block in record.results():
        name = tools.get(string(block.get("tool_use_id")), "")
        names.append(name)
        if block.get("is_error") is True:
            refused = True
            found += _refusal(record, block, name, len(names))
        elif name == ASK:
            found += _answers(record)
    beside = words(texts(record.content), signed=False)
    if isinstance(beside, Words) and beside.text.strip():
        how = How.REJECTION if refused else How.APPROVAL
        if all(map(_is_built_in, names)):
            found.append(record.turn(beside.text, how, "#beside"))
        else:
            found.append(record.ignored("untrusted-note"))
    return found


def _is_built_in(name: str) -> bool:
    return bool(name) and not name.startswith("mcp__")


def _refusal(record: Record, block: Mapping[str, Any], name: str, number: int) -> list[Turn | Ignored]:
    content = "\n".join(texts(block.get("content")))
    said = content.partition(_SAID)[2] if content.startswith(REFUSED) else ""
    if record.string("toolDenialKind") == DENIED:
        said = record.string("userFeedback") or said
    said = said.partition(_ADVICE)[0]
    if not said.strip():
        return []
    if not _is_recorded(record) and not (_is_built_in(name) and _is_the_clients(record, name)):
        return [record.ignored("untrusted-note")]
    if said.startswith(_BUTTONS):
        return [record.ignored("button")]
    return [record.turn(said, How.REJECTION, "#note" if number == 1 else f"#note{number}")]


def _is_recorded(record: Record) -> bool:
    """Whether the record itself tells of the refusal and its words, as those of 2.1.330 do: no server writes there."""
    decision = mapping(record.get("permissionDecision")).get("source")
    return decision == "user_reject" and record.string("toolDenialKind") == DENIED and bool(record.get("userFeedback"))


def _is_the_clients(record: Record, name: str) -> bool:
    if name in _PROGRAM_TOOLS and record.version < _EXIT_CODE_FIRST:
        return False
    if record.get("toolUseResult") is None:
        return name in _CLIENT_TOOLS
    return record.string("toolUseResult").startswith(REFUSED_COPY) or record.string("toolDenialKind") == DENIED


def _answers(record: Record) -> list[Turn | Ignored]:
    result = mapping(record.get("toolUseResult"))
    answers = mapping(result.get("answers"))
    remarks = mapping(result.get("annotations"))
    found: list[Turn | Ignored] = []
    picks = picks_of([*labels_of(result.get("questions")), _OTHER])
    for number, question in enumerate(map(mapping, items(result.get("questions"))), start=1):
        asked = string(question.get("question"))
        free = typed_answer(string(answers.get(asked)), picks, several=question.get("multiSelect") is True)
        remark = string(mapping(remarks.get(asked)).get("notes"))
        found += [record.turn(free, How.ANSWER, f"#answer{number}")] if free.strip() else []
        found += [record.turn(remark, How.ANSWER, f"#remark{number}")] if remark.strip() else []
        if answers.get(asked) and not free.strip():
            found.append(record.ignored("picked-answer"))
    return found
