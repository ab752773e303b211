"""`skilld machines add | join | leave | status | sync`: syncs your decisions between your machines."""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common, terminal
from skilld.cli.config import write_setting
from skilld.cli.daemon_job import run_as_job
from skilld.cli.team import print_record, print_refused
from skilld.clock import rfc3339, time_ago
from skilld.effect.rule_lines import text_of
from skilld.errors import Exit, RefusedError, SkilldError, UsageError
from skilld.exchange.outgoing import LeakCheck
from skilld.files import shell_command
from skilld.machines.gather import GatherResult
from skilld.machines.merging import RuleGroup, RuleGroups, merge_records
from skilld.machines.places import Places
from skilld.machines.sync import SyncResult, fetch, forget, gather, learning_of, load, save
from skilld.machines.sync import sync as run
from skilld.proposals.decide import DecisionReport, accepting, decide
from skilld.store import Store
from skilld.team.membership import Membership, absolute_address, check_name
from skilld.team.records import MACHINE_TYPES, Record, RecordType, decode
from skilld.team.refs import MACHINES_LAYOUT, ReadResult
from skilld.team.sharing import known_sessions
from skilld.team.sync import Hub, open_hub
from skilld.team.sync import remove_ref as take_off
from skilld.text import pluralize
from skilld.types import Kind

_NOT_JOINED = "Not joined"


def require_membership(store: Store) -> Membership:
    """Return this machine's membership. Raises SkilldError if it has not joined."""
    found = load(store, common.settings().machines.remote)
    if found is None:
        title = "This machine does not sync with any other machine"
        raise SkilldError(title, "", "To join: skilld machines join REMOTE")
    return found


def _hub(membership: Membership) -> Hub:
    folder = common.places().state / "machines"
    return open_hub(membership, folder, home=common.home(), env=os.environ)


def _own_side(store: Store) -> tuple[Places, LeakCheck]:
    """Return where files are on this machine, and the check on what may leave it."""
    places = Places(store, common.home(), common.current_folder())
    return places, LeakCheck(common.secret_finder(), known_sessions(store))


def join(arguments: argparse.Namespace) -> int:
    """Join the person's other machines."""
    store = common.store()
    if known := load(store, common.settings().machines.remote):
        cause = f"this machine has already joined as {known.person}"
        raise SkilldError(_NOT_JOINED, cause, "To leave: skilld machines leave")
    name = check_name(common.as_text(arguments.name))
    address = _remote_address(common.as_text(arguments.remote))
    hub = _hub(Membership("", "", address, name))
    if hub.borrowed.is_public(address):
        remedy = "Use a private repository."
        raise RefusedError(_NOT_JOINED, f"anyone can read {hub.membership.place}", remedy)
    found, side = fetch(hub), _own_side(store)
    gathered = gather(store, *side, found)
    _print_preview(hub.membership, gathered, found, as_sent=arguments.as_sent)
    if not terminal.confirm("Join and send this? [y/N] ", _NOT_JOINED, yes=arguments.yes):
        return Exit.FAILURE
    done = run(hub, store, *side, first=True)
    write_setting(common.places().settings_file, "machines.remote", hub.membership.address)
    _print_result(done)
    console.say(f"Joined {console.message(hub.membership.place)} as {name}.")
    console.say("  next, on each of your other machines: skilld machines join REMOTE")
    console.say("  undo: skilld machines leave")
    return Exit.OK


def _remote_address(remote: str) -> str:
    if remote.startswith("-"):
        raise UsageError(_NOT_JOINED, f"{remote} is not a remote")
    return absolute_address(str(Path(remote).expanduser()) if remote.startswith("~") else remote, Path.cwd())


def _print_preview(membership: Membership, gathered: GatherResult, found: ReadResult, *, as_sent: bool) -> None:
    """Show what would be sent that is not there yet, and to whom."""
    there = merge_records(*(one.records for one in found.members.values()))
    new = [record for at, record in gathered.records.items() if record != there.get(at)]
    where, person = console.message(membership.place), console.paint(membership.person, "bold")
    console.say(f"This machine would send the following as {person}, signed with your SSH key,")
    console.say(f"to {where}, where everyone with access can read it:")
    for record in new:
        print_record(record, as_sent=as_sent)
    if known := len(gathered.records) - len(new):
        more = "and " if new else ""
        console.say(f"  {more}{pluralize(known, 'record')} that your other machines have sent already")
    elif not new:
        console.say("  nothing yet: skilld has not proposed or learned anything here")
    for rule, why in gathered.kept_back.items():
        console.say(f"  not sent, because {console.plain(why)}: {console.plain(rule)}")
    console.say("Later decisions, learnings and repeats are sent once an hour, including your words.")
    if found.members:
        console.say(f"Your machines there: {', '.join(map(console.plain, sorted(found.members)))}.")


