"""Reads from git what a person did with proposals: merged, picked, squashed, rebased, amended, reverted, dropped.

Returns one observation for each proposal of a repository; the rules are in `judge`. Only the default branch and
branches checked out in a work tree count. Writes nothing, except that skilld's own repositories are brought up to date.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from skilld.clock import parse_time
from skilld.errors import SkilldError
from skilld.git import line_diff, objects, refs, state
from skilld.git.errors import NotTrackedError
from skilld.git.managed_repos import open_any
from skilld.git.objects import Commit
from skilld.git.repo import Repo
from skilld.git.run import shared_git
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_BRANCH, STAGING_REF
from skilld.proposals.file_history import Signature, SkillCommit, read_history
from skilld.proposals.model import (
    DISCARDED_NOTE,
    UNDONE_NOTE,
    WRITTEN_NOTE,
    GitStatus,
    Observation,
    is_only_written,
    is_repo_gone,
    put_away_note,
)
from skilld.proposals.put_away import WrittenChange, branches_with, find_put_away
from skilld.proposals.refit import Edit
from skilld.proposals.worktree import read_own_commit
from skilld.types import Proposal, State

# A branch is judged by its commits in order: the last one that brings in or reverts the proposal counts. The text at
# its tip overrules them, since lines can come and go in commits that name no proposal.

EDITED_NOTE = "edited by you"


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch that counts: its commits that touch the skill, oldest first, and the skill at its tip.

    `has_commit` says whether its history contains the proposal's own commit; `tip` is its newest commit. `here` is
    false for a branch as last fetched, and `behind` true for a local one that lacks commits of it.
    """

    default: bool
    commits: tuple[SkillCommit, ...]
    text: bytes | None
    has_commit: bool
    tip: str = ""
    here: bool = True
    behind: bool = False


@dataclass(frozen=True, slots=True)
class JudgedProposal:
    """The proposal to judge: its own commit, the skill before and after it, and where it is known to have landed.

    `creates` says that it created the skill, which was b"" before: without the file, nothing of it is left.
    `reopened` says that it came in with `landed`, was taken out again, and the person wants it open all the same;
    `others` has the lines that other proposals add to the file.
    """

    id: str
    commit: str
    landed: str
    before: bytes | None
    after: bytes | None
    creates: bool = False
    reopened: bool = False
    others: frozenset[str] = frozenset()

    @property
    def signature(self) -> Signature:
        """The lines it removes and adds; empty if its commit is gone."""
        known = self.before is not None and self.after is not None
        return line_diff.signature(self.before or b"", self.after or b"") if known else _NO_CHANGE


_NO_CHANGE: Signature = ((), ())


def judge(subject: JudgedProposal, views: Sequence[BranchView]) -> Observation:
    """Return LANDED, REVERTED or NOTHING.

    The default branch takes precedence; among the others one branch that has the proposal is enough. A revert that was
    only fetched counts once no branch here has the proposal any more; a branch that is behind only shows that one has.
    """
    judged = [(view, judge_branch(subject, view)) for view in views]
    stays = any(view.here and verdict.seen is GitStatus.LANDED for view, verdict in judged)
    for default, order in (
        (True, (GitStatus.REVERTED, GitStatus.LANDED)),
        (False, (GitStatus.LANDED, GitStatus.REVERTED)),
    ):
        verdicts = [
            verdict
            for view, verdict in judged
            if view.default is default
            and not (view.behind and verdict.seen is not GitStatus.LANDED)
            and not (stays and not view.here and verdict.seen is GitStatus.REVERTED)
        ]
        found = next((verdict for seen in order for verdict in verdicts if verdict.seen is seen), None)
        if found is not None:
            return found
    return Observation(subject.id, GitStatus.NOTHING)


