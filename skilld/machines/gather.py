"""What this machine has to tell the person's others: decisions, learnings and repeats, as records.

What has changed here since the last sync is told by comparing with how it stood then (`here`), never by clocks; what
another machine decided, or what plain git shows each clone by itself, is no news of this one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.clock import rfc3339, seconds
from skilld.exchange.outgoing import Check, names_session
from skilld.machines.merging import Groups, Slot, joined, together, weight
from skilld.machines.places import Places
from skilld.proposals.model import EVALS_PREFIX, REMEDY_PREFIX
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.machine_records import MachineRecord
from skilld.store.proposals import MAYBE_AGENTS_PREFIX
from skilld.store.proposals import OTHER_MACHINE as OTHER
from skilld.team.records import MACHINES, MAX_HEARD, Record, What, decode, key_of, unfit
from skilld.team.refs import OWN
from skilld.text import cut, fold, one_line
from skilld.types import Proposal, State, TargetKind, Update

ELSEWHERE = "elsewhere-"  # what the id of a session begins with that another machine told of
SAID = {
    State.OPEN: "open",
    State.DROPPED: "open",  # for a day; then it is rejected
    State.ACCEPTED: "accepted",
    State.REJECTED: "rejected",
    State.REVERTED: "reverted",
}
_MAX_QUOTE = 240
Kept = dict[Slot, Record]
Marks = Mapping[Slot, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a proposal, with the name of its file."""

    proposal: Proposal
    update: Update
    rule: str
    place: str


def rules(store: Store, places: Places) -> list[Rule]:
    """Return what was ever proposed of the person's words, where its file has a name: what was touched last, last."""
    found = []
    proposals = store.proposals.in_states([*SAID])
    last = {
        one.id: (_time(max(one.created_at, one.decided_at)), store.proposals.decisions(one.id)) for one in proposals
    }
    for proposal in sorted(proposals, key=lambda one: last[one.id]):
        if proposal.target is TargetKind.EVALS or proposal.batch_id.startswith((REMEDY_PREFIX, EVALS_PREFIX)):
            continue
        if not proposal.evidence or not (place := places.name_of(Path(proposal.path))):
            continue
        plain = Update(None, "", proposal.summary, "", proposal.kind, 1, "")
        found += [Rule(proposal, one, one_line(one.change), place) for one in proposal.updates or (plain,)]
    return found


def mark(proposal: Proposal) -> str:
    """Return how a proposal stands here, for the next sync to compare with."""
    return f"{SAID.get(proposal.state, '')} {proposal.decided_at or proposal.created_at} {proposal.id}"


@dataclass(slots=True)
class News:
    """What all machines know with what this one adds, and what was kept back with why."""

    records: Kept
    kept_back: dict[str, str]


def news(store: Store, places: Places, check: Check, known: Iterable[MachineRecord], fetched: Iterable[Record]) -> News:
    """Return what all machines know, `fetched` from the others, with what changed here since it was last `known`."""
    rows = list(known)
    before = {(row.key, row.what): decode(row.record.encode(), MACHINES) for row in rows}
    found = News(joined(before.values(), fetched), {})
    marks = {(row.key, row.what): row.here for row in rows}
    told = dict(found.records)
    by_id = {row.here.rpartition(" ")[2]: row.here for row in rows if row.what == What.DECIDED}
    _decided(store, places, Groups(before.values()), by_id, found)
    _learned(store, places, marks, found)
    _heard(store, places, found)
    for at, record in list(found.records.items()):
        if record != told.get(at) and (why := _refusal(record, check)):
            found.kept_back[record.rule] = why
            found.records.pop(at)
            if at in told:
                found.records[at] = told[at]
    if len(found.records) > OWN.most:  # the same ones on every machine
        times = {at: (one.at, *(said.partition("/")[0] for said in one.heard)) for at, one in found.records.items()}
        newest = sorted(times, key=lambda at: (max(times[at]), at))[-OWN.most :]
        found.records = {at: found.records[at] for at in newest}
    return found


def _refusal(record: Record, check: Check) -> str:
    """Return why a record must not leave this machine; empty if it may."""
    text = f"{record.rule}\n{record.quote}"
    if check.secrets(text):
        return "it contains what looks like a secret"
    if names_session(text, check.said):
        return "it contains a session ID"
    return unfit(record, MACHINES)


