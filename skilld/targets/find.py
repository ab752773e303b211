"""Finds the files that a session's instructions may go to, among those that its agent really loads.

Takes an agent and a folder; returns checked references in order of preference: rules for the files worked on, the
project's instructions, the person's own file. A project's files are included only if it is the person's own project.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from posixpath import basename, dirname, join, normpath

from skilld.agents import ADAPTERS
from skilld.context import NATIVE_NAMES, Context, LoadedFile, context_of, personal_file
from skilld.context import Scope as FileScope
from skilld.context.disk import Disk, FileText
from skilld.context.markup import split_front_matter, without_comments
from skilld.context.patterns import matches
from skilld.context.values import within
from skilld.errors import SkilldError
from skilld.git.attributes import storage_refusal
from skilld.git.state import PRIVATE_NAME, is_own_project
from skilld.git.top import is_top
from skilld.markdown.skill_file import parse
from skilld.markdown.structure import is_generated, manual_lines
from skilld.skills.find import file_problem, is_kernel_path
from skilld.targets.route import matches_name
from skilld.targets.scopes import Scope, fits, rule_files
from skilld.targets.session_work import SessionWork
from skilld.types import SkillRef, TargetKind
from skilld.values import value_class

SHARED_NAME = "AGENTS.md"  # read by most agents
INSTRUCTION_NAMES = frozenset({*NATIVE_NAMES.values(), SHARED_NAME})  # of instruction files
NEVER_COMMITTED_REASON = "the project is a clone that you have never committed to"
_MIN_SHARE = 0.5  # of the touched files: the work is about a folder or pattern with more than this


NO_PROJECT_REASON = "the session was not in a project"
NO_FOLDER_REASON = "the session's folder no longer exists"


@value_class
class WorkingSession:
    """An agent, its working folder and what it touched. `others` are more agents that worked in the same project."""

    agent: str
    cwd: Path
    home: Path
    environment: Mapping[str, str]
    worked: SessionWork = field(default_factory=SessionWork)
    others: tuple[str, ...] = ()

    @property
    def touched(self) -> list[str]:
        """The absolute paths of touched files, in the project or elsewhere."""
        return [normpath(join(str(self.cwd), path)) for path in self.worked.touched]

    def context(self, agent: str = "") -> Context:
        """Return what this session's agent, or another one, loads here, given the touched files."""
        return context_of(
            agent or self.agent,
            self.worked.version if agent in {"", self.agent} else "",
            self.cwd,
            self.home,
            self.worked.touched,
            environment=self.environment,
            untouched=False,
        )

    def readers(self, file: Path) -> tuple[str, ...]:
        """Return which of these agents load a file (a real path), at least once they touch a file beside it."""
        beside = replace(self, worked=replace(self.worked, touched=(*self.worked.touched, str(file.with_name("-")))))
        agents = dict.fromkeys((self.agent, *self.others))
        return tuple(one for one in agents if any(loaded.real == str(file) for loaded in beside.context(one).files))

    def loads_beside(self, agent: str, file: Path, made: Path) -> bool:
        """Whether one of these agents loads a file once there is another one, `made`."""
        version = self.worked.version if agent == self.agent else ""
        after = context_of(
            agent, version, self.cwd, self.home, environment=self.environment, files=_DiskWithFile(str(made))
        )
        return any(one.real == os.path.realpath(file) for one in after.files)


@value_class
class TargetFiles:
    """The possible targets, best first, the context, and why the project has no targets (`why_none`, else "").

    `why_not` says why the project's instruction file is not a target, if there is one.
    """

    refs: tuple[SkillRef, ...]
    context: Context
    why_none: str = ""
    why_not: str = ""

    @property
    def refusal(self) -> str:
        """Why no file of the project is a target, or not the one that was meant; empty if nothing is wrong."""
        return self.why_none or self.why_not


def project_refusal(session: WorkingSession, context: Context) -> str | None:
    """Return why skilld edits no file of the session's project; None if it is the person's own."""
    root = Path(context.root)
    above = session.home.is_relative_to(root) and not _is_home_in_git(session, context)
    if root == root.parent or above or is_kernel_path(session.cwd):
        return NO_PROJECT_REASON
    if is_own_project(root):
        return None
    if not root.is_dir():
        return NO_FOLDER_REASON
    if root.stat().st_uid != os.geteuid():
        return "the project belongs to another user"
    return NEVER_COMMITTED_REASON


