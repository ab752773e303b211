"""The files a batch is judged against: the skills in use and the project's standing instructions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from skilld.context import Context, LoadedFile, Scope, context_of
from skilld.context.values import within
from skilld.errors import SkilldError
from skilld.skills import opt_out, read
from skilld.types import SkillDoc, SkillRef, TargetKind

UNREADABLE = "its SKILL.md cannot be read"
_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class TargetDocument:
    """A file as it is on disk now (nothing, where it would be made), and as a classifier is shown it."""

    ref: SkillRef
    data: bytes
    doc: SkillDoc


_WHOSE = {
    TargetKind.INSTRUCTIONS: "of this project",
    TargetKind.RULES: "of this project, for the files worked on",
    TargetKind.PERSONAL: "personal, for all projects",
}


def _told(ref: SkillRef) -> str:
    """Return how a classifier is told what a file is."""
    if ref.kind not in _WHOSE:
        return ref.name
    whose = f"of this project, for {', '.join(ref.patterns)}" if ref.absent and ref.patterns else _WHOSE[ref.kind]
    return f"{ref.name}, {whose}{', not there yet' if ref.absent else ''}"


def load_skills(refs: Sequence[SkillRef], first: int = 1) -> tuple[list[TargetDocument], list[tuple[str, str]]]:
    """Return the files that may be edited, numbered from `first`, and (name, why) of the others."""
    loaded: list[TargetDocument] = []
    left_out: list[tuple[str, str]] = []
    for ref in refs:
        try:
            unwanted = opt_out(Path(ref.path), ref.name, ref.kind)
        except SkilldError as error:
            unwanted = str(error)
        if unwanted:
            left_out.append((ref.name, unwanted))
            continue
        try:
            data = b"" if ref.absent else read(ref)
            text = data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError, SkilldError):
            left_out.append((ref.name, UNREADABLE))
            continue
        number = first + len(loaded)
        excerpt = ref.kind is not TargetKind.SKILL
        doc = SkillDoc(number, _told(ref), ref.path, text, tuple(ref.used), excerpt)
        loaded.append(TargetDocument(ref, data, doc))
    return loaded, left_out


def session_opt_out(cwd: str | None) -> str | None:
    """Return why the project that a session works in wants no part in this; None if it does not say so.

    Raises SkilldError if what it says is not understood.
    """
    return opt_out(Path(cwd)) if _is_plain(cwd) else None


def standing_instructions(agent: str, cwd: str | None, home: str, variables: Mapping[str, str]) -> str:
    """Return what `agent` loads when it works in `cwd`, the nearest files first; skills aside."""
    if not _is_plain(cwd) or not _is_plain(home):
        return ""
    found = context_of(agent, "", cwd, home, environment=variables, untouched=False)
    files = [file for file in reversed(found.files) if file.entered and file.scope is not Scope.SKILL]
    return "\n\n".join(file.text[:_MAX] for file in files if is_own(file, found, home))


def _is_plain(cwd: str | None) -> TypeGuard[str]:
    return cwd is not None and Path(cwd).is_absolute() and ".." not in Path(cwd).parts


def is_own(file: LoadedFile, found: Context, home: str) -> bool:
    """Whether a file is ours and no link out of the project or of the home: a repository may hold any link."""
    ours = found.is_inside(file) if within(file.path, found.root) else within(file.real, home)
    try:
        return ours and Path(file.real).stat().st_uid == os.geteuid()
    except OSError:
        return False
