"""The order of a drafted skill's lines, and where its check goes."""

from __future__ import annotations

from skilld.mining.skill_lines import Line, in_working_order, with_added_files
from skilld.mining.values import Part, PartKind, Proof
from support.rows import for_each

EDITED = Part(PartKind.EDIT, "docs/usage.md", (Proof("a", "t", "docs/usage.md", observed=True),))


def ran(text: str) -> Line:
    return Line(Part(PartKind.COMMAND, text, (Proof("a", "t", text, observed=True),)))


def worded(text: str, *sources: Part) -> Line:
    return Line(Part(PartKind.WORDED, text, (Proof("a", "t", text),)), sources)


ADD, COMMIT, PUSH = ran("git add \u2026"), ran('git commit -m "{{message}}"'), ran("git push")
DOCS = worded("Update `docs/usage.md` for the change", EDITED)
PR = ran('gh pr create --title "{{title}}" --body "{{body}}"')
FORMAT = worded("Format it with `prettier --write docs`", EDITED)


@for_each(
    ("given", "expected"),
    [
        ([ADD, COMMIT, DOCS], [DOCS, ADD, COMMIT]),
        ([COMMIT, DOCS, PUSH], [DOCS, COMMIT, PUSH]),
        ([COMMIT, DOCS, ADD, COMMIT], [COMMIT, DOCS, ADD, COMMIT]),  # committed after it
        ([PUSH, DOCS], [PUSH, DOCS]),  # nothing is committed here
        ([DOCS, COMMIT], [DOCS, COMMIT]),
        ([COMMIT, FORMAT], [COMMIT, FORMAT]),  # it may be about what was committed
    ],
)
def test_what_is_changed_comes_before_the_commit(given: list[Line], expected: list[Line]) -> None:
    assert in_working_order(given, None, ()) == [one.part for one in expected]


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
    assert in_working_order(steps, check, ()) == [one.part for one in wanted]


def added(text: str, session: str) -> Part:
    return Part(PartKind.COMMAND, text, (Proof(session, "t", text, observed=True),))


TWO = [added("git add docs", "a"), added("git add src/x.py", "b")]
SHIP = worded('If asked, commit with `git commit -m "{{message}}"` and run `git push`')


@for_each(
    ("lines", "evidence", "expected"),
    [
        ([DOCS, COMMIT], TWO, [DOCS.part.text, "git add \u2026", COMMIT.part.text]),
        ([SHIP], TWO, ['If asked, commit with `git add \u2026` and `git commit -m "{{message}}"` and run `git push`']),
        (
            [worded("Commit with `git commit -m \u2026`" + " as asked" * 25)],
            TWO,
            ["git add \u2026", "Commit with `git commit -m \u2026`" + " as asked" * 25],
        ),
        ([ADD, COMMIT], TWO, [ADD.part.text, COMMIT.part.text]),
        (
            [worded("Use `git add \u2026` and `git commit -m \u2026`")],
            TWO,
            ["Use `git add \u2026` and `git commit -m \u2026`"],
        ),
        ([COMMIT], TWO[:1], [COMMIT.part.text]),  # one session did
        ([COMMIT], [TWO[0], added("git add src", "a")], [COMMIT.part.text]),  # the same one twice
        ([ran("git commit -am x")], TWO, ["git commit -am x"]),  # adds by itself
        ([ran("git commit --all -m x")], TWO, ["git commit --all -m x"]),
        ([worded("Commit the work")], TWO, ["Commit the work"]),
        ([DOCS, PUSH], TWO, [DOCS.part.text, PUSH.part.text]),
    ],
)
def test_a_commit_comes_with_the_files_that_sessions_added(
    lines: list[Line], evidence: list[Part], expected: list[str]
) -> None:
    made = with_added_files(lines, evidence)
    assert [line.part.text for line in made] == expected
    if len({text for text in expected if "git add" in text}) > sum("git add" in line.part.text for line in lines):
        proofs = next(line.part.proofs for line in made if "git add" in line.part.text)
        assert {("a", "git add docs"), ("b", "git add src/x.py")} <= {(one.session, one.quote) for one in proofs}


def test_files_are_added_before_the_commit() -> None:
    assert in_working_order([DOCS, COMMIT, ADD], None, ()) == [one.part for one in (DOCS, ADD, COMMIT)]
    assert in_working_order([DOCS, COMMIT, PUSH, ADD, COMMIT], None, ())[3] == ADD.part
