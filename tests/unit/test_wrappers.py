"""Which parts of a text no wrapper or command template can contain, whatever its content."""

from __future__ import annotations

from skilld.agents.wrappers import Wrappers, typed_arguments
from support.rows import for_each

TAGS = Wrappers(opens=r"<(a|b|paste \d)>", closes=r"</(a|b|paste \d)>", amid="paste")
BEFORE = Wrappers(opens="^BEGIN", closes="^END", behind=False)


@for_each(
    ("text", "typed"),
    [
        ("  as typed \n", "  as typed \n"),
        ("<a>x</a> no", "no"),
        ("no <a>x</a>", "no"),
        ("<a>x</a>\n<b>y</b>\nno", "no"),
        ("<a>x</a> no <b>y</b>", "no"),
        ("<a>x</a> evil <a>y</a> no", "no"),
        ("<a>x</a> evil </a>", ""),
        ("<a> <b> </a> evil </b></a> no", "no"),
        # Either block may hold the rest.
        ("<a>x</a> no <a>y</a>", ""),
        ("<a> <b> </a> no <b> y </b>", ""),
        # A block is never taken off in the middle, where clients put none; a mark alone is none.
        ("no <a>x</a> no", "no <a>x</a> no"),
        ("no </a> no", "no </a> no"),
        ("<a>x</a> no </b> no", "no </b> no"),
        ("<a>x</a> no <b> no", "no <b> no"),
        # Cut short.
        ("<a> no end", ""),
        ("no <a> no end", "no <a> no end"),
        # Pastes stand anywhere.
        ("no <paste 1>x</paste 1> tabs", "no \n tabs"),
        ("<paste 1>x</paste 1> evil </paste 1> no", "no"),
        ("no <paste 1> </paste 2> evil </paste 1>", "no"),
        ("<a>x</a> no <paste 1> </a> evil </paste 1> tabs", "tabs"),
    ],
)
def test_only_text_no_block_can_hold_is_typed(text: str, typed: str) -> None:
    assert TAGS.typed_text(text) == typed


def test_a_wrapper_is_searched_only_on_the_sides_clients_use() -> None:
    assert BEFORE.typed_text("BEGIN\nx\nEND no") == "no"
    assert BEFORE.typed_text("no\nBEGIN\nx\nEND") == "no\nBEGIN\nx\nEND"


def test_beside_wrapper_free_text_a_block_starting_with_one_is_all_context() -> None:
    assert TAGS.typed_texts(["<a>x</a> evil", "no"]) == ["", "no"]
    assert TAGS.typed_texts(["<a>x</a> no", "<b>y</b>"]) == ["no", ""]
    assert TAGS.typed_texts(["<a>x</a> no", " \n"]) == ["no", " \n"]


@for_each(
    ("text", "template", "typed"),
    [
        ("Release 2.4,  soon.\nAlways tag.", "---\na: b\n---\nRelease $@.\n\nAlways tag.\n", "2.4, soon"),
        ("Always tag.", "Always tag.\n", ""),
        ("Always tag. Please.", "Always tag.", None),
        ("Always tag every release.\n\nOnly 2.4", "Always tag every release.\n", "Only 2.4"),
        ("Always tag every release.x", "Always tag every release.", None),
        ("Review a and b, then b.", "Review $1 and $2, then $2.", "a b"),
        ("Review: all of it", "Review: ${@:2}", "all of it"),
        ("Fix the bug in $FILE", "Fix $ISSUE in $FILE", "the bug $FILE"),
        ("Log: always tag. End", "Log: !`git log` $1 End", ""),
        ("Focus on speed.", "Focus on ${1:-names and errors}.", "speed"),
        ("Focus on names and errors.", "Focus on ${1:-names and errors}.", ""),
        ("Focus on names: all.", "Focus on ${1:-files}: ${@:-all}.", "names"),
        ("whatever", "$@", None),
        ("", "Always tag.", None),
    ],
)
def test_the_arguments_are_typed_and_the_template_is_not(text: str, template: str, typed: str | None) -> None:
    assert typed_arguments(text, [template]) == typed


def test_with_too_many_templates_nothing_is_known_to_be_typed() -> None:
    assert typed_arguments("Do it now.", None) == ""


def test_the_template_that_leaves_the_least_text_wins() -> None:
    assert typed_arguments("Do it now. Always tag.", ["Do $@", "Do it $1. Always tag.", "Other"]) == "now"
