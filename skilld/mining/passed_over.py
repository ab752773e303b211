"""What the newest sessions say that sounds lasting and was not kept, read again from their transcripts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from skilld.classify.offline.passed_over import passed_over
from skilld.mining.sessions import Reader, Session, Transcript
from skilld.pipeline.documents import session_opt_out
from skilld.text import truncate

_MAX_TRANSCRIPTS, _MAX_FOUND = 5, 3  # the newest
_MAX_QUOTE = 80  # characters
_MAX_BYTES = 50 << 20  # of all transcripts together: reading them takes a second


def passed_over_lately(
    transcripts: Sequence[Transcript], turns: Collection[str], redact: Callable[[str], str]
) -> list[str]:
    """Return the newest orders in these turns that sound lasting, each with why it was not taken for a rule.

    Raises SkilldError or OSError if a transcript or a project's configuration cannot be read.
    """
    reader, found, left = Reader(redact), list[str](), _MAX_BYTES
    for transcript in sorted(transcripts, key=lambda one: one.changed, reverse=True)[:_MAX_TRANSCRIPTS]:
        size = transcript.path.stat().st_size
        if size <= left and len(found) < _MAX_FOUND:
            left -= size
            here = [one for session in reader.sessions(transcript) for one in _passed_over_in(session, turns)]
            found = here + found
    return found[-_MAX_FOUND:]


def _passed_over_in(session: Session, turns: Collection[str]) -> Iterator[str]:
    if session_opt_out(session.cwd or None):
        return
    agent: list[str] = []
    for message in session.messages:
        if not message.by_person:
            agent.append(message.text)
        elif message.turn_key in turns:
            for quote, why in passed_over(message.text, agent):
                yield f"“{truncate(quote, _MAX_QUOTE)}”: {why}"
