"""What mining comes to: parts with their evidence, candidates made of them, and what was left out. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skilld.skills.draft import SkillKind
from skilld.types import Kind

REPEATABLE, ROOM, REPEATED = "repeatable", "room to do better", "repeated ask"


class Sort(StrEnum):
    """What a part of a skill is."""

    RULE = "rule"
    PITFALL = "pitfall"  # what went wrong and was corrected
    FACT = "fact"
    REQUEST = "request"  # what the person asks for again and again
    STEP = "step"  # one of several requests that follow each other


@dataclass(frozen=True, slots=True)
class Proof:
    """Where something was said: the session, the turn's key, the person's words."""

    session: str
    turn: str
    quote: str


@dataclass(frozen=True, slots=True)
class Part:
    """One thing for a skill to say. `kind` is what a lasting thing said is, None for requests."""

    sort: Sort
    text: str
    proofs: tuple[Proof, ...]
    kind: Kind | None = None
    confidence: float = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill to extend (`action` is extend, `target` its file) or to create (`target` is the project's folder).

    `kind` is that of a skill to create, None of one that is there; `work` the kind of work it is for. A `description`
    and a `title` (its heading) stand in for those that code drafts.
    """

    name: str
    action: str
    target: str
    kind: SkillKind | None
    dimensions: tuple[str, ...]
    parts: tuple[Part, ...]
    work: str = ""
    description: str = ""
    title: str = ""

    @property
    def changes(self) -> tuple[str, ...]:
        """What the skill is to say."""
        return tuple(part.text for part in self.parts)

    @property
    def evidence(self) -> tuple[Proof, ...]:
        """All of its evidence, once each."""
        return tuple(dict.fromkeys(proof for part in self.parts for proof in part.proofs))

    @property
    def creates(self) -> bool:
        """Whether it is a new skill."""
        return self.action == "create"


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was thought of and not taken, with what it lacked."""

    topic: str
    missed: str


@dataclass(frozen=True, slots=True)
class Doc:
    """Something for a project's standing instructions: it holds for all work there, so no skill is its place."""

    project: str
    text: str
    evidence: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run comes to."""

    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]
    docs: tuple[Doc, ...]
