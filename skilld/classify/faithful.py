"""Do the written lines say the changes, and no more? A model can quote well and still write the opposite.

Pure. Two texts of a skill, updates and what the person typed go in; a clause for the person comes out. Word by word:
what goes must be named by an update, what comes must be carried by one. Wrapping, numbering and indenting again is no
change.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from skilld.classify.clauses import beyond
from skilld.classify.polarity import TURNS, turns
from skilld.classify.support import exact_tokens, holds_token
from skilld.classify.touched import (
    Block,
    BlockDiff,
    RemovableBlocks,
    is_substituted,
    lives_on,
    named,
    parts,
    spoken,
    touched,
    unnamed,
    words_of,
)
from skilld.text import folded
from skilld.types import Kind, Update
from skilld.words import comparable, content_stems, denies, held_in, share_held

# Whether each block that an edit puts in is carried by an update, and says nothing besides.
#
# What an edit touches, its updates and what the person typed go in; yes or no comes out.

_CARRIED = 0.5  # share of a block's content words that an update and the removed blocks must hold
_CODE = "code"
_REFERENCE = re.compile(
    r"\b(?:steps?|schritte?|pasos?|passos?|étapes?|шаг\w*|krok\w*)\s+#?(\d+)|(?:步骤|ステップ)\s*(\d+)", re.IGNORECASE
)


def is_extra(change: BlockDiff, updates: Sequence[Update]) -> bool:
    """Whether a block comes that no update carries: its words are not a change's, or another block has said it."""
    pool: frozenset[str] = frozenset().union(*(words_of(update.change) for update in updates))
    gone = words_of(_removed(change))
    olds = [change.old[place].text for place in change.removed]
    said = folded("\n".join(update.change for update in updates))
    carrying: list[frozenset[str]] = []
    if any(_is_bare(change, place, gone) for place in change.added):
        return True
    for block in _added(change):
        words = words_of(block.text)
        own = held_in(pool, words)
        if block.level or not words or (block.kind == _CODE and folded(block.text) in said):
            continue
        new_numbers = _numbers(block.text) - _numbers(_removed(change)) - _moved_references(change, block)
        if share_held(words, gone) == 1 and change.removed and not new_numbers:
            continue  # what was there, in other lines
        if any(is_substituted(old, block.text, pool) for old in olds) and share_held(words, pool | gone) == 1:
            continue  # an old line in which terms gave way to those of a change
        if not own or share_held(words, pool | gone) < _CARRIED:
            return True
        carrying.append(own)
    done: set[str] = set()
    for own in sorted(carrying, key=len, reverse=True):
        if own <= done:
            return True
        done |= own
    return False


def _is_bare(change: BlockDiff, place: int, gone: frozenset[str]) -> bool:
    """Whether a heading comes with nothing new below it, and is no other wording of one that went."""
    block = change.new[place]
    return bool(block.level) and place + 1 not in change.added and not share_held(words_of(block.text), gone)


def says_more(change: BlockDiff, updates: Sequence[Update], typed: str, title: str) -> bool:
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


def from_the_skill(change: BlockDiff, updates: Sequence[Update], typed: str, title: str) -> tuple[str, ...]:
    """Return the written clauses and headings that hold no word of an update, of the person, or of what gave way."""
    ground = _ground(change, updates, typed)
    return tuple(
        clause
        for block in _added(change)
        if not (block.level and block.text == title)
        for clause in beyond(block.text, ground)
    )


def _ground(change: BlockDiff, updates: Sequence[Update], typed: str) -> str:
    return "\n".join([*(update.change for update in updates), typed, _removed(change)])


def _added(change: BlockDiff) -> list[Block]:
    return [change.new[place] for place in change.added]


def _removed(change: BlockDiff) -> str:
    return "\n".join(change.old[place].text for place in change.removed)


def _numbers(text: str) -> set[str]:
    return {token for token in exact_tokens(text) if token.isdecimal()}


def _moved_references(change: BlockDiff, block: Block) -> set[str]:
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