def judge_branch(subject: JudgedProposal, view: BranchView) -> Observation:
    """Return what one branch shows."""
    verdict = _judge_commits(subject, view)
    text = b"" if view.text is None and subject.creates else view.text
    if text is None or subject.before is None or subject.after is None:
        return verdict
    if verdict.seen is not GitStatus.LANDED:
        bringer = _introducing_commit(subject, view) if _holds(subject, text) else ""
        return Observation(subject.id, GitStatus.LANDED, bringer, "lines") if bringer else verdict
    if line_diff.is_change_gone(text, subject.before, subject.after, subject.others):
        # The newest commit after which the text no longer held the change.
        losing = (s for s in reversed(view.commits) if _holds(subject, s.text) < _holds(subject, s.before))
        return Observation(subject.id, GitStatus.REVERTED, next((s.oid for s in losing), ""), "lines gone")
    if not _holds(subject, text):
        return replace(verdict, note=EDITED_NOTE)
    return verdict


def _judge_commits(subject: JudgedProposal, view: BranchView) -> Observation:
    verdict = Observation(subject.id, GitStatus.NOTHING)
    if view.has_commit:
        verdict = Observation(subject.id, GitStatus.LANDED, subject.commit, "merged")
    landings, takings = {subject.commit} if view.has_commit else set[str](), set[str]()
    for sighting in _relevant_commits(subject, view):
        how = "restored" if sighting.reverts & takings else _landing_kind(subject, sighting)
        if how:
            landings.add(sighting.oid)
            edited = how == "named" and sighting.proposals == (subject.id,) and sighting.signature != subject.signature
            verdict = Observation(subject.id, GitStatus.LANDED, sighting.oid, how, EDITED_NOTE if edited else "")
        elif sighting.reverts & landings or (verdict.seen is GitStatus.LANDED and subject.id in sighting.undoes):
            takings.add(sighting.oid)
            verdict = Observation(subject.id, GitStatus.REVERTED, sighting.oid, "reverted")
    return verdict


def _relevant_commits(subject: JudgedProposal, view: BranchView) -> tuple[SkillCommit, ...]:
    """Return the commits that count: for a reopened proposal, those after the commit that took it out.

    If the commit it landed with is not in the history (removed, amended, or part of a squashed one), that is the last
    commit that reverts one naming the proposal.
    """
    if not subject.reopened:
        return view.commits
    undone = [number for number, one in enumerate(view.commits, 1) if subject.landed in one.reverts]
    if not undone and all(one.oid != subject.landed for one in view.commits):
        undone = [number for number, one in enumerate(view.commits, 1) if subject.id in one.undoes]
    return view.commits[undone[-1] :] if undone else view.commits


def _landing_kind(subject: JudgedProposal, sighting: SkillCommit) -> str:
    if sighting.oid == subject.commit:
        return "merged"
    if subject.id in sighting.proposals:
        return "named"
    if sighting.oid == subject.landed:
        return "known"
    return "same change" if sighting.signature == subject.signature != _NO_CHANGE else ""


def _introducing_commit(subject: JudgedProposal, view: BranchView) -> str:
    """Return the newest commit that added the change to the text; empty if it was there before the proposal.

    A commit that created the file cannot have removed lines from it.
    """
    adds = bool(subject.signature[1])
    changes = [sighting for sighting in reversed(view.commits) if adds or sighting.before is not None]
    return next((s.oid for s in changes if _holds(subject, s.text) > _holds(subject, s.before)), "")


def _holds(subject: JudgedProposal, text: bytes | None) -> bool:
    return text is not None and line_diff.contains_change(text, subject.before or b"", subject.after or b"")


_MARGIN_SECONDS = 2 * 86400  # clocks of two machines differ, and dates are those of a batch


@dataclass(frozen=True, slots=True)
class _Change:
    """A proposal's own commit, and the skill before and after it."""

    own: Commit | None
    before: bytes | None
    after: bytes | None
    others: frozenset[str] = frozenset()  # lines that other proposals add to the file

    @property
    def added(self) -> frozenset[str]:
        """The lines that it adds."""
        return frozenset(line_diff.signature(self.before or b"", self.after or b"")[1])


@dataclass(frozen=True, slots=True)
class _Branch:
    ref: str
    tip: str
    default: bool
    behind: bool = False

    @property
    def here(self) -> bool:
        return self.ref.startswith("refs/heads/")


