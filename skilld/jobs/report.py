"""What the analysis of a batch reports besides its proposals: learnings, notes, further evidence and obstacles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skilld.classify.backends import OFFLINE
from skilld.classify.offline.detector import find_lasting, is_order
from skilld.classify.offline.passed_over import PRODUCT, instruction, passed_over
from skilld.classify.offline.product_talk import ProductTalk
from skilld.classify.offline.retraction import without_retracted
from skilld.jobs.taken_back import find_confirmed, find_forgotten, find_taken_back, find_withdrawals
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import AnalyseBatch, BatchResult, FurtherEvidence, NewLearning, Obstacle, TakenBack
from skilld.text import fold, truncate
from skilld.types import Cause, Evidence, Kind, Message, Outcome, Proposal, SkillRef, TargetKind, Update, Usage

_MAX_QUOTE = 200  # characters
_CONFIDENCE = 0.2
_STATED = 0.8  # confidence for what is taken back: an order is not a complaint


@dataclass
class BatchReport:
    """What the analysis of one batch has found so far; what is quoted is in its turns, numbered from 1.

    `if_given_up` are the learnings to keep once the job is not tried again, `notes` what a loaded line says already.
    `refused` has why something could not be proposed, `dropped` why something need not be, and `lost` what the answer
    had and a check stopped.
    """

    job: AnalyseBatch
    learnings: list[NewLearning] = field(default_factory=list)
    if_given_up: list[NewLearning] = field(default_factory=list)
    notes: list[Proposal] = field(default_factory=list)
    supported: list[FurtherEvidence] = field(default_factory=list)
    taken_back: dict[str, TakenBack] = field(default_factory=dict)
    cause: Obstacle | None = None
    refused: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    lost: Sequence[tuple[Update, str]] = ()

    def evidence_of(self, update: Update) -> Evidence:
        """Return the turn of an update and its words."""
        return Evidence(self.job.batch.turns[update.turn - 1], update.quote)

    def keep(self, update: Update, why: str, place: SkillRef | None, *, for_now: bool = False) -> None:
        """Keep an update that is not proposed as a learning; `for_now`: until an obstacle is gone."""
        self.learnings.append(build_learning(self.evidence_of(update), update, why, place, for_now=for_now))

    def report_obstacle(self, what: Cause, place: str = "", remedy: str = "") -> None:
        """Record an obstacle; the first one counts."""
        self.cause = self.cause or Obstacle(what, place, remedy)

    def result(self, messages: Sequence[Message], staged: StagingResult, model: str, usage: Usage) -> BatchResult:
        """Return the result so far; `usage` is what the daemon has not booked yet."""
        job = self.job
        found = Outcome.REFUSED if self.refused else Outcome.NOTHING
        outcome = Outcome.PROPOSED if staged.made else found
        details = self.dropped if outcome is Outcome.NOTHING else self.refused
        taken_back = {one.proposal: one for one in find_taken_back(job, messages)} | self.taken_back
        return BatchResult(
            outcome=outcome,
            detail="; ".join(dict.fromkeys(details)),
            model=model,
            usage=usage,
            proposals=tuple(staged.made),
            notes=tuple(self.notes),
            learnings=tuple(self.learnings),
            if_given_up=tuple(self.if_given_up),
            cause=self.cause,
            supported=(*self.supported, *find_confirmed(job, messages)),
            taken_back=tuple(taken_back.values()),
            forgotten=tuple(find_forgotten(job, messages)),
            withdrawals=tuple(find_withdrawals(job, messages)),
            passed_over=tuple(find_passed_over(job, messages, self.lost, staged.made)),
            changes=staged.changes(),
        )


def proposal_learnings(proposal: Proposal, why: str, *, for_now: bool) -> list[NewLearning]:
    """Return a proposal as learnings: each update with its evidence, or the summary for evidence without one."""
    place = SkillRef(proposal.skill, proposal.path, kind=proposal.target)
    whole = Update(None, "", proposal.summary, "", proposal.kind, 0, "", proposal.confidence)
    return [
        build_learning(
            said, proposal.updates[number] if number < len(proposal.updates) else whole, why, place, for_now=for_now
        )
        for number, said in enumerate(proposal.evidence)
    ]


def build_learning(
    said: Evidence, update: Update, why: str, place: SkillRef | None, *, for_now: bool = False
) -> NewLearning:
    """Return an update with its evidence as a learning; `for_now`: until the obstacle is gone."""
    return NewLearning(
        turn=said.turn,
        quote=said.quote,
        change=update.change,
        kind=update.kind,
        confidence=update.confidence,
        skill=place.name if place is not None and place.kind is TargetKind.SKILL else None,
        why_kept=why,
        for_now=for_now,
        place_kind=place.kind if place is not None else None,
        place=place.path if place is not None else "",
    )


def find_passed_over(
    job: AnalyseBatch,
    messages: Sequence[Message],
    lost: Sequence[tuple[Update, str]] = (),
    made: Sequence[Proposal] = (),
) -> Iterator[NewLearning]:
    """Yield the orders in these messages that sound lasting but were not recognized, each with the reason.

    `lost` were recognized but not used, with the reason. What the person took back, or the proposals `made` quote, is
    left out, and so is everything if a model judges: it may have understood them.
    """
    if job.backend.model != OFFLINE or job.batch.kind == "waiting":
        return
    for one, why in lost:
        yield NewLearning(job.batch.turns[one.turn - 1], *_told(one), _CONFIDENCE, None, why)
    quoted = [fold(proof.quote) for proposal in made for proof in proposal.evidence]
    before: list[str] = []
    talk = ProductTalk()
    said: list[Update] = []
    reasons: dict[int, tuple[str, str]] = {}  # of those passed over: the turn's key and why
    for message in messages:
        if not message.by_person:
            before.append(message.text)
        elif message.turn is not None:
            found = [*passed_over(message.text, before)]
            heard = find_lasting(message.text, before)
            kept = talk.without(message.text, heard)
            found += [(one.quote, PRODUCT if one not in kept and is_order(one) else "") for one in heard]
            for quote, why in sorted(found, key=lambda one: message.text.find(one[0])):
                change = instruction(quote)
                said.append(Update(1, "", change, why, Kind.PREFERENCE, message.turn, quote, _STATED))
                used = any(fold(quote) in one or one in fold(quote) for one in quoted)
                if why and not used and message.turn_key in job.batch.turns:
                    reasons[id(said[-1])] = (message.turn_key, why)
    for one in without_retracted(said, messages):
        if id(one) in reasons:
            key, why = reasons[id(one)]
            yield NewLearning(key, *_told(one), _CONFIDENCE, None, why)


def _told(said: Update) -> tuple[str, str, Kind]:
    return truncate(said.quote, _MAX_QUOTE), said.change, said.kind
