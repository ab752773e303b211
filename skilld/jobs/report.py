"""What the analysis of a batch reports beside its proposals: learnings, notes, further evidence and obstacles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skilld.jobs.learnings import build_learning, proposal_learnings
from skilld.jobs.passed_over import find_passed_over
from skilld.jobs.taken_back import (
    TAKES_BACK,
    find_confirmed,
    find_forgotten,
    find_taken_back,
    find_withdrawals,
    take_back,
)
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import AnalyseBatch, BatchResult, FurtherEvidence, NewLearning, Obstacle, TakenBack
from skilld.types import Cause, Evidence, Message, Outcome, Proposal, SkillRef, Update, Usage


class BatchReport:
    """What the analysis of one batch has found so far; what is quoted is in its turns, numbered from 1."""

    def __init__(self, job: AnalyseBatch) -> None:
        self._job = job
        self._learnings: list[NewLearning] = []
        self._if_given_up: list[NewLearning] = []
        self._notes: list[Proposal] = []
        self._supported: list[FurtherEvidence] = []
        self._taken_back: dict[str, TakenBack] = {}
        self._cause: Obstacle | None = None
        self._refused: list[str] = []
        self._dropped: list[str] = []
        self._lost: Sequence[tuple[Update, str]] = ()

    def evidence_of(self, update: Update) -> Evidence:
        """Return the turn of an update and its words."""
        return Evidence(self._job.batch.turns[update.turn - 1], update.quote)

    def keep(self, update: Update, why: str, place: SkillRef | None, *, for_now: bool = False) -> None:
        """Keep an update that is not proposed as a learning; `for_now`: until an obstacle is gone."""
        self._learnings.append(build_learning(self.evidence_of(update), update, why, place, for_now=for_now))

    def keep_proposal(self, proposal: Proposal, why: str, *, for_now: bool) -> None:
        """Keep what a proposal says, which cannot be staged, as learnings."""
        self._learnings += proposal_learnings(proposal, why, for_now=for_now)

    def keep_if_given_up(self, proposal: Proposal, why: str) -> None:
        """Keep what a proposal says, as learnings, once the job is not tried again."""
        self._if_given_up += proposal_learnings(proposal, why, for_now=True)

    def hand_over_learnings(self) -> None:
        """Forget the learnings that the daemon has stored with the plan."""
        self._learnings = []

    def note(self, said_already: Proposal) -> None:
        """Report what a loaded line says already."""
        self._notes.append(said_already)

    def support(self, *further: FurtherEvidence) -> None:
        """Report words that say a proposal again."""
        self._supported += further

    def take_back(self, proposal: Proposal, update: Update) -> None:
        """Report an update that lets go of an open proposal's rule."""
        self._taken_back[proposal.id] = take_back(proposal, update)
        self.drop(TAKES_BACK)

    def report_obstacle(self, what: Cause, place: str = "", remedy: str = "") -> None:
        """Record an obstacle; the first one counts."""
        self._cause = self._cause or Obstacle(what, place, remedy)

    def refuse(self, *why: str) -> None:
        """Record why something could not be proposed."""
        self._refused += why

    def drop(self, *why: str) -> None:
        """Record why something need not be proposed."""
        self._dropped += why

    def lose(self, found: Iterable[tuple[Update, str]]) -> None:
        """Record what the answer had and a check stopped."""
        self._lost = tuple(found)

    def result(self, messages: Sequence[Message], staged: StagingResult, model: str, usage: Usage) -> BatchResult:
        """Return the result so far; `usage` is what the daemon has not booked yet."""
        job = self._job
        found = Outcome.REFUSED if self._refused else Outcome.NOTHING
        outcome = Outcome.PROPOSED if staged.made else found
        details = self._dropped if outcome is Outcome.NOTHING else self._refused
        return BatchResult(
            outcome=outcome,
            detail="; ".join(dict.fromkeys(details)),
            model=model,
            usage=usage,
            proposals=tuple(staged.made),
            notes=tuple(self._notes),
            learnings=tuple(self._learnings),
            if_given_up=tuple(self._if_given_up),
            cause=self._cause,
            supported=(*self._supported, *find_confirmed(job, messages)),
            taken_back=tuple(
                ({one.proposal: one for one in find_taken_back(job, messages)} | self._taken_back).values()
            ),
            forgotten=tuple(find_forgotten(job, messages)),
            withdrawals=tuple(find_withdrawals(job, messages)),
            passed_over=tuple(find_passed_over(job, messages, self._lost, staged.made)),
            changes=staged.changes(),
        )
