"""Decides from the raw bytes which lines of a Claude Code transcript need no parsing.

A line in a buffer in, what can be known of it out. Only the shapes that the clients write are known here: a result of
one tool, one block of the agent's, or a record of a sort that carries nothing, each with nothing else in the line. All
else, and whatever looks like two records in one line or like a person's words, is to be parsed. The rule that this
changes no turn is held by tests/unit/test_skim.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilld.agents.base import remember
from skilld.agents.chunk import Chunk, finder
from skilld.agents.claude_code.skills import TOOLS
from skilld.agents.claude_code.wrappers import ASK

_SCALAR = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|null|true|false|-?[\d.]++'
# Keys of no consequence before what is looked for. What flags a record, or stands where a person spoke, is not among
# them: with such a key the record is parsed.
_KEYS = rb'(?:"(?!type"|message"|content"|role"|is[A-Z]|tool|userF|data"|snapshot")\w+":(?:%b),)*+' % _SCALAR
_PARENT = b'{"parentUuid":"'
_ID = len(_PARENT)
_UUID = 64  # more than the longest that is between the quotes behind it
_FRONT = re.compile(
    rb'\{"parentUuid":(?:%(scalar)b),(?:"logicalParentUuid":(?:%(scalar)b),)?"isSidechain":(?:false|(true)),%(keys)b'
    % {b"scalar": _SCALAR, b"keys": _KEYS}
)
_REST = re.compile(
    rb'%(keys)b(?:(?:"type":"user",)?"message":\{"role":"user","content":\[\{'
    rb'(?:"tool_use_id":"(?P<result>[\w-]+)","type":"tool_result",'
    rb'|"type":"tool_result",(?:"tool_use_id":"(?P<other>[\w-]+)",|(?P<late>)))'
    rb'"content":(?:"(?!The user|Error: The user)|\[\{"type":"image","source":\{"type":"base64",)'
    rb'|(?:"type":"assistant",)?%(keys)b"message":\{(?:"model":"[\w.-]++","id":"\w++",)?+%(keys)b'
    rb'(?:"type":"message",)?%(keys)b"role":"assistant",%(keys)b"content":\[\{'
    rb'"type":"(?:thinking"|text",|tool_use","id":"(?P<call>[\w-]+)","name":"(?P<tool>[\w.:-]+)",)'
    rb'|"type":"system","subtype":"(?!informational|local_command)(?P<note>\w+)",'
    rb'|"attachment":\{"type":"(?!queued_command|invoked_skills)(?P<attached>\w+)",'
    rb'|"type":"(?P<idle>progress)",)' % {b"keys": _KEYS}
)
# What names its type first and is nothing to the parser; what 2.1.330 keeps of its requests is a third of its bytes.
_BARE = re.compile(
    rb'\{"type":"(?P<bare>file-history-snapshot|file-history-delta|summary|last-prompt|ai-title|mode|permission-mode'
    rb'|atis-latch|tools-used|cost-state|api-request(?:-shape|-blob)?)",'
)
_TYPE = b'"type":"'
# The types that stand in one plain record behind its head: of a picture, of what a tool says of its result, of the
# record itself. A second block, or a second record in the line, brings another.
_PLAIN = tuple(
    _TYPE + rest
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
_ENTRY = b'"entrypoint":'
_ENTRYPOINT = re.compile(rb'"entrypoint":"([\w-]*)"')
_STANDING = ("cwd", "sessionId", "version")
_STANDING_KEYS = tuple(b'"%b":' % key.encode() for key in _STANDING)
_FOLLOWED = {"user", "assistant", "attachment", "system"}
_ANSWERED_KEY = b'"tool_use_id":'
_ANSWERED = re.compile(rb'"tool_use_id":"([\w-]+)"')
_DENIAL = b"toolDenialKind"
_ATTACHED = b'"attachment":'
_BRACE, _BACKSLASH = b"}\\"
_IDLE = frozenset(("idle", "bare"))
_WHATEVER = _IDLE | {"attached"}  # sorts in which any block may stand
_SPOKEN = frozenset((None, "tool"))
_TOLD_BY_SORT = frozenset((None, "note", "attached"))
_MAX_CALLS = 256
_WATCHED = frozenset((ASK, *TOOLS))


def sure_until(chunk: Chunk, start: int) -> int:
    """Return where the next line begins that may tell of a refused tool call, the chunk's size if none does."""
    denial = chunk.find(_DENIAL, start, chunk.size)
    return chunk.size if denial < 0 else chunk.data.rfind(b"\n", 0, denial) + 1


@dataclass(slots=True)
class Run:
    """Lines passed over one behind the other, as indices of their chunk.

    `stop` is where the line begins that must be parsed, the size of the chunk if none must; `last` is the last of them
    that tells who sits there; `spoke` is the session in which the agent wrote one, empty where it is not named.
    """

    stop: int
    last: tuple[int, int] | None = None
    spoke: str | None = None


