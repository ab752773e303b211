"""Finds the SKILL.md that a session used, and says whether it may be edited.

What comes from a log is a claim: a path counts only below a known skill folder, or in a repository that is the
person's; links are resolved first, and the file must be a regular one of our own. Runs no git.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from skilld.errors import SkilldError
from skilld.files import read_plain
from skilld.skills.spec import Front, front
from skilld.types import SkillRef, TargetKind

FILE = "SKILL.md"
# O_PATH: a folder on the way may be closed to reading.
_TO_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
MAX_BYTES = 1 << 20
# Names as agents allow them; a plugin's or nested skill's prefix stands before a colon.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Copies that are thrown away on update, or belong to the agent itself.
_NOT_OURS = (
    *(("plugins", "cache"), ("plugins", "marketplaces"), ("installed-plugins",), ("skills", ".system")),
    *((".gemini", "extensions"), (".qwen", "extensions"), ("bundled-skills",)),
)

# Folders of a repository in which other people's things are installed.
_KEYS = frozenset(("enabled", "ignore", "never", "targets"))  # of a project's settings
_OTHERS = frozenset(("node_modules", "site-packages", "vendor", ".venv", "venv"))


@dataclass(frozen=True, slots=True)
class Places:
    """Where an agent's skills live: folders relative to any folder of a project, and absolute ones.

    `linked` are the folders in which other agents keep theirs: people link one skill into several.
    """

    in_project: tuple[str, ...]
    absolute: tuple[Path, ...]
    linked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unusable:
    """A skill that was used and cannot be edited; `why` is a clause for the person.

    `path` is its file, where that is known and it is the file that is in the way, which may change. `text_path` is
    the file of one that is never edited, and may be read to tell what is said of it.
    """

    name: str
    why: str
    path: str = field(default="", compare=False)
    text_path: str = field(default="", compare=False)


def find(name: str, path: str | None, cwd: str | None, places: Places) -> SkillRef | Unusable:
    """Return the checked skill behind a log's claim, or why it cannot be edited.

    With a `path` only that is looked at; else `name` is looked for from `cwd` upwards and in the absolute folders.
    """
    try:
        found = _by_path(name, Path(path), cwd, places) if path is not None else _by_name(name, cwd, places)
        return _overlaid(found, name, places) if isinstance(found, Unusable) else found
    except (OSError, ValueError, RuntimeError):  # a folder we may not enter, a path no system takes, a loop of links
        return Unusable(name, "its SKILL.md cannot be read", path or cwd or "")


def _overlaid(skill: Unusable, name: str, places: Places) -> Unusable:
    """Return a plugin's skill with its text as it was installed; a client may load it from the marketplace instead."""
    plugin, _, short = name.rpartition(":")
    if skill.text_path or not (_NAME.fullmatch(plugin) and _NAME.fullmatch(short)):
        return skill
    pattern = f"plugins/cache/*/{plugin}/*/skills/{short}/{FILE}"
    found = [file for root in places.absolute for file in root.parent.glob(pattern)]
    newest = max(found, key=lambda file: file.stat().st_mtime, default=None)
    return skill if newest is None else replace(skill, text_path=str(newest.resolve()))


def _by_path(name: str, claimed: Path, cwd: str | None, places: Places) -> SkillRef | Unusable:
    if not claimed.is_absolute() or claimed.name != FILE or ".." in claimed.parts:
        return Unusable(name, "the transcript does not give the path of the skill's file")
    short = name.rsplit(":", 1)[-1]
    # What the log calls it is free text; the folder's name is what agents call it.
    return _check(short if _NAME.fullmatch(short) else claimed.parent.name, claimed, cwd, places)


def _by_name(name: str, cwd: str | None, places: Places) -> SkillRef | Unusable:
    if ":" in name:
        return Unusable(name, "it belongs to a plugin")
    if not _NAME.fullmatch(name):
        return Unusable(name, "its name is not a valid skill name")
    for folder in _folders(cwd, places):
        candidate = folder / name / FILE
        if candidate.is_file():
            return _check(name, candidate, cwd, places)
    return Unusable(name, "its SKILL.md was not found", cwd or "")


def read(skill: SkillRef) -> bytes:
    """Return the bytes of a checked skill, without following a link that took its place, or a folder's, since.

    Raises OSError if it is gone, or is no longer a regular file of ours within the size limit.
    """
    fd = _open_no_links(Path(skill.path))
    with os.fdopen(fd, "rb") as file:
        if why := file_problem(os.fstat(fd)):
            raise OSError(0, why, skill.path)
        return file.read(MAX_BYTES + 1)


