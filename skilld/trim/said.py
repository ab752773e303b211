"""Whether a text says all that another one says: what a model calls said elsewhere, and what it says anew. Pure.

Either way what binds has to be there: measures, conditions, prohibitions and strength, every name, path, command and
quotation. docs/trim.md has how right that is.
"""

from __future__ import annotations

import re
from collections import Counter

from skilld.classify.offline.choices import TELLING, changed_choice, choices, turned_round
from skilld.trim.units import announces
from skilld.words import content_stems, denies, held_in, names, numbers, other_tongue, share_held

_IN_THE_FILE = 0.67  # share of the words that something which stays has, too
_IN_THE_OTHER = 0.33  # share of the words that the other text has itself, its heading included
_IN_THE_SHORTER = 0.5  # share of the words that a shorter text keeps: with fewer it is another text
_MARKER = re.compile(r"^[ \t]*+(?:[-*+]|\d++[.)])[ \t]++(?:\[[ xX]\][ \t]++)?+", re.MULTILINE)
_NO_NAME = re.compile(r"\*\*|__|(?<!\S)\*(?=\w)|\b(?:e\.g|i\.e)\b\.?")
_VERBATIM = re.compile(r"!?\[[^\[\]]*+\]\([^()]*+\)|`[^`]*`|\"[^\"]*\"|“[^“”]*+”|<[^<>\s]++>")
_STRESSED = re.compile(r"(?:\*\*|__)([^*_]++)(?:\*\*|__)")
_WORD = re.compile(r"\w")
_TOKEN = re.compile(r"[\w@./:*<>{}$=+-]++")
_NO_END = ".:@<{$=+-"  # what a token may hold but not end with
_TECHNICAL = re.compile(r"\w[./:_]\w|^[./@$<{-]|\d|[a-z][A-Z]|[*{}$=]|^[A-Z]{2,}$")
_SIGNS = re.compile(r"[?%<>≤≥≈~→←#|{}]|\[|\]")
# What says how strictly, in which case and in which order: as often in a shorter text, and nothing of it new there.
_BINDS = {
    "not": r"not|no|n't|cannot|nor|neither|none|nothing",
    "must": r"must|ha(?:ve|s) to|needs? to|required?s?|mandatory",
    "case": r"if|when|whenever|once|in case",
    "ask": r"ask|confirm\w*|approv\w+|permission",
    "never": r"never",
    "all": r"(?<!\bat )all|every|each|both",
    "forbid": r"forbid\w*|prohibit\w*|avoid\w*",
    "prefer": r"prefer\w*|recommend\w*",
    "critical": r"critical|important|warning|careful\w*",
} | {
    word: word.replace(" ", r"\s+")
    for word in (
        "always", "only", "unless", "except", "until", "before", "after", "first", "last", "then", "without", "instead",
        "rather", "at least", "at most", "up to", "exactly", "immediately", "default", "optional", "between",
    )
}  # fmt: skip
_BINDING = re.compile(
    "|".join(rf"(?P<c{at}>(?<!\w)(?:{one})(?!\w)|(?<=\w)n't)" for at, one in enumerate(_BINDS.values()))
)
_ENGLISH = "the of and to in that is for with on are it this which"  # in other languages nobody knows what binds
_STRONG = {"never", "not", "must", "always", "forbid", "critical"}
# What leaves room: one such word stays where there was one.
_ROOM = re.compile(r"\b(?:usually|often|typically|sometimes|may|might|could|generally|mostly|likely|ideally)\b")
_EXAMPLE = re.compile(r"\b(?:e\.g|i\.e|for (?:example|instance)|such as|like|etc|including|includes)\b")
_ADDED = re.compile(r"\b(?:any|may|might|could|can|should|too|also|or)\b")
_LISTED = re.compile(r"[,;:()—–]\s|\s[-—–(]\s?|\b(?:and|or)\b")  # between what is listed: of each something stays


def binding(text: str) -> Counter[str]:
    """Return what in a text says how strictly, in which case and in which order, each with how often."""
    found = _BINDING.finditer(text.lower().replace("\u2019", "'"))
    return Counter([*_BINDS][int((one.lastgroup or "c0")[1:])] for one in found)


