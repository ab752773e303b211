"""Words of a text as they are compared: without inflection or function words; names, numbers, negation.

Text in, sets of words out. No dictionary: endings are cut by rule, which is coarse but equal on both sides.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


def _by_tongue(lines: list[str]) -> tuple[frozenset[str], ...]:
    """Return the words below each heading of our list: languages that are near each other stand together."""
    groups: list[set[str]] = [set()]
    for line in lines:
        if line.startswith("#"):
            groups.append(set())
        else:
            groups[-1].update(line.split())
    return tuple(frozenset(group) for group in groups if group)


# Function words and cue words of all languages: they say nothing of what a text is about, but in which one it is.
_TONGUES = _by_tongue(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines())
FUNCTION_WORDS = frozenset().union(*_TONGUES)
# Words that any instruction is made of. A change may add them freely; but between two rules "ask before" and "first"
# make the difference: without them the offline back-end took one rule for another (14 batches found, one of them false,
# of the labelled development batches; 13 and none with them).
_INSTRUCTING = frozenset(
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
SPELLED = {"0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven"} | {
    "8": "eight", "9": "nine", "10": "ten", "11": "eleven", "12": "twelve", "15": "fifteen", "20": "twenty",
    "30": "thirty", "40": "forty", "50": "fifty", "60": "sixty", "100": "hundred", "1000": "thousand",
}  # fmt: skip
_DIGITS = {word: number for number, word in SPELLED.items() if int(number) > 1}  # "one" is too often no number
_SPELLED_OUT = re.compile(rf"\b(?:{'|'.join(_DIGITS)})\b", re.IGNORECASE)
# "Add a rule to the skill" is about neither; but what a change says of rules must have been said.
_OF_THE_FILE = frozenset({"rule", "rules", "skill", "skills"})
_SUFFIXES = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "ed", "es", "ly", "er", "s", "e", "y")
# All in letters.
_MIN_STEM = 3
COMMON_STEM = 4
_MAX_ENDING = 3
_MAX_FEW_WORDS = 4
_HALF = 0.5
_WORD_LENGTH = 2  # characters of a word in a script without blanks
_MAX_WORD = 64  # of a longer one no other form is looked for
_MIN_MISTYPED = 5  # of shorter words too many differ in one

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
# Scripts written without blanks between words: kana, Han, Hangul (its particles cling to the word), Thai to Khmer.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)
_NUMBER = re.compile(r"(?<![\d.])\d++(?![\d.])")
_UNIT_BEFORE = re.compile(r"([^\W\d_]++)[ -]*+\Z")
_UNIT_BEHIND = re.compile(r"[ -]*+([^\W\d_]++)?")
_NEAR = 60  # characters before a number in which its unit is looked for
_DENIES = re.compile(
    r"\b(?:not|never|no|none|without|avoid|\w+n't|(?:do|does|did|is|are|was|ca|wo|must|should|could|would)nt|cannot|stop|nunca|jam[aá]s|sin|não|jamais|sem|pas|sans|mai|non|senza|"
    r"nicht|nie|niemals|kein\w*|ohne|не|нельзя|никогда|без|хватит|nikdy|bez|nie|nigdy|đừng|không)\b"
    r"|不(?:要|用|必|准|许|許|得|可|能|需|应|應|该|該|再|想|希望|允许|允許)|[无無]需|没(?:有)?必要|沒(?:有)?必要|别|別|勿|禁止|永远不|永遠不"
    # "Sorry", "perhaps" and "would you not ...?" are polite in Japanese, and say no to nothing.
    r"|(?:ない|(?<!すみ)(?<!すい)(?<!申し訳あり)(?<!申し訳ござい)(?<!かもしれ)ません)(?!(?:でしょう)?か(?:\W|$))|ずに|禁止|마세요|말아|지\s?마|않|금지",
    re.IGNORECASE,
)


def comparable(text: str) -> str:
    """Return `text` case folded, one form for each character, unspaced scripts set off by blanks."""
    return apart(unicodedata.normalize("NFKC", text)).casefold()


def apart(text: str) -> str:
    """Set runs of unspaced script off by blanks: in them a Latin word has no boundary that a pattern could see."""
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


def is_unspaced(word: str) -> bool:
    """Whether a word is in a script that sets no blanks between words."""
    return bool(_UNSPACED.match(word))


def is_unspaced_in(text: str) -> bool:
    """Whether `text` has words in a script that sets no blanks between them."""
    return not text.isascii() and bool(_UNSPACED.search(text))


def count_words(text: str) -> float:
    """Return how many words `text` has; of a script without blanks two characters make one."""
    return sum(len(word) / _WORD_LENGTH if is_unspaced(word) else 1 for word in apart(text).split())


def names(text: str) -> set[str]:
    """Return the capitalised words that do not begin a sentence, case folded: names of people, products, languages."""
    found = set()
    for match in re.finditer(r"(?<=[\w,;:)\u2019'\"`] )[A-Z][a-z]{2,}\w*", text):
        found.add(match.group(0).casefold())
    return found - FUNCTION_WORDS - _INSTRUCTING


def holds_name(name: str, text: str) -> bool:
    """Whether the comparable `text` holds the name, in whatever case or number."""
    return any(same_stem(stem(name), stem(word)) for word in _WORD.findall(text))


def stems(text: str) -> frozenset[str]:
    """Return the words of `text` that say what it is about, without inflection.

    A script without blanks gives its pairs of neighbouring characters.
    """
    return _stems(text, FUNCTION_WORDS | _OF_THE_FILE)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of `text` without the words that any instruction is made of, in whatever form."""
    return _stems(text, FUNCTION_WORDS | _INSTRUCTING) - INSTRUCTING_STEMS


