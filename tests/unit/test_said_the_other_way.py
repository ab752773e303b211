"""Rules that turn down what the other asks for: "X, not Y" against "Y, not X"."""

from __future__ import annotations

import pytest

from skilld.classify.contradiction import contradicts, contradicts_plainly


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs, not spaces", "Use spaces, not tabs"),
        ("Indent with tabs, never with spaces.", "Indent with spaces, never with tabs."),
        ("Write tests with pytest, not unittest.", "Use unittest, not pytest."),
        ("Use mise instead of asdf.", "Use asdf instead of mise."),
        ("Use yarn.", "Use pnpm, never npm."),
    ],
)
def test_they_cannot_both_hold(one: str, other: str) -> None:
    for pair in ((one, other), (other, one)):
        assert contradicts(*pair)
        assert contradicts_plainly(*pair)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs, not spaces", "Use tabs, not spaces"),
        ("Use tabs, not spaces, in Makefiles.", "Use spaces, not tabs, in Python."),
        ("Put the date first, not last.", "Put the title last, not first."),
        ("Use mise, not asdf, for Ruby.", "Use asdf, not mise, for Erlang."),
        ("Use pnpm, never npm.", "Use tabs, not spaces."),
    ],
)
def test_of_other_things_or_the_same_way_round_they_can(one: str, other: str) -> None:
    for pair in ((one, other), (other, one)):
        assert not contradicts(*pair)
