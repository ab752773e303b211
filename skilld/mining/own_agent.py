"""Which comments under the person's own account an agent of theirs wrote: those whose words stand in a call of a tool.

An agent that posts a comment does so by a command or a tool, with the login of the person. What it only read, or what
was typed to it, does not count.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Collection, Iterable, Sequence

from skilld.agents import ADAPTERS
from skilld.agents.tools import record_reader, tools_of
from skilld.clock import seconds
from skilld.ingest.source import source_of
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.mining.requests import StoredRequest
from skilld.mining.sessions import Transcript
from skilld.protocol import PROCESSOR_SECONDS
from skilld.types import RawLine, ToolCall

# What is written in JSON, in a shell's quotes and in Markdown alike.
_PLAIN = re.compile(r"[A-Za-z0-9 ,.;:()/+-]{12,}")


def written_by_agents(asked: Sequence[StoredRequest], transcripts: Iterable[Transcript]) -> Collection[str]:
    """Return the ids of the comments whose words an agent passed to a tool. One without plain words counts as such."""
    needles = {one.comment: max(_PLAIN.findall(one.quote), key=len, default="") for one in asked}
    found = {name for name, needle in needles.items() if not needle}
    first = min((seconds(one.at) or 0.0 for one in asked), default=0.0)
    for transcript in transcripts:
        left = {name: needle for name, needle in needles.items() if name not in found}
        if transcript.changed < first or not left:
            continue
        likely = {name: needle for name, needle in left.items() if needle in _holding(transcript, left.values())}
        if likely:
            try:
                with processor_time(PROCESSOR_SECONDS):
                    found |= {name for text in _calls(transcript) for name, needle in likely.items() if needle in text}
            except (OSError, ProcessorTimeError):
                found |= likely.keys()  # rather not
    return found


def _holding(transcript: Transcript, needles: Iterable[str]) -> set[str]:
    """Return those of the needles that stand anywhere in a file."""
    try:
        with transcript.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return {needle for needle in needles if data.find(needle.encode()) >= 0}
    except (OSError, ValueError):  # an empty file cannot be mapped
        return set()


def _calls(transcript: Transcript) -> Iterable[str]:
    adapter, path = ADAPTERS[transcript.agent], transcript.path
    source, records, tools = source_of(adapter.INFO), record_reader(adapter, path), tools_of(adapter)
    for item in source.whole(path):
        if isinstance(item, RawLine):
            session = source.session(item) or ""
            for record, span in records(item):
                for call in tools(record, session, span):
                    if isinstance(call, ToolCall):
                        yield json.dumps(call.input, ensure_ascii=False)
