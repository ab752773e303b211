"""Which of what past sessions say becomes a candidate. Pure: rows and skills in, candidates and reasons out.

The gate is: repeatable AND (room to do better OR a repeated ask). Work is repeatable that a skill describes, that was
done in several sessions, or whose ask came again; room to do better is a lasting correction of the person's, or
something that failed; an ask is repeated that came in several sessions. Few pass, and every other one is told with
what it lacked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.draft import SkillKind
from skilld.memory.asks import Ask
from skilld.mine.alike import settled
from skilld.mine.content import unfit
from skilld.mine.leads import SEVERAL, Known, Lead, Refuted, leads
from skilld.mine.naming import name_of, project_name
from skilld.mine.requests import repeated
from skilld.mine.rows import Row
from skilld.mine.values import (
    REPEATABLE,
    REPEATED,
    ROOM,
    Candidate,
    Doc,
    Judgement,
    Part,
    Rejected,
    Sort,
)
from skilld.skills import Skill
from skilld.types import Kind

MOST = 5  # skills created or changed by one run


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
) -> Judgement:
    """Return what the rows teach. `texts` are those of the skills, by path.

    `refuted` are words that did not stand a second look, with why; `known` says why an ask need not be proposed
    (again); with a `kind` only skills of that kind are created, and with `create_new` only a skill that was in
    use is extended, whatever others are like.
    """
    doubted = refuted or {}
    used = {name for row in rows for name in row.skills_used}
    reach = [skill for skill in skills if skill.name in used] if create_new else skills
    found, rejected = leads(rows, reach, texts, now=now, refuted=doubted, known=known)
    created, docs, missed = _creations([lead for lead in found if lead.skill is None])
    asked, served = repeated(rows, reach, known, lambda turn, words: (turn, words) in doubted)
    new, unwanted = _of_kind([*created, *asked], kind)
    fit, useless = _with_content([*_extensions(found), *new])
    settled_ones, alike = settled([one for one in fit if one.creates], [] if create_new else skills, texts)
    fit = [one for one in fit if not one.creates] + settled_ones
    candidates = sorted(
        _named(_joined(fit), skills),
        key=lambda one: (one.creates, -len({proof.session for proof in one.evidence}), one.name),
    )
    deferred = [
        Rejected(one.name, f"deferred: more than {MOST} at once are not reviewed well") for one in candidates[MOST:]
    ]
    everything = [*rejected, *served, *missed, *unwanted, *useless, *alike, *deferred]
    return Judgement(tuple(candidates[:MOST]), tuple(everything), tuple(docs))


def _extensions(found: Sequence[Lead]) -> list[Candidate]:
    by_skill: dict[Path, list[Lead]] = {}
    for lead in found:
        if lead.skill is not None:
            by_skill.setdefault(lead.skill.path, []).append(lead)
    return [
        Candidate(group[0].skill.name if group[0].skill else "", "extend", str(path), None, *_content(group))
        for path, group in by_skill.items()
    ]


def _creations(found: Sequence[Lead]) -> tuple[list[Candidate], list[Doc], list[Rejected]]:
    """Return new skills for kinds of work with enough to say, and what belongs into a project's own documents."""
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
            missed += [Rejected(lead.ask.text, "enough to make a skill of: one rule, said once") for lead in group]
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


def _of_kind(made: Sequence[Candidate], kind: SkillKind | None) -> tuple[list[Candidate], list[Rejected]]:
    if kind is SkillKind.TOOL:  # what is asked for again and again can be a tool as well, if that is wanted
        made = [replace(one, kind=kind) if one.parts[0].sort is Sort.REQUEST else one for one in made]
    wanted = [one for one in made if kind in {None, one.kind}]
    return wanted, [Rejected(one.name, f"of the kind asked for: {kind}") for one in made if one not in wanted]


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


def _with_content(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Rejected]]:
    """Leave out what no skill should say, and candidates of which nothing, or too little, is left."""
    fit, useless = [], []
    for one in candidates:
        project = one.target if one.creates else ""
        whys = [unfit(part, project) for part in one.parts]
        useless += [Rejected(part.text, why) for part, why in zip(one.parts, whys, strict=True) if why]
        left = tuple(part for part, why in zip(one.parts, whys, strict=True) if not why)
        if left and (left == one.parts or not one.creates or not _too_little(left)):
            fit.append(replace(one, parts=left))
    return fit, useless


def _too_little(parts: Sequence[Part]) -> bool:
    if any(part.sort is Sort.REQUEST for part in parts):
        return False
    return len(parts) < SEVERAL and len({proof.session for part in parts for proof in part.proofs}) < SEVERAL


def _content(group: Sequence[Lead]) -> tuple[tuple[str, ...], tuple[Part, ...]]:
    dimensions = [name for name in (REPEATABLE, ROOM, REPEATED) if any(name in lead.dimensions for lead in group)]
    return tuple(dimensions), tuple(lead.part for lead in group)
