"""A proposal of several operations, split into parts."""

from __future__ import annotations

import itertools

import pytest

from skilld.edit.operations import apply
from skilld.edit.separate import separate_items
from skilld.errors import SkilldError
from skilld.proposals.explain import Part, apply_only, parts
from skilld.proposals.refit import Edit
from skilld.types import Kind, Op, Operation, Update
from support.proposals import make_proposal
from support.rows import for_each

BEFORE = b"# Notes\n\n- Past tense.\n- Short.\n\n## More\n\nText.\n"
# The second is anchored on what the first adds, the third stands elsewhere, the fourth rewrites a line.
OPERATIONS = (
    Operation(Op.INSERT_AFTER, "- Short.", "- First."),
    Operation(Op.INSERT_AFTER, "- First.", "- Second."),
    Operation(Op.INSERT_AFTER, "Text.", "\nThird."),
    Operation(Op.REPLACE, "- Past tense.", "- Present tense."),
)
PARTS = [
    Part((), ("- First.",), (0,)),
    Part((), ("- Second.",), (1,)),
    Part((), ("Third.",), (2,)),
    Part(("- Past tense.",), ("- Present tense.",), (3,)),
]


def test_each_part_is_what_it_adds_and_removes() -> None:
    assert parts(BEFORE, OPERATIONS) == PARTS


@for_each("ending", [b"\n", b"\r\n", b"\r"])
def test_every_choice_of_parts_has_exactly_the_chosen_lines(ending: bytes) -> None:
    lines = ["- First.", "- Second.", "Third.", "- Present tense."]
    for count in range(5):
        for chosen in itertools.combinations(range(4), count):
            found = apply_only(BEFORE.replace(b"\n", ending), OPERATIONS, chosen)
            text = found.decode().splitlines()
            assert found.count(ending) == len(text)
            assert [number for number, line in enumerate(lines) if line in text] == list(chosen)
            assert ("- Past tense." in text) == (3 not in chosen)
            assert "- Short." in text


def test_no_parts_give_the_old_text_and_all_parts_the_new() -> None:
    assert apply_only(BEFORE, OPERATIONS, ()) == BEFORE
    assert apply_only(BEFORE, OPERATIONS, range(4)).endswith(b"Text.\n\nThird.\n")


def test_operations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SkilldError):
        parts(b"# Other\n", OPERATIONS)


def test_parts_keep_their_order_when_the_edit_moves_to_another_version() -> None:
    current = BEFORE.replace(b"- Short.\n", b"- Short.\n- By hand.\n").replace(b"Text.", b"Text. More.")
    edit = Edit(make_proposal(operations=OPERATIONS))
    edit.refit_loosely(BEFORE, apply_only(BEFORE, OPERATIONS, range(4)), current)
    assert edit.operations != OPERATIONS
    assert [part.added for part in parts(current, edit.operations)] == [part.added for part in PARTS]


RELEASE = b"""\
# Release

1. Make sure that `main` is green.
2. Run `./gradlew dependencyUpdates` and show me the outdated dependencies.
3. Tag the commit.

## Do not

- Do not release on a Friday.
- Do not push the tag; I do that myself.
"""
RELEASE_OPERATIONS = (
    Operation(Op.DELETE, "2. Run `./gradlew dependencyUpdates` and show me the outdated dependencies."),
    Operation(Op.INSERT_AFTER, "3. Tag the commit.", "   - Den Tag künftig selbst pushen."),
    Operation(Op.DELETE, "- Do not push the tag; I do that myself."),
)
CHECK = "Die Dependency-Prüfung vor dem Release brauchst du nicht mehr zu machen, das macht Renovate."
RELEASE_UPDATES = (
    Update(1, "Release", "Die Dependency-Prüfung vor dem Release nicht mehr machen.", "", Kind.REMOVE_STEP, 2, CHECK),
    Update(
        1,
        "Release",
        "Den Tag künftig selbst pushen.",
        "",
        Kind.CHANGE_STEP,
        4,
        "den Tag pushst du bitte künftig selbst",
    ),
)


def test_what_one_wish_adds_and_removes_elsewhere_is_one_part() -> None:
    assert parts(RELEASE, RELEASE_OPERATIONS, RELEASE_UPDATES) == [
        Part(("2. Run `./gradlew dependencyUpdates` and show me the outdated dependencies.",), (), (0,)),
        Part(("- Do not push the tag; I do that myself.",), ("   - Den Tag künftig selbst pushen.",), (1, 2)),
    ]
    assert len(parts(RELEASE, RELEASE_OPERATIONS)) == 3, "without updates nothing shows what belongs together"


CODE = b"# Code\n\n- Use constructor injection.\n- Write KDoc for every public function.\n- Sort imports.\n"
KDOC = "- KDoc nur noch an der öffentlichen API; bei internen Funktionen weglassen."
RESULT = "- Fehler als Result zurückgeben; in der Domäne keine Exceptions werfen."
OLD = "- Write KDoc for every public function."


@for_each(
    "operation, expected",
    [
        (  # the line that says the same in other words replaces the old one, wherever the other one is
            Operation(Op.REPLACE, OLD, f"{KDOC}\n{RESULT}"),
            [Part((OLD,), (KDOC,), (0,)), Part((), (RESULT,), (1,))],
        ),
        (
            Operation(Op.REPLACE, OLD, f"{RESULT}\n{KDOC}"),
            [Part((), (RESULT,), (0,)), Part((OLD,), (KDOC,), (1,))],
        ),
        (
            Operation(Op.INSERT_AFTER, OLD, f"{RESULT}\n  More of it.\n- Another.\n  - And its own."),
            [Part((), (RESULT, "  More of it."), (0,)), Part((), ("- Another.", "  - And its own."), (1,))],
        ),
        (
            Operation(Op.REPLACE, f"{OLD}\n- Sort imports.", f"{KDOC}\n- Sort the imports."),
            [Part((OLD,), (KDOC,), (0,)), Part(("- Sort imports.",), ("- Sort the imports.",), (1,))],
        ),
        (  # which of them replaces the line is unknown
            Operation(Op.REPLACE, OLD, f"{RESULT}\n- Another."),
            [Part((OLD,), (RESULT, "- Another."), (0,))],
        ),
        (
            Operation(Op.INSERT_AFTER, OLD, "\nA paragraph.\n\n- An item."),
            [Part((), ("A paragraph.", "- An item."), (0,))],
        ),
    ],
)
def test_an_operation_for_several_wishes_is_split(operation: Operation, expected: list[Part]) -> None:
    made = separate_items(CODE, [operation])
    assert apply(CODE, made) == apply(CODE, [operation])
    assert parts(CODE, made) == expected
    for number, part in enumerate(expected):
        text = apply_only(CODE, made, {number}).decode().splitlines()
        assert set(part.added) <= set(text)
        assert not set(part.removed) & set(text)
