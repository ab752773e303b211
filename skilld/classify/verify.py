"""Checks a back-end's updates in code: what may be proposed, what becomes a learning, what is dropped. Pure.

The back-end is not trusted: its quote must occur in what the person typed, the quote must support the change, and
neither the skill nor the session's standing instructions may already say it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import partial

from skilld.classify.clauses import foreign_parts, has_only_own_words, without_foreign_clauses
from skilld.classify.content import WEAK_STEMS
from skilld.classify.endorsement import final_question, find_endorsement, find_passed_back, is_bare_assent
from skilld.classify.offline.grammar import Cue, Language, languages
from skilld.classify.offline.provenance import own_words, without_quotations
from skilld.classify.offline.sentences import clauses
from skilld.classify.polarity import asks_to_remove, is_clearly_reversed, is_clearly_wanted, seems_reversed
from skilld.classify.rule_texts import rule_texts
from skilld.classify.said_already import find_line, says_same_rule
from skilld.classify.subject import fill_pronoun, points_elsewhere, text_before_quote
from skilld.classify.support import (
    Support,
    adds_nothing,
    check_pointing,
    check_support,
    is_empty_request,
    points_back,
)
from skilld.classify.typed_quote import typed_quote
from skilld.text import fold
from skilld.types import Kind, Message, SkillDoc, Update
from skilld.values import value_class
from skilld.words import content_stems, count_words, matching_words

# Judging one update against its turn: whether its quote is there, and supports the change.

_PLACEHOLDER = "[REDACTED:"
_SENTENCE_END = re.compile(r"(?<![.!?]{2})[.!?]++(?:\s|$)|[。！？]|\n")
_FULL_STOPS = ".!?。！？"
_MIN_UNIQUE_WORDS = 4  # a quote of so many words identifies its turn, whatever number the model gave
_MIN_SENTENCE_WORDS = 4  # a shorter quotation is a term or a command
_MAX_QUOTE_LENGTH = 600  # characters


@value_class
class HumanTurn:
    """A human turn: its text, the part that the person typed, and the agent's text directly before.

    `earlier` is what the person typed in the turns before it.
    """

    number: int
    text: str
    typed: str
    offer: str
    earlier: str = ""


# Asks a model whether a change says the same as the words it may be the opposite of; None if that is unknown.
JudgePolarity = Callable[[str, str], bool | None]
MISQUOTED = "it quotes words that nobody typed"
NO_SUCH_TURN = "it refers to a message that does not exist"
MIN_GENERAL_CONFIDENCE = 0.65  # for files other than skills, which are loaded in every session
UNCLEAR_REASON = "it is unclear whether you meant this or the opposite"
NO_FILE_FITS = "it does not belong in any of the files here"
_NO_CONTENT_REASON = "it asks for something to be written down, but does not say what"
_NO_SUBJECT_REASON = "the message does not say what the instruction is about"
_REVERSED_REASON = "it says the opposite of the words it quotes"


_CODE = re.compile(r"`([^`\n]{1,80})`")
_WORD = re.compile(r"\w+")
_AROUND_ITEM = "-*+ 0123456789.)"
_MIN_NAMED = 2  # content words of a line, by which the person means it


class _TurnJudge:
    """Judges updates of one turn for one file, if any; `meant` asks a model what code cannot tell."""

    def __init__(self, turn: HumanTurn, skill: SkillDoc | None, meant: JudgePolarity) -> None:
        self._turn, self._skill, self._meant = turn, skill, meant
        self._known = skill.text if skill else ""
        self._offer = turn.offer if is_bare_assent(turn.typed, turn.offer) else ""

    def judge(self, update: Update) -> tuple[Update, Support, str]:
        """Return the update with its quote as typed, whether the turn supports it, and the words that are adopted.

        Only a question of the agent or a quotation by the person is returned as adopted words, since the person has
        read those word by word; nobody knows that of a longer text by the agent.
        """
        turn = self._turn
        update = replace(update, turn=turn.number)
        if _PLACEHOLDER in update.change:
            return update, Support("it would contain a secret"), ""
        quote = typed_quote(update.quote, turn.typed)[:_MAX_QUOTE_LENGTH].strip()
        quoted, own = replace(update, quote=quote), Support(MISQUOTED)
        if quote:
            ground = f"{turn.typed}\n{self._offer}" if self._offer else turn.typed
            quoted, own = self._judge_shortened(quoted, ground, self._direct_support)
        if own.doubt:
            return quoted, own, ""
        if own.ok:
            taken_over = not own.by_assent and self._is_only_quoted(quoted)
            own = replace(own, by_assent=True, quoted=True) if taken_over else own
            return quoted, own, final_question(turn.offer) if own.by_assent else ""
        texts = turn.text, turn.typed, turn.offer
        taken = find_endorsement(*texts) or find_passed_back(*texts)
        if taken and (quote or typed_quote(update.quote, taken.words)):
            update = replace(update, quote=taken.by[:_MAX_QUOTE_LENGTH])
            adopted = partial(self._adopted_support, taken.words)
            update, carried = self._judge_shortened(update, f"{turn.typed}\n{taken.words}", adopted)
            if carried.ok or carried.doubt:
                support = replace(carried, by_assent=True, quoted=taken.quoted)
                return update, support, taken.words if taken.quoted else ""
        return quoted, own, ""

    def _judge_shortened(
        self, update: Update, ground: str, judge: Callable[[Update], Support]
    ) -> tuple[Update, Support]:
        """Judge an update without the clauses that nobody said, if the rest can stand alone; otherwise as it is.

        The result names the foreign clauses that remain. Where a line is removed or changed, the skill's words count as
        said.
        """
        if update.kind in {Kind.REMOVE_STEP, Kind.CHANGE_STEP} and self._skill:
            ground = f"{ground}\n{self._known}"
        earlier = self._turn.earlier  # may name the subject: "who reviews infra changes?", and then "always Youssef"
        less = replace(update, change=without_foreign_clauses(update.change, ground, f"{self._known}\n{earlier}"))
        for one in (less, update):
            support = judge(one)
            if support.doubt:
                return one, support
            if support.ok:
                foreign = foreign_parts(one.change, ground)
                return one, replace(support, beyond=tuple(x for x in foreign if not has_only_own_words(x, earlier)))
        return update, support

    def _direct_support(self, update: Update) -> Support:
        typed = self._turn.typed
        named = self._known if update.kind is Kind.REMOVE_STEP and _names_line(update, self._known) else ""
        said, earlier = f"{typed}\n{named}", self._turn.earlier
        support = check_support(update.change, said, self._known, offer=self._offer, earlier=earlier)
        if not support.ok and update.kind is not Kind.REMOVE_STEP and points_back(update.quote):
            support = check_pointing(update.change, typed, earlier, self._known)
        if not support.ok:
            return replace(support, reworded=True)
        if support.by_assent:
            return self._check_polarity(support, update, self._offer, "it says the opposite of what the agent offered")
        return self._check_polarity(support, update, _sentence_around(update.quote, typed))

    def _adopted_support(self, words: str, update: Update) -> Support:
        """Judge whether adopted words support the change and do not say the opposite."""
        support = check_support(update.change, f"{self._turn.typed}\n{words}", self._known)
        if not support.ok:
            return support
        adopted = replace(support, by_assent=True)
        return self._check_polarity(adopted, update, words, "it says the opposite of what it refers to")

    def _check_polarity(self, support: Support, update: Update, ground: str, why: str = _REVERSED_REASON) -> Support:
        """Return the support, unless the change says the opposite of its ground; then the reason.

        If it only seems the opposite, a model is asked: patterns do not recognize every way to say no.
        """
        complaint = not support.by_assent
        if update.kind is Kind.REMOVE_STEP and complaint:
            # "CI runs them for every push. You can drop that line": another sentence may ask for it.
            seems = not asks_to_remove(ground)
            is_plain = is_clearly_wanted(update.change, ground) and not asks_to_remove(self._turn.typed)
        else:
            seems = seems_reversed(update.change, ground, complaint=complaint)
            is_plain = is_clearly_reversed(update.change, ground) and not _is_asked(ground, self._turn.typed)
        if not seems:
            return support
        same = False if is_plain else self._meant(update.change, ground)
        if same is None:
            return Support(UNCLEAR_REASON, doubt=ground)
        if same:
            return replace(support, by_model=True)
        return Support(why, reworded=update.kind is not Kind.REMOVE_STEP)

    def _is_only_quoted(self, update: Update) -> bool:
        """Whether only a quoted sentence says it, which may be the person's rule or somebody else's words."""
        typed = self._turn.typed
        plain = without_quotations(typed, min_words=_MIN_SENTENCE_WORDS)
        return plain != typed and not check_support(update.change, plain, self._known).ok


def _names_line(update: Update, text: str) -> bool:
    """Whether a change is a line of a text that the quote drops, and that it names better than any other.

    Code in a line counts for the words that mean it: "the make check rule: not needed any more".
    """
    lines = {line.strip(_AROUND_ITEM) for _, line in rule_texts(text) if "\n" not in line}
    wanted = update.change.strip(_AROUND_ITEM)
    if wanted not in lines or not asks_to_remove(update.quote):
        return False
    said, spoken = content_stems(update.quote), f" {' '.join(_WORD.findall(update.quote.casefold()))} "

    def named(line: str) -> int:
        codes = (" ".join(_WORD.findall(code.casefold())) for code in _CODE.findall(line))
        meant = sum(f" {code} " in spoken for code in codes if code)
        return len(matching_words(content_stems(line), said)) + _MIN_NAMED * meant

    return named(wanted) >= max(_MIN_NAMED, *(named(line) + 1 for line in lines - {wanted}), 0)


def _sentence_around(quote: str, typed: str) -> str:
    """Return the sentence around a quote, since the rest of it may negate the quote ("never" left out)."""
    at = typed.find(quote)
    if at < 0:
        return quote
    begin = max((match.end() for match in _SENTENCE_END.finditer(typed, 0, at)), default=0)
    end = _SENTENCE_END.search(typed, at + len(quote.rstrip(_FULL_STOPS)))
    return typed[begin : end.start() if end else len(typed)]


def _is_asked(sentence: str, typed: str) -> bool:
    """Whether a sentence is a question, whose negation may mean nothing: "n'ai-je pas dit que ... ?"."""
    return typed[typed.find(sentence) + len(sentence) :].lstrip().startswith(("?", "\uff1f"))


def find_turn(messages: Sequence[Message], update: Update) -> HumanTurn | None:
    """Return the human turn of an update: the one it names, or the only other one that contains its quote."""
    turns = [_human_turn(messages, index) for index, message in enumerate(messages) if message.turn is not None]
    named = next((one for one in turns if one.number == update.turn), None)
    if named and not typed_quote(update.quote, named.typed) and count_words(update.quote) >= _MIN_UNIQUE_WORDS:
        holding = [one for one in turns if typed_quote(update.quote, one.typed)]
        return holding[0] if len(holding) == 1 else named
    return named


def _human_turn(messages: Sequence[Message], index: int) -> HumanTurn:
    message, before = messages[index], messages[index - 1] if index else None
    typed = own_words(message.text, [other.text for other in messages[:index] if not other.by_person])
    offer = "" if before is None or before.by_person else before.text
    earlier = "\n".join(own_words(other.text) for other in messages[:index] if other.by_person)[-_MAX_EARLIER:]
    return HumanTurn(message.turn or 0, message.text, typed, offer, earlier)


_MAX_EARLIER = 4000  # characters of what was typed before a turn
TEMPORARY_REASON = "you said it was only for now"
# Words that any reason may contain.
_REASON_WORDS = """
asked asks for hold from now on always never stated as a preference how it is done here not to be done without consent
remembered or written down stop said before user person requested corrected correction wants prefers explicit
explicitly lasting rule earlier standing request preference repeated instruction future work applies session agent
"""
_NEW_SENTENCE = re.compile(
    r"(?<=\w)[ \t]*\n\s*(?:[-*] )?(?=[^\W\d_a-z])"
)  # a line break that ends a sentence without a full stop
_BLANKS = re.compile(r"[ \t]+")
_PARTS = re.compile(r"[,;，、；]|\s[–—-]\s")  # of a clause


@value_class
class VerifiedUpdate:
    """An update that may be proposed.

    `by_assent`: its content is in words that the person only agreed to, or `quoted`, so a person must look. `taken_up`
    are those words, as far as commands and addresses may come from them. `beyond` are the parts of the change that
    share no words with its ground. `by_model`: only a model could tell that it is not the opposite.
    """

    update: Update
    by_assent: bool = False
    taken_up: str = ""
    beyond: tuple[str, ...] = ()
    by_model: bool = False
    quoted: bool = False


@value_class
class Verdict:
    """The updates of a batch after the checks. `learned` and `dropped` have reasons, as clauses for the person.

    `faults` are the reasons of updates that a back-end should not have made. Of these, `reworded` have a correct quote
    but a change in other words than the person's; `doubtful` may be the opposite of their ground, which is given too.
    `already_said` are in the skill or the instructions, each with the line that says it. `lost` are all dropped
    updates, each with the reason.
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
            tuple(_without_duplicates(self.proposed + other.proposed)),
            self.learned + other.learned,
            self.dropped + other.dropped,
            self.faults + other.faults,
            self.reworded + other.reworded,
            self.already_said + other.already_said,
            self.doubtful + other.doubtful,
            self.lost + other.lost,
        )

    def without_fault(self, update: Update) -> Verdict:
        """Return the verdict without the fault of a lost update."""
        place = next(i for i, (one, _) in enumerate(self.lost) if one is update)
        faults = list(self.faults)
        faults.remove(self.lost[place][1])
        return replace(self, faults=tuple(faults), lost=self.lost[:place] + self.lost[place + 1 :])


