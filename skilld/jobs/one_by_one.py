"""Which open proposals a batch ("accept all of these") leaves to the person, to be decided on one by one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from skilld.classify.said_already import find_line
from skilld.errors import SkilldError
from skilld.files import read_whole
from skilld.git.session import shared_git
from skilld.pipeline.edits import COLLATERAL_FLAG
from skilld.proposals.amend import decide_parts, select_parts
from skilld.proposals.decide import DecisionReport, accepting
from skilld.proposals.explain import list_parts
from skilld.proposals.model import (
    BY_HAND_FLAG,
    IMPORT_PREFIX,
    REMEDY_PREFIX,
    REVIEWS_PREFIX,
    is_partly_by_hand,
    is_said_since,
)
from skilld.proposals.narrow import part_updates
from skilld.proposals.remainder import open_remainder_id
from skilld.proposals.remarks import why_left_open
from skilld.store import Store
from skilld.store.proposals import TAKEN_BACK_PREFIX
from skilld.text import join_sentences
from skilld.types import BY_HEADING_FLAG, Kind, Proposal
from skilld.words import content_stems

_CUT_PREFIX = f"{REMEDY_PREFIX}cut-"  # of a rule that was never needed
_OTHERS_WORDS = {
    IMPORT_PREFIX: "the skill is imported, and none of it is in your words",
    REVIEWS_PREFIX: "reviewers asked for it, not you",
}
_REMOVES = re.compile(r"It removes an instruction(?:: (?P<line>.*))?", re.DOTALL)
_MAY_REPEAT = re.compile(r".+ may already say this|the accepted proposal \w+ asks for the same in .+")
_MIN_NAMED_SHARE = 0.5  # of a removed line's stems: the person's words must have more


def why_one_by_one(store: Store, proposal: Proposal) -> str:
    """Return why a batch leaves an open proposal to the person, with the command to type; empty if it does not.

    It contradicts something or may do harm; it removes an instruction that the person did not name, repeats a line, is
    a cut that nobody asked for, taken back by later words, or has other people's words.
    """
    if why := why_left_open(store, proposal):
        return why
    doubt = next(_doubts(proposal), "")
    end = f"To accept it anyway: skilld accept {proposal.id}"
    return f"{proposal.id} was left open: {join_sentences([doubt, end]).removesuffix('.')}" if doubt else ""


def why_not_any_more(store: Store, proposal: Proposal) -> str | None:
    """Return why a batch leaves a proposal open after accepting another one; None if it still accepts it.

    Empty if it was closed, as the report about the other one says.
    """
    return "" if is_said_since(proposal) else why_one_by_one(store, proposal) or None


@shared_git()
def parts_for_batch(store: Store, proposal: Proposal) -> set[int]:
    """Return the parts (numbers from 0) that a batch accepts of a proposal which it leaves to the person; often none.

    They must be separate things that the person said: what one update changes in two places belongs together, and so do
    changes to other files, or an answer to a line that says the opposite, which may be about any part. What somebody
    has written into the file since is left out.
    """
    if proposal.creates or proposal.also or proposal.linked or proposal.conflicts:
        return set()
    with suppress(SkilldError):
        pieces = list_parts(proposal)
        if len(pieces) > 1 and part_updates(proposal, pieces):
            parts = {one: select_parts(proposal, {one}) for one in range(len(pieces))}
            said = _said_by_hand(proposal, parts) if is_partly_by_hand(proposal) else set()
            return {one for one, part in parts.items() if one not in said and not why_one_by_one(store, part)}
    return set()


def _said_by_hand(proposal: Proposal, parts: Mapping[int, Proposal]) -> set[int]:
    """Return the parts with a rule that the file already contains."""
    try:
        text = read_whole(proposal.path).decode("utf-8-sig", "replace")
    except OSError:
        return {*parts}
    return {one for one, part in parts.items() if any(find_line(rule, text) for rule in part.updates)}


def accept_parts_of_batch(store: Store, proposal: Proposal, parts: Collection[int]) -> DecisionReport:
    """Accept these parts of a proposal as `decide_parts` does; the report says why the others were left open."""
    report = decide_parts(store, proposal, parts, accepting())
    decided = store.proposals.get(proposal.id)
    rest = store.proposals.get(open_remainder_id(store, decided)) if decided else None
    why = why_one_by_one(store, rest) if rest else ""
    return replace(report, lines=(*report.lines, *filter(None, [why])))


def _doubts(proposal: Proposal) -> Iterator[str]:
    if is_partly_by_hand(proposal):
        yield proposal.note
    if proposal.batch_id.startswith(_CUT_PREFIX):
        yield "you did not ask for this cut"
    if why := next((why for prefix, why in _OTHERS_WORDS.items() if proposal.batch_id.startswith(prefix)), ""):
        yield why
    for flag in proposal.flags:
        if flag.startswith(
            (BY_HEADING_FLAG, COLLATERAL_FLAG, BY_HAND_FLAG, TAKEN_BACK_PREFIX)
        ) or _MAY_REPEAT.fullmatch(flag):
            yield flag
        elif (found := _REMOVES.fullmatch(flag)) and proposal.evidence and not _is_named(found["line"] or "", proposal):
            yield flag[0].lower() + flag[1:]


def _is_named(line: str, proposal: Proposal) -> bool:
    """Whether the person's words name a removed line: with most of its words, or any if they ask for a removal."""
    own = content_stems(line)
    said = content_stems("\n".join(one.quote for one in proposal.evidence))
    asks = any(one.kind is Kind.REMOVE_STEP for one in proposal.updates)
    least = 0.0 if asks else _MIN_NAMED_SHARE
    return bool(own) and len(own & said) > least * len(own)
