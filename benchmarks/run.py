"""`python benchmarks/run.py`: one JSON document on standard output, progress on standard error.

    python benchmarks/run.py --quick            # less than 2 minutes
    python benchmarks/run.py --only git --only gate

docs/measurements/performance.md says what each figure means.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run what was asked for; exit code 1 where a benchmark failed, whatever its figures."""
    from benchmarks import suite
    from benchmarks.kit.figures import Scale

    parser = argparse.ArgumentParser(prog="run.py", description="Measures skilld beside yardsticks.")
    parser.add_argument("--quick", action="store_true", help="smaller amounts: less than 2 minutes in all")
    names = ", ".join(suite.BENCHMARKS)
    parser.add_argument("--only", metavar="NAME", action="append", choices=suite.BENCHMARKS, help=f"one of {names}")
    arguments = parser.parse_args(argv)

    def tell(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what is measured may print, and so may its children
    document = suite.run(arguments.only or list(suite.BENCHMARKS), Scale(arguments.quick), tell)
    print(json.dumps(document, indent=2), file=output, flush=True)
    return int(any("error" in measured for measured in document["benchmarks"].values()))


if __name__ == "__main__":
    # In place of this folder, whose modules have names that others have too (store, prompt, ...).
    sys.path[:1] = [str(ROOT), str(ROOT / "tests")]
    sys.exit(main())
