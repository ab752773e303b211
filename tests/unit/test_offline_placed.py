from __future__ import annotations

from skilld.classify.backends.offline import UNRELATED_CONFIDENCE, Offline
from skilld.types import Message, SkillDoc
from support.rows import for_each

MIGRATIONS = """---
name: db-migrations
description: Write and review migrations of the orders database.
---

# Migrations

- Run `make migrate` and commit the schema dump together with the migration.
- Push the dump of a table to the bucket before its data changes.
"""
NOTES = """---
name: release-notes
description: Write release notes from merged PRs.
---

# Release notes

- Read the commits since the last tag.
- Link the pull request of each entry.
"""
ENTRIES = """---
name: release-notes
description: Writes the release notes of a version from the merged changes.
---

# Release notes

1. Collect the merged changes since the last tag.
2. Write one entry per change, newest first.

- Past tense, one line per entry.
"""
CHARTS = "---\nname: chart\ndescription: Draws any plot or figure with matplotlib.\n---\n\n- Label both axes.\n"
TASKS = "---\nname: tasks\ndescription: How a task goes.\n---\n\n1. Read the card.\n2. Commit and push to `dev`.\n"
WORKFLOW = (
    "---\nname: delivery\ndescription: How we commit, branch, push and open PRs.\n---\n\n- One branch per task.\n"
)


def confidence(said: str, skill: str, agent: str = "") -> float:
    messages = [*([Message(agent, turn=None)] if agent else []), Message(said, turn=1)]
    (update,) = Offline().detect(messages, [SkillDoc(1, skill.split()[2], "SKILL.md", skill)])
    return update.confidence


@for_each(
    ("said", "skill"),
    [
        ("Never push to main without asking me first", MIGRATIONS),
        ("Always sign commits", MIGRATIONS),
        ("never force push, ever", MIGRATIONS),
        ("Nie auf main pushen, ohne mich vorher zu fragen.", MIGRATIONS),
        ("Nunca faça commit sem eu pedir.", MIGRATIONS),
        ("Open PRs as drafts, always.", NOTES),
        ("From now on write commit messages in English.", NOTES),
        ("Ne fais jamais de commit sans me demander.", NOTES),
        ("From now on write commit messages in English.", ENTRIES),
    ],
)
def test_a_rule_about_git_is_not_for_a_skill_that_only_has_the_word(said: str, skill: str) -> None:
    assert confidence(said, skill) == UNRELATED_CONFIDENCE
    assert confidence(said, WORKFLOW) > 0.5


@for_each(
    ("said", "is_placed"),
    [
        ("I'd rather you didn't use dashed lines, I can't see them. Applies to all figures.", True),
        ("You keep adding a background. No background, in any chart.", True),
        ("Never use gradients, they print badly. That goes for every plot.", True),
        ("Never use tabs, they break the diff. Applies to all projects.", False),
        ("Never delete backups, we need them. Put a legend in every chart.", False),
        ("Never delete backups, we need them. Is that so in all figures?", False),
        ("Never delete backups, we need them. The client looks at every plot.", False),
        ("You keep adding a background.", False),
    ],
)
def test_a_scope_after_a_wish_places_it_in_the_skill(said: str, *, is_placed: bool) -> None:
    skill = SkillDoc(1, "chart", "SKILL.md", CHARTS)
    first, *_ = Offline().detect([Message("Done.", turn=None), Message(said, turn=1)], [skill])
    assert (first.confidence > UNRELATED_CONFIDENCE) is is_placed


def test_work_by_the_skill_just_before_does_not_make_it_the_place_for_git() -> None:
    done = "I wrote migration 0042 for the orders table, committed it and pushed it."
    assert confidence("No, never push without asking me first.", MIGRATIONS, done) == UNRELATED_CONFIDENCE


@for_each(
    ("said", "skill"),
    [
        ("Never commit a migration without its down step.", MIGRATIONS),
        ("Always push the dump before you commit.", MIGRATIONS),
        ("Always link the commit of each entry.", NOTES),
        ("Never mention merge commits in the release notes.", NOTES),
        ("Never push without asking me first", TASKS),
        ("Remember to link every entry to its pull request.", ENTRIES),
    ],
)
def test_a_rule_about_what_the_skill_does_with_git_is_for_the_skill(said: str, skill: str) -> None:
    assert confidence(said, skill) > 0.5
