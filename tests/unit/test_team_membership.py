"""What is stored of a membership: never the login in the address of a remote."""

from argparse import Namespace
from pathlib import Path

import pytest

from skilld.cli import team
from skilld.machines import sync as machines
from skilld.store import Store
from skilld.store.meta import MACHINES, TEAMS
from skilld.team import membership
from skilld.team.membership import Membership
from support.repos import Person

LOGIN = "https://ada:Wumpel@7kat@hub.invalid/x.git"
PLACE = "https://hub.invalid/x.git"


@pytest.mark.parametrize(
    ("address", "stored"),
    [
        (LOGIN, PLACE),
        ("https://ghp_q7RzK2vXw9@hub.invalid/x.git", PLACE),
        ("ssh://git@hub.invalid:22/x.git", "ssh://git@hub.invalid:22/x.git"),
        ("git@hub.invalid:x.git", "git@hub.invalid:x.git"),
        ("/srv/x@y.git", "/srv/x@y.git"),
    ],
)
def test_a_login_is_not_stored(store: Store, address: str, stored: str) -> None:
    membership.save(store, Membership("/repo", "origin", address, "team-ada"))
    machines.save(store, Membership("", "", address, "machine-ada"))
    assert store.meta.get(TEAMS)["/repo"]["address"] == stored
    assert store.meta.get(MACHINES)["address"] == stored


def test_this_machines_login_comes_from_the_settings(store: Store) -> None:
    machines.save(store, Membership("", "", LOGIN, "machine-ada"))
    found = machines.load(store, LOGIN)
    assert found is not None
    assert (found.address, found.place) == (LOGIN, PLACE)
    assert machines.load(store, "https://other.invalid/x.git") is None


def test_the_teams_login_comes_from_the_repository(person: Person) -> None:
    key = Path.home() / ".ssh/id_ed25519.pub"
    key.parent.mkdir(exist_ok=True)
    key.write_text("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43 + " ada\n")
    key.with_suffix("").write_text("private")
    repo, removed = team.repository(Namespace(repo=str(person.root)))
    stored = Membership(str(person.root), "origin", PLACE, "team-ada")
    person.git("remote", "add", "origin", LOGIN)
    assert team.team_hub(repo, stored, removed).membership.address == LOGIN
    person.git("remote", "set-url", "origin", "https://ada:Wumpel@7kat@other.invalid/x.git")
    assert team.team_hub(repo, stored, removed).membership.address == PLACE
    person.git("remote", "remove", "origin")
    assert team.team_hub(repo, stored, removed).membership.address == PLACE