def is_temporary(quote: str, typed: str, change: str = "") -> bool:
    """Whether a quote, or a clause that contains it, says that it only holds for now.

    "Two outsiders sent patches this time, they get a thank-you, same whenever that happens": a quote of the last part
    says that it lasts. So does a clause, if its words for now stand with nothing of the change.
    """
    at = typed.find(quote)
    around = [
        clause.text
        for clause in (clauses(typed) if at >= 0 else ())
        if clause.start < at + len(quote) and at < clause.start + len(clause.text)
    ]
    # In every language: a short message does not reveal its own, and these words have no other meaning elsewhere.
    known = [language for language in languages().values() for text in (quote, *around) if language.holds_for_now(text)]
    if not known or (_lasts(quote, known) and not any(language.holds_for_now(quote) for language in known)):
        return False
    return not any(_lasts(text, known) and _is_beside(text, change, known) for text in around)


def _lasts(text: str, known: Sequence[Language]) -> bool:
    """Whether a text, or a part of it, says outright that it lasts."""
    lasting = [forms for language in known for cue, _, forms in language.cue_forms if cue is Cue.LASTING]
    return any(forms.found_in(fold(part).strip()) for part in (text, *_PARTS.split(text)) for forms in lasting)


def _is_beside(clause: str, change: str, known: Sequence[Language]) -> bool:
    """Whether the "for now" words of a clause are in parts that contribute nothing to the change."""
    passing = [part for part in _PARTS.split(clause) if any(language.holds_for_now(part) for language in known)]
    wanted = content_stems(change)
    own = [content_stems(part) for part in passing]
    return bool(wanted) and all(len(part) > 1 and not matching_words(part, wanted) for part in own)


