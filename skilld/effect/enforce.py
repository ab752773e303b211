"""Drafts hooks that would enforce a rule. Returns text; never installs anything. Pure.

A hook sees only commands, so only a rule that forbids a program has a draft.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator

from skilld.classify.offline.choices import chosen_part, refused_part
from skilld.text import fold
from skilld.values import value_class
from skilld.words import has_negation

# Programs that a rule may forbid by name.
_PROGRAMS = frozenset(
    """
    npm npx yarn pnpm bun pip pip3 pipenv poetry uv conda unittest pytest jest vitest mocha tox nox docker podman git
    curl wget rm sudo ruff flake8 pylint mypy eslint prettier tsc webpack vite cmake gradle mvn brew apt
    apt-get sed awk grep rg
    """.split()  # noqa: SIM905 - as words
)
_WORD = re.compile(r"[\w.+-]+")
_CODE_SPAN = re.compile(r"`([\w.+-]+(?: [\w./=+-]+)*)`")


@value_class
class HookDraft:
    """A draft of a hook: the agent it is for, the file it would go into, and its text."""

    agent: str
    file: str
    text: str


def draft_hooks(rule: str, agents: Collection[str]) -> list[HookDraft]:
    """Return a draft for each of these agents that can check commands; none if the rule forbids no program."""
    commands = list(dict.fromkeys(_forbidden_commands(rule)))
    drafts = [HookDraft("claude-code", ".claude/settings.json", _claude_code_hook(rule, commands))]
    drafts.append(HookDraft("codex", ".codex/rules/skilld.rules", _codex_rules(rule, commands)))
    return [one for one in drafts if one.agent in agents and commands]


def _forbidden_commands(rule: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands that a rule forbids: a program, or a code span after a negation."""
    part = refused_part(rule) or (rule if has_negation(chosen_part(rule)) else "")
    for command in _CODE_SPAN.findall(part):
        yield tuple(command.split(" "))
    for word in _WORD.findall(_CODE_SPAN.sub(" ", part)):
        if (name := word.lower().strip(".+-")) in _PROGRAMS:
            yield (name,)


def _claude_code_hook(rule: str, commands: Collection[tuple[str, ...]]) -> str:
    """Return a hook that checks the command line, JSON on its standard input; its output goes to the agent."""
    found = "|".join('[^"]* '.join(re.escape(word).replace(r"\-", "-") for word in command) for command in commands)
    pattern = f'"command": ?"([^"]*[;&|(] *)?({found})[ ";&|)]'
    script = f"grep -qE {shlex.quote(pattern)} && {{ echo {shlex.quote(fold(rule))} >&2; exit 2; }}; exit 0"
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": script}]}
    return json.dumps({"hooks": {"PreToolUse": [hook]}}, indent=2, ensure_ascii=False)


def _codex_rules(rule: str, commands: Collection[tuple[str, ...]]) -> str:
    said = json.dumps(fold(rule), ensure_ascii=False)
    return "\n".join(
        f'prefix_rule(pattern = {json.dumps(list(command))}, decision = "forbidden", justification = {said})'
        for command in commands
    )
