"""Compares texts by their words without inflection and function words; finds names, numbers and negation.

Text in, sets of words out. There is no dictionary: endings are removed by rules, which is coarse but the same for both
texts.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from skilld.values import value_class


def _words_by_language(lines: list[str]) -> tuple[frozenset[str], ...]:
    """Return the words below each heading of the list; similar languages share a heading."""
    groups: list[set[str]] = [set()]
    for line in lines:
        if line.startswith("#"):
            groups.append(set())
        else:
            groups[-1].update(line.split())
    return tuple(frozenset(group) for group in groups if group)


# Function words and cue words of all languages: they show the language of a text, but not its topic.
_LANGUAGE_WORDS = _words_by_language(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines())
_ENGLISH = 0
# Without names that are pronouns in Polish and Italian: "use vi keys" is not "use emacs keys".
FUNCTION_WORDS = frozenset().union(*_LANGUAGE_WORDS) - {"mu", "vi"}
# Words of any instruction, which a change may add freely. They still count between two rules, where "ask before" and
# "first" make the difference: without them the offline back-end confused two rules (14 labelled development batches
# found, one of them false; with them 13 and none).
_INSTRUCTION_WORDS = frozenset(
    """
    above after against ask avoid before below between case check describe ensure first follow following further
    give given include including kept made making mention need needed needs new next provide say see set specify state
    step take under use used user using usa usar usa via within work write writing
    verwenden verwende benutzen benutze nutzen nutze schreiben schreibe machen mache utiliser utilise utilisez faire
    fais faites écrire écris écrivez mettre mets scrivere scrivi fare fai hacer haz escribir escribe poner pon fazer
    faça escrever escreva colocar coloque gebruiken gebruik schrijven schrijf maken maak использовать используй
    использует писать пиши делать делай používat používej psát piš dělat dělej używać używaj pisać pisz robić rób
    använda använd skriva skriv göra gör kullanmak kullan yazmak yaz yapmak yap
    """.split()  # noqa: SIM905 - a list of 50 words is read more easily as text
)
NUMBER_WORDS = {
    "0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
    "8": "eight", "9": "nine", "10": "ten", "11": "eleven", "12": "twelve", "15": "fifteen", "20": "twenty",
    "30": "thirty", "40": "forty", "50": "fifty", "60": "sixty", "100": "hundred", "1000": "thousand",
}  # fmt: skip
# "one" is too often no number.
_DIGITS_BY_WORD = {word: number for number, word in NUMBER_WORDS.items() if int(number) > 1}
_NUMBER_WORD_PATTERN = re.compile(rf"\b(?:{'|'.join(_DIGITS_BY_WORD)})\b", re.IGNORECASE)
# "Add a rule to the skill" is not about rules or skills; but a change must not mention rules that nobody mentioned.
_FILE_WORDS = frozenset({"rule", "rules", "skill", "skills"})
_NO_CONTENT, _NO_SUBJECT = FUNCTION_WORDS | _FILE_WORDS, FUNCTION_WORDS | _INSTRUCTION_WORDS
_SUFFIXES = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "ed", "es", "ly", "er", "s", "e", "y")
# All in characters.
_MIN_STEM = 3
MIN_COMMON_STEM = 4
_MAX_ENDING = 3
_MAX_FEW_WORDS = 4
_MIN_FOREIGN_SHARE = 0.5
_UNSPACED_WORD_LENGTH = 2  # of a word in a script without blanks
_MAX_WORD_LENGTH = 64  # longer words are only compared exactly
_MIN_MISTYPED_LENGTH = 5  # too many shorter words differ in one character

_WORD_PATTERN = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
# What French and Italian shorten before a vowel: "les emojis", "pas d'emojis".
_ELISION = re.compile(r"(?<![\w'])(?:[cdjlmnst]|qu|un|dell|nell|sull|dall|all|quell|quest|jusqu)'(?=[^\W\d_]{3})")
# Scripts written without blanks between words: kana, Han, Hangul (its particles cling to the word), Thai to Khmer.
_UNSPACED_PATTERN = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)
_NUMBER_PATTERN = re.compile(r"(?<![\d.])\d++(?!\.?\d)")
_UNIT_BEFORE_PATTERN = re.compile(r"([^\W\d_]++)(?: (?:of|is))?+[ -]*+\Z")
_UNIT_AFTER_PATTERN = re.compile(r"[ -]*+([^\W\d_]++)?")
_MAX_UNIT_DISTANCE = 60  # characters before a number that may contain its unit
_NEGATION_PATTERN = re.compile(
    r"\b(?:not|never|no|none|without|avoid|\w+n't|(?:do|does|did|is|are|was|ca|wo|must|should|could|would)nt|cannot|stop|quit|"
    r"hört? (?:\w+ )?auf|arr[êe]te[rz]? d(?:e|')|cesse[rz]? d(?:e|')|deja(?:d|r)? de|smett\w+ di|par(?:e|a|em) de|"
    r"nunca|jam[aá]s|sin|não|jamais|sem|pas|sans|n['\u2019]\w+ plus|ne \w+ plus|plus besoin|mai|non|senza|"
    r"nicht|nie|niemals|kein\w*|ohne|не|нельзя|никогда|без|хватит|nikdy|bez|nie|nigdy|đừng|không)\b"
    r"|不(?:要|用|必|准|许|許|得|可|能|需|应|應|该|該|再|想|希望|允许|允許)|[无無]需|没(?:有)?必要|沒(?:有)?必要|别|別|勿|禁止|永远不|永遠不"
    # "Sorry", "perhaps" and "would you not ...?" are polite forms in Japanese and no negation.
    r"|(?:ない|(?<!すみ)(?<!すい)(?<!申し訳あり)(?<!申し訳ござい)(?<!かもしれ)ません)(?!(?:でしょう)?か(?:\W|$))|ずに|禁止|마세요|말아|지\s?마|않|금지",
    re.IGNORECASE,
)


def normalize(text: str) -> str:
    """Return `text` with case and character forms normalized, and blanks around runs of unspaced scripts."""
    return space_scripts(unicodedata.normalize("NFKC", text)).casefold()


def space_scripts(text: str) -> str:
    """Put blanks around runs of unspaced scripts, so that patterns find the boundaries of Latin words."""
    return text if text.isascii() else _UNSPACED_PATTERN.sub(r" \g<0> ", text)


def is_unspaced(word: str) -> bool:
    """Whether a word is in a script without blanks between words."""
    return bool(_UNSPACED_PATTERN.match(word))


def has_unspaced(text: str) -> bool:
    """Whether `text` has words in a script without blanks between words."""
    return not text.isascii() and bool(_UNSPACED_PATTERN.search(text))


def count_words(text: str) -> float:
    """Return the number of words in `text`; in a script without blanks two characters count as one."""
    return sum(len(word) / _UNSPACED_WORD_LENGTH if is_unspaced(word) else 1 for word in space_scripts(text).split())


def proper_names(text: str) -> set[str]:
    """Return the capitalized words within sentences, case folded: names of people, products, languages."""
    found = set()
    for match in re.finditer(r"(?<=[\w,;:)\u2019'\"`] )[A-Z][a-z]{2,}\w*", text):
        found.add(match.group(0).casefold())
    return found - FUNCTION_WORDS - _INSTRUCTION_WORDS


def contains_name(name: str, text: str) -> bool:
    """Whether the normalized `text` contains the name, in any case or number."""
    return any(same_stem(stem(name), stem(word)) for word in _WORD_PATTERN.findall(text))


def stems(text: str) -> frozenset[str]:
    """Return the content words of `text` without inflection.

    For a script without blanks, return its pairs of neighbouring characters.
    """
    return _stems_without(text, _NO_CONTENT)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of `text` without those of words that any instruction has."""
    return _stems_without(text, _NO_SUBJECT) - INSTRUCTION_STEMS


