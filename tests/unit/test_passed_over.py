"""Orders that sound lasting and were not heard are named with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.offline.detector import find_lasting
from skilld.classify.offline.passed_over import passed_over
from skilld.jobs.report import find_passed_over
from skilld.protocol import AnalyseBatch, BatchJob
from skilld.types import Evidence, Kind, Message, Proposal, Update
from support.proposals import make_proposal
from support.rows import for_each

PRODUCT, REPORTED = "it seems to describe what a product does", "it seems to be somebody else's words"
UNKNOWN = "the offline judge does not know this wording"


@pytest.mark.parametrize(
    "verb", ["store", "show", "return", "cache", "send", "open", "redirect", "fetch", "allow", "load"]
)
@pytest.mark.parametrize("place", ["this project", "our repo", "this codebase"])
def test_an_order_about_the_project_is_heard_whatever_its_verb(verb: str, place: str) -> None:
    said = f"never {verb} passwords in plain text again in {place}"
    assert [one.quote for one in find_lasting(said)] == [said]
    assert list(passed_over(said)) == []


@for_each(
    ("text", "quote", "why"),
    [
        ("ok. never store user data again", "never store user data again", PRODUCT),
        ("never store tokens in localStorage, it leaks", "never store tokens in localStorage, it leaks", PRODUCT),
        ("always show the date", "always show the date", UNKNOWN),
        ("dates are always shown in local time", "dates are always shown in local time", UNKNOWN),
        ("amounts in the API are always integers", "amounts in the API are always integers", PRODUCT),
        ("Bob said we should never rebase", "Bob said we should never rebase", REPORTED),
        ("Speichere nie Passwörter im Klartext", "Speichere nie Passwörter im Klartext", PRODUCT),
        ("永远不要存密码", "永远不要存密码", PRODUCT),
        ("k like last time: run the linter first", "k like last time: run the linter first", UNKNOWN),
        ("pls no emojis here", "pls no emojis here", UNKNOWN),
        ("no orm here pls, plain sql", "no orm here pls, plain sql", UNKNOWN),
        ("gentle nudge: never bump it alone", "gentle nudge: never bump it alone", UNKNOWN),
    ],
)
def test_what_is_not_heard_is_named_with_the_reason(text: str, quote: str, why: str) -> None:
    assert find_lasting(text) == []
    assert list(passed_over(text)) == [(quote, why)]


@for_each(
    "text",
    [
        "from now on always sign",
        "same as last time, timeout after 30s",
        "as usual, great work",
        "again: run the tests",
        "no errors here",
        "should we always rebase?",
        "never mind",
        "ok, looks good",
        "> never store user data",
        "2024-03-01 12:00:00 never store user data",
        "always show the date" + " and the time of the last change in the header" * 5,
        "always show the date\n" + "The page is about books.\n" * 90,
    ],
)
def test_what_was_heard_asked_pasted_or_long_is_not_named(text: str) -> None:
    assert list(passed_over(text)) == []


def _find(
    *turns: str,
    lost: tuple[tuple[Update, str], ...] = (),
    made: tuple[Proposal, ...] = (),
    kind: str = "analyse",
    model: str = OFFLINE,
) -> list[tuple[str, str]]:
    keys = tuple(f"t{number}" for number in range(1, len(turns) + 1))
    job = AnalyseBatch(batch=BatchJob(cwd="/p", turns=keys, kind=kind), closed_at="", backend=Spec(model))
    messages = [Message(text, number, f"t{number}") for number, text in enumerate(turns, 1)]
    return [(one.quote, one.why_kept) for one in find_passed_over(job, messages, lost, made)]


@for_each(
    "turns",
    [
        ("Always use single quotes. no wait, forget that, double quotes are fine",),
        ("Please always add a trailing slash. Actually no, forget it, django does that",),
        ("never cache errors. scratch that", "ok"),
        ("immer mit Tabs einrücken. ach nein, vergiss das",),
        ("always show the date", "hm, forget that"),
        ("look", "pls no emojis here", "actually scratch that"),
    ],
)
def test_what_was_taken_back_is_not_named(turns: tuple[str, ...]) -> None:
    assert _find(*turns) == []


def test_only_what_was_taken_back_is_left_out() -> None:
    kept = ("always show the date", UNKNOWN)
    assert _find("always show the date", "pls no emojis here. no wait, forget that") == [kept]
    assert _find("always show the date", "from now on always sign", "scratch that") == [kept]


def test_nothing_is_named_where_a_model_judges_or_learnings_are_judged_again() -> None:
    assert _find("never cache errors here again")
    assert not _find("never cache errors here again", kind="waiting")
    assert not _find("never cache errors here again", model="openai/stub")


def test_what_is_proposed_is_not_named() -> None:
    said = "dates are always shown in local time"
    assert _find(said) == [(said, UNKNOWN)]
    assert _find(said, made=(make_proposal(evidence=(Evidence("t1", f"please, {said}"),)),)) == []


def test_what_was_heard_and_not_used_is_named_with_its_reason() -> None:
    update = Update(1, "", "Sign it.", "", Kind.PREFERENCE, 1, "always sign it")
    assert _find("ok", "always sign it", lost=((replace(update, turn=2), "it is refused"),)) == [
        ("always sign it", "it is refused")
    ]


@pytest.mark.parametrize("rule", ["Never shadow err.", "Never catch bare exceptions."])
def test_an_order_dropped_as_talk_about_the_product_is_named(rule: str) -> None:
    assert _find(rule) == []
    assert (rule, PRODUCT) in _find("the loader should always close the file", rule)
