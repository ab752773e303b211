"""One mining run: past sessions, questions to a model, candidates with confirmed evidence, proposals."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skilld.classify import prompt
from skilld.classify.backends import OFFLINE
from skilld.classify.backends.completion import Rates
from skilld.classify.partial_results import TitleResult
from skilld.classify.title import Title, acceptable_title
from skilld.clock import local_day, rfc3339
from skilld.errors import SkilldError
from skilld.git.environment import scrub_environment
from skilld.mining import domains
from skilld.mining.dedup import ProposalHistory
from skilld.mining.evidence import Transcripts, find_refutations
from skilld.mining.new_skill import NewSkill, build_skill
from skilld.mining.proposing import CandidateResult, MiningRun, check_skill, propose_candidate
from skilld.mining.questions import QuestionRun, QuestionStats, Terms, estimate, model_rates, session_windows
from skilld.mining.selection import judge
from skilld.mining.session_summary import Feedback, Row, detect_feedback, summarize
from skilld.mining.sessions import Session, SessionSet, Transcript, folders_around, read_sessions
from skilld.mining.values import Candidate, Hooks, Judgement, MiningContext, Options, Progress
from skilld.protocol import Job, PartialResult, TitleSkills, Window
from skilld.skills import Skill, text
from skilld.skills.draft import SkillKind
from skilld.skills.spec import NAME_PATTERN
from skilld.store import Store
from skilld.types import Outcome, State, Usage
from skilld.worker.spawn import Worker

# Judging the rows of sessions. Candidates whose evidence does not hold are left out.

_MAX_ROUNDS = 5  # each round may refute what the one before brought up


def session_rows(
    sessions: Sequence[Session], windows: Callable[[Session], Sequence[Window]] | None, store: Store
) -> tuple[list[Row], int]:
    """Return the row of each session, and the number of windows without a model's answer.

    Without `windows` only rules are used; they also stand in for missing answers.
    """
    found: list[Row] = []
    unread = 0
    for session in sessions:
        answers = [store.mining.get(window.id) for window in windows(session)] if windows else [None]
        feedback = {(one.turn, one.quote): one for answer in answers for one in map(_as_feedback, answer or ())}
        if None in answers:
            feedback = {(one.turn, one.quote): one for one in detect_feedback(session)} | feedback
        unread += answers.count(None) if windows else 0
        found.append(summarize(session, list(feedback.values())))
    return found, unread


def judge_rows(
    found: Sequence[Row],
    skills: Sequence[Skill],
    texts: Mapping[Path, str],
    transcripts: Transcripts,
    proposed: ProposalHistory,
    *,
    kind: SkillKind | None = None,
    create_new: bool = False,
    chosen: bool = False,
) -> Judgement:
    """Return the candidates of the rows, with confirmed evidence only and nothing that was proposed before."""
    doubted: dict[tuple[str, str], str] = {}
    now = time.time()
    for _ in range(_MAX_ROUNDS):
        outcome = judge(
            found,
            skills,
            texts,
            now=now,
            refuted=doubted,
            known=proposed.duplicate_reason,
            kind=kind,
            create_new=create_new,
            chosen=chosen,
        )
        again = find_refutations((part for one in outcome.candidates for part in one.parts), transcripts)
        if not again:
            return outcome
        doubted |= again
    return Judgement((), outcome.rejected, outcome.docs)


def _as_feedback(item: Mapping[str, object]) -> Feedback:
    return Feedback(
        str(item["turn"]), str(item["quote"]), str(item["change"]), str(item["kind"]), float(str(item["confidence"]))
    )


# Names, descriptions and headings of new skills from a model: one question for all of them, within the daily budget.
#
# If no model may be asked, or its words do not pass, candidates keep those that code drafted. An answer is stored under
# a hash of the drafts, so a later run with the same ones need not ask again.


def with_titles(
    candidates: Sequence[Candidate], taken: Collection[str], run: MiningRun, *, may_ask: bool
) -> tuple[tuple[Candidate, ...], str]:
    """Return the candidates, new skills with a model's titles if those pass, and why the model was not asked.

    `taken` are the names of existing skills. Without `may_ask` only a stored answer is used.
    """
    drafts = {
        one: build_skill(one, day=local_day(time.time()), with_sessions=False) for one in candidates if one.creates
    }
    if not drafts:
        return tuple(candidates), ""
    texts = [f"{one.name}\n\n{one.description}\n\n{one.body}" for one in drafts.values()]
    told, why_not = _model_titles(texts, run, may_ask=may_ask)
    numbers = {one: number for number, one in enumerate(drafts, 1)}
    names = {*taken, *(one.name for one in candidates)}
    named: list[Candidate] = []
    for one in candidates:
        suggested = told.get(numbers.get(one, 0))
        named.append(_apply_title(one, drafts[one], suggested, names - {one.name}, run) if suggested else one)
        names.add(named[-1].name)
    return tuple(named), why_not


def _apply_title(one: Candidate, drafted: NewSkill, title: Title, taken: Collection[str], run: MiningRun) -> Candidate:
    """Return a candidate with the acceptable parts of a suggestion, unchanged if the skill would not pass with them."""
    rules = drafted.body.splitlines()
    quotes = [proof.quote for proof in one.evidence]
    own = Title(one.name, drafted.description, rules[0].lstrip("# "))
    passed = acceptable_title(title, own, rules, quotes, taken)
    better = replace(one, name=passed.name or one.name, description=passed.description, title=passed.title)
    try:
        check_skill(better, build_skill(better, day=local_day(time.time()), with_sessions=False), run)
    except SkilldError:
        return one
    return better


def _model_titles(texts: Sequence[str], run: MiningRun, *, may_ask: bool) -> tuple[Mapping[int, Title], str]:
    """Return a stored or new answer about these drafts by their numbers, and why there is none."""
    model, store = run.terms.spec.model, run.store
    content = "\n\0".join(["titles", model, prompt.VERSION, *texts])
    name = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    if (known := store.mining.get(name)) is not None:
        return _titles_by_number(known), ""
    why = run.terms.spent_reason(store)
    if why or not may_ask:
        return {}, why or ""
    answers: list[Mapping[str, Any]] = []

    def keep(told: PartialResult) -> None:
        if isinstance(told, TitleResult):
            answers.extend(asdict(one) for one in told.titles)
            with store.transaction():
                run.book(told.model, told.usage)
                store.mining.save(name, "", answers, rfc3339(time.time()))

    with Worker(run.terms.environment) as worker:
        result = worker.do(Job(TitleSkills(run.terms.spec, tuple(texts)), run.terms.umask), run.terms.seconds * 2, keep)
    run.book(model, result.usage)
    return _titles_by_number(answers), "" if result.outcome is Outcome.NOTHING else result.detail


def _titles_by_number(told: Iterable[Mapping[str, Any]]) -> dict[int, Title]:
    return {one["skill"]: Title(one["name"], one["description"], one["title"]) for one in told}


@dataclass
class Report:
    """The result of a run. `unread` counts windows without a model's answer, for which rules stood in."""

    reading: SessionSet
    rows: Sequence[Row] = ()
    judgement: Judgement = field(default_factory=lambda: Judgement((), (), ()))
    became: list[CandidateResult] = field(default_factory=list)
    gathered: list[domains.DomainResult] = field(default_factory=list)
    model: str = OFFLINE
    asked: QuestionStats = field(default_factory=QuestionStats)
    unread: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def proposed(self) -> list[str]:
        """The ids of the proposals that were made."""
        ids = (*(one.proposal for one in self.became), *(one.proposal for one in self.gathered))
        return [name for name in ids if name]


