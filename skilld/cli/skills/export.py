"""`skilld skills export`: your skills as files for other people, without secrets or session data."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common, inventory
from skilld.edit.operations import mark_front_matter
from skilld.errors import RefusedError, SkilldError, UsageError, cause_of
from skilld.exchange import document as yaml_text
from skilld.exchange.document import UsageStats, to_document
from skilld.exchange.outgoing import SessionWords, own_words, without_sessions
from skilld.exchange.source_skills import ARCHIVE_SUFFIXES
from skilld.files import read_regular, shell_quoted, write_atomically
from skilld.library.rows import LibraryRow
from skilld.markdown.skill_file import parse
from skilld.proposals.repositories import find_file
from skilld.skills.draft import left_out_keys, read_draft
from skilld.skills.find import FILE
from skilld.store import Store
from skilld.types import Op, Operation

_MAX_FILES, _MAX_SHOWN = 1000, 5  # other files in a skill's folder: examined, and printed
_NOT_EXPORTED = "Nothing was exported"
_ELSEWHERE = "Choose another place: -o PATH"


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store_or_empty()
    rows = [inventory.find_skill(store, name) for name in dict.fromkeys(arguments.names)]
    out = common.expand_path(arguments.out) if arguments.out not in {None, "-"} else None
    paths = _target_paths(rows, out, arguments)
    redact = common.redactor()
    texts = []
    for row in rows:
        with inventory.named_error(row, "exported", others=len(rows) > 1):
            texts.append(_export_text(store, row, arguments, redact))
    files = []
    for row, path, (text, is_masked) in zip(rows, paths, texts, strict=True):
        _warn_of_losses(row, arguments, is_masked=is_masked)
        if not arguments.with_evidence:
            _name_own_words(row, text, inventory.session_words(store, [row]))
        if path is None:
            console.write_part(text)
        else:
            if os.path.realpath(path) == str(row.path):
                raise RefusedError(_NOT_EXPORTED, f"{path} is the skill itself", _ELSEWHERE)
            folder = path.parent if path.parent.parent == out else None
            files.append(_NewFile(path, text.encode(), folder, arguments.force))
    _write_files(files)
    return 0


def _target_paths(rows: list[LibraryRow], out: Path | None, arguments: argparse.Namespace) -> list[Path | None]:
    """Return the file for each skill, None for standard output. Raises UsageError if two would be the same."""
    is_folder = out is not None and out.is_dir()
    if out is not None and not is_folder and out.suffix.lower() in ARCHIVE_SUFFIXES:
        cause = f"{out.name} would be an archive, and skills are written as text"
        raise UsageError(_NOT_EXPORTED, cause, f"Name a YAML file: -o {shell_quoted(out.with_suffix('.yaml'))}")
    if len(rows) > 1 and not is_folder:
        cause, remedy = f"{len(rows)} skills do not go into one file", "Name an existing folder: -o FOLDER"
        raise UsageError(_NOT_EXPORTED, cause, remedy)
    if out is None or not is_folder:
        if out is not None and arguments.out.endswith("/"):
            raise UsageError(_NOT_EXPORTED, f"{out} is not a folder", f"Create it: mkdir -p {shell_quoted(out)}")
        return [out]
    names = [row.name for row in rows]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        remedy = "Export them one at a time, each to its own file: -o FILE"
        raise UsageError(_NOT_EXPORTED, f"several of these skills are called {twice}", remedy)
    return [out / (f"{name}.yaml" if arguments.format == "yaml" else f"{name}/{FILE}") for name in names]


@dataclass(frozen=True)
class _NewFile:
    """A file to be written, and its folder if that may have to be created. No symlink is followed."""

    path: Path
    data: bytes
    folder: Path | None
    force: bool

    def must_be_written(self) -> bool:
        """Return whether the file differs or is missing. Raises RefusedError if what is there must stay."""
        if link := next((one for one in (self.folder, self.path) if one is not None and one.is_symlink()), None):
            raise RefusedError(_NOT_EXPORTED, f"{link} is a symlink", _ELSEWHERE)
        if not os.path.lexists(self.path):
            return True
        if not self.path.is_file():
            raise RefusedError(_NOT_EXPORTED, f"{self.path} is not a regular file", _ELSEWHERE)
        with suppress(ValueError):  # larger, so not the same
            if read_regular(self.path, len(self.data), links=False)[0] == self.data:
                return False
        if not self.force:
            raise RefusedError(_NOT_EXPORTED, f"{self.path} already exists", "To replace it: --force")
        return True

    def write(self) -> None:
        """Write the file at once, or nothing."""
        if self.folder is not None:
            self.folder.mkdir(exist_ok=True)
        mode = stat.S_IMODE(self.path.stat().st_mode) if self.path.exists() else 0o666 & ~common.umask()
        write_atomically(self.path, self.data, mode, self.must_be_written)


def _write_files(files: list[_NewFile]) -> None:
    """Write the files that differ, after all were checked."""
    path = Path()
    try:
        todo = []
        for file in files:
            path = file.path
            todo += [file] if file.must_be_written() else []
        for file in files:
            path = file.path
            if file in todo:
                file.write()
            console.say(f"{'Wrote' if file in todo else 'Unchanged:'} {console.message(str(path))}")
    except FileNotFoundError as error:
        remedy = f"Create the folder first: mkdir -p {shell_quoted(path.parent)}"
        raise SkilldError("Could not write the file", f"{path}: {cause_of(error)}", remedy) from error
    except OSError as error:
        raise SkilldError("Could not write the file", f"{path}: {cause_of(error)}") from error


def _warn_of_losses(row: LibraryRow, arguments: argparse.Namespace, *, is_masked: bool) -> None:
    """Warn of what the exported text lacks although the skill may need it."""
    name = console.plain(row.name)
    if is_masked:
        sys.stderr.write(f"skilld: {name}: masked something that looks like a secret\n")
    if arguments.format == "yaml" and (keys := left_out_keys(inventory.skill_text(row.skill))):
        sys.stderr.write(f"skilld: {name}: not included in yaml: {console.plain(', '.join(keys))}\n")
    warn_of_other_files(row)


def _name_own_words(row: LibraryRow, text: str, said: SessionWords) -> None:
    """Name the words of the person's that an export contains: it says what they taught."""
    if words := own_words(text, said):
        shown = ", ".join(f"\u201c{console.plain(word)}\u201d" for word in words)
        sys.stderr.write(f"skilld: {console.plain(row.name)}: contains words of yours: {shown}\n")


