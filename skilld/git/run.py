"""Runs git: an allow-list of subcommands, a fixed silent prefix, closed stdin, a timeout on every call.

A failure is a typed error. GitPython is used only to run processes: its objects would read configuration. One process
stays: the `cat-file` from which a `Git` reads objects. This module knows nothing about a repository except its folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import NoReturn

from skilld.files import shell_quoted
from skilld.git.environment import (
    SILENT_OPTIONS,
    SILENT_VARIABLES,
    git_program,
    person_variables,
    repository_variables,
    scrub_environment,
    terminal_variables,
)
from skilld.git.errors import GitFailedError, GitTimeoutError, RepoRefusedError
from skilld.git.session import current_session
from skilld.git.watchdog import WATCHDOG
from skilld.text import safe_text, without_login
from skilld.values import value_class

# On import, GitPython runs git twice for its version. With a program that cannot be run, this saves 2 processes; it
# must be told to stay quiet about that. If there is no git, this module reports it in our words.
os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = os.devnull
os.environ["GIT_PYTHON_REFRESH"] = "quiet"
from git.cmd import Git as Runner
from git.exc import GitCommandError

del os.environ["GIT_PYTHON_GIT_EXECUTABLE"], os.environ["GIT_PYTHON_REFRESH"]  # the person's hooks would inherit them

# A pack is the only form in which git accepts blobs, trees and commits from one process together
# (`git unpack-objects`). Its format: gitformat-pack(5).

SHA1 = "sha1"
_TYPE_NUMBERS = {"commit": 1, "tree": 2, "blob": 3}

NewObject = tuple[str, bytes]
"""An object to write: its kind and its content."""


def object_id(kind: str, data: bytes, algorithm: str = SHA1) -> str:
    """Return the ID of an object in a repository of this object format."""
    return hashlib.new(algorithm, f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


def pack(objects: Sequence[NewObject], algorithm: str = SHA1) -> bytes:
    """Return a pack of these objects in order, without deltas."""
    out = [b"PACK", struct.pack(">II", 2, len(objects))]
    for kind, data in objects:
        out += [_header(_TYPE_NUMBERS[kind], len(data)), zlib.compress(data)]
    body = b"".join(out)
    return body + hashlib.new(algorithm, body, usedforsecurity=False).digest()


def _header(number: int, size: int) -> bytes:
    """Return the encoded kind and size: 4 bits of the size in the first byte, 7 in each other one, lowest first."""
    first, rest = number << 4 | size & 15, size >> 4
    out = bytearray([first])
    while rest:
        out[-1] |= 128
        out.append(rest & 127)
        rest >>= 7
    return bytes(out)


def tree_rows(data: bytes, id_bytes: int) -> Iterator[tuple[bytes, str, str]]:
    """Yield name, mode and ID of each entry of a tree."""
    position = 0
    while position < len(data):
        blank = data.index(b" ", position)
        end = data.index(b"\0", blank)
        mode, position = data[position:blank].decode("utf-8", "replace"), end + 1 + id_bytes
        yield data[blank + 1 : end], mode, data[end + 1 : position].hex()


# How long one call may take: ours, and one of the person's with hooks and a prompt for a passphrase.
GIT_SECONDS = 20.0
_SILENT_SECONDS = 1.0
PERSON_SECONDS = 300.0

# Commands that refuse to run with --literal-pathspecs; their paths must start with "./".
_NON_LITERAL_COMMANDS = frozenset({"check-ignore"})

# Subcommand -> required arguments.
_ALLOWED_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "blame": ("--no-textconv", "--porcelain"),
    "cat-file": (),
    "check-ignore": ("--quiet", "--no-index"),
    "check-ref-format": (),
    "config": ("--null", "--get-regexp"),
    "diff-tree": ("--no-ext-diff", "--no-textconv", "--name-status"),
    "for-each-ref": (),
    "init": ("--quiet", "--template="),
    "ls-files": ("-z", "--stage"),
    "ls-tree": (),
    "merge-base": (),
    "merge-file": ("-p",),
    "rev-list": (),
    "rev-parse": (),
    "unpack-objects": ("-q",),
    "update-index": ("-z", "--index-info"),
    "update-ref": ("--no-deref", "--stdin"),
    "version": (),
}
_PERSON_READ_COMMANDS = frozenset({"diff-index", "ls-files", "rev-parse", "status"})
_PICKING_COMMANDS = frozenset({"cherry-pick", "revert"})
_PERSON_COMMANDS = _PERSON_READ_COMMANDS | _PICKING_COMMANDS | {"commit", "read-tree"}


@value_class
class Result:
    """The result of a git command: exit status, output, and its error output, safe to show: no logins either."""

    status: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of its output, which end at newlines alone: a branch or a folder may have U+0085 in its name."""
        return self.out.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if self.out else []


