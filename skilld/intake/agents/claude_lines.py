"""Bytes of a Claude Code transcript line in, JSON objects out; and which lines need not be parsed at all.

A line is one object as a rule. Crashes leave runs of NUL bytes and records spliced onto a torn one; what is whole in
such a line is recovered. Knows nothing of what a record means, only which bytes every record with a meaning has.
"""

from __future__ import annotations

import json
import re
from typing import Any

# A record that was spliced on follows text or a brace. A nested object follows a colon, a comma or a bracket: such a
# one is never taken for a record, whatever a tool put into it.
_SPLICE = re.compile(r'(?<![:,\[\s])(?=\{\s*")')
_NULS = re.compile(r"\0+")
_MOST_PIECES = 64

# Looking at a shorter line costs more than parsing it (measured on 18 MB of sessions).
_SHORT = 2000
# The head of a record whose keys before the type are all scalars, as the client writes them.
_TYPE = re.compile(
    rb'\{(?:"(?!type")\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*+"|null|true|false|-?\d+)\s*,\s*)*+"type"\s*:\s*"([\w-]+)"'
)
_IDLE_TYPES = frozenset(
    (
        *(b"progress", b"file-history-snapshot", b"file-history-delta", b"summary", b"last-prompt", b"ai-title"),
        *(b"api-request", b"api-request-shape", b"api-request-blob"),
    )
)
_RESULT_WITHIN = 200
_TEXT_BLOCK = re.compile(rb'"text"\s*:')
# A note, an answer, a skill.
_RESULT_WORDS = (b"want to proceed", b"user-rejected", b'"answers"', b"kill")


def may_matter(data: bytes) -> bool:
    """Whether a line could carry an event or change a parser's state; pure, and false only where that is certain.

    Two sorts of long line are told by their bytes alone: records of types that carry nothing, and results of tools with
    no note, answer or comment of a person and no skill in them. When in doubt, the line is to be parsed.
    """
    head = _TYPE.match(data) if len(data) >= _SHORT else None
    if not head or not _is_one_record(data, head.end()):
        return True
    if head[1] != b"user":
        return head[1] not in _IDLE_TYPES
    if data.find(b'"tool_result"', head.end(), head.end() + _RESULT_WITHIN) < 0:
        return True
    return any(word in data for word in _RESULT_WORDS) or bool(_TEXT_BLOCK.search(data))


def _is_one_record(data: bytes, head: int) -> bool:
    return (
        data.endswith((b"}", b"}\r"))
        and b"\0" not in data
        and data.find(b'"parentUuid"', head) < 0
        and b'"queue-operation"' not in data
    )


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
        for start in [match.start() for match in _SPLICE.finditer(segment)][:_MOST_PIECES]:
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
