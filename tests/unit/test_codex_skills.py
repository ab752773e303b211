"""Which skills Codex records show in use: blocks, mentions, and commands that print a SKILL.md."""

from __future__ import annotations

import json

from skilld.agents.codex.skills import block_use, call_uses, execution_uses, mention_uses
from skilld.agents.skill_reads import resolve, skills_read
from support.rows import for_each
from support.tables import table_rows


def test_commands_that_print_a_skill_are_skill_uses() -> None:
    for command, paths in table_rows("codex_skills", "commands that print a skill"):
        assert ", ".join(skills_read(command, "/w")) == paths


@for_each(
    ("path", "cwd", "resolved"),
    [
        ("a/SKILL.md", "/w", "/w/a/SKILL.md"),
        ("../a/SKILL.md", "/w/x", "/w/a/SKILL.md"),
        ("a/SKILL.md", "file:///w/my%20shop", "/w/my shop/a/SKILL.md"),
        ("a/SKILL.md", "file:///C:/w", "C:\\w\\a\\SKILL.md"),
        ("a\\SKILL.md", "c:\\w", "c:\\w\\a\\SKILL.md"),
        ("/s/a/SKILL.md", None, "/s/a/SKILL.md"),
        ("~/s/SKILL.md", None, "~/s/SKILL.md"),
        ("a/SKILL.md", None, None),
        ("a/SKILL.md", "relative", None),
        ("$X/SKILL.md", "/w", None),
        ("a\0/SKILL.md", "/w", None),
        ("a/SKILL.md", "file:///w%00", None),
        ("", "/w", None),
        ("a" * 2000, "/w", None),
    ],
)
def test_paths_are_resolved_without_touching_the_disk(path: str, cwd: str | None, resolved: str | None) -> None:
    assert resolve(path, cwd) == resolved


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}


@for_each(
    "record",
    [
        call("exec_command", cmd="cat a/SKILL.md", workdir="/w"),
        call("exec_command", cmd="cat ../w/a/SKILL.md", workdir="../w"),
        call("shell_command", command="cat a/SKILL.md"),
        call("shell", command=["bash", "-lc", "cat a/SKILL.md"], workdir="/w"),
        call("shell", command=["cat", "a/SKILL.md"]),
        call("bash", script="cat a/SKILL.md", cwd="/w"),
        call("read_file", file_path="/w/a/SKILL.md"),
        {"type": "local_shell_call", "action": {"command": ["cat", "a/SKILL.md"], "working_directory": "/w"}},
        {
            "type": "custom_tool_call",
            "name": "exec",
            "input": 'text(await tools.exec_command({"cmd":"cat a/SKILL.md","workdir":"/w"}));',
        },
        {
            "type": "custom_tool_call",
            "name": "exec",
            "input": "const cmds = ['git status', `cat a/SKILL.md`];\ncmds.map((cmd) => tools.exec_command({cmd}));",
        },
    ],
)
def test_calls_that_read_a_skill_are_skill_uses(record: dict[str, object]) -> None:
    assert list(call_uses(record, "/w")) == [("a", "/w/a/SKILL.md")]


@for_each(
    "record",
    [
        call("apply_patch", input="*** Update File: a/SKILL.md"),
        call("exec_command", cmd=7, workdir=[]),
        {"type": "function_call", "name": "exec_command", "arguments": "broken"},
        {"type": "function_call", "name": ["exec_command"], "arguments": None},
        {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n+cat a/SKILL.md"},
        {
            "type": "custom_tool_call",
            "name": "exec",
            "input": "// exec_command\ntools.apply_patch(`*** Begin Patch\n+x\ncat a/SKILL.md\n*** End Patch`);",
        },
        {"type": "custom_tool_call", "name": "exec", "input": 'text("cat a/SKILL.md")'},
    ],
)
def test_other_calls_are_no_skill_uses(record: dict[str, object]) -> None:
    assert list(call_uses(record, "/w")) == []


def test_code_mode_reads_are_in_order_each_in_its_own_folder() -> None:
    code = (
        "// it's two calls\n"
        'const a = await tools.exec_command({cmd: "cat x/SKILL.md", workdir: "/one"});\n'
        'const b = await tools.exec_command({cmd: "sed -n \\"1,9p\\" y/SKILL.md", workdir: "/two"});\n'
    )
    record = {"type": "custom_tool_call", "name": "exec", "input": code}
    assert list(call_uses(record, "/w")) == [("x", "/one/x/SKILL.md"), ("y", "/two/y/SKILL.md")]


def test_an_execution_event_counts_like_its_call() -> None:
    item = {"command": ["/bin/zsh", "-lc", "cat a/SKILL.md"], "cwd": "file:///w"}
    assert list(execution_uses(item, None)) == [("a", "/w/a/SKILL.md")]


@for_each(
    ("text", "use"),
    [
        ("<skill>\n<name>menu</name>\n<path>/s/menu/SKILL.md</path>\nbody\n</skill>", ("menu", "/s/menu/SKILL.md")),
        ("<skill>\n<name>menu</name>\nbody\n</skill>", ("menu", None)),
        ("<skill>\n<name>menu</name>\n<unavailable_notice>gone</unavailable_notice>\n</skill>", None),
        ("see <skill>\n<name>menu</name>", None),
    ],
)
def test_an_injected_block_names_the_skill(text: str, use: tuple[str, str | None] | None) -> None:
    assert block_use(text) == use


def test_skill_mentions_are_read_beside_the_text() -> None:
    content = [
        {"type": "text", "text": "$menu go"},
        {"type": "skill", "name": "menu", "path": "/s/menu/SKILL.md"},
        {"type": "mention", "name": "shop", "path": "skill:///s/shop/SKILL.md"},
        {"type": "mention", "name": "mail", "path": "app://mail"},
        {"type": "skill", "name": "", "path": "/s/x/SKILL.md"},
    ]
    assert list(mention_uses({"content": content})) == [("menu", "/s/menu/SKILL.md"), ("shop", "/s/shop/SKILL.md")]
