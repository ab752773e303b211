"""Accepts, rejects or reverts one proposal: first in git, then in the store, then by rebuilding the staging branch.

The outcome is sentences for the person; the caller escapes them for a terminal.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from skilld.clock import rfc3339
from skilld.errors import RefusedError, SkilldError
from skilld.files import shell_command, shell_quoted
from skilld.git.line_diff import ChangeNotFoundError
from skilld.git.repo import Repo
from skilld.git.session import shared_git
from skilld.proposals.cherry_pick import REWORDED, accept_worktree, revert_worktree
from skilld.proposals.cherry_pick import accept as land
from skilld.proposals.cherry_pick import revert as take_out
from skilld.proposals.current_work_tree import taken_here
from skilld.proposals.explain import find_way_back, read_versions, with_landing_commit
from skilld.proposals.model import (
    ACCEPTED_NOTE,
    PUT_AWAY,
    WRITTEN_NOTE,
    CommitMethod,
    DecisionCommit,
    is_only_written,
    is_put_away,
    top_folder,
    without_remark,
)
from skilld.proposals.overtaken import find_said, takes_lines_of
from skilld.proposals.person_text import ALSO_CHANGES
from skilld.proposals.poll import refresh
from skilld.proposals.refit import Edit
from skilld.proposals.remainder import describe_remainder
from skilld.proposals.remarks import (
    UNDO_VERBS,
    is_back,
    open_linked,
    predecessor,
    refusal_and_remedy,
    remake_status,
)
from skilld.proposals.repositories import is_private, repo_at
from skilld.proposals.results import new_staging_result, record_changes
from skilld.proposals.rewritten import is_rewritten_here
from skilld.proposals.staging import restage
from skilld.proposals.whereabouts import is_gone_from_file
from skilld.store import Store
from skilld.store.proposals import OTHER_MACHINE, UNWANTED_STATES
from skilld.types import Proposal, State
from skilld.values import value_class

_UNDECIDED = frozenset({State.OPEN, State.DROPPED, State.STALE})
_ACCEPTABLE = frozenset({State.OPEN, State.DROPPED, State.REJECTED, State.REVERTED, State.STALE})


@value_class
class DecisionReport:
    """The outcome of a decision: sentences, and warnings about what was not done."""

    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def with_undo_key(self, key: str) -> DecisionReport:
        """Return the report with a key to press in place of the command that undoes the decision."""
        undo = f"To undo it: {key}"
        return replace(self, lines=tuple(_UNDO_PATTERN.sub(lambda _: undo, line) for line in self.lines))


@value_class
class Decision:
    """A decision: the states that allow it, the state it leads to, how it is carried out, and the person's reason.

    `by_person` says that it only holds once the person has committed what it changes in the file.
    """

    allowed: frozenset[State]
    after: State
    carry_out: Callable[[Proposal], DecisionCommit | None]
    why: str = ""
    by_person: bool = False


def accepting(*, worktree: bool = False) -> Decision:
    """Return the decision to commit a proposal on the checked-out branch, or only write it to the file."""

    def carry_out(proposal: Proposal) -> DecisionCommit | None:
        edit = Edit(proposal)
        if worktree:
            found = read_versions(proposal) if proposal.commit else None
            accept_worktree(proposal, partial(edit.refit_exactly, *found) if found is not None else edit)
            return None
        if not proposal.commit:
            raise RefusedError(
                f"{proposal.id} was not accepted",
                proposal.note,
                f"To write the file without committing: skilld accept --worktree {proposal.id}",
            )
        return land(edit)

    return Decision(_ACCEPTABLE, State.ACCEPTED, carry_out)


def rejecting(why: str = "") -> Decision:
    """Return the decision to drop a proposal."""
    return Decision(frozenset({State.OPEN, State.DROPPED, State.STALE}), State.REJECTED, lambda _: None, why)


def reverting(why: str = "", *, worktree: bool = False) -> Decision:
    """Return the decision to take an accepted proposal out again, from its file alone if it was only written there.

    With `worktree`, from the file alone in any case.
    """

    def carry_out(proposal: Proposal) -> DecisionCommit | None:
        if is_only_written(proposal):
            revert_worktree(proposal)
            return None
        return take_out(proposal)

    return Decision(frozenset({State.ACCEPTED}), State.REVERTED, carry_out, why, by_person=worktree)


@shared_git()
def decide(store: Store, proposal: Proposal, decision: Decision) -> DecisionReport:
    """Carry out a decision, store it and rebuild the staging branch.

    It is accepted in the work tree of the current folder, if that is one of its repository. Raises SkilldError, and
    leaves the proposal and the person's work as they were, if that is impossible.
    """
    if decision.by_person and _is_committed(proposal):
        require_repo(proposal, decision.after)
        revert_worktree(with_landing_commit(proposal))
        done = f"{proposal.id} is no longer in {proposal.path}; it is reverted once you commit that"
        return DecisionReport((f"{done}. To put it back: skilld accept --worktree {proposal.id}",))
    if decision.after is not State.ACCEPTED:
        return decide_in_place(store, proposal, decision)
    with taken_here(store, proposal) as here:
        report = decide_in_place(store, here, decision)
    if here.repo == proposal.repo:
        return report
    others = _report_and_rebuild(store, proposal)  # of the work tree that it came from
    return DecisionReport((*report.lines, *others.lines), (*report.warnings, *others.warnings))


def _is_committed(proposal: Proposal) -> bool:
    """Whether an accepted proposal is in a commit of a repository in which the person commits."""
    accepted = proposal.state is State.ACCEPTED
    return accepted and not is_only_written(proposal) and not is_private(proposal.repo)


def decide_in_place(store: Store, proposal: Proposal, decision: Decision) -> DecisionReport:
    """Do what `decide` does, in the proposal's own work tree."""
    after = decision.after
    if proposal.state is after and not _is_outstanding(store, proposal):
        also = describe_remainder(store, proposal)
        return _report_and_rebuild(store, proposal, f"{proposal.id} was already {after.value}{also and '; '}{also}.")
    returns = after is State.ACCEPTED and is_back(store, proposal)
    if proposal.state not in {*decision.allowed, after} and not returns:
        why = refusal_and_remedy(store, proposal, after.value.removesuffix("ed"), decision.allowed)
        raise SkilldError(f"{proposal.id} was not {after.value}", *why)
    if after in {State.ACCEPTED, State.REVERTED}:
        require_repo(proposal, after)
    try:
        landed = decision.carry_out(proposal)
    except SkilldError as error:
        # The person may have edited the skill since the branch was made: rebuild it, which refits the edit.
        fresh = _rebuilt_proposal(store, proposal)
        if fresh is not None:
            return decide_in_place(store, fresh, decision)
        if after is State.REVERTED and (later := _find_rewording(store, proposal, error)):
            first = f"{later.id}, which you accepted later, changed that line. First: skilld revert {later.id}"
            raise RefusedError(error.title, error.cause, f"{first}, then: skilld revert {proposal.id}") from error
        remake = remake_status(store, proposal) if proposal.state is State.STALE else ""
        if not (remake and isinstance(error, RefusedError)):
            raise
        remedy = f"Wait until it is open again, or edit the file yourself; to see the change: skilld show {proposal.id}"
        raise RefusedError(error.title, f"{error.cause}; {remake}", remedy) from error
    rejected = _note_earlier_rejection(store, proposal, after)
    with store.transaction():
        now = rfc3339(time.time())
        note = WRITTEN_NOTE if after is State.ACCEPTED and landed is None else ""
        store.proposals.decide(
            replace(proposal, note="") if returns else without_remark(proposal),
            after,
            now,
            who="command",
            why=decision.why,
            commit=landed.commit if landed else "",
            note=note,
        )
        same = _close_same(store, proposal, now) if after is State.ACCEPTED else []
    lines = f"{proposal.id} {after.value}: {proposal.summary}", _describe_outcome(proposal, after, landed)
    report = _report_and_rebuild(store, proposal, *filter(None, lines))
    waits = tuple(
        f"{other.id}, which is linked to it and changes {other.path}, is still open"
        for other in open_linked(store, proposal)
    )
    old = predecessor(store, proposal) if after in UNWANTED_STATES else None
    instead = (f"To accept it for {old.skill} instead: skilld accept {old.id}",) if old else ()
    return DecisionReport((*rejected, *report.lines, *instead, *same, *waits), report.warnings)


