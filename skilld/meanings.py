"""The topics of a text as comparable terms: words and phrases with the same meaning are equal, in any language.

Text in, terms out, by the table in meanings.txt. Pure, without a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from pathlib import Path

from skilld.values import value_class
from skilld.words import FUNCTION_WORDS, INSTRUCTION_STEMS, has_unspaced, is_unspaced, stem

ANYTHING = "anything"  # the field of things and actions of any work: "file", "change"
EVERYDAY = "everyday"  # the field of things unrelated to programming: "recipe", "birthday"
_GAP, _MAX_GAP = "*", 3
_MIN_FORM, _MIN_ASCII = 4, 6  # letters that two forms of a word share; more if it may be English
_MIN_PART, _MIN_COMPOUND, _MAX_COMPOUND = 6, 9, 60  # letters of a part of a compound, and of a compound
_WORD_PATTERN = re.compile(r"\*|[^\W_]+|[^\s\w.,;:!?()\[\]{}'\"`/@$%^&|~<>=+#\\-]")
_HIRAGANA_PATTERN = re.compile(r"[\u3040-\u309f]+")  # words in hiragana only are mostly grammar
# Endings of languages with more inflection than English.
_ENDINGS = frozenset(
    """
    n en em er es e s t te ten st a o i as os ar ir ado ada ido ida ando iendo are ere ire ung é és ée ées r rs nen
    innen ów ami ach om u ę ą ie ego emu ych ich ować uj ił ała
    а я о е и ы у ю ь й ой ей ом ем ам ям ах ях ов ев ами ями ого его ому ему ую юю ая яя ые ие ый ий ть л ла ли ло
    ı ü lar ler ları leri yi yı nın nin da de dan den
    """.split()  # noqa: SIM905 - as in words.py
)
_MAX_ENDING = max(map(len, _ENDINGS))
# Parts of "don't" and "we've" without the apostrophe.
_CONTRACTION_WORDS = frozenset(
    """
    don doesn didn isn aren wasn weren shouldn couldn wouldn hasn haven hadn won ll ve re pls plz
    """.split()  # noqa: SIM905
)
# Meanings recognized by their form.
_SHAPES = tuple(
    (name, re.compile(pattern))
    for name, pattern in {
        "date-format": r"\b(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}[./-]\d{1,2}[./-]\d{1,2})\b",
        "emoji": r"[\U0001f300-\U0001faff\u2600-\u27bf]",
        "issue": r"\b[A-Z]{2,6}-\d+\b",
        "link": r"https?://",
        "release": r"\bv?\d+\.\d+\.\d+\b",
        "design": r"(?<!\w)#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b",
        "money": r"[$€£¥]\s?\d|\d\s?(?:[$€£¥]|EUR\b|USD\b)",
        "todo": r"\b(?:TODO|FIXME|XXX)s?\b",
    }.items()
)


@value_class
class Term:
    """A word or phrase of a text with its possible meanings, and whether it is only an action.

    `stem` is "" for a phrase; `stems` has the stems of all its content words.
    """

    stem: str
    stems: frozenset[str]
    meanings: frozenset[str]
    is_action: bool = False


class _Table:
    """The table for lookups: meanings by stem, by stem without its ending and by phrase; fields by meaning."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.fields: dict[str, str] = {}
        self.words: dict[str, frozenset[str]] = {}
        self.others: dict[str, frozenset[str]] = {}  # of languages other than English
        self.forms: dict[str, frozenset[str]] = {}  # these without their ending
        self.phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}  # by their first stem, the longest first
        self.unspaced: dict[str, str] = {}
        self.common: frozenset[str] = frozenset()
        field = name = ""
        for line in lines:
            if line.startswith("== "):
                field = line.removeprefix("== ")
            elif line.startswith("= "):
                self.common = frozenset(line.removeprefix("= ").split())
            elif line.startswith(" "):
                self._add(name, line.split(), is_english=False)
            elif line and not line.startswith("#"):
                name, _, entries = line.partition(": ")
                self.fields[name] = field
                self._add(name, entries.split(), is_english=True)
        for some in self.phrases.values():
            some.sort(key=lambda one: -len(one[0]))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All entries in scripts without blanks, the longest first. Slow to compile, and rarely used."""
        longest_first = sorted(self.unspaced, key=len, reverse=True)
        return re.compile("|".join(r"\s?".join(map(re.escape, one)) for one in longest_first), re.IGNORECASE)

    def _add(self, name: str, entries: Iterable[str], *, is_english: bool) -> None:
        for entry in entries:
            if has_unspaced(entry):
                self.unspaced.setdefault(entry.replace("_", "").casefold(), name)
                continue
            first, *rest = map(stem, _words(entry.replace("_", " ")))
            if rest:
                self.phrases.setdefault(first, []).append(((first, *rest), name))
                continue
            tables = [(self.words, first)]
            if not is_english:
                tables += [(self.others, first), (self.forms, _form(first))]
            for table, word in tables:
                table[word] = table.get(word, frozenset()) | {name}


@cache
def _table() -> _Table:
    return _Table(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines())


def field_of(meaning: str) -> str:
    """Return the field of work of a meaning."""
    return _table().fields[meaning]


def common_meanings() -> frozenset[str]:
    """Return the meanings that are too common in software development to be significant alone."""
    return _table().common


def _words(text: str) -> list[str]:
    """Return the words of a text; for a script without blanks, its pairs of neighbouring characters."""
    found = []
    for word in _WORD_PATTERN.findall(unicodedata.normalize("NFC", text).casefold()):
        if is_unspaced(word):
            found += [
                pair
                for at in range(max(1, len(word) - 1))
                if not _HIRAGANA_PATTERN.fullmatch(pair := word[at : at + 2])
            ]
        else:
            found.append(word)
    return found


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[Term, ...]:
    """Return the distinct terms of a text in a fixed order, without words that any instruction has."""
    table = _table()
    found = {Term("", frozenset(), frozenset({name})) for name, shape in _SHAPES if shape.search(text)}
    if has_unspaced(text):
        text, others = _find_unspaced(text)
        found |= others
    written = _words(text)
    tokens = list(map(stem, written))
    done = [word in FUNCTION_WORDS or word in _CONTRACTION_WORDS for word in written]
    for at, token in enumerate(tokens):
        for phrase, name in table.phrases.get(token, ()):
            places = _match(phrase, tokens, at)
            if places and not all(done[place] for place in places):
                content = [tokens[place] for place in places if written[place] not in FUNCTION_WORDS]
                found.add(_phrase_term(name, content, is_whole=len(content) == len(places)))
                for place in places:
                    done[place] = True
                break
    found.update(_term(token) for token, used in zip(tokens, done, strict=True) if not used and _is_content(token))
    return tuple(sorted(found, key=lambda term: (term.stem, sorted(term.meanings), sorted(term.stems))))


def _match(phrase: tuple[str, ...], tokens: list[str], at: int) -> list[int]:
    """Return the positions of a phrase's words in a text from a position on; none if it does not occur."""
    places, gap = [at], 0
    for word in phrase[1:]:
        if word == _GAP:
            gap = _MAX_GAP
            continue
        begin = places[-1] + 1
        place = next((n for n in range(begin, min(begin + gap + 1, len(tokens))) if tokens[n] == word), None)
        if place is None:
            return []
        places.append(place)
        gap = 0
    return places


