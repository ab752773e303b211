"""Which findings from past sessions become candidates. Pure: rows and skills in, candidates and reasons out.

The gate is: repeatable AND (room for improvement OR a repeated ask). Work is repeatable that a skill describes, that
was done in several sessions, or whose ask came again; room for improvement is a lasting correction of the person's, or
something that failed; an ask is repeated that came in several sessions. Few pass, and every other one is told with
what it lacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from skilld.library.clusters import Ask, Mention, asks
from skilld.library.consolidate import best, described
from skilld.mining.evidence import SEVERAL, Known, Lead, Refuted, leads, piece, proofs, rows_of, skill_for
from skilld.mining.new_skill import name_of, new_skill, others_of, part_problem, project_name, telling_words, template
from skilld.mining.session_summary import Row
from skilld.mining.values import REPEATABLE, REPEATED, ROOM, Candidate, Doc, Judgement, Part, Proof, Rejected, Sort
from skilld.skills import Skill, Source
from skilld.skills.draft import SkillKind
from skilld.types import Kind
from skilld.words import content_stems

# Skills to create, held against those that are there: what one of them is for already is no new skill. Pure.

_ANY_DAY = "2000-01-01"  # what is compared are words


def settled(
    made: Sequence[Candidate], skills: Sequence[Skill], texts: Mapping[Path, str]
) -> tuple[list[Candidate], list[Rejected]]:
    """Return the candidates as they are to be: new where no skill is like them, else an extension of that one.

    Requests and steps extend nothing: where a skill is for them already they are left out, and so is what a plugin's
    skill is for, which is replaced on update.
    """
    wanted: list[Candidate] = []
    left_out: list[Rejected] = []
    for one in made:
        skill = _like(one, skills, texts)
        if skill is None:
            wanted.append(one)
        elif skill.source is Source.PLUGIN or any(part.kind is None for part in one.parts):
            left_out.append(Rejected("; ".join(one.changes), f"{skill.name} is already a skill for this"))
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


# What was asked for again and again: one request in several sessions, or several that follow each other. Pure.

_SURE = 0.5
_MIN_STEMS = 3  # of a request that makes a skill of its own; as one of several steps a shorter one will do

Missed = list[Rejected]


def repeated(
    rows: Sequence[Row], skills: Sequence[Skill], known: Known, taken: Callable[[str, str], bool] | None = None
) -> tuple[list[Candidate], Missed]:
    """Return requests made in several sessions as skills to create, and those that are served or known already.

    `taken` says of a turn and its words that they did not stand the look into the transcript.
    """
    said = [
        Mention("task", task.turn, task.text, task.text, "", "", row.project, piece(row, _SURE))
        for row in rows
        for task in row.tasks
        if taken is None or not taken(task.turn, task.text)
    ]
    order = {task.turn: number for row in rows for number, task in enumerate(row.tasks)}
    flows = _workflows(_several(said), order)
    in_flows = {one.id for flow, _ in flows for step in flow for one in step.said}
    again = _several(one for one in said if len(content_stems(one.text)) >= _MIN_STEMS)
    made: list[Candidate] = []
    missed: Missed = []
    for steps, sessions in flows:
        reasons = [reason for step in steps if (reason := known(step, ""))]
        if len(reasons) == len(steps):
            missed.append(Rejected("; then ".join(step.text for step in steps), reasons[0]))
        else:
            made.append(_workflow(steps, sessions, rows))
    for ask in again:
        if in_flows.issuperset(one.id for one in ask.said):
            continue
        skill = skill_for(ask, rows_of(ask, rows), skills)
        if why := f"{skill.name} is already a skill for this" if skill else known(ask, ""):
            missed.append(Rejected(ask.text, why))
        else:
            made.append(_request(ask, rows))
    return made, missed


def _several(said: Iterable[Mention]) -> list[Ask]:
    """Return the requests that came in several sessions."""
    return [ask for ask in asks(said) if len({one.session for one in ask.pieces}) >= SEVERAL]


def _request(ask: Ask, rows: Sequence[Row]) -> Candidate:
    """Return a request as a skill: a template where something in it changes, else a workflow of one step."""
    part = Part(Sort.REQUEST, ask.text, proofs(ask))
    mine = rows_of(ask, rows)
    _, variables = template(part.text, others_of(part))
    kind = SkillKind.PROMPT if variables else SkillKind.WORKFLOW
    return Candidate(
        name_of(telling_words(ask.text)), "create", mine[0].project, kind, _dimensions(mine), (part,), mine[0].work
    )


def _workflow(steps: Sequence[Ask], sessions: Sequence[str], rows: Sequence[Row]) -> Candidate:
    mine = tuple(row for row in rows if row.session_id in sessions)
    parts = tuple(Part(Sort.STEP, step.text, _of(proofs(step), sessions)) for step in steps)
    words = [word for step in steps for word in telling_words(step.text)[:2]]
    name = name_of(dict.fromkeys(words))
    return Candidate(name, "create", mine[0].project, SkillKind.WORKFLOW, _dimensions(mine), parts, mine[0].work)


def _of(found: Iterable[Proof], sessions: Sequence[str]) -> tuple[Proof, ...]:
    return tuple(proof for proof in found if proof.session in sessions)


def _dimensions(rows: Sequence[Row]) -> tuple[str, ...]:
    better = any(row.env_feedback or row.user_feedback for row in rows)
    return (REPEATABLE, ROOM, REPEATED) if better else (REPEATABLE, REPEATED)


def _workflows(again: Sequence[Ask], order: Mapping[str, int]) -> list[tuple[list[Ask], list[str]]]:
    """Return requests that follow each other in the same order in several sessions, with those sessions.

    `order` says where in its session each turn's request stands.
    Of two that share a request the one is taken that explains more: steps times sessions.
    """
    orders = _orders(again, order)
    shared = {_common(one, other) for one, other in combinations([*orders.values()], 2)}
    chances = sorted(
        ((steps, [name for name, order in orders.items() if _runs_through(steps, order)]) for steps in shared),
        key=lambda one: (-len(one[0]) * len(one[1]), one[0]),
    )
    taken: set[int] = set()
    found = []
    for steps, sessions in chances:
        if len(set(steps)) == len(steps) >= SEVERAL and taken.isdisjoint(steps):
            taken.update(steps)
            found.append(([again[number] for number in steps], sessions))
    return found


def _orders(again: Sequence[Ask], order: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return for each session which of these requests it made, in their order; only those that made several."""
    by_session: dict[str, list[tuple[int, int]]] = {}
    for number, ask in enumerate(again):
        for one in ask.said:
            by_session.setdefault(one.piece.session, []).append((order[one.id], number))
    return {
        session: tuple(dict.fromkeys(number for _, number in sorted(made)))
        for session, made in by_session.items()
        if len({number for _, number in made}) >= SEVERAL
    }


def _common(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return the longest common subsequence of two orders."""
    best: list[list[tuple[int, ...]]] = [[()] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one, 1):
        for j, right in enumerate(other, 1):
            longer = (*best[i - 1][j - 1], left)
            best[i][j] = longer if left == right else max(best[i - 1][j], best[i][j - 1], key=len)
    return best[-1][-1]


def _runs_through(steps: Sequence[int], order: Sequence[int]) -> bool:
    left = iter(order)
    return all(step in left for step in steps)


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
        Rejected(one.name, f"left for later: more than {MAX_SKILLS} at once are hard to review")
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
            missed += [Rejected(lead.ask.text, "it is only one rule, said once") for lead in group]
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
    return wanted, [
        Rejected(one.name, f"it is not the kind you asked for: {kind}") for one in made if one not in wanted
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


def _with_content(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Rejected]]:
    """Leave out what no skill should say, and candidates of which nothing, or too little, is left."""
    fit, useless = [], []
    for one in candidates:
        project = one.target if one.creates else ""
        whys = [part_problem(part, project) for part in one.parts]
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
