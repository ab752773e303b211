"""Cases judged several at a time and handed on in their own order, so that the figures do not depend on who was faster.

Cases and what judges one of them in, outcomes out. Knows nothing of what a case is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

Case = TypeVar("Case")
Outcome = TypeVar("Outcome")


def in_order(cases: Sequence[Case], judge: Callable[[Case], Outcome], jobs: int) -> Iterator[Outcome]:
    """Yield the outcome of each case, with at most `jobs` of them judged at the same time.

    Raises what `judge` raised, at the place of its case. Once that happened, or nobody reads on, no further case is
    begun; those under way are left to themselves and end with the program.
    """
    if jobs == 1:
        yield from map(judge, cases)
        return
    waiting = [(case, Future[Outcome]()) for case in cases]
    left = iter(waiting)
    taking = threading.Lock()
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            with taking:
                taken = next(left, None)
            if taken is None:
                return
            case, future = taken
            try:
                future.set_result(judge(case))
            except BaseException as error:  # noqa: BLE001 - whoever reads this outcome raises it
                future.set_exception(error)

    for number in range(min(jobs, len(waiting))):
        # A thread of an executor would be waited for at the end, as long as its request may take.
        threading.Thread(target=work, name=f"case-{number}", daemon=True).start()
    try:
        for _, future in waiting:
            yield future.result()
    finally:
        ended.set()
