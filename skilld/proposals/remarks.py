"""Sentences for a person about a proposal's situation: which branch has it, whether it was dropped, who decided."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from skilld.clock import local_day, parse_time, time_ago
from skilld.errors import SkilldError
from skilld.files import read_regular
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.git.state import staging_holder
from skilld.proposals.model import RESTORABLE_SECONDS, is_put_away, is_repo_gone, is_said_since, is_undone
from skilld.proposals.remainder import describe_remainder, open_remainder_id
from skilld.store import Store
from skilld.store.batches import REMAKE_PREFIX
from skilld.store.meta import COMMON_GIT_DIRS, MERGE_WARNINGS
from skilld.store.proposals import MAYBE_AGENTS_PREFIX, UNWANTED_STATES
from skilld.text import fold, join_sentences, pluralize, split_sentences
from skilld.types import ContradictingLine, Proposal, State, TargetKind

_HOUR = 3600
_STALE_SECONDS = 7 * 86400  # how long a proposal that no longer fits its file is named


def is_on_staging(proposal: Proposal) -> bool:
    """Whether an open proposal was on the staging branch when git was last read."""
    return (
        proposal.state is State.OPEN
        and bool(proposal.commit)
        and proposal.branch.removeprefix("refs/heads/") == STAGING_BRANCH
    )


def describe_standing(store: Store, proposal: Proposal, now: float) -> str:
    """Return a sentence about where a proposal is at a Unix time; empty if there is nothing to report."""
    if proposal.state is State.DROPPED:
        end = "count as reverted" if is_undone(proposal) else "be rejected"
        left = pluralize(hours_left(store, proposal, now), "hour")
        ways = f"to bring it back: skilld restore {proposal.id}; to reject it now: skilld reject {proposal.id}"
        return f"dropped; will {end} in {left} ({ways})"
    if proposal.state is State.OPEN and (held := staging_use(store, proposal.repo)):
        return held
    if proposal.state is State.OPEN and proposal.commit and not is_on_staging(proposal):
        return f"only on the branch {proposal.branch}" if proposal.branch else ""
    if proposal.state is State.STALE:
        ways = f"to bring it back: skilld restore {proposal.id}; to discard it: skilld reject {proposal.id}"
        return remake_status(store, proposal) or ways
    warning = base_warning(store, proposal)
    return f"{STAGING_BRANCH} {warning}" if warning else ""


def staging_use(store: Store, repo: str) -> str:
    """Return that the staging branch of a repository is checked out, so that nothing on it counts yet; else empty."""
    git = Path(repo) / ".git"
    common = store.meta.get(COMMON_GIT_DIRS, {}).get(repo) or (git if git.is_dir() else repo)
    with suppress(SkilldError, OSError):
        if repo and (held := staging_holder(Path(common))):
            return f"{STAGING_BRANCH} is {held}; what you remove there counts once you switch to another branch"
    return ""


def staging_uses(store: Store) -> dict[str, str]:
    """Return what `staging_use` does for each repository with an open proposal, if there is something to report."""
    repos = sorted({one.repo for one in store.proposals.open()})
    return {repo: held for repo in repos if (held := staging_use(store, repo))}


def recently_stale(store: Store, now: float) -> list[tuple[Proposal, str]]:
    """Return the proposals that lost their place within a week, each with why, and what the person can do."""
    found = [one for one in store.proposals.in_states([State.STALE]) if not is_repo_gone(one)]
    recent = [one for one in found if now - (parse_time(one.decided_at) or 0) < _STALE_SECONDS]
    return [(one, "; ".join(filter(None, (one.note, describe_standing(store, one, now))))) for one in recent]


def remake_status(store: Store, proposal: Proposal) -> str:
    """Return the progress of the job that regenerates a stale proposal; empty if there is none."""
    batch = store.batches.get(REMAKE_PREFIX + proposal.id)
    if batch is None:
        return ""
    match batch.state:
        case "running":
            return "being regenerated to match your current text"
        case "pending":
            waits = f"; delayed: {batch.detail}" if batch.detail else ""
            return f"will be regenerated to match your current text{waits}"
        case "parked":
            return f"could not be regenerated to match your current text: {batch.detail}; to try again: skilld retry"
    return f"could not be regenerated to match your current text: {batch.detail}" if batch.detail else ""


def hours_left(store: Store, proposal: Proposal, now: float) -> int:
    """Return the hours, rounded up, until a dropped proposal is decided; at least 1 until git is read again."""
    since = parse_time(store.proposals.missing_since(proposal.id))
    left = RESTORABLE_SECONDS if since is None else since + RESTORABLE_SECONDS - now
    return math.ceil(min(max(left, 1), RESTORABLE_SECONDS) / _HOUR)


def base_warning(store: Store, proposal: Proposal) -> str:
    """Return what merging the staging branch would bring in besides an open proposal; empty if nothing."""
    return str(store.meta.get(MERGE_WARNINGS, {}).get(proposal.repo, "")) if is_on_staging(proposal) else ""


# What contradicts a proposal, for the person on this machine: a commit's message quotes less of it.

_MAX_BYTES = 1 << 20


def current_conflicts(proposal: Proposal) -> list[ContradictingLine]:
    """Return the conflicts of a proposal whose lines are still in their files, and those its own file has now."""
    texts = {path: fold(_read_text(Path(path))) for path in {one.path for one in proposal.conflicts}}
    found = [one for one in proposal.conflicts if "[REDACTED" in one.text or one.text in texts[one.path]]
    if proposal.state in {State.OPEN, State.DROPPED} and proposal.evidence and not proposal.creates:
        from skilld.proposals.contradictions import rules_added_since  # other remarks need no meanings of words

        found += rules_added_since(proposal, _read_text(Path(proposal.path)))
    return found


def _read_text(path: Path) -> str:
    try:
        return read_regular(path, _MAX_BYTES)[0].decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


_MAX_OPPOSING = 3  # proposals that are named


def list_contradictions(store: Store, proposal: Proposal) -> list[str]:
    """Return what contradicts an undecided proposal: lines in files, other proposals, earlier decisions."""
    if proposal.state not in {State.OPEN, State.DROPPED}:
        return []
    changed = {one.path for one in proposal.also}
    sentences = []
    for one in current_conflicts(proposal):
        then = " and is changed along with it" if os.path.realpath(one.path) in changed else ""
        sentences.append(f"{one.path}:{one.line} contradicts this proposal{then}: \u201c{one.text}\u201d")
    added = {line.lstrip("-*+ ") for step in proposal.operations for line in step.text.splitlines() if line.strip()}
    sentences += [
        f"both files would then say the same; to change {one.relpath} alone: "
        f"skilld accept {proposal.id} --to {one.path}"
        for one in proposal.also
        if any(line.lstrip("-*+ ") in added for step in one.operations for line in step.text.splitlines())
    ]
    others = list(_opposing_proposals(store, proposal))
    sentences += [
        f"the open proposal {other.id} says the opposite: \u201c{other.summary}\u201d"
        for other in others[:_MAX_OPPOSING]
    ]
    if more := others[_MAX_OPPOSING:]:
        sentences.append(f"so {'does' if len(more) == 1 else 'do'} {pluralize(len(more), 'more open proposal')}")
    sentences += earlier_refusals(store, proposal)
    return sentences + [f"linked to {other.id}, which changes {other.path}" for other in open_linked(store, proposal)]


def open_contradiction(store: Store, proposal: Proposal) -> str:
    """Return what contradicts an open proposal and is not changed with it, so that the person must choose; or ""."""
    changed = {*(one.path for one in proposal.also), *(one.path for one in open_linked(store, proposal))}
    changed = {os.path.realpath(path) for path in changed}
    lines = (one for one in current_conflicts(proposal) if os.path.realpath(one.path) not in changed)
    said = (f"{one.path}:{one.line} says the opposite" for one in lines)
    others = (f"the open proposal {other.id} says the opposite" for other in _opposing_proposals(store, proposal))
    return next(chain(said, others), "")


def why_left_open(store: Store, proposal: Proposal) -> str:
    """Return why a batch leaves an open proposal to the person, with the command to type: a contradiction, or harm.

    Empty if it may be accepted together with others.
    """
    from skilld.edit.lint import is_harm  # keeps its imports out of `status`

    if why := open_contradiction(store, proposal):
        return f"{proposal.id} was left open: {why}. To see both: skilld show {proposal.id}"
    harms = [flag.rstrip(".") for flag in proposal.flags if is_harm(flag)]
    if not harms:
        return ""
    more = f" ({len(harms) - 1} more: skilld show {proposal.id})" if harms[1:] else ""
    flag, end = f"{harms[0][0].lower()}{harms[0][1:]}{more}", f"To accept it anyway: skilld accept {proposal.id}"
    return f"{proposal.id} was left open: {join_sentences([flag, end]).removesuffix('.')}"


def _opposing_proposals(store: Store, proposal: Proposal) -> Iterator[Proposal]:
    """Yield the open proposals for the same file that contradict one: the person should reject one of them.

    Without a quote, a summary is no instruction: "cut 2 lines" does not contradict "cut 3 lines".
    """
    from skilld.classify.contradiction import contradicts_clearly  # not needed in the daemon

    mine = split_sentences(proposal.summary) if proposal.evidence else []
    for other in store.proposals.in_states([State.OPEN], proposal.repo) if mine else ():
        if other.id != proposal.id and other.path == proposal.path and other.evidence:
            pairs = [(one, its) for one in mine for its in split_sentences(other.summary)]
            if any(contradicts_clearly(*pair) or contradicts_clearly(*reversed(pair)) for pair in pairs):
                yield other


def describe_borrowed_lines(store: Store, proposal: Proposal, unchanged: Iterable[str]) -> list[str]:
    """Return sentences about the unchanged lines around a change that belong to other open proposals."""
    return [
        f"\u201c{line}\u201d belongs to the open proposal {name}; accepting this one does not add it"
        for name, line in borrowed_lines(store, proposal, unchanged).items()
    ]


def borrowed_lines(store: Store, proposal: Proposal, unchanged: Iterable[str]) -> dict[str, str]:
    """Return the IDs of the open proposals that add some of these lines to the file, each with the first of them.

    An open proposal is based on those before it: their lines appear around it as if the person had accepted them.
    """
    if proposal.state is not State.OPEN or not proposal.commit:
        return {}
    around = {line.strip() for line in unchanged} - {""}
    around -= {line.strip() for line in _read_text(Path(proposal.path)).splitlines()}
    found = {}
    for other in store.proposals.in_states([State.OPEN], proposal.repo) if around else ():
        added = [line.strip() for operation in other.operations for line in operation.text.splitlines()]
        lines = [one for one in added if one in around]
        if other.id != proposal.id and other.path == proposal.path and lines:
            found[other.id] = lines[0]
    return found


def open_linked(store: Store, proposal: Proposal) -> list[Proposal]:
    """Return the open proposals linked to one: they change lines in other repositories that contradict it."""
    others = (store.proposals.get(name) for name in proposal.linked)
    return [other for other in others if other is not None and other.state is State.OPEN]


# The note of a proposal that was accepted in another file: `accept_elsewhere` in jobs/relocation.py writes it.
_MOVED_PATTERN = re.compile(r"moved to .+, as ([0-9a-f]{8})", re.DOTALL)


def successor(store: Store, proposal: Proposal) -> Proposal | None:
    """Return the proposal that replaced this one when it was moved to another file; None if there is none."""
    moved = _MOVED_PATTERN.fullmatch(proposal.note) if proposal.state is State.SUPERSEDED else None
    found = store.proposals.get(moved[1]) if moved else None
    return (successor(store, found) or found) if found else None


def predecessor(store: Store, proposal: Proposal) -> Proposal | None:
    """Return the proposal that this one replaced when it was moved to another file; None if there is none."""
    moved = ((old, _MOVED_PATTERN.fullmatch(old.note)) for old in store.proposals.in_states([State.SUPERSEDED]))
    return next((old for old, match in moved if match and match[1] == proposal.id), None)


def is_back(store: Store, proposal: Proposal) -> bool:
    """Whether a proposal was moved to another file and is not wanted there any more: it can be decided on again."""
    new = successor(store, proposal)
    return new is not None and new.state in UNWANTED_STATES


def find_descendants(store: Store, ids: Iterable[str], found: Iterable[Proposal]) -> list[Proposal]:
    """Return those of `found` with these IDs or split off them, including proposals moved to another file."""
    own = {(one.batch_id, one.path) for name in ids if (one := store.proposals.get(name))}
    for old in store.proposals.in_states([State.SUPERSEDED]):
        if (old.batch_id, old.path) in own and (new := successor(store, old)):
            own.add((new.batch_id, new.path))
    return [one for one in found if (one.batch_id, one.path) in own]


# What to type instead of a verb that cannot decide on a proposal in a state.
_BRING_BACK = "To bring it back: skilld restore"
_WAYS_ON = {
    (State.OPEN, "revert"): "To discard it: skilld reject",
    (State.DROPPED, "revert"): "To reject it now: skilld reject",
    (State.STALE, "revert"): _BRING_BACK,
    (State.ACCEPTED, "accept"): "To remove it: skilld revert",
    (State.REVERTED, "accept"): "To accept it after all: skilld accept",
    (State.REVERTED, "restore"): "To accept it after all: skilld accept",
    **{(state, "accept"): _BRING_BACK for state in (State.DROPPED, State.STALE, State.REJECTED)},
    **{(state, "reject"): _BRING_BACK for state in (State.DROPPED, State.STALE, State.REJECTED)},
}


def refusal_and_remedy(store: Store, proposal: Proposal, verb: str, states: Container[State]) -> tuple[str, str]:
    """Return why a verb for some `states` cannot decide on a proposal, and what to type instead."""
    new = successor(store, proposal)
    went = f"moved to {new.skill}, as {new.id}, which is {new.state.value}" if new else ""
    cause = "; ".join(filter(None, (f"it is {proposal.state.value}", went, describe_remainder(store, proposal))))
    now = new or proposal
    if is_back(store, proposal):
        return cause, f"To accept it for {proposal.skill}: skilld accept {proposal.id}"
    old = predecessor(store, proposal) if verb == "accept" and proposal.state in UNWANTED_STATES else None
    if old is not None:
        return cause, f"To accept it for {old.skill}: skilld accept {old.id}"
    if now.state is State.ACCEPTED and verb != "revert" and (new or verb == "reject"):
        rest = "" if new else open_remainder_id(store, proposal)
        return cause, f"To reject the rest: skilld reject {rest}" if rest else f"To undo it: skilld revert {now.id}"
    if now.state is State.SAID and verb != "restore":
        return (
            f"{cause} already: {now.note}",
            f"If that line does not cover it, propose it anyway: skilld restore {now.id}",
        )
    if now.state is State.DROPPED and verb == "revert" and is_undone(now):
        return f"{cause}: its commit was removed from its branch already", f"{_BRING_BACK} {now.id}"
    if is_said_since(now):
        return f"{cause}: {now.note}", f"To propose it anyway: skilld restore {now.id}"
    if way := _WAYS_ON.get((now.state, verb)):
        return cause, f"{way} {now.id}"
    return cause, f"skilld {verb if new.state in states else 'show'} {new.id}" if new else ""


def _describe_successor(store: Store, proposal: Proposal) -> str:
    """Return what became of a proposal that was moved to another file; empty for other proposals."""
    new = successor(store, proposal)
    back = f"; to undo it: skilld {UNDO_VERBS[new.state]} {new.id}" if new and new.state in UNDO_VERBS else ""
    if is_back(store, proposal):
        back = f"; to accept it for {proposal.skill}: skilld accept {proposal.id}"
    return f"{new.id} is {new.state.value}{back}" if new else ""


def describe_decision(store: Store, proposal: Proposal) -> list[str]:
    """Return sentences about the decision on a proposal: what it left open, why, by whom, what was said since."""
    of = (
        _describe_successor,
        describe_remainder,
        describe_rejection,
        describe_repeat,
        describe_removal,
        describe_doubt,
    )
    return [sentence for one in of if (sentence := one(store, proposal))]


def describe_rejection(store: Store, proposal: Proposal) -> str:
    """Return the person's reason for a rejection or a revert; empty if they gave none."""
    unwanted = proposal.state in {State.REJECTED, State.REVERTED}
    why = store.proposals.decision_reason(proposal.id) if unwanted else ""
    return f"{proposal.state.value}; your reason: {why}" if why and why != UNDONE else ""


