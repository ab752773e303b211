"""The grammar of lasting words: one TOML table per language, compiled when a turn in that language arrives.

README.md in this folder describes the format. Knows nothing of turns.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from skilld.classify.caseless import Caseless, caseless
from skilld.classify.offline.grammar.needs import Forms, Needs, needs_of
from skilld.words import content_stems, stems

_HERE = Path(__file__).parent
_SHARED = "forms"  # the file that several languages share
_BLANK = re.compile(r" +(\??)")
_NAME = re.compile(r"(?<!\(\?)<([a-z_]+)>")
_HEAD = re.compile(r"(?:\(\?!<[a-z_]+>\\b\)|<[a-z_]+>)*")  # the lists that a form begins with, or must not begin with
_NOTHING, _ANYTHING = "(?!)", ""
_NESTING = 5  # lists inside lists
_ACCENTED = re.compile(r"\[[^\]]*\]|[\u00c0-\u024f\u1e00-\u1effё]")  # a class of letters stays as it is
# Letters that have no accent to drop, or another spelling without it.
_PLAIN_LETTERS = {"ł": "l", "đ": "d", "ı": "i", "ß": "ss", "ä": "ae?", "ö": "oe?", "ü": "ue?"}
_MIN_MARK_LETTERS = 3  # of a word that identifies a language even without accents
# Lists in which a word without its accent is another word: "è" and "e", "está" and "esta".
_ACCENT_SENSITIVE = frozenset({"asks", "subjects", "unmarked"})


class Cue(StrEnum):
    """What makes a clause lasting."""

    LASTING = "lasting"  # "from now on", "every time you"
    ADVERB = "adverb"  # "always", "never" in an instruction
    MEMORY = "memory"  # "remember to", "make it a habit", "add this to the rules"
    STOP = "stop"  # "stop asking me"
    CONSENT = "consent"  # "not without asking me"
    PREFERENCE = "preference"  # "I prefer", "answer in English"
    CONVENTION = "convention"  # "in this repository we"
    CONDUCT = "conduct"  # "do not assume", "when I ask you"
    REMINDER = "reminder"  # "I have told you before", "it is in the rules"
    PRACTICE = "practice"  # "scripts go in assets/js": no lasting word, but about a whole kind of things
    CORRECTION = "correction"  # no cue, but the skill in use says otherwise
    LIKELY = "likely"  # no cue, but it reads like something to remember
    TAKEN_UP = "taken_up"  # no cue, but it is about a line of the skill in use


# The strength of each cue, 0 to 1, which becomes the confidence of a match. In the order of search.
STRENGTH = {
    Cue.LASTING: 0.85, Cue.ADVERB: 0.8, Cue.MEMORY: 0.8, Cue.STOP: 0.75, Cue.CONSENT: 0.75, Cue.PREFERENCE: 0.65,
    Cue.CONVENTION: 0.65, Cue.CONDUCT: 0.65, Cue.REMINDER: 0.6,
}  # fmt: skip
KEPT_STRENGTH = 0.45  # of forms that often hold only for once: kept, not proposed


def _word_list(name: str) -> cached_property[Caseless]:
    """Return a property with a list of the language's table as one expression."""
    return cached_property(lambda language: language._words(name))  # noqa: SLF001 - it is the class's own


