"""Whether two instructions cannot both hold, and which block of a skill an instruction contradicts.

Pure. Words are compared as stems: another of two choices, another number of one measure, yes where the other says no.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skilld.classify.offline.choices import TELLING, WORD, changed_choice, choices, chosen_part, turned_down
from skilld.classify.offline.sections import Block, Lines, sections
from skilld.words import SPELLED, denies, measures, stem
from skilld.words import stems as stems_of

_SAME_TOPIC = 0.5  # share of the shorter side's stems that make two rules about one thing
# The lines of one text are compared with each of many instructions: 9.3 s became 2.0 s in a merge of two long skills.
stems = lru_cache(maxsize=4096)(stems_of)
PLAIN_VERBS = stems("use write put make keep do add give take have be set")
_HANDLING = stems(
    "install add package packages dependency dependencies module requirements txt run command project repository code"
    " everything always never set save most least under up only prefer instead standard"
)
_REASON = re.compile(r",\s|\s(?:because|so that|since|as)\s|;")
_NUMBERS = stems(" ".join(SPELLED.values()))
_CODE = re.compile(r"`[^`]*`")
_NO = re.compile(r"\b(?:do not|don['\u2019]t|never|not|no longer|any ?more|no|avoid)\b", re.IGNORECASE)
_ANY_RULE = frozenset(("always", "alway", "a", "an", "the", "any", "do", "be"))
# How far a rule reaches, and the asking for it: "no any in this codebase pls, ever" is "no `any`".
REACH = re.compile(
    r"\b(?:pls|plz|please|ever|at all|(?:any|every)where(?: near)?|here|"
    r"(?:in|within|across) (?:this|the|our|my) (?:code ?base|repo(?:sitory)?|project|code|team))\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:without|unless|until|except|but|if|when|while|where|before|after)\b")
_WORDS = re.compile(r"[^\W\d_]{2,} [^\W\d_]{2,}|[^\W\d_]{4,}")  # of a rule: a line of mere code is a command
_MOSTLY = 0.75  # share of a rule's own words from which one that is another's is no other subject
_MANY_SHARED = 3  # stems: yes against no is a contradiction only between rules that share this many
_MAX_LENGTH = 400  # characters: a longer block is no single rule
MAX_CHANGE = 2000  # characters: a longer change is no instruction, and is compared with nothing


def contradicted_block(change: str, text: str) -> Lines | None:
    """Return the block of the skill `text` that `change` contradicts, the nearest in words, or None.

    Contradicted is a rule about the same thing with another number, another of two choices, or yes where it says no.
    """
    best: tuple[float, Lines] | None = None
    if len(change) > MAX_CHANGE:
        return None
    for section in sections(text):
        for block in section.blocks:
            if block.kind is Block.OTHER or len(block.text) > _MAX_LENGTH:
                continue
            likeness = _likeness(change, block.text)
            if likeness >= _SAME_TOPIC and contradicts(change, block.text) and (best is None or likeness > best[0]):
                best = (likeness, block)
    return best[1] if best else None


def contradicts(change: str, other: str) -> bool:
    """Whether two instructions are about the same thing and cannot both hold."""
    if max(len(change), len(other)) > MAX_CHANGE:
        return False
    if _each_turns_down_the_other(change, other):
        return True
    if _likeness(change, other) < _SAME_TOPIC:
        return False
    if _is_opposite(change, other):
        return True
    if contradicts_outright(change, other):
        return True
    shared = len(topic(change) & topic(other))
    return denies(change) != denies(other) and shared >= _MANY_SHARED and _likeness(change, other) > _SAME_TOPIC


def contradicts_plainly(change: str, other: str) -> bool:
    """Whether two instructions cannot both hold, and neither is about something that the other leaves alone.

    "Rebase your own branch" and "never rebase shared branches" stand side by side, so do a rule and its exception: a
    yes to all of a kind, and a no to some of it. For lines that are named to a person, who loses trust by a wrong one.
    """
    if not contradicts(change, other):
        return False
    if _is_opposite(change, other):
        return True
    outright = contradicts_outright(change, other) or _each_turns_down_the_other(change, other)
    if outright and stems(turned_down(change)) & stems(other):  # "use X, never Y": whatever says Y is meant
        return True
    if not _WORDS.search(_CODE.sub("", other)):
        return False
    mine, theirs = _own_words(change), _own_words(other)
    apart, shared = min(len(mine - theirs), len(theirs - mine)), len(mine & theirs)
    if apart and (shared < _MANY_SHARED or shared < _MOSTLY * (shared + apart)):
        return False
    if outright:
        return bool(mine & theirs) or not mine ^ theirs
    narrower, wider = (change, other) if mine - theirs else (other, change)
    exception = not apart and mine != theirs and denies(narrower) and not denies(wider)
    return not exception and not changed_choice(change, other)


def _own_words(text: str) -> frozenset[str]:
    """Return what a rule is about: no choice, measure or word of handling a tool, and none of the reason behind it."""
    rule = _REASON.split(text, maxsplit=1)[0]
    units = stems(" ".join(unit for unit in measures(text) if unit))
    return frozenset(stem for stem in topic(rule) if not stem.startswith("choice ")) - units - _HANDLING - _NUMBERS


def contradicts_outright(change: str, other: str) -> bool:
    """Whether two texts name other members of one choice, or give one measure ("under 60") different numbers."""
    if max(len(change), len(other)) > MAX_CHANGE:
        return False
    mine, theirs = measures(change), measures(other)
    both_choose = not denies(chosen_part(change)) and not denies(chosen_part(other))
    chosen = changed_choice(change, other) and both_choose and not _differ_in_scope(change, other)
    return chosen or any(mine[unit] != theirs[unit] for unit in mine.keys() & theirs.keys())


def _each_turns_down_the_other(change: str, other: str) -> bool:
    """Whether it is "use X, not Y" and "use Y, not X", whatever these are, of the same things."""
    mine, theirs = stems(turned_down(change)), stems(turned_down(other))
    if not mine or not theirs:
        return False
    chosen, others_choice = (stems(chosen_part(text)) for text in (change, other))
    if not mine & others_choice or not theirs & chosen or _differ_in_scope(change, other):
        return False
    about, other_about = chosen - theirs - PLAIN_VERBS, others_choice - mine - PLAIN_VERBS
    return not (about - other_about and other_about - about)


def _is_opposite(change: str, other: str) -> bool:
    """Whether two rules are the same words with a no in one of them: "never use tabs" and "use tabs"."""
    if denies(change) == denies(other) or chosen_part(change) != change or chosen_part(other) != other:
        return False
    mine, theirs = (_but_for_no(_REASON.split(text, maxsplit=1)[0]) for text in (change, other))
    if mine == theirs:
        return bool(stems(" ".join(mine)))
    told = stems(" ".join(mine))  # "we don't write tests first any more" and "tests first"
    return len(told) > 1 and told == stems(" ".join(theirs))


def _but_for_no(text: str) -> frozenset[str]:
    """Return the words of a rule, stemmed, without its no, how far it reaches and what any rule may have."""
    words = WORD.findall(_NO.sub(" ", REACH.sub(" ", text)).casefold())
    return frozenset(map(stem, words)) - PLAIN_VERBS - _ANY_RULE


def _differ_in_scope(change: str, other: str) -> bool:
    """Whether each says, behind what it turns down, of what it holds: "not spaces in Go", "not tabs in Python"."""
    mine = stems(change) - stems(chosen_part(change)) - stems(chosen_part(other))
    theirs = stems(other) - stems(chosen_part(other)) - stems(chosen_part(change))
    return bool(mine - theirs) and bool(theirs - mine)


def forbids(one: str, other: str) -> bool:
    """Whether `one` says no to all of what `other` asks for: "do not use pnpm", "always use pnpm in this project".

    For two things a person said. Of a line of a file it takes too much for an opposite: "do not apply it on your own"
    would take the place of the step "apply it".
    """
    if not denies(one) or denies(other) or chosen_part(one) != one:
        return False
    refused = stems(_NO.sub(" ", one))
    conditions, others_conditions = (set(_CONDITION.findall(text.lower())) for text in (one, other))
    return len(refused) > 1 and refused <= stems(other) and conditions <= others_conditions


def renumbered(change: str, line: str) -> str:
    """Return `line` with the numbers of `change` in place of its own, measure by measure."""
    if max(len(change), len(line)) > MAX_CHANGE:
        return line
    mine, theirs = measures(change), measures(line)
    for unit in mine.keys() & theirs.keys():
        line = re.sub(rf"(?<![\d.]){theirs[unit]}(?![\d.])", mine[unit], line)
    return line


@lru_cache(maxsize=4096)
def topic(text: str) -> frozenset[str]:
    """Return the stems of `text` without numbers, with all members of a telling choice made one, and no others."""
    made_one = choices(text)
    members = frozenset().union(*(stems(word) for words in made_one.values() for word in words))
    plain = {stem for stem in stems(chosen_part(text)) - members if not stem[0].isdigit()}
    about = plain | {f"choice {number}" for number in made_one if number < TELLING}
    return frozenset(about - PLAIN_VERBS or about)


def _likeness(change: str, line: str) -> float:
    mine, theirs = topic(change), topic(line)
    shared = len(mine & theirs)
    least = min(len(mine), len(theirs))
    if shared == 0 or (shared == 1 and least > 1):
        return 0.0
    return shared / least
