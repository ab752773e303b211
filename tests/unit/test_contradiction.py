"""Opposite preferences: "X, not Y" against "Y, not X"."""

from __future__ import annotations

import pytest

from skilld.classify.contradiction import contradicts, contradicts_clearly
from skilld.classify.offline.choices import chosen_part, refused_part
from skilld.classify.offline.placement import replacement
from skilld.classify.opposition import bans
from skilld.classify.rule_repeats import repeats_rule
from skilld.classify.said_already import find_line
from skilld.types import Kind, Update
from support.rows import for_each


@for_each(
    ("one", "other"),
    [
        ("Use tabs, not spaces", "Use spaces, not tabs"),
        ("Indent with tabs, never with spaces.", "Indent with spaces, never with tabs."),
        ("Write tests with pytest, not unittest.", "Use unittest, not pytest."),
        ("Use mise instead of asdf.", "Use asdf instead of mise."),
        ("Use yarn.", "Use pnpm, never npm."),
        ("Use banker's rounding for money.", "Round money half up, never with banker's rounding."),
        ("Physics goes into Update, not FixedUpdate.", "Physics goes into `FixedUpdate`."),
        ("Always squash when merging.", "Merge with a merge commit, never squash."),
        ("Prefer plain index loops to iterators.", "Prefer iterators to index loops."),
        ("Error messages start with a capital letter.", "Error messages start with a lower-case letter."),
        ("Keep the line length at 88.", "Keep the line length at 100."),
    ],
)
def test_opposite_preferences_contradict_each_other(one: str, other: str) -> None:
    for pair in ((one, other), (other, one)):
        assert contradicts(*pair)
        assert contradicts_clearly(*pair)


@for_each(
    ("one", "other"),
    [
        ("Use tabs, not spaces", "Use tabs, not spaces"),
        ("Use tabs, not spaces, in Makefiles.", "Use spaces, not tabs, in Python."),
        ("Put the date first, not last.", "Put the title last, not first."),
        ("Use mise, not asdf, for Ruby.", "Use asdf, not mise, for Erlang."),
        ("Use pnpm, never npm.", "Use tabs, not spaces."),
        ("Use rounding helpers for money.", "Round money half up, never with banker's rounding."),
        ("Use spaces around operators.", "Indent with tabs, never with spaces."),
        ("Update the docs after a release.", "Docs go into `docs/`, not `wiki/`."),
        ("Prefer a table to a list.", "Prefer to ask before you push."),
        ("Use a line height of 1.5.", "Use a line height of 1.5 for code."),
        ("Prefer pnpm to npm.", "Use pnpm, not npm."),
    ],
)
def test_other_subjects_or_the_same_preference_do_not(one: str, other: str) -> None:
    for pair in ((one, other), (other, one)):
        assert not contradicts(*pair)


@for_each(
    ("one", "other", "does"),
    [
        ("Do not use tabs.", "Use tabs.", True),
        ("Do not use pnpm any more.", "Always use pnpm in this project.", True),
        ("Do not put the ticket number first.", "Always put the ticket number first in each entry.", True),
        ("Use tabs.", "Do not use tabs.", False),
        ("Do not use emojis.", "Put an emoji list into the docs.", False),
        ("Never rebase shared branches.", "Rebase your own branch.", False),
        ("Never push without asking.", "Push after asking.", False),
        ("Do not use pnpm, but yarn.", "Use pnpm.", False),
        ("Do not use tabs.", "Do not use tabs.", False),
    ],
)
def test_a_ban_contradicts_every_request_for_it(one: str, other: str, does: bool) -> None:  # noqa: FBT001 - a case
    assert bans(one, other) is does


@pytest.mark.parametrize(
    ("ban", "order"),
    [
        ("Never log a payment with the card number to the audit file.", "Log every payment to the audit file."),
        ("Never delete old backups on a Friday.", "Delete old backups after the migration."),
    ],
)
def test_a_ban_on_a_special_case_is_an_exception_and_no_contradiction(ban: str, order: str) -> None:
    assert not contradicts(ban, order)
    assert not contradicts(order, ban)


