"""Gathers what this machine has to tell the person's other ones: decisions, learnings and repeats, as records.

Changes since the last sync are found by comparing with the state at that time (`here`), never by clocks; what another
machine decided, or what plain git shows every clone anyway, is not reported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.clock import parse_time, rfc3339
from skilld.exchange.outgoing import LeakCheck
from skilld.machines.merging import RuleGroups, Slot, combine, decision_weight, merge_records
from skilld.machines.places import Places
from skilld.proposals.model import EVALS_PREFIX, REMEDY_PREFIX, said_updates
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.machine_records import MachineRecord
from skilld.store.proposals import MAYBE_AGENTS_PREFIX
from skilld.store.proposals import OTHER_MACHINE as OTHER
from skilld.team.records import MACHINE_TYPES, MAX_HEARD, Record, RecordType, decode, refusal_reason, rule_key
from skilld.team.refs import MACHINES_LAYOUT
from skilld.text import fold, one_line, truncate
from skilld.types import OBSERVED_TURN, Kind, Proposal, State, TargetKind, Update
from skilld.values import value_class

ELSEWHERE_PREFIX = "elsewhere-"  # of the ID of a session reported by another machine
STATE_NAMES = {
    State.OPEN: "open",
    State.DROPPED: "open",  # for a day; then it is rejected
    State.ACCEPTED: "accepted",
    State.REJECTED: "rejected",
    State.REVERTED: "reverted",
}
_MAX_QUOTE = 240
RecordsBySlot = dict[Slot, Record]
MarksBySlot = Mapping[Slot, str]


@value_class
class ProposedRule:
    """A rule of a proposal, with the name of its file."""

    proposal: Proposal
    update: Update
    rule: str
    place: str


def list_rules(store: Store, places: Places) -> list[ProposedRule]:
    """Return all rules ever proposed from the person's words whose file has a name, the last changed one last.

    To remove a rule is not to say it.
    """
    found = []
    proposals = store.proposals.in_states([*STATE_NAMES])
    last = {
        one.id: (_normalize_time(max(one.created_at, one.decided_at)), store.proposals.decisions(one.id))
        for one in proposals
    }
    for proposal in sorted(proposals, key=lambda one: last[one.id]):
        if proposal.target is TargetKind.EVALS or proposal.batch_id.startswith((REMEDY_PREFIX, EVALS_PREFIX)):
            continue
        if place := places.name_of(Path(proposal.path)):
            updates = *said_updates(proposal), *_mined_request(proposal)
            said = [one for one in updates if one.kind is not Kind.REMOVE_STEP]
            found += [ProposedRule(proposal, one, one_line(one.change), place) for one in said]
    return found


def _mined_request(proposal: Proposal) -> list[Update]:
    """Return the request that a skill was made for from past sessions, in the person's words; none for another one."""
    is_mined = proposal.creates and any(one.turn == OBSERVED_TURN for one in proposal.updates)
    quotes = [one.quote for one in proposal.evidence if is_mined][:1]
    return [Update(None, "", _shorten_quote(quote), "", proposal.kind, 1, quote) for quote in quotes]


def state_mark(proposal: Proposal) -> str:
    """Return the state of a proposal here, for the next sync to compare with."""
    return f"{STATE_NAMES.get(proposal.state, '')} {proposal.decided_at or proposal.created_at} {proposal.id}"


@dataclass(slots=True)
class GatherResult:
    """The records of all machines with this one's additions, and the rules kept back with reasons."""

    records: RecordsBySlot
    kept_back: dict[str, str]


