"""Turns a waiting learning into a proposal because the person asked for it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE, Spec, make
from skilld.classify.said_already import is_same
from skilld.classify.verify import VerifiedUpdate
from skilld.errors import SkilldError
from skilld.git.run import one_command
from skilld.ingest.discover import Host
from skilld.jobs.contradictions import find_contradictions
from skilld.jobs.placing import JobPlaces
from skilld.pipeline.documents import load_skills
from skilld.pipeline.edits import CheckedEdit
from skilld.pipeline.judge import Judge, Redact
from skilld.proposals.amend import put
from skilld.proposals.contradictions import divided
from skilld.skills.find import FILE
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.targets.places import Session, file_refusal, places
from skilld.targets.route import choose
from skilld.targets.scopes import scopes
from skilld.text import counted
from skilld.types import Evidence, Kind, Message, Proposal, SkillRef, State, TargetKind, Update

_TITLE = "The learning was not proposed"


def grouped(found: Iterable[Learning]) -> list[list[Learning]]:
    """Return learnings as asks, each with all the times it was said in one project, the newest first."""
    asks: list[list[Learning]] = []
    for one in found:
        key = one.project, one.skill
        known = next(
            (ask for ask in asks if (ask[0].project, ask[0].skill) == key and is_same(one.change, ask[0].change)), None
        )
        if known is None:
            asks.append([one])
        else:
            known.append(one)
    return asks


@one_command()
def propose(
    store: Store,
    ask: Sequence[Learning],
    host: Host,
    allowed: Collection[TargetKind],
    redact: Redact,
    *,
    to: Path | None = None,
) -> Proposal:
    """Propose what was said, once or several times (the newest first), in place of keeping it.

    It goes to the file that the person names, or the best. Raises SkilldError if there is none, or no edit of it may
    be made.
    """
    newest = ask[0]
    if not newest.project:
        raise SkilldError(_TITLE, "skilld does not know which project you said it in")
    others = tuple(store.transcripts.agents_in(newest.project))
    session = Session(newest.agent, Path(newest.project), host.home, host.environment, others=others)
    found = places(session, set(TargetKind) if to else allowed, scopes(newest.quote))
    ref = _named(to, found.refs, session) if to else choose(newest.quote, found.refs)
    if ref is None:
        remedy = f"Name a file: skilld learnings propose {newest.id} --to PATH"
        raise SkilldError(_TITLE, "no suitable file was found", remedy)
    files, left_out = load_skills([ref])
    if not files:
        raise SkilldError(_TITLE, left_out[0][1])
    update = Update(1, "", newest.change, "", Kind(newest.kind), 1, newest.quote, newest.confidence)
    messages = [Message(newest.quote, 1, newest.turn_key)]
    composed = Judge(make(Spec(OFFLINE)), messages, files, "", redact).edit(files[0], [VerifiedUpdate(update)])
    around, after = JobPlaces(files, found, str(host.home)), composed.after.decode("utf-8-sig")
    against = find_contradictions(
        composed.checked, files[0], after, around, [], allowed=allowed, typed=newest.quote, redact=redact
    )
    proposal = replace(_proposal(ask, ref, update, composed), conflicts=against.conflicts)
    whole, linked = divided(proposal, against.edits)
    made = put(store, whole)
    for other in linked:
        with suppress(SkilldError):  # it is only named then
            put(store, other)
    with store.transaction():
        for one in ask:
            store.learnings.forget(one.id)
    return made


def _proposal(ask: Sequence[Learning], ref: SkillRef, update: Update, composed: CheckedEdit) -> Proposal:
    newest = ask[0]
    name = hashlib.sha256(f"{newest.id}\n{ref.path}".encode()).hexdigest()[:8]
    return Proposal(
        id=name,
        batch_id=f"learning-{name}",
        state=State.OPEN,
        skill=ref.name,
        path=ref.path,
        operations=composed.operations,
        summary=newest.change,
        reason=f"Said in {counted(len({one.session_id for one in ask}), 'session')}.",
        kind=update.kind,
        evidence=tuple(Evidence(one.turn_key, one.quote) for one in ask),
        confidence=max(one.confidence for one in ask),
        agent=newest.agent,
        session_id=newest.session_id,
        model=OFFLINE,
        created_at=newest.created_at,
        flags=composed.flags,
        updates=(update,),
        target=ref.kind,
        agents=ref.agents,
    )


def _named(to: Path, refs: Sequence[SkillRef], session: Session) -> SkillRef:
    """Return the file that the person names: one of the places, or any other text of theirs in the project."""
    try:
        real = to.expanduser().resolve()
        known = next((ref for ref in refs if ref.path == str(real)), None)
        if known is not None:
            return known
        root = Path(session.context().root)
        why = file_refusal(str(real)) if real.is_relative_to(root) else f"{real} is outside {root}"
    except OSError as error:
        raise SkilldError(_TITLE, f"{to}: {error.strerror}") from error
    if why:
        raise SkilldError(_TITLE, why)
    if real.name == FILE:
        return SkillRef(real.parent.name, str(real))
    kind = TargetKind.RULES if "rules" in real.parts else TargetKind.INSTRUCTIONS
    return SkillRef(str(real.relative_to(root)), str(real), kind=kind, agents=(session.agent,))
