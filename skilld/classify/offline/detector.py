"""Finds the clauses of a turn that say something lasting, by their cues. Knows nothing of skills."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from skilld.classify.offline.code_rules import strength_for_code
from skilld.classify.offline.grammar import KEPT_STRENGTH, STRENGTH, Cue, Language, languages
from skilld.classify.offline.instead import says_instead
from skilld.classify.offline.marked import marked_rules
from skilld.classify.offline.names import capitalized, tells_of_name
from skilld.classify.offline.product import (
    after_opener,
    describes_product,
    is_about_product,
    is_about_work,
    is_specification,
    is_vetoed,
    likely_languages,
    names_product,
    only_tells,
    opener_end,
    turn_is_about_product,
)
from skilld.classify.offline.provenance import tagged_text
from skilld.classify.offline.reported import tells_of_others
from skilld.classify.offline.sentences import Clause, clauses, order_behind_object, parts, without_task
from skilld.classify.offline.stories import begins_negated, without_stories
from skilld.classify.offline.typed import MAX_LENGTH, clauses_of, copied_before, typed_part
from skilld.text import fold
from skilld.values import value_class
from skilld.words import count_words, has_negation

_MAX_CLAUSES = 300  # of a turn: of more only the first and last, since people put wishes at the ends
_MAX_MATCHES = 40  # of a turn
_MAX_COMMAND = 120  # characters of a plain command
_MAX_STATEMENT = 160  # characters of a statement about a line of the skill in use
_SHORT_TURN = 250  # characters of a turn in which statements are looked for
_MIN_STATEMENT_WORDS = 6  # shorter ones report ("pipeline is red") or order ("run all tests")
_LONG_TURN_STRENGTH = 0.45  # maximum for the longest turns: kept, not proposed
MODEST_STRENGTH = 0.6  # of words without a lasting cue, if the skill in use says otherwise
_MAX_TURN = 700  # characters: a longer turn is a description, like one that begins as an order
_LETTERS_PER_HAN = 2  # letters that a character of Chinese or Japanese counts as
_MIN_BEFORE_REASON = 20  # characters of a rule before its reason
_MAX_LEAD = 40  # characters of "just this once": a longer one is a clause of its own
_TRAILING_CONJUNCTION = re.compile(r"\b(?:and|but|y|e|et|und|aber|en|и|а|a|i)$", re.IGNORECASE)  # "leave it, and"
_MAX_LIST_ITEMS = 3  # a longer list is a task in steps, or many rules at once
_EXPLICIT_CUES = frozenset({Cue.MEMORY, Cue.LASTING})
_OUTRIGHT_CUES = frozenset({Cue.ADVERB, Cue.STOP, Cue.CONSENT, *_EXPLICIT_CUES})
_TIME_CUES = frozenset({Cue.LASTING, Cue.ADVERB, Cue.STOP})  # plans and reports have them too
_QUESTION_CUES = frozenset({Cue.REMINDER, *_EXPLICIT_CUES})  # count even in a question that asks for nothing
_ITEM = re.compile(r"^[^\S\n]*(?:(?:[-*•]|\d{1,2}[.)])[^\S\n]+|\d{1,2}[、．])\S", re.MULTILINE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMMA = re.compile(r"(?<!\s)\s?(?:, | [-–—]{1,2} |; | (?=because\b|weil\b|parce que\b|porque\b|perché\b))")
# A consequence of what was just said is about the present task: "then two runs is what we have".
_CONSEQUENCE = re.compile(
    r"(?:ok(?:ay)?,? |so,? |well,? )?(?:then|dann|also dann|alors|entonces|então|allora|dan|wtedy|tak|тогда)\b"
    r"(?!,? (?:always|never|please))",
    re.IGNORECASE,
)
_RULE_WORD = re.compile(r"\b(?:rules?|regeln?|reglas?|regras?|règles?|regol[ae])\b", re.IGNORECASE)
_NON_WORDS = re.compile(r"\W*+")
_T = TypeVar("_T")


@value_class
class Match:
    """A clause that says something lasting.

    `quote` is the clause as typed, `said` the same without its introduction, `strength` is 0 to 1. `narrower` are parts
    that are lasting by themselves: start, quote and said. `demands`: it says what a thing must do, maybe a product.
    `before` is the clause that it may refer to ("..., do that from now on") and its parts, the last first, with their
    starts.
    """

    quote: str
    said: str
    start: int
    question: bool
    language: Language
    cue: Cue
    strength: float
    demands: bool = False
    before: tuple[tuple[int, str], ...] = ()
    narrower: tuple[tuple[int, str, str], ...] = ()
    marked: bool = False  # words beside it also make it a rule
    of_code: bool = False  # says what all code of a kind must have, which no product does
    likelihood: float = 0.0  # that it says something lasting, once it is weighed


@value_class
class _Turn:
    """One turn: its clauses, its languages, and its kind."""

    text: str
    clauses: list[Clause]
    languages: list[Language]
    ordered: bool  # begins as one long order
    long: bool
    listed: bool
    of_product: bool  # is about what is being built, and not about the work on it
    specified: bool  # is announced as a specification of a product

    @property
    def main(self) -> Language:
        """Its main language; English is always among the likely ones."""
        return next((one for one in self.languages if one.code != "en"), self.languages[0])


def find_lasting(text: str, agent_texts: Sequence[str] = ()) -> list[Match]:
    """Return the lasting things that `text`, one turn, says; `agent_texts` are the agent's messages before it."""
    return list(_find_lasting(text, copied_before(text, agent_texts)))


