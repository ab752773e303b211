"""What a project asks to be left alone: the `.skilld.toml` files of a repository.

A folder enters, the sum of the files from it up to the repository's root leaves. They come with a repository, so they
are not trusted: they can only narrow. One that is not understood is an error, and nothing there is touched: whoever
wrote it wanted less, not more.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from skilld.errors import SkilldError
from skilld.files import read_plain
from skilld.types import TargetKind

FILE = ".skilld.toml"
_MAX_BYTES = 64 * 1024
_MAX_DEPTH = 256  # folders above a skill; each is looked into by its whole path


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """What the file in `folder` asks: nothing below it (not `enabled`), no file with such a name, path or kind."""

    folder: Path
    enabled: bool = True
    never: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    targets: tuple[str, ...] = tuple(TargetKind)

    def why_not(self, path: Path, name: str = "", kind: TargetKind | None = None) -> str:
        """Return why skilld leaves `path` (the file called `name` there, or a session's folder) alone; empty if not."""
        inside = path.relative_to(self.folder)
        parts = [part.as_posix() for part in (inside, *inside.parents)]
        ignored = any(fnmatchcase(part, glob.rstrip("/")) for glob in self.ignore for part in parts)
        wanted = kind is None or kind in self.targets
        if self.enabled and wanted and name not in self.never and not ignored:
            return ""
        return f"{self.folder / FILE} asks to leave it alone"


def why_left_alone(path: Path, name: str = "", kind: TargetKind | None = None) -> str:
    """Return why the projects around `path` want it left alone: a clause for the person, empty where none does.

    `path` is an absolute one: of the file called `name`, which is of this `kind`, or a session's folder. Raises
    SkilldError where a file on the way is not understood.
    """
    reasons = (narrowing.why_not(path, name, kind) for narrowing in _around(path))
    return next((reason for reason in reasons if reason), "")


def _around(path: Path) -> Iterator[ProjectConfig]:
    if len(path.parts) > _MAX_DEPTH:
        raise SkilldError("Left alone", f"it lies more than {_MAX_DEPTH} folders deep")
    for folder in (path, *path.parents):
        if os.path.lexists(folder / FILE):
            yield _read(folder)
        if os.path.lexists(folder / ".git"):
            return


def _read(folder: Path) -> ProjectConfig:
    try:
        return _parsed(folder, tomllib.loads(read_plain(folder / FILE, _MAX_BYTES, links=False)[0].decode("utf-8-sig")))
    except OSError as error:
        why = error.strerror or "it cannot be read"
    except tomllib.TOMLDecodeError:  # its text quotes the file
        why = "it is no TOML"
    except (ValueError, RecursionError) as error:
        why = str(error)
    raise SkilldError(f"Left alone because of {folder / FILE}", why)


def _parsed(folder: Path, values: dict[str, object]) -> ProjectConfig:
    if set(values) - {"enabled", "never", "ignore", "targets"}:
        raise ValueError("it has keys that are none of enabled, never, ignore and targets")
    enabled = values.get("enabled", True)
    if enabled not in (True, False):
        raise ValueError("enabled is neither true nor false")
    targets = _texts(values, "targets") if "targets" in values else tuple(TargetKind)
    if unknown := set(targets) - set(TargetKind):
        raise ValueError(f"targets has {min(unknown)!r}, and there are {', '.join(TargetKind)}")
    return ProjectConfig(folder, bool(enabled), _texts(values, "never"), _texts(values, "ignore"), targets)


def _texts(values: dict[str, object], key: str) -> tuple[str, ...]:
    found = values.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"{key} is no list of texts")
    return tuple(str(item) for item in found)
