"""Tells the lines of a Codex rollout that cannot give an event from their first bytes, without parsing them.

A line's bytes in, yes or no out. Most of a rollout is tool output, token counts and reasoning: over 107 MB of real ones
this saves a quarter of the reading time.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Find = Callable[[bytes, int, int], int]

# How every client seen so far begins a line. Any other order or shape of the keys means: parse it.
_HEAD = re.compile(
    rb'\{\s*"timestamp"\s*:\s*"[^"\\]*"\s*,\s*(?:"ordinal"\s*:\s*\d+\s*,\s*)?"type"\s*:\s*"(\w+)"\s*,'
    rb'\s*"payload"\s*:\s*\{\s*(?:"type"\s*:\s*"(\w+)")?'
)
_ITEM = re.compile(rb'[^{}\\]*?"item"\s*:\s*\{\s*"type"\s*:\s*"(\w+)"')

_ESCAPE = b"\\u00"  # might spell any of the words below
_SKILL_READ = (b"SKILL.md", _ESCAPE)
_CALL = (*_SKILL_READ, b"request_user_input")
_ANSWER = (b"answers", _ESCAPE)

# Kind of line -> the words of which it must hold one to matter.
_NOISE: dict[bytes, tuple[bytes, ...]] = {
    b"token_usage_record": (),
    b"world_state": (),
    b"compacted": (),
    b"event_msg.token_count": (),
    b"event_msg.agent_reasoning": (),
    b"event_msg.thread_settings_applied": (),
    b"event_msg.patch_apply_end": (),
    b"event_msg.mcp_tool_call_end": (),
    b"event_msg.web_search_end": (),
    b"event_msg.exec_command_end": _SKILL_READ,
    b"item_completed.Reasoning": (),
    b"item_completed.FileChange": (),
    b"item_completed.McpToolCall": (),
    b"item_completed.CommandExecution": _SKILL_READ,
    b"response_item.reasoning": (),
    b"response_item.web_search_call": (),
    b"response_item.function_call": _CALL,
    b"response_item.custom_tool_call": _CALL,
    b"response_item.function_call_output": _ANSWER,
    b"response_item.custom_tool_call_output": _ANSWER,
}


def may_matter(data: bytes | bytearray, start: int = 0, stop: int | None = None, find: Find | None = None) -> bool:
    """Whether this line could give an event: false only for kinds known to give none, in the order of keys seen.

    The line is a part of `data`; `find` looks for a needle in a part of it, as `bytes.find` does.
    """
    end = len(data) if stop is None else stop
    head = _HEAD.match(data, start, end)
    if head is None:
        return True
    kind, name = head.groups()
    if name == b"item_completed":
        item = _ITEM.match(data, head.end(), end)
        kind, name = name, item and item[1]
    if kind in (b"event_msg", b"response_item", b"item_completed"):
        kind = b"%b.%b" % (kind, name or b"")
    needles = _NOISE.get(kind)
    if needles is None:
        return True
    find = find or data.find
    for needle in needles:  # a generator takes a fifth of the whole
        if find(needle, start, end) >= 0:
            return True
    # A torn line, or one that the next was written behind, must be parsed, to be counted as malformed.
    return not data.endswith(b"}}", start, end) or find(b'{"timestamp"', start + 1, end) > 0
