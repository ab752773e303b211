"""Decides from raw bytes which lines of a Claude Code transcript need no parsing.

Only shapes that the clients write are recognized: the result of one tool, one block of the agent's, or a record of a
sort without content, each alone in its line. Everything else, and whatever looks like two records in one line or like a
person's words, must be parsed. tests/unit/test_prefilter.py checks that this changes no turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from skilld.agents.base import remember
from skilld.agents.chunk import Chunk, finder
from skilld.agents.claude_code.skills import TOOLS
from skilld.agents.claude_code.wrappers import ASK_TOOL

_SCALAR = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|null|true|false|-?[\d.]++'
# Irrelevant keys before what is searched for. Keys that flag a record, or occur where a person spoke, are not among
# them: a record with such a key is parsed.
_OTHER_KEYS = rb'(?:"(?!type"|message"|content"|role"|is[A-Z]|tool|userF|data"|snapshot")\w+":(?:%b),)*+' % _SCALAR
_PARENT = b'{"parentUuid":"'
_PARENT_LENGTH = len(_PARENT)
_MAX_UUID_LENGTH = 64  # more than the longest id
_COMMON_FIELDS = re.compile(
    rb'\{"parentUuid":(?:%(scalar)b),(?:"logicalParentUuid":(?:%(scalar)b),)?"isSidechain":(?:false|(true)),%(keys)b'
    % {b"scalar": _SCALAR, b"keys": _OTHER_KEYS}
)
_RECORD_HEAD = re.compile(
    rb'%(keys)b(?:(?:"type":"user",)?"message":\{"role":"user","content":\[\{'
    rb'(?:"tool_use_id":"(?P<result>[\w-]+)","type":"tool_result",'
    rb'|"type":"tool_result",(?:"tool_use_id":"(?P<other>[\w-]+)",|(?P<late>)))'
    rb'"content":(?:"(?!The user|Error: The user)|\[\{"type":"image","source":\{"type":"base64",)'
    rb'|(?:"type":"assistant",)?%(keys)b"message":\{(?:"model":"[\w.-]++","id":"\w++",)?+%(keys)b'
    rb'(?:"type":"message",)?%(keys)b"role":"assistant",%(keys)b"content":\[\{'
    rb'"type":"(?:thinking"|text",|tool_use","id":"(?P<call>[\w-]+)","name":"(?P<tool>[\w.:-]+)",)'
    rb'|"type":"system","subtype":"(?!informational|local_command)(?P<note>\w+)",'
    rb'|"attachment":\{"type":"(?!queued_command|invoked_skills)(?P<attached>\w+)",'
    rb'|"type":"(?P<idle>progress)",)' % {b"keys": _OTHER_KEYS}
)
# Records that start with their type and that the parser ignores; a third of the bytes of 2.1.330 are its requests.
_IGNORED_RECORD = re.compile(
    rb'\{"type":"(?P<bare>file-history-snapshot|file-history-delta|summary|last-prompt|ai-title|mode|permission-mode'
    rb'|atis-latch|tools-used|cost-state|api-request(?:-shape|-blob)?)",'
)
_TYPE_KEY = b'"type":"'
# The types that may occur in one plain record after its head: those of an image, of a tool's details of its result, of
# the record itself. A second block, or a second record in the line, has another one.
_PLAIN_TYPES = tuple(
    _TYPE_KEY + rest
    for rest in (
        b"image/",
        b'base64"',
        b'direct"',
        b'message"',
        b'assistant","',
        b'text","file":{',
        b'image","file":{',
        b'create","filePath":',
        b'update","filePath":',
    )
)
_SESSION = re.compile(rb'"sessionId":"([\w-]+)"')
_ENTRYPOINT_KEY = b'"entrypoint":'
_ENTRYPOINT = re.compile(rb'"entrypoint":"([\w-]*)"')
_CONTEXT_FIELDS = ("cwd", "sessionId", "version")
_CONTEXT_KEYS = tuple(b'"%b":' % key.encode() for key in _CONTEXT_FIELDS)
_FOLLOWED_TYPES = {"user", "assistant", "attachment", "system"}
_RESULT_ID_KEY = b'"tool_use_id":'
_RESULT_ID = re.compile(rb'"tool_use_id":"([\w-]+)"')
_DENIAL_KEY = b"toolDenialKind"
_ATTACHMENT_KEY = b'"attachment":'
_BRACE, _BACKSLASH = b"}\\"
_IDLE_SORTS = frozenset(("idle", "bare"))
_ANY_BLOCK_SORTS = _IDLE_SORTS | {"attached"}  # sorts that may contain any block
_REPLY_SORTS = frozenset((None, "tool"))
_SKIPPED_SORTS = frozenset((None, "note", "attached"))
_MAX_CALLS = 256
_WATCHED_TOOLS = frozenset((ASK_TOOL, *TOOLS))


def next_denial(chunk: Chunk, start: int) -> int:
    """Return the start of the next line that may contain a refused tool call; the chunk's size if there is none."""
    denial = chunk.find(_DENIAL_KEY, start, chunk.size)
    return chunk.size if denial < 0 else chunk.data.rfind(b"\n", 0, denial) + 1


