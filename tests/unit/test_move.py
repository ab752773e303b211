"""Moving what an edit adds into the section that the person chooses."""

from __future__ import annotations

import pytest

from skilld.edit.move import move_to_section, section_titles
from skilld.errors import SkilldError
from support.rows import for_each

BEFORE = "# A\n\n## Tone\n\n- Kind.\n- Short.\n\n## Steps\n\n1. Write.\n2. Send.\n\n## Twice\n\n## Twice\n\n- Last.\n"


def test_only_headings_that_occur_once_can_be_chosen() -> None:
    assert section_titles(BEFORE) == ["A", "Tone", "Steps"]
    assert section_titles("ONE\n\nText.\n\nTWO\n\nText.\n") == ["ONE", "TWO"]


@for_each(
    "added",
    [
        "- Sign it.\n  Always.\n- No dates.\n",
        "- Sign it.\n\n  Always.\n- No dates.\n",
        "\n## Preferences\n\n- Sign it.\n  Always.\n- No dates.\n",
    ],
)
def test_added_items_go_to_the_end_of_the_section_in_its_style(added: str) -> None:
    gap = "\n" if "\n\n  " in added else ""
    moved = move_to_section(BEFORE, BEFORE + added, "Tone")
    assert moved == BEFORE.replace("- Short.\n", f"- Short.\n- Sign it.\n{gap}  Always.\n- No dates.\n")
    moved = move_to_section(BEFORE, BEFORE + added, "Steps")
    assert moved == BEFORE.replace("2. Send.\n", f"2. Send.\n3. Sign it.\n{gap}   Always.\n4. No dates.\n")


@for_each(
    ("added", "moved"),
    [
        ("- Sign it.\n  - With your name.\n- No dates.\n", "- Sign it.\n  - With your name.\n- No dates.\n"),
        ("- Sign it,\nalways.\n", "- Sign it,\n  always.\n"),
        ("Preferences:\n- Sign it.\n", "- Sign it.\n"),
    ],
)
def test_an_item_keeps_all_of_its_lines_but_no_label(added: str, moved: str) -> None:
    assert move_to_section(BEFORE, BEFORE + added, "Tone") == BEFORE.replace("- Short.\n", f"- Short.\n{moved}")


def test_an_item_takes_the_full_stop_and_the_marker_of_the_section() -> None:
    before = "# A\n\n## Tone\n\n- Kind\n- Short\n\n## Steps\n\n1. Write.\n2. Send.\n"
    assert "- Short\n- Sign it\n\n" in move_to_section(before, before + "3. Sign it.\n", "Tone")


def test_paragraphs_stay_apart_and_horizontal_lines_behind() -> None:
    before = "# A\n\n## Tone\n\nBe kind.\n\n## Steps\n\nWrite.\n"
    moved = move_to_section(before, before + "\n---\n\nSign it.\n\nSend it.\n", "Tone")
    assert moved == before.replace("Be kind.\n", "Be kind.\n\nSign it.\n\nSend it.\n")


def test_what_has_a_place_of_its_own_or_none_is_not_moved() -> None:
    for after, title in (
        (BEFORE.replace("Kind", "Nice"), "Steps"),
        (BEFORE, "Tone"),
        (BEFORE + "- Sign it.\n", "Nowhere"),
    ):
        with pytest.raises(SkilldError, match="not moved"):
            move_to_section(BEFORE, after, title)
    links = "# A\n\n## Links\n\n- [One](one.md)\n- [Two](two.md)\n\n## Tone\n\n- Kind.\n"
    with pytest.raises(SkilldError, match="cannot be placed in that section"):
        move_to_section(links, links + "- Short.\n", "Links")
