"""The quotes of a proposal in their context: each message with a quote, and its neighbours, no message twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path

from skilld.daemon.job_builder import current_sources
from skilld.errors import SkilldError
from skilld.pipeline import messages as conversation
from skilld.redact import Redactor
from skilld.redact.key import load_key
from skilld.store import Store
from skilld.text import fold, safe_text, truncate
from skilld.types import Evidence, Message, Proposal
from skilld.values import value_class

_MAX_CONTEXT_CHARS = 400  # of a message, on each side of the quote
_MAX_NEIGHBOUR_CHARS = 240  # of the message before or after it


@value_class
class Excerpt:
    """One message: who said it, and its text before, in and after the quote. Safe for a terminal.

    `at` is its number in its batch. A `gap` means that the message shown above it is not the preceding one.
    """

    by_person: bool
    before: str
    quote: str = ""
    after: str = ""
    at: int = field(default=-1, compare=False)
    gap: bool = False


def excerpts_around(messages: Sequence[Message], evidence: Evidence) -> list[Excerpt]:
    """Return the message with the quote, and its neighbours."""
    at = next((i for i, message in enumerate(messages) if message.turn_key == evidence.turn), None)
    if at is None:
        return []
    shown: dict[int, Excerpt] = {}
    for i in (at - 1, at + 1):
        if 0 <= i < len(messages):
            shown[i] = Excerpt(messages[i].by_person, _one_line(messages[i].text, _MAX_NEIGHBOUR_CHARS))
    shown[at] = _quote_excerpt(messages[at], evidence.quote)
    return [replace(shown[i], at=i) for i in sorted(shown)]


def _quote_excerpt(message: Message, quote: str) -> Excerpt:
    text, wanted = safe_text(fold(message.text)), safe_text(fold(quote))
    before, found, after = text.partition(wanted) if wanted else ("", "", "")
    if not found:
        return Excerpt(message.by_person, _one_line(message.text, _MAX_CONTEXT_CHARS))
    head = before if len(before) <= _MAX_CONTEXT_CHARS else f"… {before[-_MAX_CONTEXT_CHARS:]}"
    tail = after if len(after) <= _MAX_CONTEXT_CHARS else f"{after[:_MAX_CONTEXT_CHARS]} …"
    return Excerpt(message.by_person, head, found, tail)


def _one_line(text: str, limit: int) -> str:
    return truncate(safe_text(fold(text)), limit)


class ShownExcerpts:
    """What has been shown of each batch, so that the context of the next quote only adds to it."""

    def __init__(self) -> None:
        self._quoted: dict[tuple[str, int], bool] = {}  # by batch and number of the message: whether with a quote
        self._last: tuple[str, int] | None = None

    def add(self, batch: str, messages: Sequence[Message], evidence: Evidence) -> list[Excerpt]:
        """Return what is new around a quote; of a message that was shown with another quote, only the quote."""
        new: list[Excerpt] = []
        for one in excerpts_around(messages, evidence):
            with_quote = self._quoted.get((batch, one.at))
            if one.quote or with_quote is None:
                new.append(replace(one, before="", after="") if with_quote else one)
        if new and self._last is not None and not self._quoted.get((batch, new[0].at)):
            new[0] = replace(new[0], gap=self._last != (batch, new[0].at - 1))
        self._quoted |= {(batch, one.at): bool(one.quote) for one in new}
        self._last = (batch, new[-1].at) if new else self._last
        return new


def read_excerpts(store: Store, proposal: Proposal, redaction_key: Path) -> tuple[tuple[tuple[Excerpt, ...], ...], str]:
    """Return each quote in its context if that can be read again, and why some could not."""
    read: dict[str, Sequence[Message]] = {}
    shown, found, gone = ShownExcerpts(), list[tuple[Excerpt, ...]](), ""
    for evidence in proposal.evidence:
        batch, new = store.batches.of_turn(evidence.turn), list[Excerpt]()
        if batch is not None:
            job = replace(batch.job, sources=current_sources(store, batch))
            try:
                if job.batch not in read:
                    read[job.batch] = conversation.read_batch(job, Redactor(load_key(redaction_key)).redact)
                new = shown.add(job.batch, read[job.batch], evidence)
            except SkilldError as error:
                gone = str(error)
        found.append(tuple(new))
    return tuple(found), gone
