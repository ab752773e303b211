"""One mining run: past sessions, questions to a model, candidates with confirmed evidence, proposals."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from math import ceil
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.classify import prompt
from skilld.classify.backends import OFFLINE
from skilld.classify.backends.completion import Rates
from skilld.classify.said_already import find_same_ban, find_same_words
from skilld.context import context_of
from skilld.context.values import LoadedFile, LoadTime, Scope
from skilld.errors import SkilldError
from skilld.ingest.discover import Host
from skilld.library.clusters import Ask
from skilld.mining import domains
from skilld.mining.dedup import ProposalHistory
from skilld.mining.draft_questions import (
    DRAFTS_ASKED,
    MAX_DRAFTS,
    group_requests,
    with_titles,
    word_skills,
)
from skilld.mining.evidence import DuplicateReason, Known, Transcripts, find_refutations
from skilld.mining.new_skill import shorten, with_free_names
from skilld.mining.proposing import CandidateResult, MiningRun, NoAnswerError, propose_candidate
from skilld.mining.questions import (
    DECLINED_REASON,
    LONGEST_ANSWER,
    NO_SKILL,
    Consent,
    Estimate,
    QuestionRun,
    QuestionStats,
    Terms,
    model_rates,
    session_windows,
)
from skilld.mining.selection import DEFERRED_REASON, MAX_SKILLS, judge
from skilld.mining.session_summary import Feedback, Row, detect_feedback, summarize
from skilld.mining.sessions import Session, SessionSet, Transcript, folders_around, read_sessions
from skilld.mining.similarity import MIN_SESSIONS
from skilld.mining.values import (
    Candidate,
    Doc,
    Grouping,
    Hooks,
    Judgement,
    MiningContext,
    Options,
    Progress,
    RejectedCandidate,
)
from skilld.proposals.model import MINE_PREFIX
from skilld.protocol import Window
from skilld.skills import Skill, text
from skilld.skills.spec import NAME_PATTERN
from skilld.store import Store
from skilld.types import Evidence, Kind, Proposal, State, Usage
from skilld.values import value_class
from skilld.words import content_stems

# The most that a run may use.

_CALLS_PER_WINDOW = 2  # half of the windows need no second question about the answer, some need two
_CALLS_PER_SKILL = 3  # that is extended: what it says already, the edit, and whether that says what was meant
_SPARE_CALLS = 2  # for answers of the later questions that are asked for again
_CHARACTERS_PER_TOKEN = 3  # a low estimate
_LATER_TOKENS = 3_000  # of a question about requests, drafts or a skill
_ANSWER_TOKENS = 700  # on average, with a few thoughts

# Judging the rows of sessions. Candidates whose evidence does not hold are left out.

_MAX_ROUNDS = 5  # each round may refute what the one before brought up


def session_rows(
    sessions: Sequence[Session], windows: Callable[[Session], Sequence[Window] | None], store: Store
) -> tuple[list[Row], int]:
    """Return the row of each session, and the number of windows without a model's answer.

    Rules stand in for missing answers, and are used alone where `windows` returns None.
    """
    found: list[Row] = []
    unread = 0
    for session in sessions:
        asked = windows(session)
        answers = [None] if asked is None else [store.mining.get(window.id) for window in asked]
        feedback = {(one.turn, one.quote): one for answer in answers for one in map(_as_feedback, answer or ())}
        if None in answers:
            feedback = {(one.turn, one.quote): one for one in detect_feedback(session)} | feedback
        unread += 0 if asked is None else answers.count(None)
        found.append(summarize(session, list(feedback.values())))
    return found, unread


def _as_feedback(item: Mapping[str, object]) -> Feedback:
    return Feedback(
        str(item["turn"]), str(item["quote"]), str(item["change"]), str(item["kind"]), float(str(item["confidence"]))
    )


@dataclass
class Report:
    """The result of a run. `unread` counts windows without a model's answer, for which rules stood in.

    `remark` says who was not asked, and why, if each session is judged by its own agent.
    """

    reading: SessionSet
    rows: Sequence[Row] = ()
    judgement: Judgement = field(default_factory=lambda: Judgement((), (), ()))
    became: list[CandidateResult] = field(default_factory=list)
    gathered: list[domains.DomainResult] = field(default_factory=list)
    model: str = OFFLINE
    asked: QuestionStats = field(default_factory=QuestionStats)
    unread: int = 0
    usage: Usage = field(default_factory=Usage)
    remark: str = ""

    @property
    def proposed(self) -> list[str]:
        """The ids of the proposals that were made."""
        ids = (*(one.proposal for one in self.became), *(one.proposal for one in self.gathered))
        return [name for name in ids if name]


@value_class
class CandidateRun:
    """The report on some sessions, the run that can propose its candidates, and what was proposed before."""

    report: Report
    run: MiningRun
    proposed: ProposalHistory


def find_candidates(reading: SessionSet, options: Options, world: MiningContext, hooks: Hooks) -> CandidateRun:
    """Find the candidates of these sessions, asking a model if the person agrees. Nothing is proposed."""
    world = world.for_sessions(reading.sessions)
    report = Report(reading, model=world.terms.spec.model, remark=_unasked_remark(reading.sessions, world))
    asks = report.model != OFFLINE
    own = [one for one in reading.sessions if asks and world.agent in {"", one.agent}]
    by_session = {one.id: session_windows(one, report.model) for one in own}
    windows = [one for asked in by_session.values() for one in asked]
    new = [one for one in windows if world.store.mining.get(one.id) is None]
    most = run_estimate(own, new, proposes=not options.dry_run)
    terms = world.terms
    consent = Consent(most, lambda expected: hooks.agree(expected, lambda: _dollars(expected, terms)))
    world = replace(world, terms=replace(terms, consent=consent))
    report.asked = _ask_model(new, world, hooks)
    report.rows, report.unread = session_rows(reading.sessions, lambda session: by_session.get(session.id), world.store)
    transcripts = Transcripts(reading.sessions)
    report.judgement, proposed, names = judge_against_known(report.rows, transcripts, options, world)
    run_id = f"{MINE_PREFIX}{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}"
    others = frozenset(one.id for one in reading.sessions) - by_session.keys()
    run = MiningRun(run_id, world, transcripts, report.asked, others)
    if asks:
        with _stopped_without_answer(report.asked):
            report.judgement = _with_choices(report, options, run)
        rest = tuple(one for one in report.judgement.candidates if not run.may_send(one))
        sent: Sequence[Candidate] = [one for one in report.judgement.candidates if run.may_send(one)]
        taken = names | {one.name for one in rest}
        sent = with_free_names(sent, taken)
        with _stopped_without_answer(report.asked):
            sent = with_titles(sent, taken, run)
        report.judgement = replace(report.judgement, candidates=(*sent, *rest))
    return CandidateRun(report, run, proposed)


def run_estimate(sessions: Sequence[Session], new: Sequence[Window], *, proposes: bool) -> Estimate:
    """Return the most that a run may use: questions about its `new` windows, tasks, drafts, titles and edits."""
    turns = sum(message.by_person for session in sessions for message in session.messages)
    drafts = min(MAX_DRAFTS, turns // MIN_SESSIONS) if len(sessions) >= MIN_SESSIONS else 0
    tasks = 1 + 2 * ceil(drafts / DRAFTS_ASKED) if drafts else 0
    later = tasks + 1 + (_CALLS_PER_SKILL * min(MAX_SKILLS, turns) if proposes else 0) + _SPARE_CALLS
    asked = [prompt.detection(window.messages, [NO_SKILL]) for window in new]
    read = sum(len(one.system) + len(one.user) for one in asked) // _CHARACTERS_PER_TOKEN
    calls = _CALLS_PER_WINDOW * len(new) + later
    written = calls * _ANSWER_TOKENS + LONGEST_ANSWER
    return Estimate(len(sessions), calls, _CALLS_PER_WINDOW * read + later * _LATER_TOKENS, written)


@contextmanager
def _stopped_without_answer(asked: QuestionStats) -> Iterator[None]:
    """Let the findings of the rules stand if the block gets no answer, and note why."""
    try:
        yield
    except NoAnswerError as error:
        asked.stopped = asked.stopped or error.cause


def _with_choices(report: Report, options: Options, run: MiningRun) -> Judgement:
    """Return what a model makes of these rows: it groups their requests and words the drafts. Raises NoAnswerError."""
    rows = [row for row in report.rows if row.session_id not in run.withheld]
    grouping = group_requests(rows, run)
    found, _, _ = judge_against_known(rows, run.transcripts, options, run.world, grouping)
    kept, dropped = word_skills(found.candidates, run)
    rejected, docs = (*found.rejected, *dropped), (*found.docs, *_unused_words(found, kept))
    made = Judgement(kept, rejected, docs)
    if run.withheld:
        made = _with_withheld(made, report.judgement, run)
    deferred = [RejectedCandidate(one.name, DEFERRED_REASON) for one in made.candidates[MAX_SKILLS:]]
    return replace(made, candidates=made.candidates[:MAX_SKILLS], rejected=(*made.rejected, *deferred))


def _with_withheld(made: Judgement, by_rules: Judgement, run: MiningRun) -> Judgement:
    """Add what the rules found in sessions that the model must not see."""
    candidates = (*made.candidates, *(one for one in by_rules.candidates if not run.may_send(one)))
    used = {proof for one in candidates for proof in one.evidence} | {
        proof for doc in made.docs for proof in doc.evidence
    }
    topics = {one.topic for one in made.rejected} | {part.text for one in candidates for part in one.parts}
    docs = (
        doc
        for doc in by_rules.docs
        if used.isdisjoint(doc.evidence) and any(proof.session in run.withheld for proof in doc.evidence)
    )
    rejected = (one for one in by_rules.rejected if one.topic not in topics)
    return Judgement(candidates, (*made.rejected, *rejected), (*made.docs, *docs))


def _unasked_remark(sessions: Sequence[Session], world: MiningContext) -> str:
    """Return who is not asked about these sessions, and why, if each is judged by its own agent."""
    agents = {one.agent: ADAPTERS[one.agent].INFO.title for one in sessions if one.agent in ADAPTERS}
    others = ", ".join(sorted(title for name, title in agents.items() if name != world.agent))
    if world.agent:
        about = f"Only {agents[world.agent]} was asked, about its own sessions"
        return f"{about}; the built-in rules read those of {others}" if others else ""
    whys = [f"{title}: {world.unasked[name]}" for name, title in sorted(agents.items()) if name in world.unasked]
    return f"No model was asked. {'. '.join(whys)}" if whys else ""


def _unused_words(found: Judgement, kept: Sequence[Candidate]) -> Iterator[Doc]:
    """Yield the lasting words in drafts that became no skill: they count like words said outside of any task."""
    used = {(proof.turn, proof.quote) for one in kept for proof in one.evidence}
    for one in found.candidates:
        for part in one.parts if one.recurrence else ():
            places = {(proof.turn, proof.quote) for proof in part.proofs}
            if part.kind is not None and not places & used:
                used |= places
                yield Doc(one.target, part.text, part.proofs)


def _declined_elsewhere(store: Store) -> list[Proposal]:
    """Return what the person rejected or reverted on other machines, as proposals: only their words are known here."""
    return [
        Proposal(
            id="on another machine",
            batch_id="",
            state=State(said),
            skill="",
            path=path,
            operations=(),
            summary=rule,
            reason="",
            kind=Kind.FACT,
            evidence=(Evidence("", quote),),
            confidence=1.0,
            model="",
            created_at=at,
            decided_at=at,
        )
        for path, said, rule, quote, at in store.machine_records.rejections()
    ]


def judge_against_known(
    rows: Sequence[Row],
    transcripts: Transcripts,
    options: Options,
    world: MiningContext,
    grouping: Grouping | None = None,
) -> tuple[Judgement, ProposalHistory, frozenset[str]]:
    """Judge rows against the existing skills and proposals, with confirmed evidence only. Asks no model.

    Returns the judgement, the proposals, and the names that are taken.
    """
    above_skills = {str(folder) for row in rows for path in row.skill_paths for folder in Path(path).parents[1:4]}
    places = above_skills.union(*((row.main_dir, row.project) for row in rows))
    folders = {folder for place in places for folder in folders_around(place)}
    skills = world.skills(sorted(folders - {world.host.home}))
    proposals = world.store.proposals.in_states([*State])
    proposed = ProposalHistory([*proposals, *_declined_elsewhere(world.store)])
    names = {one.skill for one in proposals if one.creates and one.state is State.OPEN} | {one.name for one in skills}
    texts, now = dict(_skill_texts(skills)), time.time()
    known = Known({}, proposed.duplicate_reason, standing_reason(world.host))
    for _ in range(_MAX_ROUNDS):
        judgement = judge(
            rows,
            skills,
            texts,
            known,
            now=now,
            kind=options.kind,
            create_new=options.create_new,
            chosen=options.wanted.ids is not None,
            grouping=grouping,
            most=MAX_SKILLS if grouping is None else MAX_DRAFTS,
        )
        again = find_refutations((part for one in judgement.candidates for part in one.parts), transcripts)
        if not again:
            break
        known = replace(known, refuted={**known.refuted, **again})
    else:
        judgement = replace(judgement, candidates=())
    return judgement, proposed, frozenset(names)


def cached_prices(terms: Terms) -> Callable[[str], Rates | None]:
    """Return what looks up a model's token prices, None if unknown: once each, as that takes seconds."""
    return cache(lambda model: model_rates([model], terms)[model])


