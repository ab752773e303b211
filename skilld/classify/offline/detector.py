"""Which clauses of a turn say something lasting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from skilld.classify.offline.grammar import KEPT, STRENGTH, Cue, Language, languages
from skilld.classify.offline.product import (
    behind_opener,
    names_product,
    of_product,
    of_work,
    opened,
    specifies,
    spoken,
    tells_of,
)
from skilld.classify.offline.provenance import own_words, tagged, without_quotations
from skilld.classify.offline.sentences import Clause, clauses, halves, parts
from skilld.text import fold
from skilld.words import count_words, denies

# Which clauses of a turn say something lasting: those with a cue that says so.
#
# One turn in, the clauses heard out, each with its cue and its exact place in the turn. Knows nothing of skills.

_MAX_LENGTH = 500  # characters of one clause: longer ones are pasted or dictated, and no rule
_MAX_CLAUSES = 300  # of a turn that are listened to: of more the first and the last, as people put a wish at the ends
_MAX_HEARD = 40  # of a turn: nobody lays down more rules in one breath
_PLAIN = 120  # characters of a plain command
_STATEMENT = 160  # characters of what takes up a line of the skill in use
_SHORT_TURN = 250  # characters of a turn that such is heard in
_TELLS = 6  # words of it: shorter ones report ("pipeline is red") or order ("run all tests")
_BEGINS = 12  # characters of a clause in which it says no
_HINTED = 0.45  # how sure the longest turns can make us: kept, not proposed
MODEST = 0.6  # how sure words with nothing lasting in them make us where the skill in use says otherwise
_MANY = 700  # characters of a turn above which it is a description, like one that begins as an order
_DENSE = 2  # letters that a character of Chinese or Japanese stands for
_SURE = 30  # characters from which on a doubt behind a comma is of something else
_OWN_FORMS = frozenset({"en", "zh"})
_ASKING = frozenset({"ja", "ko"})  # whose words of time tell nothing where nothing is asked for
_TOLD = 20  # characters of what is laid down, from which on a reason may follow
_LEAD = 40  # characters of "just this once": what is longer is a clause of its own
_JOINED = re.compile(r"\b(?:and|but|y|e|et|und|aber|en|и|а|a|i)$", re.IGNORECASE)  # "leave it for now, and"
_ITEMS = 3  # of a list: a task in steps, or many rules at once
_EXPLICIT = frozenset({Cue.MEMORY, Cue.LASTING})
_OUTRIGHT = frozenset({Cue.ADVERB, Cue.STOP, Cue.CONSENT, *_EXPLICIT})
_ASKED = frozenset({Cue.REMINDER, *_EXPLICIT})  # what a question can say that asks for nothing
_ITEM = re.compile(r"^[^\S\n]*(?:(?:[-*•]|\d{1,2}[.)])[^\S\n]+|\d{1,2}[、．])\S", re.MULTILINE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMMA = re.compile(r"(?<!\s)\s?(?:, | [-–—]{1,2} |; | (?=because\b|weil\b|parce que\b|porque\b|perché\b))")
_ALWAYS = re.compile(r"(?:always|only)\b", re.IGNORECASE)
# What follows from what was just said is of the task at hand: "then two runs is what we have".
_THEN = re.compile(
    r"(?:ok(?:ay)?,? |so,? |well,? )?(?:then|dann|also dann|alors|entonces|então|allora|dan|wtedy|tak|тогда)\b"
    r"(?!,? (?:always|never|please))",
    re.IGNORECASE,
)
_EVENT = re.compile(r"\s?(?:que|qu'|che|wenn|als|dass|wanneer|когда|kdy\w*|kiedy|gdy)(?!\w)", re.IGNORECASE)
_NO_WORDS = re.compile(r"\W*+")
_GAP = re.compile(r"(?<![ \t])[ \t]{200,}+")
_APOSTROPHES = str.maketrans("’ʼ`´", "''`'")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Match:
    """A clause that says something lasting.

    `quote` is the clause as typed, `said` the same without what stands before the instruction, `strength` 0 to 1.
    `narrower` are parts of it that say something lasting by themselves: where each begins, as typed and as said.
    `demands`: it says what a thing must do, which may be a product.
    `halves` are the two rules of a clause the second of which says something in general.
    `before` is the clause that it may lean on ("..., do that from now on") and its parts, the last first, with starts.
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
    halves: tuple[Match, ...] = ()


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn as it is listened to: its clauses, its languages, and what kind of turn it is."""

    text: str
    clauses: list[Clause]
    languages: list[Language]
    ordered: bool  # begins as one long order
    long: bool
    listed: bool
    of_product: bool  # speaks of what is being built, and not of the work on it
    specified: bool  # is announced as what a product must do

    @property
    def main(self) -> Language:
        """The language that it is in; English is among them always."""
        return next((one for one in self.languages if one.code != "en"), self.languages[0])


def listen(text: str, agent_texts: Sequence[str] = ()) -> list[Match]:
    """Return what lasting things `text`, one turn, says; `agent_texts` are the agent's messages before it."""
    turn = _turn(text, tuple(agent_texts))
    described = turn.long or turn.ordered
    heard = [
        replace(found, before=tuple(_before(before, turn)))
        for before, clause in pairwise([None, *turn.clauses])
        for found in (_hear_each(clause, turn) if clause else ())
    ]
    sure = [one for one in heard if (one.cue in _EXPLICIT or not described) and not _specified(one, turn)]
    if turn.long or turn.listed:
        sure = [replace(one, strength=min(one.strength, _HINTED)) for one in sure]
    return _ends(sure, _MAX_HEARD)


