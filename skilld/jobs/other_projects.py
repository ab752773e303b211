"""Keeps what a person says of another project out of the files of the session's own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.verify import Verdict
from skilld.git.state import main_path
from skilld.git.top import find_top
from skilld.protocol import AnalyseBatch
from skilld.targets.find import WorkingSession, find_targets
from skilld.targets.named_project import named_project, unknown_project
from skilld.types import Message, SkillRef, TargetKind, Update

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s|\n")
_MAX_FOLDERS = 400  # of sessions, the newest
_MAX_ENTRIES = 500  # of a project's folder

TargetOf = Callable[[Update], SkillRef | None]
OtherProject = tuple[Update, str, SkillRef | None]


def without_other_projects(
    verdict: Verdict, job: AnalyseBatch, messages: Sequence[Message], target_of: TargetOf
) -> tuple[Verdict, list[OtherProject]]:
    """Return a verdict without the updates that are for another project, and those.

    Each of these has the reason why it is only kept, and that project's instruction file if there is one.
    """
    texts = {message.turn: message.text for message in messages}
    theirs: dict[int, OtherProject] = {}
    for item in verdict.proposed:
        said = _sentence(item.update.quote, texts[item.update.turn])
        if target_of(item.update) and (found := _other_project(said, job)):
            theirs[id(item)] = (replace(item.update, skill=None), *found)
    if not theirs:
        return verdict, []
    left = tuple(item for item in verdict.proposed if id(item) not in theirs)
    return replace(verdict, proposed=left), list(theirs.values())


def _sentence(quote: str, text: str) -> str:
    """Return a quote with the beginning of its sentence, which may name the project."""
    at = text.find(quote)
    return f"{_SENTENCE_END.split(text[:at])[-1]}{quote}" if at >= 0 else quote


def _other_project(said: str, job: AnalyseBatch) -> tuple[str, SkillRef | None] | None:
    cwd, home = Path(job.batch.cwd or "/"), Path(job.batch.home)
    here = project_root(cwd)
    present, roots = [here.name, *cwd.parts, *_entries(here)], dict[str, set[Path]]()
    for root in {project_root(Path(folder)) for folder in job.folders[:_MAX_FOLDERS]}:
        if root.is_relative_to(here) or here.is_relative_to(root) or home.is_relative_to(root):
            present.append(root.name)
        else:
            roots.setdefault(root.name, set()).add(root)
    if name := named_project(said, roots, present):
        file = _instruction_file(job, roots[name])
        how = "`learnings propose` puts it there" if file else "`learnings propose --to FILE` puts it there"
        return f"it is for {name}, not for this project: {how}", file
    if name := unknown_project(said, present):
        return f"it is for another repository ({name}), in which skilld has read no session", None
    return None


def project_root(folder: Path) -> Path:
    """Return the main work tree of the repository around a folder; the folder if there is none."""
    return Path(main_path(str((find_top(folder) or folder) / "file"))).parent


def _entries(root: Path) -> list[str]:
    try:
        return os.listdir(root)[:_MAX_ENTRIES]  # noqa: PTH208 - names only
    except OSError:
        return []


def _instruction_file(job: AnalyseBatch, roots: Collection[Path]) -> SkillRef | None:
    """Return the instruction file of the only project of a name, if skilld may edit it."""
    if len(roots) != 1 or TargetKind.INSTRUCTIONS not in job.targets:
        return None
    session = WorkingSession(job.batch.agent, next(iter(roots)), Path(job.batch.home), job.batch.variables)
    return next(iter(find_targets(session, [TargetKind.INSTRUCTIONS]).refs), None)