@shared_git()
def observe(address: Path, proposals: Sequence[Proposal], private: Path | None = None) -> list[Observation]:
    """Return what git shows of each proposal of the repository at `address`.

    Pass open ones, and accepted or rejected ones for as long as a later change of mind should be noticed. `private` is
    the folder of skilld's own repositories; there the skills are first committed as found. Raises RefusedError if the
    repository exists but is not supported.
    """
    repo = _open_repo(address, private)
    if repo is None:
        return [Observation(proposal.id, GitStatus.GONE) for proposal in proposals]
    dates = [parse_time(proposal.created_at) for proposal in proposals]
    known = [date for date in dates if date is not None]
    since = int(min(known)) - _MARGIN_SECONDS if known and len(known) == len(dates) else None
    branches = _branches(repo)
    changes = _read_changes(repo, proposals)
    own = {change.own.oid for change in changes.values() if change.own}
    reached = {tip: _reachable(repo, own, tip) for tip in {branch.tip for branch in branches}}
    histories = {
        (tip, relpath): read_history(repo, tip, relpath, since)
        for tip in reached
        for relpath in {proposal.relpath for proposal in proposals}
    }
    seen = []
    for proposal in proposals:
        change, relpath = changes[proposal.id], proposal.relpath
        views = [
            BranchView(
                branch.default,
                histories[branch.tip, relpath],
                objects.read_blob(repo.git, branch.tip, relpath),
                change.own is not None and change.own.oid in reached[branch.tip],
                branch.tip,
                branch.here,
                branch.behind,
            )
            for branch in branches
        ]
        seen.append(_with_time(repo, proposal, _observe_proposal(repo, proposal, change, views, since)))
    return _mark_dropped(repo, proposals, seen, since)


def _with_time(repo: Repo, proposal: Proposal, found: Observation) -> Observation:
    """Add the time of a new decision. A proposal's own commit is older than that: then use HEAD's last move."""
    news = {GitStatus.LANDED: State.ACCEPTED, GitStatus.REVERTED: State.REVERTED}.get(found.seen, proposal.state)
    if news is proposal.state:
        return found
    if found.commit in {"", proposal.commit}:
        with suppress(OSError):
            return replace(found, at=(repo.git_dir / "logs" / "HEAD").stat().st_mtime)
        return found
    commit = objects.read_commit(repo.git, found.commit)
    return replace(found, at=float(commit.committer.seconds)) if commit else found


def _open_repo(address: Path, private: Path | None) -> Repo | None:
    try:
        return open_any(address, private) if address.is_dir() else None
    except NotTrackedError:
        return None


def is_repo_there(address: Path, private: Path | None = None) -> bool:
    """Whether the repository at `address` exists. Raises RefusedError if it is not supported."""
    return _open_repo(address, private) is not None


def _observe_proposal(
    repo: Repo, proposal: Proposal, change: _Change, views: Sequence[BranchView], since: int | None
) -> Observation:
    commit = change.own.oid if change.own else proposal.commit
    reopened = bool(proposal.landed) and _undecided(proposal)
    subject = JudgedProposal(
        proposal.id,
        commit,
        proposal.landed,
        change.before,
        change.after,
        creates=proposal.creates,
        reopened=reopened,
        others=change.others,
    )
    found = judge(subject, views)
    if found.seen is GitStatus.NOTHING and not proposal.creates:
        # If the skill's folder was renamed, git applies a cherry-pick at its new place.
        away = [view.tip for view in views if view.text is None]
        if proposal.id in (naming := _commits_naming(repo, away, since)):
            return Observation(proposal.id, GitStatus.LANDED, naming[proposal.id], "named")
    if is_only_written(proposal) and found.seen is not GitStatus.LANDED:
        return _observe_written(repo, proposal, change, found, since)
    if found.seen is GitStatus.NOTHING and (other := _observe_elsewhere(repo, proposal, change, found, since)):
        return other
    if change.own is None and found.seen is GitStatus.NOTHING:
        note = f"its commit {commit[:10]} is missing from the repository; to write the file without committing: "
        return Observation(proposal.id, GitStatus.GONE, note=f"{note}skilld accept --worktree {proposal.id}")
    return found


