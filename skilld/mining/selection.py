"""Which findings from past sessions become candidates. Pure: rows and skills in, candidates and reasons out.

A lasting word goes to the skill it is about. A task becomes a skill that was done in several sessions with something
to be saved (`skilld.mining.recurring`); a standing rule or fact belongs into the project's own documents. Few pass,
and every other one is told with what it lacked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.library.clusters import Ask
from skilld.library.consolidate import best, described
from skilld.mining.dedup import is_declined
from skilld.mining.evidence import SEVERAL, Known, Lead, Refuted, leads
from skilld.mining.new_skill import name_of, new_skill, part_problem, project_name, short
from skilld.mining.recurring import Found, heard_as, recurring
from skilld.mining.session_summary import Feedback, Row
from skilld.mining.values import (
    OBSERVED,
    REPEATABLE,
    REPEATED,
    ROOM,
    Candidate,
    Doc,
    Judgement,
    Part,
    Recurrence,
    RejectedCandidate,
    Sort,
)
from skilld.skills import Skill, Source
from skilld.skills.draft import SkillKind
from skilld.types import Kind
from skilld.words import content_stems, denies

# Skills to create, held against those that are there: what one of them is for already is no new skill.

_ANY_DAY = "2000-01-01"  # what is compared are words


def settled(
    made: Sequence[Candidate], skills: Sequence[Skill], texts: Mapping[Path, str]
) -> tuple[list[Candidate], list[RejectedCandidate]]:
    """Return the candidates as they are to be: new where no skill is like them, else an extension of that one.

    What a plugin's skill is for is left out: it is replaced on update. A task that came again is held against single
    lines before (`_served`).
    """
    wanted: list[Candidate] = []
    left_out: list[RejectedCandidate] = []
    for one in made:
        skill = None if one.recurrence else _like(one, skills, texts)
        if skill is None:
            wanted.append(one)
        elif skill.source is Source.PLUGIN:
            why = f"{skill.name} is similar, but it belongs to a plugin and cannot be edited"
            left_out.append(RejectedCandidate("; ".join(one.changes), why))
        else:
            wanted.append(replace(one, name=skill.name, action="extend", target=str(skill.path), kind=None))
    return wanted, left_out


def _like(one: Candidate, skills: Sequence[Skill], texts: Mapping[Path, str]) -> Skill | None:
    """Return the skill in reach of a candidate's project that is for the same task, if there is one."""
    here = Path(one.target)
    near = {str(skill.path): skill for skill in skills if skill.project is None or here.is_relative_to(skill.project)}
    new = described("", one.name, new_skill(one, day=_ANY_DAY, with_sessions=False).text)
    match = best(new, [described(key, skill.name, texts.get(skill.path, "")) for key, skill in near.items()])
    return near[match.other.key] if match else None


# What was asked for again and again, and done alike.

_SURE = 0.5  # least share of a request's stems that a line must have to be said to do it
_MANY = 0.6  # share of a task's commands that a skill names which is for it
_NEARLY = 0.8
_TITLE = re.compile(r"#|name:|description:")


def _tasks(
    rows: Sequence[Row],
    skills: Sequence[Skill],
    texts: Mapping[Path, str],
    known: Known,
    refuted: Refuted,
    *,
    chosen: bool,
) -> tuple[list[Candidate], list[RejectedCandidate]]:
    """Return tasks that were done in several sessions as skills to create, and those that a skill or proposal has."""
    standing = [
        replace(row, tasks=tuple(one for one in row.tasks if (one.turn, one.text) not in refuted)) for row in rows
    ]
    made: list[Candidate] = []
    missed: list[RejectedCandidate] = []

    def denied(row: Row, said: Feedback) -> bool:
        return (said.turn, said.quote) in refuted or is_declined(known(Ask((heard_as(row, said),)), ""))

    for one in recurring(standing, denied, chosen=chosen):
        if why := one.missed or _served(one, skills, texts) or known(one.ask, ""):
            missed.append(RejectedCandidate(one.ask.text, why))
        elif one.candidate is not None:
            made.append(_confirmed(one.candidate, refuted))
    return [one for one in made if one.parts], missed


def _confirmed(one: Candidate, refuted: Refuted) -> Candidate:
    """Leave out what did not stand the second look; without its request nothing is left."""
    proofs = [tuple(proof for proof in part.proofs if (proof.turn, proof.quote) not in refuted) for part in one.parts]
    parts = tuple(replace(part, proofs=left) for part, left in zip(one.parts, proofs, strict=True) if left)
    return replace(one, parts=parts if parts and parts[0].sort is Sort.REQUEST else ())


