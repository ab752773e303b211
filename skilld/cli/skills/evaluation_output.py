"""What `skilld skills eval` prints: the cases, the cost of a run, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.evals.checks import parse_literal
from skilld.evals.significance import GOOD_SHARE, POWER, Comparison, detectable_share, interval
from skilld.mining.questions import Terms, model_rates
from skilld.text import fold, format_usd, pluralize, truncate
from skilld.types import Proposal, Usage

if TYPE_CHECKING:
    from skilld.evals.case_file import Case
    from skilld.evals.grow import GrownCases
    from skilld.evals.plan import Estimate, Plan
    from skilld.evals.results import EvalOutcome
    from skilld.evals.stored_cases import CaseFiles, CaseToRun
    from skilld.settings import Settings

_MAX_SHOWN_CHARS = 100  # of a prompt or an answer


@dataclass
class CaseCollection:
    """The cases of a skill, what became of the new ones, and why they could not be saved, if so."""

    place: CaseFiles
    cases: list[CaseToRun]
    new: list[tuple[str, Case]]
    grown: GrownCases
    proposal: Proposal | None = None
    offered: int = 0  # of the new ones
    trouble: str = ""


def print_cases(found: CaseCollection, chosen: Sequence[CaseToRun], *, dry: bool) -> None:
    """Print the cases, which of them will be run, and where new ones were saved."""
    ours = {id(one) for one in chosen}
    for one in found.cases:
        why = one.case.obstacle or ("" if id(one) in ours else "left out by --case")
        head = f"{console.paint(console.plain(one.case.id), 'bold')}  {console.plain(_shorten(one.case.prompt))}"
        console.say(head + (console.paint(f"  not run: {console.plain(why)}", "dim") if why else ""))
        for statement in one.case.statements:
            by = "a judge" if parse_literal(statement) is None else "code"
            console.say(f"    {console.plain(statement)}{console.paint(f'  ({by})', 'dim')}")
    for line in _describe_new(found, dry=dry):
        console.say(console.plain(line))
    for name, why in found.grown.left_out:
        console.say(f"No case from {name}: {console.plain(why)}.", style="dim")
    if not found.cases:
        console.say("No cases yet. Each correction you accept for this skill becomes a case.")


def _describe_new(found: CaseCollection, *, dry: bool) -> list[str]:
    if not found.new:
        return []
    number = pluralize(len(found.new), "new case")
    if dry:
        how = "saved to" if found.place.why_own else "proposed for the skill's folder, as"
        return [f"{number} would be {how} {found.place.goes_to}"]
    if found.trouble:
        return [f"{number} not saved: {found.trouble}"]
    if found.proposal is not None:
        name = found.proposal.id
        rest = len(found.new) - found.offered
        later = [f"{rest} more will be proposed once you have decided on these."] if rest else []
        number = pluralize(found.offered, "new case")
        return [f"{number} proposed for the skill's folder: skilld review {name}", *later]
    return [f"{number} saved to {found.place.own}, for you to edit ({found.place.why_own})"]


def describe_power(pairs: int) -> str:
    """Describe the smallest drop in the pass rate that this many pairs can detect."""
    seen = detectable_share(pairs)
    if seen is None:
        return f"{pluralize(pairs, 'run')} per side: too few to detect any drop."
    drop = f"a drop in the pass rate from {GOOD_SHARE:.0%} to {seen:.0%}, or a larger one"
    return f"{pluralize(pairs, 'run')} per side: enough to detect {drop}, {POWER:.0%} of the time."


def estimate_usd(expected: Estimate, plan: Plan, terms: Terms) -> float | None:
    """Estimate the cost in US dollars; None if a price is not known."""
    models = list(dict.fromkeys((plan.model, plan.judge)))
    rates = [one for one in model_rates(models, terms).values() if one is not None]
    if len(rates) < len(models):
        return None
    return max(one.of(expected.tokens_in, expected.tokens_out) for one in rates)


def budget_shortfall(expected: Estimate, usd: float | None, today: Usage, settings: Settings) -> str:
    """Describe how far today's budget falls short of the expected cost; empty if it does not."""
    limits = settings.budget
    tokens = limits.tokens - today.tokens_in - today.tokens_out
    calls = max(0, limits.calls - today.calls)
    if limits.calls and calls < expected.calls:
        return f"Today's budget covers {calls:,} of these {expected.calls:,} calls (budget.calls)."
    if limits.tokens and tokens < expected.tokens:
        return f"Today's budget covers {max(0, tokens):,} of these {expected.tokens:,} tokens (budget.tokens)."
    if limits.usd and usd is not None and today.usd + usd > limits.usd:
        return f"Today's budget covers {format_usd(limits.usd - today.usd)} of these {format_usd(usd)} (budget.usd)."
    return ""


