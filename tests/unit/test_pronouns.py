"""A change with a pronoun: resolved from the words before if unambiguous, otherwise dropped."""

from __future__ import annotations

from skilld.classify.subject import fill_pronoun
from skilld.classify.verify import Verdict, verify
from skilld.types import Kind, Message, SkillDoc, Update
from support.rows import for_each

SKILL = SkillDoc(1, "notes", "/p/SKILL.md", "# Release notes\n\n- Past tense.\n")


@for_each(
    ("change", "before", "said"),
    [
        ("Always put it first.", "The upgrade hint stands below the title. No, ", "Always put the upgrade hint first."),
        ("Never commit them.", "the .env files are local. ", "Never commit the .env files."),
        (
            "Keep it under 60 characters.",
            "our commit title is too long, ",
            "Keep our commit title under 60 characters.",
        ),
        ("Do not put it in bold.", "I moved an image caption. ", "Do not put the image caption in bold."),
    ],
)
def test_a_pronoun_is_resolved_from_the_sentence_before(change: str, before: str, said: str) -> None:
    assert fill_pronoun(change, before) == said


@for_each(
    ("change", "before"),
    [
        ("Always put it first.", ""),
        ("Always put it first.", "No, "),
        ("Run it twice.", "I added the script and the test. "),
        ("Never commit them.", "I moved the file. "),
        ("Always leave them out.", "I like progress, "),
        ("Ponlo siempre primero.", "El resumen va al final. "),
        ("Siempre ponlo primero.", ""),
        ("Setz es immer nach oben.", ""),
        ("Always add one to new pages.", ""),
    ],
)
def test_an_ambiguous_pronoun_makes_no_change(change: str, before: str) -> None:
    assert fill_pronoun(change, before) is None


@for_each(
    ("change", "before"),
    [
        ("Write it like you'd tell your aunt.", "she has no clue what an endpoint is. these people are shopkeepers, "),
        ("Never word it like an advert.", "nobody asked why a robot wrote this. "),
    ],
)
def test_it_may_be_what_the_agent_writes_but_not_a_thing_that_is_asked_about(change: str, before: str) -> None:
    assert fill_pronoun(change, before) == change
    assert fill_pronoun(change, "") is None


@for_each(
    "change",
    [
        "When the build fails, run it once more.",
        "Rerun the test and fix it.",
        "Tabs it is.",
        "Make it a habit to read the log.",
        "Mettilo sempre, il totale, in fondo.",
        "Use tabs.",
    ],
)
def test_a_change_that_names_its_subject_stays(change: str) -> None:
    assert fill_pronoun(change, "The summary and the list are done.") == change


def _verdict(typed: str, quote: str, change: str, offer: str = "") -> Verdict:
    messages = [*([Message(offer)] if offer else []), Message(typed, turn=1)]
    update = Update(1, "", change, "Asked for.", Kind.PREFERENCE, 1, quote, 0.9)
    return verify([update], messages, [SKILL])


def test_a_proposal_names_its_subject() -> None:
    typed = "The upgrade hint is at the end. No, always put it first."
    verdict = _verdict(typed, "No, always put it first.", "Always put it first.")
    assert [one.update.change for one in verdict.proposed] == ["Always put the upgrade hint first."]
    verdict = _verdict("No, always put it first.", "No, always put it first.", "Always put it first.")
    assert not verdict.proposed
    assert [why for _, why in verdict.learned] == ["the message does not say what the instruction is about"]


def test_a_bare_assent_takes_the_agents_words_and_needs_review() -> None:
    offer = "The upgrade hint is at the end now. Shall I always put it first?"
    verdict = _verdict("yes, always", "yes, always", "Always put it first.", offer)
    assert [(one.update.change, one.by_assent) for one in verdict.proposed] == [
        ("Always put the upgrade hint first.", True)
    ]
