"""The values that flow between the stages, in the words of the glossary in docs/architecture.md.

Imports nothing else of skilld. Everything here is frozen: a stage takes values and returns new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from typing import Any

# What an adapter reads out of a transcript: lines and their places, and the events of a session.


@dataclass(frozen=True, slots=True)
class RawLine:
    """One complete line of a transcript: its bytes without the newline, and where it is in the file.

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
    native message id. `text` is exactly what was typed. `at` is RFC 3339 in UTC, or None if the log has no time.
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

    `path` is the SKILL.md as the log names it (unchecked: a claim), or None if the log has only the name.
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
class SessionStart:
    """The log says that the person began this session, though nothing may have been typed in it yet."""

    session_id: str
    span: Span
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """A record that looks like human words and is not; `reason` is a short stable word, counted by `inspect`."""

    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that could not be read as a record. Counted, never fatal."""

    span: Span


class ToolOutcome(StrEnum):
    """How a tool call came out, as far as its log tells."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"  # the person or one of their rules did not allow it
    INTERRUPTED = "interrupted"  # it was stopped before it came to its end
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The agent called a tool. Never a turn and never evidence; `input` is cut to a bounded size.

    `call_id` is the log's own; where it has none it is "", or made of the record's place. A record that is written
    again repeats the call under its id.
    """

    session_id: str
    call_id: str
    name: str
    input: Mapping[str, Any]
    at: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ToolResult:
    """How the call `call_id` came out. A mirror may tell it again: what is not OK then holds."""

    session_id: str
    call_id: str
    outcome: ToolOutcome
    at: str | None
    span: Span


# Only readers of whole transcripts ask for tool events.
Event = Turn | Reply | SkillUse | SessionStart | SessionEnd | Ignored | Malformed
ToolEvent = ToolCall | ToolResult
OBSERVED_TURN = 0  # the `turn` of an `Update` that nobody said: its `quote` was done, and `reason` says where


# What is judged and what comes of it: messages, skills as they are shown, updates, what it cost and how it ended.


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
    EVALS = "evals"  # cases that a skill is tested with, beside it: no agent follows them


@dataclass(frozen=True, slots=True)
class SkillRef:
    """A file that an edit may go to, checked: a skill in use, or another one that agents load.

    `path` is the real one, `name` what people call it. `used` says after how many turns of a batch a skill was.
    `agents` are those that load a file that is no skill, `patterns` the paths that bring a rule in. One that is
    `absent` would be made, and begin with `front`. One `on_order` is for words that name it, and no others.
    """

    name: str
    path: str
    used: tuple[int, ...] = ()
    kind: TargetKind = TargetKind.SKILL
    agents: tuple[str, ...] = ()
    absent: bool = False
    patterns: tuple[str, ...] = ()
    front: str = ""
    on_order: bool = False


class Kind(StrEnum):
    """What sort of lasting thing was said."""

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

    Of one with `excerpt` a model is shown no more than has to do with what was said. `unseen` are lines of the text
    that the agent is not sent, such as comments.
    """

    number: int
    name: str
    path: str
    text: str
    used: tuple[int, ...] = ()
    excerpt: bool = False
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """One lasting thing the person said, and what the skill should say from now on.

    `change` is an instruction in the imperative, one or two sentences. `quote` stands word for word in human turn
    `turn` (white space folded). `skill` is a SkillDoc number, None if none was in use. `confidence` is 0 to 1.
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


# What is proposed: bounded operations on a file, the proposal they make with its evidence, and where it stands.


class Op(StrEnum):
    """What an edit may do. A model's reply has `BODY_OPS` and `SECTION_OPS`; code alone makes the last two."""

    INSERT_AFTER = "insert_after"
    REPLACE = "replace"
    DELETE = "delete"
    REPLACE_SECTION = "replace_section"
    DELETE_SECTION = "delete_section"
    CREATE = "create"
    MARK = "mark"


BODY_OPS = (Op.INSERT_AFTER, Op.REPLACE, Op.DELETE)
SECTION_OPS = (Op.REPLACE_SECTION, Op.DELETE_SECTION)


