"""Finds proposals that are on no branch that counts: on the staging or a remote branch, in a stash, the index, ...

While lines are in such a place, the person has not thrown them away. Reads only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from skilld.errors import SkilldError
from skilld.files import read_whole
from skilld.git import line_diff, objects, refs, state
from skilld.git.objects import Commit
from skilld.git.repo import Repo
from skilld.git.staging_branch import STAGING_BRANCH, STAGING_REF
from skilld.proposals.branch import list_staged, range_above
from skilld.proposals.file_history import (
    Signature,
    SkillCommit,
    commits_touching,
    left_standing,
    path_in,
    with_names,
)
from skilld.proposals.model import (
    DISCARDED_NOTE,
    FOUND_NOTES,
    UNDONE_NOTE,
    WRITTEN_NOTE,
    GitStatus,
    Observation,
    is_only_written,
    is_repo_gone,
    is_undecided,
    put_away_note,
)
from skilld.proposals.refit import Edit
from skilld.proposals.worktree import read_own_commit
from skilld.types import Op, Proposal, State
from skilld.values import value_class

_STASH = "refs/stash"
_MAX_STASHES = "--max-count=100"
_MAX_COMMITS = "--max-count=300"
_MAX_OWN = 50
_MAX_STAGED = "--max-count=1000"
_STEP_NUMBER = re.compile(rb"(?m)^([ \t]*)\d{1,9}[.)](?=[ \t])")
_HEADING = re.compile(rb"(?m)^#.*$")
NO_CHANGE: Signature = ((), ())


@value_class
class Change:
    """What a proposal changes in its file: its own commit, and the file before and after it; None if they are gone.

    `landed` is the commit that is known to have brought it in. `creates` says that it created the file, which was b""
    before: without the file, nothing of it is left. `reopened` says that it came in with `landed`, was taken out again,
    and the person wants it open all the same, `declined` that they rejected or reverted it; `others` has the lines that
    proposals add to the file, `older` the commits of the file that were there before the proposal.
    """

    id: str
    relpath: str
    commit: str
    landed: str
    own: Commit | None
    before: bytes | None
    after: bytes | None
    creates: bool = False
    reopened: bool = False
    declined: bool = False
    others: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()

    @property
    def is_known(self) -> bool:
        """Whether both versions can be read."""
        return self.before is not None and self.after is not None

    @property
    def signature(self) -> Signature:
        """The lines it removes and adds; empty if its commit is gone."""
        return line_diff.signature(self.before or b"", self.after or b"") if self.is_known else NO_CHANGE

    def holds(self, text: bytes | None) -> bool:
        """Whether a text contains all of the change."""
        return text is not None and line_diff.contains_change(text, self.before or b"", self.after or b"")

    def holds_but_numbers(self, text: bytes) -> bool:
        """Whether a text contains all of the change if the numbers of steps do not count."""
        texts = (_STEP_NUMBER.sub(rb"\1-", one) for one in (text, self.before or b"", self.after or b""))
        return line_diff.contains_change(*texts)

    def is_said_by(self, commit: SkillCommit) -> bool:
        """Whether a commit changes the same, if neither headings nor numbers of steps count.

        On the staging branch a proposal stands on those before it, which may bring them.
        """
        mine, its = (
            line_diff.signature(*(_HEADING.sub(b"", _STEP_NUMBER.sub(rb"\1-", one or b"")) for one in pair))
            for pair in ((self.before, self.after), (commit.before, commit.text))
        )
        return mine == its

    def is_made_in(self, text: bytes | None) -> bool:
        """Whether a text contains all of the change, and is not another text altogether."""
        return text is not None and line_diff.is_change_made(text, self.before or b"", self.after or b"")

    def is_in(self, text: bytes | None) -> bool:
        """Whether something of the change is in a text, perhaps reworded; None: the file does not exist."""
        gone = text is None or line_diff.is_change_gone(text, self.before or b"", self.after or b"", self.others)
        return not gone

    def came_with(self, old: bytes | None, new: bytes | None) -> bool:
        """Whether the change from one text to another brought something of it."""
        return self.is_in(new) and not self.is_in(old or b"")


def read_changes(repo: Repo, proposals: Sequence[Proposal], since: int | None) -> dict[str, Change]:
    """Return the change of each proposal, with the lines that all add to its file, and the commits before it.

    The latter are those since a Unix time (None: all).
    """
    bases = {(proposal.base, proposal.relpath) for proposal in proposals if proposal.base}
    there = objects.read_commits(repo.git, [base for base, _ in bases])
    older = {
        pair: frozenset(commits_touching(repo, *pair, since)) for pair, base in zip(bases, there, strict=True) if base
    }
    changes = {
        one.id: replace(read_change(repo, one), older=older.get((one.base, one.relpath), frozenset()))
        for one in proposals
    }
    added: dict[str, set[str]] = {}
    for change in changes.values():
        added.setdefault(change.relpath, set()).update(change.signature[1])
    return {name: replace(change, others=frozenset(added[change.relpath])) for name, change in changes.items()}


def read_change(repo: Repo, proposal: Proposal) -> Change:
    """Return the change of one proposal, without what others and the history show of it."""
    own, relpath = read_own_commit(repo, proposal.id, proposal.commit), proposal.relpath
    then = path_in(repo, own, relpath) if own else relpath
    before = objects.read_blob(repo.git, own.parents[0], then) if own and own.parents else None
    after = objects.read_blob(repo.git, own.oid, then) if own else None
    if not own and (not proposal.commit or is_only_written(proposal)):  # git prunes the commit of a written one
        before, after = _read_uncommitted(repo, proposal)
    return Change(
        proposal.id,
        relpath,
        own.oid if own else proposal.commit,
        proposal.landed,
        own,
        b"" if proposal.creates and own and before is None else before,
        after,
        creates=proposal.creates,
        reopened=bool(proposal.landed) and is_undecided(proposal),
        declined=proposal.state in {State.REJECTED, State.REVERTED},
    )


def _read_uncommitted(repo: Repo, proposal: Proposal) -> tuple[bytes | None, bytes | None]:
    """Return the file before and after the edit of a proposal that was decided before it had a commit.

    If the version that it was made for was not committed either, only the lines of the edit.
    """
    if proposal.creates:
        return b"", proposal.operations[0].text.encode()
    base = objects.read_blob(repo.git, proposal.base, proposal.relpath) if proposal.base else None
    with suppress(SkilldError):
        return base, Edit(proposal)(base or b"")
    old = [one.anchor for one in proposal.operations]
    new = [text for one in proposal.operations for text in (one.anchor if one.op is Op.INSERT_AFTER else "", one.text)]
    return "\n".join(filter(None, old)).encode(), "\n".join(filter(None, new)).encode()


# Accepted proposals


def observe_written(
    repo: Repo, proposal: Proposal, change: Change, found: Observation, since: int | None
) -> Observation:
    """Return whether the lines that were only written to the file are there, put away, or thrown away."""
    before, after = change.before, change.after
    if before is None or after is None or not is_gone_from_file(proposal, before, after, change.others):
        return Observation(proposal.id, GitStatus.NOTHING, note=WRITTEN_NOTE)
    if place := find_put_away(repo, change, since):
        return Observation(proposal.id, GitStatus.NOTHING, note=put_away_note(WRITTEN_NOTE, place))
    return found if found.seen is GitStatus.REVERTED else replace(found, seen=GitStatus.DISCARDED, note=DISCARDED_NOTE)


def observe_elsewhere(
    repo: Repo, proposal: Proposal, change: Change, found: Observation, since: int | None
) -> Observation | None:
    """Return where an accepted proposal is that no branch that counts has; None if that is unknown.

    It is undone if no branch has its commit any more (`git reset --hard`, or its branch was deleted), and reverted if
    none that has it still has the change. A missing commit proves nothing: another machine made it, or git has cleaned
    it up since. What a rebuild found in the file may be gone before its commit was seen.
    """
    if proposal.state is State.ACCEPTED and not proposal.landed and proposal.note.startswith(FOUND_NOTES):
        place = find_put_away(repo, change, since) if change.is_known else ""
        undone = Observation(proposal.id, GitStatus.DROPPED, note=UNDONE_NOTE)
        return replace(found, note=put_away_note(proposal.note, place)) if place else undone
    if proposal.state is not State.ACCEPTED or not proposal.landed:
        return None
    if (landed := objects.read_commit(repo.git, proposal.landed)) is None:
        return None
    branches = branches_with(repo, proposal.landed)
    if not branches and (other := commits_naming(repo, ["--branches", "--remotes"], since).get(proposal.id)):
        branches = branches_with(repo, other)
    if not branches:
        return Observation(proposal.id, GitStatus.DROPPED, note=UNDONE_NOTE)
    if not change.is_known:
        return None
    paths = dict.fromkeys((change.relpath, path_in(repo, landed, change.relpath)))  # the file may be renamed since
    names = [(ref, f"{ref}:{path}") for ref in branches for path in paths]
    texts = objects.read_texts(repo.git, [name for _, name in names])
    holders = [ref for (ref, _), text in zip(names, texts, strict=True) if change.is_in(text)]
    is_renamed = not change.creates and objects.read_blob(repo.git, repo.head, change.relpath) is None
    if repo.branch in holders or (is_renamed and not holders and repo.branch in branches):
        return None
    if not holders:
        return Observation(proposal.id, GitStatus.REVERTED, "", "lines gone")
    return replace(found, note=put_away_note(proposal.note, f"on the branch {short_name(holders[0])}"))


def is_gone_from_file(proposal: Proposal, before: bytes, after: bytes, others: Collection[str] = ()) -> bool:
    """Whether nothing of a proposal's change is in its file: `git checkout FILE`, for one that was only written.

    `others` are lines that other proposals add to it.
    """
    try:
        current = read_whole(proposal.path)
    except FileNotFoundError:
        return proposal.creates
    except OSError:
        return False
    return line_diff.is_change_gone(current, before, after, others)


def find_put_away(repo: Repo, change: Change, since: int | None) -> str:
    """Return where part of a change is, if it is not in its file ("in a stash"); empty if nowhere.

    Only commits since a Unix time (None: all) are searched, and not the staging branch. While a merge, a rebase or the
    like is in progress, git may hold the lines anywhere: then that is the place.
    """
    if busy := state.in_progress(repo.git_dir):
        return f"in git's own files during {busy}"
    found = _in_stash(repo, change) or _in_index(repo, change) or _in_work_tree(repo, change)
    if found:
        return found
    branch = find_branch(repo, change, since)
    return f"on the branch {short_name(branch[0])}" if branch else ""


def _in_stash(repo: Repo, change: Change) -> str:
    """Look at each stash: its work tree, its index, and its untracked files."""
    if repo.git.call("rev-parse", "--verify", "--quiet", _STASH).status:
        return ""
    oids = repo.git.run("rev-list", "--walk-reflogs", _MAX_STASHES, _STASH).decode().split()
    names = [f"{oid}{part}:{change.relpath}" for oid in oids for part in ("^1", "", "^2", "^3")]
    texts = objects.read_texts(repo.git, names)
    rows = (texts[at : at + 4] for at in range(0, len(texts), 4))
    return "in a stash" if any(change.came_with(base, new) for base, *kept in rows for new in kept) else ""


def _in_index(repo: Repo, change: Change) -> str:
    versions = objects.read_texts(repo.git, [f"{repo.head}:{change.relpath}", f":{change.relpath}"])
    return "in the index" if change.came_with(*versions) else ""


def _in_work_tree(repo: Repo, change: Change) -> str:
    for work_tree in state.work_trees(repo.common_dir):
        if work_tree != repo.toplevel:
            with suppress(OSError):
                if change.came_with(None, read_whole(work_tree / change.relpath)):
                    return f"in the work tree {work_tree}"
    return ""


def find_branch(repo: Repo, change: Change, since: int | None) -> tuple[str, Commit] | None:
    """Return another branch that still has a change, by its full name, and the commit that brought it, not in HEAD.

    The staging branch is none, here or as last fetched: there the person only published it.
    """
    dated = () if since is None else (f"--since={since}",)
    limits = *dated, "--branches", "--remotes", "--not", repo.head, "--", change.relpath
    commits = objects.list_commits(repo.git, "--full-history", _MAX_COMMITS, *limits)
    pairs = [(commit.parents[0] if commit.parents else commit.oid, commit.oid) for commit in commits]
    texts = objects.read_texts(repo.git, [f"{oid}:{change.relpath}" for pair in pairs for oid in pair])
    for commit, old, new in zip(commits, texts[::2], texts[1::2], strict=True):
        if change.came_with(old if commit.parents else None, new):
            for ref in branches_with(repo, commit.oid):
                if change.is_in(objects.read_blob(repo.git, ref, change.relpath)):
                    return ref, commit
    return None


def short_name(ref: str) -> str:
    """Return the name of a branch, here or as last fetched, without its folders."""
    return ref.split("/", 2)[2]


def branches_with(repo: Repo, commit: str) -> list[str]:
    """Return the full names of the branches, here and as last fetched, that contain a commit; not the staging one."""
    form = f"--contains={commit}", "--format=%(refname)", "refs/heads", "refs/remotes"
    names = repo.git.lines("for-each-ref", *form)
    return [name for name in names if name.split("/", 2 if name.startswith("refs/heads/") else 3)[-1] != STAGING_BRANCH]


# Undecided proposals


def locate_undecided(
    repo: Repo,
    proposals: Sequence[Proposal],
    changes: Mapping[str, Change],
    seen: list[Observation],
    since: int | None,
    *,
    tip: str | None,
) -> list[Observation]:
    """Add the branch that each undecided proposal is on, or that it is no longer on the staging branch, at `tip`.

    A commit whose message the person replaced is still on it as long as the branch has its change. A proposal on a
    remote-tracking branch is not dropped: it is under review there. Nor is one that skilld removed before it was killed
    and could store the reason: in that case its own ref is gone, too.
    """
    lost = tip is not None and objects.read_objects(repo.git, [tip])[0] is None  # what is on it is unknown
    busy = lost or state.staging_holder(repo.common_dir) is not None
    waiting = {
        found.id: proposal
        for proposal, found in zip(proposals, seen, strict=True)
        if found.seen is GitStatus.NOTHING and (is_undecided(proposal) or (is_repo_gone(proposal) and not busy))
    }
    if not waiting:
        return seen
    mine = [change for name, change in changes.items() if name in waiting]
    on_staging = {} if lost else _staged(repo, tip, mine, proposals)
    if busy:
        return [
            replace(found, seen=GitStatus.BUSY, commit=on_staging.get(found.id, "")) if found.id in waiting else found
            for found in seen
        ]
    off = waiting.keys() - on_staging.keys()
    hung = refs.read_own_refs(repo.git, repo.common_dir) if off else {}
    on_remotes = commits_naming(repo, ["--remotes"], since) if off else {}

    def locate(found: Observation) -> Observation:
        proposal = waiting.get(found.id)
        if proposal is None:
            return found
        if found.id in on_staging:
            return replace(found, branch=STAGING_BRANCH, commit=on_staging[found.id])
        if found.id in on_remotes:
            return replace(found, branch=_remote_branch(repo, on_remotes[found.id]))
        is_ours = proposal.state is State.OPEN and refs.proposal_ref(found.id) not in hung
        if is_ours and (why := _misfit_reason(repo, proposal, changes[found.id])):
            return replace(found, seen=GitStatus.ENDED, note=why)
        return replace(found, seen=GitStatus.DROPPED)

    return [locate(found) for found in seen]


def _staged(repo: Repo, tip: str | None, changes: Sequence[Change], proposals: Sequence[Proposal]) -> dict[str, str]:
    """Return the IDs of the changes that are on the staging branch: one of its own commits names or makes them.

    Each has the commit of it that the person amended, if any, or that is not known: anybody may have made it.
    """
    if tip is None:
        return {}
    bases = [proposal.base for proposal in proposals if proposal.commit]
    found = objects.read_commits(repo.git, list_staged(repo, tip, bases))
    commits = with_names(repo, [commit for commit in found if commit is not None])
    named, known = left_standing(commits[::-1]), {one.commit for one in proposals}
    theirs = {
        name: commit.oid
        for commit in reversed(commits)
        if len(commit.parents) == 1 and (commit.committer.email != objects.OWN_EMAIL or commit.oid not in known)
        for name in commit.proposals
    }
    below = commits[-1].parents[0] if commits and commits[-1].parents else tip

    def is_made(change: Change) -> bool:
        texts = [objects.read_blob(repo.git, commit, change.relpath) for commit in (below, tip)]
        return change.is_known and change.holds(texts[1]) > change.holds(texts[0])

    there = [change.id for change in changes if change.id in named or (below != tip and is_made(change))]
    return {name: theirs.get(name, "") for name in there}


def find_amended_commit(repo: Repo, proposal: Proposal) -> Commit | None:
    """Return an open proposal's commit on the staging branch where the person amended it there: their version wins."""
    tip = refs.read_tip(repo.git, STAGING_REF) if proposal.state is State.OPEN else None
    if tip is None or _is_ours_alone(repo, tip, proposal.base):
        return None
    # What is on a branch of theirs is no such edit: the staging branch may be based on it.
    theirs = "--not", f"--exclude={STAGING_BRANCH}", "--branches"
    where = "--no-merges", tip, *range_above(repo, [proposal.base]), *theirs
    found = with_names(repo, objects.list_commits(repo.git, _MAX_STAGED, *where))
    alone = (commit for commit in found if commit.proposals == (proposal.id,))
    return next((commit for commit in alone if commit.committer.email != objects.OWN_EMAIL), None)


