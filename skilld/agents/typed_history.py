"""Proof that a prompt was typed, for agents whose transcripts do not say: their own list of submitted prompts.

A parser's events with claims among them, and the bytes of the list, in; events with turns in place of the proven claims
out. Lists hold nothing of headless runs, and both clients that need this write the list before they ask their model
(Gemini CLI 0.61.0, Copilot CLI 1.0.102): a claim with an answer behind it that is not in the list was not typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from skilld.agents.base import ReadFile, SideFileParser
from skilld.clock import parse_time, rfc3339
from skilld.text import fold
from skilld.types import Event, How, Ignored, RawLine, Reply, Span, Turn

NOT_TYPED = "not-typed"
_MAX_HELD = 1000
_EMPTY_LIST = b""
_CLOCK_SKEW_SECONDS = 5.0  # seconds by which clocks and writers may differ
COMMAND = re.compile(r"/[\w:.-]+(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Claim:
    """A prompt that becomes `turn` if the list has it.

    What a client offers in a terminal alone but never lists (`listed` is False) follows a prompt that the list has.
    """

    turn: Turn
    listed: bool = True

    @property
    def span(self) -> Span:
        """Where the prompt stands."""
        return self.turn.span


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list: what was submitted, and in which session and when (Unix time) where the list says it."""

    text: str
    session: str | None = None
    at: float | None = None


class ClaimingParser(Protocol):
    """A parser that leaves open who typed; otherwise as in base.Parser."""

    def feed(self, line: RawLine) -> list[Event | Claim]:
        """Return the events and claims of one line."""

    def flush(self) -> list[Event | Claim]:
        """Decide what still waits for a later line."""

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state."""


class ProvingParser:
    """A parser and listener as in base, around a parser that claims. What stands behind an open claim waits with it.

    Where no list was ever told, what might have been typed counts as typed.
    """

    def __init__(
        self,
        inner: ClaimingParser,
        read: Callable[[bytes], Sequence[Entry] | None],
        state: Mapping[str, Any],
        *,
        joins: bool = False,
        optional: bool = False,
    ) -> None:
        """Resume `inner` with its part of the state; `read` returns a list's entries, None while it is half written.

        `joins` says that the client sends several waiting entries as one prompt, with an empty line between, `optional`
        that a client may keep no list although a person types.
        """
        used = state.get("used")
        self._inner = inner
        self._read = read
        self._joins = joins
        self._optional = optional
        self._used = float(used) if isinstance(used, int | float) else 0.0
        self._list: bytes | None = None
        self._entries: dict[str, list[Entry]] | None = None
        self._held: list[Event | Claim] = []
        self._older = 0  # how many of them the list is younger than
        self._resume: tuple[int, dict[str, Any]] = (0, {})

    def set_typed_list(self, typed: bytes | None) -> None:
        """Take in the list as it is now. None is an empty one: a client that nobody typed into has written none."""
        if typed is None and self._optional:
            return
        self._list, self._entries = typed or _EMPTY_LIST, None
        self._older = len(self._held)

    def read_side_files(self, read: ReadFile) -> None:
        """Hand what files beside the transcript say to the parser inside, if that wants it."""
        if isinstance(self._inner, SideFileParser):
            self._inner.read_side_files(read)
            began = float(getattr(self._inner, "began", 0.0))
            self._used = max(self._used, began - _CLOCK_SKEW_SECONDS) if began else self._used

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one line, and of those before it that are proven or refuted by now."""
        before = self.checkpoint(line.start)
        return self._hold(self._inner.feed(line), before)

    def flush(self) -> list[Event]:
        """Give up what was not proven."""
        return self._hold(self._inner.flush(), self.checkpoint(0)) + self._release(final=True)

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than the oldest open claim, and the state as it was before that."""
        if self._held:
            return self._resume
        offset, state = self._inner.checkpoint(end)
        return offset, {**state, "used": self._used}

    def _hold(self, events: Sequence[Event | Claim], before: tuple[int, dict[str, Any]]) -> list[Event]:
        is_open = bool(self._held)
        self._resume = self._resume if is_open else before
        self._held += events
        return self._release(final=len(self._held) > _MAX_HELD)

    def _release(self, *, final: bool) -> list[Event]:
        """Release what is decided: a claim that the list has, or one that was answered before the list was read."""
        older = self._held[: self._older]
        answered = max((i for i, event in enumerate(older) if isinstance(event, Reply)), default=-1)
        settled: list[Event] = []
        for i, event in enumerate(self._held):
            decided = self._check_claim(event, answered=i < answered) if isinstance(event, Claim) else event
            if decided is None and not final:
                break
            settled.append(decided or Ignored(NOT_TYPED, event.span))
        del self._held[: len(settled)]
        self._older = max(0, self._older - len(settled))
        return settled

    def _check_claim(self, claim: Claim, *, answered: bool) -> Turn | Ignored | None:
        """Return what a claim is; None where the list may not be as far as it is."""
        turn = claim.turn
        if self._list is None:
            return with_command(turn)
        if not claim.listed:
            return turn if self._used else Ignored(NOT_TYPED, turn.span)
        known = self._entries_by_text()
        proof = self._find_entry(turn, known) if known is not None else None
        if proof is not None:
            self._used = proof.at or self._used
            return with_command(replace(turn, at=rfc3339(proof.at)) if turn.at is None and proof.at else turn)
        return Ignored(NOT_TYPED, turn.span) if answered and known is not None else None

    def _entries_by_text(self) -> dict[str, list[Entry]] | None:
        """Return the list's entries by their text; None while it is half written."""
        if self._entries is None and (entries := self._read(self._list or _EMPTY_LIST)) is not None:
            self._entries = {}
            for entry in entries:
                self._entries.setdefault(fold(entry.text), []).append(entry)
        return self._entries

    def _find_entry(self, turn: Turn, known: Mapping[str, Sequence[Entry]]) -> Entry | None:
        """Return the list's entry for a prompt; each with a time counts once, and clients write prompts again."""
        latest = parse_time(turn.at)
        for entry in known.get(fold(turn.text), ()):
            if entry.session is not None and entry.session != turn.session_id:
                continue
            if entry.at is None or (
                entry.at > self._used and (latest is None or entry.at <= latest + _CLOCK_SKEW_SECONDS)
            ):
                return entry
        pieces = turn.text.split("\n\n") if self._joins else []
        return known[fold(pieces[0])][0] if len(pieces) > 1 and all(fold(each) in known for each in pieces) else None


def with_command(turn: Turn) -> Turn | Ignored:
    """Return the turn of a prompt, of a slash command its arguments."""
    command = COMMAND.fullmatch(turn.text.strip())
    if command is None:
        return turn
    words = (command[1] or "").strip()
    return replace(turn, text=words, how=How.COMMAND) if words else Ignored("bare-command", turn.span)
