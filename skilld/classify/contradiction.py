"""Whether two instructions cannot both hold, and which block of a skill an instruction contradicts. Pure.

Words are compared as stems. Contradictions are different members of a choice, different numbers for one measure, and
opposite polarity.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skilld.classify.offline.choices import (
    DISTINCTIVE_CHOICES,
    TOPIC_NUMBERS,
    WORD,
    changed_choice,
    choices,
    chosen_part,
    described_stems,
    refused_part,
    with_usual_names,
)
from skilld.classify.offline.sections import BlockKind, ProseBlock, sections
from skilld.classify.opposition import AT_WILL, MAX_CHANGE, bans, excepts, opposes, rests
from skilld.words import NUMBER_WORDS, content_stems, has_negation, numbers_by_unit, stem
from skilld.words import stems as stems_of

_SAME_TOPIC = 0.5  # share of the shorter rule's stems from which two rules have the same topic
# Cached, since each line is compared with many instructions: a merge of two long skills took 9.3 s, now 2.0 s.
stems = lru_cache(maxsize=4096)(stems_of)
PLAIN_VERBS = stems(
    "use write put make keep do add give take have be set goes comes belongs nimm nehmen nutze benutze verwende usa"
    " usar usamos usiamo utilise utilisez utilisons utiliza utilizza gebruik gebruiken"
)
_HANDLING = stems(
    "install add package packages dependency dependencies module requirements txt run command project repository code"
    " everything always never set save most least under up only prefer instead standard"
    " against store stored everywhere kept indent"
)
_REASON = re.compile(r",\s|\s(?:because|so that|since|as)\s|;")
_PLACE = re.compile(
    r"\b(?:in|inside|within|during|when(?:ever)?|if|while) (?!each\b|every\b|all\b|any\b)"
    r"(?P<place>(?:(?!\b(?:and|or|but|not|use)\b)[^,;.:])+)",
    re.IGNORECASE,
)
_NUMBERS = stems(" ".join(NUMBER_WORDS.values()))
_CODE = re.compile(r"`[^`]*`")
_NO = re.compile(r"\b(?:do not|don['\u2019]t|never|not|no longer|any ?more|no|avoid)\b", re.IGNORECASE)
_LEAVE = re.compile(AT_WILL, re.IGNORECASE)
_ANY_RULE = frozenset(("always", "alway", "a", "an", "the", "any", "do", "be"))
# The scope of a rule that is meant for all work; such a rule says the same without it.
OWN_PROJECTS = (
    r"(?:in|for|across|within|on) (?:(?:all|every one|each|any(?: one)?)(?: of)? my (?:own |other )?(?:projects?|repos?"
    r"|repositor\w+)|any (?:project|repo(?:sitory)?))|wherever i work"
    r"|(?:in|für|bei) (?:(?:allen?|jede[mns]|keine[mns]) mein(?:e[nrs]?) (?:projekten?|repos)|(?:jede|keine)[mns] "
    r"(?:projekt|repo))"
)
# Words for a rule's scope, and requests for it: "no any in this codebase pls, ever" is "no `any`".
REACH = re.compile(
    r"\b(?:pls|plz|please|ever|at all|(?:any|every)where(?: near)?|here|"
    r"(?:in|within|across) (?:this|the|our|my) (?:code ?base|repo(?:sitory)?|project|code|team))\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}|[^\W\d_]{4,}")  # the prose of a rule: a line of code alone is a command
_MIN_SHARE = 0.75  # share of a rule's own words from which two rules have the same subject
_MIN_SHARED = 3  # stems: rules of opposite polarity must share so many to contradict each other
_MAX_LENGTH = 400  # characters: a longer block is more than one rule


def contradicted_block(change: str, text: str) -> ProseBlock | None:
    """Return the block of the skill `text` that `change` contradicts, the most similar one, or None."""
    best: tuple[float, ProseBlock] | None = None
    if len(change) > MAX_CHANGE:
        return None
    for section in sections(text):
        for block in section.blocks:
            if block.kind is BlockKind.OTHER or len(block.text) > _MAX_LENGTH:
                continue
            likeness = _likeness(change, block.text)
            alike = likeness >= _SAME_TOPIC or _refuses_all(change, block.text)
            if alike and contradicts(change, block.text) and (best is None or likeness > best[0]):
                best = (likeness, block)
    return best[1] if best else None


def contradicts(change: str, other: str) -> bool:
    """Whether two instructions are about the same thing and cannot both hold."""
    if max(len(change), len(other)) > MAX_CHANGE:
        return False
    if _swaps_choices(change, other) or _refuses_all(change, other):
        return True
    if _likeness(change, other) < _SAME_TOPIC:
        return False
    if _is_opposite(change, other):
        return True
    if chooses_differently(change, other) and not _has_own_topic_each(change, other):
        return True
    shared = len(topic_stems(change) & topic_stems(other))
    if has_negation(change) == has_negation(other) or shared < _MIN_SHARED or _likeness(change, other) == _SAME_TOPIC:
        return False
    ban, order = (change, other) if has_negation(change) else (other, change)
    return not _topic_words(ban) - _topic_words(
        order
    )  # "never log it with the card number" is an exception of "log it"


def contradicts_clearly(change: str, other: str) -> bool:
    """Whether two instructions cannot both hold, and have no topic of their own.

    "Rebase your own branch" and "never rebase shared branches" are compatible, and so are a rule and its exception.
    Strict, for contradictions shown to a person, who loses trust with each false one.
    """
    refuses = _refuses_all(change, other) or _refuses_choice(change, other) or _refuses_choice(other, change)
    pairs = ((change, other), (other, change)) if stems(change) & stems(other) else ()
    forbids = any(bans(rest, order) for rule, order in pairs for rest in rests(rule, order))
    if opposes(change, other) or forbids or refuses:
        return not excepts(change, other)
    if not contradicts(change, other) or excepts(change, other):
        return False
    if _is_opposite(change, other):
        return True
    outright = chooses_differently(change, other) or _swaps_choices(change, other)
    if outright and stems(refused_part(change)) & stems(other):  # "use X, never Y" is about any line that says Y
        return True
    if not _WORDS.search(_CODE.sub("", other)):
        return False
    mine, theirs = _topic_words(change), _topic_words(other)
    apart, shared = min(len(mine - theirs), len(theirs - mine)), len(mine & theirs)
    if apart and (shared < _MIN_SHARED or shared < _MIN_SHARE * (shared + apart)):
        return False
    if outright:
        return bool(mine & theirs) or not mine ^ theirs
    narrower, wider = (change, other) if mine - theirs else (other, change)
    exception = not apart and mine != theirs and has_negation(narrower) and not has_negation(wider)
    return not exception and not changed_choice(change, other)


def _topic_words(text: str) -> frozenset[str]:
    """Return the stems of a rule's topic, without choices, measures, words of using tools, and its reason."""
    rule = _REASON.split(text, maxsplit=1)[0]
    units = stems(" ".join(unit for unit in numbers_by_unit(text) if unit))
    return (
        frozenset(stem for stem in topic_stems(rule) if not stem.startswith("choice ")) - units - _HANDLING - _NUMBERS
    )