def _open_no_links(path: Path) -> int:
    """Return a descriptor of a file by its real path; OSError if one of its parts is a link by now."""
    folder = os.open(path.anchor, _TO_FOLDER)
    try:
        for part in path.parts[1:-1]:
            inner = os.open(part, _TO_FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def _folders(cwd: str | None, places: Places) -> Iterator[Path]:
    if cwd is not None and (start := Path(cwd)).is_absolute() and ".." not in start.parts and _is_ours(start):
        for base in (start, *start.parents):
            for relative in places.in_project:
                yield base / relative
            if (base / ".git").exists():
                break
    yield from places.absolute


def _check(name: str, claimed: Path, cwd: str | None, places: Places) -> SkillRef | Unusable:
    base = _skill_folder(claimed, places) or _own_repository(claimed, cwd)
    if base is None and not _is_copy(claimed):
        return Unusable(name, "it is not in a known skills folder")
    try:
        real = spelled(claimed.resolve(strict=True))
        facts = real.stat()
    except FileNotFoundError:
        return Unusable(name, "its SKILL.md is gone", str(claimed) if base else "")
    if base is None or _is_copy(claimed) or _is_copy(real):
        text = str(real) if _is_copy(real) and real.name == FILE else ""
        return Unusable(name, "it comes with a plugin or the agent and is replaced on every update", text_path=text)
    if real.name.casefold() != FILE.casefold():
        return Unusable(name, "its SKILL.md is a symlink to a file with another name", str(claimed))
    known = replace(places, in_project=(*places.in_project, *places.linked))
    if _skill_folder(real, known) is None and not real.is_relative_to(base.resolve()):
        return Unusable(name, "its SKILL.md is a symlink that points outside the skills folders", str(claimed))
    if why := file_problem(facts):
        return Unusable(name, why, str(real))
    if not os.access(real, os.W_OK):
        return Unusable(name, "its SKILL.md is read-only", str(real))
    return SkillRef(name, str(real))


def _skill_folder(path: Path, places: Places) -> Path | None:
    """Return the project (or agent folder) that `path` is a skill of, judged by the path's parts alone."""
    for root in places.absolute:
        if path.is_relative_to(root):
            return root
    for relative in places.in_project:
        run = Path(relative).parts
        for i in range(len(path.parts) - len(run) - 1, 1, -1):  # from 2: the root of the disk is no project
            if path.parts[i : i + len(run)] == run:
                return Path(*path.parts[:i])
    return None


def _own_repository(path: Path, cwd: str | None) -> Path | None:
    """Return the repository that a skill is in, where it is the person's: they commit to it, or work in it now."""
    if not _OTHERS.isdisjoint(path.parts):
        return None
    root = next((folder for folder in path.parents[:-1] if os.path.lexists(folder / ".git")), None)
    if root is None or not _is_ours(root):
        return None
    if cwd is not None and ".." not in Path(cwd).parts and Path(cwd).is_relative_to(root):
        return root
    from skilld.git.state import is_surely_own  # seldom needed

    return root if is_surely_own(root) else None


def _is_copy(path: Path) -> bool:
    return any(path.parts[i : i + len(run)] == run for run in _NOT_OURS for i in range(len(path.parts)))


def is_of_kernel(folder: Path) -> bool:
    """Whether no project stands there: links in these folders lead to wherever some process is (/proc/self/cwd).

    What lies in memory (/dev/shm) is a file like any other.
    """
    return folder.parts[1:2] in {("proc",), ("sys",), ("dev",)} and folder.parts[1:3] != ("dev", "shm")


def _is_ours(folder: Path) -> bool:
    if is_of_kernel(folder):
        return False
    try:
        facts = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


def spelled(path: Path) -> Path:
    """Return a real path as its folders spell it.

    A disk of macOS finds a file by any case and Unicode form of its name; git, the store and comparisons do not. What
    is in a folder that may not be listed stays as it is.
    """
    return _listed(path) if sys.platform == "darwin" else path


def _listed(path: Path) -> Path:
    found = Path(path.anchor)
    for part in path.parts[1:]:
        name = part
        with suppress(OSError):
            names = os.listdir(found)  # noqa: PTH208 - names, not paths
            if part not in names:
                name = next((other for other in names if _alike(other) == _alike(part)), part)
        found /= name
    return found


def _alike(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()


def file_problem(facts: os.stat_result, what: str = "its SKILL.md") -> str | None:
    """Return why a file with these facts is not read, as a clause for the person; None if it is."""
    if not stat.S_ISREG(facts.st_mode):
        return f"{what} is not a regular file"
    if facts.st_uid != os.geteuid():
        return f"{what} belongs to another user"
    if facts.st_nlink != 1:
        return f"{what} has several hard links"
    return f"{what} is over 1 MiB" if facts.st_size > MAX_BYTES else None


# What a project asks to be left alone. Its `.skilld.toml` files come with a repository and are not trusted: they can
# only narrow. Where one is not understood nothing is touched: whoever wrote it wanted less, not more.

PROJECT_CONFIG = ".skilld.toml"
_MAX_BYTES = 64 * 1024
_MAX_DEPTH = 256  # folders above a skill; each is looked into by its whole path


class NotUnderstoodError(SkilldError):
    """The file at `path` does not say anything that skilld understands, so the project is left alone until it does."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"Skipped because of {path}", why)
        self.path = path


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """What the file in `folder` asks: nothing below it (not `enabled`), no file with such a name, path or kind."""

    folder: Path
    enabled: bool = True
    never: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    targets: tuple[str, ...] = tuple(TargetKind)

    def opt_out(self, path: Path, name: str = "", kind: TargetKind | None = None) -> str | None:
        """Return why skilld leaves `path` (the file called `name` there, or a session's folder) alone; None if not."""
        inside = path.relative_to(self.folder)
        parts = [part.as_posix() for part in (inside, *inside.parents)]
        ignored = any(fnmatchcase(part, glob.rstrip("/")) for glob in self.ignore for part in parts)
        wanted = kind is None or kind in self.targets
        if self.enabled and wanted and name not in self.never and not ignored:
            return None
        return f"{self.folder / PROJECT_CONFIG} opts out of skilld"


def opt_out(path: Path, name: str = "", kind: TargetKind | None = None) -> str | None:
    """Return why the projects around `path` want it left alone, as a clause for the person; None if none does.

    `path` is an absolute one: of the file called `name`, which is of this `kind`, or a session's folder. Raises
    SkilldError if a file on the way is not understood.
    """
    return next((reason for config in _around(path) if (reason := config.opt_out(path, name, kind))), None)


def _around(path: Path) -> Iterator[ProjectConfig]:
    if len(path.parts) > _MAX_DEPTH:
        raise SkilldError("Skipped", f"{path} is nested more than {_MAX_DEPTH} folders deep")
    for folder in (path, *path.parents):
        if os.path.lexists(folder / PROJECT_CONFIG):
            yield _read(folder)
        if os.path.lexists(folder / ".git"):
            return


def _read(folder: Path) -> ProjectConfig:
    try:
        return _parsed(
            folder, tomllib.loads(read_plain(folder / PROJECT_CONFIG, _MAX_BYTES, links=False)[0].decode("utf-8-sig"))
        )
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except tomllib.TOMLDecodeError:  # its text quotes the file
        why = "it is not valid TOML"
    except (ValueError, RecursionError) as error:
        why = str(error)
    raise NotUnderstoodError(folder / PROJECT_CONFIG, why)


def _parsed(folder: Path, values: dict[str, object]) -> ProjectConfig:
    if unknown_keys := set(values) - _KEYS:
        raise ValueError(f"unknown key {min(unknown_keys)!r}; allowed: {', '.join(sorted(_KEYS))}")
    enabled = values.get("enabled", True)
    if enabled not in (True, False):
        raise ValueError("enabled must be true or false")
    targets = _texts(values, "targets") if "targets" in values else tuple(TargetKind)
    if unknown := set(targets) - set(TargetKind):
        raise ValueError(f"targets contains {min(unknown)!r}; allowed: {', '.join(TargetKind)}")
    return ProjectConfig(folder, bool(enabled), _texts(values, "never"), _texts(values, "ignore"), targets)


def _texts(values: dict[str, object], key: str) -> tuple[str, ...]:
    found = values.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"{key} must be a list of strings")
    return tuple(str(item) for item in found)


# Every skill on this machine that an agent can see, each once by its real path, however many links and agents lead to
# it. Follows no folder in circles, and reads no file that `find` would not take.

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
            found[real] = replace(known, agents=(*known.agents, agent))


def text(path: Path) -> str:
    """Return a skill's text from its real path; raises OSError if that is no plain file of ours."""
    if path.name.casefold() != FILE.casefold():
        raise OSError(0, "it is a symlink to a file with another name", str(path))
    try:
        data, facts = read_plain(path, MAX_BYTES, links=False)
    except ValueError as error:
        raise OSError(0, str(error), str(path)) from error
    if why := file_problem(facts):
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