def verify(
    updates: Sequence[Update],
    messages: Sequence[Message],
    skills: Sequence[SkillDoc],
    instructions: str = "",
    *,
    min_confidence: float = 0.5,
    general: Container[int] = (),
    meant: JudgePolarity = lambda _change, _ground: None,
) -> Verdict:
    """Check the updates of one batch against its messages and skills; none below `min_confidence` is proposed.

    `general` are the numbers of files other than skills, which are loaded in every session; they need at least 0.65.
    `meant` asks a model about updates that may be the opposite of what was meant.
    """
    found = Verdict()
    for update in updates:
        turn = find_turn(messages, update)
        if turn is None:
            found += Verdict(faults=(NO_SUCH_TURN,), lost=((update, NO_SUCH_TURN),))
            continue
        skill = next((doc for doc in skills if doc.number == update.skill), None)
        # If the words could go to several files, any of them may already say it.
        beside = (_loaded_text(doc) for doc in skills if doc is not skill and doc.number in general)
        one = _judge(update, turn, skill, "\n\n".join(filter(None, (instructions, *beside))), meant)
        least = max(min_confidence, MIN_GENERAL_CONFIDENCE) if update.skill in general else min_confidence
        kept = [item.update for item in one.proposed if skill is None or item.update.confidence < least]
        doubt = f"skilld is not sure enough (confidence {update.confidence:.2f}; {least:.2f} needed)"
        if skill is not None and update.skill not in general and _is_unrelated(update, skill):
            doubt += f"; it has no words in common with {skill.name}"
        why = doubt if skill else NO_FILE_FITS if skills else "no skill was in use"
        found += replace(one, proposed=(), learned=tuple((update, why) for update in kept)) if kept else one
    return found