def plain(text: str, agent_texts: Sequence[str] = ()) -> list[Match]:
    """Return what `text` says of a whole kind of things, and its commands: lasting only where a skill is about them."""
    turn = _turn(text, tuple(agent_texts))
    if turn.long or turn.listed:
        return []
    heard = [one for clause in turn.clauses if (one := _plain(clause, turn)) and not _specified(one, turn)]
    # Behind a task, only what is said of all of a kind; the task itself says what it is about.
    behind = [one for one in heard if one.cue is not Cue.CORRECTION and one.start > turn.clauses[0].start]
    return _ends(behind if turn.ordered else heard, _MAX_HEARD)


def statements(text: str, agent_texts: Sequence[str] = ()) -> list[Match]:
    """Return what `text`, a short turn, turns down or wants: lasting only where it takes up a line of a skill.

    Only beside something else that it says: what is said alone is as often about the task at hand.
    """
    turn = _turn(text, tuple(agent_texts))
    if (
        turn.listed
        or turn.ordered
        or turn.of_product
        or turn.specified
        or len(turn.clauses) == 1
        or len(text) > _SHORT_TURN
    ):
        return []
    return [one for clause in turn.clauses for part in parts(clause) if (one := _statement(part, clause, turn))]


def _statement(part: Clause, clause: Clause, turn: _Turn) -> Match | None:
    bare, language = fold(part.text), turn.main
    if clause.question or len(bare) > _STATEMENT or count_words(bare) < _TELLS:
        return None
    if not (language.dissent.search(bare) or language.duties.search(bare) or denies(bare)):
        return None
    rest = behind_opener(bare, language)
    of_now = any(one.asks.match(rest) or one.passing.search(rest) for one in turn.languages)
    if of_now or (language.commands.match(rest) and not _says_no(rest, language)):
        return None
    if _ruled_out(bare, turn.languages) or of_product(bare, turn.languages):
        return None
    return _heard(part, turn.text, language, Cue.TAKEN_UP, MODEST)


def leaning_on(heard: Match, text: str) -> Iterator[Match]:
    """Yield `heard` in `text`, its turn, as what stands before it, of which it may only say that it lasts."""
    for start, said in heard.before:
        yield replace(heard, quote=text[start : heard.start + len(heard.quote)], said=said, start=start)


def narrowed(heard: Match) -> Iterator[Match]:
    """Yield `heard` as a whole, then as each part of it that says something lasting by itself."""
    yield heard
    for start, quote, said in heard.narrower:
        yield replace(heard, quote=quote, said=said, start=start)


def joined(heard: Match, text: str) -> Match | None:
    """Return `heard` with the clause before it, which says what it is about: "nobody reads notes. Skip them"."""
    if not heard.before:
        return None
    start, _ = heard.before[0]
    quote = text[start : heard.start + len(heard.quote)]
    return replace(heard, quote=quote, said=quote, start=start)


def _before(clause: Clause | None, turn: _Turn) -> Iterator[tuple[int, str]]:
    """Yield the clause that the next one may lean on and its parts, as far as they hold for more than this once."""
    if clause is None or clause.question:
        return
    whole, *rest = parts(clause)
    for part in (whole, *reversed(rest)):
        bare = fold(part.text)
        if not (_ruled_out(bare, turn.languages) or any(one.passing.search(bare) for one in turn.languages)):
            opener = turn.main.openers.match(part.text)
            begin = part.start + (opener.end() if opener else 0)
            yield begin, turn.text[begin : part.start + len(part.text)]


