"""What the person said during a task about how it is to be done, sentence by sentence. Pure.

A request names the task, and says once more what the agent did not do by itself the last time: "and mark the resolved
ones as such", "no verify". Each sentence is quoted as typed. Nothing that is only about one session, private or
dangerous becomes a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.product import likely_languages
from skilld.classify.rule_repeats import complains, demand_clauses
from skilld.classify.said_already import agrees
from skilld.classify.support import exact_tokens
from skilld.mining.actions import PRIVILEGE_PATTERN, has_machine_path, line_findings
from skilld.mining.courtesy import is_courtesy, without_politeness
from skilld.mining.session_summary import Task
from skilld.mining.similarity import MIN_SESSIONS
from skilld.mining.values import Part, PartKind, Proof
from skilld.text import fold
from skilld.values import value_class
from skilld.words import MIN_SAME_SHARE, content_stems, count_words, has_negation, is_same_ask

MAX_SENTENCES = 24  # of one task
_MIN_WORDS, _MAX_WORDS = 2, 40
_MAX_COMPARED = 4  # sentences of a group
_MAX_FRAME = 40  # characters of "from now on"
_SENTENCE_END_PATTERN = re.compile(r"(?<=[.!?;])\s+(?=\S)|(?<=[\u3002\uff01\uff1f])|(?<!\s)\s+(?=\d{1,2}[.)] )|\n+")
_NUMBERED_PATTERN = re.compile(r"\A(?:\d{1,2}[.)]|[-*\u2022])\s+")
_CONNECTIVE_PATTERN = re.compile(
    r"\A(?:(?:again(?=\s*[,:])|ok(?:ay)?|yes|yeah|yep|sure|great|good|nice|perfect|cool|right|sorry|well|no(?=\s*[,.!])|hmm+|u+m+|a+h+|and|also|but|then"
    r"|so|actually|just|now)\b[\s,.!:-]*)+",
    re.IGNORECASE,
)
_QUESTION_MARKS = "?", "\uff1f"
# Cut off, pasted, about one machine, person or place on the net, or a number that the next time is another.
_ONE_TIME_PATTERN = re.compile(
    r"\u2026|\[REDACTED|\bREDACTED\b|(?<![\w.+-])[\w.+-]+@[\w-]+\.\w|\b\d{1,3}(?:\.\d{1,3}){3}\b|://|\bwww\.|\b[0-9a-f]{7,40}\b"
    r"|#\d|\d{3,}|[<>{}|^~]|```|\\"
)


# Words of an answer that asks for nothing: "looks good", "option 2 seems best".
_APPROVAL_STEMS = content_stems(
    """
    fine good great best better ok okay works working work seems seem sounds sound looks look right correct true option
    nice cool done yes sure thanks thank perfect agree agreed exactly awesome excellent ready now go ahead first second
    this that these all idea one two three makes sense absolutely gut genau richtig klar danke passt
    """
)
_OUTPUT_PATTERN = re.compile(
    r"\bexit (?:status|code)\b|\A(?-i:RUN|FAIL|PASS|ERROR|WARN|INFO)\b"
    r"|\A\W*(?:critical|high|medium|low) (?:severity|priority)\b"
    r"|\A\W*(?:critical|high|medium|low|major|minor|nit|blocker|error|warning|remote|fatal|failed)(?: \w+)?\W*:"
    r"|\A(?:\u3053\u308c\u3067|\u305d\u308c\u3067)?(?:\u3044\u3044|\u5927\u4e08\u592b)(?:\u3067\u3059)?[\u3088\u306d]?\Z",
    re.IGNORECASE,
)


@value_class
class Sentence:
    """One sentence that was typed: its session and turn, as typed, and as a line of a skill."""

    session: str
    turn: str
    quote: str
    text: str
    pasted: bool = False  # probably: of a long turn


def sentences(session: str, turn: str, typed: str, *, pasted: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of one turn that a skill could have as lines."""
    for piece in _SENTENCE_END_PATTERN.split(typed):
        quote = fold(_NUMBERED_PATTERN.sub("", piece)).strip()
        plain, text = _CONNECTIVE_PATTERN.sub("", quote), _plain(quote)
        if quote.endswith(_QUESTION_MARKS) and plain.startswith(text):
            continue  # a question in this form asks for nothing
        fit = _MIN_WORDS <= count_words(text) <= _MAX_WORDS and content_stems(text)
        if fit and not (_ONE_TIME_PATTERN.search(quote) or is_unfit(text) or _says_nothing(text)):
            yield Sentence(session, turn, quote, f"{text[:1].upper()}{text[1:]}", pasted)


