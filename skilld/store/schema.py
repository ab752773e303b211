"""Migrations: ordered, named functions, each run once in its own transaction and recorded by name."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from skilld.errors import SkilldError
from skilld.store.connection import StoreError, damaged, transaction

Migration = Callable[[sqlite3.Connection], None]


def _m0001_first_tables(db: sqlite3.Connection) -> None:
    for statement in _FIRST.split(";\n"):
        if statement.strip():
            db.execute(statement)


_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  dev INTEGER NOT NULL,
  ino INTEGER NOT NULL,
  cursor TEXT,                       -- JSON: device, inode, head hash, offset; null: never read
  parser TEXT,                       -- JSON: the adapter's state, without words of anyone
  baseline INTEGER NOT NULL,         -- turns before this byte were there before skilld and do not count
  since TEXT,                        -- turns said before this time do not count either (backfill)
  size INTEGER NOT NULL,
  mtime REAL NOT NULL,
  turns INTEGER NOT NULL DEFAULT 0,
  malformed INTEGER NOT NULL DEFAULT 0,
  overlong INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX files_identity ON files(dev, ino);

CREATE TABLE sessions (
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  cwd TEXT,
  last_activity REAL NOT NULL,       -- Unix time of the newest growth of its file
  ended INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0,   -- turns so far, those that do not count included
  PRIMARY KEY (agent, session_id)
) STRICT;

CREATE TABLE turns (
  key TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,              -- order within the session, from 1
  file_id INTEGER NOT NULL REFERENCES files(id),
  start INTEGER NOT NULL,
  stop INTEGER NOT NULL,
  at TEXT,
  lasting INTEGER NOT NULL,          -- what the gate said
  batch_id TEXT                      -- null: waits; 'before': does not count
) STRICT;
CREATE INDEX turns_waiting ON turns(agent, session_id, seq) WHERE batch_id IS NULL;
CREATE INDEX turns_of_file ON turns(file_id, start);

CREATE TABLE skill_uses (
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,                -- as the log says: a claim; empty: it says none
  cwd TEXT,
  after_seq INTEGER NOT NULL,        -- turns of the session before it
  at TEXT,
  UNIQUE (agent, session_id, name, path, after_seq)
) STRICT;

CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  closed_by TEXT NOT NULL,
  state TEXT NOT NULL,               -- pending | running | done | parked
  job TEXT NOT NULL,                 -- JSON: everything the worker needs but text and keys of people
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before REAL NOT NULL DEFAULT 0,
  outcome TEXT,
  detail TEXT,
  created_at TEXT NOT NULL,
  done_at TEXT
) STRICT;
CREATE INDEX batches_open ON batches(state, created_at) WHERE state IN ('pending', 'running');

CREATE TABLE proposals (
  id TEXT PRIMARY KEY,
  batch_id TEXT NOT NULL,
  state TEXT NOT NULL,
  skill TEXT NOT NULL,
  path TEXT NOT NULL,
  repo TEXT NOT NULL,
  relpath TEXT NOT NULL,
  base TEXT NOT NULL,
  "commit" TEXT NOT NULL,
  branch TEXT NOT NULL,
  operations TEXT NOT NULL,          -- JSON
  summary TEXT NOT NULL,
  reason TEXT NOT NULL,
  kind TEXT NOT NULL,
  evidence TEXT NOT NULL,            -- JSON: turn keys and redacted quotes
  confidence REAL NOT NULL,
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  model TEXT NOT NULL,
  created_at TEXT NOT NULL,
  flags TEXT NOT NULL,               -- JSON
  note TEXT NOT NULL DEFAULT '',
  landed TEXT NOT NULL DEFAULT '',
  decided_at TEXT NOT NULL DEFAULT '',
  missing_since TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX proposals_state ON proposals(state, repo);

CREATE TABLE decisions (
  id INTEGER PRIMARY KEY,
  proposal_id TEXT NOT NULL REFERENCES proposals(id),
  before TEXT NOT NULL,
  after TEXT NOT NULL,
  who TEXT NOT NULL,                 -- command | git
  why TEXT NOT NULL DEFAULT '',
  "commit" TEXT NOT NULL DEFAULT '',
  at TEXT NOT NULL
) STRICT;

CREATE TABLE learnings (
  id TEXT PRIMARY KEY,
  turn_key TEXT NOT NULL,
  quote TEXT NOT NULL,               -- redacted
  change TEXT NOT NULL,              -- redacted
  kind TEXT NOT NULL,
  agent TEXT NOT NULL,
  session_id TEXT NOT NULL,
  project TEXT,
  skill TEXT,
  why_kept TEXT NOT NULL,
  confidence REAL NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE usage (
  day TEXT NOT NULL,
  model TEXT NOT NULL,
  skill TEXT NOT NULL,
  calls INTEGER NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  usd REAL NOT NULL,
  PRIMARY KEY (day, model, skill)
) STRICT;

CREATE TABLE notices (
  id INTEGER PRIMARY KEY,
  proposal_ids TEXT NOT NULL,        -- JSON
  created_at TEXT NOT NULL,
  delivered_at TEXT,
  channel TEXT NOT NULL DEFAULT ''
) STRICT
"""


