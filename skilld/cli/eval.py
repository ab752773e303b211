"""`skilld eval KIND`: scores the detector, the redactor or the guard on labelled cases, or on your own decisions."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skilld import console
from skilld.cli import common
from skilld.errors import UsageError

if TYPE_CHECKING:
    from skilld.classify.backends import Backend
    from skilld.evaluate.pipeline import Pipeline
    from skilld.evaluate.rows import LabelledTurn
    from skilld.evaluate.turns import Judged
    from skilld.redact import Redactor

Case = TypeVar("Case")
Scored = tuple[dict[str, Any], list[dict[str, Any]]]  # figures, and the outcome of each case

GOLD = "gold"
DECISIONS = "decisions"
_EVERY = 5.0  # seconds between two lines of progress


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "eval", run, "score the detector, the redactor or the guard on labelled cases", listing=True
    )
    parser.add_argument("kind", choices=tuple(_KINDS), metavar="KIND", help=", ".join(_KINDS))
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="cases, one JSON object a line (all kinds but decisions: these are in the store)",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME",
        default="offline",
        help="offline (the default), litellm (the model of your settings), a model string, "
        "or gold (batches only: a model that answers what the label says)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the outcome of each case here, as JSON lines")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.evaluate import report

    _check_data(arguments.kind, arguments.data)
    if arguments.out:
        report.check_target(arguments.out, arguments.data)
    figures, rows = _KINDS[arguments.kind](arguments.data, arguments.backend)
    if arguments.out:
        report.write_rows(arguments.out, rows)
    if arguments.json:
        return common.write_json(figures)
    for table in report.tables(figures):
        if table.title:
            console.line()
            console.line(console.paint(console.plain(table.title), "bold"))
        console.table([tuple(console.plain(cell) for cell in row) for row in table.rows])
    return 0


def _turns(data: list[Path], backend: str) -> Scored:
    from skilld.evaluate import loader, rows, turns

    _not_gold(backend)
    judged, spent = _judged_turns(loader.load(data, rows.labelled_turn), backend)
    return turns.score(judged) | spent, turns.rows_out(judged)


def _decisions(_: list[Path], backend: str) -> Scored:
    from skilld.evaluate import decisions

    _not_gold(backend)
    store = common.store()
    try:
        decided = store.proposals.in_states(decisions.DECIDED)
    finally:
        store.close()
    judged, spent = _judged_turns(decisions.cases(decided), backend)
    return decisions.figures(decided, judged) | spent, decisions.rows_out(decided, judged)


def _judged_turns(cases: list[LabelledTurn], backend: str) -> tuple[list[Judged], dict[str, int]]:
    """Return each turn with what the back-end makes of it, and what that cost."""
    from skilld.evaluate import batches
    from skilld.types import Usage

    results = list(_progress(batches.judge_turns(cases, _maker(backend), _pipeline()), len(cases)))
    usage = sum((used for _, used in results), Usage())
    return [turn for turn, _ in results], {"calls": usage.calls, "tokens": usage.tokens_in + usage.tokens_out}


def _batches(data: list[Path], backend: str) -> Scored:
    from skilld.evaluate import batches, loader, models

    cases = loader.load(data, loader.batch_case)
    if backend == GOLD:
        found = batches.judge_batches(cases, lambda case: models.Gold(case.gold), _pipeline())
    else:
        make = _maker(backend)
        found = batches.judge_batches(cases, lambda _: make(), _pipeline())
    scored = list(_progress(found, len(cases)))
    return batches.figures(scored), batches.rows_out(scored)


def _injection(data: list[Path], backend: str) -> Scored:
    from skilld.evaluate import injection, loader

    _only_built_in("injection", backend)
    cases = loader.load(data, loader.guard_case)
    with tempfile.TemporaryDirectory(prefix="skilld-eval-") as folder:
        guard = injection.Guard(Path(folder), _redactor().redact, _pipeline())
        guarded = list(_progress(map(guard.judge, cases), len(cases)))
    return injection.figures(guarded), injection.rows_out(guarded)


def _secrets(data: list[Path], backend: str) -> Scored:
    from skilld.evaluate import loader, secrets

    _only_built_in("secrets", backend)
    cases = loader.load(data, secrets.secret_case)
    redactor = _redactor()
    judged = list(_progress((secrets.judge(case, redactor) for case in cases), len(cases)))
    return secrets.figures(judged), secrets.rows_out(judged)


_KINDS: dict[str, Callable[[list[Path], str], Scored]] = {
    "turns": _turns,
    "batches": _batches,
    DECISIONS: _decisions,
    "secrets": _secrets,
    "injection": _injection,
}


def _check_data(kind: str, data: list[Path]) -> None:
    """Raise UsageError where files of cases are missing, or named where the cases are in the store."""
    if kind == DECISIONS and data:
        raise UsageError("No file is read here", f"--data {data[0]} has no meaning for {kind}", "Leave it out.")
    if kind != DECISIONS and not data:
        raise UsageError(
            "There is nothing to score", f"{kind} needs a file of cases", f"skilld eval {kind} --data FILE"
        )


def _not_gold(backend: str) -> None:
    if backend == GOLD:
        raise UsageError("No such back-end here", "gold answers for batches only")


def _only_built_in(kind: str, backend: str) -> None:
    if backend != "offline":
        raise UsageError(
            f"No back-end is asked for {kind}", f"--backend {backend} has no meaning here", "Leave it out."
        )


def _maker(name: str) -> Callable[[], Backend]:
    """Return what makes the named back-end, one for each case; endpoint and key are those of the settings."""
    from skilld.classify.backends import Spec, make

    if name == "offline":
        return lambda: make(Spec("offline"))
    from skilld.daemon.jobs import backend

    settings = common.settings()
    if name == "litellm" and settings.model in {"auto", "offline"}:
        raise UsageError("No model is configured", f"model is {settings.model}", "skilld config set model MODEL")
    model = settings.model if name == "litellm" else name
    spec = Spec(**backend(settings.model_copy(update={"model": model}), os.environ))
    return lambda: make(spec)


def _pipeline() -> Pipeline:
    from skilld.evaluate.pipeline import Pipeline

    return Pipeline(_redactor().redact, time.sleep)


def _redactor() -> Redactor:
    from skilld.redact import KEY_BYTES, Redactor

    return Redactor(os.urandom(KEY_BYTES))


def _progress(cases: Iterable[Case], total: int) -> Iterator[Case]:
    """Hand the cases on, and say on standard error how far a long run has come."""
    shown = time.monotonic()
    for done, case in enumerate(cases, 1):
        if time.monotonic() - shown >= _EVERY:
            shown = time.monotonic()
            sys.stderr.write(f"skilld eval: {done} of {total}\n")
        yield case
