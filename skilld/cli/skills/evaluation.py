"""`skilld skills eval NAME`: runs cases grown from your corrections, to see whether an edit helps or hurts."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace

from skilld import console
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.choose import choose
from skilld.cli import common, inventory, terminal
from skilld.cli.progress import Progress
from skilld.cli.skills import evaluation_output
from skilld.cli.skills.evaluation_output import CaseCollection
from skilld.clock import local_day
from skilld.errors import Exit, RefusedError, SkilldError, UsageError
from skilld.evals import stored_cases
from skilld.evals.grow import SessionMessages, grow
from skilld.evals.plan import ComparedTexts, Estimate, Plan, estimate, pending_pairs
from skilld.evals.results import EvalOutcome, eval_outcome
from skilld.evals.run import EvalRun
from skilld.evals.significance import Comparison, pairs_needed
from skilld.evals.stored_cases import CaseToRun
from skilld.git.line_diff import undo
from skilld.library.rows import LibraryRow
from skilld.proposals.explain import read_versions
from skilld.proposals.poll import refresh
from skilld.proposals.refit import Edit
from skilld.skills import opt_out
from skilld.store import Store
from skilld.store.budget import spent_limit
from skilld.text import format_usd
from skilld.types import Proposal, State, Usage

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
            evaluation_output.print_cases(self._found, self._cases, dry=self._arguments.dry_run)
        spec, judge = self._specs()
        if not self._cases or OFFLINE in {spec.model, judge.model}:
            return self._report_not_run(_MODEL_NEEDED if self._cases else "there are no cases to run")
        plan = self._plan(sides, spec, judge)
        expected = estimate(plan, pending_pairs(plan, self._store.evals.runs(plan.id)))
        self._planned = plan, expected
        if not expected.pairs:
            return self._report(self._stored_outcome(plan), "")
        if self._arguments.dry_run:
            if not self._arguments.json:
                cost = expected.describe(console.plain(plan.model))
                console.say(f"The evaluation would take {cost}. {evaluation_output.describe_power(plan.pairs)}")
                if beyond := evaluation_output.budget_shortfall(expected, None, self._spent_today(), self._settings):
                    console.say(f"{beyond} The rest could be run on later days.")
            return self._report(self._stored_outcome(plan), "")
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
            raise UsageError("No such case", common.as_text(missing[0]), "To list the cases, add --dry-run")
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
            usd = evaluation_output.estimate_usd(expected, plan, common.terms(spec, self._settings))
            money = ", price unknown" if usd is None else f", about {format_usd(usd)}"
        sys.stderr.write(f"Questions for the model: {expected.describe(console.plain(plan.model))}{money}.\n")
        sys.stderr.write(f"{evaluation_output.describe_power(plan.pairs)}\n")
        if beyond := evaluation_output.budget_shortfall(expected, usd, today, self._settings):
            sys.stderr.write(f"{beyond} To continue tomorrow, run the same command again.\n")
        return terminal.confirm("Send them? [y/N] ", _NOT_EVALUATED, yes=self._arguments.yes, stream=sys.stderr)

    def _spent_today(self) -> Usage:
        return self._store.usage.on(local_day(time.time()))

    def _report_not_run(self, why: str) -> int:
        """Report why nothing was run; return the exit code."""
        if self._arguments.json:
            self._write_json(None, why)
        else:
            console.say(f"Not run: {why}.", style="yellow")
        return Exit.OK if self._arguments.dry_run else Exit.FAILURE

    def _report(self, outcome: EvalOutcome | None, stopped: str) -> int:
        if self._arguments.json:
            self._write_json(outcome, stopped)
        elif outcome is not None:
            evaluation_output.print_outcome(outcome, stopped)
        if self._arguments.dry_run:
            return Exit.OK
        done = outcome is not None and outcome.verdict not in {None, Comparison.WORSE}
        return Exit.OK if done else Exit.FAILURE

    def _write_json(self, outcome: EvalOutcome | None, stopped: str) -> None:
        more = evaluation_output.plan_json(*(self._planned or (None, None)))
        more |= {"result": outcome.as_json() if outcome is not None else None, "stopped": stopped}
        whose = self._row.name, self._row.path, self._found, self._cases
        common.write_json(evaluation_output.as_json(*whose, dry=self._arguments.dry_run, more=more))


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
