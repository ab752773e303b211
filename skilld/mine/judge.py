"""Which of what past sessions say becomes a candidate. Pure: rows and skills in, candidates and reasons out.

The gate is: repeatable AND (room to do better OR a repeated ask). Work is repeatable that a skill describes, that was
done in several sessions, or whose ask came again; room to do better is a lasting correction of the person's, or
something that failed; an ask is repeated that came in several sessions. Few pass, and every other one is told with
what it lacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.classify.offline.said import says_already
from skilld.memory.asks import Ask, Said, asks
from skilld.memory.confidence import Piece, confidence
from skilld.memory.recommend import likeness
from skilld.mine.rows import Row
from skilld.skills import Skill
from skilld.times import seconds
from skilld.words import content_stems

MOST = 5  # skills created or changed by one run
SEVERAL = 2
_SURE = 0.5  # least confidence in an ask
_FITS = 0.3  # least likeness of an ask, with the work it came up in, to a skill's own description
_NAME_WORDS = 4
REPEATABLE, ROOM, REPEATED = "repeatable", "room to do better", "repeated ask"


@dataclass(frozen=True, slots=True)
class Proof:
    """Where something was said."""

    session: str
    turn: str
    quote: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill to extend (`action` is extend, `target` its file) or to create (`target` is the project's folder)."""

    name: str
    action: str
    target: str
    dimensions: tuple[str, ...]
    changes: tuple[str, ...]
    evidence: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was thought of and not taken, with what it lacked."""

    topic: str
    missed: str


@dataclass(frozen=True, slots=True)
class Doc:
    """Something for a project's standing instructions: it holds for all work there, so no skill is its place."""

    project: str
    text: str
    evidence: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run comes to."""

    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]
    docs: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class _Lead:
    """An ask with the rows it came up in, the skill it belongs to if any, and what it fulfils."""

    ask: Ask
    rows: tuple[Row, ...]
    skill: Skill | None
    dimensions: tuple[str, ...]


def judge(rows: Sequence[Row], skills: Sequence[Skill], texts: dict[Path, str], *, now: float) -> Judgement:
    """Return what the rows teach. `texts` are those of the skills, by path."""
    rejected: list[Rejected] = []
    leads: list[_Lead] = []
    for ask in asks(_said(piece) for piece in _each(rows)):
        lead = _lead(ask, rows, skills)
        sure = confidence(ask.pieces, now=now)
        if lead.skill is not None and says_already(ask.text, texts.get(lead.skill.path, "")):
            rejected.append(Rejected(ask.text, f"{lead.skill.name} says it already"))
        elif REPEATABLE not in lead.dimensions:
            rejected.append(Rejected(ask.text, REPEATABLE))
        elif sure < _SURE:
            rejected.append(Rejected(ask.text, "said clearly enough, or lately enough"))
        else:
            leads.append(lead)
    extended = _extensions(leads)
    created, docs, missed = _creations([lead for lead in leads if lead.skill is None])
    again, known = _repeated_tasks(rows, skills)
    rejected += known
    candidates = sorted(
        [*extended, *created, *again], key=lambda one: (-len({proof.session for proof in one.evidence}), one.name)
    )
    rejected += missed
    rejected += [
        Rejected(one.name, f"deferred: more than {MOST} at once are not reviewed well") for one in candidates[MOST:]
    ]
    return Judgement(tuple(candidates[:MOST]), tuple(rejected), tuple(docs))


@dataclass(frozen=True, slots=True)
class _Piece:
    row: Row
    number: int


def _each(rows: Sequence[Row]) -> list[_Piece]:
    return [_Piece(row, number) for row in rows for number in range(len(row.user_feedback))]


def _said(piece: _Piece) -> Said:
    row, feedback = piece.row, piece.row.user_feedback[piece.number]
    return Said(
        kind="session",
        id=feedback.turn,
        text=feedback.change,
        quote=feedback.quote,
        skill=row.skills_used[-1] if row.skills_used else "",
        path="",
        project=row.main_dir,
        piece=_piece(row, feedback.confidence),
    )


def _piece(row: Row, sure: float) -> Piece:
    return Piece(row.session_id, seconds(row.datetime) or 0.0, sure)


def _lead(ask: Ask, rows: Sequence[Row], skills: Sequence[Skill]) -> _Lead:
    sessions = {piece.session for piece in ask.pieces}
    mine = tuple(row for row in rows if row.session_id in sessions)
    skill = _skill(ask, mine, skills)
    works = {(row.main_dir, row.work) for row in mine if row.work != "other"}
    again = any(sum((row.main_dir, row.work) == work for row in rows) >= SEVERAL for work in works)
    repeated = len(sessions) >= SEVERAL
    dimensions = [REPEATABLE] if skill is not None or again or repeated else []
    dimensions += [ROOM]  # the ask itself: a better way that the person knows
    dimensions += [REPEATED] if repeated else []
    return _Lead(ask, mine, skill, tuple(dimensions))


def _skill(ask: Ask, rows: Sequence[Row], skills: Sequence[Skill]) -> Skill | None:
    """Return the skill that an ask belongs to: one in use that has to do with it, else the one most like it."""
    used = {name for row in rows for name in row.skills_used}
    folders = [Path(row.main_dir) for row in rows if row.main_dir]
    wanted = content_stems(" ".join([ask.text, *(row.tasks[0].text for row in rows if row.tasks)]))
    likes = [
        (likeness(wanted, content_stems(f"{skill.name.replace('-', ' ')} {skill.front.description}")), skill)
        for skill in skills
        if skill.project is None or any(folder.is_relative_to(skill.project) for folder in folders)
    ]
    in_use = [(like, skill) for like, skill in likes if skill.name in used and like > 0]
    best = max(in_use or likes, key=lambda one: one[0], default=None)
    return best[1] if best and (best[0] >= _FITS or in_use) else None


def _extensions(leads: Sequence[_Lead]) -> list[Candidate]:
    by_skill: dict[Path, list[_Lead]] = {}
    for lead in leads:
        if lead.skill is not None:
            by_skill.setdefault(lead.skill.path, []).append(lead)
    return [
        Candidate(group[0].skill.name if group[0].skill else "", "extend", str(path), *_content(group))
        for path, group in by_skill.items()
    ]


def _creations(leads: Sequence[_Lead]) -> tuple[list[Candidate], list[Doc], list[Rejected]]:
    """Return new skills for kinds of work with enough to say, and what belongs into a project's own documents."""
    groups: dict[tuple[str, str], list[_Lead]] = {}
    docs: list[Doc] = []
    for lead in leads:
        project = lead.rows[0].main_dir if lead.rows else ""
        works = {row.work for row in lead.rows}
        if works == {"other"} or len(works) > 1:
            docs.append(Doc(project, lead.ask.text, _evidence([lead])))
        else:
            groups.setdefault((project, works.pop() if works else "other"), []).append(lead)
    made, missed = [], []
    for (project, work), group in groups.items():
        if len(group) < SEVERAL and all(REPEATED not in lead.dimensions for lead in group):
            missed += [Rejected(lead.ask.text, "enough to make a skill of: one rule, said once") for lead in group]
            continue
        made.append(Candidate(_name(project, work), "create", project, *_content(group)))
    return made, docs, missed


