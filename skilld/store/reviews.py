"""What reviewers asked for in comments, redacted, each comment once. No names of people."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import astuple

from skilld.store.connection import Table
from skilld.values import value_class


@value_class
class ReviewComment:
    """One comment. `asks` are pairs of an instruction and its quote; empty if it was edited and asks nothing now.

    `author` is a hash, `own` says that the person's own account wrote it.
    """

    repository: str
    id: str
    url: str
    pull: str
    author: str
    role: str
    at: str
    own: bool
    asks: tuple[tuple[str, str], ...]


class Reviews(Table):
    """The table of review comments that ask for something."""

    def save(self, comments: Sequence[ReviewComment]) -> int:
        """Save comments, replacing earlier versions; return how many are new.

        A comment that asks for nothing is saved only if it asked for something before.
        """
        new = 0
        for one in comments:
            key = one.repository, one.id
            known = self._db.execute("SELECT 1 FROM reviews WHERE repository = ? AND id = ?", key).fetchone()
            if not known and not one.asks:
                continue
            new += not known
            values = (*astuple(one)[:-2], int(one.own), json.dumps(one.asks))
            self._db.execute("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        return new

    def of_repository(self, repository: str, since: str) -> list[ReviewComment]:
        """Return the comments on a repository that ask for something, made at `since` (RFC 3339) or later."""
        rows = self._db.execute(
            "SELECT * FROM reviews WHERE repository = ? AND at >= ? AND asks != '[]' ORDER BY at, id",
            (repository, since),
        )
        return [_comment(row) for row in rows]


def _comment(row: sqlite3.Row) -> ReviewComment:
    asks = tuple((text, quote) for text, quote in json.loads(row["asks"]))
    return ReviewComment(**{**dict(row), "own": bool(row["own"]), "asks": asks})
