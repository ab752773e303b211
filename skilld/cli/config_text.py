"""One setting put into the text of a TOML file, or taken out: all other lines stay as the person wrote them. Pure.

Python reads TOML and does not write it. Where a statement ends is found by trying to read it, so no value is taken for
a header or a key, however it is written; whether the whole says what it should is for the caller to check.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = re.compile(r"\s*\[([^\[\]]*)\]\s*(#.*)?")


@dataclass(frozen=True, slots=True)
class _Statement:
    """Lines `start` to `end` (after the last) of a file, which set `key` (dotted, with its table)."""

    start: int
    end: int
    table: str
    key: str


def with_setting(text: str, key: str, literal: str) -> str:
    """Return `text` with `key` (dotted, one table deep) set to `literal`, which is TOML, in the place where it was."""
    lines = text.split("\n")
    statements = list(_statements(lines))
    found = next((one for one in statements if one.key == key), None)
    if found is not None:
        old = "\n".join(lines[found.start : found.end])
        lines[found.start : found.end] = [old[: _value_at(old)] + literal + _remark(old)]
        return "\n".join(lines)
    table, _, name = key.rpartition(".")
    headers = {_named(line): number for number, line in _outside(lines, statements) if _named(line)}
    beside = [one for one in statements if (one.key.rpartition(".")[0] if table else one.table) == table]
    if beside:
        name = key if table and not beside[-1].table else name
        lines.insert(beside[-1].end, f"{name} = {literal}")
    elif table in headers:
        lines.insert(headers[table] + 1, f"{name} = {literal}")
    elif table:
        return f"{text.rstrip()}\n\n[{table}]\n{name} = {literal}\n".lstrip("\n")
    else:
        return f"{name} = {literal}\n" + (f"\n{text}" if text.strip() else "")
    return "\n".join(lines)


def without_setting(text: str, key: str) -> str:
    """Return `text` without the lines that set `key`; the header of a table stays."""
    lines = text.split("\n")
    for one in reversed(list(_statements(lines))):
        if one.key == key:
            del lines[one.start : one.end]
    return "\n".join(lines)


def _statements(lines: list[str]) -> Iterator[_Statement]:
    table, number = "", 0
    while number < len(lines):
        line = lines[number]
        end = number + 1
        header = _named(line)
        if header or not line.strip() or line.lstrip().startswith("#"):
            table = header or table
        else:
            end, key = _read(lines, number)
            yield _Statement(number, end, table, f"{table}.{key}" if table else key)
        number = end


def _named(line: str) -> str:
    """Return the name of the table that a line begins; empty where it begins none."""
    header = _HEADER.fullmatch(line)
    return header[1].strip().strip("\"'") if header else ""


def _outside(lines: list[str], statements: list[_Statement]) -> Iterator[tuple[int, str]]:
    taken = {number for one in statements for number in range(one.start, one.end)}
    return ((number, line) for number, line in enumerate(lines) if number not in taken)


def _read(lines: list[str], start: int) -> tuple[int, str]:
    """Return after which line the statement that begins at `start` ends, and its key."""
    for end in range(start + 1, len(lines) + 1):
        try:
            value: object = tomllib.loads("\n".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        names = []
        for _ in range(1 + lines[start].partition("=")[0].count(".")):
            ((name, value),) = value.items() if isinstance(value, dict) else (("", value),)
            names.append(name)
        return end, ".".join(names)
    return start + 1, ""


def _value_at(statement: str) -> int:
    equals = statement.index("=") + 1
    return equals + len(statement[equals:]) - len(statement[equals:].lstrip(" \t"))


def _remark(statement: str) -> str:
    """Return the comment behind the value, with the blanks before it."""
    for mark in re.finditer(r"(?<![ \t])[ \t]*+#", statement):
        try:
            tomllib.loads(statement[: mark.start()])
        except tomllib.TOMLDecodeError:
            continue
        return statement[mark.start() :]
    return ""
