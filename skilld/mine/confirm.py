"""A second look at what a candidate rests on: each turn read again from its transcript, by its key.

A row is what was heard once, perhaps long ago and by a model; here it is held against the words themselves, and against
what the person said after them in the same session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from skilld.classify.offline.taken_back import still_standing
from skilld.classify.quotes import as_typed
from skilld.mine.rows import as_task, typed
from skilld.mine.sessions import Reader, Session, Transcript
from skilld.mine.values import Part, Proof, Sort
from skilld.types import Kind, Message, Update

GONE = "the words in its transcript: they are not there any more"
TAKEN_BACK = "still so: you took it back later in that session"


@dataclass(frozen=True, slots=True)
class Heard:
    """One turn and what stands around it: the agent's text before it and all that was said after it."""

    session: Session
    place: int

    @property
    def message(self) -> Message:
        """The turn."""
        return self.session.messages[self.place]

    @property
    def typed(self) -> str:
        """What of it the person typed."""
        return typed(self.session.messages, self.place)

    @property
    def before(self) -> Message | None:
        """What the agent wrote directly before it."""
        previous = self.session.messages[self.place - 1] if self.place else None
        return None if previous is None or previous.by_person else previous


class Transcripts:
    """Finds turns again. `where` says in which transcript each session was read."""

    def __init__(self, where: Mapping[str, Transcript], redact: Callable[[str], str]) -> None:
        self._where = where
        self._redact = redact
        self._read: dict[Path, list[Session]] = {}

    def find(self, proof: Proof) -> Heard | None:
        """Return the turn of a proof, None where it is gone."""
        transcript = self._where.get(proof.session)
        if transcript is None:
            return None
        if transcript.path not in self._read:
            self._read[transcript.path] = Reader(self._redact).sessions(transcript)
        for session in self._read[transcript.path]:
            for place, message in enumerate(session.messages):
                if message.turn_key == proof.turn:
                    return Heard(session, place)
        return None


def refuted(parts: Iterable[Part], transcripts: Transcripts) -> dict[tuple[str, str], str]:
    """Return, by turn and quote, why a piece of evidence does not hold."""
    found = {}
    for part in parts:
        for proof in part.proofs:
            if why := _why(part, proof, transcripts.find(proof)):
                found[proof.turn, proof.quote] = why
    return found


def _why(part: Part, proof: Proof, heard: Heard | None) -> str:
    if heard is None:
        return GONE
    if part.sort in {Sort.REQUEST, Sort.STEP}:
        return "" if as_task(heard.session.messages, heard.place) == proof.quote else GONE
    if not as_typed(proof.quote, heard.typed):
        return GONE
    update = Update(None, "", part.text, "", part.kind or Kind.PREFERENCE, heard.message.turn or 0, proof.quote)
    return "" if still_standing([update], heard.session.messages) else TAKEN_BACK