def _is_ours_alone(repo: Repo, tip: str, base: str) -> bool:
    """Whether all commits from `base` to `tip` are skilld's own, as they mostly are: git need not list them."""
    for _ in range(_MAX_OWN):
        if tip == base:
            return True
        commit = objects.read_commit(repo.git, tip)
        if commit is None or len(commit.parents) != 1 or commit.committer.email != objects.OWN_EMAIL:
            return False
        tip = commit.parents[0]
    return False


def _misfit_reason(repo: Repo, proposal: Proposal, change: Change) -> str | None:
    """Return why an edit does not fit the staging branch (without one: HEAD); None if it does."""
    before, after = change.before, change.after
    tip = refs.read_tip(repo.git, STAGING_REF) or repo.head
    current = objects.read_blob(repo.git, tip, proposal.relpath)
    current = b"" if current is None and proposal.creates else current
    if before is None or after is None:
        return None
    if current is None:
        return f"{proposal.relpath} is gone"
    try:
        Edit(proposal).refit_loosely(before, after, current)
    except SkilldError as error:
        return str(error)
    return None


def _remote_branch(repo: Repo, commit: str) -> str:
    form = f"--contains={commit}", "--count=1", "--format=%(refname:lstrip=2)"
    return repo.git.run("for-each-ref", *form, "refs/remotes").decode("utf-8", "replace").strip()


def commits_naming(repo: Repo, tips: Sequence[str], since: int | None) -> dict[str, str]:
    """Return the proposals that commits reachable from these tips name, each with one such commit."""
    if not tips:
        return {}
    dated = () if since is None else (f"--since={since}",)
    wanted = "--fixed-strings", "--grep=Skilld-Proposal:", "--max-count=1000", "--ignore-missing"
    found = objects.list_commits(repo.git, *wanted, *dated, *tips)
    return {name: commit.oid for commit in found for name in commit.proposals}
