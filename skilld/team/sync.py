"""Fetches what the other members share, and pushes what this person shares: one call, safe to kill at any point.

What is pushed is what the person's ref holds already, with what this machine knows more; a push that another machine
of theirs was quicker than is made again on what that one pushed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.errors import RefusedError
from skilld.git.borrowed_repo import BorrowedRepo
from skilld.git.errors import GitFailedError, LostRaceError
from skilld.git.refs import read_tips
from skilld.git.repo import Repo
from skilld.team import refs, sign
from skilld.team.join import Membership
from skilld.team.records import Record, merged, renewed
from skilld.team.refs import TEAM, Form, Found, Member

RULES = "skilld/team-rules"  # the branch of the team's pull request
_BASE = "refs/skilld/base"
_RULES_HERE = "refs/skilld/rules"
_PROJECT_SECONDS = 300.0
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Hub:
    """What a team's verbs work with: the copy of what the remote has, the person's key, and their environment."""

    borrowed: BorrowedRepo
    key: sign.Key
    environment: Mapping[str, str]
    membership: Membership


def open_hub(
    repo: Repo, membership: Membership, folder: Path, *, home: Path, removed: Mapping[str, str], env: Mapping[str, str]
) -> Hub:
    """Return the hub of a repository's team, its copy below `folder`. Raises SkilldError without an SSH key."""
    borrowed = BorrowedRepo(folder / membership.folder, repo.common_dir, repo.git.algorithm, removed)
    return Hub(borrowed, sign.find_key(borrowed.git, home), env, membership)


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What came of it: the membership as it is now, and the ref that was pushed to (empty: none)."""

    membership: Membership
    found: Found
    pushed: str


def sync(hub: Hub, wanted: Iterable[Record], *, first: bool = False) -> SyncResult:
    """Bring the person's ref up to `wanted` and return what the others have.

    `first` is for joining: a ref of that name that is signed with another key is somebody else's. Raises
    GitFailedError where the remote cannot be reached, or takes neither ref nor branch.
    """
    told, own = tuple(wanted), hub.membership.person
    for tries_left in reversed(range(_TRIES)):
        found = fetch(hub)
        if first and own in found.refused:
            raise RefusedError(
                "Not joined",
                f"{own} is taken, and its shared records were rejected: {found.refused[own]}",
                "Choose another name: --name NAME",
            )
        mine = found.members.get(own) or _as_last_written(hub)
        if first and mine and mine.public != hub.key.public:
            raise RefusedError("Not joined", f"{own} is taken by someone else", "Choose another name: --name NAME")
        known = merged(mine.records if mine else ())
        after = renewed(known, told)
        if own in found.members and mine and mine.public == hub.key.public and after == known:
            return SyncResult(_known(hub.membership, found), found, pushed="")
        try:
            pushed = push(hub, found, mine, tuple(after.values()))
            return SyncResult(_known(hub.membership, found), found, pushed)
        except LostRaceError:
            if not tries_left:
                raise
    raise AssertionError


def _as_last_written(hub: Hub) -> Member | None:
    """Return what this person's ref was when it was last seen: somebody may have put something else in its place."""
    own, pins = hub.membership.person, hub.membership.pins
    if own not in pins or not pins[own].tip:
        return None
    return refs.check(hub.borrowed.git, {own: pins[own].tip}, pins, hub.environment, Found()).members.get(own)


def push(hub: Hub, found: Found, mine: Member | None, records: tuple[Record, ...]) -> str:
    """Write the ref of this member, `mine` until now, with these records; returns the ref that was pushed to."""
    own, pins = hub.membership.person, hub.membership.pins
    serial = 1 + max(mine.serial if mine else 0, pins[own].serial if own in pins else 0)
    commit = refs.write(hub.borrowed, own, serial, records, seal(hub), form=found.form)
    pushed = refs.publish(hub.borrowed, hub.membership.address, own, commit, found.listed, form=found.form)
    found.refused.pop(own, None)  # whatever somebody had put there is gone
    found.members[own] = Member(own, hub.key.public, serial, commit, records)
    return pushed


def seal(hub: Hub) -> Callable[[bytes], bytes]:
    """Return what signs a commit with the person's key."""
    git = hub.borrowed.git
    return lambda plain: sign.signed(plain, hub.key, hub.environment, hub.borrowed.folder, git.algorithm)


def fetch(hub: Hub) -> Found:
    """Fetch what the others have, the remote's default branch, and the branch of the pull request; checked."""
    borrowed, one = hub.borrowed, hub.membership
    found = refs.read(borrowed, one.address, one.pins, hub.environment, [f"refs/heads/{RULES}"])
    _fetch_project(borrowed, one.address, found)
    return found


def _fetch_project(borrowed: BorrowedRepo, address: str, found: Found) -> None:
    """Fetch the branches of the project that a pull request is about, where they are not here yet."""
    listed = found.listed
    wanted = {listed.default: _BASE, f"refs/heads/{RULES}": _RULES_HERE}
    there = {ref: listed.refs.get(ref, "") for ref in wanted}
    there[listed.default] = there[listed.default] or listed.refs.get("HEAD", "")
    here = read_tips(borrowed.git, [*wanted.values()])
    new = {ref: ours for ref, ours in wanted.items() if there[ref] and here.get(ours) != there[ref]}
    if not new:
        return
    result = borrowed.fetch(address, new, seconds=_PROJECT_SECONDS)
    if result.status != 0:
        raise GitFailedError("Could not fetch from the remote", result.status, result.err)


def _known(membership: Membership, found: Found) -> Membership:
    """Return the membership with what was seen of the others, and of the project."""
    return replace(
        seen(membership, found),
        base=found.listed.refs.get("HEAD", ""),
        branch=found.listed.default.removeprefix("refs/heads/"),
        rules=found.listed.refs.get(f"refs/heads/{RULES}", ""),
    )


def seen(membership: Membership, found: Found) -> Membership:
    """Return the membership with what was seen of the others just now."""
    return replace(
        membership,
        pins=refs.pins_after(membership.pins, found),
        present={name: one.tip for name, one in found.members.items()},
        refused=dict(found.refused),
        at=time.time(),
        trouble="",
    )


def as_synced(hub: Hub) -> Found:
    """Return what the others had when it was last synced: nothing is fetched."""
    found = Found(refused=dict(hub.membership.refused))
    return refs.check(hub.borrowed.git, hub.membership.present, hub.membership.pins, hub.environment, found)


def leave(hub: Hub, form: Form = TEAM) -> None:
    """Take this member's ref off the remote. Raises GitFailedError where that cannot be."""
    listed = hub.borrowed.list_refs(hub.membership.address, [f"{form.refs}*", f"{form.branches}*"])
    refs.publish(hub.borrowed, hub.membership.address, hub.membership.person, "", listed, form=form)
