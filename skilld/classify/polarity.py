"""Does a change turn round what was said? A model can quote "always ..." and write "never ..." with the same words.

Pure. Measured on the labelled development turns (94 instructions that their turn supports, and 90 turned round): 34 of
those turned round are caught, one right one is refused. Without the exemption of complaints 45 and 19: "you are editing
main" rightly becomes a rule with a no in it, "why didn't you run the tests" one without.
"""

from __future__ import annotations

import re

from skilld.words import content_stems, denies, share_held

_CLAUSE = re.compile(r"[.;,!?\n]+|\b(?:but|instead|rather)\b")
_HOLDS = 0.5  # share of the change's content words by which a clause is about it
_BEGINS = 2  # words: a change that says no begins with it; further on it marks a contrast ("use X, not Y")
# "Don't merge without a review" asks for something.
_EXCEPT = re.compile(r"\b(?:without|unless|until|except|sin|sem|sans|ohne|senza|без|bez)\b", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"[?\uff1f]|\b(?:why|you(?:['\u2019]?(?:re|ve)|\s+(?:are|were|have|did|didn['\u2019]?t|do|don['\u2019]?t|keep|kept|left|"
    r"forgot|always|never|just))|we['\u2019]?re|are\s+we|there\s+(?:is|are)|i['\u2019]?ll)\b",
    re.IGNORECASE,
)


def turns_round(change: str, quote: str) -> bool:
    """Whether the change forbids what nobody forbade, or asks for what was only ever forbidden."""
    if _COMPLAINT.search(quote):
        return False
    if denies(change):
        return denies(" ".join(change.split()[:_BEGINS])) and not denies(quote)
    wanted = content_stems(change)
    about = [clause for clause in _CLAUSE.split(quote) if share_held(wanted, content_stems(clause)) >= _HOLDS]
    return bool(about) and all(denies(clause) and not _EXCEPT.search(clause) for clause in about)
