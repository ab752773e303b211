"""The requests of past sessions with what the agent did for each, and which of them are the same task. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, takewhile

from skilld.mining.actions import Action, has_machine_path, is_beginning, is_generic, is_mcp_call, tokens, unfit_reason
from skilld.mining.courtesy import without_politeness
from skilld.mining.session_summary import Row, Task
from skilld.mining.similarity import (
    ELLIPSIS,
    MIN_SESSIONS,
    VARIABLE,
    ActionRun,
    differs_in_target,
    is_look,
    is_look_command,
    step_similarity,
    without_texts,
)
from skilld.mining.values import Part, PartKind, Place, Proof
from skilld.text import fold
from skilld.values import value_class
from skilld.words import content_stems

_MIN_SAME_SHARE, _MIN_SIMILAR_SHARE = 0.6, 0.3
_MIN_SHARED = 3
_MIN_ANSWERED_STEMS = 2  # of a request that was only answered
MIN_GROUP_SHARE = 0.5
_MIN_ACTION_SHARE = 0.6
_MAX_COMPARED = 400  # requests, the newest: the time is quadratic
_MAX_ACTIONS = 40  # of one request that are compared with those of another
_MIN_STEMS = 3
_MIN_NAMING_STEMS = 2  # of a request that a skill can be named after
_BACKGROUND_PATTERN = re.compile(
    r"(?:\d+|[a-z]\W|yes|yep|yeah|no|but|u?h+m*|i|we|it|the|an?|there|this|that|my|our|new|time|how|what|why|when"
    r"|is|are|was|did|do|does|have|has|got|more|just|then|first|next|one|another|also|and)\b|.*://",
    re.IGNORECASE,
)


@value_class
class Request:
    """A request and the actions that followed it."""

    row: Row
    task: Task
    stems: frozenset[str]
    done: tuple[ActionRun, ...]
    # The actions that identify the task, by program: all work in a project changes the same files.
    telling: Mapping[str, Sequence[ActionRun]]
    told: int
    # The stems of its words that differ between requests for the same task, such as a name.
    values: frozenset[str] = frozenset()
    # The turns of later requests that only continue it: "you forgot the header".
    continued: tuple[str, ...] = ()

    @property
    def task_stems(self) -> frozenset[str]:
        """The stems that say which task it is."""
        return self.stems - self.values or self.stems

    @property
    def place(self) -> Place:
        """Its session and turn."""
        return self.row.session_id, self.task.turn


def requests_with_actions(rows: Sequence[Row], *, looks: bool = False) -> Iterator[Request]:
    """Yield the requests that the agent acted on, newest session first; one that only continues another with that.

    With `looks`, also those that it read for, and those that say enough to be a task whose result is an answer; each
    stays by itself, for a model to say what continues what.
    """
    found = [_row_requests(row, looks=looks) for row in sorted(rows, key=lambda one: one.datetime, reverse=True)]
    if not looks:
        later = _continuing(found)
        found = [_row_requests(requests[0].row, later) if requests else [] for requests in found]
    for one in (one for requests in found for one in requests):
        if one.done or (looks and len(one.stems) >= _MIN_ANSWERED_STEMS):
            yield one


def _row_requests(row: Row, later: Collection[Place] = frozenset(), *, looks: bool = False) -> list[Request]:
    """Return the requests of a session, in order, without those `later` ones that continue the one before."""
    corrected = {one.turn for one in row.user_feedback}
    found = []
    for number, task in enumerate(row.tasks):
        if (row.session_id, task.turn) in later:
            continue
        # A request that is also lasting feedback, or that continues another one, does not end the request before it.
        rest = [one.turn for one in row.tasks[number + 1 :] if one.turn not in corrected]
        behind = next((turn for turn in rest if (row.session_id, turn) not in later), "")
        turns = turns_between(row, task.turn, behind)
        done = tuple(
            ActionRun(row.session_id, turn, one.text, edits=one.edits, reads=one.reads, asked=row.asked)
            for one, turn in row.actions
            if turn in turns and (not one.read_only or (looks and is_telling_look(one)))
        )
        telling = [
            one for one in done if not (one.edits or one.reads or is_generic(one.text) or has_machine_path(one.text))
        ]
        by_program: dict[str, list[ActionRun]] = {}
        for one in telling[:_MAX_ACTIONS]:
            by_program.setdefault(next(iter(one.words), ""), []).append(one)
        continued = tuple(turn for turn in turns if (row.session_id, turn) in later)
        stems, told = content_stems(without_politeness(task.text)), sum(map(len, by_program.values()))
        found.append(Request(row, task, stems, done, by_program, told, continued=continued))
    return found


def _continuing(sessions: Sequence[Sequence[Request]]) -> set[Place]:
    """Return the places of requests that only continue the one before them in their session.

    What the agent did for such a request, it did in another session right after a request like the one before.
    """
    first = [requests[0] for requests in sessions if requests]
    known = [one for requests in sessions for one in requests if one.told][:_MAX_COMPARED]
    found = set()
    for requests in sessions:
        begun: Request | None = None
        for one in requests:
            if begun and one.told and _continues(one, begun, known, first):
                found.add(one.place)
            elif one.told or begun is None:
                begun = one
    return found


def _continues(one: Request, begun: Request, known: Sequence[Request], first: Sequence[Request]) -> bool:
    others = [other for other in known if other.row.session_id != one.row.session_id]
    others = [other for other in others if other.row.project == one.row.project and begun.stems & other.stems]
    if not others or any(
        other.row.session_id != one.row.session_id and _words_share(one.stems, other.stems) >= _MIN_SIMILAR_SHARE
        for other in first
    ):
        return False  # it is also asked for by itself
    return any(_goes_on_alike(one, begun, other) for other in others)


def _goes_on_alike(one: Request, begun: Request, other: Request) -> bool:
    redone = {run.text for run in one.done if run.edits} & {run.text for run in begun.done if run.edits}
    if not redone and _words_share(one.stems, other.stems) >= _words_share(begun.stems, other.stems):
        return False
    shared = sum(_is_step_of(seen, others) for seen, others in _comparable(one, other))
    alike = _words_share(begun.stems, other.stems) >= _MIN_SIMILAR_SHARE
    return shared >= (1 if alike else MIN_SESSIONS) and shared / one.told >= MIN_GROUP_SHARE


def is_telling_look(one: Action) -> bool:
    """Whether an action that changes nothing can be what a request is about, such as a file read or a comparison."""
    return one.reads or is_look(one) or is_mcp_call(one.text) or is_beginning(one.text)


def turns_between(row: Row, first: str, behind: str) -> list[str]:
    """Return the keys of the turns from `first` up to `behind`, without `behind`."""
    if first not in row.turns:
        return []
    turns = list(row.turns[row.turns.index(first) :])
    return turns[: turns.index(behind)] if behind in turns else turns


_Same = Mapping[Place, Collection[Place]]  # the places of requests that are the same task


def group_by_words(requests: Sequence[Request]) -> list[list[Request]]:
    """Group the requests by task, the newest first in each group."""
    known = _with_values(requests)
    same: dict[Place, set[Place]] = {one.place: set() for one in known}
    for other, one in combinations(known, 2):
        if _is_same_task(one, other):
            same[one.place].add(other.place)
            same[other.place].add(one.place)
    groups: list[list[Request]] = []
    for request in known:
        share, group = max(
            ((_matching_share(request, group, same), group) for group in groups),
            key=lambda one: one[0],
            default=(0.0, []),
        )
        # Being like one of them is not enough: long work resembles itself across sessions.
        if share >= MIN_GROUP_SHARE:
            group.append(request)
        else:
            groups.append([request])
    return _merge_groups(groups, same)


def _with_values(requests: Sequence[Request]) -> list[Request]:
    """Return the requests with their values: "onboard alpha" and "onboard beta" are one task.

    A value is the word in which two requests differ, if their commands differ in it too and neither came up again as
    it is: who asks to "build docs" and to "build site" several times each has two tasks.
    """
    again = Counter((one.row.project, one.stems) for one in requests)
    ran = [_command_stems(one) for one in requests]
    values: list[set[str]] = [set() for _ in requests]
    alike: dict[tuple[str, frozenset[str]], list[tuple[int, str]]] = {}  # by all words but one
    for at, one in enumerate(requests):
        for stem in one.stems if again[one.row.project, one.stems] == 1 and len(one.stems) > 1 else ():
            alike.setdefault((one.row.project, one.stems - {stem}), []).append((at, stem))
    for (at, mine), (there, theirs) in chain.from_iterable(combinations(group, 2) for group in alike.values()):
        apart = requests[at].row.session_id != requests[there].row.session_id
        if apart and mine in ran[at] - ran[there] and theirs in ran[there] - ran[at]:
            values[at].add(mine)
            values[there].add(theirs)
    return [replace(one, values=frozenset(found)) for one, found in zip(requests, values, strict=True)]


def _command_stems(request: Request) -> frozenset[str]:
    """Return the stems of the words of the commands that identify a request."""
    texts = (run.text for runs in request.telling.values() for run in runs)
    return content_stems("\n".join(texts))


def _merge_groups(groups: Sequence[list[Request]], same: _Same) -> list[list[Request]]:
    """Merge groups that are one task: the first requests had nothing to be compared with."""
    joined = sorted(groups, key=len, reverse=True)
    for group in reversed(joined.copy()):
        others = [other for other in joined if other is not group]
        shares = ((sum(_matching_share(one, other, same) for one in group) / len(group), other) for other in others)
        share, nearest = max(shares, key=lambda one: one[0], default=(0.0, []))
        if share >= MIN_GROUP_SHARE:
            nearest += group
            joined.remove(group)
    return [sorted(group, key=lambda one: one.row.datetime, reverse=True) for group in joined]


def _matching_share(request: Request, group: Sequence[Request], same: _Same) -> float:
    """Return the share of a group's requests from other sessions that are the same task as a request."""
    others = [one.place for one in group if one.row.session_id != request.row.session_id]
    return sum(place in same[request.place] for place in others) / len(others) if others else 0.0


