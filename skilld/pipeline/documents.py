"""Loads the files that a batch is judged against: skills in use and standing instructions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from skilld.context import Context, LoadedFile, Scope, context_of, personal_file
from skilld.context.values import within
from skilld.errors import SkilldError
from skilld.git.attributes import storage_refusal
from skilld.skills import opt_out, read
from skilld.types import SkillDoc, SkillRef, TargetKind
from skilld.values import value_class

UNREADABLE_REASON = "its SKILL.md cannot be read"
_MAX_INSTRUCTIONS = 64 * 1024


@value_class
class TargetDocument:
    """A file with its current bytes (none if it does not exist yet), and as shown to a classifier."""

    ref: SkillRef
    data: bytes
    doc: SkillDoc


_DESCRIPTIONS = {
    TargetKind.INSTRUCTIONS: "of this project",
    TargetKind.RULES: "of this project, for the files worked on",
    TargetKind.PERSONAL: "personal, for all projects",
}


_ABSENT_NOTE = ", not there yet"


def as_edited(doc: SkillDoc, text: str) -> SkillDoc:
    """Return a file as it will be with the text of an edit, which may create it."""
    return replace(doc, name=doc.name.removesuffix(_ABSENT_NOTE), text=text)


def _describe_target(ref: SkillRef) -> str:
    if ref.kind not in _DESCRIPTIONS:
        return ref.name
    note = f"of this project, for {', '.join(ref.patterns)}" if ref.absent and ref.patterns else _DESCRIPTIONS[ref.kind]
    return f"{ref.name}, {note}{_ABSENT_NOTE if ref.absent else ''}"


def load_documents(refs: Sequence[SkillRef], first: int = 1) -> tuple[list[TargetDocument], list[tuple[str, str]]]:
    """Return the files that may be edited, numbered from `first`, and the names of the others with the reason."""
    loaded: list[TargetDocument] = []
    left_out: list[tuple[str, str]] = []
    for ref in refs:
        try:
            unwanted = opt_out(Path(ref.path), ref.name, ref.kind)
            unwanted = unwanted or storage_refusal(Path(ref.path))
        except SkilldError as error:
            unwanted = str(error)
        if unwanted:
            left_out.append((ref.name, unwanted))
            continue
        try:
            data = b"" if ref.absent else read(ref)
            text = data.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError, SkilldError):
            left_out.append((ref.name, UNREADABLE_REASON))
            continue
        number = first + len(loaded)
        excerpt = ref.kind is not TargetKind.SKILL
        doc = SkillDoc(number, _describe_target(ref), ref.path, text, tuple(ref.used), excerpt)
        loaded.append(TargetDocument(ref, data, doc))
    return loaded, left_out


def check_configs(refs: Sequence[SkillRef]) -> None:
    """Raise ProjectConfigError if the configuration of a project around one of the files is invalid."""
    for ref in refs:
        opt_out(Path(ref.path), ref.name, ref.kind)


def session_opt_out(cwd: str | None) -> str | None:
    """Return why the session's project opted out, None if it did not.

    Raises SkilldError if its configuration cannot be read.
    """
    return opt_out(Path(cwd)) if _is_safe_path(cwd) else None


def standing_instructions(agent: str, cwd: str | None, home: str, variables: Mapping[str, str]) -> str:
    """Return what `agent` loads in `cwd` except skills, the nearest files first."""
    if not _is_safe_path(cwd) or not _is_safe_path(home):
        return ""
    found = context_of(agent, "", cwd, home, environment=variables, untouched=False)
    files = [file for file in reversed(found.files) if file.entered and file.scope is not Scope.SKILL]
    return "\n\n".join(file.text[:_MAX_INSTRUCTIONS] for file in files if is_own_file(file, found, home))


def _is_safe_path(cwd: str | None) -> TypeGuard[str]:
    return cwd is not None and Path(cwd).is_absolute() and ".." not in Path(cwd).parts


def is_own_file(file: LoadedFile, found: Context, home: str) -> bool:
    """Whether a file is the person's and does not link out of the project or the home, as in a hostile repository.

    The agent's own file in the home may be a link to anywhere, such as to a repository of dotfiles.
    """
    if within(file.path, found.root):
        ours = found.is_inside(file)
    else:
        ours = within(file.real, home) or file.path == personal_file(found.agent, Path(home), {})
    try:
        return ours and Path(file.real).stat().st_uid == os.geteuid()
    except OSError:
        return False