def _observe_written(
    repo: Repo, proposal: Proposal, change: _Change, found: Observation, since: int | None
) -> Observation:
    """Return whether the lines that were written are in the file, put away, or thrown away."""
    before, after = change.before, change.after
    if before is None or after is None or not is_gone_from_file(proposal, before, after, change.others):
        return Observation(proposal.id, GitStatus.NOTHING, note=WRITTEN_NOTE)
    if place := find_put_away(repo, WrittenChange(proposal.relpath, before, after, change.others), since):
        return Observation(proposal.id, GitStatus.NOTHING, note=put_away_note(WRITTEN_NOTE, place))
    return found if found.seen is GitStatus.REVERTED else replace(found, seen=GitStatus.DISCARDED, note=DISCARDED_NOTE)


def _observe_elsewhere(
    repo: Repo, proposal: Proposal, change: _Change, found: Observation, since: int | None
) -> Observation | None:
    """Return where an accepted proposal is that no branch that counts has; None if that is unknown.

    It is undone if no branch has its commit any more (`git reset --hard`, or its branch was deleted), and reverted if
    none that has it still has the change. A missing commit proves nothing: another machine made it, or git has cleaned
    it up since.
    """
    if proposal.state is not State.ACCEPTED or not proposal.landed:
        return None
    if objects.read_commit(repo.git, proposal.landed) is None:
        return None
    branches = branches_with(repo, proposal.landed)
    if not branches and (other := _commits_naming(repo, ["--branches", "--remotes"], since).get(proposal.id)):
        branches = branches_with(repo, other)
    if not branches:
        return Observation(proposal.id, GitStatus.DROPPED, note=UNDONE_NOTE)
    if repo.branch in branches or change.before is None or change.after is None:
        return None
    written = WrittenChange(proposal.relpath, change.before, change.after, change.others)
    holders = [ref for ref in branches if written.is_in(objects.read_blob(repo.git, ref, proposal.relpath))]
    if not holders:
        return Observation(proposal.id, GitStatus.REVERTED, "", "lines gone")
    return replace(found, note=put_away_note(proposal.note, f"on the branch {holders[0].split('/', 2)[2]}"))


def is_gone_from_file(proposal: Proposal, before: bytes, after: bytes, others: Collection[str] = ()) -> bool:
    """Whether nothing of a proposal's change is in its file: `git checkout FILE`, for one that was only written.

    `others` are lines that other proposals add to it.
    """
    try:
        current = Path(proposal.path).read_bytes()
    except FileNotFoundError:
        return proposal.creates
    except OSError:
        return False
    return line_diff.is_change_gone(current, before, after, others)


def _read_changes(repo: Repo, proposals: Sequence[Proposal]) -> dict[str, _Change]:
    """Return the change of each proposal, with the lines that the others add to the same file."""
    changes = {proposal.id: _read_change(repo, proposal) for proposal in proposals}
    added: dict[str, Counter[str]] = {}
    for proposal in proposals:
        added.setdefault(proposal.relpath, Counter()).update(changes[proposal.id].added)
    return {
        proposal.id: replace(change, others=frozenset(added[proposal.relpath] - Counter(change.added)))
        for proposal, change in zip(proposals, changes.values(), strict=True)
    }


def _read_change(repo: Repo, proposal: Proposal) -> _Change:
    own = read_own_commit(repo, proposal.id, proposal.commit)
    before = objects.read_blob(repo.git, own.parents[0], proposal.relpath) if own and own.parents else None
    before = b"" if proposal.creates and own and before is None else before
    return _Change(own, before, objects.read_blob(repo.git, own.oid, proposal.relpath) if own else None)


def _branches(repo: Repo) -> list[_Branch]:
    """Return the branches that count: the default branch, here and as last fetched, and all that are checked out.

    If one of the default branch's two refs is behind the other, it is left out unless it is checked out.
    """
    default = repo.default.refs if repo.default else {}
    by_tip = {oid: ref for ref, oid in sorted(default.items(), reverse=True)}  # of two with one tip, the local one
    newest = {by_tip[oid]: oid for oid in refs.without_ancestors(repo.git, by_tip)}
    wanted = set(state.checked_out(repo.common_dir)) - {STAGING_REF, *newest}
    found = refs.read_tips(repo.git, sorted(wanted)) if wanted else {}
    checked_out = [
        _Branch(ref, oid, default=ref in default, behind=ref in default) for ref, oid in found.items() if ref in wanted
    ]
    return [_Branch(ref, oid, default=True) for ref, oid in newest.items()] + checked_out


