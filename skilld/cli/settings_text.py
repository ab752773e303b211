"""Edits the text of the settings file: sets or removes one setting, and explains all of them in comments. Pure.

All other lines stay as the person wrote them. Python's library only reads TOML. The end of a statement is found by
parsing, so that no value is mistaken for a header or a key; the caller checks that the result has the right settings.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import chain

from skilld.values import value_class

_HINT = "# To change a setting, remove the # at the start of its line. The values shown are the defaults."
_MAX_LINES = 100  # per setting
_PLACEHOLDER = '"<>"'  # not a value of any setting
_HEADER_PATTERN = re.compile(r"\s*\[([^\[\]]*)\]\s*(#.*)?")


@value_class
class _Statement:
    """Lines `start` to `end` (exclusive) of a file, which set `key` (dotted, with its table)."""

    start: int
    end: int
    table: str
    key: str


def with_setting(text: str, key: str, literal: str) -> str:
    """Return `text` with `key` (dotted, at most one table) set to `literal`, a TOML value, in place if it was set."""
    lines = text.split("\n")
    statements = list(_statements(lines))
    found = next((one for one in statements if one.key == key), None)
    if found is not None:
        old = "\n".join(lines[found.start : found.end])
        lines[found.start : found.end] = [old[: _value_offset(old)] + literal + _trailing_comment(old)]
        return "\n".join(lines)
    table, _, name = key.rpartition(".")
    headers = _headers(lines)
    if same_table := [one for one in statements if (one.key.rpartition(".")[0] if table else one.table) == table]:
        name = key if table and not same_table[-1].table else name
        lines.insert(same_table[-1].end, f"{name} = {literal}")
    elif table in headers:
        lines.insert(headers[table] + 1, f"{name} = {literal}")
    elif table:
        return f"{text.rstrip()}\n\n[{table}]\n{name} = {literal}\n".lstrip("\n")
    else:
        return f"{name} = {literal}\n" + (f"\n{text}" if text.strip() else "")
    return "\n".join(lines)


def without_setting(text: str, key: str) -> str:
    """Return `text` without the lines that set `key`, nor a header without a comment that then heads nothing."""
    lines = text.split("\n")
    for one in reversed(list(_statements(lines))):
        if one.key == key:
            del lines[one.start : one.end]
    headers = _headers(lines)
    at = headers.get(key.rpartition(".")[0])
    if at is not None and lines[at].strip().endswith("]") and not lines[max(at - 1, 0)].lstrip().startswith("#"):
        end = min((other for other in headers.values() if other > at), default=len(lines) - 1)
        if not any(line.strip() for line in lines[at + 1 : end]):
            del lines[at:end]
    return "\n".join(lines)


def _headers(lines: list[str]) -> dict[str, int]:
    """Return where the headers of the tables are, by their names."""
    taken = {at for one in _statements(lines) for at in range(one.start, one.end)}
    return {_table_name(line): at for at, line in enumerate(lines) if at not in taken and _table_name(line)}


def with_explanations(text: str, settings: Mapping[str, tuple[str, str]]) -> str:
    """Return `text` with a comment for each of `settings` (key: default as TOML, meaning) that it does not set.

    Removing the # from such a line sets it. Comments from an earlier call are replaced.
    """
    text = "\n".join(line for line in text.split("\n") if line != _HINT and not _is_note(line, settings)).lstrip("\n")
    present = {one.key for one in _statements(text.split("\n"))}
    tables: dict[str, list[str]] = {}
    for key in settings:
        tables.setdefault(key.rpartition(".")[0], []).insert(0, key)  # each is inserted above the next
    for key in chain.from_iterable(tables.values()):
        if key not in present:
            lines = with_setting(text, key, _PLACEHOLDER).split("\n")
            at = next(at for at, line in enumerate(lines) if line.endswith(f" = {_PLACEHOLDER}"))
            lines[at] = _note(lines[at].partition(" ")[0], *settings[key])
            text = "\n".join(lines)
    return f"{_HINT}\n\n{text}"


def _note(name: str, default: str, meaning: str) -> str:
    return f"# {name} = {default}  # {meaning}"


def _is_note(line: str, settings: Mapping[str, tuple[str, str]]) -> bool:
    name = line.removeprefix("# ").partition(" = ")[0]
    return any(line == _note(name, *known) for key, known in settings.items() if f".{key}".endswith(f".{name}"))


def _statements(lines: list[str]) -> Iterator[_Statement]:
    table, number = "", 0
    while number < len(lines):
        line = lines[number]
        end = number + 1
        header = _table_name(line)
        if header or not line.strip() or line.lstrip().startswith("#"):
            table = header or table
        else:
            end, key = _read_statement(lines, number)
            yield _Statement(number, end, table, f"{table}.{key}" if table else key)
        number = end


def _table_name(line: str) -> str:
    """Return the name of the table whose header this line is; empty if it is not a header."""
    header = _HEADER_PATTERN.fullmatch(line)
    return header[1].strip().strip("\"'") if header else ""


def _read_statement(lines: list[str], start: int) -> tuple[int, str]:
    """Return the end of the statement that begins at `start`, and its key.

    An unreadable statement extends to the end of the file: it is not TOML, or longer than any setting.
    """
    for end in range(start + 1, min(len(lines), start + _MAX_LINES) + 1):
        try:
            value: object = tomllib.loads("\n".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        names = []
        for _ in range(1 + lines[start].partition("=")[0].count(".")):
            ((name, value),) = value.items() if isinstance(value, dict) else (("", value),)
            names.append(name)
        return end, ".".join(names)
    return len(lines), ""


def _value_offset(statement: str) -> int:
    equals = statement.index("=") + 1
    return equals + len(statement[equals:]) - len(statement[equals:].lstrip(" \t"))


def _trailing_comment(statement: str) -> str:
    """Return the comment after the value, with the blanks before it."""
    for mark in re.finditer(r"(?<![ \t])[ \t]*+#", statement):
        try:
            tomllib.loads(statement[: mark.start()])
        except tomllib.TOMLDecodeError:
            continue
        return statement[mark.start() :]
    return ""
