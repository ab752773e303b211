"""The facts told of the projects that the settings name, proposed as one skill of domain knowledge for each.

Learnings and folders enter; a proposal for each project leaves, or why there is none. What is staged is checked like a
candidate of mining: no secret, the linter with the person's quotes, a place where no such skill is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from skilld.daemon.roots import Surroundings, skill_places
from skilld.deciding.staging import put
from skilld.edit.lint import Severity, gravest, lint
from skilld.errors import SkilldError
from skilld.intake.agents import ADAPTERS
from skilld.kinds import write
from skilld.mine.content import unfit
from skilld.mine.domain import Gathered, gathered
from skilld.mine.values import Part, Sort
from skilld.skills import why_left_alone
from skilld.skills.landing import landing
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.text import cut
from skilld.times import day, rfc3339
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State

_SUMMARY = 300


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a project's facts: the proposal's id, or why there is none; the text of the skill."""

    project: Path
    name: str
    text: str = ""
    proposal: str = ""
    why_not: str = ""


def propose(
    projects: Sequence[Path],
    store: Store,
    around: Surroundings,
    *,
    redact: Callable[[str], str],
    now: float,
    said: Collection[str] = (),
    dry_run: bool = False,
) -> Iterator[Made]:
    """Yield what became of each project that has enough facts; the turns in `said` are another candidate's by now."""
    learnings = [one for one in store.learnings.all() if one.turn_key not in said]
    for project in projects:
        found = gathered(project, learnings, day=day(now), unfit=partial(_unsayable, project))
        if found is None:
            continue
        made = Made(project, found.draft.name)
        try:
            text = _checked(found, redact)
            made = replace(made, text=text)
            path = _place(found.draft.name, project, store, around)
            if not dry_run:
                made = replace(made, proposal=put(store, _proposal(found, text, path, now)).id)
        except SkilldError as error:
            made = replace(made, why_not=str(error))
        yield made


def _unsayable(project: Path, learning: Learning) -> bool:
    """Whether no skill may say this one fact, by its words or by the linter with the person's quote."""
    findings = lint(b"", learning.change.encode("utf-8", "replace"), learning.quote)
    return bool(unfit(Part(Sort.FACT, learning.change, ()), str(project))) or gravest(findings) is Severity.REFUSE


def _checked(found: Gathered, redact: Callable[[str], str]) -> str:
    text = write(found.draft)
    if redact(text) != text:
        raise SkilldError("The new skill was not written", "it would hold a secret")
    refused = [one for one in lint(b"", text.encode(), _typed(found)) if one.severity is Severity.REFUSE]
    if refused:
        raise SkilldError("The new skill was not written", refused[0].sentence)
    return text


def _place(name: str, project: Path, store: Store, around: Surroundings) -> Path:
    places = {agent: skill_places(agent, around.home, around.environment, around.roots) for agent in ADAPTERS}
    path = landing(name, [project], [], places, around.home)
    if why := why_left_alone(path, name):
        raise SkilldError("The new skill was not proposed", why)
    known = next((one for one in store.proposals.in_states([*State]) if one.creates and one.path == str(path)), None)
    if known is not None:
        raise SkilldError("The new skill was not proposed", f"{known.id} proposes it, and is {known.state.value}")
    return path


def _typed(found: Gathered) -> str:
    return "\n".join(one.quote for one in found.learnings)


def _proposal(found: Gathered, text: str, path: Path, now: float) -> Proposal:
    sessions = len({one.session_id for one in found.learnings})
    newest = found.learnings[0]
    name = hashlib.sha256(f"domain\n{path}\n{_typed(found)}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return Proposal(
        id=name,
        batch_id=f"mine-{name}",
        state=State.OPEN,
        skill=found.draft.name,
        path=str(path),
        operations=(Operation(Op.CREATE, "", text),),
        summary=cut(f"New skill: {found.draft.description}", _SUMMARY),
        reason=f"Facts told of this project in {sessions} session{'s' if sessions > 1 else ''}; no skill says them.",
        kind=Kind.FACT,
        evidence=tuple(Evidence(one.turn_key, one.quote) for one in found.learnings),
        confidence=min(one.confidence for one in found.learnings),
        agent=newest.agent,
        session_id=newest.session_id,
        model="offline",
        created_at=rfc3339(now),
        flags=tuple(dict.fromkeys(one.sentence for one in lint(b"", text.encode(), _typed(found)))),
    )