def leave(arguments: argparse.Namespace) -> int:
    """Leave."""
    del arguments
    store = common.store()
    hub = _hub(require_membership(store))
    others = take_off(hub, MACHINES_LAYOUT)
    write_setting(common.places().settings_file, "machines.remote", None)
    forget(store)
    shutil.rmtree(hub.borrowed.folder, ignore_errors=True)
    address = hub.membership.place
    gone = "Its ref" if others else "Its data"
    console.say(f"This machine has left. {gone} was deleted from the remote. All decisions stand.")
    console.say(f"  undo: skilld machines join {console.message(address)}")
    if others:
        console.say(
            "  Each of your other machines has this machine's records too, with your quotes, and sends them again."
        )
        console.say("  To delete those: skilld machines leave, on each of them. For one that is lost:")
        console.say(f"    {console.message(shell_command(['git', 'push', address, '--delete', *others]))}")
    return Exit.OK


def sync(arguments: argparse.Namespace) -> int:
    """Sync."""
    if arguments.unasked:
        return run_as_job("machines sync", _sync_in_background)
    store = common.store()
    _print_result(_sync(store))
    return Exit.OK


def _sync(store: Store) -> SyncResult:
    return run(_hub(require_membership(store)), store, *_own_side(store))


def _sync_in_background() -> None:
    """Sync for the daemon: an error is saved for `skilld machines status`, and the next hour tries again."""
    store = common.store()
    known = load(store, common.settings().machines.remote)
    if known is None:
        return
    try:
        _sync(store)
    except SkilldError as error:
        save(store, known.with_trouble(error))


def _print_result(done: SyncResult) -> None:
    own = done.membership.person
    others = [name for name in sorted(done.found.members) if name != own]
    sent = "sent this machine's changes" if done.pushed else "nothing new to send"
    console.say(f"{pluralize(len(others), 'other machine')}; {sent}.")
    for rule, why in done.news.kept_back.items():
        console.say(f"  not sent, because {console.plain(why)}: {console.plain(rule)}")
    for rule, state in done.applied.decided:
        console.say(f"  {state.value}, as on another machine: {console.plain(rule)}")
    for warning in done.applied.warnings:
        console.say(f"  {console.plain(warning)}")
    print_refused(done.membership.refused)


def status(arguments: argparse.Namespace) -> int:
    """List the machines and their rules."""
    store = common.store_or_empty()
    known = require_membership(store)
    rows = store.machine_records.all()
    records = [decode(one.record.encode(), MACHINE_TYPES) for one in rows]
    groups = RuleGroups(records).all()
    rest = [one for one in records if one.what is RecordType.LEARNED and one.said == "waiting"]
    if arguments.json:
        return common.write_json(_as_json(known, groups, rest))
    others = [name for name in sorted(known.present) if name != known.person]
    when = time_ago(known.at, time.time())
    console.say(f"{console.message(known.place)}: this machine is {known.person}; synced {when}.")
    console.say(f"  others: {', '.join(map(console.plain, others)) or 'none yet'}")
    if known.trouble:
        console.say(f"  the last sync failed: {console.message(known.trouble)}")
    print_refused(known.refused)
    places, _ = _own_side(store)
    ids = _proposals_here(store)
    for group in groups:
        elsewhere = f"{group.best.place.partition('/')[2]} in a repository that is not here"
        path = places.path_of(group.best.place)
        left = _describe_missing(group, path, ids.get(group.key, "")) if path else ""
        console.say(f"{group.best.said:8}  {console.plain(group.records[0].rule)}")
        said = pluralize(len(group.heard), "session")
        console.say(f"    {console.message(str(path or elsewhere))}; said in {said}{left}", style="dim")
    if rest:
        console.say(f"{pluralize(len(rest), 'learning')} without a file (list: skilld learnings)")
    return Exit.OK


