"""A model that answers right, for sessions that say LASTING in their second turn; and skilld set to ask it."""

from __future__ import annotations

import json
from pathlib import Path

from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.stub_model import Body, Reply, StubModel, said

CHANGE = "Always put the ticket number first in each entry."
UPDATE = {"skill": 1, "section": "Style", "change": CHANGE, "reason": "", "kind": "preference", "turn": 2}
UPDATES = f"<updates>{json.dumps([{**UPDATE, 'quote': LASTING, 'confidence': 0.9}])}</updates>"
OPERATION = {"op": "insert_after", "anchor": "- No marketing words.", "text": f"- {CHANGE}"}
OPERATIONS = f"<operations>{json.dumps([OPERATION])}</operations>"
CALLS = 3  # what, where, and whether it is said now


def right(body: Body) -> Reply | str:
    """Answer the question that is asked."""
    asked = said(body)
    if "<current_skill_file>" in asked:
        return OPERATIONS
    return "<updates>[]</updates>" if f"- {CHANGE}" in asked else UPDATES


def asking(home: Path, model: StubModel, **settings: str) -> Program:
    """Return skilld set to ask `model`."""
    own = {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_MODEL": "openai/stub", "SKILLD_MODEL_BASE_URL": model.base_url}
    return Program(home, own | settings)


def teach(home: Path, project: Project) -> Session:
    """Type a session of five turns."""
    session = Session(home, project)
    session.use_skill()
    session.type("Let us begin", LASTING, "ok", "thanks", "go on")
    return session
