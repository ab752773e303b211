"""Reads from git what a person did with proposals: merged, picked, squashed, rebased, amended, reverted, dropped.

Returns one observation for each proposal of a repository; the rules are in `judge`. Only the default branch and
branches checked out in a work tree count. Writes nothing, except that skilld's own repositories are brought up to date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skilld.clock import parse_time
from skilld.errors import SkilldError
from skilld.git import objects, refs, state
from skilld.git.errors import NotTrackedError
from skilld.git.line import is_before
from skilld.git.repo import Repo
from skilld.git.session import shared_git
from skilld.git.staging_branch import STAGING_REF
from skilld.proposals.branch import list_staged, range_above
from skilld.proposals.file_history import (
    FileOnBranch,
    SkillCommit,
    read_file_on_branch,
    read_path_history,
    renamed_since,
)
from skilld.proposals.model import (
    BY_HAND_NOTE,
    CHANGED_NOTE,
    EDITED_NOTE,
    MOVED_TO,
    PARTLY_BY_HAND_NOTE,
    GitStatus,
    Observation,
    is_only_written,
    is_partly_by_hand,
    is_repo_gone,
    is_undecided,
    put_away_note,
)
from skilld.proposals.repositories import repo_at
from skilld.proposals.rewritten import find_by_hand, find_moved, find_section, rewritten_note
from skilld.proposals.whereabouts import (
    NO_CHANGE,
    Change,
    branches_with,
    commits_naming,
    locate_undecided,
    observe_elsewhere,
    observe_written,
    read_changes,
    short_name,
)
from skilld.types import Proposal, State
from skilld.values import value_class

# A branch is judged by its commits in order: the last one that brings in or reverts the proposal counts. The text at
# its tip overrules them, since lines can come and go in commits that name no proposal.


@value_class
class _Branch:
    """A branch that counts; `behind` for a local one that lacks commits of the default branch as last fetched."""

    ref: str
    tip: str
    default: bool
    behind: bool = False

    @property
    def here(self) -> bool:
        """False for a branch as last fetched."""
        return self.ref.startswith("refs/heads/")


@value_class
class BranchView:
    """A branch with a proposal's file on it; `has_commit` says whether its history has the proposal's own commit."""

    branch: _Branch
    file: FileOnBranch
    has_commit: bool


def judge(subject: Change, views: Sequence[BranchView]) -> Observation:
    """Return LANDED, REVERTED or NOTHING; LANDED with a branch if only one as last fetched has it.

    The default branch takes precedence; among the others one branch that has the proposal is enough. A revert that was
    only fetched counts once no branch here has the proposal any more; a branch that is behind only shows that one has.
    """
    judged = [(view, judge_branch(subject, view)) for view in views]
    stays = any(view.branch.here and verdict.seen is GitStatus.LANDED for view, verdict in judged)
    for default, order in (
        (True, (GitStatus.REVERTED, GitStatus.LANDED)),
        (False, (GitStatus.LANDED, GitStatus.REVERTED)),
    ):
        verdicts = [
            verdict
            for view, verdict in judged
            if view.branch.default is default
            and not (view.branch.behind and verdict.seen is not GitStatus.LANDED)
            and not (stays and not view.branch.here and verdict.seen is GitStatus.REVERTED)
        ]
        found = next((verdict for seen in order for verdict in verdicts if verdict.seen is seen), None)
        if found is not None and found.seen is GitStatus.LANDED and not stays:
            fetched = next(view.branch.ref for view, verdict in judged if verdict is found)
            return replace(found, branch=short_name(fetched))
        if found is not None:
            return found
    return Observation(subject.id, GitStatus.NOTHING)


def judge_branch(subject: Change, view: BranchView) -> Observation:
    """Return what one branch shows."""
    verdict = _judge_commits(subject, view)
    text = b"" if view.file.text is None and subject.creates else view.file.text
    if not subject.is_known:
        return verdict
    if text is None:  # a file that was moved away reverts nothing that it had until then
        left = next((one.before for one in reversed(view.file.commits) if one.text is None), None)
        was_in = left is None or subject.is_in(left)
        return verdict if was_in or verdict.seen is not GitStatus.LANDED else _without_lines(subject, view)
    if verdict.seen is not GitStatus.LANDED:
        bringer = _introducing_commit(subject, view) if subject.is_made_in(text) else ""
        return Observation(subject.id, GitStatus.LANDED, bringer, "lines") if bringer else verdict
    if not subject.is_in(text):
        note = rewritten_note(subject, view.file.commits, text)
        return replace(verdict, note=note) if note else _without_lines(subject, view)
    if not (subject.holds(text) or subject.holds_but_numbers(text)):
        return replace(verdict, note=verdict.note or CHANGED_NOTE)
    return verdict


def _without_lines(subject: Change, view: BranchView) -> Observation:
    """Return that the lines are gone, with the newest commit after which the text no longer held the change."""
    losing = (one.oid for one in reversed(view.file.commits) if subject.holds(one.text) < subject.holds(one.before))
    return Observation(subject.id, GitStatus.REVERTED, next(losing, ""), "lines gone")


def _judge_commits(subject: Change, view: BranchView) -> Observation:
    verdict = Observation(subject.id, GitStatus.NOTHING)
    if view.has_commit:
        verdict = Observation(subject.id, GitStatus.LANDED, subject.commit, "merged")
    landings, takings = {subject.commit} if view.has_commit else set[str](), set[str]()
    for sighting in _relevant_commits(subject, view):
        how = "restored" if sighting.reverts & takings else _landing_kind(subject, sighting)
        if how:
            landings.add(sighting.oid)
            alone = subject.is_known and how == "named" and sighting.proposals == (subject.id,)
            edited = alone and sighting.signature != subject.signature and not subject.is_said_by(sighting)
            verdict = Observation(subject.id, GitStatus.LANDED, sighting.oid, how, EDITED_NOTE if edited else "")
        elif sighting.reverts & landings or (verdict.seen is GitStatus.LANDED and subject.id in sighting.undoes):
            takings.add(sighting.oid)
            verdict = Observation(subject.id, GitStatus.REVERTED, sighting.oid, "reverted")
    return verdict


def _relevant_commits(subject: Change, view: BranchView) -> Sequence[SkillCommit]:
    """Return the commits that count: those that name the proposal or brought it in, or are not older than it.

    Of one that was reopened, they are those after the last commit that took it out before its new commit was made. If
    none is known to be older than that, it is the one that reverts the commit it landed with, or if that is not in the
    history (removed, amended, or part of a squashed one), the last one that reverts a commit naming the proposal.
    """
    ours = [one.oid for one in view.file.commits if subject.id in one.proposals or one.oid == subject.landed]
    commits = [one for one in view.file.commits if one.oid not in subject.older or one.oid in ours]
    numbered = [*enumerate(view.file.commits, 1)]
    takings = [(at, one) for at, one in numbered if subject.landed in one.reverts or subject.id in one.undoes]
    undone = [at for at, one in takings if one.oid in subject.older]
    if not undone and subject.reopened:
        lost = all(one.oid != subject.landed for one in view.file.commits)
        undone = [at for at, one in takings if lost or subject.landed in one.reverts]
    return view.file.commits[undone[-1] :] if undone else commits


def _landing_kind(subject: Change, sighting: SkillCommit) -> str:
    if sighting.oid == subject.commit:
        return "merged"
    if subject.id in sighting.proposals:
        return "named"
    if sighting.oid == subject.landed:
        return "known"
    # A commit that names another proposal is not this one's, even if both say the same.
    same = sighting.signature == subject.signature != NO_CHANGE
    return "same change" if same and not sighting.proposals else ""


def _introducing_commit(subject: Change, view: BranchView) -> str:
    """Return the newest commit that made the change in the text; empty if it was there before the proposal.

    A commit that created the file cannot have removed lines from it, and lines that the person decided to keep may go
    with others around them.
    """
    adds = bool(subject.signature[1])
    if subject.declined and not adds:
        return ""
    changes = [one for one in view.file.commits if adds or one.before is not None]
    made = (one.oid for one in reversed(changes) if subject.is_made_in(one.text) > subject.holds(one.before))
    return next(made, "")


_MARGIN_SECONDS = 2 * 86400  # clocks of two machines differ, and dates are those of a batch


@shared_git()
def observe(address: Path, proposals: Sequence[Proposal]) -> list[Observation]:
    """Return what git shows of each proposal of the repository at `address`.

    Pass open ones, and accepted or rejected ones for as long as a later change of mind should be noticed. In one of
    skilld's own repositories the skills are first committed as found. Raises RefusedError if the repository exists but
    is not supported.
    """
    repo = find_repo(address)
    if repo is None:
        return [Observation(proposal.id, GitStatus.GONE) for proposal in proposals]
    dates = [parse_time(proposal.created_at) for proposal in proposals]
    known = [date for date in dates if date is not None]
    since = int(min(known)) - _MARGIN_SECONDS if known and len(known) == len(dates) else None
    branches = _branches(repo)
    changes = read_changes(repo, proposals, since)
    own = {change.own.oid for change in changes.values() if change.own}
    top = refs.read_refs(repo.git, [STAGING_REF]).get(STAGING_REF)
    tips = {branch.tip for branch in branches}
    reached = _reachable(repo, own - _staged_alone(repo, top, proposals, tips), tips)
    files = {
        (tip, relpath): read_file_on_branch(repo, tip, relpath, since)
        for tip in reached
        for relpath in {proposal.relpath for proposal in proposals}
    }
    seen = []
    for proposal in proposals:
        change, relpath = changes[proposal.id], proposal.relpath
        views = [
            BranchView(branch, files[branch.tip, relpath], bool(change.own and change.own.oid in reached[branch.tip]))
            for branch in branches
        ]
        found = _with_time(repo, proposal, _observe_proposal(repo, proposal, change, views, since))
        there = {view.branch.tip: view.file for view in views if view.branch.default or view.branch.ref == repo.branch}
        found = _with_words_by_hand(proposal, change, found, there.values())
        seen.append(_with_place(repo, proposal, change, found, there))
    return locate_undecided(repo, proposals, changes, seen, since, tip=top)


def _with_words_by_hand(
    proposal: Proposal, change: Change, found: Observation, there: Iterable[FileOnBranch]
) -> Observation:
    """Return that somebody wrote into the file what an open proposal says, or some of it, if they did."""
    if found.seen is not GitStatus.NOTHING or proposal.state is not State.OPEN:
        return found
    for file in there:
        line, whole = find_by_hand(proposal, change, file)
        if line and whole:
            return replace(found, seen=GitStatus.SAID, note=f"{file.relpath}:{line}{BY_HAND_NOTE}")
        if line and (not proposal.note or is_partly_by_hand(proposal)):
            return replace(found, note=f"{file.relpath}:{line}{PARTLY_BY_HAND_NOTE}")
    return found


def _with_place(
    repo: Repo, proposal: Proposal, change: Change, found: Observation, there: Mapping[str, FileOnBranch]
) -> Observation:
    """Add where a proposal's file is now, by the tips that count; unless it is accepted, where its section is."""
    if found.relpath or found.how == "moved":  # in other words: those are known by the history of its file
        return found
    if proposal.creates and is_undecided(proposal):  # a file that was there meanwhile is another one
        return replace(found, relpath=proposal.relpath)
    is_taken = found.how == "lines" and not change.signature[1]  # what it removes may have moved
    if is_undecided(proposal):
        is_out = found.seen is GitStatus.NOTHING or is_taken
    else:  # a decision against it applies where the section is now
        is_out = change.declined and found.seen in {GitStatus.NOTHING, GitStatus.REVERTED}
    if is_out:
        moved = find_section(repo, proposal, change, {tip: one.relpath for tip, one in there.items()})
        if moved:
            return replace(found if change.declined else Observation(proposal.id, GitStatus.NOTHING), relpath=moved)
    return replace(found, relpath=_present_path(repo, change, [*there.values()]))