@lru_cache(maxsize=1)  # all three questions are asked of each turn, and of a long one reading it is all that takes time
def _turn(text: str, agent_texts: tuple[str, ...]) -> _Turn:
    typed = typed_part(text, agent_texts)
    found = spoken(typed)
    listened = [one for one in _ends(clauses_of(typed, found), _MAX_CLAUSES) if len(one.text) <= _MAX_LENGTH]
    told = _without_stories(_without_echoes(listened, found), found)
    said = [clause for clause in told if not _led_astray(clause, found)]
    folded = fold(typed)
    return _Turn(
        text=text,
        clauses=said,
        languages=found,
        ordered=_is_order(typed, found),
        long=len(folded) * (_DENSE if _HAN.search(typed) else 1) > _MANY,
        # Steps between tags are a prompt that was written beforehand, and so is what leads up to them.
        listed=max(len(_ITEM.findall(part)) for part in (typed, tagged(text))) > _ITEMS,
        of_product=of_product(folded[:_MANY], found),
        specified=specifies(typed),
    )


def _plain(clause: Clause, turn: _Turn) -> Match | None:
    found = None if clause.question or _THEN.match(clause.text) else _plainly(clause, turn)
    return None if found is None or _ruled_out(fold(clause.text), turn.languages) else found


def _plainly(clause: Clause, turn: _Turn) -> Match | None:
    bare = fold(clause.text)
    before: Clause | None = None
    found: list[Match] = []
    if _demanded(clause, turn):
        return None
    for part in parts(clause):
        begin = part.start - clause.start
        led, up_to_it = part is clause or ":" in clause.text[:begin], fold(clause.text[: begin + len(part.text)])
        for language in turn.languages:
            rest = behind_opener(fold(part.text), language)
            said_of = _said_of(rest, language, whole=part is clause, led=led)
            built = (rest,) if language.code == "en" else (rest, up_to_it)
            if said_of and not any(names_product(one, turn.languages) for one in built):
                meant = _reaching_back(before, part, clause) if before and language.back.match(rest) else part
                one = _heard(meant, turn.text, language, said_of, MODEST)
                found.append(replace(one, demands=of_product(rest, turn.languages)))
        before = None if part is clause else part
    if found:
        return replace(found[0], narrower=tuple((one.start, one.quote, one.said) for one in found[1:]))
    for language in turn.languages:
        rest = behind_opener(bare, language)
        commands = len(rest) <= _PLAIN and not language.asks.match(rest) and language.commands.match(rest)
        if commands and not turn.of_product:
            return _heard(clause, turn.text, language, Cue.CORRECTION, MODEST)
    return None


def _demanded(clause: Clause, turn: _Turn) -> bool:
    """Whether a part of a clause says what some one thing must do: "das Spiel soll immer speichern"; no work does."""
    built = (
        one
        for part in parts(clause)
        for one in turn.languages
        if one.code != "en" and one.theirs.match(fold(part.text))
    )
    return any(built) and not any(one.work.search(fold(clause.text)) for one in turn.languages)


def _reaching_back(before: Clause, part: Clause, clause: Clause) -> Clause:
    """Return the stretch of `clause` from the one part to the end of the other: "in brackets, that is our way"."""
    end = part.start + len(part.text) - clause.start
    return replace(part, text=clause.text[before.start - clause.start : end], start=before.start)


def _said_of(rest: str, language: Language, *, whole: bool, led: bool) -> Cue | None:
    """Whether a part of a clause tells how a kind of things is done."""
    if language.asks.match(rest) or language.passing.search(rest) or not (whole or language.finite.search(rest)):
        return None
    # English says what lasts in whole clauses; elsewhere a part between commas does, too, if no colon leads to it.
    heard = () if led or language.code == "en" else language.heard
    lasts = any(pattern.search(rest) for _, strength, pattern in heard if strength > KEPT)
    return Cue.PRACTICE if lasts or language.practice.search(rest) else None


def _ruled_out(bare: str, languages: Sequence[Language]) -> bool:
    """Whether a clause holds for once, is somebody else's, or takes something back, in any language it may be in."""
    head = bare[: bare.find(", ", _SURE) + 1 or len(bare)]
    return any(
        language.vetoes.search(bare) or language.retracts.search(bare) or language.hedges.search(head)
        for language in languages
    )


def _specified(heard: Match, turn: _Turn) -> bool:
    """Whether what was heard is part of a description of a product, and says nothing of the work on it."""
    return turn.specified and not of_work(heard.quote.rpartition(": ")[2])


