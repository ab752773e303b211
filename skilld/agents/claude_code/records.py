"""One record of a Claude Code transcript: its type-checked fields, and the events created from it.

Any field of a record may be missing or of another type. Knows nothing of what records mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from skilld.agents.base import MAX_SHORT, mapping, objects, utc
from skilld.types import How, Ignored, Span, Turn
from skilld.values import value_class

AGENT = "claude-code"

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def string(value: object) -> str:
    """Return a string without lone surrogates; anything else as ""."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)


def blocks(content: object) -> list[Mapping[str, Any]]:
    """Return the content of a message or tool result as blocks; a plain string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def texts(content: object) -> list[str]:
    """Return the text of each text block in a content."""
    return [string(block.get("text")) for block in blocks(content) if block.get("type") == "text"]


@value_class
class Record:
    """One object of a line, with the span of the line; `home_session` is the session id if it has none."""

    fields: Mapping[str, Any]
    span: Span
    home_session: str = ""

    def get(self, name: str) -> Any:  # noqa: ANN401 - JSON: every caller checks the type
        """Return the raw value of a field, None if it is missing."""
        return self.fields.get(name)

    def string(self, name: str) -> str:
        """Return a string field, "" if it is missing or not a string."""
        return string(self.fields.get(name))

    @property
    def type(self) -> str:
        """The family of the record: user, assistant, attachment, queue-operation, ..."""
        return self.string("type")

    @property
    def session_id(self) -> str:
        """The session that the record belongs to; in a forked file, copies name the new one."""
        return self.string("sessionId")[:MAX_SHORT] or self.home_session

    @property
    def at(self) -> str | None:
        """When it was written."""
        return utc(self.fields.get("timestamp"))

    @property
    def cwd(self) -> str | None:
        """The folder the agent was in."""
        return self.string("cwd") or None

    @property
    def version(self) -> tuple[int, ...]:
        """The client's version, empty if unknown."""
        match = _VERSION.match(self.string("version"))
        return tuple(int(part) for part in match.groups()) if match else ()

    @property
    def origin(self) -> str:
        """Who sent it, in the newer versions: "human", "task-notification", ..."""
        return string(mapping(self.fields.get("origin")).get("kind"))

    @property
    def content(self) -> object:
        """The message's content: a string or blocks."""
        return mapping(self.fields.get("message")).get("content")

    def results(self) -> Iterator[Mapping[str, Any]]:
        """Yield the tool_result blocks."""
        return (block for block in blocks(self.content) if block.get("type") == "tool_result")

    def key(self, suffix: str = "", text: str = "") -> str:
        """Return the key of the record's turn: its uuid, or else session, time and a hash of the text."""
        own = self.string("uuid")[:MAX_SHORT] or f"{self.session_id}:{self.string('timestamp')}:{digest(text)}"
        return f"{AGENT}:{own}{suffix}"

    def turn(self, text: str, how: How, suffix: str = "", at: str | None = None) -> Turn:
        """Return a turn with the record's words."""
        key = self.key(suffix, text)
        return Turn(key, AGENT, self.session_id, text, at or self.at, how, self.span, self.cwd)

    def ignored(self, reason: str) -> Ignored:
        """Return the event that counts the record as only looking like a person's words."""
        return Ignored(reason, self.span)


def digest(text: str) -> str:
    """Return a short hash of a text, to recognize it without keeping it."""
    return sha256(text.encode(errors="replace")).hexdigest()[:12]