@dataclass(frozen=True, slots=True)
class CandidateRun:
    """The report on some sessions, the run that can propose its candidates, and what was proposed before."""

    report: Report
    run: MiningRun
    proposed: ProposalHistory


def find_candidates(reading: SessionSet, options: Options, world: MiningContext, hooks: Hooks) -> CandidateRun:
    """Find the candidates of these sessions, asking a model if the person agrees. Nothing is proposed."""
    report = Report(reading, model=world.terms.spec.model)
    asks = report.model != OFFLINE
    if asks:
        report.asked = _ask_model(reading.sessions, world, hooks)
    report.rows, report.unread = session_rows(
        reading.sessions, (lambda session: session_windows(session, report.model)) if asks else None, world.store
    )
    transcripts = Transcripts(reading.where, world.redact)
    report.judgement, proposed, names = judge_against_known(report.rows, transcripts, options, world)
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    scrub_environment()
    run = MiningRun(f"mine-{started}", world.store, world.terms, transcripts, world.redact)
    if asks:
        may_ask = not report.asked.stopped
        candidates, why_not = with_titles(report.judgement.candidates, names, run, may_ask=may_ask)
        report.judgement = replace(report.judgement, candidates=candidates)
        report.asked.stopped = report.asked.stopped or why_not
    return CandidateRun(report, run, proposed)


