"""Finds the SKILL.md that a session used, and tells whether it may be edited.

Logs are not trusted: a path counts only below a known skills folder or in the person's own repository, links are
resolved first, and the file must be a regular file of the user. Runs no git.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

from skilld.files import read_regular
from skilld.git.top import find_top, is_top
from skilld.skills.spec import FrontMatter, read_front
from skilld.types import SkillRef
from skilld.values import value_class

FILE = "SKILL.md"
# O_PATH: a parent folder may not be readable.
_FOLDER_FLAGS = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
MAX_BYTES = 1 << 20
# Names as agents allow them; the prefix of a plugin or a nested skill is separated by a colon.
_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Folders of copies that are replaced on update, or belong to the agent itself.
_COPY_FOLDERS = (
    *(("plugins", "cache"), ("plugins", "marketplaces"), ("installed-plugins",), ("skills", ".system")),
    *((".gemini", "extensions"), (".qwen", "extensions"), ("bundled-skills",)),
)

# Folders of a repository in which other people's code is installed.
_DEPENDENCY_FOLDERS = frozenset(("node_modules", "site-packages", "vendor", ".venv", "venv"))


@value_class
class Places:
    """Where an agent's skills live: folders relative to any folder of a project, and absolute ones.

    `linked` are the folders of other agents: people link one skill into several.
    """

    in_project: tuple[str, ...]
    absolute: tuple[Path, ...]
    linked: tuple[str, ...] = ()


@value_class
class Unusable:
    """A skill that was used and cannot be edited; `why` is a clause for the person.

    `path` is its file, if known and if the file itself is the obstacle, which may change. `text_path` is the file of a
    skill that is never edited; it is read to recognize what is said about it.
    """

    name: str
    why: str
    path: str = field(default="", compare=False)
    text_path: str = field(default="", compare=False)


def find(name: str, path: str | None, cwd: str | None, places: Places) -> SkillRef | Unusable:
    """Return the checked skill for a name and path from a log, or why it cannot be edited.

    With a `path`, only that is checked; otherwise `name` is searched from `cwd` upwards and in the absolute folders.
    """
    try:
        found = _find_by_path(name, Path(path), cwd, places) if path is not None else _find_by_name(name, cwd, places)
        return _with_installed_text(found, name, places) if isinstance(found, Unusable) else found
    except (OSError, ValueError, RuntimeError):  # a closed folder, an impossible path, a loop of links
        return Unusable(name, "its SKILL.md cannot be read", path or cwd or "")


def _with_installed_text(skill: Unusable, name: str, places: Places) -> Unusable:
    """Return a plugin's skill with its installed text; a client may load it from the marketplace instead."""
    plugin, _, short = name.rpartition(":")
    if skill.text_path or not (_NAME_PATTERN.fullmatch(plugin) and _NAME_PATTERN.fullmatch(short)):
        return skill
    pattern = f"plugins/cache/*/{plugin}/*/skills/{short}/{FILE}"
    found = [file for root in places.absolute for file in root.parent.glob(pattern)]
    newest = max(found, key=lambda file: file.stat().st_mtime, default=None)
    return skill if newest is None else replace(skill, text_path=str(newest.resolve()))


def _find_by_path(name: str, claimed: Path, cwd: str | None, places: Places) -> SkillRef | Unusable:
    if not claimed.is_absolute() or claimed.name != FILE or ".." in claimed.parts:
        return Unusable(name, "the transcript does not give the path of the skill's file")
    short = name.rsplit(":", 1)[-1]
    # The name in the log is free text; agents use the folder's name.
    return _check_file(short if _NAME_PATTERN.fullmatch(short) else claimed.parent.name, claimed, cwd, places)


def _find_by_name(name: str, cwd: str | None, places: Places) -> SkillRef | Unusable:
    if ":" in name:
        return Unusable(name, "it belongs to a plugin")
    if not _NAME_PATTERN.fullmatch(name):
        return Unusable(name, "its name is not a valid skill name")
    for folder in _candidate_folders(cwd, places):
        candidate = folder / name / FILE
        if candidate.is_file():
            return _check_file(name, candidate, cwd, places)
    return Unusable(name, "its SKILL.md was not found", cwd or "")


def read(skill: SkillRef) -> bytes:
    """Return the bytes of a checked skill, without following links that have replaced it or a folder since.

    Raises OSError if it is gone, or is no longer a regular file of the user within the size limit.
    """
    fd = _open_no_links(Path(skill.path))
    with os.fdopen(fd, "rb") as file:
        if why := file_problem(os.fstat(fd)):
            raise OSError(0, why, skill.path)
        return file.read(MAX_BYTES + 1)


