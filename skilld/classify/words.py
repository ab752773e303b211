"""Words as the support check compares them: content words without inflection, and tokens that must match exactly."""

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

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"`([^`\n]+)`")
_EXACT = (
    re.compile(r"https?://[^\s)>\]}\"'`]+"),
    re.compile(r"(?<![\w@])@?[\w.~-]*/[\w./@~-]*\w"),  # paths, scoped packages, owner/name
    re.compile(r"(?<!\w)--?[A-Za-z][\w-]*"),  # flags
    re.compile(r"\b\w+(?:[._]\w+)+\b"),  # snake_case, dotted names, file names, versions
    re.compile(r"\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b"),  # camelCase
    re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    re.compile(r"\b[A-Z][A-Z0-9]{2,}\b"),  # acronyms, constants
    re.compile(r"\d+"),
)
_SPELLED = {"0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven"} | {
    "8": "eight", "9": "nine", "10": "ten", "12": "twelve", "100": "hundred",
}  # fmt: skip


def exact_tokens(text: str) -> set[str]:
    """Return the numbers, paths, commands, addresses and identifiers of `text`, case folded."""
    found: set[str] = set()
    for pattern in _EXACT:
        found.update(match.group(0).rstrip(".,:;").casefold() for match in pattern.finditer(text))
    for code in _CODE.findall(text):
        found.update(part.casefold() for part in code.split())
    return {token for token in found if token}


def holds_token(token: str, text: str) -> bool:
    """Whether `text` (case folded) holds the token, a small number spelled out included."""
    if token in text:
        return True
    spelled = _SPELLED.get(token)
    return spelled is not None and spelled in text


def names(text: str) -> set[str]:
    """Return the capitalised words that do not begin a sentence, case folded: names of people, products, languages."""
    found = set()
    for match in re.finditer(r"(?<=[\w,;:)\u2019'\"`] )[A-Z][a-z]{2,}\w*", text):
        found.add(match.group(0).casefold())
    return found - _STOP


def stems(text: str) -> set[str]:
    """Return the content words of `text` without their inflection; CJK text gives its pairs of characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = {stem(word) for word in _WORD.findall(folded) if word not in _STOP and not _CJK.search(word)}
    for run in re.findall(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+", folded):
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
    """Whether two stems are one word in different forms: equal, or one begins the other by four letters or more."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _COMMON_STEM and long.startswith(short) and len(long) - len(short) <= len(short)
