"""`skilld consolidate`: finds skills for the same task and proposes merging them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common, inventory
from skilld.clock import rfc3339
from skilld.errors import SkilldError, UsageError
from skilld.files import shell_quoted
from skilld.library.consolidate import (
    OTHER_PROJECT,
    REFUSED,
    Pair,
    PairStatus,
    comparable_skills,
    decided_lines,
    folder_losses,
    merge_proposal,
    merge_source,
    pair_key,
    pair_key_of_batch,
    plan,
    similar_pairs,
)
from skilld.library.merge import Merge, merge_skills, origin_entry
from skilld.library.merge_sorting import Omission
from skilld.library.rows import LibraryRow
from skilld.proposals.amend import stage_and_store
from skilld.proposals.poll import refresh
from skilld.skills import Skill
from skilld.store import Store
from skilld.text import join_words, pluralize
from skilld.types import Proposal, State


@dataclass(frozen=True)
class MergeOffer:
    """A pair of skills, the open proposals for its merge, and those decided against."""

    pair: Pair
    proposals: tuple[Proposal, ...] = ()
    refused: tuple[Proposal, ...] = ()
    trouble: str = ""
    typed: str = ""  # how a command names the skill that is merged away
    left_out: tuple[str, ...] = ()  # agents here that see only that one
    link: str = ""  # the command that shows them the other one


_MAX_APART = 5  # pairs of different projects that are named


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.cli.effect import read_past_sessions

    if len(arguments.names) == 1:
        remedy = "Name two skills, or none: skilld consolidate NAME NAME"
        raise UsageError("A merge needs two skills", "you named only one skill", remedy)
    store = common.store_or_empty() if arguments.dry_run else common.store()
    refresh(store)
    project = common.resolve_folder(arguments.project) if arguments.project else None
    unread = read_past_sessions(store)  # which of two skills is kept depends on their use
    found, compared = find_merges(store, project, arguments.names)
    if not arguments.dry_run:
        found = [_propose(store, one) for one in found]
    if arguments.json:
        return common.write_json([_as_json(one, dry_run=arguments.dry_run) for one in found])
    if not arguments.names:
        whose = f"of {console.message(str(project))}" if project else "of your own and of every project you have used"
        none = "" if found else " No two of them are for the same task."
        console.say(f"Compared {pluralize(compared, 'skill')} {whose}.{none}")
    if found and unread:
        left = pluralize(unread, "transcript")
        console.say(f"{left} not read yet, so a skill may have been used more often than is known.", style="yellow")
    apart = [] if arguments.names else [one for one in found if one.pair.why == OTHER_PROJECT]
    for one in found:
        if one not in apart:
            _print_offer(one, dry_run=arguments.dry_run)
    if apart:
        _print_apart(apart)
    return 0


def find_merges(store: Store, project: Path | None, names: Sequence[str] = ()) -> tuple[list[MergeOffer], int]:
    """Return the pairs of similar skills, of a project if given, or those named; and how many were compared."""
    meant = [inventory.find_skill(store, name) for name in names]
    named = {str(row.path) for row in meant}
    rows = [*inventory.listed_rows(store, project), *meant]
    past = [frozenset(one.loaded) for one in store.past.sessions()]
    skills = {one.described.key: one for one in comparable_skills(rows, past)}
    if missing := sorted(named - skills.keys()):
        raise SkilldError("Cannot merge this skill", f"{missing[0]} belongs to a plugin")
    mine = {key: one for key, one in skills.items() if project is None or one.row.skill.project == project}
    batches: dict[str, list[Proposal]] = {}
    for proposal in store.proposals.all():
        batches.setdefault(pair_key_of_batch(proposal.batch_id), []).append(proposal)
    present = inventory.agents_here(store)

    def merge(pair: Pair) -> Pair:
        away, keep = (mine[one.key].row.skill for one in (pair.away, pair.keep))
        return _with_merge(pair, batches.get(_key(pair), ()), folder_losses(away, keep, present))

    planned = plan(
        similar_pairs([one.described for one in mine.values()], named),
        {key: one.facts for key, one in mine.items()},
        {key: {one.state for one in made} for key, made in batches.items()},
        merge,
    )
    offers = [
        MergeOffer(
            pair,
            tuple(one for one in batches.get(_key(pair), ()) if one.state is State.OPEN),
            tuple(one for one in batches.get(_key(pair), ()) if one.state in REFUSED),
            typed=inventory.typed_name(pair.away.name, Path(pair.away.key), rows),
            left_out=tuple(inventory.titles_without(present, away, [keep])),
            link=inventory.link_command(away, keep),
        )
        for pair in planned
        for away, keep in [(mine[pair.away.key].row.skill, mine[pair.keep.key].row.skill)]
    ]
    return offers, len(mine)


def _with_merge(pair: Pair, proposals: Sequence[Proposal], lost: Sequence[Omission]) -> Pair:
    """Return a pair with its merge, or with the status and reason for none; `proposals` were made for it before."""
    taken = pair.away.key in pair.keep.took
    try:
        merged = _read_and_merge(Path(pair.keep.key), Path(pair.away.key), proposals if taken else ())
    except (OSError, SkilldError) as error:
        why = error.cause if isinstance(error, SkilldError) else str(error)
        return replace(pair, status=PairStatus.APART, why=why)
    status = pair.status if merged.operations else PairStatus.MERGED if taken else PairStatus.COVERED
    return replace(pair, status=status, merge=replace(merged, left=(*merged.left, *lost)))


def _read_and_merge(keep: Path, away: Path, proposals: Sequence[Proposal]) -> Merge:
    """Return the merge of two files without what these proposals offered. Raises OSError and SkilldError."""
    name = origin_entry(keep, away)
    return merge_skills(keep.read_bytes(), away.read_bytes(), name, common.redactor(), decided_lines(proposals))


def advice_on_merged(store: Store, keep: Skill, away: Skill, rows: Sequence[LibraryRow]) -> str:
    """Return whether a skill that was merged into another one can be archived, or has something left; and how."""
    if _has_more(store, keep.path, away.path):
        rest = " ".join(
            ("skilld consolidate", *(inventory.typed_name(one.name, one.path, rows) for one in (keep, away)))
        )
        return f"{away.name} was merged into {keep.name} in part; for the rest: {rest}"
    archive = f"skilld skills archive {inventory.typed_name(away.name, away.path, rows)}"
    return f"{away.name} was merged into another skill; you can archive it: {archive}"


def advice_on_accepted(store: Store, proposals: Sequence[Proposal]) -> list[str]:
    """Return what to do next about the skills whose lines the accepted ones of these proposals took over."""
    merges = [
        one
        for one in proposals
        if (store.proposals.get(one.id) or one).state is State.ACCEPTED and merge_source(one, ())[0]
    ]
    if not merges:
        return []
    rows, made = inventory.listed_rows(store, None), store.proposals.all()
    skills = {row.path: row.skill for row in rows}
    both = {(Path(one.path), merge_source(one, made)[1]) for one in merges}
    found = [(skills.get(keep), skills.get(away or keep)) for keep, away in both]
    return [advice_on_merged(store, keep, away, rows) for keep, away in found if keep and away and keep is not away]


def _has_more(store: Store, keep: Path, away: Path) -> bool:
    """Whether a skill that was merged into another one says something that was never offered to that one."""
    key = pair_key(str(keep), str(away))
    made = [one for one in store.proposals.all() if pair_key_of_batch(one.batch_id) == key]
    try:
        return bool(_read_and_merge(keep, away, made).operations)
    except (OSError, SkilldError):
        return True  # whoever cannot look must not advise to archive it


def _key(pair: Pair) -> str:
    return pair_key(pair.keep.key, pair.away.key)


def _propose(store: Store, found: MergeOffer) -> MergeOffer:
    """Propose the merge of a pair."""
    merge = found.pair.merge
    if merge is None or not merge.operations:
        return found
    key = _key(found.pair)
    tries = sum(pair_key_of_batch(one.batch_id) == key for one in store.proposals.all())
    proposal = merge_proposal(found.pair, merge, rfc3339(time.time()), tries)
    try:
        return replace(found, proposals=(stage_and_store(store, proposal),))
    except SkilldError as error:
        return replace(found, trouble=str(error))


def _as_json(found: MergeOffer, *, dry_run: bool) -> dict[str, Any]:
    pair, merge = found.pair, found.pair.merge
    return {
        "keep": {"name": pair.keep.name, "path": pair.keep.key},
        "away": {"name": pair.away.name, "path": pair.away.key},
        "score": round(pair.match.score, 3),
        "words": list(pair.match.words),
        "what": pair.status.value,
        "why": pair.why or found.trouble,
        "carried": list(merge.carried) if merge else [],
        "lost": [{"what": one.what, "why": one.why} for one in merge.left] if merge else [],
        "proposals": [one.id for one in found.proposals],
        "dry_run": dry_run,
    }


def _print_offer(found: MergeOffer, *, dry_run: bool) -> None:
    pair = found.pair
    keep, away = console.plain(pair.keep.name), console.plain(pair.away.name)
    console.say(f"{console.paint(f'{away} -> {keep}', 'bold')}  {console.plain(pair.match.why)}")
    into, from_ = (console.message(str(Path(one.key).parent)) for one in (pair.keep, pair.away))
    console.say(f"  {from_} -> {into}", style="dim")
    archive = f"skilld skills archive {console.plain(found.typed)}"
    refusal = "reverted" if any(one.state is State.REVERTED for one in found.refused) else "rejected"
    said = {
        PairStatus.OPEN: f"proposed, waiting for your decision: {', '.join(one.id for one in found.proposals)}",
        PairStatus.REJECTED: f"you {refusal} this merge; it will not be proposed again. " + _undo_advice(found.refused),
        PairStatus.WAITS: f"waiting {pair.why}",
        PairStatus.APART: f"not merged: {console.plain(pair.why)}{_advice_on_apart(pair)}",
    }
    if pair.status in said:
        console.say(f"  {said[pair.status]}")
    elif pair.merge is not None:
        _print_merge(found, pair.merge, archive, dry_run=dry_run)
    if found.trouble:
        console.say(f"  not proposed: {console.message(found.trouble)}", style="yellow")


def _advice_on_apart(pair: Pair) -> str:
    """Return how to go on with two skills of different projects: without one of them, the person's own if one is."""
    if pair.why != OTHER_PROJECT:
        return ""
    spare = pair.keep if not pair.keep.place else pair.away
    folder = console.message(shell_quoted(Path(spare.key).parent))
    return f". To keep just one of them, archive the other: skilld skills archive {folder}"


