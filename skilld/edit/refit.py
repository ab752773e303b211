"""Makes the same change in another version of a skill, if its neighbours leave no doubt about the place.

Takes the skill before and after the change and another version, and returns operations on that version. Manual edits
made since are kept. An ambiguous place is none: `NoPlaceError`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from skilld.edit.insertion_point import insert_bullet, split_items
from skilld.edit.marks import remark
from skilld.edit.operations import anchor_operation, apply
from skilld.edit.renumber import renumber, write_like_sibling
from skilld.errors import SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import Item, Section, is_default_title, list_item, roles, sections
from skilld.text import compare_lines, indentation
from skilld.types import Operation
from skilld.values import value_class

# Lines of two versions correspond if they have the same words, or are clearly similar.

MIN_SIMILARITY = 0.6  # of 1, for a reworded line, as in skilld.git.line_diff
MIN_MARGIN = 0.15  # by which the most similar line exceeds the next one
_MAX_COMPARED_LINES = 20  # on either side of a rewritten passage that is searched for similar lines
# Of a line: difflib takes 8 ms for two lines of 200 equal characters, and 3 s for 400 pairs.
_MAX_COMPARED_CHARACTERS = 200


@value_class
class Alignment:
    """Old line -> current line, for lines with text. `exact` are the certain ones with the same text.

    The ends of both versions (the number after the last line) correspond. `old_heads` and `now_heads` are the headings,
    `nested` has each old heading below which a new one inside its section now has everything that is still there.
    """

    found: Mapping[int, int]
    exact: frozenset[int]
    old_heads: tuple[int, ...]
    now_heads: tuple[int, ...]
    nested: Mapping[int, int]

    def get(self, line: int | None) -> int | None:
        """Return where an old line is now, or None if that is uncertain."""
        return None if line is None else self.found.get(line)

    def same_section(self, line: int | None, now: int) -> bool:
        """Whether a current line is below the same (possibly renamed) heading as an old line; None is the beginning.

        Also if it is below a new heading inside that section, with everything that is still there.
        """
        old_head, now_head = _heading_of(self.old_heads, line), _heading_of(self.now_heads, now)
        if old_head is None or now_head is None:
            return old_head is now_head
        return now_head in {self.found.get(old_head), self.nested.get(old_head)}

    def crosses(self, gap: int, at: int) -> bool:
        """Whether a line of the section around `gap` was on the other side of it than it now is of `at`."""
        head = _heading_of(self.old_heads, gap - 1)
        there = (
            (i, now)
            for i, now in self.found.items()
            if i not in self.old_heads and _heading_of(self.old_heads, i) == head and self.same_section(i, now)
        )
        return any((i < gap) is not (now < at) for i, now in there)

    def keeps_section(self, line: int | None, now: int) -> bool:
        """Whether the heading above an old line is known to be the one above a current line."""
        old_head = _heading_of(self.old_heads, line)
        return self.same_section(line, now) and (old_head is None or old_head in self.found)


def _heading_of(heads: Sequence[int], line: int | None) -> int | None:
    at = bisect_right(heads, line) if line is not None else 0
    return heads[at - 1] if at else None


def align(old: Sequence[Line], now: Sequence[Line]) -> Alignment:
    """Return which lines correspond. A line that occurs more than once is matched together with its neighbours."""
    keys, found_keys = [line.key for line in old], [line.key for line in now]
    often, often_now = Counter(keys), Counter(found_keys)
    found = {len(old): len(now)}
    exact = {len(old)}
    rewritten = []
    for piece in compare_lines(keys, found_keys):
        if not piece.equal:
            rewritten.append(piece)
            continue
        same = [i for i in range(piece.old_start, piece.old_end) if keys[i] and often[keys[i]] == often_now[keys[i]]]
        if any(often[keys[i]] == 1 for i in same):
            found |= {i: piece.new_start + i - piece.old_start for i in same}
            exact |= set(same)
    for i, key in enumerate(keys):  # a line that was moved
        if key and i not in found and often[key] == often_now[key] == 1:
            found[i] = found_keys.index(key)
            exact.add(i)
    spans = [(range(*piece[1:3]), range(*piece[3:5])) for piece in rewritten]
    for olds, news in (*spans, (range(len(old)), range(len(now)))):  # finally, lines that were moved and reworded
        taken = set(found.values())
        left = [i for i in olds if keys[i] and i not in found]
        left_now = [j for j in news if found_keys[j] and j not in taken]
        if len(left) <= _MAX_COMPARED_LINES and len(left_now) <= _MAX_COMPARED_LINES:
            found |= _similar_pairs(old, now, left, left_now)
    old_heads, now_heads = list(heading_lines(old)), list(heading_lines(now))
    found |= _renamed_headings(old_heads, now_heads, found)
    under = _underlines(old, now, found, {*now_heads})
    found = {i: at for i, at in found.items() if i not in under and at not in under.values()} | under
    exact = {i for i in exact if i in found and i not in under} | {i for i in under if keys[i] == found_keys[under[i]]}
    nested = _nested_headings(old_heads, now, found)
    alignment = Alignment(found, frozenset(exact), tuple(old_heads), tuple(now_heads), nested)
    only = _unique_in_section(alignment, keys, found_keys)
    return replace(alignment, found=found | only, exact=alignment.exact | only.keys())


def _unique_in_section(alignment: Alignment, keys: Sequence[str], found_keys: Sequence[str]) -> dict[int, int]:
    """Return the lines whose text is unique in their section, whatever is in other sections."""
    by_section: dict[tuple[int | None, str], list[int]] = {}
    for line, key in enumerate(found_keys):
        by_section.setdefault((_heading_of(alignment.now_heads, line), key), []).append(line)
    taken = {*alignment.found.values()}
    only: dict[int, list[int]] = {}
    for line, key in enumerate(keys):
        head = _heading_of(alignment.old_heads, line)
        now = by_section.get((alignment.get(head), key), []) if head is None or head in alignment.found else []
        if key and line not in alignment.found and len(now) == 1 and now[0] not in taken:
            only.setdefault(now[0], []).append(line)
    return {lines[0]: now for now, lines in only.items() if len(lines) == 1}


def heading_lines(body: Sequence[Line]) -> dict[int, str]:
    """Return the line of each heading with its title; for an underlined one the line of the title."""
    return {part.head: part.title for part in sections(body) if part.title}


def _nested_headings(old_heads: Sequence[int], now: Sequence[Line], found: Mapping[int, int]) -> dict[int, int]:
    """Return the old headings whose section got a single new heading inside, above all of its lines that are left."""
    parents: dict[int, int] = {}
    around: list[Section] = []
    for part in (part for part in sections(now) if part.title):
        while around and around[-1].level >= part.level:
            around.pop()
        parents |= {part.head: around[-1].head} if around else {}
        around.append(part)
    now_heads, heads = sorted(heading_lines(now)), {*old_heads}
    below: dict[int | None, list[int | None]] = {}
    for line, at in found.items():
        if line not in heads and at < len(now):
            below.setdefault(_heading_of(old_heads, line), []).append(_heading_of(now_heads, at))
    known = {*found.values()}
    one = {old: its[0] for old, its in below.items() if len(its) > 1 and len({*its}) == 1}
    return {
        old: head
        for old, head in one.items()
        if old is not None and head is not None and head not in known and parents.get(head, -1) == found.get(old)
    }


def _underlines(
    old: Sequence[Line], now: Sequence[Line], found: Mapping[int, int], now_heads: Collection[int]
) -> dict[int, int]:
    """Return the lines below underlined headings, each with its line now: many are equal, so that others seem to be."""
    heads = {head: found[head] for head in heading_lines(old) if found.get(head) in now_heads}
    pairs = [(head, at) for head, at in heads.items() if not {"#"} & {old[head].key[:1], now[at].key[:1]}]
    return {head + 1: at + 1 for head, at in pairs}


def _renamed_headings(old_heads: Sequence[int], now_heads: Sequence[int], found: Mapping[int, int]) -> dict[int, int]:
    """Return the renamed headings: all remaining lines of the old section are below the new one."""
    below: dict[int, set[int | None]] = {}
    of: dict[int | None, set[int | None]] = {}
    for line, now in [*found.items()][1:]:  # without the ends, which are the same in any two files
        old_head, now_head = _heading_of(old_heads, line), _heading_of(now_heads, now)
        if line in old_heads or now in now_heads or old_head is None:
            continue
        below.setdefault(old_head, set()).add(now_head)
        of.setdefault(now_head, set()).add(old_head)
    names = {head: now for head, nows in below.items() for now in nows if len(nows) == len(of[now]) == 1}
    taken = {*found.values()}
    return {old: now for old, now in names.items() if now is not None and old not in found and now not in taken}


def _similar_pairs(
    old: Sequence[Line], now: Sequence[Line], olds: Sequence[int], news: Sequence[int]
) -> dict[int, int]:
    """Return the pairs of lines that are clearly the most similar to each other, without pairs that cross."""
    share = {(i, j): similarity(old[i].text, now[j].text) for i in olds for j in news}
    pairs: dict[int, int] = {}
    for (i, j), value in share.items():
        rivals = [other for (a, b), other in share.items() if (a == i) is not (b == j)]
        if value >= MIN_SIMILARITY and all(value >= other + MIN_MARGIN for other in rivals):
            pairs[i] = j
    crossed = [i for i in pairs if any((i < a) is not (pairs[i] < pairs[a]) for a in pairs if a != i)]
    return {i: j for i, j in pairs.items() if i not in crossed}


def similarity(one: str, other: str) -> float:
    """Return the similarity of two lines, from 0 to 1; 0 if their kinds differ (heading, item, text)."""
    if _line_kind(one) != _line_kind(other):
        return 0.0
    first, second = _line_words(one), _line_words(other)
    if min(len(first), len(second)) < MIN_SIMILARITY / 2 * max(len(first), len(second)):
        return 0.0
    matcher = SequenceMatcher(None, first[:_MAX_COMPARED_CHARACTERS], second[:_MAX_COMPARED_CHARACTERS], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= MIN_SIMILARITY else 0.0


def _line_kind(text: str) -> tuple[bool, bool]:
    return text.lstrip().startswith("#"), list_item(text) is not None


def _line_words(text: str) -> str:
    item = list_item(text)
    text = text[len(item.indent + item.marker + item.gap + item.box) :] if item else text.lstrip().lstrip("#")
    return text.strip().casefold()


class NoPlaceError(SkilldError):
    """The change has no certain place in this version of the file."""


@value_class
class _Hunk:
    """Lines [start, end) of the old body were replaced by `added`, at line `at` of the new one."""

    start: int
    end: int
    at: int
    added: tuple[str, ...]


def refit(before: bytes, after: bytes, current: bytes, *, newest: bool = False) -> list[Operation]:
    """Return the operations that make the change from `before` to `after` in `current`, in the order to apply them.

    `newest` says that other items and paragraphs added at the same place are older and stay above its own. Raises
    NoPlaceError if a place is uncertain, if a removed line was edited or is gone, and for a change of the front matter;
    SkilldError if a version cannot be parsed. Returns no operation if everything is done already.
    """
    old, new, now = parse(before), parse(after), parse(current)
    if old.front != new.front:
        raise _no_place("it changes the front matter")
    body = list(now.body)
    alignment = align(old.body, now.body)
    operations: list[Operation] = []
    for hunk in reversed(_find_hunks(old.body, new.body)):  # last first, so that earlier line numbers stay right
        if hunk.start == hunk.end:
            start = end = _insertion_line(old.body, body, alignment, hunk)
            if _adds_section(old.body, new.body, hunk):
                start = end = _end_of_section(body, start)
                if alignment.crosses(hunk.start, start):
                    raise _no_place("the lines around it are no longer adjacent")
            elif newest:
                start = end = _after_new(body, alignment, start, hunk.added)
        else:
            start, end = _removed_range(old.body, body, alignment, hunk)
        texts = [*hunk.added]
        if start == end:
            start, texts = renumber(new.body, hunk.at, texts, body, start)
            start, texts = remark(new.body, hunk.at, texts, body, start)
            items = _sibling_items(old.body, hunk, body, alignment)
            start, texts = write_like_sibling(texts, *items, body, start) if items else (start, texts)
            end = max(start, end)
        texts = _with_gaps(old.body, hunk, body, start, texts) if start == end else texts
        if not texts and start == end:
            continue
        operations.append(anchor_operation(body, start, end, texts))
        body[start:end] = [Line(text, "\n") for text in texts]
        _check_roles(new.body, hunk, body, start)
    return operations


def refit_in_section(before: bytes, after: bytes, current: bytes) -> list[Operation]:
    """Return the operations that put added lines at the end of the sections they were in.

    For a change without a certain place. Raises NoPlaceError if it removes lines or one of these sections is gone,
    SkilldError as `refit` does.
    """
    old, new, now = parse(before), parse(after), parse(current)
    alignment = align(old.body, now.body)
    operations: list[Operation] = []
    data = current
    for hunk in _find_hunks(old.body, new.body):
        if hunk.start != hunk.end or old.front != new.front:
            raise _no_place("it removes lines that were edited or are gone")
        title = _current_section(old.body, now.body, alignment, hunk.start)
        if any(text.lstrip().startswith("#") for text in hunk.added):
            raise _no_place("it adds a heading, which cannot go inside a section")
        for text in split_items(hunk.added):
            item = list_item(text.split("\n")[0])
            operation = insert_bullet(data, title, text, step=item is None or item.marker[0].isdigit())
            done = apply(data, [operation])
            if not _is_all_in_section(title, parse(data).body, parse(done).body):
                raise _no_place("it cannot be placed in its section")
            data = done
            operations.append(operation)
    return operations


def _is_all_in_section(title: str, before: Sequence[Line], after: Sequence[Line]) -> bool:
    """Whether all added lines are in the section with that title, with its heading if it is new."""
    pieces = [piece for piece in compare_lines([x.key for x in before], [x.key for x in after]) if not piece.equal]
    found = [part for part in sections(after) if part.title == title]
    if len(found) != 1:
        return False
    (part,) = found
    start = part.start if title in heading_lines(before).values() else part.head
    while start < part.start and start and not after[start - 1].key:
        start -= 1  # the blank lines above a new heading
    return all(start <= piece.new_start and piece.new_end <= part.own_end for piece in pieces)


def _find_hunks(old: Sequence[Line], new: Sequence[Line]) -> list[_Hunk]:
    found = []
    keys = [line.key for line in old]
    for piece in compare_lines(keys, [line.key for line in new]):
        added = [line.text for line in new[piece.new_start : piece.new_end]]
        if piece.equal or not (any(text.strip() for text in added) or any(keys[piece.old_start : piece.old_end])):
            continue
        start, end, at = piece.old_start, piece.old_end, piece.new_start
        while start == end and start and not keys[start - 1] and not added[-1].strip():
            # Move the insertion one line up: below the line that it follows, not above a blank one.
            start, end, at, added = start - 1, end - 1, at - 1, ["", *added[:-1]]
        found.append(_Hunk(start, end, at, tuple(added)))
    return found


def _insertion_line(old: Sequence[Line], now: Sequence[Line], alignment: Alignment, hunk: _Hunk) -> int:
    """Return the line of `now` before which to insert."""
    up = next((i for i in range(hunk.start - 1, -1, -1) if old[i].key), None)
    down = next((i for i in range(hunk.start, len(old)) if old[i].key), len(old))
    over, under = alignment.get(up), alignment.get(down)
    if over is None and under is None:
        raise _no_place("the lines around it were rewritten")
    if over is not None and (over < under if under is not None else alignment.keeps_section(up, over)):
        at = _line_after_item(old, now, up, over, hunk)
    elif over is None and under is not None:
        at = next((i + 1 for i in range(under - 1, -1, -1) if now[i].key), 0)
        if _is_item(hunk.added) and not _in_list(now, at):
            raise _no_place("the lines around it were rewritten")
    else:
        raise _no_place("the lines around it are no longer adjacent")
    if not alignment.same_section(up, at - 1):
        raise _no_place("the line above it is now in another section")
    next_to_both = over is not None and under == next((i for i in range(over + 1, len(now)) if now[i].key), len(now))
    if not next_to_both and alignment.crosses(hunk.start, at):
        raise _no_place("the lines around it are no longer adjacent")
    return at


def _line_after_item(old: Sequence[Line], now: Sequence[Line], up: int | None, over: int, hunk: _Hunk) -> int:
    """Return the line after `over`; if the change adds the next item, after everything that belongs to that item."""
    at = over + 1
    item, added = list_item(now[over].text), list_item(next(text for text in hunk.added if text.strip()))
    if up is None or item is None or added is None or item.indent != added.indent:
        return at
    below = old[hunk.start].text if hunk.start < len(old) else ""
    if indentation(below) > len(item.indent) and below.strip():
        return at
    while at < len(now) and now[at].key and indentation(now[at].text) > len(item.indent):
        at += 1
    return at


def _sibling_items(
    old: Sequence[Line], hunk: _Hunk, now: Sequence[Line], alignment: Alignment
) -> tuple[Item, Item] | None:
    """Return an item beside added items of a list, as it was and as it now is; None if there is none."""
    added = list_item(next((text for text in hunk.added if text.strip()), ""))
    for i in (*range(hunk.start - 1, -1, -1), *range(hunk.start, len(old))) if added else ():
        was, at = list_item(old[i].text), alignment.get(i)
        if old[i].key and not was and not indentation(old[i].text) and i >= hunk.start:
            break
        there = list_item(now[at].text) if was and at is not None and at < len(now) else None
        if added and was and there and (was.indent, was.kind) == (added.indent, added.kind):
            return was, there
    return None


def _with_gaps(old: Sequence[Line], hunk: _Hunk, now: Sequence[Line], at: int, texts: Sequence[str]) -> list[str]:
    """Return the lines to insert before line `at` with blank ones around them only where `now` has none."""
    lines = [*texts]
    if lines and not lines[0].strip() and at and not now[at - 1].key and hunk.start and old[hunk.start - 1].key:
        del lines[0]
    if lines and at < len(now) and hunk.end < len(old):
        was_blank, is_blank = not old[hunk.end].key, not now[at].key
        if is_blank and not was_blank and not lines[-1].strip():
            del lines[-1]
        elif was_blank and not is_blank and lines[-1].strip() and not list_item(lines[-1]):
            lines.append("")  # a paragraph would take in the next line
    return lines


def _after_new(now: Sequence[Line], alignment: Alignment, at: int, added: Sequence[str]) -> int:
    """Return the line after the items at `at` that the old version lacks, or after such paragraphs if no item is added.

    A blank line ends items, and an item or heading ends paragraphs.
    """
    known, heads, end, items = {*alignment.found.values()}, heading_lines(now), at, _is_item(added)
    while at < len(now) and at not in known and at not in heads:
        line, at = now[at], at + 1
        if (list_item(line.text) is not None or bool(items and line.key and indentation(line.text))) is not items:
            break
        end = at if line.key else end
    return end


def _adds_section(old: Sequence[Line], new: Sequence[Line], hunk: _Hunk) -> bool:
    """Whether a change adds a heading at the end of a section: lines that the person added there stay above it."""
    down = next((i for i in range(hunk.start, len(old)) if old[i].key), len(old))
    brings = any(hunk.at <= line < hunk.at + len(hunk.added) for line in heading_lines(new))
    return brings and (down == len(old) or down in heading_lines(old))


def _end_of_section(now: Sequence[Line], at: int) -> int:
    """Return the line after the last one with text before the next heading."""
    end = min((line for line in heading_lines(now) if line >= at), default=len(now))
    while end > at and not now[end - 1].key:
        end -= 1
    return end


def _is_item(added: Sequence[str]) -> bool:
    return list_item(next(text for text in added if text.strip())) is not None


def _in_list(now: Sequence[Line], at: int) -> bool:
    """Whether the line before `at` is a list item, or belongs to one."""
    above = next((line.text for line in reversed(now[:at]) if line.key), "")
    return list_item(above) is not None or above[:1] in {" ", "\t"}


def _removed_range(old: Sequence[Line], now: Sequence[Line], alignment: Alignment, hunk: _Hunk) -> tuple[int, int]:
    """Return the lines of `now` that a hunk removes; they must be unchanged and adjacent."""
    gone = [i for i in range(hunk.start, hunk.end) if old[i].key]
    first = hunk.start
    if not hunk.added and len(gone) > 1 and _keeps_heading(old, now, alignment, gone):
        first, gone = gone[1], gone[1:]
    places = [alignment.found[i] for i in gone if i in alignment.exact]
    if not gone or len(places) != len(gone):
        raise _no_place("a line that it changes was edited or is gone")
    start, end = places[0], places[-1] + 1
    if [line.key for line in now[start:end] if line.key] != [old[i].key for i in gone]:
        raise _no_place("the lines that it changes are no longer adjacent")
    if not alignment.same_section(gone[0], start):
        raise _no_place("a line that it changes is now in another section")
    if hunk.added:
        return start, end
    above, below = gone[0] - first, hunk.end - 1 - gone[-1]  # blank lines that also go, if they are still there
    while above and start and not now[start - 1].key:
        start, above = start - 1, above - 1
    while below and end < len(now) and not now[end].key:
        end, below = end + 1, below - 1
    if end > places[-1] + 1 and start and end < len(now) and now[start - 1].key:
        end -= 1  # there was none above: the rest would become one paragraph
    return start, end


def _keeps_heading(old: Sequence[Line], now: Sequence[Line], alignment: Alignment, gone: Sequence[int]) -> bool:
    """Whether the first line gone is skilld's own heading, which goes with its last line, and others are below it."""
    head = alignment.get(gone[0])
    if head is None or gone[0] not in alignment.old_heads or not is_default_title(old[gone[0]].text):
        return False
    end = min((line for line in alignment.now_heads if line > head), default=len(now))
    left = {at for at in range(head + 1, end) if now[at].key} - {alignment.get(line) for line in gone}
    return bool(left)


def _check_roles(new: Sequence[Line], hunk: _Hunk, body: Sequence[Line], start: int) -> None:
    """Raise NoPlaceError if an added line would change between text, code and comment."""
    was, would_be = roles(new), roles(body)
    for offset, text in enumerate(hunk.added):
        if text.strip() and was[hunk.at + offset] is not would_be[start + offset]:
            raise _no_place("the text that it edits moved into or out of a code block")


def _current_section(old: Sequence[Line], now: Sequence[Line], alignment: Alignment, gap: int) -> str:
    """Return the title in `now` of the section around a gap of `old`; it must be unique.

    skilld's own section, which goes with its last line, is added again.
    """
    titles, found = heading_lines(old), heading_lines(now)
    above = max((line for line in titles if line < gap), default=None)
    head = alignment.get(above)
    title = found.get(head, "") if head is not None else ""
    if above is not None and head is None and is_default_title(titles[above]):
        return titles[above]
    if not title or [other.casefold() for other in found.values()].count(title.casefold()) != 1:
        raise _no_place("its section is gone")
    return title


def _no_place(cause: str) -> NoPlaceError:
    return NoPlaceError("The edit no longer fits the file", cause)