def _m0002_notice_causes(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE notices ADD COLUMN causes TEXT NOT NULL DEFAULT '[]'")  # JSON: names of troubles


def _m0003_search(db: sqlite3.Connection) -> None:
    db.execute(
        "CREATE TABLE said (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, UNIQUE (kind, id)) STRICT"
    )
    db.execute("CREATE VIRTUAL TABLE said_words USING fts5(stems, detail = none)")


def _m0004_records(db: sqlite3.Connection) -> None:
    db.execute("""CREATE TABLE tasks (
      id TEXT PRIMARY KEY,
      prompt TEXT NOT NULL,              -- redacted, as is result
      project TEXT NOT NULL,
      status TEXT NOT NULL,
      tools TEXT NOT NULL,               -- JSON, as is skills
      skills TEXT NOT NULL,
      seconds REAL NOT NULL,
      result TEXT NOT NULL,
      qa INTEGER,                        -- null: nobody checked
      at TEXT NOT NULL
    ) STRICT""")
    db.execute("""CREATE TABLE feedback (
      skill TEXT NOT NULL,
      session_id TEXT NOT NULL,
      helpful INTEGER NOT NULL,
      note TEXT NOT NULL,                -- redacted
      at TEXT NOT NULL,
      PRIMARY KEY (skill, session_id)
    ) STRICT""")


def _m0007_mining(db: sqlite3.Connection) -> None:
    db.execute("""CREATE TABLE mined (
      id TEXT PRIMARY KEY,               -- of a window's content, and of the model that was asked about it
      session_id TEXT NOT NULL,
      updates TEXT NOT NULL,             -- JSON: turn keys, changes and quotes, redacted
      at TEXT NOT NULL
    ) STRICT""")


def _m0008_feedback_by_path(db: sqlite3.Connection) -> None:
    db.execute("""CREATE TABLE feedback_by_path (
      skill TEXT NOT NULL,
      path TEXT NOT NULL DEFAULT '',     -- of its SKILL.md; empty: only the name was known
      session_id TEXT NOT NULL,
      helpful INTEGER NOT NULL,
      note TEXT NOT NULL,                -- redacted
      at TEXT NOT NULL,
      PRIMARY KEY (skill, path, session_id)
    ) STRICT""")
    db.execute("INSERT INTO feedback_by_path SELECT skill, '', session_id, helpful, note, at FROM feedback")
    db.execute("DROP TABLE feedback")
    db.execute("ALTER TABLE feedback_by_path RENAME TO feedback")


def _m0009_causes(db: sqlite3.Connection) -> None:
    for column in (
        "failures INTEGER NOT NULL DEFAULT 0",  # of the work: what `worker.attempts` counts
        "crashes INTEGER NOT NULL DEFAULT 0",  # of the worker, by itself
        "kills INTEGER NOT NULL DEFAULT 0",  # of the worker, from outside
        "cause TEXT NOT NULL DEFAULT ''",  # what is in the way (skilld.types.Cause); empty: nothing
        "place TEXT NOT NULL DEFAULT ''",  # the path of it
        "remedy TEXT NOT NULL DEFAULT ''",
        "since REAL NOT NULL DEFAULT 0",  # Unix time since when it is
        "kept TEXT NOT NULL DEFAULT '[]'",  # JSON: ids of the learnings that are kept because of it
    ):
        db.execute(f"ALTER TABLE batches ADD COLUMN {column}")
    db.execute("CREATE INDEX batches_caused ON batches(cause) WHERE cause != ''")


def _m0010_judged(db: sqlite3.Connection) -> None:
    # Turns that the journal says were judged, of transcripts that a rebuilt database has not read again yet.
    db.execute("CREATE TABLE judged (key TEXT PRIMARY KEY, batch_id TEXT NOT NULL) STRICT")
    # The identity of this database, and the number of its last transaction (skilld.store.journal).
    db.execute("INSERT INTO meta VALUES ('journal', json_array(lower(hex(randomblob(8))), 0))")


def _m0011_dropped(db: sqlite3.Connection) -> None:
    """Give what was dropped from the staging branch a state of its own; it was open with a time in missing_since."""
    dropped = "state = 'open' AND missing_since != ''"
    db.execute(f"""INSERT INTO decisions (proposal_id, before, after, who, at)
                   SELECT id, 'open', 'dropped', 'git', missing_since FROM proposals WHERE {dropped}""")  # noqa: S608
    db.execute(f"UPDATE proposals SET state = 'dropped', decided_at = missing_since WHERE {dropped}")  # noqa: S608


def _m0012_updates(db: sqlite3.Connection) -> None:
    # JSON: what a proposal says, each update with its quote; rows from before have none.
    db.execute("ALTER TABLE proposals ADD COLUMN updates TEXT NOT NULL DEFAULT '[]'")


def _m0013_targets(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE proposals ADD COLUMN target TEXT NOT NULL DEFAULT 'skill'")
    db.execute("ALTER TABLE proposals ADD COLUMN agents TEXT NOT NULL DEFAULT '[]'")  # JSON: those that load the file
    db.execute("ALTER TABLE learnings ADD COLUMN place_kind TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE learnings ADD COLUMN place TEXT NOT NULL DEFAULT ''")  # the path of the file it would go to


def _m0014_conflicts(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE proposals ADD COLUMN conflicts TEXT NOT NULL DEFAULT '[]'")  # JSON: path, line, text, whose
    db.execute("ALTER TABLE proposals ADD COLUMN also TEXT NOT NULL DEFAULT '[]'")  # JSON: edits of further files
    db.execute("ALTER TABLE proposals ADD COLUMN linked TEXT NOT NULL DEFAULT '[]'")  # JSON: ids of proposals


def _m0015_past_sessions(db: sqlite3.Connection) -> None:
    db.execute("""CREATE TABLE past_sessions (
      path TEXT NOT NULL,                -- of the transcript
      session_id TEXT NOT NULL,          -- empty: the transcript itself, as far as it was read
      size INTEGER NOT NULL,
      mtime REAL NOT NULL,
      data TEXT NOT NULL,                -- JSON: what was loaded, stems of the work, redacted quotes
      PRIMARY KEY (path, session_id)
    ) STRICT""")


def _m0016_evals(db: sqlite3.Connection) -> None:
    db.execute("""CREATE TABLE evals (
      id TEXT PRIMARY KEY,               -- of both texts, of the cases, the models and the number of pairs
      skill TEXT NOT NULL,
      path TEXT NOT NULL,
      proposal TEXT NOT NULL,            -- empty: the whole skill against none
      without INTEGER NOT NULL,
      model TEXT NOT NULL,
      judge TEXT NOT NULL,
      pairs INTEGER NOT NULL,
      cases TEXT NOT NULL,               -- JSON: files and ids
      at TEXT NOT NULL
    ) STRICT""")
    db.execute("""CREATE TABLE eval_runs (
      eval TEXT NOT NULL,
      pair INTEGER NOT NULL,
      ours INTEGER NOT NULL,             -- whether it had the edit
      answer TEXT NOT NULL,              -- redacted
      passed INTEGER,                    -- null: not judged yet
      PRIMARY KEY (eval, pair, ours)
    ) STRICT""")


def _m0018_elsewhere(db: sqlite3.Connection) -> None:
    db.execute("""CREATE TABLE elsewhere (
      key TEXT NOT NULL,                 -- of a rule and its file, as on every machine of the person
      what TEXT NOT NULL,                -- decided | learned | heard
      record TEXT NOT NULL,              -- JSON: what all machines know of it, as last synced
      path TEXT NOT NULL,                -- of its file on this machine; empty: it is not here
      here TEXT NOT NULL,                -- how it stood on this machine then; empty: nothing of it did
      PRIMARY KEY (key, what)
    ) STRICT""")


def _m0020_reviews(db: sqlite3.Connection) -> None:
    db.execute("""CREATE TABLE reviews (
      repository TEXT NOT NULL,          -- host and path
      id TEXT NOT NULL,                  -- the host's own, with the kind of comment
      url TEXT NOT NULL,
      pull TEXT NOT NULL,
      author TEXT NOT NULL,              -- a hash
      role TEXT NOT NULL,
      at TEXT NOT NULL,
      own INTEGER NOT NULL,              -- whether it stands under the person's own account
      asks TEXT NOT NULL,                -- JSON: pairs of an instruction and its words, redacted
      PRIMARY KEY (repository, id)
    ) STRICT""")


MIGRATIONS: tuple[tuple[str, Migration], ...] = (
    ("0001_first_tables", _m0001_first_tables),
    ("0002_notice_causes", _m0002_notice_causes),
    ("0003_search", _m0003_search),
    ("0004_records", _m0004_records),
    ("0007_mining", _m0007_mining),
    ("0008_feedback_by_path", _m0008_feedback_by_path),
    ("0009_causes", _m0009_causes),
    ("0010_judged", _m0010_judged),
    ("0011_dropped", _m0011_dropped),
    ("0012_updates", _m0012_updates),
    ("0013_targets", _m0013_targets),
    ("0014_conflicts", _m0014_conflicts),
    ("0015_past_sessions", _m0015_past_sessions),
    ("0016_evals", _m0016_evals),
    ("0018_elsewhere", _m0018_elsewhere),
    ("0020_reviews", _m0020_reviews),
)


# Bringing a database up to date: migrations that are due are run, each in a transaction, after a copy was made.

_PRECIOUS = "meta", "files", "proposals", "learnings"  # one that another process makes just now has no row in any


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Run the migrations that the open database at `path` has not seen; what is precious in it is copied before.

    Raises SkilldError if a newer skilld wrote it, DamagedError if its own record of migrations makes no sense.
    """
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT")
    done = {row["name"] for row in db.execute("SELECT name FROM migrations")}
    known = [name for name, _ in MIGRATIONS]
    if newer := sorted(map(str, done - set(known))):
        if not done.issuperset(known):
            raise damaged("its migrations have unknown names")
        raise SkilldError(
            "The database was written by a newer version of skilld",
            f"{path} has the migration {newer[0]}",
            "Install the newer version again.",
        )
    if not done and _is_in_use(db):
        raise damaged("it has tables, but no record of migrations")
    due = [(name, migration) for name, migration in MIGRATIONS if name not in done]
    if due and done and any(db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in _PRECIOUS):  # noqa: S608
        kept = path.with_name(f"{path.name}.before-{due[0][0]}")
        own = kept.with_name(f"{kept.name}.{threading.get_native_id()}")  # others may be at it in this moment
        back_up(db, own)
        own.replace(kept)
    for name, migration in due:
        with transaction(db):
            if not db.execute("SELECT 1 FROM migrations WHERE name = ?", (name,)).fetchone():
                migration(db)
                db.execute("INSERT INTO migrations VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))", (name,))


def _is_in_use(db: sqlite3.Connection) -> bool:
    """Whether tables were made without a migration: by another program, or the record of migrations is gone."""
    row = db.execute(
        """SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND name != 'migrations'
           AND NOT EXISTS (SELECT 1 FROM migrations)"""  # in one statement: another process may be making them
    ).fetchone()
    return bool(row[0])


def back_up(db: sqlite3.Connection, path: Path) -> None:
    """Write a compact copy of the database to `path` (mode 0600), in place of what is there. Raises StoreError."""
    try:
        path.unlink(missing_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))  # VACUUM fills an empty one
    except OSError as error:
        raise StoreError("The database could not be backed up", f"{path}: {error.strerror}") from error
    db.execute("VACUUM INTO ?", (str(path),))
