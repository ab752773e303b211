"""Which proposals brought a line of a skill: blame, and the trailers of the commit it names. Data only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from skilld.errors import UsageError
from skilld.git import objects
from skilld.git.managed_repos import look
from skilld.git.repo import Tracked, find
from skilld.git.run import one_command
from skilld.proposals.observe import read_history

SECONDS = 30.0  # for a blame: a long history takes longer than git's other answers


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line came from.

    `commit` is empty for a line that is not committed. `proposals` names the proposals of that commit: none where a
    person wrote the line, several where a squash brought them together. `text` is the line itself.
    """

    text: str
    commit: str
    proposals: tuple[str, ...]
    trailers: dict[str, str]


@one_command()
def why(path: Path, line: int, private: Path | None = None) -> Origin:
    """Return the origin of line `line` (from 1) of the skill at `path` as it stands in the work tree.

    Lines that moved within the file are followed. `private` is the folder of skilld's own repositories. Raises
    UsageError for a line the file does not have, and as `skilld.git.repo.find` does.
    """
    tracked = look(path, private) if private is not None else find(path)
    git, relpath = tracked.repo.git, tracked.relpath
    origin = uncommitted(path, line)
    now = path.read_bytes().splitlines()
    stored = objects.read_blob(git, tracked.repo.head, relpath) or b""
    committed = _committed_line(stored.splitlines(), now, line)
    if committed is None:
        return origin
    if b"\r" in stored.replace(b"\r\n", b""):
        oid = _bringer(tracked, now[line - 1])
    else:
        safe = "--no-textconv", "--porcelain", "-M", "-w", "-L", f"{committed},{committed}"
        out = git.run("blame", *safe, tracked.repo.head, "--", relpath, seconds=SECONDS)
        oid = out.split(b" ", 1)[0].decode()
    commit = objects.read_commit(git, oid)
    if commit is None:
        return replace(origin, commit=oid)
    return Origin(origin.text, oid, commit.proposals, commit.trailers)


def _bringer(tracked: Tracked, line: bytes) -> str:
    """Return the newest commit that brought a line which ends in a bare CR: for git that ends no line."""
    sightings = read_history(tracked.repo, tracked.repo.head, tracked.relpath, None)
    brought = (s.oid for s in reversed(sightings) if line not in (s.before or b"").splitlines())
    return next(brought, tracked.repo.head)


def uncommitted(path: Path, line: int) -> Origin:
    """Return line `line` of a file without asking git. Raises UsageError for a line the file does not have."""
    now = path.read_bytes().splitlines()
    if not 1 <= line <= len(now):
        raise UsageError("There is no such line", f"{path} has {len(now)} lines")
    return Origin(now[line - 1].decode("utf-8", "replace"), "", (), {})


def _committed_line(stored: list[bytes], now: list[bytes], line: int) -> int | None:
    """Return the number that a line of the work tree has in HEAD's version, or None where it is not in it."""
    for block in SequenceMatcher(None, stored, now, autojunk=False).get_matching_blocks():
        if block.b < line <= block.b + block.size:
            return block.a + line - block.b
    return None