def orders(heard: Match) -> bool:
    """Whether what was heard, but for the words that say how long it holds, begins as an instruction."""
    frame = heard.language.frames.match(heard.said)
    return bool(heard.language.commands.match(heard.said[frame.end() if frame else 0 :]))


def retractions(text: str, agent_texts: Sequence[str] = ()) -> list[str]:
    """Return the clauses of `text` that take something back."""
    typed = typed_part(text, agent_texts)
    found = spoken(typed)
    if len(found) == 1 and not found[0].marks & {word.lower() for word in _LETTERS.findall(typed)}:
        found = list(languages().values())  # "scherzavo" tells no language
    return [
        text[clause.start : clause.start + len(clause.text)]
        for clause in _ends([one for one in clauses(typed) if len(one.text) <= _MAX_LENGTH], _MAX_CLAUSES)
        if any(language.retracts.search(clause.text) for language in found)
    ]


def _hear_each(clause: Clause, turn: _Turn) -> list[Match]:
    """Return what a clause says that lasts: the whole with its two rules if it has two, or the one beside a task."""
    whole = _hear(clause, turn)
    split = () if turn.long or turn.listed or turn.ordered else halves(clause)
    said = ((half, _hear(half, turn) or _plain(half, turn)) for half in split)
    heard = {half: one for half, one in said if one and one.cue is not Cue.CORRECTION}
    lasts = any(one.cue is not Cue.PRACTICE for one in heard.values())
    beside_task = any(half not in heard and turn.main.commands.match(fold(half.text)) for half in split)
    if not lasts or len(heard) + beside_task < len(split):
        return [] if whole is None else [whole]
    sure = {half: replace(one, strength=max(one.strength, STRENGTH[Cue.PREFERENCE])) for half, one in heard.items()}
    return list(heard.values()) if beside_task or whole is None else [replace(whole, halves=tuple(sure.values()))]


def _hear(clause: Clause, turn: _Turn) -> Match | None:
    bare = fold(clause.text)  # runs of blanks would cost each expression their square
    best: Match | None = None
    for language in turn.languages:
        rest = behind_opener(bare, language)
        frame = language.frames.match(rest)  # "as a rule of thumb, is ...?"
        asks = bool(language.asks.match(rest[frame.end() :] if frame and "," in frame[0] else rest))
        wonders = clause.question and not language.requests.search(bare)
        for cue, strength, pattern in language.heard:
            if best is not None and strength <= best.strength:
                break
            if asks and cue is not Cue.REMINDER:  # "isn't that in the rules?" says that it is
                continue
            if wonders and cue not in _ASKED:
                continue
            if not pattern.search(rest):
                continue
            if _is_of_product(cue, clause, rest, language, turn):
                continue
            best = _heard(clause, turn.text, language, cue, strength)
            break
    # Asked last: most clauses are not heard at all.
    best = best or next((one for language in turn.languages if (one := _framed(clause, bare, language, turn))), None)
    if best is None or any(one.retracts.search(bare) for one in turn.languages):
        return None
    if _ruled_out(_core(bare, best) if best.cue in _OUTRIGHT else bare, turn.languages):
        return None
    return best


def _is_of_product(cue: Cue, clause: Clause, rest: str, language: Language, turn: _Turn) -> bool:
    """Whether a clause with a lasting word says what a product does: "the button must always be visible"."""
    if cue is Cue.ADVERB:
        built = turn.of_product or of_product(fold(clause.text), turn.languages)
        return built and not (not clause.lead and language.addressed.match(rest))
    frame = language.frames.match(rest)
    return cue is Cue.LASTING and tells_of(rest[frame.end() if frame else 0 :], language, turn.languages)


def _framed(clause: Clause, bare: str, language: Language, turn: _Turn) -> Match | None:
    """Return `clause` as heard for the words that say how long it holds, wherever they stand; English has its forms."""
    rest = behind_opener(bare, language)
    frame = None if language.code in _OWN_FORMS else language.frames.search(rest)
    asks = language.asks.match(rest) or (
        (clause.question or language.code in _ASKING) and not language.requests.search(bare)
    )
    if (
        not frame
        or asks
        or _EVENT.match(rest, frame.end())
        or language.theirs.match(rest)
        or tells_of(rest[frame.end() :], language, turn.languages)
    ):
        return None
    return _heard(clause, turn.text, language, Cue.LASTING, STRENGTH[Cue.LASTING])


