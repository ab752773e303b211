"""R4: a proposal removed from the staging branch with plain git is dropped at once and restorable."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.clock import parse_time
from skilld.errors import RefusedError, SkilldError
from skilld.paths import places
from skilld.proposals.amend import restore, stage_and_store
from skilld.proposals.decide import accepting, decide, rejecting, reverting
from skilld.proposals.poll import PollSchedule
from skilld.proposals.remarks import (
    describe_rejection,
    describe_standing,
    earlier_refusals,
    hours_left,
    is_on_staging,
    list_contradictions,
)
from skilld.store import Store
from skilld.types import Evidence, Op, Operation, State, TargetKind
from support.proposal_life import make_edit, states
from support.proposals import get_proposal, make_proposal
from support.repos import AT, SKILL, TEXT, Person, snapshot

STAGING = "refs/heads/skilld/staging"
EDITS = {
    "p1": ("- Run the tests.", "- Dry run first."),
    "p2": ("- Push the tag.", "- Write the news."),
    "p3": ("Keep the changelog short.", "One line each."),
    "p4": ("- Tag the commit.", "- Sign the tag."),
}


def offer(person: Person, store: Store, *names: str) -> None:
    for name in names:
        stage_and_store(store, make_edit(person, name, Operation(Op.INSERT_AFTER, *EDITS[name])))


def pass_hours(store: Store, name: str, hours: float) -> None:
    since = (parse_time(store.proposals.missing_since(name)) or 0.0) - hours * 3600
    from skilld.clock import rfc3339

    store.proposals.set_missing(name, rfc3339(since))


def on_branch(person: Person) -> list[str]:
    return [line.rpartition(" ")[2] for line in person.log("--reverse", STAGING, "^main")]


def test_deleting_the_branch_drops_all_proposals_which_can_still_be_decided_or_restored(
    person: Person, store: Store
) -> None:
    offer(person, store, "p1", "p2", "p3")
    before = snapshot(person.root)
    person.git("branch", "-D", "skilld/staging")
    assert states(store) == {"p1": "dropped", "p2": "dropped", "p3": "dropped"}
    p1, now = get_proposal(store, "p1"), parse_time(store.proposals.missing_since("p1")) or 0.0
    ways = "to bring it back: skilld restore p1; to reject it now: skilld reject p1"
    said = f"dropped; will be rejected in 24 hours ({ways})"
    assert describe_standing(store, p1, now) == said
    assert hours_left(store, p1, now + 23.5 * 3600) == 1
    decide(store, p1, rejecting())
    restore(store, get_proposal(store, "p3"))
    assert states(store) == {"p1": "rejected", "p2": "dropped", "p3": "open"}
    assert on_branch(person) == ["p3"]
    assert is_on_staging(get_proposal(store, "p3"))
    assert decide(store, get_proposal(store, "p2"), accepting()).lines[0] == "p2 accepted: say p2"
    assert states(store) == {"p1": "rejected", "p2": "accepted", "p3": "open"}
    after = snapshot(person.root)
    assert {name for name in before if before[name] != after.get(name)} <= {
        *(name for name in before if name.startswith(".git/")),
        SKILL,
    }


@pytest.mark.parametrize("to", ["p1", "main"])
def test_a_reset_drops_what_is_above_and_the_next_proposal_respects_it(person: Person, store: Store, to: str) -> None:
    offer(person, store, "p1", "p2", "p3")
    person.git("branch", "-f", "skilld/staging", get_proposal(store, "p1").commit if to == "p1" else "main")
    first = "open" if to == "p1" else "dropped"
    assert states(store) == {"p1": first, "p2": "dropped", "p3": "dropped"}
    offer(person, store, "p4")
    assert states(store) == {"p1": first, "p2": "dropped", "p3": "dropped", "p4": "open"}
    assert on_branch(person) == (["p1", "p4"] if to == "p1" else ["p4"])
    # Dropped, not forgotten: what is needed to restore them is still held.
    assert [person.tip(f"refs/skilld/proposals/{name}") for name in ("p2", "p3")] == [
        get_proposal(store, name).commit for name in ("p2", "p3")
    ]


def test_the_next_proposal_restores_nothing_that_was_dropped_unnoticed(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2")
    person.git("branch", "-D", "skilld/staging")
    offer(person, store, "p3")
    assert states(store) == {"p1": "dropped", "p2": "dropped", "p3": "open"}
    assert on_branch(person) == ["p3"]


def test_a_waiting_proposal_is_not_dropped_with_the_branch(person: Person, store: Store) -> None:
    offer(person, store, "p1")
    person.git("switch", "--quiet", "skilld/staging")
    offer(person, store, "p2")
    assert get_proposal(store, "p2").commit == ""
    person.git("switch", "--quiet", "main")
    person.git("branch", "-D", "skilld/staging")
    assert states(store) == {"p1": "dropped", "p2": "open"}
    assert on_branch(person) == ["p2"]


def test_a_proposal_left_out_by_a_rebase_is_dropped(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2", "p3")
    person.git("switch", "--quiet", "skilld/staging")
    person.git("rebase", "--quiet", "--interactive", "main", GIT_SEQUENCE_EDITOR="sed -i -e 2d")
    assert states(store) == {"p1": "open", "p2": "open", "p3": "open"}  # the branch is in use: not judged
    person.git("switch", "--quiet", "main")
    assert states(store) == {"p1": "open", "p2": "dropped", "p3": "open"}
    restore(store, get_proposal(store, "p2"))
    assert states(store) == {"p1": "open", "p2": "open", "p3": "open"}
    assert on_branch(person) == ["p1", "p3", "p2"]


def test_r4_a_proposal_reverted_on_the_branch_is_dropped_until_restored(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2", "p3")
    person.git("switch", "--quiet", "skilld/staging")
    person.git("revert", "--no-edit", get_proposal(store, "p2").commit)
    person.git("switch", "--quiet", "main")
    assert states(store) == {"p1": "open", "p2": "dropped", "p3": "open"}
    decide(store, get_proposal(store, "p1"), accepting())  # which rewrites what is above it
    assert states(store) == {"p1": "accepted", "p2": "dropped", "p3": "open"}
    restore(store, get_proposal(store, "p2"))
    assert states(store) == {"p1": "accepted", "p2": "open", "p3": "open"}
    assert "- Write the news." in person.show(ref=STAGING)


def test_r4_merging_the_branch_takes_out_nothing_that_was_accepted_after_its_revert(
    person: Person, store: Store
) -> None:
    offer(person, store, "p1", "p2")
    person.git("switch", "--quiet", "skilld/staging")
    person.git("revert", "--no-edit", get_proposal(store, "p2").commit)
    person.git("switch", "--quiet", "main")
    decide(store, get_proposal(store, "p2"), accepting())
    person.git("merge", "--quiet", "--no-edit", "skilld/staging")
    assert states(store) == {"p1": "accepted", "p2": "accepted"}
    assert "- Write the news." in person.show()


def test_deleting_the_branch_after_a_merge_drops_nothing(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2")
    person.git("merge", "--quiet", "skilld/staging")
    person.git("branch", "-d", "skilld/staging")
    assert states(store) == {"p1": "accepted", "p2": "accepted"}


def test_a_branch_that_returns_reopens_its_proposals(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2")
    tip = person.tip(STAGING)
    person.git("branch", "-D", "skilld/staging")
    assert states(store) == {"p1": "dropped", "p2": "dropped"}
    person.git("branch", "skilld/staging", tip)
    assert states(store) == {"p1": "open", "p2": "open"}
    assert (person.tip(STAGING), store.proposals.missing_since("p1")) == (tip, "")


def test_a_drop_is_final_after_a_day(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2")
    person.git("branch", "-f", "skilld/staging", get_proposal(store, "p1").commit)
    states(store)
    pass_hours(store, "p2", 23)
    assert states(store) == {"p1": "open", "p2": "dropped"}
    pass_hours(store, "p2", 2)
    assert states(store) == {"p1": "open", "p2": "rejected"}
    assert person.tip("refs/skilld/proposals/p2") == ""
    restore(store, get_proposal(store, "p2"))
    assert states(store) == {"p1": "open", "p2": "open"}


def test_a_rejected_proposal_is_restored_as_its_message_says(person: Person, store: Store) -> None:
    offer(person, store, "p1")
    told = decide(store, get_proposal(store, "p1"), rejecting("not here"))
    assert "To undo it: skilld restore p1" in told.lines
    assert describe_rejection(store, get_proposal(store, "p1")) == "rejected; your reason: not here"
    head = person.tip()
    store.proposals.add_evidence("p1", Evidence("agent:2", "p1, as I said"))
    assert [evidence.turn for evidence in get_proposal(store, "p1").evidence] == ["agent:1", "agent:2"]
    restore(store, get_proposal(store, "p1"))
    assert states(store) == {"p1": "open"}
    assert describe_rejection(store, get_proposal(store, "p1")) == ""
    assert "- Dry run first." in person.show(ref=STAGING)
    assert person.tip() == head


def test_a_branch_deleted_while_the_repository_was_unreachable_is_noticed(
    person: Person, store: Store, tmp_path: Path
) -> None:
    offer(person, store, "p1")
    away = tmp_path / "far" / "away" / "work"  # not found there, as on a disk that is not mounted
    away.parent.mkdir(parents=True)
    person.root.rename(away)
    assert states(store) == {"p1": "stale"}
    Person(away).git("branch", "-D", "skilld/staging")
    away.rename(person.root)
    assert states(store) == {"p1": "dropped"}
    person.root.rename(away)
    pass_hours(store, "p1", 48)
    assert states(store) == {"p1": "dropped"}  # nobody can tell
    away.rename(person.root)
    assert states(store) == {"p1": "rejected"}


def test_a_proposal_on_a_remote_branch_stays_open_and_names_that_branch(person: Person, store: Store) -> None:
    offer(person, store, "p1")
    person.git("init", "--quiet", "--bare", "../hub.git")
    person.git("remote", "add", "origin", "../hub.git")
    person.git("push", "--quiet", "origin", "skilld/staging:refs/heads/review")
    person.git("branch", "-D", "skilld/staging")
    assert states(store) == {"p1": "open"}
    p1 = get_proposal(store, "p1")
    assert (p1.branch, is_on_staging(p1), describe_standing(store, p1, 0.0)) == (
        "origin/review",
        False,
        "only on the branch origin/review",
    )
    person.git("branch", "skilld/staging", "origin/review")
    assert states(store) == {"p1": "open"}
    assert is_on_staging(get_proposal(store, "p1"))


def test_restoring_while_the_branch_is_in_use_changes_nothing(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2")
    person.git("branch", "-f", "skilld/staging", get_proposal(store, "p1").commit)
    assert states(store) == {"p1": "open", "p2": "dropped"}
    person.git("switch", "--quiet", "skilld/staging")
    before = person.git("for-each-ref"), person.git("status", "--porcelain")
    with pytest.raises(RefusedError, match="is checked out") as error:
        restore(store, get_proposal(store, "p2"))
    assert error.value.remedy == "Resolve that, then: skilld restore p2"
    assert (person.git("for-each-ref"), person.git("status", "--porcelain")) == before
    assert states(store) == {"p1": "open", "p2": "dropped"}


def test_a_restore_killed_between_git_and_the_store_is_noticed(
    person: Person, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(person, store, "p1")
    person.git("branch", "-D", "skilld/staging")
    assert states(store) == {"p1": "dropped"}
    monkeypatch.setattr("skilld.proposals.amend.record_changes", _killed)
    with pytest.raises(KeyboardInterrupt):
        restore(store, get_proposal(store, "p1"))
    assert get_proposal(store, "p1").state is State.DROPPED
    assert states(store) == {"p1": "open"}
    assert on_branch(person) == ["p1"]


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_restoring_a_change_the_skill_already_has(person: Person, store: Store) -> None:
    offer(person, store, "p1")
    person.git("branch", "-D", "skilld/staging")
    states(store)
    person.commit("mine", {SKILL: TEXT.replace("- Tag", "- Dry run first.\n- Tag")})
    assert states(store) == {"p1": "accepted"}


def test_a_dropped_proposal_of_a_private_repository_can_be_restored(
    tmp_path: Path, store: Store, person: Person
) -> None:
    loose = tmp_path / "home" / "skills" / "notes" / "SKILL.md"
    loose.parent.mkdir(parents=True)
    loose.write_text(TEXT)
    new = make_proposal(
        id="p9", path=str(loose), operations=(Operation(Op.INSERT_AFTER, "- Run the tests.", "- Dry."),), created_at=AT
    )
    proposal = stage_and_store(store, new)
    assert Path(proposal.repo).parent == places().repositories
    git_dir = Person(Path(proposal.repo))
    git_dir.git("--git-dir", proposal.repo, "update-ref", "-d", STAGING)
    assert states(store) == {"p9": "dropped"}
    restore(store, get_proposal(store, "p9"))
    assert states(store) == {"p9": "open"}
    assert person.tip(STAGING) == ""


def _written(person: Person, store: Store) -> str:
    """Accept one into the file alone, with a line of the person's own beside it."""
    offer(person, store, "p1")
    decide(store, get_proposal(store, "p1"), accepting(worktree=True))
    assert states(store) == {"p1": "accepted"}
    text = person.skill.read_text()
    assert "- Dry run first." in text
    return text


