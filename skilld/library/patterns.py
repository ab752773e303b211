"""What recorded tasks have in common: success rate, duration, tools, places. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from skilld.store.tasks import Task

COMPLETED = "completed"
_TOOLS = 10
# What sort of work a task is, by the words it was asked for with.
_WORK: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
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


@dataclass(frozen=True, slots=True)
class Patterns:
    """Shares are 0 to 1 and None if there is nothing to share; durations are seconds."""

    tasks: int
    success_rate: float | None
    qa_rate: float | None
    average_seconds: float | None
    tools: dict[str, int]
    projects: dict[str, int]
    work: dict[str, int]


def patterns(tasks: Sequence[Task]) -> Patterns:
    """Return what the tasks have in common."""
    checked = [task.qa for task in tasks if task.qa is not None]
    timed = [task.seconds for task in tasks if task.seconds > 0]
    return Patterns(
        tasks=len(tasks),
        success_rate=_share(sum(task.status == COMPLETED for task in tasks), len(tasks)),
        qa_rate=_share(sum(checked), len(checked)),
        average_seconds=round(sum(timed) / len(timed), 1) if timed else None,
        tools=dict(Counter(tool for task in tasks for tool in task.tools).most_common(_TOOLS)),
        projects=dict(Counter(task.project for task in tasks if task.project).most_common()),
        work=dict(Counter(work_of(task.prompt) for task in tasks).most_common()),
    )


def work_of(prompt: str) -> str:
    """Return what sort of work a prompt asks for; `other` where its words do not tell."""
    return next((name for name, words in _WORK if words.search(prompt)), "other")


def learned_confidence(skill: float, qa_rate: float) -> float:
    """Return the confidence in what a checked task taught: its skill's and the checks' pass rate, weighed alike."""
    return round((skill + qa_rate) / 2, 3)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None
