"""Collects the facts stated about configured projects, and proposes a domain skill for each.

Learnings and folders in; for each project a proposal, or the reason for none. The checks are those of mined
candidates: no secret, the linter with the person's quotes, a free path. If the skill was accepted before, newer facts
are proposed as an edit of it.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.classify.said_already import says_already
from skilld.clock import local_day, rfc3339
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.lint import Severity, lint, worst_severity
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.library.clusters import Ask, group_asks, is_about_layout, learning_mention
from skilld.mining.dedup import ProposalHistory
from skilld.mining.new_skill import checked_text, edit_refusal, part_problem, places_by_agent, section
from skilld.mining.values import MiningContext, Part, PartKind
from skilld.proposals.amend import stage_and_store
from skilld.proposals.model import MINE_PREFIX
from skilld.skills.draft import Draft, SkillKind
from skilld.skills.write import new_skill_path
from skilld.store.learnings import Learning
from skilld.text import join_sentences, one_line, pluralize, truncate
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State
from skilld.values import value_class
from skilld.words import has_negation

# A new skill of the facts about a project that belong to no other skill. The quotes of its learnings are its evidence.

MIN_FACTS = 2  # a single one belongs in the project's documents
MAX_FACTS = 60
MAX_NEW_FACTS = 10  # at once in a skill that was accepted before: more are not reviewed well
_MAX_FACT_LENGTH = 600  # characters of one fact
_MAX_DESCRIBED_LENGTH = 120  # of one fact in the description
_SECTIONS = ("Layout", "Conventions", "Pitfalls")


def draft_domain_skill(
    project: Path, facts: Iterable[Learning], *, day: str
) -> tuple[Draft, tuple[Learning, ...]] | None:
    """Return the skill of these facts about `project` (a folder) with the newest learning for each of its lines.

    None if there are too few. A fact stated several times appears once, in its newest words. `day` is YYYY-MM-DD.
    """
    by_id = {one.id: one for one in facts}
    newest = [by_id[ask.said[0].id] for ask in group_asks(map(learning_mention, by_id.values()))][:MAX_FACTS]
    if len(newest) < MIN_FACTS:
        return None
    sections = {title: [one for one in newest if section_of(one.change) == title] for title in _SECTIONS}
    name = one_line(project.name)
    kept = [one for title in _SECTIONS for one in sections[title]]
    said = "; ".join(truncate(one_line(one.change), _MAX_DESCRIBED_LENGTH).rstrip(" .!;:,") for one in kept[:3])
    lines = [f"# {name}"]
    for title, found in sections.items():
        lines += section(title, [f"- {fact_line(one.change)}" for one in found])
    draft = Draft(
        name=skill_name(project),
        description=f"Facts about {name}: {said}. Use when working in {name}.",
        body="\n".join(lines),
        kind=SkillKind.KNOWLEDGE,
        project=name,
        date=day,
        origin="mined",
    )
    return draft, tuple(kept)


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


def propose_domain_skills(
    projects: Sequence[Path], world: MiningContext, *, said: Collection[str] = (), dry_run: bool = False
) -> Iterator[DomainResult]:
    """Yield the outcome for each project with enough facts; turns in `said` already belong to another candidate."""
    learnings = [one for one in world.store.learnings.said() if one.turn_key not in said]
    for project in projects:
        facts = [one for one in project_facts(project, learnings) if not _is_unfit(one, project)]
        proposed = world.store.proposals.in_states([*State])
        there = _accepted_skill(project, proposed)
        made = DomainResult(project, skill_name(project), action="create" if there is None else "extend")
        try:
            drafted = (
                _creation(project, facts, proposed, world)
                if there is None
                else _extension(made.name, there, facts, proposed, world)
            )
            if drafted is None:
                continue
            text, proposal = drafted
            made = replace(made, text=text)
            if not dry_run:
                made = replace(made, proposal=stage_and_store(world.store, proposal).id)
        except SkilldError as error:
            made = replace(made, why_not=str(error))
        yield made


def _accepted_skill(project: Path, proposed: Sequence[Proposal]) -> Path | None:
    """Return the project's skill of facts if it was accepted and still exists."""
    paths = [Path(one.path) for one in proposed if one.creates and one.state is State.ACCEPTED]
    fit = (path for path in paths if path.parent.name == skill_name(project) and path.is_relative_to(project))
    return next((path for path in fit if path.is_file()), None)