def judge_against_known(
    rows: Sequence[Row], transcripts: Transcripts, options: Options, world: MiningContext
) -> tuple[Judgement, ProposalHistory, frozenset[str]]:
    """Judge rows against the existing skills and proposals. Asks no model.

    Returns the judgement, the proposals, and the names that are taken.
    """
    above_skills = {str(folder) for row in rows for path in row.skill_paths for folder in Path(path).parents[1:4]}
    places = above_skills.union(*((row.main_dir, row.project) for row in rows))
    folders = {folder for place in places for folder in folders_around(place)}
    skills = world.skills(sorted(folders - {world.host.home}))
    proposals = world.store.proposals.in_states([*State])
    proposed = ProposalHistory(proposals)
    names = {one.skill for one in proposals if one.creates and one.state is State.OPEN} | {one.name for one in skills}
    judgement = judge_rows(
        rows,
        skills,
        dict(_skill_texts(skills)),
        transcripts,
        proposed,
        kind=options.kind,
        create_new=options.create_new,
        chosen=options.wanted.ids is not None,
    )
    return judgement, proposed, frozenset(names)


class Prices:
    """Token prices of models, each looked up once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[str, Rates | None] = {}

    def __call__(self, model: str) -> Rates | None:
        """Return a model's token prices, None if unknown. Takes seconds the first time."""
        if model not in self._known:
            self._known[model] = model_rates([model], self._terms)[model]
        return self._known[model]


def _ask_model(sessions: Sequence[Session], world: MiningContext, hooks: Hooks) -> QuestionStats:
    """Ask about the windows without an answer, if the person agrees."""
    model = world.terms.spec.model
    every = [window for session in sessions for window in session_windows(session, model)]
    new = [window for window in every if world.store.mining.get(window.id) is None]
    if not new:
        return QuestionStats()
    expected = estimate(new)

    def dollars() -> float | None:
        price = Prices(world.terms)(model)
        return price.of(expected.tokens_in, expected.tokens_out) if price else None

    if not hooks.agree(expected, dollars):
        return QuestionStats(stopped="you declined to send the questions")

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
    prices = Prices(world.terms)
    reading = read_sessions(with_progress(options.transcripts, hooks.progress), options.wanted, world.redact, prices)
    considered = find_candidates(reading, options, world, hooks)
    report, run = considered.report, considered.run
    if not options.dry_run:
        record_support(considered.proposed, world.store, report.reading)
    for number, candidate in enumerate(_with_requested_name(report.judgement.candidates, options.name), 1):
        hooks.progress("proposals", number, len(report.judgement.candidates))
        report.became.append(propose_candidate(candidate, run, world.host, hooks.edit, dry_run=options.dry_run))
    turns = {proof.turn for one in report.judgement.candidates for proof in one.evidence}
    report.gathered = list(
        domains.propose_domain_skills(
            options.gather,
            world.store,
            world.host,
            redact=world.redact,
            now=time.time(),
            said=turns,
            dry_run=options.dry_run,
        )
    )
    report.usage = sum(run.spent, report.asked.usage)
    return report


def record_support(proposed: ProposalHistory, store: Store, reading: SessionSet) -> None:
    """Add further evidence to open proposals, except words from files that were named by hand."""
    by_hand = {turn.turn_key for one in reading.sessions if reading.is_by_hand(one.id) for turn in one.turns}
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
