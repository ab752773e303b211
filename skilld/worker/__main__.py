"""The worker process: reads jobs as lines, does them in turn, and writes each result as a line.

Standard input stays open: when the daemon dies its end closes, and then this whole process group ends at once. What is
to be done is told to the daemon and kept by it before it is done (`KeepRequest`, answered by "go"), so that a
worker killed between asking and acting asks no model twice. It gives itself back after many jobs, when it has grown,
and after a job that did not end by itself or left a child behind. The exit by `os._exit` saves the second that
litellm's teardown takes.
"""

from __future__ import annotations

import gc
import os
import queue
import resource
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from skilld import codec
from skilld.classify.trial import Trial
from skilld.errors import RetryError, SkilldError, cause_of
from skilld.protocol import (
    Analyse,
    Ask,
    Distil,
    Entitle,
    Extend,
    Fit,
    Job,
    JobEnd,
    KeepRequest,
    Observe,
    PartialResult,
    Price,
    Recall,
    Remake,
    Result,
    Spare,
    Surveys,
    Work,
)
from skilld.types import Outcome

_MAX_JOBS = 1000
_MAX_GROWTH = 256 << 20  # bytes by which its peak may rise after the first job
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


class Daemon:
    """The process that hands us jobs. Standard output is its alone: what libraries print goes to standard error."""

    def __init__(self) -> None:
        self._output = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._go = threading.Event()
        self._jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Wait for its words, and end with it."""
        while line := sys.stdin.buffer.readline():
            if line == b"go\n":
                self._go.set()
            else:
                self._jobs.put(line)
        os.killpg(0, signal.SIGKILL)

    def job(self) -> Job:
        """Wait for the next job."""
        return codec.decode(Job, self._jobs.get())

    def keep(self, what: PartialResult) -> None:
        """Have it keep something; returns when it has."""
        self._go.clear()
        self.tell(KeepRequest(what))
        self._go.wait()

    def tell(self, message: KeepRequest | JobEnd) -> None:
        """Write a line to it."""
        self._output.write(codec.encode(message) + "\n")
        self._output.flush()


def main() -> None:
    """Do jobs until the daemon is gone or this process is spent."""
    # Importing litellm and the first request make 600,000 objects that stay: looking through them for garbage took a
    # quarter of it, and a sixth where that was done at every 50,000.
    gc.set_threshold(1_000_000)
    from skilld.git.environment import scrub_environment
    from skilld.jobs import limits

    limits.give_way()
    scrub_environment()
    daemon = Daemon()
    limit = 0
    for number in range(1, _MAX_JOBS + 1):
        result, whole = _work(daemon.job(), daemon)
        limit = limit or _peak() + _MAX_GROWTH
        stays = whole and number < _MAX_JOBS and _peak() < limit and not _has_children()
        daemon.tell(JobEnd(result, stays, asked_models="litellm" in sys.modules))
        if not stays:
            break
        gc.collect()
        gc.freeze()  # so that the next time only what is new since is looked through
    os._exit(0)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _has_children() -> bool:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _work(job: Job, daemon: Daemon) -> tuple[Result, bool]:
    """Do a job; returns its result, and whether this process is as good as before."""
    from skilld.jobs import limits

    try:
        limits.limit_memory(job.memory_mb)
        os.umask(job.umask)  # objects and refs are written as the person's own git would write them
        with limits.processor_time(job.processor_seconds):
            return _do(job, daemon), True
    except limits.ProcessorTimeError:
        return _ended(Outcome.RETRY, "it used more CPU time than worker.processor_seconds allows"), False
    except SkilldError as error:
        passing = isinstance(error, RetryError) or isinstance(error.__cause__, OSError)
        return _ended(Outcome.RETRY if passing else Outcome.FAILED, str(error)), True
    except MemoryError:
        return _ended(Outcome.RETRY, "it needed more memory than worker.memory_mb allows"), False
    except OSError as error:  # the machine's trouble: a full disk, no descriptors left
        return _ended(Outcome.RETRY, cause_of(error)), False
    except Exception as error:  # noqa: BLE001 - our own bug: its text may hold words of people, so only the report has its type
        from skilld.crash import report

        report(error, ["worker"])
        return _ended(Outcome.FAILED, "an internal error in skilld"), False


def _ended(outcome: Outcome, detail: str) -> Result:
    return Result(outcome=outcome, detail=detail)


def _do(job: Job, daemon: Daemon) -> Result:
    """Do a job. Only what it needs is loaded."""
    match job.work:
        case Observe() as work:
            from skilld.proposals.reconcile import observe

            return observe(work)
        case Recall() as work:
            from skilld.proposals.recover_from_git import recover_proposals

            return recover_proposals(work)
        case Ask() as work:
            from skilld.jobs.ask import ask

            return ask(work)
        case Price() as work:
            from skilld.jobs.extract import price

            return price(work)
        case Remake() as work:
            from skilld.jobs.fallback import judged
            from skilld.jobs.remake import remake

            return judged(work, lambda job: remake(job, daemon.keep))
        case work:
            return _about_words(work, daemon)


def _about_words(work: Work, daemon: Daemon) -> Result:
    redact = _redactor()
    match work:
        case Distil():
            from skilld.jobs.extract import distil

            return distil(work, redact, daemon.keep)
        case Extend():
            from skilld.jobs.extract import extend

            return extend(work, redact)
        case Surveys():
            from skilld.effect.survey import survey_several

            return survey_several(work, redact)
        case Fit():
            from skilld.jobs.ask import fit

            return fit(work, redact)
        case Spare():
            from skilld.jobs.ask import spare

            return spare(work, redact)
        case Trial():
            from skilld.jobs.trial import trial

            return trial(work, redact, daemon.keep)
        case Entitle():
            from skilld.jobs.ask import title

            return title(work, redact, daemon.keep)
        case Analyse():
            from skilld.jobs.analyse import analyse
            from skilld.jobs.fallback import judged

            return judged(work, lambda job: analyse(job, redact, daemon.keep))
        case _:
            raise TypeError(type(work).__name__)


def _redactor() -> Callable[[str], str]:
    from skilld.paths import places
    from skilld.redact import Redactor
    from skilld.redact.key import load_key

    return Redactor(load_key(places().redaction_key)).redact


if __name__ == "__main__":
    main()
