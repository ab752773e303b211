"""Catching up: the daemon's follower reads a folder of transcripts that are all new into an empty store.

Yardsticks over the same bytes: `wc -l`, which only counts lines, and a loop that parses every line as JSON. The files
are in the page cache for all of them. Memory is the peak of a child that does nothing else.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.kit import children, corpus
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import seconds, side_by_side

_STORE = Path(".claude/projects")
_MEMORY = Target(Of.VALUE, most=60)
_REAL = children.ROOT.parent / "shared" / "data" / "transcripts" / "claude-code"


def measure(scale: Scale) -> dict[str, Figure]:
    """Return speed and memory on a generated corpus, and on collected transcripts where there are any."""
    with children.scratch() as folder:
        home = folder / "generated"
        made = corpus.write(home / _STORE, scale.pick(500_000_000, 50_000_000))
        basis = f"{made.files} generated files, {made.size / 1e6:.0f} MB, {made.lines} lines"
        figures, turns = _read(home, scale.pick(5, 3), basis)
        if turns != made.turns:
            raise RuntimeError(f"{turns} of {made.turns} turns were found")
        figures["speed"] = replace(figures["speed"], target=Target(Of.RATIO, least=0.5))
        if real := sorted(_REAL.rglob("*.jsonl")):
            size = _gather(real, folder / "collected" / _STORE / "-collected")
            read, _ = _read(folder / "collected", 3, f"{len(real)} collected files, {size / 1e6:.0f} MB")
            figures |= {f"collected_{name}": figure for name, figure in read.items()}
    return figures


def _gather(files: list[Path], store: Path) -> int:
    store.mkdir(parents=True)
    for number, file in enumerate(files):
        shutil.copyfile(file, store / f"{number}.jsonl")
    return sum(file.stat().st_size for file in files)


def _read(home: Path, rounds: int, basis: str) -> tuple[dict[str, Figure], int]:
    """Read the transcripts of `home` in every way; returns the figures and the number of turns found."""
    files = sorted((home / _STORE).rglob("*.jsonl"))
    size = sum(file.stat().st_size for file in files) / 1e6
    counting = ["wc", "-l", *map(str, files)]
    answers = []

    def follow() -> float:
        shutil.rmtree(home / "state", ignore_errors=True)
        answers.append(children.module("catch_up", home, home=home))
        return float(answers[-1]["seconds"])

    def count() -> float:
        return seconds(lambda: subprocess.run(counting, check=True, stdout=subprocess.DEVNULL))

    count()  # fills the page cache
    follower, wc, parse = side_by_side(rounds, follow, count, lambda: seconds(lambda: _parse(files)))
    peak, before = (max(answer[name] for answer in answers) for name in ("peak", "before"))
    figures = {
        "speed": Figure(size / follower, "MB/s", "wc -l", size / wc, basis),
        "speed_beside_json": Figure(size / follower, "MB/s", "json.loads of every line", size / parse, basis),
        "peak_memory": Figure(peak, "MB", "the same process before it reads", before, basis, _MEMORY),
    }
    return figures, answers[0]["turns"]


def _parse(files: list[Path]) -> None:
    for file in files:
        with file.open("rb") as lines:
            for line in lines:
                try:
                    json.loads(line)
                except ValueError:
                    continue


def _follow(home: Path) -> dict[str, float]:
    """Read everything below `home` into an empty store, as the daemon does at a sweep."""
    import skilld.daemon.loop  # what the daemon holds besides
    import skilld.logs
    import skilld.notify.desktop
    import skilld.settings  # noqa: F401 - as above
    from skilld.ingest.discover import find_roots
    from skilld.ingest.follow import Follower
    from skilld.store import Store
    from skilld.store.meta import INSTALLED_AT

    state = home / "state"
    state.mkdir()
    store = Store.open(state / "skilld.db")
    store.meta.set(INSTALLED_AT, 0)  # as if skilld had been there before the files
    follower = Follower(store, find_roots(home, {}), time.time())
    before = children.peak_memory()
    start = time.perf_counter()
    turns = follower.sweep()
    took = time.perf_counter() - start
    return {"seconds": took, "before": before, "peak": children.peak_memory(), "turns": turns}


if __name__ == "__main__":
    print(json.dumps(_follow(Path(sys.argv[1]))))
