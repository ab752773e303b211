"""Remembers for a while what was said in sessions but became nothing, as redacted quotes, like learnings.

That is what sounded lasting but was not treated as a rule, and the words with which the person took rules back: past
sessions are judged newest first, so a rule may be read after the words that take it back.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace

from skilld.clock import parse_time, rfc3339
from skilld.errors import RefusedError
from skilld.protocol import BatchResult, NewLearning
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.learnings import Learning
from skilld.store.meta import PASSED_OVER, WITHDRAWALS
from skilld.types import Proposal, State
from skilld.values import value_class

_MAX_KEPT = 200  # the newest
_MAX_PER_PROJECT = 20  # so that a busy project does not push out the words of others
_MAX_SHOWN = 5
_MAX_AGE = 14 * 86400.0  # seconds


def load_passed_over(store: Store, now: float) -> list[Learning]:
    """Return what was passed over in the last two weeks, the newest first."""
    since = rfc3339(now - _MAX_AGE)
    return [one for one in _load(store) if one.created_at >= since]


def passed_over_id(turn: str, quote: str) -> str:
    """Return the ID of what was passed over in a turn."""
    return hashlib.sha256(f"passed over\n{turn}\n{quote}".encode()).hexdigest()[:10]


def explained(found: Sequence[Learning]) -> list[Learning]:
    """Return what was passed over, each with the reason why it is not proposed."""
    return [replace(one, why_kept=f"it was not treated as a rule ({one.why_kept})") for one in found]


def first_few(found: Sequence[Learning]) -> tuple[list[Learning], str]:
    """Return the newest of what was passed over, explained, and a sentence on the others; most of it is no rule."""
    more = len(found[_MAX_SHOWN:])
    others = f"Not shown: {more} more that were not treated as rules. List them: skilld learnings" if more else ""
    return explained(found[:_MAX_SHOWN]), others


def remember_passed_over(store: Store, batch: StoredBatch, result: BatchResult, now: float) -> None:
    """Store what a batch passed over, unless it is part of a learning or proposal; delete what is old."""
    known = load_passed_over(store, now)
    ids = {one.id for one in known}
    found = [
        build_learning(passed_over_id(item.turn, item.quote), item, batch, now)
        for item in result.passed_over
        if not _is_heard(store, item, result)
    ]
    new = [one for one in reversed(found) if one.id not in ids]
    kept = list(_newest_by_project([*new, *known]))[:_MAX_KEPT]
    _save(store, PASSED_OVER, kept)


def forget_ask(store: Store, ask: Sequence[Learning]) -> None:
    """Delete these, whether they are learnings or were passed over; call it in a transaction."""
    forget(store, [one.id for one in ask])


def forget(store: Store, ids: Collection[str]) -> None:
    """Delete the learnings and what was passed over with these IDs; call it in a transaction."""
    for name in ids:
        store.learnings.forget(name)
    if ids:
        _save(store, PASSED_OVER, [one for one in _load(store) if one.id not in ids])


def forget_decided(store: Store, proposal: Proposal) -> None:
    """Delete the words of a proposal that is neither open nor in effect, from every file of the store.

    Raises RefusedError if it is open or accepted. What it would have said can then be proposed again.
    """
    if proposal.state in {State.OPEN, State.DROPPED, State.ACCEPTED}:
        verb = "revert" if proposal.state is State.ACCEPTED else "reject"
        cause = f"{proposal.id} is {proposal.state.value}, so it is still needed"
        raise RefusedError("Nothing was forgotten", cause, f"First: skilld {verb} {proposal.id}")
    with store.transaction():
        store.proposals.forget_words(proposal)
        forget(store, [one.id for said in proposal.evidence for one in store.learnings.of_turn(said.turn)])
    store.erase_free_space()


def build_learning(name: str, item: NewLearning, batch: StoredBatch, now: float) -> Learning:
    """Return the learning of a batch with this ID, kept at a Unix time."""
    return Learning(
        id=name,
        turn_key=item.turn,
        quote=item.quote,
        change=item.change,
        kind=item.kind,
        agent=batch.agent,
        session_id=batch.session_id,
        project=batch.job.cwd,
        skill=item.skill,
        why_kept=item.why_kept,
        confidence=item.confidence,
        created_at=rfc3339(now),
        place_kind=item.place_kind or "",
        place=item.place,
    )


def _is_heard(store: Store, item: NewLearning, result: BatchResult) -> bool:
    quotes = [one.quote for one in store.learnings.of_turn(item.turn)]
    for made in (*result.proposals, *result.notes):
        quotes += [said.quote for said in made.evidence if said.turn == item.turn]
    return any(item.quote in quote or quote in item.quote for quote in quotes)


def _newest_by_project(found: Sequence[Learning]) -> Iterator[Learning]:
    seen: Counter[str | None] = Counter()
    for one in found:
        seen[one.project] += 1
        if seen[one.project] <= _MAX_PER_PROJECT:
            yield one


def _load(store: Store) -> list[Learning]:
    return [Learning(**one) for one in store.meta.get(PASSED_OVER, [])]


def _save(store: Store, key: str, kept: Sequence[Learning | Withdrawal]) -> None:
    found = [asdict(one) for one in kept]
    if found != store.meta.get(key, []):
        store.meta.set(key, found)


_MAX_WITHDRAWALS = 20  # the newest
_MAX_WITHDRAWAL_AGE = 30 * 86400.0  # seconds


@value_class
class Withdrawal:
    """A clause that takes a rule back, where and when it was said (RFC 3339), and when it was stored."""

    turn: str
    quote: str
    project: str
    said_at: str
    kept_at: str


def load_withdrawals(store: Store, now: float) -> list[Withdrawal]:
    """Return what was let go of in the batches of the last month, the newest first."""
    kept = [Withdrawal(**one) for one in store.meta.get(WITHDRAWALS, [])]
    return [one for one in kept if now - (parse_time(one.kept_at) or 0.0) < _MAX_WITHDRAWAL_AGE]


def store_withdrawals(store: Store, batch: StoredBatch, result: BatchResult, now: float) -> None:
    """Store the clauses of a batch that take a rule back; delete what is old. Call it in a transaction."""
    known = load_withdrawals(store, now)
    seen = {(one.turn, one.quote) for one in known}
    at = rfc3339(now)
    new = [
        Withdrawal(one.turn, one.quote, batch.job.cwd or "", store.transcripts.said_at(one.turn) or at, at)
        for one in dict.fromkeys(result.withdrawals)
        if (one.turn, one.quote) not in seen
    ]
    _save(store, WITHDRAWALS, [*reversed(new), *known][:_MAX_WITHDRAWALS])
