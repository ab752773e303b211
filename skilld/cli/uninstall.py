"""`skilld uninstall`: lists everything skilld created, then removes it. Nothing of the person's is touched."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skilld import console
from skilld.cli import common, terminal
from skilld.errors import Exit, NotRunningError, SkilldError
from skilld.files import shell_command, shell_quoted
from skilld.git.errors import NotTrackedError
from skilld.git.repo import locate
from skilld.service.install import uninstall
from skilld.store import Store
from skilld.store.meta import MACHINES, SHARED_COMMITS, SYNCED_PROJECTS, TEAMS
from skilld.text import pluralize
from skilld.types import State

_UNREACHABLE = (
    "your repositories: commits of past proposals, on no branch, until git prunes them (to prune them at once, run "
    "in each afterwards: git gc --prune=now)"
)

# What there is to remove: the service, managed blocks, refs in repositories, folders.


@dataclass(frozen=True)
class Removal:
    """One thing to remove: its kind, its place, and how to remove it."""

    kind: str
    what: str
    remove: Callable[[], object]


def service_removals() -> list[Removal]:
    """Return the service, if one is installed."""
    from skilld.cli.service import service_manager

    manager = service_manager()
    there = [path for path in manager.own_files() if path.exists()]
    if not there:
        return []
    return [Removal("service", ", ".join(map(str, there)), partial(uninstall, manager))]


def _link_removals() -> list[Removal]:
    """Return the symlink that `skilld setup` created on PATH, if it leads to this program."""
    link = common.path_symlink()
    ours = link.is_symlink() and link.readlink() == common.own_executable()
    return [Removal("link", str(link), link.unlink)] if ours else []


def status_line_removals() -> tuple[list[Removal], list[str]]:
    """Return skilld's entries in other programs' settings, and what could not be checked, with the reason."""
    from skilld.cli.statusline_setup import removals

    try:
        return [Removal("setting", str(one.path), one.write) for one in removals()], []
    except SkilldError as error:
        return [], [str(error)]


def stored_removals() -> tuple[list[Removal], list[str]]:
    """Return what the store knows of outside skilld's own folders, and what will be left, with the reason."""
    try:
        store = common.store_or_empty()
        blocks, troubles = _block_removals(store)
        own_refs, more = _repository_removals(store)
        more += _remote_leftovers(store)
    except SkilldError as error:
        return [], [f"branches and refs in your repositories, which skilld can no longer list: {error}"]
    return blocks + own_refs, troubles + more


def _block_removals(store: Store) -> tuple[list[Removal], list[str]]:
    from skilld.cli.sync import plan_removal

    parts, troubles = [], []
    for project in map(Path, store.meta.get(SYNCED_PROJECTS, [])):
        try:
            parts += [Removal("block", str(one.path), one.write) for one in plan_removal(project)]
        except SkilldError as error:
            troubles.append(str(error))
    return parts, troubles


def _remote_leftovers(store: Store) -> list[str]:
    """Return what is on remotes, of teams and other machines: the person must remove it before uninstalling."""
    found = []
    if own := store.meta.get(MACHINES):
        found.append(f"{own['address']}: this machine's data (to delete it, first run: skilld machines leave)")
    for repo, one in store.meta.get(TEAMS, {}).items():
        command = f"skilld team leave --repo {shell_quoted(Path(repo))}"
        shared = f"{one['address']}: the rules you share as {one['person']}"
        found.append(f"{shared} (to delete them, first run: {command})")
    return found


def _repository_removals(store: Store) -> tuple[list[Removal], list[str]]:
    from skilld.proposals.remove_refs import plan_removal, remove_refs

    own, shared = common.places().repositories, store.meta.get(SHARED_COMMITS, {})
    parts: list[Removal] = []
    troubles: list[str] = []
    names = sorted({*store.proposals.repos(), *shared})
    repos = [Path(name) for name in names if name and Path(name).parent != own]
    for repo, *others in _group_work_trees(repos):
        made = [oid for one in (repo, *others) for oid in shared.get(str(one), [])]
        try:
            planned = plan_removal(repo, made)
        except NotTrackedError:
            continue  # gone, with everything in it
        except SkilldError as error:
            troubles.append(f"{repo}: {error}")
            continue
        troubles += [f"{repo}: {ref.removeprefix('refs/heads/')}, because {why}" for ref, why in planned.kept.items()]
        for remote, branch in planned.pushed:
            delete = shell_command(["git", "-C", str(repo), "push", remote, "--delete", branch])
            troubles.append(f"{remote}: {branch}, which was pushed there from {repo} (to delete it: {delete})")
        empty = f"{planned.folder} (an empty folder)" if planned.folder else ""
        if left := ", ".join(filter(None, (*planned.refs, empty))):
            parts.append(Removal("refs", f"{repo}: {left}", partial(remove_refs, repo, made)))
    return parts, [*troubles, *([_UNREACHABLE] if any(repo.is_dir() for repo in repos) else [])]


