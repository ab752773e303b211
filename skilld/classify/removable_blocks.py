"""The blocks that an update names, by their own words or by a heading above them, so that an edit may remove them.

Only the change and the quote, which were checked before, can name a block; the section is the model's own word. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache

from skilld.classify.block_diff import ITEM, Block, BlockDiff
from skilld.classify.contradiction import contradicts
from skilld.classify.polarity import reversing_words
from skilld.text import fold
from skilld.types import Kind, Update
from skilld.values import value_class
from skilld.words import content_stems, is_other_language, matching_share, matching_words, numbers_by_unit, stems

_MIN_ABOUT = 0.33  # share of a block's content words in an update that changes or removes something
_MIN_ALIKE = 0.4  # average share of each other's content words from which any update may replace a block
_MIN_HELD = 0.25  # share of a block's content words that such a change must contain
_MIN_DISPLACED = 0.2  # share of a line's content words in a change that displaces it, if no other line is nearer
_MAX_FOREIGN = 3  # blocks of a section in another language that are removed as a whole
_FEW_SHARED = 2  # shared content words: many rules share a single one
_MIN_CARRIED = 0.5  # share of a change's content words in the block that replaces another
_MIN_HEAD_ABOUT = 0.5  # share of a heading's content words in a change that removes everything below it
_MIN_NAMED = 2  # words of a heading, for other lines that mention it
_MIN_GIVEN_UP = 0.2  # share of a block's content words in what a removal gives up as a whole
_LINES = re.compile(
    r"\b(?:lines|bullets|points|zeilen|punkte|lignes|líneas|righe|linhas|regels|linie|řádky)\b|строк", re.IGNORECASE
)
_LINE_STEMS = stems("line lines bullet rule zeile ligne línea riga linha regel file instructions")
_REMOVALS = frozenset({Kind.CHANGE_STEP, Kind.REMOVE_STEP})
_MAX_COMPARED = 120  # words of a sentence that is compared word by word, which takes quadratic time
_SENTENCE_BREAK = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
_WORD = re.compile(r"\w+")
_LEADING_LABEL = re.compile(r"[*_]{0,2}([^:\uff1a.!?]{2,40})[*_]{0,2}[:\uff1a]")  # what a line is about


@value_class
class RemovableBlocks:
    """Old blocks that may be removed. `below` are those named only by a head: a heading, step or list introduction.

    `heads` are removed heads, `parts` all heads whose blocks are removed as a whole, and `orphans` all blocks below a
    named head. `displaced` are blocks that a change replaces in place although it hardly names them. `given_up` are
    those on something that a removal gives up as a whole.
    """

    all: frozenset[int]
    heads: frozenset[int]
    below: frozenset[int]
    orphans: frozenset[int]
    parts: tuple[int, ...] = ()
    displaced: frozenset[int] = frozenset()
    given_up: frozenset[int] = frozenset()


@lru_cache(maxsize=4096)  # the blocks of one skill are compared with each update
def words_of(text: str) -> frozenset[str]:
    """Return the content words of a text; all its words if it has none, as "Ask first."."""
    return content_stems(text) or stems(text) or frozenset(word.casefold() for word in _WORD.findall(text))


def block_sentences(block: Block) -> list[str]:
    """Return the sentences of a block, each of which must be named to be removed."""
    return [part for part in _SENTENCE_BREAK.split(block.text) if _WORD.search(part)]


def with_typed_quotes(updates: Sequence[Update], typed: str) -> list[Update]:
    """Return the updates, and again with everything the person typed as their quotes, since it may name more."""
    return [*updates, *(replace(update, quote=typed) for update in updates if typed)]


def removable_blocks(change: BlockDiff, updates: Sequence[Update], typed: str = "") -> RemovableBlocks:
    """Return the removed blocks named by the updates or by the person's words, `typed`."""
    gone = set(change.removed)
    own, updates = updates, with_typed_quotes(updates, typed)
    wholes = {place for place in gone if any(_names_head(change, place, update) for update in updates)}
    for place in _emptied_heads(change):
        if any(_names_head(change, place, update) or _is_about_section(change, place, update) for update in updates):
            wholes.add(place)
    given_up = _blocks_given_up(change, updates)
    itself = {place for place in gone if place in given_up or _is_named(change, place, updates)}
    wholes |= {place for place in itself if any(_takes_item(change, place, update) for update in own)}
    heads = wholes & gone
    inside = {below for place in wholes for below in range(place + 1, change.old[place].end)}
    titles = [change.old[place].text for place in heads]
    emptied = {place for place in gone if _is_emptied(change, place, gone - itself - heads - inside)}
    mentions = {place for place in gone if any(_mentions(change.old[place].text, title) for title in titles)}
    left = gone - itself - heads - inside - emptied - mentions
    displaced = {place for place in left if any(_is_displaced(change, place, update) for update in updates)}
    below = inside & gone - itself
    otherwise = len(itself | wholes | displaced)
    foreign = _foreign_blocks(change, sorted(left - displaced), own, otherwise)
    return RemovableBlocks(
        frozenset(itself | heads | below | emptied | mentions | displaced | foreign),
        frozenset(heads | emptied),
        frozenset(below),
        frozenset(inside),
        tuple(place for place in sorted(wholes) if below & set(range(place, change.old[place].end))),
        frozenset(displaced),
        given_up,
    )


