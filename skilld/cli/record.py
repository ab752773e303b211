"""`skilld record` and `skilld feedback`: reports about tasks and skills, from a person or their tools."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path

from skilld import console
from skilld.cli import common, inventory, permissions
from skilld.clock import rfc3339
from skilld.errors import UsageError
from skilld.skills.find import FILE
from skilld.store import Store
from skilld.store.learnings import RECORDED, Learning
from skilld.store.tasks import Task
from skilld.types import Kind

_CONFIDENCE_WITHOUT_SKILL = 0.5  # in what a task done without a skill taught


def record(arguments: argparse.Namespace) -> int:
    """Store a task, or show statistics on past ones."""
    store = common.store_or_empty() if arguments.stats else common.store()
    if arguments.stats:
        if arguments.prompt:
            raise UsageError("Nothing was recorded", "--stats takes no task", "Give one of the two.")
        return _print_patterns(store, as_json=arguments.json)
    if not (arguments.prompt or "").strip():
        raise UsageError("Which task?", "no text given", 'skilld record "fix the login" --qa-passed')
    # An agent's account of its own result is not the person's word, and learnings are shown to agents again.
    doubt = permissions.person_doubt() if arguments.result else None
    task = _build_task(arguments)
    _check_skills(store, arguments.skill, Path(task.project))
    with store.transaction():
        store.records.add_task(task)
        if learned := bool(task.qa and task.result and not doubt):
            store.learnings.add(_build_learning(task, store.records.tasks()))
    if arguments.json:
        return common.write_json(asdict(task))
    kept = "; the result is kept as a learning." if learned else "."
    kept = f"; nothing was learned from it: {doubt.words}." if doubt else kept
    console.say(f"{task.id} recorded{kept}")
    return 0


def _check_skills(store: Store, skills: list[str], project: Path) -> None:
    """Raise SkilldError if a named skill neither exists here nor was ever used in a session."""
    if skills:
        rows = inventory.library_rows(store, project / FILE)
        known = {*(row.name for row in rows), *(one.name for one in store.overview.used())}
        for name in skills:
            if not {name, name.rpartition(":")[2]} & known:
                raise inventory.no_such_skill(name, known)


def _print_patterns(store: Store, *, as_json: bool) -> int:
    from skilld.library.patterns import find_patterns

    found = asdict(find_patterns(store.records.tasks(), store.past.sessions()))
    if as_json:
        return common.write_json(found)
    if not found["tasks"]:
        console.say("No tasks yet. A session in which the agent used tools is counted by `skilld run` once it is idle.")
        console.say('To record a task yourself: skilld record "fix the login" --qa-passed')
        return 0
    shown = {name: _format_value(name, found[name]) for name in _LABELS}
    for name, known in (("success_rate", found["success_known"]), ("qa_rate", found["qa_known"])):
        if found[name] is not None and known < found["tasks"]:
            shown[name] += f" (known for {known} of {found['tasks']})"
    console.table([(label, console.plain(shown[name])) for name, label in _LABELS.items()])
    return 0


_LABELS = {
    "tasks": "tasks", "success_rate": "completed", "qa_rate": "passed their checks", "average_seconds": "average time",
    "tools": "tools", "projects": "projects", "work": "work",
}  # fmt: skip


def _format_value(name: str, value: object) -> str:
    """Format one statistic: a share, a time, counts by name, or "unknown"."""
    if isinstance(value, float):
        return f"{value:.0%}" if name.endswith("_rate") else f"{value / 60:.1f} min"
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
    return "unknown" if value is None else str(value)


def _build_task(arguments: argparse.Namespace) -> Task:
    import hashlib

    redact = common.redactor()
    at = rfc3339(time.time())
    prompt = redact(common.as_text(arguments.prompt))
    return Task(
        id=hashlib.sha256(f"{at}\n{prompt}".encode()).hexdigest()[:10],
        prompt=prompt,
        project=str(common.resolve_folder(arguments.project)),
        status=arguments.status,
        tools=tuple(redact(common.as_text(tool)) for tool in arguments.tool),
        skills=tuple(redact(common.as_text(skill)) for skill in arguments.skill),
        seconds=arguments.seconds,
        result=redact(common.as_text(arguments.result)),
        qa=arguments.qa,
        at=at,
    )


def feedback(arguments: argparse.Namespace) -> int:
    """Store whether a skill helped."""
    from skilld.cli.skills.testing import past_session

    note = common.redactor()(common.as_text(arguments.note))
    session, store = common.as_text(arguments.session), common.store()
    if session and all(session != one for _, one, _, _ in store.overview.all_sessions()):
        session = past_session(session).id  # a prefix, or not followed, but with a transcript
    found = inventory.find_skill(store, arguments.skill, session)
    path = str(found.path)
    store.records.add_feedback(found.name, path, session, note, rfc3339(time.time()), helpful=arguments.helpful)
    said = "helped" if arguments.helpful else "did not help"
    console.say(f"Saved: {console.plain(found.name)} {said} ({console.plain(path)}).")
    return 0


def _build_learning(task: Task, tasks: list[Task]) -> Learning:
    from skilld.library.patterns import find_patterns, kind_of_work, learned_confidence

    alike = find_patterns([one for one in tasks if kind_of_work(one.prompt) == kind_of_work(task.prompt)])
    with_skill = find_patterns([one for one in tasks if set(one.skills) & set(task.skills)])
    sure = _CONFIDENCE_WITHOUT_SKILL if with_skill.qa_rate is None else with_skill.qa_rate
    return Learning(
        id=task.id,
        turn_key=f"record:{task.id}",
        quote=task.prompt,
        change=task.result,
        kind=Kind.FACT.value,
        agent=RECORDED,
        session_id=f"record:{task.id}",
        project=task.project,
        skill=task.skills[0] if task.skills else None,
        why_kept="learned from a task that passed its checks",
        confidence=learned_confidence(sure, alike.qa_rate or 0.0),
        created_at=task.at,
    )
