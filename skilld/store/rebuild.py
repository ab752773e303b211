"""Rebuilds a database from a copy, the readable rows of the damaged file, and the journal."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from skilld.store import corruption
from skilld.store.connection import DamagedError, damage_error
from skilld.store.corruption import Summary
from skilld.store.database import Store
from skilld.store.journal import Journal, Place, journal_of, new_place, read, set_place
from skilld.text import pluralize
from skilld.values import value_class


@value_class
class RebuiltDatabase:
    """A rebuilt database: its sources in words, and until when they know what was said (Unix seconds).

    `keeps_journal` says that it contains everything in the journal, `consistent` that each of its transcripts was read
    as far as it says.
    """

    what: str
    written: float
    keeps_journal: bool
    consistent: bool


@value_class
class _Remains:
    """What is left of a database: sound databases to start from, whether rows of the file count, and the journal."""

    copies: tuple[tuple[Path, Summary], ...]
    file: Summary | None
    salvaged: bool
    journal: Journal | None
    database: str


def build(path: Path) -> RebuiltDatabase:
    """Rebuild the database at `path`, at `corruption.rebuilt_path`. Raises OSError; DamagedError if nothing is left."""
    left = _find_remains(path)
    for copy, salvaged, journal in _plans(left):
        with suppress(DamagedError):
            return _build_from(path, left, copy, salvaged=salvaged, journal=journal)
    raise damage_error("nothing in it could be recovered")


def put_in_place(path: Path, mark: str, built: RebuiltDatabase) -> None:
    """Replace a damaged database by the rebuilt one. A journal that it does not fully contain is moved aside too."""
    journal = journal_of(path)
    if not built.keeps_journal and os.path.lexists(journal):
        journal.replace(journal.with_name(f"{journal.name}.damaged-{mark}"))
    corruption.swap_in_rebuilt(path, mark)


def _find_remains(path: Path) -> _Remains:
    journal = read(journal_of(path))
    copies = [(copy, found) for copy in corruption.existing_copies(path) if (found := corruption.summary(copy))]
    file = corruption.summary(path)
    ours = file.place.database if file is not None and file.place else ""
    of_copy = next((found.place.database for _, found in copies if found.place), "")
    if file is not None and corruption.is_sound(path):  # it is only out of date
        copies.insert(0, (path, file))
        copies.sort(key=lambda found: _number(found[1]), reverse=True)
    of_journal = journal.tail.place.database if journal is not None else ""
    database = ours if ours and ours in {of_copy, of_journal} else of_journal or of_copy or ours
    if of_journal != database:
        journal = None
    same = [(copy, found) for copy, found in copies if found.place is None or found.place.database == database]
    return _Remains(tuple(same), file, ours in {"", database}, journal, database)


def _plans(left: _Remains) -> Iterator[tuple[tuple[Path, Summary] | None, bool, Journal | None]]:
    """Yield what to build from, best first. The last plan uses nothing, so it cannot fail on damaged contents."""
    for copy in (*left.copies, None):
        for journal in dict.fromkeys((left.journal is not None, False)):
            is_whole = copy is not None and _number(copy[1]) >= _number(left.file) > 0
            for salvaged in dict.fromkeys((left.salvaged and not is_whole, False)):
                yield copy, salvaged, left.journal if journal else None


def _build_from(
    path: Path, left: _Remains, copy: tuple[Path, Summary] | None, *, salvaged: bool, journal: Journal | None
) -> RebuiltDatabase:
    numbers = {"copy": _number(copy[1] if copy else None), "file": _number(left.file)}
    number = journal.tail.place.number if journal is not None else 0
    new = corruption.start_rebuild(path, copy[0] if copy else None)
    Store.open(new, journaled=False).close()
    rows = replayed = 0
    if journal is not None and number < numbers["file"]:  # the journal lost lines: the file is newer
        replayed = corruption.apply_journal(journal, new, newest=False)
    if salvaged:
        rows = corruption.salvage(path, new)
    if journal is not None and number >= max(numbers.values()):
        replayed = corruption.apply_journal(journal, new, newest=True)
    with closing(sqlite3.connect(new, isolation_level=None)) as db:
        place = Place(left.database or new_place().database, max(number, *numbers.values()) + 1)
        set_place(db, place)
    with closing(Store.open_checked(new, journaled=False)) as store:
        store.search.clear()  # its sources say what was indexed, and have no index
    new.replace(corruption.rebuilt_path(path))
    sources = [
        *([f"{pluralize(rows, 'row')} that could still be read"] if rows else []),
        *([] if copy is None else ["its contents"] if copy[0] == path else ["a copy"]),
        *(["its journal"] if replayed else []),
    ]
    written = corruption.last_write_time(path)
    if copy is not None and copy[0] != path:
        written = copy[0].stat().st_mtime
    if journal is not None:
        written = journal.tail.at
    keeps_journal = bool(replayed) and journal is not None and journal.whole
    return RebuiltDatabase(" and ".join(sources) or "nothing", written, keeps_journal, copy is not None and not rows)


def _number(summary: Summary | None) -> int:
    return summary.place.number if summary is not None and summary.place is not None else 0
