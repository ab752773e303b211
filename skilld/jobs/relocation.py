"""Proposes a learning, or moves a proposal's content, to the best file or to one that the person names."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from skilld.agents import ADAPTERS
from skilld.classify.backends import OFFLINE, Spec, make_backend
from skilld.classify.offline.placement import section_for
from skilld.classify.offline.release import lets_go
from skilld.classify.offline.removals import removal
from skilld.classify.verify import VerifiedUpdate
from skilld.clock import rfc3339
from skilld.context import NATIVE_NAMES
from skilld.context.installed import installed_version
from skilld.errors import SkilldError
from skilld.git.same_project import project_root
from skilld.git.session import shared_git
from skilld.ingest.discover import Host, skill_places
from skilld.jobs.asks import proposal_saying, saying_reason
from skilld.jobs.contradictions import find_contradictions
from skilld.jobs.placing import JobPlaces
from skilld.pipeline.documents import TargetDocument, load_documents
from skilld.pipeline.edits import CheckedEdit, compose, summarize
from skilld.pipeline.judge import UNCHECKED_FLAG, Judge, NotSaidError
from skilld.proposals.amend import decide_parts, select_parts, stage_and_store
from skilld.proposals.contradictions import split_edits
from skilld.proposals.decide import Decision, DecisionReport, decide, decide_in_place
from skilld.proposals.explain import list_parts
from skilld.proposals.model import ACROSS_PREFIX, MOVED_PREFIX, agent_told, is_edited
from skilld.proposals.overtaken import removed_lines
from skilld.proposals.passed_over import forget_ask
from skilld.proposals.past_decisions import match_open_proposal
from skilld.proposals.remarks import current_conflicts, open_linked
from skilld.protocol import Source
from skilld.skills.find import FILE, find
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.targets.find import SHARED_NAME, TargetFiles, WorkingSession, file_refusal, find_targets
from skilld.targets.route import choose_target, ordered_files
from skilld.targets.scopes import find_scopes
from skilld.targets.session_work import SessionWork, session_work
from skilld.text import Redact, join_words, pluralize
from skilld.types import Evidence, Kind, Message, Op, Proposal, SkillRef, State, TargetKind, Update

_TITLE = "Not proposed"
_PROPOSE = "skilld learnings propose"


@shared_git()
def propose_learning(
    store: Store,
    ask: Sequence[Learning],
    host: Host,
    allowed: Collection[TargetKind],
    redact: Redact,
    *,
    to: Path | None = None,
) -> Proposal:
    """Propose learnings that say the same (the newest first) instead of keeping them.

    They go to the file that the person names, else to the one they were kept for. Raises SkilldError if it cannot be
    edited.
    """
    newest, kinds = ask[0], set(TargetKind) if to else allowed
    quotes = {newest.turn_key: newest.quote}
    update = Update(1, "", newest.change, "", Kind(newest.kind), 1, newest.quote, newest.confidence)
    where = store, newest.agent, _meant_project(store, ask, to), host
    session, found = _find_session_places(*where, allowed=kinds, quotes=quotes)
    ref = _named_file(to, found.refs, session) if to else _unnamed_file(store, ask, found.refs, session, allowed)
    if ref is None:
        remedy = f"Name a file: {_PROPOSE} {newest.id} --to PATH"
        raise SkilldError(_TITLE, found.refusal or "no suitable file was found", remedy)
    _check_not_open(store, update := _as_removal(update, ref, newest.id), ref)
    name = hashlib.sha256(f"{newest.id}\n{ref.path}".encode()).hexdigest()[:8]
    moved = Proposal(
        id=name,
        batch_id=f"learning-{name}",
        state=State.OPEN,
        skill=ref.name,
        path=ref.path,
        operations=(),
        summary=newest.change,
        reason=f"Proposed at your request, from {pluralize(len({one.session_id for one in ask}), 'session')}.",
        kind=update.kind,
        evidence=tuple(Evidence(one.turn_key, one.quote) for one in ask),
        confidence=max(one.confidence for one in ask),
        agent=newest.agent,
        session_id=newest.session_id,
        model=OFFLINE,
        created_at=rfc3339(time.time()),
        updates=(update,),
        target=ref.kind,
        agents=ref.agents,
    )
    around = JobPlaces([], found, str(host.home))
    made = _stage_edit(store, moved, ref, around, quotes=quotes, allowed=allowed, redact=redact)
    with store.transaction():
        forget_ask(store, ask)
    return made


def _as_removal(update: Update, ref: SkillRef, learning: str) -> Update:
    """Return what a learning says, as a removal if it takes a rule back, because no line should say that.

    Raises SkilldError if no line of the file is clearly meant.
    """
    if update.kind is not Kind.REMOVE_STEP and not lets_go(update.change):
        return update
    files, _ = load_documents([ref])
    if not any(removal(words, file.doc) for file in files for words in (update.quote, update.change)):
        remedy = f"Remove the line from {ref.path}, then: skilld learnings --forget {learning}"
        raise SkilldError(_TITLE, f"it takes back a rule, but no line of {ref.name} is clearly that rule", remedy)
    return replace(update, kind=Kind.REMOVE_STEP)


def _check_not_open(store: Store, update: Update, ref: SkillRef) -> None:
    same, _ = match_open_proposal(update, ref.path, store.proposals.in_states([State.OPEN]))
    if same is not None:
        why = f"the open proposal {same.id} for {ref.name} already says this"
        raise SkilldError(_TITLE, why, f"Decide on it: skilld show {same.id}")


@shared_git()
def accept_elsewhere(
    store: Store,
    proposal: Proposal,
    to: Path,
    host: Host,
    *,
    redact: Redact,
    decision: Decision,
    parts: Collection[int] = (),
) -> tuple[str, DecisionReport]:
    """Accept an open proposal, or some parts of it (numbers from 0), in another file that the person names.

    A new proposal replaces those parts; its ID is also returned. Raises SkilldError if it cannot be made.
    """
    title = f"{proposal.id} was not accepted"
    if proposal.state is not State.OPEN:
        raise SkilldError(title, f"it is {proposal.state.value}, not open")
    whole = not parts or set(range(len(list_parts(proposal)))) <= set(parts)
    taken = proposal if whole else select_parts(proposal, parts)
    if not taken.updates or not all(update.quote for update in taken.updates):
        raise SkilldError(
            title, "not all of it is based on something you said, so skilld cannot move it to another file"
        )
    quotes = {said.turn: said.quote for said in taken.evidence}
    project = store.transcripts.cwd(taken.agent, taken.session_id)
    with _not_accepted(title):
        session, found = _find_session_places(store, taken, project, host, allowed=set(TargetKind), quotes=quotes)
        _check_told(taken, to, found.refs, session)
        ref = _named_file(to, found.refs, session)
        if ref.path == proposal.path:
            raise SkilldError(title, f"it is already for {ref.name}", f"skilld accept {proposal.id}")
        name = hashlib.sha256(f"{proposal.id}\n{sorted(parts)}\n{ref.path}".encode()).hexdigest()[:8]
        around = JobPlaces([], found, str(host.home))
        moved = replace(_moved_proposal(taken, name, ref), note=proposal.note if is_edited(proposal) else "")
        made = _stage_edit(
            store, moved, ref, around, quotes=quotes, allowed=set(TargetKind), redact=redact, replaced=[proposal.id]
        )
    note = f"moved to {ref.name}, as {made.id}"
    left = _supersede(store, proposal, () if whole else parts, note)
    try:
        report = decide_in_place(store, made, decision)  # the person names the file
    except SkilldError as error:
        cause = f"{error.cause or error.title}; the proposal {made.id} for {ref.name} stays open"
        raise SkilldError(title, cause, f"skilld accept {made.id}") from error
    unread = [f"{why[:1].upper()}{why[1:]}"] if (why := _unread_note(ref)) else []
    lines = f"{'' if whole else 'Part of '}{proposal.id} was {note}", *report.lines, *left.lines[1:]
    stays = _lines_that_stay(store, taken, made)
    return made.id, DecisionReport(lines, (*report.warnings, *left.warnings, *unread, *stays))


def _lines_that_stay(store: Store, taken: Proposal, made: Proposal) -> Iterator[str]:
    """Yield how to take out each line that says otherwise and stays, since the change went to another file."""
    gone = removed_lines(taken.operations)
    text = load_documents([SkillRef(taken.skill, taken.path, kind=taken.target)])[0] if gone else []
    lines = enumerate(text[0].doc.text.splitlines() if text else (), 1)
    found = {(taken.path, number): line.strip() for number, line in lines if line in gone}
    changed = {one.path for one in open_linked(store, made)}
    found |= {
        (path, one.line): one.text
        for one in current_conflicts(made)
        if (path := os.path.realpath(one.path)) not in changed
    }
    accepted = store.proposals.in_states([State.ACCEPTED]) if found else []
    for (path, number), line in found.items():
        wrote = (one for one in accepted if os.path.realpath(one.path) == path and _adds_only(one, line))
        way = next((f"to remove it: skilld revert {one.id}" for one in wrote), "delete it if it no longer holds")
        yield f"{path}:{number} still says \u201c{line}\u201d; {way}"


def _adds_only(proposal: Proposal, line: str) -> bool:
    """Whether a line is all that a proposal adds, and nothing is in its place."""
    added = [one.strip() for step in proposal.operations for one in step.text.splitlines() if one.strip()]
    return added == [line.strip()] and all(step.op is Op.INSERT_AFTER for step in proposal.operations)


def _supersede(store: Store, proposal: Proposal, parts: Collection[int], note: str) -> DecisionReport:
    """Close an open proposal with a note, or some parts of it (none: all), since another one replaces them."""
    there = Decision(frozenset({State.OPEN}), State.SUPERSEDED, lambda _: None)
    report = decide_parts(store, proposal, parts, there) if parts else decide(store, proposal, there)
    old = store.proposals.get(proposal.id) or proposal
    store.proposals.decide(old, State.SUPERSEDED, old.decided_at, who="command", note=note)
    return report


@contextmanager
def _not_accepted(title: str) -> Iterator[None]:
    """Give this title to errors that say that nothing was proposed: the person asked to accept something."""
    try:
        yield
    except SkilldError as error:
        if error.title != _TITLE:
            raise
        raise SkilldError(title, error.cause, error.remedy) from error


def _moved_proposal(proposal: Proposal, name: str, ref: SkillRef) -> Proposal:
    """Return a proposal as one for another file, with the id `name`.

    It has a new batch: with the old one, another open proposal for that file would be mistaken for it.
    """
    moved = replace(proposal, id=name, batch_id=f"{MOVED_PREFIX}{name}", skill=ref.name, path=ref.path, target=ref.kind)
    moved = replace(moved, agents=ref.agents, also=(), linked=(), repo="", commit="")
    return replace(moved, base="", branch="", relpath="", note="")


def personal_file_name(store: Store, proposal: Proposal, host: Host) -> str:
    """Return the name of the person's own file to which a project's proposal could be moved.

    It is empty if the proposal is not for a project's file, takes a line out of it, or cannot be moved.
    """
    project = store.transcripts.cwd(proposal.agent, proposal.session_id)
    movable = bool(proposal.updates) and all(
        update.quote and update.kind is not Kind.REMOVE_STEP for update in proposal.updates
    )
    if not project or not movable or proposal.target not in {TargetKind.INSTRUCTIONS, TargetKind.RULES}:
        return ""
    _, found = _find_session_places(store, proposal, project, host, allowed={TargetKind.PERSONAL})
    return next((ref.name for ref in found.refs), "")


def agents_loading(store: Store, proposal: Proposal, host: Host) -> tuple[str, ...]:
    """Return the agents at work in a proposal's project that load its file now; where none does, those known to."""
    project = store.transcripts.cwd(proposal.agent, proposal.session_id)
    if not project or not proposal.agents:
        return proposal.agents
    return _session_of(store, proposal, project, host).readers(Path(proposal.path)) or proposal.agents


