"""Which of two skills that are alike stays, and which pairs may be proposed at once."""

from __future__ import annotations

import pytest

from skilld.library.consolidate import Facts, Fate, Match, Pair, SkillDescription, canonical, pair_key, plan

A, B, C, D = (Facts(name, name, "/p", since=number) for number, name in enumerate("abcd"))


def match(one: Facts, other: Facts, score: float = 0.5) -> Match:
    first, second = (SkillDescription(fact.key, fact.name, "", frozenset()) for fact in (one, other))
    return Match(first, second, score, ("word",))


def fates(*pairs: tuple[Facts, Facts], open_: tuple[str, ...] = (), rejected: tuple[str, ...] = ()) -> list[Fate]:
    return [pair.fate for pair in planned(*pairs, open_=open_, rejected=rejected)]


def planned(*pairs: tuple[Facts, Facts], open_: tuple[str, ...] = (), rejected: tuple[str, ...] = ()) -> list[Pair]:
    facts = {fact.key: fact for pair in pairs for fact in pair}
    return plan([match(*pair) for pair in pairs], facts, open_, rejected)


@pytest.mark.parametrize(
    ("one", "other", "stays"),
    [
        (Facts("1", "pinned", "", pinned=True), Facts("2", "used", "", uses=9), "pinned"),
        (Facts("1", "often", "", uses=3, since=9), Facts("2", "old", "", uses=2, since=1), "often"),
        (Facts("1", "young", "", since=9), Facts("2", "old", "", since=1), "old"),
        (Facts("1", "b", ""), Facts("2", "a", ""), "a"),
        (Facts("1", "taker", "", took=frozenset({"used"})), Facts("2", "used", "", pinned=True, uses=9), "taker"),
    ],
)
def test_the_pinned_the_more_used_the_older_one_stays_unless_one_took_the_other_over(
    one: Facts, other: Facts, stays: str
) -> None:
    assert canonical(one, other)[0].name == canonical(other, one)[0].name == stays


def test_a_skill_has_part_in_one_merge_at_a_time() -> None:
    assert fates((A, B), (A, C), (B, D), (C, D)) == [Fate.MERGE, Fate.WAITS, Fate.WAITS, Fate.MERGE]


def test_a_merge_that_is_open_holds_up_others_even_before_it_in_the_list() -> None:
    assert fates((A, B), (A, C), open_=(pair_key("c", "a"),)) == [Fate.WAITS, Fate.OPEN]


def test_what_was_rejected_is_not_proposed_again_whichever_of_the_two_stays_now() -> None:
    assert pair_key("a", "b") == pair_key("b", "a") != pair_key("a", "c")
    assert fates((A, B), (A, C), rejected=(pair_key("b", "a"),)) == [Fate.REJECTED, Fate.MERGE]


def test_skills_of_different_places_and_those_that_may_not_be_changed_are_left_apart() -> None:
    elsewhere = Facts("e", "e", "")
    fixed = Facts("f", "f", "/p", fixed="it is read-only")
    first, second = planned((A, elsewhere), (B, fixed))
    assert (first.fate, second.fate) == (Fate.APART, Fate.APART)
    assert first.why == "they do not belong to the same project"
    assert second.why == "it is read-only"


def test_a_skill_that_was_taken_over_is_done_and_has_no_part_in_another_merge() -> None:
    taker = Facts("t", "t", "/p", took=frozenset({"a"}))
    assert fates((A, taker), (A, B), (taker, C)) == [Fate.MERGED, Fate.WAITS, Fate.MERGE]


def test_a_run_proposes_only_a_few_merges() -> None:
    many = [Facts(f"{number}", f"s{number}", "/p") for number in range(14)]
    found = planned(*zip(many[::2], many[1::2], strict=True))
    assert [pair.fate for pair in found] == [Fate.MERGE] * 5 + [Fate.WAITS] * 2
    assert found[-1].why.startswith("until you decide on the others")


def test_a_merge_that_turned_out_to_be_none_takes_no_place_of_another() -> None:
    facts = {fact.key: fact for fact in (A, B, C)}
    known = {pair_key("a", "b"): (Fate.APART, "too much"), pair_key("b", "c"): (Fate.COVERED, "")}
    found = plan([match(A, B), match(B, C), match(A, C)], facts, (), (), known)
    assert [(pair.fate, pair.why) for pair in found] == [
        (Fate.APART, "too much"),
        (Fate.COVERED, ""),
        (Fate.MERGE, ""),
    ]
