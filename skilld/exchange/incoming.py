"""Turns a skill at a source into a proposal for a new skill: parsed, checked, and marked as imported.

Bytes and names in; a proposal for a path out, or a refusal with its reason. The caller stages it.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from skilld.classify.backends import OFFLINE
from skilld.edit.lint import Finding, Severity, lint
from skilld.edit.tokens import FILE_ENDING
from skilld.errors import RefusedError, SkilldError, UsageError
from skilld.exchange import document
from skilld.exchange.document import from_document
from skilld.exchange.outgoing import json_texts
from skilld.exchange.source_folder import SourceFolder, split_source
from skilld.files import read_regular
from skilld.git import objects
from skilld.git.remote import clone
from skilld.git.run import Git
from skilld.git.tree import FILE_MODES
from skilld.library.consolidate import best_match, describe_skill
from skilld.markdown.structure import code_spans
from skilld.proposals.model import IMPORT_PREFIX
from skilld.redact import Finding as Secret
from skilld.skills import Places, Skill
from skilld.skills.draft import (
    Draft,
    SkillKind,
    as_kind,
    cut_description,
    draft_faults,
    left_out_keys,
    read_draft,
    write_draft,
)
from skilld.skills.find import FILE, MAX_BYTES
from skilld.skills.spec import MAX_NAME, NAME_PATTERN, read_front
from skilld.skills.write import new_skill_path
from skilld.text import safe_text, truncate, without_login
from skilld.types import Kind, Op, Operation, Proposal
from skilld.values import value_class

# Reading a source: links are not followed, nothing is run or checked out, and only regular files of moderate size with
# the known names are read; those of a repository are read from git's objects.

_TITLE = "Nothing was imported"
_UNSAFE_NAMES = frozenset({"", "."})  # possible in a handmade tree, but not in a work tree
_OTHER_MODES = {"120000": "it is a symlink", "160000": "it is a separate repository"}


MAX_SKILLS = 50
_MAX_FILES = 20_000
_MAX_DEPTH = 8
_MAX_SHOWN = 10  # names
_YAML_SUFFIXES = (".yaml", ".yml")
_FRONT_FENCES = (b"---", b"\xef\xbb\xbf---")
_DOCUMENT_KEYS = (b"prompt", b"context", b"implementation", b"steps", b"generated_from")
_AS_SKILL_REMEDY = (
    "Save it as SKILL.md in a folder called {}, with a description between two lines of three hyphens at the top."
)
_DECLARE_REMEDY = "Declare each {{name}} in the file, or write it without braces."
ARCHIVE_SUFFIXES = frozenset({".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"})
_HOST_PATTERN = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\w")  # an address without https://
_ADDRESS_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:[\w.-]+@)?[\w.-]{2,}:(?!:)")


class NameTakenError(SkilldError):
    """There is a skill, or an open proposal of one, with the name of an imported skill."""


@value_class
class SourceSkill:
    """One skill at a source: `where` is its path there, `folder` the name of its folder, "" if it has none.

    `beside` are the other files in its folder, which are left out; `why` says why it cannot be read, "" if it can.
    """

    where: str
    folder: str
    data: bytes = b""
    beside: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_yaml(self) -> bool:
        """Whether it is a YAML document instead of a SKILL.md."""
        is_text = PurePosixPath(self.where).name == FILE or self.data.startswith(_FRONT_FENCES)
        return self.where.lower().endswith(_YAML_SUFFIXES) or (not is_text and _is_document(self.data))

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a person may choose it: its path, and its folder's name or that of its YAML file."""
        return self.where, PurePosixPath(self.where).stem if self.is_yaml else self.folder


def is_address(source: str) -> bool:
    """Whether a source is the address of a repository and not a path. Raises UsageError for `helper::...`."""
    if re.match(r"[\w.+-]+::", source):
        raise UsageError(_TITLE, "this kind of URL runs a program instead of naming a repository")
    return bool(_ADDRESS_PATTERN.match(source)) and not os.path.lexists(source)


def find_skills(source: str, branch: str = "", only: Collection[str] = ()) -> list[SourceSkill]:
    """Return the skills at a source: a YAML file, a SKILL.md, a folder, or a git repository by path or address.

    An address may name a folder in the repository, as `https://github.com/OWNER/REPO/tree/BRANCH/FOLDER` does.
    `branch` is for repositories only; `only` are the names of those wanted, if not all. Raises SkilldError if there are
    none.
    """
    if is_address(source):
        return _chosen(source, _find_in_clone(split_source(source), branch, only), only)
    try:
        path = Path(source).expanduser().resolve()
        return _chosen(source, _find_at_path(path, source, branch, only), only)
    except (OSError, RuntimeError) as error:  # a name that is too long, an unreadable folder; an unknown home
        raise SkilldError(_TITLE, f"{source}: {getattr(error, 'strerror', None) or error}") from error


