"""Placing one instruction: the right section, the file's style, a unique anchor."""

from __future__ import annotations

import pytest

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.placement import target_section
from skilld.edit.insertion_point import insert_bullet, merge_into_heading
from skilld.edit.operations import apply
from skilld.errors import RefusedError, SkilldError
from skilld.pipeline.edits import add_blank_lines, inserts_into_code
from skilld.types import Message, Op, Operation, SkillDoc
from support.rows import for_each
from support.tables import table_rows

SKILL = """---
name: ship
---
# Shipping

How we ship.

## Steps

1. Build it.
2. Test it.

   ```sh
   make test
   ```

## Release notes

* Keep them short.
* Name the ticket.

## Contacts
"""


def test_the_instruction_goes_into_its_section_in_the_same_style() -> None:
    for hint, text, old, new in table_rows("edit_place", "into its section"):
        head, _, tail = SKILL.rpartition(old)
        assert apply(SKILL.encode(), [insert_bullet(SKILL.encode(), hint, text)]).decode() == head + new + tail


@for_each(
    ("before", "after"),
    [
        (
            "## Steps\n\n1. Build.\n2. Test.\n\n## Next\n",
            "## Steps\n\n1. Build.\n2. Test.\n\n## Next\n\n## Preferences\n\n- n\n",
        ),
        ("## Steps\n\n1. Build.\n2. Test.\n\n- a\n", "## Steps\n\n1. Build.\n2. Test.\n\n- a\n- n\n"),
        (
            "## Testing\n\n1. Build.\n2. Test.\n\n## Next\n",
            "## Testing\n\n1. Build.\n2. Test.\n\n- n\n\n## Next\n",
        ),
        (
            "## Testing\n\n1. Build.\n2. Test.\n\nSlow ones run at night.\n",
            "## Testing\n\n1. Build.\n2. Test.\n\nSlow ones run at night.\n\n- n\n",
        ),
        (
            "## Release steps\n\n1. Build.\n2. Tag.\n",
            "## Release steps\n\n1. Build.\n2. Tag.\n\n## Preferences\n\n- n\n",
        ),
        ("## Rules\n\n1. Short.\n2. Plain.\n", "## Rules\n\n1. Short.\n2. Plain.\n3. n\n"),
        ("## Tone\n\n1. Never shout.\n2. Be plain.\n", "## Tone\n\n1. Never shout.\n2. Be plain.\n3. n\n"),
    ],
)
def test_an_instruction_that_is_no_step_stays_out_of_a_procedure(before: str, after: str) -> None:
    operation = insert_bullet(before.encode(), before.split("\n", maxsplit=1)[0], "n", step=False)
    assert apply(before.encode(), [operation]).decode() == after


def test_a_second_instruction_without_a_section_goes_below_the_first() -> None:
    data = b"# Shop\n\n## Contacts\n\nAsk Bo.\n\n## Billing\n\nMonthly.\n"
    for text in ("Use SI units.", "Ask one question at a time."):
        data = apply(data, [insert_bullet(data, "", text)])
    assert data.decode().endswith("## Preferences\n\n- Use SI units.\n- Ask one question at a time.\n")


def test_list_styles_are_kept() -> None:
    for before, after in table_rows("edit_place", "list styles"):
        assert apply(before.encode(), [insert_bullet(before.encode(), "", "n")]).decode() == after


@pytest.mark.parametrize("where", ["a new section", "in a section"])
def test_an_instruction_is_written_where_and_how_the_file_writes_its_own(where: str) -> None:
    for before, after in table_rows("edit_place", where):
        heading = target_section("Bees hum.", before).heading
        assert apply(before.encode(), [insert_bullet(before.encode(), heading, "Bees hum.")]).decode() == after


def test_a_prohibition_goes_below_a_heading_that_forbids_only_if_its_items_are_negated() -> None:
    for items, is_there in (("- Never sting.\n- No noise.", True), ("- Sting.\n- Make noise.", False)):
        before = f"# A\n\n## Don't\n\n{items}\n\n## Two\n\nText.\n".encode()
        heading = target_section(ban := "Never make any noise when you sting.", before.decode()).heading
        after = apply(before, [insert_bullet(before, heading, ban)])
        assert (f"{items}\n- Never make".encode() in after) == is_there


def test_a_second_section_of_the_same_name_is_merged_in_any_style() -> None:
    for style in ("{0}\n\n- a b.\n", "**{0}**\n\n- a b.\n", "{0}\n---\n\n- a b.\n"):
        data = "\n".join(style.format(title) for title in ("One", "Two")).upper().encode()
        first, second = (insert_bullet(data, "", text) for text in ("Bees hum.", "Ants walk."))
        done = apply(data, [first])
        done = apply(done, merge_into_heading(done, second))
        assert done.decode().casefold().count("preferences") == 1
        assert done.decode().rstrip().endswith("- Bees hum.\n- Ants walk.")


