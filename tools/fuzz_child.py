"""One run of atheris, in a process of its own: libFuzzer ends the process it runs in.

    python -m tools.fuzz_child TARGET SECONDS FOLDER

Prints one line of JSON with what was reached, and exits 0 when the time is over. What fails is left in FOLDER as a file
`crash-*` or `timeout-*`, with the exit code that libFuzzer gives it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]

with atheris.instrument_imports(include=["skilld"], enable_loader_override=False):
    from tools.fuzz_targets import TARGETS

_HANG = 20.0  # seconds of processor time for one input
_STUCK = 300  # seconds for one that never ends, on a machine that does other things besides
_MEMORY = 2048  # MB
_LONGEST = 16_384  # bytes of one input


def main() -> None:
    """Fuzz until the time is over."""
    name, seconds, folder = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    target = TARGETS[name]
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)
    reached: Counter[str] = Counter()
    end = time.monotonic() + seconds

    def one(data: bytes) -> None:
        # After the seeds, which it begins with, so much is new: on a busy machine the time may be over before that.
        if time.monotonic() > end and reached["inputs"] > 2 * len(target.seeds) + 10:
            sys.stdout.write(json.dumps(reached) + "\n")
            sys.stdout.flush()
            os._exit(0)
        reached["inputs"] += 1
        begun = time.process_time()
        reached.update(target.run(data))
        if time.process_time() - begun > _HANG:
            raise TimeoutError(f"it took more than {_HANG:g} seconds")

    options = (
        f"-artifact_prefix={folder}/",
        f"-timeout={_STUCK}",
        f"-rss_limit_mb={_MEMORY}",
        f"-max_len={_LONGEST}",
        str(corpus),
    )
    atheris.Setup([sys.argv[0], *options], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
