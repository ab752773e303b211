"""Which lines of a Claude Code transcript need not be parsed, told from their bytes where they lie.

A line in a buffer in, what can be known of it out. Only the shapes that the clients write are known here: a result of
one tool, one block of the agent's, or a record of a sort that carries nothing, each with nothing else in the line. All
else, and whatever looks like two records in one line or like a person's words, is to be parsed. The rule that this
changes no turn is held by tests/unit/test_skim.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from skilld.intake.block import Block

_SCALAR = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|null|true|false|-?[\d.]++'
# Keys of no consequence before what is looked for. What flags a record, or stands where a person spoke, is not among
# them: with such a key the record is parsed.
_KEYS = rb'(?:"(?!type"|message"|content"|role"|is[A-Z]|tool|userF|data"|snapshot")\w+":(?:%b),)*+' % _SCALAR
_PARENT = b'{"parentUuid":"'
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
    rb'|"type":"system","subtype":"(?!informational)(?P<note>\w+)",'
    rb'|"type":"(?P<idle>progress)",)' % {b"keys": _KEYS}
)
_BARE = re.compile(rb'\{"type":"(?P<bare>file-history-snapshot|file-history-delta|summary|last-prompt|ai-title)",')
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
_SESSION_KEY = b'"sessionId":"'
_ENTRY = b'"entrypoint":'
_ENTRYPOINT = re.compile(rb'"entrypoint":"([\w-]*)"')
_STANDING = {"cwd", "sessionId", "version"}
_FOLLOWED = {"user", "assistant", "attachment", "system"}
_ANSWERED_KEY = b'"tool_use_id":'
_ANSWERED = re.compile(rb'"tool_use_id":"([\w-]+)"')
_DENIAL = b"toolDenialKind"
_BRACE, _BACKSLASH = b"}\\"


class Plain(NamedTuple):
    """A line that carries nothing for a person's words: what of it must be remembered all the same.

    `result` is the id of the call that a result answers; `call` and `tool` are a call of the agent. `stands` says that
    the record tells who sits there, `spoke` that the agent wrote it.
    """

    result: str = ""
    call: str = ""
    tool: str = ""
    stands: bool = False
    spoke: bool = False


_IDLE = Plain()
_NOTE = Plain(stands=True)
_SPOKEN = Plain(stands=True, spoke=True)


def has_denials(block: Block) -> bool:
    """Whether some line of a block may tell of a tool call that a person refused."""
    return block.find(_DENIAL, 0, block.size) >= 0


class Heads:
    """Tells the plain lines of one transcript.

    A record begins with its session, folder and version, as the one before did: equal bytes need no second look. That
    takes a fifth of the time.
    """

    def __init__(self) -> None:
        self._front = b""
        self._aside = False

    def plain(self, block: Block, start: int, stop: int) -> Plain | None:
        """Return what a line is if it need not be parsed; None where it must be, or may have to."""
        data = block.data
        head = self._head(data, start, stop) if data[stop - 1] == _BRACE else None
        if head is None:
            return None
        end, sort = head.end(), head.lastgroup
        if sort in {"idle", "bare"}:
            spliced = block.find(b'"parentUuid"', end, stop) >= 0 or block.find(b'"queue-operation"', end, stop) >= 0
            return None if spliced else _IDLE
        at = block.find(_TYPE, end, stop)
        while at >= 0:
            if not data.startswith(_PLAIN, at, stop):
                return None
            at = block.find(_TYPE, at + len(_TYPE), stop)
        if self._aside:
            return _IDLE
        if sort is None:
            return _SPOKEN
        if sort == "tool":
            return Plain("", head["call"].decode(), head["tool"].decode(), stands=True, spoke=True)
        if sort == "note":
            return _NOTE
        answered = head if sort != "late" else _ANSWERED.match(data, block.find(_ANSWERED_KEY, end, stop), stop)
        return Plain(answered[answered.lastindex or 1].decode(), stands=True) if answered else None

    def _head(self, data: bytearray, start: int, stop: int) -> re.Match[bytes] | None:
        """Return the head of a record from where its sort is told, and note whether it is a subagent's."""
        behind = -1  # where the id of the parent ends
        if data.startswith(_PARENT, start):
            begin = start + len(_PARENT)
            behind = data.find(b'"', begin, begin + _UUID)
            if data[behind - 1] == _BACKSLASH:
                behind = -1
            elif self._front and data.startswith(self._front, behind, stop):
                rest = _REST.match(data, behind + len(self._front), stop)
                if rest:
                    return rest
        front = _FRONT.match(data, start, stop)
        if front is None:
            return _BARE.match(data, start, stop)
        self._front = bytes(data[behind : front.end()]) if behind >= 0 else b""
        self._aside = front[1] is not None
        return _REST.match(data, front.end(), stop)


def session(data: bytes) -> str:
    """Return the session that a plain line names in its head; empty where it names none there."""
    at = data.find(_SESSION_KEY)
    if not 0 < at < data.find(b',"message":'):
        return ""
    start = at + len(_SESSION_KEY)
    return data[start : data.index(b'"', start)].decode()


def standing(data: bytes) -> dict[str, Any] | None:
    """Return what a plain line says of its session, folder, version and entry point; None where only parsing tells."""
    end = data.find(b',"message":')
    if end < 0 or data.count(_ENTRY) > 1:
        return None
    try:
        fields: dict[str, Any] = json.loads(data[:end] + b"}")
    except ValueError:  # damaged bytes between quotes
        return None
    if not fields.keys() >= _STANDING:
        return None
    if entry := _ENTRYPOINT.match(data, data.find(_ENTRY)):
        fields["entrypoint"] = entry[1].decode()
    elif _ENTRY in data:
        return None
    return fields


def stands_alone(fields: Mapping[str, Any]) -> bool:
    """Whether a record tells itself who sits there and where, so that no earlier one is needed for it."""
    sort = fields.get("type")
    followed = isinstance(sort, str) and sort in _FOLLOWED and not fields.get("isSidechain")
    return followed and all(isinstance(fields.get(key), str) and fields[key] for key in _STANDING)
