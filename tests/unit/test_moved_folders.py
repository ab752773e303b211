"""A project whose folder is moved, renamed, cloned again or turned into a work tree, and a renamed default branch."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from skilld.git.staging_branch import STAGING_BRANCH
from skilld.git.state import git_dir_of, move_own_repository
from skilld.paths import places
from skilld.proposals.follow import follow_moved_folders
from skilld.proposals.passed_over import load_passed_over
from skilld.proposals.poll import PollSchedule, record_observation
from skilld.proposals.reconcile import observe
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.meta import FOLDER_IDS, MOVED_TEAMS, PASSED_OVER, SYNCED_PROJECTS, TEAMS
from skilld.types import Op, Operation
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT, Person, isolate_git, new_repo

GONE = "its repository is gone"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Return somebody whose project is two folders down: a moved one is looked for beside its parent, too."""
    isolate_git(monkeypatch, tmp_path / "home")
    (tmp_path / "code").mkdir()
    return new_repo(tmp_path / "code/work")


@pytest.fixture
def life(person: Person, store: Store) -> ProposalLife:
    """Give an accepted, a rejected and two open proposals, observed once."""
    life = ProposalLife(person, store)
    life.offer("p1")
    life.offer("p2", "- Push the tag.", "- Write the news.")
    life.offer("p3", "Keep the changelog short.", "- Be brief.")
    life.offer("p4", "- Tag the commit.", "- Sign it.")
    life.accept("p1")
    life.reject("p4")
    life.observe()
    return life


def at(life: ProposalLife, root: Path) -> ProposalLife:
    return ProposalLife(Person(root), life.store)


def check_goes_on(life: ProposalLife) -> None:
    """Everything can be decided where the project is now."""
    root = life.person.root
    assert life.observe("p1") == ("accepted", "")
    assert life.observe("p2")[0] == "open"
    assert life.observe("p4")[0] == "rejected"
    assert {life.get(name).path for name in ("p1", "p2", "p3", "p4")} == {str(root / SKILL)}
    assert {life.get(name).repo for name in ("p1", "p2", "p3", "p4")} == {str(root)}
    life.accept("p2")
    life.revert("p1")
    life.reject("p3")
    assert life.person.skill.read_text() == TEXT.replace("- Push the tag.", "- Push the tag.\n- Write the news.")


def by_hand(root: Path) -> Path:
    return root.rename(root.with_name("renamed"))


def renamed_parent(root: Path) -> Path:
    return root.parent.rename(root.parent.with_name("other")) / root.name


def into_a_folder_beside_it(root: Path) -> Path:
    root.with_name("beside").mkdir()
    return root.rename(root.with_name("beside") / root.name)


def out_of_its_folder(root: Path) -> Path:
    return root.rename(root.parent.parent / root.name)


def from_where_a_folder_is_again(root: Path) -> Path:
    new = by_hand(root)
    (root / "build").mkdir(parents=True)
    return new


def into_another_parent(root: Path) -> Path:
    root.parent.with_name("other").mkdir()
    return root.rename(root.parent.with_name("other") / root.name)


def copied_and_deleted(root: Path) -> Path:
    """Move it as `mv` does to another file system, where a link leads to it, too."""
    new = Path(shutil.copytree(root, root.with_name("copy"), symlinks=True))
    root.with_name("link").symlink_to(new)
    shutil.rmtree(root)
    return new


WAYS = [
    by_hand, renamed_parent, into_a_folder_beside_it, out_of_its_folder, into_another_parent,
    from_where_a_folder_is_again, copied_and_deleted,
]  # fmt: skip


@pytest.mark.parametrize("how", WAYS, ids=lambda how: how.__name__)
def test_a_project_that_was_moved_or_renamed_is_followed(life: ProposalLife, how: Callable[[Path], Path]) -> None:
    new = how(life.person.root)
    check_goes_on(at(life, new))


