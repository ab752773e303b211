"""New skills as programs handle them: staged, shown, amended, restored, recovered after damage."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.errors import RefusedError, SkilldError
from skilld.notify.notice import about_change
from skilld.proposals.amend import accept_edited, decide_parts, reopen
from skilld.proposals.auto_apply import apply_allowed
from skilld.proposals.decide import accepting, decide, rejecting, reverting
from skilld.proposals.explain import diff, read_versions
from skilld.proposals.reconcile import observe
from skilld.proposals.recover_from_git import recover_proposals
from skilld.proposals.staging import restage, stage
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import AutoRules, ObserveProposals, RecoverProposals
from skilld.store import Store
from skilld.types import Op, Operation, Proposal, State, TargetKind
from support.new_skills import NEW_SKILL, NEW_TEXT, OTHER_TEXT, new_proposal
from support.proposal_life import ProposalLife
from support.repos import Person
from support.waiting import LIMIT

STAGING = "refs/heads/skilld/staging"


@pytest.fixture
def person(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return person


def stage_new(proposal: Proposal, *standing: Proposal) -> Proposal:
    result = StagingResult()
    assert stage(proposal, standing, result, of_batch=True)
    (made,) = result.made
    return made


@pytest.fixture
def made(person: Person, store: Store) -> Proposal:
    """Return a staged proposal of a new skill, as the store gives it back."""
    proposal = stage_new(new_proposal(person))
    store.proposals.add(proposal)
    kept = store.proposals.get(proposal.id)
    assert kept == proposal
    return proposal


def test_a_new_skill_identical_to_an_existing_one_is_already_said(person: Person) -> None:
    person.commit("by hand", {NEW_SKILL: NEW_TEXT})
    result = StagingResult()
    assert not stage(new_proposal(person), (), result)
    assert result.made == []
    assert person.tip(STAGING) == ""


def test_a_file_that_git_tracks_but_the_work_tree_lacks_is_not_created(person: Person) -> None:
    person.commit("by hand", {NEW_SKILL: OTHER_TEXT})
    (person.root / NEW_SKILL).unlink()
    with pytest.raises(SkilldError, match=f"git tracks {NEW_SKILL}, but it is missing from the work tree"):
        stage(new_proposal(person), (), StagingResult())


def test_its_summary_says_what_it_is(person: Person, made: Proposal) -> None:
    assert made.summary == "new skill: say n1"
    assert person.log("-1", STAGING) == ["skilld(deploy): new skill: say n1"]
    assert read_versions(made) == (b"", NEW_TEXT.encode())
    assert read_versions(replace(made, operations=(Operation(Op.CREATE, "", OTHER_TEXT),))) == (b"", NEW_TEXT.encode())
    lines = list(diff(made))
    assert lines[:2] == ["--- /dev/null", f"+++ b/{NEW_SKILL}"]
    assert [line[1:] for line in lines[3:]] == NEW_TEXT.splitlines()


def test_one_batch_may_create_two(person: Person, made: Proposal) -> None:
    text = OTHER_TEXT.replace("name: deploy", "name: review")
    second = new_proposal(person, "n2", ".claude/skills/review/SKILL.md", text, batch_id=made.batch_id)
    assert stage_new(second, made).commit == person.tip(STAGING) != made.commit
    assert stage_new(second, made).id == "n2"
    assert stage_new(replace(second, id="n3"), made).id == "n2", "an earlier try of the same batch made it"


def test_without_a_quote_the_message_has_none(person: Person) -> None:
    proposal = stage_new(new_proposal(person, evidence=(), reason="Put together of two skills."))
    assert person.git("log", "-1", "--format=%b", STAGING).split("\n\n")[0] == "Put together of two skills."
    assert about_change(proposal) == "new skill: say n1"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"relpath": ".claude/skills/other/SKILL.md"}, "its name does not match its folder's name"),
        ({"relpath": ".claude/skills/deploy/README.md"}, "called SKILL.md"),
        ({"text": "# No front matter\n"}, "does not start with front matter"),
        ({"skill": "never"}, "opts out of skilld"),
    ],
)
def test_a_forbidden_skill_is_refused(person: Person, change: dict[str, Any], words: str) -> None:
    person.write(".skilld.toml", 'never = ["never"]\n')
    with pytest.raises(RefusedError, match=words):
        stage(new_proposal(person, **change), (), StagingResult())
    assert person.tip(STAGING) == ""


def test_an_edit_of_a_merely_proposed_skill_is_refused(person: Person, made: Proposal) -> None:
    edit = new_proposal(person, "p1", operations=(Operation(Op.INSERT_AFTER, "- Watch the graphs.", "- More."),))
    with pytest.raises(RefusedError, match="the open proposal n1 already creates that skill"):
        stage(edit, [made], StagingResult())


def test_another_skill_of_that_name_is_refused(person: Person, made: Proposal) -> None:
    with pytest.raises(SkilldError, match="a skill with that name now exists"):
        stage(new_proposal(person, "n2", text=OTHER_TEXT), [made], StagingResult())


def test_auto_mode_leaves_it_staged(person: Person) -> None:
    result = StagingResult()
    assert stage(new_proposal(person), (), result)
    apply_allowed(result, (), AutoRules(None, 0.0), lambda _: NEW_TEXT)
    assert result.applied == []
    assert not (person.root / NEW_SKILL).exists()


def test_it_can_be_accepted_and_reverted(person: Person, store: Store, made: Proposal) -> None:
    decide(store, made, accepting())
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT
    assert person.tip(STAGING) == ""
    accepted = store.proposals.get("n1")
    assert accepted is not None
    decide(store, accepted, reverting())
    assert not (person.root / ".claude").exists()
    reverted = store.proposals.get("n1")
    assert reverted is not None
    decide(store, reverted, accepting())
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT


def test_it_can_be_rejected_and_restored(person: Person, store: Store, made: Proposal) -> None:
    decide(store, made, rejecting())
    assert person.tip(STAGING) == ""
    rejected = store.proposals.get("n1")
    assert rejected is not None
    reopen(store, rejected)
    assert person.git("show", f"{STAGING}:{NEW_SKILL}") + "\n" == NEW_TEXT


def test_the_person_may_give_it_another_name(store: Store, made: Proposal) -> None:
    text = NEW_TEXT.replace("name: deploy", "name: roll-out")
    path = Path(made.path)
    other = path.parents[1] / "roll-out"
    other.mkdir(parents=True)
    with pytest.raises(SkilldError, match="there is already a skill called roll-out"):
        accept_edited(store, made, text)
    other.rmdir()
    before = store.proposals.get("n1")
    assert before is not None
    assert (before.state, before.path) == (State.OPEN, made.path)
    report = accept_edited(store, made, text)
    assert (other / "SKILL.md").read_text() == text
    assert not path.exists()
    kept = store.proposals.get("n1")
    assert kept is not None
    assert (kept.state, kept.skill, kept.path) == (State.ACCEPTED, "roll-out", str(other / "SKILL.md")), report
    decide(store, kept, reverting())
    assert not other.exists()


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# Rules\n\n- Always use spaces.\n", "Always use spaces."),
        ("# House rules\n\n- Always use tabs.\n", "Always use tabs."),
        ("# Rules\n\n- Always use tabs.\n- Keep it short.\n", "Always use tabs. Keep it short."),
        ("---\npaths: ['*.mk']\n---\n\n# Rules\n\n- Always use tabs here.\n", "Always use tabs here."),
    ],
)
def test_an_edited_new_file_is_named_by_what_it_says_now(life: ProposalLife, text: str, summary: str) -> None:
    create = Operation(Op.CREATE, TargetKind.INSTRUCTIONS.value, "# Rules\n\n- Always use tabs.\n")
    path, kind = life.person.root / "AGENTS.md", TargetKind.INSTRUCTIONS
    life.propose("p1", create, path=path, skill="AGENTS.md", target=kind, summary="Always use tabs.")
    report = accept_edited(life.store, life.get(), text)
    assert report.lines[0] == f"p1 accepted: {summary}"
    assert (life.get().summary, path.read_text()) == (summary, text)


def test_the_persons_own_text_is_accepted(person: Person, store: Store, made: Proposal) -> None:
    with pytest.raises(SkilldError, match="its name can contain only"):
        accept_edited(store, made, NEW_TEXT.replace("name: deploy", "name: De ploy"))
    assert person.git("show", f"{STAGING}:{NEW_SKILL}") + "\n" == NEW_TEXT
    own = OTHER_TEXT.replace("to staging", "to production")
    report = accept_edited(store, made, own)
    assert report.lines[0] == "n1 accepted: new skill: How we deploy to production."
    assert (person.root / NEW_SKILL).read_text() == own
    kept = store.proposals.get("n1")
    assert kept is not None
    assert (kept.state, kept.note, kept.operations) == (
        State.ACCEPTED,
        "edited by you",
        (Operation(Op.CREATE, "", own),),
    )


def test_its_only_part_is_the_whole(person: Person, store: Store, made: Proposal) -> None:
    decide_parts(store, made, [0], accepting())
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT


def test_a_metadata_mark_is_proposed_amended_and_kept(person: Person, store: Store) -> None:
    skill = "---\nname: release\ndescription: How we release.\n---\n\n# Release\n\n- Tag.\n"
    person.commit("mine", {"skills/release/SKILL.md": skill})
    steps = (Operation(Op.MARK, "skilld-merged-from", "b, c"), Operation(Op.INSERT_AFTER, "- Tag.", "- Push."))
    facts = {"relpath": "skills/release/SKILL.md", "skill": "release"}
    proposal = stage_new(new_proposal(person, "m1", operations=steps, **facts))
    store.proposals.add(proposal)
    found = read_versions(proposal)
    assert found is not None
    accept_edited(store, proposal, found[1].decode().replace("- Push.", "- Push it."))
    marked = skill.replace("\n---\n\n", '\nmetadata:\n  skilld-merged-from: "b, c"\n---\n\n')
    assert person.skill.read_text() == marked + "- Push it.\n"


def test_it_is_recovered_from_git(person: Person, made: Proposal) -> None:
    (found,) = recover_proposals(
        RecoverProposals((), (str(person.root / "src"), str(person.root / "gone"), "/"))
    ).proposals
    assert (found.id, found.path, found.operations, found.summary) == (
        made.id,
        made.path,
        made.operations,
        made.summary,
    )
    assert found.state is State.OPEN
    own = stage_new(new_proposal(Person(person.root.parent / "home"), "n2"))
    assert [proposal.id for proposal in recover_proposals(RecoverProposals(())).proposals] == [own.id]


def test_once_accepted_it_is_found_by_its_skill(person: Person, store: Store, made: Proposal) -> None:
    decide(store, made, accepting())
    (proposal,) = recover_proposals(RecoverProposals((made.path,), (str(person.root),))).proposals
    assert (proposal.id, proposal.state, proposal.operations) == (made.id, State.ACCEPTED, made.operations)


def test_it_waits_for_the_branch_and_is_then_committed(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "skilld/staging")
    waiting = stage_new(new_proposal(person))
    assert (waiting.commit, waiting.note) == ("", f"on hold: skilld/staging is checked out in {person.root}")
    assert read_versions(waiting) == (b"", NEW_TEXT.encode())
    person.git("switch", "--quiet", "main")
    person.git("branch", "-D", "skilld/staging")
    (committed,) = observe(ObserveProposals(now=time.time(), proposals=(waiting,))).committed
    assert committed.commit == person.tip(STAGING) != ""


def test_two_open_at_once_stay_separate(person: Person) -> None:
    """Every process has its turn, and the second one finds the first one's commit below its own."""
    text = OTHER_TEXT.replace("name: deploy", "name: review")
    proposals = [new_proposal(person), new_proposal(person, "n2", ".claude/skills/review/SKILL.md", text)]
    threads = [threading.Thread(target=stage, args=(proposal, (), StagingResult())) for proposal in proposals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(person.log(STAGING, "^main")) == [
        "skilld(deploy): new skill: say n1",
        "skilld(review): new skill: say n2",
    ]
    line = StagingResult()
    restage(str(person.root), [stage_new(proposal) for proposal in proposals], line)
    assert line.decisions == []


def test_a_kill_between_commit_and_store_leaves_exactly_one(person: Person, store: Store) -> None:
    code = (
        "import os, sys, pickle\n"
        "from skilld.proposals.staging_result import StagingResult\n"
        "from skilld.proposals.staging import stage\n"
        "stage(pickle.loads(sys.stdin.buffer.read()), (), StagingResult()); os.kill(os.getpid(), 9)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(new_proposal(person)), check=False, timeout=LIMIT
    )
    assert result.returncode == -9
    tip = person.tip(STAGING)
    assert tip
    proposal = stage_new(new_proposal(person))
    store.proposals.add(proposal)
    assert (proposal.commit, person.tip(STAGING)) == (tip, tip)
    decide(store, proposal, accepting())
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT
