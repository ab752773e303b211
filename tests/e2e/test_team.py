"""A team through its git host: two homes, one bare remote, real git and keys (issue 20, parts 1 to 3)."""

from __future__ import annotations

import shutil
from pathlib import Path

import jsonschema
import pytest

from skilld.types import OBSERVED_TURN, Kind, State, Update
from support.repos import Person
from support.teams import Team
from tools.json_documents import definition

PNPM = "Use pnpm, not npm, to install packages."
PNPM_TOO = "Use pnpm and not npm to install packages."
DATES = "Write dates as YYYY-MM-DD in the changelog."


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def test_the_same_rule_of_two_people_is_one_candidate(team: Team) -> None:
    ada, ben, carl = team.colleague("ada"), team.colleague("ben"), team.colleague("carl")
    ada.teach(PNPM)
    ada.teach(DATES)
    ben.teach(PNPM_TOO, created_at="2026-03-04T09:00:00Z")
    carl.teach(PNPM)
    output = ada.run_team("join", "--yes", "--name", "team-ada")
    assert PNPM in output
    assert "from now on" not in output
    ben.run_team("join", "--yes", "--name", "team-ben")
    ada.run_team("sync")
    assert ada.rules() == {PNPM: "ready", DATES: "waiting"}
    assert ben.rules() == ada.rules()
    document = ben.document()
    assert (document["people"], document["refused"]) == (["team-ada", "team-ben"], {})
    (pnpm,) = [rule for rule in document["rules"] if rule["standing"] == "ready"]
    assert (pnpm["people"], pnpm["sessions"], pnpm["since"]) == (2, 2, "2026-03-02")
    assert (document["joined"], document["remote"]) == (True, "origin")
    (same,) = [candidate for candidate in document["candidates"] if candidate["id"] == pnpm["id"]]
    assert (same["text"], same["people"], same["sessions"], same["state"]) == (PNPM, 2, 2, "open")
    # Who did not join sends nothing and sees nothing.
    outside = carl.document()
    assert outside.items() >= {"joined": False, "remote": None, "people": [], "candidates": []}.items()
    jsonschema.validate(outside, definition("team status"))
    assert team.refs() == ["refs/skilld/team/team-ada", "refs/skilld/team/team-ben"]
    result = carl.team("status")
    assert result.returncode == 1
    assert "skilld team join" in result.stderr
    # Nothing of it stands in anybody's repository.
    assert "skilld" not in ada.clone.git("for-each-ref") + (ada.clone.root / ".git/config").read_text()


def test_the_login_of_a_remote_is_not_shown(team: Team) -> None:
    ada = team.colleague("ada")
    ada.clone.git("remote", "set-url", "origin", "https://ada:Wumpel@7kat@hub.invalid/x.git")
    result = ada.program.run("team", "join", "--repo", str(ada.clone.root), typed="n\n")
    assert "read https://hub.invalid/x.git:" in result.stdout
    result = ada.program.run("machines", "join", "https://ada:Wumpel@7kat@hub.invalid/x.git", "--yes")
    assert "hub.invalid" in result.stderr
    assert "7kat" not in result.stdout + result.stderr


def test_nothing_is_sent_before_the_person_agreed(team: Team) -> None:
    ada = team.colleague("ada")
    ada.teach(PNPM)
    result = ada.program.run("team", "join", "--repo", str(ada.clone.root), typed="n\n")
    assert PNPM in result.stdout
    assert result.returncode == 5, "there is no terminal to say yes on"
    assert team.refs() == []
    assert ada.team("status").returncode == 1


def test_leaving_removes_our_data(team: Team) -> None:
    ada, ben = team.colleague("ada"), team.colleague("ben")
    ada.teach(PNPM)
    ben.teach(PNPM)
    for colleague in (ada, ben):
        colleague.run_team("join", "--yes", "--name", f"team-{colleague.home.parent.name}")
    ada.run_team("leave")
    assert team.refs() == ["refs/skilld/team/team-ben"]
    assert not [*(ada.home / ".local/state/skilld/team").iterdir()]
    assert ada.team("sync").returncode == 1
    ben.run_team("sync")
    assert ben.rules() == {PNPM: "waiting"}


