"""Groups of words that exclude each other in a rule, such as tools of one kind, styles, before and after. Pure.

`TOPICS` is topics.toml: kinds of work, the words of each choice, and words too common to be distinctive.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.words import content_stems

TOPICS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("topics.toml").read_text(encoding="utf-8"))
NEAR = tuple(family.replace("<git>", TOPICS["git"]) for family in TOPICS["near"])  # words of one kind of work each

DISTINCTIVE_CHOICES = len(TOPICS["choices"])  # families below this number show what a rule is about
_FAMILIES = tuple(frozenset(family.split()) for family in (*TOPICS["choices"], *TOPICS["everyday_choices"]))
# Families with a common member are about one topic: the number of the first.
TOPIC_NUMBERS = tuple(min(at for at, other in enumerate(_FAMILIES) if family & other) for family in _FAMILIES)
_DESCRIBING = frozenset(
    number for number, family in enumerate(_FAMILIES) if family & frozenset(TOPICS["describing"].split())
)
# Steps that can follow each other; they exclude each other only as ways to merge.
_STEPS = frozenset(number for number, family in enumerate(_FAMILIES) if family & frozenset(TOPICS["steps"].split()))
_MERGING = re.compile(r"\b(?:when|while|by|on|at|for|to) merg|\bmerge (?:by|with|via)\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r", (?:and |but |und |et |y |e |en )?(?:not|never|nicht|nie|niemals|pas(?! d[e'’])|jamais|nunca|jamás|não|non|mai"
    r"|niet|nooit)\b"
    r"| (?:(?:and|but) (?:not|never)|instead of|rather than|over|statt|anstatt|anstelle von|au lieu de|plutôt que"
    r"|en (?:vez|lugar) de|em vez de|ao invés de|invece di|al posto di|in plaats van)\b",
    re.IGNORECASE,
)
# Only says where or when a rule holds, so what is refused after it is the whole rule: "in packages/web, never".
_SCOPE = re.compile(
    r"\W*(?:in|inside|within|on|at|for|under|when(?:ever)?|if|before|after|during|bei|für|auf|unter|wenn|vor|nach|dans|pour|sur|quand"
    r"|si|en|para|cuando|em|quando|per|nei|nella?|voor|bij|als)\b"
    r"(?![^,]*\b(?:use|using|run|prefer|write|put|keep|call|name|pick|choose|want|verwende|nimm|nutze|utilise|usa)\b)"
    r"[^,]*\Z",
    re.IGNORECASE,
)
_BAN_WORD = re.compile(r", (?:never|nie|niemals|jamais|nunca|jam[aá]s|mai|nooit)\b", re.IGNORECASE)
# "X not Y", but not "it is not Y".
_USE_NOT = re.compile(r"\A\W*(?:always |please )*(?:use|run|prefer) [\w.+#-]+(?= not [\w.+#-]+\W*\Z)", re.IGNORECASE)
_NOT_PHRASE = re.compile(
    r"(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bdo)(?<!\bdoes)(?<!\bdid)(?<!\bcan)(?<!\bwill)(?<!\bshould)"
    r"(?<!\bmust)(?<!\bhave)(?<!\bhas)(?<!\bwe)(?<!\bi)(?<=[\w,]) not (?=\w)|, (?:nicht|non|não|niet|не|nie) (?=\w)",
    re.IGNORECASE,
)
# "Never use Y, use X", "never use Y again, X only": the refused part comes first.
_REFUSAL_FIRST = re.compile(
    r"\A\s*(?:please )?(?:never|do not|don['\u2019]?t|no|stop|avoid) (?:us(?:e|ing) )?(?P<down>[^,;.:]{1,40}?)"
    r"(?: again| ever again| any ?more)?[,;.:]\s*(?:(?:but|and|instead|please|just|always) ){0,2}"
    r"(?P<chosen>use\b.+|[^,;.:]{1,40}(?= only\b)|(?<=always )[\w.+#-]+(?=\W*\Z))",
    re.IGNORECASE | re.DOTALL,
)
_ORDER = [
    *(re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in TOPICS["order"]),
    *(re.compile(words) for words in TOPICS["order_unspaced"]),
]
_ORDER_ADVERB = re.compile(rf"\b(?:{TOPICS['order_adverbs']})\b|{TOPICS['order_adverbs_unspaced']}", re.IGNORECASE)
_REVERSIBLE = [
    *(re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in TOPICS["turning"]),
    *(re.compile(words) for words in TOPICS["turning_unspaced"]),
    *_ORDER,
]
_ALIASES = [(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), name) for name, words in TOPICS["aliases"].items()]
# "Two spaces, no tabs" refuses another member of the choice; "short functions, no comments" are two rules.
_NO_OTHER = re.compile(
    r", (?:and |but |und )?(?:no|keine?[nrs]?) (?P<other>[\w.+#-]+(?: [\w.+#-]+)?)[\W_]*\Z", re.IGNORECASE
)
_PREFER_TO = re.compile(r"\A\W*(?:always |please )*prefer [^,;.:]{1,60}?(?= to (?P<down>[^,;.:]{1,60}))", re.IGNORECASE)
_MAX_REFUSED_WORDS = 4  # words
WORD = re.compile(r"[^\W_](?:[\w-]*[^\W_])?", re.UNICODE)


@lru_cache(maxsize=4096)
def with_usual_names(text: str) -> str:
    """Return `text` with one word for what has several names: "docs" for "documentation"."""
    for pattern, name in _ALIASES:
        text = pattern.sub(name, text)
    return text


def choices(text: str) -> dict[int, frozenset[str]]:
    """Return the members that `text` chooses, by the number of their family."""
    words = frozenset(word.lower() for word in WORD.findall(chosen_part(with_usual_names(text))))
    return {number: words & family for number, family in enumerate(_FAMILIES) if words & family}


@lru_cache(maxsize=4096)
def chosen_part(text: str) -> str:
    """Return `text` without the refused part: "use pnpm" of "use pnpm, not npm"."""
    if found := _USE_NOT.match(text) or _PREFER_TO.match(text):
        return found[0]
    if other := _other_choice(text):
        text = text[: other.start()]
    first = _REFUSAL_FIRST.match(text)
    chosen = _REFUSAL.split(first["chosen"] if first else text, maxsplit=1)[0]
    is_ban = _BAN_WORD.match(text, len(chosen)) is not None
    return text if is_ban and _SCOPE.match(chosen) else chosen


def _other_choice(text: str) -> re.Match[str] | None:
    """Return the end of `text` that refuses another member of a choice than the rest names: ", no tabs"."""
    if (found := _NO_OTHER.search(text)) is None:
        return None
    mine, theirs = (
        frozenset(word.lower() for word in WORD.findall(with_usual_names(part)))
        for part in (text[: found.start()], found["other"])
    )
    return found if any(mine & one and theirs & one and not mine & theirs & one for one in _FAMILIES) else None


@lru_cache(maxsize=4096)
def refused_part(text: str) -> str:
    """Return the few words that `text` refuses, if any: "npm" of "use pnpm, not npm"."""
    if first := _REFUSAL_FIRST.match(text):
        return " ".join(first["down"].split()[:_MAX_REFUSED_WORDS])
    if preferred := _PREFER_TO.match(text):
        return " ".join(preferred["down"].split()[:_MAX_REFUSED_WORDS])
    if other := _other_choice(text):
        return other["other"]
    found = _REFUSAL.search(text) or _NOT_PHRASE.search(text)
    return " ".join(text[found.end() :].split()[:_MAX_REFUSED_WORDS]).partition(",")[0] if found else ""


def changed_choice(change: str, other: str) -> bool:
    """Whether `change` chooses another member of a family than `other`."""
    mine, theirs = choices(change), choices(other)
    both = mine.keys() & theirs.keys()
    if both & _STEPS and not (_MERGING.search(change) and _MERGING.search(other)):
        both -= _STEPS
    return any(not mine[family] & theirs[family] for family in both)


def same_choice(change: str, other: str) -> bool:
    """Whether no choice of `other` differs from those of `change`."""
    return not changed_choice(change, other)


def is_reversed_choice(one: str, other: str) -> bool:
    """Whether two rules choose in opposite directions: "rg over grep" and "grep over rg"."""
    for word in _REVERSIBLE:
        (first, then), (others_first, others_then) = _stems_around(word, one), _stems_around(word, other)
        if first & others_then and then & others_first:
            return True
    return False


def loses_order(change: str, line: str) -> bool:
    """Whether `change` puts one thing before another and `line` names no order, as "up and down once" does."""
    if any(word.search(line) for word in (*_ORDER, _ORDER_ADVERB)):
        return False
    return any(
        all(_stems_around(word, change))
        for word in _ORDER
        if (found := word.search(change)) and len(found[0]) > 1 + found[0].isascii()  # "na" is mostly "on"
    )


def _stems_around(word: re.Pattern[str], text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems that occur only before `word`, and those only after it; none if it is missing."""
    if (found := word.search(text)) is None:
        return frozenset(), frozenset()
    before, behind = content_stems(text[: found.start()]), content_stems(text[found.end() :])
    return before - behind, behind - before


