"""Finds the section of a skill in which an instruction belongs, and the line that it replaces."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from skilld.classify.contradiction import (
    contradicted_block,
    contradicts,
    differs_only_in_number,
    is_exception,
    replace_numbers,
    topic_stems,
)
from skilld.classify.offline.choices import changed_choice, described_stems, swap_choice
from skilld.classify.offline.product import likely_languages
from skilld.classify.offline.relevance import FAMILIES, WEAK_STEMS
from skilld.classify.offline.sections import BlockKind, ProseBlock, Section, body_lines, front_matter, sections
from skilld.classify.opposition import STRETCH
from skilld.markdown.structure import default_title, is_procedure, keeps_meaning, names_subject
from skilld.meanings import ANYTHING, EVERYDAY, field_of, terms
from skilld.text import match_full_stop, split_sentences
from skilld.types import Op, Operation
from skilld.words import content_stems, is_other_language, stems

_RULE_HEADING = re.compile(
    r"rule|guideline|convention|\b(?:style|prefer|notes?\b|step|process(?:es)?\b|tips?\b|do and don)|important|"
    r"instruction|workflow|practice|regla|regra|règle|regel|правил|规则|规范|ルール|규칙",
    re.IGNORECASE,
)
_UNSUITABLE = re.compile(
    r"\b(?:example|reference|resource|licen[cs]e|changelog|credit|link|see also|further|faq|troubleshoot|output|"
    r"template|overview|description|when to|checklist|requirement|prerequisite|purpose|introduction|about|"
    r"architecture|structure|layout|stack|director(?:y|ies)|glossary|environment|commands?\b|setup|install|usage|"
    r"getting started|quick ?start)",
    re.IGNORECASE,
)
# Items that describe what exists, or link to it: "`make test` - run the tests", "`make` builds it",
# "**Jobs** (`app/jobs`): workers", "[Style](docs/style.md)".
_CATALOGUE = re.compile(
    r"\**`[^`]+`\**\s*(?:[-–—:=]|$|(?!(?:always|is|has|does|needs|goes|stays|belongs)\b)[a-z]+s\b)"
    r"|\*\*[^*`]+\*\*\s*\(`[^`]+`\)|\[[^\]]+\]\("
)
_OPENING_CHARACTERS = 2000  # of a file, which show its language
_ENGLISH = "the a of and to is are be in that it with for on not no or when you we this all each always never"
_STYLE_WORD = re.compile(r"\bstyles?\b", re.IGNORECASE)
_WORDING_HEADING = re.compile(r"\s*(?:writing|wording|language|prose|tone|voice|texts?)\s*", re.IGNORECASE)
_WORDING_ORDER = re.compile(
    r"(?:(?:always|never|only|please|do not|don't) )*+(?:write|word|phrase|spell|say|mention|call|name|format|set|quote"
    r"|capitali[sz]e|abbreviate|shorten)\b",
    re.IGNORECASE,
)
_STEP_START = re.compile(r"(?:then|next|first|after|before|finally|lastly|once|when)\b", re.IGNORECASE)
_FURTHER_STEP = re.compile(
    r"\b(?:add|insert|include|append)\b(?: \w+){0,3}? (?:an?|another|one more|the)(?: \w+)? step\b", re.IGNORECASE
)
_STEP_STEMS = stems("step")
_GENERAL_WORD = re.compile(
    rf"\b\w*(?:{_RULE_HEADING.pattern})\w*|\b(?:general|project|team|house|our|my|coding|code|development|common|other|misc\w*"
    r"|additional|additions|manual|critical|key|core|basic|agents?|assistant|working|user|do|don.?ts?|how we work"
    r"|and|the|of|for|to|in|a|this|these|with|when|here|we|you)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2}")
_ORDER = re.compile(r"\b(?:before|after)\b")
_MIN_ROOT = 5  # letters of a stem at the start of a longer one
_HEADING_WEIGHT = 3.0  # of a word in a heading, beside 1 in the text below it
_AROUND_WEIGHT = 0.3  # of a word around a change, or of its trade in a heading
_REASON_START = re.compile(r"\W*(?:because|so that|since|as|for|like|such as|e\.g)\b", re.IGNORECASE)
_MAX_OWN_STEMS = 1  # if each of two rules says more beyond the other, both stay


def new_title(text: str) -> str:
    """Return the heading of a new section in the language of a file."""
    opening = "\n".join(body_lines(text))[:_OPENING_CHARACTERS]
    if not is_other_language(opening, _ENGLISH):
        return default_title("en")
    return default_title(next((one.code for one in likely_languages(opening) if one.code != "en"), "en"))


def is_step(change: str) -> bool:
    """Whether a change begins like a step with its place in a procedure."""
    return bool(_STEP_START.match(change))


def target_section(change: str, text: str, around: str = "") -> Section:
    """Return the section of the skill `text` that fits `change` best, or a new one.

    `around` is what else the person and the agent said; its words count less. Never a section in which the change
    would say the opposite, such as "Don't", nor a list of what there is. If the steps of a procedure fit best and it is
    none, or if nothing shares a word, general rules take it (rules, notes, a list below the title), then the only list
    of rules if no other section could, or if it names what the title does.
    """
    found, is_skill = sections(text), bool(front_matter(text))
    able = [part for part in found if _keeps_meaning(part, change)]
    best = _likest_section(_parts(found), able, change, around)
    if best is not None and _takes(best, change):
        return best
    on_wording = is_skill and bool(_WORDING_ORDER.match(change))
    general = [part for part in able if _takes(part, change) and _is_general(part, on_wording=on_wording)]
    if general:
        return general[-1]
    words = content_stems(change)
    titles = stems(" ".join(section.heading for section in found if section.level == 1))
    has_one_place = len(_suitable_sections(found, change)) <= 1
    only = _single_list_section(able, words - titles, is_skill=is_skill) if has_one_place or words & titles else None
    return only or Section(new_title(text), 0, 0, ())


def _parts(found: Sequence[Section]) -> list[Section]:
    """Return the sections with a subject of their own: not the title, if there is one, nor the text before it."""
    titles = [part for part in found if part.level == 1]
    below = [part for part in found if part.level > 1]
    return below if below and len(titles) <= 1 else titles + below


def _likest_section(parts: Sequence[Section], able: Sequence[Section], change: str, around: str) -> Section | None:
    """Return the section that has most in common with a change, None if none has anything (decision 0096).

    What many sections have counts little, and what stands in a heading most.
    """
    texts = [_topic(part.text) for part in parts]
    headings = [_topic(part.heading) for part in parts]
    shares = Counter(chain.from_iterable(texts))
    wanted = _topic(change)
    further = _topic(around) - wanted
    kept = {part.line for part in able}
    titles = _topic(" ".join(part.heading for part in able if part.level == 1))  # what the whole file is about
    trades = frozenset().union(*(family for family in FAMILIES if wanted & family - WEAK_STEMS)) - wanted

    def weigh(shared: frozenset[str], heading: frozenset[str] = frozenset()) -> float:
        rarity = {one: math.log((len(parts) + 1) / max(1, shares[one])) for one in sorted(shared)}
        return sum(rare * (_HEADING_WEIGHT if one in heading else 1) for one, rare in rarity.items())

    def likeness(at: int) -> tuple[float, bool, int]:
        heading = headings[at] | _named(wanted, headings[at])
        own = weigh(wanted & (texts[at] - titles | heading), heading)
        beside = weigh(further & texts[at] - titles) + weigh(trades & headings[at])
        order = _ORDER.findall(parts[at].heading.lower())
        in_order = bool(order) and order == _ORDER.findall(change.lower())
        score = own + _AROUND_WEIGHT * beside
        return score + 0.5 * (in_order and score > 0), _is_plain_list(parts[at]), at

    def may_take(part: Section) -> bool:
        suits = _named(wanted, _topic(part.heading)) or not _UNSUITABLE.search(part.heading)
        return bool(suits) and not _is_catalogue(part.items()) and part.line in kept

    best = max((at for at, part in enumerate(parts) if may_take(part)), key=likeness, default=None)
    return None if best is None or not likeness(best)[0] else parts[best]


@lru_cache(maxsize=4096)  # one batch asks for the sections of a file several times
def _topic(text: str) -> frozenset[str]:
    """Return the stems of a text and what its things mean in any language, each written like a path: "/commit"."""
    things = {one for term in terms(text) if not term.is_action for one in term.meanings}
    return content_stems(text) | {f"/{one}" for one in things if field_of(one) not in {ANYTHING, EVERYDAY}}


def _takes(section: Section, change: str) -> bool:
    """Whether a change may go into a section: into mere steps only if it is one."""
    return is_step(change) or not _is_procedure(section) or (section.level > 1 and names_subject(section.heading))


def _suitable_sections(found: Sequence[Section], change: str) -> list[Section]:
    """Return the sections below a title that could have rules, by their headings."""
    named = [part for part in found if part.level > 1 and not _UNSUITABLE.search(part.heading)]
    return [part for part in named if _keeps_meaning(part, change)]


def _keeps_meaning(section: Section, change: str) -> bool:
    return keeps_meaning(change, section.heading, [item.text for item in section.items()])


def _named(wanted: frozenset[str], heading: frozenset[str]) -> frozenset[str]:
    """Return the stems that a heading names, also within a longer word: "deploy" in "Deployment"."""
    within = (one for one in wanted for other in heading if len(one) >= _MIN_ROOT and other.startswith(one))
    return wanted & heading | frozenset(within)


def _is_procedure(section: Section) -> bool:
    items = section.items()
    return _is_numbered(items) and is_procedure(section.heading, [item.text for item in items])


def asks_for_step(said: str) -> bool:
    """Whether the person asks for another step."""
    return bool(_FURTHER_STEP.search(said))


def section_for(said: str, change: str, text: str, around: str = "") -> Section:
    """Return the section for what was said: for another step the one with numbered steps, or `target_section`."""
    numbered = [part for part in sections(text) if _is_numbered(part.items())] if asks_for_step(said) else []
    named = [part for part in numbered if stems(part.heading) & stems(said) - _STEP_STEMS] or numbered
    return named[0] if len(named) == 1 else target_section(change, text, around)


def _is_numbered(items: Sequence[ProseBlock]) -> bool:
    return len(items) > 1 and all(item.marker[0].isdigit() for item in items)


def _single_list_section(found: Sequence[Section], wanted: frozenset[str], *, is_skill: bool) -> Section | None:
    """Return the only section with a plain list of several rules, None if there are others.

    In a project's file not one of another kind of work: "Testing" for a rule about request bodies.
    """
    lists = [
        part
        for part in found
        if len(items := part.items()) > 1
        and all(map(_is_plain, items))
        and not _is_catalogue(items)
        and not _UNSUITABLE.search(part.heading)
        and (is_skill or not (_STYLE_WORD.search(part.heading) or _is_of_other_trade(part, wanted)))
    ]
    return lists[0] if len(lists) == 1 else None


def _is_of_other_trade(section: Section, wanted: frozenset[str]) -> bool:
    """Whether the heading names a kind of work that no word of a rule belongs to."""
    trades = [family for family in FAMILIES if stems(section.heading) & family - WEAK_STEMS]
    return bool(trades) and not any(wanted & family for family in trades)


def _is_general(section: Section, *, on_wording: bool) -> bool:
    """Whether a section takes rules about anything: no word of its heading narrows its topic.

    In a skill, "Style" and the like take rules `on_wording` only; a project's "Style" is that of its code.
    """
    if section.level <= 1 and not _RULE_HEADING.search(section.heading):
        return bool(section.items()) and not _is_catalogue(section.items())
    if on_wording and _WORDING_HEADING.fullmatch(section.heading):
        return True
    is_more_than_style = _RULE_HEADING.search(_STYLE_WORD.sub(" ", section.heading))
    return bool(on_wording or is_more_than_style) and _is_of_rules(section)


def _is_of_rules(section: Section) -> bool:
    """Whether no word of a section's heading narrows the topic of its rules."""
    of_rules = bool(_RULE_HEADING.search(section.heading)) and not _UNSUITABLE.search(section.heading)
    return of_rules and not _WORD.search(_GENERAL_WORD.sub(" ", section.heading))


