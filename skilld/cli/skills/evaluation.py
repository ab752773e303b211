"""`skilld skills eval NAME`: runs cases grown from your corrections, to see whether an edit helps or hurts."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.choose import choose
from skilld.cli import common, inventory, terminal
from skilld.cli.progress import Progress
from skilld.clock import local_day
from skilld.errors import Exit, RefusedError, SkilldError, UsageError
from skilld.evals import stored_cases
from skilld.evals.case_file import Case
from skilld.evals.checks import parse_literal
from skilld.evals.grow import GrownCases, SessionMessages, grow
from skilld.evals.results import EvalOutcome, eval_outcome
from skilld.evals.run import ComparedTexts, Estimate, EvalRun, Plan, estimate, pending_pairs
from skilld.evals.significance import GOOD_SHARE, POWER, Comparison, detectable_share, interval, pairs_needed
from skilld.evals.stored_cases import CaseFiles, CaseToRun
from skilld.git.line_diff import undo
from skilld.library.rows import LibraryRow
from skilld.mining.questions import Terms, model_rates
from skilld.proposals.explain import read_versions
from skilld.proposals.poll import refresh
from skilld.proposals.refit import Edit
from skilld.skills import opt_out
from skilld.store import Store
from skilld.store.budget import spent_limit
from skilld.text import fold, format_usd, pluralize, truncate
from skilld.types import Proposal, State, Usage

if TYPE_CHECKING:
    from skilld.settings import Settings

_NOT_EVALUATED = "The skill was not evaluated"
_MAX_RUNS = 200
_MODEL_NEEDED = "a model is needed to write the answers; to choose one: skilld setup"


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    if arguments.runs is not None and not 1 <= arguments.runs <= _MAX_RUNS:
        raise UsageError("Invalid number of runs", str(arguments.runs), f"Use a number from 1 to {_MAX_RUNS}.")
    store = common.store()
    refresh(store)
    verb = _Evaluation(arguments, store, inventory.find_skill(store, arguments.name))
    try:
        return verb.run()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. The answers so far are kept; to continue, run the same command again.\n")
        raise


class _Evaluation:
    """One run of the verb: the skill, its cases, the plan and the result."""

    def __init__(self, arguments: argparse.Namespace, store: Store, row: LibraryRow) -> None:
        self._arguments, self._store, self._row = arguments, store, row
        self._settings = common.settings()
        self._planned: tuple[Plan, Estimate] | None = None

    def run(self) -> int:
        """Gather the cases, print the plan, confirm, run, report; return the exit code."""
        if why := opt_out(self._row.path, self._row.name):
            raise RefusedError(_NOT_EVALUATED, why)
        edit, current = self._find_edit(), inventory.skill_text(self._row.skill)
        sides = ComparedTexts(current, "")
        if edit is not None:
            sides = _sides_of_edit(edit, current, without=bool(self._arguments.taken_out))
        self._found = self._gather_cases(edit)
        self._cases = self._choose_cases()
        if not self._arguments.json:
            print_cases(self._found, self._cases, dry=self._arguments.dry_run)
        spec, judge = self._specs()
        if not self._cases or OFFLINE in {spec.model, judge.model}:
            why = _MODEL_NEEDED if self._cases else "there are no cases to run"
            return self._report(None, why, ran=False)
        plan = self._plan(sides, spec, judge)
        expected = estimate(plan, pending_pairs(plan, self._store.evals.runs(plan.id)))
        self._planned = plan, expected
        if not expected.pairs:
            return self._report(self._stored_outcome(plan))
        if self._arguments.dry_run:
            if not self._arguments.json:
                cost = expected.describe(console.plain(plan.model))
                console.say(f"The evaluation would take {cost}. {describe_power(plan.pairs)}")
                if beyond := budget_shortfall(expected, None, self._spent_today(), self._settings):
                    console.say(f"{beyond} The rest could be run on later days.")
            return self._report(self._stored_outcome(plan))
        if not self._confirm(plan, expected, spec):
            return Exit.FAILURE
        with Progress("pairs run") as progress:
            terms = common.terms(spec, self._settings)
            going = EvalRun(self._store, plan, terms, judge, lambda done: progress.show(done, plan.pairs))
            outcome = going.run()
        return self._report(outcome, going.summary.stopped)

    def _find_edit(self) -> Proposal | None:
        """Return the proposal whose edit is tested; None to test the whole skill."""
        given = self._arguments.put_in or self._arguments.taken_out
        if given is None:
            return None
        proposal = common.find_proposal(self._store, given)
        if proposal.path != str(self._row.path):
            raise UsageError(_NOT_EVALUATED, f"{proposal.id} does not change {self._row.name}")
        return proposal

    def _gather_cases(self, edit: Proposal | None) -> CaseCollection:
        """Grow cases, save the new ones, and return all of them, including those of the edit itself."""
        settings = self._settings
        into = self._arguments.into_repository
        place = stored_cases.case_files(self._row.skill, settings.targets, into_repository=into)
        accepted = [one for one in self._store.proposals.accepted() if one.path == str(self._row.path)]
        sessions = SessionMessages(self._store, common.host(roots=settings.roots), common.redactor())
        grown = grow(accepted, sessions.session)
        known = stored_cases.load_cases(self._store, place)
        found = CaseCollection(place, known, stored_cases.new_cases(self._store, place, grown, known), grown)
        if found.new and not self._arguments.dry_run:
            try:
                found.proposal, found.offered = stored_cases.offer_cases(self._store, place, found.new)
            except SkilldError as error:
                found.trouble = str(error)
        if not found.trouble and not self._arguments.dry_run:
            found.cases = stored_cases.load_cases(self._store, place)
        else:
            found.cases = [*known, *(stored_cases.CaseToRun(replace(case, id=name), "") for name, case in found.new)]
        if edit is not None and edit.state is not State.ACCEPTED:
            of_edit = grow([edit], sessions.session)
            contents = {one.case.content for one in found.cases}
            fresh = [case for _, case in of_edit.cases if case.content not in contents]
            found.cases += [stored_cases.CaseToRun(replace(case, id=edit.id), "") for case in fresh]
        return found

    def _choose_cases(self) -> list[CaseToRun]:
        """Return the cases to run: all runnable ones, or those of them that are named."""
        wanted = self._arguments.cases
        cases = [one for one in self._found.cases if wanted is None or one.case.id in wanted]
        if missing := [name for name in wanted or () if all(one.case.id != name for one in cases)]:
            remedy = "To list the cases: skilld skills eval NAME --dry-run"
            raise UsageError("No such case", common.as_text(missing[0]), remedy)
        return [one for one in cases if not one.case.obstacle]

    def _specs(self) -> tuple[Spec, Spec]:
        """Return the back-end that is tested, and the one that judges."""
        from skilld.settings import choose_back_end

        settings, agent = self._settings, self._corrected_agent()
        judge = choose_back_end(settings, os.environ, agent).spec
        if not self._arguments.model:
            return judge, judge
        seconds = max(1.0, settings.worker.seconds / 2)
        key, url = settings.model_api_key, settings.model_base_url
        spec = choose(common.as_text(self._arguments.model), url, key, seconds, os.environ, agent=agent).spec
        return spec, judge

    def _corrected_agent(self) -> str:
        """Return the agent in which the skill was last corrected, which `model = "agent"` means."""
        made = self._store.proposals.all()
        found = [one for one in made if one.path == str(self._row.path) and one.agent]
        return found[-1].agent if found else next(iter(self._row.skill.agents), "")

    def _plan(self, sides: ComparedTexts, spec: Spec, judge: Spec) -> Plan:
        cases = self._cases
        pairs = self._arguments.runs or pairs_needed(len(cases))
        pairs = -(-pairs // len(cases)) * len(cases)  # the same number for each case
        return Plan(self._row.name, str(self._row.path), sides, tuple(cases), pairs, spec.model, judge.model)

    def _stored_outcome(self, plan: Plan) -> EvalOutcome | None:
        stored = self._store.evals.get(plan.id)
        return eval_outcome(stored, self._store.evals.runs(plan.id)) if stored is not None else None

    def _confirm(self, plan: Plan, expected: Estimate, spec: Spec) -> bool:
        """Check today's budget, print the cost, and return whether the person agrees."""
        today = self._spent_today()
        if why := spent_limit(today, self._settings.budget):
            raise SkilldError(_NOT_EVALUATED, f"today's budget is spent: {why}", "To see what was spent: skilld cost")
        usd, money = None, ""
        if not self._arguments.yes:  # looking up the price takes seconds, and the day's budget applies anyway
            usd = estimate_usd(expected, plan, common.terms(spec, self._settings))
            money = ", price unknown" if usd is None else f", about {format_usd(usd)}"
        sys.stderr.write(f"Questions for the model: {expected.describe(console.plain(plan.model))}{money}.\n")
        sys.stderr.write(f"{describe_power(plan.pairs)}\n")
        if beyond := budget_shortfall(expected, usd, today, self._settings):
            sys.stderr.write(f"{beyond} To continue tomorrow, run the same command again.\n")
        return terminal.confirm("Send them? [y/N] ", _NOT_EVALUATED, yes=self._arguments.yes, stream=sys.stderr)

    def _spent_today(self) -> Usage:
        return self._store.usage.on(local_day(time.time()))

    def _report(self, outcome: EvalOutcome | None, stopped: str = "", *, ran: bool = True) -> int:
        """Report the outcome so far and why it stopped, or why nothing was run; return the exit code."""
        if self._arguments.json:
            common.write_json(self._as_json(outcome, stopped))
        elif not ran:
            console.say(f"Not run: {stopped}.", style="yellow")
        elif outcome is not None:
            print_outcome(outcome, stopped)
        done = outcome is not None and outcome.verdict not in {None, Comparison.WORSE}
        return Exit.OK if done or self._arguments.dry_run else Exit.FAILURE

    def _as_json(self, outcome: EvalOutcome | None, stopped: str) -> dict[str, Any]:
        found = self._found
        return {
            "skill": self._row.name,
            "path": str(self._row.path),
            "cases": [_case_json(one, run=one in self._cases) for one in found.cases],
            "new": {
                "cases": len(found.new),
                "offered": found.offered,
                "file": str(found.place.goes_to),
                "kept": bool(found.new) and not self._arguments.dry_run and not found.trouble,
                "proposal": found.proposal.id if found.proposal is not None else None,
                "why_own": found.place.why_own or "",
                "trouble": found.trouble,
                "left_out": [{"proposal": proposal, "why": why} for proposal, why in found.grown.left_out],
            },
            "plan": _plan_json(*self._planned) if self._planned else None,
            "result": outcome.as_json() if outcome is not None else None,
            "stopped": stopped,
        }


