"""The base of the staging branch, compared with `git log` on random histories."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skilld.git.repo import open_repo
from skilld.proposals.branch import describe_base, find_base
from support.proposal_life import ProposalLife
from support.repos import SKILL, TEXT, Harness, Person, insert_below
from support.waiting import LIMIT

OTHER = "skills/other/SKILL.md"
_COUNT = itertools.count()


@dataclass(frozen=True)
class Node:
    """A commit: which earlier ones are its parents (by how far back), and the texts of the two skills in it."""

    parents: tuple[int, ...]
    texts: tuple[int, int]


NODES = st.lists(
    st.builds(
        Node,
        parents=st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True).map(tuple),
        texts=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    ),
    min_size=1,
    max_size=14,
)


def build_history(root: Path, nodes: Sequence[Node], main: int) -> Person:
    """Make a history by git fast-import; HEAD is the newest commit, on `feature`, and `main` an earlier one."""
    root.mkdir()
    person = Person(root)
    person.git("init", "--quiet")
    script = []
    for number, node in enumerate(nodes):
        parents = list(dict.fromkeys(number - back for back in node.parents if number - back >= 0))
        script.append(
            f"commit refs/import/c{number}\nmark :{number + 1}\ncommitter P <p@x> {1700000000 + number} +0000"
        )
        script.append("data 1\nx")
        script += [f"{'from' if i == 0 else 'merge'} :{parent + 1}" for i, parent in enumerate(parents)]
        files = {SKILL: f"skill {node.texts[0]}\n", OTHER: f"other {node.texts[1]}\n", "n.txt": f"{number}\n"}
        script += [f"M 100644 inline {path}\ndata {len(text)}\n{text}" for path, text in files.items()]
    heads = {"main": main % len(nodes), "feature": len(nodes) - 1}
    script += [f"reset refs/heads/{branch}\nfrom :{number + 1}\n" for branch, number in heads.items()]
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=root,
        input="\n".join(script) + "\n",
        text=True,
        check=True,
        timeout=LIMIT,
    )
    person.git("symbolic-ref", "HEAD", "refs/heads/feature")
    return person


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nodes=NODES, main=st.integers(0, 13), relpaths=st.sampled_from([[SKILL], [OTHER], [SKILL, OTHER]]))
def test_the_base_is_the_one_git_log_finds(
    tmp_path: Path, person: Person, nodes: list[Node], main: int, relpaths: list[str]
) -> None:
    del person  # isolates
    person = build_history(tmp_path / f"random-{next(_COUNT)}", nodes, main)
    rest = find_base(open_repo(person.root), relpaths)
    assert rest.commit == person.git("log", "-1", "--format=%H", "HEAD", "--", *relpaths)
    assert rest.ahead == int(person.git("rev-list", "--count", rest.commit, "^main"))
    assert rest.branch == ("feature" if rest.ahead else None)


def test_a_reverted_change_counts(person: Person) -> None:
    person.commit("other words", {SKILL: "other\n"})
    back = person.commit("back again", {SKILL: TEXT})
    person.commit("later", {"src/app.py": "print(2)\n"})
    assert find_base(open_repo(person.root), [SKILL]).commit == back


def test_a_merge_is_followed_to_the_side_that_has_the_skill(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "side")
    touched = person.commit("on the side", {SKILL: TEXT + "More.\n"})
    person.git("switch", "--quiet", "main")
    person.commit("meanwhile", {"src/app.py": "print(2)\n"})
    person.git("merge", "--quiet", "--no-edit", "side")
    rest = find_base(open_repo(person.root), [SKILL])
    assert (rest.commit, rest.warning) == (touched, "")


def test_the_warning_names_a_branch_containing_the_base(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    touched = person.commit("skill work", {SKILL: TEXT + "More.\n"})
    person.git("switch", "--quiet", "main")
    assert (
        describe_base(open_repo(person.root), touched).warning == "is based on feature, which has 1 commit not on main"
    )
    person.git("branch", "-D", "feature")
    assert (
        describe_base(open_repo(person.root), touched).warning
        == "is based on a detached HEAD, which has 1 commit not on main"
    )


def test_the_staging_branch_is_not_a_clones_default_branch(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "skilld/staging")
    person.git("clone", "--quiet", ".", "../clone")
    clone = Person(person.root.parent / "clone")
    assert clone.git("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/skilld/staging"
    clone.git("switch", "--quiet", "main")
    harness = Harness(clone)
    harness.stage("p1", insert_below("- Run the tests.", "- Do a dry run."))
    harness.stage("p2", insert_below("- Push the tag.", "- Write the news."))
    assert [harness.observe(name).seen for name in ("p1", "p2")] == ["nothing", "nothing"]
    assert clone.git("rev-list", "--count", "main..skilld/staging") == "2"


def test_without_a_default_branch_there_is_no_warning(person: Person) -> None:
    person.git("branch", "-m", "main", "one")
    person.git("branch", "two")
    rest = find_base(open_repo(person.root), [SKILL])
    assert (rest.commit, rest.default, rest.warning) == (person.tip(), None, "")


def test_after_a_rebase_staging_follows_the_branch(life: ProposalLife) -> None:
    life.person.commit("others", {"other.txt": "1\n"})
    life.offer()
    old = life.person.git("rev-parse", "skilld/staging~1")
    life.person.git("rebase", "--quiet", "--root", "--force-rebase")
    assert life.person.git("branch", "--contains", old, "--format=%(refname:short)") == "skilld/staging"
    assert life.observe() == ("open", "")
    assert life.person.git("rev-list", "--count", "main..skilld/staging") == "1"


def test_on_the_detached_head_that_staging_is_based_on_it_stays(life: ProposalLife) -> None:
    life.person.git("switch", "--quiet", "--detach")
    base = life.person.commit("mine", {SKILL: TEXT + "More.\n"})
    life.offer()
    life.person.commit("others", {"other.txt": "1\n"})
    assert life.observe() == ("open", "")
    assert life.person.git("rev-parse", "skilld/staging~1") == base