def _decided(store: Store, places: Places, known: Groups, marks: Mapping[str, str], found: News) -> None:
    groups = Groups(found.records.values())
    newest: dict[str, Rule] = {}
    heard: dict[str, set[str]] = {}
    for one in rules(store, places):  # of several that say the same, the one touched last tells how that stands
        key = groups.find(one.rule, one.place) or groups.add(_new(one))
        newest[key] = one
        said, of = heard.setdefault(key, set()), one.proposal
        if of.session_id:
            said.add(session(_time(of.created_at), of.agent, of.session_id))
    for key, one in newest.items():
        group, last = groups.get(key), known.of(one.rule, one.place)
        assert group is not None  # noqa: S101 - it was made above
        first, best = group.records[0], group.best
        record = replace(best, key=first.key, rule=first.rule)
        if is_news(store, one.proposal, marks.get(one.proposal.id, "")):
            mine = replace(record, said=SAID[one.proposal.state], at=_time(one.proposal.decided_at))
            if mine.said == "open" and not mine.at and last is not None:
                mine = replace(mine, at=_time(one.proposal.created_at))  # said anew since
            others_moved = last is None or best.said != last.best.said
            if mine.said != best.said and (not others_moved or weight(mine) > weight(best)):
                record = replace(mine, rev=best.rev + 1)
        at = (key, What.DECIDED.value)
        record = replace(record, heard=tuple(sorted({*record.heard, *heard[key]})[-MAX_HEARD:]))
        found.records[at] = together(found.records.get(at, record), record)


def is_news(store: Store, proposal: Proposal, marked: str) -> bool:
    """Whether the person decided, or said, something here since the last sync, as which it was `marked` then."""
    if mark(proposal) == marked:
        return False
    who = store.proposals.decided_by(proposal.id)
    by_git = who.startswith("git")
    if who == OTHER or who.startswith(MAYBE_AGENTS_PREFIX):
        return False
    # Each clone sees by itself what git holds; one machine's view of it would only chase the other's.
    return not by_git or proposal.state is State.REJECTED or (proposal.state is not State.OPEN and not marked)


def _new(one: Rule) -> Record:
    proposal = one.proposal
    return Record(
        what=What.DECIDED,
        key=key_of(one.rule, one.place),
        rule=one.rule,
        kind=one.update.kind.value,
        place=one.place,
        section=one_line(one.update.section),
        target=proposal.target.value,
        said=SAID[proposal.state],
        quote=_quote(one.update.quote or next((e.quote for e in proposal.evidence if e.quote), "")),
        at=_time(proposal.decided_at),
        rev=1,
    )


def _quote(text: str) -> str:
    return cut(one_line(fold(text)), _MAX_QUOTE)


def _time(at: str) -> str:
    """Return a time in the one form that records have; empty where there is none."""
    known = seconds(at) if at else None
    return "" if known is None else rfc3339(known)


def session(at: str, agent: str, session_id: str) -> str:
    """Return a session as a record names it: no machine can tell from it which one it was."""
    return f"{at}/{agent}/{digest(session_id)}"


def digest(session_id: str) -> str:
    """Return what a session is known by on all machines."""
    if session_id.startswith(ELSEWHERE):
        return session_id.removeprefix(ELSEWHERE)
    return hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def place_of(places: Places, one: Learning) -> str:
    """Return the name of the file, or else the project, that a learning waits for."""
    where = one.place or one.project or ""
    return places.name_of(Path(where)) if where else ""


def _learned(store: Store, places: Places, marks: Marks, found: News) -> None:
    here: Kept = {}
    for one in store.learnings.all():
        rule, place = one_line(one.change), place_of(places, one)
        if not place or not one.session_id:
            continue
        record = Record(
            what=What.LEARNED,
            key=key_of(rule, place),
            rule=rule,
            kind=one.kind,
            place=place,
            target=one.place_kind if one.place else "",
            section=one.skill or "",
            said="waiting",
            quote=_quote(one.quote),
            at=_time(one.created_at),
            heard=(session(_time(one.created_at), one.agent, one.session_id),),
            rev=1,
        )
        at = (record.key, What.LEARNED.value)
        here[at] = together(here[at], record) if at in here else record
    for at, record in here.items():
        known = found.records.get(at)
        if known is not None and known.said == "gone" and not {*record.heard} <= {*known.heard}:
            record = replace(record, rev=known.rev + 1)  # noqa: PLW2901 - said again since
        elif known is not None:
            record = replace(known, heard=together(known, record).heard)  # noqa: PLW2901 - as it is known
        found.records[at] = record
    for at, marked in marks.items():  # it was here, and is not any longer: proposed, or deleted
        if marked and at[1] == What.LEARNED.value and at not in here and found.records[at].said == "waiting":
            found.records[at] = replace(found.records[at], said="gone", quote="", rev=found.records[at].rev + 1)


def _heard(store: Store, places: Places, found: News) -> None:
    for past in store.past.sessions():
        if past.session_id.startswith(ELSEWHERE) or not past.at:
            continue
        for one in past.repeats:
            rule, place = one_line(one.text), places.name_of(Path(one.path))
            if not place:
                continue
            record = Record(
                what=What.HEARD,
                key=key_of(rule, place),
                rule=rule,
                place=place,
                heard=(session(rfc3339(past.at), past.agent, past.session_id),),
                rev=1,
            )
            at = (record.key, What.HEARD.value)
            found.records[at] = together(found.records[at], record) if at in found.records else record
