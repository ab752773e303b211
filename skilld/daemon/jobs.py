"""The worker's job: everything it needs to know, in JSON, without a word that anyone said.

The texts are read again from the transcripts by the worker; the job names files, byte ranges and turn keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from skilld.batching.window import ClosedBatch
from skilld.context import VARIABLES
from skilld.ingest.discover import Host, skill_places
from skilld.proposals.lessons import thresholds
from skilld.proposals.results import proposal_to_json
from skilld.settings import Settings
from skilld.settings.backend import choice_of
from skilld.skills import Unusable, find
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.text import folded
from skilld.types import Cause, SkillRef, State

VERSION = 1
# A batch of which nothing could be proposed for want of a skill may have had its worker killed since.
_SKILLS_ANEW = (Cause.SKILL, Cause.PROCESS)
_SKILLS = 3  # the newest skills in use that a batch is judged against; each costs its whole text in tokens


def analysis(store: Store, around: Host, agent: str, session_id: str, closing: ClosedBatch[Any]) -> dict[str, Any]:
    """Return the part of a job that is fixed when the batch is closed."""
    found, unusable = skills(store, around, agent, session_id, [turn.seq for turn in closing.turns])
    return {
        "version": VERSION,
        "kind": "analyse",
        "batch": closing.batch_id,
        "agent": agent,
        "session_id": session_id,
        "cwd": store.transcripts.cwd(agent, session_id),
        "sources": _sources(store, agent, session_id, closing),
        "turns": [turn.key for turn in closing.turns],
        "skills": [asdict(skill) for skill in found],
        "unusable": [asdict(other) for other in unusable],
        "home": str(around.home),
        "variables": {name: around.environment[name] for name in VARIABLES if name in around.environment},
    }


def complete(store: Store, settings: Settings, around: Host, batch: StoredBatch) -> dict[str, Any]:
    """Return the whole job: the fixed part, with the back-end, the proposals that are open now and the words kept.

    Where it was for want of a skill that nothing could be proposed, those are looked for again.
    """
    cause = batch.obstacle.cause if batch.obstacle else ""
    anew = cause in _SKILLS_ANEW and "plan" not in batch.job and batch.job["turns"]
    stale = store.proposals.get(batch.job.get("proposal", ""))
    return {
        **batch.job,
        **(skills_now(store, around, batch) if anew else {}),
        "stale": proposal_to_json(stale) if stale is not None else None,
        "before": cause,
        "words": [asdict(said) for said in store.words.of(batch.job["turns"])],
        "sources": where_they_are(store, batch),
        "umask": around.umask,
        "memory_mb": settings.worker.memory_mb,
        "processor_seconds": settings.worker.processor_seconds,
        "closed_at": batch.created_at,
        "backend": asdict(choice_of(settings, around.environment).spec),
        "auto": auto(settings),
        "open": [proposal_to_json(proposal) for proposal in store.proposals.in_states([State.OPEN])],
        "closed": store.proposals.closed_ids(),
        "thresholds": thresholds(store.proposals.in_states([State.ACCEPTED, State.REJECTED, State.REVERTED])),
        "decided": [
            {
                "path": proposal.path,
                "state": proposal.state.value,
                "changes": [operation.text for operation in proposal.operations],
                "quotes": [folded(evidence.quote) for evidence in proposal.evidence],
                "session": proposal.session_id,
            }
            for proposal in store.proposals.in_states([State.REJECTED, State.REVERTED, State.DROPPED])
        ],
    }


def skills_now(store: Store, around: Host, batch: StoredBatch) -> dict[str, Any]:
    """Return the part of a batch's job that names its skills, as they are found now."""
    found, unusable = skills(store, around, batch.agent, batch.session_id, store.batches.places(batch.id) or [0])
    return {"skills": [asdict(skill) for skill in found], "unusable": [asdict(other) for other in unusable]}


def auto(settings: Settings) -> dict[str, Any]:
    """Return which skills' proposals may be applied unasked (None: all), and how sure they must be."""
    skills = None if settings.apply == "auto" else settings.auto.skills
    return {"skills": skills, "confidence": settings.auto.confidence}


def skills(
    store: Store, around: Host, agent: str, session_id: str, seqs: Sequence[int]
) -> tuple[list[SkillRef], list[Unusable]]:
    """Return the newest skills in use up to the last of the turns `seqs` of a session, and those not to be edited."""
    places = skill_places(agent, around.home, around.environment, around.roots)
    usable: dict[str, SkillRef] = {}
    unusable: dict[str, Unusable] = {}
    for use in store.transcripts.uses(agent, session_id, seqs[-1]):
        # A shell command in a log may name a skill below ~, as the person's shell would read it.
        path = use.path.replace("~", str(around.home), 1) if use.path and use.path.startswith("~/") else use.path
        found = find(use.name, path, use.cwd, places)
        if isinstance(found, Unusable):
            unusable.setdefault(found.name, found)
        elif found.path in usable or len(usable) < _SKILLS:
            known = usable.get(found.path, found)
            usable[found.path] = replace(known, used=(sum(seq <= use.after_seq for seq in seqs), *known.used))
    return list(usable.values()), list(unusable.values())


def _sources(store: Store, agent: str, session_id: str, closing: ClosedBatch[Any]) -> list[dict[str, Any]]:
    by_file: dict[int, list[int]] = {}
    for turn in closing.turns:
        by_file.setdefault(turn.file_id, []).append(turn.start)
    files = {file.id: file for file in store.transcripts.with_ids(by_file)}
    sources = []
    for file_id, starts in by_file.items():
        file = files[file_id]
        first = min(starts)
        sources.append(
            {
                "path": file.path,
                "start": store.transcripts.previous_end(agent, session_id, file_id, first),
                "end": max(file.size, 0),
            }
        )
    return sources


def where_they_are(store: Store, batch: StoredBatch) -> list[dict[str, Any]]:
    """Return the sources of a batch, those that were moved since it was closed under their new names."""
    now = store.batches.transcripts(batch.id)
    sources: list[dict[str, Any]] = batch.job["sources"]
    if len(now) != len(sources):
        return sources
    return [{**source, "path": path} for source, path in zip(sources, now, strict=True)]