@lru_cache(maxsize=16)  # those of a turn are needed to find rules, retractions and what was passed over
def _find_lasting(text: str, agent_texts: tuple[str, ...]) -> tuple[Match, ...]:
    turn = _read_turn(text, agent_texts)
    described = turn.long or turn.ordered
    heard = [
        _with_alternative(replace(found, before=tuple(_context_parts(before, turn))), turn)
        for before, clause in pairwise([None, *turn.clauses])
        if clause and (found := _match_clause(clause, turn)) and not _is_corrected(found, turn)
    ]
    heard = _with_marked(heard, turn)
    heard = [one for one in heard if not any(o.start < one.start < o.start + len(o.quote) for o in heard)]
    headers = {clause.header.rstrip(":： ") for clause in turn.clauses}
    heard = [one for one in heard if one.quote not in headers or not one.language.announces(one.quote)]
    sure = [one for one in heard if (one.cue in _EXPLICIT_CUES or not described) and not _is_spec(one, turn)]
    if turn.long or turn.listed:
        sure = [replace(one, strength=min(one.strength, _LONG_TURN_STRENGTH)) for one in sure]
    return tuple(_both_ends(sure, _MAX_MATCHES))


def is_document(text: str, agent_texts: Sequence[str] = ()) -> bool:
    """Whether `text`, a turn, is so long or has such a list that what it says is kept but not proposed."""
    turn = _read_turn(text, copied_before(text, agent_texts))
    return turn.long or turn.listed


def find_practices(text: str, agent_texts: Sequence[str] = ()) -> list[Match]:
    """Return what `text` says about a whole kind of things, and its commands; lasting only if a skill is about them."""
    turn = _read_turn(text, copied_before(text, agent_texts))
    if turn.long or turn.listed:
        return []
    heard = [one for clause in turn.clauses if (one := _match_practice(clause, turn)) and not _is_spec(one, turn)]
    # After a task, only statements about a whole kind of things; commands are about the task.
    behind = [one for one in heard if one.cue is not Cue.CORRECTION and one.start > turn.clauses[0].start]
    return _both_ends(behind if turn.ordered else heard, _MAX_MATCHES)


