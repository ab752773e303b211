"""Figures on finding: which skills are recommended for a task, and whether none is recommended if none fits.

A file has rows for skills with their descriptions, for things said about them, and for tasks with the skills that fit.
Judged by the code of `skilld recommend`, by words alone or with a model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from skilld.classify.backends import Backend
from skilld.classify.backends.model import Model
from skilld.classify.closed_questions import skill_fit
from skilld.errors import SkilldError
from skilld.library.clusters import Mention, Piece
from skilld.library.recommend import model_recommendations, recommend, skill_summary, skills_to_ask
from skilld.scoring.stored import NoAnswerError
from skilld.skills import Skill, Source
from skilld.skills.spec import FrontMatter
from skilld.values import value_class

MAX_RANK = 3  # a fitting skill must be among so many
_NOW, _CONFIDENCE = 1e9, 0.8  # of every thing said


@value_class
class Task:
    """A request, its language, and the names of the skills that fit, if any."""

    text: str
    language: str
    fits: tuple[str, ...]


@value_class
class TaskFile:
    """The skills of a file, the things said about them, and the tasks."""

    name: str
    skills: tuple[Skill, ...]
    said: tuple[Mention, ...]
    tasks: tuple[Task, ...]


@value_class
class JudgedTask:
    """A task and the skills found for it, the best first; without a model's answer, found by words alone."""

    file: str
    task: Task
    found: tuple[str, ...]
    answered: bool = True

    @property
    def is_right(self) -> bool:
        """Whether a fitting skill is among the first, or none was found if none fits."""
        return bool(set(self.task.fits) & set(self.found[:MAX_RANK])) if self.task.fits else not self.found


def load(paths: Sequence[Path]) -> list[TaskFile]:
    """Load task files. Raises SkilldError for other files."""
    return [_load_file(path) for path in paths]


def _load_file(path: Path) -> TaskFile:
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        skills = [_skill(row["skill"], row["description"]) for row in rows if "skill" in row]
        said = [_mention(number, row["said"], row["about"]) for number, row in enumerate(rows) if "said" in row]
        tasks = [Task(row["query"], row["language"], tuple(row["fits"])) for row in rows if "query" in row]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SkilldError(f"Cannot read {path}", str(error)) from error
    if not tasks:
        raise SkilldError(f"Cannot read {path}", "no line has a query", "See tests/data/finding for the format.")
    return TaskFile(path.stem, tuple(skills), tuple(said), tuple(tasks))


def _skill(name: str, description: str) -> Skill:
    path = Path("/skills") / name / "SKILL.md"
    return Skill(name, path, Source.USER, None, (), FrontMatter(name, description))


def _mention(number: int, text: str, skill: str) -> Mention:
    return Mention("learning", str(number), text, text, skill, "", "", Piece(f"s{number}", _NOW, _CONFIDENCE))


def judge(files: Sequence[TaskFile], make: Callable[[], Backend]) -> Iterator[JudgedTask]:
    """Yield the skills found for each task."""
    for file in files:
        for task in file.tasks:
            found = recommend(task.text, file.said, file.skills, now=_NOW)
            backend, answered = make(), True
            if isinstance(backend, Model):
                asked = skills_to_ask(file.skills, found)
                try:
                    numbers = backend.answer(skill_fit(task.text, [skill_summary(one, found) for one in asked]))
                    found = model_recommendations(numbers, asked, found)
                except NoAnswerError:
                    answered = False
            yield JudgedTask(file.name, task, tuple(one.skill or one.because[0].text for one in found), answered)


def figures(judged: Sequence[JudgedTask]) -> dict[str, Any]:
    """Return the figures for `skilld eval finding --json`: for all tasks, and for each file."""
    files = dict.fromkeys(one.file for one in judged)
    return {
        "kind": "finding",
        "n": len(judged),
        "unanswered": sum(not one.answered for one in judged),
        **_figures(judged),
        "by_file": {file: _figures([one for one in judged if one.file == file]) for file in files},
    }


def _figures(judged: Sequence[JudgedTask]) -> dict[str, Any]:
    fitting = [one.is_right for one in judged if one.task.fits]
    others = [one.is_right for one in judged if not one.task.fits]
    return {
        "with_skill": len(fitting),
        "found": sum(fitting),
        "found_share": round(sum(fitting) / len(fitting), 4) if fitting else None,
        "without_skill": len(others),
        "left_alone": sum(others),
        "left_alone_share": round(sum(others) / len(others), 4) if others else None,
    }


def outcome_rows(judged: Sequence[JudgedTask]) -> list[dict[str, Any]]:
    """Return the outcome of each task."""
    return [
        {"file": one.file, "task": one.task.text, "fits": one.task.fits, "found": one.found}
        | {"right": one.is_right, "answered": one.answered}
        for one in judged
    ]
