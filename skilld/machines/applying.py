"""What the other machines decided, taken over here: in what skilld remembers and proposes, never in a file.

A rejection takes the proposal off the staging branch. What was accepted elsewhere counts as accepted here; its lines
come with `git pull`, or, where no git brings them, when the person accepts it here as well.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from skilld.clock import rfc3339, seconds
from skilld.effect.rule_lines import added_at, rules_in, text_of
from skilld.errors import SkilldError
from skilld.machines.gather import ELSEWHERE, SAID, Kept, digest, mark, place_of, rules
from skilld.machines.merging import Groups
from skilld.machines.places import Places
from skilld.past import PastSession, Repeat
from skilld.proposals.amend import reopen
from skilld.proposals.decide import is_gone, rebuild_branch
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.machine_records import MachineRecord
from skilld.store.proposals import OTHER_MACHINE as OTHER
from skilld.team.records import Record, What, encode, key_of
from skilld.text import folded, one_line
from skilld.types import Proposal, State

_STATES = {"open": State.OPEN, "accepted": State.ACCEPTED, "rejected": State.REJECTED, "reverted": State.REVERTED}
_WAITS = "you said it on another machine"


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """What changed here: (rule, state) of proposals, and warnings about what was left as it was."""

    decided: tuple[tuple[str, State], ...] = ()
    warnings: tuple[str, ...] = ()


def apply(store: Store, places: Places, records: Kept) -> ApplyResult:
    """Take over what all machines know, and keep it as what was known at this sync."""
    groups = Groups(records.values())
    due = _due(store, places, groups)
    reopened, warnings = _reopen(store, due)
    with store.transaction():
        changed = [(one, after) for one, after in due if after is not State.OPEN]
        for proposal, after in changed:
            store.proposals.decide(proposal, after, rfc3339(time.time()), who=OTHER, note=_note(proposal, after))
        _take_learnings(store, places, records)
        _take_repeats(store, places, records)
        store.machine_records.replace(_known(store, places, groups, records))
        places.keep()
    for repo in sorted({proposal.repo for proposal, _ in changed if proposal.repo}):
        warnings += rebuild_branch(store, repo).warnings
    decided = [(proposal.summary, after) for proposal, after in [*changed, *reopened]]
    return ApplyResult(tuple(decided), tuple(warnings))


def _due(store: Store, places: Places, groups: Groups) -> list[tuple[Proposal, State]]:
    """Return the proposals that are to come to another state: those all of whose rules did so elsewhere."""
    wanted: dict[str, set[str]] = {}
    proposals: dict[str, Proposal] = {}
    newest: dict[str, str] = {}
    for one in rules(store, places):
        group = groups.of(one.rule, one.place)
        proposals[one.proposal.id] = one.proposal
        wanted.setdefault(one.proposal.id, set()).add(group.best.said if group else "")
        newest[group.key if group else ""] = one.proposal.id
    found = []
    for name, said in wanted.items():
        proposal, after = proposals[name], _STATES.get(next(iter(said))) if len(said) == 1 else None
        is_undecided = proposal.state in {State.OPEN, State.DROPPED}
        if after is not None and (is_undecided or name in newest.values()) and _may_become(proposal, after):
            found.append((proposal, after))
    return found


def _may_become(proposal: Proposal, after: State) -> bool:
    if SAID[proposal.state] == after.value:
        return False
    if after is State.OPEN:
        return proposal.state is State.REJECTED
    return proposal.state is not State.ACCEPTED or after is State.REVERTED or is_gone(proposal)


def _note(proposal: Proposal, after: State) -> str:
    if after is State.ACCEPTED:
        return f"accepted on another machine; if the change does not arrive through git: skilld accept {proposal.id}"
    if after is State.REVERTED and proposal.state is State.ACCEPTED:
        return f"reverted on another machine; if the revert does not arrive through git: skilld revert {proposal.id}"
    return f"{after.value} on another machine"


def _reopen(store: Store, due: Iterable[tuple[Proposal, State]]) -> tuple[list[tuple[Proposal, State]], list[str]]:
    done: list[tuple[Proposal, State]] = []
    warnings: list[str] = []
    for proposal, after in due:
        if after is State.OPEN:
            try:
                reopen(store, proposal, who=OTHER)
                done.append((proposal, after))
            except SkilldError as error:
                warnings.append(str(error))
    return done, warnings


def _known(store: Store, places: Places, groups: Groups, records: Kept) -> list[MachineRecord]:
    """Return all records with how they stand here now."""
    here: dict[tuple[str, str], str] = {}
    for one in rules(store, places):  # as in gather: the last one counts
        if (group := groups.of(one.rule, one.place)) is not None:
            for record in group.records:
                here[record.key, What.DECIDED.value] = mark(one.proposal)
    for learning in store.learnings.all():
        if place := place_of(places, learning):
            here[key_of(one_line(learning.change), place), What.LEARNED.value] = "waiting"
    return [
        MachineRecord(
            key, what, encode(record).decode(), str(places.path_of(record.place) or ""), here.get((key, what), "")
        )
        for (key, what), record in records.items()
    ]


def _take_learnings(store: Store, places: Places, records: Kept) -> None:
    here: dict[str, list[Learning]] = {}
    for one in store.learnings.all():
        if place := place_of(places, one):
            here.setdefault(key_of(one_line(one.change), place), []).append(one)
    for (key, what), record in records.items():
        if what != What.LEARNED.value:
            continue
        mine = here.get(key, [])
        if record.said == "gone":
            for one in mine:
                store.learnings.forget(one.id)
        elif (path := places.path_of(record.place)) is not None:
            there = {digest(one.session_id) for one in mine}
            for said in record.heard:
                if said.rpartition("/")[2] not in there:
                    store.learnings.add(_learning(places, record, said, path))


def _learning(places: Places, record: Record, said: str, path: Path) -> Learning:
    at, agent, name = said.split("/")
    is_file = bool(record.target)
    return Learning(
        id=hashlib.sha256(f"{record.key}\n{said}".encode()).hexdigest()[:10],
        turn_key=f"{agent}:{ELSEWHERE}{name}",
        quote=record.quote,
        change=record.rule,
        kind=record.kind,
        agent=agent,
        session_id=f"{ELSEWHERE}{name}",
        project=str(places.folder_of(path) if is_file else path),
        skill=record.section or None,
        why_kept=_WAITS,
        confidence=0.5,
        created_at=at,
        place_kind=record.target,
        place=str(path) if is_file else "",
    )


def _take_repeats(store: Store, places: Places, records: Kept) -> None:
    """Take over what had to be said again in sessions of other machines, for rules whose line stands here."""
    past = {one.session_id: one for one in store.past.sessions()}
    own = {digest(name) for name in past if not name.startswith(ELSEWHERE)}
    found: dict[str, list[Repeat]] = {}
    for record in records.values():
        news = [one for one in record.heard if one.rpartition("/")[2] not in own]
        if record.what is not What.HEARD or not news or (line := _line(places, record)) is None:
            continue
        path, number, text, since = line
        for said in news:
            at, agent, name = said.split("/")
            turn = f"{agent}:{ELSEWHERE}{name}"
            found.setdefault(said, []).append(Repeat(turn, "", path, number, text, min(since, seconds(at) or since)))
    for said, repeats in found.items():
        at, agent, name = said.split("/")
        cwd, loaded = str(places.folder_of(Path(repeats[0].path))), tuple(sorted({one.path for one in repeats}))
        when = seconds(at) or 0.0
        told = PastSession(agent, f"{ELSEWHERE}{name}", cwd, "", when, loaded, (), (), tuple(repeats))
        if past.get(told.session_id) != told:
            store.past.save(f"{ELSEWHERE}{name}", 0, when, [told])


def _line(places: Places, record: Record) -> tuple[str, int, str, float] | None:
    """Return the line of this machine that a record is about: path, number, text, and since when it stands there."""
    path = places.path_of(record.place)
    if path is None:
        return None
    lines: Mapping[str, tuple[int, str]] = {
        folded(one_line(text)): (number, text) for number, text in rules_in(text_of(str(path)))
    }
    if (found := lines.get(folded(record.rule))) is None:
        return None
    return str(path), *found, added_at(str(path), found[0]) or 0.0