def test_a_moved_clone_stays_in_its_team(team: Team) -> None:
    ada, ben = team.colleague("ada"), team.colleague("ben")
    settings = ada.home / ".config/skilld/config.toml"
    for colleague in (ada, ben):
        colleague.teach(PNPM)
        colleague.run_team("join", "--yes", "--name", f"team-{colleague.home.parent.name}")
    ada.program.run("proposals")
    before = settings.read_text()
    ada.clone = Person(ada.clone.root.rename(ada.clone.root.with_name("moved")), ada.clone.env)
    ada.program.run("proposals")
    assert settings.read_text() == before, "only a command of the person's changes their settings"
    assert ada.document()["joined"]
    ada.run_team("sync")
    assert ada.rules() == {PNPM: "ready"}
    assert ada.program.run("team", "join", "--repo", str(ada.clone.root)).returncode == 1
    ada.run_team("leave")
    assert "repositories" not in settings.read_text()
    assert team.refs() == ["refs/skilld/team/team-ben"]
    ada.run_team("join", "--yes", "--name", "team-ada")
    assert str(ada.clone.root) in settings.read_text()


def test_without_a_key_it_says_how_to_create_one(team: Team) -> None:
    ada = team.colleague("ada", key=False)
    result = ada.team("join", "--yes")
    assert result.returncode == 1
    assert "ssh-keygen -t ed25519" in result.stderr
    assert team.refs() == []


def test_a_taken_name_is_refused(team: Team) -> None:
    ada, ben = team.colleague("ada"), team.colleague("ben")
    ada.run_team("join", "--yes", "--name", "the-same")
    result = ben.team("join", "--yes", "--name", "the-same")
    assert result.returncode == 5
    assert "--name" in result.stderr
    assert ben.team("status").returncode == 1


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("Deploy with the token ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4Dd6Fg8 only.", "looks like a secret"),
        ("Read /home/ada/notes/style.md before you write.", "a path on your machine"),
        ("Ask Ada Tester before you merge.", "a person"),
        ("Write to somebody@example.org about releases.", "a person"),
        ("Continue as in session-home-0 did.", "a session"),
    ],
)
def test_private_rules_stay_and_are_named(team: Team, rule: str, why: str) -> None:
    ada = team.colleague("ada")
    ada.teach(rule)
    ada.teach(PNPM)
    output = ada.run_team("join", "--yes")
    assert "not shared, because it" in output
    assert why in output
    (ref,) = team.refs()
    assert team.hub.git("ls-tree", "-r", "--name-only", ref).count("records/") == 1
    assert ada.rules() == {PNPM: "waiting"}


def test_quotes_are_sent_only_if_the_person_agreed(team: Team) -> None:
    ada, ben = team.colleague("ada"), team.colleague("ben")
    for colleague in (ada, ben):
        colleague.teach(PNPM, quote=f"please always pnpm, says {colleague.home.parent.name[0]}")
    ada.run_team("join", "--yes", "--quotes")
    ben.run_team("join", "--yes")
    (pnpm,) = ben.document()["rules"]
    assert pnpm["quotes"] == ["please always pnpm, says a"]


def test_open_rules_are_sent_only_on_request(team: Team) -> None:
    ada, ben = team.colleague("ada"), team.colleague("ben")
    for colleague in (ada, ben):
        colleague.teach(DATES, State.OPEN)
    ada.run_team("join", "--yes")
    assert ada.rules() == {}
    ben.run_team("join", "--yes", "--open")
    ada.run_team("sync")
    assert ada.rules() == {DATES: "waiting"}


def test_a_withdrawn_rule_is_withdrawn_for_the_team(team: Team) -> None:
    ada = team.colleague("ada")
    ada.teach(PNPM)
    ada.run_team("join", "--yes")
    ada.set_state(PNPM, State.REVERTED, "2026-03-05T09:00:00Z")
    assert "pushed your changes" in ada.run_team("sync")
    assert ada.rules() == {}
    (ref,) = team.refs()
    (name,) = [row.split("\t")[1] for row in team.hub.git("ls-tree", "-r", ref).splitlines() if "records/" in row]
    assert "pnpm" not in team.hub.git("show", f"{ref}:{name}")
    assert "nothing new to push" in ada.run_team("sync")