def unloaded_beside(store: Store, proposal: Proposal, host: Host) -> str:
    """Return a remark if agents do not load the AGENTS.md beside the file that a proposal creates; empty if all do."""
    path, project = Path(proposal.path), store.transcripts.cwd(proposal.agent, proposal.session_id)
    shared = path.with_name(SHARED_NAME)
    undecided = proposal.state in {State.OPEN, State.DROPPED} and proposal.target is TargetKind.INSTRUCTIONS
    if not (undecided and proposal.creates and project and path != shared and shared.is_file()):
        return ""
    session = _session_of(store, proposal, project, host)
    agents = [one for one in dict.fromkeys((session.agent, *session.others)) if NATIVE_NAMES.get(one) == path.name]
    titles = [ADAPTERS[one].INFO.title for one in agents if not session.loads_beside(one, shared, path)]
    if not titles:
        return ""
    if any(line.strip() == f"@{SHARED_NAME}" for one in proposal.operations for line in one.text.splitlines()):
        return f"it imports {SHARED_NAME}, which {join_words(titles)} would not load beside {path.name} otherwise"
    verb = "does" if len(titles) == 1 else "do"
    told = f"{join_words(titles)} {verb} not load {SHARED_NAME} beside {path.name}"
    return f"{told}, unless {path.name} has the line @{SHARED_NAME}"