def _dollars(expected: Estimate, terms: Terms) -> float | None:
    price = model_rates([terms.spec.model], terms)[terms.spec.model]
    return price.of(expected.tokens_in, expected.tokens_out) if price else None


def _ask_model(new: Sequence[Window], world: MiningContext, hooks: Hooks) -> QuestionStats:
    """Ask about the windows without an answer, if the person agrees."""
    if not new:
        return QuestionStats()
    if not world.terms.may_ask(world.store):
        return QuestionStats(stopped=DECLINED_REASON)

    def progress(done: int, waits: str) -> None:
        hooks.progress(waits or "questions", done, len(new))

    return QuestionRun(world.store, world.terms, progress).about(new)


def _skill_texts(skills: Sequence[Skill]) -> Iterator[tuple[Path, str]]:
    for skill in skills:
        with suppress(OSError):  # gone since it was found
            yield skill.path, text(skill.path)


# One run from start to end.


def run_mining(options: Options, world: MiningContext, hooks: Hooks) -> Report:
    """Do one run. Raises SkilldError if the model cannot be asked or the requested name is invalid."""
    if options.name and not NAME_PATTERN.fullmatch(options.name):
        raise SkilldError("Not a valid skill name", options.name, "Use lowercase letters, digits and single hyphens.")
    prices = cached_prices(world.terms)
    reading = read_sessions(with_progress(options.transcripts, hooks.progress), options.wanted, world.redact, prices)
    considered = find_candidates(reading, options, world, hooks)
    report, run = considered.report, considered.run
    if not options.dry_run:
        record_support(considered.proposed, world.store, report.reading)
    for number, candidate in enumerate(_with_requested_name(report.judgement.candidates, options.name), 1):
        hooks.progress("proposals", number, len(report.judgement.candidates))
        report.became.append(propose_candidate(candidate, run, hooks.edit, dry_run=options.dry_run))
    turns = {proof.turn for one in report.judgement.candidates for proof in one.evidence}
    report.gathered = list(domains.propose_domain_skills(options.gather, world, said=turns, dry_run=options.dry_run))
    report.usage = sum(run.spent, report.asked.usage)
    return report


