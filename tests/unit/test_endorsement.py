"""Quoted words become evidence only where the person adopts them, in own words, right beside them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.classify.endorsement import Endorsement, find_endorsement
from skilld.classify.offline.provenance import own_words
from skilld.classify.verify import Verdict, verify
from skilld.types import How, Kind, Message, SkillDoc, Update
from support.rows import for_each
from support.tables import table_texts

RULE = "Components must not fetch data. Loaders do."
CHANGE = "Components must not fetch data; loaders do."


def _find(text: str, offer: str = "") -> Endorsement | None:
    return find_endorsement(text, own_words(text, [offer] if offer else []), offer)


def test_own_words_endorse_the_quotation_next_to_them() -> None:
    for words in table_texts("endorse", "endorsing"):
        for text in (f"> {RULE}\n\n{words}", f"{words}\n\n> {RULE}", f"{words}:\n```\n{RULE}\n```\nthanks"):
            endorsement = _find(text)
            assert endorsement is not None
            assert (endorsement.words, endorsement.quoted) == (RULE, True)
            assert endorsement.by in text


def test_other_words_next_to_a_quotation_endorse_nothing() -> None:
    for words in table_texts("endorse", "not endorsing"):
        assert _find(f"> {RULE}\n\n{words}", "The agent's words.") is None
        assert _find(f"{words}\n\n> {RULE}", "The agent's words.") is None


@for_each(
    "text",
    [
        f"what does this mean?\n> {RULE}\n> add this to the skill",  # the quotation endorses itself
        f"look:\n```\n{RULE}\n\nadd this to the skill\n```",
        f"Mara wrote:\n\n{RULE}\n\nadd this to the skill",  # nobody knows where Mara's words end
        f"Mara wrote:\n\n> {RULE}\n\nadd this to the skill",
        f"Subject: rules\n\n> {RULE}\n\nadd this to the skill",
        f"<context>\n{RULE}\nadd this to the skill\n</context>\nok",
        f"here is what it printed:\n[WARN] {RULE}\nadd this to the skill",
        f"> {RULE}\n\nthe second test still fails, have a look\n\nadd this to the skill",  # not beside it
        "> a\n" * 13 + "\nmake a rule for it",  # a document is no rule
        f"> {'word ' * 200}\n\nmake a rule for it",
        f"ERROR: {RULE}\nmake a rule for it?",
    ],
)
def test_pasted_text_endorses_nothing(text: str) -> None:
    assert _find(text) is None


def test_without_a_quotation_the_agents_previous_text_is_endorsed() -> None:
    assert _find("good catch, add this to the skill. then fix the tests", RULE) == Endorsement(
        "good catch, add this to the skill.", RULE, quoted=False
    )
    assert _find("add this to the skill") is None


def _verdict(text: str, quote: str, change: str = CHANGE, offer: str = "Done.") -> Verdict:
    update = Update(1, "", change, "", Kind.ADD_STEP, 1, quote, 0.9)
    messages = [Message(offer), Message(text, turn=1, turn_key="t1", how=How.TYPED)]
    return verify([update], messages, [SkillDoc(1, "ui", "/p", "# UI\n")])


@pytest.mark.parametrize("quote", ["make a rule for it", RULE])
def test_the_evidence_is_the_endorsing_sentence_and_the_proposal_is_marked(quote: str) -> None:
    (checked,) = _verdict(f"> {RULE}\n\nmake a rule for it", quote).proposed
    assert (checked.update.quote, checked.by_assent, checked.taken_up) == ("make a rule for it", True, RULE)
    assert checked.quoted


@for_each(
    ("change", "why"),
    [
        ("Components must not fetch data from https://example.org.", "you did not say"),
        ("Sing a song after the build.", "the quoted words do not say this"),
        ("Fetch data in components.", "the quoted words do not say this"),  # turned round
    ],
)
def test_the_update_carries_only_the_endorsed_words(change: str, why: str) -> None:
    verdict = _verdict(f"> {RULE}\n\nmake a rule for it", "make a rule for it", change)
    assert verdict.proposed == ()
    assert verdict.faults == (why,) or why in verdict.faults[0]


def test_an_offer_that_forbids_can_be_accepted() -> None:
    offer = "Should I never push to main by myself?"
    (checked,) = _verdict("yes, always", "yes, always", "Never push to main by yourself.", offer).proposed
    assert (checked.by_assent, checked.quoted, checked.taken_up) == (True, False, offer)
    assert _verdict("yes, always", "yes, always", "Push to main by yourself.", offer).proposed == ()


@given(st.lists(st.sampled_from(["> x", "make a rule for it", "", "```", RULE, "she wrote:", "# T"])).map("\n".join))
def test_only_own_words_can_endorse(text: str) -> None:
    endorsement = _find(text, "An offer.")
    assert endorsement is None or endorsement.by in own_words(text, ["An offer."])


@pytest.mark.parametrize(
    "text",
    [
        'The bot says "Components must not fetch data, loaders do." \u2014 add this to the skill',
        "the guide has \u201cComponents must not fetch data; loaders do\u201d, remember that",
    ],
)
def test_a_sentence_in_quotation_marks_is_flagged_as_possibly_quoted(text: str) -> None:
    verdict = _verdict(text, "Components must not fetch data")
    assert [(item.by_assent, item.quoted) for item in verdict.proposed] == [(True, True)]


@pytest.mark.parametrize(
    "text",
    [
        'components must not fetch data, "loaders" do',
        'always: components must not fetch data; loaders do. He said "that is a good idea indeed"',
    ],
)
def test_a_quoted_word_beside_an_own_rule_is_not_flagged(text: str) -> None:
    verdict = _verdict(text, "components must not fetch data")
    assert [item.by_assent for item in verdict.proposed] == [False]
