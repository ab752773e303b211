"""Operations applied to hand-written skills, and undone. Every expectation is a literal."""

from __future__ import annotations

import pytest

from skilld.edit.derive_operations import operations_from_text
from skilld.edit.operations import MAX_CHANGED_LINES, apply
from skilld.errors import RefusedError, SkilldError
from skilld.git.line_diff import undo
from skilld.types import Op, Operation
from support.rows import for_each

SKILL = b"---\nname: ship\n---\n# Ship\n\n## Steps\n\n- Build it.\n- Test it.\n\n## Notes\n\nAsk first.\n"


def insert(anchor: str, text: str) -> Operation:
    return Operation(Op.INSERT_AFTER, anchor, text)


def replace(anchor: str, text: str) -> Operation:
    return Operation(Op.REPLACE, anchor, text)


def delete(anchor: str) -> Operation:
    return Operation(Op.DELETE, anchor)


@for_each(
    ("operation", "old", "new"),
    [
        (insert("- Test it.", "- Tag it."), b"- Test it.\n", b"- Test it.\n- Tag it.\n"),
        (replace("- Test it.", "- Test it twice."), b"- Test it.\n", b"- Test it twice.\n"),
        (replace("- Build it.\n- Test it.", "- Do it."), b"- Build it.\n- Test it.\n", b"- Do it.\n"),
        (delete("- Test it."), b"- Test it.\n", b""),
        (insert("Ask first.", "\n## More\n\n- x"), b"Ask first.\n", b"Ask first.\n\n## More\n\n- x\n"),
    ],
)
def test_each_operation_changes_only_its_lines(operation: Operation, old: bytes, new: bytes) -> None:
    assert apply(SKILL, [operation]) == SKILL.replace(old, new)


def test_operations_apply_in_sequence() -> None:
    after = apply(
        SKILL, [insert("- Test it.", "- Tag it."), replace("- Tag it.", "- Tag it with v."), delete("- Build it.")]
    )
    assert after == SKILL.replace(b"- Build it.\n- Test it.\n", b"- Test it.\n- Tag it with v.\n")


@for_each(
    ("before", "after"),
    [
        (b"\xef\xbb\xbf- a\r\n- b\r\n", b"\xef\xbb\xbf- a\r\n- n\r\n- m\r\n- b\r\n"),
        (b"- a", b"- a\n- n\n- m"),
        (b"x\r\n- a", b"x\r\n- a\r\n- n\r\n- m"),
        (b"- a\r- b\r", b"- a\r- n\r- m\r- b\r"),
        (b"- a  \t\n- b\n", b"- a  \t\n- n\n- m\n- b\n"),
        (b"- x\r\n- y\r\n- a\n- b\n", b"- x\r\n- y\r\n- a\n- n\n- m\n- b\n"),
    ],
)
def test_added_lines_take_the_line_ending_above_them(before: bytes, after: bytes) -> None:
    assert apply(before, [insert("- a", "- n\r\n- m")]) == after


def test_deleting_the_last_line_keeps_a_missing_final_newline() -> None:
    assert apply(b"- a\n- b", [delete("- b")]) == b"- a"


def test_replacing_keeps_shared_bytes_unchanged() -> None:
    assert apply(b"- a  \r\n- b\n- c\t\n", [replace("- a\n- b\n- c", "- a\n- B\n- c")]) == b"- a  \r\n- B\n- c\t\n"


@for_each(
    ("operation", "cause"),
    [
        (insert("- Deploy it.", "- x"), "not in the file"),
        (insert("- Build", "- x"), "not in the file"),
        (insert(" - Build it.", "- x"), "not in the file"),
        (delete("## Steps\n- Build it."), "not in the file"),
    ],
)
def test_a_missing_anchor_is_an_error_but_not_dangerous(operation: Operation, cause: str) -> None:
    with pytest.raises(SkilldError) as error:
        apply(SKILL, [operation])
    assert cause in error.value.cause
    assert not isinstance(error.value, RefusedError)


def test_an_anchor_found_twice_is_ambiguous() -> None:
    with pytest.raises(SkilldError) as error:
        apply(b"- a\n\n- a \n", [insert("- a", "- b")])
    assert "occurs 2 times" in error.value.cause


@for_each(
    ("operation", "cause"),
    [
        (replace("name: ship", "name: other"), "front matter"),
        (insert("---", "hooks:"), "front matter"),
        (insert("", "- x"), "blank line"),
        (insert("- Test it.", " \n"), "adds no text"),
        (insert("- Build it.", "- Test it."), "already"),
        (replace("- Test it.", "- Test it. "), "changes nothing"),
        (insert("- Test it.", "- \ud800"), "cannot be written to a file"),
        (insert("- Test it.", "- \0"), "NUL"),
        (insert("- Test it.", "\n".join(f"- {n}" for n in range(MAX_CHANGED_LINES + 1))), "41 lines"),
        (insert("- Test it.", "- " + "x" * 9000), "9002 characters"),
    ],
)
def test_forbidden_edits_are_refused(operation: Operation, cause: str) -> None:
    with pytest.raises(RefusedError) as error:
        apply(SKILL, [operation])
    assert cause in error.value.cause


