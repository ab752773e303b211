"""A back-end that answers as instructed."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.classify.backends import EditCheck
from skilld.types import Message, Operation, SkillDoc, Update, Usage


class ScriptedBackend:
    """A question for which it was given no answer fails the test.

    `edit` answers every request for an edit, `found` one detection after the other, `reworded` a request for other
    words. `shown` and `unfit` are the skill and the check of the last request for an edit.
    """

    name = "scripted"
    min_confidence = 0.5

    def __init__(
        self,
        edit: Operation | list[Operation] | str | None = None,
        *found: list[Update],
        reworded: list[str] | None = None,
        edits_together: bool = True,
    ) -> None:
        self.usage = Usage()
        self.edits_together = edits_together
        self.shown = ""
        self.unfit: EditCheck | None = None
        self._edit = [edit] if isinstance(edit, Operation) else edit
        self._found = list(found)
        self._reworded = reworded

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        assert self._found, (messages, skills, instructions)
        return self._found.pop(0), []

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        assert self._reworded is not None, (updates, said)
        assert len(updates) == len(said)
        return self._reworded

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        raise AssertionError(updates, said)

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        assert self._edit is not None, updates
        self.shown, self.unfit = skill.text, unfit
        return self._edit
