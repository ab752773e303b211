"""The blocks that an edit removes, adds and moves: headings, list items, paragraphs and lines of code. Pure.

A block that is only rewrapped, reindented or renumbered is the same block.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile

from skilld.classify.contradiction import contradicts
from skilld.classify.polarity import reversing_words
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import Role, list_item, roles, sections
from skilld.text import fold
from skilld.types import Kind, Update
from skilld.words import content_stems, is_other_language, matching_share, matching_words, numbers_by_unit, stems

_OWN_LINE = re.compile(r"\s*[|>]")  # lines of tables and quotations, which continue no other line
_LABEL = re.compile(r".*[:\uff1a][*_]*$|[*_]{2}[^*_]+[*_]{2}$")
_HEADING, _ITEM = "heading", "item"


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, list item or paragraph, or one line of code, a table or a quotation.

    `text` is without markers, white space folded; `lines` is the number of lines and `start` the first one in the body.
    `level` is 0 except for headings; `number` is that of a numbered item. `end` is the index after the last block below
    it.
    """

    text: str
    lines: int
    kind: str
    indent: int = 0
    level: int = 0
    number: str = ""
    end: int = 0
    start: int = 0

    @property
    def key(self) -> tuple[str, bool, bool]:
        """Equal for two blocks that are the same."""
        return self.text, bool(self.level), self.kind == Role.CODE.value


