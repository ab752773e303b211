"""A learning that waits for a place, proposed because the person says so."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

from skilld.classify.backends import OFFLINE, Spec, make
from skilld.classify.verify import Checked
from skilld.errors import SkilldError
from skilld.ingest.discover import Host
from skilld.pipeline.documents import load_skills
from skilld.pipeline.edits import Composed
from skilld.pipeline.judge import Judge, Redact
from skilld.proposals.amend import put
from skilld.skills.find import FILE, file_problem
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.targets.places import Session, places
from skilld.targets.route import choose
from skilld.text import counted
from skilld.types import Evidence, Kind, Message, Proposal, SkillRef, State, TargetKind, Update

_TITLE = "The learning was not proposed"


def place_for(
    store: Store, ask: Sequence[Learning], host: Host, allowed: Collection[TargetKind], to: Path | None
) -> SkillRef:
    """Return the file for what was said, once or several times (the newest first): the person's choice, or the best.

    Raises SkilldError where there is none.
    """
    newest = ask[0]
    if not newest.project:
        raise SkilldError(_TITLE, "where it was said is not known")
    others = tuple(store.transcripts.agents_in(newest.project))
    session = Session(newest.agent, Path(newest.project), host.home, host.environment, others=others)
    refs = places(session, set(TargetKind) if to else allowed).refs
    ref = _named(to, refs, session) if to else choose(newest.quote, refs)
    if ref is None:
        remedy = f"Name one: skilld learnings propose {newest.id} --to PATH"
        raise SkilldError(_TITLE, "no file was found that it could go to", remedy)
    return ref


def propose(store: Store, ask: Sequence[Learning], ref: SkillRef, redact: Redact) -> Proposal:
    """Propose what was said for a file, in place of keeping it. Raises SkilldError where no edit may be made there."""
    newest = ask[0]
    files, left_out = load_skills([ref])
    if not files:
        raise SkilldError(_TITLE, left_out[0][1])
    update = Update(1, "", newest.change, "", Kind(newest.kind), 1, newest.quote, newest.confidence)
    messages = [Message(newest.quote, 1, newest.turn_key)]
    composed = Judge(make(Spec(OFFLINE)), messages, files, "", redact).edit(files[0], [Checked(update)])
    made = put(store, _proposal(ask, ref, update, composed))
    with store.transaction():
        for one in ask:
            store.learnings.forget(one.id)
    return made


def _proposal(ask: Sequence[Learning], ref: SkillRef, update: Update, composed: Composed) -> Proposal:
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
        why = file_problem(real.stat(), real.name) if real.is_relative_to(root) else f"{real} lies outside {root}"
    except OSError as error:
        raise SkilldError(_TITLE, f"{to}: {error.strerror}") from error
    if why:
        raise SkilldError(_TITLE, why)
    if real.name == FILE:
        return SkillRef(real.parent.name, str(real))
    kind = TargetKind.RULES if "rules" in real.parts else TargetKind.INSTRUCTIONS
    return SkillRef(str(real.relative_to(root)), str(real), kind=kind, agents=(session.agent,))
