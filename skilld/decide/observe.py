"""Reading from git what a person did with proposals: merged, picked, squashed, rebased, amended, reverted or dropped.

Takes a repository and its proposals, gives one observation each; the rules are in `judge`. Only the default branch
and branches checked out in a work tree count. Reads only; `fingerprint` tells cheaply whether there is anything new.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.decide.judge import Sighting, Subject, View, judge
from skilld.decide.person import own_commit
from skilld.decide.values import Observation, Seen
from skilld.git import lines, objects, refs, state
from skilld.git.errors import NotTrackedError
from skilld.git.objects import Commit
from skilld.git.repo import Repo, open_repo
from skilld.times import seconds
from skilld.types import Proposal, State

_REVERTS = re.compile(r"^[ \t>*-]*This reverts commit ([0-9a-f]{40,64})", re.MULTILINE)
_MARGIN = 2 * 86400  # seconds: clocks of two machines, and dates pinned to a batch
_LIMIT = "--max-count=300"


@dataclass(frozen=True, slots=True)
class _Branch:
    ref: str
    tip: str
    default: bool


def fingerprint(toplevel: Path) -> str:
    """Return a digest that changes when a ref, HEAD or a work tree's state does; empty where no repository is left."""
    repo = _open(toplevel)
    if repo is None:
        return ""
    found = refs.tips(repo.git, ["refs/heads", "refs/remotes", "refs/skilld"])
    parts = [
        repo.head,
        str(repo.branch),
        *state.checked_out(repo.common_dir),
        str(state.staging_holder(repo.common_dir)),
    ]
    text = "\n".join([*parts, *(f"{oid} {name}" for name, oid in sorted(found.items()))])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def observe(toplevel: Path, proposals: Sequence[Proposal]) -> list[Observation]:
    """Return what git shows of each proposal of one repository.

    Pass open ones, and accepted or rejected ones for as long as a later change of mind should be noticed. Raises
    RefusedError where the repository is there but cannot be understood.
    """
    repo = _open(toplevel)
    if repo is None:
        return [Observation(proposal.id, Seen.GONE) for proposal in proposals]
    since = int(min((seconds(proposal.created_at) or 0 for proposal in proposals), default=0)) - _MARGIN
    branches = _branches(repo)
    histories: dict[tuple[str, str], tuple[Sighting, ...]] = {}
    seen = []
    for proposal in proposals:
        for branch in branches:
            key = (branch.tip, proposal.relpath)
            if key not in histories:
                histories[key] = _history(repo, *key, since)
        views = {branch.ref: histories[branch.tip, proposal.relpath] for branch in branches}
        seen.append(_observe(repo, proposal, branches, views))
    return _with_dropped(repo, proposals, seen, since)


def _open(toplevel: Path) -> Repo | None:
    try:
        return open_repo(toplevel) if toplevel.is_dir() else None
    except NotTrackedError:
        return None


def _observe(
    repo: Repo, proposal: Proposal, branches: Sequence[_Branch], histories: dict[str, tuple[Sighting, ...]]
) -> Observation:
    own = own_commit(repo, proposal.id, proposal.commit)
    relpath = proposal.relpath
    before = objects.read_blob(repo.git, own.parents[0], relpath) if own and own.parents else None
    after = objects.read_blob(repo.git, own.oid, relpath) if own else None
    holders = _holders(repo, own.oid) if own else set()
    subject = Subject(proposal.id, own.oid if own else proposal.commit, proposal.landed, before, after)
    views = [
        View(
            branch.default,
            histories[branch.ref],
            objects.read_blob(repo.git, branch.tip, relpath),
            branch.ref in holders,
        )
        for branch in branches
    ]
    found = judge(subject, views)
    if own is None and found.seen is Seen.NOTHING:
        return Observation(proposal.id, Seen.GONE, note="its commit is not in the repository any more")
    return found


