"""The two commands that access other repositories: cloning to read, and pushing one branch.

Both run only on a command of the person's, with their credentials and their ssh. A clone is bare and shallow: nothing
is checked out, so it activates no filter, link, submodule or hook. Protocols that run programs (`ext::`) are disabled.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skilld.git import refs
from skilld.git.environment import person_variables, repository_variables
from skilld.git.errors import GitFailedError
from skilld.git.repo import Repo
from skilld.git.run import PERSON_SECONDS, Git, Result, command_line, execute
from skilld.git.state import normalize_address

CLONE_SECONDS = 120.0
MAX_CLONE_BYTES = 128 << 20
# Git's own defaults; `ext` is disabled even if a configuration allows it.
PROTOCOL_VARIABLES = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
# For a repository of skilld's own that talks to another one.
OWN_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.bigFileThreshold=1m",  # larger files are streamed and never held in memory
    "submodule.recurse=false",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


def clone(source: str, into: Path, *, branch: str = "", max_bytes: int = MAX_CLONE_BYTES) -> Git:
    """Clone the newest commit of `source` (an address or an absolute path) to `into`, and return git for reading it.

    It is the newest of `branch`, or of the default branch if none is given. `into` is a folder to create, in a private
    one. Raises GitTimeoutError after some minutes, GitFailedError with git's own words if there is nothing to clone or
    a file would exceed `max_bytes` bytes.
    """
    options = ("--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags", "--no-local", "--template=")
    wanted = (f"--branch={branch}",) if branch else ()
    argv = command_line(into.parent, "clone", *options, *wanted, "--", source, str(into), settings=OWN_SETTINGS)
    with limited_file_size(max_bytes):
        result = execute(argv, into.parent, person_variables() | PROTOCOL_VARIABLES, None, CLONE_SECONDS)
    if result.status != 0:
        raise GitFailedError("Could not clone the repository", result.status, result.err)
    return Git(into, git_dir=into)


def push(repo: Repo, remote: str, ref: str) -> bool:
    """Push one ref to `remote`, under its own name and never by force; return whether anything was new there.

    Raises GitFailedError with git's own words.
    """
    options = ("--porcelain", "--recurse-submodules=no", "--no-follow-tags")  # a setting would reach a pre-push hook
    own = repo.git_dir if repo.private else None
    result = _run_in(repo.toplevel, own, "push", *options, "--", remote, f"{ref}:{ref}")
    told = [line.split("\t") for line in result.lines if line.count("\t") > 1]  # a flag, the refs, what happened
    if result.status != 0:
        refused = [what for flag, _, what, *_ in told if flag == "!"]
        raise GitFailedError("Could not push the branch", result.status, "\n".join([*refused, result.err]))
    return not told or any(flag != "=" for flag, *_ in told)


def push_addresses(repo: Repo, remote: str) -> list[str]:
    """Return where a push to `remote` (a name or an address) goes: a repository's settings may redirect it."""
    return addresses_from(repo.toplevel, repo.git_dir if repo.private else None, remote)


def addresses_from(work_tree: Path, git_dir: Path | None, remote: str) -> list[str]:
    """As `push_addresses`, for a repository whose git directory may not exist yet (None: git looks for it)."""
    if named := _output_lines(_run_in(work_tree, git_dir, "remote", "get-url", "--push", "--all", remote)):
        return named
    pattern = r"^url\..*\.(push)?insteadof$"
    rows = _output_lines(_run_in(work_tree, git_dir, "config", "--get-regexp", pattern))
    ways = [(key.removeprefix("url.").rpartition("."), old) for key, _, old in (row.partition(" ") for row in rows)]
    fitting = [(len(old), kind == "pushinsteadof", new, old) for (new, _, kind), old in ways if remote.startswith(old)]
    turned = sorted(fitting, key=lambda one: (one[1], one[0]))
    return [turned[-1][2] + remote.removeprefix(turned[-1][3]) if turned else remote]


def _run_in(work_tree: Path, git_dir: Path | None, *command: str) -> Result:
    own = repository_variables(work_tree, git_dir)
    argv = command_line(work_tree, *command)
    return execute(argv, work_tree, person_variables() | PROTOCOL_VARIABLES | own, None, PERSON_SECONDS)


def _output_lines(result: Result) -> list[str]:
    """Return the lines that a command printed; none if it failed."""
    return result.lines if result.status == 0 else []


def find_remote_base(repo: Repo, remote: str) -> str | None:
    """Return the commit of the default branch of `remote` (a name or an address) as last fetched.

    None if pushes go to another place than fetches come from: the two can have different commits.
    """
    out = repo.git.call("config", "--null", "--get-regexp", r"^remote\..*\.(push)?url$").out
    rows = [row.split("\n", 1) for row in out.decode("utf-8", "surrogateescape").split("\0") if "\n" in row]
    places: dict[str, list[str]] = {}
    for key, address in rows:
        places.setdefault(key.removeprefix("remote.").rpartition(".")[0], []).append(address)
    wanted = {normalize_address(remote)}
    name = (
        remote
        if remote in places
        else next((one for one in places if wanted & set(map(normalize_address, places[one]))), None)
    )
    is_one = name is not None and len(set(map(normalize_address, places[name]))) == 1
    branches = ("HEAD", *([repo.default.name] if repo.default else ()), "main", "master") if is_one else ()
    return next((tip for one in branches if (tip := refs.read_tip(repo.git, f"refs/remotes/{name}/{one}"))), None)


@contextmanager
def limited_file_size(max_bytes: int) -> Iterator[None]:
    """Keep programs that are started meanwhile from writing files of more than `max_bytes` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    bounded = [limit for limit in (soft, hard, max_bytes) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(bounded), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
