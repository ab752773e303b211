"""The operations between two versions of a skill that people or skilld wrote, not a model: any of the five.

Bytes and text in, operations out: the making of the file, marks, then what differs in the body.
"""

from __future__ import annotations

from skilld.edit.create import created
from skilld.edit.from_file import operations_from
from skilld.edit.mark import marks_between
from skilld.edit.operations import apply
from skilld.markdown.skill_file import parse
from skilld.types import Op, Operation


def operations_between(before: bytes | None, after: str) -> list[Operation]:
    """Return the operations that turn the skill `before` into `after`; None is a file that is not there.

    Raises as `apply` and `skilld.edit.from_file.operations_from`.
    """
    if before is None:
        created(b"", after)
        return [Operation(Op.CREATE, "", after)]
    marks = marks_between(before.decode("utf-8-sig", "replace"), after)
    marked = apply(before, marks) if marks else before
    same = parse(marked).body == parse(after.encode("utf-8")).body
    return marks if marks and same else [*marks, *operations_from(marked, after)]