def test_the_daemon_follows_it_where_a_session_is(life: ProposalLife, tmp_path: Path) -> None:
    schedule, now = PollSchedule(life.store), time.time()
    schedule.job(now)
    far = tmp_path / "a" / "b" / "far"
    far.parent.mkdir(parents=True)
    life.person.root.rename(far)
    life.store.transcripts.record_activity("claude-code", "s1", cwd=str(far / "skills"), activity=now)
    job = schedule.job(now + 61)
    assert job is not None
    record_observation(life.store, observe(job), now)
    check_goes_on(at(life, far))


@pytest.mark.parametrize(
    "instead",
    ["older copy", "two copies", "other reflog", "clone", "new folder", "another project", "another repository in it"],
)
def test_nothing_is_followed_into_another_folder(life: ProposalLife, instead: str) -> None:
    root = life.person.root
    other = root.with_name("other")
    if instead in {"older copy", "two copies", "other reflog"}:
        shutil.copytree(root, other)
    if instead == "older copy":
        life.person.commit("after that", {"README.md": "more\n"})
        life.observe()
    elif instead == "two copies":
        shutil.copytree(root, root.with_name("another"))
    elif instead == "other reflog":
        log = other / ".git/logs/HEAD"
        log.write_text(log.read_text().replace("commit", "COMMIT"))
    elif instead == "clone":
        life.person.git("clone", "--quiet", ".", str(other))
    elif instead == "another project":
        life.person.git("init", "--quiet", str(other))
    elif instead == "another repository in it":
        (root / ".git").rename(root / "old")
        life.person.git("init", "--quiet")
        root.rename(other)
    if root.exists():
        shutil.rmtree(root)
    if instead == "new folder":
        other.mkdir()
        (other / ".git").mkdir()
    assert life.observe("p2") == ("stale", GONE)
    assert life.get("p2").repo == str(root)


def test_a_copy_that_is_a_project_of_its_own_is_not_the_moved_one(life: ProposalLife) -> None:
    root = life.person.root
    copy = shutil.copytree(root, root.with_name("copy"))
    life.store.meta.set(SYNCED_PROJECTS, [str(copy)])
    life.observe()
    shutil.rmtree(root)
    assert life.observe("p2") == ("stale", GONE)


def test_a_folder_that_may_not_be_entered_stops_nothing(life: ProposalLife) -> None:
    """The daemon looks for the project, as for one that is gone; a lost network disk answers in the same way."""
    above, user = life.person.root.parent, os.geteuid()
    shutil.copytree(life.person.root, above.with_name("copy"))
    above.chmod(0)
    os.seteuid(user or 65534)  # root may enter everything
    try:
        follow_moved_folders(life.store, time.time())
    finally:
        os.seteuid(user)
        above.chmod(0o700)
    assert life.observe("p2") == ("open", "")


def test_what_else_is_known_of_it_moves_along(life: ProposalLife) -> None:
    root, store = life.person.root, life.store
    beside = f"{root}-beside"
    learning = Learning(
        id="l1", turn_key="agent:9", quote="q", change="c", kind="preference", agent="agent", session_id="s",
        project=str(root), skill=None, why_kept="why", confidence=0.9, created_at="2026-01-05T10:00:00Z",
        place_kind="instructions", place=f"{root}/CLAUDE.md",
    )  # fmt: skip
    store.learnings.add(learning)
    store.learnings.add(replace(learning, id="l2", project=beside, place=f"{beside}/CLAUDE.md"))
    store.meta.set(PASSED_OVER, [asdict(learning)])
    store.meta.set(SYNCED_PROJECTS, [str(root), beside])
    store.meta.set(TEAMS, {str(root): {"repo": str(root), "name": "pat"}})
    life.observe()
    new = by_hand(root)
    at(life, new).observe()
    found = {one.id: (one.project, one.place) for one in store.learnings.all()}
    assert found == {"l1": (str(new), f"{new}/CLAUDE.md"), "l2": (beside, f"{beside}/CLAUDE.md")}
    assert [one.project for one in load_passed_over(store, 0)] == [str(new)]
    assert store.meta.get(SYNCED_PROJECTS) == [str(new), beside]
    assert store.meta.get(TEAMS) == {str(new): {"repo": str(new), "name": "pat"}}
    assert store.meta.get(MOVED_TEAMS) == {str(root): str(new)}
    at(life, new.rename(root)).observe()
    assert store.meta.get(MOVED_TEAMS) == {}


