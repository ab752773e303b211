"""The order of a drafted skill's lines, and where its check goes."""

from __future__ import annotations

from skilld.mining.line_order import Line, in_working_order
from skilld.mining.values import Part, PartKind, Proof, Recurrence
from support.rows import for_each

EDITED = Part(PartKind.EDIT, "docs/usage.md", (Proof("a", "t", "docs/usage.md", observed=True),))
CREATED = Part(PartKind.COMMAND, 'gh pr create --body "## Problem"', (Proof("a", "t", "gh", observed=True),))
TASK = Recurrence("do it")


def ran(text: str) -> Line:
    return Line(Part(PartKind.COMMAND, text, (Proof("a", "t", text, observed=True),)))


def worded(text: str, *sources: Part) -> Line:
    return Line(Part(PartKind.WORDED, text, (Proof("a", "t", text),)), sources)


ADD, COMMIT, PUSH = ran("git add \u2026"), ran('git commit -m "{{message}}"'), ran("git push")
DOCS = worded("Update `docs/usage.md` for the change", EDITED)
PR = ran('gh pr create --title "{{title}}" --body "{{body}}"')
PROBLEM = worded("Start the body with the problem", CREATED)
FORMAT = worded("Format it with `prettier --write docs`", EDITED)
FAILED = Part(PartKind.TRAP, "it failed", (Proof("a", "t", "gh", observed=True),))


@for_each(
    ("given", "expected"),
    [
        ([ADD, COMMIT, DOCS], [DOCS, ADD, COMMIT]),
        ([COMMIT, DOCS, PUSH], [DOCS, COMMIT, PUSH]),
        ([COMMIT, DOCS, ADD, COMMIT], [COMMIT, DOCS, ADD, COMMIT]),  # committed after it
        ([PUSH, DOCS], [PUSH, DOCS]),  # nothing is committed here
        ([DOCS, COMMIT], [DOCS, COMMIT]),
        ([COMMIT, PUSH, PR, PROBLEM], [COMMIT, PUSH, PROBLEM, PR]),
        ([PROBLEM, PR], [PROBLEM, PR]),
        ([COMMIT, FORMAT], [COMMIT, FORMAT]),  # it may be about what was committed
        ([PR, worded("Ask before", CREATED, FAILED)], [PR, worded("Ask before")]),  # perhaps after it failed
        ([PR, worded("Tell it with `gh pr view \u2026`", CREATED)], [PR, worded("Tell it with `gh pr view \u2026`")]),
    ],
)
def test_what_is_changed_and_how_a_text_is_built_comes_before_the_command_that_takes_it(
    given: list[Line], expected: list[Line]
) -> None:
    assert in_working_order(given, None, (), TASK) == [one.part for one in expected]


LINT = worded("Check that `mise run lint` passes")


@for_each(
    ("steps", "check", "expected"),
    [
        ([DOCS, ADD, COMMIT, PUSH], LINT, [DOCS, LINT, ADD, COMMIT, PUSH]),
        ([DOCS, PR], LINT, [DOCS, LINT, PR]),
        ([DOCS, ran("git rebase --continue")], LINT, [DOCS, ran("git rebase --continue"), LINT]),
        ([COMMIT, PUSH], worded("See that `gh pr checks \u2026` passes"), None),  # of what was pushed
        ([COMMIT, PUSH], worded("Look whether the site shows it"), None),
        ([COMMIT], worded("Look at it with `git log -1`"), None),
    ],
)
def test_a_check_of_the_work_comes_before_it_is_handed_over(
    steps: list[Line], check: Line, expected: list[Line] | None
) -> None:
    wanted = [*steps, check] if expected is None else expected
    assert in_working_order(steps, check, (), TASK) == [one.part for one in wanted]


def test_a_check_that_always_followed_the_commit_stays_behind_it() -> None:
    check = ran("make check")
    task = Recurrence("do it", order=frozenset({(COMMIT.part.text, "make check")}))
    assert in_working_order([COMMIT], check, (), task) == [COMMIT.part, check.part]
    assert in_working_order([COMMIT], check, (), TASK) == [check.part, COMMIT.part]