def test_a_ban_on_all_of_it_is_a_contradiction() -> None:
    assert contradicts("Never log payments to the audit file.", "Log every payment to the audit file.")


@for_each(
    ("said", "line", "after"),
    [
        ("Write commit messages in the imperative.", "Write commit messages in the past tense.", "same"),
        ("Write commit messages in the past tense.", "Write commit messages in the imperative mood.", "same"),
        ("Sort the list descending.", "Sort the list in ascending order.", "same"),
        ("Never indent with tabs, use spaces.", "Indent with tabs, never with spaces.", "same"),
        ("Write SQL keywords in lowercase.", "Write SQL keywords in uppercase letters.", "same"),
        ("Name tables in the plural.", "Name tables with singular nouns.", "same"),
        ("Write the summary in the passive.", "Write the summary in the active voice.", "same"),
        ("Write the report in German.", "Write the report in the English language.", "same"),
        (
            "Write commits in the imperative.",
            "Write commits in the past tense, and name the ticket.",
            None,
        ),
        ("Sort in descending order.", "Sort in ascending order by name.", "Sort in descending order by name."),
        ("Use pnpm.", "Run `npm test` first.", "Run `pnpm test` first."),
    ],
)
def test_a_replaced_line_has_no_words_that_nobody_said(said: str, line: str, after: str | None) -> None:
    made = replacement(said, f"# R\n\n## Style\n\n- {line}\n")
    assert (made.text if made else None) == (after and f"- {said if after == 'same' else after}")


@for_each(
    ("said", "line"),
    [
        ("Always squash fixup commits before pushing.", "Rebase before you push."),
        ("Squash before you push.", "Rebase before you push."),
        ("Run the tests before you push.", "Run the linter after you push."),
        ("Use single quotes in Python strings.", "Use double quotes in SQL strings."),
        ("Update the changelog before a release.", "Update the docs after a release."),
        ("Use vitest for unit tests.", "Use jest for snapshot tests."),
        ("Wait at most 10 seconds for the login page.", "Wait at most 30 seconds for the search page."),
        ("Use pnpm in CI.", "Use npm."),
        ("Use tabs when editing Makefiles.", "Use spaces."),
        ("Use British spelling in the docs.", "Use American spelling."),
        ("Keep functions under 30 lines in tests.", "Keep functions under 40 lines."),
    ],
)
def test_a_rule_beside_which_another_can_hold_replaces_no_line(said: str, line: str) -> None:
    assert replacement(said, f"# R\n\n## Style\n\n- {line}\n- Be kind.\n") is None


@for_each(
    ("said", "line", "after"),
    [
        (
            "Commit subjects may be up to 72 characters, not 50.",
            "Imperative subject, at most 50 characters.",
            "Imperative subject, at most 72 characters.",
        ),
        (
            "Keep lines under 100 characters.",
            "Lines at most 80 characters; no trailing blanks.",
            "Lines at most 100 characters; no trailing blanks.",
        ),
        ("Use pnpm.", "Use npm, and commit the lockfile.", "Use pnpm, and commit the lockfile."),
        ("Timeouts are 30 seconds.", "Timeouts are 10 seconds, retries 3.", "Timeouts are 30 seconds, retries 3."),
        (
            "Write the summary in German.",
            "Write the summary in English, with links.",
            "Write the summary in German, with links.",
        ),
        (
            "Write commit messages in the past tense.",
            "Write commit messages in the imperative. Name the ticket.",
            "Write commit messages in the past tense. Name the ticket.",
        ),
        ("Squash when merging.", "Rebase when merging.", "Squash when merging."),
        ("Write commit messages in the past tense.", "Write commit messages in the imperative.", ""),
    ],
)
def test_what_a_replaced_line_says_besides_stays(said: str, line: str, after: str) -> None:
    made = replacement(said, f"# R\n\n## Style\n\n- {line}\n- Be kind.\n")
    assert made is not None
    assert made.text == f"- {after or said}"


