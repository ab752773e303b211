"""`skilld skills share`: pushes skills on a branch of their own, after confirmation, with the person's git."""

from __future__ import annotations

import argparse
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.cli.skills.export import warn_of_other_files
from skilld.errors import Exit, RetryError, UsageError
from skilld.git.environment import scrub_environment
from skilld.text import count_times, pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skilld.exchange.outgoing import LeakCheck
    from skilld.git.repo import Repo
    from skilld.library.rows import LibraryRow

_NOT_SHARED = "Nothing was shared"


@dataclass(frozen=True)
class _SharePlan:
    """One branch: its files by their path, its commit message, and the check on what may leave.

    `repo` is the repository around the skill at `skill`, None if skilld has yet to create one for it.
    """

    skill: Path
    repo: Repo | None
    branch: str
    files: dict[str, str]
    message: str
    check: LeakCheck


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    text = "preview skills, then push them to a branch that others can use, without personal data"
    parser = common.verb(verbs, "share", run, text)
    parser.add_argument("names", metavar="NAME", nargs="+", help="a skill's name or folder")
    parser.add_argument("--to", metavar="REMOTE", required=True, help="a remote of the skill's repository, or a URL")
    parser.add_argument("--branch", metavar="NAME", default="", help="the branch (default: skilld/share/NAME)")
    parser.add_argument("--dry-run", action="store_true", help="show what would be pushed without pushing it")
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.exchange.incoming import is_address
    from skilld.exchange.outgoing import put_on_branch, restore_branch
    from skilld.git.managed_repos import track
    from skilld.git.remote import push
    from skilld.proposals.staging import private_repositories

    removed = scrub_environment()
    remote = common.as_text(arguments.to)
    if not is_address(remote) and remote.startswith("-"):
        raise UsageError(_NOT_SHARED, f"{remote} is not a remote")
    rows = [inventory.find_skill(common.store_or_empty(), name) for name in dict.fromkeys(arguments.names)]
    plans = _plan_branches(rows, common.as_text(arguments.branch))
    for row in rows:
        warn_of_other_files(row)
    for plan, addresses in [(plan, _addresses(plan, remote, removed)) for plan in plans]:
        _print_plan(plan, addresses)
    if arguments.dry_run:
        return Exit.OK
    if not arguments.yes and not terminal.confirm("Push this? [y/N] ", _NOT_SHARED):
        console.line(f"{_NOT_SHARED}.")
        return Exit.FAILURE
    for plan in plans:
        now, repo = int(time.time()), track(plan.skill, private_repositories()).repo
        shared = put_on_branch(
            repo, remote, plan.branch, plan.files, message=plan.message, seconds=now, check=plan.check
        )
        if shared.commit != shared.before:
            _remember_commit(repo, shared.commit)
        try:
            push(repo, remote, shared.ref, removed)
        except RetryError:
            restore_branch(repo, shared)
            raise
        console.line(f"Pushed {plan.branch} to {console.plain(remote)}.")
        others = f"skilld skills import {shlex.quote(remote)} --branch {shlex.quote(plan.branch)}"
        console.line(f"  to import it elsewhere: {console.plain(others)}")
        for line in _undo_commands(repo, plan.branch, remote):
            console.line(f"  undo: {console.plain(line)}")
    return Exit.OK


def _addresses(plan: _SharePlan, remote: str, removed: Mapping[str, str]) -> list[str]:
    """Return the addresses that a push goes to. Raises UsageError if `remote` is unknown."""
    from skilld.exchange.incoming import is_address
    from skilld.git.managed_repos import root_of
    from skilld.git.remote import push_addresses

    repo = plan.repo
    top = repo.toplevel if repo is not None else root_of(plan.skill)
    addresses = push_addresses(repo, remote, removed) if repo is not None else [remote]
    if addresses == [remote] and not is_address(remote) and not common.expand_path(top / remote).exists():
        if repo is None or repo.private:
            remedy = "Name the URL or folder of a repository: --to URL"
            raise UsageError(_NOT_SHARED, f"{remote} is not a URL or a folder", remedy)
        remedy = f"List the remotes: git -C {shlex.quote(str(top))} remote -v"
        raise UsageError(_NOT_SHARED, f"{remote} is not a URL, a folder or a remote of {top}", remedy)
    return addresses


def _remember_commit(repo: Repo, commit: str) -> None:
    """Store the commit, so that `skilld uninstall` recognizes it as skilld's."""
    from skilld.store.meta import SHARED_COMMITS

    store = common.store()
    with store.transaction():
        known = store.meta.get(SHARED_COMMITS, {})
        made = {*known.get(str(repo.address), []), commit}
        store.meta.set(SHARED_COMMITS, known | {str(repo.address): sorted(made)})


def _plan_branches(rows: list[LibraryRow], branch: str) -> list[_SharePlan]:
    """Return a plan for each skill's branch; a single one if the branch is named and they share a repository."""
    from skilld.exchange.outgoing import BRANCH_PREFIX, LeakCheck, redact_skill
    from skilld.git.managed_repos import root_of

    plans: dict[tuple[Path, str], _SharePlan] = {}
    check = LeakCheck(common.secret_finder(), inventory.session_words(common.store_or_empty(), rows))
    for row in rows:
        with inventory.named_error(row, "shared"):
            text = redact_skill(inventory.skill_text(row.skill, exact=True), check)
        repo = _find_repo(row.path)
        top = repo.toplevel if repo is not None else root_of(row.path)
        key = (top, branch or BRANCH_PREFIX + row.name)
        plan = plans.get(key) or _SharePlan(row.path, repo, key[1], {}, "", check)
        message = f"{plan.message}Share the skill {row.name}\n\n{_provenance(row)}\n\n"
        files = plan.files | {row.path.relative_to(top).as_posix(): text}
        plans[key] = replace(plan, repo=plan.repo or repo, files=files, message=message)
    if branch and len(plans) > 1:
        raise UsageError(_NOT_SHARED, f"the skills are in {len(plans)} repositories", "Share them one at a time.")
    return list(plans.values())


def _find_repo(path: Path) -> Repo | None:
    """Return the repository that tracks a skill, skilld's own included; None if none does yet."""
    from skilld.git.errors import NotTrackedError
    from skilld.git.managed_repos import find_any
    from skilld.proposals.staging import private_repositories

    try:
        return find_any(path, private_repositories()).repo
    except NotTrackedError:
        return None


def _provenance(row: LibraryRow) -> str:
    """Describe where a skill came from, in numbers: no words and no sessions."""
    parts = [f"Learned from {pluralize(row.origins, 'session')}."] if row.origins else []
    parts += [f"Used {count_times(row.uses.number)}."] if row.uses.number else []
    return " ".join([*parts, "Shared with skilld."])


def _print_plan(plan: _SharePlan, addresses: list[str]) -> None:
    where = " and ".join(map(console.plain, addresses))
    console.line(f"Branch {console.paint(plan.branch, 'bold')} for {where}, containing only:")
    for path, text in plan.files.items():
        console.line(f"+++ {console.plain(path)}", style="bold")
        for line in text.splitlines():
            console.line(f"+{console.plain(line)}", style="green")
    console.line()


def _undo_commands(repo: Repo, branch: str, remote: str) -> list[str]:
    git = f"git -C {shlex.quote(str(repo.toplevel))}"
    if repo.private:
        git = f"git --git-dir={shlex.quote(str(repo.git_dir))}"
    name = shlex.quote(branch)
    return [f"{git} push {shlex.quote(remote)} --delete {name}", f"{git} branch -D {name}"]