def _is_unrelated(update: Update, skill: SkillDoc) -> bool:
    """Whether a clear update and a skill have no content word in common."""
    said, known = content_stems(update.change), content_stems(f"{skill.name} {skill.text}")
    return len(said) > 1 and not said & known - WEAK_STEMS


def _judge(update: Update, turn: HumanTurn, skill: SkillDoc | None, instructions: str, meant: JudgePolarity) -> Verdict:
    tidy, support, taken_up = _TurnJudge(turn, skill, meant).judge(_tidy(update, turn.typed))
    if not support.ok:
        reworded = (tidy,) if support.reworded else ()
        doubtful = ((tidy, support.doubt),) if support.doubt else ()
        lost = ((tidy, support.why_not),)
        return Verdict(faults=(support.why_not,), reworded=reworded, doubtful=doubtful, lost=lost)
    before = turn.offer if support.by_assent else text_before_quote(tidy.quote, turn.typed)
    whole = fill_pronoun(tidy.change, before)
    if whole is None:
        return Verdict(learned=((tidy, _NO_SUBJECT_REASON),))
    if is_empty_request(whole):
        return Verdict(dropped=(_NO_CONTENT_REASON,), lost=((tidy, _NO_CONTENT_REASON),))
    tidy = replace(tidy, change=whole)
    texts = (
        ((_loaded_text(skill), "the skill already says"), (instructions, "the project's instructions already say"))
        if skill
        else ()
    )
    for text, where in texts:
        if text and (line := find_line(tidy, text)) is not None:
            why = f"{where} this"
            return Verdict(dropped=(why,), already_said=((tidy, line),), lost=((tidy, why),))
    if points_elsewhere(whole):
        return Verdict(learned=((tidy, _NO_SUBJECT_REASON),))
    if is_temporary(tidy.quote, turn.typed, whole):
        return Verdict(learned=((tidy, TEMPORARY_REASON),))
    item = VerifiedUpdate(tidy, support.by_assent, taken_up, support.beyond, support.by_model, support.quoted)
    return Verdict((item,))


