"""The same thing said several times is one ask. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skilld.memory.confidence import Piece
from skilld.words import content_stems

# Share of common stems from which on two instructions are taken for one. Two that differ in what they are about
# ("use pnpm" and "use yarn") share too little; the same in other words shares more (tests/unit/test_memory.py).
SAME = 0.6


@dataclass(frozen=True, slots=True)
class Said:
    """One time that somebody said something lasting.

    `kind` is learning or proposal and `id` the row's; `skill` and `path` name the skill it is about, if any; `accepted`
    is None where nobody decided.
    """

    kind: str
    id: str
    text: str
    quote: str
    skill: str
    path: str
    project: str
    piece: Piece
    accepted: bool | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What was said once or several times; the newest stands first."""

    said: tuple[Said, ...]

    @property
    def text(self) -> str:
        """The newest wording."""
        return self.said[0].text

    @property
    def pieces(self) -> list[Piece]:
        """When, and by which session, it was said."""
        return [one.piece for one in self.said]


def same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two instructions with these stems are one ask."""
    together = len(one | other)
    return bool(together) and len(one & other) / together >= SAME


def asks(said: Iterable[Said]) -> list[Ask]:
    """Return what was said as asks, the newest first."""
    groups: list[tuple[frozenset[str], list[Said]]] = []
    by_stem: dict[str, list[int]] = {}
    for one in sorted(said, key=lambda each: -each.piece.at):
        stems = content_stems(one.text)
        near = {number for stem in stems for number in by_stem.get(stem, ())}
        found = next((number for number in sorted(near) if same(stems, groups[number][0])), None)
        if found is not None:
            groups[found][1].append(one)
            continue
        for stem in stems:
            by_stem.setdefault(stem, []).append(len(groups))
        groups.append((stems, [one]))
    return [Ask(tuple(group)) for _, group in groups]
