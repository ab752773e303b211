"""The files a batch is judged against: the skills in use and the project's standing instructions."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from skilld.errors import SkilldError
from skilld.skills import read, why_left_alone
from skilld.types import SkillDoc, SkillRef

UNREADABLE = "its SKILL.md cannot be read"
_MOST = 64 * 1024
_DEEPEST = 256  # folders above a session's


@dataclass(frozen=True, slots=True)
class Loaded:
    """A skill as it is on disk now, and as a classifier is shown it."""

    ref: SkillRef
    data: bytes
    doc: SkillDoc


def load_skills(refs: Sequence[SkillRef]) -> tuple[list[Loaded], list[tuple[str, str]]]:
    """Return the skills that may be edited, numbered from 1, and (name, why) of the others."""
    loaded: list[Loaded] = []
    left_out: list[tuple[str, str]] = []
    for ref in refs:
        try:
            unwanted = why_left_alone(Path(ref.path), ref.name)
        except SkilldError as error:
            unwanted = str(error)
        if unwanted:
            left_out.append((ref.name, unwanted))
            continue
        try:
            data = read(ref)
            text = data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError, SkilldError):
            left_out.append((ref.name, UNREADABLE))
            continue
        number = len(loaded) + 1
        loaded.append(Loaded(ref, data, SkillDoc(number, ref.name, ref.path, text, tuple(ref.used))))
    return loaded, left_out


def why_session_left_alone(cwd: str | None) -> str:
    """Return why the project that a session works in wants no part in this; empty where it does not say so.

    Raises SkilldError where what it says is not understood.
    """
    return why_left_alone(Path(cwd)) if _is_plain(cwd) else ""


def standing_instructions(cwd: str | None, names: Sequence[str]) -> str:
    """Return what CLAUDE.md, AGENTS.md and the like say from `cwd` up to the repository's root."""
    if not _is_plain(cwd):
        return ""
    folders = [*_up_to_root(Path(cwd))]
    found = (_own_text(folder / name, folders[-1]) for folder in folders for name in names)
    return "\n\n".join(text for text in found if text)


def _is_plain(cwd: str | None) -> TypeGuard[str]:
    return cwd is not None and Path(cwd).is_absolute() and ".." not in Path(cwd).parts


def _up_to_root(folder: Path) -> Iterator[Path]:
    for parent in (folder, *folder.parents[:_DEEPEST]):
        yield parent
        if os.path.lexists(parent / ".git"):
            return


def _own_text(path: Path, top: Path) -> str:
    """Return a file's text; empty where it is not ours, or a link out of `top`: a repository may hold any link."""
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(top.resolve()):
            return ""
        fd = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError, RuntimeError):
        return ""
    with os.fdopen(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            return ""
        return file.read(_MOST).decode("utf-8", "replace")