def _served(one: Found, skills: Sequence[Skill], texts: Mapping[Path, str]) -> str:
    """Return which line of which skill is for a task already; "" where none is."""
    steps = [part.text for part in one.candidate.parts if part.sort is Sort.COMMAND] if one.candidate else []
    near = [skill for skill in skills if skill.project is None or _is_near(one, skill.project)]
    for skill in near:
        said = texts.get(skill.path, "")
        named = [step for step in steps if step.partition("{{")[0].strip() in said]
        if len(named) >= SEVERAL and len(named) / len(steps) >= _MANY:
            return _does_it(skill, *_line_with(named[0].partition("{{")[0].strip(), said))
    wanted = content_stems(one.ask.text)
    for skill in near:
        said = texts.get(skill.path, "")
        does = not steps or any(step.partition("{{")[0].strip() in said for step in steps)
        for number, line in enumerate(said.splitlines(), 1):
            shared = len(wanted & content_stems(line))
            # A line of a skill that runs none of the task's commands must say nearly all of it.
            least = _SURE if does or _TITLE.match(line) else _NEARLY
            if shared >= SEVERAL and shared / len(wanted) > least and not denies(line):
                return _does_it(skill, number, line)
    return ""


_LINE = 100  # characters of a line that is quoted


def _is_near(one: Found, project: Path) -> bool:
    return any(
        place and Path(place).is_relative_to(project) for row in one.rows for place in (row.main_dir, row.project)
    )


def _line_with(text: str, said: str) -> tuple[int, str]:
    return next(((n, line) for n, line in enumerate(said.splitlines(), 1) if text in line), (1, text))


def _does_it(skill: Skill, number: int, line: str) -> str:
    return f"{skill.name} already does this in line {number}: {short(line, _LINE)}"


def _is_in(lead: Lead, told: Collection[tuple[str, str]]) -> bool:
    """Whether a new skill says this already, in whichever session it was said."""
    return any((one.id, one.quote) in told for one in lead.ask.said)


MAX_SKILLS = 5  # skills created or changed by one run


def _nothing_known(ask: Ask, path: str) -> str:
    del ask, path
    return ""


def judge(
    rows: Sequence[Row],
    skills: Sequence[Skill],
    texts: Mapping[Path, str],
    *,
    now: float,
    refuted: Refuted | None = None,
    known: Known = _nothing_known,
    kind: SkillKind | None = None,
    create_new: bool = False,
    chosen: bool = False,
) -> Judgement:
    """Return what the rows teach. `texts` are those of the skills, by path.

    `refuted` are words that did not stand a second look, with why; `known` says why an ask need not be proposed
    (again); with a `kind` only skills of that kind are created, and with `create_new` only a skill that was in
    use is extended, whatever others are like. `chosen`: the person named the sessions.
    """
    doubted = refuted or {}
    used = {name for row in rows for name in row.skills_used}
    reach = [skill for skill in skills if skill.name in used] if create_new else skills
    tasks, served = _tasks(rows, reach, texts, known, doubted, chosen=chosen)
    told = {(proof.turn, proof.quote) for one in tasks for proof in one.evidence}
    found, rejected = leads(rows, reach, texts, now=now, refuted=doubted, known=known)
    rejected = [one for one in rejected if one.topic not in {part.text for task in tasks for part in task.parts}]
    homeless = [lead for lead in found if lead.skill is None and not _is_in(lead, told)]
    created, docs, missed = _creations(homeless, kind)
    new, unwanted = _of_kind([*created, *tasks], kind)
    fit, useless = _with_content([*_extensions(found), *new])
    settled_ones, alike = settled([one for one in fit if one.creates], [] if create_new else skills, texts)
    fit = [one for one in fit if not one.creates] + settled_ones
    candidates = sorted(
        _named(_joined(fit), skills),
        key=lambda one: (one.creates, -one.saved.worth, -len({proof.session for proof in one.evidence}), one.name),
    )
    deferred = [
        RejectedCandidate(one.name, f"left for a later run: more than {MAX_SKILLS} skills at once are hard to review")
        for one in candidates[MAX_SKILLS:]
    ]
    everything = [*rejected, *served, *missed, *unwanted, *useless, *alike, *deferred]
    return Judgement(tuple(candidates[:MAX_SKILLS]), tuple(everything), tuple(docs))