def find_statements(text: str, agent_texts: Sequence[str] = ()) -> list[Match]:
    """Return what `text`, a short turn, rejects or wants; lasting only if it is about a line of a skill.

    Only if the turn says something else too: a single statement is as often about the present task.
    """
    turn = _read_turn(text, copied_before(text, agent_texts))
    is_other_kind = turn.listed or turn.ordered or turn.of_product or turn.specified
    if is_other_kind or len(turn.clauses) == 1 or len(text) > _SHORT_TURN:
        return []
    return [one for clause in turn.clauses for part in parts(clause) if (one := _match_statement(part, clause, turn))]


def _match_statement(part: Clause, clause: Clause, turn: _Turn) -> Match | None:
    bare, language = fold(part.text), turn.main
    if clause.question or len(bare) > _MAX_STATEMENT or count_words(bare) < _MIN_STATEMENT_WORDS:
        return None
    if not (language.dissent.search(bare) or language.duties.search(bare) or has_negation(bare)):
        return None
    rest = after_opener(bare, language)
    of_now = any(one.asks.match(rest) or one.passing.search(rest) for one in turn.languages)
    if of_now or (language.commands.match(rest) and not begins_negated(rest, language)):
        return None
    if is_vetoed(bare, turn.languages) or is_about_product(bare, turn.languages):
        return None
    return make_match(part, turn.text, language, Cue.TAKEN_UP, MODEST_STRENGTH)


def with_context(match: Match, text: str) -> Iterator[Match]:
    """Yield `match` as the words before it in `text`, its turn: it may only say that those are lasting."""
    for start, said in match.before:
        yield replace(match, quote=text[start : match.start + len(match.quote)], said=said, start=start)


def with_parts(match: Match) -> Iterator[Match]:
    """Yield `match` as a whole, then each part of it that is lasting by itself."""
    yield match
    for start, quote, said in match.narrower:
        yield replace(match, quote=quote, said=said, start=start)


def join_previous(match: Match, text: str) -> Match | None:
    """Return `match` with the clause before it, which names its subject: "nobody reads notes. Skip them"."""
    if not match.before:
        return None
    start, _ = match.before[0]
    quote = text[start : match.start + len(match.quote)]
    return replace(match, quote=quote, said=quote, start=start)


def _context_parts(clause: Clause | None, turn: _Turn) -> Iterator[tuple[int, str]]:
    """Yield the clause that the next one may refer to, and its parts, unless they hold only for once."""
    if clause is None or clause.question:
        return
    whole, *rest = parts(clause)
    for part in (whole, *reversed(rest)):
        bare = fold(part.text)
        passing = any(one.passing.search(bare) for one in turn.languages)
        if not (passing or tells_of_others(bare) or is_vetoed(bare, turn.languages)):
            opener = turn.main.openers.match(part.text)
            begin = part.start + (opener.end() if opener else 0)
            yield begin, turn.text[begin : part.start + len(part.text)]


@lru_cache(maxsize=1)  # each turn is searched three times, and reading a long one takes most of the time
def _read_turn(text: str, agent_texts: tuple[str, ...]) -> _Turn:
    typed = typed_part(text, agent_texts)
    found = likely_languages(typed)
    listened = [one for one in _both_ends(clauses_of(typed, found), _MAX_CLAUSES) if len(one.text) <= MAX_LENGTH]
    said = [without_task(one) for one in without_stories(listened, found) if not _has_vetoed_lead(one, found)]
    folded = fold(typed)
    return _Turn(
        text=text,
        clauses=said,
        languages=found,
        ordered=_begins_as_order(typed, found),
        long=len(folded) * (_LETTERS_PER_HAN if _HAN.search(typed) else 1) > _MAX_TURN,
        # Steps between tags, and the text before them, are a prompt that was written beforehand.
        listed=max(len(_ITEM.findall(part)) for part in (typed, tagged_text(text))) > _MAX_LIST_ITEMS,
        of_product=turn_is_about_product(folded[:_MAX_TURN], found),
        specified=is_specification(typed),
    )


