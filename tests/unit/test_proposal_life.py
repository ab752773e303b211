"""What a proposal goes through: undone and accepted again, reverted elsewhere, moved, reworded, its project gone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial

import pytest

from skilld.errors import RefusedError
from skilld.proposals.amend import accept_edited, restore
from skilld.proposals.explain import read_versions
from skilld.types import Op, Operation, State
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT

# Undoing an acceptance


def accept_with_own_words(life: ProposalLife) -> None:
    found = read_versions(life.get())
    assert found is not None
    shown = found[1].decode()
    accept_edited(life.store, life.get(), shown.replace(DRY, "- Dry run, then ask."), shown)


def test_undo_after_the_persons_own_words_opens_it_again(life: ProposalLife) -> None:
    life.offer()
    accept_with_own_words(life)
    life.undo()
    assert life.observe()[0] == "open"
    assert life.person.skill.read_text() == TEXT


def test_a_line_beside_another_proposals_is_reworded_along_with_ones_own(life: ProposalLife) -> None:
    """The person edited the line above, too: between the two is the line of another open proposal."""
    other, own = "- Push the branch first.", "- Name the release."
    life.offer("p2", "- Run the tests.", other)
    life.offer("p1", "- Run the tests.", own)
    found = read_versions(life.get())
    assert found is not None
    assert f"{other}\n{own}\n" in found[1].decode()
    opened = found[1].decode().replace(f"{other}\n", "")
    text = opened.replace("- Run the tests.", "- Run all tests.").replace(own, "- Name every release.")
    accept_edited(life.store, life.get(), text, opened)
    written = life.person.skill.read_text()
    assert "- Run all tests.\n- Name every release.\n" in written.replace(f"{other}\n", "")


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
    other = life.hub()
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
    other = life.hub()
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
    other = life.hub()
    other.write(SKILL, TEXT.replace("- Tag", f"{DRY}\n- Tag"))
    other.git("commit", "--quiet", "--all", "-m", "Say it\n\nSkilld-Proposal: p1")
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet")
    assert life.observe() == ("accepted", "committed; now only on the branch origin/main")
    other.git("revert", "--no-edit", "HEAD")
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet")
    assert life.observe()[0] == "reverted"


# Taking out what was edited since


TESTING = "\n## Testing\n\n- Run all of them."
END = TEXT.rstrip("\n") + "\n"


def with_section(life: ProposalLife) -> None:
    life.propose("p1", Operation(Op.INSERT_AFTER, "Keep the changelog short.", TESTING))
    life.accept()
    assert life.person.skill.read_text() == f"{END}{TESTING}\n"


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ("- Mine.\n", "\n## Testing\n\n- Mine.\n"),
        ("\nMine, in a paragraph.\n", "\n## Testing\n\nMine, in a paragraph.\n"),
        ("\n### Slow ones\n\n- At night.\n", "\n## Testing\n\n### Slow ones\n\n- At night.\n"),
        ("\n## Mine\n\n- Own.\n", "\n## Mine\n\n- Own.\n"),
    ],
)
def test_a_heading_stays_while_anything_else_is_below_it(life: ProposalLife, more: str, left: str) -> None:
    with_section(life)
    life.person.commit("mine", {SKILL: life.person.skill.read_text() + more})
    life.revert()
    text = life.person.skill.read_text()
    assert text.replace("\n\n\n", "\n\n") == f"{END}{left}"
    assert life.observe()[0] == "reverted"
    life.accept()
    assert life.observe()[0] == "accepted"
    assert life.person.skill.read_text().count("## Testing") == 1
    life.revert()
    assert life.person.skill.read_text() == text


def test_a_heading_stays_above_the_line_of_another_proposal(life: ProposalLife) -> None:
    with_section(life)
    life.offer("p2", "- Run all of them.", "- Run them twice.")
    life.accept("p2")
    life.revert()
    assert life.person.skill.read_text() == f"{END}\n## Testing\n\n- Run them twice.\n"
    assert (life.observe()[0], life.observe("p2")[0]) == ("reverted", "accepted")
    life.accept()
    assert sorted(life.person.skill.read_text().splitlines()[-2:]) == ["- Run all of them.", "- Run them twice."]
    assert life.person.skill.read_text().count("## Testing") == 1


def test_a_written_section_is_taken_out_below_the_same_heading(life: ProposalLife) -> None:
    life.propose("p1", Operation(Op.INSERT_AFTER, "Keep the changelog short.", TESTING))
    life.accept(worktree=True)
    life.person.write(SKILL, life.person.skill.read_text() + "- Mine.\n")
    life.revert()
    assert life.person.skill.read_text() == f"{END}\n## Testing\n\n- Mine.\n"
    assert life.observe()[0] == "reverted"


def test_a_heading_that_alone_is_left_by_hand_keeps_nothing_accepted(life: ProposalLife) -> None:
    with_section(life)
    life.person.commit("mine", {SKILL: f"{END}\n## Testing\n\n- Mine.\n"})
    assert life.observe()[0] == "reverted"


def test_a_squashed_section_is_taken_out_and_stays_out(life: ProposalLife) -> None:
    with_section(life)
    life.person.write(SKILL, life.person.skill.read_text() + "- Mine.\n")
    life.person.write("README.md", "more\n")
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe()
    squashed = life.person.git("rev-parse", "HEAD")
    life.revert()
    assert life.person.skill.read_text() == f"{END}\n## Testing\n\n- Mine.\n"
    message = life.person.git("log", "-1", "--format=%b")
    assert message == f"It removes what commit {squashed} added for this proposal.\n\nSkilld-Reverts: p1"
    assert life.observe()[0] == "reverted"


def test_a_squash_that_names_nothing_is_found_by_its_lines(life: ProposalLife) -> None:
    life.offer()
    life.person.git("merge", "--quiet", "--squash", "skilld/staging")
    life.person.commit("Squashed", {"README.md": "more\n"})
    squashed = life.person.git("rev-parse", "HEAD")
    life.observe()
    life.revert()
    assert f"It removes what commit {squashed} added for this proposal." in life.person.git("log", "-1", "--format=%b")


def test_of_a_squash_of_two_only_one_is_reverted(life: ProposalLife) -> None:
    """The message names the commit that the branch has; the other one that it brought in stays."""
    life.offer("p1", "- Run the tests.", "- Run the linter before each commit.")
    life.offer("p2", "- Push the tag.", "- Ask before you publish.")
    life.person.git("merge", "--quiet", "--squash", "skilld/staging")
    life.person.git("commit", "--quiet", "--no-edit")
    life.observe()
    squashed = life.person.git("rev-parse", "HEAD")
    life.revert()
    assert squashed in life.person.git("log", "-1", "--format=%b")
    assert (life.observe()[0], life.observe("p2")[0]) == ("reverted", "accepted")
    life.person.git("revert", "--no-edit", "HEAD")
    assert (life.observe()[0], life.observe("p2")[0]) == ("accepted", "accepted")


def test_a_reworded_line_is_shown_and_removed_by_hand(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.person.commit("mine", {SKILL: life.person.skill.read_text().replace(DRY, "- Always do a dry run first.")})
    with pytest.raises(RefusedError) as error:
        life.revert()
    assert error.value.cause == (
        f"\u201c{DRY}\u201d was reworded: line 11 of {SKILL} now reads \u201c- Always do a dry run first.\u201d"
    )
    see = "to see the change: skilld show p1"
    assert error.value.remedy == f"Edit {life.person.skill} yourself and commit that; {see}"
    assert life.observe() == ("accepted", "changed since")
    life.person.commit("mine, too", {SKILL: TEXT})
    assert life.observe()[0] == "reverted"


def test_a_line_that_is_there_twice_is_shown(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.person.commit("mine", {SKILL: life.person.skill.read_text().replace("Keep", f"{DRY}\nKeep")})
    life.person.commit("moved", {SKILL: life.person.skill.read_text().replace("- Tag", "- Also.\n- Tag")})
    life.person.commit("x", {SKILL: life.person.skill.read_text().replace("- Run the tests.\n- Dry", "- Dry")})
    with pytest.raises(RefusedError) as error:
        life.revert()
    assert error.value.cause == f"\u201c{DRY}\u201d is in {SKILL} more than once: lines 10, 17"


NOTES = "---\nname: notes\ndescription: Use when writing notes for a release.\n---\n\n# Notes\n\n- One.\n- Two.\n"


def run(life: ProposalLife, remedy: str) -> None:
    """Type a remedy's command: git in a shell, skilld by its functions."""
    command = remedy.partition(": ")[2]
    if command.startswith("skilld revert "):
        for name in command.removeprefix("skilld revert ").split():
            life.revert(name)
    else:
        subprocess.run(command, shell=True, check=True, cwd="/")  # noqa: S602 - the text of the remedy itself


