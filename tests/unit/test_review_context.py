"""A quote in its context."""

from __future__ import annotations

import pytest

from skilld.review import controller
from skilld.review.controller import Excerpt
from skilld.review.draw import can_show
from skilld.types import Evidence, Message

MESSAGES = [
    Message("Done. \x1b[2J"),
    Message("hm, ok. From  now on say it.\nThanks", turn=1, turn_key="k1"),
    Message("I will."),
    Message("bye", turn=2, turn_key="k2"),
]


def test_the_quote_is_shown_between_the_words_around_it() -> None:
    assert controller.excerpts_around(MESSAGES, Evidence("k1", "From now on say it.")) == [
        Excerpt(by_person=False, before="Done. \\x1b[2J"),
        Excerpt(by_person=True, before="hm, ok. ", quote="From now on say it.", after=" Thanks"),
        Excerpt(by_person=False, before="I will."),
    ]


def test_a_quote_not_found_verbatim_shows_the_whole_message() -> None:
    (_, said) = controller.excerpts_around(MESSAGES, Evidence("k2", "something else"))
    assert said == Excerpt(by_person=True, before="bye")
    assert controller.excerpts_around(MESSAGES, Evidence("gone", "bye")) == []


def test_gaps_between_quotes_are_marked_and_nothing_is_repeated() -> None:
    messages = [Message("Done.", turn, str(turn)) if turn else Message("Understood.") for turn in (1, 0, 2, 0, 3, 0)]
    first, second, third = (controller.excerpts_around(messages, Evidence(str(turn), "Done.")) for turn in (1, 2, 3))
    assert [(one.at, one.gap) for one in controller.skip_shown(first[-1].at, second)] == [(2, False), (3, False)]
    assert [(one.at, one.gap) for one in controller.skip_shown(first[-1].at, third)] == [
        (3, True),
        (4, False),
        (5, False),
    ]
    assert [one.gap for one in controller.skip_shown(None, third)] == [True, False, False]


def test_a_long_message_is_cut_around_its_quote() -> None:
    text = "a" * 3000 + " keep it " + "b" * 3000
    (said,) = controller.excerpts_around([Message(text, turn=1, turn_key="k")], Evidence("k", "keep it"))
    assert said.quote == "keep it"
    assert len(said.before) + len(said.after) < 900


@pytest.mark.parametrize(
    ("text", "fine"),
    [("a\n\tb\r\nü\n", True), ("\ufeffa\n", True), ("a \x1b[2J", False), ("a\u202eb", False), ("a\rb", False)],
)
def test_only_text_without_hidden_characters_is_edited_on_screen(text: str, fine: bool) -> None:  # noqa: FBT001 - a case
    assert can_show(text) is fine
