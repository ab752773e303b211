"""A back-end that may only be asked for edits."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.types import Message, SkillDoc, Update, Usage


class EditOnlyBackend:
    """Every other question fails the test; a test's own class answers this one with its `edit`."""

    name = "scripted"
    edits_together = True
    min_confidence = 0.5
    usage = Usage()

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        raise AssertionError((messages, skills, instructions))

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        raise AssertionError(updates, said)

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        raise AssertionError(updates, said)