def test_the_daemon_looks_when_the_file_changes_in_which_alone_it_stands(person: Person, store: Store) -> None:
    _written(person, store)
    now, observing = time.time(), PollSchedule(store)
    assert [observing.job(now) is None, observing.job(now + 5) is None] == [False, True]
    person.git("checkout", SKILL)
    assert observing.job(now + 10) is not None


def test_an_accepted_commit_removed_from_its_branch_is_dropped_until_it_returns(person: Person, store: Store) -> None:
    offer(person, store, "p1")
    person.git("switch", "--quiet", "--create", "side")
    decide(store, get_proposal(store, "p1"), accepting())
    person.git("switch", "--quiet", "main")
    assert states(store) == {"p1": "accepted"}  # on a branch that nobody has checked out
    person.git("branch", "-D", "side")
    assert states(store) == {"p1": "dropped"}
    assert get_proposal(store, "p1").note == "accepted, but its commit was later removed from its branch"
    with pytest.raises(SkilldError, match="it is dropped: its commit was removed from its branch already") as refused:
        decide(store, get_proposal(store, "p1"), reverting())
    assert refused.value.remedy == "To bring it back: skilld restore p1"
    restore(store, get_proposal(store, "p1"))
    assert states(store) == {"p1": "open"}
    assert get_proposal(store, "p1").note == ""
    decide(store, get_proposal(store, "p1"), accepting())
    person.git("reset", "--quiet", "--hard", "HEAD~1")
    assert states(store) == {"p1": "dropped"}
    person.git("reset", "--quiet", "--hard", "HEAD@{1}")
    assert states(store) == {"p1": "accepted"}
    person.git("commit", "--quiet", "--amend", "--allow-empty", "--no-edit", "--reset-author")
    assert states(store) == {"p1": "accepted"}


