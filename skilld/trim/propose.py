"""Selects the files that may be trimmed, and turns cuts into proposals that respect earlier decisions. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from pathlib import Path

from skilld.context import Context, LoadedFile, LoadTime, Scope
from skilld.errors import SkilldError
from skilld.files import below_home
from skilld.git.line_diff import hunks
from skilld.git.state import is_own_project
from skilld.proposals.model import TRIM_PREFIX
from skilld.skills import Skill, Source, opt_out
from skilld.targets.find import WorkingSession, file_refusal, project_refusal
from skilld.text import pluralize
from skilld.trim.cuts import MODEL_REASONS, NOTHING, Cut, CutReason
from skilld.types import Kind, Op, Operation, Proposal, SkillRef, State, TargetKind
from skilld.values import value_class

_KINDS = {
    Scope.PROJECT: TargetKind.INSTRUCTIONS,
    Scope.NESTED: TargetKind.INSTRUCTIONS,
    Scope.RULE: TargetKind.RULES,
    Scope.PERSONAL: TargetKind.PERSONAL,
}


@value_class
class TrimmableFile:
    """A file, and why it may not be trimmed (empty if it may); `loaded_with` are files loaded wherever it is loaded."""

    ref: SkillRef
    why_not: str = ""
    loaded_with: tuple[str, ...] = ()


def instruction_files(contexts: Sequence[Context], home: Path, allowed: Collection[TargetKind]) -> list[TrimmableFile]:
    """Return the files, other than skills, that agents load in a project and at home, in load order."""
    found: dict[str, tuple[LoadedFile, Context, list[str]]] = {}
    for context in contexts:
        for file in context.files:
            if file.scope in _KINDS:
                found.setdefault(file.real, (file, context, []))[2].append(context.agent)
    at_start = [(one.agent, {file.real for file in one.files if file.loaded is LoadTime.START}) for one in contexts]
    made: list[TrimmableFile] = []
    for real, (file, context, agents) in found.items():
        inside, kind = context.is_inside(file), _KINDS[file.scope]
        if kind is not TargetKind.PERSONAL and not inside:
            continue
        name = real[len(context.root) + 1 :] if inside else below_home(file.path, home)
        ref = SkillRef(name, real, kind=kind, agents=tuple(agents))
        session = WorkingSession(context.agent, Path(context.root), home, {})
        why = _refusal(ref, allowed) or (project_refusal(session, context) if inside else None) or ""
        others = [one.ref.path for one in made if one.ref.kind is not TargetKind.PERSONAL] if inside else []
        loaded = [paths for agent, paths in at_start if agent in agents]
        always = [path for path in others if all(path in paths for paths in loaded)]
        made.append(TrimmableFile(ref, why, tuple(always)))
    return made


def skill_files(skills: Iterable[Skill], allowed: Collection[TargetKind]) -> list[TrimmableFile]:
    """Return the skills of the person and of projects."""
    made = []
    for skill in skills:
        ref = SkillRef(skill.name, str(skill.path), agents=skill.agents)
        why = "it belongs to a plugin" if skill.source is Source.PLUGIN else _refusal(ref, allowed) or ""
        if not why and skill.source is Source.PROJECT and skill.project and not is_own_project(skill.project):
            why = "the project is a clone that you have never committed to"
        made.append(TrimmableFile(ref, why))
    return made


def _refusal(ref: SkillRef, allowed: Collection[TargetKind]) -> str | None:
    if ref.kind not in allowed:
        return "your `targets` setting excludes these files"
    try:
        return opt_out(Path(ref.path), ref.name, ref.kind) or file_refusal(ref.path, Path(ref.path).name)
    except SkilldError as error:
        return str(error)


MAX_OPEN = 10  # open cuts at a time

_CODE_CONFIDENCE, _MODEL_CONFIDENCE = 1.0, 0.6


class CutStatus(StrEnum):
    """What to do about a cut."""

    PROPOSE = "propose"
    OPEN = "open"  # proposed, not decided
    REJECTED = "rejected"  # the person rejected it or restored the text; never proposed again
    WAITS = "waits"  # until others are decided: too many are open, or together they would empty a section


@value_class
class PlannedCut:
    """A cut of a file, what to do about it, and its batch, which is the same for the same cut."""

    ref: SkillRef
    cut: Cut
    status: CutStatus
    batch: str
    proposal: str = ""


def plan(cuts: Iterable[tuple[SkillRef, Cut]], known: Iterable[Proposal]) -> list[PlannedCut]:
    """Return what to do about each cut, the largest saving first; `known` are all proposals ever made."""
    before: dict[str, list[Proposal]] = {}
    for one in known:
        before.setdefault(one.batch_id.rpartition("-")[0], []).append(one)
    ours = [made for key, made in before.items() if key.startswith(TRIM_PREFIX)]
    left = MAX_OPEN - sum(any(one.state is State.OPEN for one in made) for made in ours)
    found = [(ref, cut, _batch_key(ref, cut.key)) for ref, cut in sorted(cuts, key=lambda one: -one[1].tokens)]
    states = {(ref.path, cut.key): {one.state for one in before.get(key, [])} for ref, cut, key in found}
    planned = []
    for ref, cut, key in found:
        made = before.get(key, [])
        others = [states.get((ref.path, other), set()) for other in cut.after]
        own = states[ref.path, cut.key]
        first = bool(others) and not any(_is_decided(other) for other in others)  # what the person keeps stays below
        status = CutStatus.WAITS if first or left <= 0 else CutStatus.PROPOSE
        if State.OPEN in own:
            status = CutStatus.OPEN
        elif _is_decided(own):
            status = CutStatus.REJECTED
        left -= status is CutStatus.PROPOSE
        name = next((one.id for one in made if one.state is State.OPEN), "")
        planned.append(PlannedCut(ref, cut, status, f"{key}-{len(made)}", name))
    return planned


def _batch_key(ref: SkillRef, key: str) -> str:
    return TRIM_PREFIX + hashlib.sha256(f"{ref.path}\n{key}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _is_decided(states: set[State]) -> bool:
    """Whether the person has decided on a cut whose text is still there; it is not proposed again."""
    return State.OPEN not in states and bool(states & {State.REJECTED, State.REVERTED, State.DROPPED, State.ACCEPTED})


def _count_removed(operation: Operation) -> int:
    """Return how many lines an operation removes or changes, blank ones included."""
    old, new = (f"{text}\n".encode("utf-8", "replace") for text in (operation.anchor, operation.text))
    return sum(len(hunk.removed) for hunk in hunks(old, b"" if operation.op is Op.DELETE else new))


def proposal(planned: PlannedCut, model: str, tokenizer: str, at: str) -> Proposal:
    """Return the proposal of a cut, made at a time (RFC 3339). It is flagged, since nobody asked for it."""
    ref, cut = planned.ref, planned.cut
    where = f" ({cut.where})" if cut.where else ""
    shorter, saved = cut.why is CutReason.SHORTER, pluralize(cut.tokens, "token")
    changed = sum(map(_count_removed, cut.operations))
    lost = () if cut.lost == NOTHING else (f"lost with this change: {cut.lost}",)
    return Proposal(
        id=hashlib.sha256(planned.batch.encode()).hexdigest()[:8],
        batch_id=planned.batch,
        skill=ref.name,
        path=ref.path,
        operations=cut.operations,
        summary=f"{'shorten' if shorter else 'cut'} {pluralize(changed, 'line')}, {saved}",
        reason=f"{'Shortened' if shorter else 'Cut'} because {cut.why.value}{where}. This saves {saved}, "
        f"as counted by {tokenizer}.",
        kind=Kind.CHANGE_STEP if shorter else Kind.REMOVE_STEP,
        confidence=_MODEL_CONFIDENCE if cut.why in MODEL_REASONS else _CODE_CONFIDENCE,
        model=model,
        created_at=at,
        flags=("you did not ask for this change in any session", *lost),
        target=ref.kind,
        agents=ref.agents,
    )
