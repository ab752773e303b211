"""Checks that an edit says its updates and nothing else: a model can quote well and still write the opposite. Pure.

Every removed word must be named by an update, and every added word supported by one. Rewrapping, renumbering and
reindenting are no changes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from skilld.classify.block_diff import Block, BlockDiff, diff_blocks
from skilld.classify.clauses import foreign_parts
from skilld.classify.polarity import REVERSING_WORD, reversing_words
from skilld.classify.removable_blocks import (
    RemovableBlocks,
    block_sentences,
    is_rewritten,
    is_substituted,
    removable_blocks,
    unnamed_sentences,
    with_typed_quotes,
    words_of,
)
from skilld.classify.support import exact_tokens, holds_token
from skilld.markdown.structure import is_default_title
from skilld.text import fold_case
from skilld.types import Kind, Update
from skilld.values import value_class
from skilld.words import (
    contains_name,
    content_stems,
    has_negation,
    is_other_language,
    matching_share,
    matching_words,
    normalize,
    proper_names,
)

_MIN_CARRIED = 0.5  # share of an added block's content words that the updates and the removed blocks must contain
_CODE = "code"
_MAX_SAID, _MAX_PARTS, _MAX_NAMES = 4000, 10, 5  # characters, sentences, and names of each that are compared
_NAME = re.compile(r"\b[A-Za-z]\w*?[A-Z0-9]\w*")  # KDoc, H2: a name wherever it stands
_REFERENCE = re.compile(
    r"\b(?:steps?|schritte?|pasos?|passos?|étapes?|шаг\w*|krok\w*)\s+#?(\d+)|(?:步骤|ステップ)\s*(\d+)", re.IGNORECASE
)


def has_uncarried_block(change: BlockDiff, updates: Sequence[Update]) -> bool:
    """Whether the edit adds a block that no update supports, or one that repeats another added block."""
    pool: frozenset[str] = frozenset().union(*(words_of(update.change) for update in updates))
    gone = words_of(_removed_text(change))
    olds = [change.old[place].text for place in change.removed]
    said = fold_case("\n".join(update.change for update in updates))
    carrying: list[frozenset[str]] = []
    if any(_is_bare(change, place, gone) for place in change.added):
        return True
    for block in _added_blocks(change):
        words = words_of(block.text)
        own = matching_words(pool, words)
        if (
            block.level
            or not words
            or is_default_title(block.text)
            or (block.kind == _CODE and fold_case(block.text) in said)
        ):
            continue
        new_numbers = _numbers(block.text) - _numbers(_removed_text(change)) - _moved_references(change, block)
        if matching_share(words, gone) == 1 and change.removed and not new_numbers:
            continue  # the old words, in other lines
        if any(is_substituted(old, block.text, pool) for old in olds) and matching_share(words, pool | gone) == 1:
            continue  # an old line with some terms replaced by those of a change
        if not own or matching_share(words, pool | gone) < _MIN_CARRIED:
            return True
        carrying.append(own)
    done: set[str] = set()
    for own in sorted(carrying, key=len, reverse=True):
        if own <= done:
            return True
        done |= own
    return False


def _is_bare(change: BlockDiff, place: int, gone: frozenset[str]) -> bool:
    """Whether an added heading has nothing new below it and does not reword a removed one."""
    block = change.new[place]
    return bool(block.level) and place + 1 not in change.added and not matching_share(words_of(block.text), gone)


def adds_claims(change: BlockDiff, updates: Sequence[Update], typed: str) -> bool:
    """Whether an added clause, heading or number comes neither from the person nor from the skill.

    A number must come from the person or from a removed line.
    """
    ground = _ground_text(change, updates, typed)
    known = normalize(ground)
    skill = words_of("\n".join(block.text for block in change.old))
    for block in _added_blocks(change):
        if is_default_title(block.text):
            continue
        strange = [block.text] if block.level else foreign_parts(block.text, ground)
        if any(matching_share(words_of(part), skill | words_of(ground)) < 1 for part in strange):
            return True
        if any(not holds_token(number, known) for number in _numbers(block.text) - _moved_references(change, block)):
            return True
    return False


def clauses_from_skill(change: BlockDiff, updates: Sequence[Update], typed: str) -> tuple[str, ...]:
    """Return the added clauses and headings that share no word with the updates, the person or removed lines."""
    ground = _ground_text(change, updates, typed)
    return tuple(
        clause
        for block in _added_blocks(change)
        if not is_default_title(block.text)
        for clause in foreign_parts(block.text, ground)
    )


def _ground_text(change: BlockDiff, updates: Sequence[Update], typed: str) -> str:
    return "\n".join([*(update.change for update in updates), typed, _removed_text(change)])


def _added_blocks(change: BlockDiff) -> list[Block]:
    return [change.new[place] for place in change.added]


def _removed_text(change: BlockDiff) -> str:
    return "\n".join(change.old[place].text for place in change.removed)


def _numbers(text: str) -> set[str]:
    return {token for token in exact_tokens(text) if token.replace(",", "").isdecimal()}


def _moved_references(change: BlockDiff, block: Block) -> set[str]:
    """Return the numbers in a block that refer to a step that was renumbered."""
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


_MIN_SAID = 0.5  # share of a change's content words that the added lines must contain
_MAX_REMOVED = 3  # lines that an update may remove, besides those below a heading or step that it names


@value_class
class FidelityCheck:
    """Whether an edit does what its updates say; if not, `why_not` is a clause for the person.

    `by_heading` are the headings, steps and list introductions below which it removes lines that no update names.
    `beyond` are added clauses that only use words of the skill; `along` are removed sentences that are not named.
    """

    why_not: str = ""
    by_heading: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    along: tuple[str, ...] = ()


def check_fidelity(before: str, after: str, updates: Sequence[Update], typed: str) -> FidelityCheck:
    """Judge an edit from `before` to `after`; the heading that code gives a new section may be added.

    Raises SkilldError if one of the texts cannot be parsed.
    """
    change = diff_blocks(before, after)
    gone = removable_blocks(change, updates, typed)
    for why in (
        _removal_fault(change, gone, updates),
        _move_fault(change, gone, updates),
        _omission_fault(change, updates),
        _reversal_fault(change, updates, typed),
        _addition_fault(change, updates, typed),
    ):
        if why:
            return FidelityCheck(why)
    named_alone = (
        place for place in change.removed if place in gone.all and place not in gone.below | gone.heads | gone.given_up
    )
    along = [
        part
        for place in named_alone
        if len(block_sentences(change.old[place])) > 1 or place in gone.displaced
        for part in unnamed_sentences(change, place, with_typed_quotes(updates, typed))
    ]
    along = _without_named_elsewhere(along, "\n".join([*(update.quote for update in updates), typed]))
    whole = tuple(change.old[place].text for place in gone.parts)
    return FidelityCheck("", whole, clauses_from_skill(change, updates, typed), tuple(along))


def _without_named_elsewhere(parts: Sequence[str], said: str) -> list[str]:
    """Return sentences without those with a name that the person used in another language, where other words differ."""
    said = said[:_MAX_SAID]
    plain = normalize(said)

    def is_named(part: str) -> bool:
        names = sorted(proper_names(part) | {word.casefold() for word in _NAME.findall(part)})[:_MAX_NAMES]
        return any(contains_name(name, plain) for name in names) and is_other_language(part, said)

    return [part for at, part in enumerate(parts) if at >= _MAX_PARTS or not is_named(part)]


def _removal_fault(change: BlockDiff, gone: RemovableBlocks, updates: Sequence[Update]) -> str | None:
    """Return a fault if a block is removed that no update names, directly or by its heading."""
    written = " ".join(change.new[place].text for place in change.added)
    lines = 0
    for place in change.removed:
        if place in gone.orphans:
            continue
        block = change.old[place]
        if all(is_rewritten(part, written) for part in block_sentences(block)):
            continue  # written again elsewhere
        if place not in gone.given_up:
            lines += block.lines if place not in gone.heads else 1
        if place not in gone.all:
            return "it removes something the person did not mention"
    return "it removes something the person did not mention" if lines > _MAX_REMOVED * len(updates) else None


def _move_fault(change: BlockDiff, gone: RemovableBlocks, updates: Sequence[Update]) -> str | None:
    """Return a fault if blocks are moved and no update mentions them; blocks of a removed heading may move."""
    said = [words_of(f"{update.change}\n{update.quote}") for update in updates]
    for run, past in change.moved:
        if all(place in gone.orphans for place in run):
            continue
        if not any(
            matching_share(words_of(change.old[place].text), words) >= _MIN_SAID
            for place in (*run, *past)
            for words in said
        ):
            return "it moves something the person did not mention"
    return None


def _omission_fault(change: BlockDiff, updates: Sequence[Update]) -> str | None:
    """Return a fault if the added lines lack most of an update, or most of its new words where they replace a line."""
    words = content_stems("\n".join(change.new[place].text for place in change.added))
    known = content_stems("\n".join(block.text for block in change.old))
    for update in updates:
        wanted = content_stems(update.change)
        if update.kind is Kind.REMOVE_STEP or not wanted or matching_share(wanted, words) >= _MIN_SAID:
            continue
        # "| staging | view |": one value was replaced, and the words around it stay where they are.
        new = wanted - matching_words(wanted, known)
        if not change.removed or matching_share(new, words) < _MIN_SAID:
            return "it does not make the requested change"
    return None


def _addition_fault(change: BlockDiff, updates: Sequence[Update], typed: str) -> str | None:
    """Return a fault if a block is added that no update supports, or that says more."""
    if adds_claims(change, updates, typed):
        return "it says more than the person did"
    return "it adds something the person did not mention" if has_uncarried_block(change, updates) else None


def _reversal_fault(change: BlockDiff, updates: Sequence[Update], typed: str) -> str | None:
    added = "\n".join(change.new[place].text for place in change.added)
    removed = "\n".join(change.old[place].text for place in change.removed)
    changes = "\n".join(update.change for update in updates)
    ground = normalize(f"{changes}\n{typed}\n{removed}")
    if reversing_words(added) - set(REVERSING_WORD.findall(ground)) or (
        has_negation(added) and not has_negation(f"{changes}\n{removed}")
    ):
        return "it reverses or softens what the person said"
    return None
