"""The values that flow between the stages, in the words of the glossary in docs/architecture.md.

Imports nothing of skilld. Everything here is frozen: a stage takes values and returns new ones.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class RawLine:
    """One complete line of a transcript: its bytes without the newline, and where it stands in the file.

    `end` is the offset just behind the newline, so consecutive lines meet: a.end == b.start.
    """

    start: int
    end: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes [start, end) of one transcript file."""

    start: int
    end: int


class How(StrEnum):
    """How a person said it. Each value is a carrier that the format pages of the agents describe."""

    TYPED = "typed"
    QUEUED = "queued"  # typed while the agent was busy, delivered later or in mid-turn
    COMMAND = "command"  # the typed arguments of a slash command or skill
    REJECTION = "rejection"  # the note typed when refusing a tool call
    APPROVAL = "approval"  # the comment typed when allowing one
    ANSWER = "answer"  # a free answer to the agent's question, not a picked one


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing a person said in a main-thread interactive session.

    `key` is the same in every copy of the turn (forked or resumed files), so that it counts once: agent name, colon,
    native message id. `text` is exactly what was typed. `at` is RFC 3339 in UTC, or None where the log has no time.
    `span` holds the record that carries the text.
    """

    key: str
    agent: str
    session_id: str
    text: str
    at: str | None
    how: How
    span: Span
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Text the agent wrote to the person (no reasoning, no tool input, no tool output): context, never evidence."""

    session_id: str
    text: str
    at: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class SkillUse:
    """A skill's instructions entered the conversation. Never made from a mere listing of available skills.

    `path` is the SKILL.md as the log names it (unchecked: a claim), or None where the log has only the name.
    """

    session_id: str
    name: str
    path: str | None
    at: str | None
    span: Span
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The log says that the session is over (many logs never say so; idleness decides then)."""

    session_id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Ignored:
    """A record that looks like human words and is not; `reason` is a short stable word, counted by `inspect`."""

    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that could not be read as a record. Counted, never fatal."""

    span: Span


Event = Turn | Reply | SkillUse | SessionEnd | Ignored | Malformed


class ClosedBy(StrEnum):
    """Why a batch was closed."""

    FULL = "full"  # the set number of new human turns was reached
    IDLE = "idle"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class SkillRef:
    """A skill in use, its file checked: `path` is the real one. `used` says after how many turns of a batch it was."""

    name: str
    path: str
    used: tuple[int, ...] = ()


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
    """A skill as it is shown to the classifier: `number` (from 1) is how a model names it; `used` as in SkillRef."""

    number: int
    name: str
    path: str
    text: str
    used: tuple[int, ...] = ()


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


class Op(StrEnum):
    """What an edit may do: three things to the body of a skill, and two that only code makes, never a model's reply."""

    INSERT_AFTER = "insert_after"
    REPLACE = "replace"
    DELETE = "delete"
    CREATE = "create"
    MARK = "mark"


BODY_OPS = (Op.INSERT_AFTER, Op.REPLACE, Op.DELETE)


@dataclass(frozen=True, slots=True)
class Operation:
    """One bounded change of a SKILL.md.

    `anchor` is one or more whole lines, exact, and must occur once: insert_after puts `text` below it, replace in its
    place, delete removes it. Lines are joined by a bare newline, whatever the file uses. create makes the whole file of
    `text`; mark sets the key `anchor` (`skilld-...`) of the front matter's metadata to `text`, an empty one removes it.
    """

    op: Op
    anchor: str
    text: str = ""


class State(StrEnum):
    """Where a proposal stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVERTED = "reverted"
    SUPERSEDED = "superseded"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whose words justify an edit: the turn's key and its supporting quote, redacted."""

    turn: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An edit committed on the staging branch, as the store keeps it.

    `path` is the real path of the SKILL.md. Known once it is staged: `repo`, the top level of the work tree; `relpath`,
    the file below it with forward slashes; `base`, the commit the staging branch rested on; `commit`, its own
    (it changes when the branch is rebuilt; `id` never does). `operations` are what an accept or a rebuild applies again
    by their anchors. Times are RFC 3339 in UTC. `note` is a short remark for the person, `landed` the commit by which
    an accepted proposal came in, where that is known.
    """

    id: str
    batch_id: str
    state: State
    skill: str
    path: str
    repo: str = ""
    relpath: str = ""
    base: str = ""
    commit: str = ""
    branch: str = ""
    operations: tuple[Operation, ...]
    summary: str
    reason: str
    kind: Kind
    evidence: tuple[Evidence, ...]
    confidence: float
    agent: str
    session_id: str
    model: str
    created_at: str
    flags: tuple[str, ...] = ()
    note: str = ""
    landed: str = ""
    decided_at: str = ""

    @property
    def creates(self) -> bool:
        """Whether it makes the skill itself."""
        return any(operation.op is Op.CREATE for operation in self.operations)


class Outcome(StrEnum):
    """How a worker's job ended. Only RETRY is tried again."""

    PROPOSED = "proposed"
    NOTHING = "nothing"
    REFUSED = "refused"
    RETRY = "retry"
    FAILED = "failed"
