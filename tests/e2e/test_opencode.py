"""The daemon beside a database that its client writes, locks and migrates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.files import below_home
from support.lessons import TICKETS
from support.live_project import Project
from support.opencode_db import SECRET, Client
from support.program import Program
from support.waiting import wait_for


@pytest.fixture
def client(home: Path, project: Project) -> Iterator[Client]:
    made = Client(home, project)
    yield made
    made.database.db.close()


def unreadable_databases(program: Program) -> dict[str, str]:
    told = program.json("status")["daemon"]
    return dict(told["unreadable"]) if told else {}


def test_turns_become_a_proposal_across_a_schema_migration(
    home: Path, project: Project, program: Program, client: Client
) -> None:
    before = project.fingerprint()
    with program.daemon():
        client.type("Write the release notes for 2.4.0", TICKETS)
        wait_for("two turns", lambda: program.json("status")["agents"]["opencode"]["turns"] == 2, every=0.3)
        client.type("ok, looks good", "thanks")
        client.database.db.execute("ALTER TABLE part RENAME TO part_old")
        told = {str(client.path): "its tables do not match any version that skilld supports"}  # first it may be locked
        wait_for("a line in status", lambda: unreadable_databases(program) == told, every=0.5, context=program.output)
        assert (
            f"cannot read {below_home(client.path, home)}: its tables do not match any version"
            in program.run("status").stdout
        )
        client.database.db.execute("ALTER TABLE part_old RENAME TO part")
        client.type("go on")
        (proposal,) = wait_for("a proposal", lambda: program.json("proposals"), every=0.5, context=program.output)
    assert (proposal["agent"], proposal["skill"]) == ("opencode", "release-notes")
    assert [evidence["quote"] for evidence in proposal["evidence"]] == [TICKETS]
    assert program.json("status")["agents"]["opencode"]["turns"] == 5
    assert project.fingerprint() == before
    kept = [path for path in home.rglob("*") if path.is_file() and "/opencode/" not in str(path)]
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
