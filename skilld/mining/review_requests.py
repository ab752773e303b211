"""Finds what reviewers ask for in one comment, and which requests recur in several pull requests.

A request counts once per pull request. Nothing here counts as the person's words.
"""

from __future__ import annotations

import json
import mmap
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from skilld.batching.gate import needs_classification
from skilld.classify.contradiction import chooses_differently
from skilld.classify.offline.choices import is_reversed_choice, refused_part
from skilld.classify.offline.detector import Match, find_lasting, find_practices
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.phrasing import phrase
from skilld.classify.offline.product import likely_languages
from skilld.classify.offline.provenance import FILLER
from skilld.classify.offline.typed import clauses_of, typed_part
from skilld.classify.said_already import is_same_change, says_already
from skilld.clock import parse_time
from skilld.ingest.whole_transcript import read_transcript
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.library.clusters import Mention, Piece, group_asks
from skilld.mining.sessions import Transcript
from skilld.protocol import PROCESSOR_SECONDS
from skilld.text import fold
from skilld.types import ToolCall
from skilld.values import value_class
from skilld.words import content_stems, has_negation, is_same_ask

MIN_PULLS = 3
_MIN_DAYS = 2
_MAX_LENGTH = 1000  # characters of a comment: a longer one is an essay, or pasted
_MIN_STEMS = 2  # stems
_MAX_REQUEST_LENGTH = 200  # characters of a request

# The lead-in of a request in a review, and questions that are requests.
_LEAD_IN_PATTERN = re.compile(
    r"^(?:@[\w-]+[,:]? )?(?:(?:nit(?:pick)?|minor|style|suggestion|again|also|same here|and|so|but"
    r"|as (?:discussed|mentioned|agreed|always|before))\b ?[-:,]? )+",
    re.IGNORECASE,
)
_ASKING_PATTERN = re.compile(
    r"^(?:can|could|should|shall|would|will) (?:we|you|i)(?: please| maybe| perhaps)? (?=\w)"
    r"|^(?:i|we) (?=(?:prefer|use|avoid)\b)",
    re.IGNORECASE,
)
_HERE_PATTERN = re.compile(r" here(?= (?:instead|rather)\b| ?[.!,]?$)", re.IGNORECASE)
_PERSON_PATTERN = re.compile(r"^(?:you|i|he|she|they) (?:always|never)\b", re.IGNORECASE)  # praise, or a complaint
# About this code, this pull request or somebody in it, so about no other.
_THIS_CODE_PATTERN = re.compile(
    r"\b(?:this|these|those|it|its|above|below|same|here|you|your|he|she|they|them|i|i'd|i'll|i'm|my|me)\b(?!\s+(?:project|repo"
    r"|repository|codebase|code base|package|team)\b)|\bline \d|\bthat\s*(?:[.!?]|$)|@\w|https?://|[0-9a-f]{7,40}\b"
    r"|^(?:do not )?\w+ the [\w-]+(?: [\w-]+)?\.?$",  # "drop the cast": there is one
    re.IGNORECASE,
)
# A statement of how things are, not of how they should be.
_STATEMENT_PATTERN = re.compile(
    r"^(?:only|just|not|off|needs?|must|should|has|is|are)\b|\b(?:is|are|was|were|has|have|had|does|did) (?:\w+ )?"
    r"(?:never|always|only|missing|gone|fine)\b"
    r"|\b(?:now|any ?more|yet|still|already|later|since|today|tomorrow|tonight|(?:mon|tues|wednes|thurs|fri)day"
    r"|(?:this|next) (?:week|sprint|release))\b|^do not (?:need|have|see|know|think|understand|mind)\b",
    re.IGNORECASE,
)
_NORM_PATTERN = re.compile(r"\b(?:must|should|needs? (?:to|an?)|have to|has to|always|never)\b", re.IGNORECASE)
# At least one wording must match: a bare order ("format it") is about one piece of work, however often it is given.
_RULE_PATTERN = re.compile(
    _NORM_PATTERN.pattern
    + r"|\b(?:prefer|instead of|rather than|every|each|all|any|no|not|don'?t|avoid|only|we use)\b",
    re.IGNORECASE,
)
# An identifier: "do not call `a_b` twice" and the same about `c_d` are different requests.
_IDENTIFIER_PATTERN = re.compile(r"\b[A-Za-z]\w*_\w+|\b[a-z]+[A-Z]\w*|\b\w++(?=\(\))")
_CODE_PATTERN = re.compile(r"`[^`\s]+`")
_REVIEW_PROCESS_PATTERN = re.compile(
    r"\b(?:re-?base|(?:merge )?conflicts?|ci|re-?run|re-?review|(?:another|a) look|ping|lgtm|ptal|approve[ds]?"
    r"|follow-?up|(?:the|failing|red|broken) (?:check|build|pipeline)s?|last commit|merg(?:e|ed|ing)|discuss|offline"
    r"|backport|screenshot|description of)\b",
    re.IGNORECASE,
)


