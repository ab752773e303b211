"""Narrows a proposal's quotes, updates, flags and changes to other files to the lines of it that are kept. Pure.

Nothing records which operation an update became, since a model answers several updates with one edit. They are matched
by their words; in case of doubt they are kept, so that no part lacks a quote that belongs to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.said_already import says_already
from skilld.git import line_diff
from skilld.proposals.explain import Part
from skilld.proposals.person_text import without_marker
from skilld.text import fold_case, join_sentences
from skilld.types import Evidence, Proposal, Update
from skilld.values import value_class
from skilld.words import content_stems, matching_share

_MIN_SHARE = 0.4  # two texts that share fewer of their words are about different things
_MIN_SAID = 0.6  # share of a line's words in another from which that one still says it
_NEAR_BEST_SHARE = 0.8  # share of the best match from which another one counts as equal
_REMOVAL_FLAG = re.compile(r"It removes an? |It (?:weakens|says the opposite of) a rule: |it removes ")
_NO_STEMS = [frozenset[str]()]  # of a heading
_REMOVED, _ADDED, _NUMBERS = (attrgetter(name) for name in ("removed", "added", "numbers"))


@value_class
class _LineGroup:
    """Lines of a proposal that are kept or left out together; `number` distinguishes groups with the same text."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    kept: bool
    number: int = 0

    @property
    def texts(self) -> tuple[str, ...]:
        """All its lines."""
        return (*self.removed, *self.added)


def join_parts(pieces: Sequence[Part], updates: Sequence[Update]) -> list[Part]:
    """Return the parts, of which a removal is one with the only addition that the same update made.

    "Push the tag yourself" adds a line, and removes "do not push the tag" elsewhere: neither can be meant alone.
    """
    groups = _groups_of(pieces)
    owner: dict[int, int] = {}  # of a removal: the addition
    for saying in _assign(updates, groups):
        added = [group.number for group in saying if group.added]
        if len(added) == 1:
            owner |= {group.number: added[0] for group in saying if not group.added and group.number not in owner}
    joined: dict[int, list[Part]] = {}
    for number, piece in enumerate(pieces):
        joined.setdefault(owner.get(number, number), []).append(piece)
    merged = [
        Part(*(tuple(one for piece in some for one in lines(piece)) for lines in (_REMOVED, _ADDED, _NUMBERS)))
        for some in joined.values()
    ]
    return sorted(merged, key=lambda part: part.numbers[0])


def narrow_to_parts(proposal: Proposal, pieces: Sequence[Part], kept: Collection[int]) -> Proposal:
    """Return the proposal with what justifies the parts with these numbers."""
    return _narrow(proposal, _groups_of(pieces, kept))


def part_updates(proposal: Proposal, pieces: Sequence[Part]) -> list[list[Update]]:
    """Return the updates of each part; nothing unless each is said by one part alone, and each part says one."""
    groups = _groups_of(pieces)
    found: list[list[Update]] = [[] for _ in groups]
    for update, where in zip(proposal.updates, _assign(proposal.updates, groups), strict=True):
        if len(where) != 1:
            return []
        found[where[0].number].append(update)
    return found if all(found) else []


def _groups_of(pieces: Sequence[Part], kept: Collection[int] | None = None) -> list[_LineGroup]:
    return [
        _LineGroup(piece.removed, piece.added, kept is None or number in kept, number)
        for number, piece in enumerate(pieces)
    ]


def _assign(updates: Sequence[Update], groups: Sequence[_LineGroup]) -> list[list[_LineGroup]]:
    """Return the groups of each update: those that say it, and those that only remove what its words are about.

    What is left over belongs to the one update of which nothing else was found. Nothing where that is unclear.
    """
    found = [_groups_saying(update, groups) if groups else [] for update in updates]
    loose = [group for group in groups if _line_stems(group) != _NO_STEMS and not any(group in one for one in found)]
    said = [content_stems(f"{update.change}\n{update.quote}") for update in updates]
    for group in [one for one in loose if not one.added]:
        gone = content_stems("\n".join(group.removed))
        shares = [matching_share(gone, words) for words in said]
        if shares and max(shares) >= _MIN_SHARE and shares.count(max(shares)) == 1:
            found[shares.index(max(shares))].append(group)
            loose.remove(group)
    unclear = [saying for saying in found if not saying]
    if len(unclear) == 1:
        unclear[0] += loose
    return found


