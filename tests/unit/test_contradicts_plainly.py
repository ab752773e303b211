"""Which lines are named as saying the opposite: those that cannot both hold, and no exception or other subject."""

from __future__ import annotations

import pytest

from skilld.classify.contradiction import contradicts_plainly


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("Use yarn for everything.", "Install packages with pnpm."),
        ("Use yarn, never npm.", "Run `npm audit` before a release, and read it."),
        ("Keep titles under 50 characters.", "Titles are at most 70 characters."),
        ("Never tag release candidates by hand.", "Tag release candidates by hand."),
        ("Each course has two exams, a month apart.", "Each course has three exams, a week apart."),
        (
            "Stop asking before making new test files; make them where they fit.",
            "Always ask before making new test files.",
        ),
        ("Do not stub the mailer in tests.", "Stub the mailer in unit tests."),
        ("Do not do tests first, write the code and then add the tests after.", "Tests first."),
        ("Spec before code.", "We do not write the spec before the code any more."),
        ("Never use barrels in this repo.", "Use barrels."),
        ("Always write changelogs.", "Avoid changelogs."),
        ("Don't use axios, use ky.", "Use axios, not ky."),
        ("Never use yarn, always use pnpm.", "Install packages with yarn."),
    ],
)
def test_what_cannot_both_hold_is_named(change: str, line: str) -> None:
    assert contradicts_plainly(change, line)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("Use yarn for everything.", "Chromatic is started with `npm run chromatic`."),
        ("Use vitest for the tests.", "`jest --ci && npm test`"),
        ("Keep functions under 30 lines.", "Keep files under 300 lines."),
        ("Never rename public methods.", "Rename your own private methods freely before review."),
        ("Run the linter before every push.", "Do not run the slow linter before a push."),
        ("Merge it.", "Do not merge it on your own."),
        ("Tests run with pytest.", "Do not run the tests with unittest."),
        ("Do not write tests first in spikes.", "Tests first."),
    ],
)
def test_an_exception_another_subject_and_a_mere_command_are_not(change: str, line: str) -> None:
    assert not contradicts_plainly(change, line)
