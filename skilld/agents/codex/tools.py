"""The tool calls of a Codex rollout and how they came out.

A call and its output are response items; newer clients mirror the outcome in an event or a completed item. A program
that the agent ran (`exec`) may call tools itself: the log holds its text, and nothing of how each of those calls ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilld.agents.base import mapping, objects, read_object, short, string
from skilld.agents.codex.records import Record, as_record
from skilld.agents.codex.skills import CODE_COMMENT, CODE_STRING, MAX_CODE, unescaped
from skilld.agents.tools import bounded
from skilld.types import Span, ToolCall, ToolEvent, ToolOutcome, ToolResult

_PROGRAM = "exec"
_MAX_NESTED = 64
_HEAD = 600  # characters of an output in which the client says how it came out
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})$", re.MULTILINE)
_SCRIPT = re.compile(r"Script (completed|failed|running)\b")
_STILL_RUNS = re.compile(r"^(?:Process|Script) running with ", re.MULTILINE)
_STOPPED = re.compile(r"^aborted(?: by user)?\b", re.MULTILINE)
_REFUSED = re.compile(r"[\w ]{1,40}\brejected by user|This action was rejected|[^\n]{0,400}\bRejected\(")
_BROKEN = re.compile(r"(?:\w+ ){0,3}(?:failed(?: for|:| to)|call failed)|unsupported call|err: |execution error: ")
_TELLING = ("_call", "_call_output", "_end", "item_completed")
_STATUS = {
    "completed": ToolOutcome.OK,
    "failed": ToolOutcome.FAILED,
    "declined": ToolOutcome.REJECTED,
}
_IN_PROGRAM = re.compile(
    rf"{CODE_COMMENT}|\btools\.(?P<tool>\w{{1,128}})\s{{0,99}}\("
    rf"|\b(?P<key>[A-Za-z_]\w{{0,63}})\s{{0,9}}:|{CODE_STRING}(?P<colon>\s{{0,9}}:)?",
    re.DOTALL,
)


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one record."""
    if not string(mapping(record.get("payload", record)).get("type")).endswith(_TELLING):
        return
    read = as_record(record, span)
    family, _, kind = read.kind.partition(".")
    if family == "response":
        yield from _response(read, kind, session_id)
    elif outcome := _mirrored(read.body, family, kind):
        yield ToolResult(session_id, _call_id(read.body), outcome, read.at, span)


def _response(read: Record, kind: str, session_id: str) -> Iterator[ToolEvent]:
    body, call_id = read.body, _call_id(read.body) or f"@{read.span.start}"
    if kind.endswith("_call_output"):
        yield ToolResult(session_id, call_id, outcome_of(body.get("output")), read.at, read.span)
    elif kind.endswith("_call"):
        name = short(body.get("name")) or short(kind.removesuffix("_call"))
        yield ToolCall(session_id, call_id, name, bounded(_input(body)), read.at, read.span)
        if "call_id" not in body and (outcome := _STATUS.get(string(body.get("status")))):
            yield ToolResult(session_id, call_id, outcome, read.at, read.span)  # its output is in no record
        if kind == "custom_tool_call" and name == _PROGRAM:
            for number, (tool, arguments) in enumerate(nested_calls(string(body.get("input"))), 1):
                nested = f"{call_id}.{number}"
                yield ToolCall(session_id, nested, short(tool), bounded(arguments), read.at, read.span)


def _call_id(body: Mapping[str, Any]) -> str:
    return short(body.get("call_id")) or short(body.get("id"))  # older searches of the web have neither


def _input(body: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(body.get("action"), dict):
        return mapping(body.get("action"))
    given = body.get("arguments", body.get("input"))
    if isinstance(given, dict):
        return given
    found = read_object(string(given)) if string(given).lstrip().startswith("{") else None
    return found if found is not None else {"input": string(given)}


def _mirrored(body: Mapping[str, Any], family: str, kind: str) -> ToolOutcome | None:
    """Return the outcome that a record tells a second time, None where it tells none."""
    if family == "item":
        return _STATUS.get(string(body.get("status")))
    if kind == "exec_command_end":
        code = body.get("exit_code")
        declined = _STATUS.get(string(body.get("status"))) is ToolOutcome.REJECTED
        told = ToolOutcome.OK if code == 0 else ToolOutcome.FAILED
        return ToolOutcome.REJECTED if declined else told if isinstance(code, int) else None
    if kind == "patch_apply_end":
        return ToolOutcome.OK if body.get("success") is True else ToolOutcome.FAILED
    if kind == "mcp_tool_call_end":
        result = mapping(body.get("result"))
        failed = "Err" in result or mapping(result.get("Ok")).get("isError") is True
        return ToolOutcome.FAILED if failed else ToolOutcome.OK
    return None


def outcome_of(output: object) -> ToolOutcome:
    """Return how a call came out by what the client put before its output; nothing bad said is good."""
    if isinstance(output, dict):
        return ToolOutcome.FAILED if output.get("success") is False else outcome_of(output.get("content"))
    text = string(output) or next((string(part.get("text")) for part in objects(output)), "")
    if text.startswith('{"output":'):
        return _of_json(text)
    head = text[:_HEAD].partition("\nOutput:")[0]
    if exit_code := _EXIT.search(head):
        return ToolOutcome.FAILED if int(exit_code[1]) else ToolOutcome.OK
    if script := _SCRIPT.match(head):
        return {"completed": ToolOutcome.OK, "failed": ToolOutcome.FAILED}.get(script[1], ToolOutcome.UNKNOWN)
    if _STILL_RUNS.search(head):
        return ToolOutcome.UNKNOWN
    if _STOPPED.search(head):
        return ToolOutcome.INTERRUPTED
    if _REFUSED.match(head):
        return ToolOutcome.REJECTED
    return ToolOutcome.FAILED if _BROKEN.match(head) else ToolOutcome.OK


def _of_json(text: str) -> ToolOutcome:
    code = mapping(mapping(read_object(text)).get("metadata")).get("exit_code")
    return ToolOutcome.FAILED if isinstance(code, int) and code else ToolOutcome.OK


def nested_calls(code: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the tools that a program calls, each with those of its arguments that are plain strings."""
    calls: list[tuple[str, dict[str, str]]] = []
    key = ""
    for token in _IN_PROGRAM.finditer(code[:MAX_CODE]):
        text = token["double"] or token["single"] or token["template"] or ""
        if token["tool"]:
            calls.append((token["tool"], {}))
            key = ""
        elif token["key"]:
            key = token["key"]
        elif token["colon"]:
            key = unescaped(text)
        elif calls and key and token[0][0] in "\"'`":
            calls[-1][1].setdefault(key, unescaped(text))
            key = ""
    yield from calls[:_MAX_NESTED]
