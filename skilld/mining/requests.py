"""What reviewers ask for: requests in one comment, and those that come again in several pull requests. Pure.

A request counts once for each pull request. Nothing here is taken for the person's words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from skilld.batching.gate import needs_classification
from skilld.classify.contradiction import contradicts_outright
from skilld.classify.offline.choices import turned_down, turned_round
from skilld.classify.offline.detector import Match, clauses_of, listen, plain, typed_part
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.phrasing import phrase
from skilld.classify.offline.product import spoken
from skilld.classify.offline.provenance import FILLER
from skilld.classify.said_already import is_same, says_already
from skilld.clock import seconds
from skilld.library.clusters import Mention, Piece, asks
from skilld.text import fold
from skilld.words import content_stems, denies

ENOUGH = 3  # pull requests in which a request must come
_DAYS = 2
_MAX_LENGTH = 1000  # characters of a comment that is listened to: a longer one is an essay, or pasted
_MIN_COUNT = 2  # stems
_LINE = 200  # characters of a request

# What leads up to a request in a review, and the form of a question that is one.
_LEAD = re.compile(
    r"^(?:@[\w-]+[,:]? )?(?:(?:nit(?:pick)?|minor|style|suggestion|again|also|same here|and|so|but"
    r"|as (?:discussed|mentioned|agreed|always|before))\b ?[-:,]? )+",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"^(?:can|could|should|shall|would|will) (?:we|you|i)(?: please| maybe| perhaps)? (?=\w)"
    r"|^(?:i|we) (?=(?:prefer|use|avoid)\b)",
    re.IGNORECASE,
)
_HERE = re.compile(r" here(?= (?:instead|rather)\b| ?[.!,]?$)", re.IGNORECASE)
_OF_SOMEBODY = re.compile(r"^(?:you|i|he|she|they) (?:always|never)\b", re.IGNORECASE)  # praise, or a complaint
# About this code, this pull request or somebody in it, and so about no other.
_THIS_ONE = re.compile(
    r"\b(?:this|these|those|it|its|above|below|same|here|you|your|he|she|they|them|i|i'd|i'll|i'm|my|me)\b(?!\s+(?:project|repo"
    r"|repository|codebase|code base|package|team)\b)|\bline \d|\bthat\s*(?:[.!?]|$)|@\w|https?://|[0-9a-f]{7,40}\b"
    r"|^(?:do not )?\w+ the [\w-]+(?: [\w-]+)?\.?$",  # "drop the cast": there is one
    re.IGNORECASE,
)
# Said of how things stand, and not of how they are to be.
_STATED = re.compile(
    r"^(?:only|just|not|off|needs?|must|should|has|is|are)\b|\b(?:is|are|was|were|has|have|had|does|did) (?:\w+ )?"
    r"(?:never|always|only|missing|gone|fine)\b"
    r"|\b(?:now|any ?more|yet|still|already|later|since|today|tomorrow|tonight|(?:mon|tues|wednes|thurs|fri)day"
    r"|(?:this|next) (?:week|sprint|release))\b|^do not (?:need|have|see|know|think|understand|mind)\b",
    re.IGNORECASE,
)
_NORM = re.compile(r"\b(?:must|should|needs? (?:to|an?)|have to|has to|always|never)\b", re.IGNORECASE)
# In one wording at least: a bare order, however often it is given, is of one piece of work ("format it").
_RULED = re.compile(
    _NORM.pattern + r"|\b(?:prefer|instead of|rather than|every|each|all|any|no|not|don'?t|avoid|only|we use)\b",
    re.IGNORECASE,
)
# A name out of the code: "do not call `a_b` twice" is another request than the same of `c_d`.
_NAME = re.compile(r"\b[A-Za-z]\w*_\w+|\b[a-z]+[A-Z]\w*|\b\w++(?=\(\))")
_CODE = re.compile(r"`[^`\s]+`")
_OF_REVIEWING = re.compile(
    r"\b(?:re-?base|(?:merge )?conflicts?|ci|re-?run|re-?review|(?:another|a) look|ping|lgtm|ptal|approve[ds]?"
    r"|follow-?up|(?:the|failing|red|broken) (?:check|build|pipeline)s?|last commit|merg(?:e|ed|ing)|discuss|offline"
    r"|backport|screenshot|description of)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Request:
    """One thing a comment asks for: as an instruction, and in its own words, redacted."""

    change: str
    quote: str


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A request as it was kept, with its comment."""

    comment: str
    url: str
    pull: str
    author: str
    role: str
    at: str
    change: str
    quote: str


