"""`skilld team join | leave | status | sync | pr`: one library for a team, shared through its git host."""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common, terminal
from skilld.cli.config import write_setting
from skilld.cli.daemon_job import run_as_job
from skilld.clock import rfc3339, time_ago
from skilld.errors import Exit, SkilldError, UsageError
from skilld.exchange.outgoing import LeakCheck
from skilld.files import shell_command
from skilld.git.objects import person_identity
from skilld.git.remote import push_addresses
from skilld.git.repo import Repo, open_repo
from skilld.store import Store
from skilld.store.meta import MOVED_TEAMS
from skilld.team.candidates import Candidate, disagreements, group_candidates, with_states
from skilld.team.membership import Membership, absolute_address, check_name, forget, load, save
from skilld.team.project import read_status
from skilld.team.records import Record, describe, encode
from skilld.team.refs import ReadResult
from skilld.team.sharing import Guard, Outgoing, gather_records, known_sessions
from skilld.team.sync import RULES_BRANCH, Hub, open_hub, read_last_synced
from skilld.team.sync import remove_ref as take_off
from skilld.team.sync import sync as run
from skilld.text import pluralize, without_login

_NOT_JOINED = "Not joined"
_WEEK_SECONDS = 7 * 86400.0


# The repository and the membership.


def repository(arguments: argparse.Namespace) -> Repo:
    """Return the repository that the person names."""
    return open_repo(common.resolve_folder(arguments.repo))


def require_membership(store: Store, repo: Repo) -> Membership:
    """Return the membership in this repository's team. Raises SkilldError if the person has not joined."""
    found = load(store, repo.toplevel, joined(store))
    if found is None:
        raise SkilldError("You have not joined a team here", str(repo.toplevel), "To join: skilld team join")
    return found


def team_hub(repo: Repo, membership: Membership) -> Hub:
    """Return the connection to the team's remote."""
    folder = common.places().state / "team"
    with suppress(SkilldError):  # the remote is gone
        address = _remote_address(repo, membership.remote)
        if without_login(address) == membership.place:
            membership = replace(membership, address=address)
    return open_hub(membership, folder, repo, home=common.home(), env=os.environ)


def _open_team(arguments: argparse.Namespace) -> tuple[Store, Repo, Hub]:
    """Return the store, the repository that the person names, and the connection to its team's remote."""
    repo = repository(arguments)
    store = common.store()
    return store, repo, team_hub(repo, require_membership(store, repo))


def outgoing(store: Store, repo: Repo, membership: Membership) -> Outgoing:
    """Return what the person shares, and what is kept back."""
    who = person_identity(repo.git)
    names = (who["NAME"], who["EMAIL"].partition("@")[0], os.environ.get("USER", ""))
    folders = (str(common.home()), str(repo.toplevel))
    guard = Guard(LeakCheck(common.secret_finder(), known_sessions(store)), names, folders)
    return gather_records(store, str(repo.address), guard, quotes=membership.quotes, with_open=membership.open)


# Joining and leaving.


def join(arguments: argparse.Namespace) -> int:
    """Join the team of a repository."""
    repo = repository(arguments)
    store = common.store()
    if known := load(store, repo.toplevel, joined(store)):
        cause = f"you are already in this team, as {known.person}"
        raise SkilldError(_NOT_JOINED, cause, "To leave it: skilld team leave")
    if "," in str(repo.toplevel):
        cause = "the repository's path contains a comma, which the team.repositories setting does not allow"
        raise SkilldError(_NOT_JOINED, cause)
    name = check_name(common.as_text(arguments.name))
    remote = common.as_text(arguments.remote)
    address = _remote_address(repo, remote)
    membership = Membership(str(repo.toplevel), remote, address, name, arguments.quotes, arguments.open)
    hub = team_hub(repo, membership)
    shared = outgoing(store, repo, membership)
    _print_preview(membership, shared, as_sent=arguments.as_sent)
    if not terminal.confirm("Join and share this? [y/N] ", _NOT_JOINED, yes=arguments.yes):
        return Exit.FAILURE
    _, _, pushed = sync_and_save(store, hub, shared.records, first=True)
    _write_joined(store, [*joined(store), Path(hub.membership.repo)])
    console.say(f"Joined the team at {console.message(membership.place)} as {name}.")
    _print_branch(pushed)
    console.say("  see its rules: skilld team status")
    console.say("  undo: skilld team leave")
    return Exit.OK


def joined(store: Store) -> list[Path]:
    """Return the repositories whose teams the person joined by their settings, where they are now."""
    moved = store.meta.get(MOVED_TEAMS, {})
    return [Path(moved.get(str(one), one)) for one in common.settings().team.repositories]