def _has_own_topic_each(change: str, other: str) -> bool:
    """Whether both name something that the other does not, so that both can hold: "in Python", "in SQL"."""
    mine, theirs = _topic_words(change), _topic_words(other)
    described = described_stems(change, other) | described_stems(other, change)
    return bool(mine - theirs - described) and bool(theirs - mine - described)


def is_exception(change: str, other: str) -> bool:
    """Whether a rule holds only at a place or time that another one does not name: "use pnpm in CI", "use npm"."""
    if _PLACE.search(REACH.sub(" ", other)):
        return False
    known = stems(other) | _HANDLING | PLAIN_VERBS | described_stems(change, other) | described_stems(other, change)
    members = frozenset().union(*(stems(word) for words in choices(change).values() for word in words))
    places = (found["place"] for found in _PLACE.finditer(REACH.sub(" ", chosen_part(change))))
    return any(content_stems(place) - known - members for place in places)


def chooses_differently(change: str, other: str) -> bool:
    """Whether two texts choose different members of a choice, or give different numbers for a measure ("under 60")."""
    if max(len(change), len(other)) > MAX_CHANGE:
        return False
    mine, theirs = numbers_by_unit(change), numbers_by_unit(other)
    both_choose = not has_negation(chosen_part(change)) and not has_negation(chosen_part(other))
    chosen = changed_choice(change, other) and both_choose and not _differ_in_scope(change, other)
    return chosen or any(mine[unit] != theirs[unit] for unit in mine.keys() & theirs.keys())


def differs_only_in_number(change: str, other: str) -> bool:
    """Whether two rules on the same thing differ in a number for a measure, and in no choice."""
    mine, theirs = numbers_by_unit(change), numbers_by_unit(other)
    differs = any(mine[unit] != theirs[unit] for unit in mine.keys() & theirs.keys())
    return differs and not changed_choice(change, other) and len(_topic_words(change) - _topic_words(other)) <= 1


