"""`skilld accept`, `reject`, `restore` and `revert`: carry out your decision with git."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError, UsageError
from skilld.proposals.current_work_tree import in_current_work_tree, store_work_tree
from skilld.proposals.decide import Decision, DecisionReport, accepting, decide, is_gone, rejecting, reverting
from skilld.proposals.explain import list_parts
from skilld.proposals.poll import refresh
from skilld.proposals.remainder import open_remainder_id, rest_of_rejected
from skilld.proposals.remarks import recently_stale, refusal_and_remedy, successor
from skilld.store import Store
from skilld.text import pluralize
from skilld.types import Proposal, State

_EACH = "\0"  # where a remedy names the proposal
# The states of the proposals that a verb without an ID lists.
_USUAL_STATES = {
    "accept": ("open",),
    "reject": ("open", "dropped"),
    "restore": ("dropped", "rejected"),
    "revert": ("accepted",),
}


def accept(arguments: argparse.Namespace) -> int:
    """Commit proposals to the branch checked out in each skill's repository, or only write the files."""
    batch = check_accept(arguments)
    if batch:
        return _accept_all(arguments)
    if arguments.to:
        return _accept_elsewhere(arguments)
    return _decide(arguments, accepting(worktree=arguments.worktree), meant=_without_rejected_part)


def _without_rejected_part(store: Store, proposal: Proposal) -> tuple[list[Proposal], str]:
    """Return what to accept under a proposal's ID (not the part that was rejected under it), and a line about that."""
    rest = rest_of_rejected(store, proposal)
    if not rest:
        return [proposal], _note_beside(store, proposal)
    left = f"The part of {proposal.id} that you rejected stays rejected; to bring it back: skilld restore {proposal.id}"
    return rest, left


def _note_beside(store: Store, proposal: Proposal) -> str:
    """Return a sentence on an AGENTS.md that an agent does not load beside the file that is made; empty if none."""
    if not proposal.creates:
        return ""
    from skilld.jobs.relocation import unloaded_beside  # rarely needed

    note = unloaded_beside(store, proposal, common.host())
    return f"Note: {note}." if note else ""


def check_accept(arguments: argparse.Namespace) -> str:
    """Return the option that names many proposals, if one does. Raises an error if what was typed cannot be meant."""
    common.check_ids(arguments)
    batch = "--all" if arguments.all else "--all-repositories" if arguments.all_repositories else ""
    for given, one, other in (
        (arguments.part, "--part", batch),
        (arguments.to, "--to", batch or ("--worktree" if arguments.worktree else "")),
        (arguments.ids, batch, "IDs"),
    ):
        if given and one and other:
            raise UsageError("Conflicting options", f"{one} cannot be combined with {other}")
    return batch


def check_revert(arguments: argparse.Namespace) -> None:
    """Raise an error if what was typed cannot be meant."""
    common.check_ids(arguments)
    if arguments.worktree and arguments.why:  # only a decision has a reason, and that is the person's commit
        raise UsageError("Conflicting options", "--why cannot be combined with --worktree")


def _accept_all(arguments: argparse.Namespace) -> int:
    """Accept the proposals of this repository, or of all, and say how to undo all of it."""
    from skilld.cli import accept_all
    from skilld.jobs.one_by_one import accept_parts_of_batch, why_not_any_more

    store = _refreshed_store(rebuild=False)
    batch = accept_all.choose(store, everywhere=arguments.all_repositories, whole=arguments.worktree)
    asks = arguments.all_repositories and not (arguments.yes or arguments.json)
    if asks and not accept_all.confirm(batch):
        console.say("Nothing was accepted.")
        return 1
    decision = accepting(worktree=arguments.worktree)

    def carry_out(one: Proposal) -> DecisionReport:
        if some := batch.parts.get(one.id):
            return accept_parts_of_batch(store, one, some)
        if (why := batch.left_open.get(one.id) or why_not_any_more(store, one)) is not None:
            return DecisionReport(tuple(filter(None, [why])))
        note, report = _note_beside(store, one), decide(store, one, decision)
        return replace(report, lines=(*filter(None, [note]), *report.lines))

    code = _decide_each(store, batch.proposals, carry_out, as_json=arguments.json)
    for remark in () if arguments.json else batch.remarks(store):
        console.say(console.plain(remark))
    return code