def _core(bare: str, heard: Match) -> str:
    """Return a clause without the reasons behind what it lays down: "from now on ..., my boss says it looks odd"."""
    frames = [frame.end() for frame in heard.language.frames.finditer(bare)]
    seam = _COMMA.search(bare, max(_TOLD, *frames, 0))
    if seam is None:
        return bare
    held = [found[0] for found in heard.language.meanwhile.finditer(bare, seam.end())]
    for part in _COMMA.split(bare[seam.end() :]):  # "..., only this week"
        held += [found[0] for found in heard.language.vetoes.finditer(part) if 2 * len(found[0]) >= len(part)]
    return ", ".join([bare[: seam.start()], *held])


def _heard(clause: Clause, text: str, language: Language, cue: Cue, strength: float) -> Match:
    """Return `clause` as heard, quoted as `text` has it, its opener cut off."""
    quote = text[clause.start : clause.start + len(clause.text)]
    said = quote[opened(clause.text, language) :]
    return Match(quote, said, clause.start, clause.question, language, cue, strength)


def _led_astray(clause: Clause, languages: Sequence[Language]) -> bool:
    """Whether what leads up to a clause says that it holds for once, or who does it: "it must ..., and never"."""
    lead = clause.lead
    if not lead:
        return False
    once = (
        len(lead) <= _LEAD and not _JOINED.search(lead) and any(language.vetoes.search(lead) for language in languages)
    )
    return once or any(language.theirs.match(lead) or language.stories.search(lead) for language in languages)


def _without_echoes(said: Sequence[Clause], languages: Sequence[Language]) -> Iterator[Clause]:
    """Yield clauses without a bare no behind what holds for once: "one sentence this time. no list"."""
    before = ""
    for clause in said:
        bare = fold(clause.text)
        if before and any(_says_no(behind_opener(bare, language), language) for language in languages):
            lasts = any(language.frames.search(bare) for language in languages)
            if not lasts and any(language.vetoes.search(before) for language in languages):
                continue
        before = bare
        yield clause


def _without_stories(said: Iterable[Clause], languages: Sequence[Language]) -> Iterator[Clause]:
    """Yield clauses without a story of how others work, up to where the speaker comes back to the work at hand."""
    telling = False
    for clause in said:
        bare = fold(clause.text)
        telling = telling and not _comes_back(clause, bare, languages)
        begins = max((story.end() for one in languages if (story := one.elsewhere.search(bare))), default=0)
        if not telling and not begins:
            yield clause
        else:
            telling = not any(one.comes_back.search(bare, begins) for one in languages)


def _comes_back(clause: Clause, bare: str, languages: Sequence[Language]) -> bool:
    """Whether a clause ends the story before it: by its words, as a question, or as a sentence to the agent."""
    heads = [(one, behind_opener(bare, one)) for one in languages]
    if clause.question or any(one.comes_back.match(bare) or one.comes_back.match(rest) for one, rest in heads):
        return True
    if clause.lead:
        return False
    # In English any word may be a verb.
    ordering = [(one, rest) for one, rest in heads if one.code != "en"] or heads
    return any(one.frames.match(rest) for one, rest in heads) or any(
        one.commands.match(rest) and not (_ALWAYS.match(rest) or _says_no(rest, one)) for one, rest in ordering
    )


def _says_no(rest: str, language: Language) -> bool:
    """Whether a clause begins with a no of some sort."""
    return denies(rest[:_BEGINS]) or bool(language.dissent.match(rest[:_BEGINS]))


def _is_order(typed: str, languages: Sequence[Language]) -> bool:
    """Whether the turn begins as one long order."""
    begin = _NO_WORDS.match(typed)
    head = typed[begin.end() if begin else 0 :][:_MAX_LENGTH]
    return any(language.orders.match(head) for language in languages)


def _ends(found: list[_T], most: int) -> list[_T]:
    """Return at most so many of what was found, of the beginning and of the end."""
    return found if len(found) <= most else found[: most // 2] + found[-(most // 2) :]


def clauses_of(typed: str, spoken_in: Sequence[Language]) -> list[Clause]:
    """Return the clauses of `typed`; one that asks without a question mark is a question too."""
    return [
        clause
        if clause.question
        or len(clause.text) > _MAX_LENGTH
        or not any(language.unmarked.search(clause.text) for language in spoken_in)
        else replace(clause, question=True)
        for clause in clauses(typed)
    ]


def typed_part(text: str, agent_texts: Sequence[str]) -> str:
    """Return `text` with what is not the person's own filled, and one kind of apostrophe; places stay.

    A gap that nobody types ends a line, so that a megabyte of blanks costs no expression a megabyte.
    """
    ended = _GAP.sub(lambda gap: "\n" * len(gap[0]), text)
    return without_quotations(own_words(ended, agent_texts)).translate(_APOSTROPHES)
