"""Generating skills step by step, without a screen: choose past sessions, look at the result, propose.

The steps are those of a mining run, so that the same choice gives the same proposals in both. Every call opens the
store itself, so that it may run on any thread. Nothing is changed before `save`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

from skilld.classify.offline.provenance import own_words
from skilld.clock import local_date
from skilld.mining import candidates
from skilld.mining.candidates import (
    CandidateRun,
    cached_prices,
    find_candidates,
    judge_against_known,
    record_support,
    with_progress,
)
from skilld.mining.dedup import is_declined, is_waiting
from skilld.mining.evidence import Transcripts
from skilld.mining.proposing import CandidateResult, propose_candidate
from skilld.mining.questions import Estimate
from skilld.mining.session_summary import Row
from skilld.mining.sessions import Session, SessionSet, read_sessions
from skilld.mining.values import Candidate, Hooks, Judgement, MiningContext, Options, Progress, proof_lines
from skilld.skills.spec import NAME_PATTERN, read_front
from skilld.store import Store
from skilld.text import fold, safe_text, truncate
from skilld.values import value_class

Confirmation = Callable[[Estimate, Callable[[], float | None]], bool]
_MAX_TOPIC_CHARS = 80  # of what is already proposed


@value_class
class SessionChoice:
    """A session to choose: `title` is its first request, `project` its folder's name; safe for a terminal."""

    session: Session
    day: str
    project: str
    title: str

    def has(self, words: str) -> bool:
        """Whether each of these words is in what is shown of the session."""
        shown = f"{self.day} {self.session.agent} {self.project} {self.title}".casefold()
        return all(word in shown for word in words.casefold().split())


@value_class
class KeptCandidate:
    """A kept candidate, with the name and text that the person gave it. An empty text means the draft's own."""

    candidate: Candidate
    name: str
    text: str = ""


@value_class
class Preview:
    """The result for the chosen sessions: a preview of each candidate's proposal, and the run that can propose it."""

    considered: CandidateRun
    previews: Sequence[CandidateResult]

    @property
    def already_proposed(self) -> list[str]:
        """What was found but is already in open proposals, each with its proposal."""
        rejected = self.considered.report.judgement.rejected
        return [
            f"\u201c{truncate(fold(safe_text(one.topic)), _MAX_TOPIC_CHARS)}\u201d: {one.missed}"
            for one in rejected
            if is_waiting(one.missed)
        ]

    @property
    def nothing_found(self) -> str:
        """Why there are no previews: what was found is turned down already, or is too little."""
        if any(is_declined(one.missed) for one in self.considered.report.judgement.rejected):
            return "Nothing new: you have already turned down what these sessions show."
        return "There is not enough in these sessions to make a skill."


class Generation:
    """One pass through the three steps. `world` has no open store: `open_store` opens one for each call."""

    def __init__(self, options: Options, world: MiningContext, open_store: Callable[[], Store]) -> None:
        self._options = options
        self._context = world
        self._open_store = open_store
        self._prices = cached_prices(world.terms)
        self._reading = SessionSet()
        self._rows: dict[str, Row] = {}
        self._one_at_a_time = threading.Lock()

    @property
    def model(self) -> str:
        """The model that is asked; `offline` means the built-in rules."""
        return self._context.terms.spec.model

    def choices(self, progress: Progress) -> list[SessionChoice]:
        """Return the past sessions that were asked for, newest first. Reads their transcripts."""
        transcripts = with_progress(self._options.transcripts, progress)
        self._reading = read_sessions(transcripts, self._options.wanted, self._context.redact, self._prices)
        found: dict[str, SessionChoice] = {}
        for session in self._reading.sessions:  # of a forked one, two files have turns
            found.setdefault(session.id, _session_choice(session))
        return [*found.values()]

    def cost(self, choice: SessionChoice) -> float | None:
        """Return what a session cost in US dollars; None if that is not known. May take seconds."""
        return choice.session.log.cost(self._prices)

    def find_offline(self, chosen: Collection[SessionChoice]) -> Judgement:
        """Return what the built-in rules find in these sessions, without a model."""
        with self._one_at_a_time, self._world() as world:
            new = [one.session for one in chosen if one.session.id not in self._rows]
            self._rows |= {row.session_id: row for row in candidates.session_rows(new, lambda _: None, world.store)[0]}
            transcripts = Transcripts(one.session for one in chosen)
            rows = [self._rows[one.session.id] for one in chosen]
            return judge_against_known(rows, transcripts, self._options, world)[0]

    def find(self, chosen: Collection[SessionChoice], agree: Confirmation, progress: Progress) -> Preview:
        """Return the candidates of these sessions, with drafts of new skills; a model is asked only if `agree` does.

        Raises SkilldError if the model cannot be asked.
        """
        ids = {one.session.id for one in chosen}
        self._context = self._context.for_sessions(one.session for one in chosen)
        reading = replace(self._reading, sessions=[one for one in self._reading.sessions if one.id in ids])
        with self._world() as world:
            considered = find_candidates(reading, self._options, world, Hooks(agree, str, progress))
            candidates = considered.report.judgement.candidates
            previews = [propose_candidate(one, considered.run, str, dry_run=True) for one in candidates]
        return Preview(considered, previews)

    def save(self, kept: Sequence[KeptCandidate], result: Preview, progress: Progress) -> Iterator[CandidateResult]:
        """Propose the kept candidates, yielding each result. For an existing skill the model writes the edit."""
        with self._world() as world:
            run = replace(result.considered.run, world=replace(result.considered.run.world, store=world.store))
            if not self._options.dry_run:
                record_support(result.considered.proposed, world.store, self._reading)
            for number, one in enumerate(kept, 1):
                progress("proposals", number, len(kept))
                candidate = replace(one.candidate, name=one.name)
                edit = _replace_with(one) if one.text else str
                yield propose_candidate(candidate, run, edit, dry_run=self._options.dry_run)

    @contextmanager
    def _world(self) -> Iterator[MiningContext]:
        with closing(self._open_store()) as store:
            yield replace(self._context, store=store)


_NAME_LINE = re.compile(r"^name:.*", re.MULTILINE)


def name_problem(name: str, others: Collection[str]) -> str | None:
    """Return why a new skill cannot have this name, given the `others`; None if it can."""
    if not NAME_PATTERN.fullmatch(name):
        return "it may contain only lowercase letters, digits and single hyphens"
    return "another skill has that name" if name in others else None


def quoted_parts(candidate: Candidate) -> Iterator[tuple[str, list[str]]]:
    """Yield each text that a candidate would add to a skill, with its quotes; safe for a terminal."""
    for part in candidate.parts:
        yield safe_text(part.text), [*map(safe_text, proof_lines(part))]


def _session_choice(session: Session) -> SessionChoice:
    said = (fold(own_words(turn.text)) for turn in session.turns)
    title = next((text for text in said if text), "")
    folder = (session.project or session.cwd).rstrip("/").rpartition("/")[2]
    day = safe_text(local_date(session.at))
    return SessionChoice(session, day, safe_text(folder), safe_text(title))


def _replace_with(kept: KeptCandidate) -> Callable[[str], str]:
    """Return what gives a draft the person's text; it was edited before the name was asked for."""
    renamed = read_front(kept.text).name != kept.candidate.name and kept.name == kept.candidate.name
    text = kept.text if renamed else _NAME_LINE.sub(f"name: {kept.name}", kept.text, count=1)
    return lambda _: text
