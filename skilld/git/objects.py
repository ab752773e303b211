"""Blobs and commits of a repository: read in batches, written as exact bytes.

Objects are addressed by any name git understands, as long as it has no newline. Nothing here moves a ref; an object
that no ref holds is harmless.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from skilld.git.errors import GitFailedError, RepoRefusedError
from skilld.git.run import Git
from skilld.git.session import cached
from skilld.values import value_class

# Anywhere in a message, also after the marks that squashing and quoting put before a line.
_MENTION_PATTERN = re.compile(
    r"^[ \t>*-]*Skilld-Proposal:[ \t]*([0-9A-Za-z][0-9A-Za-z-]{0,63})[ \t]*\r?$", re.MULTILINE
)
_TRAILER_PATTERN = re.compile(r"^(Skilld-[A-Za-z]+): (.*)$")
OWN_EMAIL = "skilld@localhost"  # of the author and committer of skilld's own commits


@value_class
class Object:
    """One git object: `kind` is blob, tree, commit or tag."""

    oid: str
    kind: str
    data: bytes


@value_class
class Ident:
    """The person and time of a commit: seconds since 1970, and the offset from UTC as git writes it."""

    name: str
    email: str
    seconds: int
    zone: str = "+0000"

    def __str__(self) -> str:
        return f"{self.name} <{self.email}> {self.seconds} {self.zone}"


@value_class
class Commit:
    """A parsed commit. `message` has its exact bytes, `text` the same decoded.

    `renamed` says that the person replaced its message, and that `message` has a proposal's trailers all the same.
    """

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: Ident
    committer: Ident
    message: bytes
    renamed: bool = False

    @property
    def text(self) -> str:
        """The message as text; invalid UTF-8 is replaced."""
        return self.message.decode("utf-8", "replace")

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.text.lstrip("\n").split("\n", 1)[0]

    @property
    def proposals(self) -> tuple[str, ...]:
        """The IDs of all proposals that the message names in a `Skilld-Proposal:` line anywhere."""
        return tuple(dict.fromkeys(_MENTION_PATTERN.findall(self.text)))

    @property
    def trailers(self) -> dict[str, str]:
        """The `Skilld-*` trailers of the last paragraph, by name."""
        last = self.text.strip().replace("\r\n", "\n").split("\n\n")[-1]
        found = (_TRAILER_PATTERN.match(line) for line in last.split("\n"))
        return {match[1]: match[2].strip() for match in found if match}


def read_objects(git: Git, names: Sequence[str]) -> list[Object | None]:
    """Return the objects with these names in order, None for each that does not exist."""
    if any("\n" in name or "\0" in name for name in names):
        raise RepoRefusedError("Cannot read the repository", "a path contains a line break")
    found = git.objects([name.encode("utf-8", "surrogateescape") for name in names]) if names else []
    return [Object(*item) if item is not None else None for item in found]


def read_texts(git: Git, names: Sequence[str]) -> list[bytes | None]:
    """Return the bytes of objects, None for each that does not exist."""
    return [item.data if item is not None else None for item in read_objects(git, names)]


def read_sizes(git: Git, names: Iterable[str]) -> list[tuple[str, str, int]]:
    """Return (id, kind, size) of objects in order, with a size of -1 for each that does not exist."""
    given = [name.encode() for name in names]
    return git.sizes(given) if given else []


def read_blob(git: Git, commit: str, relpath: str) -> bytes | None:
    """Return the bytes of a file in a commit, or None if the commit has no such file."""
    found = read_objects(git, [f"{commit}:{relpath}"])[0]
    return found.data if found is not None and found.kind == "blob" else None


def read_common_version(git: Git, one: str, other: str, relpath: str) -> bytes | None:
    """Return a file's bytes in the merge base of two commits; None if there is none, or it has no such file."""
    found = git.call("merge-base", one, other)
    if found.status not in {0, 1}:
        raise GitFailedError("git merge-base failed", found.status, found.err)
    return read_blob(git, found.out.decode().strip(), relpath) if found.status == 0 else None


def read_commits(git: Git, names: Sequence[str]) -> list[Commit | None]:
    """Return the commits with these names in order, None for each that does not exist."""
    return [
        _parse_commit(item) if item is not None and item.kind == "commit" else None for item in read_objects(git, names)
    ]


def read_commit(git: Git, name: str) -> Commit | None:
    """Return one commit, or None if there is none."""
    return read_commits(git, [name])[0]