@pytest.mark.parametrize("edited", ["by proposals", "by proposals, one reverted", "by hand", "by both"])
def test_a_new_skill_that_was_changed_since_is_removed_as_the_message_says(life: ProposalLife, edited: str) -> None:
    path = life.person.root / "skills/notes/SKILL.md"
    life.propose("n1", Operation(Op.CREATE, "", NOTES), path=path)
    life.accept("n1")
    if edited != "by hand":
        for name, anchor in (("p2", "- One."), ("p3", "- Two.")):
            life.propose(name, Operation(Op.INSERT_AFTER, anchor, f"- More of {name}."), path=path)
            life.accept(name)
    if edited == "by proposals, one reverted":
        life.revert("p3")
    if edited in {"by hand", "by both"}:
        life.person.commit("mine", {"skills/notes/SKILL.md": path.read_text().replace("- Two", "- Mine.\n- Two")})
    with pytest.raises(RefusedError) as error:
        life.revert("n1")
    named = {"by proposals": ", by p3, p2", "by proposals, one reverted": ", by p2"}.get(edited, "")
    assert error.value.cause == f"skills/notes/SKILL.md has changed since it was created{named}"
    run(life, error.value.remedy)
    assert not path.exists()
    assert life.person.git("status", "--porcelain") == ""
    assert life.observe("n1")[0] == "reverted"
    life.accept("n1")
    assert path.read_text() == NOTES
    assert life.observe("n1")[0] == "accepted"


