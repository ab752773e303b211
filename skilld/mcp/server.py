"""The door to the MCP SDK: a server on stdin and stdout that serves the tools of a shelf."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from skilld import __version__
from skilld.errors import SkilldError
from skilld.mcp.tools import Shelf

# Whether a client may be shown the skills: agents with skills of their own load them, and would see each twice.
# Pure.
#
# Two layers, as an agent may hide one: the variables that such an agent sets on what it starts, and the name by
# which it introduces itself.

# Agent -> the name it is called by here, the variables on its children, the beginnings of its name as an MCP client.
_OWN_SKILLS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("claude-code", ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"), ("claude-code", "claude code")),
    ("codex", ("CODEX_CI", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CODEX_MANAGED_BY_NPM"), ("codex",)),
)
HAVE_SKILLS = frozenset(agent for agent, _, _ in _OWN_SKILLS)


def hidden_from(environment: Mapping[str, str], client: str = "") -> str:
    """Return the agent because of which no skill is shown, empty if they are; `client` is what it calls itself."""
    name = client.strip().lower()
    for agent, variables, names in _OWN_SKILLS:
        if any(environment.get(variable) for variable in variables) or name.startswith(names):
            return agent
    return ""


Context = ServerRequestContext[Any]


def serve(shelf: Shelf, environment: Mapping[str, str]) -> None:
    """Answer one client until it closes stdin."""
    asyncio.run(_serve(make(shelf, environment)))


def make(shelf: Shelf, environment: Mapping[str, str]) -> Server[Any]:
    """Return the server; it shows no tool to an agent that has skills of its own."""

    def hidden(context: Context) -> bool:
        client = context.session.client_params
        return bool(hidden_from(environment, client.client_info.name if client else ""))

    async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [] if hidden(context) else await asyncio.to_thread(shelf.tools)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=dict(tool.schema),
                    annotations=types.ToolAnnotations(read_only_hint=True),
                )
                for tool in tools
            ]
        )

    async def call_tool(context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        if hidden(context):
            return _answer("This agent has its own skills.", error=True)
        try:
            text = await asyncio.to_thread(shelf.call, asked.name, asked.arguments or {})
        except (SkilldError, OSError) as error:
            return _answer(str(error), error=True)
        return _answer(text)

    return Server("skilld", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def _answer(text: str, *, error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=error)


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