@value_class
class Request:
    """One thing a comment asks for, as an instruction and in its own words, redacted."""

    change: str
    quote: str


@value_class
class StoredRequest:
    """A request from the store, with its comment."""

    comment: str
    url: str
    pull: str
    author: str
    role: str
    at: str
    change: str
    quote: str

    @property
    def mention(self) -> Mention:
        """It as one time that something lasting was said, with the pull request as the session."""
        piece = Piece(self.pull, parse_time(self.at) or 0.0, 0.5)
        return Mention("review", self.comment, self.change, self.quote, "", "", self.pull, piece)


@value_class
class RecurringRequest:
    """A request of several pull requests, in its most typical wording; `asked` has the newest first."""

    change: str
    asked: tuple[StoredRequest, ...]
    disputed: bool = False

    @property
    def pulls(self) -> int:
        """The number of pull requests."""
        return len({one.pull for one in self.asked})

    @property
    def people(self) -> int:
        """The number of people."""
        return len({one.author for one in self.asked})

    @property
    def roles(self) -> dict[str, int]:
        """The number of people of each role."""
        return dict(sorted(Counter({one.author: one.role for one in self.asked}.values()).items()))

    @property
    def since(self) -> str:
        """The day of the first request."""
        return min(one.at for one in self.asked)[:10]


def find_requests(text: str, redact: Callable[[str], str]) -> list[Request]:
    """Return the requests of one comment that may hold beyond its pull request."""
    if len(text) > _MAX_LENGTH or not needs_classification(text):
        return []
    typed = typed_part(text, ())
    languages = likely_languages(typed)
    lasting = {one.start for one in (*find_lasting(text), *find_practices(text))}
    found: dict[str, Request] = {}
    for clause in clauses_of(typed, languages):
        bare = _LEAD_IN_PATTERN.sub("", fold(clause.text))
        asked = _ASKING_PATTERN.match(bare)
        if (clause.question and not asked) or _PERSON_PATTERN.match(bare):
            continue
        rest = _HERE_PATTERN.sub("", bare[asked.end() if asked else 0 :].rstrip("? "))
        heard = Match(rest, rest, clause.start, question=False, language=languages[0], cue=Cue.CORRECTION, strength=0.5)
        made = phrase(heard)
        wanted = (
            asked or clause.start in lasting or _NORM_PATTERN.search(rest) or find_lasting(rest) or find_practices(rest)
        )
        if made.clear and wanted and _is_lasting(made.text):
            quote = text[clause.start : clause.start + len(clause.text)]
            found[made.text] = Request(redact(made.text), redact(fold(quote)))
    return [one for one in found.values() if one.change in found]  # without those in which a secret was masked


def _is_lasting(change: str) -> bool:
    about_one = (
        _THIS_CODE_PATTERN.search(change) or _REVIEW_PROCESS_PATTERN.search(change) or _STATEMENT_PATTERN.search(change)
    )
    telling = content_stems(_IDENTIFIER_PATTERN.sub(" ", change)) | set(
        _CODE_PATTERN.findall(_IDENTIFIER_PATTERN.sub(" ", change))
    )
    return not about_one and FILLER not in change and len(change) <= _MAX_REQUEST_LENGTH and len(telling) >= _MIN_STEMS


def recurring_requests(asked: Iterable[StoredRequest]) -> list[RecurringRequest]:
    """Return the requests made in enough pull requests and on several days, the most frequent first.

    One is disputed if reviewers also ask for the opposite.
    """
    known = {(one.comment, one.change): one for one in asked}
    said = [one.mention for one in sorted(known.values(), key=lambda one: (one.at, one.comment, one.change))]
    groups = [
        part for ask in group_asks(said) for part in _split_by_identifier([known[one.id, one.text] for one in ask.said])
    ]
    wordings = {one.change: content_stems(one.change) for one in known.values()}
    found = [_build_request(group, wordings) for group in groups if _is_recurring(group)]
    found.sort(key=lambda one: (-one.pulls, -len(one.asked), one.change))
    kept: list[RecurringRequest] = []
    for one in found:
        if not any(
            is_same_change(one.change, other.change) or says_already(one.change, other.change) for other in kept
        ):
            kept.append(one)
    return kept