def _accept_elsewhere(arguments: argparse.Namespace) -> int:
    """Apply an open proposal, or some parts of it, to a file that the person names."""
    from skilld.jobs.relocation import accept_elsewhere

    def carry_out(one: Proposal) -> DecisionReport:
        return accept_elsewhere(store, one, arguments.to, host, redact=redact, decision=decision, parts=chosen)[1]

    decision = accepting()
    store = _refreshed_store()
    proposal, chosen = _find_parts(store, arguments, "--to")
    host, redact = common.host(), common.redactor()
    return _decide_each(store, [proposal], carry_out, as_json=arguments.json)


def _decide_parts(arguments: argparse.Namespace, decision: Decision) -> int:
    """Decide on some parts of one open proposal; the rest stays open as a new proposal."""
    from skilld.proposals.amend import decide_parts

    store = _refreshed_store()
    proposal, chosen = _find_parts(store, arguments, "--part")
    return _decide_each(
        store, [proposal], lambda one: decide_parts(store, one, chosen, decision), as_json=arguments.json
    )


def _find_parts(store: Store, arguments: argparse.Namespace, flag: str) -> tuple[Proposal, set[int]]:
    """Return the one open proposal that is named, and the numbers (from 0) of its named parts."""
    if len(arguments.ids) != 1:
        raise UsageError("Which proposal?", f"{flag} needs exactly one ID", "List them: skilld proposals")
    (proposal,) = _find_proposals(store, arguments.ids)
    title = f"Cannot {arguments.command} {'part of ' if arguments.part else ''}{proposal.id}"
    if proposal.state is not State.OPEN:
        name = open_remainder_id(store, proposal)
        cause, remedy = refusal_and_remedy(store, proposal, arguments.command, (State.OPEN,))
        raise SkilldError(title, cause, f"skilld show {name}" if name else remedy)
    number = len(list_parts(proposal))
    if arguments.part and (not number or number == 1 < len(proposal.updates)):
        remedy = f"To {arguments.command} all of it: skilld {arguments.command} {proposal.id}"
        raise SkilldError(title, "its parts cannot be told apart", remedy)
    if max(arguments.part, default=0) > number:
        raise UsageError("No such part", f"{proposal.id} has {pluralize(number, 'part')}", f"skilld show {proposal.id}")
    return proposal, {part - 1 for part in arguments.part}


def reject(arguments: argparse.Namespace) -> int:
    """Reject proposals, with the reason if one is given; what they say is not proposed again."""
    return _decide(arguments, rejecting(_reason(arguments)))


def _reason(arguments: argparse.Namespace) -> str:
    """Return the person's reason, without secrets."""
    return common.redactor()(common.as_text(arguments.why))


def restore(arguments: argparse.Namespace) -> int:
    """Return rejected, dropped or stale proposals to the staging branch."""
    from skilld.proposals.amend import restore as put_back

    store = _refreshed_store()
    if not arguments.ids:
        common.fail_without_id(store, "restore", _USUAL_STATES["restore"])
    return _decide_each(store, _find_proposals(store, arguments.ids), partial(put_back, store), as_json=arguments.json)


def revert(arguments: argparse.Namespace) -> int:
    """Revert accepted proposals on the branch checked out in each skill's repository."""
    decision = reverting(_reason(arguments), worktree=arguments.worktree)
    return _decide(arguments, decision, _as_in_this_work_tree, _where_it_went)


def _where_it_went(store: Store, proposal: Proposal) -> tuple[list[Proposal], str]:
    """Return what to revert for a proposal that was accepted into another file, and a line about that."""
    new = successor(store, proposal)
    if new is None or new.state is not State.ACCEPTED:
        return [proposal], ""
    return [new], f"{proposal.id} was {proposal.note}."


def _as_in_this_work_tree(store: Store, proposal: Proposal) -> Proposal:
    """Return an accepted proposal as one of the work tree that the person is in, if its lines came into that one too.

    It may have been made in another work tree of the repository, and merged.
    """
    if proposal.state is not State.ACCEPTED or proposal.also:
        return proposal
    moved = in_current_work_tree(proposal)
    if moved.repo == proposal.repo or is_gone(moved):
        return proposal
    store_work_tree(store, moved)
    return moved


