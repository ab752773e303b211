"""Turns candidates into proposals: new skills drafted, existing ones edited; each checked and staged like any other.

The proposal's id comes from its place and its evidence, so that a run that was ended in the middle is finished by the
next and nothing is made twice. Nothing live is touched.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.clock import day, rfc3339
from skilld.edit.lint import lint
from skilld.errors import RetryError, SkilldError
from skilld.exchange.outgoing import SessionWords, carried
from skilld.ingest.discover import Host
from skilld.mining.evidence import Transcripts
from skilld.mining.new_skill import NewSkill, edit_refusal, new_skill, place, title_of
from skilld.mining.questions import BOOKED_UNDER, Terms
from skilld.mining.values import OBSERVED, Candidate, Edit, Part
from skilld.proposals.amend import put
from skilld.protocol import Extend, ExtensionResult, Job
from skilld.skills.draft import SkillKind
from skilld.skills.spec import faults
from skilld.store import Store
from skilld.text import counted, cut, sentences
from skilld.types import (
    OBSERVED_TURN,
    Evidence,
    Kind,
    Message,
    Op,
    Operation,
    Outcome,
    Proposal,
    SkillRef,
    State,
    Update,
    Usage,
)
from skilld.worker.spawn import Worker

BY_HAND = "the wording comes from a file you specified, not from you"
_SUMMARY = 300
_LEFT_OUT = 3  # commands that are named


@dataclass(frozen=True, slots=True)
class Run:
    """One run of mining: its name in proposals, and what it may use. `spent` is what edits have cost so far."""

    id: str
    store: Store
    terms: Terms
    transcripts: Transcripts
    redact: Callable[[str], str]
    spent: list[Usage] = field(default_factory=list)

    def book(self, model: str, usage: Usage) -> None:
        """Charge what a question took."""
        self.store.usage.add(day(time.time()), model, BOOKED_UNDER, usage)
        self.spent.append(usage)


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """What became of a candidate: the proposal's id, or why there is none; the text of a new skill and its path."""

    candidate: Candidate
    proposal: str = ""
    why_not: str = ""
    text: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class NewSkillText:
    """A new skill that passed: what it says, and what the person should look at in it."""

    candidate: Candidate
    skill: NewSkill
    flags: tuple[str, ...]


def become(candidate: Candidate, run: Run, around: Host, edit: Edit, *, dry_run: bool) -> CandidateResult:
    """Propose a candidate, a new skill as `edit` returns its text; in a dry run only draft it."""
    try:
        if candidate.creates:
            return _created(candidate, run, around, edit, dry_run=dry_run)
        if why := edit_refusal(candidate.name, candidate.target, around):
            return CandidateResult(candidate, why_not=why)
        return CandidateResult(candidate, "" if dry_run else put(run.store, extension(candidate, run)).id)
    except RetryError as error:
        return CandidateResult(candidate, why_not=f"{error}; the next run will try again")
    except SkilldError as error:
        return CandidateResult(candidate, why_not=str(error))


def _created(candidate: Candidate, run: Run, around: Host, edit: Edit, *, dry_run: bool) -> CandidateResult:
    where = place(candidate, candidate.name, run.transcripts, around)
    for other in run.store.proposals.in_states([State.OPEN]):
        if other.creates and other.path == str(where.path):
            cause = f"the open proposal {other.id} already creates a skill with that name; decide on it first"
            raise SkilldError("Not proposed", cause)
    drafted = new_skill(candidate, day=day(time.time()), with_sessions=not where.shared)
    written = drafted.text
    if where.shared and (why := carried(written, _said(candidate))):
        raise SkilldError("Could not write the new skill", why)
    if dry_run:
        checked(candidate, drafted, run)
        return CandidateResult(candidate, text=written, path=str(where.path))
    seen = edit(written)
    if seen == written:
        passed = checked(candidate, drafted, run)
    else:
        passed = checked(candidate, drafted.edited(seen), run, own=seen)
    made = put(run.store, creation(passed, where.path, run))
    return CandidateResult(candidate, made.id, text=passed.skill.text, path=made.path)


def _said(candidate: Candidate) -> SessionWords:
    sessions = frozenset(proof.session for proof in candidate.evidence)
    return SessionWords(sessions, tuple(proof.quote for proof in candidate.evidence))


def checked(candidate: Candidate, skill: NewSkill, run: Run, *, own: str = "") -> NewSkillText:
    """Return a new skill once it has passed; `own` is what the person wrote into it themselves.

    Raises SkilldError where it is no skill, holds a secret, or would do what no skill may.
    """
    text = skill.text
    if wrong := faults(text, skill.name):
        raise SkilldError("Could not write the new skill", "; ".join(wrong))
    if run.redact(text) != text:
        raise SkilldError("Could not write the new skill", "it would contain a secret")
    typed = "\n".join([*_typed(candidate, run.transcripts), own, *_ran(candidate)])
    flags = []
    for finding in lint(b"", text.encode(), typed):
        if finding.severity == "refuse":
            raise SkilldError("Could not write the new skill", finding.sentence)
        flags.append(finding.sentence)
    return NewSkillText(candidate, skill, tuple(dict.fromkeys(flags)))


def _ran(candidate: Candidate) -> Iterator[str]:
    """Yield what was done as the log shows it, each with its variables, too: `unfit` has let it pass by itself."""
    if candidate.recurrence:
        yield title_of(candidate.recurrence.request)
    for part in candidate.parts:
        if part.sort in OBSERVED:
            yield part.text
            yield from (proof.quote for proof in part.proofs)


