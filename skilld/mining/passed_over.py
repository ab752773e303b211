"""What the newest sessions say that sounds lasting and was not kept, read again from their transcripts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from skilld.classify.offline.passed_over import passed_over
from skilld.mining.sessions import Reader, Transcript
from skilld.pipeline.documents import session_opt_out
from skilld.text import truncate

_MAX_TRANSCRIPTS, _MAX_FOUND = 5, 3  # the newest
_MAX_QUOTE = 80  # characters
_MAX_BYTES = 50 << 20  # of a transcript: reading takes a second


def passed_over_lately(
    transcripts: Sequence[Transcript], turns: Collection[str], redact: Callable[[str], str]
) -> list[str]:
    """Return the newest orders in these turns that sound lasting, each with why it was not taken for a rule.

    Raises SkilldError or OSError if a transcript or a project's configuration cannot be read.
    """
    reader, found = Reader(redact), list[str]()
    newest = sorted(transcripts, key=lambda one: one.changed, reverse=True)[:_MAX_TRANSCRIPTS]
    for transcript in reversed(newest if turns else ()):
        for session in reader.sessions(transcript) if transcript.path.stat().st_size <= _MAX_BYTES else ():
            if session_opt_out(session.cwd or None):
                continue
            agent: list[str] = []
            for message in session.messages:
                if not message.by_person:
                    agent.append(message.text)
                elif message.turn_key in turns:
                    said = passed_over(message.text, agent)
                    found += [f"“{truncate(quote, _MAX_QUOTE)}”: {why}" for quote, why in said]
    return found[-_MAX_FOUND:]
