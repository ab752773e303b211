"""Finds lines the agent loads that contradict a proposal, and the edits that make them agree.

Words for one project change no file that holds beyond it, and words for some paths contradict nothing but rules for
paths: there a line that says otherwise is the rule to which they are the exception.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from posixpath import basename

from skilld.classify.contradiction import topic_stems
from skilld.classify.conversation_style import is_about_conversation, is_about_project
from skilld.classify.offline.placement import replacement
from skilld.classify.verify import VerifiedUpdate
from skilld.context import Context, LoadedFile, Scope
from skilld.context.contradictions import Rule, contradicted_rules, rules
from skilld.context.values import within
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.jobs.placing import JobPlaces
from skilld.pipeline.documents import TargetDocument, load_skills
from skilld.pipeline.edits import check
from skilld.targets.places import NAMES, file_refusal
from skilld.targets.scopes import scopes
from skilld.text import cut, fold
from skilld.types import ContradictingLine, Kind, Operation, SkillRef, TargetKind, Update

_MAX = 6  # lines that are named
_MAX_LENGTH = 300  # characters of a line that is named
_NEVER = {Scope.MANAGED: "a managed policy file", Scope.MEMORY: "the agent's own memory"}


@dataclass(frozen=True, slots=True)
class Contradictions:
    """The lines that say the opposite, and by file the operations that change what of them may be changed."""

    conflicts: tuple[ContradictingLine, ...] = ()
    edits: tuple[tuple[SkillRef, tuple[Operation, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that is compared; `ref` is what may be edited of it, if anything."""

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
    """Return what all that is loaded, and the other `skills` in use, say against these updates of `target`.

    `after` is the text of that with its edit: what it says against itself then is named, too.
    """
    updates = [item.update for item in checked]
    conflicts: list[ContradictingLine] = []
    edits: list[tuple[SkillRef, tuple[Operation, ...]]] = []
    beyond = not any(is_about_project(update.quote) for update in updates)
    talk = any(
        is_about_conversation(update.change) for update in updates
    )  # one person's affair: it changes no team's file
    stays = {rule.text for rule in rules(after)}
    left = tuple(rule for rule in _against(updates, target.doc.text, 1) if rule.text in stays)
    own = _Text(target.ref.path, left, "an uncommitted line in this file", None)
    for text in (own, *_skills(skills, updates), *_files(around, target.ref, updates)):
        conflicts += [
            ContradictingLine(text.path, rule.line, cut(redact(fold(rule.text)), _MAX_LENGTH), text.whose)
            for rule in text.against
        ]
        personal = text.ref is not None and text.ref.kind is TargetKind.PERSONAL
        if text.ref and text.ref.kind in allowed and (beyond if personal else not talk):
            operations = _agreeing(updates, text.ref, typed, redact)
            edits += [(text.ref, operations)] if operations else []
    return Contradictions(tuple(conflicts[:_MAX]), tuple(edits))


def _against(updates: Sequence[Update], text: str, first: int) -> tuple[Rule, ...]:
    """Return the rules of a text that updates contradict; one that is for some paths is an exception to them."""
    found = (rule for update in updates for rule in contradicted_rules(update.change, text, first))
    return tuple(rule for rule in found if not scopes(rule.words))


def _skills(skills: Sequence[TargetDocument], updates: Sequence[Update]) -> Iterator[_Text]:
    for one in skills:
        against = _against(updates, one.doc.text, 1)
        yield _Text(one.ref.path, against, "another skill in use", one.ref if against else None)


def _files(around: JobPlaces, target: SkillRef, updates: Sequence[Update]) -> Iterator[_Text]:
    context, own = around.places.context, not around.places.why_none
    general = [update for update in updates if not scopes(update.quote)]
    for file in around.loaded:
        about = updates if file.paths else general
        against = tuple(rule for segment in file.segments for rule in _against(about, segment.text, segment.line))
        if against and file.real != target.path:
            yield _Text(file.path, against, _whose(file, context), _editable(file, context, own=own))


def _whose(file: LoadedFile, context: Context) -> str:
    """Return how a file is named where none of its words may be told."""
    if file.scope in _NEVER:
        return _NEVER[file.scope]
    inside, name = context.is_inside(file), basename(file.path)
    if file.scope is Scope.LOCAL:
        return "your own instruction file for this project"
    if inside:
        return "an uncommitted instruction file"
    if file.scope is Scope.PERSONAL:
        return f"your personal {name}" if name in NAMES else "one of your personal files"
    return "one of your personal rules" if file.scope is Scope.RULE else "an instruction file outside this project"


def _editable(file: LoadedFile, context: Context, *, own: bool) -> SkillRef | None:
    """Return the file as a target where it may be edited: as any place, and not what other text files are for."""
    if file.scope in _NEVER or not file.path.endswith((".md", ".mdc")) or file_refusal(file.real):
        return None
    if context.is_inside(file):
        kind = TargetKind.RULES if file.scope is Scope.RULE else TargetKind.INSTRUCTIONS
        name = file.path[len(context.root) + 1 :] if within(file.path, context.root) else basename(file.path)
        return SkillRef(name, file.real, kind=kind, agents=(context.agent,)) if own else None
    if file.scope is not Scope.PERSONAL or file.via:
        return None
    return SkillRef(basename(file.path), file.real, kind=TargetKind.PERSONAL, agents=(context.agent,))


def _agreeing(
    updates: Sequence[Update], ref: SkillRef, typed: str, redact: Callable[[str], str]
) -> tuple[Operation, ...]:
    """Return the operations after which a file says what the updates say, as far as that is sure, line by line."""
    loaded, _ = load_skills([ref])
    operations: list[Operation] = []
    for update in updates if loaded else ():
        for _ in range(_MAX):
            try:
                text = apply(loaded[0].data, operations) if operations else loaded[0].data
                now = replace(loaded[0], data=text, doc=replace(loaded[0].doc, text=text.decode("utf-8-sig")))
                step = replacement(update.change, now.doc.text)
                if step is None or not _is_one_in_other(topic_stems(update.change), topic_stems(step.anchor)):
                    break
                check([step], [VerifiedUpdate(replace(update, kind=Kind.CHANGE_STEP))], now, typed, redact)
                apply(loaded[0].data, [*operations, step])
            except SkilldError:
                break
            operations.append(step)
    return tuple(operations)


def _is_one_in_other(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether an old line says nothing besides, or all of it stays but for the word that differs."""
    return theirs <= mine or mine <= theirs
