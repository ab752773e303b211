"""Which skills' instructions entered a conversation with Gemini CLI: `activate_skill`, or a call that reads a SKILL.md.

A model's message in, (call, name, path) out. Where a skill lies is told in the words shown to the person and in the
listing that the model gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilld.intake.agents.fields import mapping, objects, short, string
from skilld.intake.agents.tool_reads import uses_of

_SHOWN = re.compile(r"Resources loaded from `([^`\n]+)`")
_LISTED = re.compile(r"\n\n(/[^\n]+)")


def uses_in(message: Mapping[str, Any], cwd: str | None) -> Iterator[tuple[str, str, str | None]]:
    """Yield the call's id, the skill's name and its SKILL.md for each call of a message that went well."""
    for call in objects(message.get("toolCalls")):
        if call.get("status") != "success":
            continue
        number, tool, arguments = short(call.get("id")), string(call.get("name")), mapping(call.get("args"))
        if tool == "activate_skill" and short(arguments.get("name")):
            yield number, short(arguments.get("name")), _folder(call)
        else:
            for name, path in uses_of(tool, arguments, cwd):
                yield number, name, path


def _folder(call: Mapping[str, Any]) -> str | None:
    outputs = (mapping(mapping(part.get("functionResponse")).get("response")) for part in objects(call.get("result")))
    shown = _SHOWN.search(string(call.get("resultDisplay")))
    listings = (string(output.get("output")).partition("<available_resources>")[2] for output in outputs)
    listed = next(filter(None, map(_LISTED.search, listings)), None)
    folder = shown or listed
    return f"{folder[1].rstrip('/')}/SKILL.md" if folder else None
