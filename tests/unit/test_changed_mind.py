"""A rule beside the words that the person has changed their mind is a rule, and takes no other line out."""

from __future__ import annotations

import pytest

from skilld.classify.backends.offline import Offline
from skilld.types import Kind, Message, SkillDoc
from support.rows import for_each

TEXT = """\
# Guide

## Rules

- Use tabs for indentation.
- The version number is in `settings.ini`, and the build script bumps it.
- The fields are `title`, `description` and `tags`.
"""


def heard(*said: str, text: str = "") -> list[tuple[int, str, Kind]]:
    messages: list[Message] = []
    for number, words in enumerate(said, 1):
        messages += [Message(words, number, f"t:{number}"), Message("Done.", None, None)]
    skills = [SkillDoc(1, "CLAUDE.md", "/CLAUDE.md", text)] if text else []
    return [(one.turn, one.change, one.kind) for one in Offline().detect(messages, skills)]


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("Never use magic numbers, I changed my mind about that.", "Never use magic numbers."),
        ("I changed my mind about em dashes, never use them in titles.", "Never use em dashes in titles."),
        ("Always put an emoji at the start of commit messages, I changed my mind.", "Always put an emoji"),
        ("From now on print errors in red, I changed my mind.", "Print errors in red."),
        ("I changed my mind: always name levels by number.", "Always name levels by number."),
        ("I've changed my mind - from now on sign every tag.", "Sign every tag."),
        ("On second thought, never squash commits.", "Never squash commits."),
        ("Always sign tags (I changed my mind).", "Always sign tags."),
        ("Scratch that, always sign every tag.", "Always sign every tag."),
        ("Ich hab mir das anders überlegt: ab jetzt immer Tags signieren.", "Immer Tags signieren."),
        ("J'ai changé d'avis, désormais signe toujours les tags.", "Signe toujours les tags."),
    ],
)
@pytest.mark.parametrize("text", ["", TEXT])
def test_the_rule_is_heard_and_nothing_is_removed(said: str, rule: str, text: str) -> None:
    found = heard(said, text=text)
    assert [(turn, kind is Kind.REMOVE_STEP) for turn, _, kind in found] == [(1, False)]
    assert found[0][1].startswith(rule)


def test_the_new_rule_replaces_the_earlier_one_and_no_other() -> None:
    found = heard("Always use tabs.", "From now on sign every tag.", "I changed my mind about tabs, always use spaces.")
    assert [turn for turn, _, _ in found] == [2, 3]
    for mind in ("my mind", "my mind about that", "my mind about squashing"):
        found = heard("Always use tabs.", f"Never squash commits, I changed {mind}.")
        assert [turn for turn, _, _ in found] == [1, 2], mind


@for_each("said", ["I changed my mind about the tabs.", "I changed my mind.", "on second thought, no"])
def test_alone_it_takes_the_rule_back(said: str) -> None:
    assert heard("Always use tabs.", said) == []
