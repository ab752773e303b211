"""What the managed block says of skills: their rules where they are few, else when to read which file.

Skills in, Markdown out. A skill's text is what somebody wrote in a repository: markup that an agent would act on is
taken out of a description, and a rule that has any is not copied.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.offline.sections import BlockKind, sections
from skilld.context.contradictions import rules
from skilld.context.tokenizer import ESTIMATE
from skilld.edit.lint import lint
from skilld.skills import Skill
from skilld.text import cut, fold, safe_text

BUDGET = 1500  # tokens of a block, at four characters each: what every session of every agent pays for it
_INLINE = 600  # tokens of it that rules may take
_FEW = 6  # rules: more are a document of their own
_MAX_LENGTH = 240  # characters of a rule
_MAX_LINES, _MAX_RULES = 300, 100  # of a file and of a skill that are compared with each other
_MAX_DESCRIPTION = 300  # characters
# What Markdown, HTML or an agent would act on: a description is shown, never obeyed.
_ACTIVE = re.compile(r"</?\w[^<>]*>|[`<>@!\[\]|*_]|\$(?=[({A-Z])")
# The same in a rule, whose code and names stay as they are: a rule that has one of these is read where it stands.
_UNFIT = re.compile(r"[<>@\[\]|*]|!`|\$[({A-Z]|``|\{\{")
_PLAIN = re.compile(r"[\w./ +-]+")  # a path that can stand between backticks
# Headings that say nothing of when a rule holds.
_SAYS_NOTHING = frozenset({"rules", "rule", "facts", "conventions", "notes", "guidelines", "instructions"})

_HEAD = "## Skills\n"
_RULES = "\nThese rules apply whenever you do the kind of work named in the heading above them:\n\n"
_FILES = (
    "\nEach of these files describes how one kind of work is done here. Read the file before you start that kind of "
    "work, and follow it:\n\n"
)


@dataclass(frozen=True, slots=True)
class ListedSkill:
    """A skill, its text, and the rules that it consists of: none where it says more than a few rules."""

    skill: Skill
    text: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """A line of an instruction file, and one of a skill, of which an agent that reads both can follow only one."""

    line: int
    text: str
    skill: str
    skill_line: int
    skill_text: str


@dataclass(frozen=True, slots=True)
class SkillList:
    """The lines of a block, empty where there is no skill, and the skills that were left out, which cost too much."""

    body: str
    left_out: tuple[Skill, ...] = ()


def listed(skill: Skill, text: str, files: Collection[Path]) -> ListedSkill:
    """Return a skill with its rules, from the text of its SKILL.md and all that lies in its folder."""
    return ListedSkill(skill, text, _rules_alone(text) if len(files) == 1 else ())


def conflicts(own: str, skills: Iterable[ListedSkill]) -> list[Conflict]:
    """Return what skills say against the text of an instruction file, whose managed block does not count."""
    lines = list(islice(rules(own), _MAX_LINES))
    return [
        Conflict(line.line, line.text, str(one.skill.path), rule.line, rule.text)
        for one in skills
        for rule in islice(rules(one.text), _MAX_RULES)
        for line in lines
        if contradicts_clearly(rule.words, line.words)
    ]


def skill_list(skills: Sequence[ListedSkill], project: Path) -> SkillList:
    """Return the block for the skills of a project, in their order; what would cost more than BUDGET is left out."""
    left = BUDGET - ESTIMATE.count(_HEAD + _RULES + _FILES)
    room = min(_INLINE, left)
    inline: list[str] = []
    named: list[str] = []
    left_out: list[Skill] = []
    for one in skills:
        path = one.skill.path.relative_to(project).as_posix()
        whole = "".join([f"- {_title(one.skill)}\n", *(f"  - {rule}\n" for rule in one.rules)])
        if one.rules and ESTIMATE.count(whole) <= room:
            inline.append(whole)
            room -= ESTIMATE.count(whole)
            left -= ESTIMATE.count(whole)
        elif _PLAIN.fullmatch(path) and ESTIMATE.count(row := f"- {_title(one.skill)} (`{path}`)\n") <= left:
            named.append(row)
            left -= ESTIMATE.count(row)
        else:
            left_out.append(one.skill)
        room = min(room, left)
    parts = ([_RULES, *inline] if inline else []) + ([_FILES, *named] if named else [])
    return SkillList("".join([_HEAD, *parts]) if parts else "", tuple(left_out))


def _title(skill: Skill) -> str:
    """Return the name of a skill and what it says it is for."""
    name, said = _harmless(skill.name), cut(_harmless(skill.front.description), _MAX_DESCRIPTION)
    return f"**{name}**: {said}" if said else f"**{name}**"


def _harmless(text: str) -> str:
    return fold(_ACTIVE.sub("", safe_text(fold(text))))


def _rules_alone(text: str) -> tuple[str, ...]:
    """Return the rules of a skill that is nothing but a few of them: no steps, code, tables, or headings that tell."""
    found: list[str] = []
    told: set[str] = set()
    for section in sections(text):
        for block in section.blocks:
            if block.kind is BlockKind.PARAGRAPH and block.text.endswith(":"):
                continue  # it announces the list
            if block.kind is BlockKind.OTHER or block.indent or block.marker[:1].isdigit():
                return ()
            if section.level > 1 and section.heading.strip().casefold() not in _SAYS_NOTHING:
                told.add(section.heading)
            found.append(fold(block.text))
    fit = all(len(rule) <= _MAX_LENGTH and safe_text(rule) == rule and not _UNFIT.search(rule) for rule in found)
    if told or not fit or len(found) > _FEW:
        return ()
    return tuple(found) if _passes(found) else ()


def _passes(lines: Iterable[str]) -> bool:
    """Whether the linter finds nothing in these lines: what a person must see first is read where it stands."""
    text = "".join(f"- {line}\n" for line in lines)
    return not lint(b"# Rules\n", f"# Rules\n\n{text}".encode(), text)
