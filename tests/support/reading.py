"""What a test of an adapter looks at in a list of events, in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from skilld.types import Event, Ignored, Reply, SkillUse, Turn


def said(events: Iterable[Event]) -> list[tuple[str, str]]:
    """Return how and what was said, turn by turn."""
    return [(event.how.value, event.text) for event in events if isinstance(event, Turn)]


def keys(events: Iterable[Event]) -> list[str]:
    """Return the keys of the turns."""
    return [event.key for event in events if isinstance(event, Turn)]


def skills(events: Iterable[Event]) -> list[tuple[str, str | None]]:
    """Return name and path of each skill use."""
    return [(event.name, event.path) for event in events if isinstance(event, SkillUse)]


def replies(events: Iterable[Event]) -> list[str]:
    """Return what the agent wrote."""
    return [event.text for event in events if isinstance(event, Reply)]


def ignored(events: Iterable[Event]) -> dict[str, int]:
    """Return how often which reason was given."""
    return dict(Counter(event.reason for event in events if isinstance(event, Ignored)))