class Calls(dict[str, str]):
    """The agent's last calls: the tool of each by the call's id."""

    def note(self, call: str, tool: str) -> None:
        """Remember a call, in place of the oldest where there are many."""
        remember(self, call, tool, _MAX_CALLS)


class Heads:
    """Tells the plain lines of one transcript; `calls` are the agent's, which are added as they come.

    A record begins with its session, folder and version, as the one before did: equal bytes need no second look. That
    takes a fifth of the time.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._front = b""
        self._named = ""  # the session that it names
        self._aside = False

    def pass_over(self, chunk: Chunk, start: int, until: int) -> Run:
        """Pass over the lines from `start` that need not be parsed, up to the first that must, or may have to."""
        data, run = chunk.data, Run(start)
        while start < until:
            stop = data.find(b"\n", start)
            head = self._head(data, start, stop) if data[stop - 1] == _BRACE else None
            if head is None or not _is_one(chunk, head, stop):
                break
            if not (self._aside or head.lastgroup in _IDLE):
                if not self._note(chunk, head, stop):
                    break
                run.last = start, stop
                if head.lastgroup in _SPOKEN:
                    run.spoke = self._named
            chunk.passed_over += 1
            start = stop + 1
        run.stop = start
        return run

    def _head(self, data: bytearray, start: int, stop: int) -> re.Match[bytes] | None:
        """Return the head of a record from where its sort is told, and note whether it is a subagent's."""
        behind = -1  # where the id of the parent ends
        if data.startswith(_PARENT, start):
            behind = data.find(b'"', start + _ID, start + _ID + _UUID)
            if data[behind - 1] == _BACKSLASH:
                behind = -1
            elif (front := self._front) and data.startswith(front, behind):
                return _REST.match(data, behind + len(front), stop)
        found = _FRONT.match(data, start, stop)
        if found is None:
            return _BARE.match(data, start, stop)
        self._front = bytes(data[behind : found.end()]) if behind >= 0 else b""
        named = _SESSION.search(found[0])
        self._named = named[1].decode() if named else ""
        self._aside = found[1] is not None
        return _REST.match(data, found.end(), stop)

    def _note(self, chunk: Chunk, head: re.Match[bytes], stop: int) -> bool:
        """Take note of a call; return whether what is called, or answered, is nothing that must be read."""
        sort = head.lastgroup
        if sort in _TOLD_BY_SORT:
            return True
        if sort == "tool":
            tool = head["tool"].decode()
            self._calls.note(head["call"].decode(), tool)
            return tool not in TOOLS
        if sort == "late":
            found = _ANSWERED.match(chunk.data, chunk.find(_ANSWERED_KEY, head.end(), stop), stop)
        else:
            found = head
        return found is not None and self._calls.get(found[found.lastindex or 1].decode()) not in _WATCHED


def _is_one(chunk: Chunk, head: re.Match[bytes], stop: int) -> bool:
    """Whether a line holds one plain record, of one block."""
    end = head.end()
    if head.lastgroup in _WHATEVER:
        return chunk.find(b'"parentUuid"', end, stop) < 0 and chunk.find(b'"queue-operation"', end, stop) < 0
    at = chunk.find(_TYPE, end, stop)
    while at >= 0:
        if not chunk.data.startswith(_PLAIN, at, stop):
            return False
        at = chunk.find(_TYPE, at + len(_TYPE), stop)
    return True


def outside(data: bytearray, start: int, stop: int) -> bytearray:
    """Return what a plain line says outside its message, as a record: who sits there. All of it where it is unsure."""
    find = finder(stop - start)
    end = find(data, b',"message":', start, stop)
    head = data[start:end] if end >= 0 else bytearray()
    if (at := find(data, _ENTRY, start, stop)) >= 0:
        entry = _ENTRYPOINT.match(data, at, stop)
        sure = entry and find(data, _ENTRY, entry.end(), stop) < 0
        head = head + b"," + entry[0] if entry and sure else bytearray()
    whole = _ATTACHED in head or not all(key in head for key in _STANDING_KEYS)
    return data[start:stop] if whole else head + b"}"


def stands_alone(fields: Mapping[str, Any]) -> bool:
    """Whether a record tells itself who sits there and where, so that no earlier one is needed for it."""
    sort = fields.get("type")
    followed = isinstance(sort, str) and sort in _FOLLOWED and not fields.get("isSidechain")
    return followed and all(isinstance(fields.get(key), str) and fields[key] for key in _STANDING)


# A line is one object as a rule. Crashes leave runs of NUL bytes and records spliced onto a torn one; what is whole in
# such a line is recovered.

# A record that was spliced on follows text or a brace. A nested object follows a colon, a comma or a bracket: such a
# one is never taken for a record, whatever a tool put into it.
_SPLICE = re.compile(r'(?<![:,\[\s])(?=\{\s*")')
_NULS = re.compile(r"\0+")
_MAX_PIECES = 64


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
