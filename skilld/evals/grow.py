"""Turns accepted corrections into cases: the request that the skill was loaded for, and what a good answer does.

Takes proposals and the redacted sessions that they quote; returns cases, or why a correction has none. Nothing is made
up: a case asks what the person asked, in their words, and checks what they accepted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skilld.batching.gate import ASSENTS, OPENERS
from skilld.errors import SkilldError
from skilld.evals.case_file import Case
from skilld.evals.checks import statements_for
from skilld.ingest.discover import Host
from skilld.mining.session_summary import typed_text
from skilld.mining.sessions import Reader, Session, Transcript, recent_transcripts
from skilld.pipeline.documents import session_opt_out
from skilld.proposals.model import MINE_PREFIX
from skilld.store import Store
from skilld.text import Redact, fold, safe_text, truncate
from skilld.types import Kind, Message, Proposal
from skilld.values import value_class
from skilld.words import has_negation, stems

_TRANSCRIPT_GONE = "the transcript of its session is gone"


class SessionMessages:
    """Rereads the sessions that proposals quote, redacted; each transcript is read once."""

    def __init__(self, store: Store, host: Host, redact: Redact) -> None:
        self._store, self._host, self._redact = store, host, redact
        self._read: dict[Path, list[Session]] = {}
        self._past: list[Transcript] | None = None

    def session(self, proposal: Proposal, turn: str) -> Session:
        """Return the session of a turn. Raises LookupError with a reason."""
        for transcript in self._transcripts(proposal, turn):
            for session in self._sessions(transcript):
                if any(message.turn_key == turn for message in session.messages):
                    if why := _opt_out_reason(session):
                        raise LookupError(why)
                    return session
        raise LookupError(_TRANSCRIPT_GONE)

    def _transcripts(self, proposal: Proposal, turn: str) -> Iterator[Transcript]:
        known = self._store.transcripts.path_of(turn)
        if known is not None:
            yield Transcript(known[0], Path(known[1]), 0.0)
        if self._past is None:
            self._past = recent_transcripts(self._host, 0.0)
        if proposal.session_id:
            yield from (one for one in self._past if proposal.session_id in str(one.path))

    def _sessions(self, transcript: Transcript) -> list[Session]:
        if transcript.path not in self._read:
            # With a reader of its own, so that a turn that a copy of the file repeats is found in both.
            self._read[transcript.path] = Reader(self._redact).sessions(transcript)
        return self._read[transcript.path]


def _opt_out_reason(session: Session) -> str | None:
    try:
        return session_opt_out(session.cwd or None)
    except SkilldError as error:
        return str(error)


_MIN_STEMS = 2  # of a request: a shorter one, such as "go on", asks for nothing on its own
_MAX_REQUEST = 4000  # characters
_MAX_CHANGE = 600
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
FindSession = Callable[[Proposal, str], Session]
"""Returns the session for a proposal and the key of one of its turns; raises LookupError if gone."""


@value_class
class GrownCases:
    """The cases of corrections, each with the id of its proposal, and the reasons of proposals without a case."""

    cases: tuple[tuple[str, Case], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def grow(proposals: Iterable[Proposal], find: FindSession) -> GrownCases:
    """Return the cases of the proposals that quote the person; others are not corrections."""
    cases: dict[tuple[str, ...], tuple[str, Case]] = {}  # by content: the same case twice is one
    left_out: list[tuple[str, str]] = []
    for proposal in proposals:
        if not proposal.evidence:
            continue
        made, why = _cases(proposal, find)
        for case in made:
            cases.setdefault(case.content, (proposal.id, case))
        if why and not made:
            left_out.append((proposal.id, why))
    return GrownCases(tuple(cases.values()), tuple(left_out))


def _cases(proposal: Proposal, find: FindSession) -> tuple[list[Case], str]:
    cases, why = [], ""
    quotes: dict[str, list[str]] = {}
    corrected = {quote for _, _, quote, _ in _corrections(proposal)}
    for one in proposal.evidence:
        if fold(one.quote) in corrected or not proposal.batch_id.startswith(MINE_PREFIX):  # that quotes requests, too
            quotes.setdefault(one.turn, []).append(fold(one.quote))
    for change, kind, quote, turn in _corrections(proposal):
        if kind is Kind.REMOVE_STEP:
            why = "it removes something from the skill, which a test case cannot check"
            continue
        try:
            session = find(proposal, turn)
        except LookupError as error:
            why = str(error.args[0])
            continue
        if asked := request_for(session, proposal, turn, quotes):
            expected = f"{change} You said: \u201c{quote}\u201d"
            cases.append(Case("", asked, safe_text(expected), tuple(map(safe_text, statements_for(change)))))
        else:
            why = "you had not asked for anything earlier in that session"
    return cases, why


def _corrections(proposal: Proposal) -> Iterator[tuple[str, Kind, str, str]]:
    """Yield each correction: the change, its kind, its quote and the key of its turn."""
    by_quote = {fold(one.quote): one for one in proposal.evidence}
    pairs = [(update, by_quote[fold(update.quote)]) for update in proposal.updates if fold(update.quote) in by_quote]
    for update, said in pairs:
        yield truncate(fold(update.change), _MAX_CHANGE), update.kind, fold(said.quote), said.turn
    if not pairs:
        said = proposal.evidence[0]
        yield truncate(fold(proposal.summary), _MAX_CHANGE), proposal.kind, fold(said.quote), said.turn


def request_for(session: Session, proposal: Proposal, turn: str, quotes: Mapping[str, Sequence[str]]) -> str:
    """Return the request that a correction refers to, empty if there is none.

    It is the one for which the skill was loaded last before the correction; if the log names none, the last request
    before it, or the rest of the same turn. Turns with `quotes` are corrections: only their rest can be a request.
    """
    messages = session.messages
    places = {one.turn_key: place for place, one in enumerate(messages)}
    if turn not in places:
        return ""
    at = places[turn]
    mine = (key for use, key in session.loaded if use.path == proposal.path or use.name == proposal.skill)
    loaded = [place for key in mine if (place := places.get(key, at + 1)) <= at]
    before = (place for place in range(at - 1, -1, -1) if messages[place].turn_key not in quotes)
    for place in (*loaded[-1:], *before, at):
        skill = proposal.skill if place < at else ""  # "Notes: ..." beside the correction asks for nothing
        if messages[place].by_person and (asked := _request(_without_quotes(messages, place, quotes), skill)):
            return asked
    return ""


def _without_quotes(messages: Sequence[Message], place: int, quotes: Mapping[str, Sequence[str]]) -> str:
    """Return what was typed in a message without what is quoted from it."""
    text = typed_text(messages, place)
    for quote in quotes.get(messages[place].turn_key or "", ()):
        text = fold(text)
        if quote not in text:
            return ""
        text = text.replace(quote, " ", 1)
    return text


def _request(text: str, skill: str) -> str:
    """Return a text as a request, empty if it asks for too little; for a skill, its name is enough: "release 1.7.0"."""
    asked = safe_text(text, newlines=True).strip()
    words = [word.lower() for word in _WORD.findall(asked)]
    says_more = any(word not in ASSENTS and word not in OPENERS for word in words)
    named = bool(stems(asked) & stems(skill.replace("-", " "))) and not has_negation(asked)
    return truncate(asked, _MAX_REQUEST) if says_more and (named or len(stems(asked)) >= _MIN_STEMS) else ""
