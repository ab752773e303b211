"""`skilld team pr`: the branch with the team's rules, and its pull request."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld import console
from skilld.agents import ADAPTERS
from skilld.cli import common, team
from skilld.context.installed import contexts
from skilld.context.tokenizer import tokenizer
from skilld.errors import Exit
from skilld.git.objects import person_ident
from skilld.git.repo import Repo
from skilld.store import Store
from skilld.team.branch import BranchResult, LoadedFiles, commit_subject
from skilld.team.hosts import Host, HostUnavailableError, PullRequest, parse_address
from skilld.team.pull_request import (
    TITLE,
    BranchState,
    choose,
    describe,
    new_rejections,
    proposal_records,
    push_branch,
    read_branch_state,
    write_branch,
)
from skilld.team.records import Record
from skilld.team.refs import ReadResult
from skilld.team.sync import RULES_BRANCH, Hub
from skilld.text import pluralize


def pull_request(arguments: argparse.Namespace) -> int:
    """Open or update the team's pull request."""
    repo = team.repository(arguments)
    named = [common.as_text(name) for name in arguments.rules]
    if not arguments.json:
        return update_pull_request(common.store(), repo, named, dry_run=arguments.dry_run)
    document: dict[str, Any] = {"branch": RULES_BRANCH, "remote": "", "commits": [], "url": None}
    with redirect_stdout(sys.stderr):
        code = update_pull_request(common.store(), repo, named, dry_run=arguments.dry_run, document=document)
    common.write_json(document)
    return code


def update_pull_request(
    store: Store,
    repo: Repo,
    named: Sequence[str] = (),
    *,
    dry_run: bool = False,
    document: dict[str, Any] | None = None,
) -> int:
    """Open or update a team's pull request with the rules that are ready or `named`; fills the JSON `document`."""
    document = {} if document is None else document
    membership = team.require_membership(store, repo)
    document["remote"] = membership.remote
    shared = team.outgoing(store, repo, membership)
    hub, found, _ = team.sync_and_save(store, team.team_hub(repo, membership), shared.records)
    host = _host(repo, hub)
    pull, host_problem = _newest_pull(host)
    state = read_branch_state(hub, pull)
    if rejected := new_rejections(hub, found, state, pull, team.today()):
        hub, found, _ = team.sync_and_save(store, hub, [*shared.records, *rejected])
    team.print_refused(found.refused)
    rules_commit = hub.membership.rules if state.rules else ""  # the branch of a closed pull request does not count
    rules = team.team_rules(replace(hub, membership=replace(hub.membership, rules=rules_commit)), found)
    picked = choose(rules, named)
    built = write_branch(hub, state, picked, _loaded_by(repo), person_ident(repo.git, 0), named=named)
    _print_built(built)
    document["commits"] = [{"subject": commit_subject(one.candidate), "path": one.path} for one in built.commits]
    if not built.commits and not state.rules:
        there = "the team's files already contain all rules that are ready" if picked else "no rule is ready yet"
        console.say("Nothing was proposed." if built.left_out else f"Nothing to propose: {there}.")
        return Exit.OK
    if dry_run:
        return Exit.OK
    if built.commits:
        hub, found, _ = _push(store, hub, state, built, shared.records)
    document["url"] = _open_or_update(hub, found, host, pull, host_problem)
    return Exit.OK


def _push(
    store: Store, hub: Hub, state: BranchState, built: BranchResult, records: Sequence[Record]
) -> tuple[Hub, ReadResult, str]:
    """Push the branch, then tell the others. If killed in between, the next run finds the commits on the branch."""
    push_branch(hub, state, built.tip)
    console.say(f"Pushed {pluralize(len(built.commits), 'commit')} to {RULES_BRANCH}.")
    return team.sync_and_save(store, hub, [*records, *proposal_records(built.commits, team.today())])


def _host(repo: Repo, hub: Hub) -> Host:
    """Return the host in the remote's own address, before any `insteadOf` setting of the person rewrites it."""
    import re

    name = f"^remote\\.{re.escape(hub.membership.remote)}\\.url$"
    out = repo.git.call("config", "--null", "--get-regexp", name).out.decode("utf-8", "replace")
    address = out.split("\0")[0].partition("\n")[2] or hub.membership.address
    return Host(parse_address(address), os.environ, hub.borrowed.folder)


def _newest_pull(host: Host) -> tuple[PullRequest | None, str]:
    """Return the newest pull request of the branch, or None and why the host cannot be asked."""
    try:
        return next(iter(host.pulls(RULES_BRANCH)), None), ""
    except HostUnavailableError as error:
        return None, error.cause


def _open_or_update(hub: Hub, found: ReadResult, host: Host, pull: PullRequest | None, host_problem: str) -> str | None:
    """Open or update the pull request; return its address, if there is one."""
    one = hub.membership
    if host_problem:
        console.say(f"No pull request was opened: {console.plain(host_problem)}.")
        link = host.place.link(RULES_BRANCH, one.branch)
        by_hand = f"open one on your Git host, from {RULES_BRANCH} to {console.plain(one.branch)}"
        console.say(f"  open it here: {link}" if link else f"  {by_hand}")
        return None
    text = describe(hub.borrowed.git, one.rules, one.base, team.team_rules(hub, found), tokenizer().count)
    again = pull is not None and pull.state == "open"
    made = host.update(pull.number, text) if pull and again else host.open(RULES_BRANCH, one.branch, TITLE, text)
    console.say(f"{'Updated' if again else 'Opened'} {console.plain(made.url)}")
    return made.url


def _print_built(built: BranchResult) -> None:
    for one in built.commits:
        console.say(f"+++ {console.plain(one.path)}", style="bold")
        for line in one.removed.splitlines():
            console.say(f"-{console.plain(line)}", style="red")
        for line in one.added.splitlines():
            console.say(f"+{console.plain(line)}", style="green")
        if one.removed:
            console.say("  It replaces a line that says the opposite.")
        for line in one.against:
            console.say(f"  It contradicts {console.plain(line)}")
    for candidate, why in built.left_out:
        console.say(f"Left out: {console.plain(candidate.rule)}")
        console.say(f"  {console.plain(why.cause or why.title)}")
        if why.remedy:
            console.say(f"  {why.remedy}")


def _loaded_by(repo: Repo) -> LoadedFiles:
    """Return the function that names the project files nearest to what each agent of a rule loads."""
    from functools import cache

    @cache
    def of(agents: tuple[str, ...]) -> tuple[str, ...]:
        known = [name for name in agents if name in ADAPTERS]
        found = contexts(repo.toplevel, common.home(), os.environ, known) if known else []
        paths = [Path(one.nearest.real) for one in found if one.nearest is not None]
        return tuple(path.relative_to(repo.toplevel).as_posix() for path in paths if path.is_relative_to(repo.toplevel))

    return lambda one: of(one.agents)
