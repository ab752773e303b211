"""Facts told of a project since its domain skill was accepted, as an edit of that skill. Pure.

The skill's bytes and asks enter; operations leave, one bullet for each fact in the section of its sort, and the asks
behind them. A fact that the skill says already, or that the linter refuses, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from skilld.classify.offline.said import says_already
from skilld.edit.lint import Severity, gravest, lint
from skilld.edit.operations import apply
from skilld.edit.place import insert_bullet
from skilld.errors import SkilldError
from skilld.memory.asks import Ask
from skilld.mine.domain import fact_line, section
from skilld.types import Operation

MOST = 10  # facts at once: more are not reviewed well


@dataclass(frozen=True, slots=True)
class Addition:
    """What a skill is to say besides, the file as it would be, and what a person should look at."""

    data: bytes
    asks: tuple[Ask, ...] = ()
    operations: tuple[Operation, ...] = ()
    flags: tuple[str, ...] = ()


def addition(skill: bytes, asks: Iterable[Ask], redact: Callable[[str], str]) -> Addition:
    """Return the edit of `skill` for these facts, at most MOST; without operations where there is nothing to add.

    Raises SkilldError where the skill cannot be parsed.
    """
    made = Addition(skill)
    for ask in asks:
        said = fact_line(ask.text)
        if len(made.asks) == MOST or redact(said) != said or says_already(said, made.data.decode("utf-8", "replace")):
            continue
        operation = insert_bullet(made.data, section(ask.text), said)
        try:
            after = apply(made.data, [operation])
        except SkilldError:  # a bound of the file, or of an edit, would be passed
            continue
        findings = lint(made.data, after, "\n".join(one.quote for one in ask.said))
        if gravest(findings) is Severity.REFUSE:
            continue
        flags = dict.fromkeys((*made.flags, *(one.sentence for one in findings)))
        made = Addition(after, (*made.asks, ask), (*made.operations, operation), tuple(flags))
    return made
