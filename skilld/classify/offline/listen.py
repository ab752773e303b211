"""Which clauses of a turn say something lasting.

One turn in, the clauses heard out, each with its cue and its exact place in the turn. Knows nothing of skills.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skilld.classify.offline.cues import LANGUAGES, Cue, Language
from skilld.classify.offline.provenance import own_words, without_quotations
from skilld.classify.offline.sentences import Clause, clauses
from skilld.text import fold

_LONGEST = 500  # characters of one clause: longer ones are pasted or dictated, and no rule
_PLAIN = 120  # characters of a plain command
_MODEST = 0.6  # how sure a plain command against a line of the skill makes us
_MANY = 700  # characters of a turn above which it is a description, like one that begins as an order
_EXPLICIT = frozenset({Cue.MEMORY, Cue.LASTING})
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LETTERS = re.compile(r"[^\W\d_]+")
_APOSTROPHES = str.maketrans("’ʼ`´", "''`'")


@dataclass(frozen=True, slots=True)
class Heard:
    """A clause that says something lasting.

    `quote` is the clause as typed, `said` the same without what stands before the instruction, `strength` 0 to 1.
    """

    quote: str
    said: str
    start: int
    question: bool
    language: Language
    cue: Cue
    strength: float


def listen(text: str, agent_texts: Sequence[str] = ()) -> list[Heard]:
    """Return what lasting things `text`, one turn, says; `agent_texts` are the agent's messages before it."""
    typed = _typed(text, agent_texts)
    languages = spoken(typed)
    ordered = len(fold(typed)) > _MANY or any(language.orders.match(typed) for language in languages)
    heard = (_hear(clause, text, languages) for clause in clauses(typed))
    return [one for one in heard if one and (one.cue in _EXPLICIT or not ordered)]


def commands(text: str, agent_texts: Sequence[str] = ()) -> list[Heard]:
    """Return the plain commands of `text`: nothing lasting by themselves, but a skill may say otherwise."""
    typed = _typed(text, agent_texts)
    languages = spoken(typed)
    if any(language.orders.match(typed) for language in languages):
        return []
    out: list[Heard] = []
    for clause in clauses(typed):
        for language in languages:
            opener = language.openers.match(clause.text)
            begin = opener.end() if opener else 0
            rest = clause.text[begin:]
            unfit = clause.question or language.vetoes.search(clause.text) or language.asks.match(rest)
            if len(rest) <= _PLAIN and not unfit and language.commands.match(rest):
                quote = text[clause.start : clause.start + len(clause.text)]
                out.append(
                    Heard(quote, quote[begin:], clause.start, clause.question, language, Cue.CORRECTION, _MODEST)
                )
                break
    return out


def retractions(text: str, agent_texts: Sequence[str] = ()) -> list[str]:
    """Return the clauses of `text` that take something back."""
    typed = _typed(text, agent_texts)
    languages = spoken(typed)
    return [
        text[clause.start : clause.start + len(clause.text)]
        for clause in clauses(typed)
        if any(language.retracts.search(clause.text) for language in languages)
    ]


def spoken(text: str) -> list[Language]:
    """Return the languages that `text` may be in: by its script, and in Latin script by its small words.

    English is always among them, people mix it into everything.
    """
    by_code = {language.code: language for language in LANGUAGES}
    scripts = (("ja", _KANA), ("ko", _HANGUL), ("ru", _CYRILLIC), ("zh", _HAN))
    for code, script in scripts:
        if script.search(text):
            return [by_code[code], by_code["en"]]
    words = {word.lower() for word in _LETTERS.findall(text)}
    counts = {language.code: len(words & language.marks) for language in LANGUAGES if language.marks}
    most = max(counts.values(), default=0)
    return [by_code["en"], *(by_code[code] for code, count in counts.items() if count and count == most)]


def _hear(clause: Clause, text: str, languages: Sequence[Language]) -> Heard | None:
    if len(clause.text) > _LONGEST:
        return None
    bare = clause.text
    best: Heard | None = None
    for language in languages:
        opener = language.openers.match(bare)
        begin = opener.end() if opener else 0
        rest = bare[begin:]
        if language.vetoes.search(bare) or language.retracts.search(bare):
            continue
        asks = bool(language.asks.match(rest))
        for pattern in language.patterns:
            if asks and pattern.cue is not Cue.REMINDER:  # "isn't that in the rules?" says that it is
                continue
            if (best is None or pattern.strength > best.strength) and pattern.regex.search(rest):
                quote = text[clause.start : clause.start + len(clause.text)]
                said = quote[begin:]
                best = Heard(quote, said, clause.start, clause.question, language, pattern.cue, pattern.strength)
    return best


def _typed(text: str, agent_texts: Sequence[str]) -> str:
    """Return `text` with what is not the person's own filled, and one kind of apostrophe; places stay."""
    return without_quotations(own_words(text, agent_texts)).translate(_APOSTROPHES)
