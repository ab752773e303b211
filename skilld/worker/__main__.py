"""The worker's entry: read one job, do it, write one result line, exit without tearing the interpreter down.

The exit by `os._exit` saves the second that litellm's teardown takes. A thread watches standard input: when the daemon
dies its end closes, and then this whole process group ends at once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from skilld.errors import SkilldError
from skilld.types import Outcome


def main() -> None:
    """Do one job."""
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_die_with_parent, daemon=True).start()
    result = {"type": "result"} | _work(json.loads(line))
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()
    os._exit(0)


def _work(job: dict[str, Any]) -> dict[str, Any]:
    try:
        from skilld.git.environment import scrub_environment

        scrub_environment()
        os.umask(job["umask"])  # objects and refs are written as the person's own git would write them
        if job["kind"] == "observe":
            from skilld.worker.observe import observe

            return observe(job)
        from skilld.paths import places
        from skilld.redact import Redactor
        from skilld.worker.analyse import analyse
        from skilld.worker.key import load_key

        return analyse(job, Redactor(load_key(places().redaction_key)).redact)
    except SkilldError as error:
        return {"outcome": Outcome.FAILED.value, "detail": str(error)}
    except Exception as error:  # noqa: BLE001 - our own bug: its text may hold words of people, so only its type is told
        from skilld.crash import report

        report(error, ["worker"])
        return {
            "outcome": Outcome.FAILED.value,
            "detail": f"a bug in skilld: {type(error).__module__}.{type(error).__qualname__}",
        }


def _die_with_parent() -> None:
    while sys.stdin.buffer.read(1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