def no_longer_loaded(store: Store, proposal: Proposal, host: Host) -> str:
    """Return a remark if no agent loads an undecided proposal's file under its new name; empty if one does."""
    path, project = Path(proposal.path), store.transcripts.cwd(proposal.agent, proposal.session_id)
    undecided = proposal.state in {State.OPEN, State.DROPPED} and proposal.target is TargetKind.INSTRUCTIONS
    renamed = proposal.agents and path.name not in {NATIVE_NAMES.get(one, SHARED_NAME) for one in proposal.agents}
    if not (undecided and renamed and path.is_file() and project and Path(project).is_dir()):
        return ""
    if _session_of(store, proposal, project, host).readers(path.resolve()):
        return ""
    titles = [ADAPTERS[one].INFO.title if one in ADAPTERS else one for one in proposal.agents]
    verb = "does" if len(titles) == 1 else "do"
    return f"{join_words(titles)} {verb} not load {path.name}, which is the file's name now"


_FIRST_BYTES = 1 << 16  # of a transcript, which names the client's version


def _session_of(store: Store, proposal: Proposal, project: str, host: Host) -> WorkingSession:
    """Return the session in which a proposal's words were said, with the version of its client."""
    agent = agent_told(proposal)
    version = installed_version(ADAPTERS[agent].INFO, host.environment) if agent in ADAPTERS else ""
    found = (store.transcripts.path_of(said.turn) for said in proposal.evidence if not version)
    path = next((place[1] for place in found if place and place[0] == agent == proposal.agent), "")
    if path:
        version = session_work(agent, proposal.session_id, [Source(path, 0, _FIRST_BYTES)]).version
    return replace(_session(store, agent, project, host), worked=SessionWork(version))


