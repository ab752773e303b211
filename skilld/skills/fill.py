"""A skill's text as something to say: without its front matter, with values in place of `{{ name }}`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

_HOLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*\r?\n", re.DOTALL | re.MULTILINE)


def body(text: str) -> str:
    """Return what stands below the front matter of a SKILL.md."""
    return _FRONT.sub("", text, count=1)


def holes(text: str) -> tuple[str, ...]:
    """Return the names of the variables in a text, each once, in their order."""
    return tuple(dict.fromkeys(_HOLE.findall(text)))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables filled; one without a value stays as it is, and no value is filled again."""
    return _HOLE.sub(lambda hole: values.get(hole[1], hole[0]), text)
