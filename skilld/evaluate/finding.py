"""Figures on finding: which skills are recommended for a task, and whether none is where none fits.

One file is one shelf: rows of a skill with its description, of a thing said about one, and of a task with the skills
that fit it. Judged by the code of `skilld recommend`, by words alone or with a model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.classify.backends import Backend
from skilld.classify.backends.model import Model
from skilld.errors import SkilldError
from skilld.evaluate.stored import NoAnswerError
from skilld.library.clusters import Mention, Piece
from skilld.library.recommend import model_recommendations, recommend, skill_summary, skills_to_ask
from skilld.skills import Skill, Source
from skilld.skills.spec import Front

TOP = 3  # among which a skill that fits must be
_NOW, _CONFIDENCE = 1e9, 0.8  # of what was said, in every file alike


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody asks for, in which language, and the names of the skills that fit; none where none does."""

    text: str
    language: str
    fits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The skills of a file, what was said about them, and tasks."""

    name: str
    skills: tuple[Skill, ...]
    said: tuple[Mention, ...]
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class JudgedTask:
    """A task and the skills that were found for it, the best first; of one that nobody answered, by words alone."""

    shelf: str
    task: Task
    found: tuple[str, ...]
    answered: bool = True

    @property
    def is_right(self) -> bool:
        """Whether one that fits is among the first; nothing at all where none does."""
        return bool(set(self.task.fits) & set(self.found[:TOP])) if self.task.fits else not self.found


def load(paths: Sequence[Path]) -> list[Shelf]:
    """Return the shelves of files. Raises SkilldError for other files."""
    return [_shelf(path) for path in paths]


def _shelf(path: Path) -> Shelf:
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        skills = [_skill(row["skill"], row["description"]) for row in rows if "skill" in row]
        said = [_mention(number, row["said"], row["about"]) for number, row in enumerate(rows) if "said" in row]
        tasks = [Task(row["query"], row["language"], tuple(row["fits"])) for row in rows if "query" in row]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SkilldError(f"Cannot read {path}", str(error)) from error
    if not tasks:
        raise SkilldError(f"Cannot read {path}", "no line has a query", "See tests/data/finding for the format.")
    return Shelf(path.stem, tuple(skills), tuple(said), tuple(tasks))


def _skill(name: str, description: str) -> Skill:
    path = Path("/skills") / name / "SKILL.md"
    return Skill(name, path, Source.USER, None, (), Front(name, description))


def _mention(number: int, text: str, skill: str) -> Mention:
    return Mention("learning", str(number), text, text, skill, "", "", Piece(f"s{number}", _NOW, _CONFIDENCE))


def judge(shelves: Sequence[Shelf], make: Callable[[], Backend]) -> Iterator[JudgedTask]:
    """Yield of each task what is found for it."""
    for shelf in shelves:
        for task in shelf.tasks:
            found = recommend(task.text, shelf.said, shelf.skills, now=_NOW)
            backend, answered = make(), True
            if isinstance(backend, Model):
                asked = skills_to_ask(shelf.skills, found)
                try:
                    found = model_recommendations(
                        backend.fits(task.text, [skill_summary(one, found) for one in asked]), asked, found
                    )
                except NoAnswerError:
                    answered = False
            yield JudgedTask(shelf.name, task, tuple(one.skill or one.because[0].text for one in found), answered)


def figures(judged: Sequence[JudgedTask]) -> dict[str, Any]:
    """Return the figures under the keys of `skilld eval finding --json`: of all tasks, and of each file."""
    shelves = dict.fromkeys(one.shelf for one in judged)
    return {
        "kind": "finding",
        "n": len(judged),
        "unanswered": sum(not one.answered for one in judged),
        **_figures(judged),
        "by_file": {shelf: _figures([one for one in judged if one.shelf == shelf]) for shelf in shelves},
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


def rows_out(judged: Sequence[JudgedTask]) -> list[dict[str, Any]]:
    """Return the outcome of each task."""
    return [
        {"file": one.shelf, "task": one.task.text, "fits": one.task.fits, "found": one.found}
        | {"right": one.is_right, "answered": one.answered}
        for one in judged
    ]