def test_it_is_not_followed_into_a_copy_while_its_disk_is_away(life: ProposalLife) -> None:
    root = life.person.root
    known = life.store.meta.get(FOLDER_IDS)
    known[str(root)][0] += 1  # the number of the disk, whose place in the tree is empty now
    life.store.meta.set(FOLDER_IDS, known)
    copied_and_deleted(root)
    assert life.observe("p2") == ("stale", GONE)


def test_a_project_moved_twice_is_found_in_the_copy_that_goes_on(life: ProposalLife) -> None:
    first = copied_and_deleted(life.person.root)
    moved = at(life, first)
    moved.observe()
    moved.person.commit("more", {"README.md": "more\n"})
    moved.observe()
    check_goes_on(at(life, first.rename(first.with_name("again"))))


@pytest.mark.parametrize("key", [SYNCED_PROJECTS, TEAMS])
def test_a_project_without_proposals_is_followed(tmp_path: Path, store: Store, key: str) -> None:
    root = tmp_path / "work"
    (root / ".git").mkdir(parents=True)
    store.meta.set(key, {str(root): {}} if key == TEAMS else [str(root)])
    follow_moved_folders(store, time.time())
    new = by_hand(root)
    follow_moved_folders(store, time.time())
    assert list(store.meta.get(key)) == [str(new)]


PLACES = {"/code/it": "/new/it", "/code/it/a.md": "/new/it/a.md", "/code/it-2": "/code/it-2", "/code": "/code"}
PATHS = {
    "proposals": ("path", "repo"), "learnings": ("project", "place"), "sessions": ("cwd",),
    "skill_uses": ("path", "cwd"), "batches": ("place",), "tasks": ("project",), "feedback": ("path",),
    "evals": ("path",), "elsewhere": ("path",), "past_sessions": (),
}  # fmt: skip
JSON_PATHS: dict[str, dict[str, Callable[[str], object]]] = {
    "proposals": {
        "also": lambda place: [[place, "/code/it"]],
        "conflicts": lambda place: [[place, 3, "/code/it"]],
    },
    "evals": {"cases": lambda place: [{"file": place, "id": "1"}]},
    "past_sessions": {
        "data": lambda place: {
            "cwd": place,
            "loaded": [place],
            "said": [{"quote": "/code/it is gone"}],
            "repeats": [{"path": place, "quote": "/code/it"}],
        }
    },
    "batches": {"job": lambda place: {"cwd": place, "plan": {"proposals": [{"also": [[place]]}]}, place: 1}},
}


@pytest.mark.parametrize("table", PATHS)
def test_every_stored_path_below_it_is_changed(store: Store, table: str) -> None:
    def row(number: int, place: str) -> dict[str, object]:
        schema = store._db.execute(f"PRAGMA table_info({table})").fetchall()
        found: dict[str, object] = {
            one["name"]: number if one["type"] in {"INTEGER", "REAL"} else f"{number}" for one in schema
        }
        texts = {column: json.dumps(make(place)) for column, make in JSON_PATHS.get(table, {}).items()}
        return {**found, **dict.fromkeys(PATHS[table], place), **texts}

    for number, place in enumerate(PLACES):
        new = row(number, place)
        store._db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(new))})", [*new.values()])  # noqa: S608
    with store.transaction():
        store.moved.move("/code/it", "/new/it")
    rows = [dict(one) for one in store._db.execute(f"SELECT * FROM {table} ORDER BY rowid")]  # noqa: S608
    assert rows == [row(number, place) for number, place in enumerate(PLACES.values())]


