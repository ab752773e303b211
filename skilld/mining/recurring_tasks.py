"""Finds tasks that were done in several sessions, and drafts a skill for each. Pure: session rows in, candidates out.

Requests are grouped into a task by their words and by the actions that followed, so other names and wordings do not
hide it. What the person said in those sessions goes into the first draft, unless a file that is loaded anyway says it;
steps that it rejects are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import refused_part
from skilld.classify.rule_repeats import complains
from skilld.library.clusters import Ask, Mention, group_asks
from skilld.mining.actions import Action, is_generic
from skilld.mining.evidence import Known, ask_part, feedback_mention, session_piece
from skilld.mining.new_skill import part_problem, task_name
from skilld.mining.procedure import Procedure, Trap, find_procedure
from skilld.mining.requests import (
    Request,
    clearest_request,
    group_by_words,
    is_part_of,
    one_per_session,
    outline,
    requests_with_actions,
    turns_between,
)
from skilld.mining.said import (
    Sentence,
    is_complaint,
    misses_something,
    said_parts,
    sentences_of_turns,
    with_evidence,
    with_stop,
)
from skilld.mining.session_summary import Feedback, Row
from skilld.mining.similarity import MIN_SESSIONS, VARIABLE, ActionRun, step_similarity
from skilld.mining.values import Candidate, Grouping, Part, PartKind, Place, Proof, Savings, count_sessions
from skilld.mining.variables import Episode
from skilld.skills.draft import SkillKind
from skilld.text import fold, pluralize
from skilld.types import Kind
from skilld.values import value_class
from skilld.words import content_stems

MIN_EFFORTLESS_SESSIONS = 3  # two are enough only if there were corrections or failures
MIN_STEPS = 2
_MIN_EFFORTLESS_STEPS = 6
_MAX_REQUESTS = 400  # the newest ones are compared; the time is quadratic
_MAX_CORRECTIONS = 12
_MAX_NAMED = 3  # commands
_HOLE = re.compile(r"\{\{\w+\}\}")

_PROHIBITION_PATTERN = re.compile(
    r"\b(?:do not|don['\u2019]?t|never|stop) (?:run|running|use|using|call|calling|execute|executing)"
    r" `?([^`.,;:()\n]{2,60})",
    re.IGNORECASE,
)
_CLAUSE_END_PATTERN = re.compile(
    r" (?:here|there|in|on|for|because|since|as|at|anymore|again|directly|unless|before|after)\b", re.IGNORECASE
)


@value_class
class _Gate:
    """What a candidate must have: less if the person has `chosen` the sessions, or a model will have it `reviewed`.

    `other_work` has the requests that, according to the model, belong to no task.
    """

    chosen: bool
    reviewed: bool
    other_work: frozenset[Place]
    known: Known


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """The requests for one task, and the places of those that only continue it."""

    requests: list[Request]
    continued: frozenset[Place] = frozenset()

    @property
    def sessions(self) -> int:
        return len({one.row.session_id for one in self.requests})

    @property
    def places(self) -> frozenset[Place]:
        return frozenset(one.place for one in self.requests)


@value_class
class RecurringTask:
    """A recurring task: its requests as one ask, the rows of its sessions, and a draft or the reason for none.

    `steps` are the steps that distinguish it from other work, each as one of the sessions did it. `once` was said in
    only one session, which is too little for a skill.
    """

    ask: Ask
    rows: tuple[Row, ...]
    candidate: Candidate | None
    missed: str = ""
    steps: tuple[ActionRun, ...] = ()
    once: tuple[Part, ...] = ()


def find_recurring_tasks(
    rows: Sequence[Row], known: Known, *, chosen: bool = False, grouping: Grouping | None = None
) -> list[RecurringTask]:
    """Return the tasks of several sessions, those for which a skill would have saved most first.

    Sessions that the person has `chosen` are a task even if they only ran generic commands, such as tests. A model's
    `grouping` replaces the one by words and actions, and more becomes a candidate, for the model to review.
    """
    if grouping is None:
        rows = [replace(row, tasks=tuple(one for one in row.tasks if not one.long)) for row in rows]
    requests = [*requests_with_actions(rows, looks=grouping is not None)]
    requests = requests[:_MAX_REQUESTS] if grouping is None else requests
    told = grouping or Grouping()
    groups = _word_groups(requests) if grouping is None else _told_groups(requests, told)
    on_tasks = frozenset(chain.from_iterable((*task.requests, *task.continued) for task in told.tasks))
    gate = _Gate(chosen, grouping is not None, frozenset(told.asked) - on_tasks, known)
    found = _build_tasks(groups, [(group, None) for group in groups], gate)
    # A task that is part of another one does not end any task.
    tasks = [
        (group, one)
        for group, one in zip(groups, found, strict=True)
        if one.candidate and (gate.reviewed or not _is_covered(one, found))
    ]
    found = _build_tasks(groups, tasks, gate)
    if not gate.reviewed:
        found = [
            replace(one, candidate=None, missed=_COVERED_REASON) if _is_covered(one, found) else one for one in found
        ]
    return sorted(found, key=lambda one: -(one.candidate.saved.worth if one.candidate else 0))


def _told_groups(requests: Sequence[Request], told: Grouping) -> list[_Group]:
    groups = [
        _Group([one for one in requests if one.place in task.requests], frozenset(task.continued))
        for task in told.tasks
    ]
    return [group for group in groups if group.sessions >= MIN_SESSIONS]


def _word_groups(requests: Sequence[Request]) -> list[_Group]:
    """Group requests by words and actions. What is only ever asked for after another request continues that."""
    groups = [_Group(one) for one in group_by_words(requests)]
    groups = [group for group in groups if group.sessions >= MIN_SESSIONS]
    own = [group for group in groups if any(one.told for one in group.requests)]
    inside = {
        id(one): [other for other in groups if other is not one and is_part_of(one.requests, other.requests)]
        # "commit it" came after several tasks, and is not one itself.
        or (own if one not in own and is_part_of(one.requests, [*chain(*(each.requests for each in own))]) else [])
        for one in groups
    }
    return [
        replace(
            group,
            continued=frozenset(
                chain(
                    (request.place for one in groups if group in inside[id(one)] for request in one.requests),
                    ((one.row.session_id, turn) for one in group.requests for turn in one.continued),
                )
            ),
        )
        for group in groups
        if not inside[id(group)]
    ]


_COVERED_REASON = "another skill of this run has all of its steps"


def _is_covered(one: RecurringTask, found: Sequence[RecurringTask]) -> bool:
    """Whether a task of more sessions includes all the steps that identify this one."""
    rank = len(one.rows), len(one.steps)
    return bool(one.steps) and any(
        other.candidate is not None
        and other.rows[0].project == one.rows[0].project
        and (len(other.rows), len(other.steps)) > rank
        and all(any(step_similarity(step, known) >= VARIABLE for known in other.steps) for step in one.steps)
        for other in found
    )


def _build_tasks(
    groups: Sequence[_Group], tasks: Sequence[tuple[_Group, RecurringTask | None]], gate: _Gate
) -> list[RecurringTask]:
    """Build the task of each group. It ends at the request of another one of `tasks`, or at the first step of one.

    The first step counts only for tasks of more sessions: an agent goes on to them without being asked.
    """
    heads = [group.places for group, _ in tasks]
    found = []
    for group in groups:
        others = [head for head, (task, _) in zip(heads, tasks, strict=True) if task is not group]
        begin = [
            other.steps[0]
            for task, other in tasks
            if other
            and other.steps
            and task is not group
            and len(other.rows) > group.sessions
            and task.requests[0].row.project == group.requests[0].row.project
        ]
        found.append(_build_task(group, frozenset().union(*others), begin, gate))
    return found


def _build_task(group: _Group, others: frozenset[Place], begin: Sequence[ActionRun], gate: _Gate) -> RecurringTask:
    first = one_per_session(group.requests, reviewed=gate.reviewed)
    first.sort(key=lambda one: one.row.datetime, reverse=True)
    rows = tuple(one.row for one in first)
    ask = _ask_of(group.requests)
    plainest = clearest_request(first, reviewed=gate.reviewed)
    asked = group.places
    spans = [_task_turns(one, others) for one in first]
    resumed = group.continued if gate.reviewed else frozenset()
    rounds = [_round_turns(one, asked, others | gate.other_work, resumed) for one in first]
    episodes = [_episode(one, turns, begin) for one, turns in zip(first, rounds, strict=True)]
    did = find_procedure(episodes, first.index(plainest), reviewed=gate.reviewed)
    about = content_stems("\n".join([did.task.request, *(step.text for step in did.steps)]))
    feedback = [
        (row, one)
        for row, turns in zip(rows, spans, strict=True)
        for one in row.user_feedback
        if one.turn in turns and not gate.known.is_denied(row, one)
        if one.turn in _turns_on_task(row, turns, asked if gate.reviewed else asked | group.continued)
        or content_stems(one.change) & about
    ]
    corrections = [part for part in _correction_parts(feedback) if not _is_taken_back(part, rows)]
    if not gate.reviewed:
        did = _without_repairs(did, group.continued)
    did = _without_rejected_steps(did, [part.text for part in corrections])
    corrections = [*_without_standing(corrections, feedback, gate.known)]
    own = tuple(step.seen[0] for step in did.steps if step.is_own)
    corrections, said, once = _said_on_task(group, rows, corrections, gate)
    telling = [
        part for part in corrections if not part_problem(part, rows[0].project, in_task=True)
    ]  # the others are left out
    saved = _savings(rows, episodes, telling if gate.reviewed else [*telling, *said], did)
    did = replace(did, task=replace(did.task, done=outline(rows, rounds) if gate.reviewed else ()))
    if missed := _missing_reason(saved, did, [*telling, *said], gate):
        missed += "".join(f"; left out: `{one.command}`: {one.why}" for one in did.task.left_out[:_MAX_NAMED])
        return RecurringTask(ask, rows, None, missed, own)
    return RecurringTask(ask, rows, _candidate(ask, rows, did, [*corrections, *said], saved), "", own, tuple(once))


def _said_on_task(
    group: _Group, rows: Sequence[Row], corrections: list[Part], gate: _Gate
) -> tuple[list[Part], list[Part], list[Part]]:
    """Return the corrections, and what else the person said about how to do the task.

    If no model will review it, corrections have all of their evidence, what was said apart from them was said in
    several sessions, and the last list has what makes no rule: it was said once, or only complains.
    """
    asked = group.places | group.continued

    def unwanted(row: Row, one: Feedback | Sentence) -> bool:
        said = one if isinstance(one, Feedback) else Feedback(one.turn, one.quote, one.text, Kind.CORRECTION, 1.0)
        return gate.known.is_denied(row, said) or gate.known.stands(row, said)

    found: list[Sentence] = []
    known = [part.text for part in corrections] if gate.reviewed else []
    for row in rows:
        typed = {one.turn: one for one in row.tasks}
        begun = [n for n, turn in enumerate(row.turns) if (row.session_id, turn) in group.places]
        turns = _turns_on_task(row, row.turns[begun[0] :], asked) if begun else set[str]()
        if not gate.reviewed:
            turns -= {turn for turn in turns if (row.session_id, turn) in group.places}
        said = sentences_of_turns(row.session_id, typed, (turn for turn in row.turns if turn in turns))
        found += [one for one in said if not unwanted(row, one)]
        known += [one.quote for one in row.user_feedback if unwanted(row, one)]
    titles = [one.task.text for one in group.requests]

    def is_fit(part: Part) -> bool:
        against = any(contradicts(one.text, part.text) for one in corrections) and not misses_something(part.text)
        return not (against or _is_taken_back(part, rows)) and not part_problem(part, rows[0].project)

    if gate.reviewed:
        return corrections, [*filter(is_fit, said_parts(found, known, titles))], []
    corrections, others = with_evidence(corrections, filter(is_fit, said_parts(found, known, titles, loose=True)))
    rules = [part for part in others if not all(complains(proof.quote) for proof in part.proofs)]
    rules, others = with_evidence(rules, [part for part in others if part not in rules])
    others = [*rules, *others]
    often = [part for part in others if count_sessions([part]) >= MIN_SESSIONS and not complains(part.text)]
    return (
        corrections,
        [replace(part, text=with_stop(part.text)) for part in often],
        [part for part in others if part not in often],
    )


def _without_standing(parts: Iterable[Part], said: Sequence[tuple[Row, Feedback]], known: Known) -> Iterator[Part]:
    """Yield the parts that no other file says already, in any of the words that they were said in."""
    standing = {(row.session_id, one.turn, one.quote) for row, one in said if known.stands(row, one)}
    for part in parts:
        if not any((proof.session, proof.turn, proof.quote) in standing for proof in part.proofs):
            yield part


def _is_taken_back(part: Part, rows: Sequence[Row]) -> bool:
    """Whether the person contradicted a part in these sessions after the newest time that they said it."""
    places = {(row.session_id, turn): (row.datetime, at) for row in rows for at, turn in enumerate(row.turns)}
    said = max((places[key] for one in part.proofs if (key := (one.session, one.turn)) in places), default=None)
    tasks = ((places.get((row.session_id, one.turn)), one.text) for row in rows for one in row.tasks)
    return said is not None and any(
        at and at > said and contradicts(text, part.text) and not misses_something(text) for at, text in tasks
    )


def _ask_of(group: Sequence[Request]) -> Ask:
    mentions = [
        Mention(
            "task", one.task.turn, one.task.text, one.task.text, "", "", one.row.project, session_piece(one.row, 0.5)
        )
        for one in group
    ]
    return Ask(tuple(sorted(mentions, key=lambda each: -each.piece.at)))


def _task_turns(one: Request, others: frozenset[Place]) -> list[str]:
    """Return the turns of a session that belong to a task, up to the request that begins another one."""
    turns = turns_between(one.row, one.task.turn, "")
    end = next((n for n, turn in enumerate(turns) if n and (one.row.session_id, turn) in others), len(turns))
    return turns[:end]


def _round_turns(
    one: Request, asked: frozenset[Place], others: frozenset[Place], continued: frozenset[Place]
) -> list[str]:
    """Return the turns of one round of a task: without those on other work, up to where it is asked for again."""
    found, here = [], True
    for turn in _task_turns(one, asked):
        place = (one.row.session_id, turn)
        here = place in continued or (here and place not in others) or place == one.place
        found += [turn] if here else []
    return found


def _turns_on_task(row: Row, turns: Sequence[str], asked: Collection[Place]) -> set[str]:
    """Return the task's turns up to the next request for other work: what is said later may be about that."""
    corrected = {one.turn for one in row.user_feedback}
    worked = {turn for action, turn in row.actions if not action.read_only}
    others = {
        one.turn
        for one in row.tasks
        if one.turn in worked - corrected and (row.session_id, one.turn) not in asked and not is_complaint(one.text)
    }
    found, here = set(), True
    for number, turn in enumerate(turns):
        here = not number or (turn not in others and (here or (row.session_id, turn) in asked))
        found |= {turn} if here else set()
    return found