def _swaps_choices(change: str, other: str) -> bool:
    """Whether one says "use X, not Y" and the other "use Y, not X", about the same things."""
    mine, theirs = stems(refused_part(change)), stems(refused_part(other))
    if not mine or not theirs:
        return False
    chosen, others_choice = (stems(chosen_part(text)) for text in (change, other))
    if not mine & others_choice or not theirs & chosen or _differ_in_scope(change, other):
        return False
    about, other_about = chosen - theirs - PLAIN_VERBS, others_choice - mine - PLAIN_VERBS
    return not (about - other_about and other_about - about)


def _refuses_all(change: str, other: str) -> bool:
    """Whether one says "use X, not Y" and the other asks for Y, alone or for what the first is about."""
    return any(asks_for_refused(one, two) for one, two in ((change, other), (other, change)))


def asks_for_refused(order: str, rule: str) -> bool:
    """Whether an order asks for what a rule refuses: "use cursors, not pages" beside "use offsets, not cursors"."""
    refused, chosen = stems(refused_part(rule)) - PLAIN_VERBS, chosen_part(order)
    if not refused or has_negation(chosen) or _differ_in_scope(order, rule):
        return False
    return refused <= stems(chosen) - PLAIN_VERBS <= refused | stems(rule)


def _refuses_choice(rule: str, order: str) -> bool:
    """Whether a rule says "at the end, not first" and an order for the same thing says "first"."""
    refused = refused_part(rule).lower().strip(" .!")
    if not refused or refused not in order.lower() or has_negation(order):
        return False
    if not any(refused in words for words in choices(order).values()):
        return False
    mine, theirs = _topic_words(rule), _topic_words(order)
    return bool(mine & theirs) and max(len(mine - theirs), len(theirs - mine)) <= 1


def _is_opposite(change: str, other: str) -> bool:
    """Whether parts of two rules have the same words except for a negation: "never use tabs" and "use tabs"."""
    return any(_is_negated(one, two) for one in rests(change, other) for two in rests(other, change))


def _is_negated(change: str, other: str) -> bool:
    if has_negation(change) == has_negation(other) or chosen_part(change) != change or chosen_part(other) != other:
        return False
    mine, theirs = (_words_without_negation(_REASON.split(text, maxsplit=1)[0]) for text in (change, other))
    if mine == theirs:
        return bool(stems(" ".join(mine)))
    told = stems(" ".join(mine))  # "we don't write tests first any more" and "tests first"
    return len(told) > 1 and told == stems(" ".join(theirs))


def _words_without_negation(text: str) -> frozenset[str]:
    """Return the stems of a rule without its negation, its scope and words that any rule may have."""
    words = WORD.findall(_NO.sub(" ", _LEAVE.sub(" ", REACH.sub(" ", text))).casefold())
    return frozenset(map(stem, words)) - PLAIN_VERBS - _ANY_RULE


def _differ_in_scope(change: str, other: str) -> bool:
    """Whether both name different scopes after the refused part: "not spaces in Go", "not tabs in Python"."""
    mine = stems(change) - stems(chosen_part(change)) - stems(chosen_part(other))
    theirs = stems(other) - stems(chosen_part(other)) - stems(chosen_part(change))
    return bool(mine - theirs) and bool(theirs - mine)


def replace_numbers(change: str, line: str) -> str:
    """Return `line` with the numbers of `change`, measure by measure."""
    if max(len(change), len(line)) > MAX_CHANGE:
        return line
    mine, theirs = numbers_by_unit(change), numbers_by_unit(line)
    for unit in mine.keys() & theirs.keys():
        line = re.sub(rf"(?<![\d.]){theirs[unit]}(?![\d.])", mine[unit], line)
    return line


@lru_cache(maxsize=4096)
def topic_stems(text: str) -> frozenset[str]:
    """Return the stems of `text` without numbers; members of a distinctive choice are one stem, others are dropped."""
    text = with_usual_names(text)
    made_one = choices(text)
    members = frozenset().union(*(stems(word) for words in made_one.values() for word in words))
    plain = {stem for stem in stems(chosen_part(text)) - members if not stem[0].isdigit()}
    about = plain | {f"choice {TOPIC_NUMBERS[number]}" for number in made_one if number < DISTINCTIVE_CHOICES}
    return frozenset(about - PLAIN_VERBS or about)


def _likeness(change: str, line: str) -> float:
    mine, theirs = topic_stems(change), topic_stems(line)
    shared = len(mine & theirs)
    least = min(len(mine), len(theirs))
    if shared == 0 or (shared == 1 and least > 1):
        return 0.0
    return shared / least
