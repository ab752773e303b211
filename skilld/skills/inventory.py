"""Every skill on this machine that an agent can see: by folder of the person, of a project, of a plugin.

Folders enter, skills leave, each once by its real path however many links and agents lead to it. Reads only, follows
no folder in circles, and reads no file that `find` would not take.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skilld.files import read_plain
from skilld.skills.find import FILE, MAX_BYTES, Places, spelled, unfit
from skilld.skills.frontmatter import Front, front

_MAX_FOLDERS = 2000  # looked into below one plugin folder
_DEPTH = 6


class Source(StrEnum):
    """Where a skill comes from."""

    PROJECT = "project"
    USER = "user"
    PLUGIN = "plugin"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as found on disk. `name` is its folder's, which is what agents call it.

    `path` is the real path of its SKILL.md, `project` the folder whose skill it is (None: not a project's), `agents`
    the agents that see it, `front` what its front matter says.
    """

    name: str
    path: Path
    source: Source
    project: Path | None
    agents: tuple[str, ...]
    front: Front

    @property
    def evolving(self) -> bool:
        """Whether skilld wrote it, by its own mark."""
        return "skilld-origin" in self.front.metadata


def inventory(
    places: Mapping[str, Places], projects: Iterable[Path] = (), plugins: Mapping[str, Iterable[Path]] | None = None
) -> list[Skill]:
    """Return the skills of the person, of `projects` and in folders of `plugins`, by source, project and name.

    `places` and `plugins` are by agent. What cannot be read is left out.
    """
    found: dict[Path, Skill] = {}
    for project in dict.fromkeys(projects):
        for agent, where in places.items():
            for relative in where.in_project:
                _take(found, _in(project / relative), agent, Source.PROJECT, project)
    for agent, where in places.items():
        for folder in where.absolute:
            _take(found, _in(folder), agent, Source.USER)
    for agent, folders in (plugins or {}).items():
        for folder in folders:
            _take(found, _below(folder), agent, Source.PLUGIN)
    order = list(Source)
    return sorted(found.values(), key=lambda one: (order.index(one.source), str(one.project or ""), one.name))


def _take(
    found: dict[Path, Skill], files: Iterable[Path], agent: str, source: Source, project: Path | None = None
) -> None:
    for file in files:
        try:
            real = spelled(file.resolve(strict=True))
            said = front(text(real))
        except (OSError, RuntimeError):
            continue
        known = found.get(real)
        if known is None:
            found[real] = Skill(real.parent.name, real, source, project, (agent,), said)
        elif agent not in known.agents:
            agents = (*known.agents, agent)
            found[real] = Skill(known.name, real, known.source, known.project, agents, known.front)


def text(path: Path) -> str:
    """Return a skill's text from its real path; raises OSError where that is no plain file of ours."""
    if path.name.casefold() != FILE.casefold():
        raise OSError(0, "a link to something else", str(path))
    try:
        data, facts = read_plain(path, MAX_BYTES, links=False)
    except ValueError as error:
        raise OSError(0, str(error), str(path)) from error
    if why := unfit(facts):
        raise OSError(0, why, str(path))
    return data.decode("utf-8", "replace")


def _in(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    except OSError:
        return
    for name in names:
        file = folder / name / FILE
        if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises where the folder is closed to us
            yield file


def _below(folder: Path) -> Iterator[Path]:
    """Yield the skills in any folder called `skills` below this one; links are not followed."""
    for seen, (here, folders, _) in enumerate(os.walk(folder), 1):
        depth = len(Path(here).relative_to(folder).parts)
        if seen > _MAX_FOLDERS or depth >= _DEPTH:
            folders.clear()
        if Path(here).name == "skills":
            yield from _in(Path(here))
            folders.clear()
