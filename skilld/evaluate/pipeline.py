"""One batch through everything that comes after reading: ask, check, edit, lint, ask again. Git is left out.

Messages, skills and a back-end in; what would be proposed and kept, and why the rest would not, out. The worker's own
judge decides, so a figure says what a person would have seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from skilld.classify.backends import Backend
from skilld.errors import RetryError, SkilldError
from skilld.pipeline.documents import Loaded
from skilld.pipeline.judge import NO_EDIT, Judge, Redact
from skilld.types import Message, SkillDoc, SkillRef, Update, Usage

_PAUSES = (2.0, 8.0, 30.0)  # seconds before each further attempt, where the other side names none
_MAX_PAUSE_SECONDS = 60.0
_GIVE_UP = 3  # cases in a row that were never answered, for each judged at once: then the back-end is down


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """What came of one batch. `flags` are those of the edits; `answered` is false where no attempt got an answer."""

    proposed: tuple[Update, ...] = ()
    learned: tuple[Update, ...] = ()
    flags: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    answered: bool = True


class Pipeline:
    """The stages after reading, and patience with a back-end that is busy; `wait` is given seconds to sleep.

    `jobs` threads may judge at once.
    """

    def __init__(self, redact: Redact, wait: Callable[[float], None], *, jobs: int = 1) -> None:
        self._redact = redact
        self._wait = wait
        self._most_unanswered = _GIVE_UP * jobs
        self._unanswered = 0
        self._counting = threading.Lock()

    def judge(self, backend: Backend, messages: Sequence[Message], skills: Sequence[Loaded]) -> PipelineResult:
        """Return what comes of redacted messages. Raises SkilldError where the back-end cannot be used at all."""
        for pause in (*_PAUSES, None):
            try:
                judged = _judged(backend, messages, skills, self._redact)
            except RetryError as error:
                if pause is None:
                    return self._never_answered(backend, error)
                self._wait(min(error.after or pause, _MAX_PAUSE_SECONDS))
            else:
                break
        with self._counting:
            self._unanswered = 0
        return judged

    def _never_answered(self, backend: Backend, error: RetryError) -> PipelineResult:
        with self._counting:
            self._unanswered += 1
            if self._unanswered >= self._most_unanswered:
                raise error
        return PipelineResult(
            why_not=(f"the back-end did not answer: {error.cause}",), usage=backend.usage, answered=False
        )

    def redacted(self, messages: Sequence[Message]) -> list[Message]:
        """Return messages as a back-end may see them."""
        return [
            Message(self._redact(message.text), message.turn, message.turn_key, message.how) for message in messages
        ]


def in_memory(name: str, text: str, number: int = 1) -> Loaded:
    """Return a skill that stands in no file, the `number`-th in use."""
    path = f"/skills/{name}/SKILL.md"
    return Loaded(SkillRef(name, path), text.encode(), SkillDoc(number, name, path, text))


def _judged(backend: Backend, messages: Sequence[Message], skills: Sequence[Loaded], redact: Redact) -> PipelineResult:
    judge = Judge(backend, messages, skills, "", redact)
    try:
        verdict = judge.verdict()
    except RetryError:
        raise
    except SkilldError as error:
        if error.remedy:  # the set-up is wrong, and will be for every other case
            raise
        return PipelineResult(why_not=(str(error),), usage=backend.usage)
    proposed: list[Update] = []
    learned = [update for update, _ in verdict.learned]
    flags: list[str] = []
    why_not = [*judge.unusable, *verdict.dropped, *verdict.faults]
    for loaded in skills:
        checked = [item for item in verdict.proposed if item.update.skill == loaded.doc.number]
        updates = [item.update for item in checked]
        if not checked:
            continue
        try:
            composed = judge.edit(loaded, checked)
        except RetryError:
            raise
        except SkilldError as error:
            why_not.append(str(error))
            learned += updates
            continue
        flags += composed.flags
        proposed += [item.update for item in composed.checked]
        learned += [item.update for item in composed.left_out]
        why_not += [NO_EDIT] * len(composed.left_out)
    return PipelineResult(tuple(proposed), tuple(learned), tuple(flags), tuple(why_not), backend.usage)