# A project whose folder is gone


def held_and_others(life: ProposalLife) -> None:
    """Leave p1 rejected, p2 open, p3 on hold, p4 written to its file, p5 dropped."""
    for name, anchor in (("p1", "- Run the tests."), ("p2", "- Push the tag."), ("p5", "Keep the changelog short.")):
        life.offer(name, anchor, f"- Say {name}.")
    life.offer("p4", "- Tag the commit.", "- Say p4.")
    life.reject("p1")
    life.accept("p4", worktree=True)
    life.person.git("branch", "-f", "skilld/staging", life.get("p2").commit)
    life.observe("p5")
    life.person.git("commit", "--quiet", "--all", "-m", "mine")
    life.person.git("switch", "--quiet", "skilld/staging")
    life.offer("p3", "- Run the tests.", "- Say p3.")
    life.person.git("switch", "--quiet", "main")
    states = {name: life.get(name).state.value for name in ("p1", "p2", "p3", "p4", "p5")}
    assert states == {"p1": "rejected", "p2": "open", "p3": "open", "p4": "accepted", "p5": "dropped"}
    assert life.get("p3").commit == ""


def refusal(decide: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(RefusedError) as error:
        decide()
    return error.value.cause, error.value.remedy


def test_without_its_folder_each_proposal_says_so_and_is_back_with_it(life: ProposalLife) -> None:
    held_and_others(life)
    root = life.person.root
    hidden = root.parent / "far" / "away"  # not found there, as on a disk that is not mounted
    hidden.mkdir(parents=True)
    away = root.rename(hidden / "work")
    gone = "its repository is gone"
    for name, state in (("p1", "rejected"), ("p2", "stale"), ("p3", "stale"), ("p4", "accepted"), ("p5", "dropped")):
        assert life.observe(name)[0] == state
    assert life.get("p2").note == life.get("p3").note == gone
    back = "Move it back there, then: skilld {} {}. To discard it: skilld reject {}"
    for name in ("p2", "p3", "p5"):
        for worktree in (False, True):
            cause, remedy = refusal(partial(life.accept, name, worktree=worktree))
            assert (cause, remedy) == (f"{root} does not exist", back.format("accept", name, name))
    assert refusal(lambda: restore(life.store, life.get("p1")))[1] == "Move it back there, then: skilld restore p1"
    assert refusal(lambda: restore(life.store, life.get("p5")))[1] == back.format("restore", "p5", "p5")
    assert refusal(lambda: life.revert("p4"))[1] == "Move it back there, then: skilld revert p4"
    away.rename(root)
    for name in ("p2", "p3"):
        assert life.observe(name) == ("open", "its repository is back")
        assert f"- Say {name}." in life.person.show(ref="skilld/staging")
    for name in ("p1", "p5"):
        restore(life.store, life.get(name))
    for name in ("p1", "p2", "p3", "p5"):
        life.accept(name)
        assert life.observe(name)[0] == "accepted"
        assert life.person.skill.read_text().count(f"- Say {name}.") == 1


@pytest.mark.parametrize("name", ["p2", "p3", "p5"])
def test_in_a_deleted_folder_it_can_be_discarded_without_a_warning(life: ProposalLife, name: str) -> None:
    held_and_others(life)
    shutil.rmtree(life.person.root)
    life.observe(name)
    report = life.reject(name)
    assert (report.lines[0], report.warnings) == (f"{name} rejected: say {name}", ())
    assert life.observe(name)[0] == "rejected"
    assert life.reject("p1").warnings == ()


def test_another_repository_at_its_place_is_not_its_own(life: ProposalLife) -> None:
    held_and_others(life)
    shutil.rmtree(life.person.root)
    life.person.root.mkdir()
    assert life.observe("p3") == ("stale", "its repository is gone")
    assert life.observe("p2")[0] == "stale"
    life.reject("p3")
    life.reject("p2")


# A place between lines of other proposals


def between_others(life: ProposalLife) -> None:
    """Propose p3 while the staging branch is checked out, between the lines of p1 and p2."""
    life.offer("p1")
    life.offer("p2", "- Run the tests.", "- Lint it.")
    life.person.git("switch", "--quiet", "skilld/staging")
    life.offer("p3", DRY, "- Third.")
    life.person.git("switch", "--quiet", "main")
    life.observe("p3")


@pytest.mark.parametrize("decided", [(), ("p1",), ("p1", "p2"), ("p2", "p1")], ids="-".join)
@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_it_is_not_moved_away_when_nobody_edited_the_file(
    life: ProposalLife, decided: tuple[str, ...], verb: str
) -> None:
    between_others(life)
    for name in decided:
        getattr(life, verb)(name)
    assert life.observe("p3") == ("open", "")
    assert "- Third.\n" in life.person.show(ref="skilld/staging").partition("- Tag the commit.")[0]
    life.accept("p3")
    text = life.person.skill.read_text()
    above, _, below = text.partition("- Third.\n")
    assert below.startswith(("- Tag the commit.", "- Lint it.\n- Tag")), text
    assert above.endswith(("- Run the tests.\n", f"{DRY}\n", "- Lint it.\n")), text
    assert life.observe("p3") == ("accepted", "")


def test_where_the_person_rewrote_the_lines_around_it_the_note_says_so(life: ProposalLife) -> None:
    life.offer()
    text = TEXT.replace("- Run the tests.", "- Everything green?").replace("- Tag the commit.", "- Sign and tag.")
    life.person.commit("mine", {SKILL: text})
    assert life.observe() == (
        "open",
        "moved to the end of its section, because the lines around it have changed",
    )


# Lines of the person in the commit of a proposal, and branches that are not checked out


def amend_with_own_lines(life: ProposalLife) -> str:
    """Accept p1, type two lines and amend its commit with them; return the skill without the proposal."""
    life.offer()
    life.accept()
    own = TEXT.replace("- Push", "- My own.\n- Push") + "- And this.\n"
    life.person.write(SKILL, own.replace("- Tag", f"{DRY}\n- Tag"))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe()
    return own


def test_revert_leaves_what_the_person_amended_its_commit_with(life: ProposalLife) -> None:
    own = amend_with_own_lines(life)
    life.revert()
    assert life.person.skill.read_text() == own
    assert life.observe()[0] == "reverted"
    life.accept()
    assert life.person.skill.read_text() == own.replace("- Tag", f"{DRY}\n- Tag")


def test_undo_leaves_what_the_person_picked_with_it(life: ProposalLife) -> None:
    """The commit is one that skilld found, so it is HEAD itself."""
    life.offer()
    life.person.git("cherry-pick", life.get().commit)
    life.person.write(SKILL, life.person.skill.read_text() + "- And this.\n")
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert life.observe()[0] == "accepted"
    assert life.get().landed == life.person.tip()
    told = life.undo().lines
    assert told[1] == "Its commit was reverted, not removed, because it contains lines of yours."
    assert life.person.skill.read_text() == f"{TEXT}- And this.\n"
    assert life.observe()[0] == "open"


def test_a_new_skill_amended_with_own_lines_is_not_removed(life: ProposalLife) -> None:
    path = life.person.root / "skills/notes/SKILL.md"
    life.propose("n1", Operation(Op.CREATE, "", NOTES), path=path)
    life.accept("n1")
    path.write_text(f"{NOTES}- My own.\n")
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe("n1")
    with pytest.raises(RefusedError, match="has changed since it was created"):
        life.revert("n1")
    assert "- My own." in path.read_text()


def test_reworded_in_its_commit_it_is_reverted_as_reworded(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.person.write(SKILL, life.person.skill.read_text().replace(DRY, "- Always do a dry run first."))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe()
    life.revert()
    assert life.person.skill.read_text() == TEXT


def test_accepted_and_reverted_on_a_branch_that_was_left_it_is_reverted(life: ProposalLife) -> None:
    life.offer()
    life.person.git("switch", "--quiet", "--create", "feature")
    life.accept()
    life.person.git("revert", "--no-edit", "HEAD")
    life.person.git("switch", "--quiet", "main")
    assert life.observe()[0] == "reverted"
    life.accept()
    assert life.observe() == ("accepted", "")


# What the file says already, elsewhere


@pytest.mark.parametrize("worktree", [False, True])
def test_a_line_that_the_person_has_elsewhere_is_not_doubled(life: ProposalLife, *, worktree: bool) -> None:
    life.propose(
        "p1",
        Operation(Op.INSERT_AFTER, "- Run the tests.", DRY),
        Operation(Op.INSERT_AFTER, "Keep the changelog short.", TESTING),
    )
    life.person.commit("mine", {SKILL: TEXT.replace("- Push the tag.", f"- Push the tag.\n- My own.\n{DRY}")})
    life.accept(worktree=worktree)
    text = life.person.skill.read_text()
    assert (text.count(DRY), text.count("- Run all of them."), text.count("- My own.")) == (1, 1, 1)
    if worktree:
        life.person.commit("taken")
    assert life.observe()[0] == "accepted"


def test_a_line_that_the_person_has_far_away_is_not_doubled_by_git(life: ProposalLife) -> None:
    life.propose(
        "p1",
        Operation(Op.INSERT_AFTER, "- Run the tests.", DRY),
        Operation(Op.INSERT_AFTER, "- Push the tag.", "- Write the news."),
    )
    life.person.commit("mine", {SKILL: f"{TEXT}\n## Mine\n\n{DRY}\n"})
    life.accept()
    text = life.person.skill.read_text()
    assert (text.count(DRY), text.count("- Write the news.")) == (1, 1)
    assert life.observe()[0] == "accepted"


def test_after_a_mixed_reset_and_a_commit_it_is_not_doubled(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.person.git("reset", "--quiet", "--mixed", "HEAD~1")
    life.observe()
    life.person.commit("mine", {SKILL: life.person.skill.read_text().replace(DRY, f"- My own.\n{DRY}")})
    life.accept()
    assert life.person.skill.read_text() == TEXT.replace("- Tag", f"- My own.\n{DRY}\n- Tag")


def test_what_a_rebuild_found_in_the_file_is_missed_when_its_commit_is_gone(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    life.person.commit("mine", {SKILL: TEXT.replace("- Tag", f"{DRY}\n- Tag")})
    life.reject("p2")
    assert life.get().state is State.ACCEPTED, "the branch was rebuilt"
    life.observe()
    assert life.get().landed == life.person.tip()
    life.person.git("reset", "--quiet", "--hard", "HEAD~1")
    assert life.observe() == ("dropped", "accepted, but its commit was later removed from its branch")


# Similar lines of another proposal


def similar(life: ProposalLife) -> None:
    life.offer("p1", "- Run the tests.", "- Run the linter before each commit.")
    life.offer("p2", "- Push the tag.", "- Run the formatter before each commit.")


def test_a_similar_line_of_another_proposal_keeps_nothing_accepted(life: ProposalLife) -> None:
    similar(life)
    for name in ("p1", "p2"):
        life.accept(name)
    life.person.commit(
        "no more", {SKILL: life.person.skill.read_text().replace("- Run the linter", "- Drop the linter")}
    )
    assert life.observe() == ("accepted", "changed since"), "this is a rewording"
    life.person.commit("gone", {SKILL: TEXT.replace("tag.\n", "tag.\n- Run the formatter before each commit.\n")})
    assert (life.observe()[0], life.observe("p2")[0]) == ("reverted", "accepted")


def test_what_was_written_beside_a_similar_line_is_missed_when_it_is_thrown_away(life: ProposalLife) -> None:
    similar(life)
    life.accept("p2")
    life.accept("p1", worktree=True)
    life.person.git("checkout", SKILL)
    assert life.observe("p1")[0] == "open"
    assert life.observe("p2")[0] == "accepted"


def test_accepting_on_another_branch_brings_none_of_the_persons_lines(life: ProposalLife) -> None:
    """The staging branch is based on the commit that they amended, which names the proposal too."""
    life.person.git("branch", "other")
    amend_with_own_lines(life)
    life.offer("p2", "- Push the tag.", "- Write the news.")
    life.person.git("switch", "--quiet", "other")
    life.accept()
    assert life.person.skill.read_text() == TEXT.replace("- Tag", f"{DRY}\n- Tag")


def test_a_heading_that_was_put_above_text_goes_again(life: ProposalLife) -> None:
    life.propose("p1", Operation(Op.INSERT_AFTER, "## Notes", "\n## Testing\n\n- Run all of them."))
    life.accept()
    life.revert()
    assert life.person.skill.read_text() == TEXT


@pytest.mark.parametrize("kind", ["heading", "number"])
def test_what_skilld_fits_to_the_branch_is_not_the_persons_edit(life: ProposalLife, kind: str) -> None:
    """The first proposal brings the heading, or the step before, on the staging branch; the branch has neither."""
    steps = "# Release\n\n1. Run the tests.\n2. Push the tag.\n"
    if kind == "heading":
        anchor, one, other = "Keep the changelog short.", "\n## More\n\n- Sign it.", "\n## More\n\n- Lint it."
    else:
        life.person.commit("Steps.", {SKILL: steps})
        anchor, one, other = "1. Run the tests.", "2. Sign it.", "2. Lint it."
    life.offer("p1", anchor, one)
    life.offer("p2", anchor, other)
    life.accept("p2")
    assert life.observe("p2") == ("accepted", "")
    life.accept("p1")
    assert (life.observe("p1"), life.observe("p2")) == (("accepted", ""), ("accepted", ""))
    life.revert("p1")
    assert life.observe("p2") == ("accepted", "")
    life.person.git("reset", "--quiet", "--hard", "HEAD~2")
    life.person.skill.write_text(life.person.skill.read_text().replace("Lint it.", "Lint it with ruff."))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert life.observe("p2") == ("accepted", "edited by you")
