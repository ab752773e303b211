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
_HEAD = re.compile(
    rb'\{"parentUuid":(?:%(scalar)b),(?:"logicalParentUuid":(?:%(scalar)b),)?"isSidechain":false,%(keys)b(?:'
    rb'(?:"type":"user",)?"message":\{"role":"user","content":\[\{'
    rb'(?:"tool_use_id":"(?P<result>[\w-]+)","type":"tool_result",'
    rb'|"type":"tool_result",(?:"tool_use_id":"(?P<other>[\w-]+)",|(?P<late>)))'
    rb'"content":(?:"(?!The user|Error: The user)|\[\{"type":"image","source":\{"type":"base64",)'
    rb'|(?:"type":"assistant",)?%(keys)b"message":\{%(keys)b(?:"type":"message",)?%(keys)b"role":"assistant",'
    rb'%(keys)b"content":\[\{"type":"(?:thinking"|text",|tool_use","id":"(?P<call>[\w-]+)","name":"(?P<tool>[\w.:-]+)",)'
    rb'|"type":"system","subtype":"(?!informational)(?P<note>\w+)",'
    rb'|"type":"(?P<idle>progress)",)'
    % {b"scalar": _SCALAR, b"keys": _KEYS}
    + rb'|\{"type":"(?P<bare>file-history-snapshot|file-history-delta|summary|last-prompt|ai-title)",'
)
_TYPE = b'"type":"'
# The types that stand in one plain record behind its head: of a picture, of what a tool says of its result, of the
# record itself. A second block, or a second record in the line, brings another.
_PLAIN = re.compile(
    rb'"type":"(?:image/[\w+.-]+"|base64"|direct"|message"|assistant","|(?:text|image)","file":\{|(?:create|update)","filePath":)'
)
_SESSION_KEY = b'"sessionId":"'
_ENTRY = b'"entrypoint":'
_ENTRYPOINT = re.compile(rb'"entrypoint":"([\w-]*)"')
_STANDING = {"cwd", "sessionId", "version"}
_FOLLOWED = {"user", "assistant", "attachment", "system"}
_ANSWERED_KEY = b'"tool_use_id":'
_ANSWERED = re.compile(rb'"tool_use_id":"([\w-]+)"')
_DENIAL = b"toolDenialKind"


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


def plain(block: Block, start: int, stop: int) -> Plain | None:
    """Return what a line is if it need not be parsed; None where it must be, or may have to."""
    data = block.data
    head = _HEAD.match(data, start, stop)
    if head is None or not data.endswith(b"}", start, stop):
        return None
    end = head.end()
    if head.lastgroup in {"idle", "bare"}:
        spliced = block.find(b'"parentUuid"', end, stop) >= 0 or block.find(b'"queue-operation"', end, stop) >= 0
        return None if spliced else _IDLE
    at = block.find(_TYPE, end, stop)
    while at >= 0:
        if (known := _PLAIN.match(data, at, stop)) is None:
            return None
        at = block.find(_TYPE, known.end() - 1, stop)
    result, other, late, note, call, tool = head.group("result", "other", "late", "note", "call", "tool")
    if note:
        return _NOTE
    if late is not None:
        answered = _ANSWERED.match(data, block.find(_ANSWERED_KEY, end, stop), stop)
        return Plain(result=answered[1].decode(), stands=True) if answered else None
    if result or other:
        return Plain(result=(result or other).decode(), stands=True)
    return Plain(call=call.decode(), tool=tool.decode(), stands=True, spoke=True) if call else _SPOKEN


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