def says_it(text: str, heading: str, other: str, others_heading: str, rest: str) -> bool:
    """Whether `other`, below its heading, says what `text` says; `rest` is all of the file that stays, it included."""
    text, by = _MARKER.sub("", text), f"{others_heading}\n{other}"
    if not numbers(text) <= numbers(by) or (denies(text) and not denies(by)):
        return False
    bound, there = set(binding(text)), set(binding(by))
    if not bound - _STRONG <= there or (bound & _STRONG and not there & _STRONG):
        return False
    if changed_choice(text, other) or turned_round(text, other):
        return False
    words = content_stems(text)
    if not words or not _names_as_much(text, rest):
        return False
    share = len(words & content_stems(by)) / len(words)
    return share >= _IN_THE_OTHER and _has_its_words(text, heading, rest)


def says_nothing(text: str, heading: str, rest: str) -> bool:
    """Whether nothing binds in `text`, and the rest of the file has its names and words."""
    bound = binding(text) or numbers(text) or _ROOM.search(text.lower()) or _VERBATIM.search(text)
    return (
        not bound and bool(content_stems(text)) and _names_as_much(text, rest) and _has_its_words(text, heading, rest)
    )


def _has_its_words(text: str, heading: str, rest: str) -> bool:
    bare = content_stems(text) - content_stems(heading)
    return len(bare & content_stems(rest)) >= _IN_THE_FILE * len(bare)


def _names_as_much(text: str, rest: str) -> bool:
    if not _members(text) <= _members(rest) or not _technical(text) <= _technical(rest):
        return False
    return names(text) <= names(rest) | {word.lower() for word in re.findall(r"\w+", rest)}


def shorter(text: str, new: str) -> str:
    """Return `new` where it says what `text` says in fewer words of that, with the same markers; else nothing."""
    new = new.strip("\n")
    heads = _MARKER.findall(text)
    if len(heads) == 1 and text.startswith(heads[0]) and not _MARKER.match(new):
        new = heads[0] + new.lstrip()
    bare, left = _MARKER.sub("", text), _MARKER.sub("", new)
    as_many = new.count("\n") <= text.count("\n") and all(map(_WORD.search, new.split("\n")))
    if other_tongue(_ENGLISH, bare) or not as_many:
        return ""
    same = _MARKER.findall(new) == heads and _VERBATIM.findall(bare) == _VERBATIM.findall(left)
    return new if same and binding(bare) == binding(left) and _is_no_other(bare, left) else ""


def _is_no_other(text: str, new: str) -> bool:
    for said in _STRESSED.findall(text):  # a label may do without, a word of strictness may not
        if said not in new or (binding(said) and said not in _STRESSED.findall(new)):
            return False
    low, lower = text.lower(), new.lower()
    if any(bool(kind.search(low)) != bool(kind.search(lower)) for kind in (_ROOM, _EXAMPLE)):
        return False
    if Counter(_ADDED.findall(lower)) - Counter(_ADDED.findall(low)):
        return False
    same = Counter(_SIGNS.findall(text)) == Counter(_SIGNS.findall(new))
    if not same or numbers(text) != numbers(new) or announces(text) != announces(new):
        return False
    if _technical(text) != _technical(new) or turned_round(text, new):
        return False
    if not names(text) <= names(new) | {word.lower() for word in re.findall(r"\w+", new)}:
        return False
    words, left = content_stems(text), content_stems(new)
    kept = not words or share_held(words, left) >= _IN_THE_SHORTER
    listed = [content_stems(part) for part in _LISTED.split(text)]
    return kept and len(held_in(left, words)) == len(left) and all(held_in(part, left) for part in listed if part)


def _members(text: str) -> set[str]:
    return {word for family, words in choices(text).items() if family < TELLING for word in words}


def _technical(text: str) -> set[str]:
    """Return the commands, paths, options and names of a text, each token by itself, and what is quoted."""
    text = _NO_NAME.sub("", text)
    marked = " ".join(_VERBATIM.findall(text))
    found = {token for token in _tokens(text) if _TECHNICAL.search(token)}
    return {token.strip(".:*").lower() for token in (*found, *_tokens(marked))} - {""}


def _tokens(text: str) -> list[str]:
    return [token for found in _TOKEN.findall(text) if (token := found.rstrip(_NO_END))]
