"""`skilld doctor`: a verdict and a remedy for each check, and why nothing was proposed."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import asdict

from skilld import console
from skilld.cli import common, inventory
from skilld.cli.service import service_manager
from skilld.context.installed import contexts
from skilld.errors import Exit, SkilldError
from skilld.files import user_name
from skilld.health import agent_checks, checks, machine_checks
from skilld.health.agent_checks import NOT_INSTALLED
from skilld.health.gather import HealthContext, gather
from skilld.health.values import Check, Verdict
from skilld.skills.project_config import describe_restrictions
from skilld.text import pluralize

_DETAIL_COLUMN = 25
_MAX_PASSED_OVER = 3
_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "dim"}


def run(arguments: argparse.Namespace) -> int:
    """Run the verb. Returns 1 if a check fails; a warning is not a failure."""
    checks, reasons = collect(ask=arguments.ask)
    wrong = sum(check.verdict == "fail" for check in checks)
    code = Exit.FAILURE if wrong else Exit.OK
    if arguments.json:
        common.write_json({"checks": [asdict(check) for check in checks], "why_nothing": reasons})
        return code
    absent = [check for check in checks if check.name.startswith("agent ") and check.detail.startswith(NOT_INSTALLED)]
    for check in checks:
        if check in absent:
            continue
        verdict = console.paint(f"{check.verdict.value:4}", _COLOURS[check.verdict.value])
        console.say(f"{verdict}  {check.name:18} {console.message(check.detail)}", _DETAIL_COLUMN)
        if check.remedy:
            console.say(f"{'':{_DETAIL_COLUMN - 1}} -> {console.message(check.remedy)}", _DETAIL_COLUMN + 3)
    if absent:
        names = ", ".join(check.name.removeprefix("agent ") for check in absent)
        console.say(f"{NOT_INSTALLED}: {names}", len(NOT_INSTALLED) + 2, style="dim")
    if reasons:
        console.line()
        more = " more" if common.store_or_empty().proposals.newest_at() else ""
        console.say(f"Why nothing{more} was proposed", style="bold")
        for reason in reasons:
            console.say(f"  {console.message(reason)}")
    console.line()
    console.say(f"{wrong} of {pluralize(len(checks) - len(absent), 'check')} failed." if wrong else "No checks failed.")
    return code


def collect(*, ask: bool) -> tuple[list[Check], list[str]]:
    """Return the checks, and the reasons that nothing was proposed."""
    now = time.time()
    facts = gather(HealthContext(common.places(), common.host(), service_manager(), sys.platform), now, ask=ask)
    here = contexts(common.current_folder(), common.home(), os.environ, seen=inventory.newest_version)
    newest = max((agent.newest for agent in facts.agents if agent.newest), default=None)
    found = [
        *_check_account(),
        *machine_checks.machine(facts.machine, facts.daemon.seen_at, newest),
        *agent_checks.agents(facts.agents, now, is_set_up=facts.daemon.is_set_up),
        *checks.daemon(facts.daemon, facts.service.state, now),
        *checks.blocked(facts.blocked),
        *_check_project(),
        *checks.surprises(here),
        *checks.no_common_file(here),
        *facts.found,
        checks.service(facts.service),
        checks.back_end(facts.model),
        checks.budget(facts.spent),
        checks.notices(facts.notices, known=facts.model is not None),
        *checks.repeats(facts.repeated),
    ]
    if not facts.counts:
        return found, []
    reasons = checks.reasons_for_nothing(facts.counts, facts.daemon.paused_until, running=facts.daemon.running)
    missed = _passed_over() if facts.counts.judged or facts.counts.since else []
    nothing = {checks.NOTHING_LASTING, checks.NOTHING_LASTING_SINCE}
    return found, [*(reason for reason in reasons if not (missed and reason in nothing)), *missed]


def _passed_over() -> list[str]:
    """Describe what was said recently and not treated as a rule: first what was said in the project here."""
    here = common.current_folder()
    found = sorted(common.passed_over(), key=lambda one: not common.is_of_project(one, here))[:_MAX_PASSED_OVER]
    places = (f" in {one.project}" if one.project else "" for one in found)
    return [
        f"said{place}, but not treated as a rule: “{one.quote}”: {one.why_kept}"
        for one, place in zip(found, places, strict=True)
    ]


def _check_account() -> list[Check]:
    """Return a check if root runs this; in the home of somebody else it is most likely a mistake."""
    if os.geteuid() != 0:
        return []
    owner = common.home().stat().st_uid if common.home().is_dir() else 0
    remedy = f"Run it as {user_name(owner)}, not as root." if owner else "Use your own account."
    return [Check("account", Verdict.WARN, "you are root, which can change every file on this machine", remedy)]


def _check_project() -> list[Check]:
    """Return a check if the project here keeps skilld away, or has a configuration that cannot be read."""
    try:
        found = describe_restrictions(common.current_folder())
    except (SkilldError, OSError, ValueError) as error:
        return [Check("project", Verdict.WARN, str(error), "Correct that file; until then, the project is left alone.")]
    return [Check("project", Verdict.OK, one) for one in found]
