"""Checks a back-end's updates in code: what may be proposed, what becomes a learning, what is dropped.

Pure. The back-end is not trusted: its quote must stand in what the person typed, the change must be supported by it,
and neither the skill nor the session's standing instructions may say it already.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

from skilld.classify.adopted import Endorsement, endorsed, is_bare_assent, passed_back, question
from skilld.classify.clauses import beyond, without_beyond
from skilld.classify.offline.grammar import languages
from skilld.classify.offline.provenance import own_words, without_quotations
from skilld.classify.offline.sentences import clauses
from skilld.classify.polarity import asks_to_remove, is_plainly_kept, is_plainly_turned, turns_round
from skilld.classify.said_already import line_saying, says_already
from skilld.classify.subject import before_quote, leans, with_subject
from skilld.classify.support import Support, adds_only, says_nothing_written, supports
from skilld.text import fold
from skilld.types import Kind, Message, SkillDoc, Update
from skilld.words import count_words

# The person's words that a model quotes: found where they stand, and given back as they were typed.
#
# Models copy words with other quotation marks, without emphasis, in another case, or with a gap in the middle. What
# is kept as evidence is never theirs: it is the stretch of the turn that they meant.

_GAP = re.compile(r"(?<!\s)(?:\s*+\[?(?:\.{3,}+|\u2026)\]?\s*+|[^\S\n]*+\n\s*+)")
_MARKS = "\"'\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a`*_"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212"
_PUNCTUATION = ",;:.!?()[]\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\uff08\uff09"
_AROUND = _MARKS + " .,;:!?\u3002\uff01\uff1f\u2026-"
_MIN = 0.5  # share of the quote that one part of it must make up, where it stands there only in parts


def as_typed(quote: str, typed: str) -> str:
    """Return the stretch of `typed`, white space folded, that `quote` means; empty if there is none.

    Of a quote with a gap the longest part counts, if it is half of the whole or all parts stand there.
    """
    folded = fold(quote)
    if folded in fold(typed):
        return folded
    plain, places = _plain(typed)
    parts = [wanted for part in _GAP.split(quote) if (wanted := _wanted(part))]
    whole = _wanted(quote)
    least = 1 if all(_at_word(plain, part) >= 0 for part in parts) else _MIN * len(whole)
    for wanted in sorted((whole, *parts), key=len, reverse=True):
        if not wanted or len(wanted) < least:
            continue
        at = _at_word(plain, wanted)
        if at >= 0:
            return fold(typed[places[at] : places[at + len(wanted) - 1] + 1])
    return ""


def _wanted(quote: str) -> str:
    return _plain(quote.strip(_AROUND))[0].strip()


def _at_word(plain: str, wanted: str) -> int:
    """Return where `wanted` stands and is no part of a longer word, -1 where nowhere."""
    at = plain.find(wanted)
    while at >= 0:
        before = plain[at - 1 : at] if at else ""
        after = plain[at + len(wanted) : at + len(wanted) + 1]
        if not (_joins(before, wanted[0]) or _joins(wanted[-1], after)):
            return at
        at = plain.find(wanted, at + 1)
    return -1


def _joins(one: str, other: str) -> bool:
    return one.isascii() and other.isascii() and one.isalnum() and other.isalnum()


def _plain(text: str) -> tuple[str, list[int]]:
    """Return `text` without case, marks, punctuation and runs of white space, and of each character its place there."""
    out: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char in _MARKS:
            continue
        plain = "-" if char in _DASHES else unicodedata.normalize("NFKC", char).casefold()
        if plain.isspace() or char in _PUNCTUATION:
            if out and out[-1] == " ":
                continue
            plain = " "
        out += plain
        places += [place] * len(plain)
    return "".join(out), places


# Take one update to the turn it names: whether its quote stands there, and the words carry its change.
#
# Messages, an update and a skill in; the update with its quote as it was typed, and the judgement out.

_PLACEHOLDER = "[REDACTED:"
_ENDS = re.compile(r"(?<![.!?]{2})[.!?]++(?:\s|$)|[。！？]|\n")
_STOPS = ".!?。！？"
_TELLING = 4  # words by which a quote tells its turn, whatever number the model gave it
_SENTENCE_WORDS = 4  # with fewer a quotation is a term or a command
_MAX_QUOTE_LENGTH = 600  # characters kept of one


@dataclass(frozen=True, slots=True)
class HumanTurn:
    """A human turn: all of it, what of it the person typed, and the agent's text directly before."""

    number: int
    text: str
    typed: str
    offer: str


