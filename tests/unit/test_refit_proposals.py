"""R6, R8: open proposals follow a manual edit, and added steps get the next number."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from skilld.cli.decide import _decide_each
from skilld.errors import RefusedError
from skilld.paths import places
from skilld.proposals.amend import restore, stage_and_store
from skilld.proposals.decide import accepting, decide, rejecting
from skilld.proposals.explain import Applicability, ProposalReader
from skilld.proposals.refit import MOVED_NOTE, REMADE_NOTE
from skilld.store import Store
from skilld.types import Evidence, Kind, Op, Operation, Proposal, Update
from support.proposal_life import make_edit, states
from support.proposals import get_proposal, make_proposal
from support.repos import AT, SKILL, TEXT, Person

STAGING = "refs/heads/skilld/staging"
STEPS = TEXT.replace("- Run", "1. Run").replace("- Tag", "2. Tag").replace("- Push", "3. Push")
ADDED = {"p1": "Write the news.", "p2": "Tell the team.", "p3": "Close the milestone."}


def offer(person: Person, store: Store, name: str, *edit: str, op: Op = Op.INSERT_AFTER) -> None:
    stage_and_store(store, make_edit(person, name, Operation(op, *edit)))


def offer_said(person: Person, store: Store, quote: str, *edit: str, op: Op = Op.INSERT_AFTER) -> None:
    """Offer an edit that says what its summary says, in the words of a person."""
    places().redaction_key.parent.mkdir(parents=True, exist_ok=True)
    said: dict[str, Any] = {
        "summary": edit[1].removeprefix("- "),
        "kind": Kind.CHANGE_STEP if op is Op.REPLACE else Kind.PREFERENCE,
        "evidence": (Evidence("agent:1", quote),),
    }
    stage_and_store(store, make_edit(person, "p1", Operation(op, *edit), **said))


def numbered_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[:1].isdigit()]


def test_a_proposal_survives_a_manual_edit_of_its_neighbour(person: Person, store: Store) -> None:
    offer(person, store, "p1", "- Run the tests.", "- Dry run first.")
    edited = TEXT.replace("- Run the tests.", "- Run all of the tests twice.")
    person.commit("mine", {SKILL: edited})
    assert states(store) == {"p1": "open"}
    wanted = edited.replace("twice.\n", "twice.\n- Dry run first.\n")
    assert person.show(ref=STAGING) == wanted.strip()
    p1 = get_proposal(store, "p1")
    assert (p1.operations, p1.note) == (
        (Operation(Op.INSERT_AFTER, "- Run all of the tests twice.", "- Dry run first."),),
        "",
    )
    assert decide(store, p1, accepting()).lines[0] == "p1 accepted: say p1"
    assert person.skill.read_text() == wanted
    assert person.git("status", "--porcelain") == ""


def test_two_dependent_proposals_both_follow_a_manual_edit(person: Person, store: Store) -> None:
    offer(person, store, "p1", "- Run the tests.", "- Dry run first.")
    offer(person, store, "p2", "- Tag the commit.", "- Sign the tag.")
    edited = TEXT.replace("- Run the tests.", "- Run the tests, all of them.").replace("- Tag the commit.", "- Tag it.")
    person.commit("mine", {SKILL: edited})
    assert states(store) == {"p1": "open", "p2": "open"}
    between = "them.\n- Dry run first.\n- Tag it.\n- Sign the tag.\n- Push"
    assert between in person.show(ref=STAGING)
    for name in ("p2", "p1"):
        decide(store, get_proposal(store, name), accepting())
    assert between in person.skill.read_text()


@pytest.mark.parametrize("behind", [True, False])
def test_a_branch_that_is_behind_does_not_hold_it_back(person: Person, store: Store, *, behind: bool) -> None:
    """A work branch, or the host's copy of main, still has the version that the proposal was made for."""
    offer(person, store, "p1", "- Run the tests.", "- Dry run first.")
    if behind:
        person.git("init", "--quiet", "--bare", "../hub.git")
        person.git("remote", "add", "origin", "../hub.git")
        person.git("push", "--quiet", "--set-upstream", "origin", "main")
    else:
        person.git("branch", "old-work")
    person.commit("mine", {SKILL: TEXT.replace("- Run the tests.", "- Run the tests now.")})
    assert states(store) == {"p1": "open"}
    assert "- Run the tests now.\n- Dry run first.\n" in person.show(ref=STAGING)


