"""Rereads a batch's messages from the transcripts, and redacts them before anything else sees them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.base import chunk_reader
from skilld.agents.chips import without_chips
from skilld.agents.chunk import Chunk
from skilld.errors import RetryError, cause_of
from skilld.ingest import side_files
from skilld.ingest.source import source_of
from skilld.protocol import BatchJob, Source, StoredWords
from skilld.types import Event, Message, RawLine, Reply, Turn

# Characters of one message: a longer one is a paste or a dump, and its middle is nobody's words.
_MAX_LENGTH = 64 * 1024
_REPLIES_KEPT = 40
_SPACE_PATTERN = re.compile(r"\s")
_LAST_WORD_PATTERN = re.compile(r"\s\S*\Z")


class TranscriptGoneError(RetryError):
    """The words of a batch cannot be read now; `place` is their transcript."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__("Cannot read the transcript", f"{place}: {why}")
        self.place = place


def read_batch(job: BatchJob, redact: Callable[[str], str], *, whole: bool = False) -> list[Message]:
    """Return the messages since the last batch, in order, up to the batch's last turn.

    Each source is read from its start, because adapters need the head of a file; up to the last batch's end it is only
    skimmed. Raises TranscriptGoneError if none of the batch's turns can be found, some are in an unreadable file, or,
    with `whole`, any is missing: the client may be rewriting the file.
    """
    numbers = {key: number for number, key in enumerate(job.turns, 1)}
    messages: list[Message] = []
    trouble: OSError | None = None
    for source in job.sources:
        found = {message.turn_key for message in messages if message.by_person}
        wanted = {key: number for key, number in numbers.items() if key not in found}  # forks have copies of others
        try:
            messages += _read_source(job.agent, job.session_id, source, wanted, redact)
        except OSError as error:
            trouble = trouble or error
    found = {message.turn_key for message in messages if message.by_person}
    if not found or (len(found) < len(numbers) and (trouble or whole)):
        place = job.sources[0].path if job.sources else ""
        absent = "it no longer contains " + ("all of your messages" if found else "your messages")
        why = cause_of(trouble) if trouble else absent
        raise TranscriptGoneError(str(trouble.filename or place) if trouble else place, why)
    last = max(i for i, message in enumerate(messages) if message.by_person)
    return messages[: last + 1]


def stored_messages(turns: Sequence[str], words: Sequence[StoredWords], redact: Callable[[str], str]) -> list[Message]:
    """Return the batch's turns as stored when they were first read, in order, without the replies between them."""
    kept = {said.key: said for said in words}
    return [
        Message(without_chips(redact(kept[key].text)), turn=number, turn_key=key, how=kept[key].how)
        for number, key in enumerate(turns, 1)
        if key in kept
    ]


def to_messages(events: Sequence[Turn | Reply], redact: Callable[[str], str]) -> list[Message]:
    """Return all turns and replies of one session as messages, the turns numbered from 1."""
    turns = dict.fromkeys(event.key for event in events if isinstance(event, Turn))
    numbers = {key: number for number, key in enumerate(turns, 1)}
    return [_to_message(event, numbers, redact) for event in _trim_replies(events)]


def _read_source(
    agent: str, session: str, source: Source, numbers: Mapping[str, int], redact: Callable[[str], str]
) -> list[Message]:
    turns: dict[str, Turn] = {}
    events: list[Turn | Reply] = []
    for event in _source_events(agent, session, source):
        if len(turns) == len(numbers):
            break  # nothing after the last turn is used
        if isinstance(event, Turn) and event.key in numbers and event.key not in turns:
            turns[event.key] = event
            events.append(event)
        elif isinstance(event, Reply) and event.span.start >= source.start:
            events.append(event)
    if ADAPTERS[agent].INFO.typed_list and len(turns) < len(numbers):
        # The client's list of typed prompts no longer has them; their keys show that it had.
        for event in _source_events(agent, session, source, forgotten=True):
            if isinstance(event, Turn) and event.key in numbers and event.key not in turns:
                turns[event.key] = event
                events.append(event)
        events.sort(key=lambda event: event.span.start)
    return [_to_message(event, numbers, redact) for event in _trim_replies(events)]


def _source_events(agent: str, session: str, source: Source, *, forgotten: bool = False) -> Iterator[Event]:
    info = ADAPTERS[agent].INFO
    path = Path(source.path)
    parser = ADAPTERS[agent].parser(path)
    if not forgotten:
        side_files.provide(parser, path, info)
    skim = chunk_reader(parser)
    for item in source_of(info, path).read_session(path, session, source.start, source.end):
        if isinstance(item, Chunk):
            yield from skim(item)
        elif isinstance(item, RawLine):
            yield from parser.feed(item)
    yield from parser.flush()


def _trim_replies(events: Sequence[Turn | Reply]) -> list[Turn | Reply]:
    """Keep only the newest messages of each run of replies: a long run is work, not conversation."""
    kept: list[Turn | Reply] = []
    run: list[Turn | Reply] = []
    for event in events:
        if isinstance(event, Reply):
            run.append(event)
        else:
            kept += run[-_REPLIES_KEPT:]
            run = []
            kept.append(event)
    return kept


def _head_and_tail(text: str) -> str:
    """Return the head and tail of a long text, cut at white space: half a secret is not recognized."""
    if len(text) <= _MAX_LENGTH:
        return text
    head, tail = text[: _MAX_LENGTH // 2], text[-_MAX_LENGTH // 2 :]
    last, first = _LAST_WORD_PATTERN.search(head), _SPACE_PATTERN.search(tail)
    return (head[: last.start()] if last else "") + "\n" + (tail[first.end() :] if first else "")


def _to_message(event: Turn | Reply, numbers: Mapping[str, int], redact: Callable[[str], str]) -> Message:
    text = redact(_head_and_tail(event.text))
    if isinstance(event, Reply):
        return Message(text)
    return Message(without_chips(text), turn=numbers[event.key], turn_key=event.key, how=event.how)
