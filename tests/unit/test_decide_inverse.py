from __future__ import annotations

import pytest

from skilld.git.line_diff import ChangeNotFoundError, transplant, undo

COMMON = b"# Notes\n\n- One.\n- Two.\n\nEnd.\n"
PICKED = COMMON.replace(b"- Two.\n", b"- Two.\n- Picked.\n")
ADDED = PICKED.replace(b"- Picked.\n", b"- Picked.\n- New.\n")


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (COMMON, COMMON.replace(b"- Two.\n", b"- Two.\n- New.\n")),
        (
            COMMON.replace(b"End", b"The end"),
            COMMON.replace(b"- Two.\n", b"- Two.\n- New.\n").replace(b"End", b"The end"),
        ),
        (COMMON.replace(b"- Two.\n", b"- Two.\n- Mine.\n"), b"# Notes\n\n- One.\n- Two.\n- New.\n- Mine.\n\nEnd.\n"),
        (COMMON.replace(b"\n", b"\r\n"), b"# Notes\r\n\r\n- One.\r\n- Two.\r\n- New.\r\n\r\nEnd.\r\n"),
        (b"- Two.", b"- Two.\n- New."),
    ],
    ids=["as it was", "changed elsewhere", "another line below", "other endings", "no final newline"],
)
def test_an_addition_below_a_missing_line_goes_where_that_line_was(current: bytes, expected: bytes) -> None:
    assert transplant(PICKED, ADDED, COMMON, current) == expected


def test_an_addition_between_missing_lines_goes_where_they_would_be() -> None:
    picked = PICKED.replace(b"- Picked.\n", b"- Picked.\n\n## Preferences\n\n- Short answers.\n")
    added = picked.replace(b"- Picked.\n", b"- Picked.\n- New.\n")
    assert transplant(picked, added, COMMON, COMMON) == COMMON.replace(b"- Two.\n", b"- Two.\n- New.\n")
    below = picked.replace(b"- Short answers.\n", b"- Short answers.\n- In English.\n")
    with pytest.raises(ChangeNotFoundError, match="section"):
        transplant(picked, below, COMMON, COMMON)


@pytest.mark.parametrize(
    ("after", "current"),
    [
        (ADDED, COMMON.replace(b"- Two.\n", b"")),
        (ADDED, COMMON.replace(b"- Two.\n", b"- Number two.\n")),
        (ADDED, COMMON + b"- Two.\n"),
        (PICKED.replace(b"- Picked.\n", b"- Picked, but better.\n"), COMMON),
        (PICKED.replace(b"- Picked.\n", b""), COMMON),
        (b"New.\n" + PICKED, COMMON),
    ],
    ids=["line gone", "line reworded", "line twice", "a change", "a removal", "above everything"],
)
def test_an_uncertain_place_is_refused(after: bytes, current: bytes) -> None:
    with pytest.raises(ChangeNotFoundError):
        transplant(PICKED, after, COMMON, current)


def test_undoing_a_change_reworded_since_is_refused() -> None:
    with pytest.raises(ChangeNotFoundError):
        undo(PICKED, ADDED, ADDED.replace(b"- New.\n", b"- Newer.\n"))
