"""Whether a rule applied in a session, judged by the words of the rule and of the work. Pure.

A rule about how the agent speaks or proceeds matters in every session. Any other topic must have been asked for, run or
touched. A model's answer (`model_questions`) takes precedence.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skilld.classify.conversation_style import is_about_conversation
from skilld.classify.offline.choices import NEAR, TOPICS
from skilld.words import content_stems, stems

# Rules with these words apply to every answer, whatever the work.
_CONDUCT_STEMS = stems(
    "answer reply respond response explain explanation emoji brief concise verbose summary summaries tone politely "
    "apologise greet language plan guess assume sure thank praise antworte antworten nachfragen"
)
# Asks the person, or anyone: "ask Lina before you change payments.py" is about payments.
_ASKS = re.compile(
    r"\bask(?:ing)?\b(?=\W*$|[,.;:]| (?:me|us|first|before|for|if|when|whether|rather|instead|\w+ questions?|questions?"
    r"|the (?:user|person))\b)",
    re.IGNORECASE,
)
# Words that occur in the work of nearly every session.
_COMMON_STEMS = content_stems(
    f"{TOPICS['weak']} edit change update fix code line read run open look please thing case project repository "
    "repo name text value number page version part kind every without each message entry plain long short size whole"
)
_KIND_STEMS = tuple(map(stems, NEAR))
_FAMILIES = tuple(frozenset().union(*(content_stems(word) for word in group.split())) for group in TOPICS["choices"])
_LANGUAGES = next(family for family in _FAMILIES if "german" in family)
_SPEAKING = _COMMON_STEMS | stems("speak talk write")  # "speak German", but not "labels in German"
_MIN_SHARE = 1 / 3  # of a rule's words


def could_matter(rule: str, work: frozenset[str]) -> bool:
    """Whether a rule could matter in a session with these stems of work."""
    words, conduct = _topic(rule)
    if conduct:
        return True
    shared = words & work
    if not shared:
        return False
    telling = any(shared & kind for kind in _KIND_STEMS)
    return telling or len(shared) >= _MIN_SHARE * len(words)


@lru_cache(maxsize=4096)
def _topic(rule: str) -> tuple[frozenset[str], bool]:
    own = content_stems(rule)
    conduct = bool(stems(rule) & _CONDUCT_STEMS or _ASKS.search(rule)) or is_about_conversation(rule)
    conduct = conduct or bool(own & _LANGUAGES and own <= _LANGUAGES | _SPEAKING)
    members = frozenset().union(*(family for family in _FAMILIES if own & family))
    return (own - _COMMON_STEMS or own) | members, conduct
