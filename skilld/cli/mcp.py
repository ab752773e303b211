"""`skilld mcp`: an MCP server on stdin and stdout that lists and reads skills; the agent starts it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from dataclasses import asdict

from skilld import console
from skilld.cli import common, inventory
from skilld.errors import RefusedError
from skilld.skills import text


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    if arguments.config:
        return _config(arguments.config)
    from skilld.cli.recommend import find_recommendations
    from skilld.mcp.server import SkillTools, serve

    project = common.resolve_folder(arguments.project)
    if sys.stdin.isatty():
        sys.stderr.write("Agents start this command and speak MCP to it. To quit: Ctrl-D\n")
        sys.stderr.write("To set one up: skilld mcp --config AGENT\n")
    tools = SkillTools(
        lambda: inventory.skills_to_offer(inventory.all_skills([project]), project),
        lambda skill: text(skill.path),
        lambda work: [asdict(one) for one in find_recommendations(work, project)],
    )
    serve(tools, os.environ)
    return 0


def _config(agent: str) -> int:
    from skilld.mcp import AGENTS_WITH_SKILLS

    if agent in AGENTS_WITH_SKILLS:
        cause = f"{agent} loads skills itself and would see each one twice"
        raise RefusedError("This agent does not need skilld mcp", cause, "Use the agent's own skills.")
    program = shutil.which("skilld") or sys.argv[0]
    console.line(json.dumps({"mcpServers": {"skilld": {"command": program, "args": ["mcp"]}}}, indent=2))
    return 0
