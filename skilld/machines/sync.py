"""One sync of a person's machines: fetch the others' records, add what changed here, push it, and apply it.

Each machine writes a ref of its own with everything it knows: any machine may be lost, and none waits for another. A
sync can be killed anywhere: what was pushed but not applied yet is fetched again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from skilld.clock import parse_time, rfc3339
from skilld.effect.rule_lines import added_at, rules_in, text_of
from skilld.errors import SkilldError
from skilld.exchange.outgoing import LeakCheck
from skilld.git.session import shared_git
from skilld.machines.gather import (
    ELSEWHERE_PREFIX,
    STATE_NAMES,
    GatherResult,
    RecordsBySlot,
    gather_records,
    learning_place,
    list_rules,
    session_digest,
    state_mark,
)
from skilld.machines.merging import RuleGroups
from skilld.machines.places import Places
from skilld.past import PastSession, Repeat
from skilld.proposals.amend import reopen
from skilld.proposals.decide import is_gone, rebuild_branch
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.machine_records import MachineRecord
from skilld.store.meta import MACHINES, ROOT_COMMITS
from skilld.store.proposals import OTHER_MACHINE as OTHER
from skilld.team import refs
from skilld.team.membership import Membership, from_row, to_row
from skilld.team.records import Record, RecordType, encode, rule_key
from skilld.team.refs import MACHINES_LAYOUT, ReadResult
from skilld.team.sync import Hub, exchange, with_members
from skilld.text import fold_case, one_line, without_login
from skilld.types import Proposal, State
from skilld.values import value_class


def load(store: Store, remote: str) -> Membership | None:
    """Return this machine's membership; None if the person did not join, or the settings name no remote."""
    row = store.meta.get(MACHINES)
    if row is None or not remote or row["address"] not in {remote, without_login(remote)}:
        return None
    return replace(from_row(row), address=remote)


def save(store: Store, membership: Membership) -> None:
    """Store this machine's membership."""
    with store.transaction():
        store.meta.set(MACHINES, to_row(membership))


def forget(store: Store) -> None:
    """Delete this machine's membership and the others' records; decisions made because of them stay."""
    with store.transaction():
        store.meta.delete(MACHINES)
        store.meta.delete(ROOT_COMMITS)
        store.machine_records.replace(())


@value_class
class SyncResult:
    """The result of a sync: this machine's membership, the others, the records sent, and what changed here."""

    membership: Membership
    found: ReadResult
    news: GatherResult
    applied: ApplyResult
    pushed: bool


def gather(store: Store, places: Places, check: LeakCheck, found: ReadResult) -> GatherResult:
    """Return the records of all machines after a sync; nothing is sent or stored."""
    fetched = (record for one in found.members.values() for record in one.records)
    return gather_records(store, places, check, store.machine_records.all(), fetched)


@shared_git()
def sync(hub: Hub, store: Store, places: Places, check: LeakCheck, *, first: bool = False) -> SyncResult:
    """Update this machine and its ref with the records of all machines; see `exchange`."""
    news = GatherResult({}, {})

    def wanted(found: ReadResult) -> Iterator[Record]:
        nonlocal news
        news = gather(store, places, check, found)
        return (news.records[at] for at in sorted(news.records))

    found, pushed = exchange(hub, fetch, wanted, first=first)
    applied = apply_records(store, places, news.records)
    now = with_members(hub.membership, found)
    save(store, now)
    return SyncResult(now, found, news, applied, bool(pushed))


def fetch(hub: Hub) -> ReadResult:
    """Fetch and check the records of all machines."""
    one = hub.membership
    return refs.read_members(hub.borrowed, one.address, one.pins, hub.environment, form=MACHINES_LAYOUT)


# The decisions of the other machines, applied here: to what skilld remembers and proposes, never to a file. A rejection
# removes the proposal from the staging branch. A proposal accepted elsewhere counts as accepted here; its lines arrive
# with `git pull`, or, without git, when the person accepts it here as well.

_STATES = {"open": State.OPEN, "accepted": State.ACCEPTED, "rejected": State.REJECTED, "reverted": State.REVERTED}
_WAIT_REASON = "you said it on another machine"


@value_class
class ApplyResult:
    """What changed here: (rule, state) of proposals, and warnings about what was not changed."""

    decided: tuple[tuple[str, State], ...] = ()
    warnings: tuple[str, ...] = ()


def apply_records(store: Store, places: Places, records: RecordsBySlot) -> ApplyResult:
    """Apply the records of all machines, and store them as the state of this sync."""
    groups = RuleGroups(records.values())
    due = _proposals_to_change(store, places, groups)
    reopened, warnings = _reopen(store, due)
    with store.transaction():
        changed = [(one, after) for one, after in due if after is not State.OPEN]
        for proposal, after in changed:
            store.proposals.decide(
                proposal, after, rfc3339(time.time()), who=OTHER, note=_decision_note(proposal, after)
            )
        _apply_learnings(store, places, records)
        _apply_repeats(store, places, records)
        store.machine_records.replace(_current_records(store, places, groups, records))
        places.keep()
    for repo in sorted({proposal.repo for proposal, _ in changed if proposal.repo}):
        warnings += rebuild_branch(store, repo).warnings
    decided = [(proposal.summary, after) for proposal, after in [*changed, *reopened]]
    return ApplyResult(tuple(decided), tuple(warnings))