def _write_joined(store: Store, repositories: list[Path]) -> None:
    value = ",".join(dict.fromkeys(map(str, repositories)))
    write_setting(common.places().settings_file, "team.repositories", value or None)
    with store.transaction():
        store.meta.delete(MOVED_TEAMS)


def _print_branch(pushed: str) -> None:
    """Print the branch that holds the person's records, if the remote accepts only branches."""
    if (branch := pushed.removeprefix("refs/heads/")) != pushed:
        console.say(f"  The remote accepts only branches, so your shared rules are on the branch {branch}.")


def _remote_address(repo: Repo, remote: str) -> str:
    if remote.startswith("-"):
        raise UsageError(_NOT_JOINED, f"{remote} is not a remote")
    found = push_addresses(repo, remote)
    if not found or (found == [remote] and not (repo.toplevel / remote).exists() and ":" not in remote):
        raise UsageError(_NOT_JOINED, f"{repo.toplevel} has no remote called {remote}", "Choose another: --remote NAME")
    return absolute_address(found[0], repo.toplevel)


def _print_preview(membership: Membership, shared: Outgoing, *, as_sent: bool) -> None:
    """Print what would be shared, as the others would see it, and what is kept back."""
    where = console.message(membership.place)
    person = console.paint(membership.person, "bold")
    console.say(f"You would share the following as {person}, signed with your SSH key,")
    console.say(f"with everyone who can read {where}:")
    for record in shared.records:
        if record.rule:
            print_record(record, as_sent=as_sent)
    if not any(record.rule for record in shared.records):
        console.say("  nothing yet: you have not accepted any rules here")
    _print_kept_back(shared.kept_back)
    more = [] if membership.quotes else ["the words you used (--quotes)"]
    more += [] if membership.open else ["rules you have not yet decided on (--open)"]
    left_out = ", ".join([*more, "sessions"])
    console.say(f"Rules you accept later will be shared at the next sync. Not shared: {left_out}.")


def print_record(record: Record, *, as_sent: bool) -> None:
    """Print a record of a team or of machines: its rule and all that is sent with it, or its JSON."""
    if as_sent:
        console.say(f"  {console.plain(encode(record).decode())}", style="green")
        return
    console.say(f"  {console.plain(record.rule)}", 4, style="green")
    console.say(f"    {console.plain(describe(record))}", 4, style="dim")


def _print_kept_back(kept: Sequence[tuple[str, str]]) -> None:
    for rule, why in kept:
        console.say(f"  not shared, because {console.plain(why)}: {console.plain(rule)}")


def leave(arguments: argparse.Namespace) -> int:
    """Leave the team of a repository."""
    store, _, hub = _open_team(arguments)
    take_off(hub)
    _write_joined(store, [one for one in joined(store) if str(one) != hub.membership.repo])
    forget(store, hub.membership.repo)
    shutil.rmtree(hub.borrowed.folder, ignore_errors=True)
    console.say("You have left the team. The rules you shared were deleted from the remote.")
    console.say("  undo: skilld team join")
    console.say("  Teammates may still have copies that they fetched earlier.")
    if hub.membership.rules:
        remove = shell_command(["git", "push", hub.membership.remote, "--delete", RULES_BRANCH])
        console.say(f"  The team's pull request stays on the branch {RULES_BRANCH}; to delete it: {remove}")
    return Exit.OK


# Syncing, and the team's rules.


def sync(arguments: argparse.Namespace) -> int:
    """Fetch and push."""
    if arguments.unasked:
        return run_as_job("team sync", _sync_all)
    store, repo, hub = _open_team(arguments)
    shared = outgoing(store, repo, hub.membership)
    hub, found, pushed = sync_and_save(store, hub, shared.records)
    ready = team_rules(hub, found)
    _print_kept_back(shared.kept_back)
    people = pluralize(len(found.members), "person", "people")
    console.say(f"{people} in the team; {'pushed your changes' if pushed else 'nothing new to push'}.")
    _print_branch(pushed)
    print_refused(found.refused)
    _print_ready(ready)
    return Exit.OK


