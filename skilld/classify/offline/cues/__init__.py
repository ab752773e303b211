"""Cues per language: which words make a wish last. Data in TOML files; `listen` knows what to do with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

# What the cues of a language are, and how a file of them is read.
#
# A TOML file in, a `Language` out; the format is in README.md beside this file.

_BLANK = re.compile(r" +(\??)")
_NAME = re.compile(r"(?<!\(\?)<([a-z_]+)>")
_NEVER = re.compile(r"(?!)")
_ALWAYS = re.compile("")
_NESTING = 4  # groups inside groups


class Cue(StrEnum):
    """What made a clause sound lasting."""

    LASTING = "lasting"  # "from now on", "every time you"
    ADVERB = "adverb"  # "always", "never" in an instruction
    MEMORY = "memory"  # "remember", "add this to the rules"
    STOP = "stop"  # "stop asking me"
    PREFERENCE = "preference"  # "I prefer", "answer in English"
    CONVENTION = "convention"  # "in this repository we"
    CONDUCT = "conduct"  # "do not assume", "when I ask you"
    CONSENT = "consent"  # "not without asking me"
    CORRECTION = "correction"  # no cue at all, but the skill in use says otherwise
    REMINDER = "reminder"  # "I have told you before", "it is in the rules"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to say it. `strength`, 0 to 1, becomes the confidence of what is heard this way."""

    cue: Cue
    strength: float
    regex: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Language:
    """The cues of one language; README.md says what each field means. `marks` None: the script tells the language."""

    code: str
    openers: re.Pattern[str]
    patterns: tuple[Pattern, ...]
    vetoes: re.Pattern[str]
    frames: re.Pattern[str]
    retracts: re.Pattern[str]
    asks: re.Pattern[str]
    orders: re.Pattern[str]
    commands: re.Pattern[str]
    requests: re.Pattern[str]
    unmarked: re.Pattern[str]
    product: re.Pattern[str]
    work: re.Pattern[str]
    marks: frozenset[str] | None


def compiled(source: str) -> re.Pattern[str]:
    """Compile a cue without regard to case; a blank matches any white space, a blank with `?` behind it also none."""
    return re.compile(_BLANK.sub(lambda m: r"\s*" if m[1] else r"\s+", source), re.IGNORECASE)


def read(path: Path) -> Language:
    """Read the cues of the language whose code is the name of the file `path`."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = tomllib.loads(path.with_name(data["like"]).read_text(encoding="utf-8")) if "like" in data else {}
    lists = {name: value for name, value in data.items() if isinstance(value, list)}
    groups = {**shared.get("groups", {}), **lists, **data.get("groups", {})}
    groups["cuts"] = [*groups.get("frames", ()), *groups.get("tails", ())]
    spaced = data.get("spaced", True)
    bound = r"\b" if spaced else ""

    def list_of(name: str, before: str, after: str) -> re.Pattern[str]:
        return compiled(_filled(f"{before}<{name}>{after}", groups)) if groups.get(name) else _NEVER

    return Language(
        code=path.stem,
        openers=list_of("openers", "^(?:", r"(?:\s*[,.!:;，。！：、–—-]+\s*| ))+"),
        patterns=tuple(_patterns([*data.get("pattern", ()), *shared.get("pattern", ())], groups)),
        vetoes=list_of("vetoes", bound, bound),
        frames=list_of(
            "cuts", r"(?:^|[\s,–—-]+)", r"(?:[\s:，、–—-]+|(?=[.!,;]|$))" if spaced else r"[\s,，、的都请請就]*"
        ),
        retracts=list_of("retracts", bound, ""),
        asks=list_of("asks", r"^¿?\s*", bound),
        orders=list_of("orders", r"^\W*", bound),
        commands=list_of("told", "^", bound),
        requests=list_of("requests", bound, bound) if groups.get("requests") else _ALWAYS,
        unmarked=compiled("|".join(groups["unmarked"])) if groups.get("unmarked") else _NEVER,
        product=list_of("product", bound, bound),
        work=list_of("work", bound, bound),
        marks=frozenset(data["marks"]) if "marks" in data else None,
    )


def _patterns(tables: Sequence[Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> list[Pattern]:
    return [
        Pattern(Cue(table["cue"]), float(table["strength"]), compiled(_filled(source, groups)))
        for table in tables
        for source in table["any"]
    ]


def _filled(source: str, groups: Mapping[str, Sequence[str]]) -> str:
    for _ in range(_NESTING):
        source = _NAME.sub(lambda m: "(?:" + "|".join(groups.get(m[1]) or ["(?!)"]) + ")", source)
    return source


__all__ = ["LANGUAGES", "Cue", "Language", "Pattern", "compiled"]

_CODES = ("en", "zh", "ja", "ko", "es", "pt", "fr", "it", "de", "ru", "cs", "pl", "vi")

LANGUAGES: tuple[Language, ...] = tuple(read(Path(__file__).with_name(f"{code}.toml")) for code in _CODES)
