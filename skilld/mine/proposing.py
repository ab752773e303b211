"""Candidates as proposals: a new skill drafted, one that is there edited; each checked, staged and kept like any other.

The proposal's id comes from its place and its evidence, so that a run that was ended in the middle is finished by the
next and nothing is made twice. Nothing live is touched.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from skilld.daemon.budget import why_spent
from skilld.daemon.spawn import Worker
from skilld.edit.lint import lint
from skilld.errors import SkilldError
from skilld.kinds import SkillKind
from skilld.mine.asking import BOOKED_UNDER, Terms
from skilld.mine.confirm import Transcripts
from skilld.mine.draft import Draft
from skilld.mine.values import Candidate, Part
from skilld.skills.spec import faults
from skilld.store import Store
from skilld.text import counted, cut
from skilld.times import day, rfc3339
from skilld.types import Evidence, Kind, Message, Op, Operation, Outcome, Proposal, State, Usage

_SUMMARY = 300


@dataclass(frozen=True, slots=True)
class Run:
    """One run of mining: its name in proposals, and what it may use. `spent` is what edits have cost so far."""

    id: str
    store: Store
    terms: Terms
    transcripts: Transcripts
    redact: Callable[[str], str]
    spent: list[Usage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Written:
    """A new skill that passed: what it says, and what the person should look at in it."""

    candidate: Candidate
    draft: Draft
    flags: tuple[str, ...]


def checked(candidate: Candidate, draft: Draft, run: Run, *, own: str = "") -> Written:
    """Return a new skill once it has passed; `own` is what the person wrote into it themselves.

    Raises SkilldError where it is no skill, holds a secret, or would do what no skill may.
    """
    text = draft.text
    if wrong := faults(text, draft.name):
        raise SkilldError("The new skill was not written", "; ".join(wrong))
    if run.redact(text) != text:
        raise SkilldError("The new skill was not written", "it would hold a secret")
    typed = "\n".join([*_typed(candidate, run.transcripts), own])
    flags = []
    for finding in lint(b"", text.encode(), typed):
        if finding.severity == "refuse":
            raise SkilldError("The new skill was not written", finding.sentence)
        flags.append(finding.sentence)
    return Written(candidate, draft, tuple(dict.fromkeys(flags)))


def creation(written: Written, path: Path, run: Run) -> Proposal:
    """Return the proposal of a new skill at `path`."""
    candidate, draft = written.candidate, written.draft
    return replace(
        _proposal(candidate, candidate.parts, path, run),
        skill=draft.name,
        operations=(Operation(Op.CREATE, "", draft.text),),
        summary=cut(draft.description, _SUMMARY),
        kind=Kind.FACT if candidate.kind is SkillKind.KNOWLEDGE else Kind.ADD_STEP,
        flags=written.flags,
    )


def extension(candidate: Candidate, run: Run) -> Proposal:
    """Return the proposal that makes a skill that is there say what was said about it.

    Raises SkilldError with the reason where there is no such edit.
    """
    if run.terms.spec.model != "offline" and (why := why_spent(run.store.usage.on(day(time.time())), run.terms.limits)):
        raise SkilldError("The edit was not made", f"today's budget is spent: {why}")
    messages, updates, parts = _about(candidate, run.transcripts)
    job = {
        "kind": "extend",
        "umask": run.terms.umask,
        "backend": asdict(run.terms.spec),
        "skill": candidate.name,
        "path": candidate.target,
        "messages": [asdict(message) for message in messages],
        "updates": updates,
    }
    result = Worker(job, run.terms.environment, run.terms.seconds * 2).result(lambda _: None)
    usage = Usage(**result.get("usage", {}))
    run.store.usage.add(day(time.time()), run.terms.spec.model, BOOKED_UNDER, usage)
    run.spent.append(usage)
    if result["outcome"] != Outcome.PROPOSED.value:
        raise SkilldError("The edit was not made", result["detail"] or "there is nothing to add")
    said = [parts[number] for number in dict.fromkeys(result["turns"])]
    operations = tuple(Operation(Op(o["op"]), o["anchor"], o["text"]) for o in result["operations"])
    blank = _proposal(candidate, said, Path(candidate.target), run)
    summary = cut("; ".join(text.rstrip(".") for text in result["changes"]), _SUMMARY)
    return replace(blank, operations=operations, summary=summary, flags=tuple(result["flags"]))


def _proposal(candidate: Candidate, parts: Sequence[Part], path: Path, run: Run) -> Proposal:
    proofs = list(dict.fromkeys(proof for part in parts for proof in part.proofs))
    first = run.transcripts.find(proofs[0])
    place = "\n".join(sorted(f"{proof.turn} {proof.quote}" for proof in proofs))
    sessions = len({proof.session for proof in proofs})
    return Proposal(
        id=hashlib.sha256(f"mined\n{path}\n{place}".encode("utf-8", "surrogatepass")).hexdigest()[:8],
        batch_id=run.id,
        state=State.OPEN,
        skill=candidate.name,
        path=str(path),
        operations=(),
        summary="",
        reason=f"Said in {counted(sessions, 'session')}; {', '.join(candidate.dimensions)}.",
        kind=parts[0].kind or Kind.ADD_STEP,
        evidence=tuple(Evidence(proof.turn, proof.quote) for proof in proofs),
        confidence=min(part.confidence for part in parts),
        agent=first.session.agent if first else "",
        session_id=proofs[0].session,
        model=run.terms.spec.model,
        created_at=rfc3339(time.time()),
    )


def _about(
    candidate: Candidate, transcripts: Transcripts
) -> tuple[list[Message], list[Mapping[str, Any]], dict[int, Part]]:
    """Return the newest words behind each part, each with the agent's before it, as one batch; and its updates."""
    messages: list[Message] = []
    updates: list[Mapping[str, Any]] = []
    parts: dict[int, Part] = {}
    for part in candidate.parts:
        heard = transcripts.find(part.proofs[0])
        if heard is None:
            continue
        turn = len(parts) + 1
        parts[turn] = part
        messages += [heard.before] if heard.before else []
        messages.append(replace(heard.message, turn=turn))
        item = {"change": part.text, "quote": part.proofs[0].quote, "turn": turn, "confidence": part.confidence}
        updates.append(item | {"kind": (part.kind or Kind.PREFERENCE).value})
    return messages, updates, parts


def _typed(candidate: Candidate, transcripts: Transcripts) -> list[str]:
    found = [transcripts.find(proof) for proof in candidate.evidence]
    return [heard.typed for heard in found if heard is not None]
