"""Builds the job for a batch: everything a worker needs.

The worker reads the turns again from the transcripts; the job names files, byte ranges and turn keys. Of the person's
words it holds only those that are stored, redacted: of waiting learnings, proposals and decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld.agents import VARIABLES
from skilld.batching.closing import ClosedBatch
from skilld.classify.backends import OFFLINE, Spec
from skilld.daemon import judges
from skilld.daemon.old_learnings import WAITING
from skilld.ingest.discover import Host, skill_places
from skilld.proposals.past_decisions import past_decisions, thresholds
from skilld.protocol import (
    AnalyseBatch,
    AutoRules,
    BatchJob,
    Job,
    PastDecision,
    PastLearning,
    RemakeProposal,
    Source,
    StoredWords,
)
from skilld.settings import Settings
from skilld.skills import Unusable, find
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.proposals import UNWANTED_STATES
from skilld.text import folded
from skilld.types import Cause, How, SkillRef, State, TargetKind

# A batch of which nothing could be proposed for want of a skill may have had its worker killed since.
_SKILLS_ANEW = (Cause.SKILL, Cause.PROCESS)
_WAITING = 500  # the newest learnings that are compared with what is said
_SKILLS = 3  # the newest skills in use that a batch is judged against; each costs its whole text in tokens


def analysis(store: Store, around: Host, agent: str, session_id: str, closing: ClosedBatch[Any]) -> BatchJob:
    """Return the part of a job that is fixed when the batch is closed."""
    found, unusable = skills(store, around, agent, session_id, [turn.seq for turn in closing.turns])
    return BatchJob(
        batch=closing.batch_id,
        agent=agent,
        session_id=session_id,
        cwd=store.transcripts.cwd(agent, session_id),
        sources=_sources(store, agent, session_id, closing),
        turns=tuple(turn.key for turn in closing.turns),
        skills=tuple(found),
        unusable=tuple(unusable),
        home=str(around.home),
        variables={name: around.environment[name] for name in VARIABLES if name in around.environment},
    )


def complete(store: Store, settings: Settings, around: Host, batch: StoredBatch, now: float) -> Job:
    """Return the whole job: the fixed part, with the back-end, the proposals that are open now and the words kept.

    Where it was for want of a skill that nothing could be proposed, those are looked for again.
    """
    cause = batch.obstacle.cause if batch.obstacle else None
    stale = store.proposals.get(batch.job.proposal) if batch.job.kind == "remake" else None
    # What was mined, or said again elsewhere, may hold words of several agents' sessions: those are sent to none.
    mixed = stale is not None and any(said.turn.partition(":")[0] != batch.agent for said in stale.evidence)
    backend = judges.choice(store, settings, around.environment, "" if mixed else batch.agent, now).spec
    words = tuple(store.words.get(batch.job.turns))
    if batch.job.kind == WAITING:
        backend = Spec(OFFLINE)
        kept = [one for key in batch.job.turns for one in store.learnings.of_turn(key)]
        words = tuple(StoredWords(one.turn_key, How.TYPED, one.quote) for one in kept)
    limits = around.umask, settings.worker.memory_mb, settings.worker.processor_seconds
    most = settings.limits.tokens
    standing, closed = tuple(store.proposals.in_states([State.OPEN])), tuple(store.proposals.closed_ids())
    if batch.job.kind == "remake":
        remake = RemakeProposal(
            batch=batch.job, backend=backend, stale=stale, open=standing, closed=closed, most_tokens=most
        )
        return Job(remake, *limits)
    fixed = skills_now(store, around, batch) if cause in _SKILLS_ANEW and batch.job.plan is None else batch.job
    work = AnalyseBatch(
        batch=replace(fixed, sources=where_they_are(store, batch)),
        closed_at=batch.created_at,
        backend=backend,
        before=cause,
        words=words,
        auto=auto(settings),
        open=standing,
        closed=closed,
        thresholds=thresholds(store.proposals.in_states([State.ACCEPTED, State.REJECTED, State.REVERTED])),
        decided=(*past_decisions(store.proposals.in_states(UNWANTED_STATES)), *_decided_elsewhere(store)),
        targets=tuple(settings.targets),
        agents=tuple(store.transcripts.agents_in(batch.job.cwd or "")),
        waiting=waiting(store, batch.job.cwd or ""),
        most_tokens=most,
    )
    return Job(work, *limits)


def waiting(store: Store, cwd: str) -> tuple[PastLearning, ...]:
    """Return what was said before in a project, and about the person anywhere, and waits for a place."""
    kept = [one for one in store.learnings.all() if one.project and one.skill is None][:_WAITING]
    return tuple(
        PastLearning(one.turn_key, one.quote, one.change, one.session_id)
        for one in kept
        if one.place_kind == TargetKind.PERSONAL or _together(one.project or "", cwd)
    )


def _decided_elsewhere(store: Store) -> list[PastDecision]:
    """Return what the person did not want on another machine, in the words in which they said it there."""
    return [
        PastDecision(path, State(said), (rule,), (folded(quote),), "")
        for path, said, rule, quote in store.machine_records.unwanted()
    ]


def _together(one: str, other: str) -> bool:
    """Whether two folders are one, or one is in the other."""
    return Path(one).is_relative_to(other) or Path(other).is_relative_to(one)


def skills_now(store: Store, around: Host, batch: StoredBatch) -> BatchJob:
    """Return the fixed part of a batch's job with its skills as they are found now."""
    found, unusable = skills(store, around, batch.agent, batch.session_id, store.batches.turn_numbers(batch.id) or [0])
    return replace(batch.job, skills=tuple(found), unusable=tuple(unusable))


def auto(settings: Settings) -> AutoRules:
    """Return which skills' proposals may be applied unasked, and how sure they must be."""
    skills = None if settings.apply == "auto" else tuple(settings.auto.skills)
    return AutoRules(skills, settings.auto.confidence, tuple(settings.auto.targets))


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


def _sources(store: Store, agent: str, session_id: str, closing: ClosedBatch[Any]) -> tuple[Source, ...]:
    by_file: dict[int, list[int]] = {}
    for turn in closing.turns:
        by_file.setdefault(turn.file_id, []).append(turn.start)
    files = {file.id: file for file in store.transcripts.with_ids(by_file)}
    sources = []
    for file_id, starts in by_file.items():
        file = files[file_id]
        first = min(starts)
        start = store.transcripts.previous_end(agent, session_id, file_id, first)
        sources.append(Source(file.path, start, max(file.size, 0)))
    return tuple(sources)


def where_they_are(store: Store, batch: StoredBatch) -> tuple[Source, ...]:
    """Return the sources of a batch, those that were moved since it was closed under their new names."""
    now = store.batches.transcripts(batch.id)
    sources = batch.job.sources
    if len(now) != len(sources):
        return sources
    return tuple(replace(source, path=path) for source, path in zip(sources, now, strict=True))