def _session(store: Store, agent: str, project: str, host: Host) -> WorkingSession:
    others = tuple(store.transcripts.agents_in(project))
    return WorkingSession(agent, Path(project), host.home, host.environment, others=others)


def _find_session_places(
    store: Store,
    said: Proposal | str,
    project: str | None,
    host: Host,
    *,
    allowed: Collection[TargetKind],
    quotes: Mapping[str, str] = MappingProxyType({}),
) -> tuple[WorkingSession, TargetFiles]:
    """Return the session in which something was said, as far as known, and the places for it.

    `said` is the proposal with the words, or the agent that they were said to.
    """
    if not project:
        raise SkilldError(_TITLE, "skilld does not know which project you said it in")
    if isinstance(said, Proposal):
        session = _session_of(store, said, project, host)
    else:
        session = _session(store, said, project, host)
    named = [name for quote in quotes.values() for name in ordered_files(quote)]
    scopes = [scope for quote in quotes.values() for scope in find_scopes(quote)]
    return session, find_targets(session, allowed, scopes, named)


def _stage_edit(
    store: Store,
    said: Proposal,
    ref: SkillRef,
    around: JobPlaces,
    *,
    quotes: Mapping[str, str],
    allowed: Collection[TargetKind],
    redact: Redact,
    replaced: Collection[str] = (),
) -> Proposal:
    """Stage an edit that makes the updates of `said`, in place of `replaced` (IDs); `quotes` are words by turn."""
    made = next((one for one in store.proposals.in_states([State.OPEN]) if one.creates and one.path == ref.path), None)
    if made is not None:
        raise SkilldError(
            _TITLE, f"the open proposal {made.id} creates {ref.name}", f"Decide on it first: skilld show {made.id}"
        )
    files, left_out = load_documents([ref])
    if not files:
        raise SkilldError(_TITLE, left_out[0][1])
    composed, typed = _compose(said, files, quotes, redact)
    after = composed.after.decode("utf-8-sig")
    around = replace(around, files=files)
    against = find_contradictions(
        composed.checked, files[0], after, around, [], allowed=allowed, typed=typed, redact=redact
    )
    standing = [one for one in store.proposals.in_states([State.OPEN]) if one.id not in replaced]
    flags = tuple(filter(None, (_unread_note(ref), *composed.flags, *around.repeat_flags(said, standing))))
    edit = replace(said, operations=composed.operations, flags=flags, conflicts=against.conflicts)
    if said.kind is Kind.REMOVE_STEP:
        edit = replace(edit, summary=summarize(composed, files[0], redact))
    whole, linked = split_edits(edit, against.edits)
    before = [one for one in map(store.proposals.get, replaced) if one and one.updates == said.updates]
    made = stage_and_store(store, whole, [one.id for one in before if ref.path in {side.path for side in one.also}])
    for other in linked:
        with suppress(SkilldError):  # the contradiction is then only reported
            stage_and_store(store, other)
    return made


