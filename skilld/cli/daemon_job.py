"""Runs a verb as a job of the daemon: prints one line of JSON, and dies with the daemon."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from skilld.cli import common
from skilld.clock import rfc3339
from skilld.errors import SkilldError
from skilld.store.meta import LAST_ERROR
from skilld.types import Outcome


def run_as_job(name: str, work: Callable[[], object]) -> int:
    """Do the work, which returns a true value if it proposed anything; an error or bug is stored as the last error."""
    from skilld import codec
    from skilld.crash import report
    from skilld.protocol import JobEnd, Result

    threading.Thread(target=_die_with_daemon, daemon=True).start()
    try:
        result = Result(outcome=Outcome.PROPOSED if work() else Outcome.NOTHING)
    except SkilldError as error:
        result = Result(outcome=Outcome.FAILED, detail=str(error))
    except OSError:
        raise  # the machine's, not a bug
    except Exception as error:  # noqa: BLE001 - our own bug: nobody reads what this process prints
        kind, _, details = report(error, sys.argv[1:2]).partition("\n")
        result = Result(outcome=Outcome.FAILED, detail=f"{kind.removeprefix('skilld: ')}. {details.strip()}")
    if result.detail:
        message = {"at": rfc3339(time.time()), "message": f"{name}: {result.detail}"}
        common.store().meta.set(LAST_ERROR, message)
    sys.stdout.write(codec.encode(JobEnd(result, stays=False, asked_models=False)) + "\n")
    return 0


def _die_with_daemon() -> None:
    """Kill this process and its workers when the daemon is gone, which closes its end of our stdin."""
    while os.read(0, 4096):  # not `sys.stdin`: Python aborts at its end while a thread waits in that
        pass
    os.killpg(0, signal.SIGKILL)
