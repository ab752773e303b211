-- The migrations, in order: each begins with its name, ends at the next, and is never changed once released.

-- == 0001_first_tables
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
) STRICT;

-- == 0002_notice_causes
ALTER TABLE notices ADD COLUMN causes TEXT NOT NULL DEFAULT '[]';  -- JSON: names of troubles

-- == 0003_search
CREATE TABLE said (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, UNIQUE (kind, id)) STRICT;
CREATE VIRTUAL TABLE said_words USING fts5(stems, detail = none);

-- == 0004_records
CREATE TABLE tasks (
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
) STRICT;
CREATE TABLE feedback (
  skill TEXT NOT NULL,
  session_id TEXT NOT NULL,
  helpful INTEGER NOT NULL,
  note TEXT NOT NULL,                -- redacted
  at TEXT NOT NULL,
  PRIMARY KEY (skill, session_id)
) STRICT;

-- == 0007_mining
CREATE TABLE mined (
  id TEXT PRIMARY KEY,               -- of a window's content, and of the model that was asked about it
  session_id TEXT NOT NULL,
  updates TEXT NOT NULL,             -- JSON: turn keys, changes and quotes, redacted
  at TEXT NOT NULL
) STRICT;

-- == 0008_feedback_by_path
CREATE TABLE feedback_by_path (
  skill TEXT NOT NULL,
  path TEXT NOT NULL DEFAULT '',     -- of its SKILL.md; empty: only the name was known
  session_id TEXT NOT NULL,
  helpful INTEGER NOT NULL,
  note TEXT NOT NULL,                -- redacted
  at TEXT NOT NULL,
  PRIMARY KEY (skill, path, session_id)
) STRICT;
INSERT INTO feedback_by_path SELECT skill, '', session_id, helpful, note, at FROM feedback;
DROP TABLE feedback;
ALTER TABLE feedback_by_path RENAME TO feedback;

-- == 0009_causes
ALTER TABLE batches ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;  -- of the work: what `worker.attempts` counts
ALTER TABLE batches ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;  -- of the worker, by itself
ALTER TABLE batches ADD COLUMN kills INTEGER NOT NULL DEFAULT 0;  -- of the worker, from outside
ALTER TABLE batches ADD COLUMN cause TEXT NOT NULL DEFAULT '';  -- skilld.types.Cause; empty: nothing is in the way
ALTER TABLE batches ADD COLUMN place TEXT NOT NULL DEFAULT '';  -- the path of it
ALTER TABLE batches ADD COLUMN remedy TEXT NOT NULL DEFAULT '';
ALTER TABLE batches ADD COLUMN since REAL NOT NULL DEFAULT 0;  -- Unix time since when it is
ALTER TABLE batches ADD COLUMN kept TEXT NOT NULL DEFAULT '[]';  -- JSON: ids of the learnings kept because of it
CREATE INDEX batches_caused ON batches(cause) WHERE cause != '';

-- == 0010_judged
-- Turns that the journal says were judged, of transcripts that a rebuilt database has not read again yet.
CREATE TABLE judged (key TEXT PRIMARY KEY, batch_id TEXT NOT NULL) STRICT;
-- The identity of this database, and the number of its last transaction (skilld.store.journal).
INSERT INTO meta VALUES ('journal', json_array(lower(hex(randomblob(8))), 0));

-- == 0011_dropped
-- What was dropped from the staging branch has a state of its own; it was open with a time in missing_since.
INSERT INTO decisions (proposal_id, before, after, who, at)
  SELECT id, 'open', 'dropped', 'git', missing_since FROM proposals WHERE state = 'open' AND missing_since != '';
UPDATE proposals SET state = 'dropped', decided_at = missing_since WHERE state = 'open' AND missing_since != '';

-- == 0012_updates
-- JSON: what a proposal says, each update with its quote; rows from before have none.
ALTER TABLE proposals ADD COLUMN updates TEXT NOT NULL DEFAULT '[]';

-- == 0013_targets
ALTER TABLE proposals ADD COLUMN target TEXT NOT NULL DEFAULT 'skill';
ALTER TABLE proposals ADD COLUMN agents TEXT NOT NULL DEFAULT '[]';  -- JSON: those that load the file
ALTER TABLE learnings ADD COLUMN place_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE learnings ADD COLUMN place TEXT NOT NULL DEFAULT '';  -- the path of the file it would go to

-- == 0014_conflicts
ALTER TABLE proposals ADD COLUMN conflicts TEXT NOT NULL DEFAULT '[]';  -- JSON: path, line, text, whose
ALTER TABLE proposals ADD COLUMN also TEXT NOT NULL DEFAULT '[]';  -- JSON: edits of further files
ALTER TABLE proposals ADD COLUMN linked TEXT NOT NULL DEFAULT '[]';  -- JSON: ids of proposals

-- == 0015_past_sessions
CREATE TABLE past_sessions (
  path TEXT NOT NULL,                -- of the transcript
  session_id TEXT NOT NULL,          -- empty: the transcript itself, as far as it was read
  size INTEGER NOT NULL,
  mtime REAL NOT NULL,
  data TEXT NOT NULL,                -- JSON: what was loaded, stems of the work, redacted quotes
  PRIMARY KEY (path, session_id)
) STRICT;

-- == 0016_evals
CREATE TABLE evals (
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
) STRICT;
CREATE TABLE eval_runs (
  eval TEXT NOT NULL,
  pair INTEGER NOT NULL,
  ours INTEGER NOT NULL,             -- whether it had the edit
  answer TEXT NOT NULL,              -- redacted
  passed INTEGER,                    -- null: not judged yet
  PRIMARY KEY (eval, pair, ours)
) STRICT;

-- == 0018_elsewhere
CREATE TABLE elsewhere (
  key TEXT NOT NULL,                 -- of a rule and its file, as on every machine of the person
  what TEXT NOT NULL,                -- decided | learned | heard
  record TEXT NOT NULL,              -- JSON: what all machines know of it, as last synced
  path TEXT NOT NULL,                -- of its file on this machine; empty: it is not here
  here TEXT NOT NULL,                -- how it stood on this machine then; empty: nothing of it did
  PRIMARY KEY (key, what)
) STRICT;

-- == 0020_reviews
CREATE TABLE reviews (
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
) STRICT;