def _stems_without(text: str, left_out: frozenset[str]) -> frozenset[str]:
    folded = _ELISION.sub("", normalize(text).replace("\u2019", "'"))
    words = _WORD_PATTERN.findall(_UNSPACED_PATTERN.sub(" ", folded))
    found = {stem(word) for word in words if word not in left_out and word.partition("'")[0] not in left_out}
    for run in _UNSPACED_PATTERN.findall(folded):
        found.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return frozenset(word for word in found if len(word) > 1)


_IRREGULAR_FORMS = {
    "ran": "run", "wrote": "write", "written": "write", "kept": "keep", "sent": "send", "built": "build",
    "took": "take", "taken": "take", "gave": "give", "given": "give", "broke": "break", "broken": "break",
    "chose": "choose", "chosen": "choose", "left": "leave", "said": "say", "went": "go", "gone": "go",
}  # fmt: skip
# "dir" is a German pronoun, and "env" the name of a file.
_SHORT_FORMS = {
    "dep": "dependency", "deps": "dependency", "msg": "message", "msgs": "message", "config": "configuration",
    "configs": "configuration", "repo": "repository", "repos": "repository", "param": "parameter",
    "params": "parameter", "pkg": "package", "pkgs": "package", "db": "database", "dbs": "database",
    "func": "function", "funcs": "function", "fn": "function", "impl": "implementation", "docs": "documentation",
    "directory": "folder", "directories": "folder", "dirs": "folder", "prod": "production", "arg": "argument",
    "args": "argument", "admin": "administrator", "admins": "administrator",
}  # fmt: skip
_USUAL_FORMS = {**_IRREGULAR_FORMS, **_SHORT_FORMS}


