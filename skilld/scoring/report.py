"""Formats figures as tables and outcomes as JSON lines. Text from the cases is always escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.errors import SkilldError, UsageError


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; its first row is a header if there is more than one column of figures."""

    title: str
    rows: tuple[tuple[str, ...], ...]


def tables(figures: Mapping[str, Any]) -> list[Table]:
    """Return a table of the single figures, then one for each group. Cells are not escaped."""
    single = {key: value for key, value in figures.items() if not isinstance(value, Mapping)}
    found = [Table("", _pairs(single))]
    for key, value in figures.items():
        if isinstance(value, Mapping) and value:
            nested = all(isinstance(group, Mapping) for group in value.values())
            found.append(Table(_words(key), _grid(value) if nested else _pairs(value)))
    return found


def check_target(path: Path, data: Sequence[Path]) -> None:
    """Raise UsageError if outcomes cannot be written to `path`; called before a run that may take hours."""
    if path.resolve() in {source.resolve() for source in data}:
        raise UsageError("The outcomes were not written", f"{path} is one of the case files", "Choose another file.")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError("The outcomes were not written", f"{path} is not a writable file", "Choose another file.")


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line, in ASCII. Raises SkilldError if the file cannot be written."""
    try:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
    except OSError as error:
        raise SkilldError(f"Cannot write {path}", error.strerror or str(error)) from error


def _pairs(values: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    return tuple((_words(key), _cell(value)) for key, value in values.items())


def _grid(groups: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, ...], ...]:
    flat = {key: _flat(group) for key, group in groups.items()}
    columns = list(dict.fromkeys(column for group in flat.values() for column in group))
    body = ((key, *(_cell(group.get(column)) for column in columns)) for key, group in flat.items())
    return (("", *map(_words, columns)), *body)


def _flat(group: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in group.items():
        flat |= _flat(value, f"{prefix}{key} ") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def _words(key: str) -> str:
    return key.replace("_", " ")


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