class Git:
    """Git in one folder, for skilld's own reading and writing.

    `ceiling` is a folder above which git does not search for a repository: for a known work tree its parent, so that a
    repository that vanishes is never mistaken for one further up. With `git_dir`, git does not search at all: `folder`
    is then its work tree, which need not exist yet. `algorithm` is the repository's object format.
    """

    def __init__(
        self, folder: Path, *, ceiling: Path | None = None, git_dir: Path | None = None, algorithm: str = SHA1
    ) -> None:
        self.folder = folder if git_dir is None or folder.is_dir() else git_dir
        self.algorithm = algorithm
        self._reader: Runner.AutoInterrupt | None = None
        self._unwritten: dict[str, NewObject] = {}
        self._kept: dict[bytes, tuple[str, str, bytes]] = {}  # what was read by ID, as long as a reader stays
        self._env = SILENT_VARIABLES | repository_variables(self.folder, git_dir)
        if ceiling is not None:
            self._env["GIT_CEILING_DIRECTORIES"] = str(ceiling)

    def call(
        self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, seconds: float = GIT_SECONDS
    ) -> Result:
        """Write the added objects, run an allowed subcommand and return its result, whatever its status.

        Raises GitTimeoutError after `seconds`, and ValueError for a subcommand that is not allowed.
        """
        self.write()
        with self._limited(seconds) as limit:
            return execute(self._argv(args), self.folder, self._env | dict(env or {}), stdin, limit)

    @contextmanager
    def _limited(self, seconds: float = GIT_SECONDS) -> Iterator[float]:
        """Yield how long a call may take; remember within `shared_git` that it took too long."""
        silent = command.silent if (command := current_session()) else set[Path]()
        try:
            yield min(seconds, _SILENT_SECONDS) if self.folder in silent else seconds
        except GitTimeoutError:
            if seconds >= GIT_SECONDS:
                silent.add(self.folder)
            raise

    def run(
        self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, seconds: float = GIT_SECONDS
    ) -> bytes:
        """Run an allowed subcommand and return its output; raises GitFailedError for any status but 0."""
        result = self.call(*args, stdin=stdin, env=env, seconds=seconds)
        if _NO_TREE in result.err and self.call("config", "--null", "--get-regexp", r"^remote\..*\.promisor$").out:
            result = Result(result.status, result.out, f"{result.err} {_PROMISED}")
        return _check(result, args[0], self.folder)

    def lines(self, *args: str) -> list[str]:
        """Run an allowed subcommand and return the lines of its output, as `run` does."""
        result = self.call(*args)
        _check(result, args[0], self.folder)
        return result.lines

    def settings(self, pattern: str, *options: str) -> dict[str, str]:
        """Return the settings whose names match a regex, by name; empty if they cannot be read."""
        out = self.call("config", *options, "--null", "--get-regexp", pattern).out.decode("utf-8", "surrogateescape")
        return dict(row.split("\n", 1) for row in out.split("\0") if "\n" in row)

    def add(self, kind: str, data: bytes) -> str:
        """Queue an object for writing and return its ID; `write` or the next call writes it, and it can be read now."""
        oid = object_id(kind, data, self.algorithm)
        self._unwritten[oid] = kind, data
        return oid

    def write(self) -> None:
        """Write all added objects in order, with one process."""
        if self._unwritten:
            data, self._unwritten = pack([*self._unwritten.values()], self.algorithm), {}
            self.run("unpack-objects", "-q", stdin=data)

    def objects(self, names: Sequence[bytes]) -> list[tuple[str, str, bytes] | None]:
        """Return ID, kind and content of the objects with these names, None for each that does not exist.

        Within `shared_git` one process answers all calls. Raises GitFailedError if it ends, as it does at a damaged
        object, and GitTimeoutError if it takes too long; the next call starts another.
        """
        known = [self._known_name(name) for name in names]
        found = {name: self._kept[name] for name in known if name in self._kept}
        found |= {
            name: (name.decode(), *self._unwritten[name.decode()]) for name in known if _is_in(name, self._unwritten)
        }
        asked = [name for name in dict.fromkeys(known) if name and name not in found]
        for name, (oid, kind, size, data) in zip(asked, self._query(b"contents", asked) if asked else (), strict=True):
            if size >= 0:
                found[name] = oid, kind, data
                if self._reader is not None and size <= _MAX_KEPT_BYTES and _PLACE_PATTERN.fullmatch(name):
                    self._kept[name] = found[name]
        return [found.get(name) for name in known]

    def _known_name(self, name: bytes) -> bytes:
        """Return the name of an object from where it leaves those that are only added; empty if they show it missing.

        A rebuilt branch is read as it grows, and written with one process.
        """
        match = _PLACE_PATTERN.fullmatch(name)
        if match is None or not _is_in(match[1], self._unwritten):
            return name
        kind, data = self._unwritten[match[1].decode()]
        if kind == "blob" and match[1] != name:
            return b""
        oid = match[1] if kind != "commit" or match[1] == name else data[len("tree ") :].split(b"\n", 1)[0]
        parts = match[2].split(b"/") if match[2] else []
        while parts and _is_in(oid, self._unwritten):
            kind, data = self._unwritten[oid.decode()]
            rows = {row: found for row, _, found in tree_rows(data, len(oid) // 2)} if kind == "tree" else {}
            if (part := parts.pop(0)) not in rows:
                return b""
            oid = rows[part].encode()
        return b":".join([oid, b"/".join(parts)]) if parts else oid

    def sizes(self, names: Sequence[bytes]) -> list[tuple[str, str, int]]:
        """Return ID, kind and size of the objects with these names, as `objects` does; -1 for each that is missing."""
        return [(oid, kind, size) for oid, kind, size, _ in self._query(b"info", names)]

    def _query(self, question: bytes, names: Sequence[bytes]) -> list[tuple[str, str, int, bytes]]:
        if any(_COMMIT_END_PATTERN.split(name, 1)[0].decode("latin-1") in self._unwritten for name in names):
            self.write()
        reader, self._reader = self._reader, None
        command = current_session()
        found: list[tuple[str, str, int, bytes]] = []
        while len(found) < len(names):
            if reader is None:
                reader = _start(self._argv(("cat-file", "--batch-command")), self.folder, self._env, reads=True)
                if command is not None:
                    command.readers.append(self)
            with self._limited() as seconds:
                answers, is_there = _read_in_time(reader, question, names[len(found) :], seconds, self.folder)
            found += answers
            reader = reader if is_there else None
        if command is not None:
            self._reader = reader
        return found

    def close(self) -> None:
        """End the process that reads objects, and forget what it read; the next read starts another."""
        self._reader, self._kept = None, {}

    def _argv(self, args: Sequence[str]) -> list[str]:
        command, *rest = args
        if command not in _ALLOWED_COMMANDS or any(flag not in rest for flag in _ALLOWED_COMMANDS[command]):
            raise ValueError(f"git {command} is not allowed with {rest}")
        scrub_environment()
        plain = ["--no-literal-pathspecs"] if command in _NON_LITERAL_COMMANDS else []
        return [git_program(), *SILENT_OPTIONS, *plain, "-C", str(self.folder), *args]


class PersonGit:
    """Git as the person would run it in their work tree: with their hooks, signing, identity and configuration.

    Used only for commands that the person gave. `git_dir` is as in `Git`, `defaults` are variables for settings that
    the person lacks, and `overruled` are settings that a cherry-pick or a revert must not have.

    Their hooks, filters and signing programs inherit git's environment, which therefore has nothing of ours except
    `GIT_TERMINAL_PROMPT=0`: a question would have no terminal to itself. What an option of git's own would pass on to
    them (`--literal-pathspecs`, `-c`, `--no-pager`) is said in the arguments of the subcommand: see `literal`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        git_dir: Path | None = None,
        defaults: Mapping[str, str] | None = None,
        overruled: Iterable[str] = (),
    ) -> None:
        self.folder = folder
        self._overruled = [*overruled]
        self._own = dict(defaults or {}) | repository_variables(folder, git_dir)

    def call(self, *args: str, stdin: bytes | None = None, seconds: float = PERSON_SECONDS) -> Result:
        """Run one of the few subcommands that accept and revert need, and return its result."""
        if args[0] not in _PERSON_COMMANDS:
            raise ValueError(f"git {args[0]} is not allowed with the user's environment")
        env = person_variables() | self._own
        settings = self._overruled if args[0] in _PICKING_COMMANDS else []
        if args[0] in _PERSON_READ_COMMANDS:  # which write nothing, and need no program that a repository configures
            env["GIT_OPTIONAL_LOCKS"] = "0"
            settings = ["core.fsmonitor=false"]
        return execute(command_line(self.folder, *args, settings=settings), self.folder, env, stdin, seconds)

    def replace_process(self, *args: str) -> NoReturn:
        """Replace this process by git, with the person's terminal, pager and editor.

        Relative paths refer to the current folder if that is in the work tree.
        """
        try:
            inside = Path.cwd().is_relative_to(self.folder)
        except FileNotFoundError:  # the current folder was deleted
            inside = False
        program = git_program()
        argv = [program, *([] if inside else ["-C", str(self.folder)]), *args]
        os.execve(program, argv, dict(os.environ) | terminal_variables() | self._own)  # noqa: S606 - git itself

    def run(self, *args: str, stdin: bytes | None = None) -> bytes:
        """Run a subcommand and return its output; raises GitFailedError for any status but 0."""
        return _check(self.call(*args, stdin=stdin), args[0], self.folder)


def command_line(folder: Path, *args: str, settings: Iterable[str] = ()) -> list[str]:
    """Return a git command line for a folder, with settings as KEY=VALUE; for the modules of this package."""
    given = (part for setting in settings for part in ("-c", setting))
    return [git_program(), *given, "-C", str(folder), *args]


def literal(relpath: str) -> str:
    """Return the pathspec of exactly this path, for `PersonGit`."""
    return f":(literal){relpath}"


def _timeout(seconds: float, folder: Path) -> GitTimeoutError:
    return GitTimeoutError("Git did not respond", f"still running after {seconds:g} s in {folder}")


def _check(result: Result, command: str, folder: Path) -> bytes:
    if _PROMISED in result.err or _FORBIDDEN_PATTERN.search(result.err):
        fetch = f"To fetch it: git -C {shell_quoted(folder)} fetch --refetch --no-filter"
        cause = f"{folder} is a partial clone that lacks some of its history"
        raise RepoRefusedError("Cannot use this repository", cause, fetch)
    if result.status != 0:
        raise GitFailedError(f"git {command} failed", result.status, result.err)
    return result.out


# What git says of an object that a partial clone lacks: 2.36 only the second. Before 2.39.4 it knows no
# GIT_NO_LAZY_FETCH: it starts a fetch that may not fetch, and is killed if that one ends before it is told what to.
_PROMISED = "from promisor remote"
_NO_TREE = "unable to read tree"  # all that git 2.55 says of one
_FORBIDDEN_PATTERN = re.compile(r"transport '[^'\n]{0,80}' not allowed")
_COMMIT_END_PATTERN = re.compile(rb"[:^]")  # ends the commit's name in the name of a file in it
_MAX_KEPT_BYTES = 1 << 16  # of an object that is read again from memory
_PLACE_PATTERN = re.compile(rb"([0-9a-f]{40,64})(?:\^\{tree\}|:(.+))?", re.DOTALL)
_HEADER_PATTERN = re.compile(rb"([0-9a-f]{40,64}) (blob|tree|commit|tag) ([0-9]+)\n")
_PIPE_BYTES = 4096  # that a pipe holds while nobody reads; git also waits if nobody reads its answers


def _is_in(oid: bytes, objects: Mapping[str, NewObject]) -> bool:
    return oid.decode("latin-1") in objects


def _start(argv: list[str], folder: Path, env: Mapping[str, str], *, reads: bool) -> Runner.AutoInterrupt:
    """Start a process that ends when the returned object is deleted, or with this process.

    The runner's own time limit would need a thread and a temporary file for each process.
    """
    process = Runner(str(folder)).execute(argv, istream=PIPE if reads else None, as_process=True, env=env)
    if not isinstance(process, Runner.AutoInterrupt):
        raise TypeError("the runner returned no process")
    return process


def _read_answers(
    reader: Runner.AutoInterrupt, question: bytes, names: Sequence[bytes]
) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield git cat-file's answer for each name, a size of -1 if missing; raise EOFError if it ends."""
    asked = 0
    while asked < len(names):
        lines: list[bytes] = []
        size = 0
        while asked < len(names) and (not lines or size + len(names[asked]) < _PIPE_BYTES):
            lines.append(b"%s %s\n" % (question, names[asked]))
            size += len(lines[-1])
            asked += 1
        reader.stdin.write(b"".join(lines))
        reader.stdin.flush()
        for line in lines:
            header = reader.stdout.readline()
            if not header.endswith(b"\n"):
                raise EOFError
            match = _HEADER_PATTERN.fullmatch(header)
            if match is None:
                yield line[len(question) + 1 : -1].decode("utf-8", "replace"), "missing", -1, b""
                continue
            size, data = int(match[3]), b""
            if question == b"contents":
                data = reader.stdout.read(size + 1)
                if len(data) <= size:
                    raise EOFError
            yield match[1].decode(), match[2].decode(), size, data[:-1]


def _read_in_time(
    reader: Runner.AutoInterrupt, question: bytes, names: Sequence[bytes], seconds: float, folder: Path
) -> tuple[list[tuple[str, str, int, bytes]], bool]:
    """Return what `_read_answers` yields, and whether the process keeps running: an old git may exit at what it lacks.

    Ends the process and raises GitTimeoutError if it takes too long.
    """
    deadline = time.monotonic() + seconds
    answers: list[tuple[str, str, int, bytes]] = []
    try:
        with WATCHDOG.limit(seconds, reader.kill):
            for answer in _read_answers(reader, question, names):
                answers.append(answer)  # noqa: PERF402 - those before an error count
            return answers, True
    except (EOFError, OSError) as error:
        err = reader.stderr.read().decode("utf-8", "replace")
        status = reader.proc.wait() if reader.proc is not None else 0
        if time.monotonic() >= deadline:
            raise _timeout(seconds, folder) from error
        if _PROMISED not in err and _FORBIDDEN_PATTERN.search(err):
            return [*answers, (names[len(answers)].decode("utf-8", "replace"), "missing", -1, b"")], False
        raise GitFailedError("git cat-file failed", status, safe_text(err.strip(), newlines=True)) from error


def execute(argv: list[str], folder: Path, env: Mapping[str, str], stdin: bytes | None, seconds: float) -> Result:
    """Run a complete git command line; for the modules of this package, which check its contents."""
    # The runner falls back to our own current folder if `folder` is gone; "-C" makes git itself fail instead.
    process = _start(argv, folder, env, reads=stdin is not None)
    ended: list[int] = []

    def end() -> None:
        ended.append(process.pid)
        _kill_with_descendants(process.pid)

    with WATCHDOG.limit(seconds, end):
        out, err = process.communicate(stdin)
    if ended and process.returncode < 0:
        raise _timeout(seconds, folder)
    said = err.decode("utf-8", "surrogateescape").replace("\r\n", "\n").strip()  # ssh ends its lines as a terminal does
    return Result(process.returncode, out, without_login(safe_text(said, newlines=True)))


def _kill_with_descendants(pid: int) -> None:
    """Kill a process and all that it started: a hook that lived on would keep our pipes open."""
    family, rows = [pid], list[list[str]]()
    with suppress(GitCommandError):  # there may be no `ps`
        listed = Runner("/").execute(["ps", "-A", "-o", "pid=,ppid="], with_exceptions=False, kill_after_timeout=5.0)
        rows = [line.split() for line in str(listed).splitlines()]
    for one in family:
        family += [int(child) for child, parent in rows if parent == str(one)]
    for one in family:
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)