@for_each(
    ("before", "line"),
    [
        ("- Short lines\n- No dates\n", "- Be kind"),
        ("- Short lines.\n- No dates\n", "- Be kind."),
        ("- Lines are short,\n  at most 80 wide\n- No dates\n", "- Be kind"),
        ("No list here", "Be kind."),
    ],
)
def test_an_item_ends_with_a_full_stop_if_half_of_the_others_do(before: str, line: str) -> None:
    assert insert_bullet(before.encode(), "", "Be kind.").text.strip() == line


def test_the_anchor_is_one_line_if_unique_and_more_if_not() -> None:
    assert insert_bullet(b"## A\n- x\n- y\n", "A", "n") == Operation(Op.INSERT_AFTER, "- y", "- n")
    assert insert_bullet(b"## A\n- y\n- x\n## B\n- x\n", "A", "n") == Operation(Op.INSERT_AFTER, "- y\n- x", "- n")


def test_an_instruction_is_never_placed_in_code_or_comments() -> None:
    before = b"# A\n\n- a\n\n## Hidden\n\n<!-- old\n\n- b\n\n-->\n"
    assert apply(before, [insert_bullet(before, "Hidden", "n")]) == before.replace(b"-->\n", b"-->\n\nn\n")
    with pytest.raises(SkilldError, match="only code"):
        insert_bullet(b"```sh\nmake\n", "Steps", "n")


def test_a_skill_ending_in_open_code_gets_a_new_section() -> None:
    before = b"# Ship\n\n## Steps\n\n- Build it.\n\n## More\n\n```sh\nmake\n"
    assert apply(before, [insert_bullet(before, "Tone", "Be kind.")]) == before.replace(
        b"- Build it.\n", b"- Build it.\n- Be kind.\n"
    )


@for_each(
    ("before", "heading"),
    [
        ("# Ship\n\n### Deep\n\n- a\n", "### Tone"),
        ("# Ship\n\n## A\n\n### A1\n\n- a\n\n### A2\n\n- b\n", "## Tone"),
        ("# A\n\n- a\n\n# B\n\n- b\n", "# Tone"),
        ("- a\n", "## Tone"),
        ("# A\n\n## 1. Bees\n\n- a\n\n## 2. Ants\n\n- b\n", "## Tone"),
        ("# A\n\n## Tone\n\n- [One](one.md)\n- [Two](two.md)\n", "## Preferences"),
    ],
)
def test_a_new_section_has_the_level_of_the_main_ones(before: str, heading: str) -> None:
    assert apply(before.encode(), [insert_bullet(before.encode(), "Tone", "Be kind.")]) == (
        f"{before}\n{heading}\n\n- Be kind.\n".encode()
    )


def test_a_list_of_links_below_the_usual_heading_stays_one() -> None:
    before = b"# A\n\n## Preferences\n\n- [One](one.md)\n- [Two](two.md)\n"
    after = apply(before, [insert_bullet(before, "Preferences", "Be kind.")])
    assert after == before + b"\n## Preferences\n\n- Be kind.\n"


def test_file_names_are_put_into_code_spans_where_no_client_imports_them() -> None:
    before = b"- a.\n"
    text = "Follow @docs/style.md and `@x/y.md`, ask @bo or bo@docs.org, see @README.md."
    assert insert_bullet(before, "", text).text == (
        "- Follow `@docs/style.md` and `@x/y.md`, ask @bo or bo@docs.org, see `@README.md`."
    )


@for_each(("before", "after"), [(b"", b""), (b"\n\n", b"\n\n"), (b"  ", b"  ")])
def test_an_empty_file_starts_like_a_new_one(before: bytes, after: bytes) -> None:
    first = insert_bullet(before, "Steps", "Be kind.")
    assert apply(before, [first]) == b"# Preferences\n\n- Be kind.\n" + after
    with pytest.raises(RefusedError, match="blank line"):
        apply(b"- a\n", [first])


def test_an_empty_skill_or_instruction_has_no_place() -> None:
    with pytest.raises(SkilldError):
        insert_bullet(b"---\nname: x\n---\n", "Steps", "n")
    with pytest.raises(RefusedError):
        insert_bullet(b"- a\n", "Steps", "  \n ")


NOTES = "# Notes\n\nWrite them.\n\n## Style\n\n- Past tense.\n- Short.\n\n## Code\n\n```\nmake notes\n```\n\n| a | b |"


def _place_after(anchor: str, text: str) -> str:
    operations = add_blank_lines(NOTES.encode(), [Operation(Op.INSERT_AFTER, anchor, text)])
    return apply(NOTES.encode(), operations).decode()


def test_an_insertion_gets_blank_lines_where_needed() -> None:
    for anchor, text, stands in table_rows("edit_place", "set off"):
        assert stands in _place_after(anchor, text)


