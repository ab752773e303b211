"""Finds the asks of past sessions that may be proposed, and checks their evidence against the transcripts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from skilld.classify.contradiction import contradicts
from skilld.classify.conversation_style import PROJECT_SCOPE, remove_project_scope
from skilld.classify.offline.retraction import without_retracted
from skilld.classify.said_already import says_already
from skilld.classify.typed_quote import typed_quote
from skilld.clock import parse_time
from skilld.library.clusters import Ask, Mention, Piece, confidence, group_asks
from skilld.mining.actions import without_private_words
from skilld.mining.dedup import is_declined
from skilld.mining.session_summary import Feedback, Row, task_text, typed_text
from skilld.mining.sessions import Session
from skilld.mining.values import REPEATABLE, REPEATED, ROOM, Part, PartKind, Proof, RejectedCandidate
from skilld.skills import Skill, Source
from skilld.targets.route import is_personal
from skilld.types import Kind, Message, Update
from skilld.values import value_class
from skilld.words import content_stems, likeness

MIN_REPEATS = 2
_MIN_CONFIDENCE = 0.5  # of an ask
_UNSURE_REASON = "it was not said clearly or recently enough"
_MIN_SKILL_LIKENESS = 0.3  # of an ask and its task to a skill's own description
_PART_KINDS = {Kind.FACT: PartKind.FACT, Kind.CORRECTION: PartKind.PITFALL}

DuplicateReason = Callable[[Ask, str, Collection[str]], str | None]
"""Takes an ask, the path of its skill or "", and the agents of its sessions; returns why it is not to be proposed."""


@value_class
class Known:
    """What is known about asks before they are judged.

    `refuted` has evidence that does not hold, with the reason, by turn and quote. `proposed` returns why an ask need
    not be proposed (again), `standing` which instructions say it already.
    """

    refuted: Mapping[tuple[str, str], str] = field(default_factory=dict)
    proposed: DuplicateReason = lambda _ask, _path, _agents: None
    standing: DuplicateReason = lambda _ask, _path, _agents: None

    def needless_reason(self, ask: Ask, path: str, agents: Collection[str]) -> str | None:
        """Return why an ask need not be proposed, None if it may be."""
        return self.standing(ask, path, agents) or self.proposed(ask, path, agents)

    def is_denied(self, row: Row, said: Feedback) -> bool:
        """Whether feedback was refuted, or the person decided against it."""
        ask = Ask((feedback_mention(row, said),))
        return (said.turn, said.quote) in self.refuted or is_declined(self.proposed(ask, "", {row.agent}))

    def stands(self, row: Row, said: Feedback) -> bool:
        """Whether another file says what feedback does, or a proposal for its project."""
        ask, agents = Ask((feedback_mention(row, said),)), {row.agent}
        in_project = str(Path(row.project, "SKILL.md"))
        return bool(self.standing(ask, "", agents) or self.proposed(ask, in_project, agents))


NOTHING_KNOWN = Known()


@value_class
class Lead:
    """An ask with the rows of its sessions, the skill it belongs to if any, and the criteria it meets."""

    ask: Ask
    rows: tuple[Row, ...]
    skill: Skill | None
    dimensions: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """The kind of the newest mention."""
        return Kind(self.ask.said[0].kind)

    @property
    def project(self) -> str:
        """The project of the newest mention."""
        return self.ask.said[0].project

    @property
    def is_in_use(self) -> bool:
        """Whether it belongs to a skill that was in use when it was said."""
        return self.skill is not None and any(self.skill.name in row.skills_used for row in self.rows)

    @property
    def part(self) -> Part:
        """The ask as a part of a skill."""
        return ask_part(self.ask)


def find_leads(
    rows: Sequence[Row], skills: Sequence[Skill], texts: Mapping[Path, str], known: Known, *, now: float
) -> tuple[list[Lead], list[RejectedCandidate]]:
    """Return the asks that may be proposed, and the others with the reason."""
    found: list[Lead] = []
    refuted = known.refuted
    said = [feedback_mention(row, one) for row in rows for one in row.user_feedback]
    rejected = [
        RejectedCandidate(one.text, refuted[one.id, one.quote]) for one in said if (one.id, one.quote) in refuted
    ]
    standing = group_asks(one for one in said if (one.id, one.quote) not in refuted)
    for number, ask in enumerate(standing):
        lead = _build_lead(ask, rows, skills)
        why, path = _rejection_reason(lead, standing[:number], texts, now), str(lead.skill.path if lead.skill else "")
        if why in {None, REPEATABLE, _UNSURE_REASON}:  # being proposed already goes before these
            why = known.needless_reason(ask, path, {row.agent for row in lead.rows}) or why
        if why:
            rejected.append(RejectedCandidate(ask.text, why))
        else:
            found.append(lead)
    return found, rejected


def ask_part(ask: Ask) -> Part:
    """Return something that was said as a part of a skill."""
    kind = Kind(ask.said[0].kind)
    proofs = tuple(Proof(one.piece.session, one.id, one.quote) for one in ask.said)
    sure = max(one.piece.confidence for one in ask.said)
    return Part(_PART_KINDS.get(kind, PartKind.RULE), ask.text, proofs, kind, sure)


def feedback_mention(row: Row, said: Feedback) -> Mention:
    """Return a session's feedback as a mention."""
    return Mention(
        said.kind, said.turn, said.change, said.quote, "", "", row.project, session_piece(row, said.confidence)
    )


def session_piece(row: Row, sure: float) -> Piece:
    """Return a session as a piece of evidence with this confidence."""
    return Piece(row.session_id, parse_time(row.datetime) or 0.0, sure)


