"""Checks of what keeps batches from being judged, or proposals from being written. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skilld.doctor.values import Blocked, Check, Verdict
from skilld.files import in_shell
from skilld.text import counted
from skilld.types import Cause

_NAMES = {
    Cause.TRANSCRIPT: "transcript",
    Cause.REPOSITORY: "repository",
    Cause.SKILL: "skill",
    Cause.ANSWER: "answer",
}
_PLURAL = {"transcript": "transcripts", "repository": "repositories", "skill": "skills", "answer": "answers"}
_AGAIN = "at once: skilld retry"
# What a skill's file may be told of (skilld.skills.find), and what to do about it.
_SKILL_REMEDIES = {
    "read-only": "chmod u+w {place}",
    "belongs to another user": 'sudo chown "$USER" {place}',
    "cannot be read": "chmod u+r {place}",
    "several hard links": "cp {place} {place}.new && mv {place}.new {place}",
}


def blocked(found: Sequence[Blocked]) -> list[Check]:
    """Return one check for each thing that stands in the way, and one for each kind of which there is none."""
    checks = []
    for cause, name in _NAMES.items():
        mine = [one for one in found if one.cause == cause]
        if not mine:
            checks.append(Check(_PLURAL[name], Verdict.OK, "none keeps skilld from its work"))
        for number, one in enumerate(mine, 1):
            title = _PLURAL[name] if len(mine) == 1 else f"{name} {number}"
            checks.append(Check(title, Verdict.WARN, _detail(one), _remedy(one)))
    return checks


def _detail(one: Blocked) -> str:
    told = one.detail if one.place in one.detail else f"{one.place}: {one.detail}"
    waiting = counted(one.batches, "batch", "batches")
    state = f"{waiting} waiting for it" if one.waits else f"{waiting} held up by it"
    if one.cause == Cause.TRANSCRIPT and not one.waits:
        state = f"{waiting} given up after a day"
    return f"{told}; {state}; {counted(one.kept, 'learning')} kept"


def _remedy(one: Blocked) -> str:
    if one.cause == Cause.TRANSCRIPT:
        return f"Put it back; it is tried again by itself, {_AGAIN}" if one.waits else "Put it back, then: skilld retry"
    if one.cause == Cause.ANSWER:
        return "To have the model asked again: skilld retry"
    if one.remedy:
        return one.remedy
    for words, remedy in _SKILL_REMEDIES.items() if one.cause == Cause.SKILL else ():
        if words in one.detail:
            return remedy.format(place=in_shell(Path(one.place)))
    return f"Remove the cause. It is looked at again by itself; {_AGAIN}"
