"""The blank lines that Markdown wants around what a model inserts: it is asked for whole lines, and sends them bare.

The skill's bytes and operations in, operations out that say the same. Only insertions of plain text are touched. A list
item inside a code block is told apart, too: it cannot be mended here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skilld.edit.anchors import places
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import Role, list_item, roles, sections
from skilld.types import Op, Operation

_TIGHT = ("|", " ", "\t", "```", "~~~", ">")  # a table's row, a further line of an item, code, a quotation


def spaced(data: bytes, operations: Sequence[Operation]) -> list[Operation]:
    """Return operations that set inserted paragraphs and headings off by blank lines, and begin a heading's list.

    One that does not fit the file comes back as it is, with all that follow it.
    """
    done: list[Operation] = []
    for i, operation in enumerate(operations):
        try:
            step = _spaced(parse(data).body, operation)
            data = apply(data, [step], limited=False)
        except SkilldError:
            return [*done, *operations[i:]]
        done.append(step)
    return done


def in_code(data: bytes, operations: Sequence[Operation]) -> bool:
    """Whether a list item is inserted into a code block, where nobody reads it as one."""
    body = parse(data).body
    kinds = roles(body)
    for operation in operations:
        anchor = operation.anchor.split("\n")
        found = list(places(body, anchor))
        if operation.op is Op.INSERT_AFTER and len(found) == 1 and list_item(operation.text.split("\n")[0]):
            end = found[0] + len(anchor)
            if kinds[end - 1] is Role.CODE or (kinds[end - 1] is Role.FENCE and kinds[end : end + 1] == [Role.CODE]):
                return True
    return False


def _spaced(body: Sequence[Line], operation: Operation) -> Operation:
    lines = operation.text.split("\n")
    anchor = operation.anchor.split("\n")
    found = list(places(body, anchor))
    if operation.op is not Op.INSERT_AFTER or len(found) != 1 or lines[0].startswith(_TIGHT):
        return operation
    end = found[0] + len(anchor)
    if roles(body)[end - 1] is not Role.TEXT:
        return operation
    is_item = list_item(lines[0]) is not None
    if end in {part.start for part in sections(body) if part.level} and end < len(body) and not body[end].key:
        anchor, end = [*anchor, ""], end + 1  # the blank line below a heading belongs to it
    below = body[end].text if end < len(body) else ""
    above = body[end - 1].text
    if not is_item and above.strip():
        lines = ["", *lines]
    if below.strip() and not (is_item and list_item(below)) and not below.startswith(_TIGHT):
        lines = [*lines, ""]
    return replace(operation, anchor="\n".join(anchor), text="\n".join(lines))