def _is_home_in_git(session: WorkingSession, context: Context) -> bool:
    """Whether the home folder is a git repository with an instruction file at the top."""
    root = Path(context.root)
    found = (one for one in context.files if one.scope is FileScope.PROJECT and one.entered and not one.via)
    return root == session.home and is_top(root) and any(Path(one.path).parent == root for one in found)


def find_targets(
    session: WorkingSession, allowed: Collection[TargetKind], said: Iterable[Scope] = (), named: Sequence[str] = ()
) -> TargetFiles:
    """Return the targets of a session among the `allowed` kinds; `said` are the files that the words are about.

    `named` are files that the words ask to be put into: each that the agent loads is a target.
    """
    context = session.context()
    others = {name: session.context(name) for name in session.others if name != session.agent}
    root = Path(context.root)
    why = project_refusal(session, context)
    refs: list[SkillRef] = []
    why_not = ""
    if not why:
        if TargetKind.RULES in allowed and root != session.home:  # rules in the home folder would apply everywhere
            rules = _matching_rules(context, session.touched)
            about = tuple(said)
            scoped = [one for one in about if not one.folder or (root / one.folder).is_dir()]
            rules += [one for one in _rules_for_scopes(context, about) if one not in rules]
            refs += _editable_refs(rules, TargetKind.RULES, root, session.agent, others)
            if TargetKind.INSTRUCTIONS in allowed:
                refs += _folder_targets(session, root, scoped)
            meant = [one for one in scoped if not one.bare]
            refs += _missing_rules(refs, meant, root, frozenset({session.agent, *others}))
        if TargetKind.INSTRUCTIONS in allowed:
            found, why_not = _instruction_targets(context, session, root, others)
            refs += [ref for ref in found if ref.path not in {other.path for other in refs}]
    if TargetKind.PERSONAL in allowed:
        refs += _personal_targets(session, context)
    for name in dict.fromkeys(named):
        known = {ref.path for ref in refs}
        found = _named_targets(session, root, name, others, own=not why)
        if not found and not why and basename(name) in INSTRUCTION_NAMES:
            found, unfit = _unloaded_target(session, root, name)
            why_not = unfit or why_not
        refs += [ref for ref in found if ref.kind in allowed and ref.path not in known]
    return TargetFiles(tuple(refs), context, why or "", why_not)


_UNEDITED_SCOPES = (FileScope.SKILL, FileScope.MANAGED, FileScope.MEMORY)


def _named_targets(
    session: WorkingSession, root: Path, name: str, others: Mapping[str, Context], *, own: bool
) -> list[SkillRef]:
    """Return the files of this name that the session's agent loads once something in their folder is touched.

    `own` says whether the project is the person's. A CLAUDE.local.md that does not exist yet counts too.
    """
    work = replace(session.worked, touched=(*session.worked.touched, str(root / name), str(session.cwd / name)))
    context = replace(session, worked=work).context()
    refs = []
    for one in context.files:
        inside = context.is_inside(one)
        way = _display_name(one.path, session.home, "~/")
        if one.scope in _UNEDITED_SCOPES or not (own if inside else within(one.real, str(session.home.resolve()))):
            continue
        if matches_name(name, one.path, way):
            kind = TargetKind.RULES if one.scope is FileScope.RULE else TargetKind.INSTRUCTIONS
            kind, top = (kind, root) if inside else (TargetKind.PERSONAL, session.home)
            refs += _editable_refs([one], kind, top, session.agent, others)
    if not refs and own and name == PRIVATE_NAME and session.agent == "claude-code":
        path = root / PRIVATE_NAME
        front = _imports(_hidden_by(session, path), root)
        kind = TargetKind.INSTRUCTIONS
        made = SkillRef(PRIVATE_NAME, str(path), kind=kind, agents=(session.agent,), absent=True, front=front)
        refs += [] if os.path.lexists(path) else [made]
    return [replace(ref, on_order=True) for ref in refs]


