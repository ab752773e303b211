from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld import text
from skilld.git import line_diff
from skilld.git.line_diff import ChangeNotFoundError, Hunk, MergeConflictError, transplant, undo
from skilld.text import compare_lines
from support.rows import for_each

OLD = b"# R\n\n- one\n- two\n- three\n"
ADDED = b"# R\n\n- one\n- extra\n- two\n- three\n"
REPLACED = b"# R\n\n- one\n- deux\n- three\n"
REMOVED = b"# R\n\n- one\n- three\n"


def test_insertions_changes_and_removals_become_hunks() -> None:
    assert line_diff.hunks(OLD, ADDED) == [Hunk(3, 3, (), ("- extra",))]
    assert line_diff.hunks(OLD, REPLACED) == [Hunk(3, 3, ("- two",), ("- deux",))]
    assert line_diff.hunks(OLD, REMOVED) == [Hunk(3, 3, ("- two",), ())]


def test_line_endings_alone_are_no_change() -> None:
    assert line_diff.hunks(OLD, OLD.replace(b"\n", b"\r\n")) == []
    assert line_diff.signature(OLD, ADDED.replace(b"\n", b"\r\n")) == ((), ("- extra",))


@for_each(
    ("text", "new", "expected"),
    [
        (ADDED, ADDED, True),
        (OLD, ADDED, False),
        (b"elsewhere\n  - extra\n", ADDED, True),
        (REPLACED, REPLACED, True),
        (OLD + b"- deux\n", REPLACED, False),
        (REMOVED, REMOVED, True),
        (OLD, REMOVED, False),
        (OLD, OLD, False),
        (OLD, OLD + b"\n\n", False),
    ],
)
def test_a_text_contains_a_change_if_it_has_its_lines(text: bytes, new: bytes, expected: bool) -> None:  # noqa: FBT001 - a row of the table
    assert line_diff.contains_change(text, OLD, new) is expected


@for_each(
    ("text", "new", "expected"),
    [
        (OLD, ADDED, True),
        (ADDED, ADDED, False),
        (ADDED.replace(b"- extra", b"- one extra"), ADDED, False),
        (ADDED.replace(b"- extra", b"- something else"), ADDED, True),
        (OLD, REPLACED, True),
        (REPLACED, REPLACED, False),
        (OLD, REMOVED, True),
        (REMOVED, REMOVED, False),
    ],
)
def test_a_change_is_gone_if_its_lines_are(text: bytes, new: bytes, expected: bool) -> None:  # noqa: FBT001 - a row of the table
    assert line_diff.is_change_gone(text, OLD, new) is expected


def test_merge_combines_both_sides() -> None:
    ours = OLD.replace(b"# R", b"# Release")
    theirs = OLD.replace(b"- three\n", b"- three\n- four\n")
    assert line_diff.merge(OLD, ours, theirs) == b"# Release\n\n- one\n- two\n- three\n- four\n"
    assert line_diff.merge(OLD, theirs, theirs) == theirs


@for_each(("ours", "theirs"), [(ADDED, REPLACED), (REPLACED, REMOVED), (OLD + b"- a\n", OLD + b"- b\n")])
def test_merge_refuses_adjacent_changes(ours: bytes, theirs: bytes) -> None:
    with pytest.raises(MergeConflictError):
        line_diff.merge(OLD, ours, theirs)


TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\r\n", b"\n", b"e"]), max_size=12).map(b"".join)


@given(TEXTS, TEXTS)
def test_merging_with_an_unchanged_side_gives_the_other(old: bytes, new: bytes) -> None:
    assert line_diff.merge(old, old, new) == new
    assert line_diff.merge(old, new, old) == new
    assert line_diff.merge(old, new, new) == new


@given(TEXTS, TEXTS, TEXTS)
def test_merge_prefers_no_side(old: bytes, left: bytes, right: bytes) -> None:
    def merge_result(ours: bytes, theirs: bytes) -> bytes | None:
        try:
            return line_diff.merge(old, ours, theirs)
        except MergeConflictError:
            return None

    assert merge_result(left, right) == merge_result(right, left)


@given(TEXTS, TEXTS)
def test_undo_at_once_restores_the_text(old: bytes, new: bytes) -> None:
    assert undo(old, new, new) == old


@for_each(
    ("current", "expected"),
    [
        (b"- b\n- a\n", b"- a\n"),
        (b"- b\n\n- a\n- c\n", b"\n- a\n- c\n"),
        (b"- a\n", b"- a\n"),
        (b"- b\n- a\n- b\n", b"- b\n- a\n"),
    ],
)
def test_undo_finds_a_line_that_was_moved(current: bytes, expected: bytes) -> None:
    assert undo(b"- a\n", b"- a\n- b\n", current) == expected


def test_undo_refuses_a_moved_line_that_is_there_twice() -> None:
    with pytest.raises(ChangeNotFoundError, match="no longer there"):
        undo(b"- a\n", b"- a\n- b\n", b"- b\n- b\n- a\n")


def test_undo_works_among_later_neighbours() -> None:
    grown = b"# R\n\n- one\n- later\n- extra\n- later still\n- two\n- three\n"
    assert undo(OLD, ADDED, grown) == b"# R\n\n- one\n- later\n- later still\n- two\n- three\n"


