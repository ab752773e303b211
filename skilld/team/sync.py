"""Fetches what the other members share, and pushes what this person shares: one call, safe to kill at any point.

The push adds this machine's records to those already on the person's ref; if another machine of theirs was faster, it
is repeated on top of what that one pushed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from skilld.errors import RefusedError
from skilld.git.borrowed_repo import BorrowedRepo
from skilld.git.errors import GitFailedError, LostRaceError
from skilld.git.refs import read_tips
from skilld.git.repo import Repo
from skilld.team import refs, sign
from skilld.team.membership import Membership
from skilld.team.records import Record, record_slot, update_records
from skilld.team.refs import TEAM_LAYOUT, Member, ReadResult, RefLayout
from skilld.values import value_class

RULES_BRANCH = "skilld/team-rules"  # the branch of the team's pull request
_BASE_REF = "refs/skilld/base"
_RULES_REF = "refs/skilld/rules"
_PROJECT_SECONDS = 300.0
_MAX_TRIES = 5


@value_class
class Hub:
    """What a team's verbs work with: the copy of the remote's data, the person's key, and their environment."""

    borrowed: BorrowedRepo
    key: sign.SigningKey
    environment: Mapping[str, str]
    membership: Membership


def open_hub(
    membership: Membership,
    folder: Path,
    repo: Repo | None = None,
    *,
    home: Path,
    env: Mapping[str, str],
) -> Hub:
    """Return the hub of a membership, its copy of the remote below `folder`; `repo` is the repository of a team.

    Raises SkilldError without an SSH key.
    """
    objects, algorithm = (repo.common_dir, repo.git.algorithm) if repo else (None, "sha1")
    borrowed = BorrowedRepo(folder / membership.folder, objects, algorithm)
    return Hub(borrowed, sign.find_key(borrowed.git, home), env, membership)


def check_name_is_free(hub: Hub, found: ReadResult) -> None:
    """Raise RefusedError if the ref of the name with which somebody joins is signed with another key than theirs."""
    own = hub.membership.person
    if own in found.refused or (own in found.members and found.members[own].public != hub.key.public):
        why = f", and its records were rejected: {found.refused[own]}" if own in found.refused else ""
        raise RefusedError("Not joined", f"{own} is taken by someone else{why}", "Choose another name: --name NAME")


@value_class
class SyncResult:
    """The result of a sync: the current membership, and the ref that was pushed to (empty: none)."""

    membership: Membership
    found: ReadResult
    pushed: str


def exchange(
    hub: Hub,
    fetch: Callable[[Hub], ReadResult],
    wanted: Callable[[ReadResult], Iterable[Record]],
    *,
    first: bool,
) -> tuple[ReadResult, str]:
    """Fetch what the others have and bring this member's ref up to what is `wanted` then; return the ref pushed to.

    Done again if another machine of theirs was faster. `first` is for joining: a ref of that name signed with another
    key is somebody else's. Raises GitFailedError if the remote cannot be reached, or accepts neither ref nor branch.
    """
    for tries_left in reversed(range(_MAX_TRIES)):
        found = fetch(hub)
        if first:
            check_name_is_free(hub, found)
        mine, records = found.members.get(hub.membership.person), tuple(wanted(found))
        if mine is not None and mine.public == hub.key.public and {*mine.records} == {*records}:
            return found, ""
        try:
            return found, _push_records(hub, found, records)
        except LostRaceError:
            if not tries_left:
                raise
    raise AssertionError


def sync(hub: Hub, wanted: Iterable[Record], *, first: bool = False) -> SyncResult:
    """Bring the person's ref up to `wanted` and return what the others have; see `exchange`."""
    told = tuple(wanted)

    def with_known(found: ReadResult) -> Iterable[Record]:
        mine = found.members.get(hub.membership.person) or _last_written(hub)
        return update_records({record_slot(one): one for one in (mine.records if mine else ())}, told).values()

    found, pushed = exchange(hub, fetch_all, with_known, first=first)
    return SyncResult(_with_project(hub.membership, found), found, pushed)