def _find_at_path(path: Path, source: str, branch: str, only: Collection[str]) -> list[SourceSkill]:
    if path.is_dir():
        return _find_in_directory(path, source, branch, only)
    if branch and os.path.lexists(path):
        raise UsageError(_TITLE, f"{source} is a file, which has no branches", "Leave out --branch")
    if path.is_file():
        found = _read_file(SourceSkill(path.name, path.parent.name if path.name == FILE else ""), path)
        if path.name == FILE or found.is_yaml:
            return [found]
        if read_front(found.data.decode("utf-8", "replace")).description:  # exported under a name of the person's
            return [replace(found, folder=path.stem)]
    if os.path.lexists(path):
        remedy = _AS_SKILL_REMEDY.format(valid_name(path.stem) or "NAME")
        if path.suffix.lower() in ARCHIVE_SUFFIXES:
            remedy = "Unpack it, then import the folder: skilld skills import FOLDER"
        raise UsageError(_TITLE, f"{source} is not a SKILL.md, a YAML file, a folder or a git repository", remedy)
    inside = split_source(str(path))
    if inside.folder and Path(inside.repository).is_dir():
        return _find_in_clone(inside, branch, only)
    remedy = f"For a repository, give its URL: https://{source}" if _HOST_PATTERN.match(source) else ""
    raise SkilldError(_TITLE, f"{source} does not exist", remedy)


def _find_in_directory(path: Path, source: str, branch: str, only: Collection[str]) -> list[SourceSkill]:
    is_bare = (path / "HEAD").is_file() and (path / "objects").is_dir()
    if branch and not (is_bare or os.path.lexists(path / ".git")):
        cause = f"{source} is not the top folder of a repository, so it has no branches"
        raise UsageError(_TITLE, cause, "Leave out --branch, or name the top folder and use --only")
    if branch or is_bare:
        return _find_in_clone(SourceFolder(str(path), "", ""), branch, only)
    return _find_below(path, only)


def _chosen(source: str, found: list[SourceSkill], only: Collection[str]) -> list[SourceSkill]:
    if not found:
        remedy = "To import another file: " + _AS_SKILL_REMEDY[:1].lower() + _AS_SKILL_REMEDY[1:].format("NAME")
        raise SkilldError(_TITLE, f"there is no SKILL.md and no skill in YAML in {source}", remedy)
    there = dict.fromkeys(name for one in found for name in one.names[1:])
    if missing := [name for name in only if not any(name in one.names for one in found)]:
        shown = ", ".join([*islice(there, _MAX_SHOWN), *(["..."] if len(there) > _MAX_SHOWN else [])])
        raise UsageError("No such skill in the source", f"{', '.join(missing)}; available: {shown}")
    found = [one for one in found if _is_wanted(one, only)]
    if len(found) > MAX_SKILLS:
        cause, remedy = f"{source} has {len(found)} skills; the limit is {MAX_SKILLS}", "Choose some: --only NAME"
        raise RefusedError(_TITLE, cause, remedy)
    return found


def _is_wanted(one: SourceSkill, only: Collection[str]) -> bool:
    return not only or not set(only).isdisjoint(one.names)


def _read_among(
    files: Collection[str], top: str, only: Collection[str], read: Callable[[SourceSkill], SourceSkill]
) -> list[SourceSkill]:
    """Return the skills among the files of a source, read if they are wanted; `top` is the name of its top folder.

    Unread if they are too many, since `_chosen` refuses them.
    """
    listed = [SourceSkill(where, folder or top, beside=beside) for where, folder, beside in _skill_files(files)]
    wanted = sum(_is_wanted(one, only) for one in listed)
    found = [read(one) if wanted <= MAX_SKILLS and _is_wanted(one, only) else one for one in listed]
    documents = (read(SourceSkill(where, "")) for where in _yaml_files(files))
    return [*found, *(one for one in documents if _is_document(one.data))]