def warn_of_other_files(row: LibraryRow) -> None:
    """Warn of other files in a skill's folder, which are not included although its text may refer to them."""
    folder = row.path.parent
    files = (path.relative_to(folder) for path in islice(folder.rglob("*"), _MAX_FILES) if path.is_file())
    if beside := sorted(str(path) for path in files if str(path) != row.path.name):
        shown = ", ".join([*beside[:_MAX_SHOWN], *(["..."] if len(beside) > _MAX_SHOWN else [])])
        name = console.plain(row.name)
        sys.stderr.write(f"skilld: {name}: only its SKILL.md is included, not {console.plain(shown)}\n")


def _export_text(
    store: Store, row: LibraryRow, arguments: argparse.Namespace, redact: Callable[[str], str]
) -> tuple[str, bool]:
    """Return the text to write, without secrets, and whether there were any."""
    said = inventory.skill_text(row.skill, exact=True)
    evidence = _collect_evidence(store, row) if arguments.with_evidence else None
    if evidence is None:
        said = without_sessions(said, inventory.session_words(store, [row]))
    if arguments.format == "skill":
        said = _mark_provenance(said, evidence) if evidence is not None else said
        text = redact(said)
        return text, text != said
    draft = read_draft(said, row.name)
    if evidence is not None:
        draft = replace(draft, sessions=evidence.sessions, author=evidence.author, date=evidence.date)
    # How often a skill is used is nobody else's business, and a rate of none or few uses says nothing.
    stats = UsageStats(row.uses.number, row.uses.success or None) if evidence is not None else UsageStats()
    document = to_document(draft, stats, evidence.quotes if evidence is not None else ())
    # Each text separately first: YAML folds long lines, and a secret split over two would not be found.
    masked = _mask(document, redact)
    dumped = yaml_text.dump_yaml(masked)
    text = redact(dumped)
    if len(text.encode()) > yaml_text.MAX_BYTES:
        cause = f"as yaml, {row.name} is over {yaml_text.MAX_BYTES} bytes, which cannot be imported"
        raise SkilldError(_NOT_EXPORTED, cause, "Use the other format: --format skill")
    return text, masked != document or text != dumped


def _mask(value: Any, redact: Callable[[str], str]) -> Any:  # noqa: ANN401 - maps, lists and scalars
    if isinstance(value, dict):
        return {_mask(key, redact): _mask(item, redact) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask(item, redact) for item in value]
    return redact(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class _Evidence:
    """What a skill was learned from: sessions, quotes, the person's name, and the date, each empty if unknown."""

    sessions: tuple[str, ...]
    quotes: tuple[str, ...]
    author: str
    date: str


def _collect_evidence(store: Store, row: LibraryRow) -> _Evidence:
    """Return what the skill itself says about its origin, and what its accepted proposals say."""
    draft = read_draft(inventory.skill_text(row.skill), row.name)
    accepted = [one for one in store.proposals.accepted() if one.path == str(row.path) and one.evidence]
    turns = {piece.turn for one in accepted for piece in one.evidence}  # a mined proposal joins several sessions
    past = {one.session_id for one in store.past.sessions() if any(said.turn in turns for said in one.said)}
    known = (one.session_id for one in accepted if one.session_id)
    sessions = (*draft.sessions, *known, *sorted(store.overview.sessions_of(turns) | past))
    quotes = (piece.quote for one in accepted for piece in one.evidence)
    return _Evidence(
        tuple(dict.fromkeys(sessions)),
        tuple(dict.fromkeys(quotes)),
        draft.author or (_git_name(row) if accepted else ""),
        draft.date or max((one.decided_at[:10] for one in accepted), default=""),
    )


def _git_name(row: LibraryRow) -> str:
    """Return the person's name in git, empty if git has none or does not track the skill."""
    try:
        return find_file(row.path).repo.git.settings(r"^user\.name$").get("user.name", "")
    except SkilldError:
        return ""


def _mark_provenance(text: str, evidence: _Evidence) -> str:
    """Return a SKILL.md with its sessions and author in its metadata."""
    file = parse(text.encode())
    front = file.front
    try:
        for key, value in (("skilld-sessions", ", ".join(evidence.sessions)), ("skilld-author", evidence.author)):
            front = mark_front_matter(front, Operation(Op.MARK, key, value), file.ending) if value else front
    except SkilldError as error:
        cause, remedy = f"there is no place for the evidence: {error.cause}", "Use the other format: --format yaml"
        raise SkilldError(_NOT_EXPORTED, cause, remedy) from error
    return text.replace(file.front, front, 1) if file.front else text
