"""Names for files that are the same on every machine of a person: below a repository's first commit, or below home.

    3f2a9c01d2e4b5a6/docs/AGENTS.md     of the repository that began with this commit, wherever its clone is
    home/.claude/CLAUDE.md              in no repository, below the person's home

A shallow clone does not know its first commit: its files have no name, and nothing about them is synced.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from skilld.errors import SkilldError
from skilld.git import objects
from skilld.git.repo import Repo, open_repo
from skilld.git.top import is_top
from skilld.store import Store
from skilld.store.meta import ROOT_COMMITS

_HOME = "home"
_ID_LENGTH = 16


class Places:
    """The files of this machine by name. First commits are stored, since finding them in a long history is slow.

    `here` is the person's folder, whose repository may be a fresh clone that skilld has seen nothing of yet.
    """

    def __init__(self, store: Store, home: Path, here: Path | None = None) -> None:
        self._store = store
        self._here = [here] if here else []
        self._home = home.resolve()
        self._kept: dict[str, str] = store.meta.get(ROOT_COMMITS, {})
        self._known = dict(self._kept)
        self._roots: dict[Path, str] = {}
        self._tops: dict[Path, Path | None] = {}
        self._by_root: dict[str, Path] | None = None

    def name_of(self, path: Path) -> str:
        """Return the name of a file or folder; empty if it has none."""
        if not path.is_absolute():
            return ""
        top = self._top(path)
        if top is not None and (root := self._root(top)):
            return "/".join((root[:_ID_LENGTH], *path.relative_to(top).parts))
        if top is None and path.is_relative_to(self._home):
            return "/".join((_HOME, *path.relative_to(self._home).parts))
        return ""

    def path_of(self, name: str) -> Path | None:
        """Return where a file with that name is, or would be, on this machine; None without its repository."""
        root, _, rest = name.partition("/")
        base = self._home if root == _HOME else self._tops_by_root().get(root)
        return None if base is None else base / rest if rest else base

    def folder_of(self, path: Path) -> Path:
        """Return the folder in which sessions about a file run."""
        return self._top(path) or self._home

    def keep(self) -> None:
        """Store the first commits that were found. Call within a transaction."""
        if self._known != self._kept:
            self._store.meta.set(ROOT_COMMITS, self._known)

    def _tops_by_root(self) -> dict[str, Path]:
        if self._by_root is None:
            store = self._store
            projects = [*store.overview.projects(), *(one.project for one in store.learnings.all() if one.project)]
            folders = dict.fromkeys(map(Path, [*self._known, *store.proposals.repos(), *projects, *self._here]))
            tops = dict.fromkeys(top for folder in folders if (top := self._top(folder)) is not None)
            self._by_root = {root[:_ID_LENGTH]: top for top in reversed(list(tops)) if (root := self._root(top))}
        return self._by_root

    def _top(self, path: Path) -> Path | None:
        if path not in self._tops:
            if is_top(path):
                self._tops[path] = path
            else:
                self._tops[path] = self._top(path.parent) if path != path.parent else None
        return self._tops[path]

    def _root(self, top: Path) -> str:
        """Return the first commit of a repository, the smallest of several; empty if unknown."""
        if top not in self._roots:
            self._roots[top] = ""
            with suppress(SkilldError):
                self._roots[top] = self._known[str(top)] = self._read_root(open_repo(top))
            if not self._roots[top]:
                self._known.pop(str(top), None)
        return self._roots[top]

    def _read_root(self, repo: Repo) -> str:
        if (repo.common_dir / "shallow").exists():
            return ""
        known = self._kept.get(str(repo.toplevel), "")
        if known and objects.read_commit(repo.git, known) is not None:
            return known
        return min(repo.git.run("rev-list", "--max-parents=0", "HEAD").decode().split(), default="")
