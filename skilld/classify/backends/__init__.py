"""The back-ends that answer the classifier's question: one file and one line in BACKENDS each.

A back-end is handed redacted messages and skills and suggests updates and operations; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from skilld.errors import RetryError
from skilld.types import Message, Operation, SkillDoc, Update, Usage

Unfit = Callable[[list[Operation] | str], str]
OFFLINE = "offline"  # the model string of the back-end that is rules alone: it costs nothing, and nothing is sent


@dataclass(frozen=True, slots=True)
class Spec:
    """Which back-end a job uses: `model` is OFFLINE, `cli:` with an agent's program, or a litellm model string.

    With `or_offline` an agent that has no working login here raises AwayError.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None
    seconds: float = 60.0
    or_offline: bool = False


class AwayError(RetryError):
    """An agent cannot be asked, whatever the question: its `limit` is reached for now, or it has no working login.

    `usage` is what the job had cost by then.
    """

    def __init__(
        self, title: str, cause: str, remedy: str = "", after: float | None = None, *, limit: bool = False
    ) -> None:
        super().__init__(title, cause, remedy, after)
        self.limit = limit
        self.usage = Usage()


class Backend(Protocol):
    """One back-end, made for one job."""

    @property
    def name(self) -> str:
        """The model string that proposals and costs are booked under."""

    @property
    def together(self) -> bool:
        """Whether `edit` takes all updates of a skill in one call; else it is called with one at a time."""

    @property
    def sure(self) -> float:
        """How confident an update must be to be proposed; one that is less so is kept as a learning."""

    @property
    def usage(self) -> Usage:
        """What its calls have cost so far."""

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Return the updates, and for each suggestion that was left out, why.

        Raises RetryError for passing trouble, SkilldError if the answer or the set-up cannot be used.
        """

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Return each update's change again, in the words that the person said in its turn; none if it cannot.

        Raises as `detect`.
        """

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        """Return of each update whether it says what was meant (True) or the opposite, None if that is not known.

        `said` is what each rests on. Empty where nobody can tell. Raises as `detect`.
        """

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: Unfit | None = None) -> list[Operation] | str:
        """Return the operations that put the updates into the skill, or its whole new text. Raises as `detect`.

        `unfit` says why an answer cannot be used, in words that hold nothing of it; empty if it can.
        """


class _ByCode:
    """The offline back-end behind the protocol: it costs nothing and edits one update at a time."""

    together = False
    sure = 0.5
    usage = Usage()

    def __init__(self) -> None:
        from skilld.classify.backends.offline import Offline

        self._offline = Offline()
        self.name = self._offline.name

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        return self._offline.detect(messages, skills, instructions=instructions), []

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        del updates, said
        return []  # it never uses other words than the person's

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        del updates, said
        return []  # it has rules alone, and they were not sure

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: Unfit | None = None) -> list[Operation] | str:
        del unfit  # it would answer the same again
        return [operation for update in updates for operation in self._offline.edit(update, skill)]


def _offline(spec: Spec) -> Backend:
    del spec
    return _ByCode()


def _litellm(spec: Spec) -> Backend:
    from skilld.classify.backends.model import Model

    return Model(spec)


def _agent_cli(spec: Spec) -> Backend:
    from skilld.classify.backends.agent_cli.backend import AgentCli

    return AgentCli(spec)


BACKENDS: dict[str, Callable[[Spec], Backend]] = {OFFLINE: _offline, "cli": _agent_cli, "litellm": _litellm}


def make(spec: Spec) -> Backend:
    """Return the back-end for `spec`; only now is its library imported. Raises SkilldError if there is none."""
    kind = spec.model.partition(":")[0]
    return BACKENDS[kind if kind in {OFFLINE, "cli"} else "litellm"](spec)
