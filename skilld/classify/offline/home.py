"""Where in a skill a change belongs: the section that it fits, and the line that it takes the place of.

A change and the skill's text in; a section, or an operation on the contradicted line out. How a further line is written
into a section is not known here.
"""

from __future__ import annotations

import re

from skilld.classify.offline.choices import swapped
from skilld.classify.offline.said import contradicted, renumbered, topic
from skilld.classify.offline.sections import Block, Lines, Section, body_of, sections
from skilld.text import ended_like
from skilld.types import Op, Operation
from skilld.words import stems

_RULE_HEADING = re.compile(
    r"rule|guideline|convention|style|prefer|note|important|instruction|workflow|step|process|"
    r"practice|tips|do and don|regla|regra|règle|regel|правил|规则|规范|ルール|규칙",
    re.IGNORECASE,
)
_NO_HOME = re.compile(
    r"example|reference|resource|licen[cs]e|changelog|credit|link|see also|further|faq|troubleshoot|output|template|"
    r"overview|description|when to|checklist|requirement|prerequisite|purpose|introduction|about",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\b(?:before|after|then|first|once|when|finally|step)\b", re.IGNORECASE
)  # has its place in an order
_OWN_WORDS = 1  # stems: two rules that each say more than this beyond the other stand side by side


def home(change: str, text: str) -> Section:
    """Return the section of the skill `text` in which `change` fits best."""
    found = sections(text)
    titles = stems(" ".join(section.heading for section in found if section.level == 1))
    wanted = stems(change) - titles

    def fit(section: Section) -> tuple[float, int]:
        score = 3.0 * len(wanted & stems(section.heading)) + len(wanted & stems(section.text))
        items = section.items()
        if items:
            score += 1.5 if _is_plain(items[-1]) else -1.5 * (not _STEP.search(change))
        score += 1.5 if _RULE_HEADING.search(section.heading) else 0.0
        score -= 4.0 if _NO_HOME.search(section.heading) else 0.0
        score -= 2.0 if not section.blocks else 0.0
        return score, section.line

    return max(found, key=fit)


def _is_plain(item: Lines) -> bool:
    return not item.marker[0].isdigit() and "[" not in item.gap


def replacement(change: str, text: str) -> Operation | None:
    """Return the operation that puts `change` in place of the line of the skill `text` that it contradicts.

    None where there is no such line, where it stands there more than once, or where both have more to say. Where the
    old rule says more than the new one but for a choice or a number, only that word of it is changed.
    """
    old = contradicted(change, text)
    if old is None:
        return None
    lines = body_of(text)
    mine, theirs = topic(change), topic(old.text)
    if not _stands_once(old, lines) or len(mine - theirs) > _OWN_WORDS < len(theirs - mine):
        return None
    block = "\n".join(lines[old.first : old.last + 1])
    if theirs - mine and not mine - theirs:
        amended = swapped(change, renumbered(change, block))
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
