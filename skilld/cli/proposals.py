"""`skilld proposals` and `show`: the open proposals, and a single one."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.agents import ADAPTERS
from skilld.classify.backends import OFFLINE
from skilld.cli import common
from skilld.errors import UsageError
from skilld.evals.results import outcomes_of, result_lines
from skilld.files import shell_quoted
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.model import (
    EVALS_PREFIX,
    IMPORT_PREFIX,
    MOVED_PREFIX,
    REVIEWS_PREFIX,
    TRIM_PREFIX,
    heard_by,
    is_overtaken,
    is_said_since,
    top_folder,
)
from skilld.proposals.poll import refresh
from skilld.proposals.remainder import rest_of_rejected
from skilld.proposals.remarks import (
    base_warning,
    current_conflicts,
    describe_age,
    describe_borrowed_lines,
    describe_decision,
    describe_standing,
    is_on_staging,
    list_contradictions,
    recently_stale,
    unwanted_said_again,
)
from skilld.store import Store
from skilld.store.connection import DamagedError, StoreError
from skilld.text import count_times, join_words
from skilld.types import Op, Proposal, State, TargetKind

if TYPE_CHECKING:
    from skilld.proposals.explain import Applicability, Part

_FOLDERS_BELOW_TOP = 3  # from a skill's folder up to what its agent's folder is in
_MAX_FLAGS = 3  # of one proposal in the list
_MAX_COMMAND_WIDTH = 32  # leaves room for a description beside the command


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    states = _parse_states(arguments.state)
    store = common.store_or_empty()
    refresh_or_warn(store)
    found = store.proposals.in_states(states)
    if arguments.json:
        return common.write_json([as_json(store, proposal) for proposal in found])
    if arguments.state == "open":  # also those that can be restored, and those that were said again
        now = time.time()
        found += store.proposals.in_states([State.DROPPED])
        found += [*(one for one, _ in recently_stale(store, now)), *unwanted_said_again(store, now)]
    applicability = _read_open(found)
    for proposal in found:
        _print_row(store, proposal, applicability.get(proposal.id))
    if not found:
        console.say("No open proposals." if arguments.state == "open" else "No matching proposals.")
        if begin := common.first_step_hint(store):
            console.say(begin)
    elif any(one.state.value == "open" for one in found) and arguments.state == "open":
        console.line()
        can_merge = all(_is_mergeable(store, one, applicability) for one in found)
        merge = f"; with git: git merge {STAGING_BRANCH}" if can_merge else ""
        console.say(f"To decide: skilld review, skilld accept ID or skilld reject ID{merge}")
    return 0


def _read_open(found: Sequence[Proposal]) -> dict[str, Applicability]:
    """Return, by ID, how each open proposal applies to the branch that is checked out."""
    waiting = [proposal for proposal in found if proposal.state.value == "open" and proposal.commit]
    if not waiting:
        return {}
    from skilld.proposals.explain import ProposalReader  # git takes 0.15 s to load

    looking = ProposalReader()
    return {proposal.id: looking.applicability(proposal) for proposal in waiting}


def _print_row(store: Store, proposal: Proposal, applicability: Applicability | None) -> None:
    state = "" if proposal.state.value == "open" else f" [{proposal.state.value}]"
    head = f"{console.paint(proposal.id, 'bold')}  {console.plain(proposal.skill)}{state}"
    console.say(f"{head}  {console.plain(proposal.summary)}")
    for said in describe_quotes(one.quote for one in proposal.evidence):
        console.say(f"    {said}")
    left = len(proposal.flags) - _MAX_FLAGS
    more = f"{left} more: skilld show {proposal.id}" if left > 0 else ""
    now = time.time()
    where = console.message(str(_folder_of(proposal)))
    unfit = applicability.obstacle if applicability is not None else ""
    remarks = [proposal.note, *describe_decision(store, proposal), describe_standing(store, proposal, now), unfit]
    remarks += [*list_contradictions(store, proposal), *result_lines(store, proposal)]
    shown = [describe_age(store, proposal, now), where, *map(console.message, remarks)]
    console.say("    " + "; ".join(one for one in shown if one), style="dim")
    for flag in filter(None, (*proposal.flags[:_MAX_FLAGS], more)):
        console.say(f"    ! {console.plain(flag)}", style="yellow")


def _folder_of(proposal: Proposal) -> Path:
    """Return the folder that says where a proposal's file is; for one of many rules, the top of its project."""
    return top_folder(proposal) if proposal.target is TargetKind.RULES else Path(proposal.path).parent


