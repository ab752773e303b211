"""`skilld effect`: for each rule, in which sessions it applied or had to be repeated, and what to do about it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skilld import console
from skilld.agents import context_variables
from skilld.classify.backends import OFFLINE, Spec
from skilld.cli import common, inventory, over_option
from skilld.cli.commands import SAMPLE_NOTE
from skilld.cli.daemon_job import run_as_job
from skilld.cli.progress import Progress
from skilld.clock import rfc3339
from skilld.effect.enforce import draft_hooks
from skilld.effect.figures import MIN_SESSIONS, Count
from skilld.effect.outcomes import RuleOutcome, RuleRemedies
from skilld.effect.remedies import Remedy, remedy_of, rule_id
from skilld.effect.rules import Effect, Rule
from skilld.effect.survey import survey
from skilld.errors import SkilldError, UsageError
from skilld.ingest.discover import Root, find_transcripts, is_anybodys
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.protocol import PROCESSOR_SECONDS, SurveyRequest
from skilld.report.wording import RULES
from skilld.store import Store
from skilld.store.meta import CORRECTIONS_READ
from skilld.text import pluralize
from skilld.types import Proposal, State

_READ_SECONDS = 60.0  # for unread transcripts; the daemon reads the rest
_MAX_QUOTES = 3  # per rule
_MAX_ADVISED_RULES = 10
_ADVICE = {
    "cut": "Remove the rule",
    "merge": "State the rule only once",
    "move": "Move the rule to a file that is loaded when it applies",
    "scope": "Limit the rule to the files it applies to",
    "sharpen": "State the rule more clearly",
}
_APPLIES_NOTE = (
    "A rule applies in a session that loads its file and involves the kind of work it is about; "
    "a rule about how the agent answers applies in every session."
)
_MAX_QUIET_RULES = 3  # without a repeat and too new to tell: more of them are only counted
_COLOURS = {"holds": "green", "repeated": "yellow", "unused": "dim", "unknown": "dim"}


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    over_option.check_options(arguments)
    if arguments.over:
        return _run_over(arguments)
    store = common.store_or_empty()
    if arguments.mend:
        return run_as_job("rules", lambda: _propose_remedies(store))
    missing = _unread_transcripts(store, inventory.transcript_folders())
    if missing and not arguments.json and not store.proposals.count(State.ACCEPTED):
        files = pluralize(len(missing), "transcript")
        console.say(f"No rule comes from a proposal yet. Reading {files} to find rules that you had to repeat.")
        sys.stdout.flush()
    left = _read_unread(store, missing)
    which = common.as_text(arguments.which or "")
    found = _find_outcomes(store, which)
    if arguments.which is not None and not (which and found):
        _check_known(which)
    if arguments.json:
        return common.write_json({"rules": [as_json(one) for one in found], "unread": left})
    _print_outcomes(found, which)
    if found:
        console.say(_APPLIES_NOTE, style="dim")
    elif which:
        console.say(f"No rule matches {console.plain(which)}. To list all: skilld effect")
    else:
        console.say("No rules to show: no rule from a proposal is in a file now, and you have not had to repeat one.")
    if left:
        console.say(f"{pluralize(left, 'transcript')} not read yet. Run the command again, or let the daemon catch up.")
    return 0


def _run_over(arguments: argparse.Namespace) -> int:
    """Show the rules of one file as found in the transcripts named by --over."""
    from skilld.mining.compliance import rule_compliance, survey_file

    if not arguments.which or not (path := common.resolve_path(arguments.which)).is_file():
        remedy = "For example: skilld effect CLAUDE.md --over FOLDER"
        raise UsageError("Missing file", "--over needs a file with rules", remedy)
    found = rule_compliance(over_option.read_all(arguments, survey_file), path)
    if arguments.json:
        return common.write_json({"rules": [*map(as_json, found.rules)], "unread": len(found.unreadable)})
    for one in found.rules:
        _print_outcome(one, complete=False)
    if any(one.effect.state == "unknown" for one in found.rules):
        console.say(SAMPLE_NOTE, style="dim")
    console.say(f"{pluralize(found.sessions, 'session')} in the file's project.")
    if found.unreadable:
        console.say(f"{pluralize(len(found.unreadable), 'transcript')} could not be read.")
    return 0


def _find_outcomes(store: Store, which: str) -> list[RuleOutcome]:
    """Return the rules of the skill, file, folder or proposal `which`, or the rule with this ID; all if it is empty."""
    place, line = _split_place(which)
    path = common.path_or_none(place)

    def has_name(rule: Rule) -> bool:
        return which in {Path(rule.path).parent.name if rule.is_in_skill else "", rule_id(rule), rule.proposal}

    def chosen(rule: Rule) -> bool:
        if not which or has_name(rule):
            return True
        return path is not None and Path(rule.path).is_relative_to(path) and line in {0, rule.line}

    found = _remedies(store).outcomes(chosen, _MAX_ADVISED_RULES)
    return [one for one in found if which and has_name(one.effect.rule)] or found


def _split_place(which: str) -> tuple[str, int]:
    """Return a path and a line number of it, 0 without one: rules are listed as FILE:LINE."""
    file, _, number = which.rpartition(":")
    has_line = bool(file) and number.isascii() and number.isdigit() and not common.expand_path(which).exists()
    return (file, int(number)) if has_line else (which, 0)


def _check_known(which: str) -> None:
    """Raise SkilldError if there is no file, folder or skill `which`, so that it cannot merely be without rules."""
    if not which or not common.expand_path(_split_place(which)[0]).exists():
        named = {one.name for one in inventory.all_skills([common.current_folder()])}
        if which not in named:
            raise SkilldError("No such rule, skill or file", which, "List them: skilld effect")


def _propose_remedies(store: Store) -> list[Proposal]:
    remedies = _remedies(store)
    return [*remedies.propose_for_other_agents(), *remedies.propose()]


def _remedies(store: Store) -> RuleRemedies:
    return RuleRemedies(store, common.host(), common.settings().targets, common.redactor(), time.time())


def read_past_sessions(store: Store) -> int:
    """Read the sessions that were not read yet, while there is time; return how many are left."""
    return _read_unread(store, _unread_transcripts(store, inventory.transcript_folders()))


def _read_unread(store: Store, missing: Sequence[tuple[str, str, tuple[int, float]]]) -> int:
    """Read the given transcripts, while there is time; return how many are left."""
    redact, until = common.redactor(), time.monotonic() + _READ_SECONDS
    ask_later = common.settings().model != OFFLINE  # by the daemon, within the budget
    variables = {name: os.environ[name] for name in context_variables() if name in os.environ}
    configured = {name: tuple(map(str, found)) for name, found in common.settings().roots.items()}
    with Progress("sessions read") as progress:
        for number, (agent, path, facts) in enumerate(missing):
            if time.monotonic() > until:
                return len(missing) - number
            progress.show(number, len(missing))
            is_live = store.transcripts.is_live(path)
            job = SurveyRequest(agent, path, str(common.home()), *facts, is_live, Spec(OFFLINE), variables, configured)
            try:
                with processor_time(PROCESSOR_SECONDS):
                    shown = survey(job, redact).sessions
            except ProcessorTimeError:
                shown = ()
            with store.transaction(synced=False):  # what a power cut takes back is read again
                store.past.save(path, *facts, shown, ask_later=ask_later)
                if any(one.said for one in shown):
                    store.meta.set(CORRECTIONS_READ, True)  # noqa: FBT003 - a value
    return 0


def _unread_transcripts(store: Store, places: Sequence[Root]) -> list[tuple[str, str, tuple[int, float]]]:
    """Return the transcripts that are new or have grown, the newest first: agent, path, size and time."""
    known = store.past.read_files()
    found = [
        (root.agent, str(path), (facts.st_size, facts.st_mtime))
        for root in places
        for path, facts in find_transcripts(root)
        if known.get(str(path)) != (facts.st_size, facts.st_mtime) and is_anybodys(root.agent, path) is False
    ]
    return sorted(found, key=lambda one: -one[2][1])


def as_json(outcome: RuleOutcome) -> dict[str, Any]:
    """Return the JSON for one rule."""
    effect, rule = outcome.effect, outcome.effect.rule
    said = [
        common.pick(one, "session", "turn", "quote", "agent") | {"at": rfc3339(one.at) if one.at else None}
        for one in effect.evidence
    ]
    return {
        "id": rule_id(rule),
        **common.pick(rule, "path", "line", "text"),
        "origin": rule.origin.value,
        "since": rfc3339(rule.since) if rule.since else None,
        "before": _count_json(effect.before),
        "after": _count_json(effect.after),
        "state": effect.state.value,
        "remedy": _remedy_json(outcome),
        "evidence": said,
    }


def _remedy_json(outcome: RuleOutcome) -> dict[str, Any] | None:
    """Return the remedy needed now, or the one proposed last; `proposal` is the one to decide on or to revert."""
    remedy, rule = outcome.plan.remedy, outcome.effect.rule
    if remedy is None and outcome.made:
        newest = outcome.made[-1]
        return {"kind": remedy_of(newest).value, "proposal": newest.id, "state": newest.state.value, "checks": []}
    if remedy is None:
        return None
    origin = rule.proposal if remedy is Remedy.REVERT else None
    readers = rule.agents | {one.agent for one in outcome.effect.evidence}
    drafts = draft_hooks(rule.text, readers) if remedy is Remedy.ENFORCE else []
    checks = [common.pick(one, "agent", "file", "text") for one in drafts]
    return {"kind": remedy.value, "proposal": origin, "state": None, "checks": checks}


def _count_json(count: Count) -> dict[str, Any]:
    low, high = count.interval
    return {"sessions": count.sessions, "repeats": count.repeats, "interval": [round(low, 3), round(high, 3)]}


def _print_outcomes(found: Sequence[RuleOutcome], which: str) -> None:
    """Print the rules; if all are printed, those without a result yet only as a number."""
    quiet = [one for one in found if _is_quiet(one)]
    hidden = quiet if not which and len(quiet) > _MAX_QUIET_RULES else []
    for one in found:
        if one not in hidden:
            named = {rule_id(one.effect.rule), one.effect.rule.proposal}
            _print_outcome(one, complete=bool(which) and which in named)
    if hidden:
        more = pluralize(len(hidden), "rule" if len(hidden) == len(found) else "more rule")
        console.say(f"{more} without a result yet. To list those in a file: skilld effect PATH")
    if any(one.effect.state == "unknown" for one in found):
        console.say(SAMPLE_NOTE, style="dim")


def _is_quiet(outcome: RuleOutcome) -> bool:
    """Whether a rule was not repeated, and it is too early to tell whether it is followed."""
    effect = outcome.effect
    return effect.state == "unknown" and not (effect.evidence or effect.after.repeats or _remedy_json(outcome))


def _print_outcome(outcome: RuleOutcome, *, complete: bool) -> None:
    from skilld.cli.context import short_path

    effect = outcome.effect
    rule = effect.rule
    word = "said again" if effect.state == "unknown" and effect.after.repeats else RULES[effect.state.value]
    place = f"{short_path(rule.path, Path.cwd())}:{rule.line}"
    head = console.paint(f"{word:17}", _COLOURS[effect.state.value])
    console.say(f"{head} {console.plain(place)}  {console.plain(rule.text)}", 18)
    console.say(f"{rule_id(rule)}  {summary(effect)}", 10, style="dim")
    quotes = [*dict.fromkeys(one.quote for one in effect.evidence)]
    for quote in quotes[0 if complete else -_MAX_QUOTES :]:
        console.say(f"          you: “{console.plain(quote)}”")
    if (remedy := _remedy_json(outcome)) is not None:
        console.say(f"          {_advice_line(remedy, outcome, complete=complete)}")
        for check in remedy["checks"] if complete else ():
            draft = f"Draft of {console.plain(check['file'])} for {check['agent']}"
            console.say(f"\n{draft} (skilld does not install it):\n")
            for line in check["text"].splitlines():
                console.line(console.plain(line))


def summary(effect: Effect) -> str:
    """Describe how often a rule was repeated, and how often it was said before it was added."""
    since = " since it was added" if effect.rule.proposal else ""
    before, after = effect.before, effect.after
    if not after.sessions:
        newer = " that started after it was added" if since else ""
        text = f"it has not applied in any session{newer}"
    else:
        text = f"repeated in {_repeat_share(after)}{since}"
    if after.sessions >= MIN_SESSIONS:
        low, high = after.interval
        text += f"; the true rate is between {low:.0%} and {high:.0%} (95% confidence)"
    return text + (f"; said in {before.repeats} of {before.sessions} before" if before.sessions else "")


def _repeat_share(count: Count) -> str:
    """Describe in how many of the sessions where a rule applied it was repeated."""
    return f"{count.repeats} of {pluralize(count.sessions, 'session')} where it applied"


def _advice_line(remedy: dict[str, Any], outcome: RuleOutcome, *, complete: bool) -> str:
    kind, proposal, key = remedy["kind"], remedy["proposal"], rule_id(outcome.effect.rule)
    reworded = any(remedy_of(one) is Remedy.SHARPEN and one.state is State.ACCEPTED for one in outcome.made)
    tried = "Rewording the rule has not helped. " if reworded else ""
    if kind == "revert":
        return f"You have had to repeat the rule more often since it was added. To revert it: skilld revert {proposal}"
    if kind == "enforce" and not remedy["checks"]:
        return f"{tried}Enforce it with a linter, a hook or a check of your own; skilld has no draft for it."
    if kind == "enforce":
        return f"{tried}Enforce it with a hook: {'see below' if complete else f'skilld effect {key}'}"
    made = f"proposed as {proposal}, {remedy['state']}" if proposal else "skilld run will propose this"
    return f"{_ADVICE[kind]} ({made})"