def _stems(text: str, left_out: frozenset[str]) -> frozenset[str]:
    folded = comparable(text).replace("\u2019", "'")
    words = _WORD.findall(_UNSPACED.sub(" ", folded))
    found = {stem(word) for word in words if not left_out & {word, word.partition("'")[0]}}
    for run in _UNSPACED.findall(folded):
        found.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return frozenset(word for word in found if len(word) > 1)


_IRREGULAR = {
    "ran": "run", "wrote": "write", "written": "write", "kept": "keep", "sent": "send", "built": "build",
    "took": "take", "taken": "take", "gave": "give", "given": "give", "broke": "break", "broken": "break",
    "chose": "choose", "chosen": "choose", "left": "leave", "said": "say", "went": "go", "gone": "go",
}  # fmt: skip


def stem(word: str) -> str:
    """Return a word without its commonest English ending (crude on purpose: both sides are treated alike)."""
    word = word.replace("\u2019", "'").removesuffix("'s")
    word = _IRREGULAR.get(word, word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > _MIN_STEM and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word


INSTRUCTING_STEMS = frozenset(map(stem, _INSTRUCTING))


def same_stem(one: str, other: str) -> bool:
    """Whether two stems are one word in different forms: equal, or one begins the other by four letters or more.

    Languages that inflect more, told by letters outside ASCII, may differ in the last three letters of both.
    """
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < COMMON_STEM:
        return False
    if long.startswith(short):
        return len(long) - len(short) <= len(short)
    if one.isascii() or other.isascii() or _UNSPACED.search(one):
        return False
    common = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return common >= COMMON_STEM and len(long) - common <= _MAX_ENDING


def other_tongue(one: str, other: str) -> bool:
    """Whether two texts are plainly in different languages: different scripts, or the little words of no common one."""
    if bool(_UNSPACED.search(one)) != bool(_UNSPACED.search(other)):
        return True
    if {_mostly_ascii(one), _mostly_ascii(other)} == {True, False}:
        return True
    mine, theirs = _tongues(one), _tongues(other)
    return bool(mine and theirs) and not mine & theirs


def _mostly_ascii(text: str) -> bool | None:
    """Whether a text of some words has none beyond ASCII (True) or half of them (False); None in between."""
    words = _WORD.findall(text)
    if len(words) < _MAX_FEW_WORDS:
        return None
    beyond = sum(not word.isascii() for word in words) / len(words)
    return True if beyond == 0 else False if beyond >= _HALF else None


def _tongues(text: str) -> set[int]:
    words = _WORD.findall(comparable(text))
    counts = [sum(word in tongue for word in words) for tongue in _TONGUES]
    return {i for i, count in enumerate(counts) if count and count == max(counts)}


def mistyped(one: str, other: str) -> bool:
    """Whether two words are one but for a slip of the finger: two letters exchanged, one too many or too few."""
    short, long = sorted((one, other), key=len)
    if len(short) < _MIN_MISTYPED or short[0] != long[0] or len(long) - len(short) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]


def held_in(words: Collection[str], ground: frozenset[str], *, slips: bool = False) -> frozenset[str]:
    """Return those of `words`, stems, that `ground` has in whatever form.

    With `slips` a word of the ground may be mistyped, or end otherwise in letters that no rule knows. Ask for all words
    at once: the forms of equal grounds are kept, and telling that two are equal takes a look at every word of them.
    """
    forms = _forms(ground)
    return frozenset(word for word in words if word in ground or forms.hold(word, slips=slips))


def share_held(words: frozenset[str], ground: frozenset[str], *, slips: bool = False) -> float:
    """Return the share of `words` that `held_in` finds: 0 to 1, and 0 if there are none."""
    return len(held_in(words, ground, slips=slips)) / len(words) if words else 0.0