def part_reasons(proposal: Proposal, pieces: Sequence[Part]) -> list[str]:
    """Return the reason for each part; nothing unless they can all be matched."""
    found = [[update.reason for update in one] for one in part_updates(proposal, pieces)]
    return [join_sentences(one) for one in found] if all(map(any, found)) else []


def part_flags(proposal: Proposal, pieces: Sequence[Part]) -> list[list[str]]:
    """Return the flags of each part: those that show words of it alone. The others are about the whole proposal."""
    groups = _groups_of(pieces)
    where = [(flag, _groups_shown(flag, groups)) for flag in proposal.flags]
    return [[flag for flag, shown in where if shown == [group]] for group in groups]


def narrow_to_text(proposal: Proposal, before: bytes, after: bytes, text: bytes) -> Proposal:
    """Return the proposal with what justifies those of its lines that are in the person's own `text` of the file.

    A line that they moved or reworded keeps its quotes, and its update says it in their words. If they added lines of
    their own, which no update says, all updates are removed, since the edit may be remade from them; that of a new file
    never is.
    """
    removed, added = line_diff.signature(before, after)
    changes = [(_text_lines(hunk.removed), _text_lines(hunk.added)) for hunk in line_diff.hunks(after, text)]
    outs, news = (Counter(line for change in changes for line in change[side]) for side in (0, 1))
    left_out, left_new = outs & news, outs & news  # moved: neither removed nor the person's own
    gone, own = Counter[str](), Counter[str]()
    reworded: dict[str, str] = {}
    for taken, put in changes:
        out, new = _take_away(taken, left_out), _take_away(put, left_new)
        dropped = _removed_lines(out, new)
        gone += Counter(dropped)
        own += Counter(new)
        reworded |= _reworded_lines([line for line in out if line not in dropped], new)
    gone = Counter({line: count for line, count in gone.items() if not _is_said_in(line, own)})
    groups = [_LineGroup((line,), (), kept=not own[line]) for line in removed]
    for line in added:
        groups.append(_LineGroup((), (line,), kept=gone[line] <= 0))
        gone[line] -= 1
    narrowed = _narrow(proposal, groups)
    in_own_words, found = _in_own_words(proposal, groups, reworded), narrowed.updates
    narrowed = replace(narrowed, updates=tuple(in_own_words.get(one, one) for one in found))
    if proposal.creates:
        return replace(narrowed, reason=proposal.reason, kind=proposal.kind)
    said = Counter(line for was, line in reworded.items() if in_own_words and was in added)
    return narrowed if own <= Counter(removed) + said else replace(narrowed, updates=())


def _reworded_lines(out: Sequence[str], new: Sequence[str]) -> dict[str, str]:
    """Return the new line for each old one, of as many in their place; nothing if their words are in another order."""
    stems = [content_stems(line) for line in out]
    for at, line in enumerate(new if len(out) == len(new) else ()):
        shares = [matching_share(content_stems(line), one) for one in stems]
        if shares[at] < max(shares):
            return {}
    return dict(zip(out, new, strict=True)) if len(out) == len(new) else {}


def _in_own_words(
    proposal: Proposal, groups: Sequence[_LineGroup], reworded: Mapping[str, str]
) -> dict[Update, Update]:
    """Return the updates whose lines the person reworded, in their words; nothing if a reworded line has no update."""
    found: dict[Update, Update] = {}
    left = {line for group in groups for line in group.added if line in reworded}
    for update, saying in zip(proposal.updates, _assign(proposal.updates, groups), strict=True):
        lines = [line for group in saying if group.kept for line in group.added]
        if any(line in reworded for line in lines):
            change = join_sentences([without_marker(reworded.get(line, line)) for line in lines])
            found[update] = replace(update, change=change)
            left -= {*lines}
    return {} if left else found


