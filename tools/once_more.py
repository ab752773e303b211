"""Run the few tests that failed in the last run of pytest again, alone: a race is told apart from a defect.

For continuous integration on machines shared with others. More than `MOST` failures, or one that fails again, fail.
What passes alone is named as unstable: there is a race to be found, in the test or in the program.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 3
ROUNDS = 2
_LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")  # pytest's own, as its cache plugin writes it


def last_failed(file: Path = _LAST_FAILED) -> list[str]:
    """Return the ids of the tests that failed in the last run; empty where there was none or its file is damaged."""
    try:
        return [*json.loads(file.read_text())]
    except (OSError, ValueError):
        return []


def once_more(tests: list[str]) -> int:
    """Run `tests` alone, `ROUNDS` times; 0 where they pass each time, 1 where they do not, are too many, or none."""
    if not 0 < len(tests) <= MOST:
        return 1
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    if any(subprocess.run(command, check=False).returncode for _ in range(ROUNDS)):
        return 1
    for test in tests:
        print(f"unstable: {test} failed beside the others and passed {ROUNDS} times alone")
    return 0


if __name__ == "__main__":
    sys.exit(once_more(last_failed()))
