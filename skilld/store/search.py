"""Full-text search over learnings and proposals, by word stems.

The index is filled when somebody searches, not when something is kept: the daemon pays nothing for it, and whatever
put a row there, the rebuilding of a damaged database too, is found. SQLite's FTS5: https://www.sqlite.org/fts5.html
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from skilld.store.connection import Table
from skilld.words import content_stems

_MAX_STEMS = 40  # of a question; a longer text has said what it is about by then
_MAX_MORE = 200  # stems that mean the same
_PARTS = re.compile(r"[^\W_]+")
_KEY = "searched_"
_PREFIX = 4  # letters of a stem from which on its longer forms count too, as in skilld.words.same_stem


@dataclass(frozen=True, slots=True)
class Hit:
    """What was found: `kind` is learning or proposal, `score` is greater for a better match."""

    kind: str
    id: str
    score: float


class Search(Table):
    """The index and its questions."""

    def find(self, text: str, limit: int = 100, also: Iterable[str] = ()) -> list[Hit]:
        """Return what shares words with `text`, or has a stem of `also`, best first.

        Brings the index up to date; not inside a transaction.
        """
        for kind, table in _TABLES.items():
            self._refresh(kind, table)
        # SQLite takes "l'euro" for two words, and two are a phrase, which this index cannot find.
        stems = [part for stem in sorted(content_stems(text))[:_MAX_STEMS] for part in _PARTS.findall(stem)]
        if not stems:
            return []
        forms = [f'"{stem}"*' if len(stem) >= _PREFIX else f'"{stem}"' for stem in stems]
        asked = " OR ".join([*forms, *(f'"{stem}"' for stem in islice(also, _MAX_MORE))])
        rows = self._db.execute(
            """SELECT kind, id, -bm25(said_words) AS score FROM said_words JOIN said ON n = said_words.rowid
               WHERE said_words MATCH ? ORDER BY score DESC, n DESC LIMIT ?""",
            (asked, limit),
        )
        return [Hit(*row) for row in rows]

    def _refresh(self, kind: str, table: _Table) -> None:
        # Looking for what is new takes 14 ms with 20,000 rows; this look takes 1, and misses nothing: rows are added
        # and deleted, never changed in what is indexed.
        row = self._db.execute(table.state).fetchone()
        state = [row["number"], row["newest"]]
        known = self._first("SELECT value FROM meta WHERE key = ?", _KEY + kind)
        if known is not None and state == json.loads(known):
            return
        new = self._db.execute(table.new, (kind,)).fetchall()
        gone = self._db.execute(table.gone, (kind,)).fetchall()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for row in gone:
                self._db.execute("DELETE FROM said WHERE n = ?", (row["n"],))
                self._db.execute("DELETE FROM said_words WHERE rowid = ?", (row["n"],))
            for row in new:
                added = self._db.execute("INSERT OR IGNORE INTO said (kind, id) VALUES (?, ?)", (kind, row["id"]))
                if added.rowcount:  # else another program has just indexed it
                    stems = " ".join(sorted(content_stems(table.text(row))))
                    self._db.execute("INSERT INTO said_words (rowid, stems) VALUES (?, ?)", (added.lastrowid, stems))
            values = (_KEY + kind, json.dumps(state))
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise


@dataclass(frozen=True, slots=True)
class _Table:
    """Where texts come from: queries for what there is, for rows not in the index, for index entries without a row."""

    state: str
    new: str
    gone: str
    text: Callable[[sqlite3.Row], str]


def _quotes(row: sqlite3.Row) -> str:
    return " ".join([row["summary"], *(str(quote) for _, quote in json.loads(row["evidence"]))])


_TABLES: Mapping[str, _Table] = {
    "learning": _Table(
        "SELECT count(*) AS number, (SELECT id FROM learnings ORDER BY rowid DESC LIMIT 1) AS newest FROM learnings",
        "SELECT id, change, quote FROM learnings WHERE id NOT IN (SELECT id FROM said WHERE kind = ?)",
        "SELECT n FROM said WHERE kind = ? AND id NOT IN (SELECT id FROM learnings)",
        lambda row: f"{row['change']} {row['quote']}",
    ),
    "proposal": _Table(
        "SELECT count(*) AS number, (SELECT id FROM proposals ORDER BY rowid DESC LIMIT 1) AS newest FROM proposals",
        "SELECT id, summary, evidence FROM proposals WHERE id NOT IN (SELECT id FROM said WHERE kind = ?)",
        "SELECT n FROM said WHERE kind = ? AND id NOT IN (SELECT id FROM proposals)",
        _quotes,
    ),
}
