"""Lasting things that were said, where each came up, and a second look at the transcript for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.withdrawn import still_standing
from skilld.classify.said_already import says_already
from skilld.classify.talk import OF_PROJECT, without_project
from skilld.classify.verify import as_typed
from skilld.clock import seconds
from skilld.library.clusters import Ask, Mention, Piece, asks, confidence
from skilld.mining.session_summary import Row, as_task, typed
from skilld.mining.sessions import Reader, Session, Transcript
from skilld.mining.values import REPEATABLE, REPEATED, ROOM, Part, Proof, RejectedCandidate, Sort
from skilld.skills import Skill, Source
from skilld.targets.route import is_personal
from skilld.types import Kind, Message, Update
from skilld.words import content_stems, likeness

SEVERAL = 2
_SURE = 0.5  # least confidence in an ask
_FITS = 0.3  # least likeness of an ask, with the work it came up in, to a skill's own description
_SORTS = {Kind.FACT: Sort.FACT, Kind.CORRECTION: Sort.PITFALL}

# Why a thing that was said is not to be proposed (again): empty where it may be. Asked with its turn and its quote, or
# with the whole ask.
Refuted = Mapping[tuple[str, str], str]
Known = Callable[[Ask, str], str | None]  # the ask, and the path of the skill it belongs to or nothing


@dataclass(frozen=True, slots=True)
class Lead:
    """An ask with the rows it came up in, the skill it belongs to if any, and what it fulfils."""

    ask: Ask
    rows: tuple[Row, ...]
    skill: Skill | None
    dimensions: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """What was said, as it was said last."""
        return Kind(self.ask.said[0].kind)

    @property
    def project(self) -> str:
        """Where it came up last."""
        return self.ask.said[0].project

    @property
    def part(self) -> Part:
        """What of it a skill would say."""
        sure = max(one.piece.confidence for one in self.ask.said)
        return Part(_SORTS.get(self.kind, Sort.RULE), self.ask.text, proofs(self.ask), self.kind, sure)


def leads(
    rows: Sequence[Row],
    skills: Sequence[Skill],
    texts: Mapping[Path, str],
    *,
    now: float,
    refuted: Refuted,
    known: Known,
) -> tuple[list[Lead], list[RejectedCandidate]]:
    """Return the asks that pass the gate, and each other one with what it lacked."""
    found: list[Lead] = []
    rejected = [
        RejectedCandidate(one.text, refuted[one.id, one.quote]) for one in _all(rows) if (one.id, one.quote) in refuted
    ]
    standing = asks(one for one in _all(rows) if (one.id, one.quote) not in refuted)
    for number, ask in enumerate(standing):
        lead = _lead(ask, rows, skills)
        why, before = _rejection(lead, standing[:number], texts, now), str(lead.skill.path if lead.skill else "")
        if why in {None, REPEATABLE} and (proposed := known(ask, before)):
            why = proposed  # it need not come again: it is there
        if why:
            rejected.append(RejectedCandidate(ask.text, why))
        else:
            found.append(lead)
    return found, rejected


def proofs(ask: Ask) -> tuple[Proof, ...]:
    """Return where an ask was said."""
    return tuple(Proof(one.piece.session, one.id, one.quote) for one in ask.said)


def piece(row: Row, sure: float) -> Piece:
    """Return a session as a piece of evidence."""
    return Piece(row.session_id, seconds(row.datetime) or 0.0, sure)


def rows_of(ask: Ask, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows of the sessions that an ask came up in."""
    sessions = {one.session for one in ask.pieces}
    return tuple(row for row in rows if row.session_id in sessions)


def skill_for(ask: Ask, rows: Sequence[Row], skills: Sequence[Skill]) -> Skill | None:
    """Return the skill that an ask belongs to: one in use that has to do with it, else the one most like it.

    Of several copies of one in use it is the one whose file the log names.
    """
    used = {name for row in rows for name in row.skills_used}
    read = {path for row in rows for path in row.skill_paths}
    folders = [Path(row.main_dir) for row in rows if row.main_dir]
    task = [row.tasks[0].text for row in rows if row.tasks]
    if OF_PROJECT.search(ask.text) or is_personal(ask.text):  # whatever was done meanwhile
        task = []
    wanted = content_stems(without_project(" ".join([ask.text, *task])))
    likes = [
        (likeness(wanted, content_stems(f"{skill.name.replace('-', ' ')} {skill.front.description}")), skill)
        for skill in skills
        if skill.project is None
        or str(skill.path) in read
        or any(folder.is_relative_to(skill.project) for folder in folders)
    ]
    in_use = [(like, skill) for like, skill in likes if skill.name in used and like > 0]
    best = max(in_use or likes, key=lambda one: (str(one[1].path) in read, one[0]), default=None)
    return best[1] if best and (best[0] >= _FITS or in_use) else None