@dataclass(frozen=True, slots=True)
class _Forms:
    """What words may look like that are one of a set in another form: `same_stem` and `mistyped`, all at once.

    `stems` are those words, `begun` what begins one of them and is one stem with it, `alike` the beginnings that two
    words of languages that inflect more must share, `shortened` each word without one of its letters, `leading` the
    beginnings that make two thirds of a word.
    """

    stems: frozenset[str]
    begun: frozenset[str]
    alike: frozenset[str]
    shortened: frozenset[str]
    leading: frozenset[str]

    def hold(self, word: str, *, slips: bool) -> bool:
        """Whether a word is one of them in another form, or with `slips` mistyped."""
        length = len(word)
        if length > _MAX_WORD:
            return False
        if word in self.begun or any(word[:k] in self.stems for k in range(_half(length), length)):
            return True
        if not (word.isascii() or _UNSPACED.search(word)) and any(one in self.alike for one in _alike(word)):
            return True
        if not slips or length < _MIN_MISTYPED:
            return False
        swapped = (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, length - 1))
        return (
            word in self.shortened
            or any(one in self.stems for one in swapped)
            or any(word[:k] in self.leading for k in range(_most(length), length + 1))
            or (length > _MIN_MISTYPED and any(one in self.stems for one in _shortened(word)))
        )


@lru_cache(maxsize=64)
def _forms(words: frozenset[str]) -> _Forms:
    known = [word for word in words if len(word) <= _MAX_WORD]
    return _Forms(
        frozenset(known),
        frozenset(word[:k] for word in known for k in range(_half(len(word)), len(word))),
        frozenset(one for word in known if not word.isascii() for one in _alike(word)),
        frozenset(one for word in known for one in _shortened(word)),
        frozenset(word[:k] for word in known for k in range(_most(len(word)), len(word) + 1)),
    )


def _most(length: int) -> int:
    """Return how many letters make two thirds of a word, and no fewer than tell it: "emotek", "emotki"."""
    return max(COMMON_STEM, -(-2 * length // 3))


def _half(length: int) -> int:
    """Return the least length of a stem that is one with a longer word, of so many letters, that it begins."""
    return max(COMMON_STEM, (length + 1) // 2)


def _alike(word: str) -> list[str]:
    return [word[:k] for k in range(max(COMMON_STEM, len(word) - _MAX_ENDING), len(word) + 1)]


def _shortened(word: str) -> list[str]:
    return [word[:i] + word[i + 1 :] for i in range(1, len(word))]


def numbers(text: str) -> frozenset[str]:
    """Return the numbers written in `text`."""
    return frozenset(re.findall(r"\d+(?:[.,]\d+)?", _in_digits(text)))


def _in_digits(text: str) -> str:
    """Return `text` with the numbers that are spelled out in English as digits."""
    return _SPELLED_OUT.sub(lambda match: _DIGITS[match[0].lower()], text)


def measures(text: str) -> dict[str, str]:
    """Return the numbers of `text` by the word that stands before or behind them: "under" and "characters" for "60"."""
    out: dict[str, str] = {}
    text = _in_digits(text).lower()
    done = 0
    for number in _NUMBER.finditer(text):
        before = _UNIT_BEFORE.search(text, max(done, number.start() - _NEAR), number.start())
        after = _UNIT_BEHIND.match(text, number.end())
        out |= {unit[1]: number[0] for unit in (before, after) if unit and unit[1]}
        done = after.end() if after else number.end()
    return out


def denies(text: str) -> bool:
    """Whether `text` says no to something: "not", "never", "without" and their counterparts."""
    return bool(_DENIES.search(text))


def likeness(wanted: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two texts have to do with each other by their stems: the cosine, 0 to 1."""
    shared = len(wanted & other)
    return shared / math.sqrt(len(wanted) * len(other)) if shared else 0.0


# Least likeness of words with a skill's name and description: of 41 English updates of the labelled batches, with 19
# skills to choose from, 3 reach it, all with the right skill; with that one taken away none does. At 0.25 it is 10, 5
# of them right.
SUBJECT = 0.3


def is_about(text: str, stems: frozenset[str]) -> bool:
    """Whether words are about the subject of a skill whose name and description have these stems."""
    return likeness(content_stems(text), stems) >= SUBJECT


# Share of common stems from which on two instructions are taken for one. Two that differ in what they are about
# ("use pnpm" and "use yarn") share too little; the same in other words shares more (tests/unit/test_memory.py).
SAME = 0.6


def same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two instructions with these stems are one ask."""
    together = len(one | other)
    return bool(together) and len(one & other) / together >= SAME
