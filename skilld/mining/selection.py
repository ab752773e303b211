"""Decides which findings from past sessions become candidates. Pure: rows and skills in, candidates and reasons out.

A lasting ask goes to the skill it is about. A task of several sessions with something to save becomes a skill
(`skilld.mining.recurring_tasks`); a standing rule or fact belongs in the project's own documents. Few findings pass;
each of the others is reported with what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.library.consolidate import best_match, describe_skill
from skilld.mining.covered import covered_reason
from skilld.mining.evidence import MIN_REPEATS, NOTHING_KNOWN, Known, Lead, find_leads
from skilld.mining.new_skill import build_skill, join_name, part_problem, project_name, with_free_names
from skilld.mining.recurring_tasks import RecurringTask, find_recurring_tasks
from skilld.mining.session_summary import Row
from skilld.mining.values import (
    REPEATABLE,
    REPEATED,
    ROOM,
    Candidate,
    Doc,
    Grouping,
    Judgement,
    Part,
    PartKind,
    Recurrence,
    RejectedCandidate,
    count_sessions,
)
from skilld.skills import Skill, Source
from skilld.skills.draft import SkillKind, write_draft
from skilld.types import Kind

# Comparing skills to create with existing ones: a task that an existing skill covers does not become a new one.

_PLACEHOLDER_DAY = "2000-01-01"  # only words are compared


def _as_extensions(
    made: Sequence[Candidate], skills: Sequence[Skill], texts: Mapping[Path, str], rejected: list[RejectedCandidate]
) -> Iterator[Candidate]:
    """Yield the candidates; those to create that resemble an existing skill extend it.

    One that resembles a plugin's skill is left out: an update would overwrite the edit. Recurring tasks have been
    compared line by line before (`covered_reason`).
    """
    for one in made:
        skill = _similar_skill(one, skills, texts) if one.creates and not one.recurrence else None
        if skill is None:
            yield one
        elif skill.source is Source.PLUGIN:
            why = f"{skill.name} is similar, but it belongs to a plugin and cannot be edited"
            rejected.append(RejectedCandidate("; ".join(one.changes), why))
        else:
            yield replace(one, name=skill.name, action="extend", target=str(skill.path), kind=None)


def _similar_skill(one: Candidate, skills: Sequence[Skill], texts: Mapping[Path, str]) -> Skill | None:
    """Return the skill for the same task that is visible in a candidate's project, if there is one."""
    here = Path(one.target)
    near = {str(skill.path): skill for skill in skills if skill.project is None or here.is_relative_to(skill.project)}
    new = describe_skill("", one.name, write_draft(build_skill(one, day=_PLACEHOLDER_DAY, with_sessions=False)))
    match = best_match(new, [describe_skill(key, skill.name, texts.get(skill.path, "")) for key, skill in near.items()])
    return near[match.other.key] if match else None


# Recurring tasks.


_ONCE_REASON = "only one session of this task said it like this"
_COMPLAINT_REASON = "it is a complaint that does not say what you want instead"


def _task_candidates(
    found: Iterable[RecurringTask],
    skills: Sequence[Skill],
    texts: Mapping[Path, str],
    known: Known,
    rejected: list[RejectedCandidate],
) -> Iterator[Candidate]:
    """Yield the recurring tasks as skills to create, without those that a skill or a proposal covers."""
    for one in found:
        if (
            why := one.missed
            or covered_reason(one, skills, texts)
            or known.proposed(one.ask, "", {row.agent for row in one.rows})
        ):
            rejected.append(RejectedCandidate(one.ask.text, why))
        elif one.candidate is not None:
            rejected += [
                RejectedCandidate(part.text, _ONCE_REASON if count_sessions([part]) == 1 else _COMPLAINT_REASON)
                for part in one.once
            ]
            if (left := _without_refuted(one.candidate, known)).parts:
                yield left


def _without_refuted(one: Candidate, known: Known) -> Candidate:
    """Leave out refuted evidence; without its request nothing is left."""
    proofs = [
        tuple(proof for proof in part.proofs if (proof.turn, proof.quote) not in known.refuted) for part in one.parts
    ]
    parts = tuple(replace(part, proofs=left) for part, left in zip(one.parts, proofs, strict=True) if left)
    return replace(one, parts=parts if parts and parts[0].sort is PartKind.REQUEST else ())


