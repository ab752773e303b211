"""Whether what was said belongs to a skill: by shared words, words of one family, or the skill's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from skilld.classify.contradiction import (
    contradicted_block,
)
from skilld.classify.offline.choices import NEAR, TOPICS, choices
from skilld.classify.offline.detector import Match
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.sections import BlockKind, front_matter, sections
from skilld.skills.spec import read_front
from skilld.types import SkillDoc
from skilld.words import content_stems, has_negation, stems

_GIT = stems(TOPICS["git"])
FAMILIES = tuple(map(stems, NEAR))
WEAK_STEMS = stems(TOPICS["weak"])
_SKILL_MENTION = re.compile(r"\b(?:th(?:e|is)|your|our|in) (?:\w+ )?skill\b|\bto (?:the )?skill\b", re.IGNORECASE)
_RULE_FILE = re.compile(r"\b(?:claude|agents?|gemini|skill|conventions)\.md\b|\.mdc\b", re.IGNORECASE)
_FILE_REFERENCE = re.compile(
    r"\b(?:as (?:is )?(?:per|specified|stated|described|required|documented|written)|according to|per)(?: by| in)?"
    r" (?:the |our |your )?@?[\w./-]+\.mdc?\b",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"\b(?:from|since|between|out of|based on|of)\b[^.,;:]*", re.IGNORECASE)  # of what a skill makes
_PULL_REQUEST = re.compile(r"\b(?:pull|merge) requests?\b|(?<![a-z])PR(?:['\u2019]?s)?(?![a-z])", re.IGNORECASE)
# When a rule holds, which may be before a commit, whatever it is about.
_OCCASION = re.compile(
    r"\b(?:before|after|when(?:ever)?|once|until|vor|nach|bevor|avant|apr[èe]s|antes|despu[ée]s|depois|prima|dopo|voor|na)"
    r" [^,;.]*",
    re.IGNORECASE,
)
# The beginning of a turn that objects to what the agent just did by the skill.
_OBJECTION = re.compile(
    r"^\W*(?:(?:no|nope|nah|stop|wrong|nein|non|não|нет|нє|ne|nie)\b(?![-\s]+(?:problem|worries|need|idea|one|longer)\b)"
    r"|不[，,!。\s]|不是|不对|别|いや|いいえ|違|아니)",
    re.IGNORECASE,
)
# What a sentence after a wish extends it to: "Applies to all figures.", "No background, in any chart."
_SCOPE = re.compile(
    r"\b(?:in|for|to|on|with) (?:all|any|every|each) (?:(?:the|our|my|new|other) )?(?P<things>[\w-]+)[.!;\s]*$",
    re.IGNORECASE,
)
_EXTENDING = stems("applies goes holds counts means same rule")
_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]?")
_MAX_SENTENCES = 3  # the wish's own, and two more
_MAX_SCOPED = 300  # characters
_MIN_COMMON_STEMS = 2
_GIT_SHARE = 0.25  # of the words of a rule that is about git
_MAX_LINES_WITH_WORD = 2  # a word in more lines is a technical term of the skill
_MAX_RULE_LENGTH = 400  # characters: a longer block is more than one rule
_SUBJECT_WORDS = 4  # at the beginning of a clause
_ROOT_LETTERS = 6  # words with the same first letters match across endings and languages ("commituj", "commits")


def is_related(match: Match, change: str, skill: SkillDoc, before: Sequence[str] = ()) -> bool:
    """Whether `change` belongs to `skill`: it shares a topic word or a family with it, or names it.

    `before` are the agent's messages just before: words about work that the skill guides belong to the skill too.
    """
    if _names(match, skill):
        return True
    text = _prose_text(skill)
    known = stems(f"{skill.name} {text}")
    asked = stems(change)
    if _shares_topic(asked, known) or choices(change).keys() & choices(text).keys():
        return True
    # Words right after work that the skill guides are about that work.
    return len(stems(" ".join(before)) & known - WEAK_STEMS) >= _MIN_COMMON_STEMS


def _names(match: Match, skill: SkillDoc) -> bool:
    return bool(_SKILL_MENTION.search(match.quote)) or skill.name.replace("-", " ").lower() in match.quote.lower()


def is_only_of_git(match: Match, change: str, skill: SkillDoc) -> bool:
    """Whether `change` is about git, and `skill` is not, though it may mention a commit: "always sign commits".

    A skill is about git if its name says so, its description has two such words, or it or a heading has that of the
    rule, except for what it is made from ("release notes from merged PRs"). A rule is about the skill too if it
    contradicts a line or shares two words with it, or one with a line that is about git itself ("commit and push"), or
    one that is in several lines.
    """
    asked, of_git = _stems_with_pr(change), _stems_with_pr(_OCCASION.sub(" ", change)) & _GIT
    if len(of_git) < _GIT_SHARE * len(asked) or not of_git or _names(match, skill):
        return False
    title, *others = [section.heading for section in sections(skill.text) if section.heading] or [""]
    description = _SOURCE.sub(" ", read_front(skill.text).description)
    subject = _stems_with_pr(f"{skill.name} {title} {description}")
    own = len(_GIT & subject) >= _MIN_COMMON_STEMS or _GIT & stems(skill.name)
    if own or of_git & (subject | _stems_with_pr(" ".join(others))) or _shares_word(asked - _GIT, subject):
        return False
    lines = [*map(_stems_with_pr, _rules(skill.text))]
    terms = (word for word in asked - _GIT if sum(word in line for line in lines) >= _MIN_COMMON_STEMS)
    return (
        not any(terms)
        and contradicted_block(change, skill.text) is None
        and not any(
            len(asked & line) >= _MIN_COMMON_STEMS or (of_git & line and 2 * len(line & _GIT) >= len(line))
            for line in lines
        )
    )


def _stems_with_pr(text: str) -> frozenset[str]:
    return stems(_PULL_REQUEST.sub(" pr ", text)) - WEAK_STEMS


def is_about_line(match: Match, skills: Sequence[SkillDoc], before: Sequence[str]) -> bool:
    """Whether the words reject or extend a line of a skill: they share a word that few lines of the skill have.

    A mere negation must share another word with the line, since it is often about the present task; and words of duty
    must share one with the agent's last message, `before`.
    """
    said, agent = stems(match.quote) - WEAK_STEMS, stems(" ".join(before))
    unwanted = bool(match.language.dissent.search(match.quote))
    denied, obliged = has_negation(match.quote), bool(match.language.duties.search(match.quote))
    if not (unwanted or denied or obliged):
        return False
    for lines in (_rule_stems(skill.text) for skill in skills):
        own = {stem for stem in said if 0 < sum(stem in line for line in lines) <= _MAX_LINES_WITH_WORD}
        for line in lines:
            if own & line and (unwanted or (denied and len(said & line) > 1) or (obliged and own & line & agent)):
                return True
    return False


@lru_cache(maxsize=8)
def _rule_stems(text: str) -> tuple[frozenset[str], ...]:
    """Return the stems of each block of a skill that may be a rule."""
    return tuple(map(stems, _rules(text)))


def _rules(text: str) -> tuple[str, ...]:
    return tuple(
        block.text
        for section in sections(text)
        for block in section.blocks
        if block.kind is not BlockKind.OTHER and len(block.text) <= _MAX_RULE_LENGTH
    )


def fits_description(change: str, skill: SkillDoc) -> bool:
    """Whether `change` is related to the description of `skill`."""
    return _shares_topic(stems(change), stems(front_matter(skill.text)))


def extends_to_subject(change: str, text: str, skill: SkillDoc) -> bool:
    """Whether a sentence after a wish, which begins `text`, only extends `change` to all that `skill` is about."""
    subject = stems(f"{skill.name} {read_front(skill.text).description}") - WEAK_STEMS
    for sentence in _SENTENCE.findall(text[:_MAX_SCOPED])[:_MAX_SENTENCES]:
        scope = _SCOPE.search(sentence)
        if scope and stems(scope["things"]) & subject:
            return not content_stems(sentence[: scope.start()]) - content_stems(change) - _EXTENDING
    return False


def is_about_output(said: str, skill: SkillDoc) -> bool:
    """Whether the subject at the beginning of `said` is what `skill` produces, according to its name."""
    about = stems(" ".join(said.split()[:_SUBJECT_WORDS])) - WEAK_STEMS
    return bool(about & stems(skill.name.replace("-", " ")))


def is_objection(match: Match, turn: str) -> bool:
    """Whether a match is in the first line of a turn that begins by objecting to what the agent just did."""
    return bool(_OBJECTION.match(turn)) and "\n" not in turn[: match.start].strip()


def refers_to_rule_file(match: Match) -> bool:
    """Whether the person refers to an existing rule by its file, so that there is nothing to write down."""
    return bool(_FILE_REFERENCE.search(match.quote) or (match.cue is Cue.REMINDER and _RULE_FILE.search(match.quote)))


def _shares_topic(asked: frozenset[str], known: frozenset[str]) -> bool:
    near = (asked & family and len(known & family) >= _MIN_COMMON_STEMS for family in FAMILIES)
    return _shares_word(asked, known) or any(near)


def _shares_word(asked: frozenset[str], known: frozenset[str]) -> bool:
    roots = {stem[:_ROOT_LETTERS] for stem in known - WEAK_STEMS if len(stem) >= _ROOT_LETTERS}
    alike = (stem[:_ROOT_LETTERS] in roots for stem in asked - WEAK_STEMS if len(stem) >= _ROOT_LETTERS)
    return bool(asked & known - WEAK_STEMS) or any(alike)


def _prose_text(skill: SkillDoc) -> str:
    return "\n".join(
        f"{section.heading}\n" + "\n".join(block.text for block in section.blocks if block.kind is not BlockKind.OTHER)
        for section in sections(skill.text)
    )
