"""Finds the files to judge a batch against if it has no editable skill."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from pathlib import Path
from posixpath import basename, dirname

from skilld.agents import ADAPTERS
from skilld.classify.conversation_style import is_about_project
from skilld.classify.offline.placement import target_section
from skilld.classify.said_already import is_same_change
from skilld.classify.verify import NO_FILE_FITS, Verdict, VerifiedUpdate
from skilld.context import NATIVE_NAMES, Context, Kind, LoadedFile, Scope
from skilld.context.contradictions import rules
from skilld.context.values import within
from skilld.git.top import find_top
from skilld.ingest.discover import skill_places
from skilld.pipeline.documents import TargetDocument, check_configs, is_own_file, load_documents
from skilld.protocol import AnalyseBatch, BatchJob
from skilld.skills import Unusable, find, read
from skilld.skills.find import FILE
from skilld.store.learnings import NO_FILE_REASON
from skilld.store.proposals import twin_flag
from skilld.targets.find import (
    NO_PROJECT_REASON,
    SHARED_NAME,
    TargetFiles,
    WorkingSession,
    find_targets,
    project_refusal,
)
from skilld.targets.route import choose_target, ordered_files
from skilld.targets.scopes import find_bare_scopes, find_scopes
from skilld.targets.session_work import session_work
from skilld.text import Redact, fold, truncate
from skilld.types import Kind as Change
from skilld.types import Message, Proposal, SkillDoc, SkillRef, TargetKind, Update
from skilld.values import value_class
from skilld.words import content_stems, is_about

# Many skills are named like common things: "write notes in the past tense" does not mention the skill "notes".
_SKILL_MENTIONS = ("using {}", "skill {}", "{} skill", "`{}`", "/{}")
_MAX_LINES = 100  # of an item, a paragraph or a table
_MAX_NAMED = 2  # lines in flags
_MAX_SHOWN = 200  # characters of a line in a remark
_SENTENCE = re.compile(r"[.!?;\n。！？]+")
_KIND_BY_SCOPE = {
    Scope.RULE: TargetKind.RULES,
    Scope.SKILL: TargetKind.SKILL,
    Scope.PERSONAL: TargetKind.PERSONAL,
    Scope.MANAGED: TargetKind.PERSONAL,
    Scope.MEMORY: TargetKind.PERSONAL,
}


@value_class
class JobPlaces:
    """The files that a batch may go to, and all that the agent loads.

    `overlaid` are the skills in use that are never edited, by number: what is said about one goes to a file and names
    the skill. `subjects` are the stems of unused skills, by path.
    """

    files: list[TargetDocument]
    places: TargetFiles
    home: str
    overlaid: Mapping[int, TargetDocument] = field(default_factory=dict)
    subjects: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def instructions(self) -> str:
        """What the agent loads besides the files that may be edited."""
        own = {one.ref.path for one in self.files}
        return "\n\n".join(file.text for file in self.loaded if file.real not in own)

    @property
    def has_project_file(self) -> bool:
        """Whether the project has instructions, so that a rules file may be added at once."""
        project = {TargetKind.INSTRUCTIONS, TargetKind.RULES}
        return any(one.ref.kind in project and not one.ref.absent for one in self.files)

    @property
    def loaded(self) -> list[LoadedFile]:
        """The person's own files that the agent loads, without skills."""
        context = self.places.context
        entered = [file for file in context.files if file.entered and file.scope is not Scope.SKILL]
        return [file for file in entered if is_own_file(file, context, self.home)]

    def redirect(self, item: VerifiedUpdate, typed: str) -> VerifiedUpdate:
        """Redirect an update of a skill that is never edited, or one for all files that would create a rule.

        What is for somebody else's project goes to no file, although a judge may be given only the personal one.
        """
        update, skill = item.update, self.overlaid.get(item.update.skill or 0)
        named = next((one.ref for one in self.files if one.doc.number == update.skill), None)
        if named and named.kind is TargetKind.PERSONAL and self._is_for_a_foreign_project(update, named):
            return replace(item, update=replace(update, skill=None))
        if skill is None and not (named and named.absent and named.patterns):
            return item
        said, change = typed if skill else f"{update.quote}\n{update.change}", update.change
        ref = choose_target(said, [one.ref for one in self.files if one.ref.kind is not TargetKind.SKILL])
        doc = next((one.doc for one in self.files if one.ref is ref), None)
        if skill is None and (doc is None or ref is named):
            return item
        name = skill.ref.name if skill else ""
        if skill and not any(form.format(name).casefold() in change.casefold() for form in _SKILL_MENTIONS):
            change = f"When using {name}: {change[:1].lower()}{change[1:]}"
        section = target_section(change, doc.text, typed).heading if doc is not None and doc.text.strip() else ""
        number = None if doc is None else doc.number
        return replace(item, update=replace(update, skill=number, section=section, change=change))

    def _is_for_a_foreign_project(self, update: Update, personal: SkillRef) -> bool:
        """Whether an update is said of a project that is not the person's; of a personal line, only if it says so."""
        if self.places.why_none in {"", NO_PROJECT_REASON}:
            return False
        if update.kind in {Change.CHANGE_STEP, Change.REMOVE_STEP}:
            return is_about_project(update.quote)
        return choose_target(f"{update.quote}\n{update.change}", [personal]) is None

    def repeat_flags(self, made: Proposal, standing: Sequence[Proposal]) -> list[str]:
        """Return flags for the lines, and the open proposals for other files, that a proposal may repeat."""
        return [*self._line_flags(made.updates), *self._twin_flags(made, standing)]

    def _twin_flags(self, made: Proposal, standing: Sequence[Proposal]) -> list[str]:
        """Return flags for open proposals that ask for the same in another file of the project or the person."""
        context = self.places.context
        near = [
            one
            for one in standing
            if one.path != made.path
            and (one.target is TargetKind.PERSONAL or (context.root and within(one.path, context.root)))
            and (not one.agents or context.agent in one.agents)
        ]
        asked = [update.change for update in made.updates]
        found = (
            twin_flag(one.id, f"{one.skill}{self._other_repository(one)}")
            for one in near
            if any(is_same_change(change, update.change) for change in asked for update in one.updates)
        )
        return [*islice(found, _MAX_NAMED)]

    def _other_repository(self, one: Proposal) -> str:
        """Name the repository of a proposal that is in another one than the project's, below its folder."""
        top = one.path.removesuffix(f"/{one.relpath}")
        nested = one.relpath and one.repo == top and top != self.places.context.root
        return f" of {Path(top).name}" if nested and one.target is not TargetKind.PERSONAL else ""

    def _line_flags(self, updates: Sequence[Update]) -> list[str]:
        """Return flags for lines that the added updates may repeat, using the test that surveys use for repeats.

        A survey counts the turn as a repeat of such a line, so a proposal from the same turn must name it.
        """
        # Its tables take 0.1 s, and most batches need none.
        from skilld.classify.rule_repeats import description, repeats_rule
        from skilld.classify.rule_texts import describes

        texts = [(one.ref.name, 1, one.doc.text) for one in self.files if one.ref.kind is TargetKind.SKILL]
        for file in self.loaded:
            texts += [(self._name_of(file), part.line, part.text) for part in file.segments]
        added = [one for one in updates if one.kind not in {Change.CHANGE_STEP, Change.REMOVE_STEP}]
        described = {description(text) for _, _, text in texts}
        every = ((name, rule) for name, first, text in texts for rule in rules(text, first))
        lines = [(name, rule) for name, rule in every if rule.words not in described and not describes(rule.words)]
        found = (
            f"{name}:{rule.line}" for name, rule in lines if any(repeats_rule(one.quote, rule.words) for one in added)
        )
        return [f"{place} may already say this" for place in islice(dict.fromkeys(found), _MAX_NAMED)]

    def unread_target(self, line: str) -> tuple[SkillRef, str] | None:
        """Return the file of a line beyond what the agent reads, and the reason, None if the agent reads it."""
        found = self.find_line(line)
        context = self.places.context
        cut = {one.path for one in context.of(Kind.CUT)}
        for file in context.files if found else ():
            if found and file.real == found[0].path and file.path in cut and found[1] > _last_line(file):
                title = ADAPTERS[context.agent].INFO.title
                return found[0], f"{found[0].name}:{found[1]} says this, but {title} stops reading before that line"
        return None

    def describe_line(self, line: str, redact: Redact) -> tuple[SkillRef, str] | None:
        """Return the file that has a line, and a remark with its place and its words, without secrets."""
        if found := self.find_line(line):
            ref, number = found
            said = truncate(fold(redact(line)).lstrip("-*+ "), _MAX_SHOWN)
            return ref, f"{ref.name}:{number} already says this: {said}"
        return None

    def find_line(self, line: str) -> tuple[SkillRef, int] | None:
        """Return the file that has a line, or an item of several lines, and its number from 1."""
        for one in (*self.files, *self.overlaid.values()):
            if number := _find_line_number(line, one.doc.text):
                return one.ref, number
        for file in self.loaded:
            for segment in file.segments:
                if number := _find_line_number(line, segment.text, segment.line):
                    kind = _KIND_BY_SCOPE.get(file.scope, TargetKind.INSTRUCTIONS)
                    return SkillRef(self._name_of(file), file.real, kind=kind), number
        return None

    def no_file_reason(self, ref: SkillRef) -> str:
        """Return why what was said once waits for a missing file, and which file of others the agent does not load."""
        why = f"{NO_FILE_REASON} {ref.name} yet"
        context, shared = self.places.context, Path(ref.path).with_name(SHARED_NAME)
        is_loaded = any(Path(file.path) == shared for file in context.files)
        if is_loaded or NATIVE_NAMES.get(context.agent) != ref.name or not shared.is_file():
            return why
        title = ADAPTERS[context.agent].INFO.title
        return f"{why}; {title} loads {SHARED_NAME} here only from a {ref.name} with the line @{SHARED_NAME}"

    def _name_of(self, file: LoadedFile) -> str:
        """Return a file's path for people: below the project, or with ~ for the home."""
        root = self.places.context.root
        if within(file.path, root):
            return (file.real if within(file.real, root) else file.path)[len(root) + 1 :]
        return f"~/{file.path[len(self.home) + 1 :]}" if within(file.path, self.home) else file.path