def list_ids(git: Git, *arguments: str) -> list[str]:
    """Return the IDs of the commits that `git rev-list` finds, in its order.

    The arguments name commits by their IDs alone, so the answer never changes: within `shared_git` git is asked once.
    """
    return cached((git, *arguments), lambda: git.run("rev-list", *arguments).decode().split())


def list_commits(git: Git, *arguments: str) -> list[Commit]:
    """Return the commits that `git rev-list` finds with these arguments, in its order."""
    found = read_commits(git, git.run("rev-list", *arguments).decode().split())
    return [commit for commit in found if commit is not None]


def write_commit(
    git: Git, *, tree: str, parents: Sequence[str], message: bytes, author: Ident, committer: Ident
) -> str:
    """Store a commit, with all objects added before it, and return its id, as `add_commit` does."""
    oid = add_commit(git, tree=tree, parents=parents, message=message, author=author, committer=committer)
    git.write()
    return oid


def add_commit(git: Git, *, tree: str, parents: Sequence[str], message: bytes, author: Ident, committer: Ident) -> str:
    """Queue a commit for writing and return its id, which only depends on the arguments.

    Written as exact bytes instead of with commit-tree, which would change people's names.
    """
    head = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {author}", f"committer {committer}"]
    data = "\n".join(head).encode("utf-8", "surrogateescape") + b"\n\n" + message
    return git.add("commit", data)


def write_blob(git: Git, data: bytes) -> str:
    """Store `data` unchanged (no filters, no conversion) and return its id."""
    oid = git.add("blob", data)
    git.write()
    return oid


def _parse_commit(item: Object) -> Commit:
    head, _, message = item.data.partition(b"\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.decode("utf-8", "surrogateescape").split("\n"):
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(value)  # an empty key continues a signature
    try:
        author, committer = _parse_ident(fields["author"][0]), _parse_ident(fields["committer"][0])
        return Commit(item.oid, fields["tree"][0], tuple(fields.get("parent", ())), author, committer, message)
    except (KeyError, ValueError) as error:
        raise RepoRefusedError("Cannot read the repository", f"commit {item.oid} is malformed") from error


_FIRST_SECOND, _LAST_SECOND = -62_135_510_400, 253_402_214_399  # of 2 January 1, and of 30 December 9999


def _parse_ident(value: str) -> Ident:
    match = re.fullmatch(r"([^<]*?) ?<([^>]*)> ?(-?\d+) ([+-]\d+)", value)
    if match is None:
        raise ValueError(value)
    # Git takes any number; what no calendar has becomes the nearest day that each time zone has.
    return Ident(match[1], match[2], min(max(int(match[3]), _FIRST_SECOND), _LAST_SECOND), match[4])


# `skilld.git.line_diff.merge` is a line merge of our own; on random edits it reports a clean merge where git does not
# in about one of two hundred cases. A command printed for a person to type must work, so git itself is asked, on copies
# outside the repository.


def merges_cleanly(git: Git, base: bytes | None, current: bytes | None, other: bytes | None) -> bool:
    """Whether the change from `base` to `other` merges into `current` without conflict; None is a missing file."""
    if base is None or current is None or other is None:
        return base == current and other is not None
    if base == current:
        return True
    with tempfile.TemporaryDirectory(prefix="skilld-") as folder:
        paths = [Path(folder) / name for name in ("current", "base", "other")]
        for path, data in zip(paths, (current, base, other), strict=True):
            path.write_bytes(data)
        return git.call("merge-file", "-p", "-q", *map(str, paths)).status == 0


_DEFAULT_NAME, _DEFAULT_EMAIL = "Skill author", "author@localhost"


def person_identity(git: Git) -> dict[str, str]:
    """Return the person's NAME and EMAIL, the suffixes of git's variables for them."""
    return identity_of(git.settings(r"^user\.(name|email)$"))


def identity_of(rows: Mapping[str, str]) -> dict[str, str]:
    """Return what `person_identity` does, from settings."""
    name, email = (re.sub(r"[<>\n\r]", "", rows.get(key, "")).strip() for key in ("user.name", "user.email"))
    return {"NAME": name or _DEFAULT_NAME, "EMAIL": email or _DEFAULT_EMAIL}


def person_ident(git: Git, seconds: int) -> Ident:
    """Return the person's ident for a commit at a time (seconds since 1970), in this machine's time zone."""
    who = person_identity(git)
    return Ident(who["NAME"], who["EMAIL"], seconds, time.strftime("%z", time.localtime(seconds)))
