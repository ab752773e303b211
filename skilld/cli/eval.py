"""`skilld eval KIND`: scores the detector, the redactor or the guard on labelled cases or your own decisions."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skilld import console
from skilld.classify.backends import Backend, Spec, make_backend
from skilld.cli import common
from skilld.errors import SkilldError, UsageError
from skilld.text import format_usd
from skilld.types import Usage

if TYPE_CHECKING:
    from skilld.redact import Redactor
    from skilld.scoring.batches import Pipeline
    from skilld.scoring.loader import BatchCase, LabelledTurn
    from skilld.scoring.turns import JudgedTurn

Case = TypeVar("Case")
Scores = tuple[dict[str, Any], list[dict[str, Any]]]  # the figures, and the outcome of each case

GOLD = "gold"
DECISIONS = "decisions"
_DEFAULT_JOBS = 4  # within the lowest rate limits of providers
_PROGRESS_SECONDS = 5.0  # between two lines of progress


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    _check_data(arguments.kind, arguments.data)
    _check_back_end(arguments.kind, arguments.backend)
    if arguments.out:
        _check_target(arguments.out, arguments.data)
    figures, rows = _SCORERS[arguments.kind](arguments)
    if arguments.out:
        _write_rows(arguments.out, rows)
    if arguments.json:
        common.write_json(figures)
        return _exit_code(figures)
    for title, table in _tables(figures).items():
        if title:
            console.line()
            console.line(console.plain(title), style="bold")
        console.table([tuple(console.plain(cell) for cell in row) for row in table])
    return _exit_code(figures)


def _exit_code(figures: Mapping[str, Any]) -> int:
    """Return the exit code; if not all cases were scored, print the reason on standard error."""
    if "stopped" not in figures:
        return 0
    why = f"skilld eval: stopped after {figures['n']} of {figures['of']} cases: {figures['stopped']}"
    sys.stderr.write(console.plain(why) + "\n")
    return 1


def _score_turns(asked: argparse.Namespace) -> Scores:
    from skilld.scoring import loader, turns

    judged, spent = _judge_turns(loader.load(asked.data, loader.labelled_turn), asked.backend)
    return turns.figures(judged) | spent, turns.outcome_rows(judged)


def _score_decisions(asked: argparse.Namespace) -> Scores:
    from skilld.scoring import turns

    store = common.store()
    try:
        decided = store.proposals.in_states(turns.DECIDED)
    finally:
        store.close()
    judged, spent = _judge_turns(turns.cases_from_decisions(decided), asked.backend)
    return turns.decision_figures(decided, judged) | spent, turns.decision_rows(decided, judged)


def _judge_turns(cases: list[LabelledTurn], backend: str) -> tuple[list[JudgedTurn], dict[str, int]]:
    """Return each turn with the back-end's judgement, and what that cost."""
    from skilld.scoring import batches

    results = list(_with_progress(batches.judge_turns(cases, _backend_factory(backend), _pipeline()), len(cases)))
    usage = sum((used for _, used in results), Usage())
    return [turn for turn, _ in results], {"calls": usage.calls, "tokens": usage.tokens_in + usage.tokens_out}


def _score_batches(asked: argparse.Namespace) -> Scores:
    from skilld.scoring import batches, loader

    cases = loader.load(asked.data, loader.batch_case)
    # These do not wait for a network, so parallel jobs gain nothing.
    jobs = 1 if asked.backend in {GOLD, "offline"} or asked.backend.startswith("stored:") else asked.jobs
    found = batches.judge_batches(cases, _case_backend_factory(asked.backend), _pipeline(jobs), jobs=jobs)
    scored: list[batches.BatchResult] = []
    stopped = ""
    try:
        for one in _with_progress(found, len(cases)):
            scored.append(one)
            if not one.judged.answered:
                sys.stderr.write(console.plain(f"skilld eval: {one.case.id}: {one.judged.why_not[0]}") + "\n")
            if (
                asked.usd is not None
                and len(scored) < len(cases)
                and sum(one.judged.usage.usd for one in scored) >= asked.usd
            ):
                stopped = f"{format_usd(asked.usd)} has been spent"
                break
    except KeyboardInterrupt:
        stopped = "interrupted"
    except SkilldError as error:
        if not scored:
            raise
        stopped = str(error)
    figures = batches.figures(scored)
    return figures | ({"stopped": stopped, "of": len(cases)} if stopped else {}), batches.outcome_rows(scored)


def _case_backend_factory(backend: str) -> Callable[[BatchCase], Backend]:
    """Return what makes the named back-end for a batch."""
    if backend == GOLD:
        from skilld.scoring import models

        return lambda case: models.GoldModel(case.gold)
    make = _backend_factory(backend)
    return lambda _: make()


def _score_injection(asked: argparse.Namespace) -> Scores:
    from skilld.scoring import injection, loader

    cases = loader.load(asked.data, loader.guard_case)
    with tempfile.TemporaryDirectory(prefix="skilld-eval-") as folder:
        guard = injection.Guard(Path(folder), _redactor().redact, _pipeline())
        guarded = list(_with_progress(map(guard.judge, cases), len(cases)))
    return injection.figures(guarded), injection.outcome_rows(guarded)


def _score_secrets(asked: argparse.Namespace) -> Scores:
    from skilld.scoring import loader, secrets

    cases = loader.load(asked.data, secrets.secret_case)
    redactor = _redactor()
    judged = list(_with_progress((secrets.judge(case, redactor) for case in cases), len(cases)))
    return secrets.figures(judged), secrets.outcome_rows(judged)


