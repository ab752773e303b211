"""What can happen to the database and its files while nobody runs, and what must be true whatever it was."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from faults.world import DATABASE, World
from skilld.store import Store
from skilld.store.meta import INSTALLED_AT

Damage = Callable[[Path, random.Random], None]


def _without_log(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _overwritten(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    _without_log(path)


def _emptied(path: Path, _: random.Random) -> None:
    _overwritten(path, b"")


def _zeroed(path: Path, _: random.Random) -> None:
    _overwritten(path, bytes(path.stat().st_size))


def _missing(path: Path, _: random.Random) -> None:
    path.unlink()
    _without_log(path)


def _missing_with_its_copies(path: Path, _: random.Random) -> None:
    """`rm skilld.db*`."""
    for file in path.parent.glob("skilld.db*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def _missing_with_its_journal(path: Path, _: random.Random) -> None:
    _missing(path, _)
    path.with_name("skilld.journal").unlink()


def _truncated(path: Path, dice: random.Random) -> None:
    _overwritten(path, path.read_bytes()[: dice.randrange(1, path.stat().st_size)])


def _log_gone(path: Path, _: random.Random) -> None:
    _without_log(path)


def _older(path: Path, _: random.Random) -> None:
    """Put the copy of some time ago in its place, as a person does who knows of it."""
    _missing(path, _)
    shutil.copyfile(path.with_name("skilld.db.older"), path)


def _with_other_owner(path: Path, _: random.Random) -> None:
    _missing(path, _)
    with TemporaryDirectory() as other:
        store = Store.open(Path(other) / path.name)
        store.meta.set(INSTALLED_AT, 1.0)
        store.close()
        shutil.copyfile(store.path, path)


def _foreign_database(path: Path, _: random.Random) -> None:
    _missing(path, _)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE places (id INTEGER PRIMARY KEY, url TEXT)")
        db.commit()


def _random_bytes(path: Path, dice: random.Random) -> None:
    _overwritten(path, dice.randbytes(20_000))


def _garbage_pages(path: Path, dice: random.Random) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    for _ in range(60):
        data[dice.randrange(4096, len(data))] ^= 0xFF
    _overwritten(path, bytes(data))


def _header(path: Path, _: random.Random) -> None:
    _overwritten(path, bytes(100) + path.read_bytes()[100:])


def _a_folder(path: Path, _: random.Random) -> None:
    _missing(path, _)
    path.mkdir()


def _unreadable(path: Path, _: random.Random) -> None:
    path.chmod(0)


def _missing_with_a_torn_journal(path: Path, dice: random.Random) -> None:
    _missing(path, dice)
    journal = path.with_name("skilld.journal")
    with journal.open("ab") as file:
        file.write(b'1234abcd {"n":1,"at":1.0,"ro')


DAMAGES: Mapping[str, Damage] = {
    damage.__name__.strip("_"): damage
    for damage in (
        *(_emptied, _zeroed, _missing, _missing_with_its_copies, _missing_with_its_journal, _truncated, _log_gone),
        *(_older, _with_other_owner, _foreign_database, _random_bytes, _garbage_pages, _header, _a_folder),
        *(_unreadable, _missing_with_a_torn_journal),
    )
}


@dataclass(frozen=True, slots=True)
class Known:
    """What a person sees of all that was said and decided."""

    states: Mapping[str, str]
    quotes: tuple[str, ...]  # of open proposals
    learnings: frozenset[str]

    @classmethod
    def of(cls, world: World) -> Known:
        """Return what skilld shows now."""
        proposals = world.program.json("proposals", "--state", "all")
        return cls(
            {proposal["id"]: proposal["state"] for proposal in proposals},
            tuple(sorted(p["evidence"][0]["quote"] for p in proposals if p["state"] == "open")),
            frozenset(learning["id"] for learning in world.program.json("learnings")),
        )


def decide(world: World) -> None:
    """Have proposals in three states and a learning there, all in the copy, and keep a database from before."""
    world.finish()
    database = world.home / DATABASE
    with closing(sqlite3.connect(database)) as db:
        db.execute("VACUUM INTO ?", (str(database.with_name("skilld.db.older")),))
    database.with_name("skilld.db.older").chmod(0o600)
    rejected = world.program.json("proposals")[0]
    assert world.program.run("reject", rejected["id"], "--why", "no").returncode == 0
    database.with_name("skilld.db.copy").unlink()
    world.finish()  # makes a new one


def repository_is_sound(world: World) -> None:
    """Check that the person's repository is theirs, and that nothing is on the branch twice."""
    assert world.project.fingerprint() == world.before
    made = world.project.git("log", "--format=%(trailers:key=Skilld-Proposal,valueonly)", "skilld/staging").split()
    assert len(made) == len(set(made))
