"""Matches what a batch says with what is known: what waits, what is proposed, and the lines of a file.

Words decide first. What they do not match is asked of the model, if there is one, in a single closed question: people
seldom say a thing twice in the same words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from skilld.classify.backends import OFFLINE, Backend, make_backend
from skilld.classify.rule_texts import rule_texts
from skilld.classify.said_already import is_same_change
from skilld.classify.verify import Verdict
from skilld.errors import SkilldError
from skilld.jobs.taken_back import loaded_proposals
from skilld.pipeline.documents import TargetDocument
from skilld.protocol import AnalyseBatch, PastLearning
from skilld.text import Redact
from skilld.types import Evidence, Kind, Proposal, TargetKind, Update, Usage

_MAX_KNOWN, _MAX_NEW = 60, 20  # of one question
_MARKERS = "-*+ 0123456789.)"  # of list items

Known = PastLearning | Proposal | str  # a string is a line of the file


class SameAsks:
    """What is known, and which of it says what the updates of one batch say."""

    def __init__(self, job: AnalyseBatch) -> None:
        self._job = job
        self._meant: dict[str, Known] = {}  # what the model answered, by the new change
        self._own: Backend | None = None
        self._personal: Collection[int | None] = ()  # the numbers of the person's own files

    @property
    def usage(self) -> Usage:
        """The usage of its own back-end, besides that of the one it was given."""
        return self._own.usage if self._own else Usage()

    def split(
        self, verdict: Verdict, files: Sequence[TargetDocument], backend: Backend, redact: Redact
    ) -> tuple[Verdict, list[tuple[Update, Proposal | str]]]:
        """Return the verdict without the updates that a model knows from an open proposal or a line, and these.

        A model that has judged the batch has seen the files; what rules found in stored words is compared with their
        lines. Without an answer all updates are new.
        """
        heard = [*(item.update for item in verdict.proposed), *(update for update, _ in verdict.learned)]
        self._personal = {one.doc.number for one in files if one.ref.kind is TargetKind.PERSONAL}
        lines: list[str] = []
        if heard and self._job.batch.kind == "waiting":
            self._own = backend = make_backend(self._job.matcher)
            numbers = {update.skill for update in heard}
            lines = [line for one in files if one.doc.number in numbers for line in _lines(one.doc.text)]
        self._compare(heard, lines, backend, redact)
        known = {text: found for text, found in self._meant.items() if not isinstance(found, PastLearning)}
        rest = replace(
            verdict,
            proposed=tuple(item for item in verdict.proposed if item.update.change not in known),
            learned=tuple(pair for pair in verdict.learned if pair[0].change not in known),
        )
        return rest, [(update, known[update.change]) for update in heard if update.change in known]

    def _compare(self, updates: Sequence[Update], lines: Iterable[str], backend: Backend, redact: Redact) -> None:
        """Ask about the updates that words do not match."""
        open_ones = [one for one in updates if one.kind is not Kind.REMOVE_STEP and not self._is_matched(one)]
        kinds = {one.skill in self._personal for one in open_ones}
        new = [*dict.fromkeys(one.change for one in open_ones)][:_MAX_NEW]
        known = [*islice(self._texts(lines, kinds), _MAX_KNOWN)] if new and backend.name != OFFLINE else []
        found = _ask(new, [text for text, _ in known], backend, redact)
        self._meant = {new[one - 1]: known[other - 1][1] for one, other in found.items()}

    def evidence(self, updates: Sequence[Update]) -> list[Evidence]:
        """Return the evidence of learnings from other sessions that say what these updates say."""
        meant = [self._meant.get(update.change) for update in updates]
        return [
            Evidence(said.turn, said.quote)
            for said in self._elsewhere()
            if said in meant or any(is_same_change(update.change, said.change) for update in updates)
        ]

    def _is_matched(self, update: Update) -> bool:
        return any(is_same_change(update.change, said.change) for said in self._elsewhere())

    def _elsewhere(self) -> Iterator[PastLearning]:
        return (said for said in self._job.waiting if said.session != self._job.batch.session_id)

    def _texts(self, lines: Iterable[str], personal: Collection[bool]) -> Iterator[tuple[str, Known]]:
        """Yield what the model may see, the newest first: an agent sees only what was said to it.

        A wish for one project does not say what is for all of them. A learning for all of them is not compared with
        what is for the project either, or every batch would be asked about it; an open proposal for all of them is.
        """
        for said in self._elsewhere():
            if said.personal in personal and self._may_see([said.turn]):
                yield said.change, said
        for one in loaded_proposals(self._job):
            says = one.target is TargetKind.PERSONAL or False in personal
            if says and self._may_see(said.turn for said in one.evidence):
                yield from ((update.change, one) for update in one.updates if update.kind is not Kind.REMOVE_STEP)
        yield from ((line, line) for line in dict.fromkeys(lines))

    def _may_see(self, turns: Iterable[str]) -> bool:
        of_agent = self._job.matcher.model.startswith("cli:")
        return not of_agent or all(turn.partition(":")[0] == self._job.batch.agent for turn in turns)


def find_lines(updates: Sequence[Update], text: str, backend: Backend, redact: Redact) -> dict[str, str]:
    """Return the line of a text that says each update according to the model, by the update's change."""
    new = list(dict.fromkeys(one.change for one in updates if one.kind is not Kind.REMOVE_STEP))[:_MAX_NEW]
    lines = list(dict.fromkeys(_lines(text)))[:_MAX_KNOWN] if new and backend.name != OFFLINE else []
    return {new[one - 1]: lines[other - 1] for one, other in _ask(new, lines, backend, redact).items()}


def _lines(text: str) -> Iterator[str]:
    """Yield the rules of a text, each once: as an item, and not as its line with the marker too."""
    known = ""
    for _, line in rule_texts(text):
        if "\n" not in line and line[:1] != "#" and line.lstrip(_MARKERS) not in known:
            known += f"{line}\n"
            yield line


def _ask(new: Sequence[str], known: Sequence[str], backend: Backend, redact: Redact) -> dict[int, int]:
    """Return, by the number of each new text, the known texts that say it; none without an answer."""
    if not (new and known):
        return {}
    from skilld.classify.backends.model import Model  # takes time to load, and few batches need it
    from skilld.classify.closed_questions import same_asks

    if not isinstance(backend, Model):
        return {}
    try:
        return backend.answer(same_asks([*map(redact, new)], [*map(redact, known)]))
    except SkilldError:
        return {}