def _close_same(store: Store, accepted: Proposal, at: str) -> list[str]:
    """Close the open proposals that say the same as one which was accepted `at`, and return lines about them."""
    why = f"{accepted.id}{ACCEPTED_NOTE}"
    same = find_said(accepted, store.proposals.in_states([State.OPEN]))
    for one in same:
        store.proposals.decide(one, State.SUPERSEDED, at, who="command", note=why)
    return [f"{one.id} was closed: {why}. To propose it anyway: skilld restore {one.id}" for one in same]


def _find_rewording(store: Store, proposal: Proposal, error: SkilldError) -> Proposal | None:
    """Return the newest accepted proposal that changed a line of one which cannot be taken out as it was accepted."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, ChangeNotFoundError):
        found = found.__cause__
    if found is None and error.cause != REWORDED:
        return None
    others = (one for one in store.proposals.in_states([State.ACCEPTED]) if takes_lines_of(one, proposal))
    return max(others, key=lambda one: one.decided_at, default=None)


def require_repo(proposal: Proposal, after: State) -> None:
    """Raise RefusedError if a proposal cannot be decided on because its folder was moved or deleted.

    Also if its skill was archived or deleted with skilld, which knows the way back.
    """
    gone, back = is_repo_gone_now(proposal), find_way_back(proposal)
    if not gone and not back:
        return
    verb = {State.ACCEPTED: "accept", State.REVERTED: "revert"}.get(after, "restore")
    title, missing = f"{proposal.id} was not {verb.removesuffix('e')}ed", proposal.repo if gone else proposal.path
    discard = f". To discard it: skilld reject {proposal.id}" if proposal.state in _UNDECIDED else ""
    first = back or "Move it back there"
    raise RefusedError(title, f"{missing} does not exist", f"{first}, then: skilld {verb} {proposal.id}{discard}")


def is_repo_gone_now(proposal: Proposal) -> bool:
    """Whether the folder of a proposal's repository does not exist: it was moved, deleted or is not mounted."""
    return bool(proposal.repo) and not Path(proposal.repo).exists()


