"""One bounded operation that makes a skill say an instruction, in the skill's own list style.

A change and the skill's text in, an operation out, anchored on lines that occur once. Never touches the front matter.
"""

from __future__ import annotations

import re

from skilld.classify.offline.said import contradicted
from skilld.classify.offline.sections import Block, Lines, Section, body_start, sections
from skilld.classify.offline.words import stems
from skilld.types import Op, Operation

_RULE_HEADING = re.compile(
    r"rule|guideline|convention|style|prefer|note|important|checklist|require|instruction|workflow|step|process|"
    r"practice|tips|do and don|regla|regra|règle|regel|правил|规则|规范|ルール|규칙",
    re.IGNORECASE,
)
_NO_HOME = re.compile(
    r"example|reference|resource|licen[cs]e|changelog|credit|link|see also|further|faq|troubleshoot|output|template|"
    r"overview|description|when to use|purpose|introduction|about",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,3})([.)])$")


def home(change: str, text: str) -> Section:
    """Return the section of the skill `text` in which `change` fits best."""
    found = sections(text)
    wanted = stems(change)

    def fit(section: Section) -> tuple[float, int]:
        heading = len(wanted & stems(section.heading))
        prose = len(wanted & stems(section.text))
        score = 3.0 * heading + prose
        score += 1.0 if section.items() else 0.0
        score += 1.5 if _RULE_HEADING.search(section.heading) else 0.0
        score -= 4.0 if _NO_HOME.search(section.heading) else 0.0
        score -= 2.0 if not section.blocks else 0.0
        return score, section.line

    return max(found, key=fit)


def compose(change: str, text: str) -> Operation | None:
    """Return the operation that makes the skill `text` say `change`; None where no line of it can be an anchor."""
    lines = text.splitlines()
    old = contradicted(change, text)
    if old is not None:
        anchor = _anchor(lines, old.first, old.last, exact=True)
        if anchor is not None:
            return Operation(Op.REPLACE, anchor, _as_item(change, old, _closes(old.text)))
    section = home(change, text)
    items = section.items()
    if items:
        last = _run_end(section, items)
        anchor = _anchor(lines, last[0].first, last[1])
        return anchor and Operation(Op.INSERT_AFTER, anchor, _as_next_item(change, items, last[0])) or None
    return _as_paragraph(change, section, lines)


def _run_end(section: Section, items: list[Lines]) -> tuple[Lines, int]:
    """Return the last top item of the section's longest list, and the last line that belongs to it."""
    runs: list[list[Lines]] = []
    for block in section.blocks:
        if block not in items:
            nested = block.kind is Block.ITEM
            if not nested and runs and block.kind is not Block.OTHER:
                runs.append([])
            continue
        if not runs or (runs[-1] and runs[-1][-1].marker[-1] != block.marker[-1]):
            runs.append([])
        runs[-1].append(block)
    best = max((run for run in runs if run), key=len)
    item = best[-1]
    end = item.last
    for block in section.blocks:
        if block.first > item.first and len(block.indent) > len(item.indent) and block.first == end + 1:
            end = block.last
    return item, end


def _as_next_item(change: str, items: list[Lines], last: Lines) -> str:
    closing = sum(_closes(item.text) for item in items) * 2 >= len(items)
    marker = last.marker
    if numbered := _NUMBERED.match(marker):
        same = len(items) > 1 and items[-2].marker == marker
        marker = marker if same else f"{int(numbered[1]) + 1}{numbered[2]}"
    return f"{last.indent}{marker}{last.gap.replace('x', ' ').replace('X', ' ')}{_closed(change, closing)}"


def _as_item(change: str, old: Lines, closing: bool) -> str:  # noqa: FBT001 - one caller, named there
    if old.kind is Block.PARAGRAPH:
        return change
    return f"{old.indent}{old.marker}{old.gap}{_closed(change, closing)}"


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


def _closed(change: str, closing: bool) -> str:  # noqa: FBT001 - one caller, named there
    return change if closing else change.rstrip(".。")