def test_a_written_proposal_stays_accepted_while_any_of_it_remains(person: Person, store: Store) -> None:
    text = _written(person, store)
    assert get_proposal(store, "p1").note == "written to the file, not committed"
    person.skill.write_text(text.replace("- Dry run first.", "- Always dry run first."))
    assert states(store) == {"p1": "accepted"}
    person.skill.unlink()  # on a branch that has no such file, nothing can be told
    assert states(store) == {"p1": "accepted"}
    person.skill.write_text(text)
    commit = person.commit("mine")
    assert states(store) == {"p1": "accepted"}
    assert (get_proposal(store, "p1").landed, get_proposal(store, "p1").note) == (commit, "you committed it")
    person.git("revert", "--no-edit", "HEAD")
    assert states(store) == {"p1": "reverted"}
    decide(store, get_proposal(store, "p1"), accepting(worktree=True))
    assert states(store) == {"p1": "accepted"}, "what was reverted before does not count"
    person.git("checkout", SKILL)
    assert states(store) == {"p1": "reverted"}


def test_a_section_is_written_below_the_persons_uncommitted_line(person: Person, store: Store) -> None:
    person.commit("one section", {SKILL: TEXT.partition("\n## Notes")[0]})
    steps = (Operation(Op.INSERT_AFTER, "- Push the tag.", "\n## Preferences\n\n- Be brief."),)
    stage_and_store(
        store, make_proposal(id="p1", skill="release", path=str(person.skill), operations=steps, created_at=AT)
    )
    person.skill.write_text(person.skill.read_text() + "- my own note\n")
    decide(store, get_proposal(store, "p1"), accepting(worktree=True))
    end = "- Push the tag.\n- my own note\n\n## Preferences\n\n- Be brief.\n"
    assert person.skill.read_text().endswith(end)
    person.git("checkout", SKILL)
    person.commit("my note", {SKILL: person.skill.read_text() + "- my own note\n"})
    assert states(store) == {"p1": "open"}
    decide(store, get_proposal(store, "p1"), accepting())
    assert person.show().endswith(end.rstrip())