def _repeated_tasks(rows: Sequence[Row], skills: Sequence[Skill]) -> tuple[list[Candidate], list[Rejected]]:
    """Return the same request, made in several sessions, as skills to create; and what a skill does already."""
    tasks = [
        Said("task", task.turn, task.text, task.text, "", "", row.main_dir, _piece(row, _SURE))
        for row in rows
        for task in row.tasks
    ]
    made, known = [], []
    for ask in asks(tasks):
        sessions = {piece.session for piece in ask.pieces}
        if len(sessions) < SEVERAL:
            continue
        mine = tuple(row for row in rows if row.session_id in sessions)
        skill = _skill(ask, mine, skills)
        if skill is not None:
            known.append(Rejected(ask.text, f"{skill.name} is a skill for it already"))
            continue
        proofs = tuple(Proof(one.piece.session, one.id, one.quote) for one in ask.said)
        name = _name("", "-".join(_first_stems(ask.text)))
        made.append(Candidate(name, "create", mine[0].main_dir, (REPEATABLE, REPEATED), (ask.text,), proofs))
    return made, known


def _first_stems(text: str) -> list[str]:
    """Return the words of a text that say what it is about, the first few, for a name."""
    words = [word.strip(".,:;!'\"()").lower() for word in text.split()]
    telling = [word for word in words if word.isascii() and word.isalpha() and content_stems(word)]
    return list(dict.fromkeys(telling))[:_NAME_WORDS]


def _content(group: Sequence[_Lead]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Proof, ...]]:
    dimensions = [name for name in (REPEATABLE, ROOM, REPEATED) if any(name in lead.dimensions for lead in group)]
    return tuple(dimensions), tuple(lead.ask.text for lead in group), _evidence(group)


def _evidence(group: Sequence[_Lead]) -> tuple[Proof, ...]:
    return tuple(Proof(one.piece.session, one.id, one.quote) for lead in group for one in lead.ask.said)


def _name(project: str, work: str) -> str:
    base = "".join(char if char.isascii() and char.isalnum() else "-" for char in Path(project).name.lower())
    return "-".join(part for part in [*base.split("-"), work] if part)[:64]