def test_a_proposal_without_a_place_is_made_again_and_says_so(person: Person, store: Store) -> None:
    offer(person, store, "p1", "- Run the tests.", "- Dry run first.")
    edited = TEXT.replace("- Run the tests.\n- Tag the commit.\n", "- Tag the commit.\n- Run the tests.\n")
    person.commit("mine", {SKILL: edited})
    assert states(store) == {"p1": "open"}
    assert get_proposal(store, "p1").note == MOVED_NOTE
    assert "- Push the tag.\n- Dry run first.\n" in person.show(ref=STAGING)
    decide(store, get_proposal(store, "p1"), accepting())
    assert "- Push the tag.\n- Dry run first.\n" in person.skill.read_text()


def test_a_proposal_whose_section_is_gone_is_made_again(person: Person, store: Store) -> None:
    offer_said(person, store, "Always name the reviewers.", "Keep the changelog short.", "Name the reviewers.")
    edited = TEXT.partition("## Notes")[0]
    person.commit("mine", {SKILL: edited})
    assert states(store) == {"p1": "open"}
    assert get_proposal(store, "p1").note == "regenerated because the lines it was based on have changed"
    assert person.show(ref=STAGING).endswith("- Push the tag.\n- Name the reviewers.")


TABS = TEXT.replace("- Tag the commit.", "- Use tabs for indentation.")
WIDE = TABS.replace("- Use tabs for indentation.", "- Use tabs for indentation in all scripts.")
SPACES = Update(
    1, "", "Use spaces for indentation.", "", Kind.CHANGE_STEP, 1, "From now on, use spaces, not tabs.", 0.8
)
NAMES = Update(1, "Notes", "Name the reviewers.", "", Kind.PREFERENCE, 2, "Always name the reviewers.", 0.8)


def offer_both(person: Person, store: Store, *, updates: tuple[Update, ...]) -> Proposal:
    """Offer one edit that says two things, each in the words of a person."""
    places().redaction_key.parent.mkdir(parents=True, exist_ok=True)
    return stage_and_store(
        store,
        make_proposal(
            id="p1",
            skill="release",
            path=str(person.skill),
            operations=(
                Operation(Op.REPLACE, "- Use tabs for indentation.", "- Use spaces for indentation."),
                Operation(Op.INSERT_AFTER, "Keep the changelog short.", "Name the reviewers."),
            ),
            summary="Use spaces for indentation. Name the reviewers.",
            kind=Kind.CHANGE_STEP,
            evidence=(Evidence("agent:1", SPACES.quote), Evidence("agent:2", NAMES.quote)),
            created_at=AT,
            updates=updates,
        ),
    )


def test_r6_each_of_several_updates_is_placed_or_made_again_separately(person: Person, store: Store) -> None:
    person.commit("tabs", {SKILL: TABS})
    said = offer_both(person, store, updates=(SPACES, NAMES)).evidence
    person.commit("mine", {SKILL: WIDE})
    assert states(store) == {"p1": "open"}
    p1 = get_proposal(store, "p1")
    assert (p1.note, p1.evidence, p1.updates) == (REMADE_NOTE, said, (SPACES, NAMES))
    shown = person.show(ref=STAGING)
    assert "tabs" not in shown
    assert "- Use spaces for indentation" in shown
    assert "Keep the changelog short.\nName the reviewers." in shown  # this one kept its place
    decide(store, p1, accepting())
    assert person.skill.read_text().strip() == shown


