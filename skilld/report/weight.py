"""The size in tokens of the files that sessions loaded, by week, from git."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from skilld.context.tokenizer import ESTIMATE
from skilld.errors import SkilldError
from skilld.files import read_regular
from skilld.git.objects import read_objects
from skilld.git.repo import Repo
from skilld.git.session import cached, shared_git
from skilld.proposals.repositories import find_file
from skilld.report.values import FileWeight, Weeks

_MAX_FILES = 24  # the heaviest
_MAX_BYTES = 1 << 20
_GIT_SECONDS = 5.0  # to list one repository's commits


def weigh_files(loaded: Mapping[str, int], weeks: Weeks) -> tuple[FileWeight, ...]:
    """Return the weight of files, given by path with the number of sessions that loaded each; the heaviest first."""
    found = {path: tokens for path in loaded if (tokens := _tokens_of_file(path)) is not None}
    heaviest = sorted(found, key=lambda path: (-found[path], path))[:_MAX_FILES]
    with shared_git():
        return tuple(_file_weight(path, loaded[path], found[path], weeks) for path in heaviest)


def _tokens_of_file(path: str) -> int | None:
    with suppress(OSError, ValueError):
        return _count_tokens(read_regular(Path(path), _MAX_BYTES)[0])
    return None


def _count_tokens(data: bytes) -> int:
    return ESTIMATE.count(data.decode("utf-8", "replace"))


def _file_weight(path: str, sessions: int, now: int, weeks: Weeks) -> FileWeight:
    past: Sequence[int | None] = ()
    with suppress(SkilldError, OSError):
        past = _weekly_tokens(Path(path), weeks)
    per_week = (*(past[:-1] or (None,) * (weeks.number - 1)), now)
    first = next(tokens for tokens in per_week if tokens is not None)
    return FileWeight(path, sessions, now, now - first, per_week)


def _weekly_tokens(path: Path, weeks: Weeks) -> list[int | None]:
    """Return the tokens of a file at the end of each week, along HEAD's first parents. Raises SkilldError."""
    tracked = find_file(path)
    repo, oldest = tracked.repo, weeks.ends[0]
    commits = cached(("weeks", repo.git_dir), partial(_list_commits, repo, oldest))
    names = [_newest_before(commits, end, repo.head) for end in weeks.ends]
    distinct = list(dict.fromkeys(names))
    objects = read_objects(repo.git, [f"{name}:{tracked.relpath}" for name in distinct])
    tokens = {
        name: _count_tokens(one.data) if one is not None and one.kind == "blob" else None
        for name, one in zip(distinct, objects, strict=True)
    }
    return [tokens[name] for name in names]


def _list_commits(repo: Repo, since: float) -> list[tuple[int, str]]:
    """Return the commits since a Unix time, newest first, each with its time."""
    words = "rev-list", "--first-parent", "--timestamp", f"--max-age={since:.0f}", repo.head
    out = repo.git.run(*words, seconds=_GIT_SECONDS)
    rows = (line.split() for line in out.decode().splitlines())
    return [(int(at), name) for at, name in rows]


def _newest_before(commits: Sequence[tuple[int, str]], until: float, head: str) -> str:
    """Return the newest commit at a Unix time; if all are younger, the parent of the oldest."""
    if not commits:
        return head
    return next((name for at, name in commits if at <= until), f"{commits[-1][1]}^")