def describe_repeat(store: Store, proposal: Proposal) -> str:
    """Return a sentence if the person has repeated what they decided against, with the way to restore it; or empty."""
    if _repeated_at(store, proposal) is None:
        return ""
    verb = UNDO_VERBS[proposal.state]
    return f"you said it again after you {proposal.state.value} it; to bring it back: skilld {verb} {proposal.id}"


def unwanted_said_again(store: Store, now: float) -> list[Proposal]:
    """Return the rejected and reverted proposals that the person repeated within a week before `now` (Unix time).

    Those that were proposed again since are left out.
    """
    unwanted = store.proposals.in_states([State.REJECTED, State.REVERTED])
    found = [one for one in unwanted if now - (_repeated_at(store, one) or 0) < _RECENT_SECONDS]
    wanted = store.proposals.in_states([State.OPEN, State.ACCEPTED]) if found else []
    return [one for one in found if not any(new.created_at >= one.decided_at and _said_by(new, one) for new in wanted)]


def _repeated_at(store: Store, proposal: Proposal) -> float | None:
    """Return when the person last repeated what they decided against (Unix time); None if not since then."""
    since = parse_time(proposal.decided_at)
    if proposal.state not in UNWANTED_STATES or since is None:
        return None
    times = (store.overview.said_at(said.turn) for said in proposal.evidence)
    return max((at for at in times if at is not None and at >= since), default=None)