def is_part_of(group: Sequence[Request], other: Sequence[Request]) -> bool:
    """Whether a task was only ever requested after another one in the same session, so it is a part of that."""
    before: dict[str, int] = {}
    for one in other:
        at = one.row.turns.index(one.task.turn)
        before[one.row.session_id] = min(at, before.get(one.row.session_id, at))
    return all(before.get(one.row.session_id, len(one.row.turns)) < one.row.turns.index(one.task.turn) for one in group)


def _is_same_task(one: Request, other: Request) -> bool:
    """Whether two requests are for the same task, by their words, or by fewer shared words and their actions."""
    if one.row.project != other.row.project:
        return False
    mine, theirs = one.task_stems, other.task_stems
    words = _words_share(mine, theirs)
    if words >= _MIN_SAME_SHARE:
        return True
    if words >= _MIN_SIMILAR_SHARE or len(mine & theirs) >= _MIN_SHARED:
        return any(step_similarity(seen, known) for seen, others in _comparable(one, other) for known in others)
    if words:
        return _alike(one, other, MIN_SESSIONS)
    # Without common words most actions must be alike, and one must have the same target.
    return _alike(one, other, max(_MIN_SHARED, _MIN_ACTION_SHARE * max(one.told, other.told))) and any(
        step_similarity(seen, known) >= VARIABLE and not differs_in_target(seen, known)
        for seen, others in _comparable(one, other)
        for known in others
    )


