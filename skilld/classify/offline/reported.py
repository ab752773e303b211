"""Recognizes what somebody else said, wrote or recommends, and the person only reports.

One rule: a subject that is neither the person nor the agent, with a verb of saying, governs the words after it, or the
sentence before it; so does a source ("according to the docs"). `reported.toml` has the words of each language. What
follows from a report ("..., so from now on ...") is the person's own again.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from skilld.classify.caseless import CASED, Caseless, caseless

_Words = Caseless | re.Pattern[str]  # the latter if a part of them is a name with a capital letter

_TABLE = Path(__file__).with_suffix(".toml")
_SENTENCE = re.compile(r"[^\n.!?。！？]++(?:[.!?](?!\s|$)[^\n.!?。！？]*+)*+[.!?。！？]?")
_MAX_SENTENCE = 500  # characters: longer ones are pasted or dictated
_MAX_SUBJECT = 60  # characters between the start of a clause and its verb
_MAX_TITLE = 100  # characters of a line that only names a text
_MIN_SAID = 12  # characters before ", says Bob"
_SEAM = re.compile(r"[,;:，；：、–—(]|(?<=\s)-(?=\s)")
_STOPS = frozenset(";；(")
_COMMA = re.compile(r"[,，–—]\s*+")
_COLON = re.compile(r"\s?[:：](?=\s|[\"“„«‹「『'‘]|[^\x00-\xff])")
_DIRECTLY = re.compile(r"\s?[,:，：](?=\s|[^\x00-\xff])|\s?(?=[\"“„«‹「『])")
_WHO = re.compile(r"(?:\s+[\w'’.@-]+){1,5}\W*")
_WORD = re.compile(r"\w")
_CLAUSE_END = re.compile(r"[,.;!?]")
_DETERMINERS = re.compile(r"\W*(?:[^\W\d_]{1,5}['’]?\s*){0,2}(?:[\w-]+['’]s\s*)?")
_BEHIND_TITLE = re.compile(r"(?:\s(?:[^\s]+\s?){1,5})?$")
_FOLLOWS = re.compile(r"\s*\n\s*(?:[^\W\da-z_]|[-*#>\d])")  # a blank line, and a capital letter or a mark
_OBJECT = re.compile(
    r"\b(?:an?|the|some|his|her|their) [\w'’-]+(?: [\w'’-]+){0,2}+\s(?:that |which |who )?\Z", re.IGNORECASE
)
_BEGIN, _END = r"(?<![\w'’-])", r"(?![\w-])"
_NEVER = "(?!)"
_OF = "from|by|of|aus|von|vom|de|del|du|da|dal|uit|van|z|ze|из|от"


def _words(name: str, before: str = "", after: str = "", *, bound: bool = True) -> cached_property[_Words]:
    """Return a property with a list of all tables as one expression; `bound`: of whole words."""
    return cached_property(lambda words: words._compiled(name, before, after, bound=bound))  # noqa: SLF001 - its own


class Reporting:
    """The words of some languages for reports, as expressions that are compiled on first use; see `reported.toml`."""

    def __init__(self, codes: frozenset[str] | None) -> None:
        """Take the languages with these codes; without codes, all."""
        tables = dict(_tables())
        self._stand_ins = {name.upper(): f"(?:{'|'.join(stems)})" for name, stems in tables.pop("any").items()}
        self._tables = [table for code, table in tables.items() if codes is None or code in codes]

    says = _words("says")
    weak = _words("weak")
    quotes = _words("quotes")
    own = _words("own")
    no_subject = _words("no_subject", r"\W*")
    asides = _words("asides", r"(?:\s*+", ")*+")
    begins = _words("begins", r"\s*+")
    lasting = _words("lasting")
    back = _words("back", r"\s*+")
    source = _words("source", bound=False)
    noun = _words("noun", r"^\W*+", rf"(?: (?:{_OF}) [^:：\n]{{1,40}})?\s?[:：]")
    final = _words("final", bound=False)
    written = _words("written")
    presents = _words("presents")
    about = _words("about")
    alone = _words("alone")
    orders = _words("orders")
    nominal = _words("nominal", r"\W*")

    def patterns(self) -> dict[str, re.Pattern[str]]:
        """Return every expression by its name, compiled."""
        names = [name for name, value in vars(Reporting).items() if isinstance(value, cached_property)]
        found = {name: getattr(self, name) for name in names}
        return {name: one.expression if isinstance(one, Caseless) else one for name, one in found.items()}

    def _compiled(self, name: str, before: str, after: str, *, bound: bool) -> _Words:
        parts = []
        for table in self._tables:
            one = f"(?:{'|'.join(table.get(name) or [_NEVER])})"
            parts.append(f"{_BEGIN}{one}{_END}" if bound and not table.get("unspaced") else one)
        source = "|".join(parts) or _NEVER
        for word, stems in self._stand_ins.items():
            source = source.replace(word, stems)
        source = f"{before}(?:{source}){after}"
        return re.compile(source, re.IGNORECASE) if CASED in source else caseless(source)


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_TABLE.read_text(encoding="utf-8"))


@cache
def reporting(codes: frozenset[str] | None = None) -> Reporting:
    """Return the words of the languages with these codes together; without codes, of all."""
    return Reporting(codes)


def without_reported(text: str, codes: frozenset[str]) -> str:
    """Return `text` with what is reported in it replaced by newlines, so that positions stay the same."""
    words, out, done = reporting(codes), list[str](), 0
    report, behind = "", -1  # what the sentence before reports up to its end, and where it ends
    for sentence in _SENTENCE.finditer(text):
        goes_on = bool(report) and sentence.start() == behind and _goes_on(report, sentence[0], words)
        span = None
        if len(sentence[0]) <= _MAX_SENTENCE:
            span = (0, len(sentence[0])) if goes_on else _reported_part(sentence[0], words)
        report, behind = "", sentence.end()
        if span:
            begin, end = sentence.start() + span[0], sentence.start() + span[1]
            out += [text[done:begin], "\n" * (end - begin)]
            done = end
            report = text[begin:end] if end == behind else ""
    return "".join([*out, text[done:]])


def announced_quotation(line: str) -> tuple[int, int] | None:
    """Return where a sentence begins that quotes somebody after a colon ("Bob said: ..."), and the end of the colon.

    None if no sentence of the line does.
    """
    if ":" not in line and "：" not in line:
        return None
    words = reporting()
    for sentence in _SENTENCE.finditer(line):
        if len(sentence[0]) > _MAX_SENTENCE:
            continue
        if noun := words.noun.match(sentence[0]):
            return sentence.start(), sentence.start() + noun.end()
        for subject, verb_end in _subjects(sentence[0], words, words.says, words.weak, words.quotes):
            if colon := _COLON.match(sentence[0], _after(words.asides, sentence[0], verb_end)):
                return sentence.start() + subject, sentence.start() + colon.end()
    return None


def names_text(line: str, below: str) -> bool:
    """Whether a line only names what somebody wrote, which is `below` it: "here's the issue", "bug report:".

    Without a colon a text must follow that looks written, and the line must hand it over or be nothing but its name.
    """
    title = line.rstrip()
    colon = title.endswith((":", "："))
    if len(title) > _MAX_TITLE or not below.strip() or not (colon or _FOLLOWS.match(below)):
        return False
    words = reporting()
    bare = title.rstrip(":： ")
    if words.lasting.search(bare):
        return False
    for found in words.written.finditer(bare):
        lead = _CLAUSE_END.split(bare[: found.start()])[-1]
        if _BEHIND_TITLE.match(bare, found.end()) and not words.about.search(lead):
            return colon or bool(words.presents.search(lead) or _DETERMINERS.fullmatch(lead))
    return False


def tells_of_others(clause: str, codes: frozenset[str] | None = None) -> bool:
    """Whether somebody else says something in a clause, be it a rule or not: "the linter says unused import"."""
    words = reporting(codes)
    return next(_subjects(clause, words, words.says), None) is not None


def _goes_on(report: str, sentence: str, words: Reporting) -> bool:
    """Whether a report of a rule goes on with the next rule: "Bob says always squash. Never rebase."."""
    return bool(
        words.lasting.search(report) and words.lasting.match(sentence.lstrip()) and not words.own.search(sentence)
    )


def _reported_part(sentence: str, words: Reporting) -> tuple[int, int] | None:
    if words.final.search(sentence) and not words.own.search(sentence):
        return 0, len(sentence)
    source = words.source.search(sentence)
    if source and not words.own.search(sentence, 0, source.end()):
        return 0, _own_again(sentence, source.end(), words)
    for verbs in (words.says, words.weak):
        for subject, verb_end in _subjects(sentence, words, verbs):
            if (end := _governed_end(sentence, verb_end, words, verbs is words.weak)) is not None:
                return subject, end
    return (0, len(sentence)) if _is_attributed(sentence, words) else None


def _subjects(sentence: str, words: Reporting, *verbs: _Words) -> Iterator[tuple[int, int]]:
    """Yield the start of each clause in which somebody else says something, and the end of its verb."""
    for verb in (one for kind in verbs for one in kind.finditer(sentence)):
        begin = max(0, verb.start() - _MAX_SUBJECT)
        begin = max((seam.end() for seam in _SEAM.finditer(sentence, begin, verb.start())), default=begin)
        subject = sentence[begin : verb.start()]
        if words.no_subject.match(subject) or words.lasting.match(subject.lstrip()):
            continue
        if words.own.search(subject) and (source := _OBJECT.search(subject)):  # "I read a post saying ..."
            begin += source.start()
            subject = source[0]
        if words.own.search(subject):
            continue
        if words.alone.fullmatch(verb[0]) or (
            _WORD.search(subject) and (words.nominal.match(subject) or not words.orders.fullmatch(verb[0]))
        ):
            yield begin, verb.end()


def _governed_end(sentence: str, verb_end: int, words: Reporting, weak: bool) -> int | None:  # noqa: FBT001 - of the verb
    """Return where the words that a verb governs end; None if it has only an object: "it says unused import"."""
    at = _after(words.asides, sentence, verb_end)
    begins = _DIRECTLY.match(sentence, at) or words.begins.match(sentence, at)
    seam = _SEAM.search(sentence, begins.end() if begins else verb_end)
    if begins is None and (
        weak or not words.lasting.search(sentence, verb_end, seam.start() if seam else len(sentence))
    ):
        return None
    return _own_again(sentence, begins.end() if begins else at, words)


def _own_again(sentence: str, at: int, words: Reporting) -> int:
    """Return where the person speaks for themselves again after a report: at a consequence, or at the end."""
    for seam in _SEAM.finditer(sentence, at):
        if seam[0] in _STOPS or words.back.match(sentence, seam.end()):
            return seam.start()
    return len(sentence)


def _is_attributed(sentence: str, words: Reporting) -> bool:
    """Whether a sentence ends with who said it: "..., says the wiki", "..., sagt Anna"."""
    begin = max((comma.end() for comma in _COMMA.finditer(sentence, _MIN_SAID)), default=0)
    verb = words.says.match(sentence, begin) if begin else None
    if verb is None or words.orders.fullmatch(verb[0]):
        return False
    behind = sentence[verb.end() :]
    return bool(_WHO.fullmatch(behind)) and not (words.own.search(behind) or words.begins.match(behind))


def _after(pattern: _Words, text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