def _says_nothing(text: str) -> bool:
    """Whether a sentence only approves, chooses an offered option, or is a program's output or a reviewer's remark."""
    return (
        is_courtesy(text)
        or content_stems(text) <= _APPROVAL_STEMS
        or bool(_OUTPUT_PATTERN.search(text))
        or _has_loose_end(text)
    )


def _has_loose_end(text: str) -> bool:
    """Whether a bracket or quotation mark has no partner, as in a piece of output."""
    return (
        any(text.count(one) != text.count(other) for one, other in ("()", "[]", "\u201c\u201d"))
        or text.count('"') % 2 == 1
    )


def _plain(quote: str) -> str:
    plain = _CONNECTIVE_PATTERN.sub("", quote)
    if complains(plain):  # "no header again"
        return plain.rstrip(" .!;,")
    plain = without_politeness(plain)
    head, comma, rest = plain.partition(",")
    lasts = bool(comma) and len(head) <= _MAX_FRAME and any(one.announces(head) for one in likely_languages(plain))
    return rest.strip() if lasts else plain  # "From now on, ..."


@lru_cache(maxsize=4096)
def is_unfit(text: str) -> bool:
    """Whether a sentence is about one time or place, or says what no skill may."""
    if text.count("`") % 2 or _ONE_TIME_PATTERN.search(text):
        return True
    if has_machine_path(text) or PRIVILEGE_PATTERN.search(text):
        return True
    return bool(line_findings(text, text))


