"""Whether someone sat at the terminal of a Pi session. Nothing in the log says so; its times and some entries do.

Entries of a session in, the reason why a prompt is nobody's out. A prompt less than a second after the session's header
came with the command line, and is left out. With `-p` it comes at once (0.73.1: after 0.03 to 0.05 s, with a terminal
after 0.36); then all are left out until an entry that only a terminal writes: a shell command of the person's, another
model or thinking level, a label, or a prompt typed while the agent was busy. What `-p --continue` adds looks typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilld.intake.agents.fields import mapping, string, utc
from skilld.times import seconds

_AT_ONCE = 0.15  # seconds: no terminal
_TOO_SOON = 1.0  # seconds: nobody types so fast
_BUSY = 1.0  # seconds between a prompt and its delivery: 0.015 at most where nothing was in the way
_LATEST = 1 << 48  # milliseconds
_OF_THE_TERMINAL = frozenset({"model_change", "thinking_level_change", "label"})


class Presence:
    """What the entries so far say. Goes through a checkpoint as plain JSON."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        begun = state.get("begun")
        self._begun = float(begun) if isinstance(begun, int | float) else None
        self._prompted = state.get("prompted") is True
        self._unattended = state.get("unattended") is True

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {"begun": self._begun, "prompted": self._prompted, "unattended": self._unattended}

    def see(self, entry: Mapping[str, Any]) -> None:
        """Take in one entry, behind whatever is asked about it."""
        kind = string(entry.get("type"))
        role = string(mapping(entry.get("message")).get("role"))
        if kind == "session":
            self._begun = seconds(utc(entry.get("timestamp")))
        elif role == "user":
            self._prompted = True
        elif role == "bashExecution" or (kind in _OF_THE_TERMINAL and self._prompted):
            self._unattended = False

    def not_a_person(self, entry: Mapping[str, Any]) -> str:
        """Return why the prompt in this entry counts as nobody's, "" if it is a person's."""
        typed = _typed_at(entry)
        if not self._prompted and typed is not None and self._begun is not None:
            passed = typed - self._begun  # below zero in a fork, whose header is younger than what it copies
            self._unattended = 0 <= passed < _AT_ONCE
            if 0 <= passed < _TOO_SOON:
                return "headless"
        elif self.was_busy(entry):
            self._unattended = False
        return "headless" if self._unattended else ""

    def was_busy(self, entry: Mapping[str, Any]) -> bool:
        """Whether a prompt had to wait until the agent took it."""
        typed, taken = _typed_at(entry), seconds(utc(entry.get("timestamp")))
        return typed is not None and taken is not None and taken - typed > _BUSY


def _typed_at(entry: Mapping[str, Any]) -> float | None:
    moment = mapping(entry.get("message")).get("timestamp")
    return moment / 1000 if isinstance(moment, int) and 0 < moment < _LATEST else None
