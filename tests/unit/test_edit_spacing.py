"""What a model inserts stands apart from what is around it as Markdown wants it, and nothing else is touched."""

from __future__ import annotations

import pytest

from skilld.edit.operations import apply
from skilld.pipeline.edits import in_code, spaced
from skilld.types import Op, Operation

SKILL = "# Notes\n\nWrite them.\n\n## Style\n\n- Past tense.\n- Short.\n\n## Code\n\n```\nmake notes\n```\n\n| a | b |"


def _after(anchor: str, text: str) -> str:
    operations = spaced(SKILL.encode(), [Operation(Op.INSERT_AFTER, anchor, text)])
    return apply(SKILL.encode(), operations).decode()


@pytest.mark.parametrize(
    ("anchor", "text", "stands"),
    [
        ("- Past tense.", "- Plain.", "- Past tense.\n- Plain.\n- Short."),
        ("## Style", "- Plain.", "## Style\n\n- Plain.\n- Past tense."),
        ("Write them.", "Send them.", "Write them.\n\nSend them.\n\n## Style"),
        ("Write them.", "\nSend them.\n", "Write them.\n\nSend them.\n\n## Style"),
        ("# Notes", "Ask first.", "# Notes\n\nAsk first.\n\nWrite them."),
        ("- Short.", "## More\n\n- Plain.", "- Short.\n\n## More\n\n- Plain.\n\n## Code"),
        ("make notes", "make check", "make notes\nmake check\n```"),
        ("| a | b |", "| c | d |", "| a | b |\n| c | d |"),
        ("- Short.", "  Two lines.", "- Short.\n  Two lines.\n\n## Code"),
    ],
)
def test_an_insertion_is_set_off_where_it_has_to_be(anchor: str, text: str, stands: str) -> None:
    assert stands in _after(anchor, text)


def test_what_does_not_fit_comes_back_as_it_is() -> None:
    operations = [Operation(Op.INSERT_AFTER, "- Nowhere.", "Text."), Operation(Op.DELETE, "- Short.", "")]
    assert spaced(SKILL.encode(), operations) == operations


def test_a_list_item_in_a_code_block_is_told_apart() -> None:
    def lands(anchor: str, text: str) -> bool:
        return in_code(SKILL.encode(), [Operation(Op.INSERT_AFTER, anchor, text)])

    assert lands("make notes", "- Ask first.")
    assert not lands("make notes", "make check")
    assert not lands("- Short.", "- Ask first.")
