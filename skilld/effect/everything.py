"""All rules with their effect and their remedy, from the store; and the proposals that carry remedies out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from skilld.clock import seconds
from skilld.effect.across import offers
from skilld.effect.lines import came_in, text_of
from skilld.effect.mending import Around, Prescription, prescribe
from skilld.effect.remedies import made_of, rests
from skilld.effect.rules import Effect, Rule, effects, rules, with_notes
from skilld.errors import SkilldError
from skilld.git.environment import scrub_environment
from skilld.ingest.discover import Host
from skilld.past import PastSession
from skilld.pipeline.judge import Redact
from skilld.proposals.amend import put
from skilld.proposals.lessons import past_decisions
from skilld.proposals.model import ACROSS, REMEDY
from skilld.store import Store
from skilld.store.proposals import UNWANTED
from skilld.types import Proposal, State, TargetKind

# The effect of all rules, from the store and the files as they are now. Reads only.


def with_what_was_said(store: Store, past: Sequence[PastSession] | None = None) -> list[PastSession]:
    """Return the past sessions, or those given, with the repeats that were noted when they were judged."""
    scrub_environment()
    sessions = store.past.sessions() if past is None else past
    return with_notes(sessions, store.proposals.in_states([State.SAID]), text_of, cache(came_in))


def collect(store: Store, sessions: Sequence[PastSession]) -> list[Effect]:
    """Return what became of all rules, by what past sessions show."""
    accepted = [
        (one, seconds(store.proposals.accepted_at(one.id) or one.decided_at) or 0.0)
        for one in store.proposals.in_states([State.ACCEPTED])
    ]
    return effects(rules(accepted, sessions, text_of), sessions)


_DAY = 86400.0
_A_DAY = 3  # proposals: one more tells nobody more


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What became of a rule, what is to be done, and which proposals were made of it, the newest last."""

    effect: Effect
    prescription: Prescription
    made: tuple[Proposal, ...]


def look(
    store: Store,
    host: Host,
    allowed: Collection[TargetKind],
    redact: Redact,
    now: float,
    *,
    chosen: Callable[[Rule], bool] = lambda _: True,
    most: int | None = None,
) -> list[RuleOutcome]:
    """Return the chosen rules, by what past sessions show.

    What is to be done is told of the `most` that were said again last: an edit takes 15 ms to be made and checked.
    """
    sessions = with_what_was_said(store)
    around = _around(store, host, allowed, redact, now, sessions)
    remedies = [one for one in around.proposals.values() if one.batch_id.startswith(REMEDY)]
    found = [one for one in collect(store, sessions) if chosen(one.rule)]
    made = {one.rule: sorted(made_of(one.rule, remedies), key=lambda by: by.created_at) for one in found}
    waiting = [one for one in sorted(found, key=_last_said, reverse=True) if not rests(made[one.rule], now)]
    called_for = {one.rule: prescribe(one, made[one.rule], around) for one in waiting[:most]}
    return [RuleOutcome(one, called_for.get(one.rule, Prescription()), tuple(made[one.rule])) for one in found]


def _around(  # noqa: PLR0917 - who asks, and for whom
    store: Store,
    host: Host,
    allowed: Collection[TargetKind],
    redact: Redact,
    now: float,
    sessions: Iterable[PastSession],
) -> Around:
    proposals = store.proposals.in_states([*State])
    return Around(
        host=host,
        allowed=allowed,
        sessions={one.session_id: one for one in sessions},
        proposals={one.id: one for one in proposals},
        decided=past_decisions(one for one in proposals if one.state in UNWANTED),
        agents_in=store.transcripts.agents_in,
        redact=redact,
        now=now,
    )


def mend(store: Store, host: Host, allowed: Collection[TargetKind], redact: Redact, now: float) -> list[Proposal]:
    """Propose what is to be done about rules, a few a day, those first that were said again last."""
    found = look(store, host, allowed, redact, now)
    drafts = (one.prescription.draft for one in sorted(found, key=lambda one: _last_said(one.effect), reverse=True))
    return _put(store, REMEDY, (one for one in drafts if one is not None), now)


def share(store: Store, host: Host, allowed: Collection[TargetKind], redact: Redact, now: float) -> list[Proposal]:
    """Propose what one agent was taught for the file of another one that does not see it, a few a day."""
    return _put(store, ACROSS, offers(_around(store, host, allowed, redact, now, ()), store.proposals.accepted_at), now)


def _put(store: Store, sort: str, drafts: Iterator[Proposal], now: float) -> list[Proposal]:
    """Propose the first of these; of each sort there are a few a day."""
    lately = [
        one
        for one in store.proposals.in_states([*State])
        if one.batch_id.startswith(sort) and (seconds(one.created_at) or now) > now - _DAY
    ]
    made: list[Proposal] = []
    while len(made) + len(lately) < _A_DAY and (draft := next(drafts, None)) is not None:
        try:
            made.append(put(store, draft))
        except SkilldError:  # the file, or the branch, is not as it was: looked at again tomorrow
            continue
    return made


def _last_said(effect: Effect) -> float:
    return max((heard.at for heard in (*effect.evidence, *effect.missed)), default=0.0)
