"""How much a clause sounds like a lasting wish where no cue says so outright: signs for and against, added up.

A clause and the shape of its turn in, the sum and the signs behind it out. The weights are written by hand
(signs/weights.toml); nothing is learned from anybody's words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from skilld.classify.offline.cues import Cue, Language
from skilld.classify.offline.sentences import Clause
from skilld.classify.offline.signs import signs_of, weights

_FEW, _MANY = 2, 12  # words of a clause
_SHORT, _LONG, _LONGER, _LONGEST = 80, 200, 500, 1000  # characters of a turn
_SOME_CLAUSES, _MANY_CLAUSES = 3, 8
_LEAD = 70  # characters within which "when you commit," ends
HEARD = 0.4  # the least sum: of what lies lower, 4 of 50 clauses of people nobody had read were right
_SURE, _SURER, _MOST = 0.4, 0.25, 0.7  # the confidence there, what a point more adds, and the highest
_LETTERS_A_WORD = 1.6  # of scripts without blanks

_DIRECT = frozenset({"forbids", "conduct", "modal_you", "habit", "norm"})
_GENERAL = frozenset({"always", "when", "forever", "default", "consent", "again"})
_WAY = frozenset({"craft", "talk", "contrast", *_GENERAL})
_LEADS = ("when", "forever", "default")
_COMMA = re.compile(r"[,，、]\s*")
_IDENTIFIER = re.compile(
    r"[\w-]+/[\w./-]+|\b\w+\.(?:py|tsx?|js|go|rs|md|json|toml|ya?ml|css|html|sh|java|rb|sql)\b"
    r"|\b[a-z]+[A-Z]\w+|\b\w+_\w+\b|\w+\(\)|https?://|`"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_NUMBER = re.compile(r"\d")
_OBJECTION = re.compile(r"(?:no\b|nope|wrong|nein|non\b|нет|不)", re.IGNORECASE)
# The first of these that is there names what was heard.
_CUES = (
    ("teaches", Cue.MEMORY),
    ("remember", Cue.MEMORY),
    ("forever", Cue.LASTING),
    ("habit", Cue.ADVERB),
    ("consent", Cue.CONSENT),
    ("forbids", Cue.STOP),
    ("prefers", Cue.PREFERENCE),
    ("custom", Cue.CONVENTION),
    ("norm", Cue.CONVENTION),
    ("blames", Cue.REMINDER),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the whole turn tells of each of its clauses. `length` in characters, white space folded."""

    length: int
    clauses: int
    pasted: bool
    ordered: bool

    def signs(self) -> set[str]:
        """Return the signs that all clauses of the turn share."""
        bounds = ((_LONGEST, "longest_turn"), (_LONGER, "longer_turn"), (_LONG, "long_turn"))
        size = next((sign for bound, sign in bounds if self.length > bound), "")
        crowd = next(
            (
                sign
                for bound, sign in ((_MANY_CLAUSES, "many_clauses"), (_SOME_CLAUSES, "some_clauses"))
                if self.clauses > bound
            ),
            "",
        )
        return {
            sign
            for sign, there in (
                (size, bool(size)),
                (crowd, bool(crowd)),
                ("short_turn", self.length <= _SHORT),
                ("pasted", self.pasted),
                ("ordered", self.ordered),
            )
            if there
        }


@dataclass(frozen=True, slots=True)
class Weighed:
    """The sum of a clause, and the signs that made it: from `HEARD` on it is heard."""

    total: float
    signs: frozenset[str]

    @property
    def of_the_product(self) -> bool:
        """Whether it is about what is being built: "the button should always be visible"."""
        return "product" in self.signs and not self.signs & {"craft", "consent", "blames"} and self.total < 0

    @property
    def cue(self) -> Cue:
        """What to call it."""
        return next((cue for sign, cue in _CUES if sign in self.signs), Cue.CONDUCT)

    @property
    def confidence(self) -> float:
        """How sure that makes us, 0 to 1: from a total of 0.8 on it may be proposed."""
        return round(min(_MOST, _SURE + _SURER * max(self.total - HEARD, 0.0)), 2)


def weigh(clause: Clause, language: Language, shape: Shape) -> Weighed:
    """Return the sum of the signs of `clause`, read as `language`."""
    signs = _signs(clause, language) | shape.signs()
    if signs & _DIRECT and signs & _GENERAL:
        signs.add("direct_and_general")
    if "prefers" in signs and signs & _WAY:
        signs.add("prefers_a_way")
    table = weights()
    counted = frozenset(sign for sign in signs if sign in table)
    return Weighed(round(table["bias"] + sum(table[sign] for sign in counted), 2), counted)


def _signs(clause: Clause, language: Language) -> set[str]:
    text = clause.text
    listed = signs_of(language.code)
    opener = language.openers.match(text)
    rest = text[opener.end() :] if opener else text
    found = {name for name, form in listed.starts.items() if form.match(rest)}
    found |= {name for name, form in listed.holds.items() if form.search(text)}
    if led := _behind_lead(rest, language):
        found |= {name for name, form in listed.starts.items() if form.match(led)}
        if listed.holds["when"].match(rest):
            found.add("conditional")
    if language.code != "en":  # people name their tools in English whatever they speak
        found |= {name for name in ("craft", "talk") if signs_of("en").holds[name].search(text)}
    words = len(text.split()) + len(_UNSPACED.findall(text)) / _LETTERS_A_WORD
    of_form = {
        "few_words": words <= _FEW,
        "many_words": words > _MANY,
        "identifiers": _IDENTIFIER.search(text),
        "numbers": _NUMBER.search(text),
        "objects": opener and _OBJECTION.match(text),
        "vetoed": language.vetoes.search(text),
        "question": clause.question,
    }
    return found | {name for name, there in of_form.items() if there}


def _behind_lead(rest: str, language: Language) -> str:
    """Return what stands behind "when you commit," or "in future,", nothing where no such words lead."""
    comma = _COMMA.search(rest, 0, _LEAD)
    if comma is None:
        return ""
    listed = signs_of(language.code)
    forms = [listed.starts["habit"], *(listed.holds[name] for name in _LEADS if name in listed.holds)]
    return rest[comma.end() :] if any(form.match(rest[: comma.start()]) for form in forms) else ""
