"""Reads the older files of Gemini CLI: one JSON document, indented by two, whose messages are whole before it is.

Lines in, the header's fields and whole messages out. The document is written anew at every message, so it is read from
its start each time; its last line never counts as complete, and need not.
"""

from __future__ import annotations

import json
import re
from typing import Any

from skilld.intake.agents.fields import objects, read_object
from skilld.types import RawLine, Span

Record = tuple[dict[str, Any] | None, Span]

_FIELD = re.compile(rb'  "(sessionId|kind)": (".*?"),?\s*')
_LONGEST = 8 << 20  # bytes of a message


class Document:
    """A document that is being read."""

    def __init__(self) -> None:
        self._message: list[RawLine] = []
        self._length = 0

    def feed(self, line: RawLine) -> list[Record]:
        """Return what ends with this line, each with its place; None for a message that cannot be read."""
        data = line.data.rstrip()
        if self._message or data == b"    {":
            return self._gather(line, data)
        field = _FIELD.fullmatch(line.data)
        if field is not None:
            whole = read_object(b'{"%b": %b}' % (field[1], field[2]))
            return [(whole, Span(line.start, line.end))] if whole is not None else []
        return self._compact(line) if data.startswith(b'{"') else []

    def waits_from(self, end: int) -> int:
        """Return where the message that is not whole begins, `end` if there is none."""
        return self._message[0].start if self._message else end

    def _gather(self, line: RawLine, data: bytes) -> list[Record]:
        self._message.append(line)
        self._length += len(line.data)
        is_whole = data in (b"    }", b"    },")
        if not is_whole and self._length <= _LONGEST:
            return []
        lines, self._message, self._length = self._message, [], 0
        text = b"\n".join(each.data for each in lines).rstrip().removesuffix(b",")
        return [(read_object(text) if is_whole else None, Span(lines[0].start, line.end))]

    def _compact(self, line: RawLine) -> list[Record]:
        whole = read_object(line.data)
        span = Span(line.start, line.end)
        if whole is None:
            return [(None, span)]
        return [({"sessionId": whole.get("sessionId"), "kind": whole.get("kind")}, span)] + [
            (json.loads(json.dumps(message)), span) for message in objects(whole.get("messages"))
        ]