def _unloaded_target(session: WorkingSession, root: Path, name: str) -> tuple[list[SkillRef], str]:
    """Return the project's instruction file that is named but not loaded here, or why it cannot be edited.

    A name without a folder that does not exist means the project's file, whatever that is called.
    """
    for path in dict.fromkeys((root / name, session.cwd / name)):
        if (ref := _instruction_ref(session, root, path)) is not None:
            return [replace(ref, on_order=True)], ""
        if os.path.lexists(path):
            inside = path.resolve().is_relative_to(root)
            return [], (file_refusal(str(path.resolve()), name) if inside else f"{name} is outside the project") or ""
    return [], f"there is no {name}" if "/" in name else ""


def _folder_targets(session: WorkingSession, root: Path, scoped: Sequence[Scope]) -> list[SkillRef]:
    """Return the instruction file in each folder that the words are about, with the patterns of that folder."""
    names = dict.fromkeys((NATIVE_NAMES.get(session.agent, SHARED_NAME), SHARED_NAME))
    refs = []
    for scope in scoped:
        there = (_instruction_ref(session, root, root / scope.folder / name) for name in names if scope.folder)
        if (ref := next((one for one in there if one is not None and one.agents), None)) is not None:
            refs.append(replace(ref, patterns=scope.patterns))
    return refs


def _instruction_ref(session: WorkingSession, root: Path, path: Path) -> SkillRef | None:
    """Return an instruction file of the project as a target, with its readers; None if it may not be edited.

    An agent reads such a file below the folder it works in by itself, even if its client does not load it.
    """
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    if not real.is_relative_to(root) or file_refusal(str(real)):
        return None
    native = [one for one in (session.agent, *session.others) if real.name in ADAPTERS[one].INFO.instructions]
    name = real.relative_to(root).as_posix()
    readers = tuple(dict.fromkeys((*session.readers(real), *native)))
    return SkillRef(name, str(real), kind=TargetKind.INSTRUCTIONS, agents=readers)


def _matching_rules(context: Context, touched: Sequence[str]) -> list[LoadedFile]:
    """Return the project's rules that apply to the current work, those with patterns first."""
    found = [one for one in context.files if one.scope is FileScope.RULE and one.entered and not one.via]
    inside = [one for one in found if context.is_inside(one) and (not one.paths or _covers_most(one, touched))]
    return sorted(inside, key=lambda one: not one.paths)


def _rules_for_scopes(context: Context, scoped: Sequence[Scope]) -> list[LoadedFile]:
    """Return the project's rules for the files that the words are about, touched or not."""
    found = [one for one in context.files if one.scope is FileScope.RULE and one.paths and not one.via]
    return [one for one in found if context.is_inside(one) and any(fits(one.paths, scope) for scope in scoped)]


def _missing_rules(
    known: Sequence[SkillRef], scoped: Sequence[Scope], root: Path, agents: frozenset[str]
) -> list[SkillRef]:
    """Return a new rule file for each scope without one, if all agents in the project read such files."""
    kind = rule_files(agents)
    if kind is None:
        return []
    made: list[SkillRef] = []
    for scope in scoped:
        name = kind.path(scope)
        is_known = any(fits(ref.patterns, scope) for ref in (*known, *made) if ref.patterns)
        if is_known or os.path.lexists(root / name):
            continue
        front, readers = kind.front(scope), tuple(sorted(agents))
        path, rules = str(root / name), TargetKind.RULES
        made.append(SkillRef(name, path, kind=rules, agents=readers, absent=True, patterns=scope.patterns, front=front))
    return made


def _covers_most(file: LoadedFile, touched: Sequence[str]) -> bool:
    """Whether a file applies to more than half of the touched files."""
    below = [path[len(file.base) + 1 :] for path in touched if within(path, file.base)]
    own = [path for path in below if not file.paths or matches(file.paths, path)]
    return len(own) > _MIN_SHARE * len(touched)