# What a model said of a change and the words that it may be the opposite of: whether it says the same.
Meant = Callable[[str, str], bool | None]
MISQUOTED = "it quotes words that nobody typed"
NO_SUCH_TURN = "it refers to a message that does not exist"
_GENERAL = 0.65  # the least confidence for a file that is no skill: it is loaded in every session
NOT_SURE = "it is unclear whether you meant this or the opposite"
_NOWHERE = "it does not belong in any of the files here"
_NOT_WHAT = "it asks for something to be written down, but does not say what"
_LEANS = "the message does not say what the instruction is about"
_TURNED = "it says the opposite of the words it quotes"


def judged(update: Update, turn: HumanTurn, skill: SkillDoc | None, meant: Meant) -> tuple[Update, Support, str]:
    """Return the update with the quote as it was typed, whether the turn supports it, and what it takes up.

    A question of the agent's and a quotation of the person's own were read before they were said yes to, word by word;
    of a longer text of the agent's that cannot be known.
    """
    update = replace(update, turn=turn.number)
    if _PLACEHOLDER in update.change:
        return update, Support("it would contain a secret"), ""
    quote = as_typed(update.quote, turn.typed)[:_MAX_QUOTE_LENGTH].strip()
    quoted = replace(update, quote=quote)
    own = Support(MISQUOTED)
    if quote:
        assents = is_bare_assent(turn.typed, turn.offer)
        ground = f"{turn.typed}\n{turn.offer}" if assents else turn.typed
        quoted, own = _at_its_most(quoted, ground, skill, lambda one: _support(one, turn, skill, meant))
    if own.doubt:
        return quoted, own, ""
    if own.ok:
        taken_over = not own.by_assent and _only_quoted(quoted, turn.typed, skill)
        own = replace(own, by_assent=True) if taken_over else own
        return quoted, own, question(turn.offer) if own.by_assent else ""
    taken_up = endorsed(turn.text, turn.typed, turn.offer) or passed_back(turn.text, turn.typed, turn.offer)
    if taken_up and (quote or as_typed(update.quote, taken_up.words)):
        update = replace(update, quote=taken_up.by[:_MAX_QUOTE_LENGTH])
        ground = f"{turn.typed}\n{taken_up.words}"
        update, carried = _at_its_most(update, ground, skill, lambda one: _carries(taken_up, one, turn, skill, meant))
        if carried.ok or carried.doubt:
            return update, replace(carried, by_assent=True), taken_up.words if taken_up.quoted else ""
    return quoted, own, ""


def _at_its_most(
    update: Update, ground: str, skill: SkillDoc | None, judge: Callable[[Update], Support]
) -> tuple[Update, Support]:
    """Judge an update without the clauses that nobody said, where the rest stands without them, else as it is.

    The outcome names those that are left. What is to go is named in the skill's words.
    """
    if update.kind is Kind.REMOVE_STEP and skill:
        ground = f"{ground}\n{skill.text}"
    less = replace(update, change=without_beyond(update.change, ground))
    for one in (less, update):
        support = judge(one)
        if support.doubt:
            return one, support
        if support.ok:
            return one, replace(support, beyond=tuple(beyond(one.change, ground)))
    return update, support


def _support(update: Update, turn: HumanTurn, skill: SkillDoc | None, meant: Meant) -> Support:
    offer = turn.offer if is_bare_assent(turn.typed, turn.offer) else ""
    support = supports(update.change, turn.typed, skill.text if skill else "", offer=offer)
    if not support.ok:
        return replace(support, reworded=True)
    if support.by_assent:
        return _unturned(support, update, offer, meant, "it says the opposite of what the agent offered")
    return _unturned(support, update, _sentence(update.quote, turn.typed), meant)


def _unturned(support: Support, update: Update, ground: str, meant: Meant, why: str = _TURNED) -> Support:
    """Return the support of a change that does not turn its ground round, else why not.

    Of what only seems turned round a model is asked: patterns do not see all ways to say no.
    """
    complaint = not support.by_assent
    if update.kind is Kind.REMOVE_STEP and complaint:
        seems, is_plain = not asks_to_remove(ground), is_plainly_kept(update.change, ground)
    else:
        seems, is_plain = (
            turns_round(update.change, ground, complaint=complaint),
            is_plainly_turned(update.change, ground),
        )
    if not seems:
        return support
    same = False if is_plain else meant(update.change, ground)
    if same is None:
        return Support(NOT_SURE, doubt=ground)
    if same:
        return replace(support, by_model=True)
    return Support(why, reworded=update.kind is not Kind.REMOVE_STEP)


def _only_quoted(update: Update, typed: str, skill: SkillDoc | None) -> bool:
    """Whether only a sentence in quotation marks says it: perhaps the person's own rule, perhaps what somebody said."""
    plain = without_quotations(typed, least=_SENTENCE_WORDS)
    return plain != typed and not supports(update.change, plain, skill.text if skill else "").ok


