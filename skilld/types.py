"""The values that flow between the stages, in the words of the glossary in docs/architecture.md.

Imports nothing else of skilld but `values`. Nothing here changes: a stage takes values and returns new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, field, replace
from enum import StrEnum
from typing import Any

from skilld.values import value_class

# What an adapter reads from a transcript: lines with their positions, and the events of a session.


@value_class
class RawLine:
    """One complete line of a transcript: its bytes without the newline, and its position in the file.

    `end` is the offset just after the newline, so for consecutive lines a.end == b.start.
    """

    start: int
    end: int
    data: bytes


@value_class
class Span:
    """Bytes [start, end) of one transcript file."""

    start: int
    end: int


class How(StrEnum):
    """How a person said something. The format pages of the agents describe each carrier."""

    TYPED = "typed"
    QUEUED = "queued"  # typed while the agent was busy, delivered later or during a turn
    COMMAND = "command"  # the typed arguments of a slash command or skill
    REJECTION = "rejection"  # the note typed when refusing a tool call
    APPROVAL = "approval"  # the comment typed when allowing one
    ANSWER = "answer"  # a free answer to the agent's question, not a selected one


@value_class
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


@value_class
class Reply:
    """Text the agent wrote to the person (no reasoning, no tool input, no tool output): context, never evidence."""

    session_id: str
    text: str
    at: str | None
    span: Span


@value_class
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


@value_class
class SessionEnd:
    """The log records the end of the session (many logs never do, and idleness decides)."""

    session_id: str
    span: Span


@value_class
class SessionStart:
    """The log records that the person began this session; nothing may have been typed in it yet."""

    session_id: str
    span: Span
    cwd: str | None = None


@value_class
class Ignored:
    """A record that looks like human words but is not; `reason` is a short stable word, counted by `inspect`."""

    reason: str
    span: Span


@value_class
class Malformed:
    """A line that could not be read as a record. Counted, never fatal."""

    span: Span


class ToolOutcome(StrEnum):
    """How a tool call ended, according to its log."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"  # by the person or one of their rules
    INTERRUPTED = "interrupted"  # stopped before it ended
    UNKNOWN = "unknown"


@value_class
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


@value_class
class ToolResult:
    """How the call `call_id` ended. A mirror may repeat it; an outcome other than OK then holds."""

    session_id: str
    call_id: str
    outcome: ToolOutcome
    at: str | None
    span: Span


# Only readers of whole transcripts ask for tool events.
Event = Turn | Reply | SkillUse | SessionStart | SessionEnd | Ignored | Malformed
ToolEvent = ToolCall | ToolResult
OBSERVED_TURN = 0  # the `turn` of an `Update` that nobody said: its `quote` was observed, and `reason` says where


# Judging: messages, skills as shown to a model, updates, usage and outcomes.


class ClosedBy(StrEnum):
    """Why a batch was closed."""

    FULL = "full"  # the set number of new human turns was reached
    IDLE = "idle"
    ENDED = "ended"
    EDITED = "edited"  # no turns: the person edited the lines of a proposal, which is remade


class TargetKind(StrEnum):
    """The kind of file that an edit goes to."""

    SKILL = "skill"
    INSTRUCTIONS = "instructions"  # CLAUDE.md, AGENTS.md and the like in a project
    RULES = "rules"  # a file of rules, possibly loaded only for some paths
    PERSONAL = "personal"  # the person's own instructions, for all projects
    EVALS = "evals"  # evaluation cases next to a skill; no agent follows them


@value_class
class SkillRef:
    """A checked file that an edit may go to: a skill in use, or another file that agents load.

    `path` is the real path, `name` the name for people. `used` has the numbers of turns in a batch after which a skill
    was used. `agents` load a file that is not a skill, `patterns` are the paths for which a rule is loaded. An `absent`
    file would be created, beginning with `front`. One `on_order` is only for words that name it.
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
    """The kind of lasting thing that was said."""

    ADD_STEP = "add_step"
    CHANGE_STEP = "change_step"
    REMOVE_STEP = "remove_step"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    FACT = "fact"


@value_class
class Message:
    """One message of the conversation as the classifier sees it: redacted, in order.

    `turn` numbers the human turns of the batch from 1, as models refer to them; None for the agent's messages. `text`
    is complete: the prompt builder shortens it, but checking a quote needs all of it.
    """

    text: str
    turn: int | None = None
    turn_key: str | None = None
    how: How | None = None

    @property
    def by_person(self) -> bool:
        """Whether a person said it."""
        return self.turn is not None


@value_class
class SkillDoc:
    """A file as shown to the classifier: models refer to it by `number` (from 1); `used` is as in SkillRef.

    With `excerpt` a model sees only the parts related to what was said. `unseen` are lines of the text that the agent
    does not get, such as comments.
    """

    number: int
    name: str
    path: str
    text: str
    used: tuple[int, ...] = ()
    excerpt: bool = False
    unseen: tuple[str, ...] = ()


@value_class
class Update:
    """One lasting thing the person said, and what the skill should say from now on.

    `change` is an instruction in the imperative, one or two sentences. `quote` occurs word for word in human turn
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


