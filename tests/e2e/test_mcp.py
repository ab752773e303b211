"""The MCP server as the SDK's own client sees it, over stdio."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skilld.mcp import agent_with_skills
from support.program import Program
from support.rows import for_each

if TYPE_CHECKING:  # each process of a run imports this file, and one runs it
    from mcp.client.session import ClientSession

    Talk = Callable[[ClientSession], Awaitable[Any]]


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    _skill(root / ".claude/skills/notes", "Writes the notes.", "# Notes\n\nBe brief.\n")
    _skill(home / ".agents/skills/mine", "Of my own.", "# Mine\n")
    schema = json.dumps({"type": "object", "properties": {"tag": {"type": "string"}}, "required": ["tag"]})
    more = f"metadata:\n  skilld-kind: mcp-tool\n  skilld-input-schema: '{schema}'\n"
    _skill(
        root / ".claude/skills/release-note", "Writes one note.", "Write the note of {{ tag }} and {{other}}.\n", more
    )
    return root


def _skill(folder: Path, description: str, body: str, more: str = "") -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: {description}\n{more}---\n{body}")


def _talk(program: Program, folder: Path, talk: Talk) -> Any:
    import mcp_types as types
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def session() -> Any:
        arguments = ["-m", "skilld", "mcp", "--project", str(folder)]
        command = StdioServerParameters(command=sys.executable, args=arguments, env=program.environment)
        async with stdio_client(command) as (read, write):
            info = types.Implementation(name="goose", version="1")
            async with ClientSession(read, write, client_info=info) as asked:
                await asked.initialize()
                return await talk(asked)

    return asyncio.run(session())


def _call(name: str, arguments: Mapping[str, Any]) -> Talk:
    import mcp_types as types

    async def call(session: ClientSession) -> tuple[bool, str]:
        result = await session.call_tool(name, dict(arguments))
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return bool(result.is_error), content.text

    return call


def _answers(program: Program, folder: Path, *calls: Mapping[str, str], client: str = "goose") -> list[dict[str, Any]]:
    """Return the list of tools and the results of calls of `skills`, all requested before standard input is closed."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": client, "version": "1"}}
    asked: list[tuple[str, dict[str, Any]]] = [("initialize", hello), ("tools/list", {})]
    asked += [("tools/call", {"name": "skills", "arguments": {**arguments}}) for arguments in calls]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given}) + "\n"
        for number, (method, given) in enumerate(asked)
    ]
    result = program.run("mcp", "--project", str(folder), typed="".join(lines))
    found = {answer["id"]: answer["result"] for answer in map(json.loads, result.stdout.splitlines())}
    assert (result.returncode, sorted(found)) == (0, [*range(len(asked))])
    return [found[number] for number in range(1, len(asked))]


def _names(tools: Mapping[str, Any]) -> list[str]:
    return [tool["name"] for tool in tools["tools"]]


def _rows(called: Mapping[str, Any]) -> list[dict[str, str]]:
    (content,) = called["content"]
    return list(json.loads(content["text"]))


_LIST = {"action": "list"}


def test_only_skills_are_listed_and_read(program: Program, folder: Path) -> None:
    async def talk(session: ClientSession) -> tuple[Any, ...]:
        listed = await _call("skills", {"action": "list"})(session)
        read = await _call("skills", {"action": "read", "skill_name": "notes"})(session)
        unlisted = {
            name: await _call("skills", {"action": "read", "skill_name": name})(session)
            for name in ("../../secret", "/etc/passwd", "nosuch", "", "notes/../mine")
        }
        tool = [
            await _call("release_note", {"tag": "v2"})(session),
            await _call("release_note", {"tag": ["\u00e9"]})(session),
            await _call("release_note", {"other": "x"})(session),
            await _call("recommend", {"work": "write notes"})(session),
        ]
        names = [tool.name for tool in (await session.list_tools()).tools]
        return names, listed, read, unlisted, tool

    names, (failed, listed), (_, text), unlisted, tool = _talk(program, folder, talk)
    assert {(refused, words.partition(":")[0]) for refused, words in unlisted.values()} == {(True, "No such skill")}
    assert names == ["skills", "recommend", "release_note"]
    assert not failed
    assert [(row["name"], row["source"]) for row in json.loads(listed)] == [
        ("notes", "project"),
        ("release-note", "project"),
        ("mine", "user"),
    ]
    assert text.endswith("---\n# Notes\n\nBe brief.\n")
    filled, listing, missing, (failed, recommended) = tool
    assert filled == (False, "Write the note of v2 and {{other}}.\n")
    assert listing == (False, 'Write the note of ["\u00e9"] and {{other}}.\n')
    assert missing == (True, "Missing argument: tag")
    assert not failed
    assert json.loads(recommended)[0]["skill"] == "notes"


