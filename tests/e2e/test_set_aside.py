"""Proposals for a skill that was archived or deleted: each message names the next step, and that works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from skilld.files import below_home
from support.program import Program
from support.repos import Person

PLACES = ("own folder", "repository", "repository, committed")


class World:
    """Two similar skills, of which the older one, `paint`, is to take a line of the other; the proposal is `id`."""

    def __init__(self, home: Path, root: Path, place: str, more: str = "") -> None:
        self.program: Program = Program(home)
        self.place = place
        skills = (home if place == "own folder" else root) / ".claude/skills"
        for at, (name, rules) in enumerate({"paint": "", "walls": f"- Open the windows.\n{more}"}.items()):
            (skills / name).mkdir(parents=True)
            head = f"---\nname: {name}\ndescription: Paint the walls.\n---\n\n"
            (skills / name / "SKILL.md").write_text(f"{head}# {name}\n\n- Wash the brushes.\n{rules}")
            os.utime(skills / name / "SKILL.md", (at, at))
        self.folder = skills / "paint"
        self.person = Person(root) if place != "own folder" else None
        if self.person:
            self.person.git("init", "--quiet")
            self.person.commit("skills")
        (row,) = self.program.json("consolidate", str(self.folder), str(skills / "walls"))
        (self.id,) = row["proposals"]

    def set_aside(self, how: str) -> str:
        """Archive or delete the skill and return what is printed; commit that where the place says so."""
        options = ("--yes",) if how == "delete" else ()
        result = self.program.run("skills", how, str(self.folder), *options)
        assert result.returncode == 0, result.stderr
        self.commit()
        return result.stdout

    def commit(self) -> None:
        if self.person and self.place.endswith("committed"):
            self.person.commit("change")

    def refusal(self, *verb: str) -> list[str]:
        """Return the commands that a refused verb advises."""
        result = self.program.run(*verb)
        assert result.returncode in {1, 5}, result.stdout
        (advice,) = result.stderr.splitlines()[1:]
        return re.findall(r"(?:skilld|mv) [^,]*?(?=, then: |\. To |$)", advice.removeprefix("  To bring it back: "))

    def follow(self, command: str) -> None:
        """Run a command as the message has it."""
        words = shlex.split(command)
        if words[0] == "mv":
            subprocess.run(["sh", "-c", command], check=True, env={**os.environ, "HOME": str(self.program.home)})
        else:
            result = self.program.run(*words[1:])
            assert result.returncode == 0, result.stderr
        self.commit()

    @property
    def state(self) -> str:
        (row,) = self.program.json("proposals", "--state", "all")
        return str(row["state"])


@pytest.fixture(params=PLACES)
def world(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> World:
    return World(home, tmp_path / "project", request.param)


@pytest.mark.parametrize("how", ["archive", "delete"])
def test_an_open_proposal_waits_for_its_skill(world: World, how: str) -> None:
    printed = world.set_aside(how)
    assert f"To discard: skilld reject {world.id}\n" in printed
    listed = world.program.run("proposals").stdout
    back, again, discard = world.refusal("accept", world.id)
    assert (again, discard) == (f"skilld accept {world.id}", f"skilld reject {world.id}")
    file = below_home(world.folder / "SKILL.md", world.program.home)
    assert f"accepting it would fail: {file} does not exist; to bring it back: {back}" in listed
    assert world.refusal("skills", "show", "paint") == [back], "whoever looks for it is told where it is"
    world.follow(back)
    world.follow(again)
    assert world.state == "accepted"
    assert "- Open the windows.\n" in (world.folder / "SKILL.md").read_text()


@pytest.mark.parametrize("how", ["archive", "delete"])
def test_rejecting_restoring_and_reverting_without_the_skill(world: World, how: str) -> None:
    world.set_aside(how)
    world.follow(f"skilld reject {world.id}")
    assert world.state == "rejected"
    back, again = world.refusal("restore", world.id)
    world.follow(back)
    world.follow(again)
    assert world.state == "open"
    world.follow(f"skilld accept {world.id}")
    world.set_aside(how)
    back, again = world.refusal("revert", world.id)
    world.follow(back)
    world.follow(again)
    assert world.state == "reverted"
    assert "- Open the windows.\n" not in (world.folder / "SKILL.md").read_text()


def test_a_deleted_skill_is_not_looked_for_in_the_archive_only(world: World) -> None:
    world.set_aside("delete")
    (back,) = world.refusal("skills", "restore", "paint")
    assert back.startswith("mv ")
    world.follow(back)
    assert world.program.run("skills", "show", str(world.folder)).returncode == 0


def test_a_restored_file_that_is_in_no_commit_is_to_be_committed_first(home: Path, tmp_path: Path) -> None:
    world = World(home, tmp_path / "project", "repository, committed")
    world.set_aside("archive")
    assert world.program.run("skills", "restore", "paint").returncode == 0
    result = world.program.run("accept", world.id)
    assert result.stderr.endswith(f"  Commit it, then: skilld accept {world.id}\n")
    world.commit()
    world.follow(f"skilld accept {world.id}")
    assert world.state == "accepted"


@pytest.mark.parametrize("number", [1, 2])
def test_only_parts_that_can_be_accepted_alone_are_offered(home: Path, tmp_path: Path, number: int) -> None:
    world = World(home, tmp_path / "project", "repository", "- Dry the rollers.\n" * (number - 1))
    offers = re.findall(r"To accept only some parts: (.*)", world.program.run("show", world.id).stdout)
    assert offers == [f"skilld accept {world.id} --part 1"] * (number - 1), "a mark needs another part"
    for offer in offers:
        world.follow(offer)
        assert "- Open the windows.\n" in (world.folder / "SKILL.md").read_text()
