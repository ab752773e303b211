"""What the daemon does for a team by itself: a sync once an hour, a pull request once a week.

Issue 20, parts 2 and 4.
"""

from __future__ import annotations

import json
from pathlib import Path

from skilld.protocol import SYNC_TEAMS, Job, Result
from skilld.store import Store
from skilld.store.meta import SYNCED_AT, TEAMS
from skilld.types import Outcome
from skilld.worker.spawn import VerbWorker
from support import fake_git_host
from support.teams import Colleague, Team
from support.waiting import LIMIT, wait_for

PNPM = "Use pnpm, not npm, to install packages."
DATES = "Write dates as YYYY-MM-DD in the changelog."
NAME = "team-ada"


def sync_unasked(one: Colleague) -> None:
    """Do what the daemon starts."""
    with VerbWorker(one.program.environment) as worker:
        assert worker.do(Job(SYNC_TEAMS, 0o077), LIMIT) == Result(outcome=Outcome.NOTHING)


def count_records(team: Team) -> int:
    return team.hub.git("ls-tree", "-r", "--name-only", f"refs/skilld/team/{NAME}").count("records/")


def test_the_daemon_shares_accepted_rules_at_most_once_an_hour(tmp_path: Path) -> None:
    team = Team(tmp_path)
    ada = team.colleague("ada")
    ada.run_team("join", "--yes", "--name", NAME)
    ada.teach(PNPM)
    with ada.program.daemon():
        wait_for("what was accepted since to be shared", lambda: count_records(team) == 1)
    store = Store.open(ada.database)
    first = store.meta.get(SYNCED_AT)["team"]
    store.close()
    assert ada.rules() == {PNPM: "waiting"}
    with ada.program.daemon():
        pass
    store = Store.open(ada.database)
    assert store.meta.get(SYNCED_AT)["team"] == first
    store.close()


def test_the_pull_request_is_updated_once_a_week_if_enabled(tmp_path: Path) -> None:
    team, state = Team(tmp_path), tmp_path / "host.json"
    ada, ben = team.colleague("ada"), team.colleague("ben")
    fake_git_host.install_stub(tmp_path / "bin", "gh", state)
    for colleague in (ada, ben):
        colleague.teach(PNPM)
        with (colleague.home / ".gitconfig").open("a") as mine:
            mine.write(f'[url "{team.hub.root}"]\n\tinsteadOf = https://github.localhost/acme/widgets.git\n')
        colleague.clone.git("remote", "set-url", "origin", "https://github.localhost/acme/widgets.git")
        colleague.run_team("join", "--yes", "--name", f"team-{colleague.home.parent.name}")
        colleague.program.environment |= {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "GH_TOKEN": "x"}
    sync_unasked(ada)
    assert not state.exists(), "the host is asked only where the setting says so"
    assert ada.program.run("config", "set", "team.auto_pr", "weekly").returncode == 0
    sync_unasked(ada)
    assert len(json.loads(state.read_text())["pulls"]) == 1
    asked = len(json.loads(state.read_text())["asked"])
    sync_unasked(ada)
    assert len(json.loads(state.read_text())["asked"]) == asked
    store = Store.open(ada.database)
    kept = store.meta.get(TEAMS)
    kept[str(ada.clone.root)]["asked_at"] -= 7 * 86400
    store.meta.set(TEAMS, kept)
    store.close()
    sync_unasked(ada)
    assert len(json.loads(state.read_text())["asked"]) > asked
    assert len(json.loads(state.read_text())["pulls"]) == 1


def test_an_unreachable_remote_blocks_no_other_and_is_named_until_it_returns(tmp_path: Path) -> None:
    team, other = Team(tmp_path / "one"), Team(tmp_path / "two")
    ada = team.colleague("ada")
    ada.run_team("join", "--yes", "--name", NAME)
    second = Colleague(ada.home, other.colleague("ada").clone, ada.program)
    second.run_team("join", "--yes", "--name", NAME)
    second.teach(DATES)
    hidden = team.hub.root.rename(tmp_path / "away.git")
    sync_unasked(ada)
    assert count_records(other) == 1
    assert ada.document()["trouble"].startswith("Could not reach the remote")
    assert "  the last sync failed: Could not reach the remote" in ada.run_team("status")
    hidden.rename(team.hub.root)
    sync_unasked(ada)
    assert ada.document()["trouble"] == ""