@lru_cache(maxsize=4096)  # the same words come again and again
def stem(word: str) -> str:
    """Return a word without a common English ending, or what it is short for (crude, but the same for both texts)."""
    word = word.replace("\u2019", "'").removesuffix("'s")
    word = _USUAL_FORMS.get(word, word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > _MIN_STEM and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word


INSTRUCTION_STEMS = frozenset(map(stem, _INSTRUCTION_WORDS))


def same_stem(one: str, other: str) -> bool:
    """Whether two stems are forms of the same word: equal, or one starts with the other, of four letters or more.

    Languages with more inflection, recognized by letters outside ASCII, may differ in the last three letters of both.
    """
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < MIN_COMMON_STEM:
        return False
    if long.startswith(short):
        return len(long) - len(short) <= len(short)
    if one.isascii() or other.isascii() or _UNSPACED_PATTERN.search(one):
        return False
    common = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return common >= MIN_COMMON_STEM and len(long) - common <= _MAX_ENDING


def is_other_language(one: str, other: str) -> bool:
    """Whether two texts are clearly in different languages: by their scripts, or by their function words."""
    if bool(_UNSPACED_PATTERN.search(one)) != bool(_UNSPACED_PATTERN.search(other)):
        return True
    if {_mostly_ascii(one), _mostly_ascii(other)} == {True, False}:
        return True
    mine, theirs = _languages(one), _languages(other)
    return bool(mine and theirs) and not mine & theirs


def is_inflected(text: str) -> bool:
    """Whether the function words of a text are of a language whose endings `stem` does not know: of any but English."""
    return bool(found := _languages(text)) and _ENGLISH not in found


def _mostly_ascii(text: str) -> bool | None:
    """Whether all words of a text are ASCII (True) or at least half are not (False); None otherwise, or if short."""
    words = _WORD_PATTERN.findall(text)
    if len(words) < _MAX_FEW_WORDS:
        return None
    beyond = sum(not word.isascii() for word in words) / len(words)
    return True if beyond == 0 else False if beyond >= _MIN_FOREIGN_SHARE else None


def _languages(text: str) -> set[int]:
    words = _WORD_PATTERN.findall(normalize(text))
    counts = [sum(word in tongue for word in words) for tongue in _LANGUAGE_WORDS]
    return {i for i, count in enumerate(counts) if count and count == max(counts)}


def matching_words(words: Collection[str], ground: frozenset[str], *, slips: bool = False) -> frozenset[str]:
    """Return the stems among `words` that `ground` has in any form.

    With `slips` a word of the ground may be mistyped (two letters exchanged, one too many or too few), or have an
    unknown ending. Pass all words at once: the forms of a ground are cached, but comparing two grounds takes time in
    proportion to their words.
    """
    forms = _forms(ground)
    return frozenset(word for word in words if word in ground or forms.hold(word, slips=slips))


def matching_share(words: frozenset[str], ground: frozenset[str], *, slips: bool = False) -> float:
    """Return the share of `words` that `matching_words` finds, 0 to 1; 0 if there are none."""
    return len(matching_words(words, ground, slips=slips)) / len(words) if words else 0.0


@value_class
class _Forms:
    """The possible forms of a set of words, for checking `same_stem` and typing errors against all at once.

    `stems` are the words, `begun` their beginnings with the same stem, `alike` the beginnings that two words of
    languages with more inflection must share, `shortened` the words without one letter, `leading` beginnings of at
    least two thirds of a word.
    """

    stems: frozenset[str]
    begun: frozenset[str]
    alike: frozenset[str]
    shortened: frozenset[str]
    leading: frozenset[str]

    def hold(self, word: str, *, slips: bool) -> bool:
        """Whether a word is another form of one of them, or with `slips` mistyped."""
        length = len(word)
        if length > _MAX_WORD_LENGTH:
            return False
        if word in self.begun or any(word[:k] in self.stems for k in range(_half_length(length), length)):
            return True
        if not (word.isascii() or _UNSPACED_PATTERN.search(word)) and any(
            one in self.alike for one in _shared_beginnings(word)
        ):
            return True
        if not slips or length < _MIN_MISTYPED_LENGTH:
            return False
        swapped = (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, length - 1))
        return (
            word in self.shortened
            or any(one in self.stems for one in swapped)
            or any(word[:k] in self.leading for k in range(_two_thirds(length), length + 1))
            or (length > _MIN_MISTYPED_LENGTH and any(one in self.stems for one in _without_a_letter(word)))
        )


