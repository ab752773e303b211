"""Runs git: an allow-list of subcommands, a fixed silent prefix, closed stdin, a timeout on every call.

Arguments enter, bytes leave; a failure is a typed error. GitPython is used as the runner of processes only: none of
its objects, which read configuration. One process stays: the `cat-file` that a `Git` reads objects from. This module
knows no repository but the folder it got.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any, NoReturn, TypeVar

from skilld.git.environment import QUIET, git_program, person_variables, pointers, terminal_variables, unscrubbed
from skilld.git.errors import GitFailedError, GitTimeoutError
from skilld.text import safe_text

# At its import GitPython asks git for its version, twice. What cannot be run answers at once: 2 processes less.
# It cannot be imported so unless it is told to stay quiet: where there is no git, this module says it in our words.
os.environ["GIT_PYTHON_GIT_EXECUTABLE"] = os.devnull
os.environ["GIT_PYTHON_REFRESH"] = "quiet"
from git.cmd import Git as Runner

del os.environ["GIT_PYTHON_GIT_EXECUTABLE"]

T = TypeVar("T")

# Objects as git names and carries them: the id of one, and a pack of several. A pack is the only form in which git
# takes blobs, trees and commits from one process together (`git unpack-objects`). Its format: gitformat-pack(5).

SHA1 = "sha1"
_NUMBERS = {"commit": 1, "tree": 2, "blob": 3}

Written = tuple[str, bytes]
"""An object to be written: its kind and its content."""


def object_id(kind: str, data: bytes, algorithm: str = SHA1) -> str:
    """Return the name of an object in a repository of this object format."""
    return hashlib.new(algorithm, f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


def pack(objects: Sequence[Written], algorithm: str = SHA1) -> bytes:
    """Return a pack of these objects, in their order, none as a difference from another."""
    out = [b"PACK", struct.pack(">II", 2, len(objects))]
    for kind, data in objects:
        out += [_header(_NUMBERS[kind], len(data)), zlib.compress(data)]
    body = b"".join(out)
    return body + hashlib.new(algorithm, body, usedforsecurity=False).digest()


def _header(number: int, size: int) -> bytes:
    """Return kind and size: 4 bits of the size in the first byte, 7 in each of the others, the lowest first."""
    first, rest = number << 4 | size & 15, size >> 4
    out = bytearray([first])
    while rest:
        out[-1] |= 128
        out.append(rest & 127)
        rest >>= 7
    return bytes(out)


# How long one call may take, ours and one of the person's: hooks, and a prompt for a passphrase.
SECONDS = 20.0
PERSON_SECONDS = 300.0

# Measured on git 2.39: plain plumbing runs hooks (update-ref) and fsmonitor; with these settings it runs nothing.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.logAllRefUpdates=false",
    "safe.bareRepository=explicit",
    "core.protectNTFS=true",
    "core.protectHFS=true",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "core.fsync=all",
    "protocol.allow=never",
    "i18n.commitEncoding=UTF-8",
    # A walk of 20,000 commits with 500 entries in their top folder: 0.16 s of CPU in place of 0.22 s with git's 96m.
    "core.deltaBaseCacheLimit=4m",
)
_PREFIX = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    *(part for setting in _SETTINGS for part in ("-c", setting)),
)

# Commands that refuse to run with the setting of pathspecs above; what they are given must start with "./".
_NOT_LITERAL = frozenset({"check-ignore"})

# Subcommand -> arguments without which it may not run.
_ALLOWED: Mapping[str, tuple[str, ...]] = {
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
_PERSON_LOOKS = frozenset({"diff-index", "ls-files", "rev-parse", "status"})
_PERSON_ALLOWED = _PERSON_LOOKS | {"cherry-pick", "commit", "read-tree", "revert"}


@dataclass(frozen=True, slots=True)
class Command:
    """What one command of the person's, or one job, keeps of git until its end."""

    readers: list[Git] = field(default_factory=list)
    known: dict[Any, Any] = field(default_factory=dict)


_COMMAND: ContextVar[Command | None] = ContextVar("command", default=None)


@contextmanager
def one_command() -> Iterator[None]:
    """Open repositories once until the block ends, and read each one's objects from one process.

    What is kept of a repository is where it is, how it is set, and that process; its refs are read again each time. A
    block within another is part of that one.
    """
    if _COMMAND.get() is not None:
        yield
        return
    command = Command()
    token = _COMMAND.set(command)
    try:
        yield
    finally:
        _COMMAND.reset(token)
        for git in command.readers:
            git.close()


def once(key: object, make: Callable[[], T]) -> T:
    """Return what `make` gives; within `one_command` it is asked once for a key."""
    command = _COMMAND.get()
    if command is None:
        return make()
    if key not in command.known:
        command.known[key] = make()
    found: T = command.known[key]
    return found


@dataclass(frozen=True, slots=True)
class Result:
    """What a git command gave: exit status, output, and its complaint made harmless for display."""

    status: int
    out: bytes
    err: str


