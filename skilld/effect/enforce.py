"""Drafts hooks that would enforce a rule. Returns text; never installs anything. Pure.

A hook sees commands, so that only a rule which turns a program down has a draft.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from skilld.classify.offline.choices import chosen_part, turned_down
from skilld.text import fold
from skilld.words import denies

# What a rule may turn down that is called by its name.
_PROGRAMS = frozenset(
    """
    npm npx yarn pnpm bun pip pip3 pipenv poetry uv conda unittest pytest jest vitest mocha tox nox docker podman git
    curl wget rm sudo ruff flake8 pylint mypy eslint prettier tsc webpack vite cmake gradle mvn brew apt
    apt-get sed awk grep rg
    """.split()  # noqa: SIM905 - as words
)
_WORD = re.compile(r"[\w.+-]+")
_SPAN = re.compile(r"`([\w.+-]+(?: [\w./=+-]+)*)`")


@dataclass(frozen=True, slots=True)
class Check:
    """A draft: for which agent, into which file it would go, and its text."""

    agent: str
    file: str
    text: str


def checks(rule: str, agents: Collection[str]) -> list[Check]:
    """Return a draft for each of these agents that can check commands; none where a rule turns no program down."""
    commands = list(dict.fromkeys(_refused(rule)))
    drafts = [Check("claude-code", ".claude/settings.json", _claude_code(rule, commands))]
    drafts.append(Check("codex", ".codex/rules/skilld.rules", _codex(rule, commands)))
    return [one for one in drafts if one.agent in agents and commands]


def _refused(rule: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands that a rule turns down: a program, or what stands in a code span behind a no."""
    part = turned_down(rule) or (rule if denies(chosen_part(rule)) else "")
    for command in _SPAN.findall(part):
        yield tuple(command.split(" "))
    for word in _WORD.findall(_SPAN.sub(" ", part)):
        if (name := word.lower().strip(".+-")) in _PROGRAMS:
            yield (name,)


def _claude_code(rule: str, commands: Collection[tuple[str, ...]]) -> str:
    """Return a hook on the command line, which comes as JSON on standard input; what it prints goes to the agent."""
    found = "|".join('[^"]* '.join(re.escape(word).replace(r"\-", "-") for word in command) for command in commands)
    pattern = f'"command": ?"([^"]*[;&|(] *)?({found})[ ";&|)]'
    script = f"grep -qE {shlex.quote(pattern)} && {{ echo {shlex.quote(fold(rule))} >&2; exit 2; }}; exit 0"
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": script}]}
    return json.dumps({"hooks": {"PreToolUse": [hook]}}, indent=2, ensure_ascii=False)


def _codex(rule: str, commands: Collection[tuple[str, ...]]) -> str:
    said = json.dumps(fold(rule), ensure_ascii=False)
    return "\n".join(
        f'prefix_rule(pattern = {json.dumps(list(command))}, decision = "forbidden", justification = {said})'
        for command in commands
    )
