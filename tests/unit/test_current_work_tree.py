"""A proposal is accepted in the work tree of its repository that the person stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.errors import RefusedError
from skilld.proposals.amend import decide_parts
from skilld.proposals.decide import accepting
from skilld.types import Op, Operation, SideEdit, State
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT, Person

NEWS = "- Write the news."


@pytest.fixture
def linked(person: Person, monkeypatch: pytest.MonkeyPatch) -> Person:
    """The person stands in a linked work tree on a branch of its own."""
    person.git("worktree", "add", "--quiet", "-b", "feature", "../linked")
    there = Person(person.root.parent / "linked", person.env)
    monkeypatch.chdir(there.root)
    return there


@pytest.fixture
def life(life: ProposalLife) -> ProposalLife:
    life.offer()
    life.offer("p2", "- Push the tag.", NEWS)
    return life


def test_it_is_committed_there_and_the_others_stay_open(life: ProposalLife, linked: Person) -> None:
    main = life.person.tip("main")
    said = " ".join(life.accept().lines)
    assert "on feature. To undo it" in said
    assert (life.person.tip("main"), life.person.skill.read_text()) == (main, TEXT)
    assert DRY in linked.skill.read_text()
    assert linked.git("status", "--porcelain") == ""
    staged = life.person.git("show", f"skilld/staging:{SKILL}")
    assert (NEWS in staged, DRY in staged) == (True, False)
    assert life.get("p2").commit == life.person.tip("skilld/staging")
    assert life.observe() == ("accepted", "")
    assert life.observe("p2") == ("open", "")
    # The other one, too, and from the main work tree.
    life.accept("p2")
    assert NEWS in linked.skill.read_text()


def test_a_part_is_accepted_there_and_the_rest_stays_open(life: ProposalLife, linked: Person) -> None:
    lines = [Operation(Op.INSERT_AFTER, "- Push the tag.", f"- {word}.") for word in ("Stamp it", "Sign it")]
    life.propose("p3", *lines)
    decide_parts(life.store, life.get("p3"), {0}, accepting())
    assert "Stamp it" in linked.skill.read_text()
    assert life.person.skill.read_text() == TEXT
    (half,) = [one for one in life.store.proposals.accepted() if one.summary]
    assert (half.repo, linked.git("status", "--porcelain")) == (str(linked.root), "")
    staged = life.person.git("show", f"skilld/staging:{SKILL}")
    assert ("Sign it" in staged, "Stamp it" in staged, NEWS in staged) == (True, False, True)
    life.observe_all()
    assert sorted(one.state.value for one in life.store.proposals.all()) == ["accepted", "open", "open", "open"]


def test_it_is_undone_and_reverted_there(life: ProposalLife, linked: Person) -> None:
    before = linked.tip("feature")
    life.accept()
    life.undo()
    assert (linked.tip("feature"), life.get().state) == (before, State.OPEN)
    life.accept()
    life.revert()
    assert DRY not in linked.skill.read_text()
    assert life.observe()[0] == "reverted"


def test_a_change_of_the_person_there_refuses_it_and_leaves_it_where_it_was(life: ProposalLife, linked: Person) -> None:
    linked.write(SKILL, TEXT + "- Mine.\n")
    with pytest.raises(RefusedError, match="uncommitted changes"):
        life.accept()
    assert (life.get().state, life.get().repo, life.get().path) == (
        State.OPEN,
        str(life.person.root),
        str(life.person.skill),
    )
    assert life.person.skill.read_text() == TEXT
    life.person.write(SKILL, TEXT + "- Mine.\n")
    linked.git("checkout", "--quiet", "--", SKILL)
    life.accept()  # what is changed in the main one does not matter
    assert DRY in linked.skill.read_text()


def test_a_file_that_is_missing_there_is_named_with_the_command_by_hand(life: ProposalLife, linked: Person) -> None:
    linked.git("rm", "--quiet", SKILL)
    linked.git("commit", "--quiet", "-m", "not here")
    with pytest.raises(RefusedError, match="is not in the work tree") as error:
        life.accept()
    assert str(linked.root) in error.value.remedy or "skilld accept" in error.value.remedy
    assert life.get().repo == str(life.person.root)


def test_what_was_accepted_there_outlives_the_work_tree(
    life: ProposalLife, linked: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    life.accept()
    monkeypatch.chdir(life.person.root)
    life.person.git("merge", "--quiet", "--ff-only", "feature")
    life.person.git("worktree", "remove", "../linked")
    assert life.observe() == ("accepted", "")
    life.revert()
    assert DRY not in life.person.skill.read_text()
    assert linked.root.exists() is False


@pytest.mark.parametrize("when", ["before the commit", "after it"])
def test_a_kill_loses_and_doubles_nothing(
    life: ProposalLife, linked: Person, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Nothing runs after a kill: what is stored by then is all that there is."""

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        if when == "before the commit":
            killed.setattr("skilld.proposals.decide.land", die)
        else:
            killed.setattr(type(life.store.proposals), "decide", die)
        with pytest.raises(KeyboardInterrupt):
            life.accept()
    assert life.observe()[0] == ("open" if when == "before the commit" else "accepted")
    life.accept()
    assert linked.skill.read_text().count(DRY) == 1
    assert linked.git("rev-list", "--count", "main..feature") == "1"
    assert life.person.skill.read_text() == TEXT
    assert (life.observe()[0], life.observe("p2")[0]) == ("accepted", "open")


def test_the_file_alone_is_written_there(life: ProposalLife, linked: Person) -> None:
    life.accept(worktree=True)
    assert (DRY in linked.skill.read_text(), life.person.skill.read_text()) == (True, TEXT)
    life.revert()
    assert linked.skill.read_text() == TEXT


def test_a_further_file_is_written_there_too(life: ProposalLife, linked: Person) -> None:
    life.person.write("NOTES.md", "# Notes\n\n- Never dry run.\n- Be brief.\n")
    life.person.commit("notes")
    linked.git("merge", "--quiet", "main")
    notes = life.person.root / "NOTES.md"
    side = SideEdit(str(notes), (Operation(Op.DELETE, "- Never dry run.", ""),), "NOTES.md")
    life.propose("p3", Operation(Op.INSERT_AFTER, "- Push the tag.", "- Stamp it."), also=(side,))
    before = notes.read_text()
    life.accept("p3", worktree=True)
    assert (linked.root / "NOTES.md").read_text() == "# Notes\n\n- Be brief.\n"
    life.revert("p3")
    assert (notes.read_text(), (linked.root / "NOTES.md").read_text()) == (before, before)


def test_another_repository_changes_nothing(
    life: ProposalLife, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Person(tmp_path / "other", life.person.env)
    other.root.mkdir()
    other.git("init", "--quiet")
    monkeypatch.chdir(other.root)
    life.accept()
    assert DRY in life.person.skill.read_text()
