"""One batch: its words and skills to proposals and learnings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from skilld.classify.backends import OFFLINE, Backend, Spec, make
from skilld.classify.json_answer import BadReplyError
from skilld.classify.offline.provenance import own_words
from skilld.classify.verify import Checked, Verdict
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.git.errors import GitMissingError
from skilld.pipeline import messages as conversation
from skilld.pipeline.documents import UNREADABLE, Loaded, load_skills, standing_instructions, why_session_left_alone
from skilld.pipeline.edits import Composed, LintError
from skilld.pipeline.judge import NO_EDIT, Judge, Redact
from skilld.pipeline.kept import learning, of_proposal
from skilld.proposals import lessons
from skilld.proposals.results import proposal_from_json, proposal_to_json
from skilld.proposals.staging_result import Staged
from skilld.redact import RedactionError
from skilld.text import sentences
from skilld.types import Cause, Evidence, Message, Outcome, Proposal, SkillRef, State, Update, Usage

Keep = Callable[[dict[str, Any]], None]
GONE = "its transcript cannot be read"
UNREAD = "the model's answer could not be used"


def analyse(job: Mapping[str, Any], redact: Redact, keep: Keep) -> dict[str, Any]:
    """Do the job and return its result. Expected failures are results; only bugs raise.

    `keep` is given the proposals that are about to be staged and must have kept them when it returns: a job that has
    such a plan is not judged again.
    """
    analysis = Analysis(job, redact, keep)
    try:
        analysis.run()
    except conversation.AbsentError as error:
        analysis.keep_words(GONE, job["turns"], unless=Cause.TRANSCRIPT)
        analysis.blame(Cause.TRANSCRIPT, error.place)
        return analysis.result() | {"outcome": Outcome.RETRY.value, "detail": str(error)}
    except RetryError as error:
        return analysis.result() | {
            "outcome": Outcome.RETRY.value,
            "detail": str(error),
            "retry_after": error.after,
        }
    except (RefusedError, RedactionError) as error:
        analysis.refused.append(str(error))
    except BadReplyError as error:
        analysis.keep_words(UNREAD, job["turns"])
        analysis.blame(Cause.ANSWER)
        return analysis.result() | {"outcome": Outcome.FAILED.value, "detail": str(error)}
    except SkilldError as error:  # the set-up, a refused key: tried again when the person says so
        return analysis.result() | {"outcome": Outcome.FAILED.value, "detail": str(error)}
    return analysis.result()


class Analysis:
    """The work on one batch and what it has come to so far."""

    def __init__(self, job: Mapping[str, Any], redact: Redact, keep: Keep) -> None:
        self._job = job
        self._redact = redact
        self._keep_plan = keep
        self._skills, self._unreadable = load_skills([SkillRef(**item) for item in job["skills"]])
        # Without a skill in use no model is asked: what is plainly said is kept for later.
        self._backend: Backend = make(Spec(**job["backend"]) if self._skills else Spec(OFFLINE))
        self._standing = [proposal_from_json(item) for item in job["open"]]
        self._messages: list[Message] = []
        self._staged = Staged(by_code=job["backend"]["model"] == OFFLINE)
        self._told = Usage()  # what the daemon has booked with the plan
        self._learnings: list[dict[str, Any]] = []
        self._supported: list[tuple[str, str, str]] = []  # open proposals that were said again: id, turn, quote
        self._if_given_up: list[dict[str, Any]] = []  # learnings, where the proposals cannot be written at last
        self._cause: dict[str, str] | None = None
        self.refused: list[str] = []
        self._dropped: list[str] = []

    def run(self) -> None:
        """Judge, unless that was done by an earlier try, and stage what came of it."""
        if unwanted := why_session_left_alone(self._job.get("cwd")):
            self._dropped.append(unwanted)
            return
        plan = self._job.get("plan")
        proposals = self._planned(plan["proposals"]) if plan else self._judged()
        trouble = [error for proposal in proposals if (error := self._stage(proposal))]
        if self._staged.made:
            from skilld.proposals.auto_apply import apply_allowed

            apply_allowed(self._staged, self._standing, self._job["auto"], self._typed)
        if trouble:
            raise trouble[0]

    def _planned(self, items: Sequence[Mapping[str, Any]]) -> list[Proposal]:
        """Return what an earlier try was about to stage, but for what the person has seen or decided since."""
        seen = {*self._job["closed"], *(proposal.id for proposal in self._standing)}
        planned = (proposal_from_json(item) for item in items)
        return [
            one for one in planned if one.id not in seen and not lessons.was_decided(one, self._job.get("decided", ()))
        ]

    def _typed(self, proposal: Proposal) -> str:
        """Return what the person typed in the turns that a proposal quotes, read again by a job that had a plan."""
        if not self._messages:
            self._messages = conversation.read(self._job, self._redact)
        keys = {said.turn for said in proposal.evidence}
        return "\n".join(
            own_words(message.text, [other.text for other in self._messages[:place] if not other.by_person])
            for place, message in enumerate(self._messages)
            if message.turn_key in keys
        )

    def _judged(self) -> list[Proposal]:
        """Read, judge and edit; returns what is to be proposed, kept by the daemon already."""
        self._messages = conversation.read(self._job, self._redact)
        instructions = standing_instructions(
            self._job["agent"], self._job.get("cwd"), self._job.get("home", ""), self._job.get("variables", {})
        )
        judge = Judge(self._backend, self._messages, self._skills, self._redact(instructions), self._redact)
        verdict = judge.verdict()
        if judge.unusable and not (verdict.proposed or verdict.learned):
            raise BadReplyError(judge.unusable[0])
        self.refused += judge.unusable
        self.refused += [f"The model's answer was not used: {why}" for why in verdict.faults]
        self._dropped += verdict.dropped
        self._learn(verdict)
        read = {message.turn_key for message in self._messages}
        self.keep_words(GONE, [key for key in self._job["turns"] if key not in read])
        if judge.unusable or verdict.faults:
            heard = {item.update.turn for item in verdict.proposed} | {update.turn for update, _ in verdict.learned}
            self.keep_words(UNREAD, [m.turn_key for m in self._messages if m.turn_key and m.turn not in heard])
        proposals = []
        for loaded in self._skills:
            mine = self._new([item for item in verdict.proposed if item.update.skill == loaded.doc.number], loaded)
            if mine and (proposal := self._edited(judge, loaded, mine)):
                proposals.append(proposal)
        if proposals:
            self._keep_plan(self.result() | {"proposals": [proposal_to_json(proposal) for proposal in proposals]})
            self._told, self._learnings = self._backend.usage, []
        return proposals

    def _learn(self, verdict: Verdict) -> None:
        unusable = [(item["name"], item["why"], item.get("path", "")) for item in self._job.get("unusable", ())]
        known = {item["name"]: item["path"] for item in self._job["skills"]}
        unusable += [(name, why, known[name] if why == UNREADABLE else "") for name, why in self._unreadable]
        names = {loaded.doc.number: loaded.doc.name for loaded in self._skills}
        for update, why in verdict.learned:
            if not self._skills and unusable:
                name, reason, path = next((one for one in unusable if one[2]), unusable[0])
                self._keep(update, f"{name} cannot be edited: {reason}", name, for_now=bool(path))
            else:
                self._keep(update, why, names.get(update.skill or 0))
        # A model that was not asked might have heard more.
        if not self._skills and (verdict.learned or self._job["backend"]["model"] != OFFLINE):
            for name, reason, path in [one for one in unusable if one[2]][:1]:
                self.blame(Cause.SKILL, path)
                self._dropped.append(f"{name} cannot be edited: {reason}")

    def keep_words(self, why: str, turns: Sequence[str], unless: str = "") -> None:
        """Keep what was plainly said in turns as learnings, until all of it can be judged; `why` says what for.

        They are heard without a model, in what was read or else kept of them. With `unless` nothing is done where an
        earlier try met the same obstacle.
        """
        if not turns or (unless and self._job.get("before") == unless):
            return
        messages = self._messages
        if not any(message.turn_key in turns for message in messages):
            messages = conversation.from_memory(self._job, self._redact)
        verdict = Judge(make(Spec(OFFLINE)), messages, self._skills, "", self._redact).verdict()
        heard = [*(item.update for item in verdict.proposed), *(update for update, _ in verdict.learned)]
        for update in (update for update in heard if self._key(update.turn) in turns):
            skill = next((loaded.doc.name for loaded in self._skills if loaded.doc.number == update.skill), None)
            self._keep(update, why, skill, for_now=True)

    def blame(self, what: Cause, place: str = "", remedy: str = "") -> None:
        """Say what is in the way: what is met first."""
        self._cause = self._cause or {"what": what.value, "place": place, "remedy": remedy}

    def _new(self, checked: Sequence[Checked], loaded: Loaded) -> list[Checked]:
        new = []
        for item in checked:
            session = self._job["session_id"]
            why = lessons.why_known(item.update, loaded.ref.path, session, self._standing, self._job["decided"])
            least = self._job["thresholds"].get(loaded.ref.path, {}).get(item.update.kind.value, 0.0)
            if (standing := lessons.said_by(item.update, loaded.ref.path, self._standing)) is not None:
                self._supported.append((standing.id, self._key(item.update.turn), item.update.quote))
            if why:
                self._dropped.append(why)
            elif item.update.confidence < least:
                self._keep(item.update, "you said no to such edits of this skill before", loaded.ref.name)
            else:
                new.append(item)
        return new

    def _edited(self, judge: Judge, loaded: Loaded, checked: Sequence[Checked]) -> Proposal | None:
        try:
            composed = judge.edit(loaded, checked)
        except RetryError:
            raise
        except LintError as error:
            self.refused.append(str(error))
        except SkilldError as error:
            self.refused.append(str(error))
            for item in checked:
                self._keep(item.update, str(error), loaded.ref.name)
        else:
            for item in composed.left_out:
                self._keep(item.update, NO_EDIT, loaded.ref.name)
            return self._proposal(loaded, composed)
        return None

    def _stage(self, proposal: Proposal) -> RetryError | None:
        """Put a proposal on the branch; returns what should be tried again, which keeps no other from its place."""
        from skilld.proposals.submit import stage  # git takes 0.15 s to load, and of most batches nothing comes

        try:
            if not stage(proposal, self._standing, self._staged, self._job["closed"], alone=True):
                self._dropped.append("the skill, or an open proposal, says it already")
        except RetryError as error:
            return self._put_off(proposal, error)
        except OSError as error:
            return self._put_off(proposal, RetryError("The proposal was not written", error.strerror or str(error)))
        except SkilldError as error:
            self.refused.append(str(error))
            passing = isinstance(error, RefusedError | GitMissingError)  # else the edit does not fit the skill any more
            if passing:
                self.blame(Cause.REPOSITORY, proposal.path, error.remedy)
            self._learnings += of_proposal(proposal, str(error), for_now=passing)
        return None

    def _put_off(self, proposal: Proposal, error: RetryError) -> RetryError:
        self.blame(Cause.REPOSITORY, proposal.path, error.remedy)
        self._if_given_up += of_proposal(proposal, str(error), for_now=True)
        return error

    def _proposal(self, loaded: Loaded, composed: Composed) -> Proposal:
        updates = [item.update for item in composed.checked]
        batch = self._job["batch"]
        return Proposal(
            # The same batch gives the same proposal, however often it is worked on.
            id=hashlib.sha256(f"{batch}\n{loaded.ref.path}".encode()).hexdigest()[:8],
            batch_id=batch,
            state=State.OPEN,
            skill=loaded.ref.name,
            path=loaded.ref.path,
            operations=composed.operations,
            summary=sentences([update.change for update in updates]),
            reason=sentences([update.reason for update in updates]),
            kind=updates[0].kind,
            evidence=tuple(Evidence(self._key(update.turn), update.quote) for update in updates),
            confidence=min(update.confidence for update in updates),
            agent=self._job["agent"],
            session_id=self._job["session_id"],
            model=self._backend.name,
            created_at=self._job["closed_at"],
            flags=composed.flags,
            updates=tuple(updates),
        )

    def _keep(self, update: Update, why: str, skill: str | None, *, for_now: bool = False) -> None:
        said = Evidence(self._key(update.turn), update.quote)
        self._learnings.append(
            learning(said, update.change, update.confidence, kind=update.kind, skill=skill, why=why, for_now=for_now)
        )

    def _key(self, turn: int) -> str:
        return str(self._job["turns"][turn - 1])  # as conversation.read numbers them

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
            "usage": asdict(self._backend.usage - self._told),
            "proposals": [proposal_to_json(proposal) for proposal in self._staged.made],
            "learnings": self._learnings,
            "if_given_up": self._if_given_up,
            "cause": self._cause,
            "supported": self._supported,
            **self._staged.changes(),
        }
