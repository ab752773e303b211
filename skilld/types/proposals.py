"""What is proposed: bounded operations on a file, the proposal they make with its evidence, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skilld.types.judging import Kind, TargetKind, Update


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An edit committed on the staging branch, as the store keeps it.

    `path` is the real path of the file that it edits, `target` its kind, `skill` its name: a skill's, or the file's.
    `agents` are those that load a file that is no skill. Known once it is staged: `repo`, the top level of the work
    tree; `relpath`, the file below it with forward slashes; `base`, the commit the staging branch rested on (while it
    waits: on which it was made); `commit`, its own (it changes when the branch is rebuilt; `id` never does).
    `operations` are what an accept or a rebuild applies again by their anchors. `updates` are what they say, each with
    the quote that justifies it: empty in one that was made by an older version, without a back-end, or changed by the
    person. Times are RFC 3339 in UTC. `note` is a short remark for the person, `landed` the commit by which an accepted
    proposal came in, where that is known.
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
    updates: tuple[Update, ...] = ()
    target: TargetKind = TargetKind.SKILL
    agents: tuple[str, ...] = ()

    @property
    def creates(self) -> bool:
        """Whether it makes the skill itself."""
        return any(operation.op is Op.CREATE for operation in self.operations)
