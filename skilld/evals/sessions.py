"""The words from past sessions that proposals quote, reread from the transcripts and redacted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from skilld.errors import SkilldError
from skilld.ingest.discover import Host
from skilld.mining.sessions import Reader, Session, Transcript, past
from skilld.pipeline.documents import session_opt_out
from skilld.store import Store
from skilld.types import Message, Proposal

_GONE = "the transcript of its session is gone"


class Sessions:
    """Finds the session of a turn; each transcript is read once."""

    def __init__(self, store: Store, host: Host, redact: Callable[[str], str]) -> None:
        self._store, self._host, self._redact = store, host, redact
        self._read: dict[Path, list[Session]] = {}
        self._past: list[Transcript] | None = None

    def words(self, proposal: Proposal, turn: str) -> Sequence[Message]:
        """Return the messages of the session in which a turn was said. Raises LookupError with the reason why not."""
        for transcript in self._transcripts(proposal, turn):
            for session in self._sessions(transcript):
                if any(message.turn_key == turn for message in session.messages):
                    if why := _left_alone(session):
                        raise LookupError(why)
                    return session.messages
        raise LookupError(_GONE)

    def _transcripts(self, proposal: Proposal, turn: str) -> Iterator[Transcript]:
        known = self._store.transcripts.path_of(turn)
        if known is not None:
            yield Transcript(known[0], Path(known[1]), 0.0)
        if self._past is None:
            self._past = past(self._host, 0.0)
        if proposal.session_id:
            yield from (one for one in self._past if proposal.session_id in str(one.path))

    def _sessions(self, transcript: Transcript) -> list[Session]:
        if transcript.path not in self._read:
            # A reader of its own: a turn that a copy of the file has, too, is to be found in each.
            self._read[transcript.path] = Reader(self._redact).sessions(transcript)
        return self._read[transcript.path]


def _left_alone(session: Session) -> str:
    try:
        return session_opt_out(session.cwd or None) or ""
    except SkilldError as error:
        return str(error)