def status(arguments: argparse.Namespace) -> int:
    """List the team's rules."""
    repo = repository(arguments)
    store = common.store_or_empty()
    if arguments.json and load(store, repo.toplevel, joined(store)) is None:
        return common.write_json(_outside_json(repo))
    membership = require_membership(store, repo)
    hub = team_hub(repo, membership)
    seen = read_last_synced(hub)
    found = team_rules(hub, seen)
    if arguments.json:
        return common.write_json(_as_json(membership, seen, found))
    when = time_ago(membership.at, time.time())
    people = pluralize(len(seen.members), "person", "people")
    console.say(f"{console.message(membership.place)}: {people}, you are {membership.person}; synced {when}.")
    if membership.trouble:
        console.say(f"  the last sync failed: {console.message(membership.trouble)}")
    print_refused(seen.refused)
    clashing = disagreements(found)
    for one in found:
        console.say(f"{console.paint(one.id[:8], 'bold')}  {one.standing.value:8}  {console.plain(one.rule)}")
        said = f"{pluralize(one.people, 'person', 'people')}, {pluralize(one.sessions, 'session')}, since {one.since}"
        console.say(f"    {console.plain(f'{said}; {one.why}' if one.why else said)}", style="dim")
        for other in clashing.get(one.id, ()):
            console.say(f"    ! {other.id[:8]} says the opposite")
    if not found:
        console.say("No one has shared a rule yet.")
    _print_ready(found)
    return Exit.OK


def team_rules(hub: Hub, found: ReadResult) -> list[Candidate]:
    """Return the candidates with their standing."""
    one = hub.membership
    shown = read_status(hub.borrowed.git, one.base, one.rules, today=today())
    members = list(found.members.values())
    return with_states(group_candidates(members), members, shown)


def today() -> str:
    """Return today's date in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())


def sync_and_save(
    store: Store, hub: Hub, records: Sequence[Record], *, first: bool = False
) -> tuple[Hub, ReadResult, str]:
    """Sync and store the result; return the updated hub, what was found, and the ref that was pushed to."""
    done = run(hub, records, first=first)
    save(store, done.membership)
    return replace(hub, membership=done.membership), done.found, done.pushed


def print_refused(refused: Mapping[str, str]) -> None:
    """Print the people whose records were rejected, and why."""
    for person, why in sorted(refused.items()):
        console.say(f"  rejected changes from {console.plain(person)}: {console.plain(why)}")


def _print_ready(found: Sequence[Candidate]) -> None:
    if ready := sum(one.standing.value == "ready" for one in found):
        console.say(f"{pluralize(ready, 'rule')} ready for the team's files (to open a pull request: skilld team pr)")


def _outside_json(repo: Repo) -> dict[str, Any]:
    """Return the document of a repository whose team the person has not joined."""
    nobody: dict[str, Any] = {"joined": False, "remote": None, "candidates": [], "repository": str(repo.toplevel)}
    return nobody | {"person": None, "people": [], "refused": {}, "synced_at": None, "trouble": "", "rules": []}


def _as_json(membership: Membership, seen: ReadResult, found: Sequence[Candidate]) -> dict[str, Any]:
    return {
        "joined": True,
        "remote": membership.remote,
        "candidates": [_candidate_json(one) for one in found],
        "repository": membership.repo,
        "person": membership.person,
        "people": sorted(seen.members),
        "refused": dict(sorted(seen.refused.items())),
        "synced_at": rfc3339(membership.at),
        "trouble": membership.trouble,
        "rules": [_rule_json(one) for one in found],
    }


_JSON_STATES = {"ready": "open", "waiting": "open", "accepted": "merged"}


def _candidate_json(one: Candidate) -> dict[str, Any]:
    state = _JSON_STATES.get(one.standing, one.standing.value)
    more = {"text": one.rule, "path": next(iter(one.places), ""), "state": state}
    return common.pick(one, "id", "people", "sessions") | more


def _rule_json(one: Candidate) -> dict[str, Any]:
    return common.pick(one, "id", "rule", "standing", "why", "people", "sessions", "since", "last", "quotes")


# The sync that the daemon starts, once an hour at most. Nobody waits for it: an error in one repository is saved for
# `skilld team status`, and the next hour tries again.


def _sync_all() -> None:
    """Sync every team that the person joined, and update its pull request weekly if `team.auto_pr` says so."""
    store, settings = common.store(), common.settings().team
    repositories = joined(store)
    for folder in repositories:
        if load(store, folder, repositories) is None:
            continue  # joined on this machine with another home's settings, or left by hand
        try:
            _sync_one(store, folder, weekly=settings.auto_pr == "weekly")
        except SkilldError as error:
            if known := load(store, folder, repositories):
                save(store, known.with_trouble(error))


def _sync_one(store: Store, folder: Path, *, weekly: bool) -> None:
    from skilld.cli.team_pr import update_pull_request

    repo = open_repo(common.resolve_folder(folder))
    known, now = require_membership(store, repo), time.time()
    if weekly and not known.asked_at <= now < known.asked_at + _WEEK_SECONDS:
        save(store, replace(known, asked_at=now))  # an unreachable host is asked again in a week
        update_pull_request(store, repo)
        return
    shared = outgoing(store, repo, known)
    sync_and_save(store, team_hub(repo, known), shared.records)
