"""`skilld uninstall`: name everything that skilld made, then take it away. Nothing of the person's is touched."""

from __future__ import annotations

import argparse
import sys

from skilld import console
from skilld.cli import common, terminal
from skilld.cli.uninstall_parts import Removal, archived, folders, from_store, service
from skilld.errors import Exit, NotRunningError, SkilldError


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "uninstall", run, "remove the service, blocks, branches, refs and all that skilld keeps"
    )
    parser.add_argument("--purge", action="store_true", help="your settings too")
    parser.add_argument("--dry-run", action="store_true", help="only list what would be removed")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.git.environment import scrub_environment

    scrub_environment()
    _name_open_proposals()
    known, troubles = from_store()
    parts = [*service(), *known]
    last = folders(purge=arguments.purge)
    _list(parts + last, [*troubles, *archived()])
    if arguments.dry_run or not parts + last:
        return 0
    if not arguments.yes and not terminal.confirmed("Remove all of it? [y/N] ", "Nothing was removed"):
        console.line("Nothing was removed.")
        return Exit.FAILURE
    code = _remove([part for part in parts if part.kind == "service"])
    _refuse_while_running()
    code = _remove([part for part in parts if part.kind != "service"]) or code
    if code:
        console.line("What skilld keeps was left, so that you can run this again.")
        return code
    code = _remove(last)
    console.line("The program itself goes as it came: pipx uninstall skilld, uv tool uninstall skilld, ...")
    return code


def _name_open_proposals() -> None:
    from skilld.types import State

    if not common.places().database.exists():
        return
    try:
        waiting = common.store().proposals.in_states([State.OPEN])
    except SkilldError:
        return  # told with the parts
    if waiting:
        console.line(console.paint(f"{len(waiting)} open, to be lost; to keep one: skilld accept ID", "bold"))
    for proposal in waiting:
        console.line(f"  {proposal.id}  {console.plain(proposal.skill)}: {console.plain(proposal.summary)}")


def _list(parts: list[Removal], troubles: list[str]) -> None:
    for part in parts:
        console.line(f"{part.kind:9} {console.plain(part.what)}")
    for trouble in troubles:
        console.line(console.paint(f"{'left':9} {console.plain(trouble)}", "yellow"))
    if not parts:
        console.line("There is nothing to remove.")


def _refuse_while_running() -> None:
    from skilld.daemon.lock import holder, is_held

    lock = common.places().lock
    if is_held(lock):
        raise NotRunningError(
            "Not removed: skilld is running", f"process {holder(lock) or 'unknown'}", "Stop it first (Ctrl-C)."
        )


def _remove(parts: list[Removal]) -> int:
    """Remove one after the other; returns 0, or the exit code of the first that failed."""
    code = 0
    for part in parts:
        try:
            part.remove()
        except (SkilldError, OSError) as error:
            code = code or (error.code if isinstance(error, SkilldError) else Exit.FAILURE)
            sys.stderr.write(f"skilld: {console.plain(part.what)}: {console.plain(str(error))}\n")
        else:
            console.line(f"removed   {console.plain(part.what)}")
    return code