def _episode(one: Request, turns: Sequence[str], begin: Sequence[ActionRun]) -> Episode:
    """Return the actions in these turns, up to the first step of another task once this one has begun."""
    actions: list[tuple[Action, str]] = []
    telling = False
    for action, turn in one.row.actions:
        if turn not in turns:
            continue
        if not (action.read_only or action.edits or is_generic(action.text)):
            run = ActionRun(one.row.session_id, turn, action.text)
            if telling and any(step_similarity(run, other) >= VARIABLE for other in begin):
                break
            telling = True
        actions.append((action, turn))
    return Episode(one.row.session_id, one.task.turn, one.task.text, one.row.asked, tuple(actions))


def _correction_parts(said: Sequence[tuple[Row, Feedback]]) -> list[Part]:
    """Return what the person said in these sessions, each thing once, without what they contradicted later."""
    parts: list[Part] = []
    for ask in group_asks(feedback_mention(row, one) for row, one in said):
        if any(contradicts(part.text, ask.text) for part in parts):
            continue
        parts.append(ask_part(ask))
    return parts[:_MAX_CORRECTIONS]


def _without_repairs(did: Procedure, continued: frozenset[Place]) -> Procedure:
    """Return the procedure without files that were only changed after the person had added something."""
    repaired = (
        step for step in did.steps if step.edits and {(one.session, one.turn) for one in step.seen} <= continued
    )
    gone = frozenset(repaired)
    return replace(did, steps=tuple(step for step in did.steps if step not in gone))


