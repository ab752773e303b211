"""Statistics of past work: success rate, duration, tools, projects. Pure.

They cover the tasks that a person or a tool recorded, and the sessions that the daemon has surveyed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from skilld.past import PastSession
from skilld.store.tasks import Task
from skilld.values import value_class

COMPLETED = "completed"
# Commands that check work.
CHECK_PATTERN = re.compile(
    r"(?:^|[\s/:_-])(?:tests?|pytest|jest|vitest|rspec|checks?|lint|verify|validate|smoke|typecheck|tsc|mypy|ruff"
    r"|eslint|clippy|vet|tox|nox|e2e|doctor|healthz?|build|compile)(?:$|[\s/:._-])",
    re.IGNORECASE,
)
_MAX_TOOLS = 10
# Kinds of work, by words of the request.
_WORK_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"\b(?:{words})", re.IGNORECASE))
    for name, words in (
        ("debugging", "bugs?\\b|debug|fix|crash|error|fail|broken|regress"),
        ("testing", "tests?\\b|testing|coverage|assert|mock"),
        ("optimization", "optimi[sz]|faster|slow|speed|perform|memory|latency"),
        ("refactoring", "refactor|rename|clean ?up|simplif|split|extract|restructur"),
        ("documentation", "docs?\\b|document|readme|changelog|comment|release notes"),
        ("deployment", "deploy|release|publish|roll ?out|ship|migrat"),
    )
)


@value_class
class Patterns:
    """Rates are 0 to 1, and None without data; durations are in seconds.

    `success_known` and `qa_known` are the numbers of tasks that the rates are of: how most sessions ended is unknown.
    """

    tasks: int
    success_rate: float | None
    qa_rate: float | None
    success_known: int
    qa_known: int
    average_seconds: float | None
    tools: dict[str, int]
    projects: dict[str, int]
    work: dict[str, int]


def find_patterns(tasks: Sequence[Task], sessions: Iterable[PastSession] = ()) -> Patterns:
    """Return the statistics of tasks and sessions. A session counts as a success if its last check passed."""
    done = [(one.cwd, one.done) for one in sessions if one.done is not None and one.done.calls]
    checked = [task.qa for task in tasks if task.qa is not None]
    checked += [one.passed for _, one in done if one.passed is not None]
    ended = [task.status == COMPLETED for task in tasks] + [one.passed for _, one in done if one.passed is not None]
    timed = [took for took in (*(task.seconds for task in tasks), *(one.seconds for _, one in done)) if took > 0]
    tools = [name for used in (*(task.tools for task in tasks), *(one.tools for _, one in done)) for name in used]
    places = [*(task.project for task in tasks), *(cwd for cwd, _ in done)]
    work = [*(kind_of_work(task.prompt) for task in tasks), *(one.work for _, one in done)]
    return Patterns(
        tasks=len(tasks) + len(done),
        success_rate=_share(sum(ended), len(ended)),
        qa_rate=_share(sum(checked), len(checked)),
        success_known=len(ended),
        qa_known=len(checked),
        average_seconds=round(sum(timed) / len(timed), 1) if timed else None,
        tools=dict(Counter(tools).most_common(_MAX_TOOLS)),
        projects=dict(Counter(filter(None, places)).most_common()),
        work=dict(Counter(work).most_common()),
    )


def kind_of_work(prompt: str) -> str:
    """Return the kind of work that a prompt asks for; "other" if its words do not tell."""
    return next((name for name, words in _WORK_PATTERNS if words.search(prompt)), "other")


def learned_confidence(skill: float, qa_rate: float) -> float:
    """Return the confidence in what a checked task taught: the mean of its skill's confidence and the pass rate."""
    return round((skill + qa_rate) / 2, 3)


def _share(part: int, total: int) -> float | None:
    return round(part / total, 3) if total else None
