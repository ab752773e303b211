from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from skilld.edit.operations import apply
from skilld.errors import UsageError
from skilld.proposals.explain import find_origin
from skilld.types import Op, Operation
from support.repos import SKILL, TEXT, Harness, Person, insert_below, replace_line

DRY = insert_below("- Run the tests.", "- Do a dry run.")


def line_of(person: Person, text: str) -> int:
    return person.skill.read_text().split("\n").index(text) + 1


def test_a_line_is_traced_to_its_proposal(person: Person) -> None:
    harness = Harness(person)
    harness.stage("p1", DRY)
    landed = harness.accept("p1")
    origin = find_origin(person.skill, line_of(person, "- Do a dry run."))
    assert (origin.text, origin.commit, origin.proposals) == ("- Do a dry run.", landed.commit, ("p1",))
    assert origin.trailers["Skilld-Batch"] == "batch-p1"
    assert find_origin(person.skill, line_of(person, "- Tag the commit.")).proposals == ()


def test_a_line_that_moved_is_still_traced(person: Person) -> None:
    harness = Harness(person)
    harness.stage(
        "p1", insert_below("- Run the tests.", "- Do a dry run of the whole release before anything else happens.")
    )
    harness.accept("p1")
    line = "- Do a dry run of the whole release before anything else happens."
    text = person.skill.read_text().replace(line + "\n", "")
    person.commit("moved", {SKILL: text.replace("## Notes\n", f"## Notes\n\n{line}\n")})
    assert find_origin(person.skill, line_of(person, line)).proposals == ("p1",)


@pytest.mark.parametrize("listed", ["missing", "its commit"])
def test_commits_that_git_blame_is_told_to_ignore(person: Person, listed: str) -> None:
    harness = Harness(person)
    harness.stage("p1", replace_line("- Tag the commit.", "- Tag the signed commit."))
    landed = harness.accept("p1")
    person.git("config", "blame.ignoreRevsFile", ".ignored")
    if listed == "its commit":
        person.write(".ignored", f"{landed.commit}\n")
    assert find_origin(person.skill, line_of(person, "- Tag the signed commit.")).commit == landed.commit


def test_a_work_tree_with_uncommitted_lines_is_traced(person: Person) -> None:
    harness = Harness(person)
    harness.stage("p1", DRY)
    harness.accept("p1")
    person.write(SKILL, "new\nnew\n" + person.skill.read_text())
    assert find_origin(person.skill, line_of(person, "- Do a dry run.")).proposals == ("p1",)
    assert find_origin(person.skill, 1).commit == ""


def test_r9_the_commit_at_which_a_shallow_clone_ends_did_not_bring_older_lines(person: Person, tmp_path: Path) -> None:
    harness = Harness(person)
    for name, edit in (("p1", DRY), ("p2", insert_below("- Push the tag.", "- Write the news."))):
        harness.stage(name, edit)
        harness.accept(name)
    person.git("clone", "--quiet", "--depth", "1", f"file://{person.root}", str(tmp_path / "shallow"))
    clone = Person(tmp_path / "shallow")
    for line in ("- Do a dry run.", "- Write the news."):
        origin = find_origin(clone.skill, line_of(clone, line))
        assert (origin.commit, origin.proposals) == (person.tip(), ())


def test_a_squash_names_every_proposal_it_brought(person: Person) -> None:
    harness = Harness(person)
    harness.stage("p1", DRY)
    harness.stage("p2", insert_below("- Push the tag.", "- Write the news."))
    person.git("merge", "--quiet", "--squash", "skilld/staging")
    person.git("commit", "--quiet", "--no-edit")
    assert set(find_origin(person.skill, line_of(person, "- Do a dry run.")).proposals) == {"p1", "p2"}


def test_lines_ending_in_a_bare_cr_are_traced(person: Person) -> None:
    person.commit("old", {SKILL: TEXT.replace("\n", "\r")})
    harness = Harness(person)
    harness.stage("p1", partial(apply, operations=[Operation(Op.INSERT_AFTER, "- Run the tests.", "- Do a dry run.")]))
    landed = harness.accept("p1")
    person.commit("mine", {SKILL: person.skill.read_bytes() + b"More.\r"})
    lines = person.skill.read_bytes().decode().split("\r")
    origin = find_origin(person.skill, lines.index("- Do a dry run.") + 1)
    assert (origin.text, origin.commit, origin.proposals) == ("- Do a dry run.", landed.commit, ("p1",))
    assert find_origin(person.skill, lines.index("- Tag the commit.") + 1).proposals == ()
    assert find_origin(person.skill, lines.index("More.") + 1).commit == person.tip()


@pytest.mark.parametrize("ours", [True, False])
def test_r9_lines_ending_in_a_bare_cr_are_traced_past_a_merge(person: Person, *, ours: bool) -> None:
    person.commit("old", {SKILL: TEXT.replace("\n", "\r")})
    person.git("switch", "--quiet", "--create", "side")
    person.commit("theirs", {SKILL: person.skill.read_bytes().replace(b"short", b"brief")})
    person.git("switch", "--quiet", "main")
    harness = Harness(person)
    harness.stage("p1", partial(apply, operations=[Operation(Op.INSERT_AFTER, "- Run the tests.", "- Do a dry run.")]))
    landed = harness.accept("p1")
    text = person.skill.read_bytes()
    person.git("switch", "--quiet", "main" if ours else "side")
    person.git("merge", "--no-ff", "side" if ours else "main", check=False)  # for git the file is one line: a conflict
    person.commit("merged", {SKILL: text})
    line = text.decode().split("\r").index("- Do a dry run.") + 1
    assert find_origin(person.skill, line).commit == landed.commit


@pytest.mark.parametrize("line", [0, -1, TEXT.count("\n") + 1])
def test_a_missing_line_is_reported(person: Person, line: int) -> None:
    with pytest.raises(UsageError):
        find_origin(person.skill, line)
