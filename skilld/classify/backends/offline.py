"""The built-in default back-end: judges without a key or a network, by a grammar and a small model of clauses.

Deliberately modest: it reports what is said outright or very likely meant to last, and gives what it cannot phrase well
a confidence below 0.5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from skilld.batching.gate import OPENERS
from skilld.classify.backends import OFFLINE
from skilld.classify.contradiction import chooses_differently, contradicted_block, stems, topic_stems
from skilld.classify.conversation_style import PROJECT_SCOPE
from skilld.classify.offline.choices import refused_part
from skilld.classify.offline.detector import (
    Match,
    find_lasting,
    find_practices,
    find_statements,
    is_order,
    join_previous,
    with_context,
    with_parts,
)
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.likely import LIKELY_ALONE, weigh
from skilld.classify.offline.one_place import is_of_one_place
from skilld.classify.offline.phrasing import (
    Phrase,
    is_fragment,
    phrase,
    phrase_joined,
    points_back,
    tells_of_agent,
)
from skilld.classify.offline.placement import replacement, section_for
from skilld.classify.offline.product import announces_rule, likely_languages, requires_something, speaks_to_agent
from skilld.classify.offline.product_talk import STANDING_CUES, ProductTalk, is_asked_for
from skilld.classify.offline.relevance import (
    extends_to_subject,
    fits_description,
    is_about_line,
    is_about_output,
    is_objection,
    is_only_of_git,
    is_related,
    refers_to_rule_file,
)
from skilld.classify.offline.removals import removal, with_removals
from skilld.classify.offline.retraction import without_retracted
from skilld.classify.offline.sentences import clauses
from skilld.classify.subject import fill_pronoun, text_before_quote
from skilld.skills.spec import read_front
from skilld.types import Kind, Message, Operation, SkillDoc, Update
from skilld.words import content_stems, is_about, is_other_language

_UNCLEAR_CONFIDENCE = 0.4  # of a wish that cannot be proposed in its words
_OPENING_CHARACTERS = 2000  # of a skill, which show its language
UNRELATED_CONFIDENCE = 0.45  # of a clear wish that is not related to the skill in use, nor without one to the agent
_PRODUCT_CUES = frozenset({Cue.ADVERB, Cue.LASTING, Cue.PREFERENCE})  # without a skill, maybe of the product
_GAP = re.compile(r",(?: ?,)+")  # what "from now on" leaves in "commits, from now on, always in English"
_CUT_WORD = re.compile(r"\0\w*")  # what an expression matched, to the end of its last word

_REASONS = {
    Cue.LASTING: "You stated this as a lasting rule.",
    Cue.ADVERB: "You stated this as a lasting rule.",
    Cue.MEMORY: "You asked for this to be remembered or written down.",
    Cue.STOP: "You asked the agent to stop doing this.",
    Cue.PREFERENCE: "You stated this as a preference.",
    Cue.CONVENTION: "You said that this is how things are done here.",
    Cue.CONDUCT: "You said how the agent should behave.",
    Cue.PRACTICE: "You stated this as a general practice.",
    Cue.CORRECTION: "You corrected what the skill says.",
    Cue.LIKELY: "This reads like something to remember.",
    Cue.TAKEN_UP: "You rejected a line of the skill, or asked for more than it says.",
    Cue.CONSENT: "You want to be asked before this is done.",
    Cue.REMINDER: "You have said this before.",
}


_MAY_STAND_ALONE = re.compile(r"Always |In \w+\.?$")  # "Always in English": of whatever the agent writes
_MAX_LEANING_STEMS = 3  # of words that may only say that the words before them are lasting
_MAX_ASSENT = 3  # words
_MAX_WORK_MESSAGES = 3  # last messages of the agent, which show the present work


class Offline:
    """The offline back-end."""

    name = OFFLINE

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> list[Update]:
        """Return the lasting things said in `messages`, the batch in order.

        Without `skills` the updates have skill None. Retracted wishes are left out, and those that refer to a rule in a
        skill or in `instructions` (the text of the CLAUDE.md or AGENTS.md that the session loads). Wishes that these
        already say are not: `verify` finds the line. A confidence below 0.5 means a learning, not a proposal.
        """
        rules_are_loaded = bool(skills or instructions)
        updates: list[Update] = []
        talk = ProductTalk()
        for i, message in enumerate(messages):
            if message.turn is None:
                continue
            agent = [earlier.text for earlier in messages[:i] if not earlier.by_person]
            heard = find_lasting(message.text, agent)
            reminded = (_with_reminded(one, message.text, heard) for one in heard)
            matches = [one for one in reminded if one and not (rules_are_loaded and refers_to_rule_file(one))]
            if skills:
                practices = (_clearest(one, matches, skills, agent) for one in find_practices(message.text, agent))
                matches += [one for one in practices if one is not None]
                stated = [one for one in find_statements(message.text, agent) if is_about_line(one, skills, agent[-1:])]
                matches += _without_overlaps(stated, matches)
            weighed = [
                one for one in weigh(matches, message.text, agent, alone=not skills) if not is_of_one_place(one, skills)
            ]
            matches = talk.without(
                message.text, [one for one in weighed if not (rules_are_loaded and refers_to_rule_file(one))]
            )
            # With one skill in use, an objection is certainly about its work.
            answered = skills[0] if len(skills) == 1 and agent else None
            updates += [
                _make_update(
                    one,
                    message,
                    agent,
                    skills,
                    answered if is_objection(one, message.text) else None,
                    # An order for good in a turn of its own ends that talk.
                    of_product=requires_something(message.text)
                    or (talk.goes_on and not (one.cue is Cue.LASTING and is_order(one))),
                )
                for one in matches
            ]
        updates = [one for one in updates if not any(_is_begun_by(other, one) for other in updates)]
        standing = without_retracted(updates, messages) if updates else []
        return with_removals(standing, messages, skills) if skills else standing

    def edit(self, update: Update, skill: SkillDoc) -> list[Operation]:
        """Return the operation that replaces the line `update.change` contradicts, or deletes the one taken back.

        None if there is no such line.
        """
        if update.kind is Kind.REMOVE_STEP:
            gone = (removal(words, skill) for words in (update.quote, update.change))
            if found := next(filter(None, gone), None):
                return [found]
        operation = replacement(update.change, skill.text)
        return [operation] if operation else []


def _is_begun_by(whole: Update, part: Update) -> bool:
    """Whether an update begins with all the words of another, whose sentence was joined with the one after it."""
    return (
        whole.turn == part.turn
        and whole.quote != part.quote
        and part.quote in whole.quote
        and whole.change.startswith(part.change.rstrip("."))
    )


def _clearest(match: Match, matches: Sequence[Match], skills: Sequence[SkillDoc], agent: Sequence[str]) -> Match | None:
    """Return the relevant part of a match: all of it, or the first part that is clear on its own."""
    if not _is_relevant(match, matches, skills, agent):
        return None
    clear = (one for one in with_parts(match) if phrase(one).clear and _is_relevant(one, matches, skills, agent))
    return next(clear, match)


def _without_overlaps(found: Sequence[Match], matches: Sequence[Match]) -> list[Match]:
    """Return the matches that overlap neither with each other nor with `matches`."""
    kept: list[Match] = []
    for one in found:
        if not any(one.quote in other.quote or other.quote in one.quote for other in (*matches, *kept)):
            kept.append(one)
    return kept


def skills_by_use(skills: Sequence[SkillDoc], turn: int) -> list[SkillDoc]:
    """Return the skills that a turn can be about, the one used last before it first.

    A skill that was only used later does not count, unless there is no other.
    """
    known = [doc for doc in skills if not doc.used or min(doc.used) <= turn]
    return sorted(known, key=lambda doc: -max((use for use in doc.used if use < turn), default=-1)) or list(skills)


def subject_stems(skill: SkillDoc) -> frozenset[str]:
    """Return the stems of a skill's name and description."""
    return content_stems(f"{skill.name} {read_front(skill.text).description}")


