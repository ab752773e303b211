"""Changes every stored path below a folder that was moved or renamed."""

from __future__ import annotations

import json
from typing import Any

from skilld.store import meta
from skilld.store.connection import Table

_COLUMNS = (
    ("proposals", "path"),
    ("proposals", "repo"),
    ("learnings", "project"),
    ("learnings", "place"),
    ("sessions", "cwd"),
    ("skill_uses", "path"),
    ("skill_uses", "cwd"),
    ("batches", "place"),
    ("tasks", "project"),
    ("feedback", "path"),
    ("evals", "path"),
    ("elsewhere", "path"),
)
_JSON_COLUMNS = (
    ("proposals", "also"),
    ("proposals", "conflicts"),
    ("batches", "job"),
    ("past_sessions", "data"),
    ("evals", "cases"),
)
_META_KEYS = (
    meta.MERGE_WARNINGS,
    meta.COMMON_GIT_DIRS,
    meta.SYNCED_PROJECTS,
    meta.SHARED_COMMITS,
    meta.DISABLED_SKILLS,
    meta.TEAMS,
    meta.ROOT_COMMITS,
    meta.FOLDER_IDS,
    meta.PASSED_OVER,
)


class MovedFolders(Table):
    """All columns and values that hold paths of projects. Agents keep the transcripts, so those stay."""

    def move(self, old: str, new: str) -> None:
        """Replace the folder `old` by `new` in every path; call it in a transaction."""
        below, count = f"{old}/", len(old) + 1
        for table, column in _COLUMNS:
            self._db.execute(
                f'UPDATE OR REPLACE {table} SET "{column}" = ? || substr("{column}", ?) '  # noqa: S608 - our own names
                f'WHERE "{column}" = ? OR substr("{column}", 1, ?) = ?',
                (new, count, old, count, below),
            )
        for table, column in _JSON_COLUMNS:
            named = f'SELECT rowid AS number, "{column}" FROM {table} WHERE instr("{column}", ?)'  # noqa: S608 - as above
            for row in self._db.execute(named, (json.dumps(old)[1:-1],)).fetchall():
                changed = json.dumps(_moved_value(json.loads(row[column]), old, new))
                self._db.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?', (changed, row["number"]))  # noqa: S608
        for key in _META_KEYS:
            for row in self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchall():
                value = json.dumps(moved_path(json.loads(row["value"]), old, new))
                self._db.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))


def _moved_value(value: Any, old: str, new: str) -> Any:  # noqa: ANN401 - JSON is Any
    """Return the value of a column with the folder replaced where paths are, never in what was said."""
    match value:
        case {"repeats": list(repeats)}:  # of a past session
            there = [one | {"path": moved_path(one["path"], old, new)} for one in repeats]
            return value | {name: moved_path(value[name], old, new) for name in ("cwd", "loaded")} | {"repeats": there}
        case [list(), *_]:  # rows that begin with a path; the rest of them is text
            return [[moved_path(one[0], old, new), *one[1:]] for one in value]
    return moved_path(value, old, new)


def moved_path(value: Any, old: str, new: str) -> Any:  # noqa: ANN401 - JSON is Any
    """Return a value with the folder replaced in all strings that are paths below it."""
    match value:
        case str():
            return new + value.removeprefix(old) if value == old or value.startswith(f"{old}/") else value
        case list():
            return [moved_path(one, old, new) for one in value]
        case dict():
            return {moved_path(key, old, new): moved_path(one, old, new) for key, one in value.items()}
    return value