@for_each(
    ("ban", "order"),
    [
        ("Never squash commits in this repo, keep each topic separate.", "Always squash fixup commits before pushing."),
        ("Never rebase in this repo.", "Rebase before you push."),
        ("The ticket goes at the end, not first.", "Always put the ticket number first."),
        ("Never use mocks.", "Use partial mocks for the clock."),
        ("Never force-push branches.", "Force-push feature branches after a rebase."),
        ("Don't write docstrings.", "Write short docstrings for public functions."),
        ("Never deploy.", "Deploy to staging after each merge."),
        ("The date goes last, not first.", "Put the release date first."),
        ("Never add dependencies.", "Always add dev dependencies with uv."),
        ("No snapshot tests.", "Write snapshot tests for components."),
    ],
)
def test_a_ban_on_all_of_a_kind_contradicts_an_order_for_some_of_it(ban: str, order: str) -> None:
    assert contradicts_clearly(ban, order)
    assert contradicts_clearly(order, ban)


@for_each(
    ("ban", "order"),
    [
        ("Never commit to main.", "Commit in small steps."),
        ("Never rebase shared branches.", "Rebase your own branch."),
        ("Never run.", "Run the tests."),
        ("The ticket goes at the end, not first.", "Put the summary first."),
        ("Never squash merges.", "Squash fixup commits."),
        ("Never write tests after the code.", "Write tests for the code."),
        ("Never bump the version by hand.", "Bump `version` in `pyproject.toml`."),
        ("Always squash fixup commits before pushing.", "Rebase before you push."),
    ],
)
def test_a_ban_on_another_kind_contradicts_no_order(ban: str, order: str) -> None:
    assert not contradicts_clearly(ban, order)
    assert not contradicts_clearly(order, ban)


@for_each(
    ("change", "line"),
    [
        ("Always use global variables for flags.", "No global variables."),
        ("No more type hints, please.", "Use type hints in every public function."),
        ("You don't have to use pnpm any more.", "Use pnpm, not npm."),
        ("No need to use pnpm.", "Use pnpm, not npm."),
        ("Always use raw SQL for reports.", "Never use raw SQL in this project, except in migrations."),
        ("Always use inline styles in emails.", "No inline styles."),
        ("No mocks, not even in slow tests.", "Use mocks in slow tests."),
        ("No need to write changelog entries.", "Write a changelog entry for each pull request."),
        ("Always use classes for services.", "Avoid classes."),
        ("Never use pytest.", "Use pytest, not unittest."),
        ("You don't have to sort imports any more.", "Sort imports with isort."),
        ("Always cache errors for a minute.", "Never cache errors."),
    ],
)
def test_an_outright_ban_contradicts_every_order_for_its_thing(change: str, line: str) -> None:
    assert contradicts_clearly(change, line)
    assert contradicts_clearly(line, change)


@for_each(
    ("change", "line"),
    [
        ("No type hints in tests.", "Use type hints in every public function."),
        ("Always use raw SQL in migrations.", "Never use raw SQL in this project, except in migrations."),
        ("Never use npm.", "Use pnpm, not npm."),
        ("Always use Tailwind for spacing.", "No Tailwind plugins."),
        ("No inline styles.", "Use inline code for names."),
        ("Use inline code for names.", "No inline."),
        ("Always use tests for flags.", "No tests without assertions."),
        ("Use semicolons in SQL.", "No semicolons in Python."),
        ("Use raw SQL only in migrations.", "No raw SQL."),
        ("No need to run the linter on docs.", "Run the linter before each commit."),
        ("No more comments in code, please.", "Answer comments in reviews."),
    ],
)
def test_a_ban_of_less_or_of_something_else_contradicts_no_order(change: str, line: str) -> None:
    assert not contradicts_clearly(change, line)
    assert not contradicts_clearly(line, change)


@for_each(
    ("change", "line"),
    [
        ("Use two spaces in YAML files, no tabs.", "- Use tabs in YAML."),
        ("Use single quotes in JS files, no double quotes.", "- Use double quotes in JS."),
        ("Use pnpm in CI jobs, no npm.", "- Use npm in CI."),
        ("Use kebab-case for file names, no camelCase.", "- Use camelCase for files."),
        ("Write tests with vitest, no jest.", "- Use jest in tests."),
    ],
)
def test_no_other_member_of_a_choice_is_a_part_that_is_refused(change: str, line: str) -> None:
    assert refused_part(change)
    assert contradicts(change, line[2:])
    assert replacement(change, f"# Style\n\n{line}\n- Be brief.\n")


