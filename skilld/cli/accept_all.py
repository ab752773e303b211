"""Which proposals `skilld accept --all` means: those of the repository you are in, and your personal ones."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from skilld import console
from skilld.cli import common, terminal
from skilld.errors import SkilldError
from skilld.git.managed_repos import open_any
from skilld.jobs.one_by_one import parts_for_batch, why_one_by_one
from skilld.proposals.current_work_tree import current_location, shares_repository
from skilld.proposals.model import top_folder
from skilld.store import Store
from skilld.text import pluralize
from skilld.types import Proposal, State, TargetKind
from skilld.values import value_class

# A skill of the person's own, relative to the home: .claude/skills, .config/opencode/skills.
_OWN_SKILL = re.compile(r"\.[^/]+/(?:[^/]+/)?skills/")


@value_class
class Batch:
    """The proposals of a batch, oldest first, and what is open elsewhere.

    `left_open` has why some stay open, by ID; `parts` has the parts (numbers from 0) to accept of some of these.
    """

    proposals: Sequence[Proposal]
    left_open: Mapping[str, str]
    elsewhere: Sequence[Proposal]
    parts: Mapping[str, set[int]] = field(default_factory=dict)

    @property
    def chosen(self) -> list[Proposal]:
        """The proposals to accept, wholly or in part."""
        return [one for one in self.proposals if one.id not in self.left_open or one.id in self.parts]

    def remarks(self, store: Store) -> list[str]:
        """Return how to undo the whole batch, and what is open in other repositories."""
        now = [store.proposals.get(one.id) for one in reversed(self.chosen)]  # the newest commit is undone first
        done = [one.id for one in now if one is not None and one.state is State.ACCEPTED]
        said = [f"To undo all of it: skilld revert {' '.join(done)}"] if len(done) > 1 else []
        number = len({one.repo for one in self.elsewhere})
        if number:
            places = "another repository" if number == 1 else f"{number} other repositories"
            more = f"{len(self.elsewhere)} more" if self.proposals else str(len(self.elsewhere))
            said.append(f"{more} in {places}: skilld accept --all-repositories")
        return said


def choose(store: Store, *, everywhere: bool, whole: bool = False) -> Batch:
    """Return the open proposals of every repository, or of this one together with the personal ones.

    Some are left for the person to decide on one by one (`jobs/one_by_one.py`), with `whole` also all their parts.
    """
    found = store.proposals.open()
    mine = found if everywhere else _of_this_folder(found)
    held = {one.id: why for one in mine if (why := why_one_by_one(store, one))}
    parts = {one.id: some for one in mine if one.id in held and not whole and (some := parts_for_batch(store, one))}
    known = {one.id for one in mine}
    return Batch(mine, held, [one for one in found if one.id not in known], parts)


def _of_this_folder(found: Sequence[Proposal]) -> list[Proposal]:
    folder, home = common.current_folder().resolve(), common.home().resolve()
    here = current_location()
    top = here.toplevel if here else None
    repos = {repo for repo in {one.repo for one in found} if shares_repository(here, repo)}

    def is_here(one: Proposal) -> bool:
        path = Path(one.path)
        if one.target is TargetKind.PERSONAL or one.repo in repos:
            return True
        if path.is_relative_to(home) and _OWN_SKILL.match(path.relative_to(home).as_posix()):
            return True
        if Path(one.repo).parent != common.places().repositories:
            return False
        # In a repository that skilld keeps: of a folder that git does not track.
        root = Path(one.path.removesuffix(f"/{one.relpath}"))
        project = (str(root).rpartition("/.")[0] or root.parent) if root.name == "skills" else root
        return folder.is_relative_to(project) or (top is not None and path.is_relative_to(top))

    return [one for one in found if is_here(one)]


def confirm(batch: Batch) -> bool:
    """List in a terminal how many proposals would be committed where, and ask; without a terminal, go on."""
    if not batch.chosen or not sys.stdin.isatty():
        return True
    by_repo: dict[str, list[Proposal]] = {}
    for one in batch.chosen:
        by_repo.setdefault(one.repo, []).append(one)
    for those in by_repo.values():
        console.say(console.message(f"{len(those):4}  {_describe_place(those[0])}"), 6)
    for name, why in batch.left_open.items():
        some = "Some of " if name in batch.parts else ""
        console.say(console.message(f"{some}{why.replace(' was left open: ', ' stays open: ', 1)}"), 6)
    where = "1 repository" if len(by_repo) == 1 else f"{len(by_repo)} repositories"
    return terminal.ask_yes_no(f"Accept {pluralize(len(batch.chosen), 'proposal')} in {where}? [y/N] ", sys.stdout)


def _describe_place(one: Proposal) -> str:
    """Return where a proposal would be committed: the top of the work tree, and the branch checked out there."""
    top = str(top_folder(one))
    with suppress(SkilldError, OSError):
        branch = open_any(Path(one.repo), common.places().repositories).branch if one.repo else None
        if branch:
            return f"{top} ({branch.removeprefix('refs/heads/')})"
    return top
