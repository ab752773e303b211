"""Tasks that were done in several sessions: which requests are one task, and what a skill for it would say. Pure.

Rows enter, candidates leave. Requests are one task by their words and by what was done after them, so that other names
and other words do not hide it. What the person said in those sessions goes into the first draft, whatever else became
of it; where it turns down what was done, that is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import turned_down
from skilld.library.clusters import Ask, Mention, asks
from skilld.mining.actions import Action, is_generic, names_machine
from skilld.mining.alike import LIKE, ActionRun, likeness, names_another
from skilld.mining.evidence import piece
from skilld.mining.new_skill import name_of, part_problem, plain_request, project_name, telling_words
from skilld.mining.procedure import Episode, Procedure, Trap, procedure
from skilld.mining.session_summary import Feedback, Row, Task
from skilld.mining.values import Candidate, Part, Proof, Recurrence, Savings, Sort
from skilld.skills.draft import SkillKind
from skilld.text import counted, fold
from skilld.types import Kind
from skilld.words import content_stems

SEVERAL, ENOUGH = 2, 3  # sessions: two only with effort
MIN_STEPS = 2
_MANY_STEPS = 6
_SAME_WORDS, _LIKE_WORDS = 0.6, 0.3
_MANY_ALIKE = 3
_HALF = 0.5
_MOSTLY = 0.6
_MAX_REQUESTS = 400  # that are held against each other, the newest: the work is their square
_MAX_DONE = 40  # actions of a request that tell whether it is the task of another one
_MAX_CORRECTIONS = 12
_SORTS = {Kind.FACT: Sort.FACT, Kind.CORRECTION: Sort.PITFALL}

_DO_NOT = re.compile(
    r"\b(?:do not|don['\u2019]?t|never|stop) (?:run|running|use|using|call|calling|execute|executing)"
    r" `?([^`.,;:()\n]{2,60})",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r" (?:here|there|in|on|for|because|since|as|at|anymore|again|directly|unless|before|after)\b", re.IGNORECASE
)
_PARTED = re.compile(r"[^\w]+|_+")
_FEW = 3  # stems
_TELLING_WHY = re.compile(
    r"(?:\d+|[a-z]\W|yes|yep|yeah|no|but|u?h+m*|i|we|it|the|an?|there|this|that|my|our|new|time|how|what|why|when"
    r"|is|are|was|did|do|does|have|has|got|more|just|then|first|next|one|another|also|and)\b|.*://",
    re.IGNORECASE,
)

Denied = Callable[[Row, Feedback], bool]


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that something was done for, with what was done next."""

    row: Row
    task: Task
    stems: frozenset[str]
    done: tuple[ActionRun, ...]
    # Of it what tells the task, by its program: all work in a project changes the same files.
    telling: Mapping[str, Sequence[ActionRun]]
    told: int


@dataclass(frozen=True, slots=True)
class Found:
    """A task that came again: the draft of it, or why there is none; the sessions' rows and its requests as one ask.

    `steps` are what tells it from other work, each as one of the sessions did it.
    """

    ask: Ask
    rows: tuple[Row, ...]
    candidate: Candidate | None
    missed: str = ""
    steps: tuple[ActionRun, ...] = ()


def recurring(rows: Sequence[Row], denied: Denied, *, chosen: bool = False) -> list[Found]:
    """Return the tasks that came in several sessions, those first that a skill would have saved most for.

    `denied` says of what was heard that it does not hold, or was decided against. Sessions that the person has `chosen`
    are a task even where they ran nothing but what any work runs, such as tests.
    """
    requests = [*_requests(rows)][:_MAX_REQUESTS]
    groups = [group for group in _groups(requests) if len({one.row.session_id for one in group}) >= SEVERAL]
    groups = [group for group in groups if not any(_continues(group, other) for other in groups if other is not group)]
    found = _each(groups, [(group, None) for group in groups], denied, chosen=chosen)
    # What is no task of its own ends none.
    tasks = [
        (group, one) for group, one in zip(groups, found, strict=True) if one.candidate and not _within(one, found)
    ]
    found = _each(groups, tasks, denied, chosen=chosen)
    found = [replace(one, candidate=None, missed=_PART) if _within(one, found) else one for one in found]
    return sorted(found, key=lambda one: -(one.candidate.saved.worth if one.candidate else 0))