def _update_text(update: Update) -> str:
    return f"{update.change}\n{update.quote}"


def _is_named(change: BlockDiff, place: int, updates: Sequence[Update]) -> bool:
    """Whether updates name a block as a whole, or each of its sentences."""
    block = change.old[place]
    if any(_names_sentence(change, place, block.text, update, frozenset()) for update in updates):
        return True
    if any(
        update.kind is Kind.REMOVE_STEP and _is_only_one_released(change, place, update.quote) for update in updates
    ):
        return True
    return not unnamed_sentences(change, place, updates)


def _blocks_given_up(change: BlockDiff, updates: Sequence[Update]) -> frozenset[int]:
    """Return the removed blocks on something that a removal gives up as a whole: "we dropped celery, forget all of it".

    Its change and its quote both name that, and no block that stays does. A block that only mentions it, and does
    not begin with it, must be one of several that the words are about.
    """
    from skilld.classify.offline.release import SEVERAL, TALK_STEMS  # its tables take 0.1 s, as below

    out: set[int] = set()
    for update in updates:
        if update.kind is not Kind.REMOVE_STEP:
            continue
        subject = matching_words(content_stems(update.change), content_stems(update.quote)) - TALK_STEMS - _LINE_STEMS
        for block in _remaining_blocks(change):
            subject -= matching_words(subject, words_of(block.text))
        several = SEVERAL.search(update.change) or SEVERAL.search(update.quote) or _LINES.search(update.quote)
        for place in change.removed if subject else ():
            words = words_of(change.old[place].text)
            named = len(matching_words(subject, words))
            opens = matching_words(subject, words_of(change.old[place].text.split(maxsplit=1)[0]))
            if named and (several or opens or named >= _MIN_GIVEN_UP * len(words)):
                out.add(place)
    return frozenset(out)


def _is_only_one_released(change: BlockDiff, place: int, quote: str) -> bool:
    """Whether a quote says of a block, and of no other, that it holds no longer: "forget the prettier thing"."""
    from skilld.classify.offline.release import releases  # its tables take 0.1 s, and most edits remove nothing

    lasting = [one for one in releases(quote) if one.lasting]
    named = [at for at, block in enumerate(change.old) if any(one.fits(block.text) for one in lasting)]
    return named == [place]


def unnamed_sentences(change: BlockDiff, place: int, updates: Sequence[Update]) -> list[str]:
    """Return the sentences of a block that are neither written again nor named by an update."""
    written = " ".join(change.new[one].text for one in change.added)
    words = words_of(written)
    return [
        part
        for part in block_sentences(change.old[place])
        if not (is_rewritten(part, written) or any(_names_sentence(change, place, part, one, words) for one in updates))
    ]


def is_rewritten(part: str, written: str) -> bool:
    """Whether all words of a sentence are written again, including those that can reverse it."""
    return matching_share(words_of(part), words_of(written)) == 1 and reversing_words(part) <= reversing_words(written)


