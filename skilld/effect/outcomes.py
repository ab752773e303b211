"""All rules with their effects and remedies, from the store, and the proposals that carry the remedies out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from skilld.classify.offline.release import taking_back
from skilld.clock import parse_time
from skilld.context.values import within
from skilld.effect.cross_agent import offers
from skilld.effect.remedies import has_recent_proposal, proposals_for
from skilld.effect.remedy_edits import RemedyContext, RemedyPlan, plan_remedy
from skilld.effect.rule_lines import added_at, rules_in, text_of
from skilld.effect.rules import Effect, Rule, Times, effects, rules, with_noted_repeats
from skilld.errors import SkilldError
from skilld.ingest.discover import Host
from skilld.past import PastSession
from skilld.proposals.amend import stage_and_store
from skilld.proposals.model import ACROSS_PREFIX, REMEDY_PREFIX
from skilld.proposals.passed_over import Withdrawal, load_withdrawals
from skilld.proposals.past_decisions import past_decisions
from skilld.store import Store
from skilld.store.proposals import UNWANTED_STATES
from skilld.text import Redact, fold_case
from skilld.types import Kind, Op, Proposal, State, TargetKind, Update
from skilld.values import value_class


def sessions_with_repeats(store: Store, past: Sequence[PastSession] | None = None) -> list[PastSession]:
    """Return the past sessions, or the given ones, with the repeats noted when their batches were judged."""
    sessions = store.past.sessions() if past is None else past
    return with_noted_repeats(sessions, store.proposals.in_states([State.SAID]), text_of, cache(added_at))


def collect(store: Store, sessions: Sequence[PastSession]) -> list[Effect]:
    """Return the effect of every rule in past sessions, from the store and the present files."""
    accepted, away, taught = [], dict[str, Times](), dict[str, list[str]]()
    for one in store.proposals.in_states([State.ACCEPTED]):
        times = [
            (parse_time(at) or 0.0, parse_time(until) or 0.0) for at, until in store.proposals.times_in_force(one.id)
        ]
        accepted.append((one, times[0][0] if times else parse_time(one.decided_at) or 0.0))
        away[one.id] = tuple((gone, back) for (_, gone), (back, _) in pairwise(times))
        for said in one.evidence if not one.batch_id.startswith(REMEDY_PREFIX) else ():  # a remedy quotes repeats
            taught.setdefault(said.turn, []).append(said.quote)
    return effects(rules(accepted, sessions, text_of, away), sessions, taught)


_DAY_SECONDS = 86400.0
_MAX_PROPOSALS_PER_DAY = 3  # of each kind


@value_class
class RuleOutcome:
    """A rule's effect, the plan for it, and the proposals already made for it, the newest last."""

    effect: Effect
    plan: RemedyPlan
    made: tuple[Proposal, ...]


class RuleRemedies:
    """What to do about rules at a Unix time; `allowed` are the kinds of files that may be edited."""

    def __init__(self, store: Store, host: Host, allowed: Collection[TargetKind], redact: Redact, now: float) -> None:
        self._store, self._host, self._allowed, self._redact, self._now = store, host, allowed, redact, now

    def outcomes(
        self, chosen: Callable[[Rule], bool] = lambda _: True, max_plans: int | None = None
    ) -> list[RuleOutcome]:
        """Return the outcome of the chosen rules.

        Only the `max_plans` rules that were repeated last get a plan: making and checking an edit takes 15 ms.
        """
        sessions = sessions_with_repeats(self._store)
        around = self._context(sessions)
        remedies = [one for one in around.proposals.values() if one.batch_id.startswith(REMEDY_PREFIX)]
        found = [one for one in collect(self._store, sessions) if chosen(one.rule)]
        made = {one.rule: sorted(proposals_for(one.rule, remedies), key=lambda by: by.created_at) for one in found}
        withdrawals = load_withdrawals(self._store, self._now)
        waiting = [
            one
            for one in sorted(found, key=_last_repeated_at, reverse=True)
            if not has_recent_proposal(made[one.rule], self._now)
            and not (is_withdrawn(one, withdrawals) or is_leaving(one.rule, around.proposals.values()))
        ]
        called_for = {one.rule: plan_remedy(one, made[one.rule], around) for one in waiting[:max_plans]}
        return [RuleOutcome(one, called_for.get(one.rule, RemedyPlan()), tuple(made[one.rule])) for one in found]

    def propose(self) -> list[Proposal]:
        """Propose remedies for rules, a few a day, starting with the rules that were repeated last."""
        found = sorted(self.outcomes(), key=lambda one: _last_repeated_at(one.effect), reverse=True)
        return self._propose_first(REMEDY_PREFIX, (one.plan.draft for one in found if one.plan.draft is not None))

    def propose_for_other_agents(self) -> list[Proposal]:
        """Propose rules accepted for one agent to other agents that do not load them, a few a day."""
        return self._propose_first(ACROSS_PREFIX, offers(self._context(()), self._store.proposals.accepted_at))

    def _context(self, sessions: Iterable[PastSession]) -> RemedyContext:
        proposals = self._store.proposals.in_states([*State])
        return RemedyContext(
            host=self._host,
            allowed=self._allowed,
            sessions={one.session_id: one for one in sessions},
            proposals={one.id: one for one in proposals},
            decided=past_decisions(one for one in proposals if one.state in UNWANTED_STATES),
            agents_in=self._store.transcripts.agents_in,
            redact=self._redact,
            now=self._now,
        )

    def _propose_first(self, sort: str, drafts: Iterator[Proposal]) -> list[Proposal]:
        """Propose the first drafts, up to the day's limit for their kind."""
        lately = [
            one
            for one in self._store.proposals.in_states([*State])
            if one.batch_id.startswith(sort) and (parse_time(one.created_at) or self._now) > self._now - _DAY_SECONDS
        ]
        made: list[Proposal] = []
        while len(made) + len(lately) < _MAX_PROPOSALS_PER_DAY and (draft := next(drafts, None)) is not None:
            try:
                made.append(stage_and_store(self._store, draft))
            except SkilldError:  # the file or the branch has changed: try again tomorrow
                continue
        return made


def _last_repeated_at(effect: Effect) -> float:
    return max((heard.at for heard in (*effect.evidence, *effect.missed)), default=0.0)


def is_withdrawn(effect: Effect, withdrawals: Iterable[Withdrawal]) -> bool:
    """Whether the person took a rule back after they last said it."""
    rule, last = effect.rule, max(_last_repeated_at(effect), effect.rule.since)
    said = Update(None, "", rule.text, "", Kind.PREFERENCE, 1, rule.text)
    return any(
        (parse_time(one.said_at) or 0.0) > last
        and (within(one.project, rule.folder) or within(rule.folder, one.project))
        and taking_back(one.quote, said)
        for one in withdrawals
    )


def is_leaving(rule: Rule, proposals: Iterable[Proposal]) -> bool:
    """Whether an open proposal would remove or replace the line of a rule, so that the person decides on that first."""
    words = fold_case(rule.text)
    edits = (edit for one in proposals if one.state is State.OPEN and one.path == rule.path for edit in one.operations)
    return any(
        edit.op in {Op.DELETE, Op.REPLACE} and words in {fold_case(text) for _, text in rules_in(edit.anchor)}
        for edit in edits
    )