def said_parts(
    said: Iterable[Sentence], known: Sequence[str], titles: Iterable[str], *, loose: bool = False
) -> list[Part]:
    """Return the sentences as parts, the most frequent first, each thing once and without what is `known`.

    Requests as a whole (`titles`) are left out, and what only one session said if it is `pasted`. In a `loose` search
    what was said in other words counts as well, and a part says what is wanted, unless all of it only complains.
    """
    groups: list[list[Sentence]] = []
    whole = {_plain(fold(title)).casefold() for title in titles}
    for one in said:
        if one.text.casefold() in whole:
            continue
        group = next((group for group in groups if _belongs(one, group, loose=loose)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    found = [(len({one.session for one in group}), group) for group in groups]
    chosen = [
        group
        for sessions, group in sorted(found, key=lambda one: -one[0])
        if sessions >= MIN_SESSIONS or not all(one.pasted for one in group)
    ]
    fresh = (group for group in chosen if not any(_is_same(group[0].text, one) for one in known))
    return [_part(group, loose=loose) for group in [*fresh][:MAX_SENTENCES]]


def _belongs(one: Sentence, group: Sequence[Sentence], *, loose: bool) -> bool:
    return _is_same(one.text, group[0].text) or (
        loose and any(is_alike(one.text, other.text) for other in group[:_MAX_COMPARED])
    )


def with_evidence(rules: Sequence[Part], parts: Iterable[Part]) -> tuple[list[Part], list[Part]]:
    """Return the rules with the evidence of the parts that say the same, and the other parts.

    A complaint belongs to the rule that was given with it: "again no swap. Always set the swap and the firewall."
    """
    told, others = list(rules), list[Part]()
    for part in parts:
        at = next((n for n, rule in enumerate(told) if _supports(part, rule)), None)
        if at is None:
            others.append(part)
        else:
            told[at] = replace(told[at], proofs=tuple(dict.fromkeys((*told[at].proofs, *part.proofs))))
    return told, others


def _supports(part: Part, rule: Part) -> bool:
    given = {(one.session, one.turn): one.quote for one in rule.proofs}
    about = content_stems(rule.text)
    for proof in part.proofs:
        quote, beside = _plain(proof.quote), given.get((proof.session, proof.turn))
        if beside and (fold(proof.quote) in fold(beside) or fold(beside) in fold(proof.quote)):
            return True
        if _is_same(quote, rule.text) or asks_to_leave(quote, rule.text):
            return True
        if complains(quote) and (is_alike(quote, rule.text) or (beside and content_stems(quote) & about)):
            return True
    return _is_same(part.text, rule.text)


def _is_same(one: str, other: str) -> bool:
    same_words = fold(one).casefold() == fold(other).casefold()
    return same_words or (is_same_ask(stems_of(one), stems_of(other)) and agrees(one, other))


def with_stop(text: str) -> str:
    """Return a sentence with a full stop if it ends without any sign."""
    return f"{text}." if text[-1:].isalnum() or text.endswith(("`", ")")) else text


def _part(group: Sequence[Sentence], *, loose: bool) -> Part:
    proofs = tuple(dict.fromkeys(Proof(one.session, one.turn, one.quote) for one in group))
    texts = [one.text for one in group]
    shortest = min(texts, key=lambda text: (len(set(texts)) > 1 and complains(text), len(text), text))
    several = loose and len({one.session for one in group}) >= MIN_SESSIONS
    return Part(PartKind.SAID, (several and wanted_line(texts)) or shortest, proofs)


def sentences_of_turns(session: str, typed: Mapping[str, Task], turns: Iterable[str]) -> Iterator[Sentence]:
    """Yield the sentences of these turns of a session; `typed` has what was typed in each."""
    for one in (typed[turn] for turn in turns if turn in typed):
        yield from sentences(session, one.turn, one.text, pasted=one.long)


# What is wanted by what was said in several sessions, in words that one of them had.
#
# "again no resource limits" complains that they were missing; as a rule it would say the opposite. So a rule takes the
# words of an instruction among those that say the same, or else says of what was missing not to forget it.

_MIN_SHARED, _MIN_ALIKE = 2, 3  # stems of two sentences in other words
_MAX_TEXTS = 60  # each is compared with every other
_CLAUSE_END = re.compile(r"[,:;]\s|\s[-\u2013\u2014]\s")
_THING = r"([^,.;:!?()\n]{3,80})"
_MISSING = re.compile(
    rf"\byou(?:['\u2019]ve| have)? (?:again |still )?(?:forgot(?:ten)?|missed|omitted|left out|skipped) {_THING}"
    rf"|\b((?:the|our|its) [^,.;:!?()\n]{{3,60}}?) (?:is|are|was|were) (?:still |again )?missing\b"
    rf"|\A(?:again|still) without {_THING}",
    re.IGNORECASE,
)
_ONCE_MORE = re.compile(r"(?: (?:again|once more|once again|this time|too|as well)){1,3}$", re.IGNORECASE)
_ARTICLE = re.compile(r"\A(?:the|an?|any) ", re.IGNORECASE)
_LACK = re.compile(rf"\A(?:again|still|once more)[,:]? (?:no|without) {_THING}|\Ano {_THING}", re.IGNORECASE)
_WITHOUT = re.compile(r"\b(?:without|forgot(?:ten)?|missed|missing|omitted|left out|skipped)\b", re.IGNORECASE)
_POINTER = re.compile(r"\A(?:it|that|this|these|those|them|one|what|how|why|which)\b", re.IGNORECASE)
_LEFT_TO_PERSON = re.compile(r"\A(?:no[,.]? |please )*leave (?:the )?([^,.;:!?()\n]{3,60}) to me\b", re.IGNORECASE)


@lru_cache(maxsize=4096)  # each sentence is compared with many
def stems_of(text: str) -> frozenset[str]:
    """Return the stems of a sentence's content words."""
    return content_stems(text)


_names = lru_cache(maxsize=4096)(exact_tokens)


def wanted_line(texts: Sequence[str]) -> str:
    """Return the line for what these texts of several sessions say alike, "" if they only complain."""
    texts = [*dict.fromkeys(texts)][:_MAX_TEXTS]
    own = [one for one in texts if not complains(one)]
    shared = [one for one in own if any(_is_mostly_in(one, other) for other in texts if other != one)]
    missing = filter(None, map(missing_thing, texts))
    lines = shared or [*_shared_clauses(texts)] or own or [f"Do not forget {thing}" for thing in missing]
    line = min(lines, key=lambda one: (len(one), one), default="")
    return f"{line[:1].upper()}{line[1:]}"


def is_complaint(text: str) -> bool:
    """Whether a turn only complains about what was done, and says what was missing or wanted: it is no new task."""
    return complains(text) and bool(missing_thing(text) or demand_clauses(text))


@lru_cache(maxsize=4096)
def misses_something(text: str) -> bool:
    """Whether a turn complains that something was not done, which takes nothing back: "you forgot it"."""
    return complains(text) and bool(_WITHOUT.search(text) or has_negation(text))


def missing_thing(text: str) -> str:
    """Return what a complaint says was missing: "the header" of "you forgot the header again"; "" if it does not."""
    found = _MISSING.search(fold(text))
    thing = _ONCE_MORE.sub("", next(filter(None, found.groups()), "")).strip() if found else ""
    thing = _ARTICLE.sub("the ", thing)
    return thing if stems_of(thing) and not _POINTER.match(thing) else ""


def is_alike(one: str, other: str) -> bool:
    """Whether two sentences probably ask for the same, such as "wrap each handler in withX" and "you forgot withX".

    A clause of each is enough: "the owner is a team slug, never a name" and "I told you: the owner is a team slug".
    """
    lacks = [stems_of(_lack(text)) for text in (one, other)]
    alike = (
        _shares(one, other)
        or bool(lacks[0] and lacks[0] == lacks[1])
        or any(_share_all(part, piece) for part in _clauses(one) for piece in _clauses(other))
    )
    return alike and (misses_something(one) or misses_something(other) or not contradicts(one, other))


def asks_to_leave(text: str, ban: str) -> bool:
    """Whether a sentence leaves to the person what a ban forbids: "leave the reload to me", "never reload nginx"."""
    found = _LEFT_TO_PERSON.match(fold(text))
    stems = stems_of(found[1]) if found else frozenset[str]()
    return bool(stems) and stems <= stems_of(ban)


def _shares(one: str, other: str) -> bool:
    stems, known = stems_of(one), stems_of(other)
    shared, fewer = len(stems & known), min(len(stems), len(known))
    if shared < _MIN_SHARED:
        return False
    # Two words in common are enough if one sentence has no others, or if they share a name of code.
    least = _MIN_SHARED if shared == fewer or _names(one) & _names(other) else _MIN_ALIKE
    return shared >= least and shared / fewer >= MIN_SAME_SHARE


def _is_mostly_in(one: str, other: str) -> bool:
    stems = stems_of(one)
    return _shares(one, other) and len(stems & stems_of(other)) >= MIN_SAME_SHARE * len(stems)


def _share_all(one: str, other: str) -> bool:
    """Whether two clauses share enough words, or have the same few."""
    stems, known = stems_of(one), stems_of(other)
    return stems == known or (min(len(stems), len(known)) >= _MIN_ALIKE and _shares(one, other))


@lru_cache(maxsize=4096)
def _lack(text: str) -> str:
    """Return what a complaint misses, also "again no header", which without others may as well ban headers."""
    found = None if missing_thing(text) or not complains(text) else _LACK.match(fold(text))
    return missing_thing(text) or (_ONCE_MORE.sub("", next(filter(None, found.groups()), "")) if found else "")


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a sentence that have enough words to be compared."""
    return tuple(one.strip() for one in _CLAUSE_END.split(text) if len(stems_of(one)) >= _MIN_SHARED)


def _shared_clauses(texts: Sequence[str]) -> Iterator[str]:
    """Yield the clauses that say what is wanted and that another of the texts also has."""
    for text in texts:
        others = [piece for other in texts if other != text for piece in _clauses(other)]
        for part in {*demand_clauses(text), *(one for one in _clauses(text) if not complains(one))}:
            if len(stems_of(part)) >= _MIN_SHARED and any(_share_all(part, piece) for piece in others):
                yield part