def _branches(repo: Repo) -> list[_Branch]:
    """Return the branches that count: the default branch, here and as last fetched, and all that are checked out.

    Of the default branch's two refs the one that is behind the other says nothing of its own.
    """
    defaults = dict(repo.default.refs) if repo.default else {}
    for ref, oid in list(defaults.items()):
        others = [other for name, other in defaults.items() if name != ref]
        if any(repo.git.call("merge-base", "--is-ancestor", oid, other).status == 0 for other in others):
            del defaults[ref]
    wanted = set(state.checked_out(repo.common_dir)) - {refs.STAGING, *(repo.default.refs if repo.default else ())}
    found = refs.tips(repo.git, sorted(wanted)) if wanted else {}
    checked_out = [_Branch(ref, oid, default=False) for ref, oid in found.items() if ref in wanted]
    return [_Branch(ref, oid, default=True) for ref, oid in defaults.items()] + checked_out


def _holders(repo: Repo, commit: str) -> set[str]:
    """Return the branches, local and remote-tracking, whose history has a commit."""
    places = "refs/heads", "refs/remotes"
    return set(repo.git.run("for-each-ref", f"--contains={commit}", "--format=%(refname)", *places).decode().split())


def _history(repo: Repo, tip: str, relpath: str, since: int) -> tuple[Sighting, ...]:
    limits = "--full-history", "--topo-order", _LIMIT, f"--since={since}"
    oids = repo.git.run("rev-list", *limits, tip, "--", relpath).decode().split()
    commits = [commit for commit in objects.read_commits(repo.git, oids[::-1]) if commit is not None]
    names = [f"{oid}:{relpath}" for commit in commits for oid in (commit.oid, *commit.parents[:1])]
    read = objects.read(repo.git, names)
    texts = {name: item.data if item is not None else None for name, item in zip(names, read, strict=True)}
    return tuple(_sighting(repo, commit, relpath, texts) for commit in commits)


def _sighting(repo: Repo, commit: Commit, relpath: str, texts: dict[str, bytes | None]) -> Sighting:
    text = texts[f"{commit.oid}:{relpath}"]
    before = texts[f"{commit.parents[0]}:{relpath}"] if commit.parents else None
    single = len(commit.parents) == 1 and text is not None and before is not None
    signature = lines.signature(before or b"", text or b"") if single else ((), ())
    reverted: set[str] = set()
    for oid in _REVERTS.findall(commit.text):
        reverted |= _brought(repo, oid)
    return Sighting(commit.oid, commit.proposals, frozenset(reverted), signature, before, text)


def _brought(repo: Repo, oid: str) -> set[str]:
    """Return a reverted commit, with all commits that it had brought where it is a merge."""
    commit = objects.read_commit(repo.git, oid)
    if commit is None or len(commit.parents) < 2:  # noqa: PLR2004 - a merge has two parents or more
        return {oid}
    out = repo.git.run("rev-list", "--max-count=1000", oid, f"^{commit.parents[0]}").decode()
    return {oid, *out.split()}


def _with_dropped(repo: Repo, proposals: Sequence[Proposal], seen: list[Observation], since: int) -> list[Observation]:
    """Tell the open proposals that are off the staging branch from those that are still on it."""
    waiting = {
        found.id
        for proposal, found in zip(proposals, seen, strict=True)
        if proposal.state is State.OPEN and found.seen is Seen.NOTHING and proposal.commit
    }
    if not waiting:
        return seen
    if state.staging_holder(repo.common_dir) is not None:
        verdict = Seen.BUSY
    else:
        tip = refs.tip(repo.git, refs.STAGING)
        held = _named(repo, [tip, "--remotes"] if tip else ["--remotes"], since)
        waiting -= held
        verdict = Seen.DROPPED
    return [Observation(found.id, verdict) if found.id in waiting else found for found in seen]


def _named(repo: Repo, tips: Sequence[str], since: int) -> set[str]:
    wanted = "--fixed-strings", "--grep=Skilld-Proposal:", f"--since={since}", "--max-count=1000"
    oids = repo.git.run("rev-list", *wanted, *tips).decode().split()
    return {name for commit in objects.read_commits(repo.git, oids) if commit for name in commit.proposals}
