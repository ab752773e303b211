"""Rules and their effects: the past sessions in which each applied, and those in which it was repeated.

A rule is a line of a file that agents load: one that a proposal added, or one that a person wrote and had to repeat. It
counts from the time it was added; nothing said before that is a repeat.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import PurePath
from types import MappingProxyType

from skilld.classify.rule_repeats import match_keys, repeats_rule
from skilld.classify.said_already import says_already
from skilld.context.values import within
from skilld.edit.renumber import lines_added_by
from skilld.effect.figures import MIN_UNUSED_SECONDS, Count, RuleState, state_of
from skilld.effect.model_questions import rule_key
from skilld.effect.relevance import could_matter
from skilld.effect.rule_lines import rules_in
from skilld.past import Correction, PastSession, Repeat
from skilld.proposals.model import MINE_PREFIX, REMEDY_PREFIX
from skilld.skills.find import FILE
from skilld.text import fold, fold_case
from skilld.types import OBSERVED_TURN, Operation, Proposal, TargetKind
from skilld.values import value_class

_MAX_EVIDENCE = 20  # quotes shown of one rule, the newest
_NUMBERED = re.compile(r"\s*\d+[.)]\s")
_SHARPEN_PREFIX = f"{REMEDY_PREFIX}sharpen-"
ReadText = Callable[[str], str]
AddedAt = Callable[[str, int], float | None]
Times = tuple[tuple[float, float], ...]  # from, until


class Origin(StrEnum):
    """Who added a rule."""

    PROPOSAL = "proposal"
    PERSON = "person"


@value_class
class Rule:
    """A line of a file; `since` is when it was first added (Unix time), `agents` the known readers of the file.

    `proposal` is the id of the proposal that added it, or empty; `taught_in` are the sessions in which its words were
    said; `away` are the times between which it was reverted. `formerly` are its texts before skilld reworded it.
    """

    path: str
    line: int
    text: str
    origin: Origin
    since: float
    agents: frozenset[str] = frozenset()
    proposal: str = ""
    taught_in: frozenset[str] = frozenset()
    away: Times = ()
    formerly: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Its words, and those it had before."""
        return (self.text, *self.formerly)

    @property
    def is_in_skill(self) -> bool:
        """Whether it is loaded only while its skill is in use."""
        return PurePath(self.path).name == FILE

    @property
    def folder(self) -> str:
        """The folder whose work the file applies to; for a file in an agent's folder, the parent of that folder."""
        return self.path.partition("/.")[0] if "/." in self.path else str(PurePath(self.path).parent)


@value_class
class RepeatEvidence:
    """A repeat: its session, its turn and the person's words."""

    session: str
    turn: str
    quote: str
    agent: str
    at: float


@value_class
class RuleSession:
    """A session in which a rule could matter, and whether it was said or repeated there."""

    session: PastSession
    was_said: bool


@value_class
class Effect:
    """The effect of a rule; `before` counts the sessions before it was added.

    `missed` are later repeats in sessions where its file applies but was not loaded.
    """

    rule: Rule
    before: Count
    after: Count
    state: RuleState
    evidence: tuple[RepeatEvidence, ...] = ()
    missed: tuple[RepeatEvidence, ...] = ()
    occasions: tuple[RuleSession, ...] = ()


def rules(
    accepted: Sequence[tuple[Proposal, float]],
    sessions: Sequence[PastSession],
    text_of: ReadText,
    away: Mapping[str, Times] | None = None,
) -> list[Rule]:
    """Return the present rules, by path and line. `accepted` has each proposal with the time it was first accepted.

    `away` has, by the id of a proposal, the times between which it was reverted. A step that nobody said is no rule
    about how to work; it is one once it had to be repeated. One that skilld reworded keeps its past.
    """
    added = {
        (proposal.path, fold_case(text)): (at, proposal)
        for proposal, at in accepted
        if proposal.target is not TargetKind.EVALS
        for operation in proposal.operations
        for first, text in _new_rules(operation)
        if not _is_step(proposal, first, text)
    }
    said: dict[tuple[str, str], float] = {}
    for one in (repeat for session in sessions for repeat in session.repeats):
        key = one.path, fold_case(one.text)
        said[key] = min(one.since, said.get(key, one.since))
    by_turn = {one.turn: session.session_id for session in sessions for one in session.said}
    found: list[Rule] = []
    for path in sorted({path for path, _ in (*added, *said)}):
        for line, text in rules_in(text_of(path)):
            key = path, fold_case(text)
            if key not in added:
                found += [Rule(path, line, text, Origin.PERSON, said[key])] if key in said else []
                continue
            formerly, by = tuple(_former_texts(key, added)), added[key][1]
            first, taught_in = added[key], _taught_in(text, by, by_turn)
            for old in ((path, fold_case(one)) for one in formerly):
                first = min(added.get(old, (said.get(old, first[0]), first[1])), first, key=lambda one: one[0])
                taught_in |= _taught_in(old[1], added[old][1], by_turn) if old in added else frozenset()
            agents, gaps = frozenset({by.agent, *by.agents}), (away or {}).get(first[1].id, ())
            rule = Rule(path, line, text, Origin.PROPOSAL, first[0], agents, by.id, taught_in, gaps, formerly)
            found.append(rule)
    return found