def gather_records(
    store: Store, places: Places, check: LeakCheck, known: Iterable[MachineRecord], fetched: Iterable[Record]
) -> GatherResult:
    """Return the records of all machines: those `fetched` from the others, with changes here since the `known` ones."""
    rows = list(known)
    before = {(row.key, row.what): decode(row.record.encode(), MACHINE_TYPES) for row in rows}
    found = GatherResult(merge_records(before.values(), fetched), {})
    marks = {(row.key, row.what): row.here for row in rows}
    unchanged = dict(found.records)
    by_id = {row.here.rpartition(" ")[2]: row.here for row in rows if row.what == RecordType.DECIDED}
    _add_decisions(store, places, RuleGroups(before.values()), by_id, found)
    _add_learnings(store, places, marks, found)
    _add_repeats(store, places, found)
    for at, record in list(found.records.items()):
        if record != unchanged.get(at) and (why := _refusal_reason(record, check)):
            found.kept_back[record.rule] = why
            found.records.pop(at)
            if at in unchanged:
                found.records[at] = unchanged[at]
    if len(found.records) > MACHINES_LAYOUT.most:  # the same ones on every machine
        times = {at: (one.at, *(said.partition("/")[0] for said in one.heard)) for at, one in found.records.items()}
        newest = sorted(times, key=lambda at: (max(times[at]), at))[-MACHINES_LAYOUT.most :]
        found.records = {at: found.records[at] for at in newest}
    return found


def _refusal_reason(record: Record, check: LeakCheck) -> str | None:
    """Return why a record must not leave this machine; None if it may."""
    return check.refusal(f"{record.rule}\n{record.quote}") or refusal_reason(record, MACHINE_TYPES)


def _add_decisions(
    store: Store, places: Places, known: RuleGroups, marks: Mapping[str, str], found: GatherResult
) -> None:
    groups = RuleGroups(found.records.values())
    newest: dict[str, ProposedRule] = {}
    heard: dict[str, set[str]] = {}
    for one in list_rules(store, places):  # among several that say the same, the last changed one counts
        key = groups.find(one.rule, one.place) or groups.add(_new_record(one))
        newest[key] = one
        said, of = heard.setdefault(key, set()), one.proposal
        when = _normalize_time(of.created_at)
        said |= {session_tag(when, of.agent, name) for name in _sessions_of(store, one)}
    for key, one in newest.items():
        group, last = groups.get(key), known.of(one.rule, one.place)
        assert group is not None  # noqa: S101 - it was made above
        first, best = group.records[0], group.best
        record = replace(best, key=first.key, rule=first.rule)
        if is_new_decision(store, one.proposal, marks.get(one.proposal.id, "")):
            mine = replace(record, said=STATE_NAMES[one.proposal.state], at=_normalize_time(one.proposal.decided_at))
            if mine.said == "open" and not mine.at and last is not None:
                mine = replace(mine, at=_normalize_time(one.proposal.created_at))  # said again since
            others_moved = last is None or best.said != last.best.said
            if mine.said != best.said and (not others_moved or decision_weight(mine) > decision_weight(best)):
                record = replace(mine, rev=best.rev + 1)
        at = (key, RecordType.DECIDED.value)
        there = {said.rpartition("/")[2] for said in record.heard}  # what was added from a record has another time here
        new = {said for said in heard[key] if said.rpartition("/")[2] not in there}
        record = replace(record, heard=tuple(sorted({*record.heard, *new})[-MAX_HEARD:]))
        found.records[at] = combine(found.records.get(at, record), record)


def _sessions_of(store: Store, one: ProposedRule) -> set[str]:
    """Return the sessions in which a rule was said; of several in one proposal, each by its own quote."""
    proposal = one.proposal
    is_only = len(said_updates(proposal)) == 1
    turns = (said.turn for said in proposal.evidence if is_only or said.quote == one.update.quote)
    return (store.overview.sessions_of(turns) | {proposal.session_id}) - {""}


def is_new_decision(store: Store, proposal: Proposal, marked: str) -> bool:
    """Whether the person decided or said something here since the last sync, when its state was `marked`."""
    if state_mark(proposal) == marked:
        return False
    who = store.proposals.decided_by(proposal.id)
    by_git = who.startswith("git")
    if who == OTHER or who.startswith(MAYBE_AGENTS_PREFIX):
        return False
    # Every clone sees git's state itself; machines would only overwrite each other's view of it.
    return not by_git or proposal.state is State.REJECTED or (proposal.state is not State.OPEN and not marked)


