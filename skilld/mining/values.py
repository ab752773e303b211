"""What a mining run is asked to do, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from skilld.ingest.discover import Host
from skilld.mining.questions import Estimate, Terms
from skilld.mining.sessions import SessionFilter, Transcript
from skilld.skills import Skill
from skilld.skills.draft import SkillKind
from skilld.store import Store
from skilld.text import counted
from skilld.types import Kind

REPEATABLE, ROOM, REPEATED = "repeatable", "room for improvement", "repeated request"


class Sort(StrEnum):
    """What a part of a skill is."""

    RULE = "rule"
    PITFALL = "pitfall"  # what went wrong and was corrected
    FACT = "fact"
    REQUEST = "request"  # what the person asks for again and again
    COMMAND = "command"  # observed: what ran in several sessions, with variables
    EDIT = "edit"  # observed: a file that was changed in several sessions
    TRAP = "trap"  # observed: what failed and what worked afterwards


OBSERVED = frozenset({Sort.COMMAND, Sort.EDIT, Sort.TRAP})
"""What the log shows that was done. Nobody said it: it is no evidence of what anybody wants."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Where something was said: the session, the turn's key, the person's words.

    `observed`: nobody said it; the turn is the one it was done after, and `quote` the command as it ran.
    """

    session: str
    turn: str
    quote: str
    observed: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One thing for a skill to say. `kind` is what a lasting thing said is, None for requests."""

    sort: Sort
    text: str
    proofs: tuple[Proof, ...]
    kind: Kind | None = None
    confidence: float = 0.5


@dataclass(frozen=True, slots=True)
class Recurrence:
    """What a task is that came again: `request` with `{{variables}}`, what each was, the check at the end.

    `left_out` says why some of what was done stands in no step.
    """

    request: str
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    check: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Savings:
    """What a skill would have saved in the sessions it comes from: corrections, failed calls, tokens; its steps."""

    sessions: int = 0
    corrections: int = 0
    failures: int = 0
    tokens: int = 0
    steps: int = 0

    @property
    def worth(self) -> float:
        """What candidates are ranked by: a correction costs the person a turn, a failure the agent a call."""
        return 3 * self.corrections + self.failures + self.steps / 10

    @property
    def why(self) -> str:
        """One clause for a person."""
        spent = [counted(self.corrections, "correction")] if self.corrections else []
        spent += [counted(self.failures, "failed call")] if self.failures else []
        cost = f", with {' and '.join(spent)}" if spent else f", {counted(self.steps, 'step')} each time"
        return f"done in {counted(self.sessions, 'session')}{cost}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill to extend (`action` is extend, `target` its file) or to create (`target` is the project's folder).

    `kind` is that of a skill to create, None of one that is there; `work` the kind of work it is for. A `description`
    and a `title` (its heading) stand in for those that code drafts. `recurrence` is that of a task that came again.
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
    recurrence: Recurrence | None = None
    saved: Savings = Savings()

    @property
    def changes(self) -> tuple[str, ...]:
        """What the skill is to say."""
        return tuple(part.text for part in self.parts)

    @property
    def evidence(self) -> tuple[Proof, ...]:
        """All that was said for it, once each."""
        return tuple(dict.fromkeys(proof for part in self.parts for proof in part.proofs if not proof.observed))

    @property
    def observed(self) -> tuple[Proof, ...]:
        """All that was done, as the log shows, once each."""
        return tuple(dict.fromkeys(proof for part in self.parts for proof in part.proofs if proof.observed))

    @property
    def creates(self) -> bool:
        """Whether it is a new skill."""
        return self.action == "create"


@dataclass(frozen=True, slots=True)
class RejectedCandidate:
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
    rejected: tuple[RejectedCandidate, ...]
    docs: tuple[Doc, ...]


# What a run of mining is asked to do, what it works with, and what it asks of whoever started it.

Edit = Callable[[str], str]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked to do. `gather` are projects whose facts become a skill of their own."""

    transcripts: Sequence[Transcript]
    wanted: SessionFilter
    kind: SkillKind | None = None
    name: str = ""
    gather: Sequence[Path] = ()
    dry_run: bool = False
    create_new: bool = False  # though there is a skill like it


@dataclass(frozen=True, slots=True)
class World:
    """What a run works with. `skills` gives the skills of some projects and of the person."""

    store: Store
    terms: Terms
    around: Host
    redact: Callable[[str], str]
    skills: Callable[[Sequence[Path]], list[Skill]]


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a run asks of whoever started it.

    `agree` is told what the questions will take, and can ask what that is in dollars (None: nobody knows), which takes
    seconds; without a yes none is asked.
    `edit` gets the text of a new skill and returns what is to be proposed. `progress` is told of long work.
    """

    agree: Callable[[Estimate, Callable[[], float | None]], bool]
    edit: Edit
    progress: Progress
