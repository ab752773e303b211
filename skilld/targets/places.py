"""The closed list of files that a session's instructions may go to, from what its agent really loads.

An agent and a folder enter, checked references leave, in the order in which they are preferred: rules for what was
worked on, the project's instructions, the person's own file. A project's are named only where it is the person's own.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import basename, dirname, join, normpath

from skilld.agents import ADAPTERS
from skilld.agents.base import agent_homes
from skilld.context import Context, LoadedFile, context_of
from skilld.context import Scope as Whose
from skilld.context.disk import Disk, FileText
from skilld.context.markup import split_front, without_comments
from skilld.context.patterns import matches
from skilld.context.values import within
from skilld.errors import SkilldError
from skilld.git.state import is_own_project
from skilld.markdown.skill_file import parse
from skilld.markdown.structure import is_generated, manual_lines
from skilld.skills.find import file_problem, is_of_kernel
from skilld.targets.route import is_called
from skilld.targets.scopes import Scope, rule_files, takes
from skilld.targets.session import SessionWork
from skilld.types import SkillRef, TargetKind

_LOCAL = "CLAUDE.local.md"  # Claude Code's: in the project, and the person's own
_SHARED = "AGENTS.md"  # the name that most agents read
_NATIVE: Mapping[str, str] = {"claude-code": "CLAUDE.md", "gemini-cli": "GEMINI.md", "qwen-code": "QWEN.md"}
NAMES = frozenset({*_NATIVE.values(), _SHARED})  # of instruction files that every agent of some kind reads
_MAX = 0.5  # share of the touched files from which a folder or a pattern is what the work is about


@dataclass(frozen=True, slots=True)
class Session:
    """Who works where: what a context is asked for. `others` are further agents that worked in the same project."""

    agent: str
    cwd: Path
    home: Path
    environment: Mapping[str, str]
    worked: SessionWork = field(default_factory=SessionWork)
    others: tuple[str, ...] = ()

    @property
    def touched(self) -> list[str]:
        """The absolute paths of what was touched in the project or elsewhere."""
        return [normpath(join(str(self.cwd), path)) for path in self.worked.touched]

    def context(self, agent: str = "") -> Context:
        """Return what an agent loads here, what was touched included: this session's, unless another is named."""
        return context_of(
            agent or self.agent,
            self.worked.version if agent in {"", self.agent} else "",
            self.cwd,
            self.home,
            self.worked.touched,
            environment=self.environment,
            untouched=False,
        )


@dataclass(frozen=True, slots=True)
class Places:
    """The files that words may go to, the best first, all that is loaded, and why a project has none of its own.

    `why_not` says why the project's instruction file is none of them, where there is one.
    """

    refs: tuple[SkillRef, ...]
    context: Context
    why_none: str = ""
    why_not: str = ""


def project_refusal(session: Session, context: Context) -> str | None:
    """Return why skilld edits no file of the project that a session worked in; None if they are the person's."""
    root = Path(context.root)
    above = session.home.is_relative_to(root) and not _is_kept_home(session, context)
    if root == root.parent or above or is_of_kernel(session.cwd):
        return "the session was not in a project"
    return None if is_own_project(root) else "the project is a clone that you have never committed to"


def _is_kept_home(session: Session, context: Context) -> bool:
    """Whether the person keeps their home folder in git, with an instruction file of its own at the top."""
    root = Path(context.root)
    found = (one for one in context.files if one.scope is Whose.PROJECT and one.entered and not one.via)
    return root == session.home and (root / ".git").exists() and any(Path(one.path).parent == root for one in found)


def places(
    session: Session, allowed: Collection[TargetKind], said: Iterable[Scope] = (), named: Sequence[str] = ()
) -> Places:
    """Return the places of a session among the `allowed` kinds; `said` are the files that the words are about.

    `named` are those that the words are to be put into: each that the agent loads is a place.
    """
    context = session.context()
    others = {name: session.context(name) for name in session.others if name != session.agent}
    root = Path(context.root)
    why = project_refusal(session, context)
    refs: list[SkillRef] = []
    why_not = ""
    if not why:
        if TargetKind.RULES in allowed and root != session.home:  # there its rules would be the person's everywhere
            rules = _rules(context, session.touched)
            scoped = [one for one in said if not one.folder or (root / one.folder).is_dir()]
            rules += [one for one in _rules_for(context, scoped) if one not in rules]
            refs += _refs(rules, TargetKind.RULES, root, session.agent, others)
            refs += _rules_to_make(refs, scoped, root, frozenset({session.agent, *others}))
        if TargetKind.INSTRUCTIONS in allowed:
            found, why_not = _instructions(context, session, root, others)
            refs += found
    if TargetKind.PERSONAL in allowed:
        refs += _personal(session, context)
    for name in dict.fromkeys(named):
        known = {ref.path for ref in refs}
        refs += [
            ref
            for ref in _named(session, root, name, others, own=not why)
            if ref.kind in allowed and ref.path not in known
        ]
    return Places(tuple(refs), context, why or "", why_not)


