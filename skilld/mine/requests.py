"""What was asked for again and again: one request in several sessions, or several that follow each other. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from skilld.draft import SkillKind
from skilld.memory.asks import Ask, Said, asks
from skilld.mine.leads import SEVERAL, Known, piece, proofs, rows_of, skill_for
from skilld.mine.naming import name_of, telling_words
from skilld.mine.rows import Row
from skilld.mine.template import others_of, template
from skilld.mine.values import REPEATABLE, REPEATED, ROOM, Candidate, Part, Proof, Rejected, Sort
from skilld.skills import Skill
from skilld.words import content_stems

_SURE = 0.5
_LEAST_STEMS = 3  # of a request that makes a skill of its own; as one of several steps a shorter one will do

Missed = list[Rejected]


def repeated(
    rows: Sequence[Row], skills: Sequence[Skill], known: Known, taken: Callable[[str, str], bool] | None = None
) -> tuple[list[Candidate], Missed]:
    """Return requests made in several sessions as skills to create, and those that are served or known already.

    `taken` says of a turn and its words that they did not stand the look into the transcript.
    """
    said = [
        Said("task", task.turn, task.text, task.text, "", "", row.project, piece(row, _SURE))
        for row in rows
        for task in row.tasks
        if taken is None or not taken(task.turn, task.text)
    ]
    order = {task.turn: number for row in rows for number, task in enumerate(row.tasks)}
    flows = _workflows(_several(said), order)
    in_flows = {one.id for flow, _ in flows for step in flow for one in step.said}
    again = _several(one for one in said if len(content_stems(one.text)) >= _LEAST_STEMS)
    made: list[Candidate] = []
    missed: Missed = []
    for steps, sessions in flows:
        whys = [known(step, "") for step in steps]
        if all(whys):
            missed.append(Rejected("; then ".join(step.text for step in steps), whys[0]))
        else:
            made.append(_workflow(steps, sessions, rows))
    for ask in again:
        if in_flows.issuperset(one.id for one in ask.said):
            continue
        skill = skill_for(ask, rows_of(ask, rows), skills)
        if why := f"{skill.name} is a skill for it already" if skill else known(ask, ""):
            missed.append(Rejected(ask.text, why))
        else:
            made.append(_request(ask, rows))
    return made, missed


def _several(said: Iterable[Said]) -> list[Ask]:
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