def test_no_operation_may_create_front_matter() -> None:
    for first in ("---\nhooks: x\n---", "\ufeff- a", "---"):
        with pytest.raises(RefusedError):
            apply(b"- a\n- b\n", [replace("- a", first)])


def test_an_edit_must_leave_something_in_the_skill() -> None:
    with pytest.raises(RefusedError):
        apply(b"---\nname: x\n---\n\n- only\n", [delete("- only")])
    with pytest.raises(RefusedError):
        apply(SKILL, [])


def test_a_skill_may_grow_to_500_lines_and_a_longer_one_may_still_change() -> None:
    full = b"".join(b"- %d\n" % n for n in range(500))
    longer = full + b"- 500\n"
    with pytest.raises(RefusedError) as error:
        apply(full, [insert("- 7", "- new")])
    assert "501 lines" in error.value.cause
    assert apply(longer, [replace("- 7", "- seven")]) == longer.replace(b"- 7\n", b"- seven\n")


def test_two_new_sections_at_the_end_apply_in_either_order() -> None:
    first, second = insert("Ask first.", "\n## A\n\n- one"), insert("Ask first.", "\n## B\n\n- two")
    both = apply(SKILL, [first, second])
    assert both.endswith(b"Ask first.\n\n## B\n\n- two\n\n## A\n\n- one\n")
    assert undo(SKILL, apply(SKILL, [first]), both) == apply(SKILL, [second])
    assert undo(SKILL, apply(SKILL, [second]), both) == apply(SKILL, [first])


def test_undo_removes_the_added_line_and_not_an_equal_one_elsewhere() -> None:
    before = b"## One\n- Run it.\n## Two\n- Look.\n"
    later = apply(before, [insert("- Look.", "- Run it.")]).replace(b"## One", b"## First")
    assert undo(before, before + b"- Run it.\n", later) == before.replace(b"## One", b"## First")


BEFORE = b"---\r\nname: ship\r\n---\r\n# Ship\r\n\r\n- Build it.  \r\n- Test it.\r\n- Tag it.\r\n"
HEAD = "---\nname: ship\n---\n# Ship\n\n"


@for_each(
    ("rewritten", "operation"),
    [
        ("- Build it.\n- Test it.\n- Sign it.\n- Tag it.\n", Operation(Op.INSERT_AFTER, "- Test it.", "- Sign it.")),
        ("- Build it.\n- Test it twice.\n- Tag it.\n", Operation(Op.REPLACE, "- Test it.", "- Test it twice.")),
        ("- Build it.\n- Tag it.\n\n\n", Operation(Op.DELETE, "- Test it.")),
    ],
)
def test_a_change_becomes_the_operation_a_person_would_write(rewritten: str, operation: Operation) -> None:
    assert operations_from_text(BEFORE, HEAD + rewritten) == [operation]


def test_several_changes_apply_in_order_and_keep_the_rest() -> None:
    operations = operations_from_text(BEFORE, HEAD + "- Build all.\n- Test it.\n\n## More\n\n- Rest.")
    after = BEFORE.replace(b"- Build it.  \r\n", b"- Build all.\r\n").replace(
        b"- Tag it.\r\n", b"\r\n## More\r\n\r\n- Rest.\r\n"
    )
    assert apply(BEFORE, operations) == after


def test_repeated_lines_are_anchored_with_their_neighbours() -> None:
    before = b"## A\n- x\n\n## B\n- x\n"
    assert apply(before, operations_from_text(before, "## A\n- x\n\n## B\n- y\n")) == b"## A\n- x\n\n## B\n- y\n"
    assert apply(before, operations_from_text(before, "## A\n\n## B\n- x\n")) == b"## A\n\n## B\n- x\n"


@for_each(
    ("rewritten", "cause"),
    [
        ("# Ship\n\n- Build it.\n- Test it.\n- Tag it.\n", "front matter"),
        (HEAD.replace("ship", "shop") + "- Build it.\n", "front matter"),
        (HEAD.replace("---\n#", "hooks: x\n---\n#") + "- Build it.\n", "front matter"),
        (HEAD + "- Build it.\n- Test it.\n- Tag it.", "says the same"),
        (HEAD + "".join(f"- New {n}.\n" for n in range(60)), "lines"),
        ("---\nname: ship\n---\n", "no instruction"),
    ],
)
def test_forbidden_edits_are_refused_in_a_rewritten_file_too(rewritten: str, cause: str) -> None:
    with pytest.raises(RefusedError) as error:
        operations_from_text(BEFORE, rewritten)
    assert cause in error.value.cause


def test_front_matter_cannot_be_added_to_a_file_without_it() -> None:
    with pytest.raises(RefusedError):
        operations_from_text(b"# Ship\n\n- Build it.\n", "---\nname: ship\n---\n# Ship\n\n- Build it.\n")