_DIMENSIONS = REPEATABLE, ROOM, REPEATED
MAX_SKILLS = 5  # skills created or changed by one run
DEFERRED_REASON = f"left for a later run: more than {MAX_SKILLS} skills at once are hard to review"


def judge(
    rows: Sequence[Row],
    skills: Sequence[Skill],
    texts: Mapping[Path, str],
    known: Known = NOTHING_KNOWN,
    *,
    now: float,
    kind: SkillKind | None = None,
    create_new: bool = False,
    chosen: bool = False,
    grouping: Grouping | None = None,
    most: int = MAX_SKILLS,
) -> Judgement:
    """Return the candidates of these rows. `texts` are those of the skills, by path.

    With a `kind`, only skills of that kind are created; with `create_new`, only skills that were in use are extended,
    even if others are similar. `chosen`: the person named the sessions. `grouping`: see `find_recurring_tasks`. `most`
    is the number of candidates.
    """
    used = {name for row in rows for name in row.skills_used}
    reach = [skill for skill in skills if skill.name in used] if create_new else skills
    valid = [
        replace(row, tasks=tuple(one for one in row.tasks if (one.turn, one.text) not in known.refuted)) for row in rows
    ]
    served: list[RejectedCandidate] = []
    recurring = find_recurring_tasks(valid, known, chosen=chosen, grouping=grouping)
    tasks = [*_task_candidates(recurring, reach, texts, known, served)]
    task_proofs = {(proof.turn, proof.quote) for one in tasks for proof in one.evidence}
    found, rejected = find_leads(rows, reach, texts, known, now=now)
    tasks = [_without_told(one, found) for one in tasks]
    told = {part.text for task in tasks for part in task.parts}
    rejected = [*(one for one in rejected if one.topic not in told), *served]
    homeless = [  # that no new skill says
        lead
        for lead in found
        if lead.skill is None and task_proofs.isdisjoint((one.id, one.quote) for one in lead.ask.said)
    ]
    created, docs = _creation_candidates(homeless, kind, rejected)
    wanted = _of_kind([*created, *tasks], kind, rejected)
    extended = [
        Candidate(lead.skill.name, "extend", str(lead.skill.path), None, *_lead_content([lead]))
        for lead in found
        if lead.skill is not None
    ]
    fit = [*_with_fit_parts([*extended, *wanted], rejected)]
    fit = _merge_extensions([*_as_extensions(fit, [] if create_new else skills, texts, rejected)])
    candidates = _ranked(with_free_names(fit, {skill.name for skill in skills}), grouping)
    rejected += [RejectedCandidate(one.name, DEFERRED_REASON) for one in candidates[most:]]
    return Judgement(tuple(candidates[:most]), tuple(rejected), tuple(docs))


def _without_told(task: Candidate, found: Sequence[Lead]) -> Candidate:
    """Leave out what goes to a skill that was in use: no two proposals of a run say the same."""
    told = {(one.id, one.quote) for lead in found if lead.is_in_use for one in lead.ask.said}
    parts = (
        one for one in task.parts if not one.kind or told.isdisjoint((proof.turn, proof.quote) for proof in one.proofs)
    )
    return replace(task, parts=tuple(parts))


def _ranked(candidates: Sequence[Candidate], grouping: Grouping | None) -> list[Candidate]:
    """Return the candidates in the order of a run: extensions, then what saves most, or what a model saw most often."""

    def rank(one: Candidate) -> tuple[bool, float, int, str]:
        worth = one.saved.worth if grouping is None else one.saved.sessions
        return one.creates, -worth, -len({proof.session for proof in one.evidence}), one.name

    return sorted(candidates, key=rank)


