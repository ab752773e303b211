"""What an agent loads: how long it takes to find out, in a project of 5,000 files with instructions in many folders.

Cold: nothing in the project has been looked at before. Warm: everything has, and nothing has changed. Yardstick: a
plain os.walk of the same folders. The files are in the kernel's memory for both, so processor time is measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import side_by_side
from skilld.context import MEASURED, Disk, context_of

_FILES, _FOLDERS = 5_000, 500


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the time that each agent takes; the same tree at both scales."""
    rounds = scale.pick(40, 15)
    with children.scratch() as home:
        project = _project(home)
        warm = Disk()

        def walk() -> float:
            return _processor_seconds(lambda: [names for _, _, names in os.walk(project)])

        def ask(agent: str, disk: Disk) -> float:
            return _processor_seconds(lambda: context_of(agent, "", project, home, files=disk))

        ask("claude-code", warm)
        walked, again, *cold = side_by_side(
            rounds, walk, lambda: ask("claude-code", warm), *(lambda a=agent: ask(a, Disk()) for agent in MEASURED)
        )
    basis = f"{_FILES} files in {_FOLDERS} folders"
    figures = {"warm": Figure(again, "s", "os.walk", walked, basis)}
    for agent, taken in zip(MEASURED, cold, strict=True):
        figures[f"cold_{agent}"] = Figure(taken, "s", "os.walk", walked, basis, Target(Of.VALUE, most=0.02))
    return figures


def _processor_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _project(home: Path) -> Path:
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    for number in range(_FOLDERS):
        folder = project / f"part{number % 20}" / f"unit{number % 100}" / f"group{number}"
        folder.mkdir(parents=True)
        for file in range(_FILES // _FOLDERS):
            (folder / f"module{file}.py").write_text("pass\n", encoding="utf-8")
        if number % 10 == 0:
            (folder / "CLAUDE.md").write_text(f"- Rule {number} of this folder.\n" * 20, encoding="utf-8")
            (folder / "AGENTS.md").write_text(f"- Rule {number} of this folder.\n" * 20, encoding="utf-8")
    for name in ("CLAUDE.md", "GEMINI.md", "QWEN.md"):
        (project / name).write_text("# Rules\n\n- Use tabs.\n", encoding="utf-8")
    return project