def _phrase_term(name: str, words: list[str], *, is_whole: bool) -> Term:
    """Return a phrase as a term, with its own meaning and, if `is_whole`, its words' meanings in the same field."""
    field = field_of(name)
    related = words if is_whole else ()
    things = {meaning for word in related for meaning in _table().words.get(word, ()) if field_of(meaning) == field}
    return Term("", frozenset(words) - INSTRUCTION_STEMS, frozenset({name, *things}), _is_action(name))


def _find_unspaced(text: str) -> tuple[str, set[Term]]:
    """Return a text without the known words in scripts without blanks, and these words as terms."""
    table = _table()
    found = set()
    for known in {re.sub(r"\s", "", one).casefold() for one in table.pattern.findall(text)}:
        name = table.unspaced[known]
        found.add(Term("", frozenset(_words(known)), frozenset({name}), _is_action(name)))
    return table.pattern.sub(" ", text), found


def _is_content(token: str) -> bool:
    return len(token) > 1 and (token in _table().words or token not in INSTRUCTION_STEMS)


def _is_action(meaning: str) -> bool:
    return _table().fields[meaning] == ANYTHING


@lru_cache(maxsize=16384)
def _term(word: str) -> Term:
    meanings = _meanings(word)
    things = frozenset(meaning for meaning in meanings if not _is_action(meaning))
    return Term(word, frozenset({word}), meanings, bool(meanings) and not things)


def _meanings(word: str) -> frozenset[str]:
    """Return the meanings of a stem: directly, by another form, or by the parts of a compound."""
    table = _table()
    if found := table.words.get(word):
        return found
    if len(word) < _MIN_FORM or word.isdigit() or is_unspaced(word):
        return frozenset()
    form = _form(word)
    if found := table.others.get(form) or table.forms.get(form):
        return found
    if not _MIN_COMPOUND <= len(word) <= _MAX_COMPOUND:
        return frozenset()
    return frozenset(meaning for part in _parts(word) for meaning in table.others.get(part, ()))


def _form(word: str) -> str:
    """Return a word without its longest known ending."""
    least = _MIN_ASCII if word.isascii() else _MIN_FORM
    for length in range(min(_MAX_ENDING, len(word) - least), 0, -1):
        if word[-length:] in _ENDINGS:
            return word[:-length]
    return word


def _parts(word: str) -> Iterator[str]:
    """Yield the possible first and last parts of a compound, with and without an ending: "Versionshinweise"."""
    for at in range(_MIN_PART, len(word) - _MIN_FORM + 1):
        begin, end = word[:at], word[len(word) - at :]
        yield from (one[: len(one) - cut] for one in (begin, end) for cut in (0, 1, 2) if len(one) - cut >= _MIN_PART)


def related_stems(text: str) -> list[str]:
    """Return the stems of other words with the same meaning as a thing in `text`, for a search by stems."""
    meant = {meaning for term in terms(text) if not term.is_action for meaning in term.meanings}
    return [word for word, meanings in _table().words.items() if not meanings.isdisjoint(meant) and word.isalnum()]


class Words:
    """A set of terms, for testing whether it has a term with the same meaning."""

    def __init__(self, found: Iterable[Term]) -> None:
        known = tuple(found)
        self.stems = frozenset(stem for term in known for stem in term.stems)
        self.meanings = frozenset(meaning for term in known for meaning in term.meanings)
        self.phrased = frozenset(meaning for term in known if not term.stem for meaning in term.meanings)

    def __contains__(self, term: Term) -> bool:
        return not self.meanings.isdisjoint(term.meanings) or (bool(term.stems) and term.stems <= self.stems)


@lru_cache(maxsize=512)
def words(text: str) -> Words:
    """Return the terms of a text as a set for tests of membership."""
    return Words(terms(text))
