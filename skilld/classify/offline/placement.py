"""Where an instruction belongs in a skill: whether it fits at all, and in which section and line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from skilld.classify.contradiction import contradicted_block, replace_numbers, topic_stems
from skilld.classify.offline.choices import TOPICS, choices, swapped
from skilld.classify.offline.detector import Match
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.sections import Block, Lines, Section, body_of, front_of, sections
from skilld.text import ended_like
from skilld.types import Op, Operation, SkillDoc
from skilld.words import content_stems, denies, stems

# Where in a skill a change belongs: the section that it fits, and the line that it takes the place of.
#
# A change and the skill's text in; a section, or an operation on the contradicted line out. How a further line is
# written into a section is not known here.

_RULE_HEADING = re.compile(
    r"rule|guideline|convention|style|prefer|note|important|instruction|workflow|step|process|"
    r"practice|tips|do and don|regla|regra|règle|regel|правил|规则|规范|ルール|규칙",
    re.IGNORECASE,
)
_NO_TARGET = re.compile(
    r"example|reference|resource|licen[cs]e|changelog|credit|link|see also|further|faq|troubleshoot|output|template|"
    r"overview|description|when to|checklist|requirement|prerequisite|purpose|introduction|about",
    re.IGNORECASE,
)
# Items that tell what there is: "`make test` - run the tests".
_CATALOGUE = re.compile(r"\**`[^`]+`\**\s*(?:[-–—:=]|$)")
_NOWHERE = Section("", 0, 0, ())
_STEP = re.compile(
    r"\b(?:before|after|then|first|once|when|finally|step)\b", re.IGNORECASE
)  # has its place in an order
_FURTHER_STEP = re.compile(
    r"\b(?:add|insert|include|append)\b(?: \w+){0,3}? (?:an?|another|one more|the)(?: \w+)? step\b", re.IGNORECASE
)
_STEPS = stems("step")
_GENERAL = re.compile(
    rf"\b\w*(?:{_RULE_HEADING.pattern})\w*|\b(?:general|project|team|house|our|my|coding|code|development|common|other|misc\w*"
    r"|additional|additions|manual|critical|key|core|basic|agents?|assistant|working|user|do|don.?ts?|how we work"
    r"|and|the|of|for|to|in|a|this|these|with|when|here|we|you)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2}")
_WORDS_FIT = 2  # of a rule in a section's text; one in its heading is enough
_OWN_WORDS = 1  # stems: two rules that each say more than this beyond the other stand side by side


def target_section(change: str, text: str) -> Section:
    """Return the section of the skill `text` in which `change` fits best, one without a heading where none does.

    What it has no word in common with takes only what is general: rules, notes, or a list below the title.
    """
    found = sections(text)
    titles = stems(" ".join(section.heading for section in found if section.level == 1))
    wanted = content_stems(change) - titles

    def shared(section: Section) -> float:
        return 3.0 * len(wanted & stems(section.heading)) + len(wanted & stems(section.text))

    def fit(section: Section) -> tuple[float, int]:
        score = shared(section)
        items = section.items()
        if items:
            score += 1.5 if _is_plain(items[-1]) else -1.5 * (not _STEP.search(change))
            score -= 4.0 if _is_catalogue(items) else 0.0
        score += 1.5 if _RULE_HEADING.search(section.heading) else 0.0
        score -= 4.0 if _NO_TARGET.search(section.heading) else 0.0
        score -= 2.0 if all(block.kind is Block.OTHER for block in section.blocks) else 0.0
        return score, section.line

    def fits(section: Section) -> bool:
        named = bool(wanted & stems(section.heading))
        least = min(_WORDS_FIT, len(wanted)) + 4 * (not named and bool(_NO_TARGET.search(section.heading)))
        return shared(section) >= max(1, least) and not _is_catalogue(section.items())

    fitting = [part for part in found if fits(part)] or [part for part in found if _is_general(part)]
    return max(fitting, key=fit) if fitting else _only_list(found)


def asks_for_step(said: str) -> bool:
    """Whether a further step of something is asked for."""
    return bool(_FURTHER_STEP.search(said))


def section_for(said: str, change: str, text: str) -> Section:
    """Return the section for what was said: of a further step the one with numbered steps, else as `target_section`."""
    numbered = [part for part in sections(text) if _is_numbered(part.items())] if asks_for_step(said) else []
    named = [part for part in numbered if stems(part.heading) & stems(said) - _STEPS] or numbered
    return named[0] if len(named) == 1 else target_section(change, text)


def _is_numbered(items: Sequence[Lines]) -> bool:
    return len(items) > 1 and all(item.marker[0].isdigit() for item in items)


def _only_list(found: Sequence[Section]) -> Section:
    """Return the one section that has a plain list of several rules; nowhere where more have one, or none."""
    lists = [
        part
        for part in found
        if len(items := part.items()) > 1
        and all(map(_is_plain, items))
        and not _is_catalogue(items)
        and not _NO_TARGET.search(part.heading)
    ]
    return lists[0] if len(lists) == 1 else _NOWHERE


def _is_general(section: Section) -> bool:
    """Whether a section takes rules about anything: no word of its heading narrows what it is for."""
    if section.level <= 1 and not _RULE_HEADING.search(section.heading):
        return bool(section.items()) and not _is_catalogue(section.items())
    of_rules = bool(_RULE_HEADING.search(section.heading)) and not _NO_TARGET.search(section.heading)
    return of_rules and not _WORD.search(_GENERAL.sub(" ", section.heading))


def _is_catalogue(items: Sequence[Lines]) -> bool:
    return 2 * sum(bool(_CATALOGUE.match(item.text)) for item in items) > len(items)


def _is_plain(item: Lines) -> bool:
    return not item.marker[0].isdigit() and "[" not in item.gap


def replacement(change: str, text: str) -> Operation | None:
    """Return the operation that puts `change` in place of the line of the skill `text` that it contradicts.

    None if there is no such line, if it is there more than once, or if both have more to say. Where the
    old rule says more than the new one but for a choice or a number, only that word of it is changed.
    """
    old = contradicted_block(change, text)
    if old is None:
        return None
    lines = body_of(text)
    mine, theirs = topic_stems(change), topic_stems(old.text)
    if not _stands_once(old, lines) or len(mine - theirs) > _OWN_WORDS < len(theirs - mine):
        return None
    block = "\n".join(lines[old.first : old.last + 1])
    if theirs - mine and not mine - theirs:
        amended = swapped(change, replace_numbers(change, block))
        if amended and amended != block:
            return Operation(Op.REPLACE, block, amended)
    if len(theirs - mine) > len(mine):
        return None
    return Operation(Op.REPLACE, block, _in_place_of(old, change))


def _in_place_of(old: Lines, change: str) -> str:
    if old.kind is Block.PARAGRAPH:
        return change
    return f"{old.indent}{old.marker}{old.gap}{ended_like(change, [old.text])}"


def _stands_once(block: Lines, lines: list[str]) -> bool:
    wanted = lines[block.first : block.last + 1]
    return sum(lines[i : i + len(wanted)] == wanted for i in range(len(lines))) == 1


# Whether an ask has to do with a skill: shared words, words of one family, or the skill named outright.
#
# What was heard and a skill in, yes or no out.

_FAMILIES = tuple(stems(family) for family in TOPICS["near"])
WEAK = stems(TOPICS["weak"])
_NAMED = re.compile(r"\b(?:th(?:e|is)|your|our|in) (?:\w+ )?skill\b|\bto (?:the )?skill\b", re.IGNORECASE)
_RULE_FILE = re.compile(r"\b(?:claude|agents?|gemini|skill|conventions)\.md\b|\.mdc\b", re.IGNORECASE)
_PER_FILE = re.compile(
    r"\b(?:as (?:is )?(?:per|specified|stated|described|required|documented|written)|according to|per)(?: by| in)?"
    r" (?:the |our |your )?@?[\w./-]+\.mdc?\b",
    re.IGNORECASE,
)
# A turn that begins so answers what the agent just did, and it did that by the skill.
_REACTS = re.compile(
    r"^\W*(?:(?:no|nope|nah|stop|wrong|nein|non|não|нет|нє|ne|nie)\b(?![-\s]+(?:problem|worries|need|idea|one|longer)\b)"
    r"|不[，,!。\s]|不是|不对|别|いや|いいえ|違|아니)",
    re.IGNORECASE,
)
_COMMON_SHARE = 2
_FEW_LINES = 2  # that have a word: in more it is a word of the trade
_RULE = 400  # characters: a longer block is no single rule
_SUBJECT_WORDS = 4  # with which a clause begins
_ROOT = 6  # letters that make two words one, across endings and languages ("commituj", "commits")


def related(heard: Match, change: str, skill: SkillDoc, before: Sequence[str] = ()) -> bool:
    """Whether `change` belongs to `skill`: it shares a topic word with it, or a family, or names it.

    `before` is what the agent said just before: what is said of work that the skill guides belongs to the skill too.
    """
    if _NAMED.search(heard.quote) or skill.name.replace("-", " ").lower() in heard.quote.lower():
        return True
    text = _prose(skill)
    known = stems(f"{skill.name} {text}")
    asked = stems(change)
    if _near(asked, known) or choices(change).keys() & choices(text).keys():
        return True
    # What is said right after work that the skill guides is about that work.
    return len(stems(" ".join(before)) & known - WEAK) >= _COMMON_SHARE


def takes_up(heard: Match, skills: Sequence[SkillDoc], before: Sequence[str]) -> bool:
    """Whether what was said is about what a line of a skill says: it has a word that few lines of the skill have.

    It must turn that down. A mere no must have another word of the line, too, since it is as often said of the task at
    hand; and of what should be otherwise the agent, whose last message is `before`, must just have spoken.
    """
    said, agent = stems(heard.quote) - WEAK, stems(" ".join(before))
    unwanted = bool(heard.language.dissent.search(heard.quote))
    denied, obliged = denies(heard.quote), bool(heard.language.duties.search(heard.quote))
    if not (unwanted or denied or obliged):
        return False
    for lines in (_rules(skill.text) for skill in skills):
        own = {stem for stem in said if 0 < sum(stem in line for line in lines) <= _FEW_LINES}
        for line in lines:
            if own & line and (unwanted or (denied and len(said & line) > 1) or (obliged and own & line & agent)):
                return True
    return False


@lru_cache(maxsize=8)
def _rules(text: str) -> tuple[frozenset[str], ...]:
    """Return the stems of each line of a skill that may be a rule."""
    return tuple(
        stems(block.text)
        for section in sections(text)
        for block in section.blocks
        if block.kind is not Block.OTHER and len(block.text) <= _RULE
    )


def described(change: str, skill: SkillDoc) -> bool:
    """Whether `change` has to do with what `skill` says it is for."""
    return _near(stems(change), stems(front_of(skill.text)))


def is_for(said: str, skill: SkillDoc) -> bool:
    """Whether what `said` begins with, what is spoken of, is what `skill` makes, by its name."""
    about = stems(" ".join(said.split()[:_SUBJECT_WORDS])) - WEAK
    return bool(about & stems(skill.name.replace("-", " ")))


_ONE_THING = re.compile(
    r"\W*(?:please |pls )?(?:(?:for|in|on) the|(?:für|auf|bei|in) d(?:en|ie|as|em)|(?:pour|dans|sur) l[ea]"
    r"|(?:para|en) (?:el|la|o)"
    r"|per (?:il|la|lo)|voor (?:de|het)) (?!next|rest|future|other|first|last|nächste|rest)([^\W\d_]{4,})",
    re.IGNORECASE,
)


def is_of_one_thing(heard: Match, skills: Sequence[SkillDoc]) -> bool:
    """Whether what was heard is said for one thing that no skill in use speaks of: "for the printout no links"."""
    named = None if heard.cue in {Cue.LASTING, Cue.MEMORY} else _ONE_THING.match(heard.said)
    return bool(named and skills and not any(_near(stems(named[1]), stems(f"{doc.name} {doc.text}")) for doc in skills))


def reacts(heard: Match, turn: str) -> bool:
    """Whether the ask is in a turn that begins by objecting to what the agent just did, in its first line."""
    return bool(_REACTS.match(turn)) and "\n" not in turn[: heard.start].strip()


def points_to_rule(heard: Match) -> bool:
    """Whether the person points to a rule that exists already, by its file: then there is nothing to write down."""
    return bool(_PER_FILE.search(heard.quote) or (heard.cue is Cue.REMINDER and _RULE_FILE.search(heard.quote)))


def _near(asked: frozenset[str], known: frozenset[str]) -> bool:
    roots = {stem[:_ROOT] for stem in known - WEAK if len(stem) >= _ROOT}
    return (
        bool(asked & known - WEAK)
        or any(stem[:_ROOT] in roots for stem in asked - WEAK if len(stem) >= _ROOT)
        or any(asked & family and len(known & family) >= _COMMON_SHARE for family in _FAMILIES)
    )


def _prose(skill: SkillDoc) -> str:
    return "\n".join(
        f"{section.heading}\n" + "\n".join(block.text for block in section.blocks if block.kind is not Block.OTHER)
        for section in sections(skill.text)
    )