def as_json(store: Store, proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as in `skilld proposals --json`; only an open one is on a branch."""
    branch = proposal.branch if proposal.state.value == "open" else ""
    shown = asdict(proposal)
    is_general = proposal.target in {TargetKind.INSTRUCTIONS, TargetKind.RULES}
    agents = shown.pop("agents") or ([] if is_general else [proposal.agent])
    turns = [said.turn for said in proposal.evidence]
    return shown | {
        "skill": proposal.skill if proposal.target is TargetKind.SKILL else "",
        "target": {"kind": proposal.target.value, "agents": agents},
        "sessions": len({proposal.session_id, *store.overview.sessions_of(turns)}),
        "conflicts": [asdict(one) for one in current_conflicts(proposal)],
        "branch": branch,
        "rests_on": base_warning(store, proposal),
        "decided_by": store.proposals.decided_by(proposal.id),
        "rejected_for": store.proposals.decision_reason(proposal.id) if proposal.state.value == "rejected" else "",
        "evals": [one.as_json() for one in outcomes_of(store, proposal)],
    }


def _is_mergeable(store: Store, proposal: Proposal, applicability: Mapping[str, Applicability]) -> bool:
    """Whether plain `git merge skilld/staging` in the skill's folder would merge it, and nothing else."""
    own = proposal.repo.startswith(f"{common.places().repositories}/")
    clean = proposal.id in applicability and applicability[proposal.id].can_merge
    return clean and is_on_staging(proposal) and not own and not base_warning(store, proposal)


def _parse_states(text: str) -> Sequence[Any]:
    if text == "all":
        return list(State)
    try:
        return [State(part.strip()) for part in text.split(",")]
    except ValueError:
        raise UsageError("No such state", text, f"Use {', '.join(State)}, or all.") from None


def refresh_or_warn(store: Store) -> None:
    """Update the store from git; if nothing can be written, as on a full disk, warn and use what is stored."""
    try:
        refresh(store)
    except DamagedError:
        raise
    except StoreError as error:
        console.warn(f"{error.title}: {error.cause}")


# `skilld show ID`: a proposal with its evidence, its diff and the commands that decide on it.


def run_show(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.cli import learnings

    store = common.store_or_empty()
    refresh_or_warn(store)
    if arguments.id is None:
        common.fail_without_id(store, "show", [State.OPEN] if store.proposals.count(State.OPEN) else State)
    given = common.as_text(arguments.id)
    if not arguments.json and not store.proposals.find(given) and learnings.show(store, given):
        return 0
    return _show(store, common.find_proposal(store, given), arguments)


def _show(store: Store, proposal: Proposal, arguments: argparse.Namespace) -> int:
    from skilld.jobs.relocation import agents_loading, no_longer_loaded, personal_file_name, unloaded_beside
    from skilld.proposals.explain import Applicability, ProposalReader, describe_destination, diff, list_parts

    lines = list(diff(proposal))
    is_open = proposal.state.value == "open"
    parts = list_parts(proposal) if is_open else []
    lost = no_longer_loaded(store, proposal, common.host())
    proposal = replace(proposal, agents=() if lost else agents_loading(store, proposal, common.host()))
    if arguments.json:
        shown = {"diff": "\n".join(lines), "parts": [{"removed": part.removed, "added": part.added} for part in parts]}
        return common.write_json(as_json(store, proposal) | shown)
    remark = describe_standing(store, proposal, time.time())
    applicability = ProposalReader().applicability(proposal) if is_open else Applicability()
    own = personal_file_name(store, proposal, common.host()) if is_open else ""
    merges = applicability.can_merge and is_on_staging(proposal) and not remark
    applicability = replace(applicability, can_merge=merges, personal_file=own)
    if rest_of_rejected(store, proposal):  # which `accept` takes by this ID
        applicability = Applicability(obstacle="you rejected this part; restore it before you accept it")
    remarks = (
        *describe_decision(store, proposal),
        remark,
        applicability.obstacle,
        describe_destination(proposal),
        unloaded_beside(store, proposal, common.host()),
        lost,
        *describe_borrowed_lines(store, proposal, [line[1:] for line in lines if line.startswith(" ")]),
        *list_contradictions(store, proposal),
        *unsure_origins(proposal),
        *other_copies(store, proposal),
        *result_lines(store, proposal),
    )
    ways = not arguments.without_commands
    age = describe_age(store, proposal, time.time())
    print_proposal(proposal, lines, remarks, applicability, parts if ways else (), age=age, ways=ways)
    return 0


def print_proposal(
    proposal: Proposal,
    lines: list[str],
    remarks: Iterable[str],
    applicability: Applicability,
    parts: Sequence[Part] = (),
    *,
    age: str,
    ways: bool = True,
) -> None:
    """Print a proposal for a person, with its `age` and `remarks` on its state; `applicability` says what works.

    Several `parts` are numbered. Without `ways` no commands are printed.
    """
    from skilld.proposals.narrow import part_flags, part_reasons

    console.say(f"{console.paint(proposal.id, 'bold')}  {console.plain(proposal.skill)}  {proposal.state.value}")
    console.say(f"  {console.plain(proposal.summary)}")
    parts = parts if len(parts) > 1 else ()  # one part is the whole
    why = part_reasons(proposal, parts)
    flags = part_flags(proposal, parts)
    if proposal.reason and not why:
        console.say(f"  why: {console.plain(proposal.reason)}")
    for said in describe_quotes(one.quote for one in proposal.evidence):
        console.say(f"  {said}")
    judged = f"{describe_judge(proposal)}, confidence {proposal.confidence:.2f}"
    console.say(f"  {describe_origin(proposal)}, proposed {age}, {judged}", style="dim")
    where = console.message(str(_folder_of(proposal)))
    console.say("; ".join(filter(None, (f"  {where}", _loaded_by(proposal)))), style="dim")
    of_all = [one for one in proposal.flags if not any(one in own for own in flags)]
    marked = [*(("!", one) for one in of_all), *(("note:", one) for one in (proposal.note, *remarks) if one)]
    for mark, text in marked:
        console.say(f"  {mark} {console.message(text)}", style="yellow")
    console.line()
    console.diff(lines)
    if parts:
        _print_parts(proposal, parts, why, flags)
    commands = list(_commands(proposal, applicability)) if proposal.commit and ways else []
    if commands:
        console.line()
        _print_commands(commands)
    if commands and applicability.can_merge and not applicability.can_cherry_pick and not applicability.obstacle:
        console.say("  git cherry-pick would conflict with other changes to the file; skilld accept will not", 2)


def describe_quotes(quotes: Iterable[str]) -> Iterator[str]:
    """Yield the person's words, each once, with how often they were said."""
    for quote, number in Counter(quotes).items():
        yield f"you: \u201c{console.plain(quote)}\u201d{f' ({count_times(number)})' if number > 1 else ''}"


def unsure_origins(proposal: Proposal) -> Iterator[str]:
    """Yield a remark for each agent whose log may have taken a script's words for the person's."""
    for info in (ADAPTERS[agent].INFO for agent in heard_by(proposal) if agent in ADAPTERS):
        if info.unsure and proposal.evidence:
            yield f"the log of {info.title} does not distinguish {info.unsure} from what you typed"


def other_copies(store: Store, proposal: Proposal) -> Iterator[str]:
    """Yield a remark for each copy of a proposal's skill beside it that agents load instead of this one."""
    from skilld.cli import inventory

    path = Path(proposal.path)  # TOP/.claude/skills/NAME/SKILL.md
    if proposal.target is not TargetKind.SKILL or len(path.parents) <= _FOLDERS_BELOW_TOP:
        return
    top = path.parents[_FOLDERS_BELOW_TOP]
    skills = [one for one in inventory.all_skills([top]) if one.name == path.parent.name]
    mine = [one for one in skills if one.path == path]
    present = inventory.agents_here(store) if len(skills) > len(mine) else []
    for one in skills:
        beside = one.path != path and one.path.parents[_FOLDERS_BELOW_TOP:][:1] == (top,)
        if beside and (titles := inventory.titles_without(present, one, mine)):
            load = "loads" if len(titles) == 1 else "load"
            yield f"{join_words(titles)} {load} another copy of it, {one.path.parent}, which this does not change"


def _loaded_by(proposal: Proposal) -> str:
    """Return which agents load the edited file; empty for a skill, and if none is known to."""
    if proposal.target not in {TargetKind.INSTRUCTIONS, TargetKind.RULES, TargetKind.PERSONAL} or not proposal.agents:
        return ""
    everywhere = " in all your projects" if proposal.target is TargetKind.PERSONAL else ""
    return f"loaded by {console.plain(join_words(proposal.agents))}{everywhere}"


def _print_commands(commands: Sequence[tuple[str, str]]) -> None:
    """Print commands with their descriptions in columns; below a command that is too long for its column."""
    width = max((len(command) for command, _ in commands if len(command) <= _MAX_COMMAND_WIDTH), default=0)
    for command, does in commands:
        if len(command) > width:
            console.say(f"  {command}")
        console.say(f"  {command if len(command) <= width else '':{width}}  {does}", width + 4)


def _print_parts(proposal: Proposal, parts: Sequence[Part], why: Sequence[str], flags: Sequence[Sequence[str]]) -> None:
    """Print the numbered parts of a proposal with their reasons and flags, and how to decide on some of them."""
    console.line()
    for number, part in enumerate(parts, 1):
        console.say(console.plain(f"  part {number}  {part.line}"), 10)
        if why:
            console.say(console.plain(f"          why: {why[number - 1]}"), 10)
        for flag in flags[number - 1]:
            console.say(f"          ! {console.message(flag)}", 10, style="yellow")

    some = str(len(parts)) if len(parts) < 3 else f"1,{len(parts)}"  # noqa: PLR2004 - two of three parts are only some
    examples = {"accept": some, "reject": some}
    sure, flagged = (
        ",".join(str(number) for number, own in enumerate(flags, 1) if bool(own) is doubtful)
        for doubtful in (False, True)
    )
    if any(one.op is Op.MARK for one in proposal.operations):  # it says where the others came from, and comes last
        if len(parts) < 3:  # noqa: PLR2004 - neither the mark nor its only part can be taken alone
            return
        examples = {"accept": "1", "reject": "1"}
    elif sure and flagged:
        examples = {"accept": sure, "reject": flagged}
    for verb, numbers in examples.items():
        console.say(f"To {verb} only some parts: skilld {verb} {proposal.id} --part {numbers}")


def describe_judge(proposal: Proposal) -> str:
    """Name the judge of a proposal; one that code made of other things than a session's messages has none."""
    made_by_code = "-" in proposal.batch_id and not proposal.batch_id.startswith(MOVED_PREFIX)
    if proposal.model == OFFLINE and made_by_code:
        return "made without a model"
    return f"judge: {console.plain(proposal.model)}"


def describe_origin(proposal: Proposal) -> str:
    """Describe where a proposal came from: a session, or a verb."""
    if not proposal.evidence and not proposal.session_id:
        verbs = {EVALS_PREFIX: "skills eval", IMPORT_PREFIX: "skills import"}
        verbs |= {REVIEWS_PREFIX: "mine --reviews", TRIM_PREFIX: "trim"}
        return f"skilld {next((verb for at, verb in verbs.items() if proposal.batch_id.startswith(at)), 'consolidate')}"
    return f"{proposal.agent}, session {console.plain(proposal.session_id)}"


def _commands(proposal: Proposal, applicability: Applicability) -> Iterator[tuple[str, str]]:
    """Yield the commands that decide, and what each does; none that would conflict or merge more than this proposal."""
    if proposal.state.value != "open":
        ways = _commands_after_decision(proposal)
        yield from (one for one in ways if not (applicability.obstacle and one[0].startswith("skilld accept ")))
        return
    git, where = "git", "commit it to the branch you have checked out"
    if Path(proposal.repo).parent == common.places().repositories:
        root = proposal.path.removesuffix(f"/{proposal.relpath}")
        git, where = f"skilld git --root {shell_quoted(root)}", "write it to the file"
    if not applicability.obstacle:
        yield f"skilld accept {proposal.id}", where
        if own := applicability.personal_file:
            yield f"skilld accept {proposal.id} --to {own}", "write it to your own file, for all your projects"
    again = f"; it is {common.REPROPOSAL_CONDITION}" if proposal.evidence else ""
    yield f"skilld reject {proposal.id}", f"discard it{again}"
    if applicability.can_cherry_pick:
        yield f"{git} cherry-pick {proposal.commit[:10]}", "the same as accept, with plain git"
    if applicability.can_merge:
        with_commit = ", with a merge commit" if applicability.makes_merge else ""  # the branch starts at an older one
        yield (
            f"{git} merge {proposal.branch.removeprefix('refs/heads/')}",
            f"accept every proposal on the branch{with_commit}",
        )


def _commands_after_decision(proposal: Proposal) -> Iterator[tuple[str, str]]:
    """Yield the commands that change a decision, and what each does."""
    back, after_all = "return it to the staging branch", "accept it after all"
    discard = f"discard it now; it will be {common.REPROPOSAL_CONDITION}"
    ways = {
        "accepted": {"revert": "undo it with a new commit"},
        "dropped": {"restore": back, "accept": "commit it to the branch you have checked out", "reject": discard},
        "rejected": {"restore": back, "accept": after_all},
        "said": {"restore": "propose it anyway, if that line does not cover it"},
        "stale": {"restore": f"{back}, regenerated for the current text", "accept": after_all},
        "reverted": {"accept": after_all},
    }
    if is_said_since(proposal):
        ways["superseded"] = {"restore": "propose it anyway, if that line does not cover it"}
    elif is_overtaken(proposal):
        ways["superseded"] = {"restore": "propose it again, once the newer one is decided on"}
    for verb, does in ways.get(proposal.state.value, {}).items():
        yield f"skilld {verb} {proposal.id}", does