def test_of_two_skills_with_one_name_the_first_is_listed(program: Program, folder: Path) -> None:
    """Clients refuse a list with two tools of one name, and only the first skill could be read."""
    tool = (folder / ".claude/skills/release-note/SKILL.md").read_text().replace("Writes one note.", "My copy.")
    copy = program.home / ".agents/skills/release-note/SKILL.md"
    copy.parent.mkdir()
    copy.write_text(tool)

    tools, listed = _answers(program, folder, _LIST)
    assert _names(tools) == ["skills", "recommend", "release_note"]
    said = {row["name"]: row["description"] for row in _rows(listed)}
    assert (len(_rows(listed)), said["release-note"]) == (3, "Writes one note.")


@pytest.mark.parametrize(("cancelled", "left"), [(7, []), ([7], [7]), (8, [7])])
def test_a_cancelled_request_is_not_waited_for(cancelled: object, left: list[int]) -> None:
    """It gets no answer, and the server stayed half a minute after its client was gone."""
    import mcp_types as types

    from skilld.mcp.server import _note_request

    unanswered: set[str | int | None] = set()
    _note_request(types.JSONRPCRequest(jsonrpc="2.0", id=7, method="tools/list"), unanswered)
    said = {"requestId": cancelled}
    note = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=said)
    _note_request(note, unanswered)
    assert sorted(unanswered, key=str) == left


def test_requests_sent_before_stdin_closed_are_answered(program: Program, folder: Path) -> None:
    _, *listed = _answers(program, folder, _LIST, _LIST, _LIST)
    assert [len(_rows(one)) for one in listed] == [3, 3, 3]


def test_a_disabled_skill_is_not_listed(program: Program, folder: Path) -> None:
    for skill in (folder / ".claude/skills/release-note", program.home / ".agents/skills/mine"):
        assert program.run("skills", "disable", str(skill)).returncode == 0

    tools, listed, read = _answers(program, folder, _LIST, {"action": "read", "skill_name": "mine"})
    assert (_names(tools), read["isError"]) == (["skills", "recommend"], True)
    assert [row["name"] for row in _rows(listed)] == ["notes"]


@for_each(
    ("variable", "client", "agent"),
    [
        ("CLAUDECODE", "goose", "claude-code"),
        ("CODEX_THREAD_ID", "goose", "codex"),
        ("PATH", "claude-code", "claude-code"),
        ("PATH", "codex-mcp-client", "codex"),
        ("PATH", "goose", ""),
    ],
)
def test_an_agent_with_its_own_skills_is_recognized(variable: str, client: str, agent: str) -> None:
    assert agent_with_skills({variable: "1"}, client) == agent


@pytest.mark.parametrize(("more", "client"), [({"CLAUDECODE": "1"}, "goose"), ({}, "codex-mcp-client")])
def test_agents_with_their_own_skills_are_shown_none(
    program: Program, folder: Path, more: Mapping[str, str], client: str
) -> None:
    program.environment |= more
    tools, listed = _answers(program, folder, _LIST, client=client)
    assert (_names(tools), listed["isError"]) == ([], True)


def test_the_settings_are_printed_only_for_other_agents(program: Program) -> None:
    assert json.loads(program.run("mcp", "--config", "goose").stdout)["mcpServers"]["skilld"]["args"] == ["mcp"]
    assert program.run("mcp", "--config", "claude-code").returncode == 5