def earlier_refusals(store: Store, proposal: Proposal) -> Iterator[str]:
    """Yield a sentence for each rejected or reverted proposal that said the same as an undecided one."""
    for other, change in _unwanted_like(store, proposal):
        why = store.proposals.decision_reason(other.id)
        this = f"\u201c{change}\u201d" if len(proposal.updates) > 1 else "this"
        where = "" if other.path == proposal.path else f" for {other.skill}"
        yield f"you {other.state.value} {this} before, as {other.id}{where}{f'; your reason: {why}' if why else ''}"


def _unwanted_like(store: Store, proposal: Proposal) -> Iterator[tuple[Proposal, str]]:
    """Yield the rejected and reverted proposals that wrote what another one says, each with the first such change."""
    for other in store.proposals.in_states([State.REJECTED, State.REVERTED], proposal.repo):
        if change := _said_by(proposal, other):
            yield other, change


def _said_by(proposal: Proposal, other: Proposal) -> str:
    """Return the first change of a proposal that another one wrote, in any words; empty if none.

    Both are of one file, or of instructions of one repository: what was refused at its root may come back in a folder.
    """
    instructions = bool(other.repo) and TargetKind.SKILL not in {proposal.target, other.target}
    if proposal.repo != other.repo or (proposal.path != other.path and not instructions):
        return ""
    from skilld.classify.said_already import is_same_change, says_same_rule  # keeps its tables out of the daemon

    said = [update.change for update in proposal.updates] or [proposal.summary]
    lines = [line for operation in other.operations for line in operation.text.splitlines() if line.strip()]
    same = (one for one in said if says_same_rule(one, "\n".join(lines)) or any(is_same_change(one, x) for x in lines))
    return next(same, "")


