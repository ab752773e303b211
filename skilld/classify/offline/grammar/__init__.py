"""The grammar of lasting words: one table per language, compiled when a turn in that language arrives.

A TOML file in, a `Language` out; README.md beside this file has the format. Knows no turn: `detector` asks it.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from skilld.words import stems

_HERE = Path(__file__).parent
_SHARED = "forms"  # the file of what several languages share
_BLANK = re.compile(r" +(\??)")
_NAME = re.compile(r"(?<!\(\?)<([a-z_]+)>")
_HEAD = re.compile(r"(?:\(\?!<[a-z_]+>\\b\)|<[a-z_]+>)*")  # the lists that a form begins with, or must not
_NOTHING, _ANYTHING = "(?!)", ""
_NESTING = 5  # lists inside lists
_ACCENTED = re.compile(r"\[[^\]]*\]|[\u00c0-\u024f\u1e00-\u1effё]")  # a class of letters stays as it is
_PLAIN = {
    "ł": "l",
    "đ": "d",
    "ı": "i",
    "ß": "ss",
    "ä": "ae?",
    "ö": "oe?",
    "ü": "ue?",
}  # where there is no accent to drop
_TELLING = 3  # letters of a word that tells a language without its accents
# Where a letter without its accent is another word: "è" and "e", "está" and "esta".
_ACCENTS_TELL = frozenset({"asks", "subjects", "unmarked"})


class Cue(StrEnum):
    """What made a clause sound lasting."""

    LASTING = "lasting"  # "from now on", "every time you"
    ADVERB = "adverb"  # "always", "never" in an instruction
    MEMORY = "memory"  # "remember to", "make it a habit", "add this to the rules"
    STOP = "stop"  # "stop asking me"
    CONSENT = "consent"  # "not without asking me"
    PREFERENCE = "preference"  # "I prefer", "answer in English"
    CONVENTION = "convention"  # "in this repository we"
    CONDUCT = "conduct"  # "do not assume", "when I ask you"
    REMINDER = "reminder"  # "I have told you before", "it is in the rules"
    PRACTICE = "practice"  # "scripts go in assets/js": no lasting word, but said of a whole kind of things
    CORRECTION = "correction"  # no cue at all, but the skill in use says otherwise
    TAKEN_UP = "taken_up"  # no cue at all, but it is about what one line of the skill in use says


# How sure each makes us, 0 to 1, which becomes the confidence of what is heard this way. In the order of asking.
STRENGTH = {
    Cue.LASTING: 0.85, Cue.ADVERB: 0.8, Cue.MEMORY: 0.8, Cue.STOP: 0.75, Cue.CONSENT: 0.75, Cue.PREFERENCE: 0.65,
    Cue.CONVENTION: 0.65, Cue.CONDUCT: 0.65, Cue.REMINDER: 0.6,
}  # fmt: skip
KEPT = 0.45  # of forms that are as often meant for once: kept, not proposed


def _of_words(name: str) -> cached_property[re.Pattern[str]]:
    """Return a property of a language: a list of its table as one expression."""
    return cached_property(lambda language: language._words(name))  # noqa: SLF001 - it is the class's own


@dataclass(frozen=True)
class Language:
    """The grammar of one language. Each property is a list of the table as one expression, compiled on first use."""

    code: str
    lists: Mapping[str, Sequence[str]]
    forms: Mapping[tuple[Cue, bool], Sequence[str]]
    spaced: bool

    # Each of these lists as words of its own.
    vetoes = _of_words("vetoes")  # what makes a clause no rule, whatever else it says
    hedges = _of_words("hedges")  # what makes a clause no rule, unless it stands in a later part of it
    meanwhile = _of_words(
        "meanwhile"
    )  # what says that something holds for the time being: a veto, for a model's answer too
    product = _of_words("product")  # what is being built, and who uses it
    work = _of_words("work")  # the work on it
    passing = _of_words("passing")  # what is said of this time, or of how one likes it: no practice
    dissent = _of_words("dissent")  # what says that something is not wanted
    duties = _of_words("duty")  # what says that something is to be done
    stories = _of_words("stories")  # what tells of other times and places, however long it leads up to a clause
    elsewhere = _of_words(
        "elsewhere"
    )  # what begins a story of how others work, which goes on until the speaker comes back
    comes_back = _of_words("comes_back")  # what ends a story
    musts = _of_words("must")  # what says that somebody or something else must: no word to the agent

    @cached_property
    def marks(self) -> frozenset[str]:
        """The small words that tell the language, as people type them; none if its script does."""
        words = self.lists.get("marks", ())
        return frozenset((*words, *(unaccented(word) for word in words if len(word) >= _TELLING)))

    @cached_property
    def letters(self) -> frozenset[str]:
        """The letters that tell the language."""
        return frozenset("".join(self.lists.get("letters", ())))

    @cached_property
    def saying(self) -> frozenset[str]:
        """The stems of what is said of a rule before it is laid down."""
        return stems(" ".join(self.lists.get("saying", ())))

    @cached_property
    def openers(self) -> re.Pattern[str]:
        """What may stand before an instruction, with what sets it off."""
        return self._listed("openers", "^(?:", r"(?:\s*[,.!:;，。！：、–—-]+\s*| ))+")

    @cached_property
    def frames(self) -> re.Pattern[str]:
        """Time words that the rule no longer needs."""
        behind = r"(?:[\s:，、–—-]+|(?=[.!,;]|$))" if self.spaced else r"[\s,，、的都请請就]*"
        return self._listed("cuts", r"(?:^|[\s,–—-]+)", behind)

    @cached_property
    def tags(self) -> re.Pattern[str]:
        """What behind a rule says only that it is one."""
        return self._listed("tags", r"[,;–—-]+ ?(?:and )?(?:please )?", r"(?=\s*(?:[.,!;]|$))")

    @cached_property
    def retracts(self) -> re.Pattern[str]:
        """What takes back something said before."""
        return self._listed("retracts", self._bound, "")

    @cached_property
    def served(self) -> re.Pattern[str]:
        """How what is told of those who are served begins."""
        return self._listed("customers", r"^(?:\S{1,6} )?", self._bound)

    @cached_property
    def asks(self) -> re.Pattern[str]:
        """How a question begins that asks for nothing."""
        return self._listed("asks", r"^¿?\s*", self._bound)

    @cached_property
    def orders(self) -> re.Pattern[str]:
        """How a turn begins that describes a product or a task."""
        return self._listed("orders", r"^\W*", self._bound)

    @cached_property
    def commands(self) -> re.Pattern[str]:
        """How an instruction begins."""
        return self._listed("told", "^", self._bound)

    @cached_property
    def addressed(self) -> re.Pattern[str]:
        """How an order begins that is the agent's whatever it is about: no product does so by itself."""
        return self._listed("addressed", "^", self._bound)

    @cached_property
    def theirs(self) -> re.Pattern[str]:
        """How what somebody else does, or says, begins."""
        return self._listed("theirs", r"^\W*", self._bound)

    @cached_property
    def requests(self) -> re.Pattern[str]:
        """What a question asks with that wants something done."""
        return self._words("requests", _ANYTHING)

    @cached_property
    def unmarked(self) -> re.Pattern[str]:
        """What makes a question of a clause without a question mark."""
        return self._listed("unmarked", "", "")

    @cached_property
    def heard(self) -> tuple[tuple[Cue, float, re.Pattern[str]], ...]:
        """What makes a clause lasting by itself, the surest first, each with how sure it makes us."""
        ranked = [(KEPT if kept else STRENGTH[cue], cue) for cue, kept in self.forms if cue in STRENGTH]
        found = sorted(ranked, key=lambda one: -one[0])
        return tuple((cue, strength, self._any_of(cue, kept=strength == KEPT)) for strength, cue in found)

    @cached_property
    def finite(self) -> re.Pattern[str]:
        """What makes a sentence of a part of one."""
        return self._words("finite", _ANYTHING)

    @cached_property
    def back(self) -> re.Pattern[str]:
        """What says of the part before it that it is how things are done."""
        return self._listed("back", "^", self._bound)

    @cached_property
    def practice(self) -> re.Pattern[str]:
        """What is said of a whole kind of things."""
        return self._any_of(Cue.PRACTICE, kept=False)

    @cached_property
    def requires(self) -> re.Pattern[str]:
        """What a thing must do, which is a product as long as no word of the work stands next to it."""
        return self._listed("required", "", "")

    @cached_property
    def spec(self) -> re.Pattern[str]:
        """How a description of what a product must do is announced."""
        return self._listed("spec", r"^\W*", "")

    def patterns(self) -> list[re.Pattern[str]]:
        """Return every expression of the language, compiled."""
        names = [name for name, value in vars(type(self)).items() if isinstance(value, cached_property)]
        values = [getattr(self, name) for name in names if name not in {"marks", "letters", "saying", "heard"}]
        return [*values, *(pattern for _, _, pattern in self.heard)]

    @property
    def _bound(self) -> str:
        return r"\b" if self.spaced else ""

    def _words(self, name: str, missing: str = _NOTHING) -> re.Pattern[str]:
        return self._listed(name, self._bound, self._bound, missing)

    def _listed(self, name: str, before: str, after: str, missing: str = _NOTHING) -> re.Pattern[str]:
        return self._compiled(f"{before}<{name}>{after}" if self.lists.get(name) else missing)

    def _any_of(self, cue: Cue, *, kept: bool) -> re.Pattern[str]:
        forms = self.forms.get((cue, kept), ())
        # One by one, 70 forms were tried at each place of a clause; a list that 20 begin with was compiled 20 times.
        begins: dict[str, list[str]] = {}
        for form in forms:
            if form.startswith("^") and (head := _HEAD.match(form, 1)):
                begins.setdefault(head[0], []).append(form[head.end() :])
        together = "|".join(f"{head}(?:{'|'.join(rests)})" for head, rests in begins.items())
        anywhere = [form for form in forms if not form.startswith("^")]
        return self._compiled("|".join([*anywhere, *([f"^(?:{together})"] if together else [])]) or _NOTHING)

    def _compiled(self, source: str) -> re.Pattern[str]:
        source = _as_typed(source)
        for _ in range(_NESTING):
            source = _NAME.sub(lambda m: self._alternatives(m[1]), source)
        return compiled(source)

    def _alternatives(self, name: str) -> str:
        words = "|".join(self.lists.get(name) or [_NOTHING])
        return f"(?:{words if name in _ACCENTS_TELL else _as_typed(words)})"