def _is_relevant(match: Match, matches: Sequence[Match], skills: Sequence[SkillDoc], agent: Sequence[str]) -> bool:
    """Whether words without a lasting cue are about a skill in use, or correct a line of it."""
    if any(match.quote in one.quote for one in matches):
        return False
    change = phrase(match).text
    if match.demands and not any(is_about_output(match.said, skill) for skill in skills):
        return False
    if match.cue is Cue.PRACTICE and any(_is_about(match, change, skill, skills, agent[-1:]) for skill in skills):
        return True
    for skill in skills:
        old = contradicted_block(change, skill.text)
        if old and not topic_stems(change) - topic_stems(old.text) and chooses_differently(change, old.text):
            return True
    return False


def _is_about(match: Match, change: str, skill: SkillDoc, skills: Sequence[SkillDoc], before: Sequence[str]) -> bool:
    """Whether a match is about the work that `skill` guides.

    In another language than the skill's, no words match: then the only skill in use is meant, as in an answer to the
    agent's last message.
    """
    if is_only_of_git(match, change, skill):
        return False
    opening = skill.text[:_OPENING_CHARACTERS]
    translated = is_other_language(change, opening) or match.language not in likely_languages(opening)
    refused = refused_part(change) if match.cue is Cue.PRACTICE and not translated else ""
    if refused and not stems(refused) & stems(skill.text):
        return False  # "the red one, not the blue one" refuses nothing that the skill wants
    if is_related(match, change, skill, before):
        return True
    if len(skills) > 1:
        return False
    if fits_description(change, skill):
        return True
    if before and topic_stems(change) & topic_stems(before[-1]):
        return True
    return translated


