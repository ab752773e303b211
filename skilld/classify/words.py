"""Words as the support check compares them: content words without inflection, and names. Pure."""

from __future__ import annotations

import re
import unicodedata

# Words that any instruction is made of. They carry no content of their own, so a change may add them freely.
_STOP = frozenset(
    """
    a about above after again against all also always an and another any anything are as ask at avoid away be because
    been before being below between both but by can case check could describe do does doing done down each either else
    ensure even ever every everything first following follow for from further get give given go had has have having
    here how i if in include including instead into is it its itself just keep kept later like made make making may me
    mention might more most must my need needed needs never new next no nor not note now of off on once one only or
    other our out over own per please prefer provide rather really same say see set shall should so some something
    specify state step still such sure take than that the their them then there these they thing this those through
    time to together too under unless until up upon us use used user using very via want was way we well were what when
    whenever where whether which while who whole whose why will with within without word work would write writing yes
    yet you your
    al as com como con cuando da das de del den der des die do dos e ein eine el em en es est et il im ist la las le
    les lo los mais mas nicht nie nunca o os ou para pas por pour que se sem sempre siempre sin so su sur um uma un
    una und use usa usar y zu
    """.split()  # noqa: SIM905 - a list of 200 words is read more easily as text
)
_SUFFIXES = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "ed", "es", "ly", "er", "s", "e", "y")
_MIN_STEM = 3
_COMMON_STEM = 4
_LONGEST_ENDING = 3

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
# Scripts written without blanks between words: kana, Han, Hangul (its particles cling to the word), Thai to Khmer.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)


def comparable(text: str) -> str:
    """Return `text` case folded, one form for each character, unspaced scripts set off by blanks."""
    return apart(unicodedata.normalize("NFKC", text)).casefold()


def apart(text: str) -> str:
    """Set runs of unspaced script off by blanks: in them a Latin word has no boundary that a pattern could see."""
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


def names(text: str) -> set[str]:
    """Return the capitalised words that do not begin a sentence, case folded: names of people, products, languages."""
    found = set()
    for match in re.finditer(r"(?<=[\w,;:)\u2019'\"`] )[A-Z][a-z]{2,}\w*", text):
        found.add(match.group(0).casefold())
    return found - _STOP


def holds_name(name: str, text: str) -> bool:
    """Whether the comparable `text` holds the name, in whatever case or number."""
    return any(same_stem(stem(name), stem(word)) for word in _WORD.findall(text))


def stems(text: str) -> set[str]:
    """Return the content words of `text` without inflection; a script without blanks gives its pairs of characters."""
    folded = comparable(text)
    found = {stem(word) for word in _WORD.findall(_UNSPACED.sub(" ", folded)) if word not in _STOP}
    for run in _UNSPACED.findall(folded):
        found.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return {word for word in found if len(word) > 1}


def stem(word: str) -> str:
    """Return a word without its commonest English ending (crude on purpose: both sides are treated alike)."""
    word = word.replace("\u2019", "'").removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > _MIN_STEM and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word


def same_stem(one: str, other: str) -> bool:
    """Whether two stems are one word in different forms: equal, or one begins the other by four letters or more.

    Languages that inflect more, told by letters outside ASCII, may differ in the last three letters of both.
    """
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _COMMON_STEM:
        return False
    if long.startswith(short):
        return len(long) - len(short) <= len(short)
    if one.isascii() or other.isascii() or _UNSPACED.search(one):
        return False
    common = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return common >= _COMMON_STEM and len(long) - common <= _LONGEST_ENDING
