"""In which sessions each skill was used, and how that went. Pure but for `find`, which looks for a claimed path.

A use went well unless the person corrected the skill there, or said that it did not help; what they said counts more
than the correction. A recorded task with the skill counts as a use of its own, and went well where it was completed
and no check of it failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.memory.patterns import COMPLETED
from skilld.skills import Skill, Source
from skilld.store.overview import Used
from skilld.store.tasks import Task


@dataclass(frozen=True, slots=True)
class Uses:
    """The uses of one skill: sessions, the Unix time of the newest (0: not known), and how many went well, of how many.

    `judged` is greater than the number of sessions where tasks were recorded, or a person told of one not followed.
    """

    sessions: frozenset[str] = frozenset()
    last: float = 0.0
    went_well: int = 0
    judged: int = 0

    @property
    def number(self) -> int:
        """In how many sessions it was used."""
        return len(self.sessions)

    @property
    def success(self) -> float | None:
        """The share that went well, 0 to 1; None where there is nothing to judge by."""
        return self.went_well / self.judged if self.judged else None


NEVER = Uses()


def sessions_by_path(
    skills: Sequence[Skill], used: Iterable[Used], find: Callable[[Used], str]
) -> dict[Path, dict[str, float]]:
    """Return the sessions that used each skill, with their times. `find` gives the path behind a log's claim, or "".

    A plugin's skill is not found by its path, which changes with every update, but by its name.
    """
    plugins = {skill.name: str(skill.path) for skill in skills if skill.source is Source.PLUGIN}
    found: dict[Path, dict[str, float]] = {}
    for use in used:
        if path := find(use) or plugins.get(use.name.rsplit(":", 1)[-1], ""):
            sessions = found.setdefault(Path(path), {})
            for session, at in use.sessions.items():
                sessions[session] = max(at, sessions.get(session, 0.0))
    return found


def judged(
    name: str, sessions: Mapping[str, float], corrected: Iterable[str], told: Mapping[str, bool], tasks: Iterable[Task]
) -> Uses:
    """Return the uses of the skill `name`.

    `sessions` are those that used it, `corrected` those of them that led to a correction, `told` what a person said of
    a session (whether it helped).
    """
    outcomes = dict.fromkeys(sessions, True) | dict.fromkeys(set(corrected) & set(sessions), False) | dict(told)
    done = [task.status == COMPLETED and task.qa is not False for task in tasks if name in task.skills]
    return Uses(
        sessions=frozenset(sessions),
        last=max(sessions.values(), default=0.0),
        went_well=sum(outcomes.values()) + sum(done),
        judged=len(outcomes) + len(done),
    )
