"""Reads small files of a repository's default branch while another branch is checked out.

What was read is kept until a ref changes, so that a question for every turn costs some calls of `stat`. Imports no
GitPython, because the daemon asks, too.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from skilld.errors import SkilldError
from skilld.files import file_stamp
from skilld.git.environment import SILENT_OPTIONS, git_program, silent_variables
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.git.state import git_dirs, head_branch, packed_refs, symbolic_target
from skilld.git.watchdog import WATCHDOG
from skilld.values import value_class

_SECONDS = 5.0  # that git may take
_MAX_REPOSITORIES = 200  # whose answers are kept
_REMOTE_BRANCH = re.compile(r"refs/remotes/[^/]+/(.+)")
_USUAL_NAMES = ("main", "master")
_ANSWER = re.compile(rb"[0-9a-f]{40,64} (blob|tree|commit|tag) ([0-9]+)\n")

Stamp = tuple[tuple[int, ...], ...]


@value_class
class BranchFile:
    """A file of a branch: the branch's short name, and its content; None if it is too large, or no file."""

    branch: str
    data: bytes | None


@dataclass(slots=True)
class _Known:
    """What was read of a repository while the files of its refs had this stamp."""

    watched: tuple[str, ...]
    stamp: Stamp
    refs: tuple[str, ...]
    files: dict[str, tuple[BranchFile, ...]] = field(default_factory=dict)


_known: dict[str, _Known] = {}


def default_branch_files(top: str, paths: Sequence[str], limit: int) -> Mapping[str, tuple[BranchFile, ...]]:
    """Return those of these paths that are on the default branch of the work tree `top`, as fetched and as here.

    The branch that is checked out is left out: its files are in the work tree. Nothing is found if git cannot read the
    repository. A file with more than `limit` bytes has no content.
    """
    known = _known.get(top)
    if known is None or not known.watched or known.stamp != _stamp(known.watched):
        if len(_known) >= _MAX_REPOSITORIES:
            _known.clear()
        known = _known[top] = _look(top)
    if known.refs and (new := [path for path in paths if path not in known.files and "\n" not in path]):
        known.files |= _read(top, known.refs, new, limit)
    return {path: found for path in paths if (found := known.files.get(path))}


def _look(top: str) -> _Known:
    try:
        git_dir, common = git_dirs(Path(top, ".git"))
        possible = _possible_refs(common)
        checked_out = head_branch(git_dir)
    except (OSError, ValueError, SkilldError):
        return _Known((), (), ())
    if not (git_dir / "HEAD").is_file():
        return _Known((), (), ())
    remotes = common / "refs/remotes"
    below = [path for folder in _folders(remotes) for path in (folder, folder / "HEAD")]
    files = git_dir / "HEAD", common / "packed-refs", common / "reftable/tables.list", remotes
    watched = tuple(map(str, (*files, *below, *(common / ref for group in possible for ref in group))))
    stamp, refs = _stamp(watched), _existing_refs(common, possible)
    return _Known(watched, stamp, tuple(ref for ref in refs if ref != checked_out))


def _possible_refs(common: Path) -> list[tuple[str, ...]]:
    """Return the refs that the default branch may have, the likeliest branch first, as `skilld.git.repo` finds it."""
    if (common / "reftable").is_dir():  # only git can read these
        return [("refs/remotes/origin/HEAD", *(f"refs/heads/{name}" for name in _USUAL_NAMES))]
    heads = (symbolic_target(folder / "HEAD") for folder in _folders(common / "refs/remotes"))
    pointers = sorted((ref for ref in heads if ref), key=lambda ref: not ref.startswith("refs/remotes/origin/"))
    named = [found for ref in pointers if (found := _REMOTE_BRANCH.fullmatch(ref)) and found[1] != STAGING_BRANCH]
    usual = [(f"refs/remotes/origin/{name}", f"refs/heads/{name}") for name in _USUAL_NAMES]
    return [*((one[0], f"refs/heads/{one[1]}") for one in named[:1]), *usual]


def _existing_refs(common: Path, possible: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the refs of the first of these branches that exists; from the files of refs only."""
    if (common / "reftable").is_dir():
        return possible[0]
    packed = set[str]()
    with suppress(OSError, ValueError):
        packed = packed_refs(common)
    there = ([ref for ref in group if ref in packed or (common / ref).is_file()] for group in possible)
    return next(filter(None, there), [])


def _folders(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(Path(entry.path) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    return []


def _stamp(paths: Sequence[str]) -> Stamp:
    return tuple(file_stamp(path) for path in paths)


def _read(top: str, refs: Sequence[str], paths: Sequence[str], limit: int) -> dict[str, tuple[BranchFile, ...]]:
    """Have one git process read the files. Return nothing if it does not answer for all of them: it is asked again."""
    asked = [(ref, path) for path in paths for ref in refs]
    answers: list[bytes | None] = []
    environment = silent_variables() | {"GIT_CEILING_DIRECTORIES": str(Path(top).parent)}
    with suppress(OSError, SkilldError), tempfile.TemporaryFile() as given:
        given.write(b"".join(os.fsencode(f"{ref}:{path}\n") for ref, path in asked))
        given.seek(0)
        process = subprocess.Popen(
            [git_program(), *SILENT_OPTIONS, "-C", top, "cat-file", "--batch"],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        try:
            with WATCHDOG.limit(_SECONDS, process.kill):
                answers = [*_answers(process.stdout, limit)] if process.stdout else []
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
    if len(answers) < len(asked):
        return {}
    found: dict[str, tuple[BranchFile, ...]] = dict.fromkeys(paths, ())
    for (ref, path), answer in zip(asked, answers, strict=True):
        if answer is not None:
            found[path] += (BranchFile(ref.split("/", 2)[2], None if answer == b"\0" else answer),)
    return found


def _answers(out: IO[bytes], limit: int) -> Iterator[bytes | None]:
    """Yield git's answers: a file's content, a NUL for what is no file or too large, None for what is missing."""
    while (line := out.readline()).endswith(b"\n"):
        header = _ANSWER.fullmatch(line)
        if header is None:
            yield None
            continue
        left, kept = int(header[2]) + 1, b""
        while left and (piece := out.read(min(left, 1 << 16))):
            left -= len(piece)
            kept = kept + piece if len(kept) <= limit else kept
        is_file = header[1] == b"blob" and len(kept) <= limit + 1
        yield kept[:-1] if is_file and not left else b"\0"
