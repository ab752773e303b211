"""`skilld config show | path | set KEY VALUE | unset KEY`."""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError, UsageError
from skilld.files import write_whole


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "config", show, "show or change the settings")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action")
    common.verb(actions, "show", show, "list every setting with its value and meaning", listing=True)
    common.verb(actions, "path", path, "print the path of the settings file")
    change = common.verb(actions, "set", set_, "change a setting in the file")
    change.add_argument("key", metavar="KEY", help="a setting, as `skilld config show` names it")
    change.add_argument("value", metavar="VALUE", help="its value; separate the items of a list with commas")
    back = common.verb(actions, "unset", unset, "remove a setting from the file, so that its default applies")
    back.add_argument("key", metavar="KEY", help="a setting, as `skilld config show` names it")


def show(arguments: argparse.Namespace) -> int:
    """Show every setting with its value."""
    from skilld.settings import keys

    values = common.settings().model_dump(mode="json")
    if values.get("model_api_key"):
        values["model_api_key"] = "(set)"
    if getattr(arguments, "json", False):
        return common.write_json(values)
    flat = {}
    for key in keys():
        value: Any = values
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        flat[key] = value
    console.table([(key, json.dumps(value), console.paint(keys()[key], "dim")) for key, value in flat.items()])
    return 0


def path(arguments: argparse.Namespace) -> int:
    """Print where the settings file is."""
    del arguments
    console.line(str(common.places().settings_file))
    return 0


def set_(arguments: argparse.Namespace) -> int:
    """Change one setting."""
    file = common.places().settings_file
    write_setting(file, arguments.key, arguments.value)
    console.line(f"Set {arguments.key} in {console.plain(str(file))}. {_taken_up(arguments.key)}")
    return 0


def unset(arguments: argparse.Namespace) -> int:
    """Take one setting out of the file."""
    file = common.places().settings_file
    if write_setting(file, arguments.key, None):
        console.line(f"Removed {arguments.key} from {console.plain(str(file))}. {_taken_up(arguments.key)}")
    else:
        console.line(f"{arguments.key} is not set in {console.plain(str(file))}.")
    return 0


def _taken_up(key: str) -> str:
    later = key == "notify.enabled" or key.startswith("roots.")
    return f"A running daemon uses it {'after a restart' if later else 'within seconds'}."


def write_setting(file: Path, key: str, value: str | None) -> bool:
    """Set one key of the settings file, or take it out (None), all or nothing; all other lines stay as they are.

    Returns False where it was out already. Raises UsageError where the key is unknown, the value is none it can have,
    or the file says it in a way that is not edited by its lines; the file is unchanged then.
    """
    from skilld.settings import checked, from_text, keys, nearest, read_file

    known = keys()
    if key not in known:
        raise UsageError("No such setting", key + nearest(key, known))
    values = read_file(file)
    *outer, last = key.split(".", 1)
    target = values.setdefault(outer[0], {}) if outer else values
    if not isinstance(target, dict):
        raise UsageError("The settings file is not valid", f"{outer[0]} is not a table", f"Fix {file}.")
    if value is None and last not in target:
        return False
    if value is None:
        del target[last]
    else:
        target[last] = from_text(key, common.as_text(value))
    checked(values, f"Nothing was changed in {file}.", variables=False)
    text = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
    ending = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    after = without_setting(text, key) if value is None else with_setting(text, key, _literal(target[last]))
    if not _says(after, values):
        cause = f"skilld cannot edit the line of {file} that sets {key}"
        raise UsageError("The setting was not changed", cause, f"Edit {file} by hand.")
    _replace(file, after.replace("\n", ending))
    return True


def _says(text: str, values: dict[str, Any]) -> bool:
    """Whether a text is TOML and says just these settings."""
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return _filled(read) == _filled(values)


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value != {}}


def _replace(file: Path, text: str) -> None:
    """Put `text` in the place of the file's, mode 0600; where the file is a link, of what it leads to."""
    real = file.resolve()
    try:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(real, text.encode("utf-8"), 0o600)
    except OSError as error:
        raise SkilldError("The settings file cannot be written", f"{file}: {error.strerror or error}") from error


def _literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    if isinstance(value, float):
        return repr(value)  # inf is TOML and not JSON
    # JSON's strings are TOML's but for escaped surrogates and a bare DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# One setting put into the text of a TOML file, or taken out: all other lines stay as the person wrote them. Pure.
#
# Python reads TOML and does not write it. Where a statement ends is found by trying to read it, so no value is taken
# for a header or a key, however it is written; whether the whole says what it should is for the caller to check.

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
