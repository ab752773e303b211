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

from skilld.classify.offline.product import likely_languages
from skilld.classify.rule_repeats import complains
from skilld.classify.said_already import agrees
from skilld.mining.actions import PRIVILEGE_PATTERN, has_machine_path, line_findings
from skilld.mining.courtesy import is_courtesy, without_politeness
from skilld.mining.kinds import MIN_SESSIONS
from skilld.mining.session_summary import Task
from skilld.mining.values import Part, PartKind, Proof
from skilld.mining.wanted import asks_to_leave, is_alike, stems_of, wanted_line
from skilld.text import fold
from skilld.values import value_class
from skilld.words import content_stems, count_words, is_same_ask

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
    """Return the sentences as parts, the most frequent first; each thing once, and none of what is `known`.

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