def _present_path(repo: Repo, change: Change, there: Sequence[FileOnBranch]) -> str:
    """Return the path of a proposal's file now: another one if both the default branch and HEAD renamed it to that.

    A file that no branch has any more may be at another path than when the proposal was made, with no commit in
    between: the one that renamed it was removed.
    """
    names = {one.relpath for one in there if one.text is not None}
    if not names and change.own is not None and not change.creates:
        return renamed_since(repo, change.own, change.relpath) or change.relpath
    return names.pop() if len(names) == 1 else change.relpath


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


def find_repo(address: Path) -> Repo | None:
    """Return the repository at `address`, None if there is none. Raises RefusedError if it is not supported."""
    try:
        return repo_at(address) if address.is_dir() else None
    except NotTrackedError:
        return None


def _observe_proposal(
    repo: Repo, proposal: Proposal, change: Change, views: Sequence[BranchView], since: int | None
) -> Observation:
    found = judge(change, views)
    if found.branch and not any(one.startswith("refs/heads/") for one in branches_with(repo, found.commit)):
        found = replace(found, note=put_away_note(found.note, f"on the branch {found.branch}"))
    if found.seen is GitStatus.NOTHING and not proposal.creates:
        # If the skill's folder was renamed, git applies a cherry-pick at its new place.
        away = [view.branch.tip for view in views if view.file.text is None]
        if proposal.id in (naming := commits_naming(repo, away, since)):
            return Observation(proposal.id, GitStatus.LANDED, naming[proposal.id], "named")
    if found.how == "lines gone" and (moved := _observe_moved(repo, proposal, change, views, since)):
        return moved
    if is_only_written(proposal) and found.seen is not GitStatus.LANDED:
        return observe_written(repo, proposal, change, found, since)
    if found.seen is GitStatus.NOTHING and (other := observe_elsewhere(repo, proposal, change, found, since)):
        moved = _observe_moved(repo, proposal, change, views, since) if other.how == "lines gone" else None
        return moved or other
    is_lost = change.own is None and bool(proposal.commit) and found.seen is GitStatus.NOTHING
    if is_lost and (is_undecided(proposal) or is_repo_gone(proposal)):
        return Observation(proposal.id, GitStatus.GONE, note="its commit is missing from the repository")
    return found