@dataclass(frozen=True)
class Language:
    """The grammar of one language. Each property is a list of its table as one expression, compiled on first use."""

    code: str
    lists: Mapping[str, Sequence[str]]
    forms: Mapping[tuple[Cue, bool], Sequence[str]]
    spaced: bool
    _needs_of_lists: dict[str, Needs] = field(default_factory=dict)

    # Lists that match whole words.
    vetoes = _word_list("vetoes")  # make a clause no rule
    hedges = _word_list("hedges")  # keep a clause from being a rule, except in a later part of it
    meanwhile = _word_list("meanwhile")  # temporary: a veto, for a model's answer too
    not_once = _word_list("not_once")  # "not just this time": says the opposite of the words for now in it
    product = _word_list("product")  # things that are built, and their users
    work = _word_list("work")  # the work on them
    passing = _word_list("passing")  # about this time, or a liking: no practice
    dissent = _word_list("dissent")  # something is not wanted
    duties = _word_list("duty")  # something must be done
    stories = _word_list("stories")  # other times and places, anywhere before a clause
    elsewhere = _word_list("elsewhere")  # the beginning of a story of how others work
    comes_back = _word_list("comes_back")  # the end of such a story
    always = _word_list("adverb")  # "always", "never"
    tells = _word_list("tells")  # what is, was or will be, beside words for times: not a rule
    musts = _word_list("must")  # somebody or something other than the agent must
    rule_marks = _word_list("rule_marks")  # make a rule of the words beside them: "one for the handbook"
    rule_scopes = _word_list("rule_scopes")  # the same, and part of the rule: "that goes for all tests"
    acts = _word_list("acts")  # speaks to the agent, or of what only it does
    shared_acts = _word_list("shared_acts")  # of what agents and programs do
    states = _word_list("states")  # how a kind of things always is
    reports = _word_list("reports")  # what is or was: not a rule, even beside a mark
    implements = _word_list("implements")  # asks to build what was said

    @cached_property
    def marks(self) -> frozenset[str]:
        """The small words that identify the language, as people type them; none if its script identifies it."""
        words = self.lists.get("marks", ())
        return frozenset((*words, *(unaccented(word) for word in words if len(word) >= _MIN_MARK_LETTERS)))

    @cached_property
    def letters(self) -> frozenset[str]:
        """The letters that identify the language."""
        return frozenset("".join(self.lists.get("letters", ())))

    @cached_property
    def saying(self) -> frozenset[str]:
        """The stems of words that announce a rule."""
        return stems(" ".join(self.lists.get("saying", ())))

    @cached_property
    def openers(self) -> Caseless:
        """Words before an instruction, with the punctuation after them."""
        return self._listed("openers", "^(?:", r"(?:\s*[,.!:;，。！：、–—-]+\s*| ))+")

    @cached_property
    def stages(self) -> Caseless:
        """Words that say when in the work a rule applies, before it; they stay part of it."""
        return self._listed("stage", "^(?:", r")(?:\s*[,.:;，、：–—-]+\s*|\s+|(?<=[\u3040-\u9fff\uac00-\ud7af]))")

    @cached_property
    def frames(self) -> Caseless:
        """Time words that the rule no longer needs."""
        behind = r"(?:[\s:，、–—-]+|(?=[.!,;]|$))" if self.spaced else r"[\s,，、的都请請就]*"
        return self._listed(
            "cuts", r"(?:^|[\s,–—-]+)" if self.spaced else r"(?:^(?:[请請]|麻[烦煩]你?)?|[\s,–—-]+)", behind
        )

    @cached_property
    def given_again(self) -> Caseless:
        """An order behind words that say that it was given before."""
        return self._compiled("^<once_more><standing_order>")

    @cached_property
    def sounds_lasting(self) -> Caseless:
        """The beginning of what sounds as if it was meant to last, though it has no lasting word."""
        return self._listed("sounds_lasting", "^", "")

    @cached_property
    def tags(self) -> Caseless:
        """Words after a rule that only say that it is one."""
        return self._listed("tags", r"[.!,;–—-]+ ?(?:and )?(?:please )?", r"(?=\s*(?:[.,!;]|$))")

    @cached_property
    def reproach(self) -> Caseless:
        """Words before a rule that say that it was given before."""
        return self._listed("reproach", r"^\W*", r"\s*[,:;–—-]+\s*")

    @cached_property
    def retracts(self) -> Caseless:
        """Words that retract something said before."""
        return self._listed("retracts", self._bound, "")

    @cached_property
    def served(self) -> Caseless:
        """The beginning of a statement about the users of a product."""
        return self._listed("customers", r"^(?:\S{1,6} )?", self._bound)

    @cached_property
    def corrects(self) -> Caseless:
        """Words after a rule that replace it by what they introduce: "no wait, spaces"."""
        return self._listed("corrects", r"^\W*", r"(?:[\s,.!:;–—-]+|$)")

    @cached_property
    def asks(self) -> Caseless:
        """The beginning of a question that is no request."""
        return self._listed("asks", r"^¿?\s*", self._bound)

    @cached_property
    def orders(self) -> Caseless:
        """The beginning of a turn that describes a product or a task."""
        return self._listed("orders", r"^\W*", self._bound)

    @cached_property
    def commands(self) -> Caseless:
        """The beginning of an instruction."""
        return self._listed("told", "^", self._bound)

    @cached_property
    def addressed(self) -> Caseless:
        """The beginning of an order that only an agent can carry out, and no product."""
        return self._listed("addressed", "^", self._bound)

    @cached_property
    def theirs(self) -> Caseless:
        """The beginning of a statement about what somebody else does or says."""
        return self._listed("theirs", r"^\W*", self._bound)

    @cached_property
    def requests(self) -> Caseless:
        """Words of a question that is a request."""
        return self._words("requests", _ANYTHING)

    @cached_property
    def unmarked(self) -> Caseless:
        """Words that make a clause without a question mark a question."""
        return self._listed("unmarked", "", "")

    @cached_property
    def cue_forms(self) -> tuple[tuple[Cue, float, Forms], ...]:
        """The forms of the cues that make a clause lasting by themselves, with their strengths, the strongest first."""
        ranked = [(KEPT_STRENGTH if kept else STRENGTH[cue], cue) for cue, kept in self.forms if cue in STRENGTH]
        found = sorted(ranked, key=lambda one: -one[0])
        return tuple((cue, strength, self._forms(cue, kept=strength == KEPT_STRENGTH)) for strength, cue in found)

    @cached_property
    def reminders(self) -> Caseless:
        """Words that say that a rule was given before, wherever they stand."""
        return self._any_of(self.forms.get((Cue.REMINDER, False), ()))

    @cached_property
    def finite(self) -> Caseless:
        """Words that make a part of a sentence a sentence of its own."""
        return self._words("finite", _ANYTHING)

    @cached_property
    def practice(self) -> Forms:
        """Statements about a whole kind of things."""
        return self._forms(Cue.PRACTICE, kept=False)

    @cached_property
    def tasks_behind(self) -> Caseless:
        """A task after a statement, which is then not a practice: "..., change it in the footer"."""
        return self._listed("task_behind", r"[,;–—-]\s*(?:", r")\s*[.!]*$")

    @cached_property
    def named_tasks(self) -> Caseless:
        """A statement that is no condition, before a task on a thing by its name: "..., update the diagram"."""
        return self._compiled(
            r"^(?![^,;–—]*\b<upon>\b)[^,;–—]{3,100}?(?=(?:[,;–—]| - | (?=so\b))\s*<task_on>\s*[.!]*$)"
        )

    @cached_property
    def begins_condition(self) -> Caseless:
        """The beginning of a condition, maybe behind "from now on" and at most two more words."""
        return self._compiled(r"<start>(?:\S+ ){0,2}<upon>\b")

    @cached_property
    def told_of_us(self) -> Caseless:
        """The beginning of what "we" do."""
        return self._listed("we_all", "^", r"\b")

    def without_task(self, text: str) -> str:
        """Return a statement without the task after it, to which an order or a condition may belong."""
        named = None if self.frames.search(text) else self.named_tasks.match(text)
        ordered = named and self.commands.match(text) and not self.told_of_us.match(text)
        rest = text[: named.end()] if named and not ordered else text
        without = self.tasks_behind.sub("", rest)
        return rest if without != rest and self.begins_condition.match(text) else without

    def has_task(self, text: str) -> bool:
        """Whether a task follows a statement."""
        return self.without_task(text) != text

    @cached_property
    def requires(self) -> Caseless:
        """Words for what a thing must do; it is a product if no word of the work is near."""
        return self._listed("required", "", "")

    def without_not_once(self, text: str) -> str:
        """Return `text` without "not just this time", which must not be taken for "this time"."""
        return self.not_once.sub(" ", text)

    def holds_for_now(self, text: str) -> bool:
        """Whether a text says that it only holds for now."""
        return bool(self.meanwhile.search(self.without_not_once(text)))

    def announces(self, text: str) -> bool:
        """Whether a text only says how long what follows it holds: "From now on:"."""
        return bool(self.frames.search(text)) and not content_stems(self.frames.sub(" ", text)) - self.saying

    def patterns(self) -> list[re.Pattern[str]]:
        """Return every expression of the language, compiled."""
        names = [name for name, value in vars(type(self)).items() if isinstance(value, cached_property)]
        words = [one.expression for name in names if isinstance(one := getattr(self, name), Caseless)]
        heard = [self.practice, *(forms for _, _, forms in self.cue_forms)]
        return [*words, *(one for forms in heard for one in forms.patterns())]

    @property
    def _bound(self) -> str:
        return r"\b" if self.spaced else ""

    def _words(self, name: str, missing: str = _NOTHING) -> Caseless:
        return self._listed(name, self._bound, self._bound, missing)

    def _listed(self, name: str, before: str, after: str, missing: str = _NOTHING) -> Caseless:
        return self._compiled(f"{before}<{name}>{after}" if self.lists.get(name) else missing)

    def _forms(self, cue: Cue, *, kept: bool) -> Forms:
        groups: dict[Needs, list[str]] = {}
        for form in self.forms.get((cue, kept), ()):
            groups.setdefault(needs_of(form, self._needs_of_list), []).append(form)
        return Forms([(needs, partial(self._any_of, forms)) for needs, forms in groups.items()])

    def _needs_of_list(self, name: str) -> Needs:
        if name not in self._needs_of_lists:
            self._needs_of_lists[name] = needs_of("|".join(self.lists.get(name) or [_NOTHING]), self._needs_of_list)
        return self._needs_of_lists[name]

    def _any_of(self, forms: Sequence[str]) -> Caseless:
        # Grouped by their first lists: otherwise forms are tried one by one, and shared lists compiled often.
        begins: dict[str, list[str]] = {}
        for form in forms:
            if form.startswith("^") and (head := _HEAD.match(form, 1)):
                begins.setdefault(head[0], []).append(form[head.end() :])
        together = "|".join(f"{head}(?:{'|'.join(rests)})" for head, rests in begins.items())
        anywhere = [form for form in forms if not form.startswith("^")]
        return self._compiled("|".join([*anywhere, *([f"^(?:{together})"] if together else [])]) or _NOTHING)

    def _compiled(self, source: str) -> Caseless:
        source = _accent_insensitive(source)
        for _ in range(_NESTING):
            source = _NAME.sub(lambda m: self._alternatives(m[1]), source)
        return caseless(_with_blanks(source))

    def _alternatives(self, name: str) -> str:
        words = "|".join(self.lists.get(name) or [_NOTHING])
        return f"(?:{words if name in _ACCENT_SENSITIVE else _accent_insensitive(words)})"


