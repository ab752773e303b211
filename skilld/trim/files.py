"""The files of a project and a person that may be trimmed, each with the agents that load it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.context import Context, LoadedFile, LoadTime, Scope
from skilld.errors import SkilldError
from skilld.git.state import is_own
from skilld.skills import Skill, Source, opt_out
from skilld.targets.places import Session, file_refusal, project_refusal
from skilld.types import SkillRef, TargetKind

_KINDS = {
    Scope.PROJECT: TargetKind.INSTRUCTIONS,
    Scope.NESTED: TargetKind.INSTRUCTIONS,
    Scope.RULE: TargetKind.RULES,
    Scope.PERSONAL: TargetKind.PERSONAL,
}


@dataclass(frozen=True, slots=True)
class Trimmable:
    """A file, and why it is left as it is (empty: it may be trimmed); `beside` are loaded wherever it is."""

    ref: SkillRef
    why_not: str = ""
    beside: tuple[str, ...] = ()


def instruction_files(contexts: Sequence[Context], home: Path, allowed: Collection[TargetKind]) -> list[Trimmable]:
    """Return the files that agents load in a project and at home, in load order; skills aside."""
    found: dict[str, tuple[LoadedFile, Context, list[str]]] = {}
    for context in contexts:
        for file in context.files:
            if file.scope in _KINDS:
                found.setdefault(file.real, (file, context, []))[2].append(context.agent)
    made: list[Trimmable] = []
    for real, (file, context, agents) in found.items():
        inside, kind = context.is_inside(file), _KINDS[file.scope]
        if kind is not TargetKind.PERSONAL and not inside:
            continue
        name = real[len(context.root) + 1 :] if inside else f"~/{file.path[len(str(home)) + 1 :]}"
        ref = SkillRef(name, real, kind=kind, agents=tuple(agents))
        why = _refusal(ref, allowed) or (_project_refusal(context, home) if inside else None) or ""
        beside = [one.ref.path for one in made if one.ref.kind is not TargetKind.PERSONAL] if inside else []
        always = [path for path in beside if all(_at_start(path, one) for one in contexts if one.agent in agents)]
        made.append(Trimmable(ref, why, tuple(always)))
    return made


def skill_files(skills: Iterable[Skill], allowed: Collection[TargetKind]) -> list[Trimmable]:
    """Return the skills of the person and of projects."""
    made = []
    for skill in skills:
        ref = SkillRef(skill.name, str(skill.path), agents=skill.agents)
        why = "it belongs to a plugin" if skill.source is Source.PLUGIN else _refusal(ref, allowed) or ""
        if not why and skill.source is Source.PROJECT and skill.project and not is_own(skill.project):
            why = "the project is a clone that you have never committed to"
        made.append(Trimmable(ref, why))
    return made


def _project_refusal(context: Context, home: Path) -> str | None:
    return project_refusal(Session(context.agent, Path(context.root), home, {}), context)


def _refusal(ref: SkillRef, allowed: Collection[TargetKind]) -> str | None:
    if ref.kind not in allowed:
        return "your `targets` setting excludes these files"
    try:
        return opt_out(Path(ref.path), ref.name, ref.kind) or file_refusal(ref.path, Path(ref.path).name)
    except SkilldError as error:
        return str(error)


def _at_start(path: str, context: Context) -> bool:
    return any(file.real == path and file.loaded is LoadTime.START for file in context.files)
