"""What a text says already, and what in it an instruction contradicts, by words and by choices between them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.classify.offline.sections import Block, Lines, body_of, sections
from skilld.words import denies, measures, numbers
from skilld.words import stems as stems_of

# The tables of topics.toml: kinds of work, words of one choice, words too common to tell. Knows no text.

TOPICS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("topics.toml").read_text(encoding="utf-8"))


# Words of which a rule means one and not the others: tools of one kind, styles, before and after.
#
# Text in, the choices it makes out. The table is in topics.toml.

_FAMILIES = tuple(frozenset(family.split()) for family in TOPICS["choices"])
_TURNED_DOWN = re.compile(
    r", (?:and |but )?(?:not|never)\b| (?:(?:and|but) (?:not|never)|instead of|rather than|over)\b", re.IGNORECASE
)
# "X not Y", and not "it is not Y".
_NOT = re.compile(
    r"(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bdo)(?<!\bdoes)(?<!\bdid)(?<!\bcan)(?<!\bwill)(?<!\bshould)"
    r"(?<!\bmust)(?<!\bhave)(?<!\bhas)(?<!\bwe)(?<!\bi)(?<=[\w,]) not (?=\w)|, (?:nicht|non|não|niet|не|nie) (?=\w)",
    re.IGNORECASE,
)
_REFUSED = 4  # words
_WORD = re.compile(r"[^\W_](?:[\w-]*[^\W_])?", re.UNICODE)


def choices(text: str) -> dict[int, frozenset[str]]:
    """Return, by family, the members that `text` names."""
    words = frozenset(word.lower() for word in _WORD.findall(chosen_part(text)))
    return {number: words & family for number, family in enumerate(_FAMILIES) if words & family}


def chosen_part(text: str) -> str:
    """Return `text` up to what it turns down: "use pnpm" of "use pnpm, not npm"."""
    return _TURNED_DOWN.split(text, maxsplit=1)[0]


def turned_down(text: str) -> str:
    """Return the few words that `text` turns down, if any: "npm" of "use pnpm, not npm"."""
    found = _TURNED_DOWN.search(text) or _NOT.search(text)
    return " ".join(text[found.end() :].split()[:_REFUSED]).partition(",")[0] if found else ""


def changed_choice(change: str, other: str) -> bool:
    """Whether `change` chooses another member of a family than `other` does."""
    mine, theirs = choices(change), choices(other)
    return any(not mine[family] & theirs[family] for family in mine.keys() & theirs.keys())


def same_choice(change: str, other: str) -> bool:
    """Whether `other` makes no other choice than `change`."""
    return not changed_choice(change, other)


def swapped(change: str, line: str) -> str | None:
    """Return `line` with the choice of `change` in place of its own, or None where that is not one word for one."""
    mine, theirs = choices(change), choices(line)
    for family in mine.keys() & theirs.keys():
        if mine[family] & theirs[family]:
            continue
        if len(mine[family]) != 1 or len(theirs[family]) != 1:
            return None
        (new,), (old,) = mine[family], theirs[family]
        line = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, line, flags=re.IGNORECASE)
    return line


# What a text says already, and what in it an instruction contradicts.
#
# An instruction and a text in; yes or no, or the contradicted block out. Words are compared as stems, so this hears
# the same rule in nearly the same words and no more.

_COVERED = 0.8  # share of an instruction's stems that one line must hold to have said it
_SAME_TOPIC = 0.5  # share of the shorter side's stems that make two rules about one thing
# The lines of one text are compared with each of many instructions: 9.3 s became 2.0 s in a merge of two long skills.
stems = lru_cache(maxsize=4096)(stems_of)
_PLAIN_VERBS = stems("use write put make keep do add give take have be set")
# Function words that make a rule another one. Those of an order of steps are members of a choice.
_WHERE = "up down out off under over above below without except unless only every each all both"
_DIRECTIONS = frozenset(_WHERE.split())
_MANY_SHARED = 3  # stems: yes against no is a contradiction only between rules that share this many
_FEWEST = 2  # stems: a single one that is no choice stands in many a rule
_LONGEST = 400  # characters: a longer block is no single rule
_LONGEST_CHANGE = 2000  # characters: a longer change is no instruction, and is compared with nothing


def says_already(change: str, text: str, *, covered: float = _COVERED, whole: bool = False) -> bool:
    """Whether one line or item of `text` says what `change` says; `said_in` has what that takes."""
    return said_in(change, text, covered=covered, whole=whole) is not None


def said_in(change: str, text: str, *, covered: float = _COVERED, whole: bool = False) -> str | None:
    """Return the line or item of `text` that says what `change` says: its words, its numbers, the same yes or no.

    Verbs that any rule can do without do not count: "never use X" is said by "no X". `covered` is the share of the
    change's words that the line must have, with its heading, which alone says nothing. A word that tells a direction
    ("a down migration") must be there whatever else is. With `whole` the line must turn down what the change does, too:
    "X instead of Y".
    """
    if len(change) > _LONGEST_CHANGE:
        return None
    asked = change if whole else chosen_part(change)
    if len(stems(asked) - _PLAIN_VERBS) < _FEWEST and not choices(asked):
        asked = change  # "one file instead of three" is not said by whatever speaks of files
    wanted = stems(asked) - _PLAIN_VERBS or stems(asked)
    for heading, line in _rules(text) if wanted else ():
        own = stems(line) - _PLAIN_VERBS
        held = wanted & (own | stems(heading))
        if (
            len(held) >= covered * len(wanted)
            and len(held & own) * 2 >= len(wanted)
            and (len(wanted) > 1 or choices(asked) or len(own) <= _FEWEST)
            and _directions(asked) <= _directions(line)
            and numbers(asked) <= numbers(line)
            and denies(asked) == denies(chosen_part(line) if asked == chosen_part(change) else line)
            and same_choice(asked, line)
        ):
            return line
    return None


def contradicted(change: str, text: str) -> Lines | None:
    """Return the block of the skill `text` that `change` contradicts, the nearest in words, or None.

    Contradicted is a rule about the same thing with another number, another of two choices, or yes where it says no.
    """
    best: tuple[float, Lines] | None = None
    if len(change) > _LONGEST_CHANGE:
        return None
    for section in sections(text):
        for block in section.blocks:
            if block.kind is Block.OTHER or len(block.text) > _LONGEST:
                continue
            likeness = _likeness(change, block.text)
            if likeness >= _SAME_TOPIC and opposed(change, block.text) and (best is None or likeness > best[0]):
                best = (likeness, block)
    return best[1] if best else None


def opposed(change: str, other: str) -> bool:
    """Whether two instructions are about the same thing and cannot both hold."""
    if max(len(change), len(other)) > _LONGEST_CHANGE or _likeness(change, other) < _SAME_TOPIC:
        return False
    if opposed_outright(change, other):
        return True
    shared = len(topic(change) & topic(other))
    return denies(change) != denies(other) and shared >= _MANY_SHARED and _likeness(change, other) > _SAME_TOPIC


def opposed_outright(change: str, other: str) -> bool:
    """Whether two texts name other members of one choice, or give one measure ("under 60") different numbers."""
    if max(len(change), len(other)) > _LONGEST_CHANGE:
        return False
    mine, theirs = measures(change), measures(other)
    chosen = changed_choice(change, other) and not denies(chosen_part(change)) and not denies(other)
    return chosen or any(mine[unit] != theirs[unit] for unit in mine.keys() & theirs.keys())


def renumbered(change: str, line: str) -> str:
    """Return `line` with the numbers of `change` in place of its own, measure by measure."""
    if max(len(change), len(line)) > _LONGEST_CHANGE:
        return line
    mine, theirs = measures(change), measures(line)
    for unit in mine.keys() & theirs.keys():
        line = re.sub(rf"(?<![\d.]){theirs[unit]}(?![\d.])", mine[unit], line)
    return line


@lru_cache(maxsize=4096)
def topic(text: str) -> frozenset[str]:
    """Return the stems of `text` without numbers, with all members of a choice made one."""
    made_one = choices(text)
    members = frozenset().union(*(stems(word) for words in made_one.values() for word in words))
    plain = {stem for stem in stems(chosen_part(text)) - members if not stem[0].isdigit()}
    about = plain | {f"choice {number}" for number in made_one}
    return frozenset(about - _PLAIN_VERBS or about)


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """Yield the rules of a text behind its front matter, whole and line by line, each with the heading above it."""
    for section in sections(text):
        for block in section.blocks:
            yield section.heading, block.text
    for line in body_of(text) or text.splitlines():
        yield "", line


def _directions(text: str) -> frozenset[str]:
    return _DIRECTIONS.intersection(word.casefold() for word in _WORD.findall(text))


def _likeness(change: str, line: str) -> float:
    mine, theirs = topic(change), topic(line)
    shared = len(mine & theirs)
    least = min(len(mine), len(theirs))
    if shared == 0 or (shared == 1 and least > 1):
        return 0.0
    return shared / least
