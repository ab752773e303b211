"""`skilld eval KIND`: scores the detector, the redactor or the guard on labelled cases or your own decisions."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError, UsageError
from skilld.git.environment import scrub_environment

if TYPE_CHECKING:
    from skilld.classify.backends import Backend
    from skilld.evaluate.batches import Pipeline
    from skilld.evaluate.loader import BatchCase, LabelledTurn
    from skilld.evaluate.turns import JudgedTurn
    from skilld.redact import Redactor

Case = TypeVar("Case")
Scored = tuple[dict[str, Any], list[dict[str, Any]]]  # figures, and the outcome of each case

GOLD = "gold"
DECISIONS = "decisions"
_JOBS = 4  # few enough for the smallest rates that providers allow
_MAX_JOBS = 32
_EVERY = 5.0  # seconds between two lines of progress


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "eval", run, "score the detector, redactor or guard on labelled cases", listing=True)
    parser.add_argument("kind", choices=tuple(_KINDS), metavar="KIND", help=", ".join(_KINDS))
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="labelled cases, one JSON object per line (pairs if KIND is repeats or matters; none if decisions)",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME",
        default="offline",
        help=(
            "offline (the default), litellm (your configured model), a model string, gold (batches "
            "only: a model that gives the labelled answers), or stored:FOLDER (answers kept in "
            "files)"
        ),
    )
    parser.add_argument(
        "--jobs", type=_count, metavar="N", default=_JOBS, help=f"batches to judge in parallel (default: {_JOBS})"
    )
    parser.add_argument(
        "--usd", type=common.number, metavar="DOLLARS", help="start no new batches after spending this much"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the outcome of each case to FILE, one JSON object per line"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.evaluate import report

    _check_data(arguments.kind, arguments.data)
    if arguments.out:
        report.check_target(arguments.out, arguments.data)
    figures, rows = _KINDS[arguments.kind](arguments)
    if arguments.out:
        report.write_rows(arguments.out, rows)
    if arguments.json:
        common.write_json(figures)
        return _code(figures)
    for table in report.tables(figures):
        if table.title:
            console.line()
            console.line(console.plain(table.title), style="bold")
        console.table([tuple(console.plain(cell) for cell in row) for row in table.rows])
    return _code(figures)


def _code(figures: Mapping[str, Any]) -> int:
    """Return the exit code, and say on standard error why the figures are not those of all cases."""
    if "stopped" not in figures:
        return 0
    why = f"skilld eval: stopped after {figures['n']} of {figures['of']} cases: {figures['stopped']}"
    sys.stderr.write(console.plain(why) + "\n")
    return 1


def _count(given: str) -> int:
    count = int(given)
    if not 1 <= count <= _MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{given} is not between 1 and {_MAX_JOBS}")
    return count


def _turns(asked: argparse.Namespace) -> Scored:
    from skilld.evaluate import loader, turns

    _not_gold(asked.backend)
    judged, spent = _judged_turns(loader.load(asked.data, loader.labelled_turn), asked.backend)
    return turns.figures(judged) | spent, turns.outcome_rows(judged)


def _decisions(asked: argparse.Namespace) -> Scored:
    from skilld.evaluate import turns

    _not_gold(asked.backend)
    store = common.store()
    try:
        decided = store.proposals.in_states(turns.DECIDED)
    finally:
        store.close()
    judged, spent = _judged_turns(turns.cases_from_decisions(decided), asked.backend)
    return turns.decision_figures(decided, judged) | spent, turns.decision_rows(decided, judged)


def _judged_turns(cases: list[LabelledTurn], backend: str) -> tuple[list[JudgedTurn], dict[str, int]]:
    """Return each turn with what the back-end makes of it, and what that cost."""
    from skilld.evaluate import batches
    from skilld.types import Usage

    results = list(_progress(batches.judge_turns(cases, _maker(backend), _pipeline()), len(cases)))
    usage = sum((used for _, used in results), Usage())
    return [turn for turn, _ in results], {"calls": usage.calls, "tokens": usage.tokens_in + usage.tokens_out}


def _batches(asked: argparse.Namespace) -> Scored:
    from skilld.evaluate import batches, loader

    cases = loader.load(asked.data, loader.batch_case)
    jobs = (
        1 if asked.backend in {GOLD, "offline"} or asked.backend.startswith("stored:") else asked.jobs
    )  # what waits for nobody gains nothing
    found = batches.judge_batches(cases, _case_maker(asked.backend), _pipeline(jobs), jobs=jobs)
    scored: list[batches.BatchResult] = []
    stopped = ""
    try:
        for one in _progress(found, len(cases)):
            scored.append(one)
            if not one.judged.answered:
                sys.stderr.write(console.plain(f"skilld eval: {one.case.id}: {one.judged.why_not[0]}") + "\n")
            if asked.usd is not None and len(scored) < len(cases) and batches.total_usd(scored) >= asked.usd:
                stopped = f"${asked.usd:g} has been spent"
                break
    except KeyboardInterrupt:
        stopped = "interrupted"
    except SkilldError as error:
        if not scored:
            raise
        stopped = str(error)
    figures = batches.figures(scored)
    return figures | ({"stopped": stopped, "of": len(cases)} if stopped else {}), batches.outcome_rows(scored)


def _case_maker(backend: str) -> Callable[[BatchCase], Backend]:
    """Return what makes the named back-end for a batch."""
    if backend == GOLD:
        from skilld.evaluate import models

        return lambda case: models.GoldModel(case.gold)
    make = _maker(backend)
    return lambda _: make()


def _injection(asked: argparse.Namespace) -> Scored:
    from skilld.evaluate import injection, loader

    _only_built_in("injection", asked.backend)
    cases = loader.load(asked.data, loader.guard_case)
    with tempfile.TemporaryDirectory(prefix="skilld-eval-") as folder:
        guard = injection.Guard(Path(folder), _redactor().redact, _pipeline())
        guarded = list(_progress(map(guard.judge, cases), len(cases)))
    return injection.figures(guarded), injection.outcome_rows(guarded)


def _secrets(asked: argparse.Namespace) -> Scored:
    from skilld.evaluate import loader, secrets

    _only_built_in("secrets", asked.backend)
    cases = loader.load(asked.data, secrets.secret_case)
    redactor = _redactor()
    judged = list(_progress((secrets.judge(case, redactor) for case in cases), len(cases)))
    return secrets.figures(judged), secrets.outcome_rows(judged)


def _finding(asked: argparse.Namespace) -> Scored:
    from skilld.evaluate import finding

    _not_gold(asked.backend)
    files = finding.load(asked.data)
    total = sum(len(file.tasks) for file in files)
    judged = list(_progress(finding.judge(files, _maker(asked.backend)), total))
    return finding.figures(judged), finding.outcome_rows(judged)


def _pairs(asked: argparse.Namespace) -> Scored:
    from skilld.evaluate import rules

    _not_gold(asked.backend)
    scrub_environment()
    pairs = rules.load(asked.data)
    judge = rules.repeats if asked.kind == "repeats" else rules.matters
    judged = list(_progress(judge(pairs, _maker(asked.backend), _redactor().redact), len(pairs)))
    return rules.figures(asked.kind, judged), rules.outcome_rows(judged)


_KINDS: dict[str, Callable[[argparse.Namespace], Scored]] = {
    "turns": _turns,
    "batches": _batches,
    DECISIONS: _decisions,
    "repeats": _pairs,
    "matters": _pairs,
    "finding": _finding,
    "secrets": _secrets,
    "injection": _injection,
}


def _check_data(kind: str, data: list[Path]) -> None:
    """Raise UsageError where files of cases are missing, or named where the cases are in the store."""
    if kind == DECISIONS and data:
        raise UsageError(f"{kind} takes no data file", f"--data {data[0]} does not apply", "Leave --data out.")
    if kind != DECISIONS and not data:
        raise UsageError("Nothing to score", f"{kind} needs a file of cases", f"skilld eval {kind} --data FILE")


def _not_gold(backend: str) -> None:
    if backend == GOLD:
        raise UsageError(f"--backend {GOLD} does not apply here", "it works only with skilld eval batches")


def _only_built_in(kind: str, backend: str) -> None:
    if backend != "offline":
        raise UsageError(f"{kind} does not use a model", f"--backend {backend} does not apply", "Leave --backend out.")


def _maker(name: str) -> Callable[[], Backend]:
    """Return what makes the named back-end, one for each case; endpoint and key are those of the settings."""
    from skilld.classify.backends import Spec, make

    if name == "offline":
        return lambda: make(Spec("offline"))
    if name.startswith("stored:"):
        from skilld.evaluate.stored import StoredAnswers, StoredModel

        answers = StoredAnswers(Path(name.removeprefix("stored:")))
        return lambda: StoredModel(answers)
    from skilld.settings import choice_of

    settings = common.settings()
    if name == "litellm" and settings.model in {"auto", "offline"}:
        raise UsageError(
            "No model is configured", f"the model setting is {settings.model}", "skilld config set model MODEL"
        )
    model = settings.model if name == "litellm" else name
    spec = choice_of(settings.model_copy(update={"model": model}), os.environ).spec
    return lambda: make(spec)


def _pipeline(jobs: int = 1) -> Pipeline:
    from skilld.evaluate.batches import Pipeline

    return Pipeline(_redactor().redact, time.sleep, jobs=jobs)


def _redactor() -> Redactor:
    from skilld.redact import KEY_BYTES, Redactor

    return Redactor(os.urandom(KEY_BYTES))


def _progress(cases: Iterable[Case], total: int) -> Iterator[Case]:
    """Hand the cases on, and say on standard error how far a long run has come."""
    shown = time.monotonic()
    for done, case in enumerate(cases, 1):
        if time.monotonic() - shown >= _EVERY:
            shown = time.monotonic()
            sys.stderr.write(f"skilld eval: {done} of {total} cases\n")
        yield case
