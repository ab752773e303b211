"""Puts proposals on the staging branch: builds the requests for `propose` and interprets its outcomes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skilld.context.ceilings import ceilings, excess_reason
from skilld.context.tokenizer import tokenizer
from skilld.edit.derive_operations import operations_between
from skilld.edit.secrets import refuse_secrets
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.files import read_whole
from skilld.git import line_diff, objects, refs
from skilld.git.errors import StagingBusyError
from skilld.git.line_diff import transplant
from skilld.git.managed_repos import track
from skilld.git.repo import Repo, TrackedFile, require_plain
from skilld.git.session import shared_git
from skilld.git.staging_branch import STAGING_REF
from skilld.ingest.discover import is_utf8
from skilld.paths import places
from skilld.proposals.contradictions import describe_contradictions
from skilld.proposals.model import (
    CREATABLE,
    OVERTAKEN_PREFIX,
    GitStatus,
    ProposalCommit,
    ProposeOutcome,
    WaitsForPerson,
    at_path,
)
from skilld.proposals.observe import observe
from skilld.proposals.overtaken import find_overtaken, find_rival
from skilld.proposals.propose import TITLE, Request, propose, rebuild
from skilld.proposals.refit import (
    GONE_NOTE,
    MOVED_NOTE,
    REMADE_NOTE,
    Edit,
    adds_section,
    has_same_lines,
    separate_parts,
)
from skilld.proposals.repositories import repo_at
from skilld.proposals.staging_result import StagingResult
from skilld.skills import opt_out
from skilld.skills.find import FILE
from skilld.skills.spec import find_faults
from skilld.types import Proposal, State, StateChange, TargetKind

# An edit that is on no branch may be anchored on lines that HEAD lacks. While the staging branch is checked out, a
# session sees the lines of open proposals, and an edit may be anchored on one that is later rejected or not merged. And
# the person may have edited the skill since a proposal was dropped or rejected that they now restore.


def refit_to_head(proposal: Proposal, tracked: TrackedFile, made_for: bytes | None = None) -> Proposal | None:
    """Return a proposal with an edit that fits HEAD's version of the skill; None if that says it already.

    Without a commit, `proposal.base` is the commit that was checked out when the edit was made, and `made_for` the text
    if that was another one. The proposal is returned unchanged if its edit fits HEAD or the person's uncommitted file,
    or has no place.
    """
    edit = Edit(proposal)
    git, head, relpath = tracked.repo.git, tracked.repo.head, tracked.relpath
    origin = f"{proposal.commit}^" if proposal.commit else proposal.base
    if not origin:
        return proposal
    names = [f"{commit}:{relpath}" for commit in (origin, head)]
    seen, current = objects.read_texts(git, names)
    seen = seen if made_for is None else made_for
    if seen is None or current is None:
        return proposal
    # A line stays right below its anchor, but a section there would take in what was added below the anchor since.
    fits, section = edit.fits(current), adds_section(proposal.operations)
    if fits and not section and (seen == current or not proposal.commit):
        return proposal
    try:
        # Prefer the proposal's own text: the person may have edited it since the commit was made.
        own = edit.fits(seen) or not proposal.commit
        after = edit(seen) if own else None
        if proposal.commit and (after is None or section):
            committed = objects.read_blob(git, proposal.commit, relpath)
            if committed is not None and (after is None or has_same_lines(after, committed)):
                after = committed
        if after is None or (fits and seen == current and after == edit(current)):
            return proposal
        if line_diff.is_change_made(current, seen, after):
            return None
        if not fits and edit.fits(read_whole(proposal.path)):
            return proposal
        return _place(proposal, edit, (seen, after, current), objects.read_common_version(git, origin, head, relpath))
    except (SkilldError, OSError):
        return proposal


def _place(proposal: Proposal, edit: Edit, texts: tuple[bytes, bytes, bytes], common: bytes | None) -> Proposal:
    """Return a proposal with an edit from the text before it, and after it, to the current one. Raises SkilldError.

    It is placed as it is, else where `common` shows, an earlier version of all, else at the end of its section.
    """
    seen, after, current = texts
    try:
        edit.refit_from(*texts, lambda: common)
    except SkilldError:
        try:
            edit.refit_loosely(*texts)
        except SkilldError:
            text = transplant(seen, after, common or b"", current)
            parts = separate_parts(seen, proposal.operations, current, text)
            return replace(proposal, operations=parts or (*operations_between(current, text.decode("utf-8-sig")),))
    return replace(proposal, operations=edit.operations, note=edit.note or proposal.note)


NEW_SKILL_PREFIX = "new skill: "  # of the summary of a proposal that creates one
# A running git releases its locks within milliseconds.
_ABANDONED_SECONDS = 10.0


@shared_git()
def stage(
    proposal: Proposal,
    open_proposals: Sequence[Proposal],
    staged: StagingResult,
    dropped: Collection[str] = (),
    *,
    alone: bool = False,
    restored: bool = False,
    of_batch: bool = False,
) -> bool:
    """Put one proposal on the staging branch on top of the `open_proposals`. Return False if it is said already.

    `dropped` are IDs of decided proposals that may still be on the branch. `alone` says that the daemon's lock is held,
    so that locks of a killed worker may be removed, `restored` that the person had taken this one off the branch;
    `of_batch` is as in `Request`. A proposal that only fits the person's uncommitted SKILL.md is made without a commit
    and waits for theirs, as does one for a branch that the person is working on. Raises SkilldError with the reason if
    it cannot be staged.

    An open one that only rewords what this one takes away ends, since the person has had the last word on that line.
    """
    overtaken = [] if restored else [one.id for one in find_overtaken(proposal, open_proposals)]
    rest = [one for one in open_proposals if one.id not in overtaken]
    known = dropped if isinstance(dropped, Mapping) else dict.fromkeys(dropped, math.inf)
    closed = {**known, **dict.fromkeys(overtaken, math.inf)}
    try:
        done = _stage(proposal, rest, staged, closed, alone=alone, restored=restored, of_batch=of_batch)
    except (RefusedError, RetryError):
        raise
    except SkilldError as error:
        if rival := find_rival(proposal, rest):
            raise RefusedError(
                TITLE, f"the open proposal {rival.id} changes the same line; decide on it first"
            ) from error
        raise
    note = f"{OVERTAKEN_PREFIX}{proposal.id} takes away what it rewords"
    staged.decisions += [StateChange(name, State.OPEN, State.SUPERSEDED, note=note) for name in overtaken if done]
    return done


def _stage(
    proposal: Proposal,
    open_proposals: Sequence[Proposal],
    staged: StagingResult,
    dropped: Collection[str],
    *,
    alone: bool,
    restored: bool,
    of_batch: bool,
) -> bool:
    open_proposals = _latest(open_proposals, staged)
    proposal = _check_proposal(proposal, (*open_proposals, *staged.made), restored=restored)
    tracked = track(Path(proposal.path), places().repositories, new=proposal.creates)
    if alone:
        refs.remove_stale_locks(tracked.repo.common_dir, _ABANDONED_SECONDS)
    repo = str(tracked.repo.address)
    proposal = replace(proposal, relpath=tracked.relpath)
    if tracked.repo.git_dir != tracked.repo.common_dir:
        staged.homes[repo] = str(tracked.repo.common_dir)
    open_proposals = _follow(open_proposals, tracked.repo, staged)
    open_here = [other for other in (*open_proposals, *staged.made) if other.repo == repo and other.commit]
    refitted = refit_to_head(proposal, tracked)
    if refitted is None:
        return False
    proposal = _added_to_file(refitted, tracked)
    edits = {other.id: Edit(other) for other in open_here}
    if why := _maker_reason(proposal, open_here) or _size_reason(proposal, tracked, open_here, staged.most_tokens):
        waits = WaitsForPerson(f"on hold: {why}")
        return _take_outcome(waits, replace(proposal, base=tracked.repo.head), repo, staged, edits)
    try:
        remark = describe_contradictions(proposal, tracked)
        outcome = propose(Request(Edit(proposal, newest=True), edits, dropped, restored, remark, of_batch))
    except StagingBusyError as busy:
        if tracked.repo.branch == STAGING_REF:  # it may be anchored on lines of other proposals there
            proposal = replace(proposal, base=tracked.repo.head)
        outcome = WaitsForPerson(f"on hold: {busy.cause}")
    if not _take_outcome(outcome, proposal, repo, staged, edits):
        return False
    _remake_stale([one for one in open_proposals if one.repo == staged.made[-1].repo], open_proposals, staged, dropped)
    return True


def _follow(open_proposals: Sequence[Proposal], repo: Repo, staged: StagingResult) -> Sequence[Proposal]:
    """Return the open proposals with those moved along whose lines or file the person moved since git was last read.

    Where they were, their edits would have no place.
    """
    here = (one for one in open_proposals if one.repo == str(repo.address) and one.commit)
    edited = [one for one in here if not one.creates]
    texts = objects.read_texts(repo.git, [f"{repo.head}:{one.relpath}" for one in edited])
    pairs = zip(edited, texts, strict=True)
    if not (lost := [one for one, text in pairs if text is None or not Edit(one).fits(text)]):
        return open_proposals
    seen = zip(lost, observe(repo.address, lost), strict=True)
    undecided = [(one, found) for one, found in seen if found.seen not in {GitStatus.LANDED, GitStatus.REVERTED}]
    staged.remade += [moved for one, found in undecided if (moved := at_path(one, found.relpath)) is not one]
    return _latest(open_proposals, staged)


def _maker_reason(proposal: Proposal, others: Sequence[Proposal]) -> str:
    """Return which open proposal creates the file that this one creates with other lines; empty if none does."""
    if not (proposal.creates and proposal.target in CREATABLE):
        return ""
    makers = (one for one in others if one.creates and one.path == proposal.path and one.id != proposal.id)
    maker = next((one for one in makers if one.operations != proposal.operations), None)
    return f"the open proposal {maker.id} creates this file; decide on it first" if maker else ""


def _added_to_file(proposal: Proposal, tracked: TrackedFile) -> Proposal:
    """Return a proposal that creates a file as one that adds to it, if HEAD has it by now. Raises SkilldError."""
    if not (proposal.creates and proposal.target in CREATABLE and tracked.repo.head):
        return proposal
    data = objects.read_blob(tracked.repo.git, tracked.repo.head, tracked.relpath)
    if not data or Edit(proposal).fits(data):
        return proposal
    from skilld.proposals.remake import remake_proposal  # as in _remake_stale

    return remake_proposal(proposal, None, data)


def _size_reason(proposal: Proposal, tracked: TrackedFile, others: Sequence[Proposal], most_tokens: int) -> str | None:
    """Return which ceiling the file would exceed with this edit and the other open ones; None if none."""
    if proposal.target is TargetKind.EVALS:  # no agent loads it
        return None
    limits = ceilings(
        (proposal.agent, *proposal.agents), is_skill=proposal.target is TargetKind.SKILL, tokens=most_tokens
    )
    data = objects.read_blob(tracked.repo.git, tracked.repo.head, tracked.relpath) if tracked.repo.head else None
    if data is None and not proposal.creates:
        return None
    before = data or b""
    for other in others:
        if other.path == proposal.path:
            with suppress(SkilldError):
                before = Edit(other)(before)
    try:
        after = Edit(proposal)(before)
    except SkilldError:
        return None
    why = excess_reason(before.decode("utf-8", "replace"), after.decode("utf-8", "replace"), limits, _count_tokens)
    return f"{why}. To find lines to cut: skilld trim" if why else None


def _count_tokens(text: str) -> int:
    return tokenizer().count(text)  # which takes half a second to load; only needed near a limit


def _take_outcome(
    outcome: ProposeOutcome, proposal: Proposal, repo: str, staged: StagingResult, edits: Mapping[str, Edit]
) -> bool:
    """Add the outcome of a proposal to `staged`. Returns as `stage` does."""
    match outcome:
        case ProposalCommit():
            staged.add_rebuild(repo, outcome.staging, edits)
            names = {name: getattr(outcome, name) for name in ("id", "repo", "relpath", "base", "commit", "branch")}
            note = proposal.note if proposal.note in {GONE_NOTE, MOVED_NOTE, REMADE_NOTE} else ""
            staged.made.append(replace(proposal, note=note, **names))
            return True
        case WaitsForPerson():
            staged.made.append(replace(proposal, repo=repo, commit="", note=outcome.reason))
            return True
        case None:
            return False


def _check_proposal(proposal: Proposal, others: Iterable[Proposal], *, restored: bool) -> Proposal:
    """Return the proposal to stage: the summary of one that creates a skill says so.

    Raises SkilldError if the specification or the project does not allow it, if it contains a secret, unless it is
    `restored`, or if another open proposal creates the file that this one edits.
    """
    if not restored:
        refuse_secrets(TITLE, proposal.operations, proposal.path)
    if not is_utf8(Path(proposal.path)):
        raise RefusedError(TITLE, "the path of its file is not valid UTF-8")  # which the store cannot hold
    if not proposal.creates:
        require_plain(Path(proposal.path))
        maker = next((other for other in others if other.creates and other.path == proposal.path), None)
        if maker is not None:
            what = "skill" if proposal.target is TargetKind.SKILL else "file"
            raise RefusedError(TITLE, f"the open proposal {maker.id} already creates that {what}; decide on it first")
        return proposal
    path, is_skill = Path(proposal.path), proposal.target is TargetKind.SKILL
    texts = [operation.text for operation in proposal.operations] if is_skill else []
    wrong = [fault for text in texts for fault in find_faults(text, path.parent.name)]
    if wrong or (is_skill and path.name != FILE):
        raise RefusedError(TITLE, "; ".join(wrong) or f"a skill's file must be called {FILE}")
    if why := opt_out(path, proposal.skill, proposal.target):
        raise RefusedError(TITLE, why)
    return (
        replace(proposal, summary=NEW_SKILL_PREFIX + proposal.summary.removeprefix(NEW_SKILL_PREFIX))
        if is_skill
        else proposal
    )


@shared_git()
def restage(
    repo: str,
    open_proposals: Sequence[Proposal],
    staged: StagingResult,
    dropped: Collection[str] = (),
    *,
    bases: Collection[str] = (),
) -> str:
    """Rebuild the staging branch of a repository from the `open_proposals`, without the `dropped` ones.

    `bases` are those of proposals that were just decided: the person's commit there may be on no other branch. Returns
    why it was left unchanged, or an empty string. Raises SkilldError if the repository cannot be used.
    """
    here = [proposal for proposal in open_proposals if proposal.repo == repo and proposal.commit]
    edits = {proposal.id: Edit(proposal) for proposal in here}
    line = rebuild(Path(repo), edits, dropped, bases)
    staged.add_rebuild(repo, line, edits)
    _remake_stale(here, open_proposals, staged, dropped)
    return line.held_reason


def _latest(proposals: Sequence[Proposal], staged: StagingResult) -> list[Proposal]:
    """Return proposals in their present form after staging, without those that have ended."""
    remade = {one.id: one for one in staged.remade}
    ended = {one.proposal for one in staged.decisions}
    return [remade.get(one.id, one) for one in proposals if one.id not in ended]


def _remake_stale(
    here: Sequence[Proposal], open_proposals: Sequence[Proposal], staged: StagingResult, dropped: Collection[str]
) -> None:
    """Remake proposals from the person's words if their edit lost its place when the branch was rebuilt."""
    stale = {one.proposal: one for one in staged.decisions if one.after is State.STALE and staged.by_code}
    for proposal in (one for one in here if one.id in stale):
        from skilld.proposals.remake import remake_proposal  # the classifier takes 0.1 s to load and is rarely needed

        mine = StagingResult(by_code=False)  # proposals that lose their place by this are not remade in turn
        try:
            fresh = remake_proposal(proposal, *original_and_current(proposal))
            others = [*_latest(open_proposals, staged), *staged.made]
            if not stage(fresh, others, mine, dropped) or not mine.made[0].commit:
                continue
        except (SkilldError, OSError):
            continue
        staged.decisions.remove(stale[proposal.id])
        staged.add_restaged(mine)


def original_and_current(proposal: Proposal) -> tuple[bytes | None, bytes | None]:
    """Return the version of the skill that a proposal's edit was made for, None if that is gone, and HEAD's version.

    Raises SkilldError if HEAD has none, unless it is a file that a proposal can create.
    """
    repo = repo_at(proposal.repo)
    relpath = proposal.relpath or Path(proposal.path).relative_to(proposal.repo).as_posix()  # none while waiting
    origin = f"{proposal.commit}^" if proposal.commit else proposal.base
    current = objects.read_blob(repo.git, repo.head, relpath)
    if current is None and proposal.target not in CREATABLE:
        raise SkilldError(TITLE, f"{relpath} is gone")
    return objects.read_blob(repo.git, origin, relpath) if origin else None, current


def unlock_refs(repo: str) -> None:
    """Remove locks that a killed worker left on our refs. Call only under the daemon's lock."""
    refs.remove_stale_locks(repo_at(repo).common_dir, _ABANDONED_SECONDS)