class Git:
    """Git in one folder, for skilld's own reading and writing.

    `ceiling` is a folder above which no repository is looked for: once a work tree is known, its parent, so that a
    repository that vanishes is never mistaken for one further up. `git_dir` is given where no repository is to be
    looked for at all: that one's, with `folder` as its work tree, which need not be there yet. `algorithm` is the
    repository's object format.
    """

    def __init__(
        self, folder: Path, *, ceiling: Path | None = None, git_dir: Path | None = None, algorithm: str = SHA1
    ) -> None:
        self.folder = folder if git_dir is None or folder.is_dir() else git_dir
        self.algorithm = algorithm
        self._reader: Runner.AutoInterrupt | None = None
        self._unwritten: dict[str, Written] = {}
        self._env = QUIET | pointers(self.folder, git_dir)
        if ceiling is not None:
            self._env["GIT_CEILING_DIRECTORIES"] = str(ceiling)

    def call(
        self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, seconds: float = SECONDS
    ) -> Result:
        """Run an allowed subcommand and return its result whatever the status is; what was added is written first.

        Raises GitTimeoutError after `seconds`, and ValueError for a subcommand that is not allowed.
        """
        self.write()
        return execute(self._argv(args), self.folder, self._env | dict(env or {}), stdin, seconds)

    def run(
        self, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, seconds: float = SECONDS
    ) -> bytes:
        """Run an allowed subcommand and return its output; raises GitFailedError for any status but 0."""
        return _checked(self.call(*args, stdin=stdin, env=env, seconds=seconds), args[0])

    def add(self, kind: str, data: bytes) -> str:
        """Take an object to be written as it is, and return its id; `write` writes it, or the next call does."""
        oid = object_id(kind, data, self.algorithm)
        self._unwritten[oid] = kind, data
        return oid

    def write(self) -> None:
        """Write all that was added, in one process and in its order."""
        if self._unwritten:
            data, self._unwritten = pack([*self._unwritten.values()], self.algorithm), {}
            self.run("unpack-objects", "-q", stdin=data)

    def objects(self, names: Sequence[bytes]) -> list[tuple[str, str, bytes] | None]:
        """Return id, kind and content of the objects of these names, None if there is none.

        In `one_command` one process answers them all. Raises GitFailedError if it ends, as it does at an object that
        is damaged, and GitTimeoutError if it takes too long; the next call starts another.
        """
        answers = self._asked(b"contents", names)
        return [(oid, kind, data) if size >= 0 else None for oid, kind, size, data in answers]

    def sizes(self, names: Sequence[bytes]) -> list[tuple[str, str, int]]:
        """Return id, kind and size of the objects of these names, as `objects` does; a size of -1 if there is none."""
        return [(oid, kind, size) for oid, kind, size, _ in self._asked(b"info", names)]

    def _asked(self, question: bytes, names: Sequence[bytes]) -> list[tuple[str, str, int, bytes]]:
        if any(_OID.split(name, 1)[0].decode("latin-1") in self._unwritten for name in names):
            self.write()
        reader, self._reader = self._reader, None
        command = _COMMAND.get()
        if reader is None:
            reader = _started(self._argv(("cat-file", "--batch-command")), self.folder, self._env)
            if command is not None:
                command.readers.append(self)
        deadline = time.monotonic() + SECONDS
        watchdog = threading.Timer(SECONDS, reader.kill)
        watchdog.start()
        try:
            found = [*_answers(reader, question, names)]
        except (EOFError, OSError) as error:
            err = reader.stderr.read().decode("utf-8", "replace")
            status = reader.proc.wait() if reader.proc is not None else 0
            if time.monotonic() >= deadline:
                raise _timeout(SECONDS, self.folder) from error
            raise GitFailedError("git cat-file failed", status, safe_text(err.strip(), newlines=True)) from error
        finally:
            watchdog.cancel()
        if command is not None:
            self._reader = reader
        return found

    def close(self) -> None:
        """End the process that answers reads; the next read starts another."""
        self._reader = None

    def _argv(self, args: Sequence[str]) -> list[str]:
        command, *rest = args
        if command not in _ALLOWED or any(flag not in rest for flag in _ALLOWED[command]):
            raise ValueError(f"git {command} is not allowed with {rest}")
        left = unscrubbed()
        if left:
            raise RuntimeError(f"scrub_environment() was not called: {', '.join(left)}")
        plain = ["--no-literal-pathspecs"] if command in _NOT_LITERAL else []
        return [git_program(), *_PREFIX, *plain, "-C", str(self.folder), *args]


