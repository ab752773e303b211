"""From past sessions to candidates: the questions to a model, the answers, and a second look."""

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
from skilld.classify.partial import TitleResult
from skilld.classify.title import Title, fitting
from skilld.clock import day, rfc3339
from skilld.errors import SkilldError
from skilld.git.environment import scrub_environment
from skilld.mining import domains
from skilld.mining.dedup import ProposalHistory
from skilld.mining.evidence import Transcripts, refuted
from skilld.mining.new_skill import NewSkill, new_skill
from skilld.mining.proposing import CandidateResult, Run, become, checked
from skilld.mining.questions import QuestionRun, QuestionStats, Terms, estimate, rates_of, windows
from skilld.mining.selection import judge
from skilld.mining.session_summary import Feedback, Row, heard, row_of
from skilld.mining.sessions import Session, SessionSet, Transcript, folders_around, read
from skilld.mining.values import Candidate, Hooks, Judgement, Options, Progress, World
from skilld.protocol import Entitle, Job, PartialResult, Window
from skilld.skills import Skill, text
from skilld.skills.draft import SkillKind
from skilld.skills.spec import NAME
from skilld.store import Store
from skilld.types import Outcome, State, Usage
from skilld.worker.spawn import Worker

# Rows of sessions and what is known of them, judged; what does not stand a second look is left out.

_LOOKS = 5  # each look may refute what the one before brought up


def session_rows(
    sessions: Sequence[Session], windows: Callable[[Session], Sequence[Window]] | None, store: Store
) -> tuple[list[Row], int]:
    """Return the row of each session, and how many windows no model has answered for yet.

    Without `windows` all is heard by rules; where a model's answer is missing, those stand in for it.
    """
    found: list[Row] = []
    unread = 0
    for session in sessions:
        answers = [store.mining.found(window.id) for window in windows(session)] if windows else [None]
        said = {(one.turn, one.quote): one for answer in answers for one in map(_feedback, answer or ())}
        if None in answers:
            said = {(one.turn, one.quote): one for one in heard(session)} | said
        unread += answers.count(None) if windows else 0
        found.append(row_of(session, list(said.values())))
    return found, unread


