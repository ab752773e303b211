"""`skilld skills share`: pushes skills on a branch of their own, after confirmation, with the person's git."""

from __future__ import annotations

import argparse
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.cli.skills.export import warn_of_other_files
from skilld.errors import Exit, RefusedError, RetryError, UsageError
from skilld.exchange.outgoing import BRANCH_PREFIX, LeakCheck, own_words, put_on_branch, redact_skill, restore_branch
from skilld.exchange.source_skills import is_address
from skilld.files import shell_quoted
from skilld.git.errors import NotTrackedError
from skilld.git.managed_repos import root_of, track
from skilld.git.remote import addresses_from, push, push_addresses
from skilld.git.repo import Repo
from skilld.git.state import git_dir_of
from skilld.library.rows import LibraryRow
from skilld.proposals.repositories import find_file
from skilld.store.meta import SHARED_COMMITS
from skilld.text import join_words, pluralize, without_login

_NOT_SHARED = "Nothing was shared"
_NAME_URL = "Name the URL or folder of a repository: --to URL"


@dataclass(frozen=True)
class _SharePlan:
    """One branch: its files by their path, its commit message, and the check on what may leave.

    `repo` is the repository around the skill at `skill`, None if skilld has yet to create one for it. `remote` is its
    name there, or an address; `addresses` are where a push to it goes.
    """

    skill: Path
    repo: Repo | None
    branch: str
    files: dict[str, str]
    message: str
    check: LeakCheck
    remote: str = ""
    addresses: tuple[str, ...] = ()


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    remote = common.as_text(arguments.to)
    if not remote.strip() or remote.startswith("-"):
        raise UsageError(_NOT_SHARED, f"{remote or 'an empty text'} is not a remote", _NAME_URL)
    rows = [inventory.find_skill(common.store_or_empty(), name) for name in dict.fromkeys(arguments.names)]
    plans = _plan_branches(rows, common.as_text(arguments.branch))
    for row in rows:
        warn_of_other_files(row)
    plans = [_address_plan(plan, remote) for plan in plans]
    for plan in plans:
        _print_plan(plan)
    if arguments.dry_run:
        return Exit.OK
    if not terminal.confirm("Push this? [y/N] ", _NOT_SHARED, yes=arguments.yes):
        return Exit.FAILURE
    for plan in plans:
        _push_plan(plan)
    return Exit.OK


def _push_plan(plan: _SharePlan) -> None:
    """Create the branch and push it, and print how to use and how to undo it."""
    now, repo = int(time.time()), track(plan.skill, common.places().repositories).repo
    if tuple(push_addresses(repo, plan.remote)) != plan.addresses:
        raise RefusedError(_NOT_SHARED, f"{plan.remote} now leads elsewhere", "Run the command again to see where.")
    place = repo, plan.remote, plan.branch
    shared = put_on_branch(*place, plan.files, message=plan.message, seconds=now, check=plan.check)
    if shared.commit != shared.before:
        _remember_commit(repo, shared.commit)
    try:
        is_new = push(repo, plan.remote, shared.ref)
    except RetryError:
        restore_branch(repo, shared)
        raise
    there = console.plain(without_login(plan.remote))
    console.say(f"Pushed {plan.branch} to {there}." if is_new else f"{there} already has this on {plan.branch}.")
    source = shlex.quote(without_login(plan.addresses[0]))
    others = f"skilld skills import {source} --branch {shlex.quote(plan.branch)}"
    console.say(f"  to import it elsewhere: {console.plain(others)}")
    for line in _undo_commands(repo, plan.branch, plan.remote):
        console.say(f"  undo: {console.plain(line)}")


def _address_plan(plan: _SharePlan, remote: str) -> _SharePlan:
    """Return the plan with its remote and where a push to that goes. Raises UsageError if the remote is unknown."""
    repo, top = plan.repo, plan.repo.toplevel if plan.repo is not None else root_of(plan.skill)
    own = git_dir_of(top, common.places().repositories) if repo is None else repo.git_dir if repo.private else None
    try:
        addresses = tuple(addresses_from(top, own, remote))
        if addresses != (remote,) or is_address(remote):
            return replace(plan, remote=remote, addresses=addresses)
    except UsageError as error:
        raise UsageError(_NOT_SHARED, error.cause, _NAME_URL) from error
    for base in (common.current_folder(), top):  # people type a path as seen from where they are
        if (folder := common.resolve_path(base / common.expand_path(remote))).exists():
            place = str(folder)
            return replace(plan, remote=place, addresses=tuple(addresses_from(top, own, place)))
    if own is not None:
        why = f"{remote} is not a URL or a folder, and git does not track {plan.skill}"
        raise UsageError(_NOT_SHARED, why, _NAME_URL)
    remedy = f"List the remotes: git -C {shell_quoted(top)} remote -v"
    raise UsageError(_NOT_SHARED, f"{remote} is not a URL, a folder or a remote of {top}", remedy)


def _remember_commit(repo: Repo, commit: str) -> None:
    """Store the commit, so that `skilld uninstall` recognizes it as skilld's."""
    store = common.store()
    with store.transaction():
        known = store.meta.get(SHARED_COMMITS, {})
        made = {*known.get(str(repo.address), []), commit}
        store.meta.set(SHARED_COMMITS, known | {str(repo.address): sorted(made)})


def _plan_branches(rows: list[LibraryRow], branch: str) -> list[_SharePlan]:
    """Return a plan for each skill's branch; a single one if the branch is named and they share a repository."""
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
    try:
        return find_file(path).repo
    except NotTrackedError:
        return None


def _provenance(row: LibraryRow) -> str:
    """Describe where a skill came from: no words, no sessions, and not how often it was used."""
    learned = f"Learned from {pluralize(row.origins, 'session')}. " if row.origins else ""
    return f"{learned}Shared with skilld."


def _print_plan(plan: _SharePlan) -> None:
    where = join_words([console.plain(without_login(one)) for one in plan.addresses])
    console.say(f"Branch {console.paint(plan.branch, 'bold')} for {where}, containing only:")
    for path, text in plan.files.items():
        console.say(f"+++ {console.plain(path)}", style="bold")
        for line in text.splitlines():
            console.say(f"+{console.plain(line)}", style="green")
    words = [word for text in plan.files.values() for word in own_words(text, plan.check.said)]
    console.say("It contains these words of yours:" if words else "It contains nothing that you said in a session.")
    for word in dict.fromkeys(words):
        console.say(f"  \u201c{console.plain(word)}\u201d")
    console.say("Its commit message:")
    for line in plan.message.splitlines():
        console.say(f"  {console.plain(line)}")
    console.line()


def _undo_commands(repo: Repo, branch: str, remote: str) -> list[str]:
    git = f"git -C {shell_quoted(repo.toplevel)}"
    if repo.private:
        git = f"git --git-dir={shell_quoted(repo.git_dir)}"
    name = shlex.quote(branch)
    return [f"{git} push {shlex.quote(remote)} --delete {name}", f"{git} branch -D {name}"]