def described_stems(change: str, line: str) -> frozenset[str]:
    """Return the stems of what another choice than that of `change` describes in `line`: "tense" of "past tense"."""
    mine, theirs = choices(change), choices(line)
    found: frozenset[str] = frozenset()
    for family in _DESCRIBING & mine.keys() & theirs.keys():
        for old in theirs[family] - mine[family]:
            for noun in re.findall(rf"(?<![\w-]){re.escape(old)} ([^\W\d_]+)", line, re.IGNORECASE):
                new = "|".join(map(re.escape, mine[family]))
                if not re.search(rf"(?<![\w-])(?:{new}) {noun}\b", change, re.IGNORECASE):
                    found |= content_stems(noun)
    return found


def swap_choice(change: str, line: str) -> str | None:
    """Return `line` with the choice of `change` instead of its own, or None unless it replaces single words."""
    mine, theirs = choices(change), choices(line)
    for family in mine.keys() & theirs.keys():
        if mine[family] & theirs[family]:
            continue
        if len(mine[family]) != 1 or len(theirs[family]) != 1:
            return None
        (new,), (old,) = mine[family], theirs[family]
        if new in TOPICS["aliases"] or old in TOPICS["aliases"]:
            return None
        for form, other in ((old.capitalize(), new.capitalize()), (old, new)):
            flags = re.IGNORECASE if form == old else 0
            line = re.sub(rf"(?<![\w-]){re.escape(form)}(?![\w-])", other, line, flags=flags)
    return line
