"""Reads and extends a skill's `evals/evals.json`, in the format of Anthropic's skill-creator. Pure.

A case is a `prompt`, an `expected_output` in words, `files`, and `expectations`: statements that are true of a good
answer. The guide of agentskills.io calls them `assertions`, and some files have objects; both are read. New cases are
only appended; the rest of the file stays as it is, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from skilld.errors import SkilldError
from skilld.evals.checks import literal_statement
from skilld.text import safe_text, truncate
from skilld.values import value_class

CASES_FILE = "evals/evals.json"  # below the skill's folder
MAX_BYTES = 1 << 20
_MAX_CASES = 500
_MAX_STATEMENTS = 30
_MAX_TEXT = 20_000  # characters of a prompt or a statement
_MAX_ID = 60
_STATEMENT_FIELDS = ("expectations", "assertions")
_CHECKS = {"contains": True, "not_contains": False}  # known to some tools: whether the text is wanted
_TITLE = "The cases cannot be read"
_SURROGATE = re.compile("[\ud800-\udfff]")


@value_class
class Case:
    """One case: the request and the statements that are true of a good answer."""

    id: str
    prompt: str
    expected: str
    statements: tuple[str, ...]
    files: tuple[str, ...] = ()

    @property
    def obstacle(self) -> str | None:
        """Return why it cannot be run; None if it can."""
        if self.files:
            return "it needs files, which skilld does not provide"
        return None if self.statements else "it has no expectations"

    @property
    def content(self) -> tuple[str, ...]:
        """What it asks and checks; equal for two cases that differ only by id."""
        return (self.prompt, *self.statements)


def parse_cases(text: str) -> list[Case]:
    """Return the cases of a file. Raises SkilldError that names the first invalid case."""
    cases = [_case(item, number) for number, item in enumerate(_items(text), 1)]
    seen: set[str] = set()
    for one in cases:
        if one.id in seen:
            raise SkilldError(_TITLE, f"two cases have the ID {one.id}")
        seen.add(one.id)
    return cases


def add_cases(text: str, skill: str, new: Sequence[Case]) -> str:
    """Return the file with new cases after the existing ones; an empty text stands for a missing file.

    Raises as `parse_cases`, and if the list is written in a way that code cannot extend.
    """
    if not text.strip():
        return json.dumps({"skill_name": skill, "evals": _numbered_rows(new, 1)}, indent=2, ensure_ascii=False) + "\n"
    last = max((int(one.id) for one in parse_cases(text) if one.id.isdecimal()), default=0)
    start, end = _find_array(text)
    inside = text[start + 1 : end - 1]
    indented = re.search(r"\n([ \t]{1,40})\{", inside)
    margin = indented[1] if indented else "    "  # as the existing cases
    made = json.dumps(_numbered_rows(new, last + 1), indent=2, ensure_ascii=False)
    lines = [margin + line[2:] for line in made.split("\n")[1:-1]]
    head = text[: start + 1] + inside.rstrip()
    comma = "," if inside.strip() else ""
    outer = margin[: len(margin) // 2]
    return f"{head}{comma}\n" + "\n".join(lines) + f"\n{outer}]" + text[end:]


def _items(text: str) -> list[Any]:
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "it"
        raise SkilldError(_TITLE, f"{where} is not valid JSON") from None
    found = data.get("evals") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise SkilldError(_TITLE, 'it has no "evals" list')
    if len(found) > _MAX_CASES:
        raise SkilldError(_TITLE, f"it has more than {_MAX_CASES} cases")
    return found


def _case(item: Any, number: int) -> Case:  # noqa: ANN401 - JSON is Any
    where = f"case {number}"
    if not isinstance(item, dict):
        raise SkilldError(_TITLE, f"{where} is not an object")
    given = item.get("id", number)
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise SkilldError(_TITLE, f"{where} has an ID that is neither a number nor a string")
    statements = [one for name in _STATEMENT_FIELDS for one in _list(item, name, where)]
    if len(statements) > _MAX_STATEMENTS:
        raise SkilldError(_TITLE, f"{where} has more than {_MAX_STATEMENTS} expectations")
    prompt = _text(item.get("prompt"), f"{where}: prompt")
    if not prompt.strip():
        raise SkilldError(_TITLE, f"{where} has no prompt")
    return Case(
        id=truncate(safe_text(str(given)), _MAX_ID),
        prompt=prompt,
        expected=_text(item.get("expected_output", ""), f"{where}: expected_output"),
        statements=tuple(dict.fromkeys(_statement(one, where) for one in statements)),
        files=tuple(_text(one, f"{where}: a file") for one in _list(item, "files", where)),
    )


def _list(item: Mapping[str, Any], name: str, where: str) -> list[Any]:
    found = item.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise SkilldError(_TITLE, f"{where}: {name} is not a list")
    return found


def _statement(item: Any, where: str) -> str:  # noqa: ANN401 - JSON is Any
    """Return an expectation as a statement; it may be a text, an object with one, or one of `_CHECKS`."""
    what = f"{where}: an expectation"
    if isinstance(item, dict):
        check, value = item.get("type"), item.get("value")
        if isinstance(check, str) and check in _CHECKS and isinstance(value, str):
            return _text(literal_statement(value, wanted=_CHECKS[check]), what)
        item = next((item[name] for name in ("text", "description", "assertion") if name in item), None)
    text = _text(item, what).strip()
    if not text:
        raise SkilldError(_TITLE, f"{what} is empty")
    return text


def _text(value: Any, what: str) -> str:  # noqa: ANN401 - JSON is Any
    if not isinstance(value, str):
        raise SkilldError(_TITLE, f"{what} is not a string")
    if len(value) > _MAX_TEXT:
        raise SkilldError(_TITLE, f"{what} has more than {_MAX_TEXT} characters")
    return _SURROGATE.sub("\ufffd", value)


def _numbered_rows(cases: Sequence[Case], first: int) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "prompt": one.prompt,
            "expected_output": one.expected,
            "files": list(one.files),
            "expectations": list(one.statements),
        }
        for number, one in enumerate(cases, first)
    ]


def _find_array(text: str) -> tuple[int, int]:
    """Return the start and end of the list of cases in the text."""
    wanted, decoder = _items(text), json.JSONDecoder()
    for found in re.finditer(r'"evals"[ \t\r\n]{0,99}:[ \t\r\n]{0,99}(?=\[)', text):
        try:
            value, end = decoder.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue  # it is inside a string
        if value == wanted:
            return found.end(), end
    raise SkilldError("The cases were not added", 'the "evals" list is written in a way that skilld cannot extend')
