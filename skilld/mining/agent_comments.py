"""Finds comments under the person's account that an agent wrote: those whose words occur in a tool call.

An agent posts comments by a command or a tool, with the person's login. Text that it only read, or that the person
typed, does not count.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Collection, Iterable, Sequence

from skilld.clock import parse_time
from skilld.ingest.whole_transcript import read_transcript
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.mining.review_requests import StoredRequest
from skilld.mining.sessions import Transcript
from skilld.protocol import PROCESSOR_SECONDS
from skilld.types import ToolCall

# Characters that are the same in JSON, in shell quotes and in Markdown.
_PLAIN_TEXT_PATTERN = re.compile(r"[A-Za-z0-9 ,.;:()/+-]{12,}")


def comments_by_agents(asked: Sequence[StoredRequest], transcripts: Iterable[Transcript]) -> Collection[str]:
    """Return the ids of the comments whose words an agent passed to a tool, and of those without plain words."""
    needles = {one.comment: max(_PLAIN_TEXT_PATTERN.findall(one.quote), key=len, default="") for one in asked}
    found = {key for key, needle in needles.items() if not needle}
    first = min((parse_time(one.at) or 0.0 for one in asked), default=0.0)
    for transcript in transcripts:
        left = {key: needle for key, needle in needles.items() if key not in found}
        if transcript.changed < first or not left:
            continue
        here = _needles_in_file(transcript, left.values())
        likely = {key: needle for key, needle in left.items() if needle in here}
        if likely:
            try:
                with processor_time(PROCESSOR_SECONDS):
                    found |= {
                        key for text in _tool_inputs(transcript) for key, needle in likely.items() if needle in text
                    }
            except (OSError, ProcessorTimeError):
                found |= likely.keys()  # unknown: better not to count them
    return found


def _needles_in_file(transcript: Transcript, needles: Iterable[str]) -> set[str]:
    try:
        with transcript.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return {needle for needle in needles if data.find(needle.encode()) >= 0}
    except (OSError, ValueError):  # an empty file cannot be mapped
        return set()


def _tool_inputs(transcript: Transcript) -> Iterable[str]:
    for _, item in read_transcript(transcript.agent, transcript.path):
        if isinstance(item, ToolCall):
            yield json.dumps(item.input, ensure_ascii=False)