@dataclass(slots=True)
class SkippedLines:
    """Consecutive skipped lines, as indices of their chunk.

    `stop` is the start of the next line that must be parsed, the size of the chunk if there is none; `last` is the last
    skipped line that shows who is there; `spoke` is the session of a skipped reply, empty if the record does not say.
    """

    stop: int
    last: tuple[int, int] | None = None
    spoke: str | None = None


class Calls(dict[str, str]):
    """The agent's last calls: the tool of each by the call's id."""

    def add(self, call: str, tool: str) -> None:
        """Add a call, dropping the oldest if there are many."""
        remember(self, call, tool, _MAX_CALLS)


class LineFilter:
    """Recognizes the plain lines of one transcript; `calls` are the agent's, to which new ones are added.

    A record usually starts with the same session, folder and version as the one before: equal bytes are not matched
    again, which takes a fifth of the time.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._front = b""
        self._session = ""  # named in `_front`
        self._is_sidechain = False

    def skip_lines(self, chunk: Chunk, start: int, until: int) -> SkippedLines:
        """Skip the lines from `start` that need no parsing, up to the first that does, or may."""
        data, run = chunk.data, SkippedLines(start)
        while start < until:
            stop = data.find(b"\n", start)
            head = self._match_head(data, start, stop) if data[stop - 1] == _BRACE else None
            if head is None or not _is_single_record(chunk, head, stop):
                break
            if not (self._is_sidechain or head.lastgroup in _IDLE_SORTS):
                if not self._record_call(chunk, head, stop):
                    break
                run.last = start, stop
                if head.lastgroup in _REPLY_SORTS:
                    run.spoke = self._session
            chunk.passed_over += 1
            start = stop + 1
        run.stop = start
        return run

    def _match_head(self, data: bytearray, start: int, stop: int) -> re.Match[bytes] | None:
        """Return the match at the part of a record that gives its sort, and record whether it is a sub-agent's."""
        behind = -1  # where the id of the parent ends
        if data.startswith(_PARENT, start):
            behind = data.find(b'"', start + _PARENT_LENGTH, start + _PARENT_LENGTH + _MAX_UUID_LENGTH)
            if data[behind - 1] == _BACKSLASH:
                behind = -1
            elif (front := self._front) and data.startswith(front, behind):
                return _RECORD_HEAD.match(data, behind + len(front), stop)
        found = _COMMON_FIELDS.match(data, start, stop)
        if found is None:
            return _IGNORED_RECORD.match(data, start, stop)
        self._front = bytes(data[behind : found.end()]) if behind >= 0 else b""
        named = _SESSION.search(found[0])
        self._session = named[1].decode() if named else ""
        self._is_sidechain = found[1] is not None
        return _RECORD_HEAD.match(data, found.end(), stop)

    def _record_call(self, chunk: Chunk, head: re.Match[bytes], stop: int) -> bool:
        """Record a call; return whether neither it nor the call that a result answers needs parsing."""
        sort = head.lastgroup
        if sort in _SKIPPED_SORTS:
            return True
        if sort == "tool":
            tool = head["tool"].decode()
            self._calls.add(head["call"].decode(), tool)
            return tool not in TOOLS
        if sort == "late":
            found = _RESULT_ID.match(chunk.data, chunk.find(_RESULT_ID_KEY, head.end(), stop), stop)
        else:
            found = head
        return found is not None and self._calls.get(found[found.lastindex or 1].decode()) not in _WATCHED_TOOLS


