"""A long test: kills, lost databases, random files, damaged bytes, properties, forged content, a huge transcript.

    make soak MINUTES=20 [ARGS="--seed 7 --only kills --out FILE"]
    make soak ARGS="--only files --again '0/17'"

The time is split over the parts; what was reached is printed as a table and as one JSON document (to standard output,
or to `--out`). Exit 1 where something was lost, doubled, left behind or raised; each finding names the command that
does it again.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from tools import (
    soak_damage,
    soak_files,
    soak_fuzz,
    soak_growth,
    soak_guided,
    soak_kills,
    soak_large,
    soak_properties,
    soak_wrappers,
)
from tools.soak_report import Part, as_json, as_text


@dataclass(frozen=True, slots=True)
class _Kind:
    """A part: its share of the time, and what runs it or one case of it in an empty folder."""

    share: float
    run: Callable[[float, int, Path], Part]
    again: Callable[[str, Path], Part]


PARTS = {
    "kills": _Kind(0.3, soak_kills.run, soak_kills.again),
    "damage": _Kind(0.15, soak_damage.run, soak_damage.again),
    "files": _Kind(0.2, soak_files.run, soak_files.again),
    "fuzz": _Kind(0.1, soak_fuzz.run, soak_fuzz.again),
    "guided": _Kind(0.1, soak_guided.run, soak_guided.again),
    "properties": _Kind(0.1, soak_properties.run, soak_properties.again),
    "growth": _Kind(0.05, soak_growth.run, soak_growth.again),
    "wrappers": _Kind(0.05, soak_wrappers.run, soak_wrappers.again),
    "large": _Kind(0.05, soak_large.run, soak_large.again),
}


def _place(name: str) -> str | None:
    """Return where a part works: in memory where there is such a place, since no test can take the power away."""
    return "/dev/shm" if name != "large" and os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder of its own in it


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts one after the other and report."""
    parser = argparse.ArgumentParser(description="a long test of everything that can go wrong")
    parser.add_argument("--minutes", type=float, default=20, help="how long, all in all")
    parser.add_argument("--seed", type=int, default=0, help="of all that is random; the same one takes the same steps")
    parser.add_argument("--only", choices=PARTS, action="append", help="these parts only; may be given more than once")
    parser.add_argument("--again", metavar="CASE", help="one case of the one part that is given by --only")
    parser.add_argument("--out", type=Path, help="where the JSON goes, in place of standard output")
    arguments = parser.parse_args(argv)
    chosen = {name: PARTS[name] for name in arguments.only or PARTS}
    if arguments.again and len(chosen) != 1:
        parser.error("--again needs --only with one part")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    whole = sum(kind.share for kind in chosen.values())
    results: dict[str, dict[str, Any]] = {}
    findings = 0
    for name, kind in chosen.items():
        with tempfile.TemporaryDirectory(prefix=f"skilld-soak-{name}-", dir=_place(name)) as folder:
            if arguments.again:
                part = kind.again(arguments.again, Path(folder))
            else:
                part = kind.run(arguments.minutes * 60 * kind.share / whole, arguments.seed, Path(folder))
            sys.stderr.write(as_text(part))
            results[name] = as_json(part)
        findings += len(part.findings)
    document = json.dumps(
        {"minutes": arguments.minutes, "seed": arguments.seed, "findings": findings, "parts": results}
    )
    if arguments.out:
        arguments.out.write_text(document + "\n", encoding="utf-8")
    else:
        print(document)
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
