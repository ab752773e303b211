"""What the cues of a language are: data, one value per language; `listen` knows what to do with them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_LAYOUT = re.compile(r"\n\s*")
_BLANK = re.compile(r" +(\??)")


class Cue(StrEnum):
    """What made a clause sound lasting."""

    LASTING = "lasting"  # "from now on", "every time you"
    ADVERB = "adverb"  # "always", "never" in an instruction
    MEMORY = "memory"  # "remember", "add this to the rules"
    STOP = "stop"  # "stop asking me"
    PREFERENCE = "preference"  # "I prefer", "I never want"
    CONVENTION = "convention"  # "in this repository we"
    CONSENT = "consent"  # "not without asking me"
    REPEATED = "repeated"  # "I have told you before"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to say it. `strength`, 0 to 1, becomes the confidence of what is heard this way."""

    cue: Cue
    strength: float
    regex: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Language:
    """The cues of one language.

    `openers` may stand before an instruction and are cut from it. `patterns` are tried on what remains. `vetoes` make
    a clause no instruction for all times whatever else it says: plans, reports, exceptions for once. `asks` is a
    question that is no request. `frames` are cut when the clause becomes an instruction. `retracts` takes back what
    was said before. A turn that begins with `orders` describes a product or a task: of it only what is meant for the
    memory or the rules counts.
    """

    code: str
    openers: re.Pattern[str]
    patterns: tuple[Pattern, ...]
    vetoes: re.Pattern[str]
    frames: re.Pattern[str]
    retracts: re.Pattern[str]
    asks: re.Pattern[str]
    orders: re.Pattern[str] | None = None


def compiled(source: str) -> re.Pattern[str]:
    """Compile a cue without regard to case.

    A blank matches any white space, a blank with a question mark behind it also none, line breaks with their
    indentation nothing.
    """
    spaced = _BLANK.sub(lambda m: r"\s*" if m[1] else r"\s+", _LAYOUT.sub("", source))
    return re.compile(spaced, re.IGNORECASE)


def words(*alternatives: str) -> str:
    r"""Return a group of `alternatives` separated by white space or bars, each with `_` for a blank."""
    found = [part for text in alternatives for part in re.split(r"[\s|]+", text.strip()) if part]
    return "(?:" + "|".join(part.replace("_", " ") for part in found) + ")"
