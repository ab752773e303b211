"""`skilld skills archive`, `restore` and `delete`: set a skill aside, bring it back, or move it to the trash."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from contextlib import closing
from pathlib import Path

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.clock import parse_time, time_ago
from skilld.errors import Exit, SkilldError, UsageError
from skilld.library.archive import archive_skill, move_to_trash, remove_leftovers, restore_skill
from skilld.library.rows import LibraryRow
from skilld.paths import private_dir
from skilld.skills.set_aside import ArchivedSkill, archived_skills, command_out_of_trash, restore_command, trash_folder
from skilld.store import Store
from skilld.text import join_words, pluralize

# Shared by archiving and deleting: which skills may be moved.


def _find_movable(name: str, title: str) -> tuple[Store, LibraryRow]:
    """Return the store and the skill. Raises RefusedError with `title` if it must stay in its place."""
    from skilld.library import archive

    store = common.store()
    row = inventory.find_skill(store, name, whole=True)
    archive.check_movable(row.skill, _skill_folders(row.skill.project), title)
    return store, row


def _skill_folders(project: Path | None) -> list[Path]:
    """Return the folders in which agents look for skills: the person's and this project's."""
    places = inventory.skill_places().values()
    inside = [project / sub for one in places for sub in one.in_project] if project else []
    return list(dict.fromkeys([*inside, *(folder for one in places for folder in one.absolute)]))


_NOT_ARCHIVED = "The skill was not archived"


def archive(arguments: argparse.Namespace) -> int:
    """Move a skill's folder to the archive, and list the open proposals for it."""
    store, row = _find_movable(arguments.name, _NOT_ARCHIVED)
    _warn_of_loss(store, row)
    where = _archive_folder()
    remove_leftovers(where, time.time())
    made = archive_skill(row.path.parent, where, time.time())
    console.say(f"Archived {console.plain(row.name)}, which was in {console.message(str(row.path.parent))}")
    console.say(f"To bring it back: {console.plain(restore_command(made, where))}")
    _print_waiting(store, row)
    return 0


def _warn_of_loss(store: Store, row: LibraryRow) -> None:
    """Warn if this is the only copy of a skill that an agent sees, though there is another one beside it."""
    places = [one.skill for one in inventory.library_rows(store, row.path) if one.skill.project == row.skill.project]
    others = [skill for skill in places if skill.name == row.skill.name and skill.path != row.path]
    if others and (left := inventory.titles_without(inventory.agents_here(store), row.skill, others)):
        see = "does not see" if len(left) == 1 else "do not see"
        link = f"To link it for them afterwards: {inventory.link_command(row.skill, others[0])}"
        other = console.message(str(others[0].path.parent))
        console.warn(f"{join_words(left)} {see} the other copy, {other}. {link}")


def _print_waiting(store: Store, row: LibraryRow) -> None:
    """Name the open proposals for a skill that was moved away, and what can be done with them."""
    if waiting := [one.id for one in store.proposals.open() if one.path == str(row.path)]:
        still = f"Still open: {pluralize(len(waiting), 'proposal')} for it, which can be accepted once it is back"
        console.say(f"{still}. To discard: skilld reject {' '.join(waiting)}")


def restore(arguments: argparse.Namespace) -> int:
    """Return an archived skill to its place; without a name, list the archived skills."""
    there = archived_skills(common.places().archive)
    if arguments.name is None:
        return _print_archived(there, as_json=arguments.json)
    one = _find_archived(there, common.as_text(arguments.name))
    remove_leftovers(_archive_folder(), time.time())
    folder = restore_skill(one)
    if arguments.json:
        return common.write_json(_row_json(one) | {"folder": str(folder)})
    console.say(f"Restored {console.plain(one.name)}: {console.message(str(folder))}")
    return 0


def _print_archived(there: list[ArchivedSkill], *, as_json: bool) -> int:
    if as_json:
        return common.write_json([_row_json(one) for one in there])
    now = time.time()
    rows = [(one.entry.name, time_ago(parse_time(one.at), now), str(one.origin)) for one in there]
    console.table([tuple(map(console.message, row)) for row in rows])
    if not there:
        console.say("No archived skills.")
    return 0


def _row_json(one: ArchivedSkill) -> dict[str, str]:
    more = {"archived_at": one.at, "folder": str(one.folder)}
    return {"id": one.entry.name, "name": one.name, "origin": str(one.origin), **more}


def _find_archived(there: list[ArchivedSkill], given: str) -> ArchivedSkill:
    found = [one for one in there if given in {one.name, one.entry.name} or one.origin == inventory.typed_folder(given)]
    if not found:
        with closing(common.store_or_empty()) as opened:
            back = inventory.way_out_of_trash(opened, given)
        raise SkilldError("No such archived skill", given, back or "List them: skilld skills restore")
    if len(found) > 1:
        choices = "; ".join(f"{one.entry.name} ({one.origin})" for one in found)
        raise UsageError("Which skill?", choices, f"skilld skills restore {shlex.quote(found[0].entry.name)}")
    return found[0]


def _archive_folder() -> Path:
    where = common.places()
    private_dir(where.data)
    return private_dir(where.archive)


# `skilld skills delete NAME`: moves a skill's folder to the trash after confirmation.

_NOT_DELETED = "The skill was not deleted"


def run_delete(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store, row = _find_movable(arguments.name, _NOT_DELETED)
    folder = row.path.parent
    _warn_of_loss(store, row)
    waiting = sum(one.path == str(row.path) for one in store.proposals.open())
    for_it = f" It has {pluralize(waiting, 'open proposal')}." if waiting else ""
    question = f"Move {console.message(str(folder))} to the trash?{for_it} [y/N] "
    if not terminal.confirm(question, _NOT_DELETED, yes=arguments.yes):
        return Exit.FAILURE
    place = move_to_trash(row.skill, trash_folder(common.home(), common.places().data.parent, sys.platform))
    console.say(f"Moved to {console.message(str(place))}.")
    console.say(f"To get it back: {console.plain(command_out_of_trash(place, folder))}")
    _print_waiting(store, row)
    return Exit.OK