def _match_practice(clause: Clause, turn: _Turn) -> Match | None:
    bare, alone = fold(clause.text), min((one.without_task(clause.text) for one in turn.languages), key=len)
    of_now = alone != clause.text and not any(one.always.search(alone) for one in turn.languages)
    if clause.question or of_now or _CONSEQUENCE.match(clause.text):
        return None
    found = _match_practice_part(replace(clause, text=alone), turn)
    return None if found is None or is_vetoed(bare, turn.languages) else found


def _match_practice_part(clause: Clause, turn: _Turn) -> Match | None:
    bare = fold(clause.text)
    found: list[Match] = []
    for part in parts(clause):
        begin = part.start - clause.start
        led, up_to_it = part is clause or ":" in clause.text[:begin], fold(clause.text[: begin + len(part.text)])
        for language in turn.languages:
            rest = after_opener(fold(part.text), language)
            said_of = _practice_cue(rest, language, whole=part is clause, led=led)
            built = (rest,) if language.code == "en" else (rest, up_to_it)
            if said_of and not any(names_product(one, turn.languages) for one in built):
                one = make_match(part, turn.text, language, said_of, MODEST_STRENGTH)
                found.append(replace(one, demands=is_about_product(rest, turn.languages)))
    if found:
        return replace(found[0], narrower=tuple((one.start, one.quote, one.said) for one in found[1:]))
    for language in turn.languages:
        rest = after_opener(bare, language)
        commands = len(rest) <= _MAX_COMMAND and not language.asks.match(rest) and language.commands.match(rest)
        if commands and not turn.of_product:
            return make_match(clause, turn.text, language, Cue.CORRECTION, MODEST_STRENGTH)
    return None


def _with_marked(heard: Sequence[Match], turn: _Turn) -> list[Match]:
    """Return what was found, with rules that a mark makes lasting in place of clauses that only name the mark."""
    found = list(heard)
    for rule in marked_rules(turn.clauses, turn.text, turn.languages):
        quote = turn.text[rule.start : rule.end]
        inside = [one for one in found if one.start < rule.end and rule.start < one.start + len(one.quote)]
        held = any(one.strength > KEPT_STRENGTH and one.said in rule.said for one in inside)
        if held or any(one.start < rule.start or rule.end < one.start + len(one.quote) for one in inside):
            found = [replace(one, marked=True) if one in inside else one for one in found]
            continue
        found = [one for one in found if one not in inside]
        found.append(
            Match(
                quote,
                rule.said,
                rule.start,
                question=False,
                language=rule.language,
                cue=Cue.MEMORY,
                strength=STRENGTH[Cue.MEMORY],
            )
        )
    return sorted(found, key=lambda one: one.start)


def _with_alternative(match: Match, turn: _Turn) -> Match:
    """Return `match` with the next sentence, if that says what to do instead of what it bans."""
    end = match.start + len(match.quote)
    then = next((one for one in turn.clauses if one.start >= end), None)
    if then is None or then.question or turn.text[end : then.start].strip() or not says_instead(match.said, then.text):
        return match
    behind = turn.text[then.start : then.start + len(then.text)]
    said = f"{match.said.rstrip('.! ')}. {capitalized(behind)}"
    return replace(match, quote=turn.text[match.start : then.start] + behind, said=said)


def _is_corrected(match: Match, turn: _Turn) -> bool:
    """Whether the next clause corrects a match: "use tabs. No wait, spaces."."""
    behind = next((one.text for one in turn.clauses if one.start >= match.start + len(match.quote)), "")
    found = next((seen for one in turn.languages if (seen := one.corrects.match(behind))), None)
    return found is not None and not any(one.retracts.match(behind[found.end() :]) for one in turn.languages)


def _practice_cue(rest: str, language: Language, *, whole: bool, led: bool) -> Cue | None:
    """Return the cue of a part of a clause that says how a kind of things is done."""
    if language.asks.match(rest) or language.passing.search(rest) or not (whole or language.finite.search(rest)):
        return None
    # In English whole clauses are lasting; in other languages also a part between commas, unless after a colon.
    heard = () if led or language.code == "en" else language.cue_forms
    lasts = any(forms.found_in(rest) for _, strength, forms in heard if strength > KEPT_STRENGTH)
    return Cue.PRACTICE if lasts or language.practice.found_in(rest) else None


