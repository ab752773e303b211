"""Proposals and the decisions about them. Decisions are only added, never changed."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import astuple, fields, replace
from typing import Any

from skilld.clock import parse_time
from skilld.store.batches import REMAKE_PREFIX
from skilld.store.connection import Table
from skilld.types import (
    CommitChange,
    ContradictingLine,
    Evidence,
    Kind,
    Op,
    Operation,
    Proposal,
    SideEdit,
    State,
    TargetKind,
    Update,
)

TAKEN_BACK_PREFIX = "you may have taken this back since: "  # of a flag; the words follow
SAID_ELSEWHERE_PREFIX = "you said it to "  # of a flag; the agents follow, and the one that the proposal is meant for
_TWIN_PATTERN = re.compile(r"the \w+ proposal (?P<id>\w+) asks for the same in (?P<where>.*?)(?:, which has it now)?")

UNWANTED_STATES = (State.REJECTED, State.REVERTED, State.DROPPED)
MAYBE_AGENTS_PREFIX = "git, maybe "  # followed by the agents that were at work there when plain git decided

_COLUMNS = tuple(field.name for field in fields(Proposal))
_COLUMN_LIST = ", ".join(f'"{name}"' for name in _COLUMNS)
_REOPENING_SECONDS = 5.0
_NEWEST_DECISION = "FROM decisions WHERE proposal_id = ? ORDER BY id DESC LIMIT 1"
# `one` was taken out by the commit of `other`, which the person accepted.
_REPLACED = """FROM proposals AS one JOIN decisions AS mine ON mine.proposal_id = one.id
               JOIN decisions AS other ON other."commit" = mine."commit" AND other.proposal_id != one.id
               WHERE one.state = 'reverted' AND mine.who LIKE 'git%' AND mine."commit" != ''
               AND mine.id = (SELECT max(id) FROM decisions WHERE proposal_id = one.id)
               AND other.after = 'accepted' AND other.who = 'command'"""
OTHER_MACHINE = "another machine"  # decided there: no file was changed here


FORGOTTEN = "(its words were forgotten)"


def twin_flag(proposal_id: str, where: str, state: State = State.OPEN, *, here: bool = True) -> str:
    """Return the flag of a proposal that another one, decided on `here` if at all, asks for the same elsewhere."""
    now = ", which has it now" if state is State.ACCEPTED and here else ""
    return f"the {state.value} proposal {proposal_id} asks for the same in {where}{now}"


class Proposals(Table):
    """The tables of proposals and decisions."""

    def _mark_changed(self) -> None:
        if self._db.waiting is not None:
            self._db.waiting.changed = True

    def add(self, proposal: Proposal) -> bool:
        """Add a proposal; False if its id exists (the same batch was processed twice)."""
        marks = ", ".join("?" for _ in _COLUMNS)
        self._mark_changed()
        values = [_to_row(name, getattr(proposal, name)) for name in _COLUMNS]
        added = self._db.execute(f"INSERT OR IGNORE INTO proposals ({_COLUMN_LIST}) VALUES ({marks})", values)  # noqa: S608 - fixed names
        return added.rowcount > 0

    def get(self, proposal_id: str) -> Proposal | None:
        """Return the proposal with this id."""
        row = self._db.execute(f"SELECT {_COLUMN_LIST} FROM proposals WHERE id = ?", (proposal_id,)).fetchone()  # noqa: S608 - fixed names
        return None if row is None else _from_row(row)

    def find(self, prefix: str) -> list[Proposal]:
        """Return those whose id, commit or landed commit begins with `prefix` (as people type ids)."""
        begins = " OR ".join(f'substr("{name}", 1, :length) = :prefix' for name in ("id", "commit", "landed"))
        given = {"length": len(prefix), "prefix": prefix}
        rows = self._db.execute(f"SELECT {_COLUMN_LIST} FROM proposals WHERE {begins}", given)  # noqa: S608 - fixed names
        return [_from_row(row) for row in rows]

    def in_states(self, states: Sequence[State], repo: str | None = None) -> list[Proposal]:
        """Return those in one of `states` (of one repository, if given), oldest first."""
        marks = ", ".join("?" for _ in states)
        where = f"state IN ({marks})" + (" AND repo = ?" if repo is not None else "")
        values = [state.value for state in states] + ([repo] if repo is not None else [])
        query = f"SELECT {_COLUMN_LIST} FROM proposals WHERE {where} ORDER BY created_at, rowid"  # noqa: S608 - fixed names
        return [_from_row(row) for row in self._db.execute(query, values)]

    def all(self) -> list[Proposal]:
        """Return every one, oldest first."""
        return self.in_states([*State])

    def open(self) -> list[Proposal]:
        """Return the open ones, oldest first."""
        return self.in_states([State.OPEN])

    def accepted(self) -> list[Proposal]:
        """Return the accepted ones, oldest first."""
        return self.in_states([State.ACCEPTED])

    def ids(self, state: State) -> list[str]:
        """Return the ids of those in `state`, oldest first."""
        return self._column("SELECT id FROM proposals WHERE state = ? ORDER BY created_at, rowid", state.value)

    def closed_ids(self) -> dict[str, float]:
        """Return the ids of the proposals decided last: git need not keep their commits from before these times.

        The time is now, or up to five seconds ago if the decision is older: the person may be reopening one, which is
        back on its branch before that is recorded.

        A proposal that is being remade is left out: it may be back on its branch before that is recorded.
        """
        rows = self._db.execute(
            """SELECT id, decided_at FROM proposals WHERE state NOT IN ('open', 'dropped', 'said')
               AND NOT (state = 'stale' AND EXISTS (
               SELECT 1 FROM batches WHERE batches.id = ? || proposals.id AND batches.state IN ('pending', 'running')))
               ORDER BY decided_at DESC LIMIT 500""",
            (REMAKE_PREFIX,),
        )
        now, decided = time.time(), {row["id"]: parse_time(row["decided_at"]) or 0.0 for row in rows}
        return {name: min(now, max(at + 1, now - _REOPENING_SECONDS)) for name, at in decided.items()}

    def count(self, state: State) -> int:
        """Return how many are in `state`."""
        return int(self._first("SELECT count(*) FROM proposals WHERE state = ?", state.value))

    def newest_at(self) -> str:
        """Return when the newest was created (RFC 3339), "" if there is none."""
        return self._first("SELECT max(created_at) FROM proposals WHERE state != ?", State.SAID.value) or ""

    def decide(
        self, proposal: Proposal, after: State, at: str, *, who: str, why: str = "", commit: str = "", note: str = ""
    ) -> None:
        """Record that `who` (command, git, or `MAYBE_AGENTS_PREFIX` and agents) put it in state `after` at `at`.

        `commit` is the one that shows the decision; for an accepted proposal, the one by which it landed.
        """
        self._mark_changed()
        landed = commit if after is State.ACCEPTED else ""
        self._db.execute(
            """UPDATE proposals SET state = ?, landed = CASE WHEN ? = '' THEN landed ELSE ? END, note = ?,
               decided_at = CASE WHEN state = ? THEN decided_at ELSE ? END, missing_since = '' WHERE id = ?""",
            (after.value, landed, landed, note or proposal.note, after.value, at, proposal.id),
        )
        if after is proposal.state:
            return  # only the note is new
        self._db.execute(
            'INSERT INTO decisions (proposal_id, before, after, who, why, "commit", at) VALUES (?, ?, ?, ?, ?, ?, ?)',
            (proposal.id, proposal.state.value, after.value, who, why, commit, at),
        )
        self._tell_twins(proposal.id, after, here=who != OTHER_MACHINE)
        if after is State.ACCEPTED and who != OTHER_MACHINE:
            self._tell_older_twins(proposal.id)

    def _tell_twins(self, decided: str, after: State, *, here: bool) -> None:
        """Bring the flags of the undecided proposals that name a decided one to its present state."""
        rows = self._db.execute(
            "SELECT id, flags FROM proposals WHERE state IN ('open', 'dropped') AND instr(flags, ?)",
            (f" proposal {decided} asks for the same in ",),
        ).fetchall()
        for row in rows:
            flags = json.loads(row["flags"])
            told = [(flag, _TWIN_PATTERN.fullmatch(flag)) for flag in flags]
            now = [
                twin_flag(decided, at["where"], after, here=here) if at and at["id"] == decided else flag
                for flag, at in told
            ]
            self._db.execute("UPDATE proposals SET flags = ? WHERE id = ?", (json.dumps(now), row["id"]))

    def _tell_older_twins(self, accepted: str) -> None:
        """Flag the undecided proposals that an accepted one names: they were made before it, and do not name it."""
        new = self.get(accepted)
        named = (at["id"] for flag in (new.flags if new else ()) if (at := _TWIN_PATTERN.fullmatch(flag)))
        for old in filter(None, map(self.get, named)):
            flags = [flag for flag in old.flags if not ((at := _TWIN_PATTERN.fullmatch(flag)) and at["id"] == accepted)]
            if new and old.state in {State.OPEN, State.DROPPED}:
                told = twin_flag(accepted, new.skill, State.ACCEPTED)
                self._set(replace(old, flags=(*flags, told)), "flags")

    def move(self, change: CommitChange) -> None:
        """Record the proposal's new commit after the staging branch was rebuilt, and its new edit after a refit."""
        proposal = self.get(change.proposal)
        if proposal is not None:
            self._set(change.apply(proposal), "commit", "base", "operations", "note", "flags")

    def set_branch(self, proposal_id: str, branch: str) -> None:
        """Record the branch that it is on now."""
        self._db.execute("UPDATE proposals SET branch = ? WHERE id = ?", (branch, proposal_id))

    def set_repo(self, proposal_id: str, *, repo: str, path: str) -> None:
        """Move it to another work tree of its repository, after its own was removed."""
        self._db.execute("UPDATE proposals SET repo = ?, path = ? WHERE id = ?", (repo, path, proposal_id))

    def set_place(self, moved: Proposal, *, others: bool, but: Collection[str] = ()) -> None:
        """Save its new repository or path, with `others` the path of all other proposals for its file `but` some."""
        known = self.get(moved.id)
        if known is not None and known.relpath != moved.relpath:
            now = moved.path, moved.relpath, known.skill, moved.skill
            self._db.execute(
                "UPDATE proposals SET path = ?, relpath = ?, skill = CASE skill WHEN ? THEN ? ELSE skill END "
                "WHERE repo = ? AND relpath = ? AND (id = ? OR ? AND id NOT IN (SELECT value FROM json_each(?)))",
                (*now, known.repo, known.relpath, moved.id, others, json.dumps([*but])),
            )
        self.set_repo(moved.id, repo=moved.repo, path=moved.path)

    def add_evidence(self, proposal_id: str, evidence: Evidence) -> None:
        """Add that a person said it again, in any session; once for each turn.

        An accepted or superseded proposal stays as it is.
        """
        proposal = self.get(proposal_id)
        if proposal is None or proposal.state not in {State.OPEN, State.DROPPED, State.REJECTED, State.REVERTED}:
            return
        if evidence.turn not in {known.turn for known in proposal.evidence}:
            # Evidence recovered from git does not have the turn's key.
            others = [known for known in proposal.evidence if (known.turn, known.quote) != ("", evidence.quote)]
            told = proposal.agents[:1] == (evidence.turn.partition(":")[0],)
            untrue = (TAKEN_BACK_PREFIX, *((SAID_ELSEWHERE_PREFIX,) if told else ()))
            flags = tuple(flag for flag in proposal.flags if not flag.startswith(untrue))
            self._set(replace(proposal, evidence=(*others, evidence), flags=flags), "evidence", "flags")

    def mark_taken_back(self, proposal_id: str, quote: str) -> None:
        """Flag an open proposal with later words that take it back; once for the same words."""
        proposal = self.get(proposal_id)
        if proposal is not None and proposal.state is State.OPEN:
            flags = (*proposal.flags, f"{TAKEN_BACK_PREFIX}\u201c{quote}\u201d")
            self._set(replace(proposal, flags=tuple(dict.fromkeys(flags))), "flags")

    def save_edit(self, proposal: Proposal) -> None:
        """Save a proposal's new edit and commit; its first commit if it had none."""
        self._set(proposal, "operations", "summary", "commit", "base", "branch", "repo", "relpath", "note", "updates")
        self._set(proposal, "flags", "model", "also", "skill", "path")

    def set_evidence(self, proposal: Proposal) -> None:
        """Save evidence, reason, kind and contradictions of a proposal that was reduced to a part, or restored."""
        self._set(proposal, "evidence", "reason", "kind", "conflicts")

    def _set(self, proposal: Proposal, *names: str) -> None:
        settings = ", ".join(f'"{name}" = ?' for name in names)
        values = [_to_row(name, getattr(proposal, name)) for name in names]
        self._db.execute(f"UPDATE proposals SET {settings} WHERE id = ?", [*values, proposal.id])  # noqa: S608 - fixed names
        if {"summary", "evidence"} & set(names):  # the next search indexes it again (skilld.store.search)
            own = "kind = 'proposal' AND id = ?"
            self._db.execute(f"DELETE FROM said_words WHERE rowid IN (SELECT n FROM said WHERE {own})", (proposal.id,))  # noqa: S608
            self._db.execute(f"DELETE FROM said WHERE {own}", (proposal.id,))  # noqa: S608 - fixed text

    def forget_words(self, proposal: Proposal) -> None:
        """Blank all words of a proposal; call it in a transaction, and `Store.erase_free_space` afterwards."""
        self._mark_changed()
        lists = ("operations", "evidence", "updates", "conflicts", "also", "flags")
        blanked = ", ".join([*(f"{name} = '[]'" for name in lists), "reason = ''", "note = ''"])
        self._db.execute(f"UPDATE proposals SET summary = ?, {blanked} WHERE id = ?", (FORGOTTEN, proposal.id))  # noqa: S608
        self._db.execute("UPDATE decisions SET why = '' WHERE proposal_id = ?", (proposal.id,))
        self._db.execute("UPDATE batches SET job = json_remove(job, '$.plan') WHERE id = ?", (proposal.batch_id,))

    def missing_since(self, proposal_id: str) -> str:
        """Return since when a proposal has been missing from the staging branch; "" if it is there."""
        return str(self._first("SELECT missing_since FROM proposals WHERE id = ?", proposal_id) or "")

    def set_missing(self, proposal_id: str, since: str) -> None:
        """Record since when it has been missing; "" if it is there."""
        self._db.execute("UPDATE proposals SET missing_since = ? WHERE id = ?", (since, proposal_id))

    def repos(self) -> list[str]:
        """Return the repositories that ever had a proposal."""
        return self._column("SELECT DISTINCT repo FROM proposals ORDER BY repo")

    def addresses(self) -> list[tuple[str, str, str]]:
        """Return the repository, the path and the path in the repository of the file of every proposal, each once."""
        return [tuple(row) for row in self._db.execute("SELECT DISTINCT repo, path, relpath FROM proposals")]

    def accepted_at(self, proposal_id: str) -> str:
        """Return when it was last accepted; "" if it never was."""
        newest = "SELECT at FROM decisions WHERE proposal_id = ? AND after = 'accepted' ORDER BY id DESC LIMIT 1"
        return str(self._first(newest, proposal_id) or "")

    def times_in_force(self, proposal_id: str) -> list[tuple[str, str]]:
        """Return each time from when it was accepted and until when, oldest first; "" if it still is."""
        changes = self._db.execute(
            "SELECT before, after, at FROM decisions WHERE proposal_id = ? AND before != after ORDER BY id",
            (proposal_id,),
        )
        found: list[tuple[str, str]] = []
        for before, after, at in changes:
            if before == State.ACCEPTED and found:
                found[-1] = found[-1][0], at
            if after == State.ACCEPTED:
                found.append((at, ""))
        return found

    def accepted_by(self, proposal_id: str) -> str:
        """Return who last accepted it; "" if nobody did."""
        newest = "SELECT who FROM decisions WHERE proposal_id = ? AND after = 'accepted' ORDER BY id DESC LIMIT 1"
        return str(self._first(newest, proposal_id) or "")

    def newest_accepted(self) -> int:
        """Return the number of the newest decision to accept; 0 if there is none."""
        return int(self._first("SELECT coalesce(max(id), 0) FROM decisions WHERE after = 'accepted'"))

    def decided_by(self, proposal_id: str) -> str:
        """Return who made the newest decision; "" if there is none."""
        return str(self._first(f"SELECT who {_NEWEST_DECISION}", proposal_id) or "")

    def removed_by(self, proposal_id: str) -> str:
        """Return the ID of the proposal that the person accepted and whose commit reverted this one; "" if none."""
        return str(self._first(f"SELECT other.proposal_id {_REPLACED} AND one.id = ?", proposal_id) or "")

    def replaced_ids(self) -> set[str]:
        """Return the IDs of reverted proposals whose lines went with the commit of another one that was accepted."""
        return set(self._column(f"SELECT one.id {_REPLACED}"))

    def last_decided(self) -> Proposal | None:
        """Return the proposal that the person decided last by a command, unless it was decided otherwise since."""
        newest = """SELECT proposal_id FROM decisions AS one
                    WHERE who = 'command' AND after IN ('accepted', 'rejected')
                    AND id = (SELECT max(id) FROM decisions WHERE proposal_id = one.proposal_id)
                    ORDER BY id DESC LIMIT 1"""
        return self.get(self._first(newest) or "")

    def decisions(self, proposal_id: str) -> int:
        """Return the number of the newest decision, which grows with each one; 0 if there is none."""
        return int(self._first(f"SELECT id {_NEWEST_DECISION}", proposal_id) or 0)

    def decision_reason(self, proposal_id: str) -> str:
        """Return the reason that the person gave for the newest decision, "" if none."""
        return str(self._first(f"SELECT why {_NEWEST_DECISION}", proposal_id) or "")