_PART = "another skill of this run has all of its steps"


def _within(one: Found, found: Sequence[Found]) -> bool:
    """Whether all that tells a task is done for one that came in more sessions, too: it is a part of that."""
    rank = len(one.rows), len(one.steps)
    return bool(one.steps) and any(
        other.candidate is not None
        and other.rows[0].project == one.rows[0].project
        and (len(other.rows), len(other.steps)) > rank
        and all(any(likeness(step, known) >= LIKE for known in other.steps) for step in one.steps)
        for other in found
    )


def _each(
    groups: Sequence[list[_Request]],
    tasks: Sequence[tuple[list[_Request], Found | None]],
    denied: Denied,
    *,
    chosen: bool,
) -> list[Found]:
    """Return what each group comes to, where another one of `tasks` ends it: its request, or what begins it.

    The latter of those that came in more sessions: an agent goes on to them without being asked.
    """
    heads = [{(one.row.session_id, one.task.turn) for one in group} for group, _ in tasks]
    found = []
    for group in groups:
        others = [head for head, (task, _) in zip(heads, tasks, strict=True) if task is not group]
        sessions = len({one.row.session_id for one in group})
        begin = [
            other.steps[0]
            for task, other in tasks
            if other
            and task is not group
            and len(other.rows) > sessions
            and task[0].row.project == group[0].row.project
        ]
        found.append(_found(group, frozenset().union(*others), begin, denied, chosen=chosen))
    return found


def _requests(rows: Sequence[Row]) -> Iterator[_Request]:
    """Yield the requests that the agent did something for, the newest session first."""
    for row in sorted(rows, key=lambda one: one.datetime, reverse=True):
        said = {one.turn for one in row.user_feedback}
        for number, task in enumerate(row.tasks):
            # What was asked for with a lasting word in it is a request as well; it ends none.
            behind = next((one.turn for one in row.tasks[number + 1 :] if one.turn not in said), "")
            turns = _turns(row, task.turn, behind)
            done = tuple(
                ActionRun(row.session_id, turn, one.text, edits=one.edits, asked=row.asked)
                for one, turn in row.actions
                if turn in turns and not one.looks
            )
            if done:
                telling = [one for one in done if not (one.edits or is_generic(one.text) or names_machine(one.text))]
                by_program: dict[str, list[ActionRun]] = {}
                for one in telling[:_MAX_DONE]:
                    by_program.setdefault(next(iter(one.words), ""), []).append(one)
                told = sum(map(len, by_program.values()))
                yield _Request(row, task, content_stems(plain_request(task.text)), done, by_program, told)


def _turns(row: Row, first: str, behind: str) -> list[str]:
    """Return the keys of the turns from `first` on, up to `behind`."""
    if first not in row.turns:
        return []
    turns = list(row.turns[row.turns.index(first) :])
    return turns[: turns.index(behind)] if behind in turns else turns


def _groups(requests: Sequence[_Request]) -> list[list[_Request]]:
    """Return requests that are one task, each group the newest first."""
    groups: list[list[_Request]] = []
    for request in requests:
        share, group = max(
            ((_share(request, group), group) for group in groups), key=lambda one: one[0], default=(0.0, [])
        )
        if share >= _HALF:  # not only like one of them: long work is like itself from one session to the next
            group.append(request)
        else:
            groups.append([request])
    return _joined(groups)


