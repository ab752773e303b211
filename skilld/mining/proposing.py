"""Turns candidates into proposals: new skills are drafted, existing ones edited, and each is checked and staged.

A proposal's id is derived from its path and its evidence, so the next run completes an interrupted one and nothing is
made twice. No live file is touched.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from skilld.classify import prompt
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.question_jobs import GroupRequests, Question, TitleSkills, WordSkills
from skilld.clock import local_day, rfc3339
from skilld.errors import RetryError, SkilldError
from skilld.exchange.outgoing import SessionWords, leak_reason
from skilld.mining.evidence import Transcripts
from skilld.mining.new_skill import (
    build_skill,
    checked_text,
    edit_refusal,
    find_place,
    title_of,
    with_edits,
)
from skilld.mining.questions import DECLINED_REASON, QuestionStats
from skilld.mining.values import Candidate, Edit, MiningContext, Part, PartKind
from skilld.proposals.amend import stage_and_store
from skilld.proposals.model import BY_HAND_FLAG, EDITED_NOTE
from skilld.proposals.narrow import narrow_to_text
from skilld.protocol import ChoiceResult, ExtendSkill, ExtensionResult, Job, Result
from skilld.skills.draft import Draft, SkillKind, write_draft
from skilld.skills.spec import read_front
from skilld.text import join_sentences, pluralize, truncate
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
from skilld.values import value_class
from skilld.worker.spawn import Worker

_MAX_SUMMARY_LENGTH = 300
_MAX_NAMED_COMMANDS = 3  # commands that are named


class NoAnswerError(SkilldError):
    """A question was not asked, or not answered; the cause says why."""

    def __init__(self, cause: str) -> None:
        super().__init__("The model did not answer", cause)


@value_class
class MiningRun:
    """One mining run: its name in proposals, and what it works with. `spent` is the cost of its later questions so far.

    Nothing more is asked once `asked` says why. No question contains words of `withheld` sessions.
    """

    id: str
    world: MiningContext
    transcripts: Transcripts
    asked: QuestionStats = field(default_factory=QuestionStats)
    withheld: frozenset[str] = frozenset()
    spent: list[Usage] = field(default_factory=list)

    def may_send(self, candidate: Candidate) -> bool:
        """Whether a question may contain a candidate."""
        return self.withheld.isdisjoint(proof.session for part in candidate.parts for proof in part.proofs)

    def ask(self, work: Question | ExtendSkill) -> Result:
        """Return the result of a question to the model, within the day's budget."""
        terms = self.world.terms
        with Worker(terms.environment) as worker:
            charge = terms.charge(self.world.store)
            result = worker.do(Job(work, terms.umask), terms.seconds * 2, charge=charge)
        self.spent.append(result.usage)
        return result

    def answer(self, topic: str, work: GroupRequests | WordSkills | TitleSkills, *texts: str) -> Sequence[Any]:
        """Return the rows that answer a question about these texts, from the store if it was asked before.

        Raises NoAnswerError if there is no answer.
        """
        terms, store = self.world.terms, self.world.store
        content = "\n\0".join([topic, terms.spec.model, *texts, prompt.VERSION])
        name = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        if (known := store.mining.get(name)) is not None:
            return known
        if why := terms.spent_reason(store) or self.asked.stopped:
            raise NoAnswerError(why)
        if not terms.may_ask(store):
            raise NoAnswerError(DECLINED_REASON)
        rows = _answer_rows(self.ask(work))
        store.mining.save(name, "", rows, rfc3339(time.time()))
        return rows


def _answer_rows(result: Result) -> list[dict[str, Any]]:
    """Return an answer as it is stored. Raises NoAnswerError if it is none."""
    if not isinstance(result, ChoiceResult) or result.outcome is not Outcome.NOTHING:
        raise NoAnswerError(result.detail or "the model did not answer")
    titles = [{"skill": number, **asdict(one)} for number, one in enumerate(result.titles, 1)]
    return [*({"numbers": one} for one in result.numbers), *map(asdict, result.drafts), *titles]


@value_class
class CandidateResult:
    """The outcome of a candidate: the proposal's id, or why there is none; the text and path of a new skill."""

    candidate: Candidate
    proposal: str = ""
    why_not: str = ""
    text: str = ""
    path: str = ""
    note: str = ""  # what the person should know about the text


