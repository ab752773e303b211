"""The worker process: reads jobs as lines, does them in turn, and writes each result as a line.

Standard input stays open: it closes when the daemon dies, and then this whole process group ends at once. Plans are
stored by the daemon before they are carried out (`KeepRequest`, answered by `GO`), so that a killed worker does not
cause a model to be asked twice; it also books each call of a model, or refuses it (`ModelCall`). The process exits
after many jobs, when it has grown, and after a job that was interrupted or left a child behind. Exiting by `os._exit`
saves the second that litellm's teardown takes.
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
from skilld.classify.backends.paid_calls import ModelCall, charged_to
from skilld.classify.question_jobs import LookUpPrices, NumberedQuestion, TestBackend
from skilld.classify.trial import Trial
from skilld.errors import RetryError, SkilldError, cause_of
from skilld.git.session import shared_git
from skilld.protocol import (
    GO,
    AnalyseBatch,
    ExtendSkill,
    ExtractUpdates,
    FromWorker,
    Job,
    JobEnd,
    KeepRequest,
    ObserveProposals,
    PartialResult,
    RecoverProposals,
    RemakeProposal,
    Result,
    SurveyTranscripts,
    Work,
)
from skilld.types import Outcome

_MAX_JOBS = 1000
_MAX_GROWTH = 256 << 20  # bytes by which its peak may rise after the first job
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


class Daemon:
    """The connection to the daemon. Standard output is reserved for it: other output goes to standard error."""

    def __init__(self) -> None:
        self._output = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        """Read its lines; end this process group when it is gone."""
        while line := sys.stdin.buffer.readline():
            (self._jobs if line.startswith(b"{") else self._answers).put(line)
        os.killpg(0, signal.SIGKILL)

    def next_job(self) -> Job:
        """Wait for the next job."""
        return codec.decode(Job, self._jobs.get())

    def keep(self, what: PartialResult) -> None:
        """Have the daemon store a partial result; return when it has."""
        self._ask(KeepRequest(what))

    def charge(self, call: ModelCall) -> str:
        """Have the daemon book a call of a model; return why it may not be made, empty if it may."""
        if call.used is not None:
            self.send(call)
            return ""
        answer = self._ask(call)
        return "" if answer == GO else answer

    def _ask(self, message: KeepRequest | ModelCall) -> str:
        with suppress(queue.Empty):
            while True:  # an answer that a job which ran out of time no longer waited for
                self._answers.get_nowait()
        self.send(message)
        return self._answers.get().decode().rstrip("\n")

    def send(self, message: FromWorker) -> None:
        """Send a message."""
        self._output.write(codec.encode(message) + "\n")
        self._output.flush()


def main() -> None:
    """Do jobs until the daemon is gone or this process has done enough."""
    # Importing litellm and the first request create 600,000 lasting objects: garbage collection took a quarter of that
    # time, and a sixth with a threshold of 50,000.
    gc.set_threshold(1_000_000)
    from skilld.git.environment import scrub_environment
    from skilld.jobs import limits

    limits.lower_priority()
    scrub_environment()
    daemon = Daemon()
    limit = 0
    for number in range(1, _MAX_JOBS + 1):
        result, whole = _run_job(daemon.next_job(), daemon)
        limit = limit or _peak_memory() + _MAX_GROWTH
        stays = whole and number < _MAX_JOBS and _peak_memory() < limit and not _has_children()
        daemon.send(JobEnd(result, stays, asked_models="litellm" in sys.modules))
        if not stays:
            break
        gc.collect()
        gc.freeze()  # the next collection only examines newer objects
    os._exit(0)


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


def _has_children() -> bool:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _run_job(job: Job, daemon: Daemon) -> tuple[Result, bool]:
    """Do a job; return its result, and whether this process can be used again."""
    from skilld.jobs import limits

    try:
        limits.limit_memory(job.memory_mb)
        os.umask(job.umask)  # objects and refs get the permissions that the person's own git would give them
        with limits.processor_time(job.processor_seconds), charged_to(daemon.charge):
            return _dispatch(job, daemon), True
    except limits.ProcessorTimeError:
        return _failed(Outcome.RETRY, "it used more CPU time than worker.processor_seconds allows"), False
    except SkilldError as error:
        passing = isinstance(error, RetryError) or isinstance(error.__cause__, OSError)
        return _failed(Outcome.RETRY if passing else Outcome.FAILED, str(error)), True
    except MemoryError:
        return _failed(Outcome.RETRY, "it needed more memory than worker.memory_mb allows"), False
    except OSError as error:  # such as a full disk or too many open files
        return _failed(Outcome.RETRY, cause_of(error)), False
    except Exception as error:  # noqa: BLE001 - our own bug: its text may hold words of people, so only the report has its type
        from skilld.crash import report

        report(error, ["worker"])
        return _failed(Outcome.FAILED, "an internal error in skilld"), False


def _failed(outcome: Outcome, detail: str) -> Result:
    return Result(outcome=outcome, detail=detail)


@shared_git()
def _dispatch(job: Job, daemon: Daemon) -> Result:
    """Do a job, loading only what it needs."""
    match job.work:
        case ObserveProposals() as work:
            from skilld.proposals.reconcile import observe

            return observe(work)
        case RecoverProposals() as work:
            from skilld.proposals.recover_from_git import recover_proposals

            return recover_proposals(work)
        case TestBackend() as work:
            from skilld.jobs.backend_questions import test_backend

            return test_backend(work)
        case LookUpPrices() as work:
            from skilld.jobs.extract import look_up_prices

            return look_up_prices(work)
        case RemakeProposal() as work:
            from skilld.jobs.fallback import with_offline_fallback
            from skilld.jobs.remake import remake_stale

            return with_offline_fallback(work, lambda job: remake_stale(job, daemon.keep))
        case work:
            return _dispatch_text_job(work, daemon)


def _dispatch_text_job(work: Work, daemon: Daemon) -> Result:
    redact = _redactor()
    match work:
        case ExtractUpdates():
            from skilld.jobs.extract import extract_updates

            return extract_updates(work, redact, daemon.keep)
        case ExtendSkill():
            from skilld.jobs.extract import extend_skill

            return extend_skill(work, redact)
        case SurveyTranscripts():
            from skilld.effect.survey import survey_several

            return survey_several(work, redact)
        case NumberedQuestion():
            from skilld.jobs.backend_questions import choose

            return choose(work, redact)
        case Trial():
            from skilld.jobs.trial import run_trial

            return run_trial(work, redact, daemon.keep)
        case AnalyseBatch():
            from skilld.jobs.analyse import analyse
            from skilld.jobs.fallback import with_offline_fallback

            return with_offline_fallback(work, lambda job: analyse(job, redact, daemon.keep))
        case _:
            raise TypeError(type(work).__name__)


def _redactor() -> Callable[[str], str]:
    from skilld.paths import places
    from skilld.redact import Redactor
    from skilld.redact.key import load_key

    return Redactor(load_key(places().redaction_key)).redact


if __name__ == "__main__":
    main()