@dataclass(frozen=True, slots=True)
class RecurringRequest:
    """What came again and again, in the wording that says best what all of them do; the newest stands first."""

    change: str
    asked: tuple[StoredRequest, ...]
    disputed: bool = False

    @property
    def pulls(self) -> int:
        """In how many pull requests."""
        return len({one.pull for one in self.asked})

    @property
    def people(self) -> int:
        """By how many people."""
        return len({one.author for one in self.asked})

    @property
    def roles(self) -> dict[str, int]:
        """By how many people of each role."""
        return dict(sorted(Counter({one.author: one.role for one in self.asked}.values()).items()))

    @property
    def since(self) -> str:
        """The day of the first."""
        return min(one.at for one in self.asked)[:10]


def requests(text: str, redact: Callable[[str], str]) -> list[Request]:
    """Return what one comment asks for that may hold beyond its pull request."""
    if len(text) > _MAX_LENGTH or not needs_classification(text):
        return []
    typed = typed_part(text, ())
    languages = spoken(typed)
    lasting = {one.start for one in (*listen(text), *plain(text))}
    found: dict[str, Request] = {}
    for clause in clauses_of(typed, languages):
        bare = _LEAD.sub("", fold(clause.text))
        asked = _ASKED.match(bare)
        if (clause.question and not asked) or _OF_SOMEBODY.match(bare):
            continue
        said = _HERE.sub("", bare[asked.end() if asked else 0 :].rstrip("? "))
        heard = Match(said, said, clause.start, question=False, language=languages[0], cue=Cue.CORRECTION, strength=0.5)
        made = phrase(heard)
        wanted = asked or clause.start in lasting or _NORM.search(said) or listen(said) or plain(said)
        if made.clear and wanted and _lasts(made.text):
            quote = text[clause.start : clause.start + len(clause.text)]
            found[made.text] = Request(redact(made.text), redact(fold(quote)))
    return [one for one in found.values() if one.change in found]  # not where a secret was masked


def _lasts(change: str) -> bool:
    about_one = _THIS_ONE.search(change) or _OF_REVIEWING.search(change) or _STATED.search(change)
    telling = content_stems(_NAME.sub(" ", change)) | set(_CODE.findall(_NAME.sub(" ", change)))
    return not about_one and FILLER not in change and len(change) <= _LINE and len(telling) >= _MIN_COUNT


def recurring(asked: Iterable[StoredRequest]) -> list[RecurringRequest]:
    """Return what was asked for in enough pull requests and on several days, the most frequent first.

    Where reviewers ask for the opposite, too, it is disputed.
    """
    known = {(one.comment, one.change): one for one in asked}
    said = [
        Mention("review", one.comment, one.change, one.quote, "", "", one.pull, Piece(one.pull, _at(one), 0.5))
        for one in sorted(known.values(), key=lambda one: (one.at, one.comment, one.change))
    ]
    groups = [part for ask in asks(said) for part in _by_names([known[one.id, one.text] for one in ask.said])]
    found = [_found(group) for group in groups if _is_enough(group)]
    found.sort(key=lambda one: (-one.pulls, -len(one.asked), one.change))
    kept: list[RecurringRequest] = []
    for one in found:
        if not any(is_same(one.change, other.change) or says_already(one.change, other.change) for other in kept):
            kept.append(one)
    return kept


def _by_names(group: Sequence[StoredRequest]) -> list[list[StoredRequest]]:
    """Return a group in parts that name other things of the code."""
    parts: list[tuple[set[str], list[StoredRequest]]] = []
    for one in group:
        own = set(_NAME.findall(one.change))
        names, part = next(
            ((names, part) for names, part in parts if names & own or not (names or own)),
            (set[str](), list[StoredRequest]()),
        )
        if not part:
            parts.append((names, part))
        names |= own
        part.append(one)
    return [part for _, part in parts]


def _is_enough(group: Sequence[StoredRequest]) -> bool:
    often = len({one.pull for one in group}) >= ENOUGH and len({one.at[:10] for one in group}) >= _DAYS
    return often and any(_RULED.search(one.quote) for one in group)


def _found(group: Sequence[StoredRequest]) -> RecurringRequest:
    wordings = Counter(one.change for one in group)
    stems = {text: content_stems(text) for text in wordings}

    def rank(text: str) -> tuple[float, int, str]:
        alike = sum(
            many * len(stems[text] & stems[other]) / max(len(stems[text] | stems[other]), 1)
            for other, many in wordings.items()
        )
        return -round(alike, 2), len(text), text

    best = min(wordings, key=rank)
    disputed = any(_opposite(best, stems[best], other, stems[other]) for other in wordings)
    return RecurringRequest(best, tuple(group), disputed)


def _opposite(one: str, stems: frozenset[str], other: str, others: frozenset[str]) -> bool:
    """Whether two wordings ask for the opposite; that only one of them says "not" is often the same in other words."""
    if stems != others:
        return contradicts_outright(one, other)
    plainly = not (turned_down(one) or turned_down(other))  # "use a, not b" says no to b alone
    return turned_round(one, other) or (plainly and denies(one) != denies(other))


def _at(one: StoredRequest) -> float:
    return seconds(one.at) or 0.0