@pytest.mark.parametrize("updates", [(), (NAMES,)])
def test_r6_it_is_stale_if_no_quote_justifies_the_lost_part(
    person: Person, store: Store, updates: tuple[Update, ...]
) -> None:
    """The row of an older version, and one with an operation that none of its updates accounts for."""
    person.commit("tabs", {SKILL: TABS})
    offer_both(person, store, updates=updates)
    person.commit("mine", {SKILL: WIDE})
    assert states(store) == {"p1": "stale"}


def test_r6_a_proposal_losing_its_place_to_another_is_made_again(person: Person, store: Store) -> None:
    person.commit("tabs", {SKILL: TABS})
    lines = "- Use tabs for indentation.", "- Use spaces for indentation."
    offer_said(person, store, "From now on, use spaces for indentation, not tabs.", *lines, op=Op.REPLACE)
    person.commit("mine", {SKILL: WIDE})
    offer(person, store, "p2", "- Push the tag.", "- Tell the team.")
    assert {name: get_proposal(store, name).state.value for name in ("p1", "p2")} == {"p1": "open", "p2": "open"}
    assert get_proposal(store, "p1").note == REMADE_NOTE
    for name in ("p1", "p2"):
        assert person.tip(f"refs/skilld/proposals/{name}") == get_proposal(store, name).commit
    shown = person.show(ref=STAGING)
    assert "- Tell the team." in shown
    assert "- Use spaces for indentation" in shown
    assert states(store) == {"p1": "open", "p2": "open"}
    for name in ("p2", "p1"):
        decide(store, get_proposal(store, name), accepting())
    assert person.skill.read_text().strip() == shown


def test_a_change_of_an_edited_line_is_stale_before_anyone_accepts_it(person: Person, store: Store) -> None:
    offer(person, store, "p1", "- Tag the commit.", "- Sign and tag the commit.", op=Op.REPLACE)
    person.commit("mine", {SKILL: TEXT.replace("- Tag the commit.", "- Tag the merge commit.")})
    assert states(store) == {"p1": "stale"}
    assert get_proposal(store, "p1").note.endswith("a line that it changes was edited or is gone")
    before = person.git("for-each-ref"), person.skill.read_bytes()
    with pytest.raises(RefusedError) as error:
        decide(store, get_proposal(store, "p1"), accepting())
    assert "cherry-pick" not in error.value.remedy
    assert (person.git("for-each-ref"), person.skill.read_bytes()) == before


