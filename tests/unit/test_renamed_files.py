"""A file that git says was renamed: its proposals follow it, whatever state they are in."""

from __future__ import annotations

import os

import pytest

from skilld.cli.why import _proposals_behind
from skilld.errors import RefusedError
from skilld.git.repo import open_repo
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.amend import restore
from skilld.proposals.explain import find_origin
from skilld.proposals.file_history import read_history
from skilld.types import Op, Operation, TargetKind
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT, Person

NEW = "notes/AGENTS.md"
NEXT = "- Write the news."


def rename(person: Person, old: str = SKILL, new: str = NEW) -> None:
    (person.root / new).parent.mkdir(parents=True, exist_ok=True)
    person.git("mv", old, new)
    person.commit(f"rename {old}")


def test_open_proposals_follow_and_each_can_be_accepted(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", NEXT)
    life.offer("p3", "- Tag the commit.", "- Sign it.")
    rename(life.person)
    assert life.observe() == ("open", "")
    assert (life.get().relpath, life.get().path) == (NEW, str(life.person.root / NEW))
    assert life.person.files_changed("main", STAGING_BRANCH) == [NEW]
    life.accept()
    assert [life.observe(name)[0] for name in ("p1", "p2", "p3")] == ["accepted", "open", "open"]
    life.person.git("cherry-pick", life.get("p2").commit)
    life.accept("p3")
    assert [life.observe(name)[0] for name in ("p1", "p2", "p3")] == ["accepted"] * 3
    text = life.person.show(NEW)
    assert all(line in text for line in (DRY, NEXT, "- Sign it."))
    life.revert()
    assert DRY not in life.person.show(NEW)
    assert life.observe()[0] == "reverted"


def test_a_file_renamed_twice_and_back_is_followed(life: ProposalLife) -> None:
    life.offer()
    rename(life.person)
    rename(life.person, NEW, "third.md")
    assert life.observe() == ("open", "")
    assert life.get().relpath == "third.md"
    rename(life.person, "third.md", SKILL)
    assert life.observe() == ("open", "")
    assert life.get().relpath == SKILL
    life.accept()
    assert DRY in life.person.show()


def test_what_is_proposed_before_git_is_read_again_ends_no_other_one(life: ProposalLife) -> None:
    life.offer()
    rename(life.person)
    life.propose("p2", Operation(Op.INSERT_AFTER, "- Push the tag.", NEXT), path=life.person.root / NEW)
    assert life.get().state.value == "open"
    assert (life.observe(), life.get().relpath) == (("open", ""), NEW)
    assert life.person.files_changed("main", STAGING_BRANCH) == [NEW]
    life.accept()
    life.accept("p2")
    assert all(line in life.person.show(NEW) for line in (DRY, NEXT))


@pytest.mark.parametrize("left", ["link", "import"])
def test_a_file_that_became_a_link_or_an_import_was_renamed(life: ProposalLife, left: str) -> None:
    life.offer()
    life.person.git("mv", SKILL, "AGENTS.md")
    if left == "link":
        life.person.skill.symlink_to("../../AGENTS.md")
    else:
        life.person.write(SKILL, "@AGENTS.md\n")
    life.person.commit("one file for all agents")
    assert life.observe() == ("open", "")
    life.accept()
    assert DRY in life.person.show("AGENTS.md")
    assert DRY not in life.person.show()


def test_a_file_that_became_a_script_is_not_followed(life: ProposalLife) -> None:
    life.offer()
    rename(life.person, SKILL, "run.sh")
    assert (life.observe()[0], life.get().relpath) == ("open", SKILL)
    with pytest.raises(RefusedError, match="is not in the work tree"):
        life.accept()
    assert DRY not in life.person.show("run.sh")


def test_a_copy_is_no_rename(life: ProposalLife) -> None:
    life.offer()
    life.person.commit("copy", {"copy.md": TEXT, SKILL: f"{TEXT}\nMore.\n"})
    assert life.observe() == ("open", "")
    assert life.get().relpath == SKILL


def test_on_a_branch_that_renamed_it_one_can_be_accepted_while_main_has_not(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", NEXT)
    life.person.git("switch", "--quiet", "--create", "side")
    rename(life.person)
    assert life.observe() == ("open", "")
    assert life.get().relpath == SKILL
    life.accept()
    assert DRY in life.person.show(NEW)
    assert [life.observe(name)[0] for name in ("p1", "p2")] == ["accepted", "open"]
    life.person.git("switch", "--quiet", "main")
    assert life.observe("p2") == ("open", "")
    life.accept("p2")
    assert NEXT in life.person.show()


def test_a_rename_that_was_merged_is_followed(life: ProposalLife) -> None:
    life.offer()
    life.person.git("switch", "--quiet", "--create", "side")
    rename(life.person)
    life.person.git("switch", "--quiet", "main")
    life.person.commit("mine", {SKILL: life.person.show().replace("- Tag the commit.", "- Tag it.")})
    life.person.git("merge", "--quiet", "--no-edit", "side")
    assert (life.observe(), life.get().relpath) == (("open", ""), NEW)
    life.accept()
    assert DRY in life.person.show(NEW)


def test_another_file_at_the_old_path_is_not_the_one_that_was_renamed(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.offer("p2", "- Push the tag.", NEXT)
    rename(life.person)
    life.person.commit("new", {SKILL: "---\nname: release\ndescription: Other\n---\n\n# Other\n\n- Hello.\n"})
    assert (life.observe(), life.get().relpath) == (("accepted", ""), NEW)
    assert (life.observe("p2"), life.get("p2").relpath) == (("open", ""), NEW)


@pytest.mark.parametrize("way", ["reset", "revert"])
def test_a_rename_that_is_undone_is_followed_back(life: ProposalLife, way: str) -> None:
    life.offer()
    life.accept()
    life.offer("p2", "- Push the tag.", NEXT)
    rename(life.person)
    life.observe_all()
    life.person.git(*(("reset", "--quiet", "--hard", "HEAD~1") if way == "reset" else ("revert", "--no-edit", "HEAD")))
    assert (life.observe(), life.get().relpath) == (("accepted", ""), SKILL)
    assert (life.observe("p2"), life.get("p2").relpath) == (("open", ""), SKILL)
    life.accept("p2")
    life.revert()
    assert NEXT in life.person.show()
    assert DRY not in life.person.show()


def test_on_an_old_branch_one_is_accepted_at_the_old_path(life: ProposalLife) -> None:
    life.person.git("branch", "old")
    life.offer()
    rename(life.person)
    life.observe_all()
    life.person.git("switch", "--quiet", "old")
    assert (life.observe(), life.get().relpath) == (("open", ""), NEW)
    life.accept()
    assert DRY in life.person.show()
    life.person.git("switch", "--quiet", "main")
    assert life.observe() == ("accepted", "committed; now only on the branch old")


@pytest.mark.parametrize("way", ["reject", "drop"])
def test_one_that_was_put_away_comes_back_in_the_renamed_file(life: ProposalLife, way: str) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", NEXT)
    if way == "reject":
        life.reject()
    else:
        life.person.git("branch", "--quiet", "-D", STAGING_BRANCH)
        life.observe_all()
    rename(life.person)
    life.observe_all()
    restore(life.store, life.get())
    assert life.observe() == ("open", "")
    life.accept()
    assert DRY in life.person.show(NEW)


def test_odd_names_are_followed(life: ProposalLife) -> None:
    life.offer()
    rename(life.person, SKILL, "Ünï cöde/a b\"c'.md")
    life.person.commit("odd", {"two\nlines": "Text.\n"})
    rename(life.person, "two\nlines", "three\nlines\n")
    assert life.observe() == ("open", "")
    life.accept()
    life.revert()


@pytest.mark.parametrize("name", [b"caf\xe9.md", b"two\nlines.md", b"a\tb.md"])
@pytest.mark.parametrize("moved", ["file", "lines"])
def test_a_name_that_no_proposal_can_have_is_not_followed(life: ProposalLife, name: bytes, moved: str) -> None:
    life.offer()
    there = life.person.root / os.fsdecode(name)
    if moved == "file":
        life.person.skill.rename(there)
    else:
        life.accept()
        life.person.write(SKILL, TEXT)
        there.write_text(f"# More\n\n{DRY}\n")
    life.person.commit("odd")
    assert life.observe()[0] == ("open" if moved == "file" else "reverted")
    assert life.get().relpath == SKILL


@pytest.mark.parametrize("way", ["delete", "sparse"])
def test_a_renamed_file_that_is_not_in_the_work_tree_is_named(life: ProposalLife, way: str) -> None:
    life.offer()
    rename(life.person)
    if way == "delete":
        (life.person.root / NEW).unlink()
    else:
        life.person.git("sparse-checkout", "set", "src")
    with pytest.raises(RefusedError, match=f"{NEW} is not in the work tree"):
        life.accept()


def test_what_is_named_after_its_file_is_so_after_a_rename(life: ProposalLife) -> None:
    life.offer()
    assert life.get().skill == "release"
    rename(life.person, SKILL, "skills/ship/SKILL.md")
    life.observe_all()
    assert life.get().skill == "ship"
    rename(life.person, "skills/ship/SKILL.md", "third.md")
    life.observe_all()
    assert life.get().skill == "third.md"


def test_a_file_that_is_renamed_again_and_again_is_not_read_for_ever(life: ProposalLife) -> None:
    for old, new in [(SKILL, "b.md"), ("b.md", SKILL)] * 7:
        rename(life.person, old, new)
    found = read_history(open_repo(life.person.root), life.person.tip(), SKILL, None)
    assert [one.oid for one in found] == life.person.git("rev-list", "--reverse", "HEAD~10..HEAD").split()


def test_lines_that_moved_take_no_other_proposal_along(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", NEXT)
    life.accept()
    life.reject("p2")
    text = life.person.show()
    there = {SKILL: text.replace(f"{DRY}\n", ""), "docs/more.md": f"# More\n\n{DRY}\n- And this.\n"}
    life.person.commit("split", there)
    life.person.git("sparse-checkout", "set", "docs")
    assert (life.observe(), life.get().relpath) == (("accepted", "moved to docs/more.md"), "docs/more.md")
    assert (life.observe("p2"), life.get("p2").relpath) == (("rejected", ""), SKILL)


def test_a_new_file_is_not_the_one_that_was_at_its_place_meanwhile(life: ProposalLife) -> None:
    made = Operation(Op.CREATE, "# Guide", "# Guide\n\n- Be brief.\n")
    life.propose("p1", made, path=life.person.root / "CLAUDE.md", target=TargetKind.INSTRUCTIONS)
    life.person.commit("mine", {"CLAUDE.md": "# Mine\n\n- Be kind.\n"})
    rename(life.person, "CLAUDE.md", "AGENTS.md")
    assert (life.observe(), life.get().relpath) == (("open", ""), "CLAUDE.md")
    life.accept()
    assert life.person.show("AGENTS.md") == "# Mine\n\n- Be kind."


def test_a_rejected_one_stays_rejected_in_the_renamed_file(life: ProposalLife) -> None:
    life.offer()
    life.reject()
    rename(life.person)
    assert (life.observe(), life.get().relpath) == (("rejected", ""), NEW)


def test_what_was_reverted_stays_so(life: ProposalLife) -> None:
    life.offer()
    life.person.git("merge", "--quiet", "--no-ff", "--no-commit", STAGING_BRANCH)
    life.person.write(SKILL, TEXT)
    life.person.commit("merge without it")
    assert life.observe()[0] == "reverted"
    rename(life.person)
    assert life.observe()[0] == "reverted"
    assert life.get().relpath == NEW


def test_a_deleted_file_accepts_nothing(life: ProposalLife) -> None:
    life.offer()
    life.person.git("merge", "--quiet", "--no-ff", "--no-commit", STAGING_BRANCH)
    life.person.write(SKILL, TEXT)
    life.person.commit("merge without it")
    assert life.observe()[0] == "reverted"
    life.person.git("rm", "--quiet", SKILL)
    life.person.commit("delete it")
    assert life.observe()[0] == "reverted"


def test_an_accepted_one_whose_lines_go_after_the_rename_is_reverted(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    rename(life.person)
    assert life.observe() == ("accepted", "")
    life.person.commit("mine", {NEW: TEXT})
    assert life.observe()[0] == "reverted"


def test_lines_moved_to_another_file_stay_accepted_until_they_go_there(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", NEXT)
    life.accept()
    life.accept("p2")
    text = life.person.show()
    there = {SKILL: text.replace(f"{DRY}\n", "- See @more.md\n"), "more.md": f"# More\n\n{DRY}\n- And this.\n"}
    life.person.commit("split", there)
    assert life.observe() == ("accepted", "moved to more.md")
    assert life.get().relpath == "more.md"
    assert (life.observe("p2"), life.get("p2").relpath) == (("accepted", ""), SKILL)
    life.person.git("mv", "more.md", "git.md")
    life.person.commit("rename it")
    assert (life.observe()[0], life.get().relpath) == ("accepted", "git.md")
    life.revert()
    assert DRY not in life.person.show("git.md")
    assert life.observe()[0] == "reverted"


def test_lines_moved_to_another_file_and_deleted_there_are_reverted(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    text = life.person.show()
    life.person.commit("split", {SKILL: text.replace(f"{DRY}\n", ""), "more.md": f"# More\n\n{DRY}\n- And this.\n"})
    assert life.observe()[0] == "accepted"
    life.person.commit("drop it", {"more.md": "# More\n\n- And this.\n"})
    assert life.observe()[0] == "reverted"


def behind(life: ProposalLife, relpath: str, line: str = DRY) -> list[str]:
    """Return the proposals behind a line of a file, as `skilld why` does after it has read git."""
    life.observe_all()
    path = life.person.root / relpath
    origin = find_origin(path, path.read_text().splitlines().index(line) + 1)
    return [one.id for one in _proposals_behind(life.store, path, origin)]


def test_a_squashed_line_is_known_after_a_rename(life: ProposalLife) -> None:
    life.offer()
    life.person.git("switch", "--quiet", "--create", "side")
    life.accept()
    life.person.git("switch", "--quiet", "main")
    life.person.git("merge", "--quiet", "--squash", "side")
    life.person.git("commit", "--quiet", "-m", "Say so")
    life.person.git("branch", "--quiet", "-D", "side")
    assert behind(life, SKILL) == ["p1"]
    rename(life.person)
    assert behind(life, NEW) == ["p1"]


def test_a_line_is_known_in_the_file_that_it_moved_to(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    text = life.person.show()
    life.person.commit("split", {SKILL: text.replace(f"{DRY}\n", ""), "more.md": f"# More\n\n{DRY}\n- And this.\n"})
    assert behind(life, "more.md") == ["p1"]
    assert behind(life, "more.md", "- And this.") == []


def test_lines_that_were_reworded_and_then_moved_stay_accepted(life: ProposalLife) -> None:
    life.offer()
    life.person.git("cherry-pick", life.get().commit)
    mine = "- Nothing is published without a rehearsal of the whole release."
    life.person.write(SKILL, life.person.show().replace(DRY, mine))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    text = life.person.show()
    life.person.commit("split", {SKILL: text.replace(f"{mine}\n", ""), "more.md": f"# More\n\n{mine}\n- And this.\n"})
    assert life.observe() == ("accepted", "moved to more.md")
    with pytest.raises(RefusedError, match="its lines have been reworded and moved to more"):
        life.revert()
    life.person.commit("drop it", {"more.md": "# More\n\n- And this.\n"})
    assert life.observe()[0] == "reverted"
