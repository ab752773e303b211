"""Groups of words that exclude each other in a rule: tools of one kind, styles, before and after.

Pure: text in, the choices it makes out. `TOPICS` is topics.toml: kinds of work, words of one choice, words too common
to tell.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from skilld.words import content_stems

TOPICS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("topics.toml").read_text(encoding="utf-8"))

TELLING = len(TOPICS["choices"])  # the families below this number tell what a rule is about
_FAMILIES = tuple(frozenset(family.split()) for family in (*TOPICS["choices"], *TOPICS["everyday_choices"]))
_TURNED_DOWN = re.compile(
    r", (?:and |but )?(?:not|never)\b| (?:(?:and|but) (?:not|never)|instead of|rather than|over)\b", re.IGNORECASE
)
# "X not Y", and not "it is not Y".
_NOT = re.compile(
    r"(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bdo)(?<!\bdoes)(?<!\bdid)(?<!\bcan)(?<!\bwill)(?<!\bshould)"
    r"(?<!\bmust)(?<!\bhave)(?<!\bhas)(?<!\bwe)(?<!\bi)(?<=[\w,]) not (?=\w)|, (?:nicht|non|não|niet|не|nie) (?=\w)",
    re.IGNORECASE,
)
# "Never use Y, use X": what is turned down comes first.
_TURNED_DOWN_FIRST = re.compile(
    r"\A\s*(?:please )?(?:never|do not|don['\u2019]?t|no|stop|avoid) (?:us(?:e|ing) )?(?P<down>[^,;.:]{1,40})[,;.:]\s*"
    r"(?:(?:but|and|instead|please|just|always) ){0,2}(?P<chosen>use\b.+)",
    re.IGNORECASE | re.DOTALL,
)
_TURNING = [
    *(re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in TOPICS["turning"]),
    *(re.compile(words) for words in TOPICS["turning_unspaced"]),
]
_REFUSED = 4  # words
WORD = re.compile(r"[^\W_](?:[\w-]*[^\W_])?", re.UNICODE)


def choices(text: str) -> dict[int, frozenset[str]]:
    """Return, by family, the members that `text` names."""
    words = frozenset(word.lower() for word in WORD.findall(chosen_part(text)))
    return {number: words & family for number, family in enumerate(_FAMILIES) if words & family}


def chosen_part(text: str) -> str:
    """Return `text` up to what it turns down: "use pnpm" of "use pnpm, not npm"."""
    first = _TURNED_DOWN_FIRST.match(text)
    return _TURNED_DOWN.split(first["chosen"] if first else text, maxsplit=1)[0]


def turned_down(text: str) -> str:
    """Return the few words that `text` turns down, if any: "npm" of "use pnpm, not npm"."""
    if first := _TURNED_DOWN_FIRST.match(text):
        return " ".join(first["down"].split()[:_REFUSED])
    found = _TURNED_DOWN.search(text) or _NOT.search(text)
    return " ".join(text[found.end() :].split()[:_REFUSED]).partition(",")[0] if found else ""


def changed_choice(change: str, other: str) -> bool:
    """Whether `change` chooses another member of a family than `other` does."""
    mine, theirs = choices(change), choices(other)
    return any(not mine[family] & theirs[family] for family in mine.keys() & theirs.keys())


def same_choice(change: str, other: str) -> bool:
    """Whether `other` makes no other choice than `change`."""
    return not changed_choice(change, other)


def turned_round(one: str, other: str) -> bool:
    """Whether two rules of the same words choose the other way round: "rg over grep" and "grep over rg"."""
    for word in _TURNING:
        (first, then), (others_first, others_then) = _around(word, one), _around(word, other)
        if first & others_then and then & others_first:
            return True
    return False


def _around(word: re.Pattern[str], text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems that stand only before `word`, and those that stand only behind it; none without it."""
    if (found := word.search(text)) is None:
        return frozenset(), frozenset()
    before, behind = content_stems(text[: found.start()]), content_stems(text[found.end() :])
    return before - behind, behind - before


def swapped(change: str, line: str) -> str | None:
    """Return `line` with the choice of `change` in place of its own, or None if that is not one word for one."""
    mine, theirs = choices(change), choices(line)
    for family in mine.keys() & theirs.keys():
        if mine[family] & theirs[family]:
            continue
        if len(mine[family]) != 1 or len(theirs[family]) != 1:
            return None
        (new,), (old,) = mine[family], theirs[family]
        line = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, line, flags=re.IGNORECASE)
    return line