@dataclass(frozen=True, slots=True)
class Operation:
    """One bounded change of a SKILL.md.

    `anchor` is one or more whole lines, exact, and must occur once: insert_after puts `text` below it, replace in its
    place, delete removes it. Lines are joined by a bare newline, whatever the file uses. create makes the whole file of
    `text`, a skill where `anchor` is empty; mark sets the key `anchor` (`skilld-...`) of the front matter's metadata to
    `text`, an empty one removes it.
    """

    op: Op
    anchor: str
    text: str = ""


class State(StrEnum):
    """Where a proposal stands."""

    OPEN = "open"
    DROPPED = "dropped"  # taken off the staging branch by the person: a rejection after a day, unless it is restored
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVERTED = "reverted"
    SUPERSEDED = "superseded"
    STALE = "stale"
    SAID = "said"  # no edit: a file that the agent loads says it already, and `note` says where


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whose words justify an edit: the turn's key and its supporting quote, redacted."""

    turn: str
    quote: str


@dataclass(frozen=True, slots=True)
class ContradictingLine:
    """A line of a file that the agent loads too and that says the opposite of a proposal.

    `text` is redacted. `whose` names the file where its words must not be quoted: "your personal CLAUDE.md".
    """

    path: str
    line: int
    text: str
    whose: str = ""


@dataclass(frozen=True, slots=True)
class SideEdit:
    """What a proposal changes in a second file of its repository that says the opposite, if its lines still stand."""

    path: str
    operations: tuple[Operation, ...]
    relpath: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An edit committed on the staging branch, as the store keeps it.

    `path` is the real path of the file that it edits, `target` its kind, `skill` its name: a skill's, or the file's.
    `agents` are those that load a file that is no skill. Known once it is staged: `repo`, the top level of the work
    tree; `relpath`, the file below it with forward slashes; `base`, the commit the staging branch rested on (while it
    waits: on which it was made); `commit`, its own (it changes when the branch is rebuilt; `id` never does).
    `operations` are what an accept or a rebuild applies again by their anchors. `updates` are what they say, each with
    the quote that justifies it: empty in one that was made by an older version, without a back-end, or reworded by the
    person. Times are RFC 3339 in UTC. `note` is a short remark for the person, `landed` the commit by which an accepted
    proposal came in, where that is known. `conflicts` are lines that say the opposite elsewhere: `also` changes those
    of the same repository along with it, and the proposals with the ids in `linked` change others.
    """

    id: str
    batch_id: str
    state: State = State.OPEN
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
    evidence: tuple[Evidence, ...] = ()
    confidence: float
    agent: str = ""
    session_id: str = ""
    model: str
    created_at: str
    flags: tuple[str, ...] = ()
    note: str = ""
    landed: str = ""
    decided_at: str = ""
    updates: tuple[Update, ...] = ()
    target: TargetKind = TargetKind.SKILL
    agents: tuple[str, ...] = ()
    conflicts: tuple[ContradictingLine, ...] = ()
    also: tuple[SideEdit, ...] = ()
    linked: tuple[str, ...] = ()

    @property
    def creates(self) -> bool:
        """Whether it makes the skill itself."""
        return any(operation.op is Op.CREATE for operation in self.operations)


# Proposal outcomes when a branch was read or written: values that go from a worker to the store.


@dataclass(frozen=True, slots=True)
class CommitChange:
    """A proposal is another commit now."""

    proposal: str
    commit: str
    base: str


@dataclass(frozen=True, slots=True)
class EditChange:
    """A proposal's edit is made by other operations now."""

    proposal: str
    operations: tuple[Operation, ...]
    note: str


@dataclass(frozen=True, slots=True)
class StateChange:
    """A proposal came to another state from `before`; this holds only where it is still in that one."""

    proposal: str
    before: State
    after: State
    commit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class AutoApply:
    """A proposal was applied unasked."""

    proposal: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Proposal outcomes that were there, `remade` with another edit for the same words.

    `rests` has the warning about each repository's base by its address, empty if there is nothing to warn of.
    """

    moved: tuple[CommitChange, ...] = ()
    refitted: tuple[EditChange, ...] = ()
    decisions: tuple[StateChange, ...] = ()
    applied: tuple[AutoApply, ...] = ()
    remade: tuple[Proposal, ...] = ()
    rests: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AddressChange:
    """A proposal's repository, and its skill there, have another address now."""

    proposal: str
    repo: str
    path: str