class PersonGit:
    """Git as the person would run it in their work tree: their hooks, signing, identity and configuration.

    `removed` is what `scrub_environment` took out of the process. Used only where the person gave the command.
    `git_dir` is as in `Git`; `defaults` are variables for what the person has not set.
    """

    def __init__(
        self,
        folder: Path,
        removed: Mapping[str, str],
        *,
        git_dir: Path | None = None,
        defaults: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._own = dict(defaults or {}) | pointers(folder, git_dir)
        self._removed = removed

    def call(
        self, *args: str, stdin: bytes | None = None, seconds: float = PERSON_SECONDS, trace: Path | None = None
    ) -> Result:
        """Run one of the few subcommands that accept and revert need, and return its result.

        Git writes what it starts to the file `trace`, as api-trace2(7) has it.
        """
        if args[0] not in _PERSON_ALLOWED:
            raise ValueError(f"git {args[0]} is not allowed with the user's environment")
        settings = ["rerere.enabled=false", "advice.detachedHead=false", "revert.reference=false"]
        settings += ["commit.cleanup=verbatim"]  # no comment is to be stripped from a message of skilld's
        if args[0] in _PERSON_LOOKS:  # a look needs no program that a repository names
            settings += ["core.fsmonitor=false"]
        argv = command_line(self.folder, *args, settings=settings)
        env = person_variables(self._removed) | self._own | ({"GIT_TRACE2_EVENT": str(trace)} if trace else {})
        return execute(argv, self.folder, env, stdin, seconds)

    def become(self, *args: str) -> NoReturn:
        """Put git in the place of this process: the person's terminal, pager and editor are then its own.

        Relative paths mean what they mean in the current folder, if that is in the work tree.
        """
        try:
            inside = Path.cwd().is_relative_to(self.folder)
        except FileNotFoundError:  # the current folder was deleted
            inside = False
        program = git_program()
        argv = [program, *([] if inside else ["-C", str(self.folder)]), *args]
        os.execve(program, argv, dict(os.environ) | terminal_variables(self._removed) | self._own)  # noqa: S606 - git itself

    def run(self, *args: str, stdin: bytes | None = None) -> bytes:
        """Run a subcommand and return its output; raises GitFailedError for any status but 0."""
        return _checked(self.call(*args, stdin=stdin), args[0])


def command_line(folder: Path, *args: str, settings: Iterable[str] = ()) -> list[str]:
    """Return a command line of git's in a folder, with settings as KEY=VALUE; for the modules of this folder."""
    given = (part for setting in settings for part in ("-c", setting))
    return [git_program(), "--no-pager", "--no-optional-locks", "--literal-pathspecs", *given, "-C", str(folder), *args]


def _timeout(seconds: float, folder: Path) -> GitTimeoutError:
    return GitTimeoutError("Git did not respond", f"still running after {seconds:g} s in {folder}")


def _checked(result: Result, command: str) -> bytes:
    if result.status != 0:
        raise GitFailedError(f"git {command} failed", result.status, result.err)
    return result.out


_OID = re.compile(rb"[:^]")  # ends the name of the commit in that of a file of it
_HEADER = re.compile(rb"([0-9a-f]{40,64}) (blob|tree|commit|tag) ([0-9]+)\n")
_PIPE = 4096  # bytes that a pipe takes before anybody reads: git, too, waits where nobody reads its answers


def _started(argv: list[str], folder: Path, env: Mapping[str, str]) -> Runner.AutoInterrupt:
    """Start a process that ends with the value returned, or with this process."""
    process = Runner(str(folder)).execute(argv, istream=PIPE, as_process=True, env=env)
    if not isinstance(process, Runner.AutoInterrupt):
        raise TypeError("the runner returned no process")
    return process


def _answers(
    reader: Runner.AutoInterrupt, question: bytes, names: Sequence[bytes]
) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield what `git cat-file --batch-command` says of each name, a size of -1 for none; EOFError at its end."""
    asked = 0
    while asked < len(names):
        lines: list[bytes] = []
        size = 0
        while asked < len(names) and (not lines or size + len(names[asked]) < _PIPE):
            lines.append(b"%s %s\n" % (question, names[asked]))
            size += len(lines[-1])
            asked += 1
        reader.stdin.write(b"".join(lines))
        reader.stdin.flush()
        for line in lines:
            header = reader.stdout.readline()
            if not header.endswith(b"\n"):
                raise EOFError
            match = _HEADER.fullmatch(header)
            if match is None:
                yield line[len(question) + 1 : -1].decode("utf-8", "replace"), "missing", -1, b""
                continue
            size, data = int(match[3]), b""
            if question == b"contents":
                data = reader.stdout.read(size + 1)
                if len(data) <= size:
                    raise EOFError
            yield match[1].decode(), match[2].decode(), size, data[:-1]


def execute(argv: list[str], folder: Path, env: Mapping[str, str], stdin: bytes | None, seconds: float) -> Result:
    """Run a whole command line of git's; for the modules of this folder, which say what may stand in it."""
    # The runner falls back to our own current folder where `folder` is gone; "-C" makes git itself fail instead.
    runner = Runner(str(folder))
    with tempfile.TemporaryFile() as given:
        if stdin is not None:
            given.write(stdin)
            given.seek(0)
        answer = runner.execute(
            argv,
            istream=given if stdin is not None else None,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            kill_after_timeout=seconds,
            env=env,
        )
    if not isinstance(answer, tuple):
        raise TypeError("the runner returned no exit status")
    status, out, err = answer
    # -9 with the runner's own sentence: https://github.com/gitpython-developers/GitPython git/cmd.py, execute()
    if status < 0 and err.startswith("Timeout: the command"):
        raise _timeout(seconds, folder)
    return Result(status, out if isinstance(out, bytes) else b"", safe_text(err.strip(), newlines=True))
