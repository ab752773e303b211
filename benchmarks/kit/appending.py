"""Appends turns to many transcripts at a steady rate and says when: a program of its own, so that it waits for nobody.

Arguments: the store folder, the number of files, appends per second, seconds. Prints a JSON object of turn keys to the
monotonic time of their append, in seconds (the clock is the same for all processes).
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from benchmarks.kit.corpus import Session

CHATTER = "ok go on"  # the gate knows it: no worker starts, so what is measured is recording


def sessions(store: Path, count: int) -> list[Session]:
    """Return `count` sessions below `store`, five to a project; the same ones at each call."""
    made = []
    for number in range(count):
        folder = store / f"-work-project-{number // 5}"
        folder.mkdir(parents=True, exist_ok=True)
        made.append(Session(folder, random.Random(f"append/{number}")))
    return made


def append(store: Path, files: int, rate: int, seconds: float) -> dict[str, float]:
    """Append turns, one file after the other, and return when each was written."""
    writers = sessions(store, files)
    times = {}
    handles = [session.path.open("ab", buffering=0) for session in writers]
    start = time.monotonic()
    for number in range(int(rate * seconds)):
        line = writers[number % files].prompt(CHATTER)
        due = start + number / rate
        while (wait := due - time.monotonic()) > 0:
            time.sleep(wait)
        times[json.loads(line)["uuid"]] = time.monotonic()
        handles[number % files].write(line)
    for handle in handles:
        handle.close()
    return times


if __name__ == "__main__":
    print(json.dumps(append(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))))
