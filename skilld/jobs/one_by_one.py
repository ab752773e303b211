"""Which open proposals a batch ("accept all of these") leaves to the person, to be decided on one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.pipeline.edits import COLLATERAL_FLAG
from skilld.proposals.model import BY_HAND_FLAG, IMPORT_PREFIX, REMEDY_PREFIX, REVIEWS_PREFIX
from skilld.proposals.remarks import why_left_open
from skilld.store import Store
from skilld.text import join_sentences
from skilld.types import BY_HEADING_FLAG, Kind, Proposal
from skilld.words import content_stems

_CUT_PREFIX = f"{REMEDY_PREFIX}cut-"  # of a rule that was never needed
_OTHERS_WORDS = {
    IMPORT_PREFIX: "the skill is imported, and none of it is in your words",
    REVIEWS_PREFIX: "reviewers asked for it, not you",
}
_REMOVES = re.compile(r"It removes an instruction(?:: (?P<line>.*))?", re.DOTALL)
_MAY_REPEAT = re.compile(r".+ may already say this")
_MIN_NAMED_SHARE = 0.5  # of a removed line's stems: the person's words must have more


def why_one_by_one(store: Store, proposal: Proposal) -> str:
    """Return why a batch leaves an open proposal to the person, with the command to type; empty if it does not.

    It contradicts something or may do harm; it removes an instruction that the person did not name, repeats a line, is
    a cut that nobody asked for, or has other people's words.
    """
    if why := why_left_open(store, proposal):
        return why
    doubt = next(_doubts(proposal), "")
    end = f"To accept it nevertheless: skilld accept {proposal.id}"
    return f"{proposal.id} was left open: {join_sentences([doubt, end]).removesuffix('.')}" if doubt else ""


def _doubts(proposal: Proposal) -> Iterator[str]:
    if proposal.batch_id.startswith(_CUT_PREFIX):
        yield "you did not ask for this cut"
    if why := next((why for prefix, why in _OTHERS_WORDS.items() if proposal.batch_id.startswith(prefix)), ""):
        yield why
    for flag in proposal.flags:
        if flag.startswith((BY_HEADING_FLAG, COLLATERAL_FLAG, BY_HAND_FLAG)) or _MAY_REPEAT.fullmatch(flag):
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