def _joined(groups: Sequence[list[_Request]]) -> list[list[_Request]]:
    """Put groups together that are one task: what came first had nothing to be like yet."""
    joined = sorted(groups, key=len, reverse=True)
    for group in reversed(joined.copy()):
        others = [other for other in joined if other is not group]
        shares = ((sum(_share(one, other) for one in group) / len(group), other) for other in others)
        share, nearest = max(shares, key=lambda one: one[0], default=(0.0, []))
        if share >= _HALF:
            nearest += group
            joined.remove(group)
    return [sorted(group, key=lambda one: one.row.datetime, reverse=True) for group in joined]


def _share(request: _Request, group: Sequence[_Request]) -> float:
    """Return how much of a group, as far as it is of other sessions, is the task of a request."""
    others = [one for one in group if one.row.session_id != request.row.session_id]
    return sum(_one_task(request, one) for one in others) / len(others) if others else 0.0


def _continues(group: Sequence[_Request], other: Sequence[_Request]) -> bool:
    """Whether a task was only ever asked for after another one in the same session, so that it is a part of that."""
    before: dict[str, int] = {}
    for one in other:
        at = one.row.turns.index(one.task.turn)
        before[one.row.session_id] = min(at, before.get(one.row.session_id, at))
    return all(before.get(one.row.session_id, len(one.row.turns)) < one.row.turns.index(one.task.turn) for one in group)


def _one_task(one: _Request, other: _Request) -> bool:
    """Whether two requests are for the same task: by their words, or by less of them and what was done."""
    if one.row.project != other.row.project:
        return False
    together = len(one.stems | other.stems)
    words = len(one.stems & other.stems) / together if together else 0.0
    if words >= _SAME_WORDS:
        return True
    near = [  # two programs are two things
        max((likeness(seen, known), not names_another(seen, known)) for known in other.telling[program])
        for program in one.telling.keys() & other.telling.keys()
        for seen in one.telling[program]
    ]
    best = [like for like, _ in near]
    shared = sum(like >= LIKE for like in best)
    mostly = shared >= _MANY_ALIKE and shared / max(one.told, other.told) >= _MOSTLY
    mostly = mostly and (words > 0 or any(like >= LIKE and tells for like, tells in near))
    like = words >= _LIKE_WORDS or len(one.stems & other.stems) >= _MANY_ALIKE
    return mostly or (like and any(best)) or (shared >= SEVERAL and words > 0)


def _found(
    group: Sequence[_Request],
    others: frozenset[tuple[str, str]],
    begin: Sequence[ActionRun],
    denied: Denied,
    *,
    chosen: bool,
) -> Found:
    first = list({one.row.session_id: one for one in reversed(group)}.values())  # a session's own first request for it
    first.sort(key=lambda one: one.row.datetime, reverse=True)
    rows = tuple(one.row for one in first)
    ask = _ask(group)
    plainest = _plainest(first)
    asked = {(one.row.session_id, one.task.turn) for one in group}
    spans = [_span(one, others) for one in first]
    rounds = [_span(one, others | asked) for one in first]
    episodes = [_episode(one, turns, begin) for one, turns in zip(first, rounds, strict=True)]
    did = procedure(episodes, first.index(plainest))
    about = content_stems(_PARTED.sub(" ", "\n".join([did.request, *(step.text for step in did.steps)])))
    said = [
        (row, one)
        for row, turns in zip(rows, spans, strict=True)
        for one in row.user_feedback
        if one.turn in turns and not denied(row, one)
        if one.turn in _at_it(row, turns, asked) or content_stems(one.change) & about
    ]
    corrections = _corrections(said)
    did = _allowed(did, [part.text for part in corrections])
    telling = [part for part in corrections if not part_problem(part, rows[0].project)]  # the others are left out
    saved = _saved(rows, episodes, telling, did)
    own = tuple(step.seen[0] for step in did.steps if not (step.edits or is_generic(step.text)))
    if missed := _missed(saved, did, telling, chosen=chosen):
        return Found(ask, rows, None, missed, own)
    return Found(ask, rows, _candidate(ask, rows, did, corrections, saved), steps=own)


