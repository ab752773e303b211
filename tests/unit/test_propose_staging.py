from __future__ import annotations

import signal
from typing import Any

import pytest

from skilld.errors import SkilldError
from skilld.git.errors import GitFailedError
from skilld.git.run import Git, Result
from skilld.proposals.model import ProposalCommit, WaitsForPerson
from skilld.proposals.propose import rebuild
from skilld.types import Evidence, Kind, State, Update
from support.repos import SKILL, TEXT, AnchoredEdit, Harness, Person, insert_below, remove_line, replace_line, snapshot

DRY = insert_below("- Run the tests.", "- Do a dry run.")
NEWS = insert_below("- Push the tag.", "- Write the news.")
STAGING = "refs/heads/skilld/staging"


def test_a_proposal_is_one_commit_on_the_last_one_touching_the_skill(person: Person, harness: Harness) -> None:
    touched = person.tip()
    person.commit("later", {"src/app.py": "print(2)\n"})
    proposal = harness.stage("p1", DRY)
    assert proposal.base == touched
    assert person.git("rev-list", "--parents", "-1", STAGING) == f"{proposal.commit} {touched}"
    assert person.files_changed(touched, STAGING) == [SKILL]
    assert person.show(ref=STAGING).splitlines()[9:12] == ["- Run the tests.", "- Do a dry run.", "- Tag the commit."]
    assert person.tip("refs/skilld/proposals/p1") == proposal.commit
    assert person.git("log", "-1", "--format=%an <%ae> %cn %at %ct", STAGING) == (
        "skilld <skilld@localhost> skilld 1767607200 1767607200"
    )
    assert proposal.staging.base_info is not None
    assert proposal.staging.base_info.warning == ""


