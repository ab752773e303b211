"""What a proposal goes through: undone and accepted again, reverted elsewhere, moved, reworded, its project gone."""

from __future__ import annotations

import pytest

from skilld.proposals.amend import accept_edited
from skilld.proposals.explain import read_versions
from skilld.store import Store
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT, Person


@pytest.fixture
def life(person: Person, store: Store) -> ProposalLife:
    return ProposalLife(person, store)


def hub(life: ProposalLife) -> Person:
    """Give the repository a remote, push, and return a colleague with a clone of it."""
    life.person.git("init", "--quiet", "--bare", "../hub.git")
    life.person.git("remote", "add", "origin", "../hub.git")
    life.person.git("push", "--quiet", "--set-upstream", "origin", "main")
    life.person.git("clone", "--quiet", "../hub.git", "../other")
    return Person(life.person.root.parent / "other")


# Undoing an acceptance


def accept_with_own_words(life: ProposalLife) -> None:
    found = read_versions(life.get())
    assert found is not None
    shown = found[1].decode()
    accept_edited(life.store, life.get(), shown.replace(DRY, "- Dry run, then ask."), {}, shown)


def test_undo_after_the_persons_own_words_opens_it_again(life: ProposalLife) -> None:
    life.offer()
    accept_with_own_words(life)
    life.undo()
    assert life.observe()[0] == "open"
    assert life.person.skill.read_text() == TEXT


@pytest.mark.parametrize("how", ["revert", "revert and commit", "undo", "undo of a shared commit", "own words"])
def test_undo_after_an_earlier_acceptance_that_was_taken_out(life: ProposalLife, how: str) -> None:
    """The commits of the first round are in the history and say: accepted, then reverted."""
    life.offer()
    if how == "own words":
        accept_with_own_words(life)
        life.person.commit("more", {"README.md": "more\n"})
        life.undo()
    elif how.startswith("undo"):
        life.accept()
        life.person.commit("more", {"README.md": "more\n"})
        life.undo()
    else:
        life.accept()
        life.revert()
    if how == "revert and commit":
        life.person.commit("more", {"README.md": "more\n"})
    life.observe()
    life.accept()
    if how == "undo of a shared commit":
        life.person.git("tag", "v1")
    assert life.undo().lines[0].startswith("p1 is open again")
    assert life.observe()[0] == "open"
    assert life.person.skill.read_text() == TEXT
    life.accept()
    assert life.observe()[0] == "accepted"


def test_undo_of_a_commit_that_the_person_amended(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.person.write("README.md", "more\n")
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe()
    life.undo()
    assert life.observe()[0] == "open"
    assert life.person.skill.read_text() == TEXT


def test_undo_of_two_squashed_acceptances(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    for name in ("p1", "p2"):
        life.accept(name)
    life.person.git("reset", "--quiet", "--soft", "HEAD~2")
    life.person.git("commit", "--quiet", "-m", "Both\n\nSkilld-Proposal: p1\nSkilld-Proposal: p2")
    for name in ("p1", "p2"):
        assert life.observe(name)[0] == "accepted"
    life.undo()
    assert life.observe()[0] == "open"
    assert life.observe("p2")[0] == "accepted"
    assert life.person.skill.read_text() == TEXT.replace("tag.\n", "tag.\n- Write the news.\n")


def test_a_cherry_pick_that_was_reverted_after_it_was_reopened_still_counts(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.person.commit("more", {"README.md": "more\n"})
    life.undo()
    life.observe()
    life.person.git("cherry-pick", life.get().commit)
    life.person.git("revert", "--no-edit", "HEAD")
    assert life.observe()[0] == "reverted"


# A revert that is only on the remote


def test_a_revert_that_was_only_fetched_does_not_count_until_it_is_merged(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    other = hub(life)
    other.git("revert", "--no-edit", "HEAD")
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet")
    assert life.observe() == ("accepted", "")
    assert DRY in life.person.skill.read_text()
    life.person.git("merge", "--quiet", "--ff-only")
    assert life.observe()[0] == "reverted"


def test_on_a_branch_of_its_own_a_fetched_revert_does_not_count_either(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    other = hub(life)
    life.person.git("switch", "--quiet", "--create", "work")
    life.person.commit("mine", {"README.md": "more\n"})
    other.git("revert", "--no-edit", "HEAD")
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet", "origin", "main:main")
    life.person.git("update-ref", "-d", "refs/heads/main")
    assert life.observe() == ("accepted", "")
    life.person.git("rebase", "--quiet", "origin/main")
    assert life.observe()[0] == "reverted"


def test_what_was_brought_in_and_reverted_on_the_remote_alone_is_reverted(life: ProposalLife) -> None:
    life.offer()
    other = hub(life)
    other.write(SKILL, TEXT.replace("- Tag", f"{DRY}\n- Tag"))
    other.git("commit", "--quiet", "--all", "-m", "Say it\n\nSkilld-Proposal: p1")
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet")
    assert life.observe() == ("accepted", "")
    other.git("revert", "--no-edit", "HEAD")
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet")
    assert life.observe()[0] == "reverted"
