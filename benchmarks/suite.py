"""All benchmarks by name, and the document they make together."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import (
    backfill,
    catch_up,
    chain,
    commands,
    context,
    decisions,
    effect,
    exhaustion,
    gate,
    git_time,
    idle,
    latency,
    prompt,
    start,
    status_line,
    store,
    team,
    worker,
)
from benchmarks.kit.figures import Figure, Scale

BENCHMARKS: dict[str, Callable[[Scale], dict[str, Figure]]] = {
    "catch_up": catch_up.measure,
    "latency": latency.measure,
    "idle": idle.measure,
    "start": start.measure,
    "commands": commands.measure,
    "status_line": status_line.measure,
    "context": context.measure,
    "chain": chain.measure,
    "backfill": backfill.measure,
    "gate": gate.measure,
    "worker": worker.measure,
    "exhaustion": exhaustion.measure,
    "git": git_time.measure,
    "decisions": decisions.measure,
    "prompt": prompt.measure,
    "store": store.measure,
    "effect": effect.measure,
    "team": team.measure,
}


def run(names: Sequence[str], scale: Scale, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run the named benchmarks one after the other and return the whole document; `tell` is given the progress.

    A benchmark that fails is named with its error, and the others go on.
    """
    measured: dict[str, Any] = {}
    for number, name in enumerate(names, 1):
        tell(f"{number}/{len(names)} {name} ...")
        begun = time.monotonic()
        try:
            figures = {key: figure.as_json() for key, figure in BENCHMARKS[name](scale).items()}
            measured[name] = {"figures": figures}
        except Exception as error:  # noqa: BLE001 - one of them must not cost the others their minutes
            measured[name] = {"error": f"{type(error).__name__}: {error}"}
        measured[name]["seconds"] = round(time.monotonic() - begun, 1)
        tell("\n".join(lines(name, measured[name])))
    return {"quick": scale.quick, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **machine()} | {
        "benchmarks": measured
    }


def lines(name: str, measured: dict[str, Any]) -> list[str]:
    """Return one line per figure, for a person who waits."""
    if "error" in measured:
        return [f"    {name} failed: {measured['error']}"]
    found = []
    for key, figure in measured["figures"].items():
        ratio = "" if figure["ratio"] is None else f", {figure['ratio']:g} times {figure['yardstick']}"
        verdict = "" if "met" not in figure else f"  [{figure['target']}: {'met' if figure['met'] else 'MISSED'}]"
        found.append(f"    {key}: {figure['value']:g} {figure['unit']}{ratio}{verdict}")
    return found


def machine() -> dict[str, Any]:
    """Return what the figures were measured on, and how busy it was with other things just now."""
    git = subprocess.run(["git", "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    return {
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "git": git[2] if len(git) > 2 else "",
            "load": [round(number, 2) for number in os.getloadavg()],
        }
    }