def _plainest(requests: Sequence[_Request]) -> _Request:
    """Return the request that says best what all of them are: no "we need", in words of what was done, short."""
    done = Counter(stem for one in requests for stem in content_stems(_PARTED.sub(" ", "\n".join(_texts(one)))))
    named = {stem for stem, times in done.items() if times >= max(SEVERAL, len(requests) * _HALF)}

    def rank(one: _Request) -> tuple[bool, float, float, int]:
        bare = plain_request(one.task.text)
        vague = bool(_TELLING_WHY.match(bare)) or "?" in one.task.text
        shared = sum(len(one.stems & other.stems) / max(len(one.stems | other.stems), 1) for other in requests)
        fits = len(one.stems & named) / max(len(one.stems), _FEW)
        return vague, -round(fits, 1), -round(shared, 1), len(bare)

    return min(requests, key=rank)


def _texts(one: _Request) -> Iterator[str]:
    return (seen.text for seen in chain.from_iterable(one.telling.values()))


def _ask(group: Sequence[_Request]) -> Ask:
    said = [
        Mention("task", one.task.turn, one.task.text, one.task.text, "", "", one.row.project, piece(one.row, 0.5))
        for one in group
    ]
    return Ask(tuple(sorted(said, key=lambda each: -each.piece.at)))


def _span(one: _Request, others: frozenset[tuple[str, str]]) -> list[str]:
    """Return the turns of a session that belong to a task: up to the request that begins another one."""
    turns = _turns(one.row, one.task.turn, "")
    end = next((n for n, turn in enumerate(turns) if n and (one.row.session_id, turn) in others), len(turns))
    return turns[:end]


def _at_it(row: Row, turns: Sequence[str], asked: Collection[tuple[str, str]]) -> set[str]:
    """Return those of a task's turns up to the next request for other work: what is said later may be about that."""
    said = {one.turn for one in row.user_feedback}
    worked = {turn for action, turn in row.actions if not action.looks}
    others = {one.turn for one in row.tasks if one.turn in worked - said and (row.session_id, one.turn) not in asked}
    found, here = set(), True
    for number, turn in enumerate(turns):
        here = not number or (turn not in others and (here or (row.session_id, turn) in asked))
        found |= {turn} if here else set()
    return found


def _episode(one: _Request, turns: Sequence[str], begin: Sequence[ActionRun]) -> Episode:
    """Return what was done in these turns, up to what begins another task, if something of this one came before."""
    actions: list[tuple[Action, str]] = []
    telling = False
    for action, turn in one.row.actions:
        if turn not in turns:
            continue
        if not (action.looks or action.edits or is_generic(action.text)):
            run = ActionRun(one.row.session_id, turn, action.text)
            if telling and any(likeness(run, other) >= LIKE for other in begin):
                break
            telling = True
        actions.append((action, turn))
    return Episode(one.row.session_id, one.task.turn, one.task.text, one.row.asked, tuple(actions))


def heard_as(row: Row, said: Feedback) -> Mention:
    """Return a lasting thing that was heard in a session as one that was said."""
    return Mention(said.kind, said.turn, said.change, said.quote, "", "", row.project, piece(row, said.confidence))


def _corrections(said: Sequence[tuple[Row, Feedback]]) -> list[Part]:
    """Return all that the person said in these sessions, each thing once, without what they said otherwise later."""
    parts: list[Part] = []
    for ask in asks(heard_as(row, one) for row, one in said):
        if any(contradicts(part.text, ask.text) for part in parts):
            continue
        kind = Kind(ask.said[0].kind)
        proofs = tuple(Proof(one.piece.session, one.id, one.quote) for one in ask.said)
        sure = max(one.piece.confidence for one in ask.said)
        parts.append(Part(_SORTS.get(kind, Sort.RULE), ask.text, proofs, kind, sure))
    return parts[:_MAX_CORRECTIONS]


