"""What staging and checking mean for proposals: rows for the store, and what is left alone."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.errors import RetryError, SkilldError
from skilld.git import refs
from skilld.git.run import Git
from skilld.proposals.amend import stage_and_store
from skilld.proposals.auto_apply import apply_allowed
from skilld.proposals.decide import decide, rejecting
from skilld.proposals.poll import refresh
from skilld.proposals.reconcile import observe
from skilld.proposals.staging import restage, stage
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import AutoRules, GitResult, ObserveProposals
from skilld.skills.write import compose
from skilld.store import Store
from skilld.types import AutoApply, Evidence, Op, Operation, Proposal, State, StateChange
from support.proposal_life import make_edit
from support.repos import SKILL, TEXT, Person, new_repo

STAGING = "refs/heads/skilld/staging"
EVERYTHING = AutoRules(None, 0.8)
SAID = "always make a dry run first, run make lint, sign the tag and see https://a.org"


def proposal(person: Person, name: str, anchor: str, text: str, op: Op = Op.INSERT_AFTER, **other: Any) -> Proposal:
    return make_edit(person, name, Operation(op, anchor, text), **other)


def stage_edit(person: Person, name: str, anchor: str, text: str, *standing: Proposal) -> Proposal:
    """Stage one proposal and return it as the store would keep it."""
    result = StagingResult()
    assert stage(proposal(person, name, anchor, text), standing, result)
    (made,) = result.made
    return made


def check_repository(*proposals: Proposal, **job: Any) -> GitResult:
    return observe(ObserveProposals(**{"now": time.time(), "proposals": proposals, **job}))


def decisions_in(found: GitResult | StagingResult) -> list[tuple[str, str, str]]:
    """Return whose state changed, and how."""
    decisions = found.decisions if isinstance(found, StagingResult) else found.changes.decisions
    return sorted((decision.proposal, decision.before.value, decision.after.value) for decision in decisions)


def test_a_batch_with_two_skills_is_one_branch(person: Person) -> None:
    other = person.root / "skills/other/SKILL.md"
    person.commit("other", {"skills/other/SKILL.md": "# Other\n\n- Read it.\n"})
    result = StagingResult()
    assert stage(proposal(person, "p1", "- Run the tests.", "- Dry run first."), (), result)
    assert stage(proposal(person, "p2", "- Read it.", "- Twice.", path=other), (), result)
    first, second = result.made
    assert (second.commit, first.commit) == (person.tip(STAGING), person.tip(f"{STAGING}^"))
    assert [person.tip(f"refs/skilld/proposals/{made.id}") for made in result.made] == [first.commit, second.commit]
    assert first.base == second.base == person.tip()


def test_new_skills_of_one_batch_are_told_apart(person: Person) -> None:
    names = ("deploy", "review")
    paths = [person.root / f"skills/{name}/SKILL.md" for name in names]
    made: list[Proposal] = []
    for name, path in zip(names, paths, strict=True):
        text = compose(name, f"How to {name}. Use when asked to.", f"# {name}", {})
        result = StagingResult()
        new = proposal(person, name, "", text, Op.CREATE, path=path, batch_id="one-batch")
        assert stage(new, tuple(made), result)
        made += result.made
    assert [one.id for one in made] == [*names]
    assert all(person.git("show", f"{STAGING}:skills/{name}/SKILL.md") for name in names)


def test_a_change_the_skill_now_has_is_accepted_and_one_it_cannot_take_is_stale(person: Person) -> None:
    first = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    second = stage_edit(person, "p2", "Keep the changelog short.", "One line each.", first)
    text = TEXT.replace("- Tag", "- Dry run first.\n- Tag").partition("## Notes")[0]
    person.commit("mine", {SKILL: text})
    result = StagingResult()
    assert stage(proposal(person, "p3", "- Push the tag.", "- Write the news."), (first, second), result)
    accepted, stale = sorted(result.decisions, key=lambda one: one.proposal)
    assert accepted == StateChange("p1", State.OPEN, State.ACCEPTED, note="the file now says this")
    assert replace(stale, note="") == StateChange("p2", State.OPEN, State.STALE)
    assert stale.note.endswith("now in another section")
    assert person.git("for-each-ref", "--format=%(refname)", "refs/skilld") == "refs/skilld/proposals/p3"


class Killed(BaseException):
    """In place of kill -9: nothing catches it, and what is on the disk stays as it is."""


@pytest.mark.parametrize(("moves", "others"), [(0, True), (1, True), (2, True), (1, False)])
def test_staleness_survives_a_kill_before_it_was_stored(
    person: Person, monkeypatch: pytest.MonkeyPatch, moves: int, *, others: bool
) -> None:
    """Parts 6 and 8: after so many moves of refs; it is never shown as dropped, which the person would have done."""
    known = [stage_edit(person, "p1", "Keep the changelog short.", "One line each.")]
    known += [stage_edit(person, "p2", "- Run the tests.", "- Dry run first.", *known)] if others else []
    person.commit("mine", {SKILL: TEXT.partition("## Notes")[0]})
    left = iter(range(moves))
    move = refs.move_refs

    def killed_at_the_next(git: Git, common_dir: Path, changes: Sequence[refs.RefChange], note: str = "") -> None:
        if changes and next(left, None) is None:
            raise Killed
        move(git, common_dir, changes, note)

    with monkeypatch.context() as patch:
        patch.setattr(refs, "move_refs", killed_at_the_next)
        try:
            check_repository(*known)
        except Killed:
            assert moves < 2
        else:
            assert moves == 2
    result = check_repository(*known)
    (stale,) = result.changes.decisions
    assert replace(stale, note="") == StateChange("p1", State.OPEN, State.STALE)
    assert stale.note.endswith("now in another section")
    assert "One line each." not in (person.show(ref=STAGING) if others else "")
    assert person.git("for-each-ref", "--format=%(refname)", "refs/skilld").split() == (
        ["refs/skilld/proposals/p2"] if others else []
    )


def test_a_proposal_removed_by_the_person_with_its_ref_is_dropped(person: Person) -> None:
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    person.git("branch", "-D", "skilld/staging")
    person.git("update-ref", "-d", "refs/skilld/proposals/p1")
    assert decisions_in(check_repository(made)) == [("p1", "open", "dropped")]


def test_a_rebuild_reports_its_base(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    person.commit("skill work", {SKILL: TEXT + "More.\n"})
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    assert check_repository(made).changes.rests == {
        str(person.root): "is based on feature, which has 1 commit not on main"
    }
    person.git("switch", "--quiet", "main")
    person.git("merge", "--quiet", "feature")
    assert check_repository(made).changes.rests == {str(person.root): ""}


def test_a_lock_left_by_a_killed_worker_is_removed_only_under_the_daemons_lock(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refs, "_RETRY_SECONDS", (0.01, 0.01))  # how it waits is held in test_git_refs.py
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    lock = person.root / f".git/{STAGING}.lock"
    lock.touch()
    later = time.time() + 3600
    os.utime(lock, (later, later))  # ten seconds old it would be taken for abandoned, on a busy machine too
    second = proposal(person, "p2", "- Push the tag.", "- Write the news.")
    with pytest.raises(RetryError):
        stage(second, (made,), StagingResult(), alone=True)  # it may be in use
    long_ago = time.time() - 60
    os.utime(lock, (long_ago, long_ago))
    with pytest.raises(RetryError):
        stage(second, (made,), StagingResult())
    assert stage(second, (made,), StagingResult(), alone=True)
    assert not lock.exists()


def test_a_check_by_the_daemon_removes_one_too(person: Person) -> None:
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    lock = person.root / ".git/refs/skilld/proposals/p1.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    assert check_repository(made).detail == ""
    assert lock.exists()
    assert check_repository(made, alone=True).detail == ""
    assert not lock.exists()


def test_the_branch_is_deleted_with_the_last_proposal(person: Person) -> None:
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    person.git("merge", "--quiet", "skilld/staging")
    result = check_repository(made)
    assert decisions_in(result) == [("p1", "open", "accepted")]
    assert person.git("for-each-ref", "refs/skilld", STAGING) == ""


def test_a_waiting_proposal_is_committed_when_its_time_comes(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "skilld/staging")
    result = StagingResult()
    assert stage(proposal(person, "p1", "- Run the tests.", "- Dry run first."), (), result)
    (waiting,) = result.made
    assert (waiting.commit, waiting.note) == ("", f"on hold: skilld/staging is checked out in {person.root}")
    assert check_repository(waiting).committed == ()
    person.git("switch", "--quiet", "main")
    person.git("branch", "-D", "skilld/staging")
    found = check_repository(waiting)
    (committed,) = found.committed
    assert (committed.commit, committed.note) == (person.tip(STAGING), "")
    assert found.changes.decisions == ()


def taught_on_staging(person: Person, first: Proposal) -> Proposal:
    """Return a proposal for a line below that of `first`, made while the staging branch was checked out."""
    person.git("switch", "--quiet", "skilld/staging")
    result = StagingResult()
    assert stage(proposal(person, "p2", "- Dry run first.", "- Then wait a minute."), (first,), result)
    (waiting,) = result.made
    person.git("switch", "--quiet", "main")
    return waiting


@pytest.mark.parametrize("rejected", [True, False])
def test_a_proposal_waiting_below_another_ones_line_is_placed_again(person: Person, *, rejected: bool) -> None:
    first = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    waiting = taught_on_staging(person, first)
    found = check_repository(waiting, closed={"p1": math.inf}) if rejected else check_repository(first, waiting)
    (committed,) = found.committed
    assert (decisions_in(found), committed.commit) == ([], person.tip(STAGING))
    lines = ["- Run the tests.", *([] if rejected else ["- Dry run first."]), "- Then wait a minute."]
    assert "\n".join([*lines, "- Tag the commit."]) in person.show(ref=STAGING)
    assert person.log(STAGING, "^main") == [f"skilld(release): say {name}" for name in ("p2", "p1")[: 2 - rejected]]
    # What the store keeps now fits again wherever the branch is made anew.
    person.commit("mine", {SKILL: TEXT + "More.\n"})
    (commit,) = [moved.commit for moved in check_repository(committed).changes.moved if moved.proposal == "p2"]
    assert commit == person.tip("refs/skilld/proposals/p2")


def test_a_proposal_waiting_below_a_merged_line_stays_below_it(person: Person) -> None:
    first = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    waiting = taught_on_staging(person, first)
    person.git("merge", "--quiet", "skilld/staging")
    (committed,) = check_repository(first, waiting).committed
    assert committed.operations[0].anchor == "- Dry run first."
    assert "- Dry run first.\n- Then wait a minute." in person.show(ref=STAGING)


def test_a_waiting_proposal_the_person_wrote_is_accepted(person: Person) -> None:
    first = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    waiting = taught_on_staging(person, first)
    person.commit("mine", {SKILL: TEXT.replace("- Tag", "- Then wait a minute.\n- Tag")})
    result = check_repository(first, waiting)
    change = StateChange("p2", State.OPEN, State.ACCEPTED, note="you made this change yourself")
    assert result.changes.decisions == (change,)
    assert result.committed == ()


def test_a_change_of_another_proposals_line_is_dropped_with_it(person: Person) -> None:
    first = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    person.git("switch", "--quiet", "skilld/staging")
    result = StagingResult()
    change = proposal(person, "p2", "- Dry run first.", "- Two dry runs first.", Op.REPLACE)
    assert stage(change, (first,), result)
    person.git("switch", "--quiet", "main")
    assert decisions_in(check_repository(*result.made, closed={"p1": math.inf})) == [("p2", "open", "stale")]


def test_several_waiting_proposals_take_each_other_into_account(person: Person) -> None:
    other = person.root / "skills/other/SKILL.md"
    person.commit("both", {SKILL: TEXT + "More.\n", "skills/other/SKILL.md": "# Other\n\n- Read it.\n\nEnd.\n"})
    person.commit("other", {"skills/other/SKILL.md": "# Other\n\n- Read it.\n\nThe end.\n"})
    person.git("switch", "--quiet", "-c", "skilld/staging")
    result = StagingResult()
    assert stage(proposal(person, "p1", "- Read it.", "- Twice.", path=other), (), result)
    assert stage(proposal(person, "p2", "- Run the tests.", "- Dry run first."), (), result)
    person.git("switch", "--quiet", "main")
    person.git("branch", "--quiet", "-D", "skilld/staging")
    found = check_repository(*result.made)
    assert [one.id for one in found.committed] == ["p1", "p2"]
    on_branch = person.git("rev-list", "--reverse", f"main..{STAGING}").splitlines()
    assert on_branch == [person.tip(f"refs/skilld/proposals/{name}") for name in ("p1", "p2")]


def test_a_restored_proposal_waits_while_the_branch_is_in_use(person: Person) -> None:
    first = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    second = stage_edit(person, "p2", "- Push the tag.", "- Write the news.", first)
    restage(second.repo, [second], StagingResult(), ["p1"])
    person.git("switch", "--quiet", "skilld/staging")
    result = StagingResult()
    assert stage(first, (second,), result)
    (waiting,) = result.made
    assert (waiting.commit, waiting.note[:8]) == ("", "on hold:")
    person.git("switch", "--quiet", "main")
    assert [one.id for one in check_repository(second, waiting).committed] == ["p1"]


@pytest.mark.parametrize("open_too", [True, False])
def test_a_proposal_decided_while_the_branch_is_in_use_leaves_it_later(person: Person, *, open_too: bool) -> None:
    first = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    others = [stage_edit(person, "p2", "- Push the tag.", "- Write the news.", first)] if open_too else []
    person.git("switch", "--quiet", "skilld/staging")
    assert restage(first.repo, others, StagingResult(), ["p1"]) == f"skilld/staging is checked out in {person.root}"
    rejected = replace(first, state=State.REJECTED)
    assert check_repository(rejected, *others, closed={"p1": math.inf}).detail == ""
    assert "- Dry run first." in person.show(ref=STAGING)
    person.git("switch", "--quiet", "main")
    check_repository(rejected, *others, closed={"p1": math.inf})
    assert person.log(STAGING, "^main") == ["skilld(release): say p2"] if open_too else not person.tip(STAGING)


def test_a_lock_keeps_waiting_proposals_waiting(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refs, "_RETRY_SECONDS", (0.01, 0.01))  # how it waits is held in test_git_refs.py
    waiting = proposal(person, "p1", "- Run the tests.", "- Dry run first.", repo=str(person.root))
    (person.root / ".git/refs/heads/skilld").mkdir()
    (person.root / f".git/{STAGING}.lock").touch()
    result = check_repository(waiting)
    assert (result.changes.decisions, result.committed) == ((), ())


def test_a_waiting_proposal_that_no_longer_fits_is_stale(person: Person) -> None:
    waiting = proposal(person, "p1", "- No such step.", "- Dry run first.", repo=str(person.root))
    (stale,) = check_repository(waiting).changes.decisions
    assert replace(stale, note="") == StateChange("p1", State.OPEN, State.STALE)
    assert stale.note


def test_a_broken_repository_is_reported_and_the_others_are_checked(tmp_path: Path, person: Person) -> None:
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    other = new_repo(tmp_path / "other")
    second = stage_edit(other, "p2", "- Run the tests.", "- Dry run first.")
    other.git("merge", "--quiet", "skilld/staging")
    person.git("config", "core.repositoryFormatVersion", "1")
    person.git("config", "extensions.refStorage", "reftable")
    result = check_repository(made, second, missing={"p1": 5.0})
    assert "refstorage" in result.detail
    assert decisions_in(result) == [("p2", "open", "accepted")]
    assert "p1" not in result.missing


def test_a_dropped_proposals_grace_day_continues_while_the_person_is_on_the_branch(person: Person) -> None:
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    person.git("branch", "-f", "skilld/staging", "main")
    assert check_repository(made, now=1000.0).missing == {"p1": 1000.0}
    person.git("switch", "--quiet", "-c", "skilld/staging")
    assert check_repository(made, now=2000.0, missing={"p1": 1000.0}).missing == {"p1": 1000.0}


def test_proposals_lost_with_their_repository_return_with_it(person: Person, store: Store, tmp_path: Path) -> None:
    stage_and_store(store, proposal(person, "p1", "- Run the tests.", "- Dry run first."))
    person.root.rename(tmp_path / "moved")
    refresh(store)
    assert store.proposals.ids(State.STALE) == ["p1"]
    (tmp_path / "moved").rename(person.root)
    refresh(store)
    assert store.proposals.ids(State.OPEN) == ["p1"]
    assert person.log(STAGING, "^main") == ["skilld(release): say p1"]


@pytest.mark.parametrize("main", ["a work tree", "bare"])
def test_proposals_from_a_removed_work_tree_survive(person: Person, store: Store, main: str) -> None:
    if main == "bare":
        person.git("clone", "--quiet", "--bare", ".", "../hub.git")
        hub = Person(person.root.parent / "hub.git")
        hub.git("worktree", "add", "--quiet", "../work-too", "main")
        person = Person(person.root.parent / "work-too")
    person.git("worktree", "add", "--quiet", "-b", "side", "../linked")
    linked = Person(person.root.parent / "linked")
    first = stage_and_store(store, proposal(linked, "p1", "- Run the tests.", "- Dry run first."))
    second = stage_and_store(store, proposal(linked, "p2", "- Push the tag.", "- Write the news."))
    assert first.repo == second.repo == str(linked.root)
    person.git("worktree", "remove", "../linked")
    refresh(store)
    found = [store.proposals.get(name) for name in ("p1", "p2")]
    here = (State.OPEN, str(person.root), str(person.skill))
    assert [(one.state, one.repo, one.path) for one in found if one is not None] == [here, here]
    decide(store, found[0] or first, rejecting())
    assert person.log(STAGING, "^main") == ["skilld(release): say p2"]
    person.git("merge", "--quiet", "skilld/staging")
    refresh(store)
    assert [store.proposals.ids(state) for state in (State.REJECTED, State.ACCEPTED)] == [["p1"], ["p2"]]


def test_restaging_in_a_missing_repository_is_refused(person: Person, tmp_path: Path) -> None:
    made = stage_edit(person, "p1", "- Run the tests.", "- Dry run first.")
    person.root.rename(tmp_path / "moved")
    assert decisions_in(check_repository(made)) == [("p1", "open", "stale")]
    with pytest.raises(SkilldError):
        restage(made.repo, [made], StagingResult())


LEFT_STAGED: dict[str, tuple[dict[str, Any], AutoRules]] = {
    "off": ({}, AutoRules((), 0.8)),
    "another skill": ({}, AutoRules(("another",), 0.8)),
    "unsure": ({"confidence": 0.79}, EVERYTHING),
    "flagged": ({"flags": ("look at this",)}, EVERYTHING),
    "removes": ({"operations": (Operation(Op.DELETE, "- Tag the commit."),)}, EVERYTHING),
    "replaces": ({"operations": (Operation(Op.REPLACE, "- Tag the commit.", "- Sign the tag."),)}, EVERYTHING),
    "command": ({"operations": (Operation(Op.INSERT_AFTER, "- Run the tests.", "- Run `make lint`."),)}, EVERYTHING),
    "said to Pi": ({"agent": "pi"}, EVERYTHING),
    "said to Pi, too": ({"evidence": (Evidence("claude-code:t1", SAID), Evidence("pi:t2", SAID))}, EVERYTHING),
    "address": ({"operations": (Operation(Op.INSERT_AFTER, "- Run the tests.", "- See https://a.org."),)}, EVERYTHING),
}


def test_auto_mode_leaves_it_staged(person: Person) -> None:
    made, tip = stage_edit(person, "p1", "- Run the tests.", "- Dry run first."), person.tip()
    for kind, (change, rules) in LEFT_STAGED.items():
        result = StagingResult(made=[replace(made, **change)])
        apply_allowed(result, (), rules, lambda _: SAID)
        assert (result.applied, result.made[0].note, person.tip()) == ([], "", tip), kind


@pytest.mark.parametrize("skills", [None, ("release",)], ids=["all skills", "this skill"])
def test_auto_mode_applies_it_and_keeps_the_others_staged(person: Person, skills: tuple[str, ...] | None) -> None:
    standing = stage_edit(person, "p0", "- Push the tag.", "- Write the news.")
    result = StagingResult()
    assert stage(proposal(person, "p1", "- Run the tests.", "- Dry run first."), (standing,), result)
    apply_allowed(result, (standing,), AutoRules(skills, 0.8), lambda _: SAID)
    assert result.applied == [AutoApply("p1", person.tip("main"))]
    assert person.skill.read_text() == TEXT.replace("- Tag", "- Dry run first.\n- Tag")
    assert person.log(STAGING, "^main") == ["skilld(release): say p0"]
    assert person.git("for-each-ref", "--format=%(refname)", "refs/skilld") == "refs/skilld/proposals/p0"
    assert [moved.proposal for moved in result.moved] == ["p0"]


@pytest.mark.parametrize(
    ("text", "said", "applied"),
    [
        ("- Dry runs first.", "first do a dry run", True),
        ("- Dry runs first, publicly.", "first do a dry run", False),
        ("- Never do dry runs first.", "first do a dry run", False),
        ("- 先试运行一次。", "每次都要先试运行", False),
        ("- 先试运行。", "每次都要先试运行", True),
        ("- Dry runs first.", "", False),
    ],
)
def test_s5_auto_mode_applies_only_words_the_person_typed(
    person: Person,
    text: str,
    said: str,
    applied: bool,  # noqa: FBT001 - a table
) -> None:
    result = StagingResult()
    assert stage(proposal(person, "p1", "- Run the tests.", text), (), result)
    apply_allowed(result, (), EVERYTHING, lambda _: said)
    assert bool(result.applied) == applied


def test_auto_mode_says_why_it_did_not(person: Person) -> None:
    person.git("checkout", "--quiet", "--detach")
    result = StagingResult()
    assert stage(proposal(person, "p1", "- Run the tests.", "- Dry run first."), (), result)
    apply_allowed(result, (), EVERYTHING, lambda _: SAID)
    assert result.made[0].note == f"not applied: no branch is checked out in {person.root}"
    assert result.made[0].commit == person.tip(STAGING)