def _split_by_identifier(group: Sequence[StoredRequest]) -> list[list[StoredRequest]]:
    parts: list[tuple[set[str], list[StoredRequest]]] = []
    for one in group:
        own = set(_IDENTIFIER_PATTERN.findall(one.change))
        names, part = next(
            ((names, part) for names, part in parts if names & own or not (names or own)),
            (set[str](), list[StoredRequest]()),
        )
        if not part:
            parts.append((names, part))
        names |= own
        part.append(one)
    return [part for _, part in parts]


def _is_recurring(group: Sequence[StoredRequest]) -> bool:
    often = len({one.pull for one in group}) >= MIN_PULLS and len({one.at[:10] for one in group}) >= _MIN_DAYS
    return often and any(_RULE_PATTERN.search(one.quote) for one in group)


def _build_request(group: Sequence[StoredRequest], stems: Mapping[str, frozenset[str]]) -> RecurringRequest:
    """Return the request of a group; `stems` are those of every wording, also of the opposite ones in other groups."""
    wordings = Counter(one.change for one in group)

    def rank(text: str) -> tuple[float, int, str]:
        alike = sum(
            many * len(stems[text] & stems[other]) / max(len(stems[text] | stems[other]), 1)
            for other, many in wordings.items()
        )
        return -round(alike, 2), len(text), text

    best = min(wordings, key=rank)
    alike = (other for other, own in stems.items() if is_same_ask(stems[best], own))
    disputed = any(_are_opposite(best, stems[best], other, stems[other]) for other in alike)
    return RecurringRequest(best, tuple(group), disputed)


def _are_opposite(one: str, stems: frozenset[str], other: str, others: frozenset[str]) -> bool:
    """Whether two wordings ask for the opposite. One "not" alone is often the same thing in other words."""
    if stems != others:
        return chooses_differently(one, other)
    plainly = not (refused_part(one) or refused_part(other))  # "use a, not b" denies only b
    return is_reversed_choice(one, other) or (plainly and has_negation(one) != has_negation(other))


# Comments under the person's account that an agent wrote: those whose words occur in a tool call. An agent posts
# comments by a command or a tool, with the person's login. Text that it only read, or that the person typed, does not
# count.

# Characters that are the same in JSON, in shell quotes and in Markdown.
_PLAIN_TEXT_PATTERN = re.compile(r"[A-Za-z0-9 ,.;:()/+-]{12,}")


def comments_by_agents(asked: Sequence[StoredRequest], transcripts: Iterable[Transcript]) -> Collection[str]:
    """Return the ids of the comments whose words an agent passed to a tool, and of those without plain words."""
    needles = {one.comment: max(_PLAIN_TEXT_PATTERN.findall(one.quote), key=len, default="") for one in asked}
    found = {key for key, needle in needles.items() if not needle}
    first = min((parse_time(one.at) or 0.0 for one in asked), default=0.0)
    for transcript in transcripts:
        left = {key: needle for key, needle in needles.items() if key not in found}
        if transcript.changed < first or not left:
            continue
        here = _needles_in_file(transcript, left.values())
        likely = {key: needle for key, needle in left.items() if needle in here}
        if likely:
            try:
                with processor_time(PROCESSOR_SECONDS):
                    found |= {
                        key for text in _tool_inputs(transcript) for key, needle in likely.items() if needle in text
                    }
            except (OSError, ProcessorTimeError):
                found |= likely.keys()  # unknown: better not to count them
    return found


def _needles_in_file(transcript: Transcript, needles: Iterable[str]) -> set[str]:
    try:
        with transcript.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return {needle for needle in needles if data.find(needle.encode()) >= 0}
    except (OSError, ValueError):  # an empty file cannot be mapped
        return set()


def _tool_inputs(transcript: Transcript) -> Iterable[str]:
    for _, item in read_transcript(transcript.agent, transcript.path):
        if isinstance(item, ToolCall):
            yield json.dumps(item.input, ensure_ascii=False)
