"""What is stored of a membership: never the login in the address of a remote."""

import os
from argparse import Namespace
from pathlib import Path

import pytest

from skilld.cli import team
from skilld.errors import RefusedError
from skilld.machines import sync as machines
from skilld.store import Store
from skilld.store.meta import MACHINES, TEAMS
from skilld.team import membership
from skilld.team.membership import Membership
from skilld.team.refs import Member, ReadResult
from skilld.team.sync import check_name_is_free, open_hub
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
    _make_key()
    repo = team.repository(Namespace(repo=str(person.root)))
    stored = Membership(str(person.root), "origin", PLACE, "team-ada")
    person.git("remote", "add", "origin", LOGIN)
    assert team.team_hub(repo, stored).membership.address == LOGIN
    person.git("remote", "set-url", "origin", "https://ada:Wumpel@7kat@other.invalid/x.git")
    assert team.team_hub(repo, stored).membership.address == PLACE
    person.git("remote", "remove", "origin")
    assert team.team_hub(repo, stored).membership.address == PLACE


def test_the_name_of_somebody_else_is_refused(tmp_path: Path) -> None:
    key = _make_key()
    one = Membership("", "", PLACE, "tower")
    hub = open_hub(one, tmp_path / "copies", home=Path.home(), env=os.environ)
    check_name_is_free(hub, ReadResult())
    check_name_is_free(hub, ReadResult({"tower": Member("tower", key, 1, "", ())}))
    for found, cause in (
        (ReadResult({"tower": Member("tower", "ssh-ed25519 other", 1, "", ())}), "tower is taken by someone else"),
        (
            ReadResult(refused={"tower": "it is too large"}),
            "tower is taken by someone else, and its records were rejected: it is too large",
        ),
    ):
        with pytest.raises(RefusedError) as error:
            check_name_is_free(hub, found)
        assert (error.value.cause, error.value.remedy) == (cause, "Choose another name: --name NAME")


def _make_key() -> str:
    """Make a key in the home as far as its finder looks at it; return its public part."""
    public = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
    path = Path.home() / ".ssh/id_ed25519.pub"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{public} ada\n")
    path.with_suffix("").write_text("private")
    return public
