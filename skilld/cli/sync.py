"""`skilld sync` and `skilld unsync`: lists the project's skills in the files that agents read at startup."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, inventory
from skilld.errors import SkilldError, UsageError, cause_of
from skilld.exchange import managed_block
from skilld.exchange.managed_block import INSTRUCTION_FILES
from skilld.files import read_regular, write_atomically
from skilld.skills import Skill
from skilld.store.meta import SYNCED_PROJECTS
from skilld.text import pluralize, truncate

if TYPE_CHECKING:
    from skilld.exchange.skill_list import Conflict, SkillList

ContentChange = Callable[[bytes | None], bytes | None]
_MAX_BYTES = 8 << 20  # of an instruction file; agents' own limits are far lower
_MAX_QUOTE_CHARS = 100


@dataclass(frozen=True)
class FileChange:
    """A file's bytes before and after the change; None if there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def what(self) -> str:
        """What happens to the file, in one word."""
        if self.before == self.after:
            return "unchanged"
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    def write(self) -> None:
        """Write the file. Raises SkilldError if it has changed in the meantime or cannot be written."""
        try:
            if self.after is None:
                self._check()
                self.path.unlink()
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            mode = 0o644 if self.before is None else stat.S_IMODE(self.path.stat().st_mode)
            write_atomically(self.path, self.after, mode, self._check)
        except (OSError, ValueError) as error:
            raise SkilldError("Cannot write the file", f"{self.path}: {cause_of(error)}") from error

    def _check(self) -> None:
        now = _read_bytes(self.path)
        if now != self.before:
            raise SkilldError("The file was left unchanged", f"{self.path} was changed by another program")


def sync(arguments: argparse.Namespace) -> int:
    """Add or update the block; without an agent, in the files that already have one."""
    from skilld.exchange.skill_list import build_skill_list, find_conflicts, list_skill

    project = common.resolve_folder(arguments.project)
    chosen = _choose_skills(arguments.names, project)
    skills = [list_skill(one, inventory.skill_text(one), [*one.path.parent.iterdir()]) for one in chosen]
    fronts = {_resolve_file(project, target.path): target.front for target in INSTRUCTION_FILES.values()}
    paths = _chosen_files(arguments, project) or _files_with_block(fronts)
    there = {path: path.read_text("utf-8", "replace") if path.is_file() else "" for path in paths}
    against = {path: find_conflicts(text, skills) for path, text in there.items()}
    disputed = {Path(one.skill) for found in against.values() for one in found}
    # A rule that contradicts the file is not written into it: the person decides which of them holds.
    whole = build_skill_list([replace(one, rules=()) if one.skill.path in disputed else one for one in skills], project)
    plan = [
        _plan_change(path, partial(_replace_list, _body_for(path, whole.body, paths), fronts[path])) for path in paths
    ]
    if not arguments.dry_run and any(one.before != one.after for one in plan):
        _remember_project(project)
    if not (whole.body or whole.left_out or whole.odd or arguments.json):
        none = "has no skills to list; personal skills are not listed in a project's files."
        console.say(f"{console.message(str(project))} {none}")
    code = _apply_changes(arguments, plan, against)
    if not arguments.json:
        _print_conflicts(project, against)
        _print_left_out(whole)
    return code


def _choose_skills(names: list[str], project: Path) -> list[Skill]:
    """Return the project's skills of these names, or all that are offered; the most used first."""
    skills = inventory.offered_skills(inventory.project_skills(project))
    if unknown := sorted(set(names) - {skill.name for skill in skills}):
        known = ", ".join(sorted({skill.name for skill in skills})) or "none"
        remedy = "List all: skilld skills list. To enable one: skilld skills enable NAME"
        raise UsageError("No such skill in this project", f"{unknown[0]}; available: {known}", remedy)
    named = [one for one in skills if one.name in names]
    return [skill for skill, _ in inventory.sorted_by_use(named or inventory.skills_to_offer(skills, project))]


def _files_with_block(fronts: dict[Path, str]) -> list[Path]:
    """Return the files that already have a block. Raises UsageError if there are none."""
    paths = [path for path in fronts if path.is_file() and managed_block.read_block(path.read_bytes()) is not None]
    if not paths:
        remedy = "Name one: skilld sync --agent AGENT. For all agents: skilld sync --all"
        raise UsageError("No agent given", "no file in this project has a skilld block yet", remedy)
    return paths


def _body_for(path: Path, body: str, paths: list[Path]) -> str:
    """Return what a file's block says; in a CLAUDE.md of its own, first the AGENTS.md that Claude Code then ignores."""
    own, name = INSTRUCTION_FILES["claude-code"].path, INSTRUCTION_FILES["codex"].path
    shared = path.with_name(name)
    if not body or path.name != own or _has_text(path) or not _has_text(shared):
        return body
    return f"@{name}\n" if shared in paths else f"@{name}\n\n{body}"


def _has_text(path: Path) -> bool:
    """Whether a file says more than its block does."""
    try:
        data = _read_bytes(path)
        return bool(data and (managed_block.remove_block(data) or b"").strip())
    except SkilldError:  # the block was edited
        return True
    except (OSError, ValueError):
        return False


