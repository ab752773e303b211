"""Signs per language: what in a clause speaks for a lasting wish, and what against. `weigh` adds them up.

The code of a language in, its signs out. README.md beside this file says what each sign means.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import Pattern

from skilld.classify.offline.cues import compiled

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Signs:
    """Expressions by the name of the sign: `starts` at the beginning of what is asked, `holds` anywhere."""

    starts: Mapping[str, Pattern[str]]
    holds: Mapping[str, Pattern[str]]


@cache
def signs_of(code: str) -> Signs:
    """Return the signs of the language `code`."""
    data = tomllib.loads((_HERE / f"{code}.toml").read_text(encoding="utf-8"))
    before, behind = (r"(?<!\w)", r"(?!\w)") if data.get("spaced", True) else ("", "")
    return Signs(
        {name: _any("^", forms, behind) for name, forms in data["starts"].items()},
        {name: _any(before, forms, behind) for name, forms in data["holds"].items()},
    )


@cache
def weights() -> Mapping[str, float]:
    """Return what each sign counts, by its name; `bias` is where a clause without any stands."""
    stored: dict[str, dict[str, float]] = tomllib.loads((_HERE / "weights.toml").read_text(encoding="utf-8"))
    return {name: value for group in stored.values() for name, value in group.items()}


def _any(before: str, forms: Sequence[str], behind: str) -> Pattern[str]:
    return compiled(f"{before}(?:{'|'.join(forms)}){behind}")