def _group_work_trees(repos: Iterable[Path]) -> Iterable[list[Path]]:
    """Return the work trees of each repository together: they have the same refs."""
    groups: dict[Path, list[Path]] = {}
    for repo in repos:
        place = repo
        with suppress(SkilldError):  # why it cannot be read is told with what cannot be removed
            place = locate(repo).common_dir
        groups.setdefault(place, []).append(repo)
    return groups.values()


def folder_removals(*, purge: bool) -> list[Removal]:
    """Return skilld's own folders without archived skills; without `purge` the settings stay, wherever they are."""
    where = common.places()
    kept = {where.archive} if archived_skills() else set()
    kept |= set() if purge else {where.settings_file}
    parts = []
    for folder in dict.fromkeys([where.data, where.state, *([where.config] if purge else [])]):
        there = [path for path in folder.iterdir() if path not in kept] if folder.is_dir() else []
        names = ", ".join(sorted(path.name for path in there))
        if there or (purge and folder.is_dir() and not any(folder.iterdir())):
            parts.append(Removal("folder", f"{folder}: {names or 'empty'}", partial(_empty_folder, folder, kept)))
    return parts


def archived_skills() -> list[str]:
    """Return a line for each archived skill, which stays: the archive holds the only copies."""
    from skilld.skills.set_aside import archived_skills

    found = archived_skills(common.places().archive)
    first = "to restore it, first run: skilld skills restore"
    return [f"{one.folder}, archived from {one.origin} ({first} {shlex.quote(one.name)})" for one in found]


def _empty_folder(folder: Path, kept: Collection[Path]) -> None:
    """Remove one of skilld's folders except for what is kept. No symlink is followed out of it."""
    for path in folder.iterdir():
        if path in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if any(path.parent == folder and path.exists() for path in kept):
        return
    if folder.is_symlink():
        folder.unlink()
    else:
        folder.rmdir()


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    services = service_removals()
    if not arguments.dry_run and not services:  # an installed service will be stopped
        _refuse_while_running()
    _warn_of_undecided()
    known, troubles = stored_removals()
    shown, more = status_line_removals()
    parts, troubles = [*services, *_link_removals(), *known, *shown], troubles + more
    last = folder_removals(purge=arguments.purge)
    stays, file = [*troubles, *archived_skills()], common.places().settings_file
    if file.exists() and not arguments.purge:
        stays.append(f"{file}: your settings (to remove them too: skilld uninstall --purge)")
    _print_plan(parts + last, stays)
    if arguments.dry_run:
        console.say("This was a dry run: nothing was removed.")
        if common.daemon_pid():
            console.say("skilld is running: stop it before you uninstall it.")
    if arguments.dry_run or not parts + last:
        return 0
    if not terminal.confirm("Remove all of this? [y/N] ", "Nothing was removed", yes=arguments.yes):
        return Exit.FAILURE
    code = _remove([part for part in parts if part.kind == "service"])
    _refuse_while_running()
    code = _remove([part for part in parts if part.kind != "service"]) or code
    if code:
        console.say("skilld's own data was kept so that you can run skilld uninstall again.")
        return code
    code = _remove(last)
    tools = "pipx uninstall skilld, uv tool uninstall skilld, or make clean in a checkout"
    console.say(f"To remove the program itself, use the tool that installed it: {tools}")
    return code


def _warn_of_undecided() -> None:
    try:
        proposals = common.store_or_empty().proposals
        undecided = {state: proposals.in_states([state]) for state in (State.OPEN, State.DROPPED)}
    except SkilldError:
        return  # reported by stored_removals
    for state, those in undecided.items():
        if those:
            remedy = f"will be lost. To keep one: skilld {'accept' if state is State.OPEN else 'restore'} ID"
            console.say(f"{pluralize(len(those), f'{state.value} proposal')} {remedy}", style="bold")
        for proposal in those:
            console.say(f"  {proposal.id}  {console.plain(proposal.skill)}: {console.plain(proposal.summary)}")


def _print_plan(parts: list[Removal], troubles: list[str]) -> None:
    for part in parts:
        console.say(f"{part.kind:9} {console.message(part.what)}")
    for trouble in troubles:
        console.say(f"{'stays':9} {console.message(trouble)}", style="yellow")
    if not parts:
        console.say("Nothing to remove.")


def _refuse_while_running() -> None:
    if process := common.daemon_pid():
        why = f"skilld is running (process {process})"
        raise NotRunningError("Nothing was removed", why, "Stop skilld first (Ctrl-C).")


def _remove(parts: list[Removal]) -> int:
    """Remove these one by one; return 0, or the exit code of the first failure."""
    code = 0
    for part in parts:
        try:
            part.remove()
        except (SkilldError, OSError) as error:
            code = code or (error.code if isinstance(error, SkilldError) else Exit.FAILURE)
            sys.stderr.write(f"skilld: {console.message(part.what)}: {console.message(str(error))}\n")
        else:
            console.say(f"removed   {console.message(part.what)}")
    return code