def _replace_list(body: str, front: str, data: bytes | None) -> bytes | None:
    """Return the file's bytes with this list of skills; a new file begins with `front`. Without a list, remove it."""
    if not body:
        return data if data is None else managed_block.remove_block(data)
    return managed_block.put_block(data if data is not None or not front else front.encode(), body)


def _print_conflicts(project: Path, against: dict[Path, list[Conflict]]) -> None:
    """Print the lines that contradict skills."""

    def where(path: Path, line: int) -> str:
        return f"{console.message(str(path.relative_to(project)))}:{line}"

    for path, found in against.items():
        for one in found:
            mine, theirs = (console.plain(truncate(text, _MAX_QUOTE_CHARS)) for text in (one.text, one.skill_text))
            console.say(f"conflict: {where(path, one.line)} says: {mine}")
            console.say(f"          {where(Path(one.skill), one.skill_line)} says: {theirs}")
    if any(against.values()):
        console.say("Agents read both lines. Change one of them, then run skilld sync again.")


def _print_left_out(whole: SkillList) -> None:
    """Print the skills for which there was no room, and those with a path that no line can have."""
    for left, why, remedy in (
        (whole.left_out, "the block would be too long", "To choose which to list: skilld sync SKILL..."),
        (whole.odd, "Markdown could read part of the path as markup", "To list them, rename their folders."),
    ):
        if left:
            names = console.plain(", ".join(one.name for one in left))
            console.say(f"Left out {pluralize(len(left), 'skill')} because {why}: {names}")
            console.say(remedy)


def _remember_project(project: Path) -> None:
    """Store the project for `skilld uninstall`, before anything is written, so that no block is forgotten."""
    meta = common.store().meta
    meta.set(SYNCED_PROJECTS, sorted({*meta.get(SYNCED_PROJECTS, []), str(project)}))


def unsync(arguments: argparse.Namespace) -> int:
    """Remove the block from the files of the agents given, or of all."""
    project = common.resolve_folder(arguments.project)
    return _apply_changes(arguments, _plan_removals(project, _chosen_files(arguments, project)))


def plan_removal(project: Path) -> list[FileChange]:
    """Return the changes that remove every block from a project. Raises SkilldError if a block was edited."""
    return [one for one in _plan_removals(project, []) if one.before != one.after] if project.is_dir() else []


def _plan_removals(project: Path, paths: list[Path]) -> list[FileChange]:
    """Plan to remove the block from these files, or from all that could have one."""
    fronts = {_resolve_file(project, target.path): target.front.encode() for target in INSTRUCTION_FILES.values()}

    def without(front: bytes, data: bytes | None) -> bytes | None:
        rest = None if data is None else managed_block.remove_block(data)
        return None if rest is not None and rest == front != b"" else rest

    return [_plan_change(path, partial(without, fronts[path])) for path in paths or fronts]


def _chosen_files(arguments: argparse.Namespace, project: Path) -> list[Path]:
    names = INSTRUCTION_FILES if arguments.all else arguments.agent
    paths = {name: INSTRUCTION_FILES[name].path for name in names}
    own, shared = INSTRUCTION_FILES["claude-code"].path, INSTRUCTION_FILES["codex"].path
    if "codex" not in paths and (project / own).is_file() and not os.path.lexists(project / shared):
        # These load CLAUDE.md only where there is no AGENTS.md, so that a new one would hide it from them.
        paths |= dict.fromkeys({"opencode", "pi"} & paths.keys(), own)
    return list(dict.fromkeys(_resolve_file(project, path) for path in paths.values()))


def _resolve_file(project: Path, relative: str) -> Path:
    """Return the real path of a file: if CLAUDE.md is a symlink to AGENTS.md, they are one file."""
    path = (project / relative).resolve()
    if not path.is_relative_to(project):
        cause = f"{project / relative} is a symlink that points outside the project"
        raise SkilldError("The file was left unchanged", cause)
    return path


def _read_bytes(path: Path) -> bytes | None:
    return read_regular(path, _MAX_BYTES, links=False)[0] if os.path.lexists(path) else None


def _plan_change(path: Path, change: ContentChange) -> FileChange:
    try:
        before = _read_bytes(path)
        return FileChange(path, before, change(before))
    except (OSError, ValueError) as error:
        raise SkilldError("Cannot read the file", f"{path}: {cause_of(error)}") from error
    except SkilldError as error:
        raise SkilldError(error.title, f"{path}: {error.cause}", error.remedy) from error


def _apply_changes(
    arguments: argparse.Namespace, plan: list[FileChange], against: dict[Path, list[Conflict]] | None = None
) -> int:
    """Write the changes, after all files were read and checked, and print them; return the exit code."""
    changes = [one for one in plan if one.before != one.after]
    if not arguments.dry_run:
        for one in changes:
            one.write()
    if arguments.json:
        conflicts = {path: [asdict(line) for line in lines] for path, lines in (against or {}).items()}
        shown = [{"path": str(one.path), "change": one.what, "conflicts": conflicts.get(one.path, [])} for one in plan]
        return common.write_json(shown)
    would = "would be " if arguments.dry_run else ""
    for one in changes:
        console.say(f"{would}{one.what}: {console.message(str(one.path))}")
    if not changes:
        console.say("Nothing to change.")
    return 0
