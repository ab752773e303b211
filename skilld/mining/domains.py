"""Collects the facts stated about configured projects, and proposes a domain skill for each.

Learnings and folders in; for each project a proposal, or the reason for none. The checks are those of mined
candidates: no secret, the linter with the person's quotes, a free path. If the skill was accepted before, newer facts
are proposed as an edit of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.classify.said_already import says_already
from skilld.clock import local_day, rfc3339
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.lint import Severity, lint, worst_severity
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.ingest.discover import Host
from skilld.library.clusters import Ask, group_asks, is_about_layout, learning_mention
from skilld.mining.dedup import ProposalHistory
from skilld.mining.new_skill import checked_text, edit_refusal, part_problem, places_by_agent, section
from skilld.mining.values import Part, PartKind
from skilld.proposals.amend import stage_and_store
from skilld.proposals.model import MINE_PREFIX
from skilld.skills import opt_out
from skilld.skills.draft import Draft, SkillKind
from skilld.skills.write import new_skill_path
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.text import join_sentences, one_line, pluralize, truncate
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State
from skilld.values import value_class
from skilld.words import has_negation

# A new skill of the facts about a project that belong to no other skill. The quotes of its learnings are its evidence.

MIN_FACTS = 2  # a single one belongs in the project's documents
MAX_FACTS = 60
_MAX_FACT_LENGTH = 600  # characters of one fact
_MAX_DESCRIBED_LENGTH = 120  # of one fact in the description
_SECTIONS = ("Layout", "Conventions", "Pitfalls")


@value_class
class DomainDraft:
    """A skill of a project's facts, and the newest learning for each of its lines, in their order."""

    draft: Draft
    learnings: tuple[Learning, ...]


def draft_domain_skill(project: Path, facts: Iterable[Learning], *, day: str) -> DomainDraft | None:
    """Return the skill of these facts about `project` (a folder), None if there are too few.

    A fact stated several times appears once, in its newest words. `day` is YYYY-MM-DD.
    """
    by_id = {one.id: one for one in facts}
    newest = [by_id[ask.said[0].id] for ask in group_asks(map(learning_mention, by_id.values()))][:MAX_FACTS]
    if len(newest) < MIN_FACTS:
        return None
    sections = {title: [one for one in newest if section_of(one.change) == title] for title in _SECTIONS}
    name = project.name
    kept = [one for title in _SECTIONS for one in sections[title]]
    said = "; ".join(truncate(one_line(one.change), _MAX_DESCRIBED_LENGTH).rstrip(" .!;:,") for one in kept[:3])
    draft = Draft(
        name=skill_name(project),
        description=f"Facts about {one_line(name)}: {said}. Use when working in {one_line(name)}.",
        body=_skill_body(name, sections),
        kind=SkillKind.KNOWLEDGE,
        project=one_line(name),
        date=day,
        origin="mined",
    )
    return DomainDraft(draft, tuple(kept))


def skill_name(project: Path) -> str:
    """Return the name of the skill of a project's facts."""
    slug = re.sub(r"[^a-z0-9]+", "-", project.name.casefold())[:50].strip("-") or "project"
    return f"{slug}-knowledge"


def project_facts(project: Path, learnings: Iterable[Learning]) -> list[Learning]:
    """Return the facts about `project` among the learnings."""
    facts = (one for one in learnings if one.kind == Kind.FACT and one.project and not one.skill)
    return [one for one in facts if Path(str(one.project)).is_relative_to(project)]


def section_of(fact: str) -> str:
    """Return the heading that a fact belongs under."""
    if has_negation(fact):
        return "Pitfalls"
    return "Layout" if is_about_layout(fact) else "Conventions"


def fact_line(fact: str) -> str:
    """Return a fact as one line of bounded length."""
    return truncate(one_line(fact), _MAX_FACT_LENGTH)


