"""Which skills Codex's records show in use: blocks, mentions, and commands that print a SKILL.md."""

from __future__ import annotations

import json

import pytest

from skilld.agents.codex.skills import block_use, call_uses, execution_uses, mention_uses
from skilld.agents.skill_reads import resolve, skills_read


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat a/SKILL.md", ["/w/a/SKILL.md"]),
        ("sed -n '1,240p' /s/a/SKILL.md && rg -n \"x|y\" . 2>/dev/null || true", ["/s/a/SKILL.md"]),
        ("head -5 a/SKILL.md; tail -n +3 b/SKILL.md", ["/w/a/SKILL.md", "/w/b/SKILL.md"]),
        ("less a/SKILL.md", ["/w/a/SKILL.md"]),
        ("more a/SKILL.md", ["/w/a/SKILL.md"]),
        ("bat --plain a/SKILL.md", ["/w/a/SKILL.md"]),
        ("awk '{print}' a/SKILL.md", ["/w/a/SKILL.md"]),
        ("nl -ba a/SKILL.md | sed -n 1,9p", ["/w/a/SKILL.md"]),
        ("/bin/cat ./x/../a/SKILL.md", ["/w/a/SKILL.md"]),
        ("cat < a/SKILL.md", ["/w/a/SKILL.md"]),
        ("cd sub && cat a/SKILL.md", ["/w/sub/a/SKILL.md"]),
        ("(cd /s && cat a/SKILL.md)", ["/s/a/SKILL.md"]),
        ("LANG=C command cat a/SKILL.md", ["/w/a/SKILL.md"]),
        ("for f in 1 2; do cat a/SKILL.md; done", ["/w/a/SKILL.md"]),
        ("cat 'my skills/a/SKILL.md'", ["/w/my skills/a/SKILL.md"]),
        ("cat a/SKILL.md 2>&1 | head -50", ["/w/a/SKILL.md"]),
        ("cat a/SKILL.md 'open quote", ["/w/a/SKILL.md"]),
        ("echo $(cat a/SKILL.md)", ["/w/a/SKILL.md"]),
        ("bash -lc 'cat a/SKILL.md'", ["/w/a/SKILL.md"]),
        ("cat ~/s/a/SKILL.md $HOME/s/b/SKILL.md", ["~/s/a/SKILL.md", "~/s/b/SKILL.md"]),
        ("cat \\\n  a/SKILL.md", ["/w/a/SKILL.md"]),
        ("cat SKILL.md", ["/w/SKILL.md"]),
        ("sed -i s/a/b/ a/SKILL.md", []),
        ("sed -ni.bak s/a/b/p a/SKILL.md", []),
        ("sed --in-place=.b s/a/b/ a/SKILL.md", []),
        ("awk -i inplace 1 a/SKILL.md", []),
        ("cat a/SKILL.md > copy.md", []),
        ("cat a/SKILL.md >> copy.md", []),
        ("cat a/SKILL.md &> copy.md", []),
        ("cat > a/SKILL.md <<'EOF'\ncat b/SKILL.md\nEOF\ncat c/SKILL.md", ["/w/c/SKILL.md"]),
        ("cat <<EOF > a/SKILL.md\ncat b/SKILL.md", []),
        ("grep x a/SKILL.md", []),
        ("ls a/SKILL.md", []),
        ("cp a/SKILL.md b/SKILL.md", []),
        ("git diff -- a/SKILL.md", []),
        ("cat a/SKILL.md.bak a/README.md", []),
        ("cat */SKILL.md $DIR/SKILL.md", []),
        ("python scripts/x.py a/SKILL.md", []),
        ("Get-Content -Raw C:\\s\\a\\SKILL.md", ["C:\\s\\a\\SKILL.md"]),
        ("powershell -Command \"Get-Content 'C:\\s\\a\\SKILL.md' | select -first 9\"", ["C:\\s\\a\\SKILL.md"]),
    ],
)
def test_commands_that_print_a_skill(command: str, paths: list[str]) -> None:
    assert list(skills_read(command, "/w")) == paths


@pytest.mark.parametrize(
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
def test_paths_are_resolved_as_text(path: str, cwd: str | None, resolved: str | None) -> None:
    assert resolve(path, cwd) == resolved


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}


@pytest.mark.parametrize(
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
def test_calls_that_read_a_skill(record: dict[str, object]) -> None:
    assert list(call_uses(record, "/w")) == [("a", "/w/a/SKILL.md")]


@pytest.mark.parametrize(
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
def test_calls_that_read_none(record: dict[str, object]) -> None:
    assert list(call_uses(record, "/w")) == []


def test_code_reads_in_order_each_in_its_own_folder() -> None:
    code = (
        "// it's two calls\n"
        'const a = await tools.exec_command({cmd: "cat x/SKILL.md", workdir: "/one"});\n'
        'const b = await tools.exec_command({cmd: "sed -n \\"1,9p\\" y/SKILL.md", workdir: "/two"});\n'
    )
    record = {"type": "custom_tool_call", "name": "exec", "input": code}
    assert list(call_uses(record, "/w")) == [("x", "/one/x/SKILL.md"), ("y", "/two/y/SKILL.md")]


def test_an_execution_reads_as_its_call_does() -> None:
    item = {"command": ["/bin/zsh", "-lc", "cat a/SKILL.md"], "cwd": "file:///w"}
    assert list(execution_uses(item, None)) == [("a", "/w/a/SKILL.md")]


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ("<skill>\n<name>menu</name>\n<path>/s/menu/SKILL.md</path>\nbody\n</skill>", ("menu", "/s/menu/SKILL.md")),
        ("<skill>\n<name>menu</name>\nbody\n</skill>", ("menu", None)),
        ("<skill>\n<name>menu</name>\n<unavailable_notice>gone</unavailable_notice>\n</skill>", None),
        ("see <skill>\n<name>menu</name>", None),
    ],
)
def test_the_injected_block_names_the_skill(text: str, use: tuple[str, str | None] | None) -> None:
    assert block_use(text) == use


def test_mentions_stand_beside_the_text() -> None:
    content = [
        {"type": "text", "text": "$menu go"},
        {"type": "skill", "name": "menu", "path": "/s/menu/SKILL.md"},
        {"type": "mention", "name": "shop", "path": "skill:///s/shop/SKILL.md"},
        {"type": "mention", "name": "mail", "path": "app://mail"},
        {"type": "skill", "name": "", "path": "/s/x/SKILL.md"},
    ]
    assert list(mention_uses({"content": content})) == [("menu", "/s/menu/SKILL.md"), ("shop", "/s/shop/SKILL.md")]
