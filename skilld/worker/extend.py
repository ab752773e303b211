"""One skill that is there, and what was said about it in past sessions: an edit like that of a batch.

The words come with the job, redacted: they were read from several transcripts, and confirmed there, before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from skilld.classify.backends import Spec, make
from skilld.classify.verify import verify
from skilld.errors import RetryError, SkilldError
from skilld.types import Kind, Outcome, SkillRef, Update
from skilld.worker.distil import messages_of
from skilld.worker.documents import load_skills
from skilld.worker.judge import Judge, Redact


def extend(job: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    """Return the edit that makes the job's skill say its updates, or why there is none."""
    backend = make(Spec(**job["backend"]))
    result: dict[str, Any] = {"outcome": Outcome.NOTHING.value, "detail": "", "model": backend.name, "operations": []}
    try:
        loaded, unfit = load_skills([SkillRef(job["skill"], job["path"])])
        if not loaded:
            return result | {"detail": "; ".join(why for _, why in unfit)}
        messages = messages_of(job["messages"])
        updates = [
            Update(1, "", item["change"], "", Kind(item["kind"]), item["turn"], item["quote"], item["confidence"])
            for item in job["updates"]
        ]
        verdict = verify(updates, messages, [loaded[0].doc], sure=0.0)
        checked = [item for item in verdict.proposed if not item.by_assent]
        if not checked:
            return result | {"detail": "; ".join([*verdict.dropped, *verdict.faults])}
        composed = Judge(backend, messages, loaded, "", redact).edit(loaded[0], checked)
    except SkilldError as error:
        outcome = Outcome.RETRY if isinstance(error, RetryError) else Outcome.REFUSED
        return result | {"outcome": outcome.value, "detail": str(error), "usage": asdict(backend.usage)}
    return result | {
        "outcome": Outcome.PROPOSED.value,
        "operations": [asdict(operation) for operation in composed.operations],
        "flags": list(composed.flags),
        "changes": [item.update.change for item in composed.checked],
        "turns": [item.update.turn for item in composed.checked],
        "usage": asdict(backend.usage),
    }
