"""Whether a rule applied in a session: judged from the words of the rule and of the work. Pure.

A rule about how the agent speaks or proceeds matters in any. What else a rule is about must have been asked for, run
or touched. Where a model was asked (`asking`), its word counts more.
"""

from __future__ import annotations

from functools import lru_cache

from skilld.classify.offline.choices import TOPICS
from skilld.words import content_stems, stems

# About every answer, whatever the work is.
_CONDUCT = stems(
    "answer reply respond response explain explanation emoji brief concise verbose summary summaries tone politely "
    "apologise greet language plan ask asking guess assume sure thank praise antworte antworten nachfragen"
)
# Words that stand in nearly every session's work.
_ANYWHERE = content_stems(
    f"{TOPICS['weak']} edit change update fix code line read run open look please thing case project repository "
    "repo name text value number page version part kind every without each message entry plain long short size whole"
)
_KINDS = tuple(stems(group) for group in TOPICS["near"])
_FAMILIES = tuple(frozenset().union(*(content_stems(word) for word in group.split())) for group in TOPICS["choices"])
_SHARE = 1 / 3  # of a rule's words


def could_matter(rule: str, work: frozenset[str]) -> bool:
    """Whether a session with these stems of work was one in which a rule could matter."""
    words, conduct = _about(rule)
    if conduct:
        return True
    shared = words & work
    if not shared:
        return False
    telling = any(shared & kind for kind in _KINDS)
    return telling or len(shared) >= _SHARE * len(words)


@lru_cache(maxsize=4096)
def _about(rule: str) -> tuple[frozenset[str], bool]:
    own = content_stems(rule)
    conduct = bool(stems(rule) & _CONDUCT) or any(own & family for family in _FAMILIES if "german" in family)
    members = frozenset().union(*(family for family in _FAMILIES if own & family))
    return (own - _ANYWHERE or own) | members, conduct
