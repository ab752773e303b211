"""The worker's entry: read one job, do it, write one result line, exit without tearing the interpreter down.

Standard input stays open: when the daemon dies its end closes, and then this whole process group ends at once. What is
to be done is told to the daemon and kept by it before it is done (a line of type "plan", answered by "go"), so that a
worker killed between asking and acting asks no model twice. The exit by `os._exit` saves the second that litellm's
teardown takes.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
from typing import Any

from skilld.errors import RetryError, SkilldError
from skilld.types import Outcome


class Daemon:
    """The process that handed us the job."""

    def __init__(self) -> None:
        self._go = threading.Event()

    def listen(self) -> None:
        """Wait for its answers, and end with it."""
        while sys.stdin.buffer.readline() == b"go\n":
            self._go.set()
        os.killpg(0, signal.SIGKILL)

    def keep(self, plan: dict[str, Any]) -> None:
        """Have it keep a plan, or one of several; returns when it has."""
        self._go.clear()
        _write({"type": "plan"} | plan)
        self._go.wait()


def main() -> None:
    """Do one job."""
    # Importing litellm and the first request make 600,000 objects that stay: looking through them for garbage took a
    # quarter of it, and a sixth where that was done at every 50,000. With a million nearly all workers end without.
    gc.set_threshold(1_000_000)
    job = json.loads(sys.stdin.buffer.readline())
    daemon = Daemon()
    threading.Thread(target=daemon.listen, daemon=True).start()
    _write({"type": "result"} | _work(job, daemon))
    os._exit(0)


def _write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _work(job: dict[str, Any], daemon: Daemon) -> dict[str, Any]:
    from skilld.jobs import limits

    try:
        from skilld.git.environment import scrub_environment

        scrub_environment()
        limits.lower(job.get("memory_mb", limits.USUAL))
        os.umask(job["umask"])  # objects and refs are written as the person's own git would write them
        # Windows of mining have a limit each, and as many of them together.
        with limits.processor_time(job.get("processor_seconds", limits.USUAL_SECONDS) * len(job.get("windows", "1"))):
            return _about_no_words(job) or _about_words(job, daemon)
    except limits.ProcessorTimeError:
        return {
            "outcome": Outcome.RETRY.value,
            "detail": "it used more processor time than worker.processor_seconds allows",
        }
    except SkilldError as error:
        passing = isinstance(error, RetryError) or isinstance(error.__cause__, OSError)
        return {"outcome": (Outcome.RETRY if passing else Outcome.FAILED).value, "detail": str(error)}
    except MemoryError:
        return {"outcome": Outcome.RETRY.value, "detail": "it needed more memory than worker.memory_mb allows"}
    except OSError as error:  # the machine's trouble: a full disk, no descriptors left
        return {"outcome": Outcome.RETRY.value, "detail": error.strerror or type(error).__name__}
    except Exception as error:  # noqa: BLE001 - our own bug: its text may hold words of people, so only its type is told
        from skilld.crash import report

        report(error, ["worker"])
        return {
            "outcome": Outcome.FAILED.value,
            "detail": f"a bug in skilld: {type(error).__module__}.{type(error).__qualname__}",
        }


def _about_no_words(job: dict[str, Any]) -> dict[str, Any] | None:
    """Do a job for which no person's words are needed; None where it is none of these."""
    if job["kind"] == "observe":
        from skilld.proposals.reconcile import observe

        return observe(job)
    if job["kind"] == "ask":
        from skilld.jobs.ping import ask

        return ask(job)
    if job["kind"] == "recall":
        from skilld.proposals.recover_from_git import recall

        return recall(job)
    if job["kind"] == "price":
        from skilld.jobs.extract import price

        return price(job)
    return None


def _about_words(job: dict[str, Any], daemon: Daemon) -> dict[str, Any]:
    from skilld.paths import places
    from skilld.redact import Redactor
    from skilld.settings.redaction_key import load_key

    redact = Redactor(load_key(places().redaction_key)).redact
    if job["kind"] == "distil":
        from skilld.jobs.extract import distil

        return distil(job, redact, daemon.keep)
    if job["kind"] == "title":
        from skilld.jobs.title import title

        return title(job, redact, daemon.keep)
    if job["kind"] == "extend":
        from skilld.jobs.extract import extend

        return extend(job, redact)
    if job["kind"] == "remake":
        from skilld.jobs.remake import remake

        return remake(job, daemon.keep)
    from skilld.jobs.analyse import analyse

    return analyse(job, redact, daemon.keep)


if __name__ == "__main__":
    main()