def rows_of(ask: Ask, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows of an ask's sessions."""
    sessions = {one.session for one in ask.pieces}
    return tuple(row for row in rows if row.session_id in sessions)


def skill_for(ask: Ask, rows: Sequence[Row], skills: Sequence[Skill]) -> Skill | None:
    """Return the skill that an ask belongs to: a related one in use, or else the most similar one.

    Among several copies of a skill in use, it is the one whose file the log names.
    """
    used = {name for row in rows for name in row.skills_used}
    read = {path for row in rows for path in row.skill_paths}
    folders = [Path(row.main_dir) for row in rows if row.main_dir]
    task = [next((one.text for one in row.tasks if not one.long), "") for row in rows]
    if PROJECT_SCOPE.search(ask.text) or is_personal(ask.text):  # the task does not matter then
        task = []
    wanted = content_stems(remove_project_scope(" ".join([ask.text, *task])))
    likes = [
        (likeness(wanted, content_stems(f"{skill.name} {skill.front.description}")), skill)
        for skill in skills
        if skill.project is None
        or str(skill.path) in read
        or any(folder.is_relative_to(skill.project) for folder in folders)
    ]
    in_use = [(like, skill) for like, skill in likes if skill.name in used and like > 0]
    best = max(in_use or likes, key=lambda one: (str(one[1].path) in read, one[0]), default=None)
    return best[1] if best and (best[0] >= _MIN_SKILL_LIKENESS or in_use) else None


def _build_lead(ask: Ask, rows: Sequence[Row], skills: Sequence[Skill]) -> Lead:
    mine = rows_of(ask, rows)
    skill = skill_for(ask, mine, skills)
    works = {(row.project, row.work) for row in mine if row.work != "other"}
    again = any(sum((row.project, row.work) == work for row in rows) >= MIN_REPEATS for work in works)
    # A fact about a project holds the next time, whatever the work.
    there = Kind(ask.said[0].kind) is Kind.FACT and sum(row.project == mine[0].project for row in rows) >= MIN_REPEATS
    repeated = len({one.session for one in ask.pieces}) >= MIN_REPEATS
    dimensions = [REPEATABLE] if skill is not None or again or there or repeated else []
    dimensions += [ROOM]  # the ask itself is a better way that the person knows
    dimensions += [REPEATED] if repeated else []
    return Lead(ask, mine, skill, tuple(dimensions))


def _rejection_reason(lead: Lead, newer: Sequence[Ask], texts: Mapping[Path, str], now: float) -> str | None:
    ask = lead.ask
    if lead.skill is not None and says_already(ask.text, texts.get(lead.skill.path, "")):
        return f"{lead.skill.name} already says this"
    if any(other.said[0].project == lead.project and contradicts(other.text, ask.text) for other in newer):
        return "it was contradicted later"
    if REPEATABLE not in lead.dimensions:
        return REPEATABLE
    if lead.skill is not None and lead.skill.source is Source.PLUGIN:
        return f"{lead.skill.name} belongs to a plugin, so it cannot be edited"
    return None if confidence(ask.pieces, now=now) >= _MIN_CONFIDENCE else _UNSURE_REASON


# Checking a candidate's evidence: each turn is looked up in its session, by its key.
#
# What a row says may come from a model; here it is compared with the words themselves, and with what the person said
# later in the same session.

GONE_REASON = "the words are no longer in the transcript"
WITHDRAWN_REASON = "you withdrew it later in that session"


@value_class
class TurnInContext:
    """One turn within its session."""

    session: Session
    place: int

    @property
    def message(self) -> Message:
        """The turn."""
        return self.session.messages[self.place]

    @property
    def typed(self) -> str:
        """The part of it that the person typed."""
        return typed_text(self.session.messages, self.place)

    @property
    def before(self) -> Message | None:
        """The agent's message directly before it."""
        previous = self.session.messages[self.place - 1] if self.place else None
        return None if previous is None or previous.by_person else previous


class Transcripts:
    """Finds turns by their proofs in the sessions that were read from transcripts."""

    def __init__(self, sessions: Iterable[Session]) -> None:
        self._turns = {
            (session.id, message.turn_key): TurnInContext(session, place)
            for session in sessions
            for place, message in enumerate(session.messages)
        }

    def find(self, proof: Proof) -> TurnInContext | None:
        """Return the turn of a proof, None if there is none."""
        return self._turns.get((proof.session, proof.turn))


def find_refutations(parts: Iterable[Part], transcripts: Transcripts) -> dict[tuple[str, str], str]:
    """Return, by turn and quote, why evidence does not hold."""
    found = {}
    for part in parts:
        for proof in part.proofs:
            if why := _refutation_reason(part, proof, transcripts.find(proof)):
                found[proof.turn, proof.quote] = why
    return found


def _refutation_reason(part: Part, proof: Proof, heard: TurnInContext | None) -> str | None:
    if heard is None:
        return GONE_REASON
    if proof.observed:
        done = [one.text for one, turn in heard.session.actions if turn == proof.turn]
        return None if proof.quote in {*done, *map(without_private_words, done)} else GONE_REASON
    if part.sort is PartKind.REQUEST:
        return None if task_text(heard.session.messages, heard.place) == proof.quote else GONE_REASON
    if not typed_quote(proof.quote, heard.typed):
        return GONE_REASON
    update = Update(None, "", part.text, "", part.kind or Kind.PREFERENCE, heard.message.turn or 0, proof.quote)
    return None if without_retracted([update], heard.session.messages) else WITHDRAWN_REASON
