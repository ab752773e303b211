"""An open proposal whose section moved to another file goes there, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from skilld.daemon.job_builder import not_to_repeat
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.past_decisions import decision_against, past_decisions
from skilld.types import BY_HEADING_FLAG, Kind, Op, Operation, Update
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL

HEAD = "---\nname: release\ndescription: How we release.\n---\n\n# Release\n"
STEPS = "\n## Steps\n\n- Run the tests.\n- Tag the commit.\n- Push the tag.\n"
NEWS = "\n## News\n\n- Keep the changelog short.\n- Thank everybody by name.\n- Link the issues.\n"
OTHER = "# Git\n\nHow we use git.\n\n## Branches\n\n- Name them after the ticket.\n"
MORE = "docs/more.md"
UPDATE = Update(1, "Steps", "Dry run first.", "", Kind.PREFERENCE, 1, "always p1", 0.9)


@pytest.fixture
def life(life: ProposalLife) -> ProposalLife:
    life.commit("sections", {SKILL: HEAD + STEPS + NEWS, "git.md": OTHER})
    life.offer()
    return life


@pytest.mark.parametrize(
    "commits",
    [
        [{SKILL: HEAD + NEWS, MORE: f"# More\n{STEPS}"}],
        [{SKILL: HEAD + NEWS, MORE: STEPS.lstrip()}],
        [{SKILL: HEAD + NEWS, "git.md": OTHER + STEPS}],
        [{SKILL: HEAD + NEWS, "git.md": f"# Git\n{STEPS}{OTHER.removeprefix('# Git')}"}],
        [{SKILL: HEAD + NEWS}, {MORE: f"# More\n{STEPS}"}],  # taken out, then put in
        [{MORE: f"# More\n{STEPS}"}, {SKILL: HEAD + NEWS}],
        [{SKILL: f"{HEAD}\n## Steps\n\nThey are in @docs/more.md\n{NEWS}", MORE: f"# More\n{STEPS}"}],
        [
            {SKILL: HEAD + NEWS, MORE: f"# More\n{STEPS.replace('- Push the tag.', '- Push it.')}"}
        ],  # and edited a little
    ],
)
def test_it_is_accepted_where_its_section_is_now(life: ProposalLife, commits: list[Mapping[str, str]]) -> None:
    life.offer("p2", "- Link the issues.", "- Name the version.")
    there = next(path for files in commits for path in files if path != SKILL)
    for files in commits:
        life.person.commit("split", dict(files))
    assert (life.observe(), life.get().relpath) == (("open", ""), there)
    assert (life.observe("p2"), life.get("p2").relpath) == (("open", ""), SKILL)
    assert life.person.files_changed("main", STAGING_BRANCH) == sorted([there, SKILL])
    life.accept()
    assert f"- Run the tests.\n{DRY}\n- Tag the commit." in life.person.show(there)
    assert DRY not in life.person.show()
    life.accept("p2")
    assert "- Link the issues.\n- Name the version." in life.person.show()
    life.revert()
    assert DRY not in life.person.show(there)
    assert [life.observe(name)[0] for name in ("p1", "p2")] == ["reverted", "accepted"]


@pytest.mark.parametrize("way", ["section", "file"])
def test_one_that_is_staged_before_git_is_read_takes_the_place_of_no_other(life: ProposalLife, way: str) -> None:
    if way == "section":
        life.person.commit("split", {SKILL: HEAD + NEWS, MORE: f"# More\n{STEPS}"})
    else:
        (life.person.root / "docs").mkdir()
        life.person.git("mv", SKILL, MORE)
        life.person.commit("rename")
    life.propose(
        "p2",
        Operation(Op.INSERT_AFTER, "- Name them after the ticket.", "- Be brief."),
        path=life.person.root / "git.md",
    )
    assert (life.get().state, life.get().relpath, life.get().path) == ("open", MORE, str(life.person.root / MORE))
    assert life.person.files_changed("main", STAGING_BRANCH) == [MORE, "git.md"]
    assert (life.observe(), life.observe("p2")) == (("open", ""), ("open", ""))
    life.accept()
    assert f"- Run the tests.\n{DRY}\n- Tag the commit." in life.person.show(MORE)


def test_each_section_of_a_file_that_was_split_takes_its_proposals_along(life: ProposalLife) -> None:
    life.offer("p2", "- Link the issues.", "- Name the version.")
    life.offer("p3", "- Tag the commit.", "- Sign it.")
    life.person.git("rm", "--quiet", SKILL)
    life.person.commit("split", {"steps.md": f"# How\n{STEPS}", "news.md": f"# What\n{NEWS}"})
    life.observe_all()
    assert [life.get(name).relpath for name in ("p1", "p2", "p3")] == ["steps.md", "news.md", "steps.md"]
    for name in ("p1", "p2", "p3"):
        life.accept(name)
    assert [life.observe(name)[0] for name in ("p1", "p2", "p3")] == ["accepted"] * 3
    assert "- Link the issues.\n- Name the version." in life.person.show("news.md")
    assert f"tests.\n{DRY}\n- Tag the commit.\n- Sign it.\n" in life.person.show("steps.md")


@pytest.mark.parametrize("operation", [Op.REPLACE, Op.DELETE])
def test_a_line_is_changed_or_removed_in_the_other_file(life: ProposalLife, operation: Op) -> None:
    life.reject()
    life.propose("p2", Operation(operation, "- Push the tag.", "- Push it." if operation is Op.REPLACE else ""))
    life.person.commit("split", {SKILL: HEAD + NEWS, MORE: f"# More\n{STEPS}"})
    assert (life.observe("p2"), life.get("p2").relpath) == (("open", ""), MORE)
    life.accept("p2")
    assert "- Push the tag." not in life.person.show(MORE)


@pytest.mark.parametrize("decide", [ProposalLife.reject, ProposalLife.revert])
def test_what_was_decided_against_is_remembered_where_its_section_is_now(
    life: ProposalLife, decide: Callable[[ProposalLife], object]
) -> None:
    if decide is ProposalLife.revert:
        life.accept()
    decide(life)
    state = life.get().state
    before = life.person.show()
    life.person.commit("split", {SKILL: HEAD + NEWS, MORE: f"# More\n{STEPS}"})
    assert (life.observe()[0], life.get().relpath, life.get().path) == (state, MORE, str(life.person.root / MORE))
    (past,) = past_decisions(not_to_repeat(life.store))
    assert decision_against(UPDATE, str(life.person.root / MORE), "later", [past]) == past
    life.person.commit("back", {SKILL: before, MORE: "# More\n"})
    assert (life.observe()[0], life.get().relpath) == (state, SKILL)


def test_it_follows_to_a_third_file_and_back(life: ProposalLife) -> None:
    whole = HEAD + STEPS + NEWS
    for text, files in (
        (MORE, {SKILL: HEAD + NEWS, MORE: f"# More\n{STEPS}"}),
        ("git.md", {MORE: "# More\n", "git.md": OTHER + STEPS}),
        (SKILL, {"git.md": OTHER, SKILL: whole}),
    ):
        life.person.commit("move", files)
        assert (life.observe(), life.get().relpath) == (("open", ""), text)
    life.accept()
    assert life.person.show() == whole.replace("tests.\n", f"tests.\n{DRY}\n").rstrip("\n")


@pytest.mark.parametrize(
    "files",
    [
        {SKILL: HEAD + NEWS, MORE: STEPS, "git.md": OTHER + STEPS},  # to two files
        {SKILL: HEAD + NEWS, "more.py": STEPS},  # to no text for agents
        {SKILL: HEAD + NEWS, MORE: "# More\n\nFirst test, then tag, and push.\n"},  # in other words
        {SKILL: HEAD + NEWS},
    ],
)
def test_it_goes_to_no_file_that_is_not_certain(life: ProposalLife, files: Mapping[str, str]) -> None:
    life.person.commit("split", dict(files))
    assert (life.observe()[0], life.get().relpath) == ("stale", SKILL)


@pytest.mark.parametrize("where", ["copy", "side", "same before"])
def test_it_stays_where_its_section_is_still(life: ProposalLife, where: str) -> None:
    if where == "side":
        life.person.git("switch", "--quiet", "--create", "side")
        life.person.commit("split", {SKILL: HEAD + NEWS, MORE: STEPS})
    elif where == "copy":
        life.person.commit("copy", {SKILL: f"{HEAD}{STEPS}", MORE: STEPS + NEWS})
    else:
        life.person.commit("twice", {MORE: STEPS})
        life.person.commit("more news", {SKILL: f"{HEAD}{STEPS}{NEWS}- And more.\n"})
    assert (life.observe(), life.get().relpath) == (("open", ""), SKILL)


@pytest.mark.parametrize("decide", [ProposalLife.accept, ProposalLife.reject])
def test_another_one_in_the_section_may_be_decided_before_and_after(
    life: ProposalLife, decide: Callable[[ProposalLife, str], object]
) -> None:
    life.offer("p2", "- Run the tests.", "- Lint it.")
    decide(life, "p1")
    now = life.person.show().removeprefix(HEAD).removesuffix(NEWS.rstrip())
    life.person.commit("split", {SKILL: HEAD + NEWS, MORE: f"# More\n{now}\n"})
    assert (life.observe("p2"), life.get("p2").relpath) == (("open", ""), MORE)
    life.accept("p2")
    assert "- Lint it." in life.person.show(MORE)
    assert (DRY in life.person.show(MORE)) is (decide is ProposalLife.accept)


@pytest.mark.parametrize(
    ("flag", "heading", "shown"),
    [
        ("Steps", "## What to do", ""),
        ("Steps", "## Steps  ", ": Steps"),
        ("Steps", "### Steps", ": Steps"),
        ("Ste…", "## Steps", ": Ste…"),
        ("Ste…", "## What to do", ""),
    ],
)
def test_a_flag_names_no_heading_that_is_gone(life: ProposalLife, flag: str, heading: str, shown: str) -> None:
    life.reject()
    lines = "- Run the tests.\n- Tag the commit.\n- Push the tag."
    flags = f"{BY_HEADING_FLAG}: {flag}", "it removes something that you did not mention: Steps"
    life.propose("p2", Operation(Op.REPLACE, lines, "- Do all of it."), flags=flags)
    life.person.commit("rename", {SKILL: (HEAD + STEPS + NEWS).replace("## Steps", heading)})
    assert life.observe("p2") == ("open", "")
    assert life.get("p2").flags == (f"{BY_HEADING_FLAG}{shown}", flags[1])


def swap(life: ProposalLife, way: str) -> None:
    """Swap the names of two files, as one commit or in three renames, the last of which may be seen alone."""
    renames = (SKILL, "other.md"), ("git.md", SKILL), ("other.md", "git.md")
    for number, names in enumerate(renames):
        life.person.git("mv", *names)
        if way != "one commit" or number == len(renames) - 1:
            life.person.commit("rename")
        if way == "each seen":
            life.observe_all()
    life.observe_all()


@pytest.mark.parametrize("way", ["one commit", "three commits", "each seen"])
def test_proposals_follow_files_that_swap_their_names(life: ProposalLife, way: str) -> None:
    life.offer("p2", "- Tag the commit.", "- Sign it.")
    git = life.person.root / "git.md"
    life.propose("p3", Operation(Op.INSERT_AFTER, "- Name them after the ticket.", "- Use lower case."), path=git)
    life.propose("p4", Operation(Op.DELETE, "How we use git."), path=git)

    def places() -> list[tuple[str, str]]:
        return [(one.state.value, one.relpath) for one in map(life.get, ("p1", "p2", "p3"))]

    life.accept("p2")
    swap(life, way)
    assert places() == [("open", "git.md"), ("accepted", "git.md"), ("open", SKILL)]
    assert (life.get("p4").state.value, life.get("p4").relpath) == ("open", SKILL)
    life.reject("p4")
    life.accept("p1")
    life.accept("p3")
    assert "- Name them after the ticket.\n- Use lower case." in life.person.show()
    assert f"- Run the tests.\n{DRY}\n- Tag the commit.\n- Sign it." in life.person.show("git.md")
    swap(life, way)
    assert places() == [("accepted", SKILL), ("accepted", SKILL), ("accepted", "git.md")]
    for name in ("p1", "p2", "p3"):
        life.revert(name)
    assert (life.person.show(), life.person.show("git.md")) == ((HEAD + STEPS + NEWS).rstrip(), OTHER.rstrip())
    swap(life, way)
    assert [state for state, _ in places()] == ["reverted"] * 3


@pytest.mark.parametrize("line", [DRY, "- Dry run it with your key."])
def test_files_that_are_overwritten_with_each_other_revert_nothing(life: ProposalLife, line: str) -> None:
    life.accept()
    life.observe_all()
    text = life.person.show().replace(DRY, line) + "\n"
    if line != DRY:
        life.person.commit("in my words", {SKILL: text})
    life.person.commit("copy", {"git.md": text})
    life.observe_all()
    life.person.commit("overwrite", {SKILL: OTHER})
    assert life.observe()[0] == "accepted"
    life.person.commit("drop it", {"git.md": text.replace(f"{line}\n", "")})
    assert life.observe()[0] == "reverted"


def test_a_reworded_one_is_known_after_its_file_took_the_place_of_another(life: ProposalLife) -> None:
    life.offer("p2", "- Tag the commit.", "- Sign it.")
    life.reject("p1")
    life.accept("p2")
    life.observe_all()
    life.person.commit(
        "in my words", {SKILL: life.person.show().replace("- Sign it.", "- Sign it with your key.") + "\n"}
    )
    (life.person.root / SKILL).replace(life.person.root / "git.md")
    life.person.git("add", "--all")
    life.person.commit("over the other")
    assert life.observe("p2") == ("accepted", "moved to git.md")
    assert life.get().relpath == "git.md"