def _without_rejected_steps(did: Procedure, corrections: Sequence[str]) -> Procedure:
    """Return the procedure without the steps that the person rejected."""
    against = [stems for text in corrections for said in _rejected_phrases(text) if (stems := content_stems(said))]
    steps = tuple(step for step in did.steps if not _is_rejected(step.text, against))
    traps = tuple(trap for trap in did.traps if not _is_rejected(trap.worked, against))
    return replace(did, steps=steps, traps=traps)


def _rejected_phrases(text: str) -> Iterator[str]:
    """Yield the phrases that an instruction rejects, such as "npm" in "use pnpm, not npm"."""
    yield refused_part(text)
    yield from (_CLAUSE_END_PATTERN.split(match[1])[0] for match in _PROHIBITION_PATTERN.finditer(fold(text)))


def _is_rejected(text: str, against: Iterable[frozenset[str]]) -> bool:
    words = content_stems(text)
    return any(stems <= words for stems in against)


def _missing_reason(saved: Savings, did: Procedure, corrections: Sequence[Part], gate: _Gate) -> str | None:
    """Return what a recurring task lacks to be worth a skill, None if nothing. A model judges what it will review."""
    if gate.reviewed and (did.task.done or corrections):
        return None
    # A failed call may be one that no skill may repeat, or be due to the code; a correction may not be recognized.
    prevents = "a skill could not have prevented the failures" if saved.failures else "nothing failed"
    effort = len(did.traps) + len(corrections)
    own = sum(step.is_own for step in did.steps)  # a commit and a push make no task
    if not did.steps and not effort:
        return "you asked for it more than once, but the sessions share no steps that a skill could capture"
    lacks_own = not own and not (gate.chosen and effort)
    if lacks_own or (len(did.steps) < MIN_STEPS and not effort):
        return "these sessions share too few steps for a skill"
    if saved.sessions < MIN_EFFORTLESS_SESSIONS and not effort and len(did.steps) < _MIN_EFFORTLESS_STEPS:
        return f"it came up in only {pluralize(saved.sessions, 'session')}; {prevents}, and skilld found no corrections"
    if not effort and len(did.steps) <= MIN_STEPS:
        return f"it went well without a skill: {prevents}, and skilld found no corrections"
    return None


