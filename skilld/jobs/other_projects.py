"""Keeps what a person says about another project out of the files of the session's own project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.offline.grammar import languages
from skilld.classify.offline.relevance import WEAK_STEMS
from skilld.classify.verify import Verdict
from skilld.git.same_project import project_root
from skilld.protocol import AnalyseBatch
from skilld.targets.find import WorkingSession, find_targets
from skilld.types import Message, SkillRef, TargetKind, Update
from skilld.words import stems

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s|\n")
_MAX_FOLDERS = 400  # of sessions, the newest
_MAX_ENTRIES = 500  # of a project's folder

TargetOf = Callable[[Update], SkillRef | None]
OtherProject = tuple[Update, str, SkillRef | None]


def without_other_projects(
    verdict: Verdict, job: AnalyseBatch, messages: Sequence[Message], target_of: TargetOf
) -> tuple[Verdict, list[OtherProject]]:
    """Return a verdict without the updates that are for another project, and those.

    Each of these has the reason why it is only kept, and that project's instruction file if there is one.
    """
    texts = {message.turn: message.text for message in messages}
    theirs: dict[int, OtherProject] = {}
    for item in verdict.proposed:
        said = _sentence(item.update.quote, texts[item.update.turn])
        if target_of(item.update) and (found := _other_project(said, job)):
            theirs[id(item)] = (replace(item.update, skill=None), *found)
    if not theirs:
        return verdict, []
    left = tuple(item for item in verdict.proposed if id(item) not in theirs)
    return replace(verdict, proposed=left), list(theirs.values())


def _sentence(quote: str, text: str) -> str:
    """Return a quote with the beginning of its sentence, which may name the project."""
    at = text.find(quote)
    return f"{_SENTENCE_END.split(text[:at])[-1]}{quote}" if at >= 0 else quote


def _other_project(said: str, job: AnalyseBatch) -> tuple[str, SkillRef | None] | None:
    cwd, home = Path(job.batch.cwd or "/"), Path(job.batch.home)
    here = project_root(cwd)
    present, roots = [here.name, *cwd.parts, *_entries(here)], dict[str, set[Path]]()
    for root in {project_root(Path(folder)) for folder in job.folders[:_MAX_FOLDERS]}:
        if root.is_relative_to(here) or here.is_relative_to(root) or home.is_relative_to(root):
            present.append(root.name)
        else:
            roots.setdefault(root.name, set()).add(root)
    if name := named_project(said, roots, present):
        file = _instruction_file(job, roots[name])
        how = "`learnings propose` puts it there" if file else "`learnings propose --to FILE` puts it there"
        return f"it is for {name}, not for this project: {how}", file
    if name := unknown_project(said, present):
        return f"it is for another repository ({name}), where skilld has not read any sessions", None
    return None


def _entries(root: Path) -> list[str]:
    try:
        return os.listdir(root)[:_MAX_ENTRIES]  # noqa: PTH208 - names only
    except OSError:
        return []


def _instruction_file(job: AnalyseBatch, roots: Collection[Path]) -> SkillRef | None:
    """Return the instruction file of the only project of a name, if skilld may edit it."""
    if len(roots) != 1 or TargetKind.INSTRUCTIONS not in job.targets:
        return None
    session = WorkingSession(job.batch.agent, next(iter(roots)), Path(job.batch.home), job.batch.variables)
    return next(iter(find_targets(session, [TargetKind.INSTRUCTIONS]).refs), None)


# Finds which project words are about, if they name one: "in the ripcsv repo always ...". Pure.

_NOUN = (
    r"(?:repo(?:s?itory|sitorium|sitorio|sit[óo]rio)?|codebase|(?:(?:side|pet|game|web)[ -])?(?:project|projekt|projet"
    r"|proyecto|progetto|projeto))"
)
_PLACE = (
    r"(?:in|on|for|over in|inside|within|im|f[üu]r|bei|beim|dans|pour|sur|en|para|em|na|per|nel|nella|su|voor|op|w|dla"
    r"|ve?|pro)\s+(?:(?:the|our|my|das|dem|der|mein\w*|unser\w*|le|la|el|il|o|a|mon|notre|mi|nuestro|het|de)\s+)?"
)
_BEFORE = re.compile(rf"(?:^|[^\w'-])(?P<place>{_PLACE})(?P<noun>{_NOUN}\s+)?[`'\"*]*$", re.IGNORECASE)
_COMPARED = re.compile(
    r"\b(?:like|as|than|unlike|similar to|same as|from|see|wie|als|comme|como|come|jako?)\W+"
    r"(?:(?:we|you|i|it)\W+\w+\W+)?$",
    re.IGNORECASE,
)
_ASIDE = re.compile(rf"(?:^|\W){_PLACE}(?:[\w'-]+\s+){{1,3}}\(\W*$", re.IGNORECASE)
_HEADER = re.compile(r"^\W*(?:(?:and|but|also|ok|okay|oh|btw|by the way|note|hey)\W+){0,3}$", re.IGNORECASE)
_NOUN_AFTER = re.compile(rf"[`'\"*]*[ -]{_NOUN}\b", re.IGNORECASE)
_ENDS = re.compile(
    r"[`'\"*]*\s*(?:$|[,:;!?)]|\.(?:\s|$)|\s(?:always|never|please|pls|only|from now|we|you|i|it|the|every|each|all|no"
    r"|use|don['’]?t|do not|immer|nie|niemals|bitte|toujours|jamais|siempre|nunca|sempre|mai|altijd|nooit)\b)",
    re.IGNORECASE,
)
_AFTER_COLON = re.compile(r"[`'\"*]*\s*[:：]\s")
_UNKNOWN = re.compile(
    r"(?:^|[^\w'-])(?P<place>in|on|for)\s+(?:the|our|my)\s+[`'\"]?(?P<name>[\w.-]+)[`'\"]?\s+repo(?:sitory)?\b",
    re.IGNORECASE,
)
# Not names: they say which copy of a repository is meant, or what is in it.
_NO_NAME = frozenset(
    """
    actual base bare code cloned current default empty entire existing external forked full git github gitlab global
    internal local main mono official old origin own parent present private production public real remote root same
    second shared source sub target template test this upstream whole work working
    """.split()  # noqa: SIM905 - a list of so many words is read more easily as text
)
# Folders that are named like things people talk about: only "the NAME repo" means the project.
_COMMON_NAMES = frozenset(
    """
    admin agent api app apps assets backend bin blog bot build cli client code common config core dashboard data demo
    dev docs dotfiles engine examples frontend game home infra lib library main mobile model models new notes ops
    packages platform plugin plugins portal project projects repo repos sandbox scripts sdk server service services
    shared shop site spec src test tests tool tools training ui utils web website wiki work worker workspace
    """.split()  # noqa: SIM905
)
_MIN_NAME = 3


def named_project(said: str, names: Iterable[str], present: Sequence[str] = ()) -> str:
    """Return the one of the `names` of projects that words are said to hold in; empty if they name none.

    `present` names what the session's project has itself. A name that is an ordinary word must be called a project.
    """
    own = {one.lower() for one in present}
    others = [one for one in sorted(names, key=len, reverse=True) if len(one) >= _MIN_NAME and one.lower() not in own]
    for name in others:
        if any(_is_place(said, found, distinct=_is_distinct(name)) for found in _occurrences(name, said)):
            return name
    return ""


def unknown_project(said: str, present: Sequence[str] = ()) -> str:
    """Return the name of a repository that words are said to hold in, if it is not one of those `present`."""
    own = [one.lower() for one in present]
    for found in _UNKNOWN.finditer(said):
        name = found["name"].lower()
        known = any(name in one or one in name for one in own)
        if name not in _NO_NAME and not known and not _COMPARED.search(said[: found.start("place")]):
            return found["name"]
    return ""


def _occurrences(name: str, said: str) -> Iterable[re.Match[str]]:
    spelled = re.escape(name).replace(r"\-", "[- ]")
    return re.finditer(rf"(?<![\w./-]){spelled}(?![\w-]|[./]\w)", said, re.IGNORECASE)


def _is_place(said: str, found: re.Match[str], *, distinct: bool) -> bool:
    before, after = said[: found.start()], said[found.end() :]
    place = _BEFORE.search(before)
    if place and _COMPARED.search(before[: place.start("place")]):
        return False
    called = bool(_NOUN_AFTER.match(after) or (place and place["noun"]))
    if called:
        return place is not None
    if not distinct:
        return False
    if place is not None:
        return bool(_ENDS.match(after)) or languages()["en"].commands.match(after.lstrip()) is not None
    aside = after.startswith(")") and _ASIDE.search(before)
    return bool(aside or (_AFTER_COLON.match(after) and _HEADER.match(before)))


def _is_distinct(name: str) -> bool:
    return name.lower() not in _COMMON_NAMES and not stems(name) & WEAK_STEMS
