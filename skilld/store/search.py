"""Full-text search over learnings and proposals, by word stems.

The index is updated when somebody searches, not when something is stored: the daemon pays nothing for it, and rows are
found however they were written, even by rebuilding a damaged database. FTS5: https://www.sqlite.org/fts5.html
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from skilld.store.connection import Table, transaction
from skilld.values import value_class
from skilld.words import content_stems

_MAX_STEMS = 40  # of a query: a longer text has made its subject clear by then
_MAX_SYNONYMS = 200  # stems
_WORD_PATTERN = re.compile(r"[^\W_]+")
_MIN_PREFIX = 4  # letters: a stem this long also matches longer forms, as in skilld.words.same_stem


@value_class
class Hit:
    """A search result: `kind` is learning or proposal; a better match has a higher `score`."""

    kind: str
    id: str
    score: float


class Search(Table):
    """The full-text index."""

    def find(self, text: str, limit: int = 100, synonyms: Iterable[str] = ()) -> list[Hit]:
        """Return what shares words with `text` or has a stem of `synonyms`, best first.

        Updates the index, so it must not run inside a transaction.
        """
        for kind, table in _INDEXED_TABLES.items():
            self._refresh(kind, table)
        # SQLite splits "l'euro" into two words, which would be a phrase; this index cannot find phrases.
        stems = [part for stem in sorted(content_stems(text))[:_MAX_STEMS] for part in _WORD_PATTERN.findall(stem)]
        if not stems:
            return []
        forms = [f'"{stem}"*' if len(stem) >= _MIN_PREFIX else f'"{stem}"' for stem in stems]
        asked = " OR ".join([*forms, *(f'"{stem}"' for stem in islice(synonyms, _MAX_SYNONYMS))])
        rows = self._db.execute(
            """SELECT kind, id, -bm25(said_words) AS score FROM said_words JOIN said ON n = said_words.rowid
               WHERE said_words MATCH ? ORDER BY score DESC, n DESC LIMIT ?""",
            (asked, limit),
        )
        return [Hit(*row) for row in rows]

    def clear(self) -> None:
        """Empty the index; the next search fills it."""
        with transaction(self._db):
            self._db.execute("DELETE FROM said")
            self._db.execute("DELETE FROM said_words")
            self._db.execute("INSERT INTO said_words (said_words) VALUES ('optimize')")  # or deleted words stay in it

    def _refresh(self, kind: str, table: _IndexedTable) -> None:
        new = self._db.execute(table.new, (kind,)).fetchall()
        gone = self._db.execute(table.gone, (kind,)).fetchall()
        if not new and not gone:
            return
        with transaction(self._db):
            for row in gone:
                self._db.execute("DELETE FROM said WHERE n = ?", (row["n"],))
                self._db.execute("DELETE FROM said_words WHERE rowid = ?", (row["n"],))
            for row in new:
                added = self._db.execute("INSERT OR IGNORE INTO said (kind, id) VALUES (?, ?)", (kind, row["id"]))
                if added.rowcount:  # otherwise another process has just indexed it
                    stems = " ".join(sorted(content_stems(table.text(row))))
                    self._db.execute("INSERT INTO said_words (rowid, stems) VALUES (?, ?)", (added.lastrowid, stems))


@value_class
class _IndexedTable:
    """An indexed table: queries for rows not in the index, and for index entries without a row."""

    new: str
    gone: str
    text: Callable[[sqlite3.Row], str]


def _quotes(row: sqlite3.Row) -> str:
    return " ".join([row["summary"], *(str(quote) for _, quote in json.loads(row["evidence"]))])


_INDEXED_TABLES: Mapping[str, _IndexedTable] = {
    "learning": _IndexedTable(
        "SELECT id, change, quote FROM learnings WHERE id NOT IN (SELECT id FROM said WHERE kind = ?)",
        "SELECT n FROM said WHERE kind = ? AND id NOT IN (SELECT id FROM learnings)",
        lambda row: f"{row['change']} {row['quote']}",
    ),
    "proposal": _IndexedTable(
        "SELECT id, summary, evidence FROM proposals WHERE id NOT IN (SELECT id FROM said WHERE kind = ?)",
        "SELECT n FROM said WHERE kind = ? AND id NOT IN (SELECT id FROM proposals)",
        _quotes,
    ),
}