def test_a_host_refusing_custom_refs_gets_a_branch(team: Team) -> None:
    team.hub.git("config", "--add", "receive.hideRefs", "refs/skilld")
    ada, ben = team.colleague("ada"), team.colleague("ben")
    for one, name in ((ada, "team-ada"), (ben, "team-ben")):
        one.teach(PNPM)
        output = one.run_team("join", "--yes", "--name", name)
        assert (
            f"  The remote accepts only branches, so your shared rules are on the branch skilld/team/{name}.\n"
            in output
        )
    assert team.refs() == ["refs/heads/skilld/team/team-ada", "refs/heads/skilld/team/team-ben"]
    assert ben.rules() == {PNPM: "ready"}
    ada.run_team("leave")
    assert team.refs() == ["refs/heads/skilld/team/team-ben"]
    team.hub.write("hooks/update", "#!/bin/sh\necho 'GH013: rule violations' >&2\nexit 1\n").chmod(0o755)
    (told,) = [line for line in ada.team("join", "--yes", "--name", "team-ada").stderr.splitlines() if "push" in line]
    taken = "neither refs/skilld/team/team-ada nor the branch skilld/team/team-ada"
    assert told.endswith(f"Could not push: the remote accepts {taken}: GH013: rule violations")


def test_hooks_and_programs_of_the_repository_do_not_run(team: Team) -> None:
    ada = team.colleague("ada")
    ada.teach(PNPM)
    mark = team.folder / "ran"
    for hook in ("pre-push", "reference-transaction", "post-checkout"):
        path = ada.clone.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {mark}\n")
        path.chmod(0o755)
    ada.clone.git("config", "core.sshCommand", f"touch {mark};")
    ada.clone.git("config", "remote.origin.receivepack", f"touch {mark};git-receive-pack")
    ada.clone.git("config", "remote.origin.uploadpack", f"touch {mark};git-upload-pack")
    ada.run_team("join", "--yes")
    ada.run_team("sync")
    assert not mark.exists()
    assert len(team.refs()) == 1


def test_records_replaced_by_somebody_else_are_repaired(team: Team) -> None:
    ada, ben = team.colleague("ada"), team.colleague("ben")
    for colleague in (ada, ben):
        colleague.teach(PNPM)
        colleague.run_team("join", "--yes", "--name", f"team-{colleague.home.parent.name}")
    ref = "refs/skilld/team/team-ada"
    before = team.hub.git("rev-parse", f"{ref}^{{tree}}:records")
    team.hub.git("update-ref", ref, "refs/skilld/team/team-ben")
    assert "rejected changes from team-ada" in ben.run_team("sync")
    assert "pushed your changes" in ada.run_team("sync")
    assert team.hub.git("rev-parse", f"{ref}^{{tree}}:records") == before
    ben.run_team("sync")
    assert ben.rules() == {PNPM: "ready"}


def test_a_second_machine_of_one_person_counts_as_the_same_person(team: Team) -> None:
    ada, laptop = team.colleague("ada"), team.colleague("laptop", key=False)
    shutil.copytree(ada.home / ".ssh", laptop.home / ".ssh")
    ada.teach(PNPM)
    laptop.teach(PNPM, created_at="2026-03-04T09:00:00Z")
    laptop.teach(DATES)
    ada.run_team("join", "--yes", "--name", "team-ada")
    laptop.run_team("join", "--yes", "--name", "team-ada")
    ada.run_team("sync")
    assert team.refs() == ["refs/skilld/team/team-ada"]
    assert ada.document()["rules"] == laptop.document()["rules"]
    assert ada.rules() == {PNPM: "waiting", DATES: "waiting"}
    assert "nothing new to push" in laptop.run_team("sync")
    # What one of them takes back stays away, though the other has not heard of it.
    ada.set_state(PNPM, State.REVERTED, "2026-03-05T09:00:00Z")
    ada.run_team("sync")
    laptop.run_team("sync")
    assert ada.rules() == laptop.rules() == {DATES: "waiting"}


def test_uninstalling_says_what_stays_on_the_remote(team: Team) -> None:
    ada = team.colleague("ada")
    ada.teach(PNPM)
    ada.run_team("join", "--yes", "--name", "team-ada")
    result = ada.program.run("uninstall", "--dry-run")
    told = result.stdout + result.stderr
    assert (
        f"the rules you share as team-ada (to delete them, first run: skilld team leave --repo {ada.clone.root})"
        in told
    )


def test_what_was_only_observed_in_sessions_is_no_rule(team: Team) -> None:
    ada = team.colleague("ada")
    updates = (
        Update(None, "", DATES, "", Kind.PREFERENCE, 1, DATES),
        Update(
            None, "", "Run `alembic upgrade head`.", "observed in 3 sessions", Kind.ADD_STEP, OBSERVED_TURN, "alembic"
        ),
    )
    ada.teach("Use when you add a migration.", updates=updates)
    ada.run_team("join", "--yes", "--name", "team-ada")
    assert ada.rules() == {DATES: "waiting"}
