"""What a person lets go of is removed from the line that asks for it, and from no line that refuses it."""

from __future__ import annotations

import pytest

from skilld.classify.offline.removals import removal
from skilld.types import Op, Operation, SkillDoc

LINES = (
    "- Use pnpm, not npm.",
    "- Name event handlers onSomething, not handleSomething.",
    "- Put factories in `tests/factories.py`.",
    "- Indent with tabs instead of spaces.",
)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("You don't have to use pnpm any more.", LINES[0]),
        ("No need to use pnpm any more.", LINES[0]),
        ("You no longer have to name event handlers onSomething.", LINES[1]),
        ("You don't have to put factories in tests/factories.py any more.", LINES[2]),
        ("You don't have to indent with tabs any more.", LINES[3]),
        ("You don't have to use npm any more.", None),
        ("You don't have to name handlers handleSomething any more.", None),
        ("You don't have to indent with spaces any more.", None),
    ],
)
def test_a_line_is_removed_only_for_what_it_asks_for(said: str, line: str | None) -> None:
    text = "# Tool\n\n" + "\n".join(LINES) + "\n"
    wanted = Operation(Op.DELETE, line) if line else None
    assert removal(said, SkillDoc(1, "CLAUDE.md", "/CLAUDE.md", text)) == wanted