def print_outcome(found: EvalOutcome, stopped: str) -> None:
    """Print the result of an evaluation."""
    word = found.verdict
    colour = {Comparison.WORSE: "red", Comparison.BETTER: "green"}.get(word, "yellow") if word is not None else "yellow"
    console.say(found.sentence, style=colour)
    if word is not None:
        low, high = interval(found.tally)
        plan = found.plan
        models = console.plain(f"{plan.model}, judged by {plan.judge}" if plan.judge != plan.model else plan.model)
        console.say(f"  difference: {low:+.0%} to {high:+.0%} (95% confidence interval), on these cases with {models}")
    for one in (each for each in found.cases if each.tally.pairs):
        text = f"{one.tally.with_it} of {one.tally.pairs} passed with, {one.tally.without} of {one.tally.pairs} without"
        console.say(f"  case {console.plain(one.case.id)}: {text}")
        if one.failed:
            console.say(f"    failed with {found.tested}: {console.plain(_shorten(one.failed))}", style="dim")
    if stopped:
        console.say(f"Stopped: {console.plain(stopped)}. To continue, run the same command again.", style="yellow")
    if word is Comparison.WORSE and found.plan.proposal:
        undo = f"skilld {'revert' if found.plan.without else 'reject'} {found.plan.proposal}"
        console.say(f"To remove the edit: {undo}")


def as_json(
    name: str, path: Path, found: CaseCollection, chosen: Sequence[CaseToRun], *, dry: bool, more: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the JSON document of `skills eval`; `more` is added to it."""
    ours = {id(one) for one in chosen}
    return {
        "skill": name,
        "path": str(path),
        "cases": [
            {
                "id": one.case.id,
                "file": one.file or None,
                "proposal": one.proposal or None,
                "prompt": one.case.prompt,
                "expectations": [
                    {"text": text, "by": "judge" if parse_literal(text) is None else "code"}
                    for text in one.case.statements
                ],
                "run": id(one) in ours,
                "why_not": one.case.obstacle or "",
            }
            for one in found.cases
        ],
        "new": {
            "cases": len(found.new),
            "offered": found.offered,
            "file": str(found.place.goes_to),
            "kept": bool(found.new) and not dry and not found.trouble,
            "proposal": found.proposal.id if found.proposal is not None else None,
            "why_own": found.place.why_own or "",
            "trouble": found.trouble,
            "left_out": [{"proposal": proposal, "why": why} for proposal, why in found.grown.left_out],
        },
        **more,
    }


def plan_json(plan: Plan | None, expected: Estimate | None) -> dict[str, Any]:
    """Return the plan and its cost as JSON."""
    if plan is None or expected is None:
        return {"plan": None}
    return {
        "plan": {
            "id": plan.id,
            "model": plan.model,
            "judge": plan.judge,
            "proposal": plan.sides.proposal or None,
            "pairs": plan.pairs,
            "left": expected.pairs,
            "calls": expected.calls,
            "tokens": expected.tokens,
            "shows": {"from": GOOD_SHARE, "to": detectable_share(plan.pairs), "power": POWER},
        }
    }


def _shorten(text: str) -> str:
    return truncate(fold(common.redactor()(text)), _MAX_SHOWN_CHARS)
