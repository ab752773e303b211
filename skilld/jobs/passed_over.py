"""What a batch says that sounds lasting and that the offline judge takes for no rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilld.classify.backends import OFFLINE
from skilld.classify.offline.passed_over import instruction, passed_over
from skilld.protocol import AnalyseBatch, NewLearning
from skilld.text import truncate
from skilld.types import Kind, Message

_MAX_QUOTE = 200  # characters
_CONFIDENCE = 0.2


def find_passed_over(job: AnalyseBatch, messages: Sequence[Message]) -> Iterator[NewLearning]:
    """Yield the orders in these messages that sound lasting and were not heard, each with the reason.

    Nothing if a model judges: it may have understood them.
    """
    before: list[str] = []
    for message in messages if job.backend.model == OFFLINE and job.batch.kind != "waiting" else ():
        if not message.by_person:
            before.append(message.text)
        elif message.turn_key in job.batch.turns:
            for quote, why in passed_over(message.text, before):
                said, change = truncate(quote, _MAX_QUOTE), instruction(quote)
                yield NewLearning(message.turn_key, said, change, Kind.PREFERENCE, _CONFIDENCE, None, why)
