"""Every command that takes --json is documented with its type; every other one with a reason.

Issue 18, part 2.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import jsonschema
import pytest

from skilld.cli.parser import build_parser
from support.rows import for_each
from tools.json_documents import DOCUMENTS, TYPES, WITHOUT, definition, listing, schemas
from tools.json_types import of, of_fields, schema, wrapped

# Options and actions that make another document of a command.
WAYS = {"inspect --explain", "learnings propose", "record --stats", "mine --over", "mine --reviews"}


def test_every_command_with_json_is_documented_and_every_other_has_a_reason() -> None:
    taking, others = listing(build_parser())
    assert {name for document in DOCUMENTS for name in document.commands} - WAYS == taking
    assert {name for names, _ in WITHOUT for name in names} == others
    assert not taking & others


def test_the_schema_is_consistent_and_every_definition_is_used() -> None:
    whole = json.loads(schemas())
    jsonschema.Draft202012Validator.check_schema(whole)
    assert whole == json.loads((Path(__file__).parents[2] / "docs/json.schema.json").read_text())
    checks = {"checks": [{"name": "a", "verdict": "ok", "detail": "", "remedy": ""}], "why_nothing": []}
    doctor = jsonschema.Draft202012Validator(definition("doctor"))  # `validate` would check the whole schema each time
    doctor.validate(checks)
    wrongs: list[object] = [{"checks": []}, {**checks, "more": 1}, {**checks, "why_nothing": [1]}]
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            doctor.validate(wrong)
    jsonschema.Draft202012Validator(definition("skills list")).validate([])
    assert set(TYPES) < set(whole["$defs"])


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    colour: Colour
    path: Path


@dataclass(frozen=True)
class Outer:
    name: str
    number: int | None
    inner: tuple[Inner, ...]
    counts: dict[str, float]
    mixed: tuple[int | None, ...]


def test_a_dataclass_becomes_a_type() -> None:
    inner = '{colour: "red" | "blue", path: string}'
    rest = "counts: {[name]: number}, mixed: (integer | null)[]"
    assert of(Outer) == f"{{name: string, number: integer | null, inner: {inner}[], {rest}}}"
    assert of_fields(Inner, without=("path",), colour="any", more="boolean") == "{colour: any, more: boolean}"


@for_each(
    ("text", "good", "bad"),
    [
        ("string", ["a"], [1, None]),
        ("integer | null", [1, None], [1.5, "a"]),
        ('"a" | "b"', ["a"], ["c"]),
        ("(integer | null)[]", [[1, None], []], [["a"]]),
        ("{[name]: number[]}", [{"x": [1.5]}], [{"x": 1}]),
        ("{a: string, b?: {c: boolean}}", [{"a": ""}, {"a": "", "b": {"c": True}}], [{}, {"a": "", "d": 1}]),
        ("any", [1, None, {}], []),
    ],
)
def test_a_type_describes_what_it_accepts(text: str, good: list[object], bad: list[object]) -> None:
    found = jsonschema.Draft202012Validator(schema(text))
    assert [value for value in good if not found.is_valid(value)] == []
    assert [value for value in bad if found.is_valid(value)] == []
    assert schema(wrapped(text, 10)) == schema(text)


@for_each("text", ["", "{a: string", "string string", "{a}", "a-b"])
def test_an_unsupported_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|no type"):
        schema(text)