def _score_finding(asked: argparse.Namespace) -> Scores:
    from skilld.scoring import finding

    files = finding.load(asked.data)
    total = sum(len(file.tasks) for file in files)
    judged = list(_with_progress(finding.judge(files, _backend_factory(asked.backend)), total))
    return finding.figures(judged), finding.outcome_rows(judged)


def _score_pairs(asked: argparse.Namespace) -> Scores:
    from skilld.scoring import rules

    pairs = rules.load(asked.data)
    judge = rules.judge_repeats if asked.kind == "repeats" else rules.judge_relevance
    judged = list(_with_progress(judge(pairs, _backend_factory(asked.backend), _redactor().redact), len(pairs)))
    return rules.figures(asked.kind, judged), rules.outcome_rows(judged)


_SCORERS: dict[str, Callable[[argparse.Namespace], Scores]] = {
    "turns": _score_turns,
    "batches": _score_batches,
    DECISIONS: _score_decisions,
    "repeats": _score_pairs,
    "matters": _score_pairs,
    "finding": _score_finding,
    "secrets": _score_secrets,
    "injection": _score_injection,
}


def _check_data(kind: str, data: list[Path]) -> None:
    """Raise UsageError if files of cases are missing, or if they are given although the cases are in the store."""
    if kind == DECISIONS and data:
        raise UsageError(f"{kind} takes no data file", f"--data {data[0]} does not apply", "Leave --data out.")
    if kind != DECISIONS and not data:
        raise UsageError("Nothing to score", f"{kind} needs a file of cases", f"skilld eval {kind} --data FILE")


def _check_back_end(kind: str, backend: str) -> None:
    """Raise UsageError if this kind uses no model, or if the back-end works only with batches."""
    if kind in {"injection", "secrets"} and backend != "offline":
        raise UsageError(f"{kind} does not use a model", f"--backend {backend} does not apply", "Leave --backend out.")
    if backend == GOLD and kind != "batches":
        raise UsageError(f"--backend {GOLD} does not apply here", "it works only with skilld eval batches")


def _backend_factory(name: str) -> Callable[[], Backend]:
    """Return a factory of the named back-end, called once per case; endpoint and key come from the settings."""
    if name == "offline":
        return lambda: make_backend(Spec("offline"))
    if name.startswith("stored:"):
        from skilld.scoring.stored import StoredAnswers, StoredModel

        answers = StoredAnswers(Path(name.removeprefix("stored:")))
        return lambda: StoredModel(answers)
    from skilld.settings import choose_back_end

    settings = common.settings()
    if name == "litellm" and settings.model in {"auto", "offline"}:
        cause = f"the model setting is {settings.model}"
        raise UsageError("No model is configured", cause, "skilld config set model MODEL")
    model = settings.model if name == "litellm" else name
    spec = choose_back_end(settings.model_copy(update={"model": model}), os.environ).spec
    return lambda: make_backend(spec)


def _pipeline(jobs: int = 1) -> Pipeline:
    from skilld.scoring.batches import Pipeline

    return Pipeline(_redactor().redact, time.sleep, jobs=jobs)


def _redactor() -> Redactor:
    from skilld.redact import KEY_BYTES, Redactor

    return Redactor(os.urandom(KEY_BYTES))


def _with_progress(cases: Iterable[Case], total: int) -> Iterator[Case]:
    """Yield the cases, printing the progress of a long run on standard error."""
    shown = time.monotonic()
    for done, case in enumerate(cases, 1):
        if time.monotonic() - shown >= _PROGRESS_SECONDS:
            shown = time.monotonic()
            sys.stderr.write(f"skilld eval: {done} of {total} cases\n")
        yield case


# Figures as tables, and outcomes as JSON lines. Text from the cases is always escaped.

Rows = tuple[tuple[str, ...], ...]


def _tables(figures: Mapping[str, Any]) -> dict[str, Rows]:
    """Return a table of the single figures, then one for each group, by their titles. Cells are not escaped.

    The first row is a header if there is more than one column of figures.
    """
    found = {"": _pairs({key: value for key, value in figures.items() if not isinstance(value, Mapping)})}
    for key, value in figures.items():
        if isinstance(value, Mapping) and value:
            nested = all(isinstance(group, Mapping) for group in value.values())
            found[_words(key)] = _grid(value) if nested else _pairs(value)
    return found


def _check_target(path: Path, data: Sequence[Path]) -> None:
    """Raise UsageError if outcomes cannot be written to `path`; called before a run that may take hours."""
    if path.resolve() in {source.resolve() for source in data}:
        raise UsageError("The outcomes were not written", f"{path} is one of the case files", "Choose another file.")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError("The outcomes were not written", f"{path} is not a writable file", "Choose another file.")


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line, in ASCII. Raises SkilldError if the file cannot be written."""
    try:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
    except OSError as error:
        raise SkilldError(f"Cannot write {path}", error.strerror or str(error)) from error


def _pairs(values: Mapping[str, Any]) -> Rows:
    return tuple((_words(key), _cell(value)) for key, value in values.items())


def _grid(groups: Mapping[str, Mapping[str, Any]]) -> Rows:
    flat = {key: _flat(group) for key, group in groups.items()}
    columns = list(dict.fromkeys(column for group in flat.values() for column in group))
    body = ((key, *(_cell(group.get(column)) for column in columns)) for key, group in flat.items())
    return (("", *map(_words, columns)), *body)


def _flat(group: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in group.items():
        flat |= _flat(value, f"{prefix}{key} ") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def _words(key: str) -> str:
    return key.replace("_", " ")


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