def unaccented(word: str) -> str:
    """Return a word as people type it who set no accents."""
    return "".join(unicodedata.normalize("NFD", _PLAIN.get(char, char))[0] for char in word)


def _as_typed(source: str) -> str:
    """Return an expression that also matches its words without their accents: "nao", "wiec", "fuer"."""
    return source if source.isascii() else _ACCENTED.sub(lambda m: _either(m[0]), source)


def _either(letter: str) -> str:
    if letter.startswith("["):
        return letter
    return f"(?:{letter}|{_PLAIN.get(letter) or unicodedata.normalize('NFD', letter)[0]})"


def compiled(source: str) -> re.Pattern[str]:
    """Compile an expression without regard to case; a blank is any white space, one with `?` behind it also none."""
    return re.compile(_BLANK.sub(lambda m: r"\s*" if m[1] else r"\s+", source), re.IGNORECASE)


@cache
def languages() -> dict[str, Language]:
    """Return the languages by code, their expressions not compiled yet."""
    shared = _table(_HERE / f"{_SHARED}.toml")
    found = sorted(path for path in _HERE.glob("*.toml") if path.stem != _SHARED)
    return {path.stem: _language(path.stem, _table(path), shared) for path in found}


def _table(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _language(code: str, own: Mapping[str, Any], shared: Mapping[str, Any]) -> Language:
    spaced, like = own.get("spaced", True), own.get("like", False)
    lists = {**shared["groups"], **{name: value for name, value in own.items() if isinstance(value, list)}}
    lists |= own.get("groups", {})
    told = (*shared["groups"]["told_of"], *shared["groups"]["remembered"])
    lists["stories"] = [*lists.get("stories", ()), *lists.get("elsewhere", ()), *told]
    lists["cuts"] = [*lists.get("frames", ()), *lists.get("tails", ())]
    forms: dict[tuple[Cue, bool], list[str]] = {}
    for form in (*own.get("form", ()), *(shared["form"] if like else ())):
        forms.setdefault((Cue(form["cue"]), form.get("kept", False)), []).extend(form["any"])
    return Language(code, lists, forms, spaced)
