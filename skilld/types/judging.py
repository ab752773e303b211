"""What is judged and what comes of it: messages, skills as they are shown, updates, what it cost and how it ended."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum

from skilld.types.events import How


class ClosedBy(StrEnum):
    """Why a batch was closed."""

    FULL = "full"  # the set number of new human turns was reached
    IDLE = "idle"
    ENDED = "ended"
    EDITED = "edited"  # no turns: the person edited the lines that a proposal was made for, and it is made anew


class TargetKind(StrEnum):
    """What sort of file an edit goes to."""

    SKILL = "skill"
    INSTRUCTIONS = "instructions"  # CLAUDE.md, AGENTS.md and the like in a project
    RULES = "rules"  # a file of rules, which patterns of paths may bring in
    PERSONAL = "personal"  # the person's own instructions, for all projects


@dataclass(frozen=True, slots=True)
class SkillRef:
    """A file that an edit may go to, checked: a skill in use, or another one that agents load.

    `path` is the real one, `name` what people call it. `used` says after how many turns of a batch a skill was.
    `agents` are those that load a file that is no skill. One that is `absent` would be made.
    """

    name: str
    path: str
    used: tuple[int, ...] = ()
    kind: TargetKind = TargetKind.SKILL
    agents: tuple[str, ...] = ()
    absent: bool = False


class Kind(StrEnum):
    """What sort of lasting thing was said (the label guide's five, and removal)."""

    ADD_STEP = "add_step"
    CHANGE_STEP = "change_step"
    REMOVE_STEP = "remove_step"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation as the classifier sees it: redacted, in order.

    `turn` numbers the human turns of the batch from 1, as a model names its evidence; None for the agent's messages.
    `text` is whole: cutting it is the prompt builder's work, checking a quote needs it all.
    """

    text: str
    turn: int | None = None
    turn_key: str | None = None
    how: How | None = None

    @property
    def by_person(self) -> bool:
        """Whether a person said it."""
        return self.turn is not None


@dataclass(frozen=True, slots=True)
class SkillDoc:
    """A file as it is shown to the classifier: `number` (from 1) is how a model names it; `used` as in SkillRef.

    Of one with `excerpt` a model is shown no more than has to do with what was said.
    """

    number: int
    name: str
    path: str
    text: str
    used: tuple[int, ...] = ()
    excerpt: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """One lasting thing the person said, and what the skill should say from now on.

    `change` is an instruction in the imperative, one or two sentences. `quote` stands word for word in human turn
    `turn` (white space folded). `skill` is a SkillDoc number, None where none was in use. `confidence` is 0 to 1.
    """

    skill: int | None
    section: str
    change: str
    reason: str
    kind: Kind
    turn: int
    quote: str
    confidence: float = 0.5


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls cost: tokens, and US dollars where a price is known."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(-other.calls, -other.tokens_in, -other.tokens_out, -other.usd)


class Cause(StrEnum):
    """What keeps a batch from its end, or from all that could come of it, and may be gone later."""

    TRANSCRIPT = "transcript"  # its words cannot be read
    REPOSITORY = "repository"  # the proposal cannot be put there
    SKILL = "skill"  # the skill in use cannot be edited
    ANSWER = "answer"  # the model's answer could not be used
    PROCESS = "process"  # the worker was killed, or could not be started


class Outcome(StrEnum):
    """How a worker's job ended. Only RETRY is tried again."""

    PROPOSED = "proposed"
    NOTHING = "nothing"
    REFUSED = "refused"
    RETRY = "retry"
    FAILED = "failed"