def _print_apart(apart: Sequence[MergeOffer]) -> None:
    """Name the most similar pairs of skills of different projects."""
    why = apart[0].pair.why
    console.say(f"{pluralize(len(apart), 'pair')} of similar skills not merged: {why}:")
    for one in apart[:_MAX_APART]:
        keep, away = (console.message(str(Path(side.key).parent)) for side in (one.pair.keep, one.pair.away))
        console.say(f"  - {away} and {keep}", 4)
    if more := apart[_MAX_APART:]:
        console.say(f"  - {pluralize(len(more), 'more pair')}, less similar")
    console.say("  To keep just one of a pair, archive the other: skilld skills archive FOLDER")


def _undo_advice(refused: Sequence[Proposal]) -> str:
    """Return the commands that bring refused proposals back."""
    verbs = {"accept": [one.id for one in refused if one.state is State.REVERTED]}
    verbs["restore"] = [one.id for one in refused if one.state is not State.REVERTED]
    commands = [f"skilld {verb} {' '.join(ids)}" for verb, ids in verbs.items() if ids]
    return f"To bring it back: {', '.join(commands)}"


def _print_merge(found: MergeOffer, merge: Merge, archive: str, *, dry_run: bool) -> None:
    keep = console.plain(found.pair.keep.name)
    for one in merge.left:
        console.say(f"  not carried over: {console.plain(one.what)} ({console.plain(one.why)})", style="yellow")
    if not merge.operations:
        what = "everything else" if merge.left else "everything"
        advice = f"To archive the other skill: {archive}"
        if found.left_out:
            who = join_words(found.left_out)
            advice = f"{who} would lose the other skill. To put a link in its place: {archive} && {found.link}"
        console.say(f"  {keep} already says {what}. {console.plain(advice)}")
        return
    for text in merge.carried:
        console.say(f"  + {console.plain(text)}")
    for proposal in found.proposals:
        console.say(f"  proposed: skilld review {proposal.id}")
    if dry_run:
        console.say(f"  would be proposed for {keep}")