def _compose(
    said: Proposal, files: Sequence[TargetDocument], quotes: Mapping[str, str], redact: Redact
) -> tuple[CheckedEdit, str]:
    """Return the edit that makes the updates of `said` in the one file, and all that the person typed for it."""
    messages = [Message(quote, number, turn) for number, (turn, quote) in enumerate(quotes.items(), 1)]
    at = {message.text: message.turn for message in messages}
    text = files[0].doc.text
    updates = [
        replace(
            one,
            skill=1,
            section=section_for(one.quote, one.change, text, one.quote).heading if text.strip() else "",
            turn=at.get(one.quote) or 1,
        )
        for one in said.updates
    ]
    backend, checked = make_backend(Spec(OFFLINE)), [VerifiedUpdate(update) for update in updates]
    words = [*quotes.values(), *(one.quote for one in said.evidence)]  # of a turn, `quotes` has only one
    typed = "\n".join(dict.fromkeys([*words, *(one.change for one in updates if is_edited(said))]))
    if is_edited(said):  # in the person's words, and not what the question finds in what they said
        return compose(backend, checked, files[0], typed, redact), typed
    try:
        return Judge(backend, messages, files, "", redact).edit(files[0], checked, typed=typed), typed
    except NotSaidError:  # the person asked for these words, so they go in as they are
        made = compose(backend, checked, files[0], typed, redact)
        return replace(made, flags=(*made.flags, UNCHECKED_FLAG)), typed


def _unread_note(ref: SkillRef) -> str:
    """Return a remark on a file that nobody reads; empty for any other."""
    if ref.agents or ref.kind is TargetKind.SKILL:
        return ""
    return f"none of the agents you use in this project loads {ref.name} on its own"


def _meant_project(store: Store, ask: Sequence[Learning], to: Path | None) -> str | None:
    """Return the project that learnings were said in, or another one that sessions were in if they are for its file."""
    project = ask[0].project
    kinds = {TargetKind.INSTRUCTIONS.value, TargetKind.RULES.value}
    file = to or next((Path(one.place) for one in ask if one.place and one.place_kind in kinds), None)
    if not project or file is None:
        return project
    with suppress(OSError):
        root = project_root(file.expanduser().resolve().parent)
        if root != project_root(Path(project)) and any(
            project_root(Path(one)) == root for one in store.transcripts.folders()
        ):
            return str(root)
    return project