def test_a_proposal_made_again_shows_why_it_was_rejected(person: Person, store: Store) -> None:
    offer(person, store, "p1", "p2")
    decide(store, get_proposal(store, "p1"), rejecting("the pipeline does it"))
    proposal = make_proposal(id="p5", path=str(person.skill), summary="First do a dry run.", created_at=AT)
    store.proposals.add(replace(proposal, repo=get_proposal(store, "p2").repo))
    assert list_contradictions(store, get_proposal(store, "p2")) == []
    assert list_contradictions(store, get_proposal(store, "p5")) == [
        "you rejected this before, as p1; your reason: the pipeline does it"
    ]


def test_a_proposal_in_other_words_shows_that_it_was_rejected(person: Person, store: Store) -> None:
    rule = "- Entries start with a capital letter, past tense: Added, Fixed."
    stage_and_store(store, make_edit(person, "p1", Operation(Op.INSERT_AFTER, "- Push the tag.", rule)))
    decide(store, get_proposal(store, "p1"), rejecting("too strict"))
    again = "Each entry should begin with a past-tense verb with a capital, like Added or Fixed."
    others = {"p2": again, "p3": "Entries of the changelog are sorted by date."}
    others["p4"] = "Entries must not start with a capital letter, past tense: added, fixed."
    for name, said in others.items():
        step = Operation(Op.INSERT_AFTER, "- Push the tag.", f"- {said}")
        stage_and_store(store, make_edit(person, name, step, summary=said))
    told = {name: [*earlier_refusals(store, get_proposal(store, name))] for name in others}
    assert told == {"p2": ["you rejected this before, as p1; your reason: too strict"], "p3": [], "p4": []}


