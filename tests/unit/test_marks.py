"""Lists that Markdown does not know as such, marked "a." or "**1.**": a new line gets the next mark."""

from __future__ import annotations

import pytest

from skilld.edit.marks import next_mark
from skilld.edit.operations import apply
from skilld.edit.refit import refit
from skilld.pipeline.edits import add_blank_lines, place_updates
from skilld.types import Kind, Op, Operation, Update
from support.rows import for_each

HEAD = "# Release\n\n## Steps\n\n"
SAID = ("Announce it in the channel.", "Close the milestone.")
KINDS = {
    "letters": ("a. Run the tests.\nb. Tag the commit.\n", "c. {}\n", "d. {}\n"),
    "capitals": ("A) Run the tests.\nB) Tag the commit.\n", "C) {}\n", "D) {}\n"),
    "bold": ("**1.** Run the tests.\n**2.** Tag the commit.\n", "**3.** {}\n", "**4.** {}\n"),
    "bold items": ("- **1.** Run the tests.\n- **2.** Tag the commit.\n", "- **3.** {}\n", "- **4.** {}\n"),
    "brackets": ("(8) Run the tests.\n(9) Tag the commit.\n", "(10) {}\n", "(11) {}\n"),
    "apart": ("a. Run the tests.\n\nb. Tag the commit.\n", "\nc. {}\n", "\nd. {}\n"),
}


def step(change: str) -> Update:
    return Update(1, "Steps", change, "", Kind.ADD_STEP, 1, change.lower(), 0.9)


@pytest.mark.parametrize("kind", KINDS)
def test_new_lines_get_the_next_marks(kind: str) -> None:
    there, *new = KINDS[kind]
    data = f"{HEAD}{there}".encode()
    made = apply(data, place_updates([*map(step, SAID)], data)).decode()
    assert made == HEAD + there + "".join(map(str.format, new, SAID))


@pytest.mark.parametrize("kind", KINDS)
def test_two_that_were_made_for_the_same_file_do_not_repeat_a_mark(kind: str) -> None:
    there, *new = KINDS[kind]
    data = f"{HEAD}{there}".encode()
    first, second = (apply(data, place_updates([step(one)], data)) for one in SAID)
    both = apply(first, refit(data, second, first)).decode()
    assert both == HEAD + there + "".join(map(str.format, new, SAID))


def test_a_models_line_with_the_next_mark_stays_in_the_list() -> None:
    data = f"{HEAD}a. Run the tests.\nb. Tag the commit.\n".encode()
    step = Operation(Op.INSERT_AFTER, "b. Tag the commit.", "c. Announce it.")
    assert apply(data, add_blank_lines(data, [step])).decode().endswith("b. Tag the commit.\nc. Announce it.\n")


@for_each(
    ("lines", "mark"),
    [
        (("a. Run.", "b. Tag."), "c. "),
        (("- [ ] 1. Run.", "- [ ] 2. Tag."), "3. "),
        (("a. Run.", "c. Tag."), ""),
        (("**1.** Run.", "2. Tag."), ""),
        (("y. Run.", "z. Tag."), ""),
        (("I. Newton wrote it.", "You read it."), ""),
        (("1. Run.", "2. Tag."), ""),  # a list of Markdown's own
        (("b. Tag.",), ""),
        ((), ""),
    ],
)
def test_two_lines_show_that_their_marks_are_marks(lines: tuple[str, ...], mark: str) -> None:
    assert next_mark(lines) == mark
