"""A real question to the back-end, to learn whether it answers: the shortest of the kind that batches ask.

Nothing of the person's is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from skilld.classify.backends import Spec, make
from skilld.errors import RetryError, SkilldError
from skilld.types import Message, Outcome

_QUESTION = (Message("thanks", turn=1, turn_key="doctor"),)


def ask(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job's result: `nothing` where the answer could be read, else what went wrong and its remedy."""
    backend = make(Spec(**job["backend"]))
    outcome, detail, remedy = Outcome.NOTHING, "", ""
    try:
        backend.detect(_QUESTION, ())
    except SkilldError as error:
        outcome = Outcome.RETRY if isinstance(error, RetryError) else Outcome.FAILED
        detail, remedy = str(error), error.remedy
    return {"outcome": outcome.value, "detail": detail, "remedy": remedy, "usage": asdict(backend.usage)}