def redirect_all(verdict: Verdict, places: JobPlaces | None, messages: Sequence[Message]) -> Verdict:
    """Return the verdict with the updates of skills that are never edited redirected to other files."""
    if places is None:
        return verdict
    texts = {message.turn: message.text for message in messages}
    moved = [places.redirect(item, texts[item.update.turn]) for item in verdict.proposed]
    kept = [(item.update, NO_FILE_FITS) for item in moved if item.update.skill is None]
    return replace(
        verdict,
        proposed=tuple(item for item in moved if item.update.skill is not None),
        learned=(*verdict.learned, *kept),
    )


def _last_line(file: LoadedFile) -> int:
    return max((part.line + part.text.count("\n") for part in file.segments), default=0)


def _with_unseen_lines(one: TargetDocument, context: Context) -> TargetDocument:
    """Return a file with the lines that its agent skips, except those cut off by a limit."""
    file = next((file for file in context.files if file.real == one.ref.path and file.scope is not Scope.SKILL), None)
    if file is None:
        return one
    is_cut = any(surprise.path == file.path for surprise in context.of(Kind.CUT))
    sent = {line.strip() for part in file.segments for line in part.text.splitlines()}
    lines = one.doc.text.splitlines()[: _last_line(file) if is_cut else None]
    unseen = tuple(sorted({line.strip() for line in lines} - sent - {""}))
    return replace(one, doc=replace(one.doc, unseen=unseen))


