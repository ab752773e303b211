"""Proposes a rule that was accepted for one agent for the other agents of the project that do not load it.

Each rule is offered once per file, as an ordinary proposal. The file that it came from is not changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.classify.said_already import says_already
from skilld.clock import parse_time
from skilld.context import Context
from skilld.context.installed import installed_version
from skilld.effect.remedy_edits import RemedyContext, edit_proposal, in_same_repository, rule_edit
from skilld.effect.rule_lines import text_of
from skilld.effect.rules import Rule, rules
from skilld.errors import SkilldError
from skilld.pipeline.documents import load_documents, session_opt_out
from skilld.proposals.model import ACROSS_PREFIX, heard_by
from skilld.store.proposals import SAID_ELSEWHERE_PREFIX, UNWANTED_STATES
from skilld.targets.find import WorkingSession, find_targets, project_refusal
from skilld.targets.session_work import SessionWork
from skilld.text import fold, fold_case, join_words
from skilld.types import Kind, Proposal, SkillRef, State, TargetKind, Update
from skilld.values import value_class

MAX_AGE_SECONDS = 30 * 86400.0  # the other agents have managed without an older rule


@value_class
class _Offer:
    """A rule of an accepted proposal, an agent that does not load it, and a file that this agent would load."""

    rule: Rule
    origin: Proposal
    agent: str
    ref: SkillRef


def offers(around: RemedyContext, accepted_at: Callable[[str], str]) -> Iterator[Proposal]:
    """Yield proposals for rules recently accepted into a project's instructions that another agent does not load.

    `accepted_at` returns when a proposal was accepted (RFC 3339). An offer that the person has decided on is not
    repeated.
    """
    known = {one.batch_id for one in around.proposals.values()}
    accepted = [
        (one, at)
        for one in around.proposals.values()
        if one.state is State.ACCEPTED
        and one.target is TargetKind.INSTRUCTIONS
        and one.kind is not Kind.REMOVE_STEP
        and one.evidence
        and (at := parse_time(accepted_at(one.id) or one.decided_at) or 0.0) > around.now - MAX_AGE_SECONDS
    ]
    for rule in rules(accepted, [], text_of):
        origin = around.proposals[rule.proposal]
        for offer in _find_offers(rule, origin, around):
            place = f"{offer.ref.path}\n{fold_case(rule.text)}".encode("utf-8", "surrogatepass")
            batch = ACROSS_PREFIX + hashlib.sha256(place).hexdigest()[:16]
            if batch not in known and not _was_refused(offer.ref, around):
                known.add(batch)
                try:
                    draft = _draft(offer, batch, around)
                except SkilldError:  # a check refuses the edit, or the project has invalid settings
                    draft = None
                if draft is not None:
                    yield draft


def _find_offers(rule: Rule, origin: Proposal, around: RemedyContext) -> Iterator[_Offer]:
    """Yield an offer for each agent of the project that loads the rule from no file."""
    folder = Path(rule.folder)
    agents = [name for name in around.agents_in(rule.folder) if name in ADAPTERS]
    for agent in agents:
        session = _session(agent, folder, agents, around)
        context = session.context()
        if project_refusal(session, context) or context.source == "not known" or _is_loaded(context, rule):
            continue
        found = find_targets(session, {TargetKind.INSTRUCTIONS} & set(around.allowed)).refs
        reads = ADAPTERS[agent].INFO.instructions
        for ref in found[:1]:
            is_read = not ref.absent or Path(ref.path).name in reads
            if is_read and ref.path != rule.path and in_same_repository(rule.path, ref.path, absent=ref.absent):
                yield _Offer(rule, origin, agent, ref)


def _session(agent: str, folder: Path, agents: Sequence[str], around: RemedyContext) -> WorkingSession:
    environment: Mapping[str, str] = around.host.environment
    worked = SessionWork(installed_version(ADAPTERS[agent].INFO, environment))
    others = tuple(name for name in agents if name != agent)
    return WorkingSession(agent, folder, around.host.home, environment, worked, others)


def _is_loaded(context: Context, rule: Rule) -> bool:
    """Whether an agent loads the file of a rule, or another file that says the same."""
    return any(one.real == rule.path or says_already(rule.text, one.text) for one in context.files if one.entered)


def _was_refused(ref: SkillRef, around: RemedyContext) -> bool:
    """Whether the person declined to have this file created: a second rule is no reason to ask again."""
    made: Iterable[Proposal] = around.proposals.values() if ref.absent else ()
    return any(one.path == ref.path and one.creates and one.state in {*UNWANTED_STATES, State.OPEN} for one in made)


def _draft(offer: _Offer, batch: str, around: RemedyContext) -> Proposal | None:
    rule, origin, ref = offer.rule, offer.origin, offer.ref
    files, _ = load_documents([ref])
    if not files or session_opt_out(rule.folder):
        return None
    said = next((one.quote for one in origin.updates if says_already(one.change, rule.text)), origin.evidence[0].quote)
    update = Update(1, "", rule.text, "", Kind.CORRECTION, 1, said)
    if around.is_known(update, ref.path, origin.session_id):
        return None
    composed = rule_edit(update, files[0], "\n".join(one.quote for one in origin.evidence), around)
    to = ADAPTERS[offer.agent].INFO.title
    summary = f"Tell {to} this too: {fold(rule.text)}"
    reason = f"You accepted this for {origin.skill} ({origin.id}), which {to} does not load in this project."
    made = edit_proposal(batch, files[0], composed, summary, reason, origin.evidence, around)
    return replace(
        made,
        confidence=origin.confidence,
        agent=origin.agent,
        session_id=origin.session_id,
        flags=(*made.flags, *_said_elsewhere(offer)),
    )


def _said_elsewhere(offer: _Offer) -> Iterator[str]:
    """Yield a flag that names the agents that it was said to, unless the one that is to be told is among them."""
    heard = heard_by(offer.origin)
    if offer.agent not in heard:
        titles = [ADAPTERS[name].INFO.title for name in heard if name in ADAPTERS] or ["another agent"]
        yield f"{SAID_ELSEWHERE_PREFIX}{join_words(titles)}, not to {ADAPTERS[offer.agent].INFO.title}"
