"""A rule for all of a person's projects, in several wordings: it is one rule, and goes to their own file."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.classify.said_already import says_same_rule
from skilld.targets.route import is_personal
from skilld.types import Message
from support.rows import for_each


@for_each(
    ("said", "rule"),
    [
        ("in all my projects: never force-push", "Never force-push."),
        ("never force-push, in any project", "Never force-push."),
        ("in any project, never force-push", "Never force-push."),
        ("never force-push in any of my repos", "Never force-push."),
        ("across all my repos, never commit .env files", "Never commit .env files."),
        ("never commit .env files, wherever i work", "Never commit .env files."),
        ("in jedem Projekt: nie force-pushen", "Nie force-pushen."),
        ("keine Emojis, in keinem Projekt", "Keine Emojis."),
        ("bei allen meinen Projekten: keine Emojis", "Keine Emojis."),
    ],
)
def test_its_scope_is_no_part_of_the_rule_and_decides_on_the_file(said: str, rule: str) -> None:
    found = Offline().detect([Message("fix it", 1), Message("Done."), Message(said, 2)], [])
    assert [one.change for one in found if one.confidence >= 0.5] == [rule]
    assert is_personal(said)


@for_each(
    "pair",
    [
        ("Never force-push.", "Never force-push, in any project."),
        ("Never force-push.", "Never force-push in any of my repos."),
        ("Use pnpm, not npm.", "Use pnpm, not npm, in all my projects."),
        ("Keine Emojis.", "Keine Emojis, in keinem Projekt."),
        ("Write commit subjects in English.", "In any project, write commit subjects in English."),
    ],
)
def test_with_and_without_its_scope_it_is_the_same(pair: tuple[str, str]) -> None:
    one, other = pair
    assert says_same_rule(one, other)
    assert says_same_rule(other, one)


def test_another_scope_or_rule_is_another() -> None:
    assert not says_same_rule("Never force-push to main.", "Never force-push, in any project.")
    assert not says_same_rule("Put a README in each project.", "Put a README in the root.")