def _observe_moved(
    repo: Repo, proposal: Proposal, change: Change, views: Sequence[BranchView], since: int | None
) -> Observation | None:
    """Return that a proposal's lines are in another file now, None if they are not: they count as landed."""
    for view in views:
        before = read_path_history(
            repo, view.branch.tip, change.relpath, since
        )  # another file may have taken its name since
        for commits in (view.file.commits, before):
            path, own = find_moved(repo, change, commits, view.branch.tip)
            if path:
                note = "" if path == proposal.relpath else f"{MOVED_TO}{path}"
                return Observation(proposal.id, GitStatus.LANDED, "", "moved", note, relpath=path if own else "")
    return None


def _branches(repo: Repo) -> list[_Branch]:
    """Return the branches that count: the default branch, here and as last fetched, and all that are checked out.

    If one of the default branch's two refs is behind the other, it is left out unless it is checked out.
    """
    default = repo.default.refs if repo.default else {}
    by_tip = {oid: ref for ref, oid in sorted(default.items(), reverse=True)}  # of two with one tip, the local one
    newest = {by_tip[oid]: oid for oid in refs.without_ancestors(repo.git, by_tip)}
    wanted = set(state.checked_out(repo.common_dir)) - {STAGING_REF, *newest}
    found = refs.read_refs(repo.git, sorted(wanted))
    checked_out = [
        _Branch(ref, oid, default=ref in default, behind=ref in default) for ref, oid in found.items() if ref in wanted
    ]
    return [_Branch(ref, oid, default=True) for ref, oid in newest.items()] + checked_out