def record_support(proposed: ProposalHistory, store: Store, reading: SessionSet) -> None:
    """Add further evidence to open proposals, except words from files that were named by hand."""
    by_hand = {turn.turn_key for one in reading.sessions if one.by_hand for turn in one.turns}
    for (proposal, _), evidence in proposed.supported.items():
        if evidence.turn not in by_hand:
            store.proposals.add_evidence(proposal, evidence)


def with_progress(transcripts: Sequence[Transcript], progress: Progress) -> Iterator[Transcript]:
    """Yield the transcripts and report the progress."""
    for number, transcript in enumerate(transcripts, 1):
        progress("transcripts", number, len(transcripts))
        yield transcript


def _with_requested_name(candidates: Sequence[Candidate], name: str) -> list[Candidate]:
    new = next((one for one in candidates if one.creates), None)
    return [replace(one, name=name) if name and one is new else one for one in candidates]


# Which instructions that an agent loads in a project say an ask already: neither a skill nor a document repeats it.

_MAX_QUOTED_LINE = 100  # characters
_MIN_SHARE = 0.5  # of an ask's stems, in one line: comparing whole files takes 10 ms, and there are many sentences
# The agent's own notes are nobody's instructions, and what holds in one folder may be meant for more.
_OTHER_SCOPES = frozenset({Scope.SKILL, Scope.MEMORY, Scope.NESTED})


