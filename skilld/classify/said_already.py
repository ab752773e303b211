"""Whether a line of a skill or of standing instructions already says what a change says.

Decides for every back-end, models included. Pure: a change and a text in, the line that says it out. Words are compared
as stems, then by what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.classify.contradiction import MAX_CHANGE, PLAIN_VERBS, REACH, contradicts, stems
from skilld.classify.gist import CHOSEN, META, Gist, Part, bonds, gist, members, share
from skilld.classify.offline.choices import WORD, choices, chosen_part, same_choice, turned_round
from skilld.classify.offline.sections import body_of, sections
from skilld.meanings import Term, Words, terms
from skilld.skills.spec import front
from skilld.types import Kind, Update
from skilld.words import content_stems, denies, numbers, other_tongue, same, stem

_COVERED = 0.8  # share of an instruction's stems that one line must hold to have said it
# Function words that make a rule another one. Those of an order of steps are members of a choice. "Every" is none:
# a rule holds each time, whether it says so or not.
_WHERE = "up down out off under over above below without except unless only all both"
_DIRECTIONS = frozenset(_WHERE.split())
_MIN_COUNT = 2  # stems: a single one that is no choice stands in many a rule
_QUOTED = re.compile(r'["“”„«`]([^"“”„«»`\n]{1,60})["“”»`]')  # 'begin with "Hi"' is about that word


_ASKED_TO_MERGE = re.compile(r"\b(?:pull|merge) requests?\b|\bmrs?\b", re.IGNORECASE)


def _stems(text: str) -> frozenset[str]:
    """Return the stems of `text`, a pull request under the name that people give it."""
    return stems(_ASKED_TO_MERGE.sub("PR", text))


def line_saying(update: Update, text: str) -> str | None:
    """Return the line of `text` that says an update already, None if none does.

    A line that is to change says nearly the same, one that is to go all of it.
    """
    if update.kind is Kind.REMOVE_STEP:
        return None
    if update.kind is Kind.CHANGE_STEP:
        return said_in(update.change, text, covered=1.0, whole=True)
    return said_in(update.change, text) or forbidden_in(update.change, text) or meant_in(update.change, text)


def is_same(one: str, other: str) -> bool:
    """Whether two changes are one ask."""
    alike = same(content_stems(one), content_stems(other))
    agree = denies(chosen_part(one)) == denies(chosen_part(other)) and same_choice(one, other)
    return alike and agree and not turned_round(one, other) and not contradicts(one, other)


def says_already(change: str, text: str, *, covered: float = _COVERED, whole: bool = False) -> bool:
    """Whether one line or item of `text` says what `change` says; `said_in` has what that takes."""
    return said_in(change, text, covered=covered, whole=whole) is not None


def said_in(change: str, text: str, *, covered: float = _COVERED, whole: bool = False) -> str | None:
    """Return the line or item of `text` that says what `change` says: its words, its numbers, the same yes or no.

    Verbs that any rule can do without do not count: "never use X" is said by "no X". `covered` is the share of the
    change's words that the line must have, with its heading, which alone says nothing. A word that tells a direction
    ("a down migration") must be there whatever else is. With `whole` the line must turn down what the change does, too:
    "X instead of Y".
    """
    if len(change) > MAX_CHANGE:
        return None
    asked = change if whole else chosen_part(change)
    if len(_stems(asked) - PLAIN_VERBS) < _MIN_COUNT and not choices(asked):
        asked = change  # "one file instead of three" is not said by whatever speaks of files
    wanted = _stems(asked) - PLAIN_VERBS or _stems(asked)
    for heading, line in _rules(text) if wanted else ():
        own = _stems(line) - PLAIN_VERBS
        held = wanted & (own | _stems(heading))
        if (
            len(held) >= covered * len(wanted)
            and len(held & own) * 2 >= len(wanted)
            and (len(wanted) > 1 or choices(asked) or len(own) <= _MIN_COUNT)
            and _directions(asked) <= _directions(line)
            and numbers(asked) <= numbers(line)
            and all(one.casefold() in line.casefold() for one in _QUOTED.findall(asked))
            and _agrees(asked, wanted, line, covered, whole=asked != chosen_part(change))
            and same_choice(asked, line)
            and not turned_round(change, line)
        ):
            return line
    return None


_CLAUSE_END = re.compile(r"(?<=[.;!?])\s|[()]")


def _agrees(asked: str, wanted: frozenset[str], line: str, covered: float, *, whole: bool) -> bool:
    """Whether a line says yes or no as `asked` does: its clause that says all of it, if one does ("pnpm. No npm.").

    With `whole` what the line turns down counts, too.
    """
    told = max(_CLAUSE_END.split(line), key=lambda one: len(wanted & _stems(one)))
    told = told if len(wanted & _stems(told)) >= covered * len(wanted) else line
    return denies(asked) == denies(told if whole else chosen_part(told))


_NO = re.compile(r"\b(?:do not|don'?t|dont|never|not|no|avoid)\b", re.IGNORECASE)
_OBJECTLESS = re.compile(
    r"\b(?:an?|the|us(?:e|ed|ing)|writ(?:e|ing)|put|mak(?:e|ing)|keep|do|add(?:ing)?|give|take|have|be)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+")
_ENOUGH_SHARED = 3  # stems that a prohibition in another language shares, and the rest may differ


def forbidden_in(change: str, text: str) -> str | None:
    """Return the line of `text` that forbids what `change` forbids, in the same words or those that languages share."""
    if len(change) > MAX_CHANGE or not denies(change):
        return None
    wanted, asked = _forbidden(change), _stems(REACH.sub("", change)) - PLAIN_VERBS
    foreign = other_tongue(change, text)
    for _, line in _rules(text) if len(wanted.split()) > 1 else ():
        for one in filter(denies, _SENTENCE.split(line)):
            own = _stems(REACH.sub("", one)) - PLAIN_VERBS
            if (wanted.startswith("no ") and f" {wanted} " in f" {_forbidden(one)} ") or (
                foreign and _share_terms(asked, own) and numbers(change) <= numbers(one)
            ):
                return line
    return None


def _forbidden(text: str) -> str:
    """Return `text` with one word for no, without what any rule has: "no redux" of "do not use Redux here"."""
    words = WORD.findall(_OBJECTLESS.sub("", _NO.sub("no", REACH.sub("", text))))
    return " ".join(stem(word.casefold()) for word in words)


def _share_terms(asked: frozenset[str], own: frozenset[str]) -> bool:
    """Whether the words that two languages share make two prohibitions one: most of both, or several."""
    shared = asked & own
    most = max(len(asked), len(own)) - len(shared) <= 1
    return bool(shared) and len(shared) * 2 >= len(own) and (most or len(shared) >= _ENOUGH_SHARED)


_MEANT = 0.6  # share of the weight of a change, and of a clause of a line, that the other has
_MIN_MET = 2  # terms that both have: one alone stands in many a rule
_YOU = frozenset(map(stem, ("agent", "assistant", "claude", "bot")))  # whom every rule speaks to
_PLACES = re.compile(r"\b(?:first|last|top|bottom|start|end|beginning|ask|tell|show|say)\b", re.IGNORECASE)
_REASON = re.compile(
    r"(?<=\w{3}),? (?:so|because|cuz|since|otherwise|damit|sonst|weil|pour que|parce que|sinon|para que|porque)\b.*",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"\b(?:also|too|as well|auch|también|également|aussi|anche|também|ook|też|také|также)\b", re.IGNORECASE
)


def meant_in(change: str, text: str) -> str | None:
    """Return the line of `text` that says what `change` says in other words, of which it has one at least.

    Most of the change must be meant in it, and most of one clause of it in the change, with the same yes or no. What
    the skill is for, or the line's section, need not be said again.
    """
    asked = _REASON.sub("", change) if len(change) <= MAX_CHANGE else ""
    if _FURTHER.search(asked):
        return None
    wanted, own, title = gist(asked), _stems(asked), front(text).name.replace("-", " ")
    for heading, line in _rules(text):
        if (
            not own.isdisjoint(_stems(line))
            and not line.startswith(("#", "|"))
            and _directions(asked) == _directions(line)
            and set(_PLACES.findall(asked.lower())) <= set(_PLACES.findall(line.lower()))
            and numbers(asked) <= numbers(line)
            and wanted.asked & CHOSEN <= members(line)
            and same_choice(asked, line)
            and not turned_round(asked, line)
            and _is_meant(wanted, gist(line), Words(terms(f"{title} {heading}")))
        ):
            return line
    return None


def _is_meant(wanted: Gist, told: Gist, about: Words) -> bool:
    known = Words(told.words)
    said = [one for one in wanted.words if one in known or not (one in about or _is_filler(one))]
    if share(bonds(said, told.words)) < _MEANT:
        return False
    for part in (*told.parts, Part(told.words, told.asked, told.codes, told.denies)):
        weights = bonds([one for one in part.words if one.stem not in _YOU or one in Words(said)], said)
        nearest = _nearest(wanted, part)
        enough = share(weights) >= _MEANT and sum(map(bool, weights.values())) >= _MIN_MET
        if enough and nearest.denies == part.denies:
            return True
    return False


def _nearest(wanted: Gist, part: Part) -> Part:
    return max(wanted.parts, key=lambda one: sum(bonds(one.words, part.words).values()))


def _is_filler(term: Term) -> bool:
    return term.stem in META and not term.meanings


_IMPORTS = re.compile(r"\s*(?:[-*+]\s+)?(?:@[^\s@]+\s*)+")


def only_imports(text: str) -> bool:
    """Whether a text names files to be loaded and says nothing itself: `@docs/style.md`."""
    return _IMPORTS.fullmatch(text) is not None


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """Yield the rules of a text behind its front matter, whole and line by line, each with the heading above it."""
    for section in sections(text):
        for block in section.blocks:
            if not only_imports(block.text):
                yield section.heading, block.text
    for line in body_of(text) or text.splitlines():
        if not only_imports(line):
            yield "", line


def _directions(text: str) -> frozenset[str]:
    return _DIRECTIONS.intersection(word.casefold() for word in WORD.findall(text))