def _savings(rows: Sequence[Row], episodes: Sequence[Episode], said: Sequence[Part], did: Procedure) -> Savings:
    """Return what a skill would have saved in these sessions: corrections, failed calls and what these cost."""
    turns = len({proof.turn for part in said for proof in part.proofs})
    failed = sum(action.failed and not action.read_only for one in episodes for action, _ in one.actions)
    calls = sum(not action.reads for one in episodes for action, _ in one.actions)
    tokens = sum(row.tokens for row in rows)
    lost = min(1.0, (failed + turns) / calls) if calls else 0.0
    return Savings(len(rows), turns, failed, round(tokens * lost), len(did.steps))


def _candidate(ask: Ask, rows: Sequence[Row], did: Procedure, said: Sequence[Part], saved: Savings) -> Candidate:
    requests = tuple(Proof(one.piece.session, one.id, one.quote) for one in ask.said)
    parts = [Part(PartKind.REQUEST, ask.text, requests)]
    parts += [
        _observed_part(
            PartKind.EDIT if step.edits else PartKind.READ if step.reads else PartKind.COMMAND, step.text, step.seen
        )
        for step in did.steps
    ]
    parts += [_observed_part(PartKind.TRAP, _trap_text(trap), trap.seen) for trap in did.traps]
    task = replace(did.task, check=did.check.text if did.check else "")
    done = "\n".join(step.text for step in did.steps)
    return Candidate(
        task_name(_HOLE.sub(" ", task.request), task.examples, rows[0].project, [*task.wordings, done]),
        "create",
        rows[0].project,
        SkillKind.WORKFLOW,
        (saved.why,),
        (*parts, *said),
        rows[0].work,
        recurrence=task,
        saved=saved,
    )


def _observed_part(sort: PartKind, text: str, seen: Iterable[ActionRun]) -> Part:
    return Part(sort, text, tuple(Proof(one.session, one.turn, one.text, observed=True) for one in seen))


def _trap_text(trap: Trap) -> str:
    if trap.until:
        return f"`{trap.failed}` failed until `{trap.worked}` had run."
    return f"`{trap.failed}` failed; `{trap.worked}` worked."