def _instruction_targets(
    context: Context, session: WorkingSession, root: Path, others: Mapping[str, Context]
) -> tuple[list[SkillRef], str]:
    """Return the project's instruction file, or why there is none; a subfolder's only if most work was there.

    Among several in one folder, the one that most agents in the project load.
    """
    agent = session.agent
    loaded = [
        one
        for one in context.files
        if one.scope in {FileScope.PROJECT, FileScope.NESTED}
        and one.entered
        and not one.via
        and within(one.path, str(root))
    ]
    fitting = [one for one in loaded if context.is_inside(one)]
    nested = [one for one in fitting if one.scope is FileScope.NESTED and _covers_most(one, session.touched)]

    def rank(one: LoadedFile) -> tuple[int, int]:
        return one.depth, sum(one.real in {file.real for file in loads.files} for loads in others.values())

    nearest = max(nested or [one for one in fitting if one.scope is FileScope.PROJECT], key=rank, default=None)
    if nearest is None:
        name = _instruction_name(session, root, others)
        readers = (agent, *(other for other in others if name in ADAPTERS[other].INFO.instructions))
        absent = SkillRef(name, str(root / name), kind=TargetKind.INSTRUCTIONS, agents=readers, absent=True)
        if not os.path.lexists(absent.path) and name == NATIVE_NAMES.get(agent):
            absent = replace(absent, front=_imports(_hidden_by(session, root / name), root))
        if (blank := _blank_file(root / name, root)) is not None:
            return [replace(absent, path=blank, absent=False)], ""
        outside = next((f"{basename(one.path)} points outside the project through a symlink" for one in loaded), "")
        there = os.path.lexists(absent.path)
        why = outside or (_unloaded_reason(root / name) if there else _hiding_reason(session, root / name, others))
        return ([], why) if why else ([absent], "")
    imported = [one for one in context.files if one.via == nearest.path and basename(one.path) == SHARED_NAME]
    chain = [*(one for one in imported if context.is_inside(one)), nearest]
    refs = _editable_refs(chain, TargetKind.INSTRUCTIONS, root, agent, others)
    return refs[:1], "" if refs else file_refusal(nearest.real, basename(nearest.path)) or ""


def _blank_file(path: Path, top: Path) -> str | None:
    """Return the real path of an editable file below `top` that is empty except for comments, else None.

    No agent loads such a file, but it can be a target.
    """
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(top) or file_refusal(str(real)):
            return None
        lines = split_front_matter(real.read_text(encoding="utf-8-sig"))[1]
    except (OSError, RuntimeError, UnicodeDecodeError):
        return None
    return None if any(line.strip() for line in without_comments(lines)) else str(real)


def _unloaded_reason(path: Path) -> str:
    """Return why an agent does not load what has the name of an instruction file."""
    try:
        facts = path.stat()
        return file_problem(facts, path.name) or f"{path.name} cannot be read"
    except OSError:
        return f"{path.name} cannot be reached"


def _instruction_name(session: WorkingSession, root: Path, others: Mapping[str, Context]) -> str:
    """Return the name of the instruction file to create: one that every agent in the project reads.

    If there is none (Gemini CLI does not read AGENTS.md by default), it must be one that the session's agent reads; if
    its own would hide the AGENTS.md of a subfolder, AGENTS.md too.
    """
    native = NATIVE_NAMES.get(session.agent, SHARED_NAME)
    alike = all(NATIVE_NAMES.get(other, SHARED_NAME) == native for other in others)
    if alike and not any(one.scope is FileScope.NESTED for one in _hidden_by(session, root / native)):
        return native
    made = str(root / SHARED_NAME)
    loads = context_of(
        session.agent,
        session.worked.version,
        session.cwd,
        session.home,
        environment=session.environment,
        files=_DiskWithFile(made),
        untouched=False,
    )
    return SHARED_NAME if any(one.path == made and one.entered for one in loads.files) else native


def _hiding_reason(session: WorkingSession, made: Path, others: Iterable[str]) -> str:
    """Return why a new file must not be made: it would hide one from another agent, which cannot import it."""
    for other in others:
        hidden = [] if NATIVE_NAMES.get(other) else _hidden_by(session, made, other)
        if file := next((one for one in hidden if one.scope is FileScope.PROJECT), None):
            title = ADAPTERS[other].INFO.title
            return f"{title} would no longer load {basename(file.path)} here if there were an {made.name}"
    return ""


def _hidden_by(session: WorkingSession, made: Path, agent: str = "") -> list[LoadedFile]:
    """Return the files that the newest client of an agent, by default the session's, would not load beside `made`.

    Claude Code loads AGENTS.md only where there is no CLAUDE.md; an older one, which loads none, will be updated.
    """
    before, after = (
        context_of(agent or session.agent, "", session.cwd, session.home, environment=session.environment, files=files)
        for files in (Disk(), _DiskWithFile(str(made)))
    )
    kept = {one.real for one in after.files}
    return [one for one in before.files if one.real not in kept and not one.via]


