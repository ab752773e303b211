"""Whether a text says again what another one says: the checks of what a model claims. Pure.

The other text has to have its measures, its conditions and its strength; every name, path and command stands in what
stays of the file, and so do nearly all of its words.
"""

from __future__ import annotations

import re

from skilld.classify.offline.choices import TELLING, changed_choice, choices, turned_round
from skilld.words import content_stems, denies, names, numbers

_IN_THE_FILE = 0.67  # share of the words that something which stays has, too
_IN_THE_OTHER = 0.33  # share of the words that the other text has itself, its heading included
_MARKER = re.compile(r"^[ \t]*+(?:[-*+]|\d++[.)])[ \t]++(?:\[[ xX]\][ \t]++)?+", re.MULTILINE)
_BOLD = re.compile(r"\*\*|__|(?<!\S)\*(?=\w)")
_MARKED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^“”]*+”|\]\([^()]*+\)")
_TOKEN = re.compile(r"[\w@./:*<>{}$=+-]++")
_NO_END = ".:@<{$=+-"  # what a token may hold but not end with
_TECHNICAL = re.compile(r"\w[./:_]\w|^[./@$<{-]|\d|[a-z][A-Z]|[*{}$=]|^[A-Z]{2,}$")
_STRONG = re.compile(
    r"\b(?:never|must|always|mandatory|required|forbid\w*|prohibit\w*|critical|do not|don['’]?t|cannot|no longer)\b"
    r"|\b(?-i:NOT|ALL|ANY|EVERY)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:only|unless|except|until|before|after|first|last|without|instead|rather|at least|at most)\b",
    re.IGNORECASE,
)


def says_it(text: str, heading: str, other: str, others_heading: str, rest: str) -> bool:
    """Whether `other`, below its heading, says what `text` says; `rest` is all of the file that stays, it included."""
    text, by = _MARKER.sub("", text), f"{others_heading}\n{other}"
    if not numbers(text) <= numbers(by) or (denies(text) and not denies(by)):
        return False
    if bool(_STRONG.search(text)) and not _STRONG.search(by):
        return False
    if not {word.lower() for word in _LIMITS.findall(text)} <= {word.lower() for word in _LIMITS.findall(by)}:
        return False
    if changed_choice(text, other) or turned_round(text, other):
        return False
    if not _members(text) <= _members(rest) or not _technical(text) <= _technical(rest):
        return False
    if not names(text) <= names(rest) | {word.lower() for word in re.findall(r"\w+", rest)}:
        return False
    words = content_stems(text)
    bare = words - content_stems(heading)
    if not words:
        return False
    share = len(words & content_stems(by)) / len(words)
    return share >= _IN_THE_OTHER and len(bare & content_stems(rest)) >= _IN_THE_FILE * len(bare)


def _members(text: str) -> set[str]:
    return {word for family, words in choices(text).items() if family < TELLING for word in words}


def _technical(text: str) -> set[str]:
    """Return the commands, paths, options and names of a text, each token by itself, and what is quoted."""
    text = _BOLD.sub("", text)
    marked = " ".join(_MARKED.findall(text))
    found = {token for token in _tokens(text) if _TECHNICAL.search(token)}
    return {token.strip(".:*").lower() for token in (*found, *_tokens(marked))} - {""}


def _tokens(text: str) -> list[str]:
    return [token for found in _TOKEN.findall(text) if (token := found.rstrip(_NO_END))]