def test_a_decision_names_the_proposals_that_lost_their_place_meanwhile(
    person: Person, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(person, store, "p1", "- Tag the commit.", "- Sign and tag the commit.", op=Op.REPLACE)
    offer(person, store, "p2", "- Push the tag.", "- Tell the team.")
    person.commit("mine", {SKILL: TEXT.replace("- Tag the commit.", "- Tag the merge commit.")})
    for _ in range(2):
        _decide_each(store, [get_proposal(store, "p2")], lambda one: decide(store, one, accepting()), as_json=False)
    told = "skilld: p1 no longer fits its file: a line that it changes was edited or is gone"
    assert " ".join(capsys.readouterr().err.split()).count(told) == 1


def test_with_uncommitted_changes_the_suggested_remedy_cannot_conflict(person: Person, store: Store) -> None:
    offer(person, store, "p1", "- Run the tests.", "- Dry run first.")
    person.write(SKILL, TEXT.replace("- Run the tests.", "- Run all the tests."))
    with pytest.raises(RefusedError) as error:
        decide(store, get_proposal(store, "p1"), accepting())
    assert error.value.remedy == "Commit or stash it, then: skilld accept p1"


def test_a_dropped_proposal_finds_its_place_when_restored(person: Person, store: Store) -> None:
    offer(person, store, "p1", "- Run the tests.", "- Dry run first.")
    person.git("branch", "-D", "skilld/staging")
    assert states(store) == {"p1": "dropped"}
    person.commit("mine", {SKILL: TEXT.replace("- Run the tests.", "- Run the tests twice.")})
    restore(store, get_proposal(store, "p1"))
    assert states(store) == {"p1": "open"}
    assert "- Run the tests twice.\n- Dry run first.\n" in person.show(ref=STAGING)


def accept_steps(person: Person, store: Store) -> None:
    person.commit("steps", {SKILL: STEPS})
    for name, text in ADDED.items():
        offer(person, store, name, "3. Push the tag.", f"4. {text}")


# In these orders each of the three is once the first, once between the others and once the last.
@pytest.mark.parametrize("order", [("p1", "p3", "p2"), ("p2", "p1", "p3"), ("p3", "p2", "p1")], ids="".join)
def test_accepted_steps_in_any_order_are_numbered_consecutively(
    person: Person, store: Store, order: tuple[str, ...]
) -> None:
    accept_steps(person, store)
    for count, name in enumerate(order, 1):
        decide(store, get_proposal(store, name), accepting())
        taken = [f"{n}. {ADDED[one]}" for n, one in enumerate(order[:count], 4)]
        assert numbered_lines(person.skill.read_text())[3:] == taken
        waits = [one for one in ADDED if one not in order[:count]]
        if waits:
            left = [f"{n}. {ADDED[one]}" for n, one in enumerate(waits, 4 + count)]
            assert numbered_lines(person.show(ref=STAGING))[3:] == [*taken, *left]
    assert states(store) == dict.fromkeys(ADDED, "accepted")
    assert person.git("status", "--porcelain") == ""


@pytest.mark.parametrize("gone", ["p1", "p2"])
def test_the_remaining_steps_are_renumbered_without_a_rejected_one(person: Person, store: Store, gone: str) -> None:
    accept_steps(person, store)
    decide(store, get_proposal(store, gone), rejecting())
    left = [text for name, text in ADDED.items() if name != gone]
    assert numbered_lines(person.show(ref=STAGING))[3:] == [f"{n}. {text}" for n, text in enumerate(left, 4)]


def test_a_step_the_person_added_meanwhile_keeps_its_number(person: Person, store: Store) -> None:
    accept_steps(person, store)
    person.commit("mine", {SKILL: STEPS.replace("3. Push the tag.", "3. Push the tag.\n4. Rest.")})
    assert states(store) == dict.fromkeys(ADDED, "open")
    assert numbered_lines(person.show(ref=STAGING))[3:] == [
        "4. Rest.",
        *(f"{n}. {text}" for n, text in enumerate(ADDED.values(), 5)),
    ]


@pytest.mark.parametrize(
    ("text", "added"),
    [
        (STEPS.replace("2.", "1.").replace("3.", "1."), "1. "),
        (STEPS.replace("1.", "1)").replace("2.", "2)").replace("3.", "3)"), "4) "),
        (STEPS.replace(".\n2", ".\n\n2").replace(".\n3", ".\n\n3"), "4. "),
        (STEPS.replace("Push the tag.", "Push the tag.\n   Wait for it."), "4. "),
        (TEXT.replace("- ", "* "), "* "),
    ],
    ids=["all ones", "brackets", "loose", "with more lines", "bullets"],
)
def test_other_kinds_of_lists_keep_their_style(person: Person, store: Store, text: str, added: str) -> None:
    person.commit("steps", {SKILL: text})
    anchor = next(line for line in reversed(text.splitlines()) if "Wait" in line or "Push" in line)
    gap = "\n" if "\n\n2" in text else ""
    for name in ("p1", "p2"):
        offer(person, store, name, anchor, f"{gap}{added}{ADDED[name]}")
    numbers = {"4. ": ("4. ", "5. "), "4) ": ("4) ", "5) ")}.get(added, (added, added))
    shown = [line for line in person.show(ref=STAGING).splitlines() if line.endswith(tuple(ADDED.values()))]
    assert shown == [f"{number}{ADDED[name]}" for number, name in zip(numbers, ("p1", "p2"), strict=True)]


def test_paragraphs_are_in_the_order_in_which_they_were_proposed(person: Person, store: Store) -> None:
    person.commit("prose", {SKILL: "# Shop\n\nWe sell tea.\n\n## More\n\n- Ask Bo.\n"})
    for name, text in ADDED.items():
        offer(person, store, name, "We sell tea.", f"\n{text}")
    texts = "\n\n".join(ADDED.values())
    assert person.show(ref=STAGING) == f"# Shop\n\nWe sell tea.\n\n{texts}\n\n## More\n\n- Ask Bo."


def test_an_accept_that_would_be_refused_here_is_announced(person: Person, store: Store) -> None:
    offer(person, store, "p1", "- Tag the commit.", "- Sign and tag the commit.", op=Op.REPLACE)
    assert ProposalReader().applicability(get_proposal(store, "p1")) == Applicability(
        can_cherry_pick=True, can_merge=True
    )
    person.git("switch", "--quiet", "-c", "feature")
    person.commit("mine", {SKILL: TEXT.replace("- Tag the commit.", "- Tag the merge commit.")})
    assert states(store) == {"p1": "open"}  # main is as it was
    here = ProposalReader().applicability(get_proposal(store, "p1"))
    assert (here.can_cherry_pick, here.can_merge) == (False, False)
    assert here.obstacle.endswith("would fail: a line that it changes was edited or is gone")
    with pytest.raises(RefusedError, match="a line that it changes was edited or is gone"):
        decide(store, get_proposal(store, "p1"), accepting())
    person.git("switch", "--quiet", "main")
    assert ProposalReader().applicability(get_proposal(store, "p1")).obstacle == ""


def test_accepting_one_that_depends_on_another_is_not_offered(person: Person, store: Store) -> None:
    accept_steps(person, store)
    found = {name: ProposalReader().applicability(get_proposal(store, name)) for name in ADDED}
    assert {name: here.can_cherry_pick for name, here in found.items()} == {"p1": True, "p2": False, "p3": False}
    assert all(here.can_merge and not here.obstacle for here in found.values())


@pytest.mark.parametrize("seed", range(int(os.environ.get("HYPOTHESIS_EXAMPLES", "3"))))
def test_after_any_manual_edit_accepting_does_what_was_shown(person: Person, store: Store, seed: int) -> None:
    """Whatever the person commits: what is open is accepted as the branch shows it, what is not was refused before."""
    chance = random.Random(seed)
    offer(person, store, "p1", "- Run the tests.", "- Dry run first.")
    offer(person, store, "p2", "- Push the tag.", "- Write the news.")
    lines = TEXT.splitlines()
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(6, len(lines))
        match chance.choice(("reword", "delete", "add", "swap")):
            case "reword" if lines[at]:
                lines[at] += " Twice, if you can."
            case "delete":
                del lines[at]
            case "add":
                lines.insert(at, chance.choice(("- Rest a while.", "", "Some words.")))
            case "swap" if at + 1 < len(lines):
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
    person.commit("mine", {SKILL: "\n".join(lines) + "\n"})
    before = states(store)
    for name, state in before.items():
        proposal = get_proposal(store, name)
        if state != "open":
            assert proposal.note
            continue
        shown = set(person.show(ref=proposal.commit).splitlines())
        assert ProposalReader().applicability(proposal).obstacle == ""
        decide(store, proposal, accepting())
        assert "Dry run first." in person.skill.read_text() or name == "p2"
        assert set(person.skill.read_text().splitlines()) <= shown | set(lines)
        assert person.git("status", "--porcelain") == ""
    assert person.git("fsck", "--strict", "--no-dangling") == ""
