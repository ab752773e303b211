"""Whether a sentence forbids what it names: "never force-push" is a guard, "never forget to force-push" is not.

Text and a position go in, a truth value comes out. English; a word for "not" counts once, two cancel each other.
"""

from __future__ import annotations

import re

_BOUNDARY = re.compile(r"[.!?;:\n—–]\s|,\s|\b(?:but|then|and (?:then|always|just)|so that|unless)\b", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:never|(?:do|does|must|should|may|can|shall|will|is|are)\s+not|don['’]?t|doesn['’]?t|mustn['’]?t"
    r"|shouldn['’]?t|can(?:not|['’]t)|won['’]?t|not|no|avoid(?:ing)?|forbid(?:den|s)?|prohibit(?:ed|s)?|ban(?:ned|s)?"
    r"|refuse|reject|block|stop|without|instead of|rather than|against)\b",
    re.IGNORECASE,
)
# After these a word for "not" is part of an order, not of a ban.
_ORDERS = re.compile(
    r"\s*(?:ever\s+)?(?:to\s+)?(?:forget|fail|hesitat|skip|omit|neglect|miss|worr|bother|wait|ask|tell|mention|inform"
    r"|notify|only|just|need|matter|problem|permission|approval|confirm|prompt|delay|question|notice|exception)",
    re.IGNORECASE,
)
_REACH = 80  # characters before a word in which its "not" is looked for


def is_forbidden(text: str, at: int) -> bool:
    """Whether the clause up to position `at` of the text negates what stands there."""
    before = text[max(0, at - _REACH) : at]
    boundaries = list(_BOUNDARY.finditer(before))
    clause = before[boundaries[-1].end() :] if boundaries else before
    count = sum(1 for match in _NOT.finditer(clause) if not _ORDERS.match(clause, match.end()))
    return count % 2 == 1
