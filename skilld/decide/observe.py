"""Reading from git what a person did with proposals: merged, picked, squashed, rebased, amended, reverted or dropped.

Takes a repository and its proposals, gives one observation each; the rules are in `judge`. Only the default branch
and branches checked out in a work tree count. Reads only, except that skilld's own repositories are brought up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.decide.history import read_history
from skilld.decide.judge import Sighting, Subject, View, judge
from skilld.decide.person import own_commit
from skilld.decide.settle import is_away
from skilld.decide.values import Observation, Seen
from skilld.git import lines, objects, refs, state
from skilld.git.errors import NotTrackedError
from skilld.git.objects import Commit
from skilld.git.private import open_any
from skilld.git.repo import Repo
from skilld.times import seconds
from skilld.types import Proposal, State

_MARGIN = 2 * 86400  # seconds: clocks of two machines, and dates pinned to a batch


@dataclass(frozen=True, slots=True)
class _Branch:
    ref: str
    tip: str
    default: bool


def observe(address: Path, proposals: Sequence[Proposal], private: Path | None = None) -> list[Observation]:
    """Return what git shows of each proposal of the repository at `address`.

    Pass open ones, and accepted or rejected ones for as long as a later change of mind should be noticed. `private` is
    the folder of skilld's own repositories; in one of them the skills are committed as they are found first. Raises
    RefusedError where the repository is there but cannot be understood.
    """
    repo = _open(address, private)
    if repo is None:
        return [Observation(proposal.id, Seen.GONE) for proposal in proposals]
    dates = [seconds(proposal.created_at) for proposal in proposals]
    known = [date for date in dates if date is not None]
    since = int(min(known)) - _MARGIN if known and len(known) == len(dates) else None
    branches = _branches(repo)
    histories: dict[tuple[str, str], tuple[Sighting, ...]] = {}
    seen = []
    for proposal in proposals:
        for branch in branches:
            key = (branch.tip, proposal.relpath)
            if key not in histories:
                histories[key] = read_history(repo, *key, since)
        views = {branch.ref: histories[branch.tip, proposal.relpath] for branch in branches}
        seen.append(_dated(repo, proposal, _observe(repo, proposal, branches, views, since)))
    return _with_dropped(repo, proposals, seen, since)


def _dated(repo: Repo, proposal: Proposal, found: Observation) -> Observation:
    """Add when it was decided, where that is news. A proposal's own commit is older: then it is HEAD's last move."""
    news = {Seen.LANDED: State.ACCEPTED, Seen.REVERTED: State.REVERTED}.get(found.seen, proposal.state)
    if news is proposal.state:
        return found
    if found.commit in {"", proposal.commit}:
        with suppress(OSError):
            return replace(found, at=(repo.git_dir / "logs" / "HEAD").stat().st_mtime)
        return found
    commit = objects.read_commit(repo.git, found.commit)
    return replace(found, at=float(commit.committer.seconds)) if commit else found


def _open(address: Path, private: Path | None) -> Repo | None:
    try:
        return open_any(address, private) if address.is_dir() else None
    except NotTrackedError:
        return None


def _observe(
    repo: Repo,
    proposal: Proposal,
    branches: Sequence[_Branch],
    histories: dict[str, tuple[Sighting, ...]],
    since: int | None,
) -> Observation:
    own, before, after = _change(repo, proposal)
    relpath = proposal.relpath
    holders = _holders(repo, own.oid) if own else set()
    commit = own.oid if own else proposal.commit
    subject = Subject(proposal.id, commit, proposal.landed, before, after, creates=proposal.creates)
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
    if found.seen is Seen.NOTHING and not proposal.creates:
        # Where the skill's folder was renamed, what git picks goes to its new place.
        away = [branch.tip for branch, view in zip(branches, views, strict=True) if view.text is None]
        if proposal.id in (naming := _naming(repo, away, since)):
            return Observation(proposal.id, Seen.LANDED, naming[proposal.id], "named")
    if own is None and found.seen is Seen.NOTHING:
        return Observation(proposal.id, Seen.GONE, note="its commit is not in the repository any more")
    return found


def _change(repo: Repo, proposal: Proposal) -> tuple[Commit | None, bytes | None, bytes | None]:
    """Return a proposal's own commit, and the skill before and after it."""
    own = own_commit(repo, proposal.id, proposal.commit)
    before = objects.read_blob(repo.git, own.parents[0], proposal.relpath) if own and own.parents else None
    before = b"" if proposal.creates and own and before is None else before
    return own, before, objects.read_blob(repo.git, own.oid, proposal.relpath) if own else None


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


def _with_dropped(
    repo: Repo, proposals: Sequence[Proposal], seen: list[Observation], since: int | None
) -> list[Observation]:
    """Tell the undecided proposals that are off the staging branch from those that are still on it.

    On it is also one whose commit the person gave a message of their own, as long as the branch says what it says. One
    that a remote-tracking branch has is not dropped: it is under review there.
    """
    busy = state.staging_holder(repo.common_dir) is not None
    waiting = {
        found.id: proposal
        for proposal, found in zip(proposals, seen, strict=True)
        if found.seen is Seen.NOTHING and proposal.commit and (_undecided(proposal) or (is_away(proposal) and not busy))
    }
    if not waiting:
        return seen
    on_staging = {} if busy else _naming(repo, [refs.STAGING], since)
    on_remotes = {} if busy or waiting.keys() <= on_staging.keys() else _naming(repo, ["--remotes"], since)

    def look(found: Observation) -> Observation:
        proposal = waiting.get(found.id)
        if proposal is None:
            return found
        if busy:
            return replace(found, seen=Seen.BUSY)
        if found.id in on_staging or _says(repo, refs.STAGING, proposal):
            return replace(found, branch=refs.BRANCH)
        if found.id in on_remotes:
            return replace(found, branch=_remote_branch(repo, on_remotes[found.id]))
        return replace(found, seen=Seen.DROPPED)

    return [look(found) for found in seen]


def _undecided(proposal: Proposal) -> bool:
    return proposal.state in {State.OPEN, State.DROPPED}


def _remote_branch(repo: Repo, commit: str) -> str:
    form = f"--contains={commit}", "--count=1", "--format=%(refname:lstrip=2)"
    return repo.git.run("for-each-ref", *form, "refs/remotes").decode("utf-8", "replace").strip()


def _says(repo: Repo, ref: str, proposal: Proposal) -> bool:
    text = objects.read_blob(repo.git, ref, proposal.relpath)
    _, before, after = _change(repo, proposal)
    return text is not None and before is not None and after is not None and lines.holds(text, before, after)


def _naming(repo: Repo, tips: Sequence[str], since: int | None) -> dict[str, str]:
    """Return the proposals that commits below these tips name, each with one that does."""
    if not tips:
        return {}
    dated = () if since is None else (f"--since={since}",)
    wanted = "--fixed-strings", "--grep=Skilld-Proposal:", "--max-count=1000", "--ignore-missing"
    oids = repo.git.run("rev-list", *wanted, *dated, *tips).decode().split()
    return {name: commit.oid for commit in objects.read_commits(repo.git, oids) if commit for name in commit.proposals}