@dataclass(frozen=True, slots=True)
class BlockDiff:
    """Two versions of a skill as blocks: the indexes of the removed old ones and of the added new ones.

    `moved` are runs of old blocks that were moved, each with the old blocks that it was moved past; `came_from` has the
    old index of each new block, None if it was added.
    """

    old: tuple[Block, ...]
    new: tuple[Block, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    moved: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    came_from: tuple[int | None, ...] = ()

    def replacements(self, place: int) -> list[Block]:
        """Return the new blocks in the place of a removed old one."""
        gone = set(self.removed)
        above = next((one for one in range(place - 1, -1, -1) if one not in gone), None)
        begin = 0 if above is None else self.came_from.index(above) + 1
        came = zip(self.new[begin:], self.came_from[begin:], strict=True)
        return [block for block, _ in takewhile(lambda pair: pair[1] is None, came)]


def diff_blocks(before: str, after: str) -> BlockDiff:
    """Compare two texts of a skill. Raises SkilldError if one of them cannot be parsed."""
    old, new = parse_blocks(before), parse_blocks(after)
    waiting: dict[tuple[str, bool, bool], deque[int]] = defaultdict(deque)
    for place, block in enumerate(old):
        waiting[block.key].append(place)
    came_from = [waiting[block.key].popleft() if waiting[block.key] else None for block in new]
    kept = [place for place in came_from if place is not None]
    left = sorted(place for places in waiting.values() for place in places)
    added = [place for place, source in enumerate(came_from) if source is None]
    return BlockDiff(tuple(old), tuple(new), tuple(left), tuple(added), tuple(_moved_runs(kept)), tuple(came_from))


def parse_blocks(text: str) -> list[Block]:
    """Return the blocks of a skill's body in order. Raises SkilldError if it cannot be parsed."""
    body = parse(text.encode("utf-8", "replace")).body
    found = list(_split_blocks(body))
    return [_with_end(found, place) for place in range(len(found))]


def _split_blocks(body: Sequence[Line]) -> Iterator[Block]:
    kinds = roles(body)
    titles = {part.head: part for part in sections(body) if part.level}
    at = 0
    while at < len(body):
        end = at + 1
        if at in titles:
            end = titles[at].start
            yield Block(titles[at].title, end - at, _HEADING, level=titles[at].level, start=at)
        elif body[at].key:
            end = _last_line(body, kinds, titles, at) + 1
            yield replace(_parse_block([line.text for line in body[at:end]], kinds[at]), start=at)
        at = end


def _parse_block(lines: Sequence[str], role: Role) -> Block:
    item = list_item(lines[0]) if role is Role.TEXT else None
    before = len(item.indent + item.marker + item.gap + item.box) if item else 0
    text = " ".join(" ".join([lines[0][before:], *lines[1:]]).split())
    indent = len(lines[0].expandtabs(4)) - len(lines[0].expandtabs(4).lstrip())
    number = item.marker[:-1] if item and item.marker[:-1].isdigit() else ""
    kind = _ITEM if item else role.value
    return Block(text, len(lines), Role.CODE.value if kind == Role.FENCE.value else kind, indent, number=number)


def _last_line(body: Sequence[Line], kinds: Sequence[Role], titles: Container[int], first: int) -> int:
    """Return the last line of the paragraph or item that begins at `first`; in code and tables each line is one."""
    if kinds[first] is not Role.TEXT or _OWN_LINE.match(body[first].text):
        return first
    for at in range(first + 1, len(body)):
        text = body[at].text
        ends = not body[at].key or kinds[at] is not Role.TEXT or at in titles
        if ends or list_item(text) is not None or _OWN_LINE.match(text):
            return at - 1
    return len(body) - 1


def _with_end(found: Sequence[Block], place: int) -> Block:
    """Return a block with the end of the blocks below it."""
    head = found[place]
    below = found[place + 1 :]
    label = head.kind == Role.TEXT.value and _LABEL.match(head.text) and below and below[0].kind == _ITEM
    end = place + 1
    for block in below:
        if head.level:
            inside = not block.level or block.level > head.level
        elif label:
            inside = not block.level and (block.indent > head.indent or block.kind == _ITEM)
        else:
            inside = head.kind == _ITEM and not block.level and block.indent > head.indent
        if not inside:
            break
        end += 1
    return replace(head, end=end)


def _moved_runs(kept: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the runs of moved blocks; `kept` has the old indexes in the new order.

    As few blocks as possible count as moved: all but a longest increasing subsequence.
    """
    stay = _longest_increasing(kept)
    at = 0
    while at < len(kept):
        end = at
        while end < len(kept) and kept[end] not in stay and (end == at or kept[end] == kept[end - 1] + 1):
            end += 1
        if end > at:
            run = tuple(kept[at:end])
            past = [one for one in kept[:at] if one > run[-1]] + [one for one in kept[end:] if one < run[0]]
            yield run, tuple(past)
        at = max(end, at + 1)


def _longest_increasing(numbers: Sequence[int]) -> set[int]:
    """Return the members of a longest increasing subsequence."""
    tails: list[int] = []
    places: list[int] = []
    before: list[int | None] = []
    for place, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(places[at - 1] if at else None)
        tails[at : at + 1] = [number]
        places[at : at + 1] = [place]
    out: set[int] = set()
    place_or_none = places[-1] if places else None
    while place_or_none is not None:
        out.add(numbers[place_or_none])
        place_or_none = before[place_or_none]
    return out


# The blocks that an update names, by their own words or by a heading above them, so that they may be removed. Only the
# change and the quote, which were checked before, can name a block; the section is the model's own word.

_MIN_ABOUT = 0.33  # share of a block's content words in an update that changes or removes something
_MIN_ALIKE = 0.4  # average share of each other's content words from which any update may replace a block
_MIN_HELD = 0.25  # share of a block's content words that such a change must contain
_MIN_DISPLACED = 0.2  # share of a line's content words in a change that displaces it, if no other line is nearer
_MAX_FOREIGN = 3  # blocks of a section in another language that are removed as a whole
_FEW_SHARED = 2  # shared content words: many rules share a single one
_MIN_CARRIED = 0.5  # share of a change's content words in the block that replaces another
_MIN_HEAD_ABOUT = 0.5  # share of a heading's content words in a change that removes everything below it
_MIN_NAMED = 2  # words of a heading, for other lines that mention it
_REMOVALS = frozenset({Kind.CHANGE_STEP, Kind.REMOVE_STEP})
_MAX_COMPARED = 120  # words of a sentence that is compared word by word, which takes quadratic time
_SENTENCE_BREAK = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
_WORD = re.compile(r"\w+")
_LEADING_LABEL = re.compile(r"[*_]{0,2}([^:\uff1a.!?]{2,40})[*_]{0,2}[:\uff1a]")  # what a line is about


@dataclass(frozen=True, slots=True)
class RemovableBlocks:
    """Old blocks that may be removed. `below` are those named only by a head: a heading, step or list introduction.

    `heads` are removed heads, `parts` all heads whose blocks are removed as a whole, and `orphans` all blocks below a
    named head. `displaced` are blocks that a change replaces in place although it hardly names them.
    """

    all: frozenset[int]
    heads: frozenset[int]
    below: frozenset[int]
    orphans: frozenset[int]
    parts: tuple[int, ...] = ()
    displaced: frozenset[int] = frozenset()


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
    itself = {place for place in gone if _is_named(change, place, updates)}
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
    )


def _update_text(update: Update) -> str:
    return f"{update.change}\n{update.quote}"


def _is_named(change: BlockDiff, place: int, updates: Sequence[Update]) -> bool:
    """Whether updates name a block as a whole, or each of its sentences."""
    block = change.old[place]
    if any(_names_sentence(change, place, block.text, update, frozenset()) for update in updates):
        return True
    return not unnamed_sentences(change, place, updates)


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
    if update.kind is not Kind.REMOVE_STEP or item.kind != _ITEM or item.end == place + 1:
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
    return bool(below) and head.kind != "item" and below <= set(change.removed) and not below & astray


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