def _extensions(found: Sequence[Lead]) -> list[Candidate]:
    by_skill: dict[Path, list[Lead]] = {}
    for lead in found:
        if lead.skill is not None:
            by_skill.setdefault(lead.skill.path, []).append(lead)
    return [
        Candidate(group[0].skill.name if group[0].skill else "", "extend", str(path), None, *_content(group))
        for path, group in by_skill.items()
    ]


def _creations(
    found: Sequence[Lead], kind: SkillKind | None
) -> tuple[list[Candidate], list[Doc], list[RejectedCandidate]]:
    """Return what belongs into a project's own documents.

    A standing rule or fact is no skill, however often it was said; only who asks for that kind gets skills of them.
    """
    if kind is not SkillKind.KNOWLEDGE:
        return [], [Doc(lead.project, lead.ask.text, lead.part.proofs) for lead in found], []
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
    made, missed = [], []
    for (project, work), group in groups.items():
        if len(group) < SEVERAL and all(REPEATED not in lead.dimensions for lead in group):
            missed += [RejectedCandidate(lead.ask.text, "it is a single rule, stated only once") for lead in group]
            continue
        name = name_of([project_name(project), work])
        made.append(Candidate(name, "create", project, SkillKind.KNOWLEDGE, *_content(group), work))
    for project, group in facts.items():
        if len(group) < SEVERAL:
            docs += [Doc(project, lead.ask.text, lead.part.proofs) for lead in group]
            continue
        name = name_of([project_name(project), "knowledge"])
        made.append(Candidate(name, "create", project, SkillKind.KNOWLEDGE, *_content(group)))
    return made, docs, missed


def _of_kind(made: Sequence[Candidate], kind: SkillKind | None) -> tuple[list[Candidate], list[RejectedCandidate]]:
    if kind is SkillKind.TOOL:  # what is asked for again and again can be a tool as well, if that is wanted
        made = [replace(one, kind=kind) if one.recurrence else one for one in made]
    wanted = [one for one in made if kind in {None, one.kind}]
    return wanted, [
        RejectedCandidate(one.name, f"it is not the kind of skill you asked for ({kind})")
        for one in made
        if one not in wanted
    ]


def _named(candidates: Sequence[Candidate], skills: Sequence[Skill]) -> list[Candidate]:
    """Give each new skill a name that no skill has."""
    taken = {skill.name for skill in skills}
    named = []
    for one in candidates:
        named.append(replace(one, name=name_of([one.name], taken)) if one.creates else one)
        taken.add(named[-1].name)
    return named


def _joined(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Make the extensions of one skill one."""
    joined: dict[str, Candidate] = {}
    for one in candidates:
        if one.creates:
            continue
        known = joined.get(one.target)
        if known is None:
            joined[one.target] = one
        else:
            dimensions = tuple(dict.fromkeys((*known.dimensions, *one.dimensions)))
            joined[one.target] = replace(known, dimensions=dimensions, parts=(*known.parts, *one.parts))
    return [*joined.values(), *(one for one in candidates if one.creates)]


def _with_content(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[RejectedCandidate]]:
    """Leave out what no skill should say, and candidates of which nothing, or too little, is left."""
    fit, useless = [], []
    for one in candidates:
        project = one.target if one.creates else ""
        whys = [part_problem(part, project) for part in one.parts]
        if one.recurrence:
            whys[0] = _problem(one.recurrence, one.parts[0], project)
        useless += [RejectedCandidate(part.text, why) for part, why in zip(one.parts, whys, strict=True) if why]
        left = tuple(part for part, why in zip(one.parts, whys, strict=True) if not why)
        if one.recurrence and left[:1] != one.parts[:1]:
            continue  # what it is for is nothing for a skill
        if left and (left == one.parts or not one.creates or not _too_little(left)):
            fit.append(replace(one, parts=left))
    return fit, useless


def _problem(task: Recurrence, request: Part, project: str) -> str | None:
    """Return why there should be no skill for a task; what is set up once for each of several things is one."""
    sort = Sort.RULE if task.examples else request.sort
    return part_problem(replace(request, text=task.request, sort=sort), project)


def _too_little(parts: Sequence[Part]) -> bool:
    if any(part.sort is Sort.REQUEST for part in parts):
        return not any(part.sort in OBSERVED for part in parts)
    return len(parts) < SEVERAL and len({proof.session for part in parts for proof in part.proofs}) < SEVERAL


def _content(group: Sequence[Lead]) -> tuple[tuple[str, ...], tuple[Part, ...]]:
    dimensions = [name for name in (REPEATABLE, ROOM, REPEATED) if any(name in lead.dimensions for lead in group)]
    return tuple(dimensions), tuple(lead.part for lead in group)