def _creation_candidates(
    found: Sequence[Lead], kind: SkillKind | None, rejected: list[RejectedCandidate]
) -> tuple[list[Candidate], list[Doc]]:
    """Return the new skills, and what belongs in a project's own documents.

    A standing rule or fact does not make a skill, however often it was said, unless knowledge skills were asked for.
    """
    if kind is not SkillKind.KNOWLEDGE:
        return [], [Doc(lead.project, lead.ask.text, lead.part.proofs) for lead in found]
    groups: dict[tuple[str, str], list[Lead]] = {}
    docs: list[Doc] = []
    facts: dict[str, list[Lead]] = {}
    for lead in found:
        works = {row.work for row in lead.rows}
        if lead.kind is Kind.FACT:
            facts.setdefault(lead.project, []).append(lead)
        elif works == {"other"} or len(works) > 1:
            docs.append(Doc(lead.project, lead.ask.text, lead.part.proofs))
        else:
            groups.setdefault((lead.project, works.pop() if works else "other"), []).append(lead)
    made: list[Candidate] = []
    for (project, work), group in groups.items():
        if len(group) < MIN_REPEATS and all(REPEATED not in lead.dimensions for lead in group):
            rejected += [RejectedCandidate(lead.ask.text, "it is a single rule, stated only once") for lead in group]
            continue
        name = join_name([project_name(project), work])
        made.append(Candidate(name, "create", project, SkillKind.KNOWLEDGE, *_lead_content(group), work))
    for project, group in facts.items():
        if len(group) < MIN_REPEATS:
            docs += [Doc(project, lead.ask.text, lead.part.proofs) for lead in group]
            continue
        name = join_name([project_name(project), "knowledge"])
        made.append(Candidate(name, "create", project, SkillKind.KNOWLEDGE, *_lead_content(group)))
    return made, docs


def _of_kind(made: Sequence[Candidate], kind: SkillKind | None, rejected: list[RejectedCandidate]) -> list[Candidate]:
    if kind is SkillKind.TOOL:  # a recurring task can be a tool as well
        made = [replace(one, kind=kind) if one.recurrence else one for one in made]
    why = f"it is not the kind of skill you asked for ({kind})"
    rejected += [RejectedCandidate(one.name, why) for one in made if kind not in {None, one.kind}]
    return [one for one in made if kind in {None, one.kind}]


def _merge_extensions(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with one for each skill to extend, which come first."""
    joined: dict[str, Candidate] = {}
    for one in (each for each in candidates if not each.creates):
        first = joined.setdefault(one.target, one)
        if first is not one:
            dimensions = tuple(name for name in _DIMENSIONS if name in (*first.dimensions, *one.dimensions))
            joined[one.target] = replace(first, dimensions=dimensions, parts=(*first.parts, *one.parts))
    return [*joined.values(), *(one for one in candidates if one.creates)]


def _with_fit_parts(candidates: Sequence[Candidate], rejected: list[RejectedCandidate]) -> Iterator[Candidate]:
    """Yield the candidates without what no skill should say, and none with too little left."""
    for one in candidates:
        project = one.target if one.creates else ""
        whys = [part_problem(part, project, in_task=bool(one.recurrence)) for part in one.parts]
        if one.recurrence and one.recurrence.done:
            whys[0] = None  # a model will word the title
        elif one.recurrence:
            whys[0] = _task_problem(one.recurrence, one.parts[0], project)
        rejected += [RejectedCandidate(part.text, why) for part, why in zip(one.parts, whys, strict=True) if why]
        left = tuple(part for part, why in zip(one.parts, whys, strict=True) if not why)
        if one.recurrence and left[:1] != one.parts[:1]:
            continue  # its request is not fit for a skill
        if left and (left == one.parts or not one.creates or not _is_too_little(left)):
            yield replace(one, parts=left)


def _task_problem(task: Recurrence, request: Part, project: str) -> str | None:
    """Return why there should be no skill for a task. A setup that is repeated for several things may be one."""
    sort = PartKind.RULE if task.examples else request.sort
    return part_problem(replace(request, text=task.request, sort=sort), project)


def _is_too_little(parts: Sequence[Part]) -> bool:
    if any(part.sort is PartKind.REQUEST for part in parts):
        return not any(part.observed for part in parts)
    return len(parts) < MIN_REPEATS and count_sessions(parts) < MIN_REPEATS


def _lead_content(group: Sequence[Lead]) -> tuple[tuple[str, ...], tuple[Part, ...]]:
    dimensions = [name for name in _DIMENSIONS if any(name in lead.dimensions for lead in group)]
    return tuple(dimensions), tuple(lead.part for lead in group)