def _names_sentence(change: BlockDiff, place: int, part: str, update: Update, written: frozenset[str]) -> bool:
    """Whether an update names a sentence: by all its words that are not written again, or by similarity.

    An update that only adds must be more similar than one that changes or removes something; for the latter, no other
    block may be more similar. With only one shared word, the change must be in the place of the sentence.
    """
    words, said = words_of(part), words_of(_update_text(update))
    lost = words - matching_words(words, written)
    if lost and lost != words and matching_share(lost, said) == 1:
        return True
    wanted = words_of(update.change)
    held = matching_share(words, wanted)
    heirs = [heir for heir in change.replacements(place) if matching_share(wanted, words_of(heir.text)) >= _MIN_CARRIED]
    replaces = bool(heirs)
    if update.kind is Kind.CHANGE_STEP and replaces and _is_contradicted(part, update.change):
        return True
    if update.kind is Kind.CHANGE_STEP and any(is_substituted(part, heir.text, said) for heir in heirs):
        return True
    if _is_named_by_label(change, part, update) and (replaces or update.kind is Kind.REMOVE_STEP):
        return True
    if held >= _MIN_HELD and (held + matching_share(wanted, words)) / 2 >= _MIN_ALIKE:
        several = round(held * len(words)) >= _FEW_SHARED or held == 1
        return several or replaces or update.kind is Kind.REMOVE_STEP
    share = matching_share(words, said)
    few = round(share * len(words)) < _FEW_SHARED and share < _MIN_CARRIED
    if update.kind not in _REMOVALS or share < _MIN_ABOUT or few or not (replaces or update.kind is Kind.REMOVE_STEP):
        return False
    return share >= max(
        (matching_share(words_of(block.text), said) for block in _remaining_blocks(change) if not block.level),
        default=0.0,
    )


def _is_contradicted(part: str, wanted: str) -> bool:
    """Whether a sentence contradicts a change, or gives another number for the same measure."""
    mine, theirs = numbers_by_unit(wanted), numbers_by_unit(part)
    return contradicts(wanted, part) or any(mine[unit] != theirs[unit] for unit in mine.keys() & theirs.keys())


def is_substituted(part: str, heir: str, said: frozenset[str]) -> bool:
    """Whether a new sentence is the old one with some terms replaced, in place, by words that were said."""
    olds, news = (_WORD.findall(text.casefold()) for text in (part, heir))
    kept = gone = 0
    if max(len(olds), len(news)) > _MAX_COMPARED:
        return False
    for tag, i, j, m, n in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        went, came = content_stems(" ".join(olds[i:j])), content_stems(" ".join(news[m:n]))
        if tag == "equal":
            kept += len(went)
        elif went:
            gone += len(went)
            if not came or matching_share(came, said) < 1:
                return False
    return 0 < gone <= kept


def _is_named_by_label(change: BlockDiff, part: str, update: Update) -> bool:
    """Whether an update names the label of a line, as in "Labels: ...", and no remaining line has those words."""
    label = _LEADING_LABEL.match(part)
    if label is None or update.kind not in _REMOVALS:
        return False
    words, said = words_of(label[1]), words_of(_update_text(update))
    others = (words_of(block.text) for block in _remaining_blocks(change))
    return matching_share(words, said) == 1 and not any(matching_share(words, other) == 1 for other in others)


def _is_displaced(change: BlockDiff, place: int, update: Update) -> bool:
    """Whether a change takes the place of the most similar line, below the heading that its section names.

    A contradicting line often shares only one word with it.
    """
    words, said, wanted = words_of(change.old[place].text), words_of(_update_text(update)), words_of(update.change)
    above = next((one.text for one in reversed(change.old[:place]) if one.level), "")
    if update.kind is not Kind.CHANGE_STEP or fold(update.section).casefold() != fold(above).casefold():
        return False
    carried = any(matching_share(wanted, words_of(heir.text)) >= _MIN_CARRIED for heir in change.replacements(place))
    others = (matching_share(words_of(block.text), said) for block in _remaining_blocks(change) if not block.level)
    share = matching_share(words, said)
    return carried and share >= _MIN_DISPLACED and share > max(others, default=0.0)


def _remaining_blocks(change: BlockDiff) -> list[Block]:
    gone = set(change.removed)
    return [block for place, block in enumerate(change.old) if place not in gone]


