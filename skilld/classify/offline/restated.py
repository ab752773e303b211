"""Whether two things said in one batch are one rule, of which one says more: "use pnpm", "always pnpm, never npm"."""

from __future__ import annotations

import re

from skilld.classify.offline.choices import chosen_part
from skilld.classify.said_already import says_already
from skilld.words import content_stems, has_negation

# Words that make a ban no narrower: "never push straight to main".
_EMPHASIS = re.compile(
    r"\b(?:straight|direct(?:ly)?|ever|again|really|direkt|jemals|directement|directamente|diretamente|direttamente"
    r"|rechtstreeks)\b",
    re.IGNORECASE,
)


def restates(change: str, earlier: str) -> bool:
    """Whether `change` says what `earlier` said, or the other way round."""
    if says_already(change, earlier):
        return True
    if not says_already(earlier, change, covered=1.0):
        return False
    # "No emojis" is more than "no emojis in commit messages", unless what the longer one adds is a part of its own.
    added = content_stems(_EMPHASIS.sub(" ", change)) - content_stems(earlier)
    return not (has_negation(chosen_part(earlier)) and added and "," not in change)
