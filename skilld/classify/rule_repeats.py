"""Whether a person repeats a rule: compares the words of a turn with a line the agent had loaded.

Distinguishes a correction or demand that says what the rule says from talk about the rule (a question, a story, a wish
to change it) and from another rule that shares words with it. The clearer it is that the turn corrects something, the
fewer words they need to share. docs/measurements/effect.md has the figures.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from skilld.classify.caseless import caseless
from skilld.classify.content import (
    CHOICE_STEMS,
    LANGUAGES,
    MEANING_WEIGHT,
    META_STEMS,
    OPPOSITES,
    SAME_WEIGHT,
    TOOLS,
    Content,
    ContentPart,
    choice_members,
    content_of,
    content_terms,
    count_shared,
    term_weights,
    weight_share,
)
from skilld.classify.contradiction import PLAIN_VERBS
from skilld.classify.offline.choices import is_reversed_choice, loses_order, refused_part
from skilld.classify.offline.phrasing import begins_with_order
from skilld.classify.offline.product import likely_languages
from skilld.classify.offline.release import OF_RULE, cancelled_topic, taking_back
from skilld.classify.offline.sections import BlockKind, sections
from skilld.classify.offline.typed import clauses_of, typed_part
from skilld.classify.opposition import is_ban, opposes
from skilld.meanings import Term, Words, field_of, terms
from skilld.text import fold, split_sentences, truncate
from skilld.types import Kind, Update
from skilld.values import value_class
from skilld.words import content_stems, has_negation, is_unspaced, stem

MAX_QUOTE = 300  # characters quoted of a turn; of a longer one only the clauses that correct
_MAX_RULE = 400  # characters: a longer line is more than one rule
_MAX_WHOLE_TURN = 160  # characters of a turn that is also compared as a whole
_MAX_PLAIN_CLAUSE = 80  # characters of a clause whose parts are all demands
_MAX_QUOTES = 12  # of one turn

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_REMINDER, _COMPLAINT, _SOFT, _DEMAND, _TALK, _LEAVE, _NEW, _TASK = (
    caseless("|".join(_DATA[name]))
    for name in ("reminder", "complaint", "soft", "demand", "talk", "leave", "new", "task")
)
_CONDUCT = "conversation"  # the field of meanings on how an agent talks and proceeds
_ANSWER_MEANING = "to-answer"  # the meaning of rules about the language of answers
_REMOVE_MEANING = "to-remove"
_ONCE_MORE = re.compile(r"\b(?:again|once (?:more|again)|(?:one more|another) time)\b", re.IGNORECASE)
_ONLY = re.compile(r"\b(?:only|nur|solo|sólo|seulement|somente|alleen)\b", re.IGNORECASE)
_COMMAND = re.compile(r"`([^`\s]+)\s[^`]*`")
_COMMA = re.compile(r"(?<!\s)[,:] (?:(?:and|but) )?", re.IGNORECASE)
_REST = re.compile(
    r"(?:never|not) (?:(?:an?|as|at|by|for|from|in|into|on|the|to|via|with) ){0,2}[\w-]+\W?", re.IGNORECASE
)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*", re.IGNORECASE)
_WORD = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?")


class _Tone(IntEnum):
    """How clearly a stretch of a turn corrects something."""

    SOFT = 1  # words that any request may have
    DEMAND = 2
    COMPLAINT = 3  # about something the agent did
    REMINDER = 4  # of something said before


@value_class
class _Stretch:
    """A stretch of a turn that corrects or demands something, and its tone."""

    gist: Content
    tone: _Tone
    demands: bool  # also in a complaint: "it always needs a test, you forgot that"
    rest_of: Content | None = None  # what comes before a mere "never as int", which bans nothing on its own


def corrections(text: str, agent_texts: tuple[str, ...] = ()) -> list[str]:
    """Return the quotes of a turn that correct or demand something: a short turn as a whole, otherwise its clauses."""
    typed = typed_part(text, agent_texts)
    found = [one for one in clauses_of(typed, likely_languages(typed)) if _tone_of(one.text, question=one.question)]
    if found and len(fold(text)) <= MAX_QUOTE:
        return [fold(text)]
    quotes = [text[one.start : one.start + len(one.text)] for one in found]
    return [truncate(fold(quote), MAX_QUOTE) for quote in quotes[:_MAX_QUOTES]]


def complains(quote: str) -> bool:
    """Whether a quote says that something was done wrong or was said before, and not only what is wanted."""
    return any(said.tone >= _Tone.COMPLAINT for said in _correcting_stretches(quote[: 2 * MAX_QUOTE]))


@lru_cache(maxsize=1024)  # each quote is compared with every rule
def demand_clauses(quote: str) -> tuple[str, ...]:
    """Return the clauses of a quote that say what is wanted, without complaints, questions and talk."""
    typed = typed_part(quote[: 2 * MAX_QUOTE], ())
    clauses = [fold(one.text) for one in clauses_of(typed, likely_languages(typed)) if not one.question]
    return tuple(_demands((*clauses, *(piece for clause in clauses for piece in _COMMA.split(clause)))))


def demand_sentences(quote: str) -> list[str]:
    """Return the sentences of a quote that only say what is wanted."""
    typed = typed_part(quote[: 2 * MAX_QUOTE], ())
    return _demands([fold(one) for one in split_sentences(typed) if not one.rstrip().endswith(("?", "\uff1f"))])


def _demands(texts: Sequence[str]) -> list[str]:
    others = (_REMINDER, _COMPLAINT, _TALK)
    return [one for one in dict.fromkeys(texts) if not any(way.search(one) for way in others) and _is_wanted(one)]


def _is_wanted(text: str) -> bool:
    first = _WORD.search(text)
    return bool(_DEMAND.search(text) or _SOFT.search(text) or (first and stem(first[0].lower()) in PLAIN_VERBS))


def description(text: str) -> str:
    """Return the paragraph below the title of a file that only says what the project is; empty if there is none.

    Naming a tool again does not repeat a rule if the file only says that the tool exists.
    """
    found = sections(text)
    first = next((part.blocks[0] for part in found[:2] if part.level <= 1 and part.blocks), None)
    if first is None or first.kind is not BlockKind.PARAGRAPH or len(found) == 1:
        return ""
    return "" if any(map(_orders, split_sentences(first.text))) else first.text


def _orders(sentence: str) -> bool:
    """Whether a sentence asks for something: it forbids, demands, or begins with a verb."""
    first = next(iter(terms(sentence)), None)
    if first is not None and (first.is_action or any(one.startswith("to-") for one in first.meanings)):
        return True
    limits = has_negation(sentence) or _ONLY.search(sentence)
    return bool(limits) or begins_with_order(sentence) or _is_wanted(sentence)


def repeats_rule(quote: str, rule: str) -> bool:
    """Whether a quote says the same as a rule, as a correction or a demand."""
    if len(rule) > _MAX_RULE or match_keys(rule).isdisjoint(match_keys(quote)):
        return False
    wanted, tools = _content_of_rule(rule), frozenset(stem(one.lower()) for one in _COMMAND.findall(rule))
    # "Whole suite only at the end" is another rule than "run the tests with -x"; "you did not run them" breaks both.
    options, named = ({*_OPTION.findall(text)} for text in (rule, quote))
    apart = (options or named) and options.isdisjoint(named) and not has_negation(rule)
    least = _Tone.COMPLAINT if apart else _Tone.SOFT
    stretches = [one for one in _correcting_stretches(quote[: 2 * MAX_QUOTE]) if one.tone >= least]
    if not any(_is_repeat(said, wanted, tools) for said in stretches) or _shares_only_a_place(stretches, wanted):
        return False
    if any(is_ban(said) and opposes(said, rule) for said in split_sentences(quote)):
        return False
    if _takes_back(quote, rule):
        return False
    turned = is_reversed_choice(quote, rule) or any(opposes(said, rule) for said in demand_clauses(quote))
    about = [said for said in demand_clauses(quote) if not match_keys(said).isdisjoint(match_keys(rule))]
    turned = turned or (bool(about) and all(loses_order(said, rule) for said in about))
    turned = turned or any(_refuses_another(said, rule) for said in split_sentences(quote))
    return not turned or complains(quote)  # a complaint names what was done wrong


def _refuses_another(said: str, rule: str) -> bool:
    """Whether both refuse a thing, and not the same: "not nose" is new beside "use pytest, not unittest"."""
    mine, others = (content_stems(refused_part(one)) for one in (said, rule))
    return bool(mine and others) and mine.isdisjoint(others)


def _takes_back(quote: str, rule: str) -> bool:
    """Whether a quote drops a rule, and not what was done against it: "you changed it again, revert it"."""
    clause = taking_back(quote, Update(None, "", rule, "", Kind.PREFERENCE, 1, ""))
    return bool(clause) and (OF_RULE.search(clause) is not None or not complains(_ONCE_MORE.sub(" ", clause)))


@lru_cache(maxsize=8192)
def _content_of_rule(rule: str) -> Content:
    """Return the content of a rule. A tool that only runs its command is no choice: `npm run lint` bans no pnpm."""
    whole, bare = content_of(rule), _COMMAND.sub(" ", rule)
    kept = choice_members(bare) | whole.refused
    ran = {one for one in whole.asked - kept if not any(one in family and family & kept for family in TOOLS)}
    parts = tuple(replace(part, members=part.members - ran) for part in whole.parts)
    return replace(whole, parts=parts, asked=whole.asked - ran) if ran else whole


def _shares_only_a_place(stretches: Sequence[_Stretch], rule: Content) -> bool:
    """Whether a complaint about something else names the same file: "no unwrap please, I see one in src/main.rs"."""
    files = [code for code in rule.codes if "/" in code and any(code in said.gist.codes for said in stretches)]
    if not files or any(said.tone is _Tone.REMINDER for said in stretches):
        return False
    parts = frozenset(term.stem for term in content_terms(" ".join(files)))
    if 2 * sum(term.stem in parts for term in rule.words) >= len(rule.words):  # the rule is about the file
        return False
    topics = dict.fromkeys(term for said in stretches for term in _topic_terms(said, rule) if term.stem not in parts)
    shared = term_weights(tuple(topics), rule.words).values()
    return bool(shared) and max(shared) < SAME_WEIGHT


# For a stretch of each tone: the share of a rule part's weight that it must have, and the share of its own weight that
# must be the rule's.
_MIN_RULE_SHARE = {_Tone.SOFT: 0.6, _Tone.DEMAND: 0.5, _Tone.COMPLAINT: 0.55, _Tone.REMINDER: 0.3}
_MIN_OWN_SHARE = {_Tone.SOFT: 0.7, _Tone.DEMAND: 0.9, _Tone.COMPLAINT: 0.55, _Tone.REMINDER: 0.55}
_MIN_OWN_WITH_WHOLE_PART = 0.5  # the latter, for a demand with all terms of a part
_MIN_OWN_OF_ONE_TERM = 0.75  # the latter, for a complaint with one of several terms


@value_class
class _Opposition:
    """How a stretch and a rule relate in choices whose members exclude each other.

    `turned` are the words of the stretch that express the rule by its opposite ("no spaces"), `meant` those of the
    rule. A complaint with at least a share `lone` of the rule's words is about that rule, whatever the weights; 0 if
    there is no such share. In a `conflict` the stretch wants the opposite.
    """

    turned: frozenset[str]
    meant: frozenset[str]
    lone: float
    conflict: bool


def _opposition(said: _Stretch, rule: Content) -> _Opposition:
    turned, meant, lone, conflict = set[str](), set[str](), 0.0, False
    own = said.gist
    for family in (*TOOLS, *OPPOSITES):
        wants, bans = rule.asked & family, rule.refused & family
        asked, refused = own.asked & family, own.refused & family
        if not (wants or bans) or not (asked or refused):
            continue
        if said.tone >= _Tone.COMPLAINT:
            others = (asked | refused) - wants - bans
        else:
            conflict |= bool((asked and wants and not asked & wants) or asked & bans or refused & wants)
            others = (refused - bans if wants else frozenset()) | (asked - wants if bans else frozenset())
        answers = family is LANGUAGES and any(_ANSWER_MEANING in term.meanings for term in rule.words)
        if others and (family in TOOLS or answers or count_shared(own.words, rule.words)):
            turned |= others
            meant |= wants | bans
            lone = _MIN_OWN_WITH_WHOLE_PART if family in TOOLS else 1.0 if answers else lone
    return _Opposition(frozenset(turned), frozenset(meant), lone, conflict)


def _is_repeat(said: _Stretch, rule: Content, tools: frozenset[str]) -> bool:
    """Whether a stretch repeats a rule; the names of the tools whose commands it has do not tell it alone."""
    own, sides, beyond = _topic_terms(said, rule), _opposition(said, rule), _exceeds_limit(said, rule)
    # "Release 1.5.0 please" is a task to do by the rule.
    numbers, may_be_task = said.gist.numbers, said.tone is _Tone.SOFT or rule.numbers
    others = numbers and may_be_task and numbers.isdisjoint(rule.numbers)
    if not own or sides.conflict or (others and said.tone < _Tone.COMPLAINT):
        return False
    if said.rest_of and not count_shared(said.rest_of.words, rule.words) and not all(one in own for one in rule.words):
        return False
    turned = sides.turned | (said.gist.numbers if beyond else frozenset())
    meant = sides.meant | (rule.numbers if beyond else frozenset())
    new = {} if sides.turned else _new_terms(own, rule, turned)
    weights = {**term_weights(own, rule.words, turned), **new}
    if said.tone >= _Tone.COMPLAINT and sides.lone and sum(map(bool, weights.values())) >= sides.lone * len(own):
        return True
    held = weight_share(weights)
    codes = said.gist.codes & rule.codes
    for part in dict.fromkeys(
        (*rule.parts, ContentPart(rule.words, rule.asked | rule.refused, rule.codes, rule.denies))
    ):
        max_terms = max(1, count_shared(own, part.words)) + sum(
            not meant.isdisjoint(term.stems | term.meanings) for term in part.words
        )
        fits = said.tone >= _Tone.COMPLAINT or sides.turned or _same_polarity(said.gist, part, rule)
        found = term_weights(part.words, own, meant)
        only_tool = all(term.stems & tools for term, weight in found.items() if weight)
        # "run cargo fmt" is another rule than "run `cargo clippy`".
        is_part = not all(found.values())
        is_other = (is_part and (only_tool or (new and said.demands))) or (new and said.tone is _Tone.SOFT)
        if fits and not is_other and _names_part(said, part, found, held, max_terms, codes=bool(codes & part.codes)):
            return True
    return False


def _new_terms(own: Sequence[Term], rule: Content, turned: frozenset[str]) -> dict[Term, int]:
    """Return the terms of a stretch that a rule lacks, without weight.

    One is also lacking if it is only of the same field as a word that both have: "downgrade", next to "migration".
    """
    known = frozenset().union(*(term.stems for term in rule.words))
    both = frozenset().union(*(term.meanings for term in own if term.stems & known))
    others = [term for term in own if not term.stems & known]
    weights = {term: term_weights((term,), rule.words, turned).get(term, 1) for term in others}
    return {term: 0 for term, weight in weights.items() if not weight or (term.stem and term.meanings & both)}


def _topic_terms(said: _Stretch, rule: Content) -> tuple[Term, ...]:
    """Return the terms of a stretch without words of complaining or removing and numbers that the rule lacks."""
    wanted = Words(rule.words)
    return tuple(term for term in said.gist.words if term in wanted or not _is_incidental(term))


def _is_incidental(term: Term) -> bool:
    strange = is_unspaced(term.stem) and not term.meanings
    return term.stem in META_STEMS or term.stem.isdigit() or strange or _REMOVE_MEANING in term.meanings


def _same_polarity(said: Content, part: ContentPart, rule: Content) -> bool:
    """Whether both affirm, both deny, or both refuse the same thing; refusing different things is not enough."""
    says_no = said.denies or any(_REMOVE_MEANING in term.meanings for term in said.words)
    return says_no == part.denies or not said.refused.isdisjoint(rule.refused)


def _names_part(
    said: _Stretch, part: ContentPart, weights: Mapping[Term, int], own: float, max_terms: int, *, codes: bool
) -> bool:
    """Whether a stretch says enough of a part; `own` is the share of its own weight that the rule has too."""
    found = sorted(filter(None, weights.values()), reverse=True)[:max_terms]
    says = MEANING_WEIGHT in found or (SAME_WEIGHT in found and (len(found) > 1 or own >= _MIN_OWN_SHARE[_Tone.DEMAND]))
    if not (says or codes or len(found) > 2 or (len(found) > 1 and all(weights.values()))):  # noqa: PLR2004
        return False  # one word that many rules have identifies none
    is_choice = bool(part.members & (said.gist.asked | said.gist.refused) & CHOICE_STEMS) and not part.denies
    held = 1.0 if is_choice else weight_share(weights, sum(found))
    if said.tone is _Tone.DEMAND and len(found) > 1 and all(weights.values()):
        more = said.gist.codes - part.codes  # "name indexes idx_table_column" asks for more than an index
        return own >= (_MIN_OWN_SHARE[_Tone.DEMAND] if more else _MIN_OWN_WITH_WHOLE_PART)
    conduct = any(bond and field_of(meaning) == _CONDUCT for term, bond in weights.items() for meaning in term.meanings)
    alone = said.tone is _Tone.COMPLAINT and len(found) == 1 and not all(weights.values()) and not conduct
    return held >= _MIN_RULE_SHARE[said.tone] and own >= (_MIN_OWN_OF_ONE_TERM if alone else _MIN_OWN_SHARE[said.tone])


def _exceeds_limit(said: _Stretch, rule: Content) -> bool:
    """Whether a complaint gives another number than the rule, with the same unit: "at 240 lines now"."""
    if said.tone < _Tone.COMPLAINT:
        return False
    limits = dict(rule.measures)
    return any(unit in limits and number != limits[unit] for unit, number in said.gist.measures)


@lru_cache(maxsize=8192)
def match_keys(text: str) -> frozenset[str]:
    """Return the keys of a text, its words and all words of their choices; texts that say the same share at least one.

    Most texts share none, which saves the comparison: 400 sessions and 60 rules took 8 s, now 0.6 s.
    """
    named = choice_members(text)
    own = frozenset(name for term in content_terms(text) for name in (*term.stems, *term.meanings)) | named
    return own.union(*(family for family in (*TOOLS, *OPPOSITES) if named & family)) if named else own


@lru_cache(maxsize=8192)
def _correcting_stretches(quote: str) -> tuple[_Stretch, ...]:
    """Return the clauses of a quote that correct or demand, and the whole quote if it is short; none if it has talk."""
    typed = typed_part(quote, ())
    parts = [(fold(one.text), one.question) for one in clauses_of(typed, likely_languages(typed))]
    if any(_TALK.search(part) for part, _ in parts) or any(map(cancelled_topic, split_sentences(typed))):
        return ()
    said = {part: tone for part, question in parts if (tone := _tone_of(part, question=question))}
    if not said or (max(said.values()) < _Tone.COMPLAINT and any(_LEAVE.search(part) for part, _ in parts)):
        return ()
    found = dict(said)
    pieces = [piece for part, _ in parts if len(part) <= _MAX_WHOLE_TURN for piece in _COMMA.split(part) if piece]
    rests = {one: before for before, one in pairwise(pieces) if _is_rest(one)}
    for part in said:
        for piece in filter(None, _COMMA.split(part) if len(part) <= _MAX_WHOLE_TURN else ()):
            if tone := _tone_of(piece, question=False) or (_Tone.SOFT if len(part) <= _MAX_PLAIN_CLAUSE else None):
                found.setdefault(piece, tone)
    if len(parts) > 1 and len(typed) <= _MAX_WHOLE_TURN:
        found.setdefault(fold(typed), max(said.values()))
    return tuple(
        _Stretch(
            content_of(_REMINDER.sub(" ", text)),
            tone,
            tone is not _Tone.COMPLAINT or bool(_DEMAND.search(text)),
            content_of(rests[text]) if text in rests and tone < _Tone.COMPLAINT else None,
        )
        for text, tone in found.items()
    )


def _is_rest(piece: str) -> bool:
    """Whether a piece only says what the words before it refuse: "never as int"."""
    return bool(_REST.fullmatch(piece)) and not begins_with_order(piece.partition(" ")[2])


def _tone_of(text: str, *, question: bool) -> _Tone | None:
    """Return the tone in which a stretch corrects or demands, or None. A question can only be a complaint."""
    if _TALK.search(text):
        return None
    is_task = bool(_TASK.search(text))
    # "Run the tests once more" reminds of nothing.
    if _REMINDER.search(_ONCE_MORE.sub("", text) if is_task else text) and not _NEW.search(text):
        return _Tone.REMINDER
    if _COMPLAINT.search(text) and not _NEW.search(text) and not is_task:
        return _Tone.COMPLAINT
    if question or (is_task and _ONCE_MORE.search(text)):
        return None
    return _Tone.DEMAND if _DEMAND.search(text) else _Tone.SOFT if _SOFT.search(text) else None