def _skill_body(name: str, sections: Mapping[str, Sequence[Learning]]) -> str:
    lines = [f"# {one_line(name)}"]
    for title, found in sections.items():
        lines += section(title, [f"- {fact_line(one.change)}" for one in found])
    return "\n".join(lines)


# Adding newer facts to an accepted domain skill: one bullet per fact, in the section of its kind. Facts that the skill
# already says, or that the linter refuses, are left out.

MAX_NEW_FACTS = 10  # at once: more are not reviewed well


@value_class
class Addition:
    """The new file, the asks it adds, the operations, and what a person should look at."""

    data: bytes
    asks: tuple[Ask, ...] = ()
    operations: tuple[Operation, ...] = ()
    flags: tuple[str, ...] = ()


def addition(skill: bytes, asks: Iterable[Ask], redact: Callable[[str], str]) -> Addition:
    """Return the edit of `skill` for at most MAX_NEW_FACTS of these facts; without operations if nothing is new.

    Raises SkilldError if the skill cannot be parsed.
    """
    made = Addition(skill)
    for ask in asks:
        line = fact_line(ask.text)
        if (
            len(made.asks) == MAX_NEW_FACTS
            or redact(line) != line
            or says_already(line, made.data.decode("utf-8", "replace"))
        ):
            continue
        operation = insert_bullet(made.data, section_of(ask.text), line)
        try:
            after = apply(made.data, [operation])
        except SkilldError:  # the file or the edit would exceed a limit
            continue
        findings = lint(made.data, after, "\n".join(one.quote for one in ask.said))
        if worst_severity(findings) is Severity.REFUSE:
            continue
        flags = dict.fromkeys((*made.flags, *(one.sentence for one in findings)))
        made = Addition(after, (*made.asks, ask), (*made.operations, operation), tuple(flags))
    return made


_MAX_SUMMARY_LENGTH = 300


@value_class
class DomainResult:
    """The outcome for a project's facts: the proposal's id, or why there is none; the text of the skill.

    `action` is create, or extend for an existing skill.
    """

    project: Path
    name: str
    action: str = "create"
    text: str = ""
    proposal: str = ""
    why_not: str = ""


@value_class
class _Context:
    """What a run works with; `now` is Unix time."""

    store: Store
    host: Host
    redact: Callable[[str], str]
    now: float


def propose_domain_skills(
    projects: Sequence[Path],
    store: Store,
    host: Host,
    *,
    redact: Callable[[str], str],
    now: float,
    said: Collection[str] = (),
    dry_run: bool = False,
) -> Iterator[DomainResult]:
    """Yield the outcome for each project with enough facts; turns in `said` already belong to another candidate."""
    learnings = [one for one in store.learnings.said() if one.turn_key not in said]
    desk = _Context(store, host, redact, now)
    for project in projects:
        facts = [one for one in project_facts(project, learnings) if not _is_unfit(one, project)]
        proposed = store.proposals.in_states([*State])
        there = _accepted_skill(project, proposed)
        made = DomainResult(project, skill_name(project), action="create" if there is None else "extend")
        try:
            drafted = (
                _creation(project, facts, desk)
                if there is None
                else _extension(made.name, there, facts, ProposalHistory(proposed), desk)
            )
            if drafted is None:
                continue
            text, proposal = drafted
            made = replace(made, text=text)
            if not dry_run:
                made = replace(made, proposal=stage_and_store(store, proposal).id)
        except SkilldError as error:
            made = replace(made, why_not=str(error))
        yield made


def _accepted_skill(project: Path, proposed: Sequence[Proposal]) -> Path | None:
    """Return the project's skill of facts if it was accepted and still exists."""
    paths = [Path(one.path) for one in proposed if one.creates and one.state is State.ACCEPTED]
    fit = (path for path in paths if path.parent.name == skill_name(project) and path.is_relative_to(project))
    return next((path for path in fit if path.is_file()), None)


