"""The back-ends that answer the classifier's question: `make_backend` chooses one by a model string.

A back-end gets redacted messages and skills and suggests updates and operations; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from skilld.errors import RetryError
from skilld.types import Message, Operation, SkillDoc, Update, Usage
from skilld.values import value_class

EditCheck = Callable[[list[Operation] | str], str]
STARTED_WITHOUT = "skilld was started without "  # followed by the variable of a key that the process lacks
OFFLINE = "offline"  # the model string of the back-end without a model: it costs nothing, and nothing is sent


@value_class
class Spec:
    """The back-end of a job: `model` is OFFLINE, `cli:` with an agent's program, or a litellm model string.

    With `or_offline` an agent without a working login raises UnavailableError.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None
    seconds: float = 60.0
    or_offline: bool = False


class UnavailableError(RetryError):
    """An agent cannot be asked anything: its `limit` is reached for now, or it has no working login.

    `usage` is the job's usage so far.
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
        """The model string under which proposals and costs are recorded."""

    @property
    def edits_together(self) -> bool:
        """Whether `edit` takes all updates of a skill in one call, rather than one at a time."""

    @property
    def min_confidence(self) -> float:
        """The minimum confidence of a proposed update; others are kept as learnings."""

    @property
    def usage(self) -> Usage:
        """The usage of its calls so far."""

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Return the updates, and the reason for each suggestion that was left out.

        Raises RetryError for temporary failures, SkilldError if the answer or the set-up cannot be used.
        """

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Return each update's change in the person's own words; none if it cannot. Raises as `detect`."""

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        """Return for each update whether it says what was meant (True) or the opposite (False); None if unknown.

        `said` has the ground of each. Empty if the back-end cannot tell. Raises as `detect`.
        """

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        """Return the operations that put the updates into the skill, or its whole new text. Raises as `detect`.

        `unfit` returns why an answer cannot be used, without quoting it; empty if it can.
        """


class OfflineBackend:
    """Adapts the offline back-end to the protocol: it costs nothing and edits one update at a time."""

    edits_together = False
    min_confidence = 0.5
    usage = Usage()

    def __init__(self) -> None:
        from skilld.classify.backends.offline import Offline

        self._offline = Offline()
        self.name = self._offline.name

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Return the updates; nothing is left out."""
        return self._offline.detect(messages, skills, instructions=instructions), []

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Return none: it only uses the person's words."""
        del updates, said
        return []

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        """Return none: it only has rules, which could not tell."""
        del updates, said
        return []

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        """Return the operations that replace what the updates contradict."""
        del unfit  # its answer is always the same
        return [operation for update in updates for operation in self._offline.edit(update, skill)]


def make_backend(spec: Spec) -> Backend:
    """Return the back-end for `spec`, importing its library only now. Raises SkilldError if there is none."""
    kind = spec.model.partition(":")[0]
    if kind == OFFLINE:
        return OfflineBackend()
    if kind == "cli":
        from skilld.classify.backends.agent_cli.backend import AgentCli

        return AgentCli(spec)
    from skilld.classify.backends.model import Model

    return Model(spec)