def _is_spec(match: Match, turn: _Turn) -> bool:
    """Whether a match is part of a product's specification, and not about the work on it."""
    built = any(one.implements.search(turn.text) for one in turn.languages) and not is_order(match)
    return (turn.specified or built) and not is_about_work(_RULE_WORD.sub("", match.quote.rpartition(": ")[2]))


def is_order(match: Match) -> bool:
    """Whether a match, without the words for how long it holds, begins as an instruction."""
    frame = match.language.frames.match(match.said)
    rest = match.said[frame.end() if frame else 0 :].lstrip(" ,:")
    adverb = match.language.always.match(rest) if frame else None
    return bool(match.language.commands.match(rest[adverb.end() if adverb else 0 :].lstrip()))


def find_retractions(text: str) -> list[str]:
    """Return the clauses of `text` that retract something."""
    typed = typed_part(text, ())
    found = likely_languages(typed)
    if len(found) == 1 and not found[0].marks & {word.lower() for word in _LETTERS.findall(typed)}:
        found = list(languages().values())  # a word such as "scherzavo" identifies no language
    return [
        text[clause.start : clause.start + len(clause.text)]
        for clause in _both_ends([one for one in clauses(typed) if len(one.text) <= MAX_LENGTH], _MAX_CLAUSES)
        if any(language.retracts.search(clause.text) for language in found)
    ]


def _match_clause(clause: Clause, turn: _Turn) -> Match | None:
    bare = fold(clause.text)  # expressions would take quadratic time for runs of blanks
    best: Match | None = None
    for language in turn.languages:
        rest = after_opener(bare, language)
        staged = language.stages.match(rest)
        frame = staged or language.frames.match(rest)  # "as a rule of thumb, is ...?"
        opened = frame and (staged or "," in frame[0] or rest[: frame.end() + 1].rstrip()[-1:] in {",", ":"})
        asks = bool(language.asks.match(rest[frame.end() :].lstrip(" ,:") if frame and opened else rest))
        wonders = clause.question and not language.requests.search(bare)
        heard = [rest, *filter(None, (rest[staged.end() :] if staged else "", order_behind_object(rest)))]
        for cue, strength, forms in language.cue_forms:
            if best is not None and strength <= best.strength:
                break
            if asks and cue is not Cue.REMINDER:  # "isn't that in the rules?" says that it is
                continue
            if wonders and cue not in _QUESTION_CUES:
                continue
            if not any(map(forms.found_in, heard)):
                continue
            if _is_report(cue, clause, rest, language, turn):
                continue
            best = make_match(clause, turn.text, language, cue, strength)
            break
    best = _of_code(clause, bare, best, turn)
    best = _below_header(clause, bare, best, turn) if clause.header else best
    if best is None or tells_of_name(clause.text) or any(one.retracts.search(bare) for one in turn.languages):
        return None
    bare = best.language.without_not_once(_below_announcement(bare, best.language))
    if is_vetoed(_without_reasons(bare, best) if best.cue in _OUTRIGHT_CUES else bare, turn.languages):
        return None
    return best


def _of_code(clause: Clause, bare: str, best: Match | None, turn: _Turn) -> Match | None:
    """Return the match of a clause that says what all code of a kind must have, otherwise the match it already has."""
    sure = 0.0 if clause.question else strength_for_code(bare, turn.languages)
    if sure <= (KEPT_STRENGTH if best else 0.0):
        return best
    return replace(make_match(clause, turn.text, turn.main, Cue.ADVERB, sure), of_code=sure > KEPT_STRENGTH)


def _below_announcement(bare: str, language: Language) -> str:
    """Return a clause without the words that announce its rule: "we'll do it this way from now on: ..."."""
    head, colon, rest = bare.partition(": ")
    return rest if colon and language.announces(head) else bare


