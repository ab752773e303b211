"""Proposals accepted with --worktree: stashed, committed elsewhere, thrown away, taken out again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skilld.daemon.job_builder import not_to_repeat
from skilld.errors import RefusedError
from skilld.proposals.past_decisions import decision_against, past_decisions
from skilld.proposals.poll import PollSchedule
from skilld.types import Kind, Op, Operation, SideEdit, State, Update
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT, Person

WRITTEN = "written to the file, not committed"
DISCARDED = "accepted with --worktree, then removed from the file before it was committed"


@pytest.fixture
def written(life: ProposalLife) -> ProposalLife:
    """Accept one into the file alone, beside another that stays open."""
    life.offer("p1")
    life.offer("p2", "- Push the tag.", "- Write the news.")
    life.accept(worktree=True)
    assert life.observe() == ("accepted", WRITTEN)
    return life


def stash(person: Person) -> str:
    person.git("stash")
    return "in a stash"


def stash_below_others(person: Person) -> str:
    person.git("stash")
    person.write("README.md", "more\n")
    person.git("stash")
    return "in a stash"


def stash_what_was_staged(person: Person) -> str:
    person.git("add", SKILL)
    person.write(SKILL, TEXT)
    person.git("stash")
    return "in a stash"


def stash_reworded(person: Person) -> str:
    person.write(SKILL, person.skill.read_text().replace(DRY, "- Always dry run first."))
    person.git("stash")
    return "in a stash"


def keep_staged(person: Person) -> str:
    person.git("add", SKILL)
    person.write(SKILL, TEXT)
    return "in the index"


def commit_on_a_branch(person: Person) -> str:
    person.git("switch", "--quiet", "--create", "side/one")
    person.commit("mine")
    person.commit("more", {"README.md": "more\n"})
    person.git("switch", "--quiet", "main")
    return "on the branch side/one"


def commit_reworded_on_a_branch(person: Person) -> str:
    person.write(SKILL, person.skill.read_text().replace(DRY, "- Always dry run first."))
    return commit_on_a_branch(person)


def push_and_delete_the_branch(person: Person) -> str:
    commit_on_a_branch(person)
    person.git("init", "--quiet", "--bare", "../hub.git")
    person.git("remote", "add", "origin", "../hub.git")
    person.git("push", "--quiet", "origin", "side/one")
    person.git("branch", "-D", "side/one")
    return "on the branch origin/side/one"


def take_to_another_work_tree(person: Person) -> str:
    person.git("worktree", "add", "--quiet", "../beside")
    person.git("stash")
    Person(person.root.parent / "beside").git("stash", "pop")
    return f"in the work tree {person.root.parent / 'beside'}"


def autostash_in_a_rebase(person: Person) -> str:
    person.git("commit", "--quiet", "--allow-empty", "-m", "empty")
    person.git("rebase", "--quiet", "--autostash", "--exec", "false", "HEAD~1", check=False)
    return "in git's own files during a rebase"


PLACES: list[Callable[[Person], str]] = [
    stash,
    stash_below_others,
    stash_what_was_staged,
    stash_reworded,
    keep_staged,
    commit_on_a_branch,
    commit_reworded_on_a_branch,
    push_and_delete_the_branch,
    take_to_another_work_tree,
    autostash_in_a_rebase,
]


@pytest.mark.parametrize("put_away", PLACES, ids=lambda way: way.__name__)
def test_lines_that_are_put_away_stay_accepted(written: ProposalLife, put_away: Callable[[Person], str]) -> None:
    place = put_away(written.person)
    assert DRY not in written.person.skill.read_text()
    assert written.observe() == ("accepted", f"{WRITTEN}; now only {place}")
    assert written.observe("p2")[0] == "open"
    assert written.get().landed == ""


def test_a_stash_is_popped_and_committed(written: ProposalLife) -> None:
    stash(written.person)
    written.person.commit("meanwhile", {"README.md": "more\n"})
    written.observe()
    written.person.git("stash", "pop")
    assert written.observe() == ("accepted", WRITTEN)
    commit = written.person.commit("mine")
    assert written.observe() == ("accepted", "you committed it")
    assert written.get().landed == commit


def test_a_side_branch_is_merged(written: ProposalLife) -> None:
    place = commit_on_a_branch(written.person)
    written.observe()
    written.person.git("switch", "--quiet", "side/one")
    assert written.observe() == ("accepted", "you committed it")
    written.person.git("switch", "--quiet", "main")
    assert written.observe() == ("accepted", f"you committed it; now only {place}")
    written.person.git("merge", "--quiet", "side/one")
    assert written.observe() == ("accepted", "you committed it")


def throw_away_in_the_file(person: Person) -> None:
    person.git("checkout", "--", SKILL)


def switch_without_it(person: Person) -> None:
    person.git("branch", "other")
    person.git("switch", "--quiet", "--discard-changes", "other")


def drop_the_stash(person: Person) -> None:
    stash_below_others(person)
    person.git("stash", "drop", "stash@{1}")


def delete_the_branch(person: Person) -> None:
    commit_on_a_branch(person)
    person.git("branch", "-D", "side/one")


def revert_on_the_branch(person: Person) -> None:
    commit_on_a_branch(person)
    person.git("switch", "--quiet", "side/one")
    person.git("revert", "--no-edit", "HEAD~1")
    person.git("switch", "--quiet", "main")


@pytest.mark.parametrize(
    "throw_away",
    [throw_away_in_the_file, switch_without_it, drop_the_stash, delete_the_branch, revert_on_the_branch],
    ids=lambda way: way.__name__,
)
def test_lines_that_are_thrown_away_are_proposed_again_at_once_and_once(
    written: ProposalLife, throw_away: Callable[[Person], None]
) -> None:
    throw_away(written.person)
    assert written.observe() == ("open", DISCARDED)
    assert written.observe("p2") == ("open", "")
    assert DRY in written.person.show(ref="skilld/staging")
    assert written.store.proposals.missing_since("p1") == "", "no clock runs towards a rejection"
    written.accept()
    assert written.observe() == ("accepted", "")
    assert written.person.skill.read_text() == TEXT.replace("- Tag", f"{DRY}\n- Tag")


def test_what_was_thrown_away_waits_for_a_free_staging_branch(written: ProposalLife) -> None:
    stash(written.person)
    written.person.git("switch", "--quiet", "skilld/staging")
    written.person.git("stash", "drop")
    state, note = written.observe()
    assert (state, note.partition(":")[0]) == ("open", "on hold")
    written.person.git("switch", "--quiet", "main")
    assert written.observe() == ("open", "")
    assert DRY in written.person.show(ref="skilld/staging")


def test_the_daemon_looks_when_a_stash_is_dropped(written: ProposalLife) -> None:
    stash_below_others(written.person)
    written.observe()
    now, observing = time.time(), PollSchedule(written.store)
    assert [observing.job(now) is None, observing.job(now + 5) is None] == [False, True]
    written.person.git("stash", "drop", "stash@{1}")
    assert observing.job(now + 10) is not None


def proposes_again(life: ProposalLife) -> bool:
    """Whether the same, said in other words in a later session, is proposed again."""
    said = Update(1, "", "Dry run first.", "", Kind.PREFERENCE, 1, "please dry run first", 0.9)
    decided = past_decisions(not_to_repeat(life.store))
    return decision_against(said, str(life.person.skill), "another session", decided) is None


@pytest.mark.parametrize("put_away", [stash, commit_on_a_branch], ids=lambda way: way.__name__)
def test_the_same_is_not_proposed_again_while_it_is_put_away(
    life: ProposalLife, put_away: Callable[[Person], str]
) -> None:
    life.offer()
    life.accept(worktree=True)
    assert proposes_again(life), "the file says it, which is another check"
    put_away(life.person)
    life.observe()
    assert not proposes_again(life)


def test_the_same_is_not_proposed_again_while_it_is_committed_on_another_branch(life: ProposalLife) -> None:
    life.offer()
    life.person.git("switch", "--quiet", "--create", "side/two")
    life.accept()
    life.person.git("switch", "--quiet", "main")
    assert life.observe() == ("accepted", "committed; now only on the branch side/two")
    assert not proposes_again(life)
    life.person.git("switch", "--quiet", "side/two")
    assert life.observe() == ("accepted", "")
    assert proposes_again(life), "the file says it, which is another check"


def test_a_written_proposal_is_taken_out_of_the_file_again(written: ProposalLife) -> None:
    written.person.write(SKILL, written.person.skill.read_text() + "My own.\n")
    assert written.revert().lines[1] == f"No longer in {written.person.skill}. To undo it: skilld accept p1"
    assert written.person.skill.read_text() == f"{TEXT}My own.\n"
    assert written.observe() == ("reverted", "")
    written.person.git("checkout", SKILL)
    written.accept(worktree=True)
    assert written.observe() == ("accepted", WRITTEN)


def test_a_written_line_that_was_reworded_is_not_taken_out(written: ProposalLife) -> None:
    text = written.person.skill.read_text().replace(DRY, "- Dry run first, twice.")
    written.person.write(SKILL, text)
    with pytest.raises(RefusedError) as refused:
        written.revert()
    assert refused.value.remedy == f"Edit {written.person.skill} yourself; to see the change: skilld show p1"
    assert written.person.skill.read_text() == text


def test_a_written_proposal_whose_commit_is_gone_is_taken_out(written: ProposalLife) -> None:
    written.person.git("update-ref", "-d", "refs/skilld/proposals/p1")
    written.person.git("branch", "--quiet", "-D", "skilld/staging")
    written.person.git("reflog", "expire", "--expire=now", "--all")
    written.person.git("gc", "--quiet", "--prune=now")
    written.revert()
    assert written.person.skill.read_text() == TEXT


def test_undo_takes_a_written_proposal_out_of_the_file_and_opens_it(written: ProposalLife) -> None:
    assert written.undo().lines == ("p1 is open again: say p1",)
    assert written.person.skill.read_text() == TEXT
    assert written.person.git("status", "--porcelain") == ""
    assert written.observe() == ("open", "")


def test_taking_out_what_is_in_a_stash_says_so(written: ProposalLife) -> None:
    stash(written.person)
    written.observe()
    assert written.revert().lines[1].startswith(f"No longer in {written.person.skill}, but still in a stash.")
    assert written.observe() == ("reverted", "")
    written.person.git("stash", "pop")
    written.person.commit("after all")
    assert written.observe()[0] == "accepted"


def test_a_written_new_skill_is_stashed_taken_out_and_written_again(life: ProposalLife, tmp_path: Path) -> None:
    assert tmp_path
    path = life.person.root / "skills/notes/SKILL.md"
    text = "---\nname: notes\ndescription: Use when writing notes for a release.\n---\n\n# Notes\n\n- Be brief.\n"
    life.propose("n1", Operation(Op.CREATE, "", text), path=path)
    life.accept("n1", worktree=True)
    life.person.git("stash", "--include-untracked")
    assert not path.exists()
    assert life.observe("n1") == ("accepted", f"{WRITTEN}; now only in a stash")
    life.person.git("stash", "pop")
    path.write_text(f"{text}- Mine.\n")
    with pytest.raises(RefusedError, match="has changed since it was created") as error:
        life.revert("n1")
    assert error.value.remedy == f"Delete {path}"
    path.write_text(text)
    life.revert("n1")
    assert not path.parent.exists()
    assert life.observe("n1")[0] == "reverted"
    life.accept("n1", worktree=True)
    path.unlink()
    assert life.observe("n1")[0] == "open"


def test_an_accepted_one_in_a_stash_can_be_committed_all_the_same(written: ProposalLife) -> None:
    stash(written.person)
    written.observe()
    assert written.accept().lines[0] == "p1 accepted: say p1"
    assert written.observe() == ("accepted", "")
    written.person.git("stash", "pop")
    assert written.person.skill.read_text().count(DRY) == 1
    assert written.get().state is State.ACCEPTED


@pytest.mark.parametrize("deleted", [False, True])
def test_its_side_edits_are_taken_out_too(life: ProposalLife, *, deleted: bool) -> None:
    other = life.person.root / "NOTES.md"
    life.person.commit("notes", {"NOTES.md": "# Notes\n\n- Never dry run.\n"})
    side = SideEdit(str(other), (Operation(Op.DELETE, "- Never dry run.", ""),), "NOTES.md")
    life.propose("p1", Operation(Op.INSERT_AFTER, "- Run the tests.", DRY), also=(side,))
    life.accept(worktree=True)
    assert other.read_text() == "# Notes\n\n"
    if deleted:
        life.person.skill.unlink()
    life.revert()
    assert other.read_text() == "# Notes\n\n- Never dry run.\n"
    assert life.person.skill.exists() is not deleted


def test_lines_that_only_the_published_staging_branch_has_are_thrown_away(life: ProposalLife) -> None:
    life.offer()
    life.person.git("init", "--quiet", "--bare", "../hub.git")
    life.person.git("remote", "add", "origin", "../hub.git")
    life.person.git("push", "--quiet", "origin", "skilld/staging")
    life.accept(worktree=True)
    assert life.observe() == ("accepted", WRITTEN)
    life.person.git("checkout", "--", SKILL)
    assert life.observe() == ("open", DISCARDED)