def _creation(
    project: Path, facts: Sequence[Learning], proposed: Sequence[Proposal], world: MiningContext
) -> tuple[str, Proposal] | None:
    """Return the text of a new skill and its proposal, None if there are too few facts for one."""
    found = draft_domain_skill(project, facts, day=local_day(time.time()))
    if found is None:
        return None
    draft, learnings = found
    text, flags = checked_text(draft, "\n".join(one.quote for one in learnings), world.redact)
    path = new_skill_path(draft.name, [project], [], places_by_agent(world.host), world.host.home)
    if known := next((one for one in proposed if one.creates and one.path == str(path)), None):
        cause = f"it was already proposed as {known.id} ({known.state.value})"
        raise SkilldError("The new skill was not proposed", cause)
    sessions = len({one.session_id for one in learnings})
    return text, replace(
        _base_proposal(draft.name, path, learnings),
        operations=(Operation(Op.CREATE, "", text),),
        summary=truncate(f"New skill: {draft.description}", _MAX_SUMMARY_LENGTH),
        reason=f"No skill covers these facts about this project, stated in {pluralize(sessions, 'session')}.",
        flags=flags,
    )


def _extension(
    name: str, path: Path, facts: Sequence[Learning], proposed: Sequence[Proposal], world: MiningContext
) -> tuple[str, Proposal] | None:
    """Return the text of a skill with newer facts and the proposal of this edit, None if there is nothing to add.

    Each fact is a bullet in the section of its kind; those that the skill already says, or that the linter refuses, are
    left out.
    """
    by_id = {one.id: one for one in facts}
    history, data = ProposalHistory(proposed), path.read_bytes()
    added: list[Learning] = []
    operations: list[Operation] = []
    flags: dict[str, None] = {}
    for ask in group_asks(map(learning_mention, facts)):
        line = fact_line(ask.text)
        as_quoted = Ask(tuple(replace(one, id=by_id[one.id].turn_key) for one in ask.said))  # evidence names the turns
        known = history.duplicate_reason(as_quoted, str(path)) or world.redact(line) != line
        if known or len(added) == MAX_NEW_FACTS or says_already(line, data.decode("utf-8", "replace")):
            continue
        operation = insert_bullet(data, section_of(ask.text), line)
        try:
            after = apply(data, [operation])
        except SkilldError:  # the file or the edit would exceed a limit
            continue
        findings = lint(data, after, "\n".join(one.quote for one in ask.said))
        if worst_severity(findings) is not Severity.REFUSE:
            data = after
            added.append(by_id[ask.said[0].id])
            operations.append(operation)
            flags |= dict.fromkeys(one.sentence for one in findings)
    if not added:
        return None
    if why := edit_refusal(name, str(path), world.host):
        raise SkilldError("The edit was not proposed", why)
    return data.decode("utf-8", "replace"), replace(
        _base_proposal(name, path, added),
        operations=tuple(operations),
        summary=truncate(join_sentences([one.change for one in added]), _MAX_SUMMARY_LENGTH),
        reason="Facts stated about this project since the skill was created.",
        flags=tuple(flags),
    )


def _is_unfit(fact: Learning, project: Path) -> bool:
    """Whether no skill may say this fact, by its words or by the linter with the person's quote."""
    if part_problem(Part(PartKind.FACT, fact.change, ()), str(project)):
        return True
    return worst_severity(lint(b"", fact.change.encode("utf-8", "replace"), fact.quote)) is Severity.REFUSE


def _base_proposal(name: str, path: Path, learnings: Sequence[Learning]) -> Proposal:
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
        created_at=rfc3339(time.time()),
    )
