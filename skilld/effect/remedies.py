"""Chooses the remedy for a rule that is not followed or not needed. Pure.

A rule gets at most one proposal a month, and each remedy once. Two remedies are only suggested: reverting the proposal
that added the rule, and, after everything else, enforcing it by a hook of the agent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import StrEnum

from skilld.classify.rule_repeats import complains
from skilld.clock import parse_time
from skilld.effect.figures import RuleState
from skilld.effect.rule_lines import rules_in
from skilld.effect.rules import Effect, Origin, RepeatEvidence, Rule
from skilld.proposals.model import REMEDY_PREFIX
from skilld.text import fold_case
from skilld.types import Proposal

MONTH_SECONDS = 30 * 86400.0
MIN_REPEATED_SESSIONS = 2  # sessions


class Remedy(StrEnum):
    """What is done about a rule."""

    REVERT = "revert"  # it had to be repeated more often since it was added
    CUT = "cut"
    MERGE = "merge"  # another line says the same
    MOVE = "move"  # to where it is loaded when it is needed
    SCOPE = "scope"  # limited to the files that it is about
    SHARPEN = "sharpen"  # with the person's newer words
    ENFORCE = "enforce"  # by a hook or a linter


SUGGESTED = frozenset({Remedy.REVERT, Remedy.ENFORCE})  # the person does these; there is no proposal for them


def called_for(effect: Effect, now: float) -> Iterator[Remedy]:
    """Yield the possible remedies that a rule calls for by its figures.

    First undoing a mistake, then removing text, moving it, adding words; a program comes last.
    """
    if is_repeated_more(effect):
        yield Remedy.REVERT
    if is_unused(effect):
        yield Remedy.CUT
    if is_broken(effect, now):
        yield from (Remedy.MERGE, Remedy.MOVE, Remedy.SCOPE, Remedy.SHARPEN, Remedy.ENFORCE)


def is_unused(effect: Effect) -> bool:
    """Whether a rule was never needed, as far as can be known."""
    return effect.state is RuleState.UNUSED


def is_repeated_more(effect: Effect) -> bool:
    """Whether a proposed rule is repeated more often since it was added: the two intervals do not overlap."""
    return effect.rule.origin is Origin.PROPOSAL and effect.after.interval[0] > effect.before.interval[1]


def is_broken(effect: Effect, now: float) -> bool:
    """Whether a rule needs a remedy at a Unix time, by its figures or by its repeats in the last month.

    The latter: the person complained about their own rule in two sessions, or about one that they had accepted in one,
    or had to say it in two that had not loaded it.
    """
    if effect.state is RuleState.HOLDS:
        return False
    start = now - MONTH_SECONDS
    lately, missed = ([one for one in repeats if one.at > start] for repeats in (effect.evidence, effect.missed))
    accepted = effect.rule.origin is Origin.PROPOSAL
    complaints = [one for one in lately if complains(one.quote)]
    return (
        effect.state is RuleState.REPEATED
        or count_sessions(missed) >= MIN_REPEATED_SESSIONS
        or count_sessions(complaints) >= (1 if accepted else MIN_REPEATED_SESSIONS)
        or (accepted and count_sessions(lately) >= MIN_REPEATED_SESSIONS)
    )


def is_missed(effect: Effect) -> bool:
    """Whether a rule is asked for more often where its file is not loaded than where it is."""
    return count_sessions(effect.missed) >= max(MIN_REPEATED_SESSIONS, 1 + count_sessions(effect.evidence))


def count_sessions(repeats: Iterable[RepeatEvidence]) -> int:
    """Return the number of different sessions of repeats."""
    return len({one.session for one in repeats})


# A rule's proposals have its id in the id of their batch, and so in their commits.


def rule_id(rule: Rule) -> str:
    """Return the id of a rule, made from its file and its words."""
    return hashlib.sha256(f"{rule.path}\n{fold_case(rule.text)}".encode("utf-8", "surrogatepass")).hexdigest()[:8]


def batch_id_of(rule: Rule, remedy: Remedy) -> str:
    """Return the batch id of a remedy's proposal."""
    return f"{REMEDY_PREFIX}{remedy.value}-{rule_id(rule)}"


def remedy_of(proposal: Proposal) -> Remedy:
    """Return the remedy named in a proposal's batch id."""
    return Remedy(proposal.batch_id.removeprefix(REMEDY_PREFIX).partition("-")[0])


def proposals_for(rule: Rule, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Yield the proposals that are remedies of a rule, or that gave it its present words or place."""
    mine, words = f"-{rule_id(rule)}", fold_case(rule.text)
    for one in proposals:
        if one.batch_id.startswith(REMEDY_PREFIX):
            added = (text for operation in one.operations for _, text in rules_in(operation.text))
            wrote = one.path == rule.path and any(fold_case(text) == words for text in added)
            if one.batch_id.endswith(mine) or wrote:
                yield one


def has_recent_proposal(made: Iterable[Proposal], now: float) -> bool:
    """Whether a rule had a proposal in the last month."""
    return any((parse_time(one.created_at) or now) > now - MONTH_SECONDS for one in made)
