"""The two commands that reach other repositories: cloning to read, and pushing one branch.

Both only on a command of the person's, with their credentials and their ssh. A clone is bare and shallow: nothing is
checked out, so no filter, link or submodule of it comes to be, and no hook runs. What helps itself to a program
(`ext::`) is never a way to a repository.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from skilld.git import refs
from skilld.git.environment import person_variables, pointers
from skilld.git.errors import GitFailedError
from skilld.git.repo import Repo
from skilld.git.run import PERSON_SECONDS, Git, Result, command_line, execute

CLONE_SECONDS = 120.0
CLONE_BYTES = 128 << 20
# Git's own defaults, and `ext` not even where a configuration allows it.
PROTOCOLS = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
# For a repository of skilld's own that speaks to another one.
OWN_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.bigFileThreshold=1m",  # what is larger is passed through and never held in memory
    "submodule.recurse=false",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


def clone(source: str, into: Path, removed: Mapping[str, str], *, branch: str = "", most: int = CLONE_BYTES) -> Git:
    """Clone the newest commit of `source` (an address or an absolute path) to `into`, and return git for reading it.

    It is that of `branch`, or of the default branch where none is given. `into` is a folder to be made, in a private
    one. Raises GitTimeoutError after some minutes, GitFailedError with git's own words where there is nothing to clone,
    or a file of it would be over `most` bytes.
    """
    options = ("--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags", "--no-local", "--template=")
    wanted = (f"--branch={branch}",) if branch else ()
    argv = command_line(into.parent, "clone", *options, *wanted, "--", source, str(into), settings=OWN_SETTINGS)
    with files_limited(most):
        result = execute(argv, into.parent, person_variables(removed) | PROTOCOLS, None, CLONE_SECONDS)
    if result.status != 0:
        raise GitFailedError("Could not clone the repository", result.status, result.err)
    return Git(into, git_dir=into)


def push(repo: Repo, remote: str, ref: str, removed: Mapping[str, str]) -> None:
    """Push one ref to `remote`, under its own name and never by force; raises GitFailedError with git's own words."""
    settings = ("push.recurseSubmodules=no", "push.followTags=false")
    result = _person(repo, removed, "push", "--quiet", "--", remote, f"{ref}:{ref}", settings=settings)
    if result.status != 0:
        raise GitFailedError("Could not push the branch", result.status, result.err)


def push_addresses(repo: Repo, remote: str, removed: Mapping[str, str]) -> list[str]:
    """Return where a push to `remote` (a name or an address) goes, which a repository's own settings may turn aside."""
    if named := _printed(_person(repo, removed, "remote", "get-url", "--push", "--all", remote)):
        return named
    rows = _printed(_person(repo, removed, "config", "--get-regexp", r"^url\..*\.(push)?insteadof$"))
    ways = [(key.removeprefix("url.").rpartition("."), old) for key, _, old in (row.partition(" ") for row in rows)]
    fitting = [(len(old), kind == "pushinsteadof", new, old) for (new, _, kind), old in ways if remote.startswith(old)]
    turned = sorted(fitting, key=lambda one: (one[1], one[0]))
    return [turned[-1][2] + remote.removeprefix(turned[-1][3]) if turned else remote]


def _person(repo: Repo, removed: Mapping[str, str], *command: str, settings: Sequence[str] = ()) -> Result:
    own = pointers(repo.toplevel, repo.git_dir if repo.private else None)
    argv = command_line(repo.toplevel, *command, settings=settings)
    return execute(argv, repo.toplevel, person_variables(removed) | PROTOCOLS | own, None, PERSON_SECONDS)


def _printed(result: Result) -> list[str]:
    """Return the lines that a command printed; none if it failed."""
    return result.out.decode("utf-8", "replace").splitlines() if result.status == 0 else []


def base_on(repo: Repo, remote: str) -> str | None:
    """Return the commit of the default branch of `remote` (a name, or the address of one) as it was last fetched.

    None if a push goes to another place than a fetch comes from: what is on the one, the other need not have.
    """
    out = repo.git.call("config", "--null", "--get-regexp", r"^remote\..*\.(push)?url$").out
    rows = [row.split("\n", 1) for row in out.decode("utf-8", "surrogateescape").split("\0") if "\n" in row]
    places: dict[str, list[str]] = {}
    for key, address in rows:
        places.setdefault(key.removeprefix("remote.").rpartition(".")[0], []).append(address)
    wanted = {_place(remote)}
    name = remote if remote in places else next((one for one in places if wanted & set(map(_place, places[one]))), None)
    is_one = name is not None and len(set(map(_place, places[name]))) == 1
    branches = ("HEAD", *([repo.default.name] if repo.default else ()), "main", "master") if is_one else ()
    return next((tip for one in branches if (tip := refs.tip(repo.git, f"refs/remotes/{name}/{one}"))), None)


def _place(address: str) -> str:
    """Return host and path of an address, which are the same however one gets there (https, ssh)."""
    bare = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://", "", address)
    host, _, path = re.sub(r"^[^@/]*@", "", bare).partition(":")
    return f"{host}/{path}".replace("//", "/").removesuffix("/").removesuffix(".git")


@contextmanager
def files_limited(most: int) -> Iterator[None]:
    """Let no program that is started meanwhile write a file of more than `most` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    bounded = [limit for limit in (soft, hard, most) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(bounded), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
