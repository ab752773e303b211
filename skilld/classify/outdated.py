"""Whether a rule is outdated by words that give a thing up or put a value in place of one. Pure.

Strict, since it is shown to the person: the words name the thing alone, both numbers, or a value of the same form.
"""

from __future__ import annotations

import re

from skilld.classify.offline.choices import chosen_part
from skilld.classify.opposition import MAX_CHANGE
from skilld.text import split_sentences
from skilld.words import content_stems, has_negation, matching_words, stems

_NAME = r"(?P<name>[^\s,;:]{2,40}(?:\s[^\s,;:]{2,40}){0,2})"
_END = r"(?=[\s.!]*$|[,;:.]\s|\s(?:now|since|for good|jetzt|seit|maintenant|depuis|ahora|ora|adesso|agora|nu|sinds)\b)"
_GIVEN_UP = re.compile(
    rf"""\A(?:
        (?:no|kein\w{{0,2}}|geen)\ {_NAME}\ (?:any\ ?more|any\ longer|mehr|meer)
      |(?:plus\ de|niente\ più|basta|nada\ de|no\ más|chega\ de)\ {_NAME.replace("name", "name2")}
      |(?:the\ |das\ |die\ |der\ )?{_NAME.replace("name", "name3")}\ (?:
          (?:is|are)\ (?:out|gone|dead|history|dropped|retired|abandoned)
          |(?:ist|sind)\ (?:raus|weg|tot|abgeschafft)|(?:est|sont)\ (?:mort|abandonné)\w{{0,2}})
      |(?:we|i)(?:['’]ve|\ have)?\ (?:just\ )?(?:dropped|ditched|abandoned|retired|gave\ up|given\ up|got\ rid\ of
          |moved\ (?:off|away\ from)|stopped\ using|no\ longer\ (?:use|have))\ {_NAME.replace("name", "name4")}
      ){_END}""",
    re.IGNORECASE | re.VERBOSE,
)
_OTHER_NUMBER = re.compile(
    r"(?<![\w.])(?P<new>\d{1,9})\b[^.;\d]{0,40}?,? "
    r"(?:not|instead of|nicht|statt|pas|au lieu de|no|en vez de|non|invece di|não|em vez de|niet|nie)"
    r" (?P<old>\d{1,9})\b",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"\A(?P<subject>[^\s,;:]{2,40}(?: [^\s,;:]{2,40}){0,2}?)"
    r" (?:are|is|sind|ist|heißen|sont|est|son|es|sono|è|são|é|zijn)(?: (?:called|named|written|benannt|appel\w+))?"
    r" `?(?P<value>[\w<>{}.-]{1,40}/[\w<>{}./-]{1,40})`?(?P<rest>.{0,20})",
    re.IGNORECASE,
)
_NOW = re.compile(r"\A[\s,]*(?:now|from now on|jetzt|ab jetzt|maintenant|ahora|ora|agora|nu)\b", re.IGNORECASE)
_MIN_SAME = 0.5  # share of a value's words, from which another one has its form


def is_outdated(rule: str, change: str, quote: str) -> bool:
    """Whether a rule no longer holds after a change, or after the person's words for it."""
    if max(len(rule), len(change), len(quote)) > MAX_CHANGE:
        return False
    return (
        any(_gives_up(part, rule) for part in split_sentences(change))
        or _has_other_number(change, rule)
        or _has_other_value(change, rule)
        or _is_taken_back(rule, change, quote)
    )


def _is_taken_back(rule: str, change: str, quote: str) -> bool:
    """Whether a quote takes a rule back, unless the rule is what the quote became: "drop the ticket from titles"."""
    from skilld.classify.offline.release import releases  # its tables take 0.1 s, and most commands need none

    if content_stems(rule) == content_stems(change) or any(one.lasting for one in releases(rule)):
        return False
    return any(one.lasting and one.is_subject_of(rule) and not one.keeps(rule) for one in releases(quote))


def _gives_up(change: str, rule: str) -> bool:
    """Whether a change begins by giving up what a rule asks for: "structlog is out" beside "use structlog"."""
    found = None if _GIVEN_UP.match(rule) else _GIVEN_UP.match(change)
    name = content_stems(next(filter(None, found.groups()))) if found else frozenset()
    asked = chosen_part(rule)
    return bool(name) and not has_negation(asked) and name <= stems(asked)


def _has_other_number(change: str, rule: str) -> bool:
    """Whether a change refuses the number of a rule on the same thing: "20 per page, not 50"."""
    numbers = set(re.findall(r"(?<![\w.])\d+\b", rule))
    refused = any(one["old"] in numbers and one["new"] not in numbers for one in _OTHER_NUMBER.finditer(change))
    return refused and any(not stem[0].isdigit() for stem in matching_words(content_stems(change), content_stems(rule)))


def _has_other_value(change: str, rule: str) -> bool:
    """Whether both give a pattern for one thing, of the same form or with a word that it is new."""
    mine, theirs = _VALUE.match(change), _VALUE.match(rule)
    if mine is None or theirs is None or stems(mine["subject"]) != stems(theirs["subject"]):
        return False
    words, others = (set(re.findall(r"\w+", one["value"].lower())) for one in (mine, theirs))
    if words == others or re.match(r"\W*\w", theirs["rest"]):
        return False  # the rule says when it holds
    alike = len(words & others) >= _MIN_SAME * min(len(words), len(others)) and not re.match(r" \w", mine["rest"])
    return alike or _NOW.match(mine["rest"]) is not None
