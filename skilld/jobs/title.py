"""Names for new skills: their drafted texts to the model in one question, its answer told before the job ends.

Whoever started the job keeps and books the answer when it is told, so that nothing that was paid for is lost; what of
it may stand is decided there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from skilld.classify.backends import Spec, make
from skilld.classify.backends.model import Model
from skilld.errors import SkilldError
from skilld.types import Outcome

Keep = Callable[[dict[str, Any]], None]


def title(job: Mapping[str, Any], redact: Callable[[str], str], keep: Keep) -> dict[str, Any]:
    """Ask for the names of the job's skills; offline has none to give."""
    backend = make(Spec(**job["backend"]))
    result = {"outcome": Outcome.NOTHING.value, "detail": "", "model": backend.name}
    if not isinstance(backend, Model):
        return result
    try:
        titles = backend.entitle([redact(text) for text in job["texts"]])
    except SkilldError as error:
        return result | {"outcome": Outcome.FAILED.value, "detail": str(error), "usage": asdict(backend.usage)}
    told = [{"skill": number} | asdict(one) for number, one in titles.items()]
    keep({"titles": told, "model": backend.name, "usage": asdict(backend.usage)})
    return result
