"""A skill before past turns: what it says, what it does not, and what is none of its affair."""

from __future__ import annotations

from pathlib import Path

from skilld.classify.backends import Spec, make_backend
from skilld.library.recommend import Coverage, CoverageAnswer, CoverageExam, message_batches
from skilld.types import Message

TEXT = "---\nname: notes\ndescription: Writes release notes.\n---\n\n# Release notes\n\n- Write at most 5 entries.\n"
ALWAYS = "From now on, always put the ticket number first in each entry of the release notes."


def _messages(*texts: str) -> list[Message]:
    return [Message(text, turn=number, turn_key=f"t{number}") for number, text in enumerate(texts, 1)]


def test_a_session_is_split_into_batches_without_chatter_ones() -> None:
    one, two = Message("Done."), Message("Done, too.")
    turns = _messages("thanks", "ok", ALWAYS, "thanks", "ok")
    session = [turns[0], one, turns[1], two, turns[2], turns[3], turns[4], Message("Bye.")]
    (batch,) = message_batches(session, 2)
    assert [(message.text, message.turn, message.turn_key) for message in batch] == [
        ("Done, too.", None, None),
        (ALWAYS, 1, "t3"),
        ("thanks", 2, "t4"),
    ]
    assert list(message_batches([Message("Bye.")], 2)) == []


def test_rules_cannot_judge_words_in_another_language() -> None:
    said = _messages("Ab jetzt immer die Ticketnummer an den Anfang von jedem Eintrag in den Release Notes schreiben.")
    text = TEXT + "- Always put the ticket number at the start of each entry.\n"
    examination = CoverageExam(make_backend(Spec("offline")), "notes", Path("/p/SKILL.md"), text, str)
    assert [answer.word for answer in examination.answers(said)] == [Coverage.CANNOT_TELL]


def test_each_lasting_statement_is_answered_in_order() -> None:
    messages = _messages(
        ALWAYS,
        "From now on, write at most 9 entries in the release notes.",
        "Never put marketing words into the release notes.",
        "Always water the plants in the office kitchen on Fridays.",
    )
    text = TEXT + "- Never put marketing words into the release notes.\n"
    examination = CoverageExam(make_backend(Spec("offline")), "notes", Path("/p/SKILL.md"), text, str)
    found = examination.answers(messages)
    assert [(one.word, one.turn) for one in found] == [
        (Coverage.NOT_COVERED, "t1"),
        (Coverage.CONTRADICTS, "t2"),
        (Coverage.COVERED, "t3"),
    ]
    assert isinstance(found[1], CoverageAnswer)
    assert [one.line for one in found[1:]] == [
        "Write at most 5 entries.",
        "Never put marketing words into the release notes.",
    ]
    assert examination.elsewhere == 1