def _new_record(one: ProposedRule) -> Record:
    proposal = one.proposal
    return Record(
        what=RecordType.DECIDED,
        key=rule_key(one.rule, one.place),
        rule=one.rule,
        kind=one.update.kind.value,
        place=one.place,
        section=one_line(one.update.section),
        target=proposal.target.value,
        said=STATE_NAMES[proposal.state],
        quote=_shorten_quote(one.update.quote or next((e.quote for e in proposal.evidence if e.quote), "")),
        at=_normalize_time(proposal.decided_at),
        rev=1,
    )


def _shorten_quote(text: str) -> str:
    return truncate(one_line(fold(text)), _MAX_QUOTE)


def _normalize_time(at: str) -> str:
    """Return a time in the format of records; empty if there is none."""
    seconds = parse_time(at) if at else None
    return "" if seconds is None else rfc3339(seconds)


def session_tag(at: str, agent: str, session_id: str) -> str:
    """Return a record's name for a session: other machines cannot identify the session by it."""
    return f"{at}/{agent}/{session_digest(session_id)}"


def session_digest(session_id: str) -> str:
    """Return the digest that identifies a session on all machines."""
    if session_id.startswith(ELSEWHERE_PREFIX):
        return session_id.removeprefix(ELSEWHERE_PREFIX)
    return hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def learning_place(places: Places, one: Learning) -> str:
    """Return the name of the file, or of the project, that a learning waits for."""
    where = one.place or one.project or ""
    return places.name_of(Path(where)) if where else ""


def _add_learnings(store: Store, places: Places, marks: MarksBySlot, found: GatherResult) -> None:
    here: RecordsBySlot = {}
    for one in store.learnings.said():
        rule, place = one_line(one.change), learning_place(places, one)
        if not place or not one.session_id:
            continue
        record = Record(
            what=RecordType.LEARNED,
            key=rule_key(rule, place),
            rule=rule,
            kind=one.kind,
            place=place,
            target=one.place_kind if one.place else "",
            section=one.skill or "",
            said="waiting",
            quote=_shorten_quote(one.quote),
            at=_normalize_time(one.created_at),
            heard=(session_tag(_normalize_time(one.created_at), one.agent, one.session_id),),
            rev=1,
        )
        at = (record.key, RecordType.LEARNED.value)
        here[at] = combine(here[at], record) if at in here else record
    for at, record in here.items():
        known = found.records.get(at)
        if known is not None and known.said == "gone" and not {*record.heard} <= {*known.heard}:
            record = replace(record, rev=known.rev + 1)  # noqa: PLW2901 - said again since
        elif known is not None:
            record = replace(known, heard=combine(known, record).heard)  # noqa: PLW2901 - as it is known
        found.records[at] = record
    for at, marked in marks.items():  # it is no longer here: proposed or deleted
        if marked and at[1] == RecordType.LEARNED.value and at not in here and found.records[at].said == "waiting":
            found.records[at] = replace(found.records[at], said="gone", quote="", rev=found.records[at].rev + 1)


def _add_repeats(store: Store, places: Places, found: GatherResult) -> None:
    for past in store.past.sessions():
        if past.session_id.startswith(ELSEWHERE_PREFIX) or not past.at:
            continue
        for one in past.repeats:
            rule, place = one_line(one.text), places.name_of(Path(one.path))
            if not place:
                continue
            record = Record(
                what=RecordType.HEARD,
                key=rule_key(rule, place),
                rule=rule,
                place=place,
                heard=(session_tag(rfc3339(past.at), past.agent, past.session_id),),
                rev=1,
            )
            at = (record.key, RecordType.HEARD.value)
            found.records[at] = combine(found.records[at], record) if at in found.records else record