_OF_NOBODY = (Whose.SKILL, Whose.MANAGED, Whose.MEMORY)


def _named(session: Session, root: Path, name: str, others: Mapping[str, Context], *, own: bool) -> list[SkillRef]:
    """Return what the session's agent loads by this name, once something in its folder is touched; or would load.

    `own` says whether the project is the person's.
    """
    work = replace(session.worked, touched=(*session.worked.touched, str(root / name), str(session.cwd / name)))
    context = replace(session, worked=work).context()
    refs = []
    for one in context.files:
        inside = context.is_inside(one)
        way = _shown(one.path, session.home, "~/")
        if one.scope in _OF_NOBODY or not (own if inside else within(one.real, str(session.home.resolve()))):
            continue
        if is_called(name, one.path, way):
            kind = TargetKind.RULES if one.scope is Whose.RULE else TargetKind.INSTRUCTIONS
            kind, top = (kind, root) if inside else (TargetKind.PERSONAL, session.home)
            refs += _refs([one], kind, top, session.agent, others)
    if not refs and own and name == _LOCAL and session.agent == "claude-code":
        path = root / _LOCAL
        made = SkillRef(_LOCAL, str(path), kind=TargetKind.INSTRUCTIONS, agents=(session.agent,), absent=True)
        refs += [] if os.path.lexists(path) else [made]
    return [replace(ref, on_order=True) for ref in refs]


def _rules(context: Context, touched: Sequence[str]) -> list[LoadedFile]:
    """Return the project's rules that hold for the work at hand, those for some paths before those for all."""
    found = [one for one in context.files if one.scope is Whose.RULE and one.entered and not one.via]
    inside = [one for one in found if context.is_inside(one) and (not one.paths or _holds_for_most(one, touched))]
    return sorted(inside, key=lambda one: not one.paths)


def _rules_for(context: Context, scoped: Sequence[Scope]) -> list[LoadedFile]:
    """Return the project's rules for the files that words are about, whether or not one of those was touched."""
    found = [one for one in context.files if one.scope is Whose.RULE and one.paths and not one.via]
    return [one for one in found if context.is_inside(one) and any(takes(one.paths, scope) for scope in scoped)]


def _rules_to_make(
    known: Sequence[SkillRef], scoped: Sequence[Scope], root: Path, agents: frozenset[str]
) -> list[SkillRef]:
    """Return a rule file for each scope that has none, where all agents at work in the project read such files."""
    kind = rule_files(agents)
    if kind is None:
        return []
    made = []
    for scope in scoped:
        name = kind.path(scope)
        if any(takes(ref.patterns, scope) for ref in known if ref.patterns) or os.path.lexists(root / name):
            continue
        front, readers = kind.front(scope), tuple(sorted(agents))
        path, rules = str(root / name), TargetKind.RULES
        made.append(SkillRef(name, path, kind=rules, agents=readers, absent=True, patterns=scope.patterns, front=front))
    return made


def _holds_for_most(file: LoadedFile, touched: Sequence[str]) -> bool:
    """Whether most of what was touched is what a file is loaded for: one look elsewhere changes nothing."""
    below = [path[len(file.base) + 1 :] for path in touched if within(path, file.base)]
    own = [path for path in below if not file.paths or matches(file.paths, path)]
    return len(own) > _MAX * len(touched)


def _instructions(
    context: Context, session: Session, root: Path, others: Mapping[str, Context]
) -> tuple[list[SkillRef], str]:
    """Return the project's instruction file, that of a folder only where most of the work was there; or why not.

    Of several in one folder it is the one that most agents at work in the project load.
    """
    agent = session.agent
    loaded = [
        one
        for one in context.files
        if one.scope in {Whose.PROJECT, Whose.NESTED} and one.entered and not one.via and within(one.path, str(root))
    ]
    fitting = [one for one in loaded if context.is_inside(one)]
    nested = [one for one in fitting if one.scope is Whose.NESTED and _holds_for_most(one, session.touched)]

    def rank(one: LoadedFile) -> tuple[int, int]:
        return one.depth, sum(one.real in {file.real for file in loads.files} for loads in others.values())

    nearest = max(nested or [one for one in fitting if one.scope is Whose.PROJECT], key=rank, default=None)
    if nearest is None:
        name = _native(session, root, others)
        readers = (agent, *(other for other in others if name in ADAPTERS[other].INFO.instructions))
        absent = SkillRef(name, str(root / name), kind=TargetKind.INSTRUCTIONS, agents=readers, absent=True)
        if (blank := _blank(root / name, root)) is not None:
            return [replace(absent, path=blank, absent=False)], ""
        outside = next((f"{basename(one.path)} points outside the project through a symlink" for one in loaded), "")
        why = outside or (_unloaded_reason(root / name) if os.path.lexists(absent.path) else "")
        return ([], why) if why else ([absent], "")
    imported = [one for one in context.files if one.via == nearest.path and basename(one.path) == _SHARED]
    chain = [*(one for one in imported if context.is_inside(one)), nearest]
    refs = _refs(chain, TargetKind.INSTRUCTIONS, root, agent, others)
    return refs[:1], "" if refs else file_refusal(nearest.real, basename(nearest.path)) or ""


