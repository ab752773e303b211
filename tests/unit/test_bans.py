"""Bans in different words are one ban."""

from __future__ import annotations

from skilld.classify.bans import is_same_ban
from skilld.classify.said_already import is_same_change, says_same_rule
from skilld.jobs.asks import group_learnings
from skilld.library.clusters import Mention, Piece, group_asks
from skilld.store.learnings import Learning
from support.rows import for_each

USE_HERE = "Never use setwd() in scripts, use here::here() instead."


@for_each(
    ("one", "other", "same"),
    [
        ("No setwd().", USE_HERE, True),
        ("Never use setwd(), it breaks on my machine.", USE_HERE, True),
        ("Kein setwd() mehr.", "Nie setwd() benutzen.", True),
        ("Don't use `Date.now()` in tests.", "No Date.now() in the tests!", True),
        ("Never use setwd() in scripts.", "Never use setwd() in packages.", False),
        ("Never use setwd().", "Never use getwd().", False),
        ("Don't remove setwd() from the setup.", "No setwd().", False),
        ("Never use setwd() without asking.", "No setwd().", False),
        ("Always use setwd().", "No setwd().", False),
        ("No comments.", "No comments in German.", False),
        ("No lodash.", "Never use lodash, use es-toolkit instead.", True),
        ("Never push to main; open a pull request.", "Don't push to main!", True),
        ("Never use npm, use pnpm.", "Never use npm, use bun.", False),
        ("Never push to main, unless it is a typo.", "Never push to main.", False),
        ("Push to main, not to a branch.", "Push to main.", False),
    ],
)
def test_two_wordings_of_one_ban_are_one_ask(one: str, other: str, *, same: bool) -> None:
    assert (is_same_ban(one, other), is_same_ban(other, one)) == (same, same)
    assert (is_same_change(one, other) or not same) is True


@for_each(
    ("change", "line", "said"),
    [
        ("Never use setwd(), it breaks on my machine.", USE_HERE, True),
        ("Never use setwd() in scripts.", "Never use setwd(), it breaks on my machine.", True),
        (USE_HERE, "Never use setwd().", False),
        ("Never use setwd() in scripts, set the root in config.R.", "Never use setwd().", False),
    ],
)
def test_a_ban_that_adds_nothing_is_said_already(change: str, line: str, *, said: bool) -> None:
    assert says_same_rule(change, f"# Analysis\n\n- {line}\n") is said


RULES = "- No marketing words.\n- Never delete branches.\n"
NOTES = f"---\nname: release-notes\ndescription: Writes them.\n---\n\n# Notes\n\n{RULES}"


@for_each(
    ("change", "said"),
    [
        ("Never use marketing words in the notes.", True),
        ("Don't use marketing words in release notes", True),
        ("Never use marketing words in the changelog.", False),
        ("Never use marketing words in the commits of the notes.", False),
        ("Never delete anything in the notes.", False),
    ],
)
def test_m3_a_ban_in_what_the_skill_is_about_is_the_ban_of_the_skill(change: str, said: bool) -> None:  # noqa: FBT001 - a column
    assert says_same_rule(change, NOTES) is said


def test_two_wordings_of_one_ban_are_one_learning_and_one_ask() -> None:
    texts = (USE_HERE, "No setwd().", "Never commit plots.")
    said = [Mention("learning", text, text, text, "", "", "/p", Piece(text, 0.0, 0.8)) for text in texts]
    assert [len(ask.said) for ask in group_asks(said)] == [2, 1]
    learnings = [
        Learning(text, text, text, text, "preference", "claude-code", text, "/p", None, "", 0.8, "2026-01-05T10:00:00Z")
        for text in texts
    ]
    assert [len(ask) for ask in group_learnings(learnings)] == [2, 1]