@lru_cache(maxsize=64)
def _forms(words: frozenset[str]) -> _Forms:
    usable = [word for word in words if len(word) <= _MAX_WORD_LENGTH]
    return _Forms(
        frozenset(usable),
        frozenset(word[:k] for word in usable for k in range(_half_length(len(word)), len(word))),
        frozenset(one for word in usable if not word.isascii() for one in _shared_beginnings(word)),
        frozenset(one for word in usable for one in _without_a_letter(word)),
        frozenset(word[:k] for word in usable for k in range(_two_thirds(len(word)), len(word) + 1)),
    )


def _two_thirds(length: int) -> int:
    """Return two thirds of a word's length, but at least MIN_COMMON_STEM: "emotek", "emotki"."""
    return max(MIN_COMMON_STEM, -(-2 * length // 3))


def _half_length(length: int) -> int:
    """Return the minimum length of a beginning that is the same stem as a word of this length."""
    return max(MIN_COMMON_STEM, (length + 1) // 2)


def _shared_beginnings(word: str) -> list[str]:
    return [word[:k] for k in range(max(MIN_COMMON_STEM, len(word) - _MAX_ENDING), len(word) + 1)]


def _without_a_letter(word: str) -> list[str]:
    return [word[:i] + word[i + 1 :] for i in range(1, len(word))]


def numbers(text: str) -> frozenset[str]:
    """Return the numbers written in `text`."""
    return frozenset(re.findall(r"\d+(?:[.,]\d+)?", with_digits(text)))


def with_digits(text: str) -> str:
    """Return `text` with English number words as digits."""
    return _NUMBER_WORD_PATTERN.sub(lambda match: _DIGITS_BY_WORD[match[0].lower()], text)


def numbers_by_unit(text: str) -> dict[str, str]:
    """Return the numbers of `text` by the word before or after them: "under" and "characters" for "60"."""
    out: dict[str, str] = {}
    text = with_digits(text).lower()
    done = 0
    for number in _NUMBER_PATTERN.finditer(text):
        before = _UNIT_BEFORE_PATTERN.search(text, max(done, number.start() - _MAX_UNIT_DISTANCE), number.start())
        after = _UNIT_AFTER_PATTERN.match(text, number.end())
        out |= {unit[1]: number[0] for unit in (before, after) if unit and unit[1]}
        done = after.end() if after else number.end()
    return out


@lru_cache(maxsize=64)  # each check of a rule asks
def has_negation(text: str) -> bool:
    """Whether `text` has a negation: "not", "never", "without" and their counterparts."""
    return bool(_NEGATION_PATTERN.search(text))


def likeness(wanted: frozenset[str], other: frozenset[str]) -> float:
    """Return the similarity of two sets of stems: the cosine, 0 to 1."""
    shared = len(wanted & other)
    return shared / math.sqrt(len(wanted) * len(other)) if shared else 0.0


# Minimum likeness of words to a skill's name and description. Of 41 English updates in the labelled batches, with 19
# skills to choose from, 3 reach it, all with the right skill; without that skill none does. At 0.25 it is 10, 5 of them
# right.
MIN_SUBJECT_LIKENESS = 0.3
_MIN_SUBJECT_STEMS = 2


def is_about(text: str, stems: frozenset[str]) -> bool:
    """Whether words are about the subject of a skill whose name and description have these stems.

    One shared word is none: "keep production secrets in vault" is not about "Deploy the shop to production".
    """
    wanted = content_stems(text)
    return len(wanted & stems) >= _MIN_SUBJECT_STEMS and likeness(wanted, stems) >= MIN_SUBJECT_LIKENESS


# Minimum share of common stems of two instructions that are the same ask. Different ones ("use pnpm" and "use yarn")
# share less; the same in other words shares more (tests/unit/test_memory.py).
MIN_SAME_SHARE = 0.6


def is_same_ask(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two instructions with these stems are the same ask."""
    together = len(one | other)
    return bool(together) and len(one & other) / together >= MIN_SAME_SHARE
