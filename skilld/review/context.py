"""A quote in its context: the messages around it. Pure: redacted messages in, what is shown out; nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilld.text import cut, fold, safe_text
from skilld.types import Evidence, Message

_LONGEST = 400  # characters of a message around the quote
_BESIDE = 240  # and of one before or after it


@dataclass(frozen=True, slots=True)
class Said:
    """One message: who said it, and its text before, in and after the quote. Harmless for a terminal."""

    by_person: bool
    before: str
    quote: str = ""
    after: str = ""


def around(messages: Sequence[Message], evidence: Evidence) -> list[Said]:
    """Return the message with the quote and its neighbours."""
    at = next((i for i, message in enumerate(messages) if message.turn_key == evidence.turn), None)
    if at is None:
        return []
    beside = {i: messages[i] for i in (at - 1, at + 1) if 0 <= i < len(messages)}
    shown = {i: Said(message.by_person, _line(message.text, _BESIDE)) for i, message in beside.items()}
    shown[at] = _quoted(messages[at], evidence.quote)
    return [shown[i] for i in sorted(shown)]


def _quoted(message: Message, quote: str) -> Said:
    text, wanted = safe_text(fold(message.text)), safe_text(fold(quote))
    before, found, after = text.partition(wanted) if wanted else ("", "", "")
    if not found:
        return Said(message.by_person, _line(message.text, _LONGEST))
    head = before if len(before) <= _LONGEST else "… " + before[-_LONGEST:]
    return Said(message.by_person, head, found, after if len(after) <= _LONGEST else after[:_LONGEST] + " …")


def _line(text: str, limit: int) -> str:
    return cut(safe_text(fold(text)), limit)
