"""A model's quote is found however it was copied, and what is kept of it is what the person typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.classify.verify import typed_quote
from skilld.text import fold

TYPED = "ok.  Always put the *ticket*\nnumber first \u2013 it\u2019s \u201cthe rule\u201d. Next, the tests"


@pytest.mark.parametrize(
    ("quote", "typed"),
    [
        ("put the *ticket* number", "put the *ticket* number"),
        ("always put the ticket number first", "Always put the *ticket* number first"),
        ('"Always put the ticket number first."', "Always put the *ticket* number first"),
        ("number first - it's 'the rule'", "number first \u2013 it\u2019s \u201cthe rule"),
        ("**number first**", "number first"),
        ("Always put the ticket number first ... the rule", "Always put the *ticket* number first"),
        ("\u2026put the ticket number\u2026", "put the *ticket* number"),
        ("ok.  Always", "ok. Always"),
        ("ok always put the ticket number first", "ok. Always put the *ticket* number first"),
        ("Next the tests.", "Next, the tests"),
        ("always put ... it's the rule ... the tests", "it\u2019s \u201cthe rule"),
    ],
)
def test_a_quote_is_what_was_typed(quote: str, typed: str) -> None:
    assert typed_quote(quote, TYPED) == typed


@pytest.mark.parametrize(
    "quote",
    [
        "",
        " \n",
        "\u2026",
        '""',
        "put the ticket last",
        "ways put the ticket",
        "ok ... nobody ever said all of this",
        "ok ... the notes",
    ],
)
def test_untyped_text_is_no_quote(quote: str) -> None:
    assert typed_quote(quote, TYPED) == ""


@given(st.text(max_size=60), st.text(max_size=200))
def test_every_quote_found_was_typed(quote: str, typed: str) -> None:
    assert typed_quote(quote, typed) in fold(typed)
