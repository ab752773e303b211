"""A skill as a row: where it comes from, how often it is used and corrected, when it last changed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.library.uses import NEVER, Uses
from skilld.skills import Skill, Source
from skilld.times import seconds
from skilld.types import Proposal, State

EVOLVING = "evolving"
GROUPS = (EVOLVING, *Source)
PLAIN = "skill"  # the kind of a skill that names none
_LATELY = 30 * 86400.0
_CORRECTIONS = frozenset({State.OPEN, State.DROPPED, State.ACCEPTED, State.REJECTED, State.REVERTED, State.STALE})
_ELSEWHERE = ("codex",)  # agents whose skills are called by a dollar sign


@dataclass(frozen=True, slots=True)
class Shelved:
    """One skill. `group` is its source, or `evolving` where skilld wrote it or has changed it lately.

    `corrections` counts the proposals that its use has led to, whatever became of them; `edited_at` is a Unix time,
    0 where no proposal was ever accepted. `marks` are single words that a list shows beside it.
    """

    skill: Skill
    group: str
    uses: Uses = NEVER
    corrections: int = 0
    edited_at: float = 0.0
    marks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What agents call it."""
        return self.skill.name

    @property
    def path(self) -> Path:
        """The real path of its SKILL.md."""
        return self.skill.path

    @property
    def kind(self) -> str:
        """What kind of skill it says it is."""
        return self.skill.front.metadata.get("skilld-kind") or PLAIN

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags: names with commas or blanks between, as it writes them."""
        return tuple(self.skill.front.metadata.get("skilld-tags", "").replace(",", " ").split())

    @property
    def origins(self) -> int:
        """From how many sessions it was generated; 0 where it was not."""
        return len(self.skill.front.metadata.get("skilld-sessions", "").replace(",", " ").split())

    @property
    def rate(self) -> float:
        """Corrections per use; 0 where it was never used."""
        return self.corrections / self.uses.number if self.uses.number else 0.0

    @property
    def invocation(self) -> str:
        """What a person types to use it."""
        only_elsewhere = all(agent in _ELSEWHERE for agent in self.skill.agents)
        return f"{'$' if only_elsewhere else '/'}{self.name}"


def shelf(
    skills: Sequence[Skill],
    uses: Mapping[Path, Uses],
    proposals: Sequence[Proposal],
    now: float,
    marks: Mapping[Path, tuple[str, ...]] | None = None,
) -> list[Shelved]:
    """Return the skills as rows, by group and name. `uses` and `marks` are by path, `now` is a Unix time."""
    corrections = Counter(proposal.path for proposal in proposals if corrects(proposal))
    landed = [proposal for proposal in proposals if proposal.state is State.ACCEPTED]
    edited = {item.path: seconds(item.decided_at) or 0.0 for item in sorted(landed, key=lambda one: one.decided_at)}
    waiting = {proposal.path for proposal in proposals if proposal.state is State.OPEN}
    rows = []
    for skill in skills:
        path = str(skill.path)
        changes = skill.evolving or path in waiting or now - edited.get(path, 0.0) < _LATELY
        rows.append(
            Shelved(
                skill,
                group=EVOLVING if changes and skill.source is not Source.PLUGIN else skill.source.value,
                uses=uses.get(skill.path, NEVER),
                corrections=corrections[path],
                edited_at=edited.get(path, 0.0),
                marks=(marks or {}).get(skill.path, ()),
            )
        )
    return sorted(rows, key=lambda row: (GROUPS.index(row.group), row.name, row.path))


def corrects(proposal: Proposal) -> bool:
    """Whether a proposal comes of what somebody said of a skill that was there, whatever became of it."""
    return proposal.state in _CORRECTIONS and bool(proposal.evidence) and not proposal.creates


def matches(row: Shelved, words: str) -> bool:
    """Whether every word of a search stands in the skill's name, description, group, tags or path."""
    said = (row.name, row.skill.front.description, row.group, row.kind, *row.tags, str(row.path))
    text = " ".join(said).casefold()
    return all(word in text for word in words.casefold().split())
