"""A long test: kill -9 everywhere, random things done to files, damaged bytes, and one huge transcript.

    python -m tools.soak --minutes 20 [--seed N] [--out FILE]

The time is split over the parts; what was reached is printed as a table and as one JSON document (to standard output,
or to `--out`). Exit 1 where something was lost, doubled, left behind or raised; each finding names its seed.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from tools import soak_files, soak_fuzz, soak_kills, soak_large
from tools.soak_report import Part

# Part -> its share of the time, and what runs it: seconds, seed and an empty folder in, what was reached out.
PARTS: dict[str, tuple[float, Callable[[float, int, Path], Part]]] = {
    "kills": (0.5, soak_kills.run),
    "files": (0.2, soak_files.run),
    "fuzz": (0.2, soak_fuzz.run),
    "large": (0.1, soak_large.run),
}


def _place(name: str) -> str | None:
    """Return where a part works: in memory where there is such a place, since no test can take the power away."""
    return "/dev/shm" if name != "large" and os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder of its own in it


def main() -> int:
    """Run the parts one after the other and report."""
    parser = argparse.ArgumentParser(description="a long test of everything that can go wrong")
    parser.add_argument("--minutes", type=float, default=20, help="how long, all in all")
    parser.add_argument("--seed", type=int, default=0, help="of all that is random; the same one takes the same steps")
    parser.add_argument("--only", choices=PARTS, action="append", help="these parts only; may be given more than once")
    parser.add_argument("--out", type=Path, help="where the JSON goes, in place of standard output")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    chosen = {name: PARTS[name] for name in arguments.only or PARTS}
    whole = sum(share for share, _ in chosen.values())
    results: dict[str, dict[str, object]] = {}
    found = 0
    for name, (share, run) in chosen.items():
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"skilld-soak-{name}-", dir=_place(name)) as folder:
            part = run(arguments.minutes * 60 * share / whole, arguments.seed, Path(folder))
        seconds = round(time.monotonic() - started, 1)
        results[name] = {"seconds": seconds, "reached": part.reached, "findings": part.findings}
        counts = ", ".join(f"{value:g} {what}" for what, value in part.reached.items())
        sys.stderr.write(f"{name:6} {seconds:6.1f} s  {counts}; {len(part.findings)} findings\n")
        for finding in part.findings:
            sys.stderr.write(f"       {finding}\n")
        found += len(part.findings)
    document = json.dumps({"minutes": arguments.minutes, "seed": arguments.seed, "findings": found, "parts": results})
    if arguments.out:
        arguments.out.write_text(document + "\n", encoding="utf-8")
    else:
        print(document)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
