"""Names for new skills, from words that were used: as the Agent Skills specification wants them. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path

from skilld.words import content_stems

LONGEST = 64  # https://agentskills.io/specification
_WORDS = 4


def name_of(parts: Iterable[str], taken: Collection[str] = ()) -> str:
    """Return the parts joined to a name that is not `taken`: lower case, digits and single hyphens."""
    joined = "-".join(parts)
    plain = unicodedata.normalize("NFKD", joined).encode("ascii", "ignore").decode().lower()
    cleaned = "".join(char if char.isalnum() else "-" for char in plain)
    base = "-".join(word for word in cleaned.split("-") if word)[:LONGEST].strip("-") or "asked-for-again"
    name, number = base, 2
    while name in taken:
        name = f"{base[: LONGEST - 4].rstrip('-')}-{number}"
        number += 1
    return name


def telling_words(text: str) -> list[str]:
    """Return the first few words of a text that say what it is about."""
    words = [word.strip(".,:;!?'\"()`").lower() for word in text.split()]
    telling = [word for word in words if word.isascii() and word.isalpha() and content_stems(word)]
    return list(dict.fromkeys(telling))[:_WORDS]


def project_name(folder: str) -> str:
    """Return how a project is called: the name of its folder."""
    return Path(folder).name
