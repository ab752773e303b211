"""A skill that does not exist yet, and how it is proposed in a real repository."""

from __future__ import annotations

from typing import Any

from skilld.proposals.model import ProposalCommit, ProposeOutcome
from skilld.skills.write import compose
from skilld.types import Kind, Op, Operation, Proposal, State
from support.proposals import make_proposal
from support.repos import AT, Harness, Person, create_skill

NEW_SKILL = ".claude/skills/deploy/SKILL.md"
NEW_TEXT = compose("deploy", "How we deploy to staging.", "# Deploy\n\n- Ask before a deploy.\n- Watch the graphs.", {})
OTHER_TEXT = compose("deploy", "How we deploy to staging.", "# Deploy\n\n- Deploy on Mondays only.", {})


def propose_new(
    harness: Harness, name: str = "n1", relpath: str = NEW_SKILL, text: str = NEW_TEXT, **other: Any
) -> ProposeOutcome:
    path = harness.person.root / relpath
    facts = {"path": path, "skill": path.parent.name, "creates": True, "summary": f"new skill: say {name}"}
    return harness.propose(name, create_skill(text), **(facts | other))


def commit_new(
    harness: Harness, name: str = "n1", relpath: str = NEW_SKILL, text: str = NEW_TEXT, **other: Any
) -> ProposalCommit:
    outcome = propose_new(harness, name, relpath, text, **other)
    assert isinstance(outcome, ProposalCommit), outcome
    return outcome


def new_proposal(
    person: Person, name: str = "n1", relpath: str = NEW_SKILL, text: str = NEW_TEXT, **other: Any
) -> Proposal:
    """Return a proposal of a new skill as mining hands it over for staging."""
    path = person.root / relpath
    facts: dict[str, Any] = {
        "id": name,
        "batch_id": f"batch-{name}",
        "state": State.OPEN,
        "skill": path.parent.name,
        "path": str(path),
        "operations": (Operation(Op.CREATE, "", text),),
        "summary": f"say {name}",
        "kind": Kind.ADD_STEP,
        "created_at": AT,
    }
    return make_proposal(**(facts | other))
