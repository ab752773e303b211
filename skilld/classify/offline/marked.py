"""Finds rules by the words beside them that make them one: "one for the handbook: ...", "... . Write that down".

Such a rule needs no lasting word of its own, and no form of an order: "Link text names the thing it opens. That belongs
in the guidelines." The table of each language lists the marks, which are no part of the rule, and the scopes ("that
goes for all tests"), which are. A mark counts before a colon, at the end of a clause, or as a clause beside the rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skilld.classify.offline.grammar import Language
from skilld.classify.offline.product import describes_product, names_product, opener_end
from skilld.classify.offline.sentences import Clause
from skilld.text import fold
from skilld.values import value_class
from skilld.words import content_stems, count_words

_MIN_WORDS, _MAX_WORDS = 3, 40  # of a rule
_MIN_STEMS, _FULL_SENTENCE = 2, 5  # content words, or else words
_MAX_BEFORE = 3  # words before a mark that begins a clause: "perfect, and"
_MAX_REASON = 80  # characters of a reason after a mark that ends a clause
# What may come before a mark, and between it and its colon or the end of its clause.
_LEADING = re.compile(
    r"(?:^|[,;.!:(]|\s[-–—]{1,2}|\b(?:but|so))\s*(?:(?:and|so|also|und|et|e|y|but|oh|ok|okay|right|well|now|please|bitte)\s+)*$",
    re.IGNORECASE,
)
_COLON = re.compile(
    r"(?:(?:,| and\b| with\b| you\b| that\b| we\b| i\b| (?:note|write|keep|remember|save|put)\b)[^:.,]{0,80}?)?"
    r"\s*(?::|：|\.{2,3}|\s[-–—]{1,2}| (?:that|dass|que|che)(?= ))\s*(?=\S+\s*\S)",
    re.IGNORECASE,
)
# "That goes for all pages: ..." is "for all pages: ...".
_SCOPE_VERB = re.compile(
    r"(?:(?:and|und|et|y|e)\s+)?(?:that|this|it|das|dies|es|ça|cela|esto|eso|questo|isso)\s+(?:rule\s+)?"
    r"(?:goes|holds|applies|counts|gilt|vaut|vale|valgono|valent)\s+(?:(?:also|too|double|ab jetzt|auch|immer)\s+)*",
    re.IGNORECASE,
)
_SEAM = " ,;:–—-(\n"
_CONJUNCTION = re.compile(r"[ ,](?:and|und|et|e|y)\Z", re.IGNORECASE)
_END = re.compile(r"\W*\Z")
_REASON = re.compile(
    r"\s*(?:[,;–—-]|\b(?:as|so|since|because|cause|cos|weil|damit|porque|parce que|perché)\b)\s*"
    rf"[^\n:]{{0,{_MAX_REASON}}}\Z",
    re.IGNORECASE,
)


@value_class
class Marked:
    """A rule and the words that mark it: where they begin and end in the turn, and the rule alone."""

    start: int
    end: int
    said: str
    language: Language


def marked_rules(said: Sequence[Clause], text: str, languages: Sequence[Language]) -> Iterator[Marked]:
    """Yield the marked rules of a turn, `text`, from its clauses."""
    reached = 0
    for number, clause in enumerate(said):
        beside = (said[number - 1] if number else None, said[number + 1] if number + 1 < len(said) else None)
        found = (
            Marked(start, end, rule, language)
            for language in languages
            for start, first, last, end in _candidates(clause, *beside, language)
            if start >= reached
            and _is_rule(rule := text[first:last], language, languages)
            and not (last == end and first >= clause.start and _is_built(rule, language, languages))
        )
        if (one := next(found, None)) is not None:
            yield one
            reached = one.end


def _candidates(
    clause: Clause, before: Clause | None, behind: Clause | None, language: Language
) -> Iterator[tuple[int, int, int, int]]:
    """Yield what a mark in a clause may belong to: the rest of the clause, or the clause before or after it.

    Positions in the turn: of the mark with its rule, and in between those of the rule.
    """
    start, end = clause.start, clause.start + len(clause.text)
    for mark, kept in ((language.rule_marks, False), (language.rule_scopes, True)):
        for found in mark.finditer(clause.text):
            head, tail = clause.text[: found.start()], clause.text[found.end() :]
            if not _LEADING.search(head) or (kept and any(map(language.served.search, found[0].split()))):
                continue
            begins = count_words(head) <= _MAX_BEFORE
            if (begins or head.endswith(("but ", "so "))) and (colon := _COLON.match(tail)):
                scope = _SCOPE_VERB.match(found[0]) if kept else None
                rule = found.end() + colon.end() if not kept else found.start() + (scope.end() if scope else 0)
                yield start, start + rule, end, end
            elif not (_END.match(tail) or _REASON.match(tail)):
                continue
            elif not begins:
                yield (
                    start,
                    start + opener_end(clause.text, language),
                    end if kept else start + len(_CONJUNCTION.sub("", head.rstrip(_SEAM)).rstrip(_SEAM)),
                    end,
                )
            else:
                if before is not None and (own := opener_end(before.text, language)) < len(before.text):
                    yield before.start, before.start + own, end if kept else before.start + len(before.text), end
                if behind is not None and not (behind.question or kept):
                    last = behind.start + len(behind.text)
                    yield start, behind.start + opener_end(behind.text, language), last, last


def _own(text: str, language: Language) -> str:
    """Return a clause without the words before its instruction."""
    return text[opener_end(text, language) :]


def _is_rule(said: str, language: Language, languages: Sequence[Language]) -> bool:
    """Whether words can be a rule: no question, no report, not about a product, and about something."""
    bare = fold(said)
    rest = _own(bare, language)
    length, stems = count_words(rest), len(content_stems(rest))
    if not _MIN_WORDS <= length <= _MAX_WORDS or not stems or (stems < _MIN_STEMS and length < _FULL_SENTENCE):
        return False
    if language.asks.match(rest) or language.theirs.match(rest) or language.reports.search(rest):
        return False
    return not any(one.vetoes.search(one.without_not_once(bare)) or one.retracts.search(bare) for one in languages)


def _is_built(said: str, language: Language, languages: Sequence[Language]) -> bool:
    """Whether words say what a product does: "new rule: guests cannot pay"."""
    rest = fold(_own(said, language))
    return describes_product(rest, language, languages) or names_product(rest, languages)
