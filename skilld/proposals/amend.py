"""Changes an open proposal's text, splits off parts, and puts others back on the branch.

The proposal changes in the store and on the branch before it is accepted, so that what git shows later is compared
with what the person chose.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from skilld.clock import rfc3339
from skilld.edit.derive_operations import operations_between
from skilld.edit.operations import apply
from skilld.edit.refit import refit
from skilld.edit.secrets import refuse_secrets
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.git import line_diff
from skilld.git.managed_repos import track
from skilld.git.session import shared_git
from skilld.git.state import staging_holder
from skilld.paths import places
from skilld.proposals import narrow
from skilld.proposals.decide import Decision, DecisionReport, accepting, decide, rebuild_branch, require_repo
from skilld.proposals.explain import Part, apply_only, list_parts, parts, read_versions
from skilld.proposals.model import EDITED_NOTE, at_path, is_overtaken, is_said_since, without_remark
from skilld.proposals.person_text import require_own_text, summarize_change, with_text
from skilld.proposals.remake import remake_proposal
from skilld.proposals.remarks import UNDONE, refusal_and_remedy
from skilld.proposals.repositories import repo_at
from skilld.proposals.results import new_staging_result, record_changes
from skilld.proposals.staging import original_and_current, refit_to_head, restage, stage
from skilld.proposals.staging_result import StagingResult
from skilld.proposals.worktree import renamed_here
from skilld.skills.find import FILE
from skilld.skills.spec import NAME_PATTERN, read_front
from skilld.store import Store
from skilld.store.proposals import FORGOTTEN
from skilld.types import Op, Operation, Proposal, SideEdit, State, TargetKind


@shared_git()
def stage_and_store(store: Store, proposal: Proposal, replaced: Collection[str] = ()) -> Proposal:
    """Stage a proposal that is in no store yet (mined, imported, merged, or a part of one), store it and return it.

    The open proposals that it replaces as a whole (IDs) leave the branch, since they may have changed its lines.
    The branch is written first: a run that ends between the two finds its commit again by the proposal's id. Raises
    SkilldError if it cannot be staged or is said already.
    """
    made, staged = stage_on_branch(store, proposal, replaced=replaced)
    with store.transaction():
        store.proposals.add(made)
        record_changes(store, staged.changes(), time.time())
    return made


def stage_on_branch(
    store: Store, proposal: Proposal, *, restored: bool = False, replaced: Collection[str] = ()
) -> tuple[Proposal, StagingResult]:
    """Put a proposal on the staging branch, on top of the open ones; the caller records what became of those.

    All open ones are passed on: the repository of a new skill is only known once it is staged. `restored` is as in
    `stage`.
    """
    gone = {proposal.id, *replaced}
    others = [other for other in store.proposals.in_states([State.OPEN]) if other.id not in gone]
    closed = {name: at for name, at in store.proposals.closed_ids().items() if name != proposal.id}
    closed |= dict.fromkeys(replaced, math.inf)
    staged = new_staging_result(store)
    if not stage(proposal, others, staged, closed, restored=restored):
        raise SkilldError(_NOT_PROPOSED, "the file or an open proposal already says this")
    (made,) = staged.made
    return replace(made, note=made.note or proposal.note), staged


_NOT_PROPOSED = "Not proposed"
_TITLE = "The proposal was not changed"


@shared_git()
def accept_edited(store: Store, proposal: Proposal, text: str, opened: str = "") -> DecisionReport:
    """Accept a proposal with the person's own text of the whole skill instead of the proposed one.

    `opened` is the text that they edited: without the lines of other open proposals, and the lines around this one may
    have changed since. Raises SkilldError and leaves the proposal as it was if no edit may result in that text, or
    accepting is refused.
    """
    before, after = _versions(proposal)
    if opened and opened != after.decode("utf-8", "replace"):
        text = _edit_again(proposal, opened.encode("utf-8", "replace"), text, after)
    if text == after.decode("utf-8", "replace"):
        return decide(store, proposal, accepting())
    if line_diff.signature(before, text.encode("utf-8", "replace")) == ((), ()):
        raise SkilldError(f"{proposal.id} was not accepted", "your text contains nothing from it; it stays open")
    narrowed = narrow.narrow_to_text(proposal, before, after, text.encode("utf-8", "replace"))
    changed = _renamed(store, replace(with_text(narrowed, before, text), note=EDITED_NOTE), text)
    refuse_secrets(f"{proposal.id} was not accepted", changed.operations, proposal.path)
    return _decide_on_changed(store, proposal, changed, accepting())


def _edit_again(proposal: Proposal, opened: bytes, text: str, after: bytes) -> str:
    """Return `after` with what the person changed in the text that they opened. Raises SkilldError."""
    try:
        steps = operations_between(opened, text)
        try:
            return apply(after, steps).decode("utf-8", "replace")
        except SkilldError:  # it is anchored on two lines that have another proposal's between them
            return _line_by_line(opened, apply(opened, steps), after).decode("utf-8", "replace")
    except SkilldError as error:
        raise type(error)(f"{proposal.id} was not accepted", error.cause, error.remedy) from error


def _line_by_line(opened: bytes, edited: bytes, after: bytes) -> bytes:
    """Return `after` with an edit, each line by itself if lines were only reworded; others may stand between them."""
    old, new = opened.splitlines(keepends=True), edited.splitlines(keepends=True)
    changed = [at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]]
    if len(old) != len(new):
        return apply(after, refit(opened, edited, after))
    for at in changed:
        one = [*old[:at], new[at], *old[at + 1 :]]
        after = apply(after, refit(b"".join(old), b"".join(one), after))
        old = one
    return after


def _renamed(store: Store, proposal: Proposal, text: str) -> Proposal:
    """Return the proposal of a new skill with the name in `text`, which is also its folder's name.

    Raises SkilldError if a skill or an open proposal has that name.
    """
    path, name = Path(proposal.path), read_front(text).name
    skill = proposal.creates and proposal.target is TargetKind.SKILL and path.name == FILE
    if not skill or name == path.parent.name or not NAME_PATTERN.fullmatch(name):
        return proposal
    new = path.parents[1] / name / path.name
    if new.parent.exists() or any(one.path == str(new) for one in store.proposals.in_states([State.OPEN])):
        raise SkilldError(
            f"{proposal.id} was not accepted", f"there is already a skill called {name}", "Choose another name."
        )
    relpath = (PurePosixPath(proposal.relpath).parents[1] / name / path.name).as_posix()
    return replace(proposal, skill=name, path=str(new), relpath=relpath)


@shared_git()
def decide_parts(store: Store, proposal: Proposal, chosen: Collection[int], decision: Decision) -> DecisionReport:
    """Decide on the parts of a proposal with these numbers (from 0); the others stay open as a new proposal.

    Raises SkilldError and leaves the proposal as it was if the parts cannot be told apart or the decision is refused.
    """
    numbers = set(range(len(list_parts(proposal))))
    if numbers and numbers <= set(chosen):
        return decide(store, proposal, decision)
    before, after = _versions(proposal)
    require_own_text(proposal, before, after)
    selected = _select(proposal, before, chosen)
    name = hashlib.sha256(f"{proposal.id}\nwithout {sorted(chosen)}".encode()).hexdigest()[:8]
    rest = replace(_select(proposal, before, numbers - set(chosen)), id=name, commit="", note="")
    # By then the accepted parts are in the file, and the rest goes next to them, where it was shown.
    steps = _steps_of(parts(before, proposal.operations, proposal.updates), chosen)
    there = steps if decision.after is State.ACCEPTED else set[int]()
    if there:
        rest = replace(rest, also=_without_made(rest.also, selected.also))
    left = set(range(len(proposal.operations))) - steps
    rest = replace(rest, operations=_separate_operations(before, proposal.operations, there, left))
    report = _decide_on_changed(store, proposal, selected, decision)
    try:
        tracked = track(Path(rest.path), places().repositories)
        rest = refit_to_head(rest, tracked, apply_only(before, proposal.operations, there)) or rest
        made = stage_and_store(store, rest)
        rebuild_branch(store, made.repo)
    except SkilldError as error:
        if error.title == _NOT_PROPOSED:
            return DecisionReport(
                report.lines, (*report.warnings, f"the other parts were not kept open: {error.cause}")
            )
        store.proposals.add(replace(rest, repo=proposal.repo, note=f"on hold: {error.cause}"))
        return DecisionReport(
            report.lines, (*report.warnings, f"the other parts are on hold as {rest.id}: {error.cause}")
        )
    return DecisionReport((*report.lines, f"{made.id} is open: {made.summary}"), report.warnings)


def _without_made(also: Sequence[SideEdit], made: Sequence[SideEdit]) -> tuple[SideEdit, ...]:
    """Return changes to other files without those that were made."""
    done = {(one.path, step) for one in made for step in one.operations}
    edits = ((one, tuple(step for step in one.operations if (one.path, step) not in done)) for one in also)
    return tuple(replace(one, operations=left) for one, left in edits if left)


@shared_git()
def reopen(store: Store, proposal: Proposal, *, who: str = "command") -> DecisionReport:
    """Put a rejected proposal back: open, and on the staging branch again. Raises SkilldError if it cannot be."""
    if proposal.state is not State.REJECTED:
        raise SkilldError(f"{proposal.id} was not reopened", f"it is {proposal.state.value}")
    made, staged = proposal, new_staging_result(store)
    if proposal.commit:
        made, staged = stage_on_branch(store, replace(proposal, state=State.OPEN), restored=True)
    record_open(store, proposal, made, staged, UNDONE, who=who)
    return DecisionReport((f"{proposal.id} is open again: {proposal.summary}",))


@shared_git()
def restore(store: Store, proposal: Proposal) -> DecisionReport:
    """Put a rejected, dropped or stale proposal back on the staging branch; propose one that counted as said.

    Raises SkilldError and changes nothing if that is impossible.
    """
    title = f"{proposal.id} was not restored"
    if proposal.state is State.OPEN:
        return DecisionReport((f"{proposal.id} is already open: {proposal.summary}",))
    if proposal.state is State.SAID:
        return _propose_although_said(store, proposal)
    if proposal.summary == FORGOTTEN:
        raise SkilldError(title, "its words were forgotten, as you asked", "Say it again in a session.")
    by_hand = f"To see its text and add it by hand: skilld show {proposal.id}"
    closed = proposal.state in {State.REJECTED, State.DROPPED, State.STALE}
    if not closed and not is_said_since(proposal) and not is_overtaken(proposal):
        raise SkilldError(title, *refusal_and_remedy(store, proposal, "restore", (State.REJECTED, State.DROPPED)))
    require_repo(proposal, State.OPEN)
    try:
        if proposal.state is State.REJECTED:
            return reopen(store, proposal)
        made, staged = _stage_again(store, proposal)
    except SkilldError as error:
        kind = next(one for one in (RefusedError, RetryError, SkilldError) if isinstance(error, one))
        raise kind(title, error.cause, error.remedy or by_hand) from error
    if not made.commit:
        raise RefusedError(title, made.note, f"Resolve that, then: skilld restore {proposal.id}")
    record_open(store, proposal, made, staged, "restored")
    return DecisionReport((f"{proposal.id} is back on {made.branch}: {proposal.summary}",))


def record_open(
    store: Store,
    was: Proposal,
    made: Proposal,
    staged: StagingResult,
    why: str,
    *,
    who: str = "command",
    commit: str = "",
) -> None:
    """Store that a decided proposal, as it `was`, is open again as `made`; `commit` took it out of its file."""
    with store.transaction():
        store.proposals.decide(was, State.OPEN, rfc3339(time.time()), who=who, why=why, commit=commit)
        store.proposals.set_place(made, others=False)
        store.proposals.save_edit(made)
        record_changes(store, staged.changes(), time.time())


def _stage_again(store: Store, proposal: Proposal) -> tuple[Proposal, StagingResult]:
    """Put a dropped or stale proposal on the branch, for the present path of its file, if need be with a new edit."""
    note = "" if proposal.state in {State.STALE, State.SUPERSEDED} else without_remark(proposal).note
    proposal = replace(proposal, state=State.OPEN, note=note)
    if not os.path.lexists(proposal.path):
        repo = repo_at(proposal.repo)
        proposal = at_path(proposal, renamed_here(repo, proposal, proposal.commit))
    try:
        return stage_on_branch(store, proposal, restored=True)
    except SkilldError:
        with suppress(SkilldError):
            fresh = remake_proposal(proposal, *original_and_current(proposal))
            return stage_on_branch(store, fresh, restored=True)
        raise


def _propose_although_said(store: Store, proposal: Proposal) -> DecisionReport:
    """Propose something that counted as said already, since the person says that no line says it."""
    try:
        found = Path(proposal.path).read_bytes()
    except OSError as error:
        raise SkilldError(_NOT_PROPOSED, f"{proposal.path} cannot be read: {error.strerror}") from error
    made, staged = stage_on_branch(store, replace(remake_proposal(proposal, None, found), note=""))
    record_open(store, replace(proposal, note=""), made, staged, "not said")
    return DecisionReport((f"{proposal.id} is proposed: {proposal.summary}",))


def _decide_on_changed(store: Store, proposal: Proposal, changed: Proposal, decision: Decision) -> DecisionReport:
    """Replace a proposal by `changed` and decide on it; put the proposal back if that is refused."""
    _replace(store, proposal, changed)
    try:
        return decide(store, store.proposals.get(proposal.id) or changed, decision)
    except SkilldError:
        _replace(store, changed, proposal)
        raise


def _versions(proposal: Proposal) -> tuple[bytes, bytes]:
    found = read_versions(proposal)
    if found is None or not proposal.commit:
        raise RefusedError(_TITLE, proposal.note or "its file can no longer be read")
    return found


@shared_git()
def select_parts(proposal: Proposal, chosen: Collection[int]) -> Proposal:
    """Return the proposal with only the parts of these numbers (from 0) and what justifies them.

    Raises SkilldError if the parts cannot be told apart.
    """
    before, after = _versions(proposal)
    require_own_text(proposal, before, after)
    return _select(proposal, before, chosen)


def _select(proposal: Proposal, before: bytes, chosen: Collection[int]) -> Proposal:
    if not chosen:
        raise SkilldError(_TITLE, "no part was selected")
    pieces = parts(before, proposal.operations, proposal.updates)
    steps = _steps_of(pieces, chosen)
    if all(proposal.operations[number].op is Op.MARK for number in steps):
        cause = "this part only records where the other parts came from, so it cannot be accepted without them"
        raise SkilldError(_TITLE, cause, "Select it together with another part.")
    text = apply_only(before, proposal.operations, steps).decode("utf-8-sig", "replace")
    part = with_text(narrow.narrow_to_parts(proposal, pieces, chosen), before, text)
    taken = [pieces[number] for number in sorted(chosen)]
    if not all(one.added for one in taken):
        part = replace(part, summary=summarize_change(*((one.removed, one.added) for one in taken)))
    made = part.operations if part.creates else _separate_operations(before, proposal.operations, (), steps)
    return replace(part, note="", operations=made)


def _steps_of(pieces: Sequence[Part], chosen: Collection[int]) -> set[int]:
    """Return the numbers of the operations of the chosen parts."""
    return {step for number in chosen for step in pieces[number].numbers}


def _separate_operations(
    before: bytes, operations: Sequence[Operation], there: Collection[int], more: Collection[int]
) -> tuple[Operation, ...]:
    """Return one operation for each number in `more`, for a text that already has the operations of `there`.

    Made together, adjacent ones would become a single operation, and the parts could no longer be told apart.
    """
    made: list[Operation] = []
    present = set(there)
    for number in sorted(more):
        text = apply_only(before, operations, present)
        present.add(number)
        made += operations_between(text, apply_only(before, operations, present).decode("utf-8-sig", "replace"))
    return tuple(made)


def _replace(store: Store, proposal: Proposal, changed: Proposal) -> None:
    """Take an open proposal off the staging branch and put it there with other operations."""
    others = [other for other in store.proposals.in_states([State.OPEN], proposal.repo) if other.id != proposal.id]
    staged = new_staging_result(store)
    held = restage(proposal.repo, others, staged, store.proposals.closed_ids() | {proposal.id: math.inf})
    with store.transaction():
        record_changes(store, staged.changes(), time.time())
    if held:
        remedy = f"Switch to another branch there, then try again; to accept all of it: skilld accept {proposal.id}"
        busy = staging_holder(repo_at(proposal.repo).common_dir)
        raise RefusedError(_TITLE, held, remedy if busy else f"To accept all of it: skilld accept {proposal.id}")
    try:
        _restore(store, changed)
    except SkilldError:
        _restore(store, proposal)
        raise


def _restore(store: Store, proposal: Proposal) -> None:
    """Put a proposal back on the staging branch and store its new state."""
    made, staged = stage_on_branch(store, proposal, restored=True)
    with store.transaction():
        store.proposals.save_edit(made)
        store.proposals.set_evidence(made)
        record_changes(store, staged.changes(), time.time())