def _open_no_links(path: Path) -> int:
    """Open a file by its real path; OSError if one of its parts has become a link."""
    folder = os.open(path.anchor, _FOLDER_FLAGS)
    try:
        for part in path.parts[1:-1]:
            inner = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def _candidate_folders(cwd: str | None, places: Places) -> Iterator[Path]:
    if cwd is not None and (start := Path(cwd)).is_absolute() and ".." not in start.parts and _is_own_folder(start):
        for base in (start, *start.parents):
            for relative in places.in_project:
                yield base / relative
            if is_top(base):
                break
    yield from places.absolute


def _check_file(name: str, claimed: Path, cwd: str | None, places: Places) -> SkillRef | Unusable:
    base = _skill_folder(claimed, places) or _own_repository(claimed, cwd)
    if base is None and not (_is_copy(claimed) or _is_dependency(claimed)):
        return Unusable(name, "it is not in a known skills folder")
    try:
        real = true_spelling(claimed.resolve(strict=True))
        facts = real.stat()
    except FileNotFoundError:
        return Unusable(name, "its SKILL.md is gone", str(claimed) if base else "")
    if base is None or _is_copy(claimed) or _is_copy(real):
        text = str(real) if (_is_copy(real) or _is_dependency(real)) and real.name == FILE else ""
        return Unusable(
            name, "it comes with a plugin, a package or the agent, and an update replaces it", text_path=text
        )
    if real.name.casefold() != FILE.casefold():
        return Unusable(name, "its SKILL.md is a symlink to a file with another name", str(claimed))
    known = replace(places, in_project=(*places.in_project, *places.linked))
    leads_out = _skill_folder(real, known) is None and not real.is_relative_to(base.resolve())
    # The links in their own folder a person made, to a repository of theirs: dotfiles, a collection of skills.
    if leads_out and not (base in places.absolute and _own_repository(real, cwd)):
        return Unusable(name, "its SKILL.md is a symlink that points outside the skills folders", str(claimed))
    if why := file_problem(facts):
        return Unusable(name, why, str(real))
    if not os.access(real, os.W_OK):
        return Unusable(name, "its SKILL.md is read-only", str(real))
    return SkillRef(name, str(real))


def _skill_folder(path: Path, places: Places) -> Path | None:
    """Return the project or agent folder whose skill `path` is, by the parts of the path only."""
    for root in places.absolute:
        if path.is_relative_to(root):
            return root
    for relative in places.in_project:
        run = Path(relative).parts
        for i in range(len(path.parts) - len(run) - 1, 1, -1):  # from 2: the root of the disk is not a project
            if path.parts[i : i + len(run)] == run:
                return Path(*path.parts[:i])
    return None


def _own_repository(path: Path, cwd: str | None) -> Path | None:
    """Return a skill's repository if it is the person's: they commit to it, or work in it now."""
    if _is_dependency(path):
        return None
    root = find_top(path.parent)
    if root is None or root == root.parent or not _is_own_folder(root):
        return None
    if cwd is not None and ".." not in Path(cwd).parts and Path(cwd).is_relative_to(root):
        return root
    from skilld.git.state import is_surely_own  # rarely needed

    return root if is_surely_own(root) else None


def _is_copy(path: Path) -> bool:
    return any(path.parts[i : i + len(run)] == run for run in _COPY_FOLDERS for i in range(len(path.parts)))


def _is_dependency(path: Path) -> bool:
    return not _DEPENDENCY_FOLDERS.isdisjoint(path.parts)


def is_kernel_path(folder: Path) -> bool:
    """Whether a folder belongs to the kernel and not to a project: its links depend on processes (/proc/self/cwd).

    Files in memory (/dev/shm) are ordinary files.
    """
    return folder.parts[1:2] in {("proc",), ("sys",), ("dev",)} and folder.parts[1:3] != ("dev", "shm")


def _is_own_folder(folder: Path) -> bool:
    if is_kernel_path(folder):
        return False
    try:
        facts = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


def true_spelling(path: Path) -> Path:
    """Return a real path as it is spelled on disk.

    macOS finds a file by any case and Unicode form of its name, but git, the store and comparisons do not. Names in
    folders that cannot be listed stay unchanged.
    """
    return _spell_as_listed(path) if sys.platform == "darwin" else path


def _spell_as_listed(path: Path) -> Path:
    found = Path(path.anchor)
    for part in path.parts[1:]:
        name = part
        with suppress(OSError):
            names = os.listdir(found)  # noqa: PTH208 - names, not paths
            if part not in names:
                name = next((other for other in names if _normalized(other) == _normalized(part)), part)
        found /= name
    return found