def _words_share(mine: frozenset[str], theirs: frozenset[str]) -> float:
    together = len(mine | theirs)
    return len(mine & theirs) / together if together else 0.0


def _alike(one: Request, other: Request, least: float) -> bool:
    """Whether at least so many actions of the request with fewer of them may be steps of the other one."""
    few, many = sorted((one, other), key=lambda request: request.told)
    pairs = [*_comparable(few, many)]
    found = 0
    for at, (seen, others) in enumerate(pairs):
        if found >= least or found + len(pairs) - at < least:
            break
        found += _is_step_of(seen, others)
    return found >= least


def _is_step_of(one: ActionRun, others: Sequence[ActionRun]) -> bool:
    return any(step_similarity(one, other) >= VARIABLE for other in others)


def _comparable(one: Request, other: Request) -> Iterator[tuple[ActionRun, Sequence[ActionRun]]]:
    """Yield each action of a request with those of another one that may be like it: those of the same program."""
    for program in one.telling.keys() & other.telling.keys():
        for seen in one.telling[program]:
            yield seen, other.telling[program]


def one_per_session(group: Sequence[Request], *, reviewed: bool) -> list[Request]:
    """Return each session's first request for a task, or, if `reviewed`, the one with most of what others did."""
    heads = {one.place: {tuple(seen.words[:2]) for seen in one.done if not (seen.edits or seen.reads)} for one in group}
    chosen: dict[str, tuple[int, Request]] = {}
    for one in group:  # the newest first: of equal ones the first remains
        others = set[tuple[str, ...]]().union(
            *(heads[other.place] for other in group if other.row.session_id != one.row.session_id)
        )
        shared = len(heads[one.place] & others) if reviewed else 0
        known = chosen.get(one.row.session_id)
        if known is None or shared > known[0]:
            chosen[one.row.session_id] = shared, one
    return [one for _, one in chosen.values()]