def _recorded_skill(ask: Sequence[Learning], session: WorkingSession) -> SkillRef | None:
    """Return the skill that learnings were kept for, None if there is none or it cannot be edited."""
    kept = next((one for one in ask if one.place and one.place_kind == TargetKind.SKILL.value), None)
    if kept is None:
        return None
    where = skill_places(session.agent, session.home, session.environment)
    found = find(kept.skill or Path(kept.place).parent.name, kept.place, str(session.cwd), where)
    return found if isinstance(found, SkillRef) else None


def _unnamed_file(
    store: Store,
    ask: Sequence[Learning],
    refs: Sequence[SkillRef],
    session: WorkingSession,
    allowed: Collection[TargetKind],
) -> SkillRef | None:
    """Return the file for learnings if the person names none. Raises SkilldError if one says them already."""
    if made := proposal_saying(ask[0], store.proposals.in_states([State.ACCEPTED])):
        raise SkilldError(_TITLE, saying_reason(made), f"To say it elsewhere, too: {_PROPOSE} {ask[0].id} --to PATH")
    return _recorded_file(ask, refs, session, allowed)


def _recorded_file(
    ask: Sequence[Learning], refs: Sequence[SkillRef], session: WorkingSession, allowed: Collection[TargetKind]
) -> SkillRef | None:
    """Return the file that learnings were kept for, or another that is as private; the best one if none is recorded."""
    newest = ask[0]
    if TargetKind.SKILL in allowed and (skill := _recorded_skill(ask, session)):
        return skill
    kept = next((one for one in ask if one.place and one.place_kind != TargetKind.SKILL.value), None)
    if kept is None:
        return choose_target(newest.quote, refs)
    real = os.path.realpath(kept.place)
    if (same := next((ref for ref in refs if real == os.path.realpath(ref.path)), None)) is not None:
        return same
    own = kept.place_kind == TargetKind.PERSONAL.value
    fitting = [ref for ref in refs if (ref.kind is TargetKind.PERSONAL) == own and ref.kind is not TargetKind.SKILL]
    return choose_target(newest.quote, fitting) or next((ref for ref in fitting if not ref.patterns), None)


def _check_told(proposal: Proposal, to: Path, refs: Sequence[SkillRef], session: WorkingSession) -> None:
    """Raise SkilldError if a proposal is meant for an agent that was not told, and the file would not reach it."""
    real = Path(os.path.realpath(to.expanduser()))
    if proposal.batch_id.startswith(ACROSS_PREFIX) and str(real) not in {ref.path for ref in refs}:
        title = ADAPTERS[session.agent].INFO.title if session.agent in ADAPTERS else session.agent
        if session.agent not in session.readers(real):
            raise SkilldError(
                _TITLE, f"it is meant for {title}, which does not load {to}", f"skilld accept {proposal.id}"
            )


def _named_file(to: Path, refs: Sequence[SkillRef], session: WorkingSession) -> SkillRef:
    """Return the file that the person names: one of the places, or another text file in the project."""
    try:
        real = to.expanduser().resolve()
        known = next((ref for ref in refs if ref.path == str(real)), None)
        if known is not None:
            return known
        root = Path(session.context().root)
        if not real.is_relative_to(root):
            own = next((f", or your own file: {ref.path}" for ref in refs if ref.kind is TargetKind.PERSONAL), "")
            raise SkilldError(_TITLE, f"{real} is outside {root}", f"Name a file in that folder{own}")
        why = file_refusal(str(real)) if real.exists() else f"there is no file {to}"
    except OSError as error:
        raise SkilldError(_TITLE, f"{to}: {error.strerror}") from error
    if why:
        raise SkilldError(_TITLE, why)
    if real.name == FILE:
        return SkillRef(real.parent.name, str(real))
    kind = TargetKind.RULES if "rules" in real.parts else TargetKind.INSTRUCTIONS
    return SkillRef(str(real.relative_to(root)), str(real), kind=kind, agents=session.readers(real))
