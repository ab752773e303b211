"""Short views of a list of events, for tests of adapters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from skilld.types import Event, Ignored, Reply, SkillUse, Turn


def turn_texts(events: Iterable[Event]) -> list[tuple[str, str]]:
    """Return the carrier and the text of each turn."""
    return [(event.how.value, event.text) for event in events if isinstance(event, Turn)]


def turn_keys(events: Iterable[Event]) -> list[str]:
    """Return the keys of the turns."""
    return [event.key for event in events if isinstance(event, Turn)]


def skill_uses(events: Iterable[Event]) -> list[tuple[str, str | None]]:
    """Return the name and path of each skill use."""
    return [(event.name, event.path) for event in events if isinstance(event, SkillUse)]


def reply_texts(events: Iterable[Event]) -> list[str]:
    """Return the agent's replies."""
    return [event.text for event in events if isinstance(event, Reply)]


def ignored_counts(events: Iterable[Event]) -> dict[str, int]:
    """Return the number of ignored records by reason."""
    return dict(Counter(event.reason for event in events if isinstance(event, Ignored)))
