"""New skills outside git: in skilld's own repository, with nothing touched before acceptance."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.errors import RefusedError
from skilld.git import managed_repos
from skilld.git.errors import NotTrackedError
from skilld.paths import places
from skilld.proposals.amend import restore, stage_and_store
from skilld.proposals.decide import accepting, decide, rejecting, reverting
from skilld.proposals.explain import ProposalReader
from skilld.proposals.model import CommitMethod, GitStatus
from skilld.store import Store
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State, TargetKind, Update
from support.new_skills import NEW_SKILL, NEW_TEXT, OTHER_TEXT, commit_new, propose_new
from support.proposals import get_proposal, make_proposal
from support.repos import AT, Harness, Person, insert_below, isolate_git, new_repo, snapshot


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Return a person without any skill."""
    isolate_git(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return Person(tmp_path / "home")


@pytest.fixture
def harness(person: Person) -> Harness:
    return Harness(person)


def test_nothing_is_created_in_the_home_before_acceptance(person: Person, harness: Harness) -> None:
    before = snapshot(person.root)
    proposal = commit_new(harness)
    assert propose_new(harness, "n2") is None
    assert (Path(proposal.repo).parent, proposal.relpath) == (places().repositories, "deploy/SKILL.md")
    own = Person(Path(proposal.repo))
    assert own.git("--work-tree=.", "show", f"skilld/staging:{proposal.relpath}") + "\n" == NEW_TEXT
    assert own.git("--work-tree=.", "fsck", "--strict", "--no-dangling") == ""
    assert harness.observe("n1").seen is GitStatus.NOTHING
    assert managed_repos.list_roots(Path(proposal.repo).parent) == {person.root / ".claude/skills": Path(proposal.repo)}
    assert snapshot(person.root) == before


def test_accepting_creates_it_and_reverting_removes_it(person: Person, harness: Harness) -> None:
    commit_new(harness)
    assert harness.accept("n1").method is CommitMethod.GIT
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT
    assert harness.observe("n1").seen is GitStatus.LANDED
    harness.drop("n1")
    harness.stage(
        "p1", insert_below("- Watch the graphs.", "- Tell the team."), path=person.root / NEW_SKILL, skill="deploy"
    )
    harness.drop("p1")
    harness.revert("n1")
    assert list((person.root / ".claude/skills").iterdir()) == []
    assert harness.observe("n1").seen is GitStatus.REVERTED


def test_deleting_it_by_hand_is_a_revert(person: Person, harness: Harness) -> None:
    commit_new(harness)
    harness.accept("n1")
    harness.drop("n1")
    (person.root / NEW_SKILL).unlink()
    assert harness.observe("n1").seen is GitStatus.REVERTED


def test_only_the_new_skill_is_added_beside_others(person: Person, harness: Harness) -> None:
    person.write(".claude/skills/release/SKILL.md", "# Mine\n\n- Mine.\n")
    commit_new(harness)
    harness.stage("p1", insert_below("- Mine.", "- More."), path=person.root / ".claude/skills/release/SKILL.md")
    harness.accept("n1")
    assert harness.drop("n1").ended == {}
    harness.accept("p1")
    assert (person.root / ".claude/skills/release/SKILL.md").read_text() == "# Mine\n\n- Mine.\n- More.\n"


def test_a_file_created_there_meanwhile_is_kept(person: Person, harness: Harness) -> None:
    commit_new(harness)
    person.write(NEW_SKILL, OTHER_TEXT)
    with pytest.raises(RefusedError, match="a skill with that name now exists"):
        harness.accept("n1")
    assert (person.root / NEW_SKILL).read_text() == OTHER_TEXT


def test_a_missing_root_is_not_taken_for_an_empty_one(person: Person, harness: Harness) -> None:
    commit_new(harness)
    harness.accept("n1")
    harness.drop("n1")
    proposal = harness.stage(
        "p1", insert_below("- Watch the graphs.", "- Tell the team."), path=person.root / NEW_SKILL
    )
    (person.root / ".claude").rename(person.root / "away")
    tip = Person(Path(proposal.repo)).git("--work-tree=.", "rev-parse", "main")
    with pytest.raises(RefusedError, match="does not exist"):
        harness.accept("p1")
    assert harness.observe("p1").seen is GitStatus.GONE
    assert Person(Path(proposal.repo)).git("--work-tree=.", "rev-parse", "main") == tip


def test_an_ignored_folder_has_its_own_repository_too(person: Person, harness: Harness) -> None:
    project = new_repo(person.root.parent / "project")
    project.write(".git/info/exclude", ".claude/\n")
    before = snapshot(project.root)
    proposal = commit_new(harness, path=project.root / NEW_SKILL)
    assert Path(proposal.repo).parent == places().repositories
    assert snapshot(project.root) == before
    harness.accept("n1")
    assert (project.root / NEW_SKILL).read_text() == NEW_TEXT
    assert project.git("status", "--porcelain") == ""


def test_a_repository_without_commits_is_refused_by_name(person: Person, harness: Harness) -> None:
    fresh = Person(person.root.parent / "fresh")
    person.git("init", "--quiet", str(fresh.root))
    with pytest.raises(NotTrackedError, match=r"^Cannot use this repository: .* has no commits yet") as error:
        commit_new(harness, path=fresh.root / NEW_SKILL)
    assert error.value.remedy == f"Make the first commit: git -C {fresh.root} commit --allow-empty -m Start"
    assert not (person.root.parent / "data").exists()


def _propose(store: Store, path: Path, name: str, operation: Operation) -> Proposal:
    said = name.capitalize()
    update = Update(1, "", f"{said}.", "", Kind.PREFERENCE, 1, f"always {said}.", 0.9)
    return stage_and_store(
        store,
        make_proposal(
            id=name,
            batch_id=f"batch-{name}",
            skill="~/.claude/CLAUDE.md",
            path=str(path),
            operations=(operation,),
            summary=f"{said}.",
            kind=Kind.PREFERENCE,
            evidence=(Evidence(f"agent:{name}", f"always {said}."),),
            created_at=AT,
            updates=(update,),
            target=TargetKind.PERSONAL,
            agents=("claude-code",),
        ),
    )


def test_an_edit_of_a_reverted_file_creates_it_again(person: Person, store: Store) -> None:
    path = person.write(".claude/CLAUDE.md", "").resolve()
    path.unlink()
    places().redaction_key.parent.mkdir(parents=True)
    first = _propose(store, path, "brief", Operation(Op.CREATE, "personal", "# Notes\n\n- Brief.\n"))
    decide(store, first, accepting())
    _propose(store, path, "plain", Operation(Op.INSERT_AFTER, "- Brief.", "- Plain."))
    decide(store, get_proposal(store, "brief"), reverting())
    assert not path.exists()
    plain = get_proposal(store, "plain")
    assert (plain.state, plain.note) == (State.OPEN, "regenerated because its file is gone")
    decide(store, get_proposal(store, "plain"), rejecting())
    restore(store, get_proposal(store, "plain"))
    decide(store, get_proposal(store, "plain"), accepting())
    assert path.read_text() == "# Preferences\n\n- Plain.\n"


def test_a_missing_file_is_reported_without_mentioning_git(person: Person, store: Store) -> None:
    path = person.write(".claude/skills/release/SKILL.md", "# Release\n\n- Tag.\n").resolve()
    proposal = stage_and_store(
        store,
        make_proposal(path=str(path), operations=(Operation(Op.INSERT_AFTER, "- Tag.", "- Push."),), created_at=AT),
    )
    path.unlink()
    with pytest.raises(RefusedError) as error:
        decide(store, proposal, accepting())
    assert (error.value.title, error.value.cause) == ("The proposal was not accepted", f"{path} does not exist")
    assert error.value.remedy == f"Restore it, then: skilld accept {proposal.id}"
    assert ProposalReader().applicability(proposal).obstacle == f"accepting it would fail: {path} does not exist"
