"""Commits one edit on the staging branch, once, and rebuilds the branch after a decision.

Everything is read once per try; all refs move in one transaction, each only from the value that was read. A lost race
starts over. Nothing in the work tree, the index or HEAD is ever written.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from skilld.clock import parse_time
from skilld.errors import SkilldError
from skilld.files import read_whole
from skilld.git import objects, refs, state, tree
from skilld.git.errors import LostRaceError, StagingBusyError
from skilld.git.line import line_since
from skilld.git.managed_repos import track
from skilld.git.objects import OWN_EMAIL, Commit, Ident
from skilld.git.repo import Repo, TrackedFile
from skilld.git.session import shared_git
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_BRANCH, STAGING_REF
from skilld.git.state import repo_lock
from skilld.paths import places
from skilld.proposals import model
from skilld.proposals.branch import (
    Branch,
    RebuildBlockedError,
    branches_containing,
    describe_base,
    find_base,
    have_same_files,
    is_on,
    read_branch,
    replay_commits,
    side_files,
    with_files,
    write_again,
)
from skilld.proposals.file_history import commits_of, left_standing
from skilld.proposals.model import (
    CREATABLE,
    Base,
    ProposalCommit,
    ProposeOutcome,
    StagingState,
    WaitsForPerson,
)
from skilld.proposals.refit import Edit
from skilld.proposals.repositories import repo_at
from skilld.types import Proposal
from skilld.values import value_class


@value_class
class Request:
    """A proposal to commit; its creation time becomes the commit's date.

    `open_edits` are those of the open proposals of the same repository, by their IDs; `dropped` the IDs of decided ones
    that may still be on the branch, with the times at which that was known: see `rebuild`. `restored` says that the
    person removed the proposal from the staging branch or from theirs and wants it back: it is committed even if its
    ref or their history still has it. `remark` is a sentence for the message. `of_batch` says that an earlier try of
    its batch may have made it under another ID: parts split off a proposal have its batch, too.
    """

    edit: Edit
    open_edits: Mapping[str, Edit] = field(default_factory=dict)
    dropped: Collection[str] = ()
    restored: bool = False
    remark: str = ""
    of_batch: bool = False

    @property
    def proposal(self) -> Proposal:
        """The proposal to commit."""
        return self.edit.proposal

    @property
    def epoch(self) -> int:
        """Its time in seconds since 1970."""
        moment = parse_time(self.proposal.created_at)
        if moment is None:
            raise ValueError(f"{self.proposal.created_at!r} is not a time")
        return int(moment)


# A retried job returns the proposal of an earlier try instead of making another one.

_MARGIN_SECONDS = 86400  # clocks of two machines differ


def find_earlier(request: Request, tracked: TrackedFile, branch: Branch) -> ProposalCommit | None:
    """Return the proposal if an earlier try made it: on its ref, on the branch by its trailers, or merged already."""
    repo, relpath, own = tracked.repo, tracked.relpath, request.proposal.id
    oid = branch.proposals.get(own) if not request.restored else None
    commit = objects.read_commit(repo.git, oid) if oid else None
    if commit is None:
        there = branch.commits or ()
        commit = next((item for item in there if _is_same_proposal(repo, request, item, relpath)), None)
        commit = None if own in {name for item in there for name in item.proposals} - left_standing(there) else commit
    if commit is None and not request.restored:
        commit = _find_merged(repo, request, relpath)
    if commit is None:
        return None
    name = commit.trailers.get("Skilld-Proposal", own)
    base = branch.base or repo.head
    stands = {one: item.oid for item in branch.commits or () for one in item.proposals}
    moved: dict[str, str] = {}
    for other in request.open_edits.values():  # that try could not report where it moved them
        moved |= other.new_commit(stands.get(other.proposal.id, other.proposal.commit))
    staging = StagingState(branch.tip, describe_base(repo, base), moved)
    return ProposalCommit(name, commit.oid, base, STAGING_BRANCH, str(repo.address), relpath, staging)


def _is_same_proposal(repo: Repo, request: Request, commit: Commit, relpath: str) -> bool:
    if request.proposal.id in commit.proposals:
        return True
    of_batch = request.of_batch and commit.trailers.get("Skilld-Batch") == request.proposal.batch_id
    return of_batch and relpath in tree.changed_files(repo.git, commit.parents[0], commit.oid)


def _find_merged(repo: Repo, request: Request, relpath: str) -> Commit | None:
    since, tips = request.epoch - _MARGIN_SECONDS, {repo.head, *(repo.default.tips if repo.default else ())}
    lines = [line_since(repo.git, tip, since) for tip in tips]
    if all(line is not None and not any(request.proposal.id in one.proposals for one in line) for line in lines):
        return None
    where = f"--since={since}", *sorted(tips), "--", relpath
    return next(iter(commits_of(repo, request.proposal.id, *where)), None)


_MAX_TRIES = 20
TITLE = "The edit was not proposed"  # the title of an error


@shared_git()
def propose(request: Request) -> ProposeOutcome:
    """Commit an edit on the staging branch, on top of the open proposals.

    Raises NotTrackedError if git does not track the skill and skilld may not keep a repository for it, StagingBusyError
    and other RefusedErrors if the repository is in a state in which we do not write, RetryError for locks and lost
    races, SkilldError if the edit fits neither HEAD's version of the file nor the person's uncommitted one, or no
    longer fits after the open proposals. An edit that an earlier try proposed is found and returned, never made twice.
    """
    for _ in range(_MAX_TRIES):
        try:
            tracked = track(Path(request.proposal.path), places().repositories, new=request.proposal.creates)
            with repo_lock(tracked.repo.common_dir):
                return _propose_locked(request, tracked)
        except LostRaceError:
            continue
    raise LostRaceError("Could not write the proposal", f"the staging branch moved {_MAX_TRIES} times in the meantime")


@shared_git()
def rebuild(
    address: Path, open_edits: Mapping[str, Edit], dropped: Collection[str] = (), bases: Collection[str] = ()
) -> StagingState:
    """Rebuild the staging branch as a straight line of the open proposals, without the `dropped` ones.

    `address` is the repository's (`Proposal.repo`). Dropped proposals lose their place on the branch and their ref.
    Open ones that the person took off the branch are not put back. While the person works on the branch, or if commits
    of theirs no longer fit, only the refs of dropped proposals are deleted, and `held_reason` says why.

    `dropped` may give for each proposal the time at which it was known to be decided. One whose ref was written later
    is kept: the person has put it back since. `bases` are as in `read_branch`.
    """
    for _ in range(_MAX_TRIES):
        try:
            repo = repo_at(address)
            with repo_lock(repo.common_dir):
                return _rebuild_locked(repo, open_edits, dropped, bases)
        except LostRaceError:
            continue
    raise LostRaceError("The staging branch was not rebuilt", f"it moved {_MAX_TRIES} times in the meantime")


def _propose_locked(request: Request, tracked: TrackedFile) -> ProposeOutcome:
    repo, relpath, proposal, edit = tracked.repo, tracked.relpath, request.proposal, request.edit
    refs.check_no_links(repo.common_dir, [STAGING_REF, refs.proposal_ref(proposal.id)])
    refs.repair_refs(repo.git, repo.common_dir)
    branch = read_branch(repo, request.open_edits)
    request = replace(request, dropped=_still_dropped(repo, request.dropped))
    done = find_earlier(request, tracked, branch)
    if done is not None:
        return done
    holder = state.staging_holder(repo.common_dir)
    if holder is not None:
        raise StagingBusyError(
            "The proposal is on hold",
            f"{STAGING_BRANCH} is {holder}",
            "Switch to another branch, or finish what is in progress.",
        )
    stored = objects.read_blob(repo.git, repo.head, relpath)
    try:
        if edit(stored or b"") == (stored or b""):
            return None
    except SkilldError as error:
        return _wait_for_file(request, tracked, str(error))
    staging = _rebuild_for(request, tracked, branch)
    before = objects.read_blob(repo.git, staging.top, relpath)
    if before is None and proposal.creates:
        before = b""
    if before is None:  # the branch cannot be rebuilt now, and its base lacks the skill
        return WaitsForPerson(f"on hold: {staging.held_reason or f'{relpath} is not on {STAGING_BRANCH}'}")
    try:
        after = _apply_edit(edit, stored, before)
    except SkilldError as error:
        raise SkilldError(TITLE, str(error)) from error
    if after == before:
        return None
    ident = Ident("skilld", OWN_EMAIL, request.epoch)
    commit = objects.add_commit(
        repo.git,
        tree=with_files(repo, staging.top, side_files(repo, staging.top, edit.also) | {relpath: after}),
        parents=[staging.top],
        message=_message(request, private=repo.remote),
        author=ident,
        committer=ident,
    )
    staging.tip = staging.at[proposal.id] = commit
    _move_refs(repo, branch, staging, request.dropped)
    return ProposalCommit(proposal.id, commit, staging.base, STAGING_BRANCH, str(repo.address), relpath, staging)


def _apply_edit(edit: Edit, seen: bytes | None, below: bytes) -> bytes:
    """Return the branch's version of the skill (`below`) with an edit that was made for HEAD's version (`seen`).

    Where an open proposal removed the lines around its place, what it adds goes to the end of its section.
    """
    if seen is None or seen == below:
        return edit(below)
    with suppress(SkilldError):
        return edit.refit_exactly(seen, edit(seen), below)
    try:
        return edit(below)
    except SkilldError as error:
        with suppress(SkilldError):
            return edit.refit_loosely(seen, edit(seen), below)
        raise error from None


def _still_dropped(repo: Repo, dropped: Collection[str]) -> frozenset[str]:
    known = dropped if isinstance(dropped, Mapping) else dict.fromkeys(dropped, math.inf)
    return frozenset(name for name, at in known.items() if refs.written_at(repo.common_dir, name) <= at)


def _rebuild_locked(
    repo: Repo, open_edits: Mapping[str, Edit], dropped: Collection[str], bases: Collection[str]
) -> StagingState:
    refs.check_no_links(repo.common_dir, [STAGING_REF, PROPOSAL_REFS.rstrip("/")])
    refs.repair_refs(repo.git, repo.common_dir)
    branch = read_branch(repo, open_edits, bases)
    dropped = _still_dropped(repo, dropped)
    holder = state.staging_holder(repo.common_dir)
    held = f"{STAGING_BRANCH} is {holder}" if holder is not None else branch.held_reason
    if branch.tip is not None and not held and branch.commits is not None:
        try:
            base = _base_for(repo, branch, open_edits, dropped)
            staging = replay_commits(repo, base, branch.commits, open_edits, dropped)
        except RebuildBlockedError as error:
            held = str(error)
        else:
            _move_refs(repo, branch, staging, dropped)
            return staging if staging.tip else replace(staging, base_info=None)
    at = {name: write_again(repo, commit) for name, commit in branch.renamed.items() if name in open_edits}
    refs.move_refs(repo.git, repo.common_dir, branch.ref_changes(branch.tip, at, {*dropped} - {*branch.renamed}))
    return StagingState(branch.tip, describe_base(repo, branch.base) if branch.base else None, held_reason=held)


def _move_refs(repo: Repo, branch: Branch, staging: StagingState, dropped: Collection[str]) -> None:
    """Move the refs; those of proposals that ended are deleted first, in a transaction of their own.

    A proposal that is off the branch but still has its ref was taken off by the person. If we are killed after the
    first step, the branch still has the proposal and is rebuilt; after the second, the missing ref shows that we
    removed it (skilld.proposals.observe).
    """
    rest = {*dropped}.difference(staging.ended)
    refs.move_refs(repo.git, repo.common_dir, branch.ref_changes(branch.tip, {}, staging.ended))
    refs.move_refs(repo.git, repo.common_dir, branch.ref_changes(staging.tip, staging.at, rest))


def _rebuild_for(request: Request, tracked: TrackedFile, branch: Branch) -> StagingState:
    """Return the branch for the new commit, rebuilt if the base moved; `held_reason` says why it was not."""
    repo, known = tracked.repo, request.open_edits
    own = {**dict.fromkeys(request.edit.also, False), tracked.relpath: request.proposal.creates}
    files = branch.edited_files(known, request.dropped) | own
    present = [path for path in sorted(files) if _in_head(repo, path)]
    absent = [path for path, made in files.items() if made and path not in present]
    rest = find_base(repo, [*present, *_files_of_other_commits(repo, branch, known, request.dropped)], absent)
    held = branch.held_reason
    if branch.commits is not None:
        try:
            return replay_commits(repo, rest, branch.commits, known, request.dropped)
        except RebuildBlockedError as error:
            held = str(error)
    # The base is not the branch's tip: a known base is not counted as part of the branch.
    return StagingState(
        branch.tip or rest.commit, describe_base(repo, branch.base) if branch.base else rest, held_reason=held
    )


def _base_for(repo: Repo, branch: Branch, open_edits: Mapping[str, Edit], dropped: Collection[str]) -> Base:
    """Return the base of a rebuilt branch: the present one, unless its skills have changed since or a rebase left it.

    They have if neither the default branch nor the checked-out one still has the base's version of them; a branch that
    never had it does not count. In a repository of ours no other branch can have a file that is gone.
    """
    base = branch.base or repo.head
    on_it = branch.edited_files(open_edits, dropped)
    absent = [path for path in on_it if not _in_head(repo, path)]
    waiting = [path for path in absent if on_it[path]]
    files = sorted(set(on_it).difference(waiting))
    remade = {edit.proposal.relpath for edit in open_edits.values() if edit.proposal.target in CREATABLE}
    if repo.private and remade.intersection(absent).difference(waiting):
        waiting, files = absent, sorted(set(on_it).difference(absent))
    elif not set(files).isdisjoint(absent):
        return describe_base(repo, base)
    elif not files or not _is_base_outdated(repo, base, files):
        present = describe_base(repo, base)
        if present.branch or not present.ahead or refs.is_reachable(repo.git, base, repo.head):
            return present
    return find_base(repo, [*files, *_files_of_other_commits(repo, branch, open_edits, dropped)], waiting)


def _files_of_other_commits(
    repo: Repo, branch: Branch, known: Mapping[str, Edit], dropped: Collection[str]
) -> list[str]:
    """Return the files in HEAD that other commits on the branch change: the base must be at least as new as these.

    Such commits are the person's, or those of a job that was killed before its result was stored.
    """
    others = [item for item in branch.commits or () if known.keys().isdisjoint(item.proposals)]
    others = [item for item in others if not item.proposals or not {*item.proposals} <= {*dropped}]
    found = {path for item in others for path in tree.changed_files(repo.git, item.parents[0], item.oid)}
    return sorted(path for path in found if _in_head(repo, path))


def _is_base_outdated(repo: Repo, base: str, files: Sequence[str]) -> bool:
    defaults = {*(repo.default.tips if repo.default else ())}
    tips = {*defaults, repo.head}
    same = [tip for tip in tips if have_same_files(repo, base, tip, files)]
    if len(same) == len(tips):
        return False
    if len(defaults) <= 1 and any(is_on(repo, base, tip) for tip in same):
        return False  # without asking git about the tips that differ
    return not any(have_same_files(repo, base, tip, files) for tip in _relevant_tips(repo, base))


def _relevant_tips(repo: Repo, base: str) -> Sequence[str]:
    """Return the tips of the default branch and HEAD that contain `base`; if none does, those of other branches.

    If one of the default branch's two tips is behind the other, it is left out.
    """
    tips = list(dict.fromkeys((*(repo.default.tips if repo.default else ()), repo.head)))
    over = [tip for tip in tips if refs.is_reachable(repo.git, base, tip)]
    defaults = [tip for tip in over if repo.default and tip in repo.default.tips]
    behind = {*defaults}.difference(refs.without_ancestors(repo.git, defaults), [repo.head])
    return [tip for tip in over if tip not in behind] or [*branches_containing(repo, base).values()]


def _in_head(repo: Repo, relpath: str) -> bool:
    return objects.read_blob(repo.git, repo.head, relpath) is not None


def _wait_for_file(request: Request, tracked: TrackedFile, reason: str) -> WaitsForPerson:
    """Return what an edit waits for that does not fit HEAD's version, for this reason. Raises as `propose`."""
    if request.proposal.creates and not os.path.lexists(request.proposal.path):
        raise SkilldError(TITLE, f"git tracks {tracked.relpath}, but it is missing from the work tree")
    try:
        request.edit(read_whole(request.proposal.path))
    except (SkilldError, OSError):
        raise SkilldError(TITLE, reason) from None
    return WaitsForPerson(f"on hold until you commit your changes to {tracked.relpath}")


def _quotes(proposal: Proposal) -> Iterable[str]:
    """Return the quote behind each rule; if no rules are known, the first quote. A merge quotes nobody.

    A text that the person edited may have rules of their own, and the words behind the others are not known from them.
    """
    quotes = dict.fromkeys(one.quote for one in proposal.evidence)
    rules = {update.quote for update in proposal.updates}
    unknown = [*quotes] if proposal.note == model.EDITED_NOTE else [*quotes][:1]
    return [quote for quote in quotes if quote in rules] or unknown


def _message(request: Request, *, private: bool) -> bytes:
    proposal = request.proposal
    return model.compose(
        skill=proposal.skill,
        summary=proposal.summary,
        reason=proposal.reason,
        quotes=() if private else _quotes(proposal),
        remark=request.remark,
        trailers={
            "Proposal": proposal.id,
            "Batch": proposal.batch_id,
            "Session": "" if private else proposal.session_id,
            "Kind": str(proposal.kind),
            "Confidence": f"{proposal.confidence:.2f}",
            "Model": proposal.model,
            "Also": ", ".join(request.edit.also),
        },
    )