_DAY_SECONDS = 86400.0
_RECENT_SECONDS = 7 * _DAY_SECONDS
UNDONE = "undone"  # stored as the reason of a decision that only took another one back
DECIDED_STATES = (State.ACCEPTED, State.REJECTED, State.REVERTED)
UNDO_VERBS = {State.ACCEPTED: "revert", State.REJECTED: "restore", State.REVERTED: "accept", State.DROPPED: "restore"}


def proposed_at(store: Store, proposal: Proposal) -> float | None:
    """Return when a proposal was made (Unix time), which may be long after its batch was closed; None if unknown."""
    return parse_time(store.batches.done_at(proposal.batch_id)) or parse_time(proposal.created_at)


def describe_age(store: Store, proposal: Proposal, now: float) -> str:
    """Return how long ago a proposal was made, and the day of its newest words if more than a day before."""
    made = proposed_at(store, proposal)
    said = [at for one in proposal.evidence if (at := parse_time(store.transcripts.said_at(one.turn))) is not None]
    old = made is not None and said and made - max(said) > _DAY_SECONDS
    return f"{time_ago(made, now)}{f', said on {local_day(max(said))}' if old else ''}"


def describe_decision_time(proposal: Proposal, now: float) -> str:
    """Return when a proposal was decided on, and the command that undoes it; empty if it was not."""
    at = parse_time(proposal.decided_at)
    if at is None or proposal.state not in DECIDED_STATES:
        return ""
    back = f"skilld {UNDO_VERBS[proposal.state]} {proposal.id}"
    return f"{proposal.state.value} {time_ago(at, now)}; to undo it: {back}"