def _with_reminded(match: Match, text: str, matches: Sequence[Match]) -> Match | None:
    """Return a match with the clause that it reminds of if it is only a reminder: the one before it, or else after it.

    "Use tabs. I keep telling you". None if there is no such clause, or if it is among the other `matches` itself.
    """
    if match.cue is not Cue.REMINDER or refers_to_rule_file(match):
        return match
    rest = _CUT_WORD.sub(" ", match.language.reminders.sub("\0", match.said))
    if content_stems(rest) - match.language.saying:
        return match
    end = match.start + len(match.quote)
    behind = ((one.start, one.text) for one in clauses(text) if one.start >= end and not one.question)
    start, said = next(iter((*match.before, *behind)), (0, ""))
    if not said or any(one is not match and (one.said in said or said in one.said) for one in matches):
        return None
    quote = text[min(start, match.start) : max(start + len(said), end)]
    return replace(match, quote=quote, said=said, start=min(start, match.start))


def _may_be_of_product(match: Match, change: str, *, of_product: bool) -> bool:
    """Whether what lasts may be what the product does: nothing in it is said to the agent.

    In talk `of_product`, words that say how long an order holds do not say to whom it is given.
    """
    expressly = match.marked or announces_rule(match.quote, match.language) or PROJECT_SCOPE.search(match.quote)
    if match.cue not in _PRODUCT_CUES or expressly or match.of_code:
        return False
    if match.cue is not Cue.ADVERB and not of_product:
        return False
    return not (speaks_to_agent(change, match.language, of_product=of_product) or is_asked_for(match.quote))


def _phrase_in_context(match: Match, message: Message) -> tuple[Match, Phrase]:
    """Return a match with its instruction, joined with the words before it or replaced by them if it needs them."""
    said = phrase(match)
    fragment = is_fragment(said.text)
    if fragment and (both := join_previous(match, message.text)):
        match, said = both, phrase_joined(both)
    elif fragment and not _MAY_STAND_ALONE.match(said.text):
        said = replace(said, clear=False)
    elif (
        not said.clear
        and match.cue in STANDING_CUES
        and (match.cue is not Cue.LASTING or len(stems(said.text)) <= _MAX_LEANING_STEMS)
    ):
        meant = ((one, phrased) for one in with_context(match, message.text) if (phrased := phrase(one)).clear)
        match, said = next(meant, (match, said))
    if not said.clear and (whole := fill_pronoun(said.text, text_before_quote(match.quote, message.text))):
        filled = phrase(replace(match, said=whole))
        said = filled if filled.clear and not is_fragment(filled.text) else said
    if said.clear and not fragment and match.cue is not Cue.LIKELY and (both := join_previous(match, message.text)):
        lacks_subject = fill_pronoun(said.text, text_before_quote(match.quote, message.text)) is None
        match, said = (both, phrase_joined(both)) if lacks_subject else (match, said)
    return match, said