def _loaded_text(doc: SkillDoc) -> str:
    """Return the part of a file that the agent is sent."""
    unseen = set(doc.unseen)
    return "\n".join(line for line in doc.text.splitlines() if line.strip() not in unseen) if unseen else doc.text


def _without_duplicates(proposed: Sequence[VerifiedUpdate]) -> list[VerifiedUpdate]:
    """Return the updates without those that another update of the same skill implies."""
    kept: list[VerifiedUpdate] = []
    for item in proposed:
        if any(_implies(other, item) for other in kept):
            continue
        kept = [other for other in kept if not _implies(item, other)]
        kept.append(item)
    return kept


def _implies(one: VerifiedUpdate, other: VerifiedUpdate) -> bool:
    """Whether one update says what another one does, and both add or both remove."""
    mine, theirs = one.update, other.update
    alike = mine.skill == theirs.skill and (mine.kind is Kind.REMOVE_STEP) == (theirs.kind is Kind.REMOVE_STEP)
    return alike and says_same_rule(theirs.change, mine.change)


def _tidy(update: Update, typed: str) -> Update:
    """Return the update with its change as one line without a bullet, and without a reason that says more."""
    lines = _NEW_SENTENCE.sub(". ", update.change)
    change = _BLANKS.sub(" ", " ".join(lines.split())).removeprefix("- ").removeprefix("* ")
    if adds_nothing(update.reason, f"{typed}\n{update.change}\n{_REASON_WORDS}"):
        return replace(update, change=change)
    return replace(update, change=change, reason="")  # it reaches the commit message
