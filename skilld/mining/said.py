"""What the person said during a task about how it is to be done, sentence by sentence. Pure.

A request names the task, and says once more what the agent did not do by itself the last time: "and mark the resolved
ones as such", "no verify". Each sentence is quoted as typed. Nothing that is only about one session, private or
dangerous becomes a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from skilld.classify.contradiction import contradicts
from skilld.classify.rule_repeats import complains
from skilld.classify.said_already import agrees
from skilld.classify.support import exact_tokens
from skilld.mining.actions import PRIVILEGE_PATTERN, has_machine_path, line_findings
from skilld.mining.courtesy import is_courtesy, without_politeness
from skilld.mining.kinds import MIN_SESSIONS
from skilld.mining.session_summary import Task
from skilld.mining.values import Part, PartKind, Proof
from skilld.text import fold
from skilld.values import value_class
from skilld.words import MIN_SAME_SHARE, content_stems, count_words, is_same_ask

_MIN_SENTENCE_STEMS, _MIN_ALIKE_STEMS = 2, 3  # that two sentences in other words share
MAX_SENTENCES = 24  # of one task
_MIN_WORDS, _MAX_WORDS = 2, 40
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
    return without_politeness(_CONNECTIVE_PATTERN.sub("", quote))


@lru_cache(maxsize=4096)
def is_unfit(text: str) -> bool:
    """Whether a sentence is about one time or place, or says what no skill may."""
    if text.count("`") % 2 or _ONE_TIME_PATTERN.search(text):
        return True
    if has_machine_path(text) or PRIVILEGE_PATTERN.search(text):
        return True
    return bool(line_findings(text, text))


def said_parts(said: Iterable[Sentence], known: Sequence[str], titles: Iterable[str], *, least: int = 1) -> list[Part]:
    """Return the sentences as parts, the most frequent first; each thing once, and none of what is `known`.

    Requests as a whole (`titles`) are left out, and those of fewer than `least` sessions, or two if they are `pasted`.
    With `least` of two or more, what was said in other words counts as well.
    """
    loose = least >= MIN_SESSIONS
    groups: list[list[Sentence]] = []
    whole = {_plain(fold(title)).casefold() for title in titles}
    for one in said:
        if one.text.casefold() in whole:
            continue
        stems = content_stems(one.text)
        same = (
            group
            for group in groups
            if _is_same(one.text, group[0].text, stems, content_stems(group[0].text))
            or (loose and _is_alike(one.text, group[0].text))
        )
        group = next(same, None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    found = [(len({one.session for one in group}), group) for group in groups]
    chosen = [
        group
        for sessions, group in sorted(found, key=lambda one: -one[0])
        if sessions >= (max(least, MIN_SESSIONS) if all(one.pasted for one in group) else least)
    ]
    said_before = [(one, content_stems(one)) for one in known]
    fresh = (
        group
        for group in chosen
        if not any(_is_same(group[0].text, one, content_stems(group[0].text), stems) for one, stems in said_before)
    )
    return [_part(group) for group in [*fresh][:MAX_SENTENCES]]


def without_told(parts: Iterable[Part], told: Iterable[Part]) -> list[Part]:
    """Return the parts without those of which something is in others that are `told`."""
    proofs = {proof for part in told for proof in part.proofs}
    return [part for part in parts if proofs.isdisjoint(part.proofs)]


def _is_same(one: str, other: str, stems: frozenset[str], known: frozenset[str]) -> bool:
    return fold(one).casefold() == fold(other).casefold() or (is_same_ask(stems, known) and agrees(one, other))


def with_stop(text: str) -> str:
    """Return a sentence with a full stop if it ends without any sign."""
    return f"{text}." if text[-1:].isalnum() or text.endswith(("`", ")")) else text


def _is_alike(one: str, other: str) -> bool:
    """Whether two sentences probably ask for the same, such as "wrap each handler in withX" and "you forgot withX"."""
    stems, known = content_stems(one), content_stems(other)
    shared, fewer = len(stems & known), min(len(stems), len(known))
    # Two words in common are enough if one sentence has no others, or if they share a name of code.
    least = _MIN_SENTENCE_STEMS if shared == fewer or exact_tokens(one) & exact_tokens(other) else _MIN_ALIKE_STEMS
    return shared >= least and shared / fewer >= MIN_SAME_SHARE and not contradicts(one, other)


def _part(group: Sequence[Sentence]) -> Part:
    proofs = tuple(dict.fromkeys(Proof(one.session, one.turn, one.quote) for one in group))
    texts = {one.text for one in group}
    return Part(
        PartKind.SAID, min(texts, key=lambda text: (len(texts) > 1 and complains(text), len(text), text)), proofs
    )


def sentences_of_turns(session: str, typed: Mapping[str, Task], turns: Iterable[str]) -> Iterator[Sentence]:
    """Yield the sentences of these turns of a session; `typed` has what was typed in each."""
    for one in (typed[turn] for turn in turns if turn in typed):
        yield from sentences(session, one.turn, one.text, pasted=one.long)
