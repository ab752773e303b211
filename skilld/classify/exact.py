"""What of a text must stand exactly in its ground: numbers, paths, commands, addresses, identifiers. Pure."""

from __future__ import annotations

import re
import unicodedata

from skilld.words import SPELLED, apart

_CODE = re.compile(r"`([^`\n]+)`")
_EXACT = (
    re.compile(r"https?://[^\s)>\]}\"'`]+"),
    re.compile(r"(?<![\w./~-])@?[\w.~-]*+/(?:[./@~-]*+\w++)++"),  # paths, scoped packages, owner/name
    re.compile(r"(?<!\w)--?[A-Za-z][\w-]*"),  # flags
    re.compile(r"\b\w+(?:[._]\w+)+\b"),  # snake_case, dotted names, file names, versions
    re.compile(r"\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b"),  # camelCase
    re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"),
    re.compile(r"\b[A-Z][A-Z0-9]{2,}\b"),  # acronyms, constants
    re.compile(r"\d+"),
)
_PLAIN = frozenset({"and/or", "e.g", "i.e", "a.m", "p.m"})  # look exact and are not


def exact_tokens(text: str) -> set[str]:
    """Return the exact tokens of `text`, as `words.comparable` would write them."""
    spaced = apart(unicodedata.normalize("NFKC", text))
    found = {part.casefold() for code in _CODE.findall(spaced) for part in code.split()}
    for pattern in _EXACT:
        found.update(match.group(0).rstrip(".,:;").casefold() for match in pattern.finditer(spaced))
        spaced = pattern.sub(" ", spaced)  # the numbers of an address are no numbers of their own
    return {token for token in found if token} - _PLAIN


def holds_token(token: str, text: str) -> bool:
    """Whether the comparable `text` holds the token on its own (30 is not in 300), a spelled-out number included."""
    if token.isdecimal():
        spelled = SPELLED.get(token)
        alone = rf"(?<!\d)(?<!\d[.,]){token}(?!\d)(?![.,]\d)"
        return bool(re.search(rf"{alone}|\b{spelled}\b" if spelled else alone, text))
    return bool(re.search(rf"(?<!\w){re.escape(token)}(?:e?s)?(?!\w)", text))