def _blank(path: Path, top: Path) -> str | None:
    """Return the real path of a file below `top` that may be edited, if nothing but comments keeps it from being empty.

    No agent loads such a file: it is a place nevertheless.
    """
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(top) or file_refusal(str(real)):
            return None
        lines = split_front(real.read_text(encoding="utf-8-sig"))[1]
    except (OSError, RuntimeError, UnicodeDecodeError):
        return None
    return None if any(line.strip() for line in without_comments(lines)) else str(real)


def _unloaded_reason(path: Path) -> str:
    """Return why an agent loads nothing of what has the name of an instruction file."""
    try:
        facts = path.stat()
        return file_problem(facts, path.name) or f"{path.name} cannot be read"
    except OSError:
        return f"{path.name} cannot be reached"


def _native(session: Session, root: Path, others: Mapping[str, Context]) -> str:
    """Return the name of the instruction file to make: the one that every agent at work in the project reads.

    Where there is none, as Gemini CLI reads no AGENTS.md unless told to, it is the session's agent that has to read it.
    """
    native = _NATIVE.get(session.agent, _SHARED)
    if all(_NATIVE.get(other, _SHARED) == native for other in others):
        return native
    made = str(root / _SHARED)
    loads = context_of(
        session.agent,
        session.worked.version,
        session.cwd,
        session.home,
        environment=session.environment,
        files=_WithFile(made),
        untouched=False,
    )
    return _SHARED if any(one.path == made and one.entered for one in loads.files) else native


class _WithFile(Disk):
    """The files of this machine and one more, as if it had been made."""

    def __init__(self, made: str) -> None:
        super().__init__()
        self._made = made

    def read(self, path: str) -> FileText | None:
        """Return a file, the one that is not there yet with a word in it."""
        return FileText("made", path) if path == self._made else super().read(path)

    def names(self, folder: str) -> Mapping[str, bool]:
        """Return what is in a folder, and whether each is a folder."""
        there = super().names(folder)
        return {**there, basename(self._made): False} if folder == dirname(self._made) else there

    def exists(self, path: str) -> bool:
        """Whether anything has this name."""
        return path == self._made or super().exists(path)


def _personal(session: Session, context: Context) -> list[SkillRef]:
    found = [one for one in context.files if one.scope is Whose.PERSONAL and not one.via]
    named = [one for one in found if basename(one.path) in NAMES]
    refs = _refs(named, TargetKind.PERSONAL, session.home, session.agent, {})
    if refs:
        return refs[:1]
    if found or session.agent not in ADAPTERS:
        return []
    own = agent_homes(ADAPTERS[session.agent].INFO, session.home, session.environment)[0]
    if session.agent == "opencode":  # its folder in ADAPTERS is that of its data
        own = Path(session.environment.get("XDG_CONFIG_HOME") or session.home / ".config") / "opencode"
    path = own / _NATIVE.get(session.agent, _SHARED)
    there, name = os.path.lexists(path), _shown(str(path), session.home, "~/")
    real = _blank(path, session.home.resolve()) if there else str(own.resolve() / path.name)
    if not own.is_dir() or real is None:
        return []
    return [SkillRef(name, real, kind=TargetKind.PERSONAL, agents=(session.agent,), absent=not there)]


def _refs(
    files: Iterable[LoadedFile], kind: TargetKind, top: Path, agent: str, others: Mapping[str, Context]
) -> list[SkillRef]:
    """Return references to those of the files that may be edited."""
    refs = []
    for one in files:
        if file_refusal(one.real):
            continue
        agents = (
            agent,
            *(name for name, loads in others.items() if any(file.real == one.real for file in loads.files)),
        )
        name = _shown(one.path, top, "~/" if kind is TargetKind.PERSONAL else "")
        refs.append(SkillRef(name, one.real, kind=kind, agents=agents, patterns=one.paths))
    return refs


def file_refusal(path: str, name: str = "") -> str | None:
    """Return why skilld does not edit a file, by its real path; None if it may. `name` is what people call it."""
    name = name or basename(path)
    try:
        facts = os.stat(path)  # noqa: PTH116 - a text of the context's
    except OSError:
        return f"{name} cannot be reached"
    if why := file_problem(facts, name):
        return why
    if not os.access(path, os.W_OK):
        return f"{name} is read-only"
    with open(path, "rb") as opened:  # noqa: PTH123 - as above; its text in the context has no comments
        text = opened.read().decode("utf-8-sig", "replace")
    return f"{name} says that it is a generated file" if is_generated(text) and not _has_room(text) else None


def _has_room(text: str) -> bool:
    """Whether a generated file has lines for people: words anywhere else would be gone when it is made again."""
    try:
        return manual_lines(parse(text.encode()).body) is not None
    except SkilldError:
        return False


def _shown(path: str, top: Path, before: str = "") -> str:
    """Return the name of a file for people: its way from the project, or from the home."""
    return before + path[len(str(top)) + 1 :] if within(path, str(top)) else path