def _last_written(hub: Hub) -> Member | None:
    """Return this person's ref as last seen: somebody may have replaced it."""
    own, pins = hub.membership.person, hub.membership.pins
    if own not in pins or not pins[own].tip:
        return None
    return refs.check_members(hub.borrowed.git, {own: pins[own].tip}, pins, hub.environment, ReadResult()).members.get(
        own
    )


def _push_records(hub: Hub, found: ReadResult, records: tuple[Record, ...]) -> str:
    """Write these records to this member's ref; return the ref that was pushed to."""
    own, pins = hub.membership.person, hub.membership.pins
    before = (found.members.get(own), pins.get(own))
    serial = 1 + max(one.serial if one else 0 for one in before)
    commit = refs.write_commit(hub.borrowed, own, serial, records, make_signer(hub), form=found.form)
    pushed = refs.publish(hub.borrowed, hub.membership.address, own, commit, found.listed, form=found.form)
    found.refused.pop(own, None)  # whatever somebody else put there is replaced
    found.members[own] = Member(own, hub.key.public, serial, commit, records)
    return pushed


def make_signer(hub: Hub) -> Callable[[bytes], bytes]:
    """Return a function that signs a commit with the person's key."""
    git = hub.borrowed.git
    return lambda plain: sign.sign_commit(plain, hub.key, hub.environment, hub.borrowed.folder, git.algorithm)


def fetch_all(hub: Hub) -> ReadResult:
    """Fetch and check the others' records, the remote's default branch, and the branch of the pull request."""
    borrowed, one = hub.borrowed, hub.membership
    found = refs.read_members(borrowed, one.address, one.pins, hub.environment, [f"refs/heads/{RULES_BRANCH}"])
    _fetch_project(borrowed, one.address, found)
    return found


def _fetch_project(borrowed: BorrowedRepo, address: str, found: ReadResult) -> None:
    """Fetch the branches of the project that a pull request concerns, unless they are here already."""
    listed = found.listed
    wanted = {listed.default: _BASE_REF, f"refs/heads/{RULES_BRANCH}": _RULES_REF}
    there = {ref: listed.refs.get(ref, "") for ref in wanted}
    there[listed.default] = there[listed.default] or listed.refs.get("HEAD", "")
    here = read_tips(borrowed.git, [*wanted.values()])
    new = {ref: ours for ref, ours in wanted.items() if there[ref] and here.get(ours) != there[ref]}
    if not new:
        return
    result = borrowed.fetch(address, new, seconds=_PROJECT_SECONDS)
    if result.status != 0:
        raise GitFailedError("Could not fetch from the remote", result.status, result.err)


def _with_project(membership: Membership, found: ReadResult) -> Membership:
    """Return the membership updated with what was read about the others and the project."""
    return replace(
        with_members(membership, found),
        base=found.listed.refs.get("HEAD", ""),
        branch=found.listed.default.removeprefix("refs/heads/"),
        rules=found.listed.refs.get(f"refs/heads/{RULES_BRANCH}", ""),
    )


def with_members(membership: Membership, found: ReadResult) -> Membership:
    """Return the membership updated with what was just read about the others."""
    return replace(
        membership,
        pins=refs.update_pins(membership.pins, found),
        present={name: one.tip for name, one in found.members.items()},
        refused=dict(found.refused),
        at=time.time(),
        trouble="",
    )


def read_last_synced(hub: Hub) -> ReadResult:
    """Return the others' records as of the last sync, without fetching."""
    found = ReadResult(refused=dict(hub.membership.refused))
    return refs.check_members(hub.borrowed.git, hub.membership.present, hub.membership.pins, hub.environment, found)


def remove_ref(hub: Hub, form: RefLayout = TEAM_LAYOUT) -> list[str]:
    """Delete this member's ref on the remote; return the others' refs there. Raises GitFailedError if that fails."""
    own = hub.membership.person
    listed = hub.borrowed.list_refs(hub.membership.address, [f"{form.refs}*", f"{form.branches}*"])
    refs.publish(hub.borrowed, hub.membership.address, own, "", listed, form=form)
    places = form.refs, form.branches
    return sorted(ref for ref in listed.refs if ref.startswith(places) and ref not in {f"{one}{own}" for one in places})
