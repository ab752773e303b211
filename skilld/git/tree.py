"""Rewrites trees level by level: the cost is the depth of the paths, not the number of files.

Every name in a written tree is copied from an existing tree, or is part of a checked path, since git accepts a tree
that contains `.git`, `..` or the empty name (measured, git 2.39). No index is used, shared or private.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from skilld.git import objects
from skilld.git.errors import GitFailedError, RefLockedError, RepoRefusedError
from skilld.git.run import Git, tree_rows
from skilld.values import value_class

TREE_MODE = "40000"
# The empty tree, which git knows without storing it, by the length of the repository's object IDs.
EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
FILE_MODES = frozenset({"100644", "100755"})
_Tree = dict[bytes, "Entry"]


@value_class
class Entry:
    """An entry of a tree or an index: the mode as git stores it, and the object."""

    mode: str
    oid: str


def check_relpath(relpath: str) -> None:
    """Raise RepoRefusedError for a path that git or a file system could misinterpret."""
    for part in relpath.split("/"):
        folded = "".join(c for c in unicodedata.normalize("NFC", part).casefold() if unicodedata.category(c) != "Cf")
        bad = folded.rstrip(". ") in {"", ".git"} or folded.startswith("git~") or "\\" in part
        if bad or any(unicodedata.category(char) in {"Cc", "Cs"} for char in part):
            cause = f"{relpath!r} contains a name or character that is unsafe in a git repository"
            raise RepoRefusedError("Cannot use this path", cause)


def read_entry(git: Git, commit: str, relpath: str) -> Entry | None:
    """Return the entry at `relpath` in a commit, or None. Raises RepoRefusedError if it cannot be read."""
    found: Entry | None = Entry(TREE_MODE, f"{commit}^{{tree}}")
    for part in relpath.encode("utf-8", "surrogateescape").split(b"/"):
        if found is None or found.mode != TREE_MODE:
            return None
        found = read_tree(objects.read_objects(git, [found.oid])[0]).get(part)
    return found


def list_folder(git: Git, commit: str, folder: str) -> dict[str, Entry]:
    """Return the entries of a folder in a commit by name; empty if there is none. An empty `folder` is the top."""
    found = read_entry(git, commit, folder) if folder else Entry(TREE_MODE, f"{commit}^{{tree}}")
    if found is None or found.mode != TREE_MODE:
        return {}
    rows = read_tree(objects.read_objects(git, [found.oid])[0])
    return {name.decode("utf-8", "surrogateescape"): item for name, item in rows.items()}


def rewrite_tree(git: Git, root: str, changes: Mapping[str, Entry | None]) -> str:
    """Return the tree of commit or tree `root` with these files set, or removed if the entry is None.

    It is written with the next commit. Raises RepoRefusedError if a file has the place of a folder.
    """
    for relpath in changes:
        check_relpath(relpath)
    every = {folder for relpath in changes for folder in _folders(relpath)}
    folders = sorted(every, key=lambda folder: folder.count("/") + bool(folder), reverse=True)  # the deepest first
    found = objects.read_objects(git, [f"{root}:{folder}" if folder else f"{root}^{{tree}}" for folder in folders])
    trees = {folder: read_tree(item) if item else {} for folder, item in zip(folders, found, strict=True)}
    for relpath, new in changes.items():
        folder, name = _split(relpath)
        _set_entry(trees[folder], name, new)
    for folder in folders[:-1]:
        tree, (above, name) = trees[folder], _split(folder)
        _set_entry(trees[above], name, Entry(TREE_MODE, git.add("tree", encode_tree(tree))) if tree else None)
    return git.add("tree", encode_tree(trees[""]))


def changed_files(git: Git, old: str, new: str) -> dict[str, tuple[Entry | None, Entry | None]]:
    """Return the files that differ between two commits or trees: path -> (entry in old, entry in new)."""
    found: dict[str, tuple[Entry | None, Entry | None]] = {}
    pending: list[tuple[bytes, str | None, str | None]] = [(b"", f"{old}^{{tree}}", f"{new}^{{tree}}")]
    while pending:
        names = [name for _, left, right in pending for name in (left, right) if name is not None]
        read = dict(zip(names, objects.read_objects(git, names), strict=True))
        following: list[tuple[bytes, str | None, str | None]] = []
        for prefix, left, right in pending:
            before, after = (read_tree(read[name]) if name is not None else {} for name in (left, right))
            for name, was, now in _differing_entries(before, after):
                path = prefix + name
                was_tree, now_tree = (item.oid if item and item.mode == TREE_MODE else None for item in (was, now))
                if was_tree or now_tree:
                    following.append((path + b"/", was_tree, now_tree))
                was_file, now_file = (item if item and item.mode != TREE_MODE else None for item in (was, now))
                if was_file or now_file:
                    found[path.decode("utf-8", "surrogateescape")] = (was_file, now_file)
        pending = following
    return found


def _differing_entries(before: _Tree, after: _Tree) -> Iterator[tuple[bytes, Entry | None, Entry | None]]:
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was != now:
            yield name, was, now


def _folders(relpath: str) -> list[str]:
    parts = relpath.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts) + 1)]


def _split(path: str) -> tuple[str, bytes]:
    folder, _, name = path.rpartition("/")
    return folder, name.encode("utf-8", "surrogateescape")


def _set_entry(tree: _Tree, name: bytes, new: Entry | None) -> None:
    if new is None:
        tree.pop(name, None)
        return
    old = tree.get(name)
    if old is not None and (old.mode == TREE_MODE) != (new.mode == TREE_MODE):
        raise RepoRefusedError(
            "Could not write the tree", f"{name!r} is a file in one version and a folder in the other"
        )
    tree[name] = new


def read_tree(item: objects.Object | None) -> dict[bytes, Entry]:
    """Return the entries of a folder by name. Raises RepoRefusedError if it is missing, or is none."""
    if item is None or item.kind != "tree":
        raise RepoRefusedError("Cannot read the repository", "part of the file's path is missing or is not a folder")
    return parse_tree(item.data, len(item.oid) // 2)


def parse_tree(data: bytes, size: int) -> dict[bytes, Entry]:
    """Return the entries of a tree by name; `size` is the number of bytes of an object ID."""
    return {name: Entry(mode, oid) for name, mode, oid in tree_rows(data, size)}


def encode_tree(tree: Mapping[bytes, Entry]) -> bytes:
    """Return the tree with these entries as git stores it."""
    rows = sorted(tree.items(), key=lambda item: item[0] + (b"/" if item[1].mode == TREE_MODE else b""))
    return b"".join(entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry.oid) for name, entry in rows)


# Entries of an index are set without touching any other. Only used if the work tree is updated as well (auto mode,
# skilld's own repositories); staging a proposal needs no index.

_REMOVED_ENTRY = Entry("0", "0" * 40)


def parse_entries(out: bytes) -> dict[str, Entry]:
    """Return path -> entry from rows of `ls-files -z --stage` (mode, id, stage) or `ls-tree -z` (mode, type, id).

    An entry in conflict has no ID.
    """
    found = {}
    for row in out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        facts, relpath = row.split("\t", 1)
        mode, second, third = facts.split(" ")
        found[relpath] = Entry(mode, third if second == "blob" else second if third == "0" else "")
    return found


def update_index(git: Git, changes: Mapping[str, Entry | None]) -> None:
    """Set these entries of the index, and remove those that are None; everything else in it stays.

    Raises RefLockedError if another program is using the index.
    """
    if not changes:
        return
    rows = [(relpath, entry or _REMOVED_ENTRY) for relpath, entry in changes.items()]
    orders = "".join(f"{entry.mode} {entry.oid}\t{relpath}\0" for relpath, entry in rows)
    result = git.call(
        "update-index", "-z", "--index-info", stdin=orders.encode("utf-8", "surrogateescape"), env=_without_filters(git)
    )
    if "index.lock': File exists" in result.err:
        raise RefLockedError("Could not write the index", "its lock", result.err)
    if result.status != 0:
        raise GitFailedError("git update-index failed", result.status, result.err)


def _without_filters(git: Git) -> dict[str, str]:
    """Return variables that disable every configured filter program.

    Writing an index makes git read files as new as the index again, through their filters (measured, git 2.39).
    Without filters such a file counts as possibly changed, and the person's next `git status` reads it.
    """
    out = git.call("config", "--null", "--name-only", "--get-regexp", r"^filter\.").out
    names = {name.rpartition(".")[0] for name in out.decode("utf-8", "surrogateescape").split("\0") if name}
    values = {"clean": "", "smudge": "", "process": "", "required": "false"}
    rows = [(f"{name}.{key}", value) for name in sorted(names) for key, value in values.items()]
    settings = {"GIT_CONFIG_COUNT": str(len(rows))}
    for number, (key, value) in enumerate(rows):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return settings