def _to_row(name: str, value: object) -> object:
    match name, value:
        case "operations", tuple():
            return json.dumps(_operations_row(value))
        case "also", tuple():
            return json.dumps([[one.path, _operations_row(one.operations), one.relpath] for one in value])
        case "evidence", tuple():
            return json.dumps([[e.turn, e.quote] for e in value])
        case "updates" | "conflicts", tuple():
            return json.dumps([astuple(one) for one in value])
        case "flags" | "agents" | "linked", tuple():
            return json.dumps(list(value))
        case _, State() | Kind() | TargetKind():
            return value.value
    return value


def _operations_row(operations: Sequence[Operation]) -> list[list[str]]:
    return [[one.op.value, one.anchor, one.text] for one in operations]


def _operations(row: list[list[str]]) -> tuple[Operation, ...]:
    return tuple(Operation(Op(op), anchor, text) for op, anchor, text in row)


def _from_row(row: sqlite3.Row) -> Proposal:
    values = dict(row)
    values["operations"] = _operations(json.loads(row["operations"]))
    values["conflicts"] = tuple(ContradictingLine(*item) for item in json.loads(row["conflicts"]))
    values["also"] = tuple(SideEdit(path, _operations(edit), at) for path, edit, at in json.loads(row["also"]))
    values["evidence"] = tuple(Evidence(turn, quote) for turn, quote in json.loads(row["evidence"]))
    values |= {name: tuple(json.loads(row[name])) for name in ("flags", "agents", "linked")}
    values["target"] = TargetKind(row["target"])
    values["updates"] = tuple(_update(item) for item in json.loads(row["updates"]))
    values["state"] = State(row["state"])
    values["kind"] = Kind(row["kind"])
    return Proposal(**values)


def _update(item: list[Any]) -> Update:
    update = Update(*item)
    return replace(update, kind=Kind(update.kind))