def unaccented(word: str) -> str:
    """Return a word as people type it without accents."""
    return "".join(unicodedata.normalize("NFD", _PLAIN_LETTERS.get(char, char))[0] for char in word)


def _accent_insensitive(source: str) -> str:
    """Return an expression that also matches its words without their accents: "nao", "wiec", "fuer"."""
    return source if source.isascii() else _ACCENTED.sub(lambda m: _letter_variants(m[0]), source)


def _letter_variants(letter: str) -> str:
    if letter.startswith("["):
        return letter
    return f"(?:{letter}|{_PLAIN_LETTERS.get(letter) or unicodedata.normalize('NFD', letter)[0]})"


def compiled(source: str) -> re.Pattern[str]:
    """Compile an expression, ignoring case; a blank matches any white space, and with `?` after it also none."""
    return re.compile(_with_blanks(source), re.IGNORECASE)


def _with_blanks(source: str) -> str:
    return _BLANK.sub(lambda m: r"\s*" if m[1] else r"\s+", source)


@cache
def languages() -> dict[str, Language]:
    """Return the languages by code; their expressions are compiled later."""
    shared = _load_table(_HERE / f"{_SHARED}.toml")
    found = sorted(path for path in _HERE.glob("*.toml") if path.stem != _SHARED)
    return {path.stem: _build_language(path.stem, _load_table(path), shared) for path in found}


def _load_table(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _build_language(code: str, own: Mapping[str, Any], shared: Mapping[str, Any]) -> Language:
    spaced, like = own.get("spaced", True), own.get("like", False)
    lists = {**shared["groups"], **{name: value for name, value in own.items() if isinstance(value, list)}}
    lists |= own.get("groups", {})
    told = (*shared["groups"]["told_of"], *shared["groups"]["remembered"])
    lists["stories"] = [*lists.get("stories", ()), *lists.get("elsewhere", ()), *told]
    lists["openers"] = [*lists.get("openers", ()), *shared["groups"]["agent_names"]]
    lists["cuts"] = [*lists.get("frames", ()), *lists.get("tails", ())]
    lists["rule_scopes"] = [*lists.get("rule_scopes", ()), r"<not_once>[^.;:!?。]{0,30}"]
    forms: dict[tuple[Cue, bool], list[str]] = {(Cue.LASTING, False): [r"\b<not_once>\b" if spaced else "<not_once>"]}
    for form in (*own.get("form", ()), *(shared["form"] if like else ())):
        forms.setdefault((Cue(form["cue"]), form.get("kept", False)), []).extend(form["any"])
    return Language(code, lists, forms, spaced)