def _staged_alone(repo: Repo, top: str | None, proposals: Sequence[Proposal], tips: Collection[str]) -> set[str]:
    """Return the commits of the staging branch (which ends at `top`) that, as far as known, no other tip has."""
    bases = [one.base for one in proposals if one.commit]
    if top is None or not {f"^{tip}" for tip in tips}.issubset(range_above(repo, bases)):
        return set()
    with suppress(SkilldError):  # whoever needs the branch reports what is wrong with it
        return {*list_staged(repo, top, bases)}
    return set()


def _reachable(repo: Repo, commits: Collection[str], tips: Collection[str]) -> dict[str, frozenset[str]]:
    """Return for each of these tips those of these commits that are in its history."""
    known = {(one, tip): is_before(repo.git, one, tip) for one in commits for tip in tips}
    unknown = {one for one, _ in known if None in {known[one, tip] for tip in tips}}

    def outside(those: Collection[str], *these: str) -> list[str]:
        return objects.list_ids(repo.git, *sorted(those), *(f"^{tip}" for tip in these)) if those else []

    if len(tips) > 1:  # mostly none of them has any
        unknown.difference_update(outside(unknown, *sorted(tips)))
    asked = {tip: {one for one in unknown if known[one, tip] is None} for tip in tips}
    more = {tip: those.difference(outside(those, tip)) for tip, those in asked.items()}
    return {tip: frozenset(more[tip].union(one for one in commits if known[one, tip])) for tip in tips}
