"""Analyses one batch: from its words and skills to staged proposals and learnings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from skilld.classify.backends import OFFLINE, Backend, Spec, UnavailableError, make_backend
from skilld.classify.json_answer import BadReplyError
from skilld.classify.offline.provenance import own_words
from skilld.classify.verify import Verdict, VerifiedUpdate
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.git.errors import GitMissingError
from skilld.jobs.contradictions import find_contradictions
from skilld.jobs.other_projects import without_other_projects
from skilld.jobs.placing import (
    JobPlaces,
    find_file_of_kind,
    find_places,
    is_personal_file,
    loaded_places,
    redirect_all,
    waits_for_skill,
    why_not_in_skill,
)
from skilld.jobs.report import BatchReport, proposal_learnings
from skilld.jobs.same_asks import SameAsks
from skilld.jobs.taken_back import (
    TAKES_BACK,
    find_refused_again,
    find_unclear,
    gives_up,
    take_back,
    without_taking_back,
)
from skilld.pipeline import messages as conversation
from skilld.pipeline.documents import (
    UNREADABLE_REASON,
    TargetDocument,
    check_configs,
    load_documents,
    session_opt_out,
    standing_instructions,
)
from skilld.pipeline.edits import CheckedEdit, summarize
from skilld.pipeline.judge import NO_EDIT_REASON, Judge
from skilld.proposals import past_decisions
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import AnalyseBatch, BatchResult, FurtherEvidence
from skilld.redact import RedactionError
from skilld.skills.project_config import ProjectConfigError
from skilld.targets.find import NO_FOLDER_REASON
from skilld.targets.route import RoutedBackend, ordered_file
from skilld.text import Redact, join_sentences
from skilld.types import (
    Cause,
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

KeepPlan = Callable[[BatchResult], None]
GONE_REASON = "its transcript cannot be read"
UNUSABLE_REASON = "the model's answer could not be used"


def analyse(job: AnalyseBatch, redact: Redact, keep: KeepPlan) -> BatchResult:
    """Analyse the batch and return the result. Expected failures except UnavailableError are results; only bugs raise.

    `keep` gets the proposals that are about to be staged and must have stored them when it returns: a job with such a
    plan is not judged again.
    """
    analysis = Analysis(job, redact, keep)
    try:
        analysis.run()
    except conversation.TranscriptGoneError as error:
        analysis.keep_learnings(GONE_REASON, job.batch.turns, unless=Cause.TRANSCRIPT)
        analysis.report.report_obstacle(Cause.TRANSCRIPT, error.place)
        return replace(analysis.result(), outcome=Outcome.RETRY, detail=str(error))
    except UnavailableError:
        raise
    except RetryError as error:
        return replace(analysis.result(), outcome=Outcome.RETRY, detail=str(error), retry_after=error.after)
    except (RefusedError, RedactionError) as error:
        analysis.report.refused.append(str(error))
    except BadReplyError as error:
        analysis.keep_learnings(UNUSABLE_REASON, job.batch.turns)
        analysis.report.report_obstacle(Cause.ANSWER)
        return replace(analysis.result(), outcome=Outcome.FAILED, detail=str(error))
    except ProjectConfigError as error:
        analysis.report.report_obstacle(Cause.REPOSITORY, str(error.path))
        return replace(analysis.result(), outcome=Outcome.FAILED, detail=str(error))
    except SkilldError as error:  # the set-up, a refused key: tried again with other settings
        analysis.report.report_obstacle(Cause.JUDGE)
        return replace(analysis.result(), outcome=Outcome.FAILED, detail=str(error))
    return analysis.result()


class Analysis:
    """The analysis of one batch, and its results so far."""

    def __init__(self, job: AnalyseBatch, redact: Redact, keep: KeepPlan) -> None:
        self._job = job
        self._batch = job.batch
        self._redact = redact
        self._keep_plan = keep
        self._skills, self._unreadable = load_documents(job.batch.skills if TargetKind.SKILL in job.targets else ())
        self._places: JobPlaces | None = None
        # Without a file to edit no model is asked; what the rules detect is kept for later.
        self._backend: Backend = make_backend(job.backend if self._skills else Spec(OFFLINE))
        self.report = BatchReport(job)
        self._standing = list(job.open)
        self._same = SameAsks(job)
        self._messages: list[Message] = []
        self._unanswered: list[tuple[Update, str, SkillRef]] = []  # the answer on their edit could not be used
        self._staged = StagingResult(by_code=job.backend.model == OFFLINE, most_tokens=job.most_tokens)
        self._told = Usage()  # what the daemon has booked with the plan

    def run(self) -> None:
        """Judge the batch, unless an earlier try did, and stage the proposals."""
        if unwanted := session_opt_out(self._batch.cwd):
            self.report.dropped.append(unwanted)
            return
        check_configs(self._batch.skills)
        plan = self._batch.plan
        proposals = self._undecided(plan.proposals) if plan else self._judge_batch()
        trouble = [error for proposal in proposals if (error := self._stage(proposal))]
        if self._staged.made and self._batch.kind != "waiting":  # what was said before places were known is asked first
            from skilld.proposals.auto_apply import apply_allowed

            apply_allowed(self._staged, self._standing, self._job.auto, self._typed_text)
        if trouble:
            raise trouble[0]

    def _undecided(self, planned: Sequence[Proposal]) -> list[Proposal]:
        """Return the proposals of an earlier try's plan that the person has not seen or decided since."""
        seen = {*self._job.closed, *(proposal.id for proposal in self._standing)}
        return [
            one for one in planned if one.id not in seen and not past_decisions.was_declined(one, self._job.decided)
        ]

    def _typed_text(self, proposal: Proposal) -> str:
        """Return what the person typed in the turns that a proposal quotes, rereading them if the job had a plan."""
        if not self._messages:
            self._messages = self._read_messages()
        keys = {said.turn for said in proposal.evidence}
        return "\n".join(self._own_words(at) for at, message in enumerate(self._messages) if message.turn_key in keys)

    def _own_words(self, place: int) -> str:
        before = [other.text for other in self._messages[:place] if not other.by_person]
        return own_words(self._messages[place].text, before)

    def _read_messages(self) -> list[Message]:
        """Return the batch's messages; for learnings only the stored words.

        If some messages are missing, the job is tried again once before it goes on without them.
        """
        if self._batch.kind == "waiting":
            return conversation.stored_messages(self._batch.turns, self._job.words, self._redact)
        return conversation.read_batch(self._batch, self._redact, whole=self._job.before is not Cause.TRANSCRIPT)

    def _judge_batch(self) -> list[Proposal]:
        """Read, judge and edit; return the proposals, which the daemon has already stored as the plan."""
        self._messages = self._read_messages()
        if not self._skills and not waits_for_skill(self._batch):
            self._find_places()
        judge = Judge(
            self._backend,
            self._messages,
            self._skills,
            self._redact(self._instructions()),
            self._redact,
            own=self._file_of_kind,
            said_before=lambda update: bool(self._same.evidence([update])),
        )
        verdict = self._only_this_project(judge)
        if judge.unusable and not (verdict.proposed or verdict.learned):
            raise BadReplyError(judge.unusable[0])
        verdict = self._without_known(verdict)
        self._report_unproposed(judge, verdict)
        proposals = self._make_proposals(judge, verdict)
        for update, why, place in self._unanswered:
            self.report.keep(update, why, place, for_now=not proposals)
        if self._unanswered and not proposals:  # with a plan, the batch is not judged again
            self.report.report_obstacle(Cause.ANSWER)
        if proposals:
            self._keep_plan(replace(self.result(), proposals=tuple(proposals)))
            self._told = self._backend.usage + self._same.usage
            self.report.learnings = []
        return proposals

    def _only_this_project(self, judge: Judge) -> Verdict:
        """Return the verdict on the batch, without what takes a rule back; what is for other projects is kept."""
        verdict = judge.keep_own_words(redirect_all(judge.verdict(), self._places, self._messages))
        verdict = without_taking_back(verdict, self._job)
        verdict, theirs = without_other_projects(verdict, self._job, self._messages, self._target_of)
        for update, why, place in theirs:
            self.report.keep(update, why, place)
        return verdict

    def _report_unproposed(self, judge: Judge, verdict: Verdict) -> None:
        """Report what a verdict does not propose, and keep what the judge had no usable answer for."""
        self.report.refused += [*judge.unusable, *(f"An instruction was not used: {why}" for why in verdict.faults)]
        self.report.dropped += [*verdict.dropped, *find_unclear(self._job, self._messages)]
        self.report.lost = [one for one in verdict.lost if one[0] not in dict(verdict.already_said)]
        for update, line in verdict.already_said:
            self._note_already_said(update, line)
        self._keep_learned(verdict)
        if self._batch.kind != "waiting":
            read = {message.turn_key for message in self._messages}
            self.keep_learnings(GONE_REASON, [key for key in self._batch.turns if key not in read])
        if judge.unusable or verdict.faults:
            judged = {item.update.turn for item in verdict.proposed} | {update.turn for update, _ in verdict.learned}
            rest = [m.turn_key for m in self._messages if m.turn_key and m.turn not in judged]
            self.keep_learnings(UNUSABLE_REASON, rest)
        if self._backend.name == OFFLINE:
            files, heard = [one.ref.path for one in self._skills], {item.update.turn for item in verdict.proposed}
            self.report.supported += find_refused_again(self._job, self._messages, files, heard)

    def _make_proposals(self, judge: Judge, verdict: Verdict) -> list[Proposal]:
        """Return a proposal for each file with an edit, and those that change lines elsewhere which contradict it."""
        made = []
        for loaded in self._skills:
            mine = [item for item in verdict.proposed if item.update.skill == loaded.doc.number]
            mine = self._ready_updates(self._drop_known(mine, loaded), loaded)
            if mine and (edited := self._compose_edit(judge, loaded, mine)):
                made.append((*edited, loaded))
        paths = {proposal.path for proposal, _, _ in made}
        return [each for one in made for each in self._add_contradictions(*one, paths)]

    def _without_known(self, verdict: Verdict) -> Verdict:
        verdict, known = self._same.split(verdict, self._skills, self._backend, self._redact)
        for update, found in known:
            if isinstance(found, Proposal):
                self.report.supported.append(FurtherEvidence(found.id, self.report.evidence_of(update)))
                place = self._target_of(update)
                self.report.dropped.append(past_decisions.open_reason(found, place.path if place else ""))
            else:
                self._note_already_said(update, found)
        return verdict

    def _keep_learned(self, verdict: Verdict) -> None:
        unusable = [(item.name, item.why, item.path) for item in self._batch.unusable]
        known = {skill.name: skill.path for skill in self._batch.skills}
        unusable += [(name, why, known[name] if why == UNREADABLE_REASON else "") for name, why in self._unreadable]
        for update, why in verdict.learned:
            if not self._skills and unusable:
                name, reason, path = next((one for one in unusable if one[2]), unusable[0])
                self.report.keep(update, f"{name} cannot be edited: {reason}", SkillRef(name, path), for_now=bool(path))
            else:
                place = self._target_of(update)
                refusal = self._places.places.refusal if self._places and place is None else ""
                away = refusal == NO_FOLDER_REASON
                self.report.keep(update, refusal or why, place, for_now=away)
                if away:
                    self.report.report_obstacle(Cause.FOLDER, self._batch.cwd or "")
        # A model, which was not asked, might have found more.
        if not self._skills and (verdict.learned or self._job.backend.model != OFFLINE):
            for name, reason, path in [one for one in unusable if one[2]][:1]:
                self.report.report_obstacle(Cause.SKILL, path)
                self.report.dropped.append(f"{name} cannot be edited: {reason}")

    def keep_learnings(self, why: str, turns: Sequence[str], unless: Cause | None = None) -> None:
        """Keep what the rules detect in turns as learnings until all of it can be judged; `why` is the reason.

        The turns are those that were read, or else stored. Nothing is done if an earlier try met the obstacle `unless`.
        """
        if not turns or (unless and self._job.before == unless):
            return
        messages = self._messages
        if not any(message.turn_key in turns for message in messages):
            messages = conversation.stored_messages(self._batch.turns, self._job.words, self._redact)
        verdict = Judge(make_backend(Spec(OFFLINE)), messages, self._skills, "", self._redact).verdict()
        updates = [*(item.update for item in verdict.proposed), *(update for update, _ in verdict.learned)]
        for update in (update for update in updates if self._turn_key(update.turn) in turns):
            self.report.keep(update, why, self._target_of(update), for_now=True)

    def _drop_known(self, checked: Sequence[VerifiedUpdate], loaded: TargetDocument) -> list[VerifiedUpdate]:
        new = []
        path, session = loaded.ref.path, self._batch.session_id
        for item in checked:
            why = past_decisions.known_reason(item.update, path, session, self._standing, self._job.decided)
            least = self._job.thresholds.get(path, {}).get(item.update.kind.value, 0.0)
            standing, rest = past_decisions.match_open_proposal(item.update, path, self._standing)
            if standing is not None and gives_up(item.update, standing):
                self.report.taken_back[standing.id] = take_back(standing, item.update)
                self.report.dropped.append(TAKES_BACK)
                continue
            by = standing or past_decisions.decision_against(item.update, path, session, self._job.decided)
            if by is not None and by.id:
                self.report.supported.append(FurtherEvidence(by.id, self.report.evidence_of(item.update)))
            if why:
                self.report.dropped.append(why)
            elif item.update.confidence < least:
                what = "skill" if loaded.ref.kind is TargetKind.SKILL else "file"
                self.report.keep(item.update, f"you have rejected similar edits to this {what}", loaded.ref)
            else:
                new.append(replace(item, update=replace(item.update, change=rest)))
        return new

    def _compose_edit(
        self, judge: Judge, loaded: TargetDocument, checked: Sequence[VerifiedUpdate]
    ) -> tuple[Proposal, CheckedEdit] | None:
        try:
            composed = judge.edit(loaded, checked)
        except RetryError:
            raise
        except SkilldError as error:
            self.report.refused.append(str(error))
            for item in checked:
                if judge.is_harmful(loaded, item, error):
                    continue
                if isinstance(error, BadReplyError):
                    self._unanswered.append((item.update, str(error), loaded.ref))
                else:
                    self.report.keep(item.update, str(error), loaded.ref)
        else:
            for item in composed.left_out:
                self.report.keep(item.update, NO_EDIT_REASON, loaded.ref)
            return self._build_proposal(loaded, composed), composed
        return None

    def _add_contradictions(
        self, proposal: Proposal, composed: CheckedEdit, loaded: TargetDocument, made: Container[str]
    ) -> list[Proposal]:
        """Return a proposal with the contradicting lines that the agent loads, and proposals that change those.

        `made` are the files that already have proposals of this batch.
        """
        around = self._places or loaded_places(self._job, self._skills)
        used = {used.path for used in self._batch.skills}
        unedited = {one.ref.path for one in around.overlaid.values()}
        skills = [one for one in self._skills if one.ref.path in used | unedited and one is not loaded]
        typed = self._typed_text(proposal)
        proposal = replace(proposal, flags=(*proposal.flags, *around.repeat_flags(proposal, self._standing)))
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
        """Whether no update of a proposal was proposed for its file, or decided, before."""
        session, job = self._batch.session_id, self._job
        return not any(
            past_decisions.known_reason(update, proposal.path, session, self._standing, job.decided)
            for update in proposal.updates
        )

    def _stage(self, proposal: Proposal) -> RetryError | None:
        """Stage a proposal; return an error to retry, so that it does not prevent other proposals."""
        from skilld.proposals.staging import stage  # git takes 0.15 s to load, and most batches need none

        try:
            if not stage(proposal, self._standing, self._staged, self._job.closed, alone=True, of_batch=True):
                self.report.dropped.append("the file or an open proposal already says this")
        except RetryError as error:
            return self._postpone(proposal, error)
        except OSError as error:
            return self._postpone(proposal, RetryError("Could not write the proposal", error.strerror or str(error)))
        except SkilldError as error:
            self.report.refused.append(str(error))
            passing = isinstance(error, RefusedError | GitMissingError)  # otherwise the edit no longer fits the skill
            if passing:
                self.report.report_obstacle(Cause.REPOSITORY, proposal.path, error.remedy)
            self.report.learnings += proposal_learnings(proposal, str(error), for_now=passing)
        return None

    def _postpone(self, proposal: Proposal, error: RetryError) -> RetryError:
        self.report.report_obstacle(Cause.REPOSITORY, proposal.path, error.remedy)
        self.report.if_given_up += proposal_learnings(proposal, str(error), for_now=True)
        return error

    def _build_proposal(self, loaded: TargetDocument, composed: CheckedEdit) -> Proposal:
        updates = [item.update for item in composed.checked]
        used = [] if self._places else why_not_in_skill(loaded, self._skills)
        return Proposal(
            # The same batch always gives the same proposal id.
            id=hashlib.sha256(f"{self._batch.batch}\n{loaded.ref.path}".encode()).hexdigest()[:8],
            batch_id=self._batch.batch,
            state=State.OPEN,
            skill=loaded.ref.name,
            path=loaded.ref.path,
            operations=composed.operations,
            summary=summarize(composed, loaded, self._redact),
            reason=join_sentences([*(update.reason for update in updates), *used]),
            kind=updates[0].kind,
            evidence=(*map(self.report.evidence_of, updates), *self._same.evidence(updates)),
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

    def _find_places(self) -> None:
        """Judge the batch against the files that its agent loads."""
        found = self._places = find_places(self._job, self._messages)
        if not found.files:
            return
        self._skills = [*found.files, *found.overlaid.values()]
        self._backend = make_backend(self._job.backend)
        if self._backend.name == OFFLINE:
            overlaid = [one.doc for one in found.overlaid.values()]
            refs = {one.doc.number: one.ref for one in found.files}
            self._backend = RoutedBackend(refs, overlaid, found.subjects, self._job.kept)

    def _file_of_kind(self, named: TargetDocument, kind: TargetKind) -> TargetDocument | None:
        """Return the file of a kind for words that were assigned to `named` by mistake, None if there is none.

        Words on how the agent talks to the person belong in a personal file; `named` may be one.
        """
        if kind is TargetKind.PERSONAL and is_personal_file(named.ref, self._batch.cwd):
            return named
        own = next((one for one in self._skills if one.ref.kind is kind), None)
        if own is None and self._places is None:
            own = find_file_of_kind(self._job, kind, len(self._skills) + 1)
            self._skills += [own] if own else []
        return own

    def _target_of(self, update: Update) -> SkillRef | None:
        return next((loaded.ref for loaded in self._skills if loaded.doc.number == update.skill), None)

    def _instructions(self) -> str:
        """Return the other instructions that the agent loads."""
        if self._places is not None:
            return self._places.instructions
        return standing_instructions(self._batch.agent, self._batch.cwd, self._batch.home, self._batch.variables)

    def _ready_updates(self, checked: Sequence[VerifiedUpdate], loaded: TargetDocument) -> list[VerifiedUpdate]:
        """Return what may be proposed now: a file is created for what was said in two sessions or ordered."""
        ruling = loaded.ref.kind is TargetKind.RULES and self._places is not None and self._places.has_project_file
        if not loaded.ref.absent or ruling:
            return list(checked)
        texts = {message.turn: message.text for message in self._messages}
        ripe = []
        for item in checked:
            if self._same.evidence([item.update]) or ordered_file(texts[item.update.turn]):
                ripe.append(item)
            else:
                self.report.keep(item.update, self._not_ready_reason(loaded.ref), loaded.ref)
        return ripe

    def _not_ready_reason(self, ref: SkillRef) -> str:
        unusable = [f"{name} cannot be edited: {why}" for name, why in self._unreadable]
        unusable += [f"{item.name} cannot be edited: {item.why}" for item in self._batch.unusable]
        return "; ".join([*unusable[:1], (self._places or loaded_places(self._job, [])).no_file_reason(ref)])

    def _note_already_said(self, update: Update, line: str) -> None:
        """Note that a loaded `line` already says an update; if the agent does not read that far, keep the update."""
        places = self._places or loaded_places(self._job, self._skills)
        if unread := places.unread_target(line):
            self.report.keep(update, unread[1], unread[0])
        elif found := places.describe_line(line, self._redact):
            self.report.notes.append(self._build_note(update, *found))

    def _build_note(self, update: Update, ref: SkillRef, note: str) -> Proposal:
        file = TargetDocument(ref, b"", SkillDoc(0, ref.name, ref.path, ""))
        blank = self._build_proposal(file, CheckedEdit((), b"", (), (VerifiedUpdate(update),)))
        name = hashlib.sha256(f"{blank.id}\n{update.change}".encode()).hexdigest()[:8]
        return replace(blank, id=name, state=State.SAID, note=note, decided_at=self._job.closed_at)

    def _turn_key(self, turn: int) -> str:
        return self._batch.turns[turn - 1]  # as conversation.read_batch numbers them

    def result(self) -> BatchResult:
        """Return the result so far."""
        usage = self._backend.usage + self._same.usage - self._told
        return self.report.result(self._messages, self._staged, self._backend.name, usage)