def _reachable(repo: Repo, commits: Collection[str], tip: str) -> frozenset[str]:
    """Return those of these commits that are in the history of `tip`."""
    if not commits:
        return frozenset()
    out = repo.git.run("rev-list", *commits, f"^{tip}").decode().split()
    return frozenset(commits).difference(out)


def _mark_dropped(
    repo: Repo, proposals: Sequence[Proposal], seen: list[Observation], since: int | None
) -> list[Observation]:
    """Mark the undecided proposals that are no longer on the staging branch.

    A commit whose message the person replaced is still on it as long as the branch has its change. A proposal on a
    remote-tracking branch is not dropped: it is under review there. Nor is one that skilld removed before it was killed
    and could store the reason: in that case its own ref is gone, too.
    """
    tip = refs.read_tips(repo.git, [STAGING_REF]).get(STAGING_REF)
    lost = tip is not None and objects.read_objects(repo.git, [tip])[0] is None  # what is on it is unknown
    busy = lost or state.staging_holder(repo.common_dir) is not None
    waiting = {
        found.id: proposal
        for proposal, found in zip(proposals, seen, strict=True)
        if found.seen is GitStatus.NOTHING
        and proposal.commit
        and (_undecided(proposal) or (is_repo_gone(proposal) and not busy))
    }
    if not waiting:
        return seen
    on_staging = {} if busy else _commits_naming(repo, [STAGING_REF], since)
    off = waiting.keys() - on_staging.keys() if not busy else set[str]()
    hung = refs.read_tips(repo.git, [PROPOSAL_REFS.rstrip("/")]) if off else {}
    on_remotes = {} if busy or waiting.keys() <= on_staging.keys() else _commits_naming(repo, ["--remotes"], since)

    def locate(found: Observation) -> Observation:
        proposal = waiting.get(found.id)
        if proposal is None:
            return found
        if busy:
            return replace(found, seen=GitStatus.BUSY)
        if found.id in on_staging or _branch_says(repo, STAGING_REF, proposal):
            return replace(found, branch=STAGING_BRANCH)
        if found.id in on_remotes:
            return replace(found, branch=_remote_branch(repo, on_remotes[found.id]))
        is_ours = proposal.state is State.OPEN and refs.proposal_ref(found.id) not in hung
        if is_ours and (why := _misfit_reason(repo, proposal)):
            return replace(found, seen=GitStatus.ENDED, note=why)
        return replace(found, seen=GitStatus.DROPPED)

    return [locate(found) for found in seen]


def _misfit_reason(repo: Repo, proposal: Proposal) -> str | None:
    """Return why an edit does not fit the staging branch (without one: HEAD); None if it does."""
    change = _read_change(repo, proposal)
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


def _undecided(proposal: Proposal) -> bool:
    return proposal.state in {State.OPEN, State.DROPPED}


def _remote_branch(repo: Repo, commit: str) -> str:
    form = f"--contains={commit}", "--count=1", "--format=%(refname:lstrip=2)"
    return repo.git.run("for-each-ref", *form, "refs/remotes").decode("utf-8", "replace").strip()


def _branch_says(repo: Repo, ref: str, proposal: Proposal) -> bool:
    text = objects.read_blob(repo.git, ref, proposal.relpath)
    change = _read_change(repo, proposal)
    if text is None or change.before is None or change.after is None:
        return False
    return line_diff.contains_change(text, change.before, change.after)


def _commits_naming(repo: Repo, tips: Sequence[str], since: int | None) -> dict[str, str]:
    """Return the proposals that commits reachable from these tips name, each with one such commit."""
    if not tips:
        return {}
    dated = () if since is None else (f"--since={since}",)
    wanted = "--fixed-strings", "--grep=Skilld-Proposal:", "--max-count=1000", "--ignore-missing"
    oids = repo.git.run("rev-list", *wanted, *dated, *tips).decode().split()
    return {name: commit.oid for commit in objects.read_commits(repo.git, oids) if commit for name in commit.proposals}
