"""What is sent to a team: the rules the person accepted in a repository, each checked as `skilld skills share` does.

A rule that names a secret, a session, a path of this machine or a person stays, and is named with why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from skilld.clock import day, seconds
from skilld.exchange.outgoing import Check, SessionWords, names_session
from skilld.proposals.model import ACROSS_PREFIX, EVALS_PREFIX, REMEDY_PREFIX
from skilld.store import Store
from skilld.team.records import Record, What, key_of, together, unfit
from skilld.text import cut, fold, one_line
from skilld.types import Kind, Proposal, State, TargetKind, Update

_MAX_QUOTE = 200
_OUT = (State.REVERTED, State.REJECTED)
_PATHS = re.compile(r"(?<![\w.])(?:~/|/(?:home|Users|root)/|[A-Za-z]:\\Users\\)")
_MAIL = re.compile(r"[\w+-]@[\w-]+\.\w")
_WORDS = re.compile(r"\w+")
_MIN_NAME = 3  # characters of a name that is looked for: a shorter one is a word


@dataclass(frozen=True, slots=True)
class Guard:
    """What must not leave: secrets and sessions as for a share, and the names of these people and folders."""

    check: Check
    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def refusal(self, text: str) -> str | None:
        """Return why a text must not leave this machine; None if it may."""
        if self.check.secrets(text):
            return "it contains what looks like a secret"
        if names_session(text, self.check.said):
            return "it contains a session ID"
        if _PATHS.search(text) or any(folder in text for folder in self.folders if len(folder) > 1):
            return "it contains a path on your machine"
        if _MAIL.search(text) or any(_names(name, text) for name in self.names):
            return "it names a person"
        return None


def _names(name: str, text: str) -> bool:
    words = _WORDS.findall(name.casefold())
    spoken = _WORDS.findall(text.casefold())
    return len(name) >= _MIN_NAME and any(spoken[at : at + len(words)] == words for at in range(len(spoken)))


def sessions_known(store: Store) -> SessionWords:
    """Return the ids of all sessions that skilld knows."""
    proposals = store.proposals.all()
    return SessionWords(
        frozenset({one.session_id for one in proposals}) | {one[1] for one in store.overview.all_sessions()}
    )


@dataclass(slots=True)
class Outgoing:
    """What leaves, and what stays: the rule with why."""

    records: list[Record] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)


def gather(store: Store, repo: str, guard: Guard, *, quotes: bool, with_open: bool) -> Outgoing:
    """Return what of the proposals of a repository leaves: accepted rules, `with_open` open ones too.

    What was shared and is not accepted any longer becomes a withdrawal; which of them were shared the caller knows.
    """
    found = Outgoing()
    rules: dict[str, Record] = {}
    gone: dict[str, Record] = {}
    states = [State.ACCEPTED, *_OUT, *([State.OPEN] if with_open else [])]
    for proposal in store.proposals.in_states(states, repo):
        for update in _updates(proposal):
            rule = one_line(update.change)
            key = key_of(rule, proposal.relpath)
            decided = _day(proposal.decided_at or proposal.created_at)
            if proposal.state in _OUT:
                gone[key] = Record(what=What.WITHDRAWN, key=key, day=decided)
                continue
            if why := guard.refusal(rule) or unfit(record := _record(store, proposal, update, rule, decided)):
                found.kept.append((rule, why))
                continue
            quote = update.quote or next((one.quote for one in proposal.evidence if one.quote), "")
            if quotes and not guard.refusal(quote):
                record = replace(record, quote=cut(one_line(fold(quote)), _MAX_QUOTE))
            rules[key] = together(rules[key], record) if key in rules else record
    found.records = [*rules.values(), *(record for key, record in gone.items() if key not in rules)]
    return found


def _updates(proposal: Proposal) -> Iterable[Update]:
    """Return what a person taught by a proposal; nothing for one that no words of theirs brought about."""
    if proposal.target in {TargetKind.EVALS, TargetKind.PERSONAL} or not proposal.evidence or not proposal.relpath:
        return ()
    if proposal.batch_id.startswith((REMEDY_PREFIX, ACROSS_PREFIX, EVALS_PREFIX)):
        return ()
    plain = Update(None, "", proposal.summary, "", proposal.kind, 1, "")
    return [one for one in proposal.updates or (plain,) if one.kind is not Kind.REMOVE_STEP]


def _record(store: Store, proposal: Proposal, update: Update, rule: str, decided: str) -> Record:
    said = store.overview.sessions_of(one.turn for one in proposal.evidence)
    return Record(
        what=What.RULE,
        key=key_of(rule, proposal.relpath),
        rule=rule,
        kind=update.kind.value,
        place=proposal.relpath,
        section=one_line(update.section),
        target=proposal.target.value,
        first=_day(proposal.created_at),
        day=_day(proposal.created_at),
        decided=decided,
        sessions=max(1, len(said)),
        agents=tuple(sorted({proposal.agent, *(one.turn.partition(":")[0] for one in proposal.evidence)} - {""})),
        said="accepted" if proposal.state is State.ACCEPTED else "open",
    )


def _day(at: str) -> str:
    return at[:10] if seconds(at) is not None else day(0.0)
