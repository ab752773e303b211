"""Moving what an edit adds into the section that the person chooses."""

from __future__ import annotations

import pytest

from skilld.edit.move import move_to_section, section_titles
from skilld.errors import SkilldError

BEFORE = "# A\n\n## Tone\n\n- Kind.\n- Short.\n\n## Steps\n\n1. Write.\n2. Send.\n\n## Twice\n\n## Twice\n\n- Last.\n"


def test_only_headings_that_occur_once_can_be_chosen() -> None:
    assert section_titles(BEFORE) == ["A", "Tone", "Steps"]
    assert section_titles("ONE\n\nText.\n\nTWO\n\nText.\n") == ["ONE", "TWO"]


@pytest.mark.parametrize(
    "added", ["- Sign it.\n  Always.\n- No dates.\n", "\n## Preferences\n\n- Sign it.\n  Always.\n- No dates.\n"]
)
def test_added_items_go_to_the_end_of_the_section_in_its_style(added: str) -> None:
    moved = move_to_section(BEFORE, BEFORE + added, "Tone")
    assert moved == BEFORE.replace("- Short.\n", "- Short.\n- Sign it.\n  Always.\n- No dates.\n")
    moved = move_to_section(BEFORE, BEFORE + added, "Steps")
    assert moved == BEFORE.replace("2. Send.\n", "2. Send.\n3. Sign it.\n   Always.\n4. No dates.\n")


def test_what_has_a_place_of_its_own_or_none_is_not_moved() -> None:
    for after, title in (
        (BEFORE.replace("Kind", "Nice"), "Steps"),
        (BEFORE, "Tone"),
        (BEFORE + "- Sign it.\n", "Nowhere"),
    ):
        with pytest.raises(SkilldError, match="not moved"):
            move_to_section(BEFORE, after, title)