@pytest.mark.parametrize("state", ["whole", "after a kill"])
def test_a_project_that_git_does_not_track_is_followed(person: Person, store: Store, state: str) -> None:
    root = person.root.with_name("plain")
    path = root / "CLAUDE.md"
    root.mkdir()
    path.write_text("# Guide\n\n- Be brief.\n")
    life = ProposalLife(Person(root), store)
    for name in ("p1", "p2"):
        life.propose(name, Operation(Op.INSERT_AFTER, "- Be brief.", f"- Say {name}."), path=path)
    life.accept("p1")
    life.observe()
    new = by_hand(root)
    if state == "after a kill":
        repo = Path(life.get("p1").repo)
        repo.rename(git_dir_of(new, repo.parent))
    path = new / "CLAUDE.md"
    assert life.observe("p1") == ("accepted", "")
    assert life.observe("p2") == ("open", "")
    assert Path(life.get("p2").repo).parent == places().repositories
    life.accept("p2")
    life.revert("p1")
    assert path.read_text() == "# Guide\n\n- Be brief.\n- Say p2.\n"
    assert not root.exists()


def test_the_repository_of_another_folder_is_kept(tmp_path: Path) -> None:
    old, new = tmp_path / "old", git_dir_of(tmp_path / "folder", tmp_path)
    for one in (old, new):
        one.mkdir()
        (one / "config").write_text(one.name)
    assert move_own_repository(old, tmp_path / "folder") == old
    assert [(one / "config").read_text() for one in (old, new)] == [old.name, new.name]


def test_what_git_ignores_in_a_project_moves_along(life: ProposalLife) -> None:
    root = life.person.root
    (root / ".gitignore").write_text("/.claude/skills/\n")
    path = root / ".claude/skills/own/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: own\ndescription: Mine.\n---\n\n- Be brief.\n")
    life.propose("p5", Operation(Op.INSERT_AFTER, "- Be brief.", "- Be kind."), path=path)
    assert Path(life.get("p5").repo).parent == places().repositories
    life.observe()
    by_hand(root)
    assert life.observe("p5") == ("open", "")
    life.accept("p5")
    assert "- Be kind." in Path(life.get("p5").path).read_text()


def push(life: ProposalLife) -> str:
    hub = str(life.person.root.parent / "hub.git")
    life.person.git("init", "--quiet", "--bare", hub)
    life.person.git("remote", "add", "origin", hub)
    life.person.git("push", "--quiet", "origin", "main")
    return hub


@pytest.mark.parametrize("how", ["clone", "clone after a while", "work tree of another"])
def test_a_new_clone_at_its_place_has_the_open_ones_again(life: ProposalLife, how: str) -> None:
    hub = push(life)
    root = life.person.root
    shutil.rmtree(root)
    if how == "clone after a while":
        assert life.observe("p2") == ("stale", GONE)
    if how.startswith("clone"):
        Person(root.parent).git("clone", "--quiet", hub, str(root))
    else:
        main = root.with_name("main")
        Person(root.parent).git("clone", "--quiet", hub, str(main))
        Person(main).git("worktree", "add", "--quiet", str(root), "-b", "side")
    assert life.observe("p2")[0] == "open"
    assert life.observe("p1") == ("accepted", "")
    assert "- Write the news." in life.person.show(ref=STAGING_BRANCH)
    assert "- Sign it." not in life.person.show(ref=STAGING_BRANCH)
    check_goes_on(life)


@pytest.mark.parametrize("where", ["here", "on the remote"])
def test_the_default_branch_is_renamed(life: ProposalLife, where: str) -> None:
    if where == "on the remote":
        push(life)
        life.person.git("fetch", "--quiet")
        life.person.git("remote", "set-head", "origin", "main")
        life.person.git("push", "--quiet", "origin", "main:trunk")
        life.person.git("push", "--quiet", "origin", ":main", check=False)
        life.person.git("fetch", "--quiet", "--prune", check=False)
        life.person.git("remote", "set-head", "origin", "trunk")
    life.person.git("branch", "-m", "main", "trunk")
    life.person.git("branch", "feature")
    check_goes_on(life)
    life.person.git("switch", "--quiet", "feature")
    assert life.observe("p2")[0] == "accepted"
    assert DRY in life.person.skill.read_text()