def _names_head(change: BlockDiff, place: int, update: Update) -> bool:
    """Whether an update names a heading, step or list introduction, so that the blocks below may be removed with it.

    No remaining head of the same depth may be more similar: "drop the load test" does not remove "smoke test". The
    title of the skill does not count.
    """
    head = change.old[place]
    if update.kind not in _REMOVALS or head.end == place + 1 or (head.level and head.level == _title_level(change)):
        return False
    if place not in change.removed and update.kind is not Kind.CHANGE_STEP:
        return False  # a removal of all of it would not leave the heading
    said = words_of(_update_text(update))
    share = matching_share(words_of(head.text), said)
    if update.kind is Kind.REMOVE_STEP or fold(update.section).casefold() == fold(head.text).casefold():
        least = _MIN_ABOUT
    else:
        least = _MIN_HEAD_ABOUT
    others = [
        block
        for block in _remaining_blocks(change)
        if (block.level, block.indent, block.kind) == (head.level, head.indent, head.kind)
    ]
    return share >= max([least, *(matching_share(words_of(block.text), said) for block in others)])


def _takes_item(change: BlockDiff, place: int, update: Update) -> bool:
    """Whether an update removes an item with the blocks below it: no remaining line is more similar to its change."""
    item = change.old[place]
    if update.kind is not Kind.REMOVE_STEP or item.kind != ITEM or item.end == place + 1:
        return False
    wanted = words_of(update.change)
    others = (matching_share(words_of(block.text), wanted) for block in _remaining_blocks(change) if not block.level)
    return matching_share(words_of(item.text), wanted) > max(others, default=0.0)


def _emptied_heads(change: BlockDiff) -> Iterator[int]:
    """Yield each head with nothing left below it, if it is removed too or has new blocks below it."""
    gone = set(change.removed)
    title = _title_level(change)
    for place, head in enumerate(change.old):
        if place + 1 not in gone or head.end == place + 1 or (head.level and head.level == title):
            continue
        if gone.issuperset(range(place + 1, head.end)) and (place in gone or change.replacements(place + 1)):
            yield place


def _is_about_section(change: BlockDiff, place: int, update: Update) -> bool:
    """Whether an update is about most blocks below a head that its section names.

    A few lines in another language cannot be compared; they pass, and the person will see them.
    """
    head = change.old[place]
    above = "" if head.level else next((one.text for one in reversed(change.old[:place]) if one.level), "")
    section = fold(update.section).casefold()
    if (
        update.kind not in _REMOVALS
        or not section
        or section not in {fold(head.text).casefold(), fold(above).casefold()}
    ):
        return False
    if place not in change.removed and update.kind is not Kind.CHANGE_STEP:
        return False
    said, part = _update_text(update), change.old[place : head.end]
    if (
        len(part) <= _MAX_FOREIGN
        and place in change.removed
        and is_other_language(" ".join(one.text for one in part), said)
    ):
        return True
    return 2 * sum(bool(matching_share(words_of(one.text), words_of(said))) for one in part) > len(part)


def _title_level(change: BlockDiff) -> int:
    """Return the level of the skill's title: the first heading, if it is the only one of its level; otherwise 0."""
    levels = [block.level for block in change.old if block.level]
    return levels[0] if levels and levels.count(levels[0]) == 1 and min(levels) == levels[0] else 0


def _is_emptied(change: BlockDiff, place: int, astray: set[int]) -> bool:
    """Whether a heading or list introduction is removed because everything below it is."""
    head = change.old[place]
    below = set(range(place + 1, head.end))
    return bool(below) and head.kind != ITEM and below <= set(change.removed) and not below & astray


def _mentions(text: str, title: str) -> bool:
    """Whether a line refers to a removed head: "see the load test" to "## Load test"."""
    wanted = content_stems(title)
    return len(wanted) >= _MIN_NAMED and matching_share(wanted, content_stems(text)) == 1


def _foreign_blocks(change: BlockDiff, left: Sequence[int], updates: Sequence[Update], otherwise: int) -> set[int]:
    """Return the removed blocks in another language that the changes of steps may replace, one each.

    `otherwise` is the number of blocks that the changes remove by name. Words cannot show whether the person meant a
    line in another language; the person will see it.
    """
    said = "\n".join(map(_update_text, updates))
    changing = sum(update.kind in _REMOVALS for update in updates)
    foreign = {place for place in left if is_other_language(change.old[place].text, said)}
    return foreign if len(left) + otherwise <= changing and foreign == set(left) else set()
