"""The common part of the wire formats of agent clients: a parsed request, and a step to stream."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers with text. `delay`: seconds before the first byte, in which the person can act."""

    text: str
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool. `delay` as in `Say`."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    delay: float = 0.0


Step = Say | Call


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: `newest` is the person's newest text, `thread` the same for all requests of a conversation."""

    thread: str
    newest: str
    after_tool: bool
    has_tools: bool
    body: Mapping[str, Any]


def thread_of(first: str) -> str:
    """Name a conversation by its first user text: sub-agents share the server and have a first text of their own."""
    return hashlib.sha256(first.encode()).hexdigest()[:16]


def person_words(texts: Iterable[str]) -> str:
    """Join the texts that a person may have typed: what the clients add by themselves begins with a tag."""
    return "\n".join(text for text in texts if text and not text.lstrip().startswith("<"))


def event_stream(events: Iterable[Mapping[str, Any]]) -> str:
    """Write server-sent events, each named by its own type."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