def _note_earlier_rejection(store: Store, proposal: Proposal, after: State) -> list[str]:
    """Return a line if the person had rejected what they accept now: the ID may be that of a rejected part."""
    if proposal.state is not State.REJECTED or after is not State.ACCEPTED:
        return []
    why, also = store.proposals.decision_reason(proposal.id), describe_remainder(store, proposal)
    because = f" ({why})" if why else ""
    return [f"You had rejected {proposal.id}{because}; accepting it now{also and '; '}{also}."]


def _rebuilt_proposal(store: Store, proposal: Proposal) -> Proposal | None:
    """Rebuild the branch and return an open proposal as it is then; None if it did not change.

    One that waits, such as for the file that another one creates, may have a commit then.
    """
    if proposal.state is not State.OPEN or not proposal.repo:
        return None
    if proposal.commit:
        rebuild_branch(store, proposal.repo)
    else:
        refresh(store)
    fresh = store.proposals.get(proposal.id)
    return fresh if fresh != proposal else None


def _describe_outcome(proposal: Proposal, after: State, landed: DecisionCommit | None) -> str:
    """Return which commit carried out a decision, on which branch, and how to undo it; empty if it only moved."""
    if after is State.SUPERSEDED:
        return ""
    back = f"To undo it: skilld {UNDO_VERBS[after]} {proposal.id}"
    if after is State.REJECTED:
        return back
    if landed is None and after is State.ACCEPTED:
        return f"Written to {proposal.path}, not committed. {back}"
    if landed is None:
        left = f", but still {proposal.note.partition(PUT_AWAY)[2]}" if is_put_away(proposal) else ""
        return f"No longer in {proposal.path}{left}. {back}"
    if landed.method is CommitMethod.NOTHING:
        says = "already says" if after is State.ACCEPTED else "no longer says"
        return f"No commit was needed: {proposal.relpath} {says} this. {back}"
    if is_private(proposal.repo):
        return f"{_describe_private(proposal, after, landed)}. {back}"
    repo = repo_at(proposal.repo)
    branch = (repo.branch or "").removeprefix("refs/heads/")
    where = f"{f' on {branch}' if branch else ''}{_describe_place(proposal)}"
    more = _describe_further(proposal) if after is State.ACCEPTED else ""
    done = f"Commit {landed.commit[:10]}{where}{more}. {back}"
    return f"{done}{_describe_superproject(repo)}"


