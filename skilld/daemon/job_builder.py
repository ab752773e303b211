"""Builds the job for a batch: everything a worker needs.

The worker rereads the turns from the transcripts; the job names files, byte ranges and turn keys. The only words of the
person's in it are stored, redacted ones: of waiting learnings, proposals and decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld.agents import context_variables
from skilld.batching.closing import ClosedBatch
from skilld.classify.backends import OFFLINE, Spec
from skilld.clock import parse_time, rfc3339
from skilld.daemon import judges
from skilld.files import are_nested
from skilld.git.same_project import is_clone_of, is_same_project, project_root
from skilld.ingest.discover import Host, skill_places
from skilld.proposals.model import is_put_away
from skilld.proposals.passed_over import load_passed_over, load_withdrawals
from skilld.proposals.past_decisions import past_decisions, thresholds
from skilld.proposals.results import WAITING_KIND, judged_again
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
from skilld.store.learnings import NO_FILE_REASON, Learning
from skilld.store.proposals import UNWANTED_STATES
from skilld.text import fold_case
from skilld.types import Cause, ClosedBy, How, Kind, Proposal, SkillRef, State, TargetKind, Update

# A batch without a usable skill may have had its worker killed later, so that cause also looks up the skills again.
_SKILL_LOOKUP_CAUSES = (Cause.SKILL, Cause.FOLDER, Cause.PROCESS)
_MAX_LEARNINGS = 500  # the newest ones, to be compared with what is said
_MAX_SKILLS = 3  # the newest skills in use; each costs its whole text in tokens


def batch_job(store: Store, host: Host, agent: str, session_id: str, closing: ClosedBatch[Any]) -> BatchJob:
    """Return the part of a job that is fixed when the batch is closed."""
    found, unusable = skills_in_use(store, host, agent, session_id, [turn.seq for turn in closing.turns])
    return BatchJob(
        batch=closing.batch_id,
        agent=agent,
        session_id=session_id,
        cwd=store.transcripts.cwd(agent, session_id),
        sources=_batch_sources(store, agent, session_id, closing),
        turns=tuple(turn.key for turn in closing.turns),
        skills=tuple(found),
        unusable=tuple(unusable),
        home=str(host.home),
        variables={name: host.environment[name] for name in context_variables() if name in host.environment},
    )


def _was_made_elsewhere(store: Store, proposal: Proposal, cwd: str) -> bool:
    """Whether a proposal was made in a session whose folder is neither above nor below `cwd`."""
    theirs = store.transcripts.cwd(proposal.agent, proposal.session_id)
    return theirs is not None and not are_nested(theirs, cwd)


def complete_job(store: Store, settings: Settings, host: Host, batch: StoredBatch, now: float) -> Job:
    """Return the whole job: the fixed part, the back-end, the open proposals and the stored words.

    If a missing skill was the obstacle, the skills are looked up again.
    """
    cause = batch.obstacle.cause if batch.obstacle else None
    stale = store.proposals.get(batch.job.proposal) if batch.job.kind == "remake" else None
    # A proposal with words from several agents' sessions is not sent to any of these agents.
    mixed = stale is not None and any(said.turn.partition(":")[0] != batch.agent for said in stale.evidence)
    backend = judges.choose_judge(store, settings, host.environment, "" if mixed else batch.agent, now).spec
    words = tuple(store.words.get(batch.job.turns))
    matcher, again = backend, None
    if batch.job.kind == WAITING_KIND:
        backend = Spec(OFFLINE)
        kept = judged_again(store, batch)[:1]
        words = tuple(StoredWords(one.turn_key, How.TYPED, one.quote) for one in kept)
        again = next((_kept_update(one) for one in kept if matcher.model != OFFLINE), None)
    limits = host.umask, settings.worker.memory_mb, settings.worker.processor_seconds
    most = settings.limits.tokens
    standing, closed = tuple(store.proposals.in_states([State.OPEN])), store.proposals.closed_ids()
    if batch.job.kind == "remake":
        remake = RemakeProposal(
            batch=batch.job, backend=backend, stale=stale, open=standing, closed=closed, most_tokens=most
        )
        return Job(remake, *limits)
    job = refresh_skills(store, host, batch) if cause in _SKILL_LOOKUP_CAUSES and batch.job.plan is None else batch.job
    work = AnalyseBatch(
        batch=replace(job, sources=current_sources(store, batch)),
        closed_at=batch.created_at,
        backend=backend,
        matcher=matcher,
        before=cause,
        words=words,
        kept=again,
        auto=auto_rules(settings),
        open=standing,
        elsewhere=tuple(one.id for one in standing if _was_made_elsewhere(store, one, job.cwd or "/")),
        newer=tuple(one.id for one in standing if _was_asked_later(store, one, batch)),
        folders=tuple(store.transcripts.folders()),
        closed=closed,
        thresholds=thresholds(store.proposals.in_states([State.ACCEPTED, State.REJECTED, State.REVERTED])),
        decided=_decisions(store, batch),
        targets=tuple(settings.targets),
        agents=tuple(store.transcripts.agents_in(batch.job.cwd or "")),
        waiting=tuple(_waiting_learnings(store, batch)),
        aside=tuple(_passed_over(store, batch)),
        withdrawals=tuple(_later_withdrawals(store, batch, now)),
        most_tokens=most,
    )
    return Job(work, *limits)


def _kept_update(one: Learning) -> Update:
    """Return what a model once made of a learning's words, which the rules may not recognize."""
    return Update(None, "", one.change, "", Kind(one.kind), 1, one.quote, one.confidence)