def propose_candidate(candidate: Candidate, run: MiningRun, edit: Edit, *, dry_run: bool) -> CandidateResult:
    """Propose a candidate, a new skill with the text that `edit` returns; in a dry run only draft it."""
    try:
        if candidate.creates:
            return _propose_new(candidate, run, edit, dry_run=dry_run)
        if why := edit_refusal(candidate.name, candidate.target, run.world.host):
            return CandidateResult(candidate, why_not=why)
        return CandidateResult(
            candidate, "" if dry_run else stage_and_store(run.world.store, _extension_proposal(candidate, run)).id
        )
    except RetryError as error:
        return CandidateResult(candidate, why_not=f"{error}; the next run will try again")
    except SkilldError as error:
        return CandidateResult(candidate, why_not=str(error))


def _propose_new(candidate: Candidate, run: MiningRun, edit: Edit, *, dry_run: bool) -> CandidateResult:
    path, shared = _free_place(candidate, candidate.name, run)
    skill = build_skill(candidate, day=local_day(time.time()), with_sessions=not shared)
    written = write_draft(skill)
    said = SessionWords(
        frozenset(proof.session for proof in candidate.evidence), tuple(proof.quote for proof in candidate.evidence)
    )
    if shared and (why := leak_reason(written, said)):
        raise SkilldError("Could not write the new skill", why)
    seen = written if dry_run else edit(written)
    if seen != written:
        drafted, skill = skill, with_edits(skill, seen)
        path = path if skill.name == drafted.name else _free_place(candidate, skill.name, run)[0]
    text, flags = check_skill(candidate, skill, run, own="" if seen == written else seen)
    if dry_run:
        return CandidateResult(candidate, text=written, path=str(path))
    note = "" if read_front(seen).description else KEPT_DESCRIPTION
    proposed = _creation_proposal(candidate, skill, text, path, run)
    proposed = replace(proposed, flags=(*proposed.flags, *flags, *([note] if note else [])))
    if seen != written:
        narrowed = narrow_to_text(proposed, b"", written.encode(), text.encode())
        proposed = replace(narrowed, note=EDITED_NOTE)
    made = stage_and_store(run.world.store, proposed)
    return CandidateResult(candidate, made.id, text=text, path=made.path, note=note)


def _free_place(candidate: Candidate, name: str, run: MiningRun) -> tuple[Path, bool]:
    """Return where a new skill called `name` goes, and whether others will see it.

    Raises SkilldError if it may go nowhere, or an open proposal creates it.
    """
    path, shared = find_place(candidate, name, run.transcripts, run.world.host)
    for other in run.world.store.proposals.in_states([State.OPEN]):
        if other.creates and other.path == str(path):
            cause = f"the open proposal {other.id} already creates a skill with that name; decide on it first"
            raise SkilldError("Not proposed", cause)
    return path, shared


KEPT_DESCRIPTION = "you deleted the description, without which no agent loads a skill: the drafted one is kept"


def check_skill(candidate: Candidate, skill: Draft, run: MiningRun, *, own: str = "") -> tuple[str, tuple[str, ...]]:
    """Return the SKILL.md of a new skill, and what the person should look at; `own` is text that they wrote in it.

    Raises SkilldError if it is invalid, contains a secret, or would do what no skill may.
    """
    heard = filter(None, map(run.transcripts.find, candidate.evidence))
    typed = "\n".join([*(one.typed for one in heard), own, *_observed_texts(candidate)])
    return checked_text(skill, typed, run.world.redact)


def _observed_texts(candidate: Candidate) -> Iterator[str]:
    """Yield the observed and worded texts, with variables and as they ran: each of them has already passed."""
    if candidate.recurrence:
        yield title_of(candidate.recurrence.request)
    for part in candidate.parts:
        if part.observed or part.sort in {PartKind.WORDED, PartKind.SAID}:
            yield part.text
            yield from (proof.quote for proof in part.proofs if proof.observed)


def _creation_proposal(candidate: Candidate, skill: Draft, text: str, path: Path, run: MiningRun) -> Proposal:
    """Return the proposal of a new skill at `path` with this text."""
    return replace(
        _base_proposal(candidate, candidate.parts, path, run),
        skill=skill.name,
        operations=(Operation(Op.CREATE, "", text),),
        summary=truncate(skill.description, _MAX_SUMMARY_LENGTH),
        kind=Kind.FACT if candidate.kind is SkillKind.KNOWLEDGE else Kind.ADD_STEP,
        flags=(*_origin_flags(candidate, run), *_observed_flags(candidate)),
        # the first part of a recurring task is its request
        updates=tuple(map(_part_update, candidate.parts[1 if candidate.recurrence else 0 :])),
    )


