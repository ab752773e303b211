"""Reads the `.skilld.toml` files by which a project opts out of skilld, wholly or in part.

They come with the repository and are not trusted: they can only restrict skilld. If one cannot be read nothing is
touched: whoever wrote it wanted less, not more.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from skilld.errors import SkilldError
from skilld.files import read_regular
from skilld.git.branch_files import BranchFile, default_branch_files
from skilld.git.top import is_top
from skilld.types import TargetKind
from skilld.values import value_class

PROJECT_CONFIG = ".skilld.toml"
SKIPPED = "Skipped because of"  # begins the message about an invalid one
_KEYS = frozenset(("enabled", "ignore", "never", "targets"))
_MAX_CONFIG_BYTES = 64 * 1024
_MAX_NAME = 255  # characters of a file's name
_MAX_DEPTH = 256  # folders above a skill; each is checked by its whole path


class ProjectConfigError(SkilldError):
    """The project configuration at `path` is invalid, so the project is left alone until it is fixed.

    It is in the work tree, or else on the default `branch`.
    """

    def __init__(self, path: Path, why: str, branch: str = "") -> None:
        super().__init__(f"{SKIPPED} {_told_path(path, branch)}", why)
        self.path = path


def _told_path(path: Path, branch: str) -> str:
    return f"{path} on the branch {branch}" if branch else str(path)


@value_class
class ProjectConfig:
    """The configuration in `folder`: nothing below it (not `enabled`), or no files with such names, paths or kinds.

    It is in the work tree, or else on the default `branch`.
    """

    folder: Path
    branch: str = ""
    enabled: bool = True
    never: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    targets: tuple[str, ...] = tuple(TargetKind)

    def opt_out(self, path: Path, name: str = "", kind: TargetKind | None = None) -> str | None:
        """Return why `path` (of a file called `name`, or a session's folder) is opted out, None if it is not."""
        inside = path.relative_to(self.folder)
        parts = [part.as_posix() for part in (inside, *inside.parents)]
        ignored = any(fnmatchcase(part, glob) for glob in self.ignore for part in parts)
        short = name.lower()[:_MAX_NAME]
        unwanted = any(fnmatchcase(short, glob.lower()) for glob in self.never if name and len(glob) <= _MAX_NAME)
        wanted = (kind is None or kind in self.targets) and not unwanted
        if self.enabled and wanted and not ignored:
            return None
        return f"{_told_path(self.folder / PROJECT_CONFIG, self.branch)} opts out of skilld"


def opt_out(path: Path, name: str = "", kind: TargetKind | None = None) -> str | None:
    """Return why the projects around `path` opt out, as a clause for the person; None if none does.

    `path` is the absolute path of a file called `name` of this `kind`, or of a session's folder. Raises SkilldError if
    a configuration is invalid.
    """
    spellings = dict.fromkeys((path, Path(os.path.realpath(path))))
    found = (config.opt_out(at, name, kind) for each in spellings for config, at in _configs_around(each))
    return next(filter(None, found), None)


def describe_restrictions(path: Path) -> list[str]:
    """Return what the configurations around a folder restrict, each once. Raises SkilldError if one is invalid."""
    found = []
    for config, at in _configs_around(Path(os.path.realpath(path))):
        lists = {"never": config.never, "ignore": config.ignore}
        if config.targets != tuple(TargetKind):
            lists["targets"] = config.targets
        kept = "; ".join(f"{name}: {', '.join(values)}" for name, values in lists.items() if values)
        why = config.opt_out(at)
        found.append(why or f"{_told_path(config.folder / PROJECT_CONFIG, config.branch)} sets {kept or 'nothing'}")
    return list(dict.fromkeys(found))


def is_left_alone(path: Path) -> bool:
    """Whether a project around an absolute `path` opts out, or has a configuration that cannot be read."""
    try:
        return opt_out(path) is not None
    except (SkilldError, OSError, ValueError):
        return True


def _configs_around(path: Path) -> Iterator[tuple[ProjectConfig, Path]]:
    """Yield the configurations that apply to `path`, each with the path as seen from there.

    A submodule is part of its project, and a linked work tree of its repository's main one, which may have a
    configuration that it lacks: an untracked one, or one from another branch. What the default branch says counts on
    every branch: an older one has not heard of it yet.
    """
    if len(path.parts) > _MAX_DEPTH:
        raise SkilldError("Skipped", f"{path} is nested more than {_MAX_DEPTH} folders deep")
    for folder in (path, *path.parents):
        # Strings: this runs for every turn, and joining paths as objects took half of its time.
        if os.path.lexists(f"{folder}/{PROJECT_CONFIG}"):
            yield _read_config(folder), path
        if os.path.isfile(f"{folder}/.git"):  # noqa: PTH113 - a string
            if linked := linked_work_tree(str(folder)):
                yield from _configs_around(Path(linked[1]) / path.relative_to(folder))
            else:
                yield from ((config, path) for config in _default_configs(folder, path))
        elif is_top(str(folder)):
            yield from ((config, path) for config in _default_configs(folder, path))
            return


def _default_configs(top: Path, path: Path) -> Iterator[ProjectConfig]:
    """Yield the configurations around `path` on the default branch of the repository at `top`."""
    parts = str(path)[len(str(top)) :].split("/")[1:]  # strings, as above
    names = ["/".join((*parts[:depth], PROJECT_CONFIG)) for depth in range(len(parts) + 1)]
    for name, found in default_branch_files(str(top), names, _MAX_CONFIG_BYTES).items():
        for file in found:
            yield _config_of((top / name).parent, partial(_content, file), file.branch)


_LINK_PATTERN = re.compile(r"gitdir: (.+?)\n?")
_LINKED_DIR_PATTERN = re.compile(r"(/.+)/\.git/worktrees/[^/\n]+")
_MAX_LINK_BYTES = 5000


def linked_work_tree(top: str) -> tuple[str, str] | None:
    """Return the git directory of the linked work tree at `top` and the main work tree, None if it is not one."""
    try:
        link = _LINK_PATTERN.fullmatch(read_link(f"{top}/.git"))
    except (OSError, ValueError):
        return None
    linked = _LINKED_DIR_PATTERN.fullmatch(os.path.normpath(os.path.join(top, link[1]))) if link else None  # noqa: PTH118
    return (linked[0], linked[1]) if linked and Path(linked[1], ".git").is_dir() else None


def read_link(path: str) -> str:
    """Return the text of a file in which git names another one; raises OSError or ValueError."""
    return read_regular(Path(path), _MAX_LINK_BYTES)[0].decode("utf-8", "surrogateescape")


def _read_config(folder: Path) -> ProjectConfig:
    return _config_of(folder, lambda: read_regular(folder / PROJECT_CONFIG, _MAX_CONFIG_BYTES, links=False)[0])


def _content(file: BranchFile) -> bytes:
    if file.data is None:
        raise ValueError(f"it is not a file of at most {_MAX_CONFIG_BYTES} bytes")
    return file.data


def _config_of(folder: Path, read_bytes: Callable[[], bytes], branch: str = "") -> ProjectConfig:
    try:
        return _parse_config(folder, branch, tomllib.loads(read_bytes().decode("utf-8-sig")))
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except tomllib.TOMLDecodeError:  # its message quotes the file
        why = "it is not valid TOML"
    except (ValueError, RecursionError) as error:
        why = str(error)
    raise ProjectConfigError(folder / PROJECT_CONFIG, why, branch)


def _parse_config(folder: Path, branch: str, values: dict[str, object]) -> ProjectConfig:
    if unknown_keys := set(values) - _KEYS:
        raise ValueError(f"unknown key {min(unknown_keys)!r}; allowed: {', '.join(sorted(_KEYS))}")
    enabled = values.get("enabled", True)
    if enabled not in (True, False):
        raise ValueError("enabled must be true or false")
    targets = _get_texts(values, "targets") if "targets" in values else tuple(TargetKind)
    if unknown := set(targets) - set(TargetKind):
        raise ValueError(f"targets contains {min(unknown)!r}; allowed: {', '.join(TargetKind)}")
    never = _get_texts(values, "never")
    if wrong := [one for one in never if len(one) > _MAX_NAME or not _NAME_GLOB.fullmatch(one)]:
        raise ValueError(
            f"never contains {wrong[0][:_MAX_NAME]!r}, which cannot be a skill's name: write a name, or a glob of names"
        )
    ignore = tuple(glob for text in _get_texts(values, "ignore") for glob in _path_globs(text))
    return ProjectConfig(folder, branch, bool(enabled), never, ignore, targets)


# A part of a path, with the signs of fnmatch: no slash, no colon of a plugin, no braces, no leading exclamation mark.
_NAME_GLOB = re.compile(r"(?! )(?:[\w.*? -]|\[!?[^\]/\n]+\])+(?<! )")


def _path_globs(text: str) -> Iterator[str]:
    """Yield the globs of a path below the folder of the file, as people write it for git."""
    glob = text.removeprefix("./").strip("/") or "."
    if not text.strip() or "\\" in glob or glob.startswith(("!", "~")) or ".." in glob.split("/"):
        raise ValueError(f"ignore contains {text!r}, which cannot be a path below the file")
    yield glob
    if glob.startswith("**/"):
        yield glob.removeprefix("**/")
    if glob.endswith("/**"):
        yield glob.removesuffix("/**")


def _get_texts(values: dict[str, object], key: str) -> tuple[str, ...]:
    found = values.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"{key} must be a list of strings")
    return tuple(str(item) for item in found)
