"""The versions of a skill in git, in its own repository or in skilld's. Reads only."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path
from shlex import quote

from skilld.errors import SkilldError, UsageError
from skilld.files import read_whole
from skilld.git import objects
from skilld.git.managed_repos import find_any
from skilld.git.repo import TrackedFile
from skilld.values import value_class


@value_class
class Version:
    """A commit that changed a skill: its author, its Unix time, and the proposals that its message names."""

    commit: str
    at: int
    author: str
    subject: str
    proposals: tuple[str, ...]


class History:
    """The history of the skill at `path` (a real path). Raises NotTrackedError if it is in no repository.

    `private` is the folder of skilld's own repositories. The environment must have been scrubbed.
    """

    def __init__(self, path: Path, private: Path) -> None:
        self._path = path
        self._tracked: TrackedFile = find_any(path, private)

    def versions(self, limit: int) -> list[Version]:
        """Return at most `limit` commits of the current branch, the newest first."""
        repo = self._tracked.repo
        out = repo.git.run("rev-list", f"--max-count={limit}", repo.head, "--", self._tracked.relpath)
        commits = objects.read_commits(repo.git, out.decode().split())
        return [
            Version(one.oid, one.author.seconds, one.author.name, one.subject, one.proposals)
            for one in commits
            if one is not None
        ]

    def diff(self, revision: str = "", named: str = "") -> list[str]:
        """Return the unified diff from a revision (the newest commit by default) to the current file.

        `named` is what the person called the skill, for a remedy that names the same one. Raises UsageError if there is
        no such revision.
        """
        git, relpath = self._tracked.repo.git, self._tracked.relpath
        commit = self._commit(revision, named) if revision else self._tracked.repo.head
        before = objects.read_blob(git, commit, relpath) or b""
        try:
            now = read_whole(self._path)
        except OSError as error:
            raise SkilldError("Cannot read the skill", f"{self._path}: {error.strerror}") from error
        old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, now))
        return list(unified_diff(old, new, f"{commit[:10]}:{relpath}", relpath, lineterm=""))

    def _commit(self, revision: str, named: str) -> str:
        asked = ("--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        result = self._tracked.repo.git.call("rev-parse", *asked) if "\0" not in revision else None
        if result is None or result.status:
            raise UsageError(
                "No such revision",
                revision,
                f"List them: skilld skills history {quote(named or str(self._path.parent))}",
            )
        return result.out.decode().strip()