def _below_header(clause: Clause, bare: str, best: Match | None, turn: _Turn) -> Match | None:
    """Return the match of a clause, with its header: one that holds "for now" ends it, "From now on:" makes one."""
    if any(one.holds_for_now(clause.header) for one in turn.languages):
        return None
    if best is not None and best.strength > KEPT_STRENGTH:
        return best
    below = (_match_header(clause, bare, language, turn) for language in turn.languages)
    return next((one for one in below if one), best)


def _is_report(cue: Cue, clause: Clause, rest: str, language: Language, turn: _Turn) -> bool:
    """Whether a clause with a lasting cue says what a product does, or only what is or will be."""
    if cue in _TIME_CUES and only_tells(rest, language):
        return True
    if cue is Cue.CONVENTION and language.has_task(rest):  # "we use Redis instead of Memcached, migrate it"
        return not has_negation(rest)
    if cue is Cue.LASTING and language.requires.match(rest) and not language.frames.search(rest):
        return is_about_product(rest, turn.languages)  # "the number must go up for every new invoice"
    if cue is Cue.ADVERB:
        built = turn.of_product or is_about_product(fold(clause.text), turn.languages)
        return built and not (not clause.lead and language.addressed.match(rest))
    frame = language.frames.match(rest)
    return cue is Cue.LASTING and describes_product(rest[frame.end() if frame else 0 :], language, turn.languages)


def _match_header(clause: Clause, bare: str, language: Language, turn: _Turn) -> Match | None:
    """Return the match of a clause below a header that says how long it holds: "From now on:"."""
    rest = after_opener(bare, language)
    asks = language.asks.match(rest) or (clause.question and not language.requests.search(bare))
    told = language.theirs.match(rest) or describes_product(rest, language, turn.languages)
    if not (clause.header and language.announces(clause.header)) or asks or told:
        return None
    return make_match(clause, turn.text, language, Cue.LASTING, STRENGTH[Cue.LASTING])


def _without_reasons(bare: str, match: Match) -> str:
    """Return a clause without the reasons for its rule: "from now on ..., my boss says it looks odd"."""
    frames = [frame.end() for frame in match.language.frames.finditer(bare)]
    seam = _COMMA.search(bare, max(_MIN_BEFORE_REASON, *frames, 0))
    if seam is None:
        return bare
    held = [found[0] for found in match.language.meanwhile.finditer(bare, seam.end())]
    for part in _COMMA.split(bare[seam.end() :]):  # "..., only this week"
        held += [found[0] for found in match.language.vetoes.finditer(part) if 2 * len(found[0]) >= len(part)]
    return ", ".join([bare[: seam.start()], *held])


def make_match(clause: Clause, text: str, language: Language, cue: Cue, strength: float) -> Match:
    """Return the match of a clause, quoted from `text`, without its opener."""
    quote = text[clause.start : clause.start + len(clause.text)]
    said = language.without_task(quote[opener_end(clause.text, language) :])
    return Match(quote, said, clause.start, clause.question, language, cue, strength)


def _has_vetoed_lead(clause: Clause, languages: Sequence[Language]) -> bool:
    """Whether the words before a clause say that it holds for once, or who does it: "it must ..., and never"."""
    lead = clause.lead
    if not lead:
        return False
    once = (
        len(lead) <= _MAX_LEAD
        and not _TRAILING_CONJUNCTION.search(lead)
        and any(language.vetoes.search(language.without_not_once(lead)) for language in languages)
    )
    return once or any(language.theirs.match(lead) or language.stories.search(lead) for language in languages)


def _begins_as_order(typed: str, languages: Sequence[Language]) -> bool:
    """Whether the turn begins as one long order."""
    begin = _NON_WORDS.match(typed)
    head = typed[begin.end() if begin else 0 :][:MAX_LENGTH]
    return any(language.orders.match(head) for language in languages)


def _both_ends(found: list[_T], limit: int) -> list[_T]:
    """Return at most `limit` items, from the beginning and the end."""
    return found if len(found) <= limit else found[: limit // 2] + found[-(limit // 2) :]