def _describe_further(proposal: Proposal) -> str:
    """Return which other files a proposal's commit changes, since the person amended it; empty if none."""
    found = (one.removeprefix(ALSO_CHANGES) for one in proposal.flags if one.startswith(ALSO_CHANGES))
    return next((f", including its changes to {names}, which a revert would not undo" for names in found), "")


def _describe_superproject(repo: Repo) -> str:
    """Return how to record a submodule's new commit in the repository that it is a part of; empty if it is in none."""
    if (above := repo.superproject) is None:
        return ""
    part = repo.toplevel.relative_to(above).as_posix()
    command = shell_command(["git", "-C", str(above), "commit", "-m", f"Update {part}", "--", part])
    return f"\nTo record it in the repository that contains this submodule: {command}"


def _describe_place(proposal: Proposal) -> str:
    """Return where a decision was carried out, unless it is the repository of the current folder."""
    top = top_folder(proposal)
    try:
        return "" if Path.cwd().is_relative_to(top) else f" in {top}"
    except FileNotFoundError:
        return f" in {top}"


def _describe_private(proposal: Proposal, after: State, landed: DecisionCommit) -> str:
    """Return what was done to a file that git does not track for the person, and where its history is."""
    top, path = top_folder(proposal), Path(proposal.path)
    done = "Written to" if after is State.ACCEPTED else "Removed from" if path.exists() else "Removed the new file"
    commit = f"commit {landed.commit[:10]} in the repository that skilld keeps for {top}"
    return f"{done} {path} ({commit}; to see it: skilld git --root {shell_quoted(top)} log)"


_UNDO_PATTERN = re.compile(r"To undo it: skilld (?:revert|restore) \S+")


def _report_and_rebuild(store: Store, proposal: Proposal, *lines: str) -> DecisionReport:
    if not proposal.repo or is_repo_gone_now(proposal):
        return DecisionReport(lines)
    then = rebuild_branch(store, proposal.repo, [proposal.base], decided=proposal.id)
    return DecisionReport((*lines, *then.lines), then.warnings)


def _is_outstanding(store: Store, proposal: Proposal) -> bool:
    """Whether a decision that was already made is not, or no longer, carried out in this machine's file."""
    if proposal.state is State.ACCEPTED:
        return is_gone(proposal)
    elsewhere = proposal.state is State.REVERTED and store.proposals.decided_by(proposal.id) == OTHER_MACHINE
    return elsewhere and bool(proposal.landed) and not is_gone(proposal)


def is_gone(proposal: Proposal) -> bool:
    """Whether nothing of an accepted proposal is in the file: the branch was reset, or the file restored."""
    found = read_versions(proposal)
    return found is not None and is_gone_from_file(proposal, *found) and not is_rewritten_here(proposal)


def rebuild_branch(store: Store, repo: str, bases: Collection[str] = (), decided: str = "") -> DecisionReport:
    """Rebuild the staging branch of a repository from the proposals that are still open; `bases` as in `restage`.

    The commit of a proposal `decided` just now goes whatever its date: the clock may have been set back since.
    """
    staged, still_open = new_staging_result(store), store.proposals.in_states([State.OPEN], repo)
    closed = store.proposals.closed_ids()
    closed |= {decided: math.inf} if decided in closed else {}
    try:
        held = restage(repo, still_open, staged, closed, bases=bases)
    except SkilldError as error:
        warning = f"the staging branch was not updated: {error}"
        return DecisionReport(warnings=(f"{warning}. {error.remedy}" if error.remedy else warning,))
    with store.transaction():
        record_changes(store, staged.changes(), time.time())
    lines = [f"{one.proposal} is now {one.after}: {one.note}" for one in staged.decisions]
    return DecisionReport((*lines, *([f"The staging branch was not updated: {held}"] if held else [])))