def _proposals_here(store: Store) -> dict[str, str]:
    """Return the IDs of this machine's proposals by the keys of their rules; empty for those it has none of."""
    rows = store.machine_records.all()
    return {row.key: row.here.rpartition(" ")[2] for row in rows if row.what == RecordType.DECIDED}


def _describe_missing(group: RuleGroup, path: Path, proposal: str) -> str:
    """Return how an accepted rule gets into a file that does not say it here; empty if it does."""
    by_git = not _is_own(group)
    # Without a proposal here, a line that git has not brought may as well have been taken out with plain git since.
    if (by_git and not proposal) or not _is_missing(group, path):
        return ""
    add = f"to add it: skilld {f'accept {proposal}' if proposal else 'machines add'}"
    return f"; not in the file here: {'it comes with git pull or, ' if by_git else ''}{add}"


def _is_own(group: RuleGroup) -> bool:
    """Whether a rule is for a file of the person's own, which git does not bring here."""
    return group.best.place.startswith("home/")


def _is_missing(group: RuleGroup, path: Path) -> bool:
    from skilld.classify.said_already import says_already  # keeps its tables out of a sync

    is_rule = group.best.said == "accepted" and group.best.kind != Kind.REMOVE_STEP.value
    return is_rule and not says_already(group.records[0].rule, text_of(str(path)))


def add(arguments: argparse.Namespace) -> int:
    """Propose and accept the rules of other machines that the person's own files here do not have."""
    store = common.store()
    require_membership(store)
    places, _ = _own_side(store)
    groups = RuleGroups(decode(one.record.encode(), MACHINE_TYPES) for one in store.machine_records.all()).all()
    own = [(one, path) for one in groups if _is_own(one) and (path := places.path_of(one.best.place))]
    missing = [(one, path) for one, path in own if _is_missing(one, path)]
    if not missing:
        console.say("Your own files have all the rules that you accepted on your other machines.")
        return Exit.OK
    console.say("Accepted on another machine, and not in your files here:")
    for group, path in missing:
        console.say(f"  {console.message(str(path))}: {console.plain(group.records[0].rule)}")
    if not terminal.confirm(
        f"Add {'it' if len(missing) == 1 else 'them'}? [y/N] ", "Nothing was added", yes=arguments.yes
    ):
        return Exit.FAILURE
    ids, code = _proposals_here(store), Exit.OK
    for group, path in missing:
        try:
            report = _add_rule(store, places, group, path, ids.get(group.key, ""))
        except SkilldError as error:
            code = Exit.FAILURE
            end = f". {error.remedy}" if error.remedy else ""
            console.warn(f"skilld: {console.message(f'{group.records[0].rule}: {error}{end}')}")
            continue
        for line in (*report.lines, *report.warnings):
            console.say(console.message(line))
    return code


def _add_rule(store: Store, places: Places, group: RuleGroup, path: Path, proposal: str) -> DecisionReport:
    """Accept a rule of another machine here. One that may do harm is left open, with the reason. Raises SkilldError."""
    from skilld.jobs.one_by_one import why_one_by_one
    from skilld.jobs.relocation import propose_learning

    best, made = group.best, store.proposals.get(proposal)
    if made is None:
        ask = [learning_of(places, best, max(group.heard, default=f"{best.at}/claude-code/"), path)]
        made = propose_learning(store, ask, common.host(), common.settings().targets, common.redactor())
    why = why_one_by_one(store, made)
    return DecisionReport((why,)) if why else decide(store, made, accepting())


def _as_json(known: Membership, groups: list[RuleGroup], rest: list[Record]) -> dict[str, Any]:
    return {
        "remote": known.place,
        "machine": known.person,
        "machines": sorted(known.present),
        "refused": dict(sorted(known.refused.items())),
        "synced_at": rfc3339(known.at),
        "trouble": known.trouble,
        "rules": [
            {"rule": one.records[0].rule, "file": one.best.place, "standing": one.best.said}
            | {"sessions": len(one.heard), "decided_at": one.best.at}
            for one in groups
        ],
        "learnings": [one.rule for one in rest],
    }
