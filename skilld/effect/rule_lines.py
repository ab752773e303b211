"""The lines of a file that may be rules, and when each was added."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from skilld.classify.offline.sections import BlockKind, body_lines, sections
from skilld.classify.said_already import only_imports
from skilld.errors import SkilldError
from skilld.git.managed_repos import find_any
from skilld.git.objects import read_commit
from skilld.proposals.explain import find_origin
from skilld.proposals.staging import private_repositories

_MAX_TEXT = 1 << 18  # characters of a file


def text_of(path: str) -> str:
    """Return the beginning of a file's text; empty if it cannot be read."""
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8-sig", errors="replace")[:_MAX_TEXT]
    return ""


def rules_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items and paragraphs of a text that may be rules, each with the number of its first line, from 1."""
    before = len(text.splitlines()) - len(body_lines(text))
    for section in sections(text):
        for block in section.blocks:
            if block.kind is not BlockKind.OTHER and not only_imports(block.text):
                yield before + block.first + 1, block.text


def added_at(path: str, line: int) -> float | None:
    """Return when a line was added (Unix time): the time of its commit, but not later than the file's.

    None if the file is gone.
    """
    file = Path(path)
    try:
        changed = file.stat().st_mtime
    except OSError:
        return None
    with suppress(SkilldError, OSError):
        private = private_repositories()
        if origin := find_origin(file, line, private).commit:
            commit = read_commit(find_any(file, private).repo.git, origin)
            if commit is not None:
                return min(float(commit.committer.seconds), changed)  # a commit may come from any clock
    return changed