_SAYS = 0.5  # share of a change's content words that the added lines must hold
_MAX_REMOVED = 3  # lines an update may take away, besides what stands below a heading or a step that it names


@dataclass(frozen=True, slots=True)
class Faith:
    """Whether an edit does what its updates say: `why_not` is a clause for the person, empty if it does.

    `by_heading` are the headings, steps and first lines of lists below which it takes away what no update names itself.
    `beyond` are clauses that it writes in words of the skill alone, `along` sentences that go and are
    not named themselves.
    """

    why_not: str = ""
    by_heading: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    along: tuple[str, ...] = ()


def faith(before: str, after: str, updates: Sequence[Update], typed: str, *, title: str = "") -> Faith:
    """Judge an edit from `before` to `after`; `title` is what code calls a section of its own.

    Raises SkilldError if one of the texts cannot be taken apart.
    """
    change = touched(before, after)
    gone = named(change, updates, typed)
    added = [change.new[place] for place in change.added]
    for why in (
        _removal_fault(change, gone, updates),
        _move_fault(change, gone, updates),
        _omission(added, updates),
        _reversal(change, updates, typed),
        _addition_fault(change, updates, typed, title),
    ):
        if why:
            return Faith(why)
    named_alone = (place for place in change.removed if place in gone.all and place not in gone.below | gone.heads)
    along = [
        part
        for place in named_alone
        if len(parts(change.old[place])) > 1 or place in gone.displaced
        for part in unnamed(change, place, spoken(updates, typed))
    ]
    whole = tuple(change.old[place].text for place in gone.parts)
    return Faith("", whole, from_the_skill(change, updates, typed, title), tuple(along))


def _removal_fault(change: BlockDiff, gone: RemovableBlocks, updates: Sequence[Update]) -> str | None:
    """Say so where a block goes that no update names, neither itself nor by what it is below."""
    written = " ".join(change.new[place].text for place in change.added)
    lines = 0
    for place in change.removed:
        if place in gone.below:
            continue
        block = change.old[place]
        if all(lives_on(part, written) for part in parts(block)):
            continue  # it lives on
        lines += block.lines if place not in gone.heads else 1
        if place not in gone.all:
            return "it removes something the person did not mention"
    return "it removes something the person did not mention" if lines > _MAX_REMOVED * len(updates) else None


def _move_fault(change: BlockDiff, gone: RemovableBlocks, updates: Sequence[Update]) -> str | None:
    """Say so where blocks change places and no update speaks of either side; what stood below a lost head may move."""
    said = [words_of(f"{update.change}\n{update.quote}") for update in updates]
    for run, past in change.moved:
        if all(place in gone.orphans for place in run):
            continue
        if not any(
            share_held(words_of(change.old[place].text), words) >= _SAYS for place in (*run, *past) for words in said
        ):
            return "it moves something the person did not mention"
    return None


def _omission(added: Sequence[Block], updates: Sequence[Update]) -> str | None:
    words = content_stems("\n".join(block.text for block in added))
    for update in updates:
        wanted = content_stems(update.change)
        if update.kind is not Kind.REMOVE_STEP and wanted and share_held(wanted, words) < _SAYS:
            return "it does not make the requested change"
    return None


def _addition_fault(change: BlockDiff, updates: Sequence[Update], typed: str, title: str) -> str | None:
    """Say so where a block comes that no update carries, or that says something besides."""
    if says_more(change, updates, typed, title):
        return "it says more than the person did"
    return "it adds something the person did not mention" if is_extra(change, updates) else None


def _reversal(change: BlockDiff, updates: Sequence[Update], typed: str) -> str | None:
    added = "\n".join(change.new[place].text for place in change.added)
    removed = "\n".join(change.old[place].text for place in change.removed)
    changes = "\n".join(update.change for update in updates)
    ground = comparable(f"{changes}\n{typed}\n{removed}")
    if turns(added) - set(TURNS.findall(ground)) or (denies(added) and not denies(f"{changes}\n{removed}")):
        return "it reverses or softens what the person said"
    return None
