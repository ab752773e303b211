"""Real git repositories: a person working in one, a snapshot of every byte, and skilld proposing in it.

The person's git runs as a separate program with a home of its own; nothing of the machine's configuration is read.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.git.line_diff import is_change_made
from skilld.git.session import shared_git
from skilld.proposals.cherry_pick import accept, revert
from skilld.proposals.model import (
    DecisionCommit,
    Observation,
    ProposalCommit,
    ProposeOutcome,
    StagingState,
)
from skilld.proposals.observe import observe
from skilld.proposals.propose import Request, propose, rebuild
from skilld.proposals.refit import Edit
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State
from support import git_clock
from support.copied_repo import copy_repository, know_files
from support.proposals import make_proposal
from support.waiting import LIMIT

AT = "2026-01-05T10:00:00Z"

SKILL = "skills/release/SKILL.md"
TEXT = """\
---
name: release
description: How we release.
---

# Release

Steps:

- Run the tests.
- Tag the commit.
- Push the tag.

## Notes

Keep the changelog short.
"""

_TIMED = ("index", "HEAD", "config", "packed-refs", "logs")
_OURS = ("objects", "refs/heads/skilld", "refs/skilld")


def isolate_git(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Give this process, and the git it runs, an empty home and no inherited GIT_* variable."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Pat Person\n\temail = pat@example.org\n[init]\n\tdefaultBranch = main\n"
        f'[protocol "file"]\n\tallow = always\n{git_clock.NO_TIDYING}'
    )


@dataclass
class Person:
    """A person working with plain git in the work tree at `root`."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def git(self, *args: str, check: bool = True, **variables: str) -> str:
        """Run git as a person types it and return what it prints."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env |= {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"} | self.env | variables
        git = git_clock.unclocked_git(shutil.which("git", path=env["PATH"]) or "git", args)
        result = subprocess.run(
            [git, *args],
            cwd=self.root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
        if check and result.returncode != 0:
            raise AssertionError(f"git {args}: {result.stdout}{result.stderr}")
        return result.stdout.strip()

    def write(self, relpath: str, text: str | bytes) -> Path:
        path = self.root / relpath
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def commit(self, message: str, files: Mapping[str, str | bytes] | None = None) -> str:
        """Write files, commit them all, and return the commit."""
        for relpath, text in (files or {}).items():
            self.write(relpath, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.tip()

    def tip(self, ref: str = "HEAD") -> str:
        """Return the commit of a ref, "" if there is none: from its file, or if only git knows, by a process."""
        return self._loose_tip(ref) or self.git("rev-parse", "--verify", "--quiet", ref, check=False)

    def _loose_tip(self, ref: str) -> str:
        places: tuple[str, ...] = ref, f"refs/tags/{ref}", f"refs/heads/{ref}"
        while found := next((file for place in places if (file := self.root / ".git" / place).is_file()), None):
            text = found.read_text().strip()
            if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", text):
                return text
            places = (text.removeprefix("ref: "),) if text.startswith("ref: ") else ()
        return ""

    def show(self, relpath: str = SKILL, ref: str = "HEAD") -> str:
        return self.git("show", f"{ref}:{relpath}")

    def log(self, *args: str) -> list[str]:
        return self.git("log", "--format=%s", *args).splitlines()

    def files_changed(self, old: str, new: str) -> list[str]:
        return self.git("diff", "--name-only", old, new).splitlines()

    @property
    def skill(self) -> Path:
        return self.root / SKILL


def new_repo(root: Path, *options: str, text: str | bytes = TEXT) -> Person:
    """Create a repository with a skill and two other files in one commit on `main`."""
    config = Path.home() / ".gitconfig"
    start = git_clock.start()
    made = partial(_made, options, text, config.read_bytes() if config.exists() else b"", start)
    if start is None or git_clock.made() or options:
        shutil.copytree(made(commits=False), root)
        Person(root).git("commit", "--quiet", "-m", "first")
    else:
        copy_repository(made(commits=True), root)
        git_clock.repeat(1)
    return Person(root)


@cache
def _made(options: tuple[str, ...], text: str | bytes, config: bytes, start: int | None, *, commits: bool) -> Path:
    """Make what `new_repo` copies, for a person with this configuration of git and a clock that starts then.

    If it is not the first one made in a test, the commit is left out, because it has its own date.
    """
    del config, start  # they tell one from another: what is added may depend on the first, and the date on the other
    person = Person(git_clock.shelf())
    person.git("init", "--quiet", *options)
    for sample in (person.root / ".git/hooks").glob("*.sample"):
        sample.unlink()
    for relpath, content in {SKILL: text, "README.md": "read me\n", "src/app.py": "print(1)\n"}.items():
        person.write(relpath, content)
    person.git("add", "--all")
    if commits:
        person.git("commit", "--quiet", "-m", "first")
        git_clock.repeat(-1)
    return person.root


def snapshot(root: Path) -> dict[str, str]:
    """Return every path of a work tree and its .git with mode and content, skilld's objects and refs left out.

    For files that a mere look by git rewrites (index, HEAD, config, packed-refs, logs), the mtime counts as well.
    """
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        inside = re.split(r"\.git/(?:modules/[^/]+/)?", name, maxsplit=1)[-1] if ".git/" in name else ""
        if inside.startswith(_OURS):
            continue
        info = path.lstat()
        if stat.S_ISLNK(info.st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(info.st_mode):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            content = "folder"
        timed = info.st_mtime_ns if inside.startswith(_TIMED) and content != "folder" else 0
        found[name] = f"{stat.filemode(info.st_mode)} {content} {timed}"
    return found


def replace_line(anchor: str, *lines: str) -> Callable[[bytes], bytes]:
    """Return an edit that puts lines in place of an anchor line, which must occur once; line endings are kept."""

    def apply(data: bytes) -> bytes:
        end = b"\r\n" if b"\r\n" in data else b"\n"
        rows = data.split(end)
        if rows.count(anchor.encode()) != 1:
            raise SkilldError("The edit does not fit", f"anchor not found once: {anchor}")
        at = rows.index(anchor.encode())
        return end.join([*rows[:at], *(line.encode() for line in lines), *rows[at + 1 :]])

    return apply


def insert_below(anchor: str, line: str) -> Callable[[bytes], bytes]:
    """Return an edit that inserts a line below an anchor line, as `replace_line` does."""
    return replace_line(anchor, anchor, line)


def remove_line(anchor: str) -> Callable[[bytes], bytes]:
    """Return an edit that removes an anchor line, as `replace_line` does."""
    return replace_line(anchor)


def create_skill(text: str) -> Callable[[bytes], bytes]:
    """Return an edit that creates a skill with this text."""
    return partial(apply, operations=[Operation(Op.CREATE, "", text)])


class AnchoredEdit(Edit):
    """An edit that `apply` makes by its anchors alone, in any version of the file."""

    def __init__(self, proposal: Proposal, apply: Callable[[bytes], bytes]) -> None:
        super().__init__(proposal)
        self._apply = apply

    def __call__(self, data: bytes) -> bytes:
        return self._apply(data)

    def refit_exactly(self, before: bytes, after: bytes, current: bytes) -> bytes:
        return current if is_change_made(current, before, after) else self._apply(current)

    refit_loosely = refit_exactly


@dataclass
class Harness:
    """skilld's proposal functions on one repository; it remembers its proposals as the store does."""

    person: Person
    standing: dict[str, Callable[[bytes], bytes]] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)

    def request(self, name: str, apply: Callable[[bytes], bytes], *, restored: bool = False, **other: Any) -> Request:
        facts: dict[str, Any] = {
            "id": name,
            "batch_id": f"batch-{name}",
            "path": self.person.skill,
            "operations": (),
            "skill": "release",
            "summary": f"say {name}",
            "reason": f"The person asked for {name}.",
            "evidence": (Evidence("agent:1", f"always {name}"),),
            "kind": Kind.PREFERENCE,
            "confidence": 0.8,
            "session_id": "session-1",
            "model": "offline",
            "created_at": AT,
        } | other
        if facts.pop("creates", False):
            facts["operations"] = (Operation(Op.CREATE, "", apply(b"").decode()),)
        standing = facts.pop("standing", self.open_edits())
        edit = AnchoredEdit(make_proposal(**(facts | {"path": str(facts["path"])})), apply)
        return Request(edit, standing, frozenset(self.decided), restored, of_batch=not restored)

    def edit(self, name: str) -> Edit:
        """Return the edit of a proposal that is or was open."""
        return AnchoredEdit(self.proposals[name], self.standing[name])

    def open_edits(self) -> dict[str, Edit]:
        """Return the edits of the open proposals as a rebuild needs them."""
        return {name: self.edit(name) for name in self.standing}

    def propose(self, name: str, apply: Callable[[bytes], bytes], **other: Any) -> ProposeOutcome:
        request = self.request(name, apply, **other)
        outcome = propose(request)
        if isinstance(outcome, ProposalCommit):
            self.remember(request, outcome)
        return outcome

    def stage(self, name: str, apply: Callable[[bytes], bytes], **other: Any) -> ProposalCommit:
        outcome = self.propose(name, apply, **other)
        assert isinstance(outcome, ProposalCommit), outcome
        return outcome

    def remember(self, request: Request, made: ProposalCommit) -> None:
        where = {name: getattr(made, name) for name in ("id", "repo", "relpath", "base", "commit", "branch")}
        self.standing[made.id] = request.edit
        self.proposals[made.id] = replace(request.proposal, **where)
        self.follow(made.staging)

    def follow(self, line: StagingState) -> None:
        for name, commit in line.moved.items():
            if name in self.proposals:
                self.proposals[name] = replace(self.proposals[name], commit=commit)
        for name in line.ended:
            self.standing.pop(name, None)

    def drop(self, name: str) -> StagingState:
        """Drop a proposal and rebuild the branch, as programs do after every decision."""
        self.decided.add(name)
        self.standing.pop(name, None)
        line = rebuild(Path(self.address(name)), self.open_edits(), self.decided)
        self.follow(line)
        return line

    @shared_git()
    def accept(self, name: str) -> DecisionCommit:
        landed = accept(self.edit(name))
        self.proposals[name] = replace(self.proposals[name], state=State.ACCEPTED, landed=landed.commit)
        return landed

    @shared_git()
    def revert(self, name: str) -> DecisionCommit:
        return revert(self.proposals[name])

    def mark_accepted(self, name: str, *, landed: str) -> None:
        """Remember that a proposal was accepted, as the caller of `observe` does."""
        self.proposals[name] = replace(self.proposals[name], state=State.ACCEPTED, landed=landed)

    def observe(self, name: str) -> Observation:
        return observe(Path(self.address(name)), [self.proposals[name]])[0]

    def address(self, name: str) -> str:
        return self.proposals[name].repo if name in self.proposals else str(self.person.root)


def copy_repo(template: Path, to: Path) -> Person:
    """Copy a folder with a repository in `work` and its remotes beside it; return the person working there."""
    shutil.copytree(template, to, symlinks=True, dirs_exist_ok=True)
    for config in to.glob("*/.git/config"):
        config.write_text(config.read_text().replace(str(template), str(to)))
    know_files(to / "work")
    return Person(to / "work")


_COMMITS: dict[Path, dict[str, ProposalCommit]] = {}  # in each template


def harness_with(edits: Mapping[str, Callable[[bytes], bytes]], template: Path, to: Path) -> Harness:
    """Return a harness with these proposals on a copy of a template, which the first call creates."""
    if template not in _COMMITS:
        first = Harness(new_repo(template / "work"))
        _COMMITS[template] = {name: first.stage(name, apply) for name, apply in edits.items()}
    harness = Harness(copy_repo(template, to))
    for name, made in _COMMITS[template].items():
        harness.remember(harness.request(name, edits[name]), replace(made, repo=str(harness.person.root)))
    return harness
