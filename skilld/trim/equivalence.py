"""Whether a text says everything that another one says, to check a model's claims and rewordings. Pure.

Everything binding has to be in both: measures, conditions, prohibitions and their strength, every name, path, command
and quotation. docs/measurements/trim.md has its precision.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher

from skilld.classify.offline.choices import DISTINCTIVE_CHOICES, changed_choice, choices, is_reversed_choice
from skilld.classify.offline.phrasing import begins_with_order
from skilld.trim.units import announces
from skilld.words import (
    content_stems,
    has_negation,
    is_other_language,
    matching_share,
    matching_words,
    numbers,
    proper_names,
)

_MIN_IN_FILE = 0.67  # share of the words that the rest of the file contains
_MIN_IN_OTHER = 0.33  # share of the words that the other text contains, including its heading
_MIN_KEPT = 0.5  # share of the words that a rewording keeps: with fewer it is another text
_MARKER = re.compile(r"^[ \t]*+(?:[-*+]|\d++[.)])[ \t]++(?:\[[ xX]\][ \t]++)?+", re.MULTILINE)
_NOT_IN_NAMES = re.compile(r"\*\*|__|(?<!\S)\*(?=\w)|\b(?:e\.g|i\.e)\b\.?")
_VERBATIM = re.compile(r"!?\[[^\[\]]*+\]\([^()]*+\)|`[^`]*`|\"[^\"]*\"|“[^“”]*+”|<[^<>\s]++>")
_EMPHASIZED = re.compile(r"(?:\*\*|__)([^*_]++)(?:\*\*|__)")
_WORD = re.compile(r"\w")
_TOKEN = re.compile(r"[\w@./:*<>{}$=+-]++")
_TRAILING = ".:@<{$=+-"  # characters that a token may contain but not end with
_TECHNICAL = re.compile(r"\w[./:_]\w|^[./@$<{-]|\d|[a-z][A-Z]|[*{}$=]|^[A-Z]{2,}$")
_SYMBOLS = re.compile(r"[?%<>≤≥≈~→←#|{}]|\[|\]")
# Words for strictness, conditions and order: a rewording has each exactly as often.
_BINDING_WORDS = {
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
    "|".join(rf"(?P<c{at}>(?<!\w)(?:{one})(?!\w)|(?<=\w)n't)" for at, one in enumerate(_BINDING_WORDS.values()))
)
_ENGLISH_WORDS = "the of and to in that is for with on are it this which"  # the table above is English only
_MAX_COMPARED = 200  # words of a text: comparing takes the square of it
_SMALL_WORDS = frozenset(["a", "an", "the", "am", "is", "are", "was", "were", "be", "been"])
_STRICT = {"never", "not", "must", "always", "forbid", "critical"}
# Hedging words: a rewording has one if the text had one.
_HEDGE = re.compile(r"\b(?:usually|often|typically|sometimes|may|might|could|generally|mostly|likely|ideally)\b")
_EXAMPLE_MARKER = re.compile(r"\b(?:e\.g|i\.e|for (?:example|instance)|such as|like|etc|including|includes)\b")
_LOOSE_WORD = re.compile(r"\b(?:any|may|might|could|can|should|too|also|or)\b")
# Between the parts of a list: a rewording keeps something of each part.
_LIST_SEPARATOR = re.compile(r"[,;:()—–]\s|\s[-—–(]\s?|\b(?:and|or)\b")


def binding_words(text: str) -> Counter[str]:
    """Count the words of a text for strictness, conditions and order."""
    found = _BINDING.finditer(text.lower().replace("\u2019", "'"))
    return Counter([*_BINDING_WORDS][int((one.lastgroup or "c0")[1:])] for one in found)


def is_covered(text: str, heading: str, other: str, others_heading: str, rest: str) -> bool:
    """Whether `other`, under its heading, says what `text` says; `rest` is all that stays of the file, with `other`."""
    text, by = _MARKER.sub("", text), f"{others_heading}\n{other}"
    if not numbers(text) <= numbers(by) or (has_negation(text) and not has_negation(by)):
        return False
    bound, there = set(binding_words(text)), set(binding_words(by))
    if not bound - _STRICT <= there or (bound & _STRICT and not there & _STRICT):
        return False
    if changed_choice(text, other) or is_reversed_choice(text, other):
        return False
    words = content_stems(text)
    if not words or not _names_remain(text, rest):
        return False
    share = len(words & content_stems(by)) / len(words)
    return share >= _MIN_IN_OTHER and _words_remain(text, heading, rest)


def is_redundant(text: str, heading: str, rest: str) -> bool:
    """Whether nothing in `text` is binding, and the rest of the file has its names and words."""
    bound = binding_words(text) or numbers(text) or _HEDGE.search(text.lower()) or _VERBATIM.search(text)
    return not bound and bool(content_stems(text)) and _names_remain(text, rest) and _words_remain(text, heading, rest)


def _words_remain(text: str, heading: str, rest: str) -> bool:
    bare = content_stems(text) - content_stems(heading)
    return len(bare & content_stems(rest)) >= _MIN_IN_FILE * len(bare)


def _names_remain(text: str, rest: str) -> bool:
    if not _choices_named(text) <= _choices_named(rest) or not _technical_terms(text) <= _technical_terms(rest):
        return False
    return proper_names(text) <= proper_names(rest) | {word.lower() for word in re.findall(r"\w+", rest)}


def checked_rewording(text: str, new: str) -> str:
    """Return `new` if it says what `text` says in fewer of its words, with the same markers; otherwise ""."""
    new = new.strip("\n")
    heads = _MARKER.findall(text)
    if len(heads) == 1 and text.startswith(heads[0]) and not _MARKER.match(new):
        new = heads[0] + new.lstrip()
    bare, left = _MARKER.sub("", text), _MARKER.sub("", new)
    as_many = new.count("\n") <= text.count("\n") and all(map(_WORD.search, new.split("\n")))
    if is_other_language(_ENGLISH_WORDS, bare) or not as_many:
        return ""
    same = _MARKER.findall(new) == heads and _VERBATIM.findall(bare) == _VERBATIM.findall(left)
    same = same and binding_words(bare) == binding_words(left) and not _is_shorthand(bare, left)
    return new if same and _means_the_same(bare, left) else ""


def _is_shorthand(text: str, new: str) -> bool:
    """Whether a rewording is a note where the text is a sentence: only small words, or the order at its start, is gone.

    "Use constructor injection" is "constructor injection" in shorthand, and "money is always decimal" "money always
    decimal".
    """
    if begins_with_order(text) and not begins_with_order(new):
        return True
    old, left = text.lower().split(), new.lower().split()
    if len(old) > _MAX_COMPARED:
        return False
    changes = SequenceMatcher(None, old, left, autojunk=False).get_opcodes()
    return any(kind == "delete" and _SMALL_WORDS.issuperset(old[start:stop]) for kind, start, stop, *_ in changes)


def _means_the_same(text: str, new: str) -> bool:
    for said in _EMPHASIZED.findall(text):  # only binding words must stay emphasized
        if said not in new or (binding_words(said) and said not in _EMPHASIZED.findall(new)):
            return False
    low, lower = text.lower(), new.lower()
    if any(bool(kind.search(low)) != bool(kind.search(lower)) for kind in (_HEDGE, _EXAMPLE_MARKER)):
        return False
    if Counter(_LOOSE_WORD.findall(lower)) - Counter(_LOOSE_WORD.findall(low)):
        return False
    same = Counter(_SYMBOLS.findall(text)) == Counter(_SYMBOLS.findall(new))
    if not same or numbers(text) != numbers(new) or announces(text) != announces(new):
        return False
    if _technical_terms(text) != _technical_terms(new) or is_reversed_choice(text, new):
        return False
    if not proper_names(text) <= proper_names(new) | {word.lower() for word in re.findall(r"\w+", new)}:
        return False
    words, left = content_stems(text), content_stems(new)
    kept = not words or matching_share(words, left) >= _MIN_KEPT
    listed = [content_stems(part) for part in _LIST_SEPARATOR.split(text)]
    return (
        kept
        and len(matching_words(left, words)) == len(left)
        and all(matching_words(part, left) for part in listed if part)
    )


def _choices_named(text: str) -> set[str]:
    return {word for family, words in choices(text).items() if family < DISTINCTIVE_CHOICES for word in words}


def _technical_terms(text: str) -> set[str]:
    """Return the commands, paths, options and names of a text as single tokens, and those of its quotations."""
    text = _NOT_IN_NAMES.sub("", text)
    marked = " ".join(_VERBATIM.findall(text))
    found = {token for token in _tokens(text) if _TECHNICAL.search(token)}
    return {token.strip(".:*").lower() for token in (*found, *_tokens(marked))} - {""}


def _tokens(text: str) -> list[str]:
    return [token for found in _TOKEN.findall(text) if (token := found.rstrip(_TRAILING))]
