"""What a batch says that sounds lasting and that the offline judge takes for no rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilld.classify.backends import OFFLINE
from skilld.classify.offline.detector import find_lasting, is_order
from skilld.classify.offline.passed_over import PRODUCT, instruction, passed_over
from skilld.classify.offline.product_talk import ProductTalk
from skilld.classify.offline.retraction import without_retracted
from skilld.protocol import AnalyseBatch, NewLearning
from skilld.text import fold, truncate
from skilld.types import Kind, Message, Proposal, Update

_MAX_QUOTE = 200  # characters
_CONFIDENCE = 0.2
_STATED = 0.8  # confidence for what is taken back: an order is no complaint


def find_passed_over(
    job: AnalyseBatch,
    messages: Sequence[Message],
    lost: Sequence[tuple[Update, str]] = (),
    made: Sequence[Proposal] = (),
) -> Iterator[NewLearning]:
    """Yield the orders in these messages that sound lasting and were not heard, each with the reason.

    `lost` were heard and not used, with the reason. Nothing that the person took back, that the proposals `made` quote,
    and nothing if a model judges: it may have understood them.
    """
    if job.backend.model != OFFLINE or job.batch.kind == "waiting":
        return
    for one, why in lost:
        yield NewLearning(job.batch.turns[one.turn - 1], *_told(one), _CONFIDENCE, None, why)
    quoted = [fold(proof.quote) for proposal in made for proof in proposal.evidence]
    before: list[str] = []
    talk = ProductTalk()
    said: list[Update] = []
    reasons: dict[int, tuple[str, str]] = {}  # of those passed over: the turn's key and why
    for message in messages:
        if not message.by_person:
            before.append(message.text)
        elif message.turn is not None:
            found = [*passed_over(message.text, before)]
            heard = find_lasting(message.text, before)
            kept = talk.without(message.text, heard)
            found += [(one.quote, PRODUCT if one not in kept and is_order(one) else "") for one in heard]
            for quote, why in sorted(found, key=lambda one: message.text.find(one[0])):
                change = instruction(quote)
                said.append(Update(1, "", change, why, Kind.PREFERENCE, message.turn, quote, _STATED))
                used = any(fold(quote) in one or one in fold(quote) for one in quoted)
                if why and not used and message.turn_key in job.batch.turns:
                    reasons[id(said[-1])] = (message.turn_key, why)
    for one in without_retracted(said, messages):
        if id(one) in reasons:
            key, why = reasons[id(one)]
            yield NewLearning(key, *_told(one), _CONFIDENCE, None, why)


def _told(said: Update) -> tuple[str, str, Kind]:
    return truncate(said.quote, _MAX_QUOTE), said.change, said.kind
