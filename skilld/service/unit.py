"""The systemd user unit: the file of systemd/ filled in, and read back. Pure.

Quoting is that of systemd.syntax(7) and systemd.service(5), and each rule is held by a real systemd
(tests/live/test_systemd.py): `%` is doubled everywhere, words stand in double quotes with backslash escapes, and the
`:` before the program (in the file) keeps `$` from meaning anything. EnvironmentFile= takes the rest of its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from skilld.errors import RefusedError
from skilld.service.environment import plain
from skilld.service.values import Start

NAME = "skilld.service"
_EXEC = re.compile(r'^ExecStart=:?"([^"]*)"', re.MULTILINE)

_OPTIONAL = "#EnvironmentFile=@VARIABLES@\n"
_VARIABLE = re.compile(r'^(\w+)="((?:[^"\\]|\\.)*)"$', re.MULTILINE)


def render(template: str, start: Start, variables_file: Path) -> str:
    """Return the unit. `variables_file` is named in it where the start has variables.

    Raises RefusedError for text that no unit can hold.
    """
    if set(start.program[0]) & set("\"'\\"):
        raise RefusedError(
            "The service is not installed",
            f"systemd starts no program whose path holds a quote or a backslash: {start.program[0]}",
            "Install skilld somewhere else.",
        )
    words = {
        "@SKILLD@": " ".join(_quoted(part, "the program's path") for part in start.program),
        "@PATH@": _in_quotes(start.path, "PATH"),
        "@VARIABLES@": _rest_of_line(variables_file),
    }
    text = template.replace(_OPTIONAL, _OPTIONAL[1:] if start.variables else "")
    # In one go: what is put in may hold such a word itself.
    return re.sub("|".join(words), lambda match: words[match[0]], text)


def program_of(unit: str) -> str:
    """Return the program that a rendered unit starts, empty where it is not one of ours."""
    found = _EXEC.search(unit)
    return found[1].replace("%%", "%") if found else ""


def variables_text(variables: Mapping[str, str]) -> str:
    """Return the file that EnvironmentFile= names. Raises RefusedError for a value that it cannot hold."""
    return "".join(f'{name}="{_escaped(plain(value, name), _IN_FILE)}"\n' for name, value in sorted(variables.items()))


def variables_of(text: str) -> dict[str, str]:
    """Return the variables of a file that `variables_text` made."""
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in _VARIABLE.findall(text)}


_IN_FILE = r'["\\`$]'
_IN_UNIT = r'["\\]'


def _quoted(text: str, what: str) -> str:
    return f'"{_in_quotes(text, what)}"'


def _in_quotes(text: str, what: str) -> str:
    return _escaped(plain(text, what), _IN_UNIT).replace("%", "%%")


def _escaped(text: str, special: str) -> str:
    return re.sub(special, r"\\\g<0>", text)


def _rest_of_line(path: Path) -> str:
    text = plain(str(path), "the settings folder's path")
    if text != text.strip() or text.endswith("\\"):
        raise RefusedError("The service is not installed", f"systemd cannot read {text}")
    return text.replace("%", "%%")