def _creation(project: Path, facts: Sequence[Learning], desk: _Context) -> tuple[str, Proposal] | None:
    """Return the text of a new skill and its proposal, None if there are too few facts for one."""
    found = draft_domain_skill(project, facts, day=local_day(desk.now))
    if found is None:
        return None
    text, flags = checked_text(found.draft, "\n".join(one.quote for one in found.learnings), desk.redact)
    path = _find_place(found.draft.name, project, desk)
    sessions = len({one.session_id for one in found.learnings})
    return text, replace(
        _base_proposal(found.draft.name, path, found.learnings, desk.now),
        operations=(Operation(Op.CREATE, "", text),),
        summary=truncate(f"New skill: {found.draft.description}", _MAX_SUMMARY_LENGTH),
        reason=f"No skill covers these facts about this project, stated in {pluralize(sessions, 'session')}.",
        flags=flags,
    )


def _extension(
    name: str, path: Path, facts: Sequence[Learning], proposed: ProposalHistory, desk: _Context
) -> tuple[str, Proposal] | None:
    """Return the text of a skill with newer facts and the proposal of this edit, None if there is nothing to add."""
    by_id = {one.id: one for one in facts}
    new = [
        ask
        for ask in group_asks(map(learning_mention, facts))
        if not proposed.duplicate_reason(_with_turn_ids(ask, by_id), str(path))
    ]
    added = addition(path.read_bytes(), new, desk.redact)
    if not added.operations:
        return None
    if why := edit_refusal(name, str(path), desk.host):
        raise SkilldError("The edit was not proposed", why)
    newest = [by_id[ask.said[0].id] for ask in added.asks]
    return added.data.decode("utf-8", "replace"), replace(
        _base_proposal(name, path, newest, desk.now),
        operations=added.operations,
        summary=truncate(join_sentences([one.change for one in newest]), _MAX_SUMMARY_LENGTH),
        reason="Facts stated about this project since the skill was created.",
        flags=added.flags,
    )


def _with_turn_ids(ask: Ask, told: Mapping[str, Learning]) -> Ask:
    """Return an ask with turn keys as ids, as the evidence of proposals has them."""
    return Ask(tuple(replace(one, id=told[one.id].turn_key) for one in ask.said))


def _is_unfit(fact: Learning, project: Path) -> bool:
    """Whether no skill may say this fact, by its words or by the linter with the person's quote."""
    if part_problem(Part(PartKind.FACT, fact.change, ()), str(project)):
        return True
    return worst_severity(lint(b"", fact.change.encode("utf-8", "replace"), fact.quote)) is Severity.REFUSE


def _find_place(name: str, project: Path, desk: _Context) -> Path:
    path = new_skill_path(name, [project], [], places_by_agent(desk.host), desk.host.home)
    if why := opt_out(path, name):
        raise SkilldError("The new skill was not proposed", why)
    proposals = desk.store.proposals.in_states([*State])
    existing = next((one for one in proposals if one.creates and one.path == str(path)), None)
    if existing is not None:
        cause = f"it was already proposed as {existing.id} ({existing.state.value})"
        raise SkilldError("The new skill was not proposed", cause)
    return path


def _base_proposal(name: str, path: Path, learnings: Sequence[Learning], now: float) -> Proposal:
    quotes = "\n".join(one.quote for one in learnings)
    identity = hashlib.sha256(f"domain\n{path}\n{quotes}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return Proposal(
        id=identity,
        batch_id=f"{MINE_PREFIX}{identity}",
        skill=name,
        path=str(path),
        operations=(),
        summary="",
        reason="",
        kind=Kind.FACT,
        evidence=tuple(Evidence(one.turn_key, one.quote) for one in learnings),
        confidence=min(one.confidence for one in learnings),
        agent=learnings[0].agent,
        session_id=learnings[0].session_id,
        model=OFFLINE,
        created_at=rfc3339(now),
    )
