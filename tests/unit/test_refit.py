"""R6: an edit finds its place again after a manual edit or is refused, and never goes to a wrong place."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field, replace

import pytest

from skilld.edit.operations import apply
from skilld.edit.refit import NoPlaceError, refit, refit_in_section
from skilld.types import Op, Operation
from support.repos import TEXT
from support.rows import for_each

NEW = "- Weigh each parcel twice."
WORDS = (
    *("anchor", "barrel", "candle", "dragon", "ember", "fiddle", "garden", "hammer", "island", "jacket"),
    *("kettle", "ladder", "mirror", "needle", "orchid", "pepper", "quiver", "ribbon", "saddle", "teapot"),
    *("urchin", "velvet", "walnut", "yonder", "zephyr", "banner", "copper", "dapple", "falcon", "goblet"),
)


def refit_text(before: str, operation: Operation, current: str) -> str:
    after = apply(before.encode(), [operation])
    return apply(current.encode(), refit(before.encode(), after, current.encode())).decode()


def insert_op(anchor: str, text: str) -> Operation:
    return Operation(Op.INSERT_AFTER, anchor, text)


@for_each(
    ("old", "new"),
    [
        ("- Run the tests.", "- Run all of the tests."),
        ("- Run the tests.", "- Ask Robin whether it is a good day."),
        ("- Tag the commit.", "- Sign and tag the commit."),
        ("- Run the tests.", "- Be patient.\n- Run the tests."),
        ("# Release", "# How to publish"),
        ("- Push the tag.\n", ""),
    ],
)
def test_a_bullet_goes_where_it_was_meant(old: str, new: str) -> None:
    current = TEXT.replace(old, new)
    found = refit_text(TEXT, insert_op("- Run the tests.", "- Dry run first."), current)
    lines = found.splitlines()
    assert [line for line in lines if line != "- Dry run first."] == current.splitlines()
    assert lines[lines.index("- Dry run first.") - 1] == (
        "- Run the tests." if "Run" not in old else new.rsplit("\n", maxsplit=1)[-1]
    )


LIST = "- Run the tests.\n- Tag the commit.\n- Push the tag.\n"


@for_each(
    ("current", "made"),
    [
        (
            LIST.replace("- ", "* "),
            "* Run the tests.\n* Dry run first.\n  On a copy.\n* Tag the commit.\n* Push the tag.\n",
        ),
        (
            LIST.replace("- ", "  - "),
            "  - Run the tests.\n  - Dry run first.\n    On a copy.\n  - Tag the commit.\n  - Push the tag.\n",
        ),
        (
            LIST.replace("- ", "- [ ] "),
            "- [ ] Run the tests.\n- [ ] Dry run first.\n  On a copy.\n- [ ] Tag the commit.\n- [ ] Push the tag.\n",
        ),
        # a step of a numbered list is added at its end
        (
            "1) Run the tests.\n2) Tag the commit.\n3) Push the tag.\n",
            "1) Run the tests.\n2) Tag the commit.\n3) Push the tag.\n4) Dry run first.\n   On a copy.\n",
        ),
    ],
)
def test_r6_a_bullet_is_written_like_the_list_as_it_now_is(current: str, made: str) -> None:
    found = refit_text(
        TEXT, insert_op("- Run the tests.", "- Dry run first.\n  On a copy."), TEXT.replace(LIST, current)
    )
    assert found == TEXT.replace(LIST, made)


def test_r6_a_step_is_written_like_the_list_as_it_now_is() -> None:
    steps = "1. Run the tests.\n2. Tag the commit.\n3. Push the tag.\n"
    before, last = TEXT.replace(LIST, steps), insert_op("3. Push the tag.", "4. Write the news.")
    assert refit_text(before, last, TEXT) == TEXT.replace(LIST, f"{LIST}- Write the news.\n")
    other = steps.replace(". ", ") ")
    assert refit_text(before, last, TEXT.replace(LIST, other)) == TEXT.replace(LIST, f"{other}4) Write the news.\n")


@for_each("anchor", ["- Run the tests.", "- Push the tag."])
def test_r6_a_bullet_stays_in_its_list_below_a_new_subheading(anchor: str) -> None:
    current = TEXT.replace("Steps:", "## Steps of a release")
    found = refit_text(TEXT, insert_op(anchor, "- Dry run first."), current)
    assert found == current.replace(anchor, f"{anchor}\n- Dry run first.")


@for_each("lines", ["- Run the tests.\n", "\n- Tag the commit.\n", "## Two\n\nText.\n\n"])
def test_blank_lines_that_an_edit_removes_go_in_another_version_too(lines: str) -> None:
    before = "# A\n\n- Run the tests.\n\n- Tag the commit.\n\n## Two\n\nText.\n\n## Three\n\nMore.\n"
    after = before.replace(lines, "")
    for current in (before, before.replace("More.", "Less."), f"{before}\nLast.\n"):
        assert make_again(before, after, current) == current.replace(lines, "")


def make_again(before: str, after: str, current: str) -> str:
    data = current.encode()
    for operation in refit(before.encode(), after.encode(), data):
        data = apply(data, [operation])
    return data.decode()


@for_each(
    ("before", "after", "current", "made"),
    [
        # the person took out the blank line that the new paragraph needs below, or the one above what goes
        ("One.\n\nTwo.\n", "One.\n\nNew.\n\nTwo.\n", "One.\nTwo.\n", "One.\n\nNew.\n\nTwo.\n"),
        ("One.\n\nOut.\n\nTwo.\n", "One.\n\nTwo.\n", "One.\nOut.\n\nTwo.\n", "One.\n\nTwo.\n"),
        # or added the one that came with the edit
        ("One.\nTwo.\n", "One.\n\nNew.\n\nTwo.\n", "One.\n\nTwo.\n", "One.\n\nNew.\n\nTwo.\n"),
        # items stay as close as they are
        ("- One.\n\nTwo.\n", "- One.\n- New.\n\nTwo.\n", "- One.\nTwo.\n", "- One.\n- New.\nTwo.\n"),
    ],
)
def test_no_blank_line_is_lost_or_doubled(before: str, after: str, current: str, made: str) -> None:
    head = "# Title\n\n"
    assert make_again(head + before, head + after, head + current) == head + made
    assert make_again(head + before, head + after, head + before) == head + after


@for_each(("line", "start"), [("-----", ""), ("=====", ""), ("", "## ")])
def test_a_section_goes_whatever_line_its_heading_shares_with_others(line: str, start: str) -> None:
    def section(title: str, text: str) -> str:
        return f"{start}{title}\n{line}{line and chr(10)}\n- {text}\n\n"

    one, two, three = section("Bravo", "Tag it."), section("Tools", "Use make."), section("Build", "Wait for it.")
    assert make_again(one + two + three, one + three, two + one + three) == one + three


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_and_a_missing_final_newline_stay(ending: str) -> None:
    current = TEXT.replace("- Run the tests.", "- Run the tests twice.").rstrip("\n").replace("\n", ending)
    found = refit_text(TEXT, insert_op("- Run the tests.", "- Dry run first."), current)
    assert found == current.replace(f"twice.{ending}", f"twice.{ending}- Dry run first.{ending}")


@for_each(
    "current",
    [
        TEXT.replace("- Run the tests.\n", "").replace("Keep", "- Run the tests.\n\nKeep"),
        TEXT.replace(
            "- Run the tests.\n- Tag the commit.\n- Push the tag.\n", "- Push.\n- Something else.\n- Wait.\n\nNow."
        ),
        TEXT.replace("- Run the tests.\n- Tag the commit.", "- Tag the commit.\n- Run the tests."),
        TEXT.replace("- Run the tests.\n", "```\n- Run the tests.\n").replace(
            "- Push the tag.\n", "- Push the tag.\n```\n"
        ),
    ],
)
def test_an_uncertain_place_is_refused(current: str) -> None:
    with pytest.raises(NoPlaceError):
        refit_text(TEXT, insert_op("- Run the tests.", "- Dry run first."), current)


@for_each(
    ("before", "added", "other"),
    [
        (
            "# Git\n\n## Branches\n\n- Name them.\n",
            "- Keep them short.",
            "# Release\n\n## News\n\n- Link the issues.\n",
        ),
        ("# Out\n\n## Weather\n\n- Look.\n", "- Take a coat.", "# In\n\n## Kitchen\n\n- Wash up.\n"),
    ],
)
def test_the_end_of_another_text_is_no_place(before: str, added: str, other: str) -> None:
    last = before.rstrip().rpartition("\n")[2]
    with pytest.raises(NoPlaceError):
        refit_text(before, insert_op(last, added), other)


def test_two_equal_lines_are_ambiguous() -> None:
    current = TEXT.replace("- Run the tests.\n", "- Run the tests now.\n- Run the tests once.\n- Wait.\n")
    found = refit_text(TEXT, insert_op("- Run the tests.", "- Dry run first."), current)
    assert "- Wait.\n- Dry run first.\n- Tag the commit." in found  # above the line that stayed


@pytest.mark.parametrize("op", [Op.REPLACE, Op.DELETE])
def test_an_edited_line_is_neither_replaced_nor_deleted(op: Op) -> None:
    change = Operation(op, "- Tag the commit.", "- Tag it." if op is Op.REPLACE else "")
    with pytest.raises(NoPlaceError, match="a line that it changes was edited or is gone"):
        refit_text(TEXT, change, TEXT.replace("- Tag the commit.", "- Tag the commit, please."))
    moved = TEXT.replace("- Run the tests.", "- Run them.").replace("- Push the tag.", "- Push.")
    assert refit_text(TEXT, change, moved) == apply(moved.encode(), [change]).decode()


@for_each("last", ["## Notes\n\nKeep the changelog short.\n", ""])
@for_each("own", ["- my own note\n", "\nMy own words.\n", "  - below it\n- and another\n"])
@for_each("first", ["", "- Wait a day.\n"])
def test_a_new_section_goes_below_what_was_added_to_the_one_above(last: str, own: str, first: str) -> None:
    before = TEXT.partition("\n## Notes")[0] + (f"\n{last}" if last else "")
    current = before.replace("- Push the tag.\n", f"- Push the tag.\n{own}")
    found = refit_text(before, insert_op("- Push the tag.", f"{first}\n## Preferences\n\n- Be brief."), current)
    above, _, under = found.partition("## Preferences")
    assert own.strip() in above
    assert own.strip() not in under
    assert under == "\n\n- Be brief.\n" + (f"\n{last}" if last else "")
    assert [line for line in found.splitlines() if line in current.splitlines() and line] == [
        line for line in current.splitlines() if line
    ]


def test_without_a_certain_place_it_goes_to_the_end_of_its_section() -> None:
    after = apply(TEXT.encode(), [insert_op("- Run the tests.", "- Dry run first.")])
    current = TEXT.replace("- Run the tests.\n- Tag the commit.", "- Tag the commit.\n- Run the tests.").encode()
    found = apply(current, refit_in_section(TEXT.encode(), after, current)).decode()
    assert found == current.decode().replace("- Push the tag.\n", "- Push the tag.\n- Dry run first.\n")
    with pytest.raises(NoPlaceError, match="its section is gone"):
        refit_in_section(TEXT.encode(), after, TEXT.partition("# Release")[0].encode() + b"# Other\n\nNothing.\n")
    after = apply(TEXT.encode(), [insert_op("- Run the tests.", "### Dry\n\n- Dry run first.")])
    with pytest.raises(NoPlaceError, match="adds a heading"):
        refit_in_section(TEXT.encode(), after, current)


def test_long_equal_lines_take_no_long_time() -> None:
    old = "# A\n\n" + "- " + "a" * 20000 + "\n- b\n"
    current = old.replace("- b\n", "") + "".join(f"- {'a' * 400}{n}\n" for n in range(40))
    with pytest.raises(NoPlaceError):
        refit_text(old, Operation(Op.REPLACE, "- b", "- c"), current)


@dataclass(frozen=True)
class Item:
    id: int
    text: str
    moved: bool = False


@dataclass
class Part:
    id: int
    title: str
    items: list[Item] = field(default_factory=list)


def skill(parts: list[Part]) -> str:
    return "\n".join(f"## {part.title}\n\n" + "".join(f"- {item.text}\n" for item in part.items) for part in parts)


def sentence(chance: random.Random) -> str:
    return " ".join(chance.sample(WORDS, chance.randint(3, 6))).capitalize() + "."


def edit_by_hand(parts: list[Part], chance: random.Random) -> list[Part]:
    """Return the parts as a person may have edited them: lines and sections keep their ids."""
    parts = [replace(part, items=[*part.items]) for part in parts]
    fresh = 1000
    for _ in range(chance.randint(1, 4)):
        part = chance.choice(parts)
        at = chance.randrange(len(part.items)) if part.items else None
        match chance.choice(("reword", "rewrite", "delete", "add", "rename", "move", "move part", "copy")):
            case "reword" if at is not None:
                words = part.items[at].text.split()
                words[chance.randrange(len(words))] = chance.choice(WORDS)
                part.items[at] = replace(part.items[at], text=" ".join(words))
            case "rewrite" if at is not None:
                fresh += 1  # nothing is left of the line
                part.items[at] = Item(fresh, sentence(chance))
            case "delete" if at is not None:
                del part.items[at]
            case "add":
                fresh += 1
                part.items.insert(chance.randint(0, len(part.items)), Item(fresh, sentence(chance)))
            case "copy" if at is not None:
                fresh += 1
                item = Item(fresh, chance.choice(parts[0].items or [Item(0, sentence(chance))]).text)
                part.items.insert(chance.randint(0, len(part.items)), item)
            case "rename":
                part.title = " ".join(chance.sample(WORDS, 2)).title()
            case "move" if at is not None:
                other = chance.choice(parts)
                item = part.items.pop(at)
                other.items.insert(chance.randint(0, len(other.items)), replace(item, moved=True))
            case "move part":
                parts.remove(part)
                parts.insert(chance.randint(0, len(parts)), part)
    return parts


def wrong_reason(found: str, now: list[Part], home: int, before: set[int], after: set[int]) -> str:
    """Return why the new line is not where a person would put it; `before` and `after` are its old company."""
    part, row = None, -1
    passed: list[int] = []
    to_come: list[int] = []
    sections = [part.title for part in now]
    texts = [item.text for part in now for item in part.items]
    told = {item.id for part in now for item in part.items if not item.moved and texts.count(item.text) == 1}
    for line in found.splitlines():
        if line.startswith("## "):
            row += 1
            assert line[3:] == sections[row]
            number = 0
        elif line == NEW:
            part = now[row]
            passed = [item.id for item in part.items[:number] if item.id in told]
            to_come = [item.id for item in part.items[number:] if item.id in told]
        elif line.startswith("- "):
            number += 1
    if part is None or part.id != home:
        return f"in section {part and part.title}"
    if after & set(passed) or before & set(to_come):
        return "among other lines"
    return ""


@for_each("seed", range(int(os.environ.get("HYPOTHESIS_EXAMPLES", "20"))))
def test_no_manual_edit_leads_it_to_a_wrong_place(seed: int) -> None:
    chance = random.Random(seed)
    placed = 0
    for _ in range(25):
        titles = [" ".join(chance.sample(WORDS, 2)).title() for _ in range(3)]
        parts = [Part(n, title) for n, title in enumerate(titles)]
        for number in range(chance.randint(4, 12)):
            chance.choice(parts).items.append(Item(number, sentence(chance)))
        part = chance.choice([part for part in parts if part.items])
        at = chance.randrange(len(part.items))
        before = skill(parts)
        if before.count(f"- {part.items[at].text}\n") != 1:
            continue
        operation = insert_op(f"- {part.items[at].text}", NEW)
        now = edit_by_hand(parts, chance)
        current = skill(now)
        company = {item.id for item in part.items[: at + 1]}, {item.id for item in part.items[at + 1 :]}
        try:
            found = refit_text(before, operation, current)
        except NoPlaceError:
            continue
        placed += 1
        assert [line for line in found.splitlines() if line != NEW] == current.splitlines()
        assert not wrong_reason(found, now, part.id, *company), f"{before}\n---\n{current}\n---\n{found}"
    assert placed >= 8  # one that refuses all of them is never wrong either
