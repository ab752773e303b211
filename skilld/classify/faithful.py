"""Do the written lines say the changes, and no more? A model that quoted and phrased well can still write the opposite.

Pure. Two texts of a skill, updates and what the person typed go in; a clause for the person comes out. Word by word:
what goes must be named by an update, what comes must be carried by one. Wrapping, numbering and indenting anew is no
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilld.classify.named import Named, lives_on, named, parts, unnamed, words_of
from skilld.classify.polarity import TURNS, turns
from skilld.classify.touched import Block, Touched, touched
from skilld.classify.written import from_the_skill, is_extra, says_more
from skilld.types import Kind, Update
from skilld.words import comparable, content_stems, denies, share_held

_SAYS = 0.5  # share of a change's content words that the added lines must hold
_MOST_REMOVED = 3  # lines an update may take away, besides what stands below a heading or a step that it names


@dataclass(frozen=True, slots=True)
class Faith:
    """Whether an edit does what its updates say: `why_not` is a clause for the person, empty where it does.

    `by_heading`: it takes away lines that no update names but by the heading or the step that they stand below.
    `beyond` are clauses that it writes in words of the skill alone, `along` sentences that go with a line that was
    named.
    """

    why_not: str = ""
    by_heading: bool = False
    beyond: tuple[str, ...] = ()
    along: tuple[str, ...] = ()


def faith(before: str, after: str, updates: Sequence[Update], typed: str, *, title: str = "") -> Faith:
    """Judge an edit from `before` to `after`; `title` is what code calls a section of its own.

    Raises SkilldError where one of the texts cannot be taken apart.
    """
    change = touched(before, after)
    gone = named(change, updates)
    added = [change.new[place] for place in change.added]
    for why in (
        _why_removed(change, gone, updates),
        _why_moved(change, gone, updates),
        _why_not_said(added, updates),
        _why_turned(change, updates, typed),
        _why_added(change, updates, typed, title),
    ):
        if why:
            return Faith(why)
    named_alone = (place for place in change.removed if place in gone.all and place not in gone.below | gone.heads)
    along = [
        part for place in named_alone if len(parts(change.old[place])) > 1 for part in unnamed(change, place, updates)
    ]
    return Faith("", bool(gone.below), from_the_skill(change, updates, typed, title), tuple(along))


def _why_removed(change: Touched, gone: Named, updates: Sequence[Update]) -> str:
    """Say so where a block goes that no update names, neither itself nor by what it stands below."""
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
            return "it removes what the person did not speak of"
    return "it removes what the person did not speak of" if lines > _MOST_REMOVED * len(updates) else ""


def _why_moved(change: Touched, gone: Named, updates: Sequence[Update]) -> str:
    """Say so where blocks change places and no update speaks of either side; what stood below a lost head may move."""
    said = [words_of(f"{update.change}\n{update.quote}") for update in updates]
    for run, past in change.moved:
        if all(place in gone.orphans for place in run):
            continue
        if not any(
            share_held(words_of(change.old[place].text), words) >= _SAYS for place in (*run, *past) for words in said
        ):
            return "it moves what the person did not speak of"
    return ""


def _why_not_said(added: Sequence[Block], updates: Sequence[Update]) -> str:
    words = content_stems("\n".join(block.text for block in added))
    for update in updates:
        wanted = content_stems(update.change)
        if update.kind is not Kind.REMOVE_STEP and wanted and share_held(wanted, words) < _SAYS:
            return "it does not say what it was made for"
    return ""


def _why_added(change: Touched, updates: Sequence[Update], typed: str, title: str) -> str:
    """Say so where a block comes that no update carries, or that says something besides."""
    if says_more(change, updates, typed, title):
        return "it says more than the person did"
    return "it adds what the person did not speak of" if is_extra(change, updates) else ""


def _why_turned(change: Touched, updates: Sequence[Update], typed: str) -> str:
    added = "\n".join(change.new[place].text for place in change.added)
    removed = "\n".join(change.old[place].text for place in change.removed)
    changes = "\n".join(update.change for update in updates)
    ground = comparable(f"{changes}\n{typed}\n{removed}")
    if turns(added) - set(TURNS.findall(ground)) or (denies(added) and not denies(f"{changes}\n{removed}")):
        return "it turns round or softens what the person said"
    return ""