def _proposals_to_change(store: Store, places: Places, groups: RuleGroups) -> list[tuple[Proposal, State]]:
    """Return the proposals that must change state: all of their rules did so elsewhere."""
    wanted: dict[str, set[str]] = {}
    proposals: dict[str, Proposal] = {}
    newest: dict[str, str] = {}
    for one in list_rules(store, places):
        group = groups.of(one.rule, one.place)
        proposals[one.proposal.id] = one.proposal
        wanted.setdefault(one.proposal.id, set()).add(group.best.said if group else "")
        newest[group.key if group else ""] = one.proposal.id
    found = []
    for name, said in wanted.items():
        proposal, after = proposals[name], _STATES.get(next(iter(said))) if len(said) == 1 else None
        is_undecided = proposal.state in {State.OPEN, State.DROPPED}
        if after is not None and (is_undecided or name in newest.values()) and _may_change_to(proposal, after):
            found.append((proposal, after))
    return found


def _may_change_to(proposal: Proposal, after: State) -> bool:
    if STATE_NAMES[proposal.state] == after.value:
        return False
    if after is State.OPEN:
        return proposal.state is State.REJECTED
    return proposal.state is not State.ACCEPTED or after is State.REVERTED or is_gone(proposal)


def _decision_note(proposal: Proposal, after: State) -> str:
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


def _current_records(store: Store, places: Places, groups: RuleGroups, records: RecordsBySlot) -> list[MachineRecord]:
    """Return all records with their present state here."""
    here: dict[tuple[str, str], str] = {}
    for one in list_rules(store, places):  # as in gather: the last one counts
        if (group := groups.of(one.rule, one.place)) is not None:
            for record in group.records:
                here[record.key, RecordType.DECIDED.value] = state_mark(one.proposal)
    for learning in store.learnings.all():
        if place := learning_place(places, learning):
            here[rule_key(one_line(learning.change), place), RecordType.LEARNED.value] = "waiting"
    return [
        MachineRecord(
            key, what, encode(record).decode(), str(places.path_of(record.place) or ""), here.get((key, what), "")
        )
        for (key, what), record in records.items()
    ]


def _apply_learnings(store: Store, places: Places, records: RecordsBySlot) -> None:
    here: dict[str, list[Learning]] = {}
    for one in store.learnings.all():
        if place := learning_place(places, one):
            here.setdefault(rule_key(one_line(one.change), place), []).append(one)
    for (key, what), record in records.items():
        if what != RecordType.LEARNED.value:
            continue
        mine = here.get(key, [])
        if record.said == "gone":
            for one in mine:
                store.learnings.forget(one.id)
        elif (path := places.path_of(record.place)) is not None:
            there = {session_digest(one.session_id) for one in mine}
            for said in record.heard:
                if said.rpartition("/")[2] not in there:
                    store.learnings.add(learning_of(places, record, said, path))


def learning_of(places: Places, record: Record, said: str, path: Path) -> Learning:
    """Return what a record says, for the file or folder at `path`, as a learning from the session that `said` names."""
    at, agent, name = said.split("/")
    is_file = bool(record.target)
    return Learning(
        id=hashlib.sha256(f"{record.key}\n{said}".encode()).hexdigest()[:10],
        turn_key=f"{agent}:{ELSEWHERE_PREFIX}{name}",
        quote=record.quote,
        change=record.rule,
        kind=record.kind,
        agent=agent,
        session_id=f"{ELSEWHERE_PREFIX}{name}",
        project=str(places.folder_of(path) if is_file else path),
        skill=record.section or None,
        why_kept=_WAIT_REASON,
        confidence=0.5,
        created_at=at,
        place_kind=record.target,
        place=str(path) if is_file else "",
    )


def _apply_repeats(store: Store, places: Places, records: RecordsBySlot) -> None:
    """Store repeats from sessions of other machines, for rules whose line is in a file here."""
    past = {one.session_id: one for one in store.past.sessions()}
    own = {session_digest(name) for name in past if not name.startswith(ELSEWHERE_PREFIX)}
    found: dict[str, list[Repeat]] = {}
    for record in records.values():
        news = [one for one in record.heard if one.rpartition("/")[2] not in own]
        if record.what is not RecordType.HEARD or not news or (line := _find_line(places, record)) is None:
            continue
        path, number, text, since = line
        for said in news:
            at, agent, name = said.split("/")
            turn = f"{agent}:{ELSEWHERE_PREFIX}{name}"
            found.setdefault(said, []).append(Repeat(turn, "", path, number, text, min(since, parse_time(at) or since)))
    for said, repeats in found.items():
        at, agent, name = said.split("/")
        cwd, loaded = str(places.folder_of(Path(repeats[0].path))), tuple(sorted({one.path for one in repeats}))
        when = parse_time(at) or 0.0
        session = PastSession(agent, f"{ELSEWHERE_PREFIX}{name}", cwd, "", when, loaded, (), (), tuple(repeats))
        if past.get(session.session_id) != session:
            store.past.save(f"{ELSEWHERE_PREFIX}{name}", 0, when, [session])


def _find_line(places: Places, record: Record) -> tuple[str, int, str, float] | None:
    """Return the line on this machine that a record is about: path, number, text, and since when it is there."""
    path = places.path_of(record.place)
    if path is None:
        return None
    lines: Mapping[str, tuple[int, str]] = {
        fold_case(one_line(text)): (number, text) for number, text in rules_in(text_of(str(path)))
    }
    if (found := lines.get(fold_case(record.rule))) is None:
        return None
    return str(path), *found, added_at(str(path), found[0]) or 0.0
