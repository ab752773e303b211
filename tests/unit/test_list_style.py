"""A new line looks like those beside it: its capital, its full stop, its distance."""

from __future__ import annotations

from skilld.edit.insertion_point import insert_bullet
from skilld.edit.list_style import write_like
from skilld.edit.operations import apply
from skilld.pipeline.edits import add_blank_lines
from skilld.types import Op, Operation
from support.rows import for_each

SMALL = ("yarn, not npm", "amounts in cents", "LGPD: no names in logs")


@for_each(
    ("text", "others", "out"),
    [
        ("Do not touch `prj.conf`.", SMALL, "do not touch `prj.conf`"),
        ("Don't edit scenes", SMALL, "don't edit scenes"),
        (
            "Les migrations, tu les génères ; la CI les lance.",
            SMALL,
            "les migrations, tu les génères ; la CI les lance",
        ),
        (
            "Put specs on all functions.",
            ("Elixir", "lint first", "tests too", "dates in UTC"),
            "put specs on all functions",
        ),
        # Names, or what may be one.
        ("Marek reviews all of it", SMALL, "Marek reviews all of it"),
        ("GitHub issues get a label", SMALL, "GitHub issues get a label"),
        ("Will reviews all of it", SMALL, "Will reviews all of it"),
        ("Los Angeles is the default city", SMALL, "Los Angeles is the default city"),
        ("On 5 May", SMALL, "On 5 May"),
        ("I deploy", SMALL, "I deploy"),
        # Others that begin with capitals, are only names of files, or too few.
        ("Do not push", ("No force", "tests first", "dates in UTC"), "Do not push"),
        ("Do not push", ("`make test`", "src/app", "k8s/ is elsewhere", "OpenAPI"), "Do not push"),
        ("Do not push", ("tests first",), "Do not push"),
        ("コミットしない。", ("税込", "手動"), "コミットしない"),
        # Two sentences keep their capital and their stops.
        ("Do not push. The user does.", SMALL, "Do not push. The user does."),
        ("Use short names, e.g. `i`.", SMALL, "use short names, e.g. `i`"),
    ],
)
def test_a_line_begins_and_ends_like_the_others(text: str, others: tuple[str, ...], out: str) -> None:
    assert write_like(text, others, others) == out


def _edited(before: str, op: Op, anchor: str, text: str) -> str:
    return apply(before.encode(), add_blank_lines(before.encode(), [Operation(op, anchor, text)])).decode()


LIST = "# App\n\n- yarn, not npm\n- amounts in cents\n- dates:\n  - in UTC\n  - with seconds\n\n## More\n\n- Be kind.\n"


@for_each(
    ("op", "anchor", "text", "old", "new"),
    [
        (Op.INSERT_AFTER, "- yarn, not npm", "- Ask first.", "npm\n", "npm\n- ask first\n"),
        (Op.INSERT_AFTER, "- yarn, not npm", "- Ask first.\n- Tell why.", "npm\n", "npm\n- ask first\n- tell why\n"),
        (Op.INSERT_AFTER, "- Be kind.", "- Ask first.", "kind.\n", "kind.\n- Ask first.\n"),
        (Op.REPLACE, "- amounts in cents", "- Use decimals.", "- amounts in cents", "- use decimals"),
        # With further lines, in a sublist or in a new section it stays as it is.
        (Op.INSERT_AFTER, "- yarn, not npm", "- Ask first.\n  Or wait.", "npm\n", "npm\n- Ask first.\n  Or wait.\n"),
        (Op.INSERT_AFTER, "  - in UTC", "  - Without zones.", "UTC\n", "UTC\n  - Without zones.\n"),
        (Op.INSERT_AFTER, "- Be kind.", "## New\n\n- Ask first.", "kind.\n", "kind.\n\n## New\n\n- Ask first.\n"),
    ],
)
def test_an_item_that_a_model_adds_looks_like_the_list(op: Op, anchor: str, text: str, old: str, new: str) -> None:
    assert _edited(LIST, op, anchor, text) == LIST.replace(old, new)


SHORT = "# Plugin\n\nPHP 7.4 minimum, WP 6.0+\nprefix everything sbk_\ntext domain simple-bookings\nrun phpcs first\n"
SPOKEN = """# Home

Config is in /config.
Packages are in packages/*.yaml, one for each room of the house and the yard.
Zigbee too.
"""
WRAPPED = """# Home

The config is in /config, and every package is in a file of its own
below packages, one for each room of the house and one more for the
yard.
"""
TWO = "# Home\n\nConfig is in /config.\nPackages are by room.\n"


@for_each(
    ("before", "anchor", "added"),
    [
        (SHORT, "run phpcs first", "lint before saying done\n"),
        (SPOKEN, "Zigbee too.", "Lint before saying done.\n"),
        (WRAPPED, "yard.", "\nLint before saying done.\n"),
        (TWO, "Packages are by room.", "\nLint before saying done.\n"),
        ("# A\n\n- a\n- b\n- c\n\n[a]: b\n", "- c", "\nLint before saying done.\n"),
    ],
)
def test_a_new_line_among_lines_that_each_say_a_thing_gets_no_blank_line(before: str, anchor: str, added: str) -> None:
    text = "Lint before saying done."
    assert _edited(before, Op.INSERT_AFTER, anchor, text) == before.replace(f"{anchor}\n", f"{anchor}\n{added}")
    if before != "# A\n\n- a\n- b\n- c\n\n[a]: b\n":
        assert apply(before.encode(), [insert_bullet(before.encode(), "", text)]).decode() == before + added


def test_a_new_first_or_middle_line_is_placed_among_the_others() -> None:
    text = "Lint before saying done."
    assert _edited(SPOKEN, Op.INSERT_AFTER, "# Home", text) == SPOKEN.replace("\n\n", f"\n\n{text}\n", 1)
    config = "Config is in /config.\n"
    assert _edited(SPOKEN, Op.INSERT_AFTER, config.strip(), text) == SPOKEN.replace(config, f"{config}{text}\n")
    two = f"{text}\n\nAnd test."
    assert _edited(SPOKEN, Op.INSERT_AFTER, "Zigbee too.", two) == f"{SPOKEN}\n{two}\n"