def _former_texts(key: tuple[str, str], added: Mapping[tuple[str, str], tuple[float, Proposal]]) -> Iterator[str]:
    """Yield the texts that a rule had before skilld reworded it, the newest first."""
    seen = {key[1]}
    while key in added and added[key][1].batch_id.startswith(_SHARPEN_PREFIX):
        old = [text for one in added[key][1].operations for _, text in rules_in(one.anchor)]
        if len(old) != 1 or fold_case(old[0]) in seen:
            return
        key = key[0], fold_case(old[0])
        seen.add(key[1])
        yield old[0]


def _new_rules(operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield the rules that an operation adds, each with its first line."""
    lines, added = operation.text.splitlines(), {*lines_added_by(operation)}
    for line, text in rules_in(operation.text):
        if lines[line - 1] in added:
            yield lines[line - 1], text


def _is_step(by: Proposal, line: str, text: str) -> bool:
    """Whether a line that a proposal added is a step which was seen in sessions, or came with an imported skill."""
    updates = [one for one in by.updates if one.change and fold_case(one.change) in fold_case(text)]
    if updates:
        return all(one.turn == OBSERVED_TURN for one in updates)
    return bool(_NUMBERED.match(line)) and (by.creates or not by.evidence)


def _taught_in(rule: str, by: Proposal, by_turn: Mapping[str, str]) -> frozenset[str]:
    """Return the sessions in which a rule's own words were said: a mined proposal joins rules of several."""
    if not by.batch_id.startswith(MINE_PREFIX):
        return frozenset({by.session_id})
    quotes = {one.quote for one in by.updates if one.change and fold_case(one.change) in fold_case(rule)}
    turns = {one.turn for one in by.evidence if not quotes or one.quote in quotes}
    first = {by.session_id} if by.evidence and by.evidence[0].turn in turns else set[str]()
    return frozenset(first | {by_turn[turn] for turn in turns if turn in by_turn})


def with_noted_repeats(
    sessions: Sequence[PastSession], notes: Iterable[Proposal], text_of: ReadText, added_at: AddedAt
) -> list[PastSession]:
    """Return the sessions with the repeats that were noted when their batches were judged, by any back-end."""
    by_session: dict[str, list[Proposal]] = {}
    for note in notes:
        by_session.setdefault(note.session_id, []).append(note)
    lines = cache(lambda path: [*rules_in(text_of(path))])
    found = []
    for session in sessions:
        known = {(one.turn, one.path) for one in session.repeats}
        repeats = [
            Repeat(said.turn, said.quote, note.path, line, text, since)
            for note in by_session.get(session.session_id, ())
            for said in note.evidence
            if (said.turn, note.path) not in known
            for line, text in lines(note.path)
            if any(says_already(update.change, text) for update in note.updates)
            and (since := added_at(note.path, line)) is not None
        ]
        found.append(_add_repeats(session, repeats) if repeats else session)
    return found


def _add_repeats(session: PastSession, repeats: Sequence[Repeat]) -> PastSession:
    known = {(one.turn, one.quote) for one in session.said}
    said = [Correction(one.turn, session.at, one.quote) for one in repeats if (one.turn, one.quote) not in known]
    loaded = dict.fromkeys((*session.loaded, *(one.path for one in repeats)))
    return replace(
        session, said=(*session.said, *dict.fromkeys(said)), repeats=(*session.repeats, *repeats), loaded=tuple(loaded)
    )


def effects(
    rules: Sequence[Rule], sessions: Sequence[PastSession], taught: Mapping[str, Collection[str]] = MappingProxyType({})
) -> list[Effect]:
    """Return the effects of rules in sessions. A session whose time is unknown is left out.

    `taught` has, by turn, the quotes that became rules of their own: these words repeat no rule that stood before.
    """
    timed = sorted((one for one in sessions if one.at), key=lambda one: one.at)
    told = [
        _SessionTerms(one, frozenset(one.work), frozenset().union(*(match_keys(said.quote) for said in one.said)))
        for one in timed
    ]
    return [_effect(rule, told, taught) for rule in rules]


@value_class
class _SessionTerms:
    """A session with what is compared with every rule: the stems of its work, and the words of its corrections."""

    session: PastSession
    work: frozenset[str]
    words: frozenset[str]


def _effect(rule: Rule, told: Sequence[_SessionTerms], taught: Mapping[str, Collection[str]]) -> Effect:
    folder, is_in_skill = rule.folder, rule.is_in_skill
    words, keys = frozenset().union(*map(match_keys, rule.texts)), frozenset(map(rule_key, rule.texts))
    readers = rule.agents | {one.session.agent for one in told if rule.path in one.session.loaded}
    before, repeated, evidence, missed, occasions = Count(), [], [], [], []
    in_reach: list[float] = []  # times
    for one in told:
        session = one.session
        if any(gone <= session.at < back for gone, back in rule.away):
            continue
        came_later = session.at < rule.since
        loaded = rule.path in session.loaded
        around = within(session.cwd, folder)
        in_reach += [session.at] if not came_later and loaded and _shows_work(session, keys) else []
        # Who would have read a file that did not exist yet; a skill is loaded only if it is used.
        would_be = came_later and around and session.agent in readers and not is_in_skill
        if not (loaded or would_be or around):
            continue
        is_apart = words.isdisjoint(one.words) and not session.repeats
        repeats = [] if is_apart else list(_find_repeats(rule, session, {} if came_later else taught))
        if not (loaded or would_be):
            missed += [] if came_later else repeats
            continue
        was_said = bool(repeats) or (came_later and session.session_id in rule.taught_in)
        if not was_said and not _could_matter(rule, keys, one):
            continue
        occasions.append(RuleSession(session, was_said))
        if came_later:
            before += Count(1, int(was_said))
        else:
            repeated.append(bool(repeats))
            evidence += repeats
    after = Count(len(repeated), sum(repeated))
    is_old_enough = bool(in_reach) and in_reach[-1] - rule.since >= MIN_UNUSED_SECONDS
    state = state_of(repeated, len(in_reach) if is_old_enough else 0)
    return Effect(rule, before, after, state, _newest(evidence), _newest(missed), tuple(occasions))


def _could_matter(rule: Rule, keys: frozenset[str], told: _SessionTerms) -> bool:
    """Whether a rule could matter: by a model's answer for the session if there is one, otherwise by words."""
    if not keys.isdisjoint((*told.session.mattered, *told.session.idle)):
        return not keys.isdisjoint(told.session.mattered)
    return could_matter(rule.text, told.work)


def _shows_work(session: PastSession, keys: frozenset[str]) -> bool:
    """Whether a session can show that a rule was not needed: the agent did something, or a model was asked."""
    return session.done is None or session.done.calls > 0 or not keys.isdisjoint(session.idle)


def _newest(repeats: Sequence[RepeatEvidence]) -> tuple[RepeatEvidence, ...]:
    return tuple(repeats[-_MAX_EVIDENCE:])


def _find_repeats(rule: Rule, session: PastSession, taught: Mapping[str, Collection[str]]) -> Iterator[RepeatEvidence]:
    """Yield the corrections that repeat a rule: those found when the session was read, and those that match it now."""
    keys = {*map(fold_case, rule.texts)} if session.repeats else ()
    tied = {(one.turn, one.quote) for one in session.repeats if one.path == rule.path and fold_case(one.text) in keys}
    turns: set[str] = set()
    for one in session.said:
        rest = one.quote
        for quote in taught.get(one.turn, ()):
            rest = rest.replace(fold(quote), " ")
        is_tied = rest == one.quote and (one.turn, one.quote) in tied
        if one.turn not in turns and (is_tied or any(repeats_rule(rest, text) for text in rule.texts)):
            turns.add(one.turn)
            yield RepeatEvidence(session.session_id, one.turn, one.quote, session.agent, one.at)