def _all(rows: Sequence[Row]) -> list[Mention]:
    return [
        Mention(
            kind=feedback.kind,
            id=feedback.turn,
            text=feedback.change,
            quote=feedback.quote,
            skill=row.skills_used[-1] if row.skills_used else "",
            path="",
            project=row.project,
            piece=piece(row, feedback.confidence),
        )
        for row in rows
        for feedback in row.user_feedback
    ]


def _lead(ask: Ask, rows: Sequence[Row], skills: Sequence[Skill]) -> Lead:
    mine = rows_of(ask, rows)
    skill = skill_for(ask, mine, skills)
    works = {(row.project, row.work) for row in mine if row.work != "other"}
    again = any(sum((row.project, row.work) == work for row in rows) >= SEVERAL for work in works)
    # What is so in a project is so the next time, whatever the work.
    there = Kind(ask.said[0].kind) is Kind.FACT and sum(row.project == mine[0].project for row in rows) >= SEVERAL
    repeated = len({one.session for one in ask.pieces}) >= SEVERAL
    dimensions = [REPEATABLE] if skill is not None or again or there or repeated else []
    dimensions += [ROOM]  # the ask itself: a better way that the person knows
    dimensions += [REPEATED] if repeated else []
    return Lead(ask, mine, skill, tuple(dimensions))


def _rejection(lead: Lead, newer: Sequence[Ask], texts: Mapping[Path, str], now: float) -> str | None:
    ask = lead.ask
    if lead.skill is not None and says_already(ask.text, texts.get(lead.skill.path, "")):
        return f"{lead.skill.name} already says this"
    if any(other.said[0].project == lead.project and contradicts(other.text, ask.text) for other in newer):
        return "it was contradicted later"
    if REPEATABLE not in lead.dimensions:
        return REPEATABLE
    if lead.skill is not None and lead.skill.source is Source.PLUGIN:
        return f"{lead.skill.name} belongs to a plugin, so it cannot be edited"
    return None if confidence(ask.pieces, now=now) >= _SURE else "it was not said clearly or recently enough"


# A second look at what a candidate rests on: each turn read again from its transcript, by its key.
#
# A row is what was heard once, perhaps long ago and by a model; here it is held against the words themselves, and
# against what the person said after them in the same session.

GONE = "the words are no longer in the transcript"
TAKEN_BACK = "you withdrew it later in that session"


@dataclass(frozen=True, slots=True)
class TurnInContext:
    """One turn and what stands around it: the agent's text before it and all that was said after it."""

    session: Session
    place: int

    @property
    def message(self) -> Message:
        """The turn."""
        return self.session.messages[self.place]

    @property
    def typed(self) -> str:
        """What of it the person typed."""
        return typed(self.session.messages, self.place)

    @property
    def before(self) -> Message | None:
        """What the agent wrote directly before it."""
        previous = self.session.messages[self.place - 1] if self.place else None
        return None if previous is None or previous.by_person else previous


class Transcripts:
    """Finds turns again. `where` says in which transcript each session was read."""

    def __init__(self, where: Mapping[str, Transcript], redact: Callable[[str], str]) -> None:
        self._where = where
        self._redact = redact
        self._read: dict[Path, list[Session]] = {}

    def find(self, proof: Proof) -> TurnInContext | None:
        """Return the turn of a proof, None where it is gone."""
        transcript = self._where.get(proof.session)
        if transcript is None:
            return None
        if transcript.path not in self._read:
            self._read[transcript.path] = Reader(self._redact).sessions(transcript)
        for session in self._read[transcript.path]:
            for place, message in enumerate(session.messages):
                if message.turn_key == proof.turn:
                    return TurnInContext(session, place)
        return None


def refuted(parts: Iterable[Part], transcripts: Transcripts) -> dict[tuple[str, str], str]:
    """Return, by turn and quote, why a piece of evidence does not hold."""
    found = {}
    for part in parts:
        for proof in part.proofs:
            if why := _refutation(part, proof, transcripts.find(proof)):
                found[proof.turn, proof.quote] = why
    return found


def _refutation(part: Part, proof: Proof, heard: TurnInContext | None) -> str | None:
    if heard is None:
        return GONE
    if proof.observed:
        done = {one.text for one, turn in heard.session.actions if turn == proof.turn}
        return None if proof.quote in done else GONE
    if part.sort is Sort.REQUEST:
        return None if as_task(heard.session.messages, heard.place) == proof.quote else GONE
    if not as_typed(proof.quote, heard.typed):
        return GONE
    update = Update(None, "", part.text, "", part.kind or Kind.PREFERENCE, heard.message.turn or 0, proof.quote)
    return None if still_standing([update], heard.session.messages) else TAKEN_BACK
