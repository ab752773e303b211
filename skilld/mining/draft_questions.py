"""Closed questions to a model about recurring tasks, within the daily budget: it chooses, and code writes the skills.

Which requests are one task, which lines of a draft belong in it, and what a new skill is called. If no model may be
asked, or an answer cannot be used, the skills stay those of the rules. Answers are stored under a hash of the question,
so a later run need not ask again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from skilld.classify import prompt
from skilld.classify.partial_results import TitleResult
from skilld.classify.question_jobs import GroupRequests, SelectLines, TitleSkills
from skilld.classify.title import Title, acceptable_title
from skilld.clock import local_day, rfc3339
from skilld.errors import SkilldError
from skilld.mining.actions import tokens
from skilld.mining.kinds import MIN_SESSIONS
from skilld.mining.new_skill import NewSkill, build_skill, project_name, task_name
from skilld.mining.proposing import MiningRun, check_skill
from skilld.mining.questions import DECLINED_REASON
from skilld.mining.recurring_tasks import MIN_STEPS
from skilld.mining.requests import Request, requests_with_actions
from skilld.mining.session_summary import Row
from skilld.mining.values import STEPS, Candidate, Grouping, Part, PartKind, RejectedCandidate, ToldTask
from skilld.protocol import NumbersResult, PartialResult
from skilld.text import fold, truncate
from skilld.types import Outcome

MayAsk = Callable[[Sequence[str]], bool]  # whether a question about these texts may be sent

# Which requests are the same task: one question about the newest of all projects, since people have habits, too.

_MAX_REQUESTS = 200
_MAX_REQUEST_LENGTH = 200
_MAX_COMMANDS, _MAX_FILES = 6, 2  # that are named with a request
_COMMAND_WORDS, _PATH_PARTS = 3, 3


def group_requests(rows: Sequence[Row], run: MiningRun, may_ask: MayAsk) -> tuple[Grouping, str]:
    """Return which requests are the same task, and why the model did not answer."""
    asked = [*requests_with_actions(rows, looks=True)][:_MAX_REQUESTS]
    numbers = {session: n for n, session in enumerate(dict.fromkeys(one.row.session_id for one in asked), 1)}
    if len(numbers) < MIN_SESSIONS:
        return Grouping(), ""
    several = len({one.row.project for one in asked}) > 1
    texts = tuple(_request_line(numbers[one.row.session_id], one, several=several) for one in asked)
    answer, why = _ask_numbers("tasks", texts, GroupRequests(run.terms.spec, texts), run, may_ask)
    places = [(one.row.session_id, one.task.turn) for one in asked]
    tasks = [
        ToldTask(frozenset(places[n - 1] for n in own), frozenset(places[n - 1] for n in more))
        for own, more in zip(answer[::2], answer[1::2], strict=True)
    ]
    return Grouping(tasks, frozenset(places)), why


def _request_line(session: int, one: Request, *, several: bool) -> str:
    """Return a request as the model sees it, with the beginnings of commands that followed it, and changed files."""
    ran = dict.fromkeys(" ".join(tokens(seen.text)[:_COMMAND_WORDS]) for seen in one.done if not seen.edits)
    changed = dict.fromkeys("/".join(seen.text.split("/")[-_PATH_PARTS:]) for seen in one.done if seen.edits)
    done = f" [ran: {'; '.join([*ran][:_MAX_COMMANDS])}]" if ran else ""
    done += f" [changed: {'; '.join([*changed][:_MAX_FILES])}]" if changed else ""
    where = f" in {project_name(one.row.project)}" if several else ""
    return f"session {session}{where}: {truncate(fold(one.task.text), _MAX_REQUEST_LENGTH)}{done}"


# Which lines of a draft belong in it: one question for all new drafts.

MAX_DRAFTS = 12  # that one question is about
_MAX_SHOWN_REQUESTS = 8
_LINE_KINDS = {
    PartKind.COMMAND: "step",
    PartKind.EDIT: "step: change this file",
    PartKind.READ: "step: read this file",
    PartKind.SAID: "said by the person",
    PartKind.TRAP: "pitfall",
    PartKind.FACT: "fact, said by the person",
    PartKind.RULE: "rule, said by the person",
    PartKind.PITFALL: "rule, said by the person",
}
_NO_TASK_REASON = "the model found no task in it that a skill could describe"


def select_lines(
    candidates: Sequence[Candidate], run: MiningRun, may_ask: MayAsk
) -> tuple[tuple[Candidate, ...], list[RejectedCandidate], str]:
    """Return the candidates with the lines that a model keeps in its order, those it dropped, and why it was not asked.

    It chooses among what is there, and one of the requests as the title; nothing is ever added. Candidates other than
    recurring tasks stay as they are.
    """
    drafts = {one: _draft_text(one) for one in candidates if one.recurrence}
    texts = tuple(drafts.values())
    work = SelectLines(run.terms.spec, texts, tuple(sum(map(len, _numbered_lines(one))) for one in drafts))
    answer, why = _ask_numbers("lines", texts, work, run, may_ask) if drafts else ((), "")
    if why:
        return tuple(candidates), [], why
    numbers = dict(zip(drafts, answer, strict=True))
    kept = {one: _with_lines(one, numbers[one]) if one in numbers else one for one in candidates}
    dropped = [RejectedCandidate(one.parts[0].text, _NO_TASK_REASON) for one, left in kept.items() if left is None]
    return tuple(left for left in kept.values() if left is not None), dropped, ""


def _numbered_lines(one: Candidate) -> tuple[tuple[str, ...], tuple[Part, ...]]:
    """Return what the numbers of a draft stand for: first the requests, any of which can be its title, then lines."""
    task = one.recurrence
    titles = dict.fromkeys((task.request, *task.wordings)) if task else {}
    return tuple(titles)[:_MAX_SHOWN_REQUESTS], one.parts[1:]


def _draft_text(one: Candidate) -> str:
    titles, parts = _numbered_lines(one)
    sessions = len({proof.session for part in one.parts for proof in part.proofs})
    lines = [f"{n}. (request) {truncate(fold(title), _MAX_REQUEST_LENGTH)}" for n, title in enumerate(titles, 1)]
    for n, part in enumerate(parts, len(titles) + 1):
        seen = len({proof.session for proof in part.proofs})
        check = ", the check at the end" if one.recurrence and part.text == one.recurrence.check else ""
        lines.append(f"{n}. ({_LINE_KINDS[part.sort]}{check}; {seen} of {sessions} sessions) {fold(part.text)}")
    return "\n".join(lines)


def _with_lines(one: Candidate, numbers: Sequence[int]) -> Candidate | None:
    """Return a candidate with these lines only, in this order; None if too little is left for a skill."""
    titles, parts = _numbered_lines(one)
    task = one.recurrence
    left = [parts[n - len(titles) - 1] for n in numbers if n > len(titles)]
    steps = [part for part in left if part.sort in STEPS]
    if task is None or len(left) < MIN_STEPS or not steps:
        return None
    if _is_reversed([part.text for part in steps], task.order):
        left.sort(key=parts.index)
    chosen = next((titles[n - 1] for n in numbers if n <= len(titles)), task.request)
    check = task.check if any(part.text == task.check for part in steps) else ""
    saved = replace(one.saved, steps=len(steps))
    return replace(
        one,
        name=task_name(chosen, task.examples, one.target),
        parts=(one.parts[0], *left),
        recurrence=replace(task, request=chosen, check=check),
        saved=saved,
        dimensions=(saved.why,),
    )


def _is_reversed(texts: Sequence[str], order: Collection[tuple[str, str]]) -> bool:
    """Whether steps come in an order that no session kept."""
    return any((later, earlier) in order for n, earlier in enumerate(texts) for later in texts[n + 1 :])


def _ask_numbers(
    kind: str, texts: Sequence[str], work: GroupRequests | SelectLines, run: MiningRun, may_ask: MayAsk
) -> tuple[Sequence[Sequence[int]], str]:
    """Return a stored or new answer, and why there is none."""
    model, store = run.terms.spec.model, run.store
    name = _stored_name(kind, model, *texts)
    if (known := store.mining.get(name)) is not None:
        return [one["numbers"] for one in known], ""
    why = run.terms.spent_reason(store)
    if why or not may_ask(texts):
        return (), why or DECLINED_REASON
    result = run.ask(work)
    if not isinstance(result, NumbersResult) or result.outcome is not Outcome.NOTHING:
        return (), result.detail or "the model did not answer"
    store.mining.save(name, "", [{"numbers": one} for one in result.numbers], rfc3339(time.time()))
    return result.numbers, ""


def _stored_name(*content: str) -> str:
    text = "\n\0".join([*content, prompt.VERSION])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


# Names, descriptions and headings of new skills: one question for all of them. Words that do not pass stay the drafted.


def with_titles(
    candidates: Sequence[Candidate], taken: Collection[str], run: MiningRun, may_ask: MayAsk
) -> tuple[tuple[Candidate, ...], str]:
    """Return the candidates, new skills with a model's titles if those pass, and why the model was not asked.

    `taken` are the names of existing skills. Without `may_ask` only a stored answer is used.
    """
    drafts = {
        one: build_skill(one, day=local_day(time.time()), with_sessions=False) for one in candidates if one.creates
    }
    if not drafts:
        return tuple(candidates), ""
    texts = [f"{one.name}\n\n{one.description}\n\n{one.body}" for one in drafts.values()]
    told, why_not = _model_titles(texts, run, may_ask)
    numbers = {one: number for number, one in enumerate(drafts, 1)}
    names = {*taken, *(one.name for one in candidates)}
    named: list[Candidate] = []
    for one in candidates:
        suggested = told.get(numbers.get(one, 0))
        named.append(_apply_title(one, drafts[one], suggested, names - {one.name}, run) if suggested else one)
        names.add(named[-1].name)
    return tuple(named), why_not


def _apply_title(one: Candidate, drafted: NewSkill, title: Title, taken: Collection[str], run: MiningRun) -> Candidate:
    """Return a candidate with the acceptable parts of a suggestion, unchanged if the skill would not pass with them."""
    rules = drafted.body.splitlines()
    quotes = [proof.quote for proof in one.evidence]
    own = Title(one.name, drafted.description, rules[0].lstrip("# "))
    passed = acceptable_title(title, own, rules, quotes, taken)
    better = replace(one, name=passed.name or one.name, description=passed.description, title=passed.title)
    try:
        check_skill(better, build_skill(better, day=local_day(time.time()), with_sessions=False), run)
    except SkilldError:
        return one
    return better


def _model_titles(texts: Sequence[str], run: MiningRun, may_ask: MayAsk) -> tuple[Mapping[int, Title], str]:
    """Return a stored or new answer about these drafts by their numbers, and why there is none."""
    model, store = run.terms.spec.model, run.store
    name = _stored_name("titles", model, *texts)
    if (known := store.mining.get(name)) is not None:
        return _titles_by_number(known), ""
    why = run.terms.spent_reason(store)
    if why or not may_ask(texts):
        return {}, why or DECLINED_REASON
    answers: list[Mapping[str, Any]] = []

    def keep(told: PartialResult) -> None:
        if isinstance(told, TitleResult):
            answers.extend(asdict(one) for one in told.titles)
            run.spent.append(told.usage)
            with store.transaction():
                store.mining.save(name, "", answers, rfc3339(time.time()))

    result = run.ask(TitleSkills(run.terms.spec, tuple(texts)), keep)
    return _titles_by_number(answers), "" if result.outcome is Outcome.NOTHING else result.detail


def _titles_by_number(told: Iterable[Mapping[str, Any]]) -> dict[int, Title]:
    return {one["skill"]: Title(one["name"], one["description"], one["title"]) for one in told}