@value_class
class Usage:
    """The cost of model calls: tokens, and US dollars if the price is known."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(-other.calls, -other.tokens_in, -other.tokens_out, -other.usd)


class Cause(StrEnum):
    """What prevents a batch from being completed, and may be gone later."""

    TRANSCRIPT = "transcript"  # its words cannot be read
    REPOSITORY = "repository"  # the proposal cannot be staged there
    SKILL = "skill"  # the skill in use cannot be edited
    FOLDER = "folder"  # the session's folder is away
    ANSWER = "answer"  # the model's answer could not be used
    JUDGE = "judge"  # it cannot be asked as it is set up: its key, the name of the model
    PROCESS = "process"  # the worker was killed, or could not be started


class Outcome(StrEnum):
    """How a worker's job ended. Only RETRY is tried again."""

    PROPOSED = "proposed"
    NOTHING = "nothing"
    REFUSED = "refused"
    RETRY = "retry"
    FAILED = "failed"


# Proposals: bounded operations on a file, the proposal with its evidence, and its state.


class Op(StrEnum):
    """What an edit may do. A model's reply has `BODY_OPS` and `SECTION_OPS`; only code makes the last two."""

    INSERT_AFTER = "insert_after"
    REPLACE = "replace"
    DELETE = "delete"
    REPLACE_SECTION = "replace_section"
    DELETE_SECTION = "delete_section"
    CREATE = "create"
    MARK = "mark"


BODY_OPS = (Op.INSERT_AFTER, Op.REPLACE, Op.DELETE)
SECTION_OPS = (Op.REPLACE_SECTION, Op.DELETE_SECTION)
BY_HEADING_FLAG = "it removes or rewrites everything under a heading"  # ": " and the heading follow


@value_class
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
    """The state of a proposal."""

    OPEN = "open"
    DROPPED = "dropped"  # removed from the staging branch by the person: rejected after a day, unless restored
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVERTED = "reverted"
    SUPERSEDED = "superseded"
    STALE = "stale"
    SAID = "said"  # no edit: a file that the agent loads already says it; `note` says where


@value_class
class Evidence:
    """Whose words justify an edit: the turn's key and its supporting quote, redacted."""

    turn: str
    quote: str


@value_class
class ContradictingLine:
    """A line of a file that the agent loads too and that says the opposite of a proposal.

    `text` is redacted. `whose` describes a file whose words must not be quoted: "your personal CLAUDE.md".
    """

    path: str
    line: int
    text: str
    whose: str = ""


@value_class
class SideEdit:
    """What a proposal changes in a second file of its repository that says the opposite, if it still does."""

    path: str
    operations: tuple[Operation, ...]
    relpath: str = ""


@value_class(kw_only=True)
class Proposal:
    """An edit committed on the staging branch, as the store keeps it.

    `path` is the real path of the file that it edits, `target` its kind, `skill` its name: a skill's, or the file's.
    `agents` are those that load a file that is no skill. Known once it is staged: `repo`, the top level of the work
    tree; `relpath`, the file below it with forward slashes; `base`, the commit the staging branch rested on (while it
    waits: on which it was made); `commit`, its own (it changes when the branch is rebuilt; `id` never does).
    `operations` are what an accept or a rebuild applies again by their anchors. `updates` are what they say, each with
    the quote that justifies it: empty in one that was made by an older version, without a back-end, or that has lines
    of the person's own. Times are RFC 3339 in UTC. `note` is a short remark for the person, `landed` the commit by
    which an accepted proposal came in, where that is known. `conflicts` are lines that say the opposite elsewhere:
    `also` changes those of the same repository along with it, and the proposals with the ids in `linked` change others.
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
        """Whether it creates the skill."""
        return any(operation.op is Op.CREATE for operation in self.operations)


# Changes of proposals after a branch was read or written, sent from a worker to the store.


@value_class
class CommitChange:
    """A proposal has a new commit, and another edit if there are `operations`.

    `flags` has the new form of those that are no longer true as they were; an empty note keeps the old one.
    """

    proposal: str
    commit: str
    base: str
    operations: tuple[Operation, ...] = ()
    note: str = ""
    flags: Mapping[str, str] = field(default_factory=dict)

    def apply(self, proposal: Proposal) -> Proposal:
        """Return the proposal as it is now."""
        flags = tuple(dict.fromkeys(self.flags.get(flag, flag) for flag in proposal.flags))
        operations, note = self.operations or proposal.operations, self.note or proposal.note
        return replace(proposal, commit=self.commit, base=self.base, operations=operations, note=note, flags=flags)


@value_class
class StateChange:
    """A proposal changed its state from `before`; only valid if it is still in that state."""

    proposal: str
    before: State
    after: State
    commit: str = ""
    note: str = ""


@value_class
class AutoApply:
    """A proposal was applied automatically."""

    proposal: str
    commit: str


@value_class(kw_only=True)
class Changes:
    """All changes of proposals; `remade` are those with another edit for the same words.

    `rests` has the warning about each repository's base by its address, "" if there is none.
    """

    moved: tuple[CommitChange, ...] = ()
    decisions: tuple[StateChange, ...] = ()
    applied: tuple[AutoApply, ...] = ()
    remade: tuple[Proposal, ...] = ()
    rests: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