def _carries(taken_up: Endorsement, update: Update, turn: HumanTurn, skill: SkillDoc | None, meant: Meant) -> Support:
    """Return whether the change is in the words that the person made their own, and is not turned round."""
    support = supports(update.change, f"{turn.typed}\n{taken_up.words}", skill.text if skill else "")
    if not support.ok:
        return support
    return _unturned(
        replace(support, by_assent=True), update, taken_up.words, meant, "it says the opposite of what it refers to"
    )


def _sentence(quote: str, typed: str) -> str:
    """Return the sentence around a quote: what it was cut from may deny it ("never" left out)."""
    at = typed.find(quote)
    if at < 0:
        return quote
    begin = max((match.end() for match in _ENDS.finditer(typed, 0, at)), default=0)
    end = _ENDS.search(typed, at + len(quote.rstrip(_STOPS)))
    return typed[begin : end.start() if end else len(typed)]


def turn_of(messages: Sequence[Message], update: Update) -> HumanTurn | None:
    """Return the human turn that an update goes back to: the one it names, or the only other one that has its quote."""
    turns = [_human_turn(messages, index) for index, message in enumerate(messages) if message.turn is not None]
    named = next((one for one in turns if one.number == update.turn), None)
    if named and not as_typed(update.quote, named.typed) and _tells(update.quote):
        holding = [one for one in turns if as_typed(update.quote, one.typed)]
        return holding[0] if len(holding) == 1 else named
    return named


def _tells(quote: str) -> bool:
    """Whether a quote is long enough to tell its turn."""
    return count_words(quote) >= _TELLING


def _human_turn(messages: Sequence[Message], index: int) -> HumanTurn:
    message, before = messages[index], messages[index - 1] if index else None
    typed = own_words(message.text, [other.text for other in messages[:index] if not other.by_person])
    return HumanTurn(message.turn or 0, message.text, typed, "" if before is None or before.by_person else before.text)


