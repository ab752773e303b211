"""Migrations on real files: old ones are upgraded with a copy kept, newer ones are refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from skilld.daemon.recovery import open_store
from skilld.errors import SkilldError
from skilld.store import Store, schema
from skilld.store.batches import Tries
from skilld.store.learnings import Learning
from skilld.store.schema import MIGRATIONS
from skilld.types import State
from support.proposals import make_proposal

_ADD_COLUMN = "ALTER TABLE learnings ADD COLUMN extra TEXT NOT NULL DEFAULT 'new';"
_FAIL_HALF_WAY = "CREATE TABLE half (x INTEGER) STRICT;\nINSERT INTO half VALUES ('no number');"


def _names(path: Path) -> list[str]:
    db = sqlite3.connect(path)
    names = [row[0] for row in db.execute("SELECT name FROM migrations ORDER BY name")]
    db.close()
    return names


def test_a_new_database_records_every_migration(tmp_path: Path) -> None:
    Store.open(tmp_path / "skilld.db").close()
    assert _names(tmp_path / "skilld.db") == [name for name, _ in MIGRATIONS]
    assert MIGRATIONS[0][0] == "0001_first_tables"
    assert not [*tmp_path.glob("*.before-*")]


def test_opening_it_again_changes_nothing(tmp_path: Path) -> None:
    Store.open(tmp_path / "skilld.db").close()
    before = (tmp_path / "skilld.db").read_bytes()
    Store.open(tmp_path / "skilld.db").close()
    assert (tmp_path / "skilld.db").read_bytes() == before


def test_an_older_database_is_migrated_and_a_private_copy_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "skilld.db"
    old = Store.open(path)
    old.meta.set("x", "kept")
    old.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, ("9999_add_column", _ADD_COLUMN)))
    new = Store.open(path)
    assert new.meta.get("x") == "kept"
    new._db.execute("SELECT extra FROM learnings")
    new.close()
    backup = tmp_path / "skilld.db.before-9999_add_column"
    assert backup.stat().st_mode & 0o777 == 0o600
    assert _names(backup) == [name for name, _ in MIGRATIONS]
    db = sqlite3.connect(backup)
    assert db.execute("SELECT value FROM meta WHERE key = 'x'").fetchone() == ('"kept"',)
    db.close()


def test_a_failed_migration_leaves_the_database_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "skilld.db"
    Store.open(path).close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, ("9999_half", _FAIL_HALF_WAY)))
    with pytest.raises(sqlite3.IntegrityError):
        Store.open(path)
    monkeypatch.undo()
    opened = Store.open(path)
    with pytest.raises(SkilldError, match="no such table"):
        opened._db.execute("SELECT * FROM half")
    opened.close()
    assert _names(path) == [name for name, _ in MIGRATIONS]


def test_a_database_of_a_newer_skilld_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "skilld.db"
    opened = Store.open(path)
    opened._db.execute("INSERT INTO migrations VALUES ('9999_of_the_future', '2030-01-01T00:00:00Z')")
    opened.close()
    before = path.read_bytes()
    with pytest.raises(SkilldError) as error:
        Store.open(path)
    assert error.value.title == "The database was written by a newer version of skilld"
    assert "9999_of_the_future" in error.value.cause
    assert error.value.remedy == "Install the newer version again."
    assert path.read_bytes() == before


def test_ratings_in_an_old_database_keep_the_skill_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "skilld.db"
    known = [name for name, _ in MIGRATIONS]
    monkeypatch.setattr(schema, "MIGRATIONS", MIGRATIONS[: known.index("0008_feedback_by_path")])
    old = Store.open(path)
    old._db.execute("INSERT INTO feedback VALUES ('notes', 's1', 1, 'well done', '2026-03-02T11:00:00Z')")
    old._db.execute("INSERT INTO feedback VALUES ('notes', 's2', 0, '', '2026-03-02T12:00:00Z')")
    old.close()
    monkeypatch.undo()
    new = Store.open(path)
    assert _names(path) == known
    assert new.records.feedback() == {("notes", ""): (1, 1)}
    new.records.add_feedback("notes", "/a/SKILL.md", "s2", "", "2026-03-03T12:00:00Z", helpful=True)
    assert new.records.feedback_by_session("notes", "/a/SKILL.md") == {"s1": True, "s2": True}
    assert new.records.feedback_by_session("notes", "/b/SKILL.md") == {"s1": True, "s2": False}
    assert [row["note"] for row in new._db.execute("SELECT note FROM feedback ORDER BY at")] == ["well done", "", ""]
    new.close()


def test_drops_in_an_old_database_count_from_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "skilld.db"
    before = tuple(migration for migration in MIGRATIONS if migration[0] != "0011_dropped")
    monkeypatch.setattr(schema, "MIGRATIONS", before)
    old = Store.open(path)
    for name in ("p1", "p2"):
        old.proposals.add(make_proposal(id=name))
    old.proposals.set_missing("p1", "2026-03-02T11:00:00Z")
    old.close()
    monkeypatch.undo()
    new = Store.open(path)
    assert {proposal.id: proposal.state.value for proposal in new.proposals.in_states([*State])} == {
        "p1": "dropped",
        "p2": "open",
    }
    assert new.proposals.missing_since("p1") == "2026-03-02T11:00:00Z"
    rows = [tuple(row) for row in new._db.execute("SELECT proposal_id, before, after, who, at FROM decisions")]
    assert rows == [("p1", "open", "dropped", "git", "2026-03-02T11:00:00Z")]
    new.close()


@pytest.mark.parametrize(
    "until",
    [
        "0009_causes",
        "0010_judged",
        "0011_dropped",
        "0012_updates",
        "0013_targets",
        "0014_conflicts",
        "0015_past_sessions",
        "0016_evals",
        "0018_elsewhere",
    ],
)
def test_the_last_releases_database_is_migrated_stepwise_and_survives_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: str
) -> None:
    """Parts 6 and 7: killed before the migration `until`, then brought up, lost, and rebuilt from its journal."""
    path = tmp_path / "skilld.db"
    known = [name for name, _ in MIGRATIONS]
    # Rows are written by today's code, which knows what came with 0012 and later: that is taken away again below.
    later = MIGRATIONS[known.index("0012_updates") :]
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS[: known.index("0009_causes")], *later))
    old = Store.open(path)
    for name in ("p1", "p2"):
        old.proposals.add(make_proposal(id=name))
    old.learnings.add(Learning("l1", "t1", "Be brief.", "Be brief.", "fact", "codex", "s1", None, None, "", 0.5, ""))
    for table, column in (
        *(("proposals", name) for name in ("updates", "target", "agents", "conflicts", "also", "linked")),
        *(("learnings", name) for name in ("place_kind", "place")),
    ):
        old._db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    for table in ("past_sessions", "evals", "eval_runs", "elsewhere", "reviews"):
        old._db.execute(f"DROP TABLE {table}")
    old._db.execute("DELETE FROM migrations WHERE name >= '0012'")
    old.proposals.set_missing("p1", "2026-03-02T11:00:00Z")
    for name, state in (("b1", "pending"), ("b2", "parked")):
        old._db.execute(
            """INSERT INTO batches (id, agent, session_id, closed_by, state, job, attempts, created_at)
               VALUES (?, 'claude-code', 's1', 'idle', ?, '{}', 2, '2026-03-02T10:00:00Z')""",
            (name, state),
        )
    old.close()
    monkeypatch.setattr(schema, "MIGRATIONS", MIGRATIONS[: known.index(until)])
    Store.open(path, journaled=False).close()
    monkeypatch.undo()
    for damaged in (False, True):
        if damaged:
            for file in tmp_path.glob("skilld.db*"):
                file.unlink()
        new = open_store(path, 1_772_500_000.0)
        assert _names(path) == known
        assert {proposal.id: proposal.state.value for proposal in new.proposals.in_states([*State])} == {
            "p1": "dropped",
            "p2": "open",
        }
        assert new.proposals.missing_since("p1") == "2026-03-02T11:00:00Z"
        assert [tuple(row) for row in new._db.execute("SELECT proposal_id, after FROM decisions")] == [
            ("p1", "dropped")
        ]
        assert [(turn.id, turn.attempts, turn.tries, turn.obstacle) for turn in new.batches.waiting()] == [
            ("b1", 2, Tries(), None)
        ]
        assert new.batches.counts() == {"pending": 1, "done": 0, "parked": 1}
        assert [learning.quote for learning in new.learnings.all()] == ["Be brief."]
        new.close()