def _text_lines(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _take_away(lines: Sequence[str], moved: Counter[str]) -> list[str]:
    """Return the lines that are not among the moved ones, which are counted down."""
    kept = []
    for line in lines:
        if moved[line] > 0:
            moved[line] -= 1
        else:
            kept.append(line)
    return kept


def _is_said_in(line: str, own: Iterable[str]) -> bool:
    """Whether the person's own lines have most words of a line: it was reworded elsewhere, or joined with others."""
    stems = content_stems(line)
    return any(matching_share(stems, content_stems(one)) >= _MIN_SAID for one in own)


def _removed_lines(out: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return which of the lines `out` were removed, not reworded, when `new` replaced them."""
    left = list(out)
    for line in new if len(new) < len(out) else out:
        stems = content_stems(line)
        best = max(left, key=lambda one: matching_share(content_stems(one), stems), default="")
        if len(new) < len(out) and not matching_share(content_stems(best), stems):
            return []  # it could stand for any of them
        left.remove(best)
    return left


def _narrow(proposal: Proposal, groups: Sequence[_LineGroup]) -> Proposal:
    if all(group.kept for group in groups):
        return proposal
    where = _assign(proposal.updates, groups)
    updates = tuple(one for one, saying in zip(proposal.updates, where, strict=True) if _is_kept(saying))
    quotes = tuple(one for one in proposal.evidence if _is_quote_kept(one, proposal.updates, updates, groups))
    removes = any(group.removed for group in groups if group.kept)
    flags = tuple(
        flag
        for flag in proposal.flags
        if _is_kept(_groups_shown(flag, groups)) and (removes or not _REMOVAL_FLAG.match(flag))
    )
    narrowed = replace(proposal, evidence=quotes or proposal.evidence, updates=updates, flags=flags)
    left_out = [update for update in proposal.updates if update not in updates]
    narrowed = _without_others_answers(narrowed, left_out)
    if not updates or updates == proposal.updates:
        return narrowed
    whole = proposal.reason  # with what is true of all parts
    for other in (update.reason for update in left_out if update.reason):
        before, _, behind = whole.partition(other)
        whole = f"{before}{behind.lstrip('. ')}".rstrip()
    reason = join_sentences([update.reason for update in updates]) or whole
    return replace(narrowed, reason=reason, kind=updates[0].kind)


def _without_others_answers(proposal: Proposal, left_out: Sequence[Update]) -> Proposal:
    """Return the proposal without the contradictions, and the changes to other files, of updates that are left out."""

    def is_kept(line: str) -> bool:
        rule = without_marker(line)
        gone, mine = (
            any(contradicts_clearly(one.change, rule) for one in updates) for updates in (left_out, proposal.updates)
        )
        return mine or not gone

    edits = ((one, tuple(step for step in one.operations if is_kept(step.anchor))) for one in proposal.also)
    also = tuple(replace(one, operations=left) for one, left in edits if left)
    return replace(proposal, also=also, conflicts=tuple(one for one in proposal.conflicts if is_kept(one.text)))


def _is_kept(groups: Sequence[_LineGroup]) -> bool:
    return not groups or any(group.kept for group in groups)


def _is_quote_kept(
    one: Evidence, updates: Sequence[Update], kept: Sequence[Update], groups: Sequence[_LineGroup]
) -> bool:
    quote = fold_case(one.quote)
    if any(fold_case(update.quote) == quote for update in updates):
        return any(fold_case(update.quote) == quote for update in kept)
    return _is_kept(_groups_quoted(quote, groups))


def _groups_saying(update: Update, groups: Sequence[_LineGroup]) -> list[_LineGroup]:
    """Return the groups that say an update; nothing if that is unclear."""
    stems = content_stems(update.change)
    saying = [group for group in groups if says_already(update.change, "\n".join(group.texts), covered=1.0)]
    return saying or _best_groups(
        [max(matching_share(stems, line) for line in _line_stems(group)) for group in groups], groups
    )


def _groups_quoted(quote: str, groups: Sequence[_LineGroup]) -> list[_LineGroup]:
    """Return the groups that a quote may have led to: a long one can be about several. Nothing if that is unclear."""
    stems = content_stems(quote)
    shares = [
        max(max(matching_share(stems, line), matching_share(line, stems)) for line in _line_stems(group))
        for group in groups
    ]
    return _best_groups(shares, groups)


def _line_stems(group: _LineGroup) -> list[frozenset[str]]:
    return [content_stems(line) for line in group.texts if not line.startswith("#")] or [*_NO_STEMS]


def _best_groups(shares: Sequence[float], groups: Sequence[_LineGroup]) -> list[_LineGroup]:
    least = max(_MIN_SHARE, _NEAR_BEST_SHARE * max(shares))
    return [group for share, group in zip(shares, groups, strict=True) if share >= least]


def _groups_shown(flag: str, groups: Sequence[_LineGroup]) -> list[_LineGroup]:
    """Return the groups with the words that a flag shows after its colon; nothing if it shows none."""
    texts = (flag[at + 2 :].partition(" -> ")[0] for at in range(len(flag)) if flag[at : at + 2] == ": ")
    shown = [fold_case(text.removesuffix("…")) for text in texts]
    lines = [(group, fold_case(" ".join(group.texts))) for group in groups]
    return [group for group, text in lines if any(one and one in text for one in shown)]