def _is_single_record(chunk: Chunk, head: re.Match[bytes], stop: int) -> bool:
    """Whether a line holds one plain record with one block."""
    end = head.end()
    if head.lastgroup in _ANY_BLOCK_SORTS:
        return chunk.find(b'"parentUuid"', end, stop) < 0 and chunk.find(b'"queue-operation"', end, stop) < 0
    at = chunk.find(_TYPE_KEY, end, stop)
    while at >= 0:
        if not chunk.data.startswith(_PLAIN_TYPES, at, stop):
            return False
        at = chunk.find(_TYPE_KEY, at + len(_TYPE_KEY), stop)
    return True


def outside_message(data: bytearray, start: int, stop: int) -> bytearray:
    """Return the fields of a plain line outside its message, as a record; all of it if unsure."""
    find = finder(stop - start)
    end = find(data, b',"message":', start, stop)
    head = data[start:end] if end >= 0 else bytearray()
    if (at := find(data, _ENTRYPOINT_KEY, start, stop)) >= 0:
        entry = _ENTRYPOINT.match(data, at, stop)
        sure = entry and find(data, _ENTRYPOINT_KEY, entry.end(), stop) < 0
        head = head + b"," + entry[0] if entry and sure else bytearray()
    whole = _ATTACHMENT_KEY in head or not all(key in head for key in _CONTEXT_KEYS)
    return data[start:stop] if whole else head + b"}"


def is_self_contained(fields: Mapping[str, Any]) -> bool:
    """Whether a record itself says who is there and where, so that no earlier record is needed."""
    sort = fields.get("type")
    followed = isinstance(sort, str) and sort in _FOLLOWED_TYPES and not fields.get("isSidechain")
    return followed and all(isinstance(fields.get(key), str) and fields[key] for key in _CONTEXT_FIELDS)


# Normally a line is one object. Crashes leave runs of NUL bytes and records appended to a torn one; complete records in
# such a line are recovered.

# An appended record follows text or a brace. A nested object follows a colon, a comma or a bracket: it is never taken
# for a record, whatever a tool put into it.
_SPLICE = re.compile(r'(?<![:,\[\s])(?=\{\s*")')
_NULS = re.compile(r"\0+")
_MAX_PIECES = 64


@lru_cache(maxsize=1)  # a survey reads each line for events and for tool calls
def parse(data: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Return the JSON objects of a line and whether all of the line was read. Never raises."""
    try:
        value = json.loads(data.decode())
    except (ValueError, RecursionError):
        return _recover(data.decode(errors="replace"))
    return ([value], True) if isinstance(value, dict) else ([], False)


def _recover(text: str) -> tuple[list[dict[str, Any]], bool]:
    found: list[dict[str, Any]] = []
    whole = True
    decoder = json.JSONDecoder()
    for segment in filter(None, map(str.strip, _NULS.split(text))):
        reached = 0
        for start in [match.start() for match in _SPLICE.finditer(segment)][:_MAX_PIECES]:
            if start < reached:
                continue
            try:
                value, end = decoder.raw_decode(segment, start)
            except (ValueError, RecursionError):
                continue
            whole = whole and not segment[reached:start].strip()
            found.append(value)
            reached = end
        whole = whole and not segment[reached:].strip()
    return found, whole
