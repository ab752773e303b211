"""Which blocks of a skill an update names, so that they may go: by their own words, or by a heading above them.

Pure. What an edit touches and its updates go in; numbers of old blocks come out. Only the change and the quoted words
name anything, and both were checked before; the section that a model gives is its own word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from skilld.classify.polarity import turns
from skilld.classify.touched import Block, Touched
from skilld.text import fold
from skilld.types import Kind, Update
from skilld.words import content_stems, other_tongue, share_held, stems

_ABOUT = 0.33  # share of a block's content words that an update must hold which is there to change or remove something
_ALIKE = 0.4  # share of each other's content words, on average, from which any update takes a block's place
_LEAST_HELD = 0.25  # share of a block's content words that the change must hold all the same
_FEW_SHARED = 2  # content words in common: one alone stands in many a rule
_HALF = 0.5
_HEAD_ABOUT = 0.5  # share of a heading's content words that a change must hold to take all that stands below it
_LEAST_NAMED = 2  # words of a heading by which other lines that name it are told
_TAKES = frozenset({Kind.CHANGE_STEP, Kind.REMOVE_STEP})
_PART = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Named:
    """Old blocks that may go. `below` are those that only a heading, a step or a list's first line above them names.

    `heads` are such heads that go themselves; `orphans` all blocks that stood below one.
    """

    all: frozenset[int]
    heads: frozenset[int]
    below: frozenset[int]
    orphans: frozenset[int]


@lru_cache(maxsize=4096)  # the blocks of one skill are compared with each update
def words_of(text: str) -> frozenset[str]:
    """Return the content words of a text; of one that has none, as "Ask first.", all its words."""
    return content_stems(text) or stems(text) or frozenset(word.casefold() for word in _WORD.findall(text))


def parts(block: Block) -> list[str]:
    """Return the sentences of a block: each must be named, for an update of one takes no other along."""
    return [part for part in _PART.split(block.text) if _WORD.search(part)]


def named(change: Touched, updates: Sequence[Update]) -> Named:
    """Return the removed blocks that the updates name."""
    gone = set(change.removed)
    heads = {place for place in gone if any(_names_head(change, place, update) for update in updates)}
    inside = {below for place in heads for below in range(place + 1, change.old[place].end)}
    titles = [change.old[place].text for place in heads]
    itself = {place for place in gone if _is_named(change, place, updates)}
    emptied = {place for place in gone if _is_emptied(change, place, gone - itself - heads - inside)}
    mentions = {place for place in gone if any(_mentions(change.old[place].text, title) for title in titles)}
    left = sorted(gone - itself - heads - inside - emptied - mentions)
    below = inside & gone - itself
    return Named(
        frozenset(itself | heads | below | emptied | mentions | _foreign(change, left, updates)),
        frozenset(heads | emptied),
        frozenset(below),
        frozenset(inside),
    )


def _said(update: Update) -> str:
    return f"{update.change}\n{update.quote}"


def _is_named(change: Touched, place: int, updates: Sequence[Update]) -> bool:
    """Whether updates name a block, as a whole or each sentence of it."""
    block = change.old[place]
    if any(_names(change, place, block.text, update, frozenset()) for update in updates):
        return True
    return not unnamed(change, place, updates)


def unnamed(change: Touched, place: int, updates: Sequence[Update]) -> list[str]:
    """Return the sentences of a block that are not written again and that no update names."""
    written = " ".join(change.new[one].text for one in change.added)
    words = words_of(written)
    return [
        part
        for part in parts(change.old[place])
        if not (lives_on(part, written) or any(_names(change, place, part, one, words) for one in updates))
    ]


def lives_on(part: str, written: str) -> bool:
    """Whether all words of a sentence are written again, those that turn a rule round among them."""
    return share_held(words_of(part), words_of(written)) == 1 and turns(part) <= turns(written)


def _names(change: Touched, place: int, part: str, update: Update, written: frozenset[str]) -> bool:
    """Whether an update names a sentence: by all words of it that are not written again, or by being near to it.

    One that only adds must be nearer than one that is there to change or remove something; of that, no other block of
    the skill may be nearer to what was said. With one word in common what goes must give way to the change on the spot.
    """
    words, said = words_of(part), words_of(_said(update))
    lost = frozenset(word for word in words if not share_held(frozenset({word}), written))
    if lost and lost != words and share_held(lost, said) == 1:
        return True
    wanted = words_of(update.change)
    held = share_held(words, wanted)
    replaces = any(share_held(wanted, words_of(heir.text)) >= _HALF for heir in change.heirs(place))
    if held >= _LEAST_HELD and (held + share_held(wanted, words)) / 2 >= _ALIKE:
        several = round(held * len(words)) >= _FEW_SHARED or held == 1
        return several or replaces or update.kind is Kind.REMOVE_STEP
    share = share_held(words, said)
    few = round(share * len(words)) < _FEW_SHARED and share < _HALF
    if update.kind not in _TAKES or share < _ABOUT or few or not (replaces or update.kind is Kind.REMOVE_STEP):
        return False
    return share >= max(
        (share_held(words_of(block.text), said) for block in _staying(change) if not block.level), default=0.0
    )


def _staying(change: Touched) -> list[Block]:
    gone = set(change.removed)
    return [block for place, block in enumerate(change.old) if place not in gone]


def _names_head(change: Touched, place: int, update: Update) -> bool:
    """Whether an update names a heading, a step or the line above a list so that what stands below may go with it.

    Of the heads of the same depth that stay none may be nearer to what was said: "drop the load test" takes no "smoke
    test" away. The title of the whole skill names nothing.
    """
    head = change.old[place]
    if update.kind not in _TAKES or head.end == place + 1 or (head.level and head.level == _title_level(change)):
        return False
    said = words_of(_said(update))
    share = share_held(words_of(head.text), said)
    if update.kind is Kind.REMOVE_STEP or fold(update.section).casefold() == fold(head.text).casefold():
        least = _ABOUT
    else:
        least = _HEAD_ABOUT
    others = [
        block
        for block in _staying(change)
        if (block.level, block.indent, block.kind) == (head.level, head.indent, head.kind)
    ]
    return share >= max([least, *(share_held(words_of(block.text), said) for block in others)])


def _title_level(change: Touched) -> int:
    """Return the level of the only heading of its level that stands first, 0 where there is none."""
    levels = [block.level for block in change.old if block.level]
    return levels[0] if levels and levels.count(levels[0]) == 1 and min(levels) == levels[0] else 0


def _is_emptied(change: Touched, place: int, astray: set[int]) -> bool:
    """Whether a heading or the line above a list goes because all goes that stood below it."""
    head = change.old[place]
    below = set(range(place + 1, head.end))
    return bool(below) and head.kind != "item" and below <= set(change.removed) and not below & astray


def _mentions(text: str, title: str) -> bool:
    """Whether a line speaks of what stood under a head that is gone: "see the load test" below "## Load test"."""
    wanted = content_stems(title)
    return len(wanted) >= _LEAST_NAMED and share_held(wanted, content_stems(text)) == 1


def _foreign(change: Touched, left: Sequence[int], updates: Sequence[Update]) -> set[int]:
    """Return those that changes of steps may replace, one each, for being in another language than the words.

    Whether a line in another language is what the person spoke of, words cannot tell; the person will see.
    """
    said = "\n".join(map(_said, updates))
    changing = sum(update.kind in _TAKES for update in updates)
    foreign = {place for place in left if other_tongue(change.old[place].text, said)}
    return foreign if len(left) <= changing and foreign == set(left) else set()
