"""From past sessions to candidates: what is asked of a model about them, and what they come to. Nothing is proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.classify.backends.rates import Rates
from skilld.git.environment import scrub_environment
from skilld.mine import domains, found
from skilld.mine.asking import Asked, Asking, Terms, rates_of
from skilld.mine.confirm import Transcripts
from skilld.mine.known import Proposed
from skilld.mine.options import Hooks, Options, World
from skilld.mine.project import folders_around
from skilld.mine.proposing import Became, Run
from skilld.mine.reading import Reading
from skilld.mine.rows import Row
from skilld.mine.sessions import Session
from skilld.mine.titles import titled
from skilld.mine.values import Judgement
from skilld.mine.windows import Window, estimate, windows
from skilld.skills import Skill, text
from skilld.types import State, Usage


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
        return Asked(stopped="nobody agreed to it")
    asking = Asking(world.store, world.terms, lambda done: hooks.progress("questions", done, len(new)))
    return asking.about(new)


def _texts(skills: Sequence[Skill]) -> Iterator[tuple[Path, str]]:
    for skill in skills:
        with suppress(OSError):  # gone since it was found
            yield skill.path, text(skill.path)