def _normalized(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()


def file_problem(facts: os.stat_result, subject: str = "its SKILL.md") -> str | None:
    """Return why a file with these facts is not read, as a clause for the person; None if it may be."""
    if not stat.S_ISREG(facts.st_mode):
        return f"{subject} is not a regular file"
    if facts.st_uid != os.geteuid():
        return f"{subject} belongs to another user"
    if facts.st_nlink != 1:
        return f"{subject} has several hard links"
    return f"{subject} is over 1 MiB" if facts.st_size > MAX_BYTES else None


# All skills on this machine that agents can see, each once by its real path. Folders are not followed in circles, and
# no file is read that `find` would refuse.

_MAX_FOLDERS = 2000  # below one plugin folder
_MAX_PLUGIN_DEPTH = 6


class Source(StrEnum):
    """Where a skill comes from."""

    PROJECT = "project"
    USER = "user"
    PLUGIN = "plugin"


@value_class
class Skill:
    """A skill on disk. `name` is its folder's, which agents use.

    `path` is the real path of its SKILL.md, `project` its project's folder (None: not a project's), `agents` the agents
    that see it, `front` its front matter.
    """

    name: str
    path: Path
    source: Source
    project: Path | None
    agents: tuple[str, ...]
    front: FrontMatter

    @property
    def evolving(self) -> bool:
        """Whether skilld wrote it, by its metadata."""
        return "skilld-origin" in self.front.metadata


def inventory(
    places: Mapping[str, Places], projects: Iterable[Path] = (), plugins: Mapping[str, Iterable[Path]] | None = None
) -> list[Skill]:
    """Return the skills of the person, of `projects` and of `plugins`, sorted by source, project and name.

    `places` and `plugins` are by agent. Unreadable skills are left out.
    """
    found: dict[Path, Skill] = {}
    read = cache(lambda folder: _read(_skill_files(folder)))  # several agents look into the same folder
    for project in dict.fromkeys(projects):
        for agent, where in places.items():
            for relative in where.in_project:
                _add_skills(found, read(project / relative), agent, Source.PROJECT, project)
    for agent, where in places.items():
        for folder in where.absolute:
            _add_skills(found, read(folder), agent, Source.USER)
    for agent, folders in (plugins or {}).items():
        for folder in folders:
            _add_skills(found, _read(_plugin_skill_files(folder)), agent, Source.PLUGIN)
    order = list(Source)
    return sorted(found.values(), key=lambda one: (order.index(one.source), str(one.project or ""), one.name))


def _read(files: Iterable[Path]) -> list[tuple[Path, FrontMatter]]:
    read = []
    for file in files:
        with suppress(OSError, RuntimeError):
            real = true_spelling(file.resolve(strict=True))
            read.append((real, read_front(text(real))))
    return read


def _add_skills(
    found: dict[Path, Skill],
    read: Iterable[tuple[Path, FrontMatter]],
    agent: str,
    source: Source,
    project: Path | None = None,
) -> None:
    for real, front in read:
        known = found.get(real)
        if known is None:
            found[real] = Skill(real.parent.name, real, source, project, (agent,), front)
        elif agent not in known.agents:
            found[real] = replace(known, agents=(*known.agents, agent))


def text(path: Path, errors: str = "replace") -> str:
    """Return a skill's text from its real path; raises OSError if it is not a regular file of the user.

    `errors` says what is done about bytes that are not UTF-8, as for `bytes.decode`; "strict" raises OSError.
    """
    if path.name.casefold() != FILE.casefold():
        raise OSError(0, "it is a symlink to a file with another name", str(path))
    try:
        str(path).encode()  # the store and JSON hold only such paths
        data, facts = read_regular(path, MAX_BYTES, links=False)
    except UnicodeEncodeError:
        raise OSError(0, "its path is not valid UTF-8", str(path)) from None
    except ValueError as error:
        raise OSError(0, str(error), str(path)) from error
    if why := file_problem(facts):
        raise OSError(0, why, str(path))
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise OSError(0, "it is not UTF-8 text", str(path)) from error


def _skill_files(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    except OSError:
        return
    for name in names:
        file = folder / name / FILE
        if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises if the folder is closed to us
            yield file


def _plugin_skill_files(folder: Path) -> Iterator[Path]:
    """Yield the skills in all folders called `skills` below this one, without following links."""
    for seen, (here, folders, _) in enumerate(os.walk(folder), 1):
        depth = len(Path(here).relative_to(folder).parts)
        if seen > _MAX_FOLDERS or depth >= _MAX_PLUGIN_DEPTH:
            folders.clear()
        if Path(here).name == "skills":
            yield from _skill_files(Path(here))
            folders.clear()
