"""Reads the settings file as plain values, and finds the lines that set them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from skilld.errors import UsageError
from skilld.files import access_remedy, denied_place, exposure_reason, read_regular

_MAX_BYTES = 1 << 20


def read_file(path: Path) -> dict[str, Any]:
    """Return the content of the settings file; UsageError if it is invalid, or others can change or read it."""
    data, remedy = b"", f"Fix or remove {path}."
    try:
        data, facts = read_regular(path, _MAX_BYTES)
        values = tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        number = len(data[: error.start].split(b"\n"))
        raise UsageError("Cannot read the settings file", f"{path}: line {number} is not UTF-8", remedy) from error
    except (OSError, ValueError, RecursionError) as error:  # ValueError: no TOML, a number of 5,000 digits
        why = str(error)
        if isinstance(error, OSError):
            why = error.strerror or why
            remedy = access_remedy(denied_place(path), "u+rwX") if isinstance(error, PermissionError) else remedy
        raise UsageError("Cannot read the settings file", f"{path}: {why}", remedy) from error
    if others := exposure_reason(facts, secret="model_api_key" in values):
        raise UsageError("Cannot trust the settings file", f"{path} {others}", access_remedy(path, "600"))
    return values


def line_of(file: Path | None, key: str) -> str:
    """Return the line of a settings file that sets a key, in parentheses, "" if none does."""
    table, text = "", b"" if file is None or not file.exists() else read_regular(file, _MAX_BYTES)[0]
    for number, line in enumerate(text.decode("utf-8-sig").splitlines(), 1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            table = f"{header[1]}."
        elif (name := re.match(r"\s*([\w.-]+)\s*=", line)) and f"{key}.".startswith(f"{table}{name[1]}."):
            return f" (line {number})"
    return ""