def test_what_was_rejected_for_one_file_shows_it_when_proposed_for_another(person: Person, store: Store) -> None:
    stage_and_store(
        store, make_edit(person, "p1", Operation(Op.INSERT_AFTER, "- Push the tag.", "- Sort the imports."))
    )
    decide(store, get_proposal(store, "p1"), rejecting("the formatter does it"))
    refused = get_proposal(store, "p1")
    folder, kind = person.root / "web/AGENTS.md", TargetKind.INSTRUCTIONS
    again = replace(refused, path=str(folder), summary="Keep imports sorted.", updates=())
    assert [*earlier_refusals(store, again)] == []  # of two skills
    store.proposals.add(replace(refused, id="p2", skill="AGENTS.md", path=str(person.root / "AGENTS.md"), target=kind))
    told = [*earlier_refusals(store, replace(again, target=kind))]
    assert told == ["you rejected this before, as p2 for AGENTS.md"]
    assert [*earlier_refusals(store, replace(again, target=kind, repo="/elsewhere"))] == []


def test_a_restored_section_never_takes_in_a_rule_accepted_meanwhile(person: Person, store: Store) -> None:
    """Both were made for the same end of the file; the section was staged below the rule, then rejected."""
    end, rule, section = "- Push the tag.", "- Lead with the change.", "\n## Preferences\n\n- Ask first."
    for name, text in (("p1", rule), ("p2", section)):
        stage_and_store(store, make_edit(person, name, Operation(Op.INSERT_AFTER, end, text)))
    decide(store, get_proposal(store, "p2"), rejecting())
    decide(store, get_proposal(store, "p1"), accepting())
    bold = Operation(Op.REPLACE, rule, f"- **{rule[2:]}**")
    stage_and_store(store, make_edit(person, "p3", bold))
    restore(store, get_proposal(store, "p2"))
    decide(store, get_proposal(store, "p2"), accepting())
    assert f"\n{end}\n{rule}\n{section}\n\n## Notes\n" in person.show()


def test_a_section_that_waited_never_takes_in_a_rule_that_the_person_added(person: Person, store: Store) -> None:
    end = "- Push the tag."
    offer(person, store, "p1")
    person.git("switch", "--quiet", "skilld/staging")
    stage_and_store(store, make_edit(person, "p2", Operation(Op.INSERT_AFTER, end, "\n## Preferences\n\n- Ask first.")))
    assert get_proposal(store, "p2").commit == ""
    person.git("switch", "--quiet", "main")
    person.commit("mine", {SKILL: TEXT.replace(end, f"{end}\n- Mine.")})
    states(store)
    assert f"\n{end}\n- Mine.\n\n## Preferences\n\n- Ask first.\n\n## Notes\n" in person.show(ref=STAGING)


def test_of_many_contradicting_proposals_only_a_few_are_named(store: Store) -> None:
    for number in range(7):
        always = "Always" if number else "Never"
        summary = f"{always} use pnpm."
        evidence = (Evidence(f"t{number}", summary),)
        store.proposals.add(make_proposal(id=f"p{number}", repo="/p", path="/p/S", summary=summary, evidence=evidence))
    told = list_contradictions(store, get_proposal(store, "p0"))
    assert [one.partition(" says")[0] for one in told] == [
        "the open proposal p1",
        "the open proposal p2",
        "the open proposal p3",
        "so do 3 more open proposals",
    ]


def test_a_rejected_proposal_leaves_the_branch_even_if_the_clock_was_set_back(
    person: Person, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(person, store, "p1", "p2")
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 11 * 86400)
    decide(store, get_proposal(store, "p1"), rejecting())
    assert on_branch(person) == ["p2"]