def _read_file(one: SourceSkill, path: Path) -> SourceSkill:
    """Return a skill with the data of its file, whose path has been resolved."""
    try:
        return replace(one, data=read_regular(path, MAX_BYTES, links=False)[0])
    except ValueError as error:
        why = str(error)
    except OSError as error:
        why = "it is a symlink" if path.is_symlink() else (error.strerror or "it cannot be read")
    return replace(one, beside=(), why=why)


def _find_below(top: Path, only: Collection[str]) -> list[SourceSkill]:
    files: list[str] = []
    for here, folders, names in os.walk(top):
        depth = len(Path(here).relative_to(top).parts)
        folders[:] = sorted(name for name in folders if name != ".git" and depth < _MAX_DEPTH)
        files += [(Path(here) / name).relative_to(top).as_posix() for name in names]
        if len(files) > _MAX_FILES:
            raise RefusedError(_TITLE, f"{top} has more than {_MAX_FILES} files", "Import one of its folders.")
    return _read_among(files, top.name, only, lambda one: _read_file(one, top / one.where))


def _find_in_clone(place: SourceFolder, branch: str, only: Collection[str]) -> list[SourceSkill]:
    with tempfile.TemporaryDirectory(prefix="skilld-import-") as name:  # 0700
        git = clone(place.repository, Path(name) / "clone", branch=branch or place.branch)
        tree = {where: file for where, file in _list_tree(git).items() if place.holds(where)}

        def read(one: SourceSkill) -> SourceSkill:
            if why := tree[one.where].why:
                return replace(one, beside=(), why=why)
            return replace(one, data=_read_blob(git, one.where, tree[one.where].oid))

        own = PurePosixPath(place.repository).name.removesuffix(".git")
        return _read_among(tree, own, only, read)


class _TreeFile(NamedTuple):
    """A file in a commit: its object, and why it is not read, "" if it is."""

    oid: str
    why: str


def _list_tree(git: Git) -> dict[str, _TreeFile]:
    """Return the files of the newest commit by path, without ambiguous paths.

    Raises SkilldError if there is no commit, RefusedError if there are too many files.
    """
    listed = git.call("ls-tree", "-r", "-z", "-l", "--full-tree", "HEAD")
    if listed.status != 0:
        raise SkilldError(
            _TITLE, "the default branch of the repository has no commits", "Choose another: --branch NAME"
        )
    rows = listed.out.split(b"\0")[:-1]
    if len(rows) > _MAX_FILES:
        raise RefusedError(_TITLE, f"the repository has {len(rows)} files; the limit is {_MAX_FILES}")
    found = {}
    for row in rows:
        head, _, path = row.partition(b"\t")
        mode, _, oid, size = head.decode().split()
        why = "" if mode in FILE_MODES else _OTHER_MODES.get(mode, "it is not a regular file")
        if not why and int(size) > MAX_BYTES:
            why = f"it is {size} bytes; the limit is {MAX_BYTES}"
        name = path.decode("utf-8", "replace")
        if _UNSAFE_NAMES.isdisjoint(name.split("/")):
            found[name] = _TreeFile(oid, why)
    return found


def _read_blob(git: Git, path: str, oid: str) -> bytes:
    found = objects.read_objects(git, [oid])[0]
    if found is None or found.kind != "blob":
        raise SkilldError(_TITLE, f"{path} is not in the repository")
    return found.data