def judged(
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
    """Return what the rows come to, with all evidence confirmed and nothing that was proposed before."""
    doubted: dict[tuple[str, str], str] = {}
    now = time.time()
    for _ in range(_LOOKS):
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
        again = refuted((part for one in outcome.candidates for part in one.parts), transcripts)
        if not again:
            return outcome
        doubted |= again
    return Judgement((), outcome.rejected, outcome.docs)


def _feedback(item: Mapping[str, object]) -> Feedback:
    return Feedback(
        str(item["turn"]), str(item["quote"]), str(item["change"]), str(item["kind"]), float(str(item["confidence"]))
    )


# Names, descriptions and headings of new skills by a model: one question for all of them, within the day's budget.
#
# Candidates enter and leave; where no model may be asked, or its words do not pass, they keep those that code
# drafted. An answer is kept by the drafts it is about, so that a later run with the same ones need not ask again.


def titled(
    candidates: Sequence[Candidate], taken: Collection[str], run: Run, *, may_ask: bool
) -> tuple[tuple[Candidate, ...], str]:
    """Return the candidates, new skills among them with a model's words where those pass; and why none were asked for.

    `taken` are the names of the skills there are. Without `may_ask` only an answer that is kept is used.
    """
    drafts = {one: new_skill(one, day=day(time.time()), with_sessions=False) for one in candidates if one.creates}
    if not drafts:
        return tuple(candidates), ""
    told, why_not = _told([_text(one) for one in drafts.values()], run, may_ask=may_ask)
    numbers = {one: number for number, one in enumerate(drafts, 1)}
    names = {*taken, *(one.name for one in candidates)}
    named: list[Candidate] = []
    for one in candidates:
        suggested = told.get(numbers.get(one, 0))
        named.append(_with(one, drafts[one], suggested, names - {one.name}, run) if suggested else one)
        names.add(named[-1].name)
    return tuple(named), why_not


def _with(one: Candidate, drafted: NewSkill, suggested: Title, taken: Collection[str], run: Run) -> Candidate:
    """Return a candidate with what passes of a suggestion, itself where the skill would not pass with it."""
    rules = drafted.body.splitlines()
    said = [proof.quote for proof in one.evidence]
    own = Title(one.name, drafted.description, rules[0].lstrip("# "))
    passed = fitting(suggested, own, rules, said, taken)
    better = replace(one, name=passed.name or one.name, description=passed.description, title=passed.title)
    try:
        checked(better, new_skill(better, day=day(time.time()), with_sessions=False), run)
    except SkilldError:
        return one
    return better


def _text(drafted: NewSkill) -> str:
    return f"{drafted.name}\n\n{drafted.description}\n\n{drafted.body}"


def _told(texts: Sequence[str], run: Run, *, may_ask: bool) -> tuple[Mapping[int, Title], str]:
    """Return the answer about these drafts by their numbers, the kept one or a new one, and why there is none."""
    model, store = run.terms.spec.model, run.store
    content = "\n\0".join(["titles", model, prompt.VERSION, *texts])
    name = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    if (known := store.mining.found(name)) is not None:
        return _titles(known), ""
    why = run.terms.spent_reason(store)
    if why or not may_ask:
        return {}, why
    answers: list[Mapping[str, Any]] = []

    def keep(told: PartialResult) -> None:
        if isinstance(told, TitleResult):
            answers.extend(asdict(one) for one in told.titles)
            with store.transaction():
                run.book(told.model, told.usage)
                store.mining.keep(name, "", answers, rfc3339(time.time()))

    with Worker(run.terms.environment) as worker:
        result = worker.do(Job(Entitle(run.terms.spec, tuple(texts)), run.terms.umask), run.terms.seconds * 2, keep)
    run.book(model, result.usage)
    return _titles(answers), "" if result.outcome is Outcome.NOTHING else result.detail


def _titles(told: Iterable[Mapping[str, Any]]) -> dict[int, Title]:
    return {one["skill"]: Title(one["name"], one["description"], one["title"]) for one in told}


@dataclass
class Report:
    """What a run came to. `unread` are questions that were not asked: rules stood in for a model there."""

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
    """What sessions come to, the run that can propose it, and what was proposed before."""

    report: Report
    run: Run
    proposed: ProposalHistory


def consider(reading: SessionSet, options: Options, world: World, hooks: Hooks) -> CandidateRun:
    """Return what the sessions of a reading come to; a model is asked if that is agreed to. Nothing is proposed."""
    report = Report(reading, model=world.terms.spec.model)
    asks = report.model != OFFLINE
    if asks:
        report.asked = _ask(reading.sessions, world, hooks)
    report.rows, report.unread = session_rows(
        reading.sessions, (lambda session: windows(session, report.model)) if asks else None, world.store
    )
    transcripts = Transcripts(reading.where, world.redact)
    report.judgement, proposed, names = weigh(report.rows, transcripts, options, world)
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    scrub_environment()
    run = Run(f"mine-{started}", world.store, world.terms, transcripts, world.redact)
    if asks:
        may_ask = not report.asked.stopped
        candidates, why_not = titled(report.judgement.candidates, names, run, may_ask=may_ask)
        report.judgement = replace(report.judgement, candidates=candidates)
        report.asked.stopped = report.asked.stopped or why_not
    return CandidateRun(report, run, proposed)


def weigh(
    rows: Sequence[Row], transcripts: Transcripts, options: Options, world: World
) -> tuple[Judgement, ProposalHistory, frozenset[str]]:
    """Return what rows of sessions come to beside the skills that are there and what was proposed. Asks no model.

    The last are the names that are taken.
    """
    above_skills = {str(folder) for row in rows for path in row.skill_paths for folder in Path(path).parents[1:4]}
    places = above_skills.union(*((row.main_dir, row.project) for row in rows))
    folders = {folder for place in places for folder in folders_around(place)}
    skills = world.skills(sorted(folders - {world.around.home}))
    known = world.store.proposals.in_states([*State])
    proposed = ProposalHistory(known)
    names = {one.skill for one in known if one.creates and one.state is State.OPEN} | {one.name for one in skills}
    judgement = judged(
        rows,
        skills,
        dict(_texts(skills)),
        transcripts,
        proposed,
        kind=options.kind,
        create_new=options.create_new,
        chosen=options.wanted.ids is not None,
    )
    return judgement, proposed, frozenset(names)


class Prices:
    """Prices of models, each asked for once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[str, Rates | None] = {}

    def __call__(self, model: str) -> Rates | None:
        """Return what a model's tokens cost; None where nobody knows. Takes seconds when it is asked for first."""
        if model not in self._known:
            self._known[model] = rates_of([model], self._terms)[model]
        return self._known[model]


def _ask(sessions: Sequence[Session], world: World, hooks: Hooks) -> QuestionStats:
    """Ask about what nobody asked about before, if that is agreed to."""
    model = world.terms.spec.model
    every = [window for session in sessions for window in windows(session, model)]
    new = [window for window in every if world.store.mining.found(window.id) is None]
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


def _texts(skills: Sequence[Skill]) -> Iterator[tuple[Path, str]]:
    for skill in skills:
        with suppress(OSError):  # gone since it was found
            yield skill.path, text(skill.path)


# One run of mining from start to end: sessions, questions, judgement, drafts, proposals.
#
# Whoever starts it says what to read, answers whether it may cost something, and shows how far it has come.


def mine(options: Options, world: World, hooks: Hooks) -> Report:
    """Do one run. Raises SkilldError where the model cannot be asked or a name cannot be a skill's."""
    if options.name and not NAME.fullmatch(options.name):
        raise SkilldError("Not a valid skill name", options.name, "Use lowercase letters, digits and single hyphens.")
    prices = Prices(world.terms)
    reading = read(counted(options.transcripts, hooks.progress), options.wanted, world.redact, prices)
    considered = consider(reading, options, world, hooks)
    report, run = considered.report, considered.run
    if not options.dry_run:
        support(considered.proposed, world.store, report.reading)
    for number, candidate in enumerate(_named(report.judgement.candidates, options.name), 1):
        hooks.progress("proposals", number, len(report.judgement.candidates))
        report.became.append(become(candidate, run, world.around, hooks.edit, dry_run=options.dry_run))
    said = {proof.turn for one in report.judgement.candidates for proof in one.evidence}
    report.gathered = list(
        domains.propose(
            options.gather,
            world.store,
            world.around,
            redact=world.redact,
            now=time.time(),
            said=said,
            dry_run=options.dry_run,
        )
    )
    report.usage = sum(run.spent, report.asked.usage)
    return report


def support(proposed: ProposalHistory, store: Store, reading: SessionSet) -> None:
    """Keep what was said again of open proposals as evidence of theirs, but for words from a file given by hand."""
    by_hand = {turn.turn_key for one in reading.sessions if reading.is_by_hand(one.id) for turn in one.turns}
    for (proposal, _), evidence in proposed.supported.items():
        if evidence.turn not in by_hand:
            store.proposals.support(proposal, evidence)


def counted(transcripts: Sequence[Transcript], progress: Progress) -> Iterator[Transcript]:
    """Yield the transcripts, and tell how far it has come."""
    for number, transcript in enumerate(transcripts, 1):
        progress("transcripts", number, len(transcripts))
        yield transcript


def _named(candidates: Sequence[Candidate], name: str) -> list[Candidate]:
    """Give the first skill to create the name that was asked for."""
    new = next((one for one in candidates if one.creates), None)
    return [replace(one, name=name) if name and one is new else one for one in candidates]
