"""Proof that a prompt was typed, for agents whose transcripts do not say: the client's list of submitted prompts.

Takes a parser's events, some of them claims, and the bytes of the list; returns events with turns for proven claims.
Lists have no headless runs, and both clients that need this write the list before they ask the model (Gemini CLI
0.61.0, Copilot CLI 1.0.102): an answered claim that is not in the list was not typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skilld.agents.base import ReadFile, RecordParser
from skilld.clock import parse_time, rfc3339
from skilld.text import fold
from skilld.types import Event, How, Ignored, RawLine, Reply, Span, Turn
from skilld.values import value_class

NOT_TYPED = "not-typed"
_MAX_HELD = 1000
_EMPTY_LIST = b""
_SKEW_SECONDS = 5.0
COMMAND = re.compile(r"/[\w:.-]+(?:\s+(.*))?", re.DOTALL)


@value_class
class Claim:
    """A prompt that becomes `turn` if the list has it.

    What a client offers only in a terminal but never lists (`listed` is False) must follow a prompt in the list.
    """

    turn: Turn
    listed: bool = True

    @property
    def span(self) -> Span:
        """The span of the prompt."""
        return self.turn.span


@value_class
class Entry:
    """One entry of a list: what was submitted, and in which session and when (Unix time) if the list says so."""

    text: str
    session: str | None = None
    at: float | None = None


class ProvingParser:
    """A Parser around one with claims for prompts of unknown origin. Events after an open claim wait with it.

    If no list was ever set, claims count as typed.
    """

    def __init__(
        self,
        inner: RecordParser[Event | Claim],
        read: Callable[[bytes], Sequence[Entry] | None],
        state: Mapping[str, Any],
        *,
        joins: bool = False,
        optional: bool = False,
    ) -> None:
        """Resume `inner` with its part of the state; `read` returns a list's entries, None while it is half written.

        `joins` says that the client sends several queued entries as one prompt, separated by an empty line, `optional`
        that a client may have no list although a person types.
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
        self._older = 0  # how many of them are older than the list
        self._resume: tuple[int, dict[str, Any]] = (0, {})

    def set_typed_list(self, typed: bytes | None) -> None:
        """Set the list as it is now. None is an empty one: a client in which nobody typed has written none."""
        if typed is None and self._optional:
            return
        self._list, self._entries = typed or _EMPTY_LIST, None
        self._older = len(self._held)

    def read_side_files(self, read: ReadFile) -> None:
        """Let the inner parser read other files, if it needs them."""
        if read_inner := getattr(self._inner, "read_side_files", None):
            read_inner(read)
            began = float(getattr(self._inner, "began", 0.0))
            self._used = max(self._used, began - _SKEW_SECONDS) if began else self._used

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one line, and earlier ones that are proven or refuted now."""
        before = self.checkpoint(line.start)
        return self._hold(self._inner.feed(line), before)

    def flush(self) -> list[Event]:
        """Return what waits; claims that are not proven are refuted."""
        return self._hold(self._inner.flush(), self.checkpoint(0)) + self._release(final=True)

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than the oldest open claim, and the state before that."""
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
        """Release what is decided: claims that the list has, and those answered before the list was read."""
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
        """Return the outcome of a claim; None if the list may not have it yet."""
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
        """Return the list's entries by text; None while it is half written."""
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
            if entry.at is None or (entry.at > self._used and (latest is None or entry.at <= latest + _SKEW_SECONDS)):
                return entry
        pieces = turn.text.split("\n\n") if self._joins else []
        return known[fold(pieces[0])][0] if len(pieces) > 1 and all(fold(each) in known for each in pieces) else None


def with_command(turn: Turn) -> Turn | Ignored:
    """Return the turn of a prompt; for a slash command, one with its arguments only."""
    command = COMMAND.fullmatch(turn.text.strip())
    if command is None:
        return turn
    words = (command[1] or "").strip()
    return replace(turn, text=words, how=How.COMMAND) if words else Ignored("bare-command", turn.span)
