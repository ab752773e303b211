"""Which skill already does a recurring task: one whose lines have the task's own commands, or its words. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import escape
from pathlib import Path

from skilld.meanings import terms
from skilld.mining.actions import is_generic
from skilld.mining.courtesy import without_politeness
from skilld.mining.evidence import MIN_REPEATS
from skilld.mining.new_skill import shorten
from skilld.mining.recurring_tasks import RecurringTask
from skilld.mining.values import Part, PartKind
from skilld.skills import Skill
from skilld.words import content_stems, has_negation, is_same_ask

_MIN_LINE_SHARE = 0.5  # of a request's stems, for a line that covers it
_MIN_COMMAND_SHARE = 0.6  # of a task's commands, for a skill that covers it
_MIN_OTHER_LINE_SHARE = 0.8  # of a request's stems, in a skill that neither has its commands nor was in use
_MIN_SHARED_ALONE = 3  # stems in such a skill, unless they are all of its line
_MAX_OTHER_STEMS = 2  # of a request that only names a skill
_MAX_QUOTED_LINE = 100  # characters of a line that is quoted
# Words in capitals that stay as they are: revisions, methods, well-known files.
_CAPITALS = (
    "(?:ORIG_|FETCH_|MERGE_)?HEAD|GET|POST|PUT|PATCH|DELETE|OPTIONS|README|CHANGELOG|CHANGES|LICENSE|LICENCE|NOTICE"
    "|CONTRIBUTING|SECURITY|TODO|AGENTS|CLAUDE|GEMINI|SKILL|MEMORY"
)
# How people write that a word of a command differs each time: {{name}}, <name>, $NAME, ${name}, NAME, "...".
_OPEN_PART = re.compile(
    r"\{\{[^{}\s]*\}\}|<[\w .-]+>|\$\{?[A-Za-z_]\w*\}?|\.\.\.|\u2026"
    rf"|(?<![A-Za-z])(?!(?:{_CAPITALS})(?![A-Za-z]))[A-Z][A-Z_]+(?![A-Za-z=])"
)
_FIRST_WORD = re.compile(r"\A\W*(?:\d+\W+)?(\w+).*", re.DOTALL)
_Starts = dict[str, list[tuple[Part, tuple[str, ...]]]]
_EDGE, _LAST_STOP = "`\"',;:()*", re.compile(r"(?<!\.)\.[`\"',;:()*]*\Z")


def covered_reason(one: RecurringTask, skills: Sequence[Skill], texts: Mapping[Path, str]) -> str | None:
    """Return which line of which skill covers a task, None if none does; a skill in use in its sessions first."""
    parts = [part for part in one.candidate.parts if part.sort is PartKind.COMMAND] if one.candidate else []
    near = [skill for skill in skills if skill.project is None or _is_near(one, skill.project)]
    near.sort(key=lambda skill: -sum(skill.name in row.skills_used for row in one.rows))
    lines = {skill.path: texts.get(skill.path, "").splitlines() for skill in near}
    starts = _by_first_word(parts)
    named = {path: _named(starts, said) for path, said in lines.items()}
    special = [part for part in parts if not is_generic(part.text)]
    own, wanted = special or parts, content_stems(one.ask.text)
    for skill in near:
        found = named[skill.path]
        told = [part for part in own if part in found]
        least = min(len(found) / len(parts), len(told) / len(own)) if parts else 0
        # Nearly all work tests, commits and pushes.
        is_its = special or _is_used(one, skill) or wanted & content_stems(f"{skill.name} {skill.front.description}")
        if is_its and len(found) >= MIN_REPEATS and least >= _MIN_COMMAND_SHARE:
            return _describe(skill, *found[told[0]])
    for skill in near:
        # The task's words alone prove little: who is to "release 2.5.0" does not want notes for a release.
        does = any(part in named[skill.path] for part in own)
        does = does or _is_used(one, skill)
        for number, line in enumerate(lines[skill.path], 1):
            shared = len(wanted & content_stems(line))
            if shared < MIN_REPEATS or line.startswith("name:") or has_negation(line) or _does_other(line, one):
                continue
            if shared / len(wanted) > _MIN_LINE_SHARE if does else _says_task(line, wanted):
                return _describe(skill, number, line)
    whys = (f"{skill.name} is for this: {_quoted(skill.front.description)}" for skill in near if _is_for(one, skill))
    return next(whys, None)


def _is_used(one: RecurringTask, skill: Skill) -> bool:
    return sum(skill.name in row.skills_used for row in one.rows) >= MIN_REPEATS


def _is_for(one: RecurringTask, skill: Skill) -> bool:
    """Whether a skill is for a task by its name, which most requests have, and by what is done there.

    The skill was in use for it, or the requests begin with its name and ask for little else ("deploy the shop"), or its
    description names something that they ask to be done.
    """
    texts = [without_politeness(said.text) for said in one.ask.said]
    name = content_stems(skill.name.replace("-", " "))
    if not name or sum(name <= content_stems(text) for text in texts) <= len(texts) / 2:
        return False
    if _is_used(one, skill):
        return True
    if sum(_only_names(text, name) for text in texts) > len(texts) / 2:
        return True
    return bool(_deeds(skill.front.description) & frozenset().union(*map(_deeds, texts)))


def _only_names(text: str, name: frozenset[str]) -> bool:
    first = content_stems(_FIRST_WORD.sub(r"\1", text, count=1))
    return bool(first & name) and len(content_stems(text) - name) <= _MAX_OTHER_STEMS


def _deeds(text: str) -> frozenset[str]:
    """Return the meanings of what a text says is done."""
    return frozenset().union(*(term.meanings for term in terms(text) if term.is_action))


def _does_other(line: str, one: RecurringTask) -> bool:
    """Whether a skill's description says that it does something else with what a task is about, mostly in other words.

    A skill that writes the notes for a release is in use during releases, and does none.
    """
    key, _, text = line.partition(":")
    if key != "description":
        return False
    begins, wanted, said = _FIRST_WORD.sub(r"\1", text, count=1), content_stems(one.ask.text), content_stems(text)
    deeds = _deeds(begins) - {"to-use"} - frozenset().union(*(_deeds(said.text) for said in one.ask.said))
    return bool(deeds) and not content_stems(begins) & wanted and 2 * len(said & wanted) <= len(said)


def _says_task(line: str, wanted: frozenset[str]) -> bool:
    """Whether a line is about a task by its words: it begins with one of them, and hardly names anything else."""
    said = content_stems(line)
    if line.startswith("description:") or not content_stems(_FIRST_WORD.sub(r"\1", line, count=1)) & wanted:
        return False
    shared = len(wanted & said)
    most = shared / len(wanted) >= _MIN_OTHER_LINE_SHARE and shared / len(said) >= _MIN_LINE_SHARE
    return is_same_ask(wanted, said) or (most and shared >= _MIN_SHARED_ALONE)


def _is_near(one: RecurringTask, project: Path) -> bool:
    return any(
        place and Path(place).is_relative_to(project) for row in one.rows for place in (row.main_dir, row.project)
    )


def _describe(skill: Skill, number: int, line: str) -> str:
    return f"{skill.name} already does this in line {number}: {_quoted(line)}"


def _quoted(line: str) -> str:
    return shorten(line, _MAX_QUOTED_LINE)


def _named(starts: _Starts, lines: Sequence[str]) -> dict[Part, tuple[int, str]]:
    """Return the commands that the lines of a skill run, each with the first line that does."""
    found: dict[Part, tuple[int, str]] = {}
    for number, line in enumerate(lines, 1):
        words = _words(line)
        for at, word in enumerate(words):
            for part, wanted in starts.get(word, ()):
                if part not in found and _is_same_command(words[at : at + len(wanted)], wanted):
                    found[part] = number, line
    return found


def _by_first_word(parts: Sequence[Part]) -> _Starts:
    """Return the words of commands, as the step says them and as each session ran them, by the first of them."""
    starts: _Starts = {}
    for part in parts:
        texts = dict.fromkeys((part.text, *(proof.quote for proof in part.proofs)))
        for words in filter(None, map(_words, texts)):
            starts.setdefault(words[0], []).append((part, words))
    return starts


def _words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (_LAST_STOP.sub("", word).strip(_EDGE) for word in text.split())))


def _is_same_command(said: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(said) == len(wanted) and all(map(_is_same_word, said, wanted))


@lru_cache(maxsize=16384)
def _is_same_word(said: str, wanted: str) -> bool:
    """Whether a word of a line is one of a command; of a word that is partly open, the rest counts.

    One that is wholly open stands only for one that is open too: `npm run {{name}}` is not every script of npm.
    """
    if said == wanted:
        return True
    if _OPEN_PART.fullmatch(wanted):
        return bool(_OPEN_PART.search(said))
    return not _OPEN_PART.fullmatch(said) and (_fits(wanted, said) or _fits(said, wanted))


def _fits(pattern: str, word: str) -> bool:
    """Whether a word is a pattern with at least one character in place of each open part."""
    fixed = _OPEN_PART.split(pattern)
    return len(fixed) > 1 and fnmatchcase(word, "?*".join(map(escape, fixed)))
