"""Whether a skill's folder may be moved away: not where that would lose work, leave a dead link, or was forbidden."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.git.errors import NotTrackedError
from skilld.git.run import PersonGit
from skilld.git.workdir import locate
from skilld.skills import Skill, Source, why_left_alone
from skilld.skills.find import FILE


def check(skill: Skill, folders: Iterable[Path], removed: Mapping[str, str], title: str) -> None:
    """Raise RefusedError with `title` where the skill's folder must stay where it is.

    `folders` are those in which agents look for skills, `removed` what `scrub_environment` took out of the process.
    """
    folder = skill.path.parent
    try:
        why = _why_not(skill, folder, folders) or _uncommitted(folder, removed)
    except SkilldError as error:
        raise RefusedError(title, str(error), error.remedy) from error
    if why:
        raise RefusedError(title, why)


def _why_not(skill: Skill, folder: Path, folders: Iterable[Path]) -> str:
    if skill.source is Source.PLUGIN:
        return "it belongs to a plugin"
    if left_alone := why_left_alone(skill.path, skill.name):
        return left_alone
    if os.path.lexists(folder / ".git"):
        return f"{folder} is a repository of its own"
    links = (link for link in _seen_as(folders, skill) if _is_link(link))
    return next((f"{link} is a link to it" for link in links), "")


def _seen_as(folders: Iterable[Path], skill: Skill) -> Iterable[Path]:
    """Yield the paths below `folders` at which agents find the skill."""
    for folder in folders:
        try:
            found = [path for path in folder.iterdir() if (path / FILE).resolve() == skill.path]
        except OSError:
            continue
        yield from found


def _is_link(path: Path) -> bool:
    return path.is_symlink() or (path / FILE).is_symlink()


def _uncommitted(folder: Path, removed: Mapping[str, str]) -> str:
    """Return what git would lose: changes of a folder that it holds. One it holds nothing of is not its affair."""
    try:
        place = locate(folder)
    except NotTrackedError:
        return ""
    git = PersonGit(place.toplevel, removed)
    inside = folder.relative_to(place.toplevel).as_posix()
    held = git.run("ls-files", "-z", "--", inside)
    if held and git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--", inside):
        return f"{inside} has changes that are not committed"
    return ""