def describe_removal(store: Store, proposal: Proposal) -> str:
    """Return which proposal that the person accepted took a reverted one out; empty if none did."""
    remover = store.proposals.get(store.proposals.removed_by(proposal.id))
    if remover is None:
        return ""
    undo = f"; to undo that: skilld revert {remover.id}" if remover.state is State.ACCEPTED else ""
    return f"you accepted {remover.id}, which removed it{undo}"


def describe_doubt(store: Store, proposal: Proposal) -> str:
    """Return a sentence if an agent may have decided on a proposal, with the way to undo it; empty otherwise.

    All that is known is that its transcript grew shortly before: the person may have run git at the same time.
    """
    who = store.proposals.decided_by(proposal.id)
    # What is on no branch here was decided elsewhere, and cannot be undone here.
    if not who.startswith(MAYBE_AGENTS_PREFIX) or proposal.state not in UNDO_VERBS or is_put_away(proposal):
        return ""
    if describe_removal(store, proposal):
        return ""
    agents = who.removeprefix(MAYBE_AGENTS_PREFIX)
    had = "had active sessions" if "," in agents else "had an active session"
    undo = f"if it was not you, undo it: skilld {UNDO_VERBS[proposal.state]} {proposal.id}"
    return f"{proposal.state.value} with plain git, by you or an agent ({agents} {had} here around that time); {undo}"


def recent_doubts(store: Store, now: float) -> list[str]:
    """Return such sentences for all decisions within a week before `now` (Unix time), the newest first."""
    found = [
        (proposal.decided_at, f"{proposal.id}: {text}")
        for proposal in store.proposals.in_states([*UNDO_VERBS])
        if now - (parse_time(proposal.decided_at) or 0) < _RECENT_SECONDS and (text := describe_doubt(store, proposal))
    ]
    return [text for _, text in sorted(found, reverse=True)]
