"""One batch: its words and skills to proposals and learnings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from skilld.classify.backends import Backend, Spec, make
from skilld.classify.verify import Checked, Verdict
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.types import Evidence, Message, Outcome, Proposal, SkillRef, State, Update
from skilld.wire import proposal_from_json, proposal_to_json
from skilld.worker import conversation, known
from skilld.worker.documents import Loaded, load_skills, standing_instructions
from skilld.worker.edits import Composed
from skilld.worker.judge import Judge, Redact
from skilld.worker.staging import Staged, stage


def analyse(job: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    """Do the job and return its result. Expected failures are results; only bugs raise."""
    analysis = Analysis(job, redact)
    try:
        analysis.run()
    except RetryError as error:
        return analysis.result() | {
            "outcome": Outcome.RETRY.value,
            "detail": str(error),
            "retry_after": error.after,
        }
    except RefusedError as error:
        analysis.refused.append(str(error))
    except SkilldError as error:
        # With a remedy it is the set-up (a refused key): tried again when the person says so. Else the answer was bad.
        outcome = Outcome.FAILED if error.remedy else Outcome.REFUSED
        return analysis.result() | {"outcome": outcome.value, "detail": str(error)}
    return analysis.result()


class Analysis:
    """The work on one batch and what it has come to so far."""

    def __init__(self, job: Mapping[str, Any], redact: Redact) -> None:
        self._job = job
        self._redact = redact
        self._skills, self._unreadable = load_skills([SkillRef(**item) for item in job["skills"]])
        # Without a skill in use no model is asked: what is plainly said is kept for later.
        self._backend: Backend = make(Spec(**job["backend"]) if self._skills else Spec("offline"))
        self._standing = [proposal_from_json(item) for item in job["open"]]
        self._messages: list[Message] = []
        self._staged = Staged()
        self._learnings: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self._dropped: list[str] = []

    def run(self) -> None:
        """Read, judge, edit and propose."""
        self._messages = conversation.read(self._job, self._redact)
        instructions = standing_instructions(self._job.get("cwd"), self._job.get("instructions", ()))
        judge = Judge(self._backend, self._messages, self._skills, self._redact(instructions), self._redact)
        verdict = judge.verdict()
        self.refused += judge.unusable
        self._dropped += verdict.dropped
        self._learn(verdict)
        for loaded in self._skills:
            if mine := self._new([item for item in verdict.proposed if item.update.skill == loaded.doc.number], loaded):
                self._edit(judge, loaded, mine)

    def _learn(self, verdict: Verdict) -> None:
        in_the_way = [*((item["name"], item["why"]) for item in self._job.get("unusable", ())), *self._unreadable]
        names = {loaded.doc.number: loaded.doc.name for loaded in self._skills}
        for update, why in verdict.learned:
            if not self._skills and in_the_way:
                name, reason = in_the_way[0]
                self._keep(update, f"{name} cannot be edited: {reason}", name)
            else:
                self._keep(update, why, names.get(update.skill or 0))

    def _new(self, checked: Sequence[Checked], loaded: Loaded) -> list[Checked]:
        new = []
        for item in checked:
            session = self._job["session_id"]
            why = known.why_known(item.update, loaded.ref.path, session, self._standing, self._job["decided"])
            if why:
                self._dropped.append(why)
            else:
                new.append(item)
        return new

    def _edit(self, judge: Judge, loaded: Loaded, checked: Sequence[Checked]) -> None:
        try:
            composed = judge.edit(loaded, checked)
            if not stage(self._proposal(loaded, checked, composed), self._standing, self._staged, self._job["closed"]):
                self._dropped.append("the skill, or an open proposal, says it already")
        except RetryError:
            raise
        except SkilldError as error:
            self.refused.append(str(error))
            for item in checked:
                self._keep(item.update, str(error), loaded.ref.name)

    def _proposal(self, loaded: Loaded, checked: Sequence[Checked], composed: Composed) -> Proposal:
        updates = [item.update for item in checked]
        batch = self._job["batch"]
        return Proposal(
            # The same batch gives the same proposal, however often it is worked on.
            id=hashlib.sha256(f"{batch}\n{loaded.ref.path}".encode()).hexdigest()[:8],
            batch_id=batch,
            state=State.OPEN,
            skill=loaded.ref.name,
            path=loaded.ref.path,
            repo="",
            relpath="",
            base="",
            commit="",
            branch="",
            operations=composed.operations,
            summary=_joined([update.change for update in updates]),
            reason=_joined([update.reason for update in updates]),
            kind=updates[0].kind,
            evidence=tuple(Evidence(self._key(update.turn), update.quote) for update in updates),
            confidence=min(update.confidence for update in updates),
            agent=self._job["agent"],
            session_id=self._job["session_id"],
            model=self._backend.name,
            created_at=self._job["closed_at"],
            flags=composed.flags,
        )

    def _keep(self, update: Update, why: str, skill: str | None) -> None:
        self._learnings.append(
            {
                "turn": self._key(update.turn),
                "quote": update.quote,
                "change": update.change,
                "kind": update.kind.value,
                "skill": skill,
                "why_kept": why,
                "confidence": update.confidence,
            }
        )

    def _key(self, turn: int) -> str:
        return next((m.turn_key for m in self._messages if m.turn == turn and m.turn_key), "")

    def result(self) -> dict[str, Any]:
        """Return what the job has come to."""
        if self._staged.made:
            outcome, details = Outcome.PROPOSED, self.refused
        elif self.refused:
            outcome, details = Outcome.REFUSED, self.refused
        else:
            outcome, details = Outcome.NOTHING, self._dropped
        return {
            "outcome": outcome.value,
            "detail": "; ".join(dict.fromkeys(details)),
            "model": self._backend.name,
            "usage": asdict(self._backend.usage),
            "proposals": [proposal_to_json(proposal) for proposal in self._staged.made],
            "learnings": self._learnings,
            "moved": self._staged.moved,
        }


def _joined(texts: Sequence[str]) -> str:
    """Return sentences as one line, each once."""
    once = [text for text in dict.fromkeys(texts) if text]
    return once[0] if len(once) == 1 else "; ".join(text.rstrip(".") for text in once)