def _waiting_learnings(store: Store, batch: StoredBatch) -> Iterator[PastLearning]:
    """Yield the learnings of a batch's project, and personal ones of any project."""
    cwd, kept = batch.job.cwd or "", [one for one in store.learnings.said() if one.project][:_MAX_LEARNINGS]
    folders = {one.project or "" for one in kept}
    near = {folder for folder in folders if are_nested(folder, cwd) or _is_near(folder, batch)}
    for one in kept:
        personal = one.place_kind == TargetKind.PERSONAL
        if personal or one.project in near:
            name = one.id if _may_be_taken_back(store, one, batch) else ""
            yield PastLearning(one.turn_key, one.quote, one.change, one.session_id, name, personal)


def _passed_over(store: Store, batch: StoredBatch) -> Iterator[PastLearning]:
    """Yield what was not treated as a rule but a batch's words can take back."""
    for one in load_passed_over(store, parse_time(batch.created_at) or 0.0):
        if one.project and _may_be_taken_back(store, one, batch):
            yield PastLearning(one.turn_key, one.quote, one.change, one.session_id, one.id)


def _may_be_taken_back(store: Store, learning: Learning, batch: StoredBatch) -> bool:
    """Whether a batch's words may take a learning back: it was said earlier, in the same project."""
    job = batch.job
    if job.kind == WAITING_KIND or learning.turn_key in job.turns or not _is_near(learning.project or "", batch):
        return False
    said = parse_time(store.transcripts.said_at(learning.turn_key) or learning.created_at)
    return (said or 0.0) <= _heard_at(store, batch)


def _is_near(project: str, batch: StoredBatch) -> bool:
    """Whether a batch is of this project: of its repository, or one is in the other, and neither around the home."""
    cwd, home = batch.job.cwd or "", Path(batch.job.home)
    if project == cwd or (are_nested(project, cwd) and not any(home.is_relative_to(one) for one in (project, cwd))):
        return True
    return is_same_project(Path(project), Path(cwd)) and not home.is_relative_to(project_root(Path(cwd)))


def _later_withdrawals(store: Store, batch: StoredBatch, now: float) -> Iterator[str]:
    """Yield the words by which the person took rules back in a batch's project after it was typed."""
    heard = _heard_at(store, batch)
    for one in load_withdrawals(store, now):
        is_later = (parse_time(one.said_at) or 0.0) > heard and one.turn not in batch.job.turns
        if is_later and _is_near(one.project, batch):
            yield one.quote


def _heard_at(store: Store, batch: StoredBatch) -> float:
    """Return when the last turn of a batch was typed."""
    times = [parse_time(store.transcripts.said_at(key)) or 0.0 for key in batch.job.turns]
    return max(times, default=0.0) or parse_time(batch.created_at) or 0.0


def _was_asked_later(store: Store, proposal: Proposal, batch: StoredBatch) -> bool:
    """Whether the person last asked for a proposal after a batch was typed: a backfill judges older sessions later."""
    times = [parse_time(store.transcripts.said_at(one.turn)) or 0.0 for one in proposal.evidence]
    return max(times, default=0.0) > _heard_at(store, batch)


def not_to_repeat(store: Store) -> list[Proposal]:
    """Return the proposals that are not wanted, and the accepted ones that wait in a stash or on another branch."""
    found = store.proposals.in_states([*UNWANTED_STATES, State.ACCEPTED])
    return [one for one in found if one.state is not State.ACCEPTED or is_put_away(one)]


def _decisions(store: Store, batch: StoredBatch) -> tuple[PastDecision, ...]:
    decided = [*not_to_repeat(store), *_accepted_in_clones(store, batch)]
    return (*past_decisions(decided), *_decisions_on_other_machines(store))