def _decide(
    arguments: argparse.Namespace,
    decision: Decision,
    placed: Callable[[Store, Proposal], Proposal] = lambda _, proposal: proposal,
    meant: Callable[[Store, Proposal], tuple[list[Proposal], str]] = lambda _, proposal: ([proposal], ""),
) -> int:
    """Decide on the proposals with the given IDs, or on those that are `meant` by them; each as `placed` returns it."""
    if getattr(arguments, "part", []):
        return _decide_parts(arguments, decision)
    store = _refreshed_store(rebuild=False)
    if not arguments.ids:
        common.fail_without_id(store, arguments.command, _USUAL_STATES[arguments.command])
    found = [meant(store, one) for one in _find_proposals(store, arguments.ids)]
    chosen = {one.id: one for those, _ in found for one in those}
    told = {those[0].id: line for those, line in found}

    def carry_out(one: Proposal) -> DecisionReport:
        report = decide(store, placed(store, one), decision)
        return replace(report, lines=(*filter(None, [told.get(one.id)]), *report.lines))

    return _decide_each(store, [*chosen.values()], carry_out, as_json=arguments.json)


def _refreshed_store(*, rebuild: bool = True) -> Store:
    """Open the store, updated with what was decided with plain git in the meantime."""
    store = common.store_or_empty()  # without a database there is nothing to decide on
    refresh(store, rebuild=rebuild)
    return store


def _find_proposals(store: Store, ids: list[str]) -> list[Proposal]:
    return [common.find_proposal(store, given) for given in dict.fromkeys(ids)]


def _decide_each(
    store: Store, chosen: Sequence[Proposal], carry_out: Callable[[Proposal], DecisionReport], *, as_json: bool
) -> int:
    """Carry out a decision for each proposal; return the first failure's exit code, or 0. Raises a single failure."""
    code = 0
    rows = []
    refused: dict[tuple[str, str], list[str]] = {}
    told = {one.id for one, _ in recently_stale(store, time.time())}
    for proposal in chosen:
        report, error = None, None
        try:
            # Read again: deciding on another proposal may have changed this one.
            report = carry_out(store.proposals.get(proposal.id) or proposal)
        except SkilldError as failed:
            if len(chosen) == 1:
                raise
            code, error = code or failed.code, failed
        if as_json:
            rows.append(_as_json(store.proposals.get(proposal.id) or proposal, report, error))
        elif error is not None:  # of many with the same obstacle, once
            why = str(error).removeprefix(f"{proposal.id} was ")
            refused.setdefault((why, error.remedy.replace(proposal.id, _EACH)), []).append(proposal.id)
            told.add(proposal.id)
        else:
            _print_report(report)
    for (why, remedy), names in refused.items():
        _print_refusal(names, why, remedy)
    if as_json:
        common.write_json(rows)
    else:
        _print_rest(store, chosen)
        for one, why in recently_stale(store, time.time()):
            if one.id not in told:
                console.warn(f"skilld: {one.id} no longer fits its file: {console.message(why)}")
    return code


def _print_rest(store: Store, chosen: Sequence[Proposal]) -> None:
    """Say that there was nothing to decide on, or how to go on with merged skills."""
    if not chosen:
        console.say("No open proposals.")
    elif any(not one.evidence for one in chosen):  # a merge quotes nobody
        from skilld.cli.consolidate import advice_on_accepted

        for line in advice_on_accepted(store, chosen):
            console.say(console.plain(line))


def _as_json(now: Proposal, report: DecisionReport | None, error: SkilldError | None) -> dict[str, Any]:
    return {
        "id": now.id,
        "state": now.state.value,
        "commit": now.landed or now.commit,
        "said": list(report.lines) if report else [],
        "warnings": list(report.warnings) if report else [],
        "error": str(error) if error else "",
    }


def _print_refusal(names: list[str], why: str, remedy: str) -> None:
    console.warn(f"skilld: {', '.join(names)}: {console.message(why)}")
    if remedy:
        console.warn(f"  {console.message(remedy.replace(_EACH, ' '.join(names)))}")


def _print_report(report: DecisionReport | None) -> None:
    for line in report.lines if report else ():
        console.say(console.message(line))
    for warning in report.warnings if report else ():
        console.warn(f"skilld: {console.message(warning)}")
