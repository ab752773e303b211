"""How large a file may be for the agents that load it, in the unit each vendor documents. Pure.

Beyond a ceiling, an agent cuts, refuses or warns: an addition that would exceed it waits. Advice is only shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from skilld.values import value_class


class Unit(StrEnum):
    """The unit of a limit."""

    BYTES = "bytes"
    CHARACTERS = "characters"
    LINES = "lines"
    TOKENS = "tokens"


@value_class
class Ceiling:
    """A limit for one file: `effect` is what exceeding it does; unless it `holds`, it is only advice."""

    limit: int
    unit: Unit
    effect: str
    holds: bool = True


_CLAUDE_CODE_CEILINGS = (
    Ceiling(40_000, Unit.CHARACTERS, "Claude Code warns about this every time it starts"),
    Ceiling(200, Unit.LINES, "Claude Code's documentation recommends staying below this", holds=False),
)
INSTRUCTION_CEILINGS: dict[str, tuple[Ceiling, ...]] = {
    "claude-code": _CLAUDE_CODE_CEILINGS,
    "codex": (
        Ceiling(32_768, Unit.BYTES, "Codex cuts off the rest (the limit applies to all project files together)"),
    ),
    "cursor": (Ceiling(500, Unit.LINES, "Cursor's documentation recommends staying below this", holds=False),),
    "copilot-cli": (
        Ceiling(
            4_000,
            Unit.CHARACTERS,
            "Copilot's code review stops reading here, according to its documentation",
            holds=False,
        ),
    ),
}
SKILL_CEILINGS = (
    Ceiling(500, Unit.LINES, "the Agent Skills specification recommends staying below this, and skilld enforces it"),
    Ceiling(5_000, Unit.TOKENS, "the Agent Skills specification recommends staying below this", holds=False),
)


def ceilings(agents: Sequence[str], *, is_skill: bool, tokens: int = 0) -> tuple[Ceiling, ...]:
    """Return the limits for a file that these agents load; `tokens` is the person's own limit, 0 for none."""
    own = (Ceiling(tokens, Unit.TOKENS, "your limits.tokens setting"),) if tokens else ()
    theirs = (
        SKILL_CEILINGS
        if is_skill
        else tuple(dict.fromkeys(one for name in agents for one in INSTRUCTION_CEILINGS.get(name, ())))
    )
    return (*own, *theirs)


def size(text: str, unit: Unit, count: Callable[[str], int]) -> int:
    """Return how large a text is in a unit; `count` counts tokens."""
    match unit:
        case Unit.BYTES:
            return len(text.encode("utf-8", "replace"))
        case Unit.CHARACTERS:
            return len(text)
        case Unit.LINES:
            return len(text.splitlines())
        case Unit.TOKENS:
            return count(text)


def exceeded(text: str, limits: Sequence[Ceiling], count: Callable[[str], int]) -> Iterator[tuple[Ceiling, int]]:
    """Yield the limits that a text exceeds, with its size. Tokens are only counted if there could be too many."""
    for one in limits:
        if one.unit is Unit.TOKENS and len(text.encode("utf-8", "replace")) <= one.limit:
            continue  # a token is at least one byte
        found = size(text, one.unit, count)
        if found > one.limit:
            yield one, found


def excess_reason(before: str, after: str, limits: Sequence[Ceiling], count: Callable[[str], int]) -> str | None:
    """Return which ceiling a file exceeds by growing; None if it exceeds none or shrinks."""
    for one, found in exceeded(after, [one for one in limits if one.holds], count):
        if found > size(before, one.unit, count):
            return f"the file would have {found:,} {one.unit.value} (limit {one.limit:,}): {one.effect}"
    return None