def _is_catalogue(items: Sequence[ProseBlock]) -> bool:
    return 2 * sum(bool(_CATALOGUE.match(item.text)) for item in items) > len(items)


def _is_plain_list(section: Section) -> bool:
    items = section.items()
    return bool(items) and _is_plain(items[-1])


def _is_plain(item: ProseBlock) -> bool:
    return not item.marker[0].isdigit() and "[" not in item.gap


def replacement(change: str, text: str) -> Operation | None:
    """Return the operation that replaces the line of the skill `text` that `change` contradicts.

    None if there is no such line, if it occurs more than once, if both say more than the other, or if the change is an
    exception. What the old line says besides stays: only the choice or number that differs is changed, or only the
    sentence that contradicts.
    """
    old = contradicted_block(change, text)
    if old is None or is_exception(change, old.text):
        return None
    lines = body_lines(text)
    mine, theirs = topic_stems(change), topic_stems(old.text)
    if not _is_unique(old, lines) or len(mine - theirs) > _MAX_OWN_STEMS < len(theirs - mine):
        return None
    block = "\n".join(lines[old.first : old.last + 1])
    noun = described_stems(change, block)
    if noun and theirs - mine - noun:
        return None
    if theirs - mine and not noun and (not mine - theirs or differs_only_in_number(change, old.text)):
        amended = swap_choice(change, replace_numbers(change, block))
        others = (line for at, line in enumerate(lines) if not old.first <= at <= old.last)
        if amended and amended != block and any(changed_choice(change, line) for line in others):
            return None  # "use pnpm, not npm" is about all lines with npm, so it is added as a rule
        twice = amended and stems(amended) < stems(block)  # the line has both choices: "with tabs, never with spaces"
        if amended and amended != block and not twice:
            return Operation(Op.REPLACE, block, amended)
    if _says_more_beside(change, old.text):
        return _replaced_sentence(change, block, f"{old.indent}{old.marker}{old.gap}")
    if len(theirs - mine) > len(mine):
        return None
    return Operation(Op.REPLACE, block, _formatted_like(old, change))


