"""Judges one batch: from its words and skills to proposals and learnings."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE, AwayError, Backend, Spec, make
from skilld.classify.json_answer import BadReplyError
from skilld.classify.offline.provenance import own_words
from skilld.classify.verify import Verdict, VerifiedUpdate
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.git.errors import GitMissingError
from skilld.jobs.contradictions import find_contradictions
from skilld.jobs.kept import ABSENT, learning, learnings_of
from skilld.jobs.placing import JobPlaces, find_own, find_places, is_persons, seen
from skilld.pipeline import messages as conversation
from skilld.pipeline.documents import UNREADABLE, TargetDocument, load_skills, session_opt_out, standing_instructions
from skilld.pipeline.edits import CheckedEdit
from skilld.pipeline.judge import NO_EDIT, Judge, Redact
from skilld.proposals import past_decisions
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import Analyse, BatchResult, Blame, NewLearning, Support
from skilld.redact import RedactionError
from skilld.skills.find import FILE, NotUnderstoodError
from skilld.targets.route import RoutedBackend, ordered_file
from skilld.text import fold, sentences, sentences_of
from skilld.types import (
    Cause,
    Evidence,
    Message,
    Outcome,
    Proposal,
    SkillDoc,
    SkillRef,
    State,
    TargetKind,
    Update,
    Usage,
)

Keep = Callable[[BatchResult], None]
GONE = "its transcript cannot be read"
NO_PLACE = "it does not belong in any of the files here"
UNREAD = "the model's answer could not be used"


def analyse(job: Analyse, redact: Redact, keep: Keep) -> BatchResult:
    """Do the job and return its result. Expected failures but AwayError are results; only bugs raise.

    `keep` is given the proposals that are about to be staged and must have kept them when it returns: a job that has
    such a plan is not judged again.
    """
    analysis = Analysis(job, redact, keep)
    try:
        analysis.run()
    except conversation.AbsentError as error:
        analysis.keep_words(GONE, job.batch.turns, unless=Cause.TRANSCRIPT)
        analysis.blame(Cause.TRANSCRIPT, error.place)
        return replace(analysis.result(), outcome=Outcome.RETRY, detail=str(error))
    except AwayError:
        raise
    except RetryError as error:
        return replace(analysis.result(), outcome=Outcome.RETRY, detail=str(error), retry_after=error.after)
    except (RefusedError, RedactionError) as error:
        analysis.refused.append(str(error))
    except BadReplyError as error:
        analysis.keep_words(UNREAD, job.batch.turns)
        analysis.blame(Cause.ANSWER)
        return replace(analysis.result(), outcome=Outcome.FAILED, detail=str(error))
    except NotUnderstoodError as error:
        analysis.blame(Cause.REPOSITORY, str(error.path))
        return replace(analysis.result(), outcome=Outcome.FAILED, detail=str(error))
    except SkilldError as error:  # the set-up, a refused key: tried again when the person says so
        return replace(analysis.result(), outcome=Outcome.FAILED, detail=str(error))
    return analysis.result()


class Analysis:
    """The work on one batch and what it has come to so far."""

    def __init__(self, job: Analyse, redact: Redact, keep: Keep) -> None:
        self._job = job
        self._batch = job.batch
        self._redact = redact
        self._keep_plan = keep
        self._skills, self._unreadable = load_skills(job.batch.skills if TargetKind.SKILL in job.targets else ())
        self._places: JobPlaces | None = None
        # Without anything to edit no model is asked: what is plainly said is kept for later.
        self._backend: Backend = make(job.backend if self._skills else Spec(OFFLINE))
        self._standing = list(job.open)
        self._messages: list[Message] = []
        self._staged = StagingResult(by_code=job.backend.model == OFFLINE, most_tokens=job.most_tokens)
        self._told = Usage()  # what the daemon has booked with the plan
        self._learnings: list[NewLearning] = []
        self._notes: list[Proposal] = []
        self._supported: list[Support] = []
        self._if_given_up: list[NewLearning] = []
        self._cause: Blame | None = None
        self.refused: list[str] = []
        self._dropped: list[str] = []

    def run(self) -> None:
        """Judge, unless that was done by an earlier try, and stage what came of it."""
        if unwanted := session_opt_out(self._batch.cwd):
            self._dropped.append(unwanted)
            return
        plan = self._batch.plan
        proposals = self._planned(plan.proposals) if plan else self._judged()
        trouble = [error for proposal in proposals if (error := self._stage(proposal))]
        if self._staged.made and self._batch.kind != "waiting":  # what was said before places were known is asked first
            from skilld.proposals.auto_apply import apply_allowed

            apply_allowed(self._staged, self._standing, self._job.auto, self._typed)
        if trouble:
            raise trouble[0]

    def _planned(self, planned: Sequence[Proposal]) -> list[Proposal]:
        """Return what an earlier try was about to stage, but for what the person has seen or decided since."""
        seen = {*self._job.closed, *(proposal.id for proposal in self._standing)}
        return [
            one for one in planned if one.id not in seen and not past_decisions.was_declined(one, self._job.decided)
        ]

    def _typed(self, proposal: Proposal) -> str:
        """Return what the person typed in the turns that a proposal quotes, read again by a job that had a plan."""
        if not self._messages:
            self._messages = self._read()
        keys = {said.turn for said in proposal.evidence}
        return "\n".join(
            self._own_words(place) for place, message in enumerate(self._messages) if message.turn_key in keys
        )

    def _own_words(self, place: int) -> str:
        """Return what the person themselves typed in the message at a place."""
        before = [other.text for other in self._messages[:place] if not other.by_person]
        return own_words(self._messages[place].text, before)

    def _read(self) -> list[Message]:
        """Return the batch's words; of learnings only what was kept of them."""
        if self._batch.kind == "waiting":
            return conversation.from_memory(self._batch.turns, self._job.words, self._redact)
        return conversation.read(self._batch, self._redact)

    def _judged(self) -> list[Proposal]:
        """Read, judge and edit; returns what is to be proposed, kept by the daemon already."""
        self._messages = self._read()
        if not self._skills and not self._waits_for_skill():
            self._find_places()
        instructions = self._redact(self._instructions())
        judge = Judge(self._backend, self._messages, self._skills, instructions, self._redact, own=self._own)
        verdict = judge.in_own_words(self._as_placed(judge.verdict()))
        if judge.unusable and not (verdict.proposed or verdict.learned):
            raise BadReplyError(judge.unusable[0])
        self.refused += judge.unusable
        self.refused += [f"The model's answer was not used: {why}" for why in verdict.faults]
        self._dropped += verdict.dropped
        for update, line in verdict.already_said:
            self._take_note(update, line)
        self._learn(verdict)
        read = {message.turn_key for message in self._messages}
        if self._batch.kind != "waiting":
            self.keep_words(GONE, [key for key in self._batch.turns if key not in read])
        if judge.unusable or verdict.faults:
            heard = {item.update.turn for item in verdict.proposed} | {update.turn for update, _ in verdict.learned}
            self.keep_words(UNREAD, [m.turn_key for m in self._messages if m.turn_key and m.turn not in heard])
        if self._backend.name == OFFLINE:
            self._hear_unwanted({item.update.turn for item in verdict.proposed})
        made = []
        for loaded in self._skills:
            mine = self._new([item for item in verdict.proposed if item.update.skill == loaded.doc.number], loaded)
            mine = self._ripe(mine, loaded)
            if mine and (edited := self._edited(judge, loaded, mine)):
                made.append((*edited, loaded))
        paths = {proposal.path for proposal, _, _ in made}
        proposals = [each for one in made for each in self._with_contradictions(*one, paths)]
        if proposals:
            self._keep_plan(replace(self.result(), proposals=tuple(proposals)))
            self._told, self._learnings = self._backend.usage, []
        return proposals

    def _hear_unwanted(self, heard: Container[int]) -> None:
        """Take turns in which rules heard nothing for repeats of what the person did not want, where they say that.

        Rules are silent where they are not sure that words are to last; what was asked for before is.
        """
        paths = {loaded.ref.path for loaded in self._skills}
        decided = [one for one in self._job.decided if one.id and one.path in paths]
        for place, message in enumerate(self._messages if decided else ()):
            if message.turn is None or message.turn_key is None or message.turn in heard:
                continue
            for said in (part for line in self._own_words(place).splitlines() for part in sentences_of(line)):
                if (decision := past_decisions.find_refused_sentence(said, decided)) is not None:
                    self._supported.append(Support(decision.id, Evidence(message.turn_key, fold(said))))

    def _learn(self, verdict: Verdict) -> None:
        unusable = [(item.name, item.why, item.path) for item in self._batch.unusable]
        known = {skill.name: skill.path for skill in self._batch.skills}
        unusable += [(name, why, known[name] if why == UNREADABLE else "") for name, why in self._unreadable]
        for update, why in verdict.learned:
            if not self._skills and unusable:
                name, reason, path = next((one for one in unusable if one[2]), unusable[0])
                self._keep(update, f"{name} cannot be edited: {reason}", SkillRef(name, path), for_now=bool(path))
            else:
                self._keep(update, self._no_place_reason(update) or why, self._file(update))
        # A model that was not asked might have heard more.
        if not self._skills and (verdict.learned or self._job.backend.model != OFFLINE):
            for name, reason, path in [one for one in unusable if one[2]][:1]:
                self.blame(Cause.SKILL, path)
                self._dropped.append(f"{name} cannot be edited: {reason}")

    def _no_place_reason(self, update: Update) -> str:
        """Return what is wrong with the file that the project has for words without one; empty if nothing is."""
        return self._places.places.why_not if self._places is not None and self._file(update) is None else ""

    def keep_words(self, why: str, turns: Sequence[str], unless: Cause | None = None) -> None:
        """Keep what was plainly said in turns as learnings, until all of it can be judged; `why` says what for.

        They are heard without a model, in what was read or else kept of them. With `unless` nothing is done where an
        earlier try met the same obstacle.
        """
        if not turns or (unless and self._job.before == unless):
            return
        messages = self._messages
        if not any(message.turn_key in turns for message in messages):
            messages = conversation.from_memory(self._batch.turns, self._job.words, self._redact)
        verdict = Judge(make(Spec(OFFLINE)), messages, self._skills, "", self._redact).verdict()
        heard = [*(item.update for item in verdict.proposed), *(update for update, _ in verdict.learned)]
        for update in (update for update in heard if self._key(update.turn) in turns):
            self._keep(update, why, self._file(update), for_now=True)

    def blame(self, what: Cause, place: str = "", remedy: str = "") -> None:
        """Say what is in the way: what is met first."""
        self._cause = self._cause or Blame(what, place, remedy)

    def _new(self, checked: Sequence[VerifiedUpdate], loaded: TargetDocument) -> list[VerifiedUpdate]:
        new = []
        path, session = loaded.ref.path, self._batch.session_id
        for item in checked:
            why = past_decisions.known_reason(item.update, path, session, self._standing, self._job.decided)
            least = self._job.thresholds.get(path, {}).get(item.update.kind.value, 0.0)
            standing, rest = past_decisions.match_open_proposal(item.update, path, self._standing)
            by = standing or past_decisions.decision_against(item.update, path, session, self._job.decided)
            if by is not None and by.id:
                self._supported.append(Support(by.id, self._said(item.update)))
            if why:
                self._dropped.append(why)
            elif item.update.confidence < least:
                what = "skill" if loaded.ref.kind is TargetKind.SKILL else "file"
                self._keep(item.update, f"you have rejected similar edits to this {what}", loaded.ref)
            else:
                new.append(replace(item, update=replace(item.update, change=rest)))
        return new

    def _edited(
        self, judge: Judge, loaded: TargetDocument, checked: Sequence[VerifiedUpdate]
    ) -> tuple[Proposal, CheckedEdit] | None:
        try:
            composed = judge.edit(loaded, checked)
        except RetryError:
            raise
        except SkilldError as error:
            self.refused.append(str(error))
            for item in checked:
                if not judge.harms(loaded, item, error):
                    self._keep(item.update, str(error), loaded.ref)
        else:
            for item in composed.left_out:
                self._keep(item.update, NO_EDIT, loaded.ref)
            return self._proposal(loaded, composed), composed
        return None

    def _with_contradictions(
        self, proposal: Proposal, composed: CheckedEdit, loaded: TargetDocument, made: Container[str]
    ) -> list[Proposal]:
        """Return a proposal with what the agent loads that says the opposite, and those that change it elsewhere.

        `made` are the files for which there are proposals of this batch.
        """
        around = self._places or seen(self._job, self._skills)
        used = {used.path for used in self._batch.skills}
        unedited = {one.ref.path for one in around.overlaid.values()}
        skills = [one for one in self._skills if one.ref.path in used | unedited and one is not loaded]
        typed = self._typed(proposal)
        proposal = replace(proposal, flags=(*proposal.flags, *around.nearly_said(proposal.updates)))
        after, allowed = composed.after.decode("utf-8-sig"), self._job.targets
        found = find_contradictions(
            composed.checked, loaded, after, around, skills, allowed=allowed, typed=typed, redact=self._redact
        )
        if not found.conflicts:
            return [proposal]
        from skilld.proposals.contradictions import split_edits  # as git in _stage

        edits = [
            (file, operations)
            for file, operations in found.edits
            if file.path not in made and file.path not in unedited
        ]
        whole, others = split_edits(replace(proposal, conflicts=found.conflicts), edits)
        others = [one for one in others if self._is_new(one)]
        return [replace(whole, linked=tuple(one.id for one in others)), *others]

    def _is_new(self, proposal: Proposal) -> bool:
        """Whether what a proposal says was not proposed for its file, or decided, before."""
        session, job = self._batch.session_id, self._job
        return not any(
            past_decisions.known_reason(update, proposal.path, session, self._standing, job.decided)
            for update in proposal.updates
        )

    def _stage(self, proposal: Proposal) -> RetryError | None:
        """Put a proposal on the branch; returns what should be tried again, which keeps no other from its place."""
        from skilld.proposals.staging import stage  # git takes 0.15 s to load, and of most batches nothing comes

        try:
            if not stage(proposal, self._standing, self._staged, self._job.closed, alone=True):
                self._dropped.append("the file or an open proposal already says this")
        except RetryError as error:
            return self._put_off(proposal, error)
        except OSError as error:
            return self._put_off(proposal, RetryError("Could not write the proposal", error.strerror or str(error)))
        except SkilldError as error:
            self.refused.append(str(error))
            passing = isinstance(error, RefusedError | GitMissingError)  # else the edit does not fit the skill any more
            if passing:
                self.blame(Cause.REPOSITORY, proposal.path, error.remedy)
            self._learnings += learnings_of(proposal, str(error), for_now=passing)
        return None

    def _put_off(self, proposal: Proposal, error: RetryError) -> RetryError:
        self.blame(Cause.REPOSITORY, proposal.path, error.remedy)
        self._if_given_up += learnings_of(proposal, str(error), for_now=True)
        return error

    def _proposal(self, loaded: TargetDocument, composed: CheckedEdit) -> Proposal:
        updates = [item.update for item in composed.checked]
        batch = self._batch.batch
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
            evidence=(*map(self._said, updates), *self._before(updates)),
            confidence=min(update.confidence for update in updates),
            agent=self._batch.agent,
            session_id=self._batch.session_id,
            model=self._backend.name,
            created_at=self._job.closed_at,
            flags=composed.flags,
            updates=tuple(updates),
            target=loaded.ref.kind,
            agents=loaded.ref.agents,
        )

    def _keep(self, update: Update, why: str, place: SkillRef | None, *, for_now: bool = False) -> None:
        self._learnings.append(learning(self._said(update), update, why, place, for_now=for_now))

    def _find_places(self) -> None:
        """Have the batch judged against the files that its agent loads."""
        found = self._places = find_places(self._job, self._messages)
        if not found.files:
            return
        self._skills = [*found.files, *found.overlaid.values()]
        self._backend = make(self._job.backend)
        if self._backend.name == OFFLINE:
            overlaid = [one.doc for one in found.overlaid.values()]
            refs = {one.doc.number: one.ref for one in found.files}
            self._backend = RoutedBackend(self._backend, refs, overlaid, found.subjects)

    def _own(self, named: TargetDocument, kind: TargetKind) -> TargetDocument | None:
        """Return the file of a kind for words that were meant for `named`, and are not its; none if there is none.

        Words on how the agent speaks to the person are for their own file, unless `named` is theirs already.
        """
        if kind is TargetKind.PERSONAL and is_persons(named.ref, self._batch.cwd):
            return named
        own = next((one for one in self._skills if one.ref.kind is kind), None)
        if own is None and self._places is None:
            own = find_own(self._job, kind, len(self._skills) + 1)
            self._skills += [own] if own else []
        return own

    def _file(self, update: Update) -> SkillRef | None:
        """Return the file that an update is for, if there is one."""
        return next((loaded.ref for loaded in self._skills if loaded.doc.number == update.skill), None)

    def _waits_for_skill(self) -> bool:
        """Whether a skill in use cannot be edited for now: its file is unfit, or not checked out."""
        files = [Path(item.path) for item in self._batch.unusable if Path(item.path).name == FILE]
        return any(_is_there(file) or any(_is_there(folder / ".git") for folder in file.parents) for file in files)

    def _instructions(self) -> str:
        """Return what the agent loads next to the files that are judged."""
        if self._places is not None:
            return self._places.instructions
        return standing_instructions(self._batch.agent, self._batch.cwd, self._batch.home, self._batch.variables)

    def _as_placed(self, verdict: Verdict) -> Verdict:
        """Return the verdict with what is said of a skill that is never edited as words for another file."""
        if self._places is None:
            return verdict
        texts = {message.turn: message.text for message in self._messages}
        moved = [self._places.instead(item, texts[item.update.turn]) for item in verdict.proposed]
        kept = [(item.update, NO_PLACE) for item in moved if item.update.skill is None]
        return replace(
            verdict,
            proposed=tuple(item for item in moved if item.update.skill is not None),
            learned=(*verdict.learned, *kept),
        )

    def _ripe(self, checked: Sequence[VerifiedUpdate], loaded: TargetDocument) -> list[VerifiedUpdate]:
        """Return what may be proposed now: a file is made for what was said in two sessions, or by order."""
        ruling = loaded.ref.kind is TargetKind.RULES and self._places is not None and self._places.may_be_made
        if not loaded.ref.absent or ruling:
            return list(checked)
        texts = {message.turn: message.text for message in self._messages}
        ripe = []
        for item in checked:
            if self._before([item.update]) or ordered_file(texts[item.update.turn]):
                ripe.append(item)
            else:
                self._keep(item.update, self._unripe_reason(loaded.ref), loaded.ref)
        return ripe

    def _unripe_reason(self, ref: SkillRef) -> str:
        unusable = [f"{name} cannot be edited: {why}" for name, why in self._unreadable]
        unusable += [f"{item.name} cannot be edited: {item.why}" for item in self._batch.unusable]
        return "; ".join([*unusable[:1], f"{ABSENT} {ref.name} yet"])

    def _before(self, updates: Sequence[Update]) -> list[Evidence]:
        """Return where the same was said in other sessions, and waits for a place."""
        file = self._file(updates[0])
        waits = self._places is not None or (file is not None and file.absent)
        return (self._places or seen(self._job, [])).said_before(updates) if waits else []

    def _take_note(self, update: Update, line: str) -> None:
        """Note what a `line` of a file that the agent loads says already; if it is not read so far, keep the words."""
        places = self._places or seen(self._job, self._skills)
        if unread := places.unread(line):
            self._keep(update, unread[1], unread[0])
        elif found := places.where(line):
            self._notes.append(self._note(update, *found))

    def _note(self, update: Update, ref: SkillRef, number: int) -> Proposal:
        file = TargetDocument(ref, b"", SkillDoc(0, ref.name, ref.path, ""))
        blank = self._proposal(file, CheckedEdit((), b"", (), (VerifiedUpdate(update),)))
        name = hashlib.sha256(f"{blank.id}\n{update.change}".encode()).hexdigest()[:8]
        note, at = f"{ref.name}:{number} already says this", self._job.closed_at
        return replace(blank, id=name, state=State.SAID, note=note, decided_at=at)

    def _said(self, update: Update) -> Evidence:
        return Evidence(self._key(update.turn), update.quote)

    def _key(self, turn: int) -> str:
        return self._batch.turns[turn - 1]  # as conversation.read numbers them

    def result(self) -> BatchResult:
        """Return what the job has come to."""
        if self._staged.made:
            outcome, details = Outcome.PROPOSED, self.refused
        elif self.refused:
            outcome, details = Outcome.REFUSED, self.refused
        else:
            outcome, details = Outcome.NOTHING, self._dropped
        return BatchResult(
            outcome=outcome,
            detail="; ".join(dict.fromkeys(details)),
            model=self._backend.name,
            usage=self._backend.usage - self._told,
            proposals=tuple(self._staged.made),
            notes=tuple(self._notes),
            learnings=tuple(self._learnings),
            if_given_up=tuple(self._if_given_up),
            cause=self._cause,
            supported=tuple(self._supported),
            changes=self._staged.changes(),
        )


def _is_there(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises for a name that no system takes
