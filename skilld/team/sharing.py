"""Gathers what is sent to a team: the rules the person accepted in a repository, checked as for `skilld skills share`.

A rule that contains a secret, a session ID, a path of this machine or a person's name is kept back with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from skilld.clock import local_day, parse_time
from skilld.effect.rule_lines import text_of
from skilld.exchange.outgoing import LeakCheck, SessionWords
from skilld.proposals.model import ACROSS_PREFIX, CHANGED_NOTE, EVALS_PREFIX, REMEDY_PREFIX, said_updates
from skilld.store import Store
from skilld.team.records import Record, RecordType, combine, refusal_reason, rule_key
from skilld.text import fold, one_line, truncate
from skilld.types import Kind, Proposal, State, TargetKind, Update
from skilld.values import value_class

_MAX_QUOTE = 200
_WITHDRAWN_STATES = (State.REVERTED, State.REJECTED)
_PATH_PATTERN = re.compile(r"(?<![\w.])(?:~/|/(?:home|Users|root)/|[A-Za-z]:\\Users\\)")
_EMAIL_PATTERN = re.compile(r"[\w+-]@[\w-]+\.\w")
_WORD_PATTERN = re.compile(r"\w+")
_MIN_NAME = 3  # characters: a shorter name could be any word


@value_class
class Guard:
    """Keeps things on this machine: secrets and sessions as for a share, and the names of these people and folders."""

    check: LeakCheck
    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def refusal(self, text: str) -> str | None:
        """Return why a text must not leave this machine; None if it may."""
        if why := self.check.refusal(text):
            return why
        if _PATH_PATTERN.search(text) or any(folder in text for folder in self.folders if len(folder) > 1):
            return "it contains a path on your machine"
        if _EMAIL_PATTERN.search(text) or any(_mentions_name(name, text) for name in self.names):
            return "it names a person"
        return None


def _mentions_name(name: str, text: str) -> bool:
    words = _WORD_PATTERN.findall(name.casefold())
    spoken = _WORD_PATTERN.findall(text.casefold())
    return len(name) >= _MIN_NAME and any(spoken[at : at + len(words)] == words for at in range(len(spoken)))


def known_sessions(store: Store) -> SessionWords:
    """Return the IDs of all sessions that skilld knows."""
    proposals = store.proposals.all()
    return SessionWords(
        frozenset({one.session_id for one in proposals}) | {one[1] for one in store.overview.all_sessions()}
    )


@dataclass(slots=True)
class Outgoing:
    """The records to send, and the rules kept back, each with the reason."""

    records: list[Record] = field(default_factory=list)
    kept_back: list[tuple[str, str]] = field(default_factory=list)


def gather_records(store: Store, repo: str, guard: Guard, *, quotes: bool, with_open: bool) -> Outgoing:
    """Return the records of a repository's accepted proposals, with `with_open` also of open ones.

    A rule that is no longer accepted becomes a withdrawal; the caller knows which ones were shared.
    """
    found = Outgoing()
    rules: dict[str, Record] = {}
    gone: dict[str, Record] = {}
    states = [State.ACCEPTED, *_WITHDRAWN_STATES, *([State.OPEN] if with_open else [])]
    for proposal in store.proposals.in_states(states, repo):
        for update in _updates(proposal):
            rule = one_line(update.change)
            key = rule_key(rule, proposal.relpath)
            decided = _day(proposal.decided_at or proposal.created_at)
            if proposal.state in _WITHDRAWN_STATES or _is_replaced(proposal, update):
                gone[key] = Record(what=RecordType.WITHDRAWN, key=key, day=decided)
                continue
            if why := guard.refusal(rule) or refusal_reason(record := _record(store, proposal, update, rule, decided)):
                found.kept_back.append((rule, why))
                continue
            quote = update.quote or next((one.quote for one in proposal.evidence if one.quote), "")
            if quotes and not guard.refusal(quote):
                record = replace(record, quote=truncate(one_line(fold(quote)), _MAX_QUOTE))
            rules[key] = combine(rules[key], record) if key in rules else record
    found.records = [*rules.values(), *(record for key, record in gone.items() if key not in rules)]
    return found


def _updates(proposal: Proposal) -> Iterable[Update]:
    """Return what a person taught with a proposal; nothing if it is not based on their words."""
    if proposal.target in {TargetKind.EVALS, TargetKind.PERSONAL} or not proposal.relpath:
        return ()
    if proposal.batch_id.startswith((REMEDY_PREFIX, ACROSS_PREFIX, EVALS_PREFIX)):
        return ()
    return [one for one in said_updates(proposal) if one.kind is not Kind.REMOVE_STEP]


def _is_replaced(proposal: Proposal, update: Update) -> bool:
    """Whether the person wrote something else in place of one of several rules of an accepted proposal."""
    if proposal.state is not State.ACCEPTED or proposal.note != CHANGED_NOTE or len(proposal.updates) == 1:
        return False
    from skilld.classify.said_already import find_line  # takes time to load, and is rarely needed

    text = text_of(proposal.path)  # empty: the branch that is checked out does not have the file
    return bool(text) and find_line(update, text) is None


def _record(store: Store, proposal: Proposal, update: Update, rule: str, decided: str) -> Record:
    sessions = store.overview.sessions_of(one.turn for one in proposal.evidence)
    return Record(
        what=RecordType.RULE,
        key=rule_key(rule, proposal.relpath),
        rule=rule,
        kind=update.kind.value,
        place=proposal.relpath,
        section=one_line(update.section),
        target=proposal.target.value,
        first=_day(proposal.created_at),
        day=_day(proposal.created_at),
        decided=decided,
        sessions=max(1, len(sessions)),
        agents=tuple(sorted({proposal.agent, *(one.turn.partition(":")[0] for one in proposal.evidence)} - {""})),
        said="accepted" if proposal.state is State.ACCEPTED else "open",
    )


def _day(at: str) -> str:
    return at[:10] if parse_time(at) is not None else local_day(0.0)
