"""Test cases as text: tests/data/tables/NAME.txt has sections (`== title`) of rows with fields separated by ` => `.

A field is written as in a JSON string, except for quotation marks: `\\n`, `\\u200b`, `\\\\`; an empty one is `<empty>`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_TABLES = Path(__file__).parents[1] / "data" / "tables"


@cache
def _sections(name: str) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for line in (_TABLES / f"{name}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            found[line[3:]] = []
        elif line:
            quoted = line.replace('"', '\\"').split(" => ")
            found[[*found][-1]].append(["" if field == "<empty>" else json.loads(f'"{field}"') for field in quoted])
    return found


def table_rows(name: str, section: str) -> list[list[str]]:
    """Return the rows of a section, of which there is at least one."""
    found = _sections(name)[section]
    assert found, section
    return found


def table_texts(name: str, section: str) -> list[str]:
    """Return the texts of a section whose rows have one field."""
    return [text for (text,) in table_rows(name, section)]
