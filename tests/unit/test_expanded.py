"""What was typed where a client put a template in the place of a command."""

from __future__ import annotations

import pytest

from skilld.agents.wrappers import typed_arguments


@pytest.mark.parametrize(
    ("text", "template", "typed"),
    [
        ("Release 2.4,  soon.\nAlways tag.", "---\na: b\n---\nRelease $@.\n\nAlways tag.\n", "2.4, soon"),
        ("Always tag.", "Always tag.\n", ""),
        ("Always tag. Please.", "Always tag.", None),
        ("Review a and b, then b.", "Review $1 and $2, then $2.", "a b"),
        ("Review: all of it", "Review: ${@:2}", "all of it"),
        ("Fix the bug in $FILE", "Fix $ISSUE in $FILE", "the bug $FILE"),
        ("Log: always tag. End", "Log: !`git log` $1 End", ""),
        ("whatever", "$@", None),
        ("", "Always tag.", None),
    ],
)
def test_the_arguments_are_typed_and_the_template_is_not(text: str, template: str, typed: str | None) -> None:
    assert typed_arguments(text, [template]) == typed


def test_the_template_that_leaves_the_least_text_wins() -> None:
    assert typed_arguments("Do it now. Always tag.", ["Do $@", "Do it $1. Always tag.", "Other"]) == "now"
