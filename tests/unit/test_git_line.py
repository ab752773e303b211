"""What the newest commits of a branch tell, compared with what git says of the whole history."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache, partial

import pytest

from skilld.git import line
from skilld.git.repo import Repo, open_repo
from skilld.git.session import shared_git
from skilld.proposals.file_history import commits_touching
from support.repos import SKILL, TEXT, Person

NOTES = "skills/release/NOTES.md"


@pytest.fixture
def grown(person: Person) -> list[str]:
    """Return the commits of a straight line of five after the first, oldest first."""
    made = [person.tip()]
    for number in range(1, 6):
        files = {"README.md": f"{number}\n"} | ({SKILL: f"{TEXT}\n{number}\n"} if number in {2, 3} else {})
        made.append(person.commit(f"number {number}", files))
    return made


def git_list(person: Person, *arguments: str) -> list[str]:
    return person.git("rev-list", *arguments).split()


def test_a_short_history_is_known_without_git(
    person: Person, grown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = open_repo(person.root)
    monkeypatch.setattr(repo.git, "call", pytest.fail)
    assert [one.oid for one in line.read_line(repo.git, grown[5])] == grown[::-1]
    assert line.is_before(repo.git, grown[1], grown[4]) is True
    assert line.is_before(repo.git, grown[4], grown[1]) is False
    assert line.line_above(repo.git, grown[5], [grown[2], grown[1]]) == [grown[5], grown[4], grown[3]]
    assert line.line_above(repo.git, grown[2], [grown[2]]) == []
    assert line.changing(repo.git, grown[5], [SKILL]) == [grown[3], grown[2], grown[0]]
    assert commits_touching(repo, grown[5], SKILL, None) == [grown[3], grown[2], grown[0]]
    assert commits_touching(repo, grown[5], NOTES, None) == []


def test_a_changed_mode_is_a_change(person: Person, grown: list[str]) -> None:
    person.skill.chmod(0o755)
    runs = person.commit("runs")
    assert line.changing(open_repo(person.root).git, runs, [SKILL]) == [runs, grown[3], grown[2], grown[0]]


def test_what_the_line_does_not_show_is_left_to_git(person: Person, grown: list[str]) -> None:
    person.git("switch", "--quiet", "-c", "side", grown[2])
    side = person.commit("aside", {NOTES: "notes\n"})
    person.git("switch", "--quiet", "main")
    person.git("merge", "--quiet", "--no-edit", "side")
    merge = person.tip()
    git = open_repo(person.root).git
    assert [one.oid for one in line.read_line(git, merge)] == [merge]
    assert line.is_before(git, side, merge) is None
    assert line.line_since(git, merge, 0) is None
    assert line.changing(git, merge, [NOTES]) == []
    # A branch that is left out may have some of the commits in question.
    assert line.line_above(git, grown[5], [grown[2], merge]) is None
    assert line.line_above(git, grown[5], [grown[2], side]) == [grown[5], grown[4], grown[3]]


def test_a_history_that_begins_elsewhere_is_not_whole(person: Person, grown: list[str]) -> None:
    grown += [person.commit(f"number {number}", {"README.md": f"{number}\n"}) for number in range(6, 10)]
    git = open_repo(person.root).git
    assert [one.oid for one in line.read_line(git, grown[9])] == grown[9:1:-1]
    assert line.is_before(git, grown[1], grown[9]) is None
    assert line.changing(git, grown[9], [SKILL]) == [grown[3]], "the last one is compared with none"
    person.git("clone", "--quiet", "--depth", "2", f"file://{person.root}", "../shallow")
    shallow = open_repo(person.root.parent / "shallow").git
    assert [one.oid for one in line.read_line(shallow, grown[9])] == grown[9:7:-1]
    assert line.is_before(shallow, grown[1], grown[9]) is None


def test_a_missing_folder_is_not_an_absent_file(person: Person, grown: list[str]) -> None:
    oid = person.git("rev-parse", f"{grown[4]}:skills/release")
    (person.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    assert line.changing(open_repo(person.root).git, grown[5], [SKILL]) is None


def test_it_gives_the_same_answers_as_git_for_any_history(person: Person) -> None:
    chance = random.Random(5)
    person.git("config", "merge.conflictStyle", "merge")
    tips = [person.tip()]
    for number in range(14):
        person.git("checkout", "--quiet", "--detach", chance.choice(tips[-4:]))
        if chance.random() < 0.2:
            person.git("merge", "--quiet", "--no-edit", "-s", "ours", chance.choice(tips))
        path = chance.choice([SKILL, NOTES, "README.md"])
        tips.append(person.commit(str(number), {path: f"{number}\n"}))
    repo, lists = open_repo(person.root), cache(partial(git_list, person))
    with shared_git():
        known = sum(_agrees(lists, repo, *chance.sample(tips, 3)) for _ in range(40))
    assert known > 20, "else nothing was compared"


def _agrees(lists: Callable[..., list[str]], repo: Repo, tip: str, other: str, third: str) -> int:
    """Compare all answers about three commits; return how many there were."""
    before = line.is_before(repo.git, other, tip)
    assert before in {None, other in lists(tip)}
    above = line.line_above(repo.git, tip, [other, third])
    assert above is None or above == lists("--topo-order", tip, f"^{other}", f"^{third}")
    since = int(lists("--no-walk", "--timestamp", other)[0])
    found = line.line_since(repo.git, tip, since)
    assert found is None or [one.oid for one in found] == lists("--topo-order", f"--since={since}", tip)
    for path in (SKILL, NOTES):
        expected = lists("--full-history", "--topo-order", f"--since={since}", tip, "--", path)
        assert commits_touching(repo, tip, path, since) == expected
    return sum(one is not None for one in (before, above, found))