def test_undo_keeps_the_texts_line_endings() -> None:
    grown = b"# R\r\n\r\n- one\r\n- mine\r\n- deux\r\n- mine too\r\n- three\r\n"
    assert undo(OLD, REPLACED, grown) == b"# R\r\n\r\n- one\r\n- mine\r\n- two\r\n- mine too\r\n- three\r\n"


def test_undo_of_a_block_with_later_insertions() -> None:
    two = OLD.replace(b"- two\n", b"- x\n- y\n- two\n")
    assert undo(OLD, two, b"# R\n\n- one\n- x\n- between\n- y\n- two!\n- three\n") == (
        b"# R\n\n- one\n- between\n- two!\n- three\n"
    )


@pytest.mark.parametrize("text", [OLD, b"# R\n- extra\n- a\n- extra\n"])
def test_undo_refuses_lines_not_found_exactly_once(text: bytes) -> None:
    with pytest.raises(ChangeNotFoundError):
        undo(OLD, ADDED, text.replace(b"- one\n", b"- uno\n").replace(b"- two\n", b"- dos\n"))


def test_undoing_a_removal_follows_its_gap() -> None:
    assert undo(OLD, REMOVED, b"intro\n# R\n\n- uno\n- tres\n") == b"intro\n# R\n\n- uno\n- two\n- tres\n"
    with pytest.raises(ChangeNotFoundError):
        undo(OLD, REMOVED, b"# R\n\n- all\n- is\n- new\n")


def rebuild(before: list[str], after: list[str]) -> list[str]:
    out: list[str] = []
    for equal, i, j, k, m in compare_lines(before, after):
        if equal:
            assert before[i:j] == after[k:m]
        out += before[i:j] if equal else after[k:m]
    return out


@pytest.mark.parametrize("seed", range(20))
def test_s2_pieces_transform_one_text_into_the_other(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_MAX_EQUAL_PAIRS", 4)
    dice = random.Random(seed)
    before = [dice.choice(["", "a", f"{n}"]) for n in range(40)]
    after = [line for line in before if dice.random() < 0.8]
    after.insert(dice.randrange(len(after)), "new")
    assert rebuild(before, after) == after


def test_s2_ten_thousand_blank_lines_compare_quickly() -> None:
    before = [*[""] * 10_000, "a", *[""] * 10_000, "z"]
    after = [*[""] * 10_000, "a", "b", *[""] * 10_000, "z"]
    assert [after[k:m] for equal, _, _, k, m in compare_lines(before, after) if not equal] == [["b"]]


def test_lines_that_repeat_are_matched_unless_there_are_too_many_pairs_of_them() -> None:
    def kept(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
        return [(k, m) for equal, _, _, k, m in compare_lines(before, after) if equal]

    assert kept("a-b-c-d", "z-y-x-w") == [(1, 2), (3, 4), (5, 6)]
    gap = [""] * 400
    assert kept(["x", *gap, "one", *gap, "y"], ["z", *gap, "two", *gap, "w"]) == []
    assert kept(["x", *gap, "one", *gap, "y"], ["z", *gap[:9], "one", *gap, "w"]) == [(1, 411)]


COMMON = b"# Notes\n\n- One.\n- Two.\n\nEnd.\n"
PICKED = COMMON.replace(b"- Two.\n", b"- Two.\n- Picked.\n")
TEXT_ADDED = PICKED.replace(b"- Picked.\n", b"- Picked.\n- New.\n")


@for_each(
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
)
def test_an_addition_below_a_missing_line_goes_where_that_line_was(current: bytes, expected: bytes) -> None:
    assert transplant(PICKED, TEXT_ADDED, COMMON, current) == expected


def test_an_addition_between_missing_lines_goes_where_they_would_be() -> None:
    picked = PICKED.replace(b"- Picked.\n", b"- Picked.\n\n## Preferences\n\n- Short answers.\n")
    added = picked.replace(b"- Picked.\n", b"- Picked.\n- New.\n")
    assert transplant(picked, added, COMMON, COMMON) == COMMON.replace(b"- Two.\n", b"- Two.\n- New.\n")
    below = picked.replace(b"- Short answers.\n", b"- Short answers.\n- In English.\n")
    with pytest.raises(ChangeNotFoundError, match="section"):
        transplant(picked, below, COMMON, COMMON)


@for_each(
    ("after", "current"),
    [
        (TEXT_ADDED, COMMON.replace(b"- Two.\n", b"")),
        (TEXT_ADDED, COMMON.replace(b"- Two.\n", b"- Number two.\n")),
        (TEXT_ADDED, COMMON + b"- Two.\n"),
        (PICKED.replace(b"- Picked.\n", b"- Picked, but better.\n"), COMMON),
        (PICKED.replace(b"- Picked.\n", b""), COMMON),
        (b"New.\n" + PICKED, COMMON),
    ],
)
def test_an_uncertain_place_is_refused(after: bytes, current: bytes) -> None:
    with pytest.raises(ChangeNotFoundError):
        transplant(PICKED, after, COMMON, current)


def test_undoing_a_change_reworded_since_is_refused() -> None:
    with pytest.raises(ChangeNotFoundError):
        undo(PICKED, TEXT_ADDED, TEXT_ADDED.replace(b"- New.\n", b"- Newer.\n"))
