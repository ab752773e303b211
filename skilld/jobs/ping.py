"""A real question to the back-end, to learn whether it answers: the shortest of the kind that batches ask.

Nothing of the person's is in it.
"""

from __future__ import annotations

from skilld.classify.backends import make
from skilld.errors import RetryError, SkilldError
from skilld.protocol import Ask, Result
from skilld.types import Message, Outcome

_QUESTION = (Message("thanks", turn=1, turn_key="doctor"),)


def ask(job: Ask) -> Result:
    """Return the job's result: `nothing` where the answer could be read, else what went wrong and its remedy."""
    backend = make(job.backend)
    outcome, detail, remedy = Outcome.NOTHING, "", ""
    try:
        backend.detect(_QUESTION, ())
    except SkilldError as error:
        outcome = Outcome.RETRY if isinstance(error, RetryError) else Outcome.FAILED
        detail, remedy = str(error), error.remedy
    return Result(outcome=outcome, detail=detail, remedy=remedy, usage=backend.usage)
