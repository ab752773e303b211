"""Git's watchdog: it ends what takes too long and nothing else, with one thread that does not stay."""

from __future__ import annotations

import os
import threading
import time

from skilld.git.watchdog import Watchdog
from support.waiting import LIMIT, NEVER, wait_for


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "git watchdog"]


def test_a_late_block_is_ended_while_a_later_limit_is_waited_for() -> None:
    before, dog, ended = len(watchers()), Watchdog(), threading.Event()
    with dog.limit(NEVER, lambda: None), dog.limit(NEVER / 2, lambda: None):
        wait_for("the thread to wait", lambda: dog._wakes_at > time.monotonic())
        with dog.limit(0.05, ended.set):
            assert ended.wait(LIMIT)
        assert len(watchers()) == before + 1


def test_a_block_that_ended_in_time_is_let_be_and_the_thread_ends() -> None:
    before, dog, called = watchers(), Watchdog(), threading.Event()
    for _ in range(50):
        with dog.limit(2.0, called.set):  # on a busy machine an empty block may take 0.3 s
            pass
    wait_for("the thread to end", lambda: watchers() == before)
    assert not called.is_set()
    ended = threading.Event()
    with dog.limit(0.05, ended.set):
        assert ended.wait(LIMIT), "the next block has a thread again"


def test_a_forked_process_has_a_watchdog_of_its_own() -> None:
    dog = Watchdog()
    with dog.limit(NEVER, lambda: None):
        pid = os.fork()
        if not pid:
            ended = threading.Event()
            with dog.limit(0.05, ended.set):
                os._exit(0 if ended.wait(LIMIT) else 1)
        assert os.waitpid(pid, 0)[1] == 0
