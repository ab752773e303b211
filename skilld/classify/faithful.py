"""Do the written lines say the changes, and no more? A model that quoted and phrased well can still write the opposite.

Pure. Lines removed and added, changes and what the person typed go in; a clause for the person comes out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from skilld.types import Kind, Update
from skilld.words import comparable, content_stems, denies, other_tongue, share_held

_SAYS = 0.5  # share of a change's content words that the added lines must hold
_ABOUT = 0.33  # share of a removed line's content words that the changes or the person's words must hold
_CHANGE = frozenset({Kind.CHANGE_STEP, Kind.REMOVE_STEP})
_MOST_REMOVED = 3  # lines an update may take away
_MOST_BELOW = 8  # further lines that go with a heading or a step, where the person wanted that away
_HEAD = re.compile(r"(?P<level>#{1,6})\s|(?P<indent>[ \t]*)(?:[-*+]|\d+[.)])\s")
# Words that turn a rule round, soften it or make exceptions. A written line has them from the person, or from the line
# whose place it takes, or not at all.
_TURNS = re.compile(
    r"\b(?:no|not|never|nothing|none|cannot|without|unless|except|or|ask|if|may|might|can|could|optional(?:ly)?|only"
    r"|instead|rather|avoid|skip|ignore|stop)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def why_unfaithful(before: str, after: str, updates: Sequence[Update], typed: str) -> str:
    """Return why an edit from `before` to `after` does not do what the updates say; empty where it does."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    gone = old - new
    removed = [line for line in gone.elements() if line.strip()]
    added = "\n".join(line for line in (new - old).elements() if line.strip())
    changes = "\n".join(update.change for update in updates)
    said = f"{changes}\n{typed}"
    astray = [line for line in removed if not (_is_about(line, said) or _lives_on(line, added))]
    # Whether a line in another language is what the person spoke of, words cannot tell; the person will see.
    changing = sum(update.kind in _CHANGE for update in updates)
    if any(update.kind is Kind.REMOVE_STEP for update in updates):
        heads, below = _below(before.splitlines(), gone, said)
        removed = _without(removed, below)
        astray = [line for line in _without(astray, below) if not any(_names(line, head) for head in heads)]
    if len(removed) > _MOST_REMOVED * len(updates) or not (
        len(astray) <= changing and all(other_tongue(line, said) for line in astray)
    ):
        return "it removes what the person did not speak of"
    words = content_stems(added)
    for update in updates:
        wanted = content_stems(update.change)
        if update.kind is not Kind.REMOVE_STEP and wanted and share_held(wanted, words) < _SAYS:
            return "it does not say what it was made for"
    ground = comparable("\n".join([said, *removed]))
    foreign = {match.casefold() for match in _TURNS.findall(added)} - set(_TURNS.findall(ground))
    if foreign or (denies(added) and not denies(f"{changes}\n" + "\n".join(removed))):
        return "it turns round or softens what the person said"
    return ""


def _below(lines: Sequence[str], gone: Counter[str], said: str) -> tuple[list[str], Counter[str]]:
    """Return the removed headings and steps that the person spoke of, and the removed lines that stand below them.

    Of the heads of the same depth that stay none may be nearer to what was said: "drop the load test" takes no "smoke
    test" away.
    """
    words = content_stems(said)
    near = {line: share_held(content_stems(line), words) for line in lines if _HEAD.match(line)}
    kept: dict[int, float] = {}
    for line, share in near.items():
        if not gone[line]:
            kept[_depth(line)] = max(share, kept.get(_depth(line), 0.0))
    heads: list[str] = []
    below: Counter[str] = Counter()
    head: int | None = None
    left = 0
    for line in lines:
        depth = _depth(line)
        if not line.strip():
            continue
        if gone[line] and head is not None and depth > head and left:
            below[line] += 1
            left -= 1
        elif gone[line] and near.get(line, 0.0) >= max(_ABOUT, kept.get(depth, 0.0)):
            head, left = depth, _MOST_BELOW
            heads.append(line)
        else:
            head = None
    return heads, below


def _depth(line: str) -> int:
    """Return how deep a line stands: headings by their level, everything else below them by its indentation."""
    head = _HEAD.match(line)
    if head and head["level"]:
        return len(head["level"])
    return 2 * len(line) - 2 * len(line.lstrip()) + (10 if head else 11)


def _without(lines: Sequence[str], below: Counter[str]) -> list[str]:
    return list((Counter(lines) - below).elements())


def _names(line: str, head: str) -> bool:
    """Whether a line speaks of what stood under a head that is gone: "see the load test" below "## Load test"."""
    return share_held(content_stems(head), content_stems(line)) == 1


def _is_about(line: str, said: str) -> bool:
    words = content_stems(line)
    return not words or share_held(words, content_stems(said)) >= _ABOUT


def _lives_on(line: str, added: str) -> bool:
    """Whether a removed line is one that only changed: half its words are written again, with all that turns them."""
    turns = {match.casefold() for match in _TURNS.findall(line)}
    kept = share_held(content_stems(line), content_stems(added)) >= _SAYS
    return kept and turns <= {match.casefold() for match in _TURNS.findall(added)}