def test_text_that_does_not_fit_is_returned_unchanged() -> None:
    operations = [Operation(Op.INSERT_AFTER, "- Nowhere.", "Text."), Operation(Op.DELETE, "- Short.", "")]
    assert add_blank_lines(NOTES.encode(), operations) == operations


def test_a_list_item_in_a_code_block_is_recognized() -> None:
    def is_placed(anchor: str, text: str) -> bool:
        return inserts_into_code(NOTES.encode(), [Operation(Op.INSERT_AFTER, anchor, text)])

    assert is_placed("make notes", "- Ask first.")
    assert not is_placed("make notes", "make check")
    assert not is_placed("- Short.", "- Ask first.")


SHELL = "# Me\n\n- Answer briefly.\n\n## Shell\n\n- Use `rg` instead of `grep`.\n"
PREFERENCES = "# Me\n\n## Preferences\n\n- Answer briefly.\n\n## Testing\n\n- Use vitest.\n- Mock nothing.\n"
ONE_LIST = "# API\n\n## Testing\n\n- Use vitest.\n- Tests beside the code.\n\n## Errors\n\n- Throw `HttpError`.\n"


@for_each(
    ("change", "text", "heading"),
    [
        ("Use fd instead of find.", SHELL, "Shell"),
        ("Call me Lena.", PREFERENCES, "Preferences"),
        ("Always validate request bodies with zod, never by hand.", ONE_LIST, "Preferences"),
        ("Mock the clock in every test.", ONE_LIST, "Testing"),
    ],
)
def test_the_words_of_a_heading_are_whole_words_and_its_kind_of_work_counts(
    change: str, text: str, heading: str
) -> None:
    assert target_section(change, text).heading == heading


PLANTS = (
    "---\nname: plants\ndescription: Care for the garden maps.\n---\n\n# Garden maps\n\n## Watering\n\n"
    "- Mornings only.\n- Rain barrel first.\n\n## Maps\n\n- North is up.\n- One per season.\n\n"
    "## Style\n\n- Latin names in italics.\n"
)


@for_each(
    ("change", "heading"),
    [
        ("Draw paths in brown on the maps.", "Maps"),
        ("Write the months in full.", "Style"),
        ("Never abbreviate a surname.", "Style"),
        ("Ask before you order seeds.", "Preferences"),
        ("Deliver compost on Mondays.", "Preferences"),
        ("Never show prices in the garden.", "Preferences"),
    ],
)
def test_a_rule_without_a_section_of_its_own_goes_to_a_general_one(change: str, heading: str) -> None:
    """Not to the only list, nor to "Style" if it is not about wording; a word of the title may be a section's own."""
    assert target_section(change, PLANTS).heading == heading


@for_each(
    ("change", "heading"),
    [
        ("Spell units out.", "Prose"),
        ("Deliver compost on Mondays.", "Preferences"),
        ("Deliver the newsletter on Mondays.", "Prose"),
    ],
)
def test_only_the_sole_section_of_a_file_takes_any_rule_and_the_only_list_those_on_its_title(
    change: str, heading: str
) -> None:
    text = "---\nname: n\ndescription: d.\n---\n\n# Newsletter\n\n## Prose\n\n- Short words.\n- No jokes.\n"
    assert target_section(change, text).heading == "Prose"
    further = f"{text}\n## Beds\n\nThree of them.\n"
    assert target_section(change, further).heading == heading


REPORT = (
    "# Weekly report\n\n## Charts\n\n- No pie charts.\n- The weeks below.\n\n## Tables\n\n- Totals last.\n\n"
    "## Commits\n\n- One change each.\n\n## Delivery\n\n1. Make the file.\n2. Send the file.\n"
)


@for_each(
    ("change", "around", "heading"),
    [
        ("Never in colour.", "I have drawn both charts.", "Charts"),
        ("Never in colour.", "I have written both tables.", "Tables"),
        ("Totals in bold.", "I have drawn both charts.", "Tables"),
        ("커밋 메시지는 한글로 써주세요.", "", "Commits"),
        ("Сообщения коммитов только на английском.", "", "Commits"),
        ("Never in colour.", "", "Preferences"),
    ],
)
def test_what_was_said_around_a_rule_and_its_meaning_in_any_language_show_its_section(
    change: str, around: str, heading: str
) -> None:
    assert target_section(change, REPORT, around).heading == heading


def test_the_agents_words_before_a_message_show_the_section_of_what_is_said() -> None:
    skill = SkillDoc(
        1, "weekly-report", "weekly-report/SKILL.md", f"---\nname: weekly-report\ndescription: d.\n---\n\n{REPORT}"
    )
    for made, heading in (("drew the charts of the weekly report", "Charts"), ("wrote its tables", "Tables")):
        said = [Message(f"I {made}."), Message("From now on never use colour there.", turn=1)]
        (update,) = Offline().detect(said, [skill])
        assert update.section == heading
