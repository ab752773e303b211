"""A bare repository of skilld's own that borrows the objects of a person's repository and talks to one remote.

The person's repository gets no refs, objects or settings from it, and its settings cannot choose a program to run
here: only the person's own (`~/.gitconfig`) apply. It is a copy of the remote's data and can be recreated at any time.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from skilld.git.environment import person_variables, repository_variables
from skilld.git.errors import GitFailedError, GitTimeoutError
from skilld.git.remote import OWN_SETTINGS, PROTOCOL_VARIABLES, limited_file_size
from skilld.git.run import Git, Result, command_line, execute
from skilld.values import value_class

REMOTE_SECONDS = 60.0
_SETTINGS = (
    *OWN_SETTINGS,
    "credential.interactive=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "fetch.writeCommitGraph=false",
)
_REF_PATTERN = re.compile(r"([0-9a-f]{40,64})\t(\S+)")
_ADDRESS_PATTERN = re.compile(
    r"(https?://).+|ssh://(?:[^@/]*@)?([\w.-]+)(?::\d+)?/([\w./~+-]+)|(?:[^@/:]+@)?([\w.-]{2,}):(?!/)([\w./~+-]+)"
)
_PUBLIC_CHECK_SECONDS = 15.0
_HEAD_PATTERN = re.compile(r"ref: (refs/heads/\S+)\tHEAD")


@value_class
class RemoteRefs:
    """A remote's refs, and the branch that its HEAD points to (empty: none)."""

    refs: Mapping[str, str]
    default: str


@value_class
class Push:
    """One ref to push: to `new` (empty: delete it), if it is still at `old` (empty: it does not exist)."""

    ref: str
    new: str
    old: str


class BorrowedRepo:
    """The repository in `folder`, created if missing.

    `common_dir` is the git directory it borrows from, None if it borrows nothing.
    """

    def __init__(self, folder: Path, common_dir: Path | None, algorithm: str) -> None:
        self.folder = folder
        if not (folder / "HEAD").is_file():
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            options = ("--quiet", "--template=", "--bare", f"--object-format={algorithm}")
            Git(folder.parent).run("init", *options, str(folder))
        if common_dir is not None:
            info = folder / "objects" / "info"
            info.mkdir(exist_ok=True)
            (info / "alternates").write_bytes(bytes(common_dir / "objects") + b"\n")
            if (common_dir / "shallow").is_file():
                shutil.copyfile(common_dir / "shallow", folder / "shallow")
        self.git = Git(folder, git_dir=folder, algorithm=algorithm)

    def list_refs(self, address: str, patterns: Sequence[str]) -> RemoteRefs:
        """Return the refs of `address` that match `patterns`. Raises GitFailedError with git's own words."""
        result = self._run_remote("ls-remote", "--symref", "--", address, "HEAD", *patterns)
        if result.status != 0:
            raise GitFailedError("Could not reach the remote", result.status, result.err)
        refs, default = {}, ""
        for line in result.lines:
            if row := _REF_PATTERN.fullmatch(line):
                refs[row[2]] = row[1]
            elif head := _HEAD_PATTERN.fullmatch(line):
                default = head[1]
        return RemoteRefs(refs, default)

    def fetch(
        self, address: str, refs: Mapping[str, str], *, max_bytes: int = 0, seconds: float = REMOTE_SECONDS
    ) -> Result:
        """Fetch refs of the remote to refs here (theirs -> ours), and return git's result.

        With `max_bytes`, no file of more bytes is accepted, and every object is checked for being well-formed.
        """
        specs = "".join(f"+{theirs}:{ours}\n" for theirs, ours in refs.items()).encode()
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", "--stdin")
        strict = f"fetch.fsckObjects={'true' if max_bytes else 'false'}"
        with limited_file_size(max_bytes) if max_bytes else nullcontext():
            return self._run_remote("fetch", *options, "--", address, more=[strict], stdin=specs, seconds=seconds)

    def push(self, address: str, pushes: Sequence[Push]) -> Result:
        """Push refs, all or none, each only if it still has the value that was read; return git's result."""
        leases = [f"--force-with-lease={one.ref}:{one.old}" for one in pushes]
        atomic = ("--atomic",) if len(pushes) > 1 else ()
        specs = [f"{one.new}:{one.ref}" for one in pushes]
        return self._run_remote("push", "--quiet", "--no-verify", *atomic, *leases, "--", address, *specs)

    def _run_remote(
        self, *command: str, more: Sequence[str] = (), stdin: bytes | None = None, seconds: float = REMOTE_SECONDS
    ) -> Result:
        argv = command_line(self.folder, *command, settings=[*_SETTINGS, *more])
        return execute(
            argv, self.folder, self._environment() | repository_variables(self.folder, self.folder), stdin, seconds
        )

    def _environment(self) -> dict[str, str]:
        """Return the person's own variables, with all prompts for passwords disabled."""
        person = person_variables()
        ssh = person.get("GIT_SSH_COMMAND") or self._configured_ssh() or "ssh"
        own = {} if "GIT_SSH" in person else {"GIT_SSH_COMMAND": f"{ssh} -oBatchMode=yes"}
        silent = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "never"}
        return person | PROTOCOL_VARIABLES | silent | own

    def is_public(self, address: str) -> bool:
        """Whether anybody can read the repository at `address`: tried over https without the person's settings."""
        found = _ADDRESS_PATTERN.fullmatch(address)
        if found is None:
            return False
        web = address if found[1] else f"https://{found[2] or found[4]}/{found[3] or found[5]}"
        nobody = {"HOME": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        silent = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "GIT_ALLOW_PROTOCOL": "http:https"}
        argv = command_line(self.folder, "ls-remote", "--", web, "HEAD", settings=["credential.helper="])
        variables = repository_variables(self.folder, self.folder) | nobody | silent
        try:
            return execute(argv, self.folder, variables, None, _PUBLIC_CHECK_SECONDS).status == 0
        except GitTimeoutError:
            return False

    def _configured_ssh(self) -> str:
        return self.git.settings(r"^core\.sshcommand$", "--global").get("core.sshcommand", "")