def _imports(hidden: Sequence[LoadedFile], root: Path) -> str:
    """Return the first lines of a new file in `root` by which it imports those that it would hide there."""
    paths = [one.path for one in hidden if one.scope is FileScope.PROJECT and within(one.path, str(root))]
    return "".join(f"@{path[len(str(root)) + 1 :]}\n" for path in paths) + ("\n" if paths else "")


class _DiskWithFile(Disk):
    """The files of this machine, and one more as if it existed."""

    def __init__(self, made: str) -> None:
        super().__init__()
        self._made = made

    def read(self, path: str) -> FileText | None:
        """Return a file; the one that does not exist yet has some text."""
        return FileText("made", path) if path == self._made else super().read(path)

    def names(self, folder: str) -> Mapping[str, bool]:
        """Return the names in a folder, and whether each is a folder."""
        there = super().names(folder)
        return {**there, basename(self._made): False} if folder == dirname(self._made) else there

    def exists(self, path: str) -> bool:
        """Whether anything has this name."""
        return path == self._made or super().exists(path)


def _personal_targets(session: WorkingSession, context: Context) -> list[SkillRef]:
    found = [one for one in context.files if one.scope is FileScope.PERSONAL and not one.via]
    usual = personal_file(session.agent, session.home, session.environment)
    named = [one for one in found if one.path == usual or basename(one.path) in INSTRUCTION_NAMES]
    refs = _editable_refs(named, TargetKind.PERSONAL, session.home, session.agent, {})
    if refs:
        return refs[:1]
    if found or not usual:
        return []
    path = Path(usual)
    own = path.parent
    there, name = os.path.lexists(path), _display_name(str(path), session.home, "~/")
    real = _blank_file(path, session.home.resolve()) if there else str(own.resolve() / path.name)
    if not own.is_dir() or real is None:
        return []
    return [SkillRef(name, real, kind=TargetKind.PERSONAL, agents=(session.agent,), absent=not there)]


def _editable_refs(
    files: Iterable[LoadedFile], kind: TargetKind, top: Path, agent: str, others: Mapping[str, Context]
) -> list[SkillRef]:
    """Return references to those files that may be edited."""
    refs = []
    for one in files:
        if file_refusal(one.real):
            continue
        agents = (
            agent,
            *(name for name, loads in others.items() if any(file.real == one.real for file in loads.files)),
        )
        inside = kind is not TargetKind.PERSONAL and within(one.real, str(top))  # CLAUDE.md may be a link to AGENTS.md
        name = _display_name(one.real if inside else one.path, top, "~/" if kind is TargetKind.PERSONAL else "")
        refs.append(SkillRef(name, one.real, kind=kind, agents=agents, patterns=one.paths))
    return refs


def file_refusal(path: str, name: str = "") -> str | None:
    """Return why skilld does not edit the file at a real path; None if it may. `name` is shown to people."""
    name = name or basename(path)
    try:
        facts = os.stat(path)  # noqa: PTH116 - the context has strings
    except OSError:
        return f"{name} cannot be reached"
    if why := file_problem(facts, name):
        return why
    if not os.access(path, os.W_OK):
        return f"{name} is read-only"
    if why := storage_refusal(Path(path), name):
        return why
    try:
        with open(path, encoding="utf-8-sig") as opened:  # noqa: PTH123 - as above; the context's text has no comments
            text = opened.read()
    except UnicodeDecodeError:
        return f"{name} is not UTF-8 text"
    return f"{name} says that it is a generated file" if is_generated(text) and not _has_own_section(text) else None


def _has_own_section(text: str) -> bool:
    """Whether a generated file has a section for people: anything else is lost when it is generated again."""
    try:
        return manual_lines(parse(text.encode()).body) is not None
    except SkilldError:
        return False


def _display_name(path: str, top: Path, before: str = "") -> str:
    """Return a file's path relative to the project or the home, for people."""
    return before + path[len(str(top)) + 1 :] if within(path, str(top)) else path
