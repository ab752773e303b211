"""What to do about a rule that is not kept or not needed: the order in which code chooses. Pure.

A rule gets at most one proposal a month, and each sort of remedy once. Two remedies are only named: to revert the
proposal that brought the rule in, and, where all else was tried, to enforce it by a hook of the agent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from skilld.classify.again import complains
from skilld.clock import seconds
from skilld.effect.figures import RuleState
from skilld.effect.lines import rules_in
from skilld.effect.rules import Effect, Origin, RepeatEvidence, Rule
from skilld.proposals.model import REMEDY
from skilld.text import folded
from skilld.types import Operation, Proposal

MONTH = 30 * 86400.0
TWICE = 2  # sessions


class Remedy(StrEnum):
    """What is done about a rule."""

    REVERT = "revert"  # named: it had to be said again more often since it came in
    CUT = "cut"
    MERGE = "merge"  # another line says it, too
    MOVE = "move"  # to where it is loaded when it is needed
    SCOPE = "scope"  # to a rule for the files that it is about
    SHARPEN = "sharpen"  # with the person's newer words
    ENFORCE = "enforce"  # named: a hook or a linter


@dataclass(frozen=True, slots=True)
class Signs:
    """What is seen of a rule: what its figures say, and what a proposal could do about it.

    Of the last four each says whether there is another line, place or wording, which takes more than figures to tell.
    """

    unused: bool
    rose: bool
    broken: bool
    has_twin: bool = False
    fits_elsewhere: bool = False
    is_for_some_files: bool = False
    can_be_clearer: bool = False


# From what undoes a mistake, over what takes text away and what only moves it, to what adds words; a program is last.
ORDER: tuple[tuple[Remedy, Callable[[Signs], bool]], ...] = (
    (Remedy.REVERT, lambda signs: signs.rose),
    (Remedy.CUT, lambda signs: signs.unused),
    (Remedy.MERGE, lambda signs: signs.broken and signs.has_twin),
    (Remedy.MOVE, lambda signs: signs.broken and signs.fits_elsewhere),
    (Remedy.SCOPE, lambda signs: signs.broken and signs.is_for_some_files),
    (Remedy.SHARPEN, lambda signs: signs.broken and signs.can_be_clearer),
    (Remedy.ENFORCE, lambda signs: signs.broken),
)


def choose(signs: Signs, tried: Collection[Remedy] = ()) -> Remedy | None:
    """Return the first remedy that is called for and was not tried; None where none is."""
    return next((remedy for remedy, applies in ORDER if remedy not in tried and applies(signs)), None)


def is_unused(effect: Effect) -> bool:
    """Whether a rule was never needed, as far as may be said."""
    return effect.state is RuleState.UNUSED


def rose(effect: Effect) -> bool:
    """Whether what a proposal brought in has to be said more often since: both intervals lie apart."""
    return effect.rule.origin is Origin.PROPOSAL and effect.after.interval[0] > effect.before.interval[1]


def is_broken(effect: Effect, now: float) -> bool:
    """Whether something is to be done about a rule at a Unix time: by its figures, or by what was heard of late.

    That is that it was said again in two sessions, or that the agent broke what the person had said and accepted.
    """
    if effect.state is RuleState.HOLDS:
        return False
    lately, missed = ([one for one in heard if one.at > now - MONTH] for heard in (effect.evidence, effect.missed))
    accepted = effect.rule.origin is Origin.PROPOSAL
    return (
        effect.state is RuleState.REPEATED
        or sessions_of(lately) >= TWICE
        or sessions_of(missed) >= TWICE
        or (accepted and any(complains(one.quote) for one in lately))
    )


def is_missed(effect: Effect) -> bool:
    """Whether a rule is asked for where its file is not loaded, and more often than where it is."""
    return sessions_of(effect.missed) >= max(TWICE, 1 + sessions_of(effect.evidence))


def sessions_of(heard: Iterable[RepeatEvidence]) -> int:
    """Return in how many sessions something was heard."""
    return len({one.session for one in heard})


# The proposals that were made of a rule: its key stands in the id of their batch, so in their commits, too.


def key_of(rule: Rule) -> str:
    """Return the id of a rule: of its file and its words."""
    return hashlib.sha256(f"{rule.path}\n{folded(rule.text)}".encode("utf-8", "surrogatepass")).hexdigest()[:8]


def batch_of(rule: Rule, remedy: Remedy) -> str:
    """Return the id of the batch that a proposal of a remedy is said to be of."""
    return f"{REMEDY}{remedy.value}-{key_of(rule)}"


def remedy_of(proposal: Proposal) -> Remedy:
    """Return the remedy that a proposal is, whose batch says so."""
    return Remedy(proposal.batch_id.removeprefix(REMEDY).partition("-")[0])


def made_of(rule: Rule, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
    """Yield those proposals that are remedies of a rule, or that gave it the words or the place that it has."""
    mine, words = f"-{key_of(rule)}", folded(rule.text)
    for one in proposals:
        if one.batch_id.startswith(REMEDY):
            wrote = one.path == rule.path and any(words in _rules_of(operation) for operation in one.operations)
            if one.batch_id.endswith(mine) or wrote:
                yield one


def _rules_of(operation: Operation) -> set[str]:
    return {folded(text) for _, text in rules_in(operation.text)}


def rests(made: Iterable[Proposal], now: float) -> bool:
    """Whether a rule had its proposal of this month."""
    return any((seconds(one.created_at) or now) > now - MONTH for one in made)
