"""Whether each block that an edit puts in is carried by an update, and says nothing besides.

Pure. What an edit touches, its updates and what the person typed go in; yes or no comes out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from skilld.classify.clauses import beyond
from skilld.classify.named import words_of
from skilld.classify.support import exact_tokens, holds_token
from skilld.classify.touched import Block, Touched
from skilld.text import folded
from skilld.types import Update
from skilld.words import comparable, share_held

_CARRIED = 0.5  # share of a block's content words that an update and the removed blocks must hold
_CODE = "code"
_REFERENCE = re.compile(
    r"\b(?:steps?|schritte?|pasos?|passos?|étapes?|шаг\w*|krok\w*)\s+#?(\d+)|(?:步骤|ステップ)\s*(\d+)", re.IGNORECASE
)


def is_extra(change: Touched, updates: Sequence[Update]) -> bool:
    """Whether a block comes that no update carries: its words are not a change's, or another block has said it."""
    pool: frozenset[str] = frozenset().union(*(words_of(update.change) for update in updates))
    gone = words_of(_removed(change))
    said = folded("\n".join(update.change for update in updates))
    carrying: list[frozenset[str]] = []
    if any(_is_bare(change, place, gone) for place in change.added):
        return True
    for block in _added(change):
        words = words_of(block.text)
        own = _held(pool, words)
        if block.level or not words or (block.kind == _CODE and folded(block.text) in said):
            continue
        new_numbers = _numbers(block.text) - _numbers(_removed(change)) - _moved_references(change, block)
        if share_held(words, gone) == 1 and change.removed and not new_numbers:
            continue  # what was there, in other lines
        if not own or share_held(words, pool | gone) < _CARRIED:
            return True
        carrying.append(own)
    done: set[str] = set()
    for own in sorted(carrying, key=len, reverse=True):
        if own <= done:
            return True
        done |= own
    return False


def _is_bare(change: Touched, place: int, gone: frozenset[str]) -> bool:
    """Whether a heading comes with nothing new below it, and is no other wording of one that went."""
    block = change.new[place]
    return bool(block.level) and place + 1 not in change.added and not share_held(words_of(block.text), gone)


def says_more(change: Touched, updates: Sequence[Update], typed: str, title: str) -> bool:
    """Whether a block says what neither the person said nor the skill, in a clause, a heading or a number.

    For a number the skill is no ground, but for what gave way to it.
    """
    ground = _ground(change, updates, typed)
    known = comparable(ground)
    skill = words_of("\n".join(block.text for block in change.old))
    for block in _added(change):
        if block.level and block.text == title:
            continue
        strange = [block.text] if block.level else beyond(block.text, ground)
        if any(share_held(words_of(part), skill | words_of(ground)) < 1 for part in strange):
            return True
        if any(not holds_token(number, known) for number in _numbers(block.text) - _moved_references(change, block)):
            return True
    return False


def from_the_skill(change: Touched, updates: Sequence[Update], typed: str, title: str) -> tuple[str, ...]:
    """Return the written clauses and headings that hold no word of an update, of the person, or of what gave way."""
    ground = _ground(change, updates, typed)
    return tuple(
        clause
        for block in _added(change)
        if not (block.level and block.text == title)
        for clause in beyond(block.text, ground)
    )


def _ground(change: Touched, updates: Sequence[Update], typed: str) -> str:
    return "\n".join([*(update.change for update in updates), typed, _removed(change)])


def _added(change: Touched) -> list[Block]:
    return [change.new[place] for place in change.added]


def _removed(change: Touched) -> str:
    return "\n".join(change.old[place].text for place in change.removed)


def _held(words: frozenset[str], ground: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if share_held(frozenset({word}), ground))


def _numbers(text: str) -> set[str]:
    return {token for token in exact_tokens(text) if token.isdecimal()}


def _moved_references(change: Touched, block: Block) -> set[str]:
    """Return the numbers by which a block names a step that had another number before."""
    olds, news = _numbered(change.old), _numbered(change.new)
    before = {old for one in change.removed for old in _references(change.old[one].text)}
    return {new for new in _references(block.text) if any(olds[old] & news[new] for old in before)}


def _references(text: str) -> set[str]:
    return {match[1] or match[2] for match in _REFERENCE.finditer(text)}


def _numbered(blocks: Sequence[Block]) -> dict[str, set[str]]:
    out: dict[str, set[str]] = defaultdict(set)
    for block in blocks:
        if block.number:
            out[block.number].add(block.text)
    return out