def _find_line_number(words: str, text: str, first: int = 1) -> int:
    """Return the number of the line on which words begin, which may continue on the next lines; 0 if none."""
    lines = [line.strip() for line in text.splitlines()]
    for place, line in enumerate(lines):
        at = " ".join(lines[place : place + _MAX_LINES]).find(words.strip())
        if 0 <= at < len(line):
            return first + place
    return 0


def loaded_places(job: AnalyseBatch, skills: Sequence[TargetDocument]) -> JobPlaces:
    """Return what the agent of a session with skills in use loads; none of it is a target."""
    batch = job.batch
    if not _has_safe_folder(batch):
        nothing = Context(batch.agent, "", "unknown", "")
        found = TargetFiles((), nothing, "skilld does not know which folder the session ran in")
    else:
        session = WorkingSession(batch.agent, Path(batch.cwd or ""), Path(batch.home), batch.variables)
        context = session.context()
        found = TargetFiles((), context, project_refusal(session, context) or "")
    return JobPlaces(list(skills), found, batch.home)


def is_personal_file(ref: SkillRef, cwd: str | None) -> bool:
    """Whether a file is personal: for all projects, or a skill outside the session's project."""
    here = Path(cwd or "/")
    root = find_top(here) or here
    theirs = ref.kind is TargetKind.SKILL and not Path(ref.path).is_relative_to(root)
    return theirs or ref.kind is TargetKind.PERSONAL