def creation(written: NewSkillText, path: Path, run: Run) -> Proposal:
    """Return the proposal of a new skill at `path`."""
    candidate, skill = written.candidate, written.skill
    return replace(
        _proposal(candidate, candidate.parts, path, run),
        skill=skill.name,
        operations=(Operation(Op.CREATE, "", skill.text),),
        summary=cut(skill.description, _SUMMARY),
        kind=Kind.FACT if candidate.kind is SkillKind.KNOWLEDGE else Kind.ADD_STEP,
        flags=(*_origin(candidate, run), *_seen(candidate), *written.flags),
        updates=tuple(_line(part) for part in candidate.parts[1:]) if candidate.recurrence else (),
    )


def _line(part: Part) -> Update:
    """Return one line of a task's skill with what it rests on: turn 0 where nobody said it."""
    quote, kind = part.proofs[0].quote, part.kind or Kind.ADD_STEP
    if part.sort not in OBSERVED:
        return Update(None, "", part.text, "", kind, 1, quote, part.confidence)
    return Update(None, "", part.text, _observed_in(part), kind, OBSERVED_TURN, quote, part.confidence)


def _observed_in(part: Part) -> str:
    sessions = list(dict.fromkeys(proof.session for proof in part.proofs))
    return f"observed in {counted(len(sessions), 'session')}: {', '.join(sessions)}"


def _seen(candidate: Candidate) -> list[str]:
    """Return what the person should know of what nobody said: which lines were observed, what was left out."""
    number = sum(part.sort in OBSERVED for part in candidate.parts)
    flags = [f"{counted(number, 'line')} from past sessions, not from what you said"]
    left_out = candidate.recurrence.left_out if candidate.recurrence else ()
    return [*(flags if number else []), *(f"a command was left out: {why}" for why in left_out[:_LEFT_OUT])]


def extension(candidate: Candidate, run: Run) -> Proposal:
    """Return the proposal that makes a skill that is there say what was said about it.

    Raises SkilldError with the reason where there is no such edit.
    """
    if run.terms.spec.model != OFFLINE and (why := run.terms.spent_reason(run.store)):
        raise SkilldError("Could not make the edit", why)
    messages, updates, parts = _about(candidate, run.transcripts)
    work = Extend(run.terms.spec, SkillRef(candidate.name, candidate.target), tuple(messages), tuple(updates))
    with Worker(run.terms.environment) as worker:
        result = worker.do(Job(work, run.terms.umask), run.terms.seconds * 2)
    run.book(run.terms.spec.model, result.usage)
    if not isinstance(result, ExtensionResult) or result.outcome is not Outcome.PROPOSED:
        raise SkilldError("Could not make the edit", result.detail or "there is nothing to add")
    said = [parts[number] for number in dict.fromkeys(update.turn for update in result.said)]
    blank = _proposal(candidate, said, Path(candidate.target), run)
    summary = cut(sentences([update.change for update in result.said]), _SUMMARY)
    flags = (*_origin(candidate, run), *result.flags)
    return replace(blank, operations=result.operations, summary=summary, flags=flags)


def _origin(candidate: Candidate, run: Run) -> tuple[str, ...]:
    """Return what to say of words that no agent's own folder holds: nothing shows that the person typed them."""
    heard = [run.transcripts.find(proof) for proof in candidate.evidence]
    return (BY_HAND,) if any(one is not None and one.session.by_hand for one in heard) else ()


def _proposal(candidate: Candidate, parts: Sequence[Part], path: Path, run: Run) -> Proposal:
    proofs = list(dict.fromkeys(proof for part in parts for proof in part.proofs if not proof.observed))
    first = run.transcripts.find(proofs[0])
    place = "\n".join(sorted(f"{proof.turn} {proof.quote}" for proof in proofs))
    sessions = len({proof.session for proof in proofs})
    return Proposal(
        id=hashlib.sha256(f"mined\n{path}\n{place}".encode("utf-8", "surrogatepass")).hexdigest()[:8],
        batch_id=run.id,
        skill=candidate.name,
        path=str(path),
        operations=(),
        summary="",
        reason=_reason(candidate, sessions),
        kind=parts[0].kind or Kind.ADD_STEP,
        evidence=tuple(Evidence(proof.turn, proof.quote) for proof in proofs),
        confidence=min(part.confidence for part in parts),
        agent=first.session.agent if first else "",
        session_id=proofs[0].session,
        model=run.terms.spec.model,
        created_at=rfc3339(time.time()),
    )


def _reason(candidate: Candidate, sessions: int) -> str:
    if candidate.recurrence:
        return f"The task was {candidate.saved.why}."
    return f"Said in {counted(sessions, 'session')}."


def _about(candidate: Candidate, transcripts: Transcripts) -> tuple[list[Message], list[Update], dict[int, Part]]:
    """Return the newest words behind each part, each with the agent's before it, as one batch; and its updates."""
    messages: list[Message] = []
    updates: list[Update] = []
    parts: dict[int, Part] = {}
    for part in candidate.parts:
        heard = transcripts.find(part.proofs[0])
        if heard is None:
            continue
        turn = len(parts) + 1
        parts[turn] = part
        messages += [heard.before] if heard.before else []
        messages.append(replace(heard.message, turn=turn))
        kind, quote = part.kind or Kind.PREFERENCE, part.proofs[0].quote
        updates.append(Update(1, "", part.text, "", kind, turn, quote, part.confidence))
    return messages, updates, parts


def _typed(candidate: Candidate, transcripts: Transcripts) -> list[str]:
    found = [transcripts.find(proof) for proof in candidate.evidence]
    return [heard.typed for heard in found if heard is not None]