def clearest_request(requests: Sequence[Request], *, reviewed: bool) -> Request:
    """Return the request that describes the task best: an order, in words that the actions have too, and short."""
    done: Counter[str] = Counter()
    for one in requests:
        done.update(content_stems("\n".join(seen.text for seen in chain.from_iterable(one.telling.values()))))
    named = {stem for stem, times in done.items() if times >= max(MIN_SESSIONS, len(requests) * MIN_GROUP_SHARE)}

    def rank(one: Request) -> tuple[bool, float, float, int]:
        bare = without_politeness(one.task.text)
        vague = bool(_BACKGROUND_PATTERN.match(bare)) or "?" in one.task.text
        vague = vague or (reviewed and len(one.stems) < _MIN_NAMING_STEMS)
        shared = sum(len(one.stems & other.stems) / max(len(one.stems | other.stems), 1) for other in requests)
        typical = len(one.stems & named) / max(len(one.stems), _MIN_STEMS)
        return vague, -round(typical, 1), -round(shared, 1), len(bare)

    return min(requests, key=rank)


# What each session did for a task, one thing after another: rows in, parts with one proof each out.
#
# Sessions that do the same task seldom run the same commands. A model that sees how several of them went can word a
# step that covers them; `skilld.mining.wording` checks each of its words against what it names.

MAX_SESSIONS = 6  # the newest ones
_MAX_SHOWN_ACTIONS = 14  # of one session: the first and last ones
_MAX_READS = 4
_MIN_WORDS, _MAX_WORDS = 2, 3  # of a command's beginning
_UNFIT_NOTE = ", with options that no skill may have"  # the comma: no command begins like this


def outline(rows: Sequence[Row], rounds: Sequence[Collection[str]]) -> tuple[Part, ...]:
    """Return what each session did in these turns, the newest session first, and how it answered at the end."""
    found: list[Part] = []
    shown = 0
    for row, turns in zip(rows, rounds, strict=True):
        parts = [*_work(row, turns), *_answer(row, turns)]
        shown += bool(parts)
        if shown <= MAX_SESSIONS:
            found += parts
    return tuple(found)


def _work(row: Row, turns: Collection[str]) -> list[Part]:
    """Return a session's commands and files in order; each once, a file with all parts of it that were written."""
    seen: dict[tuple[str, bool, bool], tuple[Part, tuple[str, ...]]] = {}
    for one, turn in row.actions:
        is_telling = one.ran and (not one.read_only or is_telling_look(one))
        text = _fit_text(one) if turn in turns and is_telling else ""
        if text:
            sort = PartKind.EDIT if one.edits else PartKind.READ if one.reads else PartKind.COMMAND
            key = text, one.edits, one.reads
            part, about = seen.get(key, (Part(sort, text, (Proof(row.session_id, turn, one.text, observed=True),)), ()))
            seen[key] = part, tuple(dict.fromkeys((*about, *one.about)))
    changed = {text for text, edits, _ in seen if edits}
    reads = [part for part, _ in seen.values() if part.sort is PartKind.READ and part.text not in changed][:_MAX_READS]
    kept = [each for each in seen.values() if each[0].sort is not PartKind.READ or each[0] in reads]
    if len(kept) > _MAX_SHOWN_ACTIONS:
        kept = [each for each in kept if not is_look_command(each[0].text)]
    if len(kept) > _MAX_SHOWN_ACTIONS:
        kept = [*kept[: _MAX_SHOWN_ACTIONS // 2], *kept[-_MAX_SHOWN_ACTIONS // 2 :]]
    return [replace(part, text=fold(f"{part.text}: {'; '.join(about)}")) if about else part for part, about in kept]


def _fit_text(one: Action) -> str:
    """Return what may be shown of an action: of a command that no skill may repeat only what it was, in words."""
    if not unfit_reason(one.text):
        return one.text
    if one.edits or one.reads:
        return ""
    bare = one.text.rpartition("&& ")[2]
    words = [*takewhile(lambda word: word[0] not in "-\"'$|<>", tokens(bare))][:_MAX_WORDS]
    head = " ".join(words)
    if len(words) < _MIN_WORDS or unfit_reason(head):
        return ""
    only_its_texts = not unfit_reason(without_texts(ActionRun("", "", bare)))
    return f"{head} {ELLIPSIS}" if only_its_texts else f"{head}{_UNFIT_NOTE}"


def _answer(row: Row, turns: Collection[str]) -> Iterator[Part]:
    """Yield how the last of these turns with headings or a table was answered."""
    last = next((each for each in reversed(row.answers) if each[1] in turns), None)
    if last is not None:
        text = "; ".join(last[0])
        yield Part(PartKind.ANSWER, text, (Proof(row.session_id, last[1], text, observed=True),))
