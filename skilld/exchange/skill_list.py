"""Writes the content of the managed block: the rules of short skills, and when to read the files of the others.

Skills in, Markdown out. Skill texts are untrusted: markup that an agent would act on is removed from descriptions, and
rules with such markup are not copied.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.offline.sections import BlockKind, sections
from skilld.context.contradictions import rules
from skilld.context.tokenizer import ESTIMATE
from skilld.edit.lint import lint
from skilld.skills import Skill
from skilld.text import fold, safe_text, truncate
from skilld.values import value_class

BUDGET_TOKENS = 1500  # of a block, at four characters each: every session of every agent pays for it
_MAX_INLINE_TOKENS = 600  # of a block, for rules
_MAX_INLINE_RULES = 6  # of a skill: more are a document of their own
_MAX_LENGTH = 240  # characters of a rule
_MAX_LINES, _MAX_RULES = 300, 100  # of a file and of a skill to be compared
_MAX_DESCRIPTION = 300  # characters
# Markup that Markdown, HTML or an agent would act on, which is removed from descriptions.
_ACTIVE_PATTERN = re.compile(r"</?\w[^<>]*>|[`<>@!\[\]|*_]|\$(?=[({A-Z])")
# The same for a rule, whose code and names must not be changed: a rule with one of these is not copied.
_UNFIT_PATTERN = re.compile(r"[<>@\[\]|*]|!`|\$[({A-Z]|``|\{\{")
_PLAIN_PATH_PATTERN = re.compile(r"[\w./ +-]+")  # a path that can stand between backticks
# Headings that do not say when a rule applies.
_GENERIC_HEADINGS = frozenset({"rules", "rule", "facts", "conventions", "notes", "guidelines", "instructions"})

_HEADING = "## Skills\n"
_RULES_INTRO = "\nThese rules apply whenever you do the kind of work named in the heading above them:\n\n"
_FILES_INTRO = (
    "\nEach of these files describes how one kind of work is done here. Read the file before you start that kind of "
    "work, and follow it:\n\n"
)


@value_class
class ListedSkill:
    """A skill, its text, and its rules if it consists of a few rules only."""

    skill: Skill
    text: str
    rules: tuple[str, ...] = ()


@value_class
class Conflict:
    """A line of an instruction file and a line of a skill that contradict each other."""

    line: int
    text: str
    skill: str
    skill_line: int
    skill_text: str


@value_class
class SkillList:
    """The content of a block, "" if there is no skill, and what was left out: as too large, or for its odd path."""

    body: str
    left_out: tuple[Skill, ...] = ()
    odd: tuple[Skill, ...] = ()


def list_skill(skill: Skill, text: str, files: Collection[Path]) -> ListedSkill:
    """Return a skill with its rules, from the text of its SKILL.md and the files in its folder."""
    return ListedSkill(skill, text, _inline_rules(text) if len(files) == 1 else ())


def find_conflicts(own: str, skills: Iterable[ListedSkill]) -> list[Conflict]:
    """Return the contradictions between skills and an instruction file without its managed block."""
    lines = list(islice(rules(own), _MAX_LINES))
    contradict = cache(contradicts_clearly)  # the same words are often in several lines
    return [
        Conflict(line.line, line.text, str(one.skill.path), rule.line, rule.text)
        for one in skills
        for rule in islice(rules(one.text), _MAX_RULES)
        for line in lines
        if contradict(rule.words, line.words)
    ]


def build_skill_list(skills: Sequence[ListedSkill], project: Path) -> SkillList:
    """Return the block for a project's skills in their order, leaving out what exceeds BUDGET_TOKENS."""
    left = BUDGET_TOKENS - ESTIMATE.count(_HEADING + _RULES_INTRO + _FILES_INTRO)
    room = min(_MAX_INLINE_TOKENS, left)
    inline: list[str] = []
    named: list[str] = []
    left_out: list[Skill] = []
    odd: list[Skill] = []
    for one in skills:
        path = one.skill.path.relative_to(project).as_posix()
        whole = "".join([f"- {_skill_title(one.skill)}\n", *(f"  - {rule}\n" for rule in one.rules)])
        if one.rules and ESTIMATE.count(whole) <= room:
            inline.append(whole)
            room -= ESTIMATE.count(whole)
            left -= ESTIMATE.count(whole)
        elif not _PLAIN_PATH_PATTERN.fullmatch(path):
            odd.append(one.skill)
        elif ESTIMATE.count(row := f"- {_skill_title(one.skill)} (`{path}`)\n") <= left:
            named.append(row)
            left -= ESTIMATE.count(row)
        else:
            left_out.append(one.skill)
        room = min(room, left)
    parts = ([_RULES_INTRO, *inline] if inline else []) + ([_FILES_INTRO, *named] if named else [])
    return SkillList("".join([_HEADING, *parts]) if parts else "", tuple(left_out), tuple(odd))


def _skill_title(skill: Skill) -> str:
    name, said = _without_markup(skill.name), truncate(_without_markup(skill.front.description), _MAX_DESCRIPTION)
    return f"**{name}**: {said}" if said else f"**{name}**"


def _without_markup(text: str) -> str:
    return fold(_ACTIVE_PATTERN.sub("", safe_text(fold(text))))


def _inline_rules(text: str) -> tuple[str, ...]:
    """Return the rules of a skill that is nothing but a few of them: no steps, code, tables, or headings that tell."""
    found: list[str] = []
    told: set[str] = set()
    for section in sections(text):
        for block in section.blocks:
            if block.kind is BlockKind.PARAGRAPH and block.text.endswith(":"):
                continue  # it announces the list
            if block.kind is BlockKind.OTHER or block.indent or block.marker[:1].isdigit():
                return ()
            if section.level > 1 and section.heading.strip().casefold() not in _GENERIC_HEADINGS:
                told.add(section.heading)
            found.append(fold(block.text))
    fit = all(
        len(rule) <= _MAX_LENGTH and safe_text(rule) == rule and not _UNFIT_PATTERN.search(rule) for rule in found
    )
    if told or not fit or len(found) > _MAX_INLINE_RULES:
        return ()
    return tuple(found) if _is_fit_rule(found) else ()


def _is_fit_rule(lines: Iterable[str]) -> bool:
    """Whether the linter finds nothing in these lines: a person must see a finding before it is copied."""
    text = "".join(f"- {line}\n" for line in lines)
    return not lint(b"# Rules\n", f"# Rules\n\n{text}".encode(), text)