def _part_update(part: Part) -> Update:
    """Return one line of a task's skill with its evidence; an observed one has turn 0."""
    quote = next((proof.quote for proof in part.proofs if not proof.observed), part.proofs[0].quote)
    kind = part.kind or Kind.ADD_STEP
    if not part.observed:
        return Update(None, "", part.text, "", kind, 1, quote, part.confidence)
    sessions = dict.fromkeys(proof.session for proof in part.proofs)
    note = f"observed in {pluralize(len(sessions), 'session')}: {', '.join(sessions)}"
    return Update(None, "", part.text, note, kind, OBSERVED_TURN, quote, part.confidence)


def _observed_flags(candidate: Candidate) -> list[str]:
    """Return what the person should know: how many lines were observed, and what was left out."""
    number = sum(part.observed for part in candidate.parts)
    flags = [f"{pluralize(number, 'line')} from past sessions, not from what you said"]
    left_out = (f"left out: `{one.command}`: {one.why}" for one in candidate.left_out[:_MAX_NAMED_COMMANDS])
    return [*(flags if number else []), *left_out]


def _extension_proposal(candidate: Candidate, run: MiningRun) -> Proposal:
    """Return the proposal that adds a candidate's parts to an existing skill.

    Raises SkilldError with the reason if there is no such edit.
    """
    terms, store = run.world.terms, run.world.store
    spec = terms.spec if run.may_send(candidate) else Spec(OFFLINE)
    if spec.model != OFFLINE and (why := terms.spent_reason(store)):
        raise SkilldError("Could not make the edit", why)
    if spec.model != OFFLINE and not terms.may_ask(store):
        spec = Spec(OFFLINE)
    messages, updates, parts = _evidence_batch(candidate, run.transcripts)
    work = ExtendSkill(spec, SkillRef(candidate.name, candidate.target), tuple(messages), tuple(updates))
    result = run.ask(work)
    if not isinstance(result, ExtensionResult) or result.outcome is not Outcome.PROPOSED:
        raise SkilldError("Could not make the edit", result.detail or "there is nothing to add")
    used = [parts[number] for number in dict.fromkeys(update.turn for update in result.said)]
    blank = _base_proposal(candidate, used, Path(candidate.target), run)
    summary = truncate(join_sentences([update.change for update in result.said]), _MAX_SUMMARY_LENGTH)
    flags = (*_origin_flags(candidate, run), *result.flags)
    return replace(
        blank, operations=result.operations, summary=summary, flags=flags, updates=result.said, model=spec.model
    )


def _origin_flags(candidate: Candidate, run: MiningRun) -> tuple[str, ...]:
    """Return a flag for words from a file that somebody named: nothing shows that the person typed them."""
    turns = filter(None, map(run.transcripts.find, candidate.evidence))
    return (BY_HAND_FLAG,) if any(one.session.by_hand for one in turns) else ()


def _base_proposal(candidate: Candidate, parts: Sequence[Part], path: Path, run: MiningRun) -> Proposal:
    proofs = list(dict.fromkeys(proof for part in parts for proof in part.proofs if not proof.observed))
    first = run.transcripts.find(proofs[0])
    place = "\n".join(sorted(f"{proof.turn} {proof.quote}" for proof in proofs))
    said = f"Said in {pluralize(len({proof.session for proof in proofs}), 'session')}."
    return Proposal(
        id=hashlib.sha256(f"mined\n{path}\n{place}".encode("utf-8", "surrogatepass")).hexdigest()[:8],
        batch_id=run.id,
        skill=candidate.name,
        path=str(path),
        operations=(),
        summary="",
        reason=f"The task was {candidate.saved.why}." if candidate.recurrence else said,
        kind=parts[0].kind or Kind.ADD_STEP,
        evidence=tuple(Evidence(proof.turn, proof.quote) for proof in proofs),
        confidence=min(part.confidence for part in parts),
        agent=first.session.agent if first else "",
        session_id=proofs[0].session,
        model=run.world.terms.spec.model,
        created_at=rfc3339(time.time()),
    )


def _evidence_batch(
    candidate: Candidate, transcripts: Transcripts
) -> tuple[list[Message], list[Update], dict[int, Part]]:
    """Return the newest turn behind each part, with the agent's reply before it, as one batch, and its updates."""
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