def _skill_files(files: Iterable[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the path, the folder's name and the other files of its folder for every SKILL.md among `files`."""
    paths = sorted(PurePosixPath(file) for file in files)
    beside: dict[PurePosixPath, list[str]] = {path.parent: [] for path in paths if path.name == FILE}
    for path in paths:
        home = next((up for up in path.parents if up in beside), None)
        if home is not None and path != home / FILE:
            beside[home].append(str(path))
    for home in sorted(beside):
        yield str(home / FILE), home.name, tuple(beside[home])


def _yaml_files(files: Iterable[str]) -> list[str]:
    """Return the YAML files at the top of a source, where an export writes them, unless that is a skill's folder."""
    top = sorted(file for file in files if "/" not in file)
    return [] if FILE in top else [file for file in top if file.lower().endswith(_YAML_SUFFIXES)]


def _is_document(data: bytes) -> bool:
    """Whether a file has the keys of a skill in YAML; other programs' files have not."""
    keys = set(re.findall(rb"^(?:\xef\xbb\xbf)?([a-z_]+):", data, re.MULTILINE))
    return {b"name", b"description"} <= keys and not keys.isdisjoint(_DOCUMENT_KEYS)


# The person said nothing of an imported skill, so the linter gets no typed words. Its rules about untyped commands,
# paths and addresses would refuse nearly every honest skill (60 of 62 real ones; all other rules refuse 7), so these
# only give flags; such a proposal is never applied automatically.

_REFUSED_TITLE = "The skill was not imported"
_UNTYPED_PREFIX = "foreign-"


def judge_draft(draft: Draft, secrets: Callable[[str], Sequence[Secret]]) -> tuple[str, tuple[str, ...]]:
    """Return the SKILL.md of a draft, and the flags that a person must see before accepting it.

    Raises RefusedError if the linter refuses it, if it contains a secret, or if it is invalid for its kind;
    SkilldError if it does not meet the specification.
    """
    if wrong := draft_faults(draft):
        remedy = _DECLARE_REMEDY if any(one.endswith(" without declaring it") for one in wrong) else ""
        raise RefusedError(_REFUSED_TITLE, "; ".join(wrong), remedy)
    if not NAME_PATTERN.fullmatch(draft.name) or len(draft.name) > MAX_NAME:
        # The example of the RFC is called analyze_pr, as a tool; `mcp` calls its tool so again.
        remedy = f"Import it under a valid name: --name {valid_name(draft.name) or 'NAME'}"
        raise RefusedError(_REFUSED_TITLE, _name_fault(draft.name), remedy)
    try:
        text = write_draft(draft)
    except SkilldError as error:
        remedy = "" if draft.description else "Add a description to it: what the skill does, and when to use it."
        raise SkilldError(_REFUSED_TITLE, error.cause, remedy) from error
    if found := secrets(text):
        cause = f"it contains what looks like a secret ({found[0].kind})"
        raise RefusedError(_REFUSED_TITLE, cause, "Remove it from the file first.")
    findings = lint(b"", _all_texts(draft).encode("utf-8", "replace"), "")
    if refused := [
        one for one in findings if one.severity is Severity.REFUSE and not one.rule.startswith(_UNTYPED_PREFIX)
    ]:
        raise RefusedError(_REFUSED_TITLE, "; ".join(one.sentence for one in refused))
    return text, tuple(_flag_sentences(findings))


def _name_fault(name: str) -> str:
    if not name:
        return "it has no name"
    if len(name) > MAX_NAME:
        return f"its name is {len(name)} characters long; the limit is {MAX_NAME}"
    return f"{safe_text(name)} is not a valid name: it can contain only lowercase letters, digits and single hyphens"


def valid_name(name: str) -> str:
    """Return the nearest valid name, such as add-uber for AddÜber; "" if there is none."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", unicodedata.normalize("NFKD", name))
    plain = "".join(char for char in parted.casefold() if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_NAME].rstrip("-")


def _flag_sentences(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one sentence per rule: a whole skill may have dozens, which nobody reads."""
    by_rule: dict[str, list[str]] = {}
    for one in findings:
        by_rule.setdefault(one.rule, []).append(one.sentence)
    for first, *more in by_rule.values():
        yield f"{first} (and others like it)" if set(more) - {first} else first


def _all_texts(draft: Draft) -> str:
    """Return every text of a draft that an agent may read, as paragraphs."""
    variables = [text for one in draft.variables for text in (one.name, one.type, one.description) if text]
    texts = [draft.description, draft.body, *variables, draft.project, draft.team, draft.author, *draft.tags]
    return "\n\n".join([*(text for text in texts if text), *json_texts(draft.schema)])


IMPORTED_ORIGIN = "imported"
_MAX_SUMMARY_LENGTH = 300


@value_class
class ImportedSkill:
    """A skill that may be staged. `left_out` names its keys and files that are not imported."""

    draft: Draft
    text: str
    flags: tuple[str, ...]
    left_out: tuple[str, ...]


def import_skill(
    found: SourceSkill,
    source: str,
    secrets: Callable[[str], Sequence[Secret]],
    *,
    name: str = "",
    kind: SkillKind | None = None,
) -> ImportedSkill:
    """Return the skill of a source's file, with the given name and kind if any.

    Raises SkilldError if it cannot be read or is not a skill, RefusedError if it may not be proposed.
    """
    if found.why:
        raise SkilldError(_REFUSED_TITLE, found.why)
    draft, unknown = from_document(document.load_yaml(found.data)) if found.is_yaml else _read_draft(found)
    draft = replace(draft, name=name or draft.name, sessions=(), origin=IMPORTED_ORIGIN)
    wanted = kind or draft.kind
    draft = as_kind(draft, wanted) if wanted else draft
    if kind and (wrong := draft_faults(draft)):
        raise RefusedError(_REFUSED_TITLE, "; ".join(wrong), "Import it as what it is: leave out --as")
    text, flags = judge_draft(draft, secrets)
    flags = (f"imported from {without_login(source)}", *flags)
    return ImportedSkill(draft, text, flags, (*unknown, *found.beside))


def import_proposal(taken: ImportedSkill, path: Path, at: str, tries: int) -> Proposal:
    """Return the open proposal that creates the skill at `path` (its SKILL.md), not staged yet.

    `tries` counts earlier proposals for this path. The id does not depend on the time, so that the next import finds
    the proposal of one that was killed before it was stored.
    """
    name = hashlib.sha256(f"{path}\n{tries}\n{taken.text}".encode()).hexdigest()[:8]
    return Proposal(
        id=name,
        batch_id=f"{IMPORT_PREFIX}{name}",
        skill=taken.draft.name,
        path=str(path),
        operations=(Operation(Op.CREATE, "", taken.text),),
        summary=truncate(taken.draft.description, _MAX_SUMMARY_LENGTH),
        reason="Imported; none of it is in your own words.",
        kind=Kind.FACT,
        confidence=0.0,
        model=OFFLINE,
        created_at=at,
        flags=taken.flags,
    )


def _read_draft(found: SourceSkill) -> tuple[Draft, tuple[str, ...]]:
    try:
        text = found.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SkilldError(_REFUSED_TITLE, "it is not UTF-8") from None
    try:
        draft = read_draft(text)
    except SkilldError as error:
        raise SkilldError(_REFUSED_TITLE, error.cause, error.remedy) from error
    names = (draft.name, found.folder)  # agents use the folder's
    name = next(filter(NAME_PATTERN.fullmatch, names), draft.name or found.folder)
    return replace(draft, name=name), (*left_out_keys(text), *cut_description(draft.description))


# Comparing an imported skill with the person's own: a name that is taken, the same task.


def find_place(
    name: str,
    project: Path | None,
    *,
    skills: Iterable[Skill],
    waiting: Iterable[Proposal],
    places: Mapping[str, Places],
    home: Path,
) -> Path:
    """Return where the SKILL.md of an imported skill goes: into a project, or to the person's own skills.

    `skills` are the existing ones there, `waiting` the open proposals. Raises SkilldError with the remedy if the name
    is taken or already proposed, and whatever `new_skill_path` raises.
    """
    existing = next((skill for skill in skills if skill.name.casefold() == name.casefold()), None)
    if existing is not None:
        raise NameTakenError(
            _REFUSED_TITLE,
            f"you already have a skill called {name}: {existing.path}",
            f"Give it another name: --name {name}-2",
        )
    path = new_skill_path(name, [project.resolve()] if project else [], [], places, home)
    if proposed := next((one for one in waiting if one.path == str(path)), None):
        raise NameTakenError(
            _REFUSED_TITLE,
            f"the open proposal {proposed.id} already creates a skill at that path",
            f"Decide on it first: skilld review {proposed.id}",
        )
    return path


_SCRIPT_PATTERN = re.compile(r"(?:\./)?((?:[\w-][\w.-]*/)+[\w-][\w.-]*)(?=\s|$)")  # at the beginning of a command


def missing_script_flags(text: str, project: Path) -> tuple[str, ...]:
    """Return a flag if the commands of a skill begin with scripts that its new project does not have."""
    code = (span.content.strip() for line in text.splitlines() for span in code_spans(line))
    calls = (match for one in code if (match := _SCRIPT_PATTERN.match(one)) and (" " in one or FILE_ENDING.search(one)))
    missing = [name for name in dict.fromkeys(match[1] for match in calls) if not (project / name).exists()]
    return (f"It runs scripts that {project} does not have: {', '.join(missing[:_MAX_SHOWN])}",) if missing else ()


_VERY_SIMILAR = 0.5  # of the scale of `Match.score`; skills from 0.27 on may be for the same task


def similarity_flags(taken: ImportedSkill, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return a flag if one of the person's skills, given as name -> text, is for the same task."""
    mine = [describe_skill(name, name, text) for name, text in texts.items()]
    match = best_match(describe_skill("", taken.draft.name, taken.text), mine)
    how = "very similar to" if match and match.score >= _VERY_SIMILAR else "perhaps for the same task as"
    return (f"{how} your skill {match.other.name}: {match.why}",) if match else ()