def _case_json(one: CaseToRun, *, run: bool) -> dict[str, Any]:
    return {
        "id": one.case.id,
        "file": one.file or None,
        "proposal": one.proposal or None,
        "prompt": one.case.prompt,
        "expectations": [
            {"text": text, "by": "judge" if parse_literal(text) is None else "code"} for text in one.case.statements
        ],
        "run": run,
        "why_not": one.case.obstacle or "",
    }


def _plan_json(plan: Plan, expected: Estimate) -> dict[str, Any]:
    return {
        **common.pick(plan, "id", "model", "judge"),
        "proposal": plan.sides.proposal or None,
        "pairs": plan.pairs,
        "left": expected.pairs,
        **common.pick(expected, "calls", "tokens"),
        "shows": {"from": GOOD_SHARE, "to": detectable_share(plan.pairs), "power": POWER},
    }


def _sides_of_edit(edit: Proposal, current: str, *, without: bool) -> ComparedTexts:
    """Return the current text with and without the edit of a proposal."""
    state = edit.state
    if without is not (state is State.ACCEPTED):
        why, how = ("has not been accepted", "--with") if without else ("is already accepted", "--without")
        raise UsageError(_NOT_EVALUATED, f"{edit.id} {why}", f"Use {how} {edit.id}.")
    found = read_versions(edit)
    if found is None:
        raise SkilldError(_NOT_EVALUATED, f"the changes made by {edit.id} can no longer be read")
    data = current.encode("utf-8")
    before, after = found
    try:
        changed = undo(before, after, data) if without else Edit(edit).refit_loosely(before, after, data)
    except SkilldError as error:
        raise SkilldError(_NOT_EVALUATED, f"{edit.id} does not apply to the skill as it is now: {error}") from error
    text = changed.decode("utf-8", "replace")
    if text == current:
        raise SkilldError(_NOT_EVALUATED, f"{edit.id} makes no difference to the skill as it is now")
    return ComparedTexts(current, text, edit.id, without=True) if without else ComparedTexts(text, current, edit.id)


# What it prints: the cases, the cost of a run, and its result.

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
    for one in found.cases:
        why = one.case.obstacle or ("" if one in chosen else "left out by --case")
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


def _shorten(text: str) -> str:
    return truncate(fold(common.redactor()(text)), _MAX_SHOWN_CHARS)