@for_each(
    ("one", "other"),
    [
        (
            "No need to use the test postgres, mock the database in tests if it's faster.",
            "Do not mock the database in tests, the test postgres is right there in docker compose.",
        ),
        (
            "No need to use the test postgres, mock the database in tests if it's faster.",
            "Do not mock the db in tests; use the real test postgres.",
        ),
        ("Use the real test postgres in tests.", "No need to use the test postgres, mock the database if you like."),
        ("Never squash commits, we want the history.", "Squash commits if you like."),
        ("Skip the changelog, don't add release notes.", "Add release notes for every PR."),
        ("Run only the touched tests, no need to run the full suite.", "Run the full suite before you push."),
        ("Write plain SQL, never use the ORM.", "Use the ORM for queries."),
        ("Commit directly to main, no need to open a pull request.", "Open a pull request for every change."),
        ("Do not open a pull request, push to main if that's quicker.", "Never push to main."),
    ],
)
def test_a_later_part_of_a_rule_may_be_the_opposite(one: str, other: str) -> None:
    assert contradicts_clearly(one, other)
    assert contradicts_clearly(other, one)


@for_each(
    ("one", "other"),
    [
        ("In migrations, never drop columns.", "Drop columns that nobody reads in the cleanup script."),
        ("Use pnpm, never commit the lock file of npm.", "Commit the lock file with each change."),
        ("Mock the clock in tests, never use the real time.", "Use the real time in the dashboard."),
        ("Keep functions small, do not write comments in tests.", "Write comments for tricky code."),
        ("Ask first, never delete branches without my ok.", "Delete branches after the merge."),
        ("When a test fails, do not retry it.", "Retry it once in CI."),
        ("Don't edit generated files, run make gen.", "Run make gen before each commit."),
        ("`--last DAYS`: read the last days (0: none); no question", "`--back DAYS`: read the last days"),
    ],
)
def test_a_later_part_for_another_place_or_thing_is_no_opposite(one: str, other: str) -> None:
    assert not contradicts_clearly(one, other)
    assert not contradicts_clearly(other, one)


def test_a_line_is_replaced_by_a_rule_whose_later_part_says_its_opposite() -> None:
    line = "- Do not mock the database in tests, the test postgres is right there."
    change = "No need to use the test postgres, mock the database in tests if it's faster."
    found = replacement(change, f"# Shop\n\n- Use ruff.\n{line}\n")
    assert found is not None
    assert (found.anchor, found.text) == (line, f"- {change}")


@for_each(
    "change",
    ["Keep functions short, no comments.", "Use two spaces in YAML, no emojis.", "Use pnpm in CI, no pnpm workspaces."],
)
def test_another_ban_behind_a_comma_is_a_rule_of_its_own(change: str) -> None:
    assert chosen_part(change) == change
    assert refused_part(change) == ""
    assert chosen_part("In tests use pytest, never unittest.") == "In tests use pytest"


@for_each(
    ("said", "line"),
    [
        ("Always use go for examples.", "Use Rust for examples."),
        ("Always use go for examples.", "Examples are written in Rust."),
        ("Write scripts in Go.", "Write scripts in Python."),
        ("Use C for the examples.", "Use Rust for the examples."),
        ("Always use R for plots.", "Always use Python for plots."),
    ],
)
def test_a_rule_about_another_language_with_a_short_name_is_no_repeat(said: str, line: str) -> None:
    update = Update(1, "", said, "", Kind.PREFERENCE, 1, said, 0.8)
    assert find_line(update, f"- {line}\n") is None
    assert not repeats_rule(said, line)
    assert find_line(update, f"- {said}\n")


def test_what_is_refused_after_an_and_is_refused_all_the_same() -> None:
    one = "Use pnpm, not npm, to install packages."
    for negation in ("not", "never", "no"):
        other = f"Always use pnpm and {negation} npm to install packages."
        assert not contradicts_clearly(one, other)
        assert not contradicts_clearly(other, one)
