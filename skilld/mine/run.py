"""One run of mining from start to end: sessions, questions, judgement, drafts, proposals.

Whoever starts it says what to read, answers whether it may cost something, and shows how far it has come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from skilld.classify.backends.rates import Rates
from skilld.daemon.roots import Surroundings
from skilld.deciding.staging import put
from skilld.errors import RetryError, SkilldError
from skilld.git.environment import scrub_environment
from skilld.kinds import SkillKind
from skilld.mine import domains, found
from skilld.mine.asking import Asked, Asking, Terms, rates_of
from skilld.mine.confirm import Transcripts
from skilld.mine.draft import draft
from skilld.mine.known import Proposed
from skilld.mine.place import place, why_not_editable
from skilld.mine.project import folders_around
from skilld.mine.proposing import Run, checked, creation, extension
from skilld.mine.reading import Reading, Wanted, read
from skilld.mine.rows import Row
from skilld.mine.sessions import Session, Transcript
from skilld.mine.titles import titled
from skilld.mine.values import Candidate, Judgement
from skilld.mine.windows import Estimate, Window, estimate, windows
from skilld.skills import Skill, text
from skilld.skills.spec import NAME
from skilld.store import Store
from skilld.times import day
from skilld.types import State, Usage

OFFLINE = "offline"
Edit = Callable[[str], str]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked to do. `gather` are projects whose facts become a skill of their own."""

    transcripts: Sequence[Transcript]
    wanted: Wanted
    kind: SkillKind | None = None
    name: str = ""
    gather: Sequence[Path] = ()
    dry_run: bool = False
    create_new: bool = False  # though there is a skill like it


@dataclass(frozen=True, slots=True)
class World:
    """What a run works with. `skills` gives the skills of some projects and of the person."""

    store: Store
    terms: Terms
    around: Surroundings
    redact: Callable[[str], str]
    skills: Callable[[Sequence[Path]], list[Skill]]


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a run asks of whoever started it.

    `agree` is told what the questions will take, and can ask what that is in dollars (None: nobody knows), which takes
    seconds; without a yes none is asked.
    `edit` gets the text of a new skill and returns what is to be proposed. `progress` is told of long work.
    """

    agree: Callable[[Estimate, Callable[[], float | None]], bool]
    edit: Edit
    progress: Progress


@dataclass(frozen=True, slots=True)
class Became:
    """What became of a candidate: the proposal's id, or why there is none; the text of a new skill."""

    candidate: Candidate
    proposal: str = ""
    why_not: str = ""
    text: str = ""


@dataclass
class Report:
    """What a run came to. `unread` are questions that were not asked: rules stood in for a model there."""

    reading: Reading
    judgement: Judgement = field(default_factory=lambda: Judgement((), (), ()))
    became: list[Became] = field(default_factory=list)
    gathered: list[domains.Made] = field(default_factory=list)
    model: str = OFFLINE
    asked: Asked = field(default_factory=Asked)
    unread: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def proposed(self) -> list[str]:
        """The ids of the proposals that were made."""
        ids = (*(one.proposal for one in self.became), *(one.proposal for one in self.gathered))
        return [name for name in ids if name]


def mine(options: Options, world: World, hooks: Hooks) -> Report:
    """Do one run. Raises SkilldError where the model cannot be asked or a name cannot be a skill's."""
    if options.name and not NAME.fullmatch(options.name):
        raise SkilldError("That is no name for a skill", options.name, "Small letters, digits and single hyphens.")
    prices = Prices(world.terms)
    reading = read(counted(options.transcripts, hooks.progress), options.wanted, world.redact, prices)
    considered = consider(reading, options, world, hooks)
    report, run = considered.report, considered.run
    if not options.dry_run:
        support(considered.proposed, world.store)
    for number, candidate in enumerate(_named(report.judgement.candidates, options.name), 1):
        hooks.progress("proposals", number, len(report.judgement.candidates))
        report.became.append(become(candidate, options, run, world.around, hooks.edit))
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


@dataclass(frozen=True, slots=True)
class Considered:
    """What sessions come to, the run that can propose it, and what was proposed before."""

    report: Report
    run: Run
    proposed: Proposed


def consider(reading: Reading, options: Options, world: World, hooks: Hooks) -> Considered:
    """Return what the sessions of a reading come to; a model is asked if that is agreed to. Nothing is proposed."""
    report = Report(reading, model=world.terms.spec.model)
    asks = report.model != OFFLINE
    if asks:
        report.asked = _ask(reading.sessions, world, hooks)
    rows, report.unread = found.rows(reading.sessions, _windows(report.model) if asks else None, world.store)
    transcripts = Transcripts(reading.where, world.redact)
    report.judgement, proposed, names = weigh(rows, transcripts, options, world)
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    scrub_environment()
    run = Run(f"mine-{started}", world.store, world.terms, transcripts, world.redact)
    if asks:
        may_ask = not report.asked.stopped
        candidates, why_not = titled(report.judgement.candidates, names, run, may_ask=may_ask)
        report.judgement = replace(report.judgement, candidates=candidates)
        report.asked.stopped = report.asked.stopped or why_not
    return Considered(report, run, proposed)


