"""YAML of strangers: read within limits, or refused quickly and with a reason."""

from __future__ import annotations

import time

import pytest

from skilld.errors import SkilldError
from skilld.exchange import document
from skilld.exchange.document import from_document

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (LAUGHS.encode(), "line 1: anchors and aliases"),
        (b"a: 1\nb: *a\n", "line 2: anchors and aliases"),
        (b"[" * 100_000, "nested too deeply, or has too many elements"),
        (b"- a\n" * 60_000, "nested too deeply, or has too many elements"),
        (b"a: " + b"x" * 300_000, "it is 300003 bytes"),
        (b"a: 1\nb: {c: 1, c: 2}\n", "line 2: a key appears twice"),
        (b"a: {1: x}\n", "line 1: a key is not text"),
        (b"? [a]\n: x\n", "line 1: a key is not text"),
        (b"a: !!python/object/apply:os.system [x]\n", "line 1: tags "),
        (b"a: 1\n---\nb: 2\n", "another document"),
        (b"a: \xff\n", "it is not UTF-8 text"),
        (b"a: \x00\n", "it is not valid YAML"),
        (b"a: [\n", "line 2"),
    ],
)
def test_what_is_no_plain_document_of_moderate_size_is_refused_quickly(data: bytes, why: str) -> None:
    begun = time.process_time()
    with pytest.raises(SkilldError, match=why):
        document.load(data)
    assert time.process_time() - begun < 10


def test_only_what_json_calls_so_is_no_text() -> None:
    assert document.load(b"[2026-01-05, 1.0, 1.10, 1, -0.5, no, on, true, ~, 012, 1:30, 0x1f, .inf, <<, 9e9]") == [
        *("2026-01-05", 1.0, "1.10", 1, -0.5, "no", "on", True, None, "012", "1:30", "0x1f", ".inf", "<<", "9e9"),
    ]
    assert document.load(b"n: " + b"1" * 5000) == {"n": "1" * 5000}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"- a\n", "the file is not a map"),
        (b"", "the file is not a map"),
        (b"name: {a: b}\n", "name is not text"),
        (b"tags: git\n", "tags is not a list"),
        (b"steps: [a]\n", "steps is not a list of maps"),
        (b"input_schema: [a]\n", "input_schema is not a map"),
        (b"type: robot\n", "type is not one of prompt-template, workflow"),
        (b"examples: [{input: [a]}]\n", "input is not text"),
    ],
)
def test_a_value_that_is_not_what_its_key_says_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(SkilldError, match=why):
        from_document(document.load(data))
