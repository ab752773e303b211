"""From many to one: what counts as the same rule, how people are counted, where a candidate stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from skilld.team.candidates import CandidateState, RemoteStatus, disagreements, group_candidates, with_states
from skilld.team.project import is_said
from skilld.team.records import Record, RecordType, rule_key
from skilld.team.refs import Member
from support.rows import for_each
from support.teams import make_rule

RULE = "Use pnpm, not npm, to install packages."
TOO = "Use pnpm and not npm to install packages."


def member(name: str, *records: Record, key: str = "") -> Member:
    return Member(name, key or f"ssh-ed25519 {name}", 1, "0" * 40, records)


def no(day: str, rule: str = RULE, **changes: Any) -> Record:
    return Record(
        what=RecordType.REJECTED, key=rule_key(rule, "CLAUDE.md"), rule=rule, place="CLAUDE.md", day=day, **changes
    )


def standing(members: list[Member], says: bool = False, **changes: Mapping[str, str]) -> list[CandidateState]:  # noqa: FBT001, FBT002 - of a test
    status = RemoteStatus(
        lambda _: says, changes.get("landed", {}), changes.get("proposed", {}), "2026-03-10", "2026-03-20"
    )
    return [state.standing for state in with_states(group_candidates(members), members, status)]


def test_the_same_rule_in_other_words_is_one_and_people_are_counted_by_key() -> None:
    first, second = make_rule(rule=RULE), make_rule(rule=TOO, place="AGENTS.md", first="2026-03-02", sessions=4)
    (candidate,) = group_candidates([member("ada", first), member("ben", second)])
    assert (candidate.people, candidate.sessions, candidate.since, candidate.places) == (
        2,
        6,
        "2026-03-01",
        ("CLAUDE.md", "AGENTS.md"),
    )
    (candidate,) = group_candidates([member("ada", first, key="k"), member("ben", second, key="k")])
    assert (candidate.people, candidate.sessions) == (1, 4)


@for_each(
    ("one", "other"),
    [
        ("Use pnpm to install packages.", "Never use pnpm to install packages."),
        ("Keep lines under 80 characters.", "Keep lines under 120 characters."),
        ("Use frobs, not widgets, in views.", "Use widgets, not frobs, in views."),
        ("Use pnpm, not npm, to install packages.", "Use npm, not pnpm, to install packages."),
        ("Write dates as YYYY-MM-DD.", "Sign every commit."),
    ],
)
def test_different_rules_stay_apart(one: str, other: str) -> None:
    assert len(group_candidates([member("ada", make_rule(rule=one)), member("ben", make_rule(rule=other))])) == 2


def test_a_rule_of_one_skill_is_not_one_of_another() -> None:
    skills = [make_rule(rule=RULE, place=f"skills/{name}/SKILL.md") for name in ("a", "b")]
    assert len(group_candidates([member("ada", skills[0]), member("ben", skills[1])])) == 2


def test_a_candidate_has_a_standing() -> None:
    key = rule_key(RULE, "CLAUDE.md")
    both = [member("ada", make_rule(rule=RULE)), member("ben", make_rule(rule=TOO))]
    assert standing(both[:1]) == [CandidateState.WAITING]
    assert standing(both) == [CandidateState.READY]
    assert standing(both, proposed={key: ""}) == [CandidateState.PROPOSED]
    assert standing(both, says=True, landed={key: RULE}) == [CandidateState.ACCEPTED]
    assert standing(both, landed={key: RULE}) == [CandidateState.REJECTED], "it was on the default branch, and is not"
    carl = member("carl", no("2026-03-05", note="the pull request was closed"))
    assert standing([*both, carl]) == [CandidateState.REJECTED]


def test_two_who_disagree_are_named_unless_one_rule_was_rejected() -> None:
    ada = member("ada", make_rule(rule="No mocks."), make_rule(rule="Sign every commit."))
    status = RemoteStatus(lambda _: False, {}, {}, "2026-03-10", "2026-03-20")
    for ben, count in (
        (member("ben", make_rule(rule="Use mocks in tests.")), 2),
        (member("ben", make_rule(rule="Use mocks in tests."), no("2026-03-05", "Use mocks in tests.")), 0),
    ):
        found = with_states(group_candidates([ada, ben]), [ada, ben], status)
        assert len(disagreements(found)) == count


def test_hundreds_of_rules_are_each_compared_with_the_nearest_only(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["make", "test", "commit", "branch", "release", "notes", "ticket", "deploy", "staging", "docker"]
    rules = [f"Always {one} the {other} of the {last}" for one in words for other in words for last in words[:3]]
    evil = member("evil", *(make_rule(rule=rule) for rule in rules))
    carl = member("carl", *(no("2026-03-05", rule) for rule in rules), no("2026-03-05", "No mocks."))
    ada = member("ada", make_rule(rule="No mocks."), make_rule(rule="Use mocks in tests."))
    compared: list[str] = []

    def compare(one: str, other: str) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr("skilld.classify.contradiction.contradicts_clearly", compare)
    monkeypatch.setattr("skilld.team.candidates.is_same_rule", compare)
    status = RemoteStatus(lambda _: False, {}, {}, "2026-03-10", "2026-03-20")
    mine = group_candidates([ada])
    found = with_states(mine, [ada, evil, carl], status)
    assert {one.rule: one.standing for one in found} == {
        "No mocks.": CandidateState.REJECTED,
        "Use mocks in tests.": CandidateState.WAITING,
    }
    assert len(compared) <= 16
    compared.clear()
    voice = mine[0].voices[0]
    disagreements([replace(mine[0], voices=(replace(voice, record=one),)) for one in evil.records])
    assert len(compared) <= 300 * 16


def test_a_rejected_rule_returns_only_when_said_again() -> None:
    ada = member("ada", make_rule(rule=RULE, day="2026-03-06"))
    assert standing([ada, member("carl", no("2026-03-06"))]) == [CandidateState.REJECTED]
    assert standing([ada, member("carl", no("2026-03-05"))]) == [CandidateState.WAITING]
    # Nobody can reject for all time to come.
    later = member("ada", make_rule(rule=RULE, day="2026-03-21"))
    assert standing([later, member("carl", no("9999-12-31"))]) == [CandidateState.WAITING]


def test_whoever_rejected_it_is_named() -> None:
    members = [member("ada", make_rule(rule=RULE)), member("carl", no("2026-03-06", note="not here"))]
    (state,) = with_states(
        group_candidates(members), members, RemoteStatus(lambda _: False, {}, {}, "2026-03-10", "2026-03-20")
    )
    assert state.why == "not here (recorded by carl)"


@for_each(
    ("text", "said"),
    [
        ("# A\n\n- Use pnpm, not npm, to install packages.\n", True),
        ("# A\n\n- Install packages with pnpm, not npm.\n", True),
        ("# A\n\n- Use npm, not pnpm, to install packages.\n", False),
        ("# A\n\n- Keep functions short.\n", False),
        ("", False),
    ],
)
def test_a_rule_is_recognized_in_a_file(text: str, said: bool) -> None:  # noqa: FBT001 - the row says it
    assert is_said(RULE, text) is said