def weigh(
    rows: Sequence[Row], transcripts: Transcripts, options: Options, world: World
) -> tuple[Judgement, Proposed, frozenset[str]]:
    """Return what rows of sessions come to beside the skills that are there and what was proposed. Asks no model.

    The last are the names that are taken.
    """
    folders = {folder for row in rows for folder in folders_around(row.main_dir)}
    skills = world.skills(sorted(folders - {world.around.home}))
    known = world.store.proposals.in_states([*State])
    proposed = Proposed(known)
    names = {one.skill for one in known if one.creates and one.state is State.OPEN} | {one.name for one in skills}
    judgement = found.judged(
        rows,
        skills,
        dict(_texts(skills)),
        transcripts,
        proposed,
        kind=options.kind,
        create_new=options.create_new,
    )
    return judgement, proposed, frozenset(names)


def support(proposed: Proposed, store: Store) -> None:
    """Keep what was said again of open proposals as evidence of theirs."""
    for (proposal, _), evidence in proposed.supported.items():
        store.proposals.support(proposal, evidence)


class Prices:
    """Prices of models, each asked for once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[str, Rates | None] = {}

    def __call__(self, model: str) -> Rates | None:
        """Return what a model's tokens cost; None where nobody knows. Takes seconds when it is asked for first."""
        if model not in self._known:
            told = rates_of([model], self._terms)[model]
            self._known[model] = Rates(**told) if told else None
        return self._known[model]


def counted(transcripts: Sequence[Transcript], progress: Progress) -> Iterator[Transcript]:
    """Yield the transcripts, and tell how far it has come."""
    for number, transcript in enumerate(transcripts, 1):
        progress("transcripts", number, len(transcripts))
        yield transcript


def _windows(model: str) -> Callable[[Session], list[Window]]:
    return lambda session: windows(session, model)


def _ask(sessions: Sequence[Session], world: World, hooks: Hooks) -> Asked:
    """Ask about what nobody asked about before, if that is agreed to."""
    model = world.terms.spec.model
    every = [window for session in sessions for window in windows(session, model)]
    new = [window for window in every if world.store.mining.found(window.id) is None]
    if not new:
        return Asked()
    expected = estimate(new)

    def dollars() -> float | None:
        price = Prices(world.terms)(model)
        return price.of(expected.tokens_in, expected.tokens_out) if price else None

    if not hooks.agree(expected, dollars):
        return Asked(stopped="you did not want it to")
    asking = Asking(world.store, world.terms, lambda done: hooks.progress("questions", done, len(new)))
    return asking.about(new)


def _named(candidates: Sequence[Candidate], name: str) -> list[Candidate]:
    """Give the first skill to create the name that was asked for."""
    new = next((one for one in candidates if one.creates), None)
    return [replace(one, name=name) if name and one is new else one for one in candidates]


def _texts(skills: Sequence[Skill]) -> Iterator[tuple[Path, str]]:
    for skill in skills:
        with suppress(OSError):  # gone since it was found
            yield skill.path, text(skill.path)


def become(candidate: Candidate, options: Options, run: Run, around: Surroundings, edit: Edit) -> Became:
    """Propose a candidate, a new skill as `edit` returns its text; in a dry run only draft it."""
    try:
        if candidate.creates:
            return _created(candidate, options, run, around, edit)
        if why := why_not_editable(candidate.name, candidate.target, around):
            return Became(candidate, why_not=why)
        return Became(candidate, "" if options.dry_run else put(run.store, extension(candidate, run)).id)
    except RetryError as error:
        return Became(candidate, why_not=f"{error}; the next run tries again")
    except SkilldError as error:
        return Became(candidate, why_not=str(error))


def _created(candidate: Candidate, options: Options, run: Run, around: Surroundings, edit: Edit) -> Became:
    where = place(candidate, candidate.name, run.transcripts, around)
    for other in run.store.proposals.in_states([State.OPEN]):
        if other.creates and other.path == str(where.path):
            raise SkilldError("It was not proposed", f"{other.id} proposes a skill of that name; decide on it first")
    drafted = draft(candidate, day=day(time.time()), with_sessions=not where.shared)
    written = drafted.text
    if options.dry_run:
        checked(candidate, drafted, run)
        return Became(candidate, text=written)
    seen = edit(written)
    if seen == written:
        passed = checked(candidate, drafted, run)
    else:
        passed = checked(candidate, drafted.edited(seen), run, own=seen)
    return Became(candidate, put(run.store, creation(passed, where.path, run)).id, text=passed.draft.text)
