"""`skilld chat --skill NAME`: chat with your configured model, using skills as its instructions."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from skilld import console
from skilld.classify.backends import OFFLINE
from skilld.classify.backends.agent_cli.clients import PREFIX
from skilld.classify.backends.model import Model
from skilld.classify.backends.paid_calls import charged_to
from skilld.cli import common, inventory
from skilld.errors import UsageError
from skilld.skills import Skill
from skilld.store.budget import Account


def run(arguments: argparse.Namespace) -> int:
    """Chat until the input ends, or the day's budget."""
    model = _model()
    redact = common.redactor()
    chosen = [_find_skill(name, common.resolve_folder(arguments.project)) for name in arguments.skill]
    texts = [f"Follow this skill where it applies.\n\n{redact(inventory.skill_text(skill))}" for skill in chosen]
    messages = [{"role": "system", "content": text} for text in texts]
    account = Account(common.store(), common.settings().budget, chosen[0].name if chosen else "")
    with charged_to(account.charge):
        for said in [" ".join(arguments.text)] if arguments.text else _read_lines():
            messages.append({"role": "user", "content": redact(common.as_text(said))})
            pieces = []
            for piece in model.stream_chat(messages):
                pieces.append(piece)
                console.write_part(piece)
            console.line()
            messages.append({"role": "assistant", "content": "".join(pieces)})
    return 0


def _model() -> Model:
    """Return the configured model. Raises UsageError if it cannot hold a conversation."""
    from skilld.settings import choose_back_end

    choice = choose_back_end(common.settings(), os.environ, in_job=False)
    if choice.spec.model == OFFLINE or choice.spec.model.startswith(PREFIX):
        remedy = "For example: skilld config set model openai/gpt-5-mini"
        cause = f"the configured judge, {choice.name}, cannot hold a conversation"
        raise UsageError("No model to chat with", cause, remedy)
    return Model(choice.spec)


def _find_skill(name: str, project: Path) -> Skill:
    skills = inventory.offered_skills(inventory.all_skills([project]))
    found = next((skill for skill in skills if skill.name == name), None)
    if found is None:
        known = ", ".join(sorted({skill.name for skill in skills})) or "none"
        remedy = "A skill of another project: add --project FOLDER"
        raise UsageError("No such skill here", f"{common.as_text(name)}; available: {known}", remedy)
    return found


def _read_lines() -> Iterator[str]:
    with suppress(EOFError):
        while True:
            if said := input("> " if sys.stdin.isatty() else "").strip():
                yield said
