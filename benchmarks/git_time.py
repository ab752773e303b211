"""Git's share: the time of one proposal in repositories with 100, 5,000 and 50,000 files.

Yardstick, in the same repository and in turn: `git commit-tree` and `git update-ref` alone, the least that makes a
commit on a ref. Each proposal is a new text, and its refs are removed again, so every round finds the same state. For a
last figure, the largest repository has 20,000 commits after the one that last changed the skill.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import seconds, side_by_side
from skilld.git.environment import scrub_environment
from skilld.proposals.model import ProposalCommit
from skilld.proposals.propose import Request, propose
from skilld.proposals.refit import Edit
from skilld.types import Evidence, Op, Operation
from support.proposals import make_proposal

_SKILL = ".claude/skills/release/SKILL.md"
_ANCHOR = "- Run the tests."
_TEXT = f"---\nname: release\ndescription: How we release.\n---\n\n# Release\n\n{_ANCHOR}\n- Tag the commit.\n"
_IDENTITY = {f"GIT_{who}_{what}": "pat" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the median time of a proposal per size of repository."""
    scrub_environment()
    history = scale.pick(20_000, 2_000)
    sizes = {"files_100": (100, 100), "files_5000": (5_000, 100), "files_50000": (50_000, 100)}
    sizes["long_history"] = (50_000, history)
    with children.scratch() as folder:
        repositories = [Repository(folder / name, *size) for name, size in sizes.items()]
        works = [work for repository in repositories for work in (repository.propose, repository.commit)]
        medians = iter(side_by_side(scale.pick(21, 7), *works))
    figures = {
        name: Figure(
            next(medians),
            "s",
            "git commit-tree and git update-ref",
            next(medians),
            f"{files} files, {commits} commits",
            Target(Of.VALUE, most=0.15),
        )
        for name, (files, commits) in sizes.items()
    }
    few, many = figures["files_100"], figures["files_50000"]
    growth = Target(Of.RATIO, most=1.5)
    figures["files_500x"] = Figure(many.value, "s", "the same with 100 files", few.value, many.basis, growth)
    return figures


class Repository:
    """A repository with a skill among many files; the skill was last changed by the first commit."""

    def __init__(self, folder: Path, files: int, commits: int) -> None:
        self.root = folder / "repository"
        self._home = folder
        self._number = count(1)
        self.root.mkdir(parents=True)
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("fast-import", "--quiet", given=b"".join(_history(files, commits)))
        self._git("repack", "-a", "-d", "--quiet")  # as a clone is: the importer's own pack is a loose one
        self._git("read-tree", "main")  # an index as large as the work tree; the files themselves are not looked at
        skill = self.root / _SKILL
        skill.parent.mkdir(parents=True)
        skill.write_text(_TEXT, encoding="utf-8")

    def propose(self) -> float:
        """Make one proposal, take it away again, and return how long the proposal took."""
        request = self._request(next(self._number))
        made = []
        took = seconds(lambda: made.append(propose(request)))
        assert isinstance(made[0], ProposalCommit), made[0]
        self._git("update-ref", "-d", "refs/heads/skilld/staging")
        self._git("update-ref", "-d", f"refs/skilld/proposals/{request.proposal.id}")
        return took

    def commit(self) -> float:
        """Make a commit of the tree that is there, and a ref on it; return how long that took."""
        text = f"commit {next(self._number)}"

        def work() -> None:
            commit = self._git("commit-tree", "main^{tree}", "-p", "main", "-m", text)
            self._git("update-ref", "refs/bench/yardstick", commit)

        return seconds(work)

    def _request(self, number: int) -> Request:
        proposal = make_proposal(
            operations=(Operation(Op.INSERT_AFTER, _ANCHOR, f"- Say number {number}."),),
            id=f"{number:08x}",
            batch_id=f"{number:016x}",
            path=str(self.root / _SKILL),
            skill="release",
            summary=f"Say number {number}.",
            evidence=(Evidence("turn", f"always say number {number}"),),
        )
        return Request(Edit(proposal))

    def _git(self, *arguments: str, given: bytes = b"") -> str:
        variables = {"PATH": os.environ["PATH"], "HOME": str(self._home), "GIT_CONFIG_NOSYSTEM": "1", **_IDENTITY}
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=variables, input=given, stdout=subprocess.PIPE, check=True
        )
        return done.stdout.decode().strip()


def _history(files: int, commits: int) -> Iterator[bytes]:
    """Yield a fast-import stream: one commit with all files, then commits that change one file each."""
    yield _blob(1, _TEXT.encode())
    yield _blob(2, b"print(1)\n")
    yield _head(0, "all files")
    yield f"M 100644 :1 {_SKILL}\n".encode()
    for number in range(files):
        yield f"M 100644 :2 src/package_{number // 100:03}/module_{number % 100:02}.py\n".encode()
    for number in range(1, commits):
        yield _head(number, f"change {number}")
        yield f"M 100644 inline src/package_000/module_{number % 100:02}.py\n".encode()
        yield _data(f"print({number})\n".encode())


def _blob(mark: int, data: bytes) -> bytes:
    return f"blob\nmark :{mark}\n".encode() + _data(data)


def _head(number: int, message: str) -> bytes:
    when = 1_700_000_000 + number
    return f"commit refs/heads/main\ncommitter Pat <pat@example.org> {when} +0000\n".encode() + _data(message.encode())


def _data(data: bytes) -> bytes:
    return f"data {len(data)}\n".encode() + data + b"\n"
