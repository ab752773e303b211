"""Changes an open proposal's text, splits off parts, and puts rejected or dropped ones back on the branch.

The proposal itself changes, in the store and on the branch, before it is accepted: what git shows of it later is then
judged against what the person chose.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from skilld.clock import rfc3339
from skilld.edit.from_file import operations_between
from skilld.edit.operations import apply, created
from skilld.errors import RefusedError, SkilldError
from skilld.git import line_diff
from skilld.git.run import one_command
from skilld.proposals import remainder
from skilld.proposals.decide import Decision, DecisionReport, accepting, decide, rebuild_branch
from skilld.proposals.explain import only, parts, versions
from skilld.proposals.model import without_remark
from skilld.proposals.observe import EDITED
from skilld.proposals.remarks import instead
from skilld.proposals.results import follow, staging_for
from skilld.proposals.staging import restage, stage
from skilld.proposals.staging_result import StagingResult
from skilld.store import Store
from skilld.text import cut, fold, sentences
from skilld.types import Op, Operation, Proposal, State, TargetKind

# A proposal that is in no store yet, put on the branch and kept: mined, imported, merged, or a part of one. The branch
# is written first: a run that ends between the two finds its commit again by the proposal's id.


@one_command()
def put(store: Store, proposal: Proposal) -> Proposal:
    """Stage a proposal, keep it, and return it as it stands now.

    Raises SkilldError if it cannot be, or is said already.
    """
    made, staged = staged_on(store, proposal)
    with store.transaction():
        store.proposals.add(made)
        follow(store, staged.changes(), time.time())
    return made


def staged_on(store: Store, proposal: Proposal, *, restored: bool = False) -> tuple[Proposal, StagingResult]:
    """Put a proposal on the staging branch, on top of the open ones; what became of those is for the store to follow.

    All open ones are given, since which repository a new skill is in is only known when it is staged. `restored` is as
    in `stage`.
    """
    others = [other for other in store.proposals.in_states([State.OPEN]) if other.id != proposal.id]
    closed = [name for name in store.proposals.closed_ids() if name != proposal.id]
    staged = staging_for(store)
    if not stage(proposal, others, staged, closed, restored=restored):
        raise SkilldError(_SAID_ALREADY, "the file or an open proposal already says this")
    (made,) = staged.made
    return replace(made, note=made.note or proposal.note), staged


_SAID_ALREADY = "Not proposed"
_TITLE = "The proposal was not changed"
_SUMMARY = 300


@one_command()
def accept_edited(
    store: Store, proposal: Proposal, text: str, removed: Mapping[str, str], opened: str = ""
) -> DecisionReport:
    """Accept a proposal with the person's own text of the whole skill in place of what was proposed.

    They made it of the text that they `opened`: what is around the proposal may be another by now. Raises SkilldError,
    with the proposal as it was, where the text is none an edit may come to or accepting is refused.
    """
    before, after = _versions(proposal)
    if opened and opened != after.decode("utf-8", "replace"):
        text = apply(after, operations_between(opened.encode("utf-8", "replace"), text)).decode("utf-8", "replace")
    if text == after.decode("utf-8", "replace"):
        return decide(store, proposal, accepting(removed))
    if line_diff.signature(before, text.encode("utf-8", "replace")) == ((), ()):
        raise SkilldError(f"{proposal.id} was not accepted", "nothing of it is left in your text; it stays open")
    narrowed = remainder.with_text(proposal, before, after, text.encode("utf-8", "replace"))
    changed = replace(_as_edited(narrowed, before, text), note=EDITED)
    return _decide_instead(store, proposal, changed, accepting(removed))


def accept_parts(
    store: Store, proposal: Proposal, chosen: Collection[int], removed: Mapping[str, str]
) -> DecisionReport:
    """Accept the operations of a proposal with these numbers (from 0), as `decide_parts` does."""
    return decide_parts(store, proposal, chosen, accepting(removed))


@one_command()
def decide_parts(store: Store, proposal: Proposal, chosen: Collection[int], decision: Decision) -> DecisionReport:
    """Decide on the operations of a proposal with these numbers (from 0); the others stay open as one of their own.

    Raises SkilldError, with the proposal as it was, where the parts cannot be told apart or the decision is refused.
    """
    numbers = set(range(len(proposal.operations)))
    if numbers <= set(chosen):
        return decide(store, proposal, decision)
    before, _ = _versions(proposal)
    taken = _part(proposal, before, chosen)
    name = hashlib.sha256(f"{proposal.id}\nwithout {sorted(chosen)}".encode()).hexdigest()[:8]
    rest = replace(_part(proposal, before, numbers - set(chosen)), id=name, commit="", note="", also=())
    # What is accepted is in the file by then, and the rest goes where it was shown: beside it.
    there = set(chosen) if decision.after is State.ACCEPTED else set[int]()
    rest = replace(rest, operations=_one_by_one(before, proposal.operations, there, numbers - set(chosen)))
    told = _decide_instead(store, proposal, taken, decision)
    try:
        rebuild_branch(store, put(store, rest).repo)
    except SkilldError as error:
        if error.title == _SAID_ALREADY:
            return DecisionReport(told.lines, (*told.warnings, f"the other parts were not kept open: {error.cause}"))
        store.proposals.add(replace(rest, repo=proposal.repo, note=f"on hold: {error.cause}"))
        return DecisionReport(told.lines, (*told.warnings, f"the other parts are on hold as {rest.id}: {error.cause}"))
    return DecisionReport((*told.lines, f"{rest.id} is open: {rest.summary}"), told.warnings)


@one_command()
def reopen(store: Store, proposal: Proposal, *, who: str = "command") -> DecisionReport:
    """Put a rejected proposal back: open, and on the staging branch again. Raises SkilldError if it cannot be."""
    if proposal.state is not State.REJECTED:
        raise SkilldError(f"{proposal.id} was not reopened", f"it is {proposal.state.value}")
    if proposal.commit:
        _restore(store, replace(proposal, state=State.OPEN))
    current = store.proposals.get(proposal.id) or proposal
    with store.transaction():
        store.proposals.decide(current, State.OPEN, rfc3339(time.time()), who=who, why="undone")
    return DecisionReport((f"{proposal.id} is open again: {proposal.summary}",))


@one_command()
def restore(store: Store, proposal: Proposal) -> DecisionReport:
    """Put a proposal that was rejected, or dropped from the staging branch, back on it, open again.

    Raises SkilldError, with everything as it was, where that cannot be.
    """
    title = f"{proposal.id} was not restored"
    if proposal.state is State.OPEN:
        return DecisionReport((f"{proposal.id} is already open: {proposal.summary}",))
    by_hand = f"To see its text and add it by hand: skilld show {proposal.id}"
    if proposal.state is State.REJECTED:
        try:
            return reopen(store, proposal)
        except SkilldError as error:
            raise type(error)(title, error.cause, error.remedy or by_hand) from error
    if proposal.state is not State.DROPPED:
        cause, remedy = instead(store, proposal, "restore", (State.REJECTED, State.DROPPED))
        if proposal.state in {State.REVERTED, State.STALE}:
            remedy = f"To accept it after all: skilld accept {proposal.id}"
        raise SkilldError(title, cause, remedy)
    made, staged = staged_on(store, replace(without_remark(proposal), state=State.OPEN), restored=True)
    if not made.commit:
        raise RefusedError(title, made.note, f"Resolve that, then: skilld restore {proposal.id}")
    with store.transaction():
        store.proposals.decide(proposal, State.OPEN, rfc3339(time.time()), who="command", why="restored")
        store.proposals.save_edit(made)
        follow(store, staged.changes(), time.time())
    return DecisionReport((f"{proposal.id} is back on {made.branch}: {proposal.summary}",))


def _decide_instead(store: Store, proposal: Proposal, changed: Proposal, decision: Decision) -> DecisionReport:
    """Put `changed` in the place of a proposal and decide on it; put the proposal back where that is refused."""
    _replace(store, proposal, changed)
    try:
        return decide(store, store.proposals.get(proposal.id) or changed, decision)
    except SkilldError:
        _replace(store, changed, proposal)
        raise


def _versions(proposal: Proposal) -> tuple[bytes, bytes]:
    found = versions(proposal)
    if found is None or not proposal.commit:
        raise RefusedError(_TITLE, proposal.note or "its file can no longer be read")
    return found


def _as_edited(proposal: Proposal, before: bytes, text: str) -> Proposal:
    if proposal.creates:
        anchor = proposal.operations[0].anchor  # empty for a skill, which alone has a form of its own
        created(b"", text, skill=not anchor)
        return replace(proposal, operations=(Operation(Op.CREATE, anchor, text),))
    operations = operations_between(before, text)
    if proposal.target is TargetKind.EVALS:
        return replace(proposal, operations=tuple(operations))
    _, added = line_diff.signature(before, apply(before, operations))
    rules = [line for line in added if not line.startswith("#")] or added
    said = cut(fold(sentences([line.strip().lstrip("-*+ ") for line in rules])), _SUMMARY)
    return replace(proposal, operations=tuple(operations), summary=said or proposal.summary)


@one_command()
def part_of(proposal: Proposal, chosen: Collection[int]) -> Proposal:
    """Return what the operations with these numbers (from 0) make of a proposal, with what justifies them.

    Raises SkilldError where the parts cannot be told apart.
    """
    return _part(proposal, _versions(proposal)[0], chosen)


def _part(proposal: Proposal, before: bytes, chosen: Collection[int]) -> Proposal:
    if not chosen:
        raise SkilldError(_TITLE, "no part was selected")
    if all(proposal.operations[number].op is Op.MARK for number in chosen):
        cause = "this part only records where the other parts came from, so it cannot be accepted without them"
        raise SkilldError(_TITLE, cause, "Select it together with another part.")
    text = only(before, proposal.operations, chosen).decode("utf-8-sig", "replace")
    narrowed = remainder.with_parts(proposal, parts(before, proposal.operations), set(chosen))
    part = replace(_as_edited(narrowed, before, text), note="")
    return part if part.creates else replace(part, operations=_one_by_one(before, proposal.operations, (), chosen))


def _one_by_one(
    before: bytes, operations: Sequence[Operation], there: Collection[int], more: Collection[int]
) -> tuple[Operation, ...]:
    """Return the operations that add those with the numbers `more` to a text that has those of `there`, one for each.

    Together they would be one operation where they lie side by side, and no part could be told from another.
    """
    made: list[Operation] = []
    present = set(there)
    for number in sorted(more):
        text = only(before, operations, present)
        present.add(number)
        made += operations_between(text, only(before, operations, present).decode("utf-8-sig", "replace"))
    return tuple(made)


def _replace(store: Store, proposal: Proposal, changed: Proposal) -> None:
    """Take an open proposal off the staging branch and put it there with other operations."""
    others = [other for other in store.proposals.in_states([State.OPEN], proposal.repo) if other.id != proposal.id]
    staged = staging_for(store)
    held = restage(proposal.repo, others, staged, [*store.proposals.closed_ids(), proposal.id])
    with store.transaction():
        follow(store, staged.changes(), time.time())
    if held:
        raise RefusedError(_TITLE, held)
    try:
        _restore(store, changed)
    except SkilldError:
        _restore(store, proposal)
        raise


def _restore(store: Store, proposal: Proposal) -> None:
    """Put a proposal that is not on the staging branch there, and write down what it is now."""
    made, staged = staged_on(store, proposal, restored=True)
    with store.transaction():
        store.proposals.save_edit(made)
        store.proposals.set_evidence(made)
        follow(store, staged.changes(), time.time())
