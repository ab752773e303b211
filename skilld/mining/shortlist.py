"""Which drafted skills one run shows, and in which order. Pure.

The surest and most useful come first. A skill that does only part of what another one does, or the same, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skilld.mining.actions import is_generic, tokens
from skilld.mining.kinds import MIN_SESSIONS
from skilld.mining.line_order import Line
from skilld.mining.values import STEPS, Candidate, PartKind, RejectedCandidate, count_sessions
from skilld.mining.wording import CODE_PATTERN
from skilld.values import value_class
from skilld.words import content_stems, matching_share

_MIN_PART_SHARE, _MIN_SAME_SHARE = 2 / 3, 1 / 2  # of the steps
_MIN_WORD_SHARE = 0.75  # of a step without a command
_VERB_PLACE = 2  # words that say what a command does
_RULES = frozenset({PartKind.RULE, PartKind.PITFALL, PartKind.SAID, PartKind.FACT})


@value_class
class _Deed:
    """What a step does: the beginning of a command, or a file, or the words of a step that has neither."""

    name: tuple[str, ...]
    words: frozenset[str] = frozenset()

    def is_in(self, others: Sequence[_Deed]) -> bool:
        if self.name:
            return any(self.name == one.name for one in others)
        return any(one.words and matching_share(self.words, one.words) >= _MIN_WORD_SHARE for one in others)


_Deeds = tuple[Sequence[_Deed], Sequence[_Deed]]


def shortlist(made: Sequence[Candidate]) -> tuple[list[Candidate], list[RejectedCandidate]]:
    """Return the skills to show, the best first, without those that another one covers; and these with the reason."""
    deeds = {one: _deeds(one) for one in made}
    covered: dict[Candidate, Candidate] = {}
    for one in made:
        others = (other for other in made if one is not other and other not in covered and other.recurrence)
        if one.recurrence and (cover := next((other for other in others if _is_covered(one, other, deeds)), None)):
            covered[one] = cover
    kept = [one for one in made if one not in covered]
    left_out = [
        RejectedCandidate(one.title or one.name, f"{other.name} has its steps") for one, other in covered.items()
    ]
    return sorted(kept, key=lambda one: (one.creates, -_worth(one))), left_out


def _worth(one: Candidate) -> float:
    """Return the rank of a skill: how often it was asked for, times how much of it is sure and says something."""
    steps = [part for part in one.parts[1:] if part.sort in STEPS]
    sure = sum(count_sessions([part]) >= MIN_SESSIONS for part in steps)
    own = any(not runs or not all(map(is_generic, runs)) for runs in (Line(part).commands for part in steps))
    told = sum(part.sort in _RULES for part in one.parts[1:])
    share = (sure + 1) / (len(steps) + 2)
    return one.saved.sessions * share * (1 if own else 1 / 2) * (1 + told / 4)


def _is_covered(one: Candidate, other: Candidate, deeds: Mapping[Candidate, _Deeds]) -> bool:
    """Whether another skill has most steps of one and was asked for as often, or is the same task and fuller."""
    if one.target != other.target:
        return False
    (own, generic), (own_there, generic_there) = deeds[one], deeds[other]
    mine, theirs = own or generic, own_there if own else [*own_there, *generic_there]
    share = sum(deed.is_in(theirs) for deed in mine) / max(len(mine), 1)
    back = sum(deed.is_in(mine) for deed in theirs) / max(len(theirs), 1)
    if share < _MIN_PART_SHARE:
        return back >= _MIN_PART_SHARE and share >= _MIN_SAME_SHARE and _fullness(other) > _fullness(one)
    if back >= _MIN_SAME_SHARE:
        return _fullness(other) > _fullness(one)
    return other.saved.sessions >= one.saved.sessions


def _fullness(one: Candidate) -> tuple[int, int, int, str]:
    """Return the rank among skills for one task: by how much the person said about it, then by its sessions."""
    told = sum(part.sort in _RULES for part in one.parts[1:])
    return told, one.saved.sessions, len(one.parts), one.name


def _deeds(one: Candidate) -> _Deeds:
    """Return what the steps do, and apart from that the tests, commits and the like, which all work has."""
    own, generic = dict[_Deed, None](), dict[_Deed, None]()
    for part in one.parts[1:]:
        if part.sort not in STEPS:
            continue
        spans = [part.text] if part.sort in {PartKind.EDIT, PartKind.READ} else Line(part).commands
        spans = spans or (CODE_PATTERN.findall(part.text) if part.sort is PartKind.WORDED else [])
        for span in spans:
            (generic if is_generic(span) else own)[_Deed(_name(span))] = None
        if not spans:
            own[_Deed((), content_stems(part.text))] = None
    return [*own], [*generic]


def _name(span: str) -> tuple[str, ...]:
    words = tokens(span)
    place = _VERB_PLACE + (words[:1] in {("gh",), ("glab",)})
    return words[:place]