def _make_update(
    match: Match,
    message: Message,
    agent: Sequence[str],
    skills: Sequence[SkillDoc],
    answered: SkillDoc | None,
    *,
    of_product: bool,
) -> Update:
    match, said = _phrase_in_context(match, message)
    if skills and not said.clear and match.cue is Cue.LIKELY and not tells_of_agent(match.quote):
        match, said = _as_said(match, said, message.text)
    last = _MAX_WORK_MESSAGES if len(skills) == 1 else 1
    quote = match.quote.replace("-", " ").lower()
    named = [doc for doc in skills if doc.name.replace("-", " ").lower() in quote]
    in_use = sorted(skills_by_use(skills, message.turn or 0), key=lambda doc: not is_about(quote, subject_stems(doc)))
    if answered and is_only_of_git(match, said.text, answered):
        answered = None
    skill = next((doc for doc in named or in_use if _is_about(match, said.text, doc, skills, agent[-last:])), answered)
    wish = message.text[match.start :]
    skill = skill or next((doc for doc in in_use if extends_to_subject(said.text, wish, doc)), None)
    target = skill or (in_use[0] if in_use else None)
    around = "\n".join([message.text, *agent[-1:]])
    confidence = match.strength if said.clear else min(match.strength, _UNCLEAR_CONFIDENCE)
    # With a skill, which shows what is meant, only beside a requirement, and not what is said "from now on".
    doubtful = not target or (of_product and match.cue is not Cue.LASTING)
    if doubtful and _may_be_of_product(match, said.text, of_product=of_product):
        confidence = min(confidence, UNRELATED_CONFIDENCE)
    if match.cue is Cue.LIKELY and not skill and match.likelihood < LIKELY_ALONE:
        confidence = min(confidence, UNRELATED_CONFIDENCE)
    if target and not skill and not PROJECT_SCOPE.search(match.quote):  # project rules go to other files
        confidence = min(confidence, UNRELATED_CONFIDENCE)
    return Update(
        skill=target.number if target else None,
        section=section_for(match.quote, said.text, target.text, around).heading if target else "",
        change=said.text if _GAP.search(match.quote) else _GAP.sub(",", said.text),
        reason=_REASONS[match.cue],
        kind=_update_kind(match, said.text, target),
        turn=message.turn or 0,
        quote=match.quote,
        confidence=confidence,
    )


def _as_said(match: Match, said: Phrase, text: str) -> tuple[Match, Phrase]:
    """Return what is likely but cannot become an instruction in its own words, after those that it points back to.

    "The totals please. to the cent, I paste them next to theirs". Not after a mere "yes, like that", and not what only
    says when: "before we start".
    """
    if not points_back(match.quote):
        return match, said if is_fragment(said.text) else phrase_joined(replace(match, said=match.quote))
    both = join_previous(match, text)
    before = both.quote.removesuffix(match.quote).lower().replace(",", " ").split() if both else []
    is_assent = len(before) <= _MAX_ASSENT and not OPENERS.isdisjoint(before[:1])
    return (match, said) if both is None or is_assent else (both, phrase_joined(both))


def _update_kind(match: Match, change: str, target: SkillDoc | None) -> Kind:
    if target and replacement(change, target.text):
        return Kind.CHANGE_STEP
    if match.cue in {Cue.STOP, Cue.REMINDER, Cue.CONSENT, Cue.CONDUCT, Cue.CORRECTION, Cue.TAKEN_UP}:
        return Kind.CORRECTION
    if match.cue is Cue.MEMORY:
        return Kind.ADD_STEP
    return Kind.FACT if match.cue is Cue.CONVENTION else Kind.PREFERENCE
