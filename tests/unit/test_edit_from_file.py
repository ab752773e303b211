"""Operations out of a whole rewritten file."""

from __future__ import annotations

import pytest

from skilld.edit.from_file import operations_from
from skilld.edit.operations import apply
from skilld.errors import RefusedError
from skilld.types import Op, Operation

BEFORE = b"---\r\nname: ship\r\n---\r\n# Ship\r\n\r\n- Build it.  \r\n- Test it.\r\n- Tag it.\r\n"
HEAD = "---\nname: ship\n---\n# Ship\n\n"


@pytest.mark.parametrize(
    ("rewritten", "operation"),
    [
        ("- Build it.\n- Test it.\n- Sign it.\n- Tag it.\n", Operation(Op.INSERT_AFTER, "- Test it.", "- Sign it.")),
        ("- Build it.\n- Test it twice.\n- Tag it.\n", Operation(Op.REPLACE, "- Test it.", "- Test it twice.")),
        ("- Build it.\n- Tag it.\n\n\n", Operation(Op.DELETE, "- Test it.")),
    ],
)
def test_a_change_becomes_the_operation_a_person_would_write(rewritten: str, operation: Operation) -> None:
    assert operations_from(BEFORE, HEAD + rewritten) == [operation]


def test_several_changes_apply_in_the_order_given_and_keep_the_rest() -> None:
    operations = operations_from(BEFORE, HEAD + "- Build all.\n- Test it.\n\n## More\n\n- Rest.")
    after = BEFORE.replace(b"- Build it.  \r\n", b"- Build all.\r\n").replace(
        b"- Tag it.\r\n", b"\r\n## More\r\n\r\n- Rest.\r\n"
    )
    assert apply(BEFORE, operations) == after


def test_lines_that_stand_several_times_are_anchored_with_their_neighbours() -> None:
    before = b"## A\n- x\n\n## B\n- x\n"
    assert apply(before, operations_from(before, "## A\n- x\n\n## B\n- y\n")) == b"## A\n- x\n\n## B\n- y\n"
    assert apply(before, operations_from(before, "## A\n\n## B\n- x\n")) == b"## A\n\n## B\n- x\n"


@pytest.mark.parametrize(
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
def test_what_no_edit_may_do_is_refused(rewritten: str, cause: str) -> None:
    with pytest.raises(RefusedError) as caught:
        operations_from(BEFORE, rewritten)
    assert cause in caught.value.cause


def test_a_front_matter_cannot_be_put_before_a_file_that_had_none() -> None:
    with pytest.raises(RefusedError):
        operations_from(b"# Ship\n\n- Build it.\n", "---\nname: ship\n---\n# Ship\n\n- Build it.\n")
