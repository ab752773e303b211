"""Names, descriptions and headings of new skills by a model: one question for all of them, within the day's budget.

Candidates enter and leave; where no model may be asked, or its words do not pass, they keep those that code drafted.
An answer is kept by the drafts it is about, so that a later run with the same ones need not ask again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from skilld.classify import prompt
from skilld.classify.title import Title, fitting
from skilld.daemon.budget import why_spent
from skilld.daemon.spawn import Worker
from skilld.errors import SkilldError
from skilld.mine.asking import BOOKED_UNDER
from skilld.mine.new_skill import NewSkill, new_skill
from skilld.mine.proposing import Run, checked
from skilld.mine.values import Candidate
from skilld.times import day, rfc3339
from skilld.types import Outcome, Usage


def titled(
    candidates: Sequence[Candidate], taken: Collection[str], run: Run, *, may_ask: bool
) -> tuple[tuple[Candidate, ...], str]:
    """Return the candidates, new skills among them with a model's words where those pass; and why none were asked for.

    `taken` are the names of the skills there are. Without `may_ask` only an answer that is kept is used.
    """
    drafts = {one: new_skill(one, day=day(time.time()), with_sessions=False) for one in candidates if one.creates}
    if not drafts:
        return tuple(candidates), ""
    told, why_not = _told([_text(one) for one in drafts.values()], run, may_ask=may_ask)
    numbers = {one: number for number, one in enumerate(drafts, 1)}
    names = {*taken, *(one.name for one in candidates)}
    named: list[Candidate] = []
    for one in candidates:
        suggested = told.get(numbers.get(one, 0))
        named.append(_with(one, drafts[one], suggested, names - {one.name}, run) if suggested else one)
        names.add(named[-1].name)
    return tuple(named), why_not


def _with(one: Candidate, drafted: NewSkill, suggested: Title, taken: Collection[str], run: Run) -> Candidate:
    """Return a candidate with what passes of a suggestion, itself where the skill would not pass with it."""
    rules = drafted.body.splitlines()
    said = [proof.quote for proof in one.evidence]
    own = Title(one.name, drafted.description, rules[0].lstrip("# "))
    passed = fitting(suggested, own, rules, said, taken)
    better = replace(one, name=passed.name or one.name, description=passed.description, title=passed.title)
    try:
        checked(better, new_skill(better, day=day(time.time()), with_sessions=False), run)
    except SkilldError:
        return one
    return better


def _text(drafted: NewSkill) -> str:
    return f"{drafted.name}\n\n{drafted.description}\n\n{drafted.body}"


def _told(texts: Sequence[str], run: Run, *, may_ask: bool) -> tuple[Mapping[int, Title], str]:
    """Return the answer about these drafts by their numbers, the kept one or a new one, and why there is none."""
    model, store = run.terms.spec.model, run.store
    content = "\n\0".join(["titles", model, prompt.VERSION, *texts])
    name = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    if (known := store.mining.found(name)) is not None:
        return _titles(known), ""
    why = why_spent(store.usage.on(day(time.time())), run.terms.limits)
    if why or not may_ask:
        return {}, f"today's budget is spent: {why}" if why else ""
    job = {"kind": "title", "umask": run.terms.umask, "backend": asdict(run.terms.spec), "texts": list(texts)}
    answers: list[Mapping[str, Any]] = []

    def keep(told: Mapping[str, Any]) -> None:
        with store.transaction():
            _book(run, told["model"], Usage(**told["usage"]))
            store.mining.keep(name, "", told["titles"], rfc3339(time.time()))
        answers.extend(told["titles"])

    result = Worker(job, run.terms.environment, run.terms.seconds * 2).result(keep)
    _book(run, model, Usage(**result.get("usage", {})))
    return _titles(answers), "" if result["outcome"] == Outcome.NOTHING.value else result["detail"]


def _book(run: Run, model: str, usage: Usage) -> None:
    run.store.usage.add(day(time.time()), model, BOOKED_UNDER, usage)
    run.spent.append(usage)


def _titles(told: Iterable[Mapping[str, Any]]) -> dict[int, Title]:
    return {one["skill"]: Title(one["name"], one["description"], one["title"]) for one in told}
