"""`skilld sync` and `skilld unsync`: the project's skills, listed in the files that agents read when they start."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from skilld import console
from skilld.cli import common, inventory
from skilld.errors import SkilldError, UsageError
from skilld.files import read_plain

Change = Callable[[bytes | None], bytes | None]
_MAX_BYTES = 8 << 20  # of an instruction file; agents cut theirs far below


@dataclass(frozen=True)
class FileChange:
    """One file with its bytes now and then; None where there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def what(self) -> str:
        """What becomes of the file, in one word."""
        if self.before == self.after:
            return "unchanged"
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    def write(self) -> None:
        """Carry it out. Raises SkilldError where the file is not any more what it was, or cannot be written."""
        from skilld.files import write_whole

        try:
            if self.after is None:
                self._check()
                self.path.unlink()
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            mode = 0o644 if self.before is None else stat.S_IMODE(self.path.stat().st_mode)
            write_whole(self.path, self.after, mode, self._check)
        except (OSError, ValueError) as error:
            raise SkilldError("Cannot write the file", f"{self.path}: {_reason(error)}") from error

    def _check(self) -> None:
        now = _bytes(self.path)
        if now != self.before:
            raise SkilldError("The file was left unchanged", f"{self.path} was changed by another program")


def add(verbs: common.Verbs) -> None:
    """Add the two verbs."""
    from skilld.exchange.managed_block import TARGETS

    about = "list this project's skills in its CLAUDE.md, AGENTS.md, ..."
    for name, run, text in (
        ("sync", sync, about),
        ("unsync", unsync, "remove the list of skills that sync wrote to those files"),
    ):
        parser = common.verb(verbs, name, run, text, listing=True)
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument(
            "--agent",
            action="append",
            choices=sorted(TARGETS),
            metavar="AGENT",
            default=[],
            help=f"{', '.join(sorted(TARGETS))}; repeatable",
        )
        chosen.add_argument("--all", action="store_true", help="every agent")
        parser.add_argument(
            "--project",
            metavar="FOLDER",
            type=Path,
            default=Path(),
            help="the project's folder (default: the current one)",
        )
        parser.add_argument("--dry-run", action="store_true", help="show what would change without changing it")
        if name == "sync":
            parser.add_argument("names", metavar="SKILL", nargs="*", help="only these skills")


def sync(arguments: argparse.Namespace) -> int:
    """Put the block in, or renew it. Without an agent given: in the files that have one."""
    from skilld.exchange import managed_block
    from skilld.exchange.managed_block import TARGETS

    project = common.folder(arguments.project)
    skills = inventory.served(inventory.project_skills(project))
    if unknown := sorted(set(arguments.names) - {skill.name for skill in skills}):
        known = ", ".join(sorted({skill.name for skill in skills})) or "none"
        remedy = "List all: skilld skills list. To enable one: skilld skills enable NAME"
        raise UsageError("No such skill in this project", f"{unknown[0]}; available: {known}", remedy)
    named = [one for one in skills if one.name in arguments.names]
    body = managed_block.body(named or inventory.offered(skills, project), project)
    fronts = {_file(project, target.path): target.front for target in TARGETS.values()}
    asked = _asked(arguments, project)
    paths = asked or [
        path for path in fronts if path.is_file() and managed_block.body_of(path.read_bytes()) is not None
    ]
    if not paths:
        raise UsageError(
            "Which agents?", "no file here has a block yet", "Name one: skilld sync --agent NAME, or use --all"
        )

    def change(path: Path) -> Change:
        def put(data: bytes | None) -> bytes | None:
            if not body:
                return data if data is None else managed_block.take_out(data)
            return managed_block.put(data if data is not None or not fronts[path] else fronts[path].encode(), body)

        return put

    plan = [_plan(path, change(path)) for path in paths]
    if not arguments.dry_run and any(one.before != one.after for one in plan):
        _remember(project)
    if not body and not arguments.json:
        console.line(
            f"{console.plain(str(project))} has no skills to list; your personal ones do not go into a project's files."
        )
    return _carry_out(arguments, plan)


def _remember(project: Path) -> None:
    """Have `skilld uninstall` find the project again; before anything is written, so that no block is forgotten."""
    from skilld.store.meta import SYNCED

    meta = common.store().meta
    meta.set(SYNCED, sorted({*meta.get(SYNCED, []), str(project)}))


def unsync(arguments: argparse.Namespace) -> int:
    """Take the block out of the files of the agents given, or of all."""
    project = common.folder(arguments.project)
    return _carry_out(arguments, _removals(project, _asked(arguments, project)))


def removal(project: Path) -> list[FileChange]:
    """Return what takes every block out of a project's files; nothing where the project is gone.

    Raises SkilldError where a file cannot be read, or its block was edited.
    """
    return [one for one in _removals(project, []) if one.before != one.after] if project.is_dir() else []


def _removals(project: Path, paths: list[Path]) -> list[FileChange]:
    """Plan to take the block out of these files; out of all that could have one where none is given."""
    from skilld.exchange import managed_block
    from skilld.exchange.managed_block import TARGETS

    fronts = {_file(project, target.path): target.front.encode() for target in TARGETS.values()}

    def change(path: Path) -> Change:
        def take_out(data: bytes | None) -> bytes | None:
            rest = None if data is None else managed_block.take_out(data)
            return None if rest is not None and rest == fronts[path] != b"" else rest

        return take_out

    return [_plan(path, change(path)) for path in paths or fronts]


def _asked(arguments: argparse.Namespace, project: Path) -> list[Path]:
    from skilld.exchange.managed_block import TARGETS

    names = TARGETS if arguments.all else arguments.agent
    return list(dict.fromkeys(_file(project, TARGETS[name].path) for name in names))


def _file(project: Path, relative: str) -> Path:
    """Return the real file: people link CLAUDE.md to AGENTS.md, and that is then one file."""
    path = (project / relative).resolve()
    if not path.is_relative_to(project):
        raise SkilldError("Skipped", f"{project / relative} is a symlink that points outside the project")
    return path


def _bytes(path: Path) -> bytes | None:
    return read_plain(path, _MAX_BYTES, links=False)[0] if os.path.lexists(path) else None


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _plan(path: Path, change: Change) -> FileChange:
    try:
        before = _bytes(path)
        return FileChange(path, before, change(before))
    except (OSError, ValueError) as error:
        raise SkilldError("Cannot read the file", f"{path}: {_reason(error)}") from error
    except SkilldError as error:
        raise SkilldError(error.title, f"{path}: {error.cause}", error.remedy) from error


def _carry_out(arguments: argparse.Namespace, plan: list[FileChange]) -> int:
    """Write what changes, all files having been read and judged before the first is touched."""
    changes = [one for one in plan if one.before != one.after]
    if not arguments.dry_run:
        for one in changes:
            one.write()
    if arguments.json:
        return common.write_json([{"path": str(one.path), "change": one.what} for one in plan])
    would = "would be " if arguments.dry_run else ""
    for one in changes:
        console.line(f"{would}{one.what}: {console.plain(str(one.path))}")
    if not changes:
        console.line("Nothing to change.")
    return 0
