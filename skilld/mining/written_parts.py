"""Which parts of a file a call wrote (headings, names, keys), and the headings of an answer. Pure.

They say what a change was about without its content. All of it is the agent's text, so a skill may use a word of it
only if two sessions have that word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from skilld.text import fold
from skilld.types import ToolCall

_MAX_PARTS, _MAX_PART_LENGTH = 5, 60
_MAX_LINES = 4000  # of one written text
_TEXT_KEYS = ("new_string", "new_str", "newText", "content", "file_text", "insert_text", "new_source")
_PATCH_FILE_PATTERN = re.compile(r"\*\*\* (?:Update|Add) File: (.+)")
_HEADING_PATTERN = re.compile(r"#{1,4} (\S.*)")
_BOLD_LINE_PATTERN = re.compile(r"\*\*([^*\n]{2,60})\*\*:?\Z")
_NAME_PATTERN = re.compile(
    r"(?<!\s)\s*+(?:export |default |pub |async |static |public |private ){0,4}"
    r"(?:def|class|function|func|fn|type|interface|struct|enum|trait|const|resource|module) +([A-Za-z_]\w{1,59})"
    r"""|(?<!\s)\s*+(?:describe|it|test)\(\s*["'`]([^"'`\n]{3,60})"""
)
_KEY_PATTERN = re.compile(r"""\s{0,4}["']?([A-Za-z][\w.-]{1,39})["']?\s*[:=]|\[([\w.-]{2,40})\]\s*\Z""")
_TEXT_ENDINGS = frozenset({".md", ".mdx", ".markdown", ".rst", ".txt"})
_KEY_ENDINGS = frozenset({".json", ".yaml", ".yml", ".toml", ".ini", ".env", ".cfg"})


def written_parts(call: ToolCall, path: str) -> tuple[str, ...]:
    """Return the headings, names or keys in what a call wrote to a file, the first ones."""
    lines = [*_patch_lines(call.input, path)] or [*_written_lines(call.input)]
    ending = PurePosixPath(path).suffix.lower()
    patterns = (
        _HEADING_PATTERN if ending in _TEXT_ENDINGS else _KEY_PATTERN if ending in _KEY_ENDINGS else _NAME_PATTERN
    )
    return _first(match for line in lines[:_MAX_LINES] if (match := patterns.match(line[:200])))


def answer_shape(text: str) -> tuple[str, ...]:
    """Return the headings of an agent's answer, in order, and its table's columns, if it has any."""
    found: list[re.Match[str]] = []
    lines = text.splitlines()[:_MAX_LINES]
    for line in lines:
        match = _HEADING_PATTERN.match(line[:200]) or _BOLD_LINE_PATTERN.match(line[:200])
        found += [match] if match else []
    heads = _first(found)
    table = next((line for line, below in pairwise(lines) if _is_table(line, below)), "")
    columns = fold(table.strip("| ").replace("|", ", "))[: 2 * _MAX_PART_LENGTH]
    return (*heads, f"table of {columns}") if columns else heads


def _is_table(line: str, below: str) -> bool:
    return line.startswith("|") and below.startswith("|") and set(below.strip()) <= set("|-: ")


def _first(matches: Iterable[re.Match[str]]) -> tuple[str, ...]:
    texts = (next(filter(None, match.groups())) for match in matches)
    plain = (fold(re.sub(r"[*_`#\[\]]", "", one))[:_MAX_PART_LENGTH].strip() for one in texts)
    return tuple(dict.fromkeys(filter(None, plain)))[:_MAX_PARTS]


def _written_lines(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON is Any
    if isinstance(value, dict):
        for key, one in value.items():
            if key in _TEXT_KEYS and isinstance(one, str):
                yield from one.splitlines()
            elif isinstance(one, dict | list):
                yield from _written_lines(one)
    elif isinstance(value, list):
        for one in value:
            yield from _written_lines(one)


def _patch_lines(value: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - JSON is Any
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _patch_lines(one, path)
    elif isinstance(value, str) and "*** Begin Patch" in value:
        here = False
        for line in value.splitlines() if "\n" in value else value.split("\\n"):
            if named := _PATCH_FILE_PATTERN.match(line):
                here = named[1].strip() == path
            elif here and line.startswith("+"):
                yield line[1:]
