"""What is said in a session, what came of it, and a model that answers right where LASTING is said."""

from __future__ import annotations

from pathlib import Path

from support.live_project import Project
from support.model_answers import CHANGE, NO_UPDATES, operations_answer, updates_answer
from support.program import Program
from support.session import LASTING, Session
from support.stub_model import Body, Reply, StubModel, request_text

CALLS = 3  # what, where, and whether it is said now


def right_answer(body: Body) -> Reply | str:
    """Answer the question that is asked."""
    asked = request_text(body)
    if asks_about_rules(body):
        return "<repeats>[]</repeats>" if "<said>" in asked else "<matters>[]</matters>"
    if "<current_skill_file>" in asked:
        return operations_answer()
    return NO_UPDATES if f"- {CHANGE}" in asked else updates_answer()


def asks_about_rules(body: Body) -> bool:
    """Whether a question is one about a session that is over: which rules it repeats, or which mattered."""
    return "<rules>" in request_text(body)


def judging(bodies: list[Body]) -> list[Body]:
    """Return the questions that judge what was said."""
    return [body for body in bodies if not asks_about_rules(body)]


def program_with(home: Path, model: StubModel, **settings: str) -> Program:
    """Return skilld set to ask `model`."""
    own = {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_MODEL": "openai/stub", "SKILLD_MODEL_BASE_URL": model.base_url}
    return Program(home, own | settings)


def teach(home: Path, project: Project, lasting: str = LASTING) -> Session:
    """Type a session of five turns."""
    session = Session(home, project)
    session.use_skill()
    session.type("Let us begin", lasting, "ok", "thanks", "go on")
    return session


def quotes(program: Program) -> list[str]:
    """Return the words behind all open proposals."""
    return [evidence["quote"] for proposal in program.json("proposals") for evidence in proposal["evidence"]]


def learned_rules(program: Program) -> list[str]:
    """Return the words of all learnings."""
    return [learning["quote"] for learning in program.json("learnings")]
