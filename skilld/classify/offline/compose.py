"""One bounded operation that makes a skill say an instruction, in the skill's own list style.

A change and the skill's text in, an operation out, anchored on lines that occur once. Never touches the front matter.
"""

from __future__ import annotations

import re

from skilld.classify.offline.choices import swapped
from skilld.classify.offline.said import contradicted, renumbered, topic
from skilld.classify.offline.sections import Block, Lines, Section, body_start, lines_of, sections
from skilld.classify.offline.words import stems
from skilld.types import Op, Operation

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
_NUMBERED = re.compile(r"^(\d{1,3})([.)])$")


def home(change: str, text: str) -> Section:
    """Return the section of the skill `text` in which `change` fits best."""
    found = sections(text)
    titles = stems(" ".join(section.heading for section in found if section.level == 1))
    wanted = stems(change) - titles

    def fit(section: Section) -> tuple[float, int]:
        score = 3.0 * len(wanted & stems(section.heading)) + len(wanted & stems(section.text))
        run = _longest_run(section)
        if run:
            score += 1.5 if _is_plain(run[-1]) else -1.5 * (not _STEP.search(change))
        score += 1.5 if _RULE_HEADING.search(section.heading) else 0.0
        score -= 4.0 if _NO_HOME.search(section.heading) else 0.0
        score -= 2.0 if not section.blocks else 0.0
        return score, section.line

    return max(found, key=fit)


def _is_plain(item: Lines) -> bool:
    return not item.marker[0].isdigit() and "[" not in item.gap


def compose(change: str, text: str) -> Operation | None:
    """Return the operation that makes the skill `text` say `change`; None where no line of it can be an anchor."""
    lines = lines_of(text)
    old = contradicted(change, text)
    replaced = _replaced(change, old, lines) if old else None
    if replaced is not None:
        return replaced
    section = home(change, text)
    run = _longest_run(section)
    anchor = _anchor(lines, run[-1].first, run[-1].last) if run else None
    if anchor is not None:
        return Operation(Op.INSERT_AFTER, anchor, _as_next_item(change, run))
    return _as_paragraph(change, section, lines)


def _replaced(change: str, old: Lines, lines: list[str]) -> Operation | None:
    """Return the operation that puts `change` in place of the block `old`; None where both have more to say.

    Where the old rule says more than the new one but for a choice or a number, only that word of it is changed.
    """
    anchor = _anchor(lines, old.first, old.last, exact=True)
    mine, theirs = topic(change), topic(old.text)
    if anchor is None or len(mine - theirs) > _OWN_WORDS < len(theirs - mine):
        return None
    if theirs - mine and not mine - theirs:
        block = "\n".join(lines[old.first : old.last + 1])
        amended = swapped(change, renumbered(change, block))
        if amended and amended != block:
            return Operation(Op.REPLACE, anchor, amended)
    if len(theirs - mine) > len(mine):
        return None
    return Operation(Op.REPLACE, anchor, _as_item(change, old))


def _longest_run(section: Section) -> list[Lines]:
    """Return the longest list of the section, its top items; none where the last of them holds more than its own words.

    A list item with code, a paragraph or a list of its own below it is a procedure, in which a rule has no place.
    """
    runs: list[list[Lines]] = [[]]
    top = {item.first for item in section.items()}
    for block in section.blocks:
        if block.first in top:
            if runs[-1] and runs[-1][-1].marker[-1] != block.marker[-1]:
                runs.append([])
            runs[-1].append(block)
        elif block.indent or block.kind is Block.OTHER:
            runs[-1].clear()
        elif runs[-1]:
            runs.append([])
    return max(runs, key=len)


def _as_next_item(change: str, run: list[Lines]) -> str:
    closing = sum(_closes(item.text) for item in run) * 2 >= len(run)
    last = run[-1]
    marker = last.marker
    if (numbered := _NUMBERED.match(marker)) and not (len(run) > 1 and run[-2].marker == marker):
        marker = f"{int(numbered[1]) + 1}{numbered[2]}"
    gap = last.gap.replace("x", " ").replace("X", " ")
    return f"{last.indent}{marker}{gap}{_closed(change, closing=closing)}"


def _as_item(change: str, old: Lines) -> str:
    if old.kind is Block.PARAGRAPH:
        return change
    return f"{old.indent}{old.marker}{old.gap}{_closed(change, closing=_closes(old.text))}"


def _as_paragraph(change: str, section: Section, lines: list[str]) -> Operation | None:
    blocks = section.blocks
    start, end = (blocks[-1].first, blocks[-1].last) if blocks else (section.line, section.line)
    if end < body_start(lines):
        return None
    anchor = _anchor(lines, start, end)
    return Operation(Op.INSERT_AFTER, anchor, f"\n{change}") if anchor is not None else None


def _anchor(lines: list[str], first: int, last: int, *, exact: bool = False) -> str | None:
    """Return lines first..last, with lines above them as long as they occur more than once in the body."""
    start = body_start(lines)
    body = lines[start:]
    while first >= start:
        block = lines[first : last + 1]
        count = sum(body[i : i + len(block)] == block for i in range(len(body) - len(block) + 1))
        if count == 1:
            return "\n".join(block)
        if exact:
            return None
        first -= 1
    return None


def _closes(text: str) -> bool:
    return text.rstrip().endswith((".", "!", "。", "！"))


def _closed(change: str, *, closing: bool) -> str:
    return change if closing else change.rstrip(".。")