def _accepted_in_clones(store: Store, batch: StoredBatch) -> list[Proposal]:
    """Return what was accepted in other clones of a batch's project, which may not have reached this one yet."""
    here = Path(batch.job.cwd or "/")
    found = [one for one in store.proposals.in_states([State.ACCEPTED]) if one.repo and not is_put_away(one)]
    repositories = {one.repo for one in found if not here.is_relative_to(one.repo)}
    clones = {one for one in repositories if is_clone_of(Path(one), here)}
    return [one for one in found if one.repo in clones]


def _decisions_on_other_machines(store: Store) -> list[PastDecision]:
    """Return what the person rejected on other machines, in the words they used there."""
    return [
        PastDecision(path, State(said), (rule,), (fold_case(quote),), "")
        for path, said, rule, quote, _ in store.machine_records.rejections()
    ]


def refresh_skills(store: Store, host: Host, batch: StoredBatch) -> BatchJob:
    """Return the fixed part of a batch's job with its skills looked up again."""
    found, unusable = skills_in_use(
        store, host, batch.agent, batch.session_id, store.batches.turn_numbers(batch.id) or [0]
    )
    return replace(batch.job, skills=tuple(found), unusable=tuple(unusable))


def auto_rules(settings: Settings) -> AutoRules:
    """Return which proposals may be applied automatically."""
    skills = None if settings.apply == "auto" else tuple(settings.auto.skills)
    return AutoRules(skills, settings.auto.confidence, tuple(settings.auto.targets))


def skills_in_use(
    store: Store, host: Host, agent: str, session_id: str, seqs: Sequence[int]
) -> tuple[list[SkillRef], list[Unusable]]:
    """Return the newest skills in use up to the last of a session's turns `seqs`, and those that cannot be edited."""
    places = skill_places(agent, host.home, host.environment, host.roots)
    usable: dict[str, SkillRef] = {}
    unusable: dict[str, Unusable] = {}
    for use in store.transcripts.uses(agent, session_id, seqs[-1]):
        # A shell command in a log may name a path below ~, which the shell expands.
        path = use.path.replace("~", str(host.home), 1) if use.path and use.path.startswith("~/") else use.path
        found = find(use.name, path, use.cwd, places)
        if isinstance(found, Unusable):
            unusable.setdefault(found.name, found)
        elif found.path in usable or len(usable) < _MAX_SKILLS:
            skill = usable.get(found.path, found)
            usable[found.path] = replace(skill, used=(sum(seq <= use.after_seq for seq in seqs), *skill.used))
    return list(usable.values()), list(unusable.values())


def _batch_sources(store: Store, agent: str, session_id: str, closing: ClosedBatch[Any]) -> tuple[Source, ...]:
    by_file: dict[int, list[Any]] = {}
    for turn in closing.turns:
        by_file.setdefault(turn.file_id, []).append(turn)
    files = {file.id: file for file in store.transcripts.with_ids(by_file)}
    sources = []
    for file_id, turns in by_file.items():
        file = files[file_id]
        first = min(turn.start for turn in turns)
        start = store.transcripts.previous_end(agent, session_id, file_id, first)
        # Positions of gathered sessions are record numbers, of which there may be more than the file has bytes.
        sources.append(Source(file.path, start, max(file.size, *(turn.stop for turn in turns))))
    return tuple(sources)


def current_sources(store: Store, batch: StoredBatch) -> tuple[Source, ...]:
    """Return the sources of a batch with the current paths of moved transcripts."""
    now = store.batches.transcripts(batch.id)
    sources = batch.job.sources
    if len(now) != len(sources):
        return sources
    return tuple(replace(source, path=path) for source, path in zip(sources, now, strict=True))


# Judges learnings again, with the offline rules, once the file that they waited for exists.
#
# The results are ordinary proposals; what still has no file stays a learning.


def judge_again(store: Store, host: Host, now: float) -> int:
    """Queue the learnings whose file exists now; return how many."""
    count = 0
    for one in store.learnings.for_files():
        name = f"{WAITING_KIND}-{one.id}-placed"
        if NO_FILE_REASON in one.why_kept and Path(one.place).is_file() and store.batches.get(name) is None:
            store.batches.add(_waiting_batch(host, name, one, now), ())
            count += 1
    return count


def _waiting_batch(host: Host, name: str, one: Learning, now: float) -> StoredBatch:
    job = BatchJob(
        kind=WAITING_KIND,
        batch=name,
        agent=one.agent,
        session_id=one.session_id,
        cwd=one.project,
        turns=(one.turn_key,),
        home=str(host.home),
        variables={name: host.environment[name] for name in context_variables() if name in host.environment},
    )
    return StoredBatch(name, one.agent, one.session_id, ClosedBy.ENDED, "pending", job, 0, rfc3339(now))
