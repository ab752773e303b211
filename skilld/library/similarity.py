"""How alike two skills are: by name, description and content together. Pure: texts in, scores and shared words out.

The score is the cosine of the two sets of stems (skilld/words.py), each stem weighed by how few of the other skills
have it (inverse document frequency): what a whole collection says tells nothing about two of it. Measured on thirty
skills by `python -m tools.measure_matching` (docs/quality.md); it hears words, so another language is mostly missed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt

from skilld.errors import SkilldError
from skilld.markdown.skill_file import join_lines, parse
from skilld.skills.frontmatter import front
from skilld.words import content_stems, stem

# Least score of two skills for one task. Among few skills no word counts as common yet, and long texts look alike.
SAME = 0.27
SAME_AMONG_FEW = 0.34
FEW = 4
_SHOWN = 6
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Described:
    """A skill, drafted or there, as it is compared. `key` is what the caller knows it by, its path for one on disk."""

    key: str
    name: str
    text: str
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Match:
    """Two skills, the score 0 to 1 of their likeness, and the shared words that weigh most, the heaviest first."""

    one: Described
    other: Described
    score: float
    words: tuple[str, ...]

    @property
    def why(self) -> str:
        """One line for a person."""
        both = f"; both speak of {', '.join(self.words)}" if self.words else ""
        return f"alike by {self.score:.2f}{both}"


def described(key: str, name: str, text: str) -> Described:
    """Return a skill from the whole text of its SKILL.md; `name` is its folder's."""
    said = " ".join([name.replace("-", " "), front(text).description, _body(text)])
    return Described(key, name, said, content_stems(said))


def best(draft: Described, existing: Iterable[Described]) -> Match | None:
    """Return the match of `draft` with the skill most like it, or None where none is like enough."""
    skills = [skill for skill in existing if skill.key != draft.key]
    spread = _Spread([draft, *skills])
    found = [match for skill in skills if (match := spread.match(draft, skill))]
    return max(found, key=lambda match: match.score, default=None)


def pairs(skills: Sequence[Described], named: Collection[str] = ()) -> list[Match]:
    """Return the pairs of `skills` that are like enough to be one, the most alike first.

    Of those that are `named` by their keys, every pair, and no other.
    """
    spread = _Spread(skills)
    chosen = [skill for skill in skills if not named or skill.key in named]
    least = 0.0 if named else None
    found = [match for one, other in combinations(chosen, 2) if (match := spread.match(one, other, least))]
    return sorted(found, key=lambda match: -match.score)


def scores(skills: Sequence[Described]) -> Mapping[tuple[str, str], float]:
    """Return the score of every pair of `skills`, by their keys in the order given: what a threshold is measured on."""
    spread = _Spread(skills)
    return {(one.key, other.key): spread.score(one, other) for one, other in combinations(skills, 2)}


def _body(text: str) -> str:
    try:
        return join_lines(parse(text.encode("utf-8", "replace")).body)
    except SkilldError:
        return text


class _Spread:
    """In how many skills of a collection each stem occurs."""

    def __init__(self, skills: Sequence[Described]) -> None:
        self._count = Counter(found for skill in skills for found in skill.stems)
        self._others = max(0, len(skills) - 2)
        self._norms: dict[str, float] = {}

    def match(self, one: Described, other: Described, least: float | None = None) -> Match | None:
        score = self.score(one, other)
        if least is None:
            least = SAME if self._others >= FEW else SAME_AMONG_FEW
        if score < least:
            return None
        words = _words(one.text, one.stems & other.stems)
        telling = sorted(words, key=lambda found: -self._weight(found, 2))[:_SHOWN]
        return Match(one, other, score, tuple(words[found] for found in telling))

    def score(self, one: Described, other: Described) -> float:
        """Return the cosine. The two do not count among the others, so that sharing a word never makes it common."""
        shared = one.stems & other.stems
        if not shared:
            return 0.0
        both = sum(self._weight(found, 2) for found in shared)
        rarer = both - sum(self._weight(found, 1) for found in shared)
        return both / sqrt((self._norm(one) + rarer) * (self._norm(other) + rarer))

    def _norm(self, skill: Described) -> float:
        if skill.key not in self._norms:
            self._norms[skill.key] = sum(self._weight(found, 1) for found in skill.stems)
        return self._norms[skill.key]

    def _weight(self, found: str, own: int) -> float:
        """Return the square of a stem's weight, `own` being how many of the two compared have it."""
        return (1 + log((self._others + 1) / (self._count[found] - own + 1))) ** 2


def _words(text: str, stems: frozenset[str]) -> dict[str, str]:
    """Return each of `stems` that a word of `text` gives, with that word, in the order of the text."""
    words: dict[str, str] = {}
    for word in _WORD.findall(text):
        found = stem(word.casefold())
        if found in stems:
            words.setdefault(found, word.casefold())
    return words
