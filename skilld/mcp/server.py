"""The MCP server on stdin and stdout, with tools that list, read and recommend skills. The SDK is used only here."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from skilld import __version__
from skilld.errors import SkilldError
from skilld.mcp import agent_with_skills
from skilld.skills import Skill
from skilld.skills.draft import input_schema
from skilld.skills.write import body_of, fill_holes
from skilld.text import safe_text, truncate
from skilld.values import value_class

# The tools and their results. A skill of the kind mcp-tool is itself a tool; `{{name}}` in its body stands for an
# argument.

SKILLS = "skills"
RECOMMEND = "recommend"
_MAX_ANSWER = 100_000  # characters
_MAX_DESCRIPTION = 1024


@value_class
class Tool:
    """A tool as a client sees it."""

    name: str
    description: str
    schema: Mapping[str, Any]


class SkillTools:
    """The skills as tools; `found`, `text` and `fitting` read the disk each time they are called.

    `fitting` returns the recommendations for a task, as rows that can be JSON.
    """

    def __init__(
        self,
        found: Callable[[], Sequence[Skill]],
        text: Callable[[Skill], str],
        fitting: Callable[[str], Sequence[Mapping[str, Any]]],
    ) -> None:
        self._list_skills = found
        self._read_text = text
        self._recommend = fitting

    def tools(self) -> list[Tool]:
        """Return the tools that list, read and recommend skills, and those skills that are tools, each name once."""
        return [_SKILLS_TOOL, _RECOMMEND_TOOL, *(tool for tool, _ in self._skills_as_tools().values())]

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the result of a call. Raises SkilldError for unknown tools, unknown skills and invalid arguments."""
        if name == SKILLS:
            return self._call_skills(arguments)
        if name == RECOMMEND:
            work = arguments.get("work")
            if not isinstance(work, str) or not work.strip():
                raise SkilldError("Invalid request", "`work` must be a few words about the task")
            return json.dumps(self._recommend(truncate(work, _MAX_DESCRIPTION)), ensure_ascii=False)
        if (found := self._skills_as_tools().get(name)) is None:
            raise SkilldError("No such tool", safe_text(truncate(name, 80)))
        tool, skill = found
        return truncate(_fill(body_of(self._read_text(skill)), arguments, tool.schema), _MAX_ANSWER)

    def _skills_as_tools(self) -> dict[str, tuple[Tool, Skill]]:
        """Return the skills that are tools, by the tool's name: a client refuses two tools of one name."""
        found: dict[str, tuple[Tool, Skill]] = {}
        for skill in self._list_skills():
            if tool := _as_tool(skill):
                found.setdefault(tool.name, (tool, skill))
        return found

    def _call_skills(self, arguments: Mapping[str, Any]) -> str:
        action, wanted = arguments.get("action", "list"), arguments.get("skill_name", "")
        skills: dict[str, Skill] = {}  # by name: of two with the same one, only the first could be read
        for one in self._list_skills():
            skills.setdefault(one.name, one)
        if action == "list":
            return json.dumps([_skill_row(skill) for skill in skills.values()], ensure_ascii=False)
        if action != "read" or not isinstance(wanted, str):
            raise SkilldError("Invalid request", '`action` must be "list", or "read" with a `skill_name`')
        # Compared with names found on disk: what a client sends never becomes part of a path.
        if (skill := skills.get(wanted)) is None:
            raise SkilldError("No such skill", safe_text(truncate(wanted, 80)))
        return truncate(self._read_text(skill), _MAX_ANSWER)


_SKILLS_TOOL = Tool(
    SKILLS,
    (
        "Skills are files that describe how one kind of work is done here. List them, and read the one that fits "
        "before you start that kind of work."
    ),
    {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["list", "read"]},
            "skill_name": {"type": "string", "description": "the skill to read"},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
)

_RECOMMEND_TOOL = Tool(
    RECOMMEND,
    "Find which skills fit a task, and what the user has said about similar work before. Call this before you start.",
    {
        "type": "object",
        "properties": {"work": {"type": "string", "description": "the task, in a few words"}},
        "required": ["work"],
        "additionalProperties": False,
    },
)


def _skill_row(skill: Skill) -> dict[str, str]:
    description = truncate(safe_text(skill.front.description), _MAX_DESCRIPTION)
    return {"name": skill.name, "description": description, "source": skill.source.value}


def _as_tool(skill: Skill) -> Tool | None:
    schema = input_schema(skill.front.metadata)
    if not schema:
        return None
    name = re.sub(r"\W+", "_", skill.name, flags=re.ASCII).lower()
    return None if name in {SKILLS, RECOMMEND} else Tool(name, _skill_row(skill)["description"], schema)


def _fill(text: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if missing := [name for name in schema.get("required", ()) if name not in arguments]:
        raise SkilldError("Missing argument", ", ".join(str(name) for name in missing))
    given = {name: value for name, value in arguments.items() if value is not None}
    as_text = {name: json.dumps(value, ensure_ascii=False) for name, value in given.items()}
    return fill_holes(text, as_text | {name: value for name, value in given.items() if isinstance(value, str)})


Context = ServerRequestContext[Any]


def serve(skill_tools: SkillTools, environment: Mapping[str, str]) -> None:
    """Answer one client until it closes stdin."""
    asyncio.run(_serve(make_server(skill_tools, environment)))


def make_server(skill_tools: SkillTools, environment: Mapping[str, str]) -> Server[Any]:
    """Return the server; it shows no tools to an agent that loads skills itself."""

    def hidden(context: Context) -> bool:
        client = context.session.client_params
        return bool(agent_with_skills(environment, client.client_info.name if client else ""))

    async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [] if hidden(context) else await asyncio.to_thread(skill_tools.tools)
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
            return _result("This agent has its own skills.", error=True)
        try:
            text = await asyncio.to_thread(skill_tools.call, asked.name, asked.arguments or {})
        except (SkilldError, OSError) as error:
            return _result(str(error), error=True)
        return _result(text)

    return Server("skilld", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def _result(text: str, *, error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=error)


_LINGER_SECONDS = 30.0  # to answer requests that arrived before stdin was closed


def _note_request(message: types.JSONRPCMessage, unanswered: set[str | int | None]) -> None:
    """Note the id of a request; one that the client cancels gets no answer."""
    if isinstance(message, types.JSONRPCRequest):
        unanswered.add(message.id)
    elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
        cancelled = (message.params or {}).get("requestId")
        unanswered.difference_update([cancelled] if isinstance(cancelled, str | int) else [])


async def _serve(server: Server[Any]) -> None:
    """Serve until stdin is closed and earlier requests are answered: the SDK itself drops them at the close."""
    unanswered: set[str | int | None] = set()
    closed, done = anyio.Event(), anyio.Event()
    to_server, asked = anyio.create_memory_object_stream[SessionMessage | Exception]()
    to_client, answered = anyio.create_memory_object_stream[SessionMessage]()

    async def ask() -> None:
        async with to_server:
            async for one in incoming:
                if isinstance(one, SessionMessage):
                    _note_request(one.message, unanswered)
                await to_server.send(one)
            closed.set()
            if unanswered:
                with anyio.move_on_after(_LINGER_SECONDS):
                    await done.wait()

    async def answer() -> None:
        async with outgoing:
            async for one in answered:
                await outgoing.send(one)
                if isinstance(one.message, types.JSONRPCResponse | types.JSONRPCError):
                    unanswered.discard(one.message.id)
                if closed.is_set() and not unanswered:
                    done.set()

    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(answer)
        await server.run(asked, to_client, server.create_initialization_options())