def _allowed(did: Procedure, corrections: Sequence[str]) -> Procedure:
    """Leave out steps that the person turned down: what was done is no reason to do it again."""
    against = [stems for text in corrections for said in _against(text) if (stems := content_stems(said))]
    steps = tuple(step for step in did.steps if not _turned_down(step.text, against))
    traps = tuple(trap for trap in did.traps if not _turned_down(trap.worked, against))
    return Procedure(did.request, steps, traps, did.examples, did.left_out)


def _against(text: str) -> Iterator[str]:
    """Yield what an instruction turns down, as commands and their words: "npm" of "use pnpm, not npm"."""
    yield turned_down(text)
    yield from (_BEHIND.split(match[1])[0] for match in _DO_NOT.finditer(fold(text)))


def _turned_down(text: str, against: Iterable[frozenset[str]]) -> bool:
    words = content_stems(text)
    return any(stems <= words for stems in against)


def _missed(saved: Savings, did: Procedure, corrections: Sequence[Part], *, chosen: bool) -> str:
    """Return what a recurring task lacks to be worth a skill; "" where it lacks nothing."""
    # A call may have failed whose command no skill may repeat, or for the code's sake; a correction may be unheard.
    prevents = "a skill could not have prevented the failures" if saved.failures else "nothing failed"
    effort = len(did.traps) + len(corrections)
    own = sum(not step.edits and not is_generic(step.text) for step in did.steps)  # a commit and a push are no task
    if not did.steps and not effort:
        return "you asked for it more than once, but the sessions share no steps that a skill could capture"
    lacks_own = not own and not (chosen and effort)
    if lacks_own or (len(did.steps) < MIN_STEPS and not effort):
        return "these sessions share too few steps for a skill"
    if saved.sessions < ENOUGH and not effort and len(did.steps) < _MANY_STEPS:
        return f"it came up in only {counted(saved.sessions, 'session')}; {prevents}, and skilld found no corrections"
    if not effort and len(did.steps) <= MIN_STEPS:
        return f"it went well without a skill: {prevents}, and skilld found no corrections"
    return ""


def _saved(rows: Sequence[Row], episodes: Sequence[Episode], said: Sequence[Part], did: Procedure) -> Savings:
    """Return what a skill would have saved in these sessions: corrections, calls that failed, and what they cost."""
    turns = len({proof.turn for part in said for proof in part.proofs})
    failed = sum(action.failed and not action.looks for one in episodes for action, _ in one.actions)
    calls = sum(len(one.actions) for one in episodes)
    tokens = sum(row.tokens for row in rows)
    lost = min(1.0, (failed + turns) / calls) if calls else 0.0
    return Savings(len(rows), turns, failed, round(tokens * lost), len(did.steps))


def _candidate(ask: Ask, rows: Sequence[Row], did: Procedure, said: Sequence[Part], saved: Savings) -> Candidate:
    requests = tuple(Proof(one.piece.session, one.id, one.quote) for one in ask.said)
    parts = [Part(Sort.REQUEST, ask.text, requests)]
    parts += [_observed(Sort.EDIT if step.edits else Sort.COMMAND, step.text, step.seen) for step in did.steps]
    parts += [_observed(Sort.TRAP, _sentence(trap), trap.seen) for trap in did.traps]
    words = telling_words(did.request.replace("{{", " ").replace("}}", " "))
    named = [word for word in words if word not in did.examples]
    recurrence = Recurrence(did.request, did.examples, did.check.text if did.check else "", did.left_out)
    return Candidate(
        name_of(named or [project_name(rows[0].project), "task"]),
        "create",
        rows[0].project,
        SkillKind.WORKFLOW,
        (saved.why,),
        (*parts, *said),
        rows[0].work,
        recurrence=recurrence,
        saved=saved,
    )


def _observed(sort: Sort, text: str, seen: Iterable[ActionRun]) -> Part:
    return Part(sort, text, tuple(Proof(one.session, one.turn, one.text, observed=True) for one in seen))


def _sentence(trap: Trap) -> str:
    if trap.until:
        return f"`{trap.failed}` failed until `{trap.worked}` had run."
    return f"`{trap.failed}` failed; `{trap.worked}` worked."
