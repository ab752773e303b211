"""Tool calls: adapters build them with bounded size, and readers get outcomes, files and folders from them.

Everything in a call is a claim of the log. The daemon, which only needs turns, uses nothing here: an adapter's
`tool_events` is for readers of whole transcripts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skilld.agents.base import Adapter, mapping, read_object, short, string
from skilld.types import Event, RawLine, Span, ToolCall, ToolEvent, ToolOutcome, ToolResult

READ_TOOLS = frozenset({"read", "readfile", "read_file", "view", "view_file", "cat"})
SHELL_TOOLS = frozenset(
    {"bash", "shell", "run_shell_command", "run_terminal_cmd", "run_terminal_command", "exec", "exec_command"}
    | {"shell_command", "container.exec", "local_shell"}
)
SEARCH_TOOLS = frozenset({"find", "glob", "grep", "list", "list_directory", "ls", "search_file_content"})
_PATCH_TOOLS = frozenset({"apply_patch", "patch"})
FILE_KEYS = ("path", "file_path", "absolute_path", "filePath", "target_file", "file", "notebook_path")
COMMAND_KEYS = ("command", "cmd", "script")
FOLDER_KEYS = ("workdir", "cwd", "working_directory", "dir_path", "directory")

MAX_TEXT = 1 << 16  # characters of all long texts together in one call's input
_MAX_SHORT = 1024  # characters: shorter texts are always kept
_MAX_VALUES = 256
_MAX_DEPTH = 6
_COUNTED_OUTCOMES = (ToolOutcome.FAILED, ToolOutcome.REJECTED, ToolOutcome.INTERRUPTED, ToolOutcome.UNKNOWN)
_PATCH_START = "*** Begin Patch"
# A patch may be plain, or in a string of JSON or of a program.
_PATCHED_FILE = re.compile(r"\*\*\* (?:Update|Add|Delete) File: ([^\\\n\"'`*]{1,1024})")
_EXIT_CODE = re.compile(r"Exit Code: (-?\d{1,10})(?:\n(?:Signal|Background PIDs|Process Group PGID): [^\n]*)*\s*\Z")

RecordReader = Callable[[RawLine], Iterable[tuple[Mapping[str, Any], Span]]]
ToolReader = Callable[[Mapping[str, Any], str, Span], Iterator[ToolEvent]]


def record_reader(adapter: Adapter) -> RecordReader:
    """Return the function that turns a line into records with their spans.

    If a line of an agent's transcripts is not one JSON object, its adapter has `records_of(line)`.
    """
    own: RecordReader | None = getattr(adapter, "records_of", None)
    return own or _one_record


def tools_of(adapter: Adapter) -> ToolReader:
    """Return the function that reads the tool events of one record; without `tool_events` there are none."""
    read: ToolReader | None = getattr(adapter, "tool_events", None)
    return read or (lambda *_: iter(()))


def _one_record(line: RawLine) -> Iterator[tuple[Mapping[str, Any], Span]]:
    record = read_object(line.data)
    if record is not None:
        yield record, Span(line.start, line.end)


def bounded(arguments: object) -> Mapping[str, Any]:
    """Return the arguments of a call, truncated: long texts to MAX_TEXT in total, values in number and depth."""
    return mapping(_Truncator().value(mapping(arguments), _MAX_DEPTH))


@dataclass(slots=True)
class _Truncator:
    texts: int = MAX_TEXT
    values: int = _MAX_VALUES

    def value(self, value: object, depth: int) -> Any:  # noqa: ANN401 - JSON
        self.values -= 1
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float) or value is None:
            return value if not isinstance(value, int) or abs(value) < 1 << 64 else None
        if depth == 0 or self.values <= 0:
            return None
        if isinstance(value, dict):
            return {short(key): self.value(one, depth - 1) for key, one in value.items() if self.values > 0}
        if isinstance(value, list):
            return [self.value(one, depth - 1) for one in value if self.values > 0]
        return None

    def _text(self, text: str) -> str:
        if len(text) > _MAX_SHORT:
            text = text[: max(_MAX_SHORT, self.texts)]
            self.texts -= len(text)
        return string(text)


def outcome_of_shell(output: str) -> ToolOutcome:
    """Return the outcome of a command from the exit code that Gemini CLI and similar clients put after its output.

    Only their own lines may follow it: one within a program's output is the program's.
    """
    at = output.rfind("\nExit Code: ")
    code = _EXIT_CODE.match(output, at + 1) if at >= 0 else None
    return ToolOutcome.FAILED if code and int(code[1]) else ToolOutcome.OK


# Information derived from tool events.


def tool_counts(events: Iterable[Event | ToolEvent]) -> dict[str, dict[str, int]]:
    """Return, by tool name, the number of calls, and of those that did not succeed by outcome.

    A call that was logged again counts once.
    """
    names: dict[object, str] = {}
    outcomes: dict[object, ToolOutcome] = {}
    for event in events:
        if isinstance(event, ToolCall):
            names[(event.session_id, event.call_id) if event.call_id else len(names)] = event.name
        elif isinstance(event, ToolResult) and event.outcome is not ToolOutcome.UNKNOWN:
            key = event.session_id, event.call_id
            outcomes[key] = event.outcome if event.outcome is not ToolOutcome.OK else outcomes.get(key, event.outcome)
    counts = Counter((name, outcomes.get(key, ToolOutcome.UNKNOWN)) for key, name in names.items())
    calls = Counter(names.values())
    return {
        name: {"calls": calls[name]} | {how.value: counts[name, how] for how in _COUNTED_OUTCOMES}
        for name in sorted(calls)
    }


def command_of(call: ToolCall) -> str:
    """Return the command that a call runs in a shell, "" for a call of another kind."""
    for key in COMMAND_KEYS if call.name.lower() in SHELL_TOOLS else ():
        command = call.input.get(key)
        words = [string(word) for word in command] if isinstance(command, list) else [string(command)]
        if any(words):
            return " ".join(words)
    return ""


def named_files(value: object) -> Iterator[str]:
    """Yield the files that a call's input names, at any depth."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key in FILE_KEYS and isinstance(one, str) and one:
                yield one
            else:
                yield from named_files(one)
    elif isinstance(value, list):
        for one in value:
            yield from named_files(one)


def touched_files(call: ToolCall) -> Iterator[str]:
    """Yield the files that a call names or patches; a search touches none, and may name folders."""
    if call.name.lower() not in SEARCH_TOOLS:
        yield from (name for name in (*named_files(call.input), *patched_files(call)) if "\0" not in name)


def folder_of(call: ToolCall) -> str:
    """Return the folder that a call is to run in, "" if it names none."""
    return next((found for key in FOLDER_KEYS if (found := string(call.input.get(key)))), "")


def patched_files(call: ToolCall) -> Iterator[str]:
    """Yield the files changed by a patch in a call's input (a patch tool, a command or a program)."""
    if call.name.lower() in _PATCH_TOOLS | SHELL_TOOLS:
        for text in _strings(call.input):
            if _PATCH_START in text:
                yield from (match[1].strip() for match in _PATCHED_FILE.finditer(text))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)