FOR_NOW = "you said it was only for now"
# Words that a reason is made of, whoever gives it.
_REASONS = """asked asks for hold from now on always never stated as a preference how it is done here not to be done
without consent remembered or written down stop said before user person requested corrected correction wants prefers
explicit explicitly lasting rule standing request preference repeated instruction future work applies session agent"""
_NEW_SENTENCE = re.compile(
    r"(?<=\w)[ \t]*\n\s*(?:[-*] )?(?=[^\W\d_a-z])"
)  # what a line break ends, without a full stop
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class VerifiedUpdate:
    """An update that may be proposed.

    `by_assent`: its content is not in the person's own words but in those that they said yes to, so a person must look.
    `taken_up` are those words, as far as commands and addresses may come from them. `beyond` are the parts of the
    change that hold none of the words that it rests on. `by_model`: that it is not the opposite of them, only the model
    could tell.
    """

    update: Update
    by_assent: bool = False
    taken_up: str = ""
    beyond: tuple[str, ...] = ()
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The updates of a batch after the checks. `learned` and `dropped` carry why, as a clause for the person.

    `faults` say what was wrong with updates that a back-end should never have made. `reworded` are those among them
    whose quote is right and whose change is in other words than the person's; `doubtful` those that may be the opposite
    of what they rest on, each with that. `already_said` are those that stand in the skill or the instructions, each
    with the line that says it. `lost` are all that were dropped, each with why.
    """

    proposed: tuple[VerifiedUpdate, ...] = ()
    learned: tuple[tuple[Update, str], ...] = ()
    dropped: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    reworded: tuple[Update, ...] = ()
    already_said: tuple[tuple[Update, str], ...] = ()
    doubtful: tuple[tuple[Update, str], ...] = ()
    lost: tuple[tuple[Update, str], ...] = ()

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(
            tuple(_each_once(self.proposed + other.proposed)),
            self.learned + other.learned,
            self.dropped + other.dropped,
            self.faults + other.faults,
            self.reworded + other.reworded,
            self.already_said + other.already_said,
            self.doubtful + other.doubtful,
            self.lost + other.lost,
        )

    def without_fault(self, update: Update) -> Verdict:
        """Return the verdict as if nothing had been wrong with an update that is lost."""
        place = next(i for i, (one, _) in enumerate(self.lost) if one is update)
        faults = list(self.faults)
        faults.remove(self.lost[place][1])
        return replace(self, faults=tuple(faults), lost=self.lost[:place] + self.lost[place + 1 :])


def is_passing(quote: str, typed: str) -> bool:
    """Whether a clause that a quote is part of, or the quote itself, says that it holds for now."""
    at = typed.find(quote)
    around = [
        clause.text
        for clause in (clauses(typed) if at >= 0 else ())
        if clause.start < at + len(quote) and at < clause.start + len(clause.text)
    ]
    # In all of them: a short message tells none by its small words, and these words are none in any other.
    return any(language.meanwhile.search(text) for text in (quote, *around) for language in languages().values())


def verify(
    updates: Sequence[Update],
    messages: Sequence[Message],
    skills: Sequence[SkillDoc],
    instructions: str = "",
    *,
    sure: float = 0.5,
    general: Container[int] = (),
    meant: Meant = lambda _change, _ground: None,
) -> Verdict:
    """Check the updates of one batch against its messages and skills; below the confidence `sure` none is proposed.

    For a `general` file, one that is no skill and so in every session, 0.65 is the least.
    `meant` is what a model said of those that may be the opposite of what was meant.
    """
    found = Verdict()
    for update in updates:
        turn = turn_of(messages, update)
        if turn is None:
            found += Verdict(faults=(NO_SUCH_TURN,), lost=((update, NO_SUCH_TURN),))
            continue
        skill = next((doc for doc in skills if doc.number == update.skill), None)
        # Where words could go to several files, each of them may say it.
        beside = (_sent(doc) for doc in skills if doc is not skill and doc.number in general)
        one = _verdict(update, turn, skill, "\n\n".join(filter(None, (instructions, *beside))), meant)
        least = max(sure, _GENERAL) if update.skill in general else sure
        kept = [item.update for item in one.proposed if skill is None or item.update.confidence < least]
        doubt = f"skilld is not sure enough (confidence {update.confidence:.2f}; {least:.2f} needed)"
        why = doubt if skill else _NOWHERE if skills else "no skill was in use"
        found += replace(one, proposed=(), learned=tuple((update, why) for update in kept)) if kept else one
    return found


def _verdict(update: Update, turn: HumanTurn, skill: SkillDoc | None, instructions: str, meant: Meant) -> Verdict:
    tidy, support, taken_up = judged(_tidied(update, turn.typed), turn, skill, meant)
    if not support.ok:
        reworded = (tidy,) if support.reworded else ()
        doubtful = ((tidy, support.doubt),) if support.doubt else ()
        lost = ((tidy, support.why_not),)
        return Verdict(faults=(support.why_not,), reworded=reworded, doubtful=doubtful, lost=lost)
    before = turn.offer if support.by_assent else before_quote(tidy.quote, turn.typed)
    whole = with_subject(tidy.change, before)
    if whole is None:
        return Verdict(learned=((tidy, _LEANS),))
    if says_nothing_written(whole):
        return Verdict(dropped=(_NOT_WHAT,), lost=((tidy, _NOT_WHAT),))
    tidy = replace(tidy, change=whole)
    texts = (
        ((_sent(skill), "the skill already says"), (instructions, "the project's instructions already say"))
        if skill
        else ()
    )
    for text, where in texts:
        if text and (line := line_saying(tidy, text)) is not None:
            why = f"{where} this"
            return Verdict(dropped=(why,), already_said=((tidy, line),), lost=((tidy, why),))
    if leans(whole):
        return Verdict(learned=((tidy, _LEANS),))
    if is_passing(tidy.quote, turn.typed):
        return Verdict(learned=((tidy, FOR_NOW),))
    return Verdict((VerifiedUpdate(tidy, support.by_assent, taken_up, support.beyond, support.by_model),))


def _sent(doc: SkillDoc) -> str:
    """Return what of a file the agent is sent."""
    unseen = set(doc.unseen)
    return "\n".join(line for line in doc.text.splitlines() if line.strip() not in unseen) if unseen else doc.text


def _each_once(proposed: Sequence[VerifiedUpdate]) -> list[VerifiedUpdate]:
    """Return the updates without those that another one of the same skill says too, in more words or first."""
    kept: list[VerifiedUpdate] = []
    for item in proposed:
        if any(_implies(other, item) for other in kept):
            continue
        kept = [other for other in kept if not _implies(item, other)]
        kept.append(item)
    return kept


def _implies(one: VerifiedUpdate, other: VerifiedUpdate) -> bool:
    """Whether one update says what another one does, and neither takes away what the other puts in."""
    mine, theirs = one.update, other.update
    alike = mine.skill == theirs.skill and (mine.kind is Kind.REMOVE_STEP) == (theirs.kind is Kind.REMOVE_STEP)
    return alike and says_already(theirs.change, mine.change)


def _tidied(update: Update, typed: str) -> Update:
    """Return the update with its change as one line without a bullet of its own, and no reason that says more."""
    lines = _NEW_SENTENCE.sub(". ", update.change)
    change = _BLANKS.sub(" ", " ".join(lines.split())).removeprefix("- ").removeprefix("* ")
    if adds_only(update.reason, f"{typed}\n{update.change}\n{_REASONS}"):
        return replace(update, change=change)
    return replace(update, change=change, reason="")  # it reaches the commit message
