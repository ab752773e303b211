"""Finds loaded lines that contradict a proposal, and the edits that make them agree.

Words about one project change no file that applies beyond it. Words for some files contradict only rules for those:
a general line that says otherwise is the rule to which they are an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from posixpath import basename

from skilld.classify.contradiction import topic_stems
from skilld.classify.conversation_style import is_about_conversation, is_about_project
from skilld.classify.offline.placement import replacement
from skilld.classify.verify import VerifiedUpdate
from skilld.context import Context, LoadedFile, Scope
from skilld.context.contradictions import Rule, rules
from skilld.context.values import within
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.jobs.placing import JobPlaces
from skilld.pipeline.documents import TargetDocument, load_documents
from skilld.pipeline.edits import check_edit
from skilld.targets.contradicted import contradicted_rules
from skilld.targets.find import INSTRUCTION_NAMES, file_refusal
from skilld.text import fold, truncate
from skilld.types import ContradictingLine, Kind, Op, Operation, SkillRef, TargetKind, Update
from skilld.values import value_class

_MAX_CONFLICTS = 6
_MAX_LENGTH = 300  # characters of a reported line
_NEVER_EDITED = {Scope.MANAGED: "a managed policy file", Scope.MEMORY: "the agent's own memory"}


@value_class
class Contradictions:
    """The contradicting lines, and the operations by file that change those that may be changed."""

    conflicts: tuple[ContradictingLine, ...] = ()
    edits: tuple[tuple[SkillRef, tuple[Operation, ...]], ...] = ()


@value_class
class _ComparedText:
    """A text with its contradicting rules; `ref` is set if it may be edited."""

    path: str
    against: tuple[Rule, ...]
    whose: str
    ref: SkillRef | None


def find_contradictions(
    checked: Sequence[VerifiedUpdate],
    target: TargetDocument,
    after: str,
    around: JobPlaces,
    skills: Sequence[TargetDocument],
    *,
    allowed: Collection[TargetKind],
    typed: str,
    redact: Callable[[str], str],
) -> Contradictions:
    """Return the lines in loaded files and other `skills` in use that contradict these updates of `target`.

    `after` is the target's text with its edit: contradictions that remain in it are reported, too.
    """
    updates = [item.update for item in checked]
    conflicts: list[ContradictingLine] = []
    edits: list[tuple[SkillRef, tuple[Operation, ...]]] = []
    beyond = not any(is_about_project(update.quote) for update in updates)
    talk = any(is_about_conversation(update.change) for update in updates)  # personal: it changes no shared file
    stays = {rule.text for rule in rules(after)}
    left = tuple(rule for rule in contradicted_rules(updates, target.doc.text, 1) if rule.text in stays)
    own = _ComparedText(target.ref.path, left, "an uncommitted line in this file", None)
    for text in (own, *_skill_texts(skills, updates), *_file_texts(around, target.ref, updates)):
        conflicts += [
            ContradictingLine(text.path, rule.line, truncate(redact(fold(rule.text)), _MAX_LENGTH), text.whose)
            for rule in text.against
        ]
        personal = text.ref is not None and text.ref.kind is TargetKind.PERSONAL
        if text.ref and text.ref.kind in allowed and (beyond if personal else not talk):
            operations = _agreeing_operations(updates, text, typed=typed, redact=redact, once=bool(target.ref.patterns))
            edits += [(text.ref, operations)] if operations else []
    return Contradictions(tuple(conflicts[:_MAX_CONFLICTS]), tuple(edits))


def _skill_texts(skills: Sequence[TargetDocument], updates: Sequence[Update]) -> Iterator[_ComparedText]:
    for one in skills:
        against = contradicted_rules(updates, one.doc.text, 1)
        yield _ComparedText(one.ref.path, against, "another skill in use", one.ref if against else None)


def _file_texts(around: JobPlaces, target: SkillRef, updates: Sequence[Update]) -> Iterator[_ComparedText]:
    context, own = around.places.context, not around.places.why_none
    for file in around.loaded:
        against = tuple(
            rule
            for segment in file.segments
            for rule in contradicted_rules(updates, segment.text, segment.line, everywhere=not file.paths)
        )
        if against and file.real != target.path:
            yield _ComparedText(
                file.path, against, _describe_owner(file, context), _editable_ref(file, context, own=own)
            )


def _describe_owner(file: LoadedFile, context: Context) -> str:
    """Describe a file without revealing its name or words."""
    if file.scope in _NEVER_EDITED:
        return _NEVER_EDITED[file.scope]
    inside, name = context.is_inside(file), basename(file.path)
    if file.scope is Scope.LOCAL:
        return "your own instruction file for this project"
    if inside:
        return "an uncommitted instruction file"
    if file.scope is Scope.PERSONAL:
        return f"your personal {name}" if name in INSTRUCTION_NAMES else "one of your personal files"
    return "one of your personal rules" if file.scope is Scope.RULE else "an instruction file outside this project"


def _editable_ref(file: LoadedFile, context: Context, *, own: bool) -> SkillRef | None:
    """Return the file as a target if it may be edited, None otherwise."""
    if file.scope in _NEVER_EDITED or not file.path.endswith((".md", ".mdc")) or file_refusal(file.real):
        return None
    if context.is_inside(file):
        kind = TargetKind.RULES if file.scope is Scope.RULE else TargetKind.INSTRUCTIONS
        name = file.path[len(context.root) + 1 :] if within(file.path, context.root) else basename(file.path)
        return SkillRef(name, file.real, kind=kind, agents=(context.agent,)) if own else None
    if file.scope is not Scope.PERSONAL or file.via:
        return None
    return SkillRef(basename(file.path), file.real, kind=TargetKind.PERSONAL, agents=(context.agent,))


def _agreeing_operations(
    updates: Sequence[Update], text: _ComparedText, *, typed: str, redact: Callable[[str], str], once: bool
) -> tuple[Operation, ...]:
    """Return the operations that make a file agree with the updates, line by line, where that is certain.

    With `once`, a line that would say the same as the target goes, as a rule file for some paths is enough for them.
    """
    loaded, _ = load_documents([text.ref] if text.ref else [])
    operations: list[Operation] = []
    against = {fold(rule.text) for rule in text.against}
    for update in updates if loaded else ():
        for _ in range(_MAX_CONFLICTS):
            try:
                data = apply(loaded[0].data, operations) if operations else loaded[0].data
                now = replace(loaded[0], data=data, doc=replace(loaded[0].doc, text=data.decode("utf-8-sig")))
                step = replacement(update.change, now.doc.text)
                if step is None or fold(step.anchor) not in against:
                    break
                mine, theirs = topic_stems(update.change), topic_stems(step.anchor)
                if not (theirs <= mine or mine <= theirs):  # the old line also says something else
                    break
                kind = Kind.CHANGE_STEP
                if once and fold(update.change.rstrip(".")) in fold(step.text):
                    step, kind = replace(step, op=Op.DELETE, text=""), Kind.REMOVE_STEP
                check_edit([step], [VerifiedUpdate(replace(update, kind=kind))], now, typed, redact)
                apply(loaded[0].data, [*operations, step])
            except SkilldError:
                break
            operations.append(step)
    return tuple(operations)