def standing_reason(host: Host) -> DuplicateReason:
    """Return a function that says which file already says an ask, if each agent of its sessions loads one at the start.

    Each project's files are read once.
    """

    @cache
    def lines(text: str) -> list[frozenset[str]]:
        return [content_stems(line) for line in text.splitlines()]

    @cache
    def loaded(agent: str, project: str) -> list[LoadedFile]:
        found = context_of(agent, "", project, host.home, environment=host.environment, untouched=False).files
        return [one for one in found if one.loaded is LoadTime.START and one.scope not in _OTHER_SCOPES]

    @cache
    def saying(agent: str, project: str, text: str) -> str | None:
        wanted = content_stems(text)
        for file in loaded(agent, project):
            near = any(len(wanted & own) >= _MIN_SHARE * len(wanted) for own in lines(file.text))
            if near and (line := find_same_words(text, file.text) or find_same_ban(text, file.text)):
                return f"{_name(file.path, project)} already says this: {shorten(line, _MAX_QUOTED_LINE)}"
        return None

    def reason(ask: Ask, _path: str, agents: Collection[str]) -> str | None:
        said = ask.said[0]
        found = [saying(agent, said.project, ask.text) for agent in sorted(agents)] if said.project else []
        return found[0] if found and all(found) else None

    return reason


def _name(path: str, project: str) -> str:
    """Return the path of a file as a person names it in that project."""
    with suppress(ValueError):
        return str(Path(path).relative_to(project))
    return path
