"""A client version that writes other records is detected, with a sample that holds no values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host
from skilld.ingest.drift import drifts
from skilld.ingest.record_survey import update_survey, version_in
from skilld.settings import Settings
from skilld.store import Store
from support.program import Program
from support.rows import for_each


def _claude_records(version: str, *more: dict[str, Any]) -> list[dict[str, Any]]:
    said = {"type": "user", "version": version, "message": {"role": "user", "content": "words of mine"}}
    answer = {"type": "assistant", "version": version, "message": {"role": "assistant", "content": "hunter2"}}
    return [said, answer] * 12 + list(more)


def _write(folder: Path, name: str, records: list[dict[str, Any]]) -> tuple[str, Path]:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return "claude-code", path


@pytest.fixture
def previous_kinds(tmp_path: Path) -> dict[str, Any]:
    return update_survey({}, [_write(tmp_path, f"old{n}", _claude_records("2.1.9")) for n in range(4)])


_NEW = [{"type": "brand-new", "version": "2.2.0", "text": "words of mine", "n": {"secret": 7}}] * 6


def test_a_new_record_kind_in_a_new_version_is_one_line_with_a_sample(
    previous_kinds: dict[str, Any], tmp_path: Path
) -> None:
    assert not list(drifts(previous_kinds))
    kept = update_survey(
        previous_kinds, [_write(tmp_path, f"new{n}", _claude_records("2.2.0", *_NEW)) for n in range(3)]
    )
    (found,) = drifts(json.loads(json.dumps(kept)))
    assert found.message == "Claude Code 2.2.0 writes records of an unknown kind (type=brand-new); turns may be missed"
    assert found.share == 0.2
    assert found.sample == {"type": "string", "version": "string", "text": "string", "n": {"secret": "number"}}
    assert not [words for words in ("words of mine", "hunter2") if words in json.dumps(kept)]


def test_a_record_kind_that_disappeared_is_reported(previous_kinds: dict[str, Any], tmp_path: Path) -> None:
    only = [record for record in _claude_records("2.2.0") if record["type"] == "assistant"]
    kept = update_survey(previous_kinds, [_write(tmp_path, f"new{n}", only) for n in range(3)])
    (found,) = drifts(kept)
    gone = "no longer writes records that skilld reads (type=user message.role=user)"
    assert found.message == f"Claude Code 2.2.0 {gone}; turns may be missed"


def test_known_kinds_few_records_and_inspected_files_are_not_reported(
    previous_kinds: dict[str, Any], tmp_path: Path
) -> None:
    assert not list(drifts(update_survey(previous_kinds, [_write(tmp_path, "same", _claude_records("2.2.0"))])))
    assert not list(drifts(update_survey(previous_kinds, [_write(tmp_path, "few", _NEW[:3])])))
    files = [_write(tmp_path, f"old{n}", _claude_records("2.1.9")) for n in range(4)]
    assert update_survey(previous_kinds, files) == previous_kinds


@for_each(
    ("record", "version"),
    [
        ({"version": "2.1.330"}, "2.1.330"),
        ({"payload": {"cli_version": "0.169.0"}}, "0.169.0"),
        ({"head": {"origin": {"version": "3.0.65"}}}, "3.0.65"),
        ({"version": 2}, ""),
        ({"version": "words"}, ""),
    ],
)
def test_the_client_version_is_read_where_the_record_has_it(record: dict[str, Any], version: str) -> None:
    assert version_in(record) == version


@for_each("kept", [{"droid": 7}, {"droid": {"versions": {"1.0": {"counts": 7, "sessions": "x"}}}}, {"x": {}}])
def test_any_stored_value_is_tolerated(kept: dict[str, Any]) -> None:
    assert not list(drifts(kept))


def test_the_daemon_detects_it_and_status_and_doctor_report_it(tmp_path: Path) -> None:
    program = Program(tmp_path)
    records = [{"type": "session_start", "id": "s"}, *([{"type": "brand_new", "secret": "hunter2"}] * 40)]
    path = tmp_path / ".factory/sessions/-w/s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    database = tmp_path / ".local/state/skilld/skilld.db"
    database.parent.mkdir(parents=True)
    database.parent.chmod(0o700)
    store = Store.open(database)
    engine = Engine(store, Settings(), Host(tmp_path, {}), 1_795_000_000.0)
    engine.check_drift()
    store.close()
    line = "Droid writes records of an unknown kind (type=brand_new); turns may be missed"
    assert f"format    {line} (skilld doctor shows a sample)" in program.run("status").stdout
    doctor = program.run("doctor").stdout
    assert f'{line}: {{"type": "string", "secret": "string"}}' in doctor
    assert "hunter2" not in doctor