def find_file_of_kind(job: AnalyseBatch, kind: TargetKind, number: int) -> TargetDocument | None:
    """Return the file of a kind for the session's project or person, with this number."""
    if not _has_safe_folder(job.batch) or kind not in job.targets:
        return None
    loaded, _ = load_documents(find_targets(_session_of(job), [kind]).refs, number)
    return next(iter(loaded), None)


def _session_of(job: AnalyseBatch) -> WorkingSession:
    batch = job.batch
    work = session_work(batch.agent, batch.session_id, batch.sources)
    return WorkingSession(batch.agent, Path(batch.cwd or ""), Path(batch.home), batch.variables, work, job.agents)


def _has_safe_folder(batch: BatchJob) -> bool:
    cwd = Path(batch.cwd or "")
    return cwd.is_absolute() and ".." not in cwd.parts and Path(batch.home).is_absolute()


def why_not_in_skill(file: TargetDocument, documents: Sequence[TargetDocument]) -> list[str]:
    """Return why an edit of the project's file is not one of the skill in use, which is the first of `documents`."""
    used = documents[0].ref
    if file.ref.kind is not TargetKind.INSTRUCTIONS or used.kind is not TargetKind.SKILL:
        return []
    return [f"The skill in use, {used.name}, is not about this."]


def waits_for_skill(batch: BatchJob) -> bool:
    """Whether a skill in use cannot be edited for now: its file is invalid or not checked out."""
    files = [Path(item.path) for item in batch.unusable if Path(item.path).name == FILE]
    return any(_exists(file) or find_top(file.parent) is not None for file in files)


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises for impossible names


def find_places(job: AnalyseBatch, messages: Sequence[Message]) -> JobPlaces:
    """Return the places for a job's words; none if its session's folder is unknown.

    Raises ProjectConfigError if the configuration of a project around one of them is invalid.
    """
    batch = job.batch
    if not _has_safe_folder(batch):
        return loaded_places(job, [])
    session = _session_of(job)
    typed = [one.text for one in messages if one.by_person]
    named = [name for text in typed for name in ordered_files(text)]
    scopes = [scope for text in typed for scope in (*find_scopes(text), *find_bare_scopes(text))]
    found = find_targets(session, job.targets, scopes, named)
    said = [text for one in typed for text in _SENTENCE.split(one)]
    subjects = _skill_subjects(session, found, said) if TargetKind.SKILL in job.targets else {}
    refs = [*subjects, *found.refs]
    check_configs(refs)
    files = [_with_unseen_lines(one, found.context) for one in load_documents(refs)[0]]
    overlaid = _overlaid_skills(batch.unusable, len(files))
    return JobPlaces(files, found, batch.home, overlaid, {ref.path: stems for ref, stems in subjects.items()})


def _skill_subjects(session: WorkingSession, found: TargetFiles, said: Sequence[str]) -> dict[SkillRef, frozenset[str]]:
    """Return the skills of the project and the person whose subject came up, with its stems."""
    where = skill_places(session.agent, session.home, session.environment)
    subjects: dict[SkillRef, frozenset[str]] = {}
    for file in found.context.files if not found.why_none else ():
        name = basename(dirname(file.path))
        stems = content_stems(f"{name} {file.text}") if file.scope is Scope.SKILL else frozenset()
        if any(is_about(text, stems) for text in said):
            skill = find(name, file.path, str(session.cwd), where)
            if isinstance(skill, SkillRef):
                subjects[skill] = stems
    return subjects


def _overlaid_skills(unusable: Sequence[Unusable], numbers: int) -> dict[int, TargetDocument]:
    found: dict[int, TargetDocument] = {}
    for item in unusable:
        ref, number = SkillRef(item.name, item.text_path), numbers + len(found) + 1
        try:
            data = read(ref)
            found[number] = TargetDocument(ref, data, SkillDoc(number, ref.name, ref.path, data.decode("utf-8-sig")))
        except (OSError, ValueError):
            continue
    return found