def _says_more_beside(change: str, old: str) -> bool:
    """Whether a stretch of an old rule is about nothing that a change says: "no trailing blanks"."""
    mine = topic_stems(change)
    others = [one for one in STRETCH.split(old)[1:] if content_stems(one) and not _REASON_START.match(one)]
    return any(topic_stems(one).isdisjoint(mine) for one in others)


def _replaced_sentence(change: str, block: str, before: str) -> Operation | None:
    """Return the operation that replaces one of several sentences of a block, the only one that a change contradicts.

    The block begins with the marker `before`.
    """
    said = [one for one in split_sentences(block) if one.strip()]
    against = [one for one in said if contradicts(change, one)]
    if len(said) < 2 or len(against) != 1 or block.count(against[0]) != 1:  # noqa: PLR2004
        return None
    head = before if against[0].startswith(before) else ""
    return Operation(Op.REPLACE, block, block.replace(against[0], f"{head}{change.rstrip('.')}."))


def _formatted_like(old: ProseBlock, change: str) -> str:
    if old.kind is BlockKind.PARAGRAPH:
        return change
    return f"{old.indent}{old.marker}{old.gap}{match_full_stop(change, [old.text])}"


def _is_unique(block: ProseBlock, lines: list[str]) -> bool:
    wanted = lines[block.first : block.last + 1]
    return sum(lines[i : i + len(wanted)] == wanted for i in range(len(lines))) == 1