def test_nothing_of_the_persons_changes(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    person.commit("unfinished", {"src/app.py": "print(3)\n"})
    person.write("src/app.py", "print(4)\n")
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    person.write("untracked.txt", "mine\n")
    person.git("status")
    before = snapshot(person.root)
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    harness.drop("p1")
    assert snapshot(person.root) == before
    assert person.git("fsck", "--strict", "--no-dangling") == ""


def test_a_rebuilt_branch_is_written_at_once(person: Person, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    harness.stage("p3", replace_line("Keep the changelog short.", "Keep the changelog very short."))
    writes: list[bytes] = []
    run = Git.run

    def recorded_run(self: Git, *args: str, stdin: bytes | None = None, **other: Any) -> bytes:
        writes.extend([stdin or b""] if args[0] == "unpack-objects" else [])
        return run(self, *args, stdin=stdin, **other)

    monkeypatch.setattr(Git, "run", recorded_run)
    harness.drop("p1")
    assert len(writes) == 1
    assert person.log(STAGING, "^main") == [
        "skilld(release): say p3",
        "skilld(release): say p2",
    ]


def test_merging_into_main_brings_only_the_proposal(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    person.commit("unfinished 1", {"src/app.py": "print(3)\n"})
    person.commit("unfinished 2", {"src/new.py": "print(4)\n"})
    harness.stage("p1", DRY)
    person.git("switch", "--quiet", "main")
    main = person.tip()
    person.git("merge", "--quiet", "skilld/staging")
    assert person.files_changed(main, "main") == [SKILL]
    assert person.log("main") == ["skilld(release): say p1", "first"]


def test_proposals_form_a_linear_history(person: Person, harness: Harness) -> None:
    first = harness.stage("p1", DRY)
    second = harness.stage("p2", NEWS)
    third = harness.stage("p3", replace_line("- Tag the commit.", "- Sign the tag."))
    lines = person.git("rev-list", "--parents", "--reverse", STAGING, "^main").splitlines()
    assert lines == [
        f"{first.commit} {person.tip('main')}",
        f"{second.commit} {first.commit}",
        f"{third.commit} {second.commit}",
    ]
    assert "- Sign the tag.\n- Push the tag.\n- Write the news." in person.show(ref=STAGING)


def test_a_retry_finds_the_existing_commit(person: Person, harness: Harness) -> None:
    proposal = harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    tip = person.tip(STAGING)
    again = harness.stage("p1", DRY)
    assert again.commit == proposal.commit
    assert person.tip(STAGING) == tip


def test_a_retry_under_another_id_finds_the_batch(harness: Harness) -> None:
    proposal = harness.stage("p1", DRY)
    again = harness.propose("other", DRY, batch_id="batch-p1")
    assert isinstance(again, ProposalCommit)
    assert (again.id, again.commit) == ("p1", proposal.commit)


def test_a_retry_after_a_merge_finds_the_merged_commit(person: Person, harness: Harness) -> None:
    proposal = harness.stage("p1", DRY)
    person.git("merge", "--quiet", "skilld/staging")
    person.git("branch", "-D", "skilld/staging")
    person.git("update-ref", "-d", "refs/skilld/proposals/p1")
    again = harness.stage("p1", DRY)
    assert again.commit == proposal.commit


def test_the_same_request_makes_the_same_commit(person: Person, harness: Harness) -> None:
    proposal = harness.stage("p1", DRY)
    person.git("update-ref", "-d", STAGING)
    person.git("update-ref", "-d", "refs/skilld/proposals/p1")
    assert Harness(person).stage("p1", DRY).commit == proposal.commit


def test_a_persons_commit_on_the_branch_survives(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    person.git("switch", "--quiet", "skilld/staging")
    text = person.skill.read_text().replace("Keep the changelog short.", "Keep the changelog very short.")
    person.commit("my own words", {SKILL: text, "notes/mine.txt": "mine\n"})
    person.git("switch", "--quiet", "main")
    line = harness.drop("p1")
    assert person.log(STAGING, "^main") == ["my own words", "skilld(release): say p2"]
    assert person.tip("refs/skilld/proposals/p1") == ""
    assert person.tip("refs/skilld/proposals/p2") == line.moved["p2"] == person.tip(f"{STAGING}^")
    assert person.git("log", "-1", "--format=%an %cn", STAGING) == "Pat Person Pat Person"
    assert person.show("notes/mine.txt", STAGING) == "mine"
    assert "very short" in person.show(ref=STAGING)
    assert "dry run" not in person.show(ref=STAGING)


def test_a_commit_left_by_a_killed_job_does_not_block_other_skills(person: Person, harness: Harness) -> None:
    harness.stage("p0", DRY)
    other = person.root / "skills/other/SKILL.md"
    person.commit("another skill", {"skills/other/SKILL.md": TEXT})
    person.git("merge", "--quiet", "--no-edit", "skilld/staging")
    # It rests on the merged proposal, whose commit has no other skill; that it was made was never written down.
    Harness(person).stage("p1", insert_below("- Do a dry run.", "- Ask twice."))
    Harness(person).stage("p2", NEWS, path=other, skill="other")
    assert person.log(STAGING, "^main") == ["skilld(other): say p2", "skilld(release): say p1"]


def test_a_persons_commit_that_no_longer_fits_blocks_the_branch(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.git("switch", "--quiet", "skilld/staging")
    person.commit("reworded", {SKILL: person.skill.read_text().replace("a dry run", "one dry run")})
    person.git("switch", "--quiet", "main")
    tip = person.tip(STAGING)
    line = harness.drop("p1")
    assert line.held_reason == "your commit on skilld/staging no longer applies: reworded"
    assert person.tip(STAGING) == tip
    assert person.tip("refs/skilld/proposals/p1") == ""
    assert "- one dry run." not in person.show()
    second = harness.stage("p2", NEWS)
    assert person.tip(f"{STAGING}^") == tip
    assert second.staging.held_reason


def test_an_amended_proposal_keeps_the_persons_words(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    person.git("switch", "--quiet", "skilld/staging")
    person.write(SKILL, person.skill.read_text().replace("Write the news.", "Write news for people."))
    person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    person.git("switch", "--quiet", "main")
    harness.drop("p1")
    assert "- Write news for people." in person.show(ref=STAGING)
    person.commit("mine", {SKILL: TEXT.replace("Steps:", "Steps in order:")})
    harness.stage("p3", remove_line("Keep the changelog short."))
    assert "- Write news for people." in person.show(ref=STAGING)
    assert person.log(STAGING, "^main")[1] == "skilld(release): say p2"


def test_an_uncommitted_skill_makes_it_wait(person: Person, harness: Harness) -> None:
    person.write(SKILL, TEXT.replace("- Tag the commit.", "- Tag it well."))
    outcome = harness.propose("p1", insert_below("- Tag it well.", "- Do a dry run."))
    assert outcome == WaitsForPerson(f"on hold until you commit your changes to {SKILL}")
    assert person.tip(STAGING) == ""
    proposal = harness.stage("p2", DRY)
    assert "Tag it well" not in person.show(ref=proposal.commit)


def test_missing_anchors_are_refused(harness: Harness) -> None:
    with pytest.raises(SkilldError, match="The edit does not fit: anchor not found once: - No such step"):
        harness.propose("p1", insert_below("- No such step.", "- Do a dry run."))


def test_an_edit_that_does_not_fit_after_an_open_proposal_is_refused(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    harness.stage("p2", remove_line("- Push the tag."))
    tip = person.tip(STAGING)
    with pytest.raises(SkilldError, match="anchor not found once"):
        harness.propose("p3", NEWS)
    assert person.tip(STAGING) == tip


def test_an_edit_without_a_change_is_refused(person: Person, harness: Harness) -> None:
    assert harness.propose("p1", lambda data: data) is None
    assert person.tip(STAGING) == ""


def test_a_proposal_the_person_removed_from_the_branch_is_not_restored(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    person.git("branch", "-f", "skilld/staging", "skilld/staging^")
    harness.stage("p3", remove_line("Keep the changelog short."))
    assert person.log(STAGING, "^main") == ["skilld(release): say p3", "skilld(release): say p1"]


def test_the_message_quotes_the_words_behind_each_rule(person: Person, harness: Harness) -> None:
    rules = [Update(1, "", "", "", Kind.PREFERENCE, 1, quote) for quote in ("always p1", "never skip p1")]
    said = tuple(Evidence("agent:1", quote) for quote in ("always p1", "never skip p1", "p1, as I said"))
    proposal = harness.stage("p1", DRY, updates=tuple(rules), evidence=said)
    quoted = [line for line in person.git("log", "-1", "--format=%B", proposal.commit).split("\n") if line[:1] == '"']
    assert quoted == ['"always p1"', '"never skip p1"']


def test_with_a_remote_the_message_has_no_quote_and_session(person: Person, harness: Harness) -> None:
    assert '"always p1"' in person.git("log", "-1", "--format=%B", harness.stage("p1", DRY).commit)
    person.git("remote", "add", "origin", "https://example.org/x.git")
    body = person.git("log", "-1", "--format=%B", harness.stage("p2", NEWS).commit)
    assert "always p2" not in body
    assert "Skilld-Session" not in body


def test_words_leave_the_branch_once_the_repository_has_a_remote(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    text = person.git("rev-parse", f"{STAGING}^{{tree}}")
    person.git("remote", "add", "origin", "https://example.org/x.git")
    harness.follow(rebuild(person.root, harness.open_edits()))
    body = person.git("log", "-1", "--format=%B", STAGING)
    assert ("always p1" in body, "Skilld-Session" in body, "Skilld-Proposal: p1" in body) == (False, False, True)
    assert person.git("rev-parse", f"{STAGING}^{{tree}}") == text
    assert person.git("rev-parse", "refs/skilld/proposals/p1") == person.git("rev-parse", STAGING)


def test_two_skills_share_one_branch(person: Person, harness: Harness) -> None:
    other = "deep/er/skills/review/SKILL.md"
    newest = person.commit("second skill", {other: "# Review\n\n- Read it all.\n"})
    harness.stage("p1", DRY)
    proposal = harness.stage("p2", insert_below("- Read it all.", "- Run it."), path=person.root / other)
    assert proposal.base == newest
    assert proposal.relpath == other
    assert person.files_changed("main", STAGING) == [other, SKILL]


def test_names_with_a_meaning_in_git_are_handled(person: Person, harness: Harness) -> None:
    odd = "-sk*lls/[a] é:(x)/:!b/SKILL.md"
    person.commit("odd", {odd: TEXT, "-skills/SKILL.md": TEXT})
    proposal = harness.stage("p1", DRY, path=person.root / odd)
    assert proposal.relpath == odd
    assert person.git("diff", "--name-only", "-z", "main", STAGING).rstrip("\0") == odd


def test_after_a_pick_on_a_feature_branch_the_next_proposal_names_its_base(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    person.commit("unfinished", {"src/app.py": "print(3)\n"})
    harness.stage("p1", DRY)
    harness.accept("p1")
    harness.drop("p1")
    proposal = harness.stage("p2", NEWS)
    assert proposal.staging.base_info is not None
    assert proposal.staging.base_info.warning == "is based on feature, which has 2 commits not on main"
    person.git("switch", "--quiet", "main")
    main = person.tip()
    harness.accept("p2")
    assert person.files_changed(main, "main") == [SKILL]
    assert "dry run" not in person.show()
    assert "- Push the tag.\n- Write the news." in person.show()


def test_a_rule_in_another_open_proposal_is_not_repeated(
    person: Person, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.stage("p1", insert_below("- Run the tests.", "- Tell the team."))
    with monkeypatch.context() as patched:  # as from another machine, where p1 was not known
        patched.setattr(AnchoredEdit, "refit_exactly", lambda edit, _before, _after, current: edit(current))
        harness.stage("p2", insert_below("- Push the tag.", "- Tell the team."))
    person.commit("mine", {SKILL: TEXT.replace("Steps:", "Steps in order:")})
    third = harness.stage("p3", remove_line("Keep the changelog short."))
    assert third.staging.ended == {"p2": (State.SUPERSEDED, "another proposal already says this")}
    assert person.show(ref=STAGING).count("- Tell the team.") == 1


def test_checking_out_another_branch_does_not_move_the_base(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    touched = person.commit("skill work", {SKILL: TEXT + "More.\n"})
    proposal = harness.stage("p1", insert_below("More.", "Even more."))
    person.git("switch", "--quiet", "main")
    line = rebuild(person.root, harness.open_edits())
    assert (line.tip, line.ended) == (proposal.commit, {})
    assert line.base_info is not None
    assert line.base_info.warning == "is based on feature, which has 1 commit not on main"
    person.git("branch", "-D", "feature")
    line = rebuild(person.root, harness.open_edits())
    assert (line.tip, [*line.ended]) == (None, ["p1"])
    assert touched != person.tip()


def test_a_checked_out_staging_branch_is_not_its_own_base(person: Person, harness: Harness) -> None:
    proposal = harness.stage("p1", DRY)
    person.git("switch", "--quiet", "skilld/staging")
    line = rebuild(person.root, harness.open_edits())
    assert line.base_info is not None
    assert (line.base_info.commit, line.base_info.warning) == (proposal.base, "")
    assert line.held_reason.startswith("skilld/staging is checked out")


def test_a_skill_that_moved_on_takes_the_branch_along(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    moved = person.commit("mine", {SKILL: TEXT.replace("Steps:", "Steps in order:")})
    line = rebuild(person.root, harness.open_edits())
    assert line.base_info is not None
    assert (line.base_info.commit, person.tip(f"{STAGING}^")) == (moved, moved)
    assert line.moved["p1"] == person.tip(STAGING) == person.tip("refs/skilld/proposals/p1")
    harness.follow(line)
    assert rebuild(person.root, harness.open_edits()).moved == {}


def test_commits_below_the_persons_merge_stay_when_more_is_proposed(person: Person, harness: Harness) -> None:
    first = harness.stage("p1", DRY)
    person.commit("mine", {"README.md": "mine\n"})
    person.git("switch", "--quiet", "skilld/staging")
    person.git("merge", "--quiet", "--no-edit", "main")
    person.git("switch", "--quiet", "main")
    second = harness.stage("p2", insert_below("- Push the tag.", "- Write the news."))
    third = harness.stage("p3", insert_below("- Tag the commit.", "- Sign it."))
    assert second.staging.held_reason
    assert harness.drop("p3").held_reason
    on_branch = person.git("rev-list", STAGING).splitlines()
    assert {first.commit, second.commit, third.commit} <= set(on_branch)
    assert person.log("--merges", STAGING) == ["Merge branch 'main' into skilld/staging"]


def test_refs_left_by_a_kill_move_to_their_proposals(person: Person, harness: Harness) -> None:
    """Git writes the refs of one transaction one after the other."""
    first, second = harness.stage("p1", DRY), harness.stage("p2", NEWS)
    person.git("update-ref", "refs/skilld/proposals/p1", "main")
    person.git("update-ref", "-d", "refs/skilld/proposals/p2")
    assert rebuild(person.root, harness.open_edits()).moved == {}
    assert [person.tip(f"refs/skilld/proposals/{name}") for name in ("p1", "p2")] == [first.commit, second.commit]


def test_a_killed_git_says_nothing_about_the_branch(
    person: Person, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.stage("p1", DRY)
    person.git("switch", "--quiet", "-c", "side")
    person.commit("aside", {"src/app.py": "print(2)\n"})
    person.git("switch", "--quiet", "main")
    person.git("merge", "--quiet", "--no-ff", "side")  # what a line of commits does not tell
    call = Git.call

    def killed_git(git: Git, *args: str, **more: object) -> Result:
        return Result(-signal.SIGKILL, b"", "") if args[0] == "rev-list" else call(git, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "call", killed_git)
    with pytest.raises(GitFailedError):
        rebuild(person.root, harness.open_edits())
