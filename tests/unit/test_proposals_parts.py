"""A proposal of several operations, split into parts."""

from __future__ import annotations

import itertools

import pytest

from skilld.errors import SkilldError
from skilld.proposals.explain import Part, apply_only, parts
from skilld.proposals.refit import Edit
from skilld.types import Op, Operation
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
    Part((), ("- First.",)),
    Part((), ("- Second.",)),
    Part((), ("Third.",)),
    Part(("- Past tense.",), ("- Present tense.",)),
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
