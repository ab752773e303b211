"""What real clients send to their model, and what `skilld.context` says they send: the same words, no more, no less.

Every place where a file might count holds a word that is nowhere else. A client counts as loading a place where its
word stands in a request that reached the stand-in for the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skilld.context import LoadTime, context_of
from skilld.context.tokenizer import tokenizer
from support.live_agent import LiveAgent
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.live_copilot import CopilotCli
from support.live_declared import CONTINUE_CLI, DROID_CLI, KILO, KIMI, DeclaredAgent
from support.live_gemini import GeminiCli
from support.live_opencode import OpenCode
from support.live_pi import Pi
from support.live_qwen import QwenCode
from support.stub_agents import Call, Rule, Say, StubAgents
from tools.live_clients import (
    CLAUDE_CODE,
    CLAUDE_CODE_NEWER,
    CODEX,
    COPILOT_CLI,
    GEMINI_CLI,
    OPENCODE,
    PI,
    PI_NEWER,
    QWEN_CODE,
    Client,
    missing_programs,
)

pytestmark = pytest.mark.live

# Each with its tool that reads a file, and the name of that tool's argument.
CLIENTS: Mapping[str, tuple[type[LiveAgent], Client, str, str]] = {
    "claude-code-2.1.197": (ClaudeCode, CLAUDE_CODE, "Read", "file_path"),
    "claude-code-2.1.332": (ClaudeCode, CLAUDE_CODE_NEWER, "Read", "file_path"),
    "codex": (Codex, CODEX, "exec_command", "cmd"),
    "opencode": (OpenCode, OPENCODE, "read", "filePath"),
    "gemini-cli": (GeminiCli, GEMINI_CLI, "read_file", "file_path"),
    "copilot-cli": (CopilotCli, COPILOT_CLI, "view", "path"),
    "pi-0.73.1": (Pi, PI, "read", "path"),
    "pi-1.6.0": (Pi, PI_NEWER, "read", "path"),
    "qwen-code": (QwenCode, QWEN_CODE, "read_file", "file_path"),
}
# Those whose skills and rules the resolver does not know.
OTHERS: Mapping[str, tuple[type[LiveAgent], Client, str, str]] = {
    row.agent: (DeclaredAgent.of(row), row.client, row.page[0], argument)
    for row, argument in ((DROID_CLI, "file_path"), (KIMI, "path"), (CONTINUE_CLI, "filepath"), (KILO, "filePath"))
}
PROMPT = "Look at the sources please"
WORD = re.compile(r"zq[0-9a-f]{6}zq")
Tree = Mapping[str, str]

# Names of instruction files, of any client, below one folder.
NAMES = (
    *("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/AGENTS.md", "AGENTS.override.md"),
    *("AGENTS.local.md", "AGENT.md", "GEMINI.md", "QWEN.md", "CONTEXT.md", ".cursorrules", ".clinerules"),
    *(".github/copilot-instructions.md", ".github/instructions/all.instructions.md", ".claude/rules/all.md"),
    *(".opencode/AGENTS.md", ".gemini/GEMINI.md", ".codex/AGENTS.md", ".pi/AGENTS.md", ".cursor/rules/all.mdc"),
    *(".qwen/QWEN.md", ".qwen/QWEN.local.md", "QWEN.local.md", ".qwen/rules/all.md", ".pi/APPEND_SYSTEM.md"),
    *(
        ".kimi-code/AGENTS.md",
        ".factory/AGENTS.md",
        ".agents/AGENTS.md",
        ".kilo/rules/all.md",
        ".continue/rules/all.md",
    ),
)
AT_HOME = (
    *(".claude/CLAUDE.md", ".claude/rules/mine.md", ".claude/AGENTS.md", ".codex/AGENTS.md", ".codex/instructions.md"),
    *(".config/opencode/AGENTS.md", ".opencode/AGENTS.md", ".gemini/GEMINI.md", ".gemini/AGENTS.md", ".qwen/QWEN.md"),
    *(".qwen/AGENTS.md", ".copilot/copilot-instructions.md", ".copilot/instructions/mine.instructions.md"),
    *(".copilot/AGENTS.md", ".pi/agent/AGENTS.md", ".agents/AGENTS.md", "AGENTS.md", "CLAUDE.md"),
    *(".qwen/QWEN.local.md", ".qwen/rules/mine.md", ".qwen/output-language.md", ".qwen/memories/MEMORY.md"),
    *(
        ".pi/agent/APPEND_SYSTEM.md",
        ".kimi-code/AGENTS.md",
        ".factory/AGENTS.md",
        ".kilo/rules/mine.md",
        ".continue/rules/mine.md",
    ),
)
FOLDERS = (
    "",
    "repo",
    "repo/mid",
    "repo/mid/app",
    "repo/mid/app/inner",
    "repo/mid/app/inner/deep",
    "repo/mid/app/other",
)
SOURCE = "inner/deep/source.py"
DEEP = "repo/mid/app"


def everywhere(*names: str) -> dict[str, str]:
    """Put the names into every folder, the home included."""
    return {f"{folder}/{name}".lstrip("/"): "W" for folder in FOLDERS for name in names}


MARKUP = """\
---
description: W
---

# Rules W

<!-- W -->
<!--
W
-->
<!-- W --> W
Text <!-- W --> goes on.

- in a list
  <!-- W -->

```
<!-- W -->
@parts/fenced.md
```

- @parts/listed.md
- See @./parts/dotted.md for more.
- See @parts/comma.md, and @parts/stop.md.
- (@parts/bracket.md) `@parts/code.md` **@parts/bold.md**
- a@parts/mail.md @parts/missing.md @parts/blank\\ name.md @parts/part.md#heading
- @parts/bare @parts/data.json @parts/picture.png

    @parts/indented.md

<!-- @parts/hidden.md -->

@../above.md and @parts/link-out.md
"""
PARTS = {
    f"repo/parts/{name}": "W"
    for name in (
        *("fenced.md", "listed.md", "dotted.md", "comma.md", "stop.md", "bracket.md", "code.md", "bold.md", "mail.md"),
        *("blank name.md", "part.md", "bare", "data.json", "picture.png", "indented.md", "hidden.md"),
    )
}
CHAIN = {f"repo/c{number}.md": f"W\n\n@c{number + 1}.md\n" for number in range(1, 9)}
RULE = "---\n{front}\n---\n\nW\n"
RULES = {
    "star": "paths: src/*.py",
    "any": 'paths: "**/*.py"',
    "unquoted": "paths: **/*.py",
    "bare": "paths: source.py",
    "folder": "paths: src/",
    "list": "paths:\n  - docs/**\n  - src/**/*.py",
    "flow": "paths: [docs/**, '**/source.py']",
    "comma": "paths: docs/**, src/*.{py,ts}",
    "other": "paths: docs/**",
    "dotted": "paths: ./src/source.py",
    "not": "paths:\n  - src/**\n  - '!src/source.py'",
    "all": 'paths: "**"',
    "empty": "paths: []",
    "broken": 'paths: ["src/**',
    "globs": "globs: docs/**",
    "applied": 'applyTo: "docs/**"',
    "applied-here": 'applyTo: "**/*.py"',
    "applied-all": 'applyTo: "**"',
}
WHOLE = """\
W begins.

# Rules

- One *thing*,
  on two lines.


- Another, after two blank lines: `npm test`.

```sh
npm run build

npm run lint
```

| a | b |
|---|---|
| 1 | 2 |

<!-- A remark. -->

This ends: W
"""
ENTRIES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md")
SKILL = "---\nname: {name}\ndescription: {told}\n{more}---\n\n# About\n\nW\n"
SKILL_FOLDERS = (
    *(".claude/skills", ".agents/skills", ".codex/skills", ".opencode/skills", ".gemini/skills"),
    *(".qwen/skills", ".github/skills", ".pi/skills"),
)
SKILLS_AT_HOME = (".config/opencode/skills", ".copilot/skills", ".pi/agent/skills")


def skills() -> dict[str, str]:
    """Put a skill into every folder of such, and several kinds of skill into each client's own."""
    found = {}
    for place, folder in enumerate(FOLDERS[:4]):
        for number, below in enumerate((*SKILL_FOLDERS, *SKILLS_AT_HOME)):
            name = f"s{place}{number}"
            found[f"{folder}/{below}/{name}/SKILL.md".lstrip("/")] = SKILL.format(name=name, told="W", more="")
    for number, below in enumerate(SKILL_FOLDERS):
        kinds = {
            "off": SKILL.format(name=f"off{number}", told="W", more="disable-model-invocation: true\n"),
            "colon": SKILL.format(name=f"colon{number}", told="W: and more", more=""),
            "plain": "# Plain\n\nW\n",
            "long": SKILL.format(name=f"long{number}", told="x" * 1100 + " W", more=""),
            "deep/down": SKILL.format(name=f"down{number}", told="W", more=""),
        }
        for kind, text in kinds.items():
            path = f"deep{number}/down{number}" if kind == "deep/down" else f"{kind}{number}"
            found[f"repo/mid/app/{below}/{path}/SKILL.md"] = text
    return found


def copies_of_skills() -> dict[str, str]:
    """Put a skill of the same name into two folders, for each pair of them, and into all."""
    near, far = ".agents/skills", (".claude/skills", ".github/skills", ".opencode/skills", ".gemini/skills")
    own = (".claude", ".agents", ".codex", ".gemini", ".qwen", ".copilot", ".pi/agent", ".config/opencode")
    places = [f"{DEEP}/{name}" for name in SKILL_FOLDERS]
    places += [f"repo/{name}" for name in (near, *far)] + [f"home/{name}/skills" for name in own]
    often = {f"{DEEP}/.claude/skills", f"{DEEP}/{near}", f"repo/{near}", "home/.agents/skills"}
    pairs = [(one, other) for number, one in enumerate(places) for other in places[:number] if {one, other} & often]
    return {
        f"{place}/twin{number}/SKILL.md": SKILL.format(name=f"twin{number}", told="W", more="")
        for number, pair in enumerate(pairs)
        for place in pair
    }


def importing(*folders: str) -> dict[str, str]:
    """Have each instruction file in these folders import a file of its own."""
    found = {}
    for folder in folders:
        for name in (*ENTRIES, ".github/copilot-instructions.md", ".claude/CLAUDE.md"):
            found[f"{folder}/{name}"] = f"W\n\n@./of/{Path(name).name}\n"
            found[f"{(Path(folder) / name).parent}/of/{Path(name).name}"] = "W"
    return found


class Case:
    """A tree of files, the working folder in it, whether `repo` is a repository, links, and more settings at home."""

    def __init__(
        self,
        tree: Tree,
        cwd: str = "repo",
        *,
        git: bool = True,
        links: Tree | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.tree, self.cwd, self.git, self.links, self.settings = tree, cwd, git, links or {}, settings or {}


CASES: Mapping[str, Case] = {
    "everywhere": Case(everywhere(*NAMES), DEEP),
    "no repository": Case(everywhere(*NAMES), DEEP, git=False),
    "at the root": Case(everywhere(*NAMES)),
    "AGENTS.md alone": Case(everywhere("AGENTS.md", ".claude/AGENTS.md"), DEEP),
    "a private file": Case({**everywhere("AGENTS.md"), f"{DEEP}/CLAUDE.local.md": "W"}, DEEP),
    "a Claude file below": Case({**everywhere("AGENTS.md"), f"{DEEP}/inner/CLAUDE.md": "W"}, DEEP),
    "two names on the way": Case({"repo/AGENTS.md": "W", f"{DEEP}/CLAUDE.md": "W"}, DEEP),
    "CLAUDE.md alone": Case(everywhere("CLAUDE.md"), DEEP),
    "empty files": Case(
        {
            "repo/AGENTS.override.md": "", "repo/AGENTS.md": "W", "repo/CLAUDE.md": "<!-- W -->\n",
            f"{DEEP}/AGENTS.md": "W",
        },
        DEEP,
    ),
    "markup": Case(
        {**dict.fromkeys((f"repo/{name}" for name in ENTRIES), MARKUP), **PARTS, "above.md": "W", "out.md": "W"},
        links={"repo/parts/link-out.md": "../../out.md"},
    ),
    "one imports the other": Case(
        {"repo/AGENTS.md": "W", "repo/CLAUDE.md": "@AGENTS.md\n\nW", "repo/GEMINI.md": "@./AGENTS.md"}
    ),
    "a chain of imports": Case({**CHAIN, **{f"repo/{name}": "W\n\n@./c1.md\n" for name in ENTRIES}}),
    "a link": Case({"repo/AGENTS.md": "W"}, links={"repo/CLAUDE.md": "AGENTS.md", "repo/QWEN.md": "AGENTS.md"}),
    "too long": Case(
        {
            "repo/AGENTS.md": "line\n" * 5000 + "W",
            "repo/mid/AGENTS.md": "line\n" * 2000 + "W",
            f"{DEEP}/AGENTS.md": "W",
        },
        DEEP,
    ),
    "rules": Case(
        {
            **{
                f"repo/{place.format(name)}": RULE.format(front=front)
                for place in (".claude/rules/{}.md", ".qwen/rules/{}.md", ".github/instructions/{}.instructions.md")
                for name, front in RULES.items()
            },
            **{
                f"home/{client}/rules/{name}.md": RULE.format(front=RULES[name])
                for client in (".claude", ".qwen")
                for name in ("star", "any", "other")
            },
            **{
                f"repo/{client}/rules/{name}": text
                for client in (".claude", ".qwen")
                for name, text in {
                    "late.md": "\n" + RULE.format(front="paths: docs/**"),
                    "deep/down/rule.md": "<!-- W -->\nW",
                    "cursor.mdc": "W",
                }.items()
            },
            "repo/src/source.py": "pass\n",
        },
        links={
            f"repo/{client}/rules/{name}.md": target
            for client in (".claude", ".qwen")
            for name, target in {"shared": "../../../shared.md", "inside": "../../inside.md"}.items()
        },
    ),
    "nested rules": Case(
        {
            f"{DEEP}/inner/{place.format(name)}": RULE.format(front=front)
            for place in (".claude/rules/{}.md", ".qwen/rules/{}.md", ".github/instructions/{}.instructions.md")
            for name, front in {"mine": "x: y", "deep": "paths: deep/*.py", "other": "paths: docs/**"}.items()
        },
        DEEP,
    ),
    "an import above": Case(
        {"repo/notes.md": "W", **dict.fromkeys((f"repo/{name}" for name in ENTRIES), "W\n\n@./notes.md\n")}, DEEP
    ),
    "consent": Case(
        {**dict.fromkeys((f"repo/{name}" for name in ENTRIES), "W\n\n@../above.md\n"), "above.md": "W"},
        links={"repo/.claude/rules/shared.md": "../../../shared.md"},
        settings={".claude.json": {"projects": {"CWD": {"hasClaudeMdExternalIncludesApproved": True}}}},
    ),
    "settings": Case(
        {
            **everywhere("CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "CONTEXT.md", "NOTES.md"),
            "repo/opencode.json": '{"instructions": ["notes/*.md"]}', "repo/notes/one.md": "W", "home/mine.md": "W",
        },
        DEEP,
        settings={
            ".claude/settings.json": {"claudeMdExcludes": ["**/mid/CLAUDE.md"]},
            ".codex/config.toml": 'project_doc_fallback_filenames = ["NOTES.md"]\nproject_doc_max_bytes = 40\n',
            ".config/opencode/opencode.json": {"instructions": ["~/mine.md"]},
            ".gemini/settings.json": {"context": {"fileName": ["NOTES.md"]}},
            ".qwen/settings.json": {"context": {"fileName": ["NOTES.md"]}},
        },
    ),
    "a worktree in the main checkout": Case(
        {
            "repo/CLAUDE.md": "W", "repo/CLAUDE.local.md": "W", "repo/.claude/rules/r.md": "W", "repo/AGENTS.md": "W",
            "repo/trees/one/CLAUDE.md": "W", "repo/trees/one/.git": "gitdir: ../../.git/worktrees/one\n",
            "repo/.git/worktrees/one/HEAD": "ref: refs/heads/one\n",
            "repo/.git/worktrees/one/commondir": "../..\n",
            "repo/.git/worktrees/one/gitdir": "../../../trees/one/.git\n",
        },
        "repo/trees/one",
    ),
    "a worktree with a copy of each file": Case(
        {
            **{f"{folder}/{name}": "W" for folder in ("repo", "repo/trees/one") for name in ("AGENTS.md", "CLAUDE.md")},
            "repo/trees/one/.git": "gitdir: ../../.git/worktrees/one\n",
            "repo/.git/worktrees/one/HEAD": "ref: refs/heads/one\n",
            "repo/.git/worktrees/one/commondir": "../..\n",
            "repo/.git/worktrees/one/gitdir": "../../../trees/one/.git\n",
        },
        "repo/trees/one",
    ),
    "skills": Case(skills(), DEEP),
    "copies of a skill": Case(copies_of_skills(), DEEP),
    "imports of each file": Case(importing("repo", "repo/mid", DEEP, f"{DEEP}/inner"), DEEP),
    "named files": Case(
        {
            **everywhere("AGENTS.md", "TEAM.md", "notes/one.md"),
            "repo/opencode.json": '{"instructions": ["TEAM.md", "notes/*.md", "./mid/only.md", "mid/app/here.md"]}',
            f"{DEEP}/opencode.json": '{"instructions": ["NEAR.md"]}',
            "repo/NEAR.md": "W", f"{DEEP}/NEAR.md": "W", "repo/mid/only.md": "W", f"{DEEP}/here.md": "W",
            "repo/OWN.md": "W", f"{DEEP}/OWN.md": "W", "OWN.md": "W", "repo/own/a.md": "W", "repo/mid/own/b.md": "W",
            "home/.config/opencode/OWN.md": "W", "home/.config/opencode/own/c.md": "W",
        },
        DEEP,
        settings={".config/opencode/opencode.json": {"instructions": ["OWN.md", "own/*.md"]}},
    ),
    "whole texts": Case({f"repo/{name}": WHOLE for name in ENTRIES}),
}  # fmt: skip


# It reads copies all at once, and keeps that which it read last: of two, either one.
IN_ANY_ORDER = {("opencode", "copies of a skill")}
IN_ORDER = {"everywhere", "no repository", "a chain of imports"}  # no folder of rules, whose order is the disk's


class Stage:
    """A client, its home and the tree of a case, written with a word for each W."""

    def __init__(self, client: str, case: Case, place: Path, home: Path, stub: StubAgents) -> None:
        kind, pinned, self.tool, self.argument = {**CLIENTS, **OTHERS}[client]
        if missing := missing_programs():
            pytest.skip(f"{' and '.join(missing)} not found on PATH")
        if not pinned.is_there:
            pytest.skip(f"{pinned.package} {pinned.version} is not installed: run tools/live_clients.py")
        self.client, self.case, self.home, self.stub, self.version = client, case, home, stub, pinned.version
        self.words: dict[str, str] = {}
        self.cwd = place / case.cwd
        self.cwd.mkdir(parents=True)
        self.agent = kind(pinned.path, home, self.cwd, stub)
        if case.git:
            (place / "repo/.git/refs").mkdir(parents=True)
            (place / "repo/.git/objects").mkdir()
            (place / "repo/.git/HEAD").write_text("ref: refs/heads/main\n")
        for name, text in {**dict.fromkeys((f"home/{name}" for name in AT_HOME), "W"), **case.tree}.items():
            self._write(home / name.removeprefix("home/") if name.startswith("home/") else place / name, text)
        for name, more in case.settings.items():
            self._set(home / name, more)
        self._write(place / "shared.md", "W")
        self._write(place / "repo/inside.md", "W")
        for name, target in case.links.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).symlink_to(target)
        for folder in (self.cwd / "inner/deep", self.cwd / "src"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "source.py").write_text("pass\n")

    def _write(self, path: Path, text: str) -> None:
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        count = 0

        def word(_: re.Match[str]) -> str:
            nonlocal count
            count += 1
            found = f"zq{len(self.words):06x}zq"
            self.words[found] = f"{path}#{count}"
            return found

        path.write_text(re.sub(r"\bW\b", word, text))

    def _set(self, path: Path, more: Any) -> None:
        """Add to the settings that a client has already."""
        before = path.read_text() if path.exists() else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(more, str):
            path.write_text(more + before)
            return
        here = json.loads(json.dumps(more).replace("CWD", str(self.cwd)))
        path.write_text(json.dumps(merged(json.loads(before or "{}"), here)))

    def arrived(self, *touched: str, typed: bool = False) -> tuple[list[str], set[str]]:
        """Put one prompt, in which the model reads files; return the words of the first request, and of all.

        It is `typed` in a terminal or put without one.
        """
        reads = [Call(self.tool, {self.argument: self._means(path)}) for path in touched]
        self.stub.rules = [Rule(PROMPT, *reads, Say("Done."))]
        if typed:
            with self.agent:
                self.agent.say(PROMPT)
                self.agent.quit()
        else:
            self.agent.headless(PROMPT, *(["--skip-git-repo-check"] if self.client == "codex" else []))
        bodies = [request.body for request in self.stub.main_requests()]
        asked = [
            json.dumps(dict(sorted(body.items(), key=lambda item: item[0] != "systemInstruction"))) for body in bodies
        ]
        assert asked, "nothing arrived"
        return list(dict.fromkeys(WORD.findall(asked[0]))), set(WORD.findall(" ".join(asked)))

    def _means(self, path: str) -> str:
        return f"cat {self.cwd / path}" if self.argument == "cmd" else str(self.cwd / path)

    def told(self, *touched: str) -> tuple[list[str], set[str]]:
        """Return what the resolver says of the first request, and of the conversation after files were read."""
        name = self.agent.agent
        context = context_of(name, self.version, self.cwd, self.home, touched, environment=self.agent.environment)
        start = " ".join(file.text for file in context.files if file.loaded is not LoadTime.ON_USE)
        entered = " ".join(file.text for file in context.files if file.entered)
        return list(dict.fromkeys(WORD.findall(start))), set(WORD.findall(entered))

    def places(self, words: Iterable[str]) -> list[str]:
        """Return where words stand."""
        return sorted(self.words[word] for word in words)


def merged(old: Any, new: Any) -> Any:
    """Put new values into nested objects."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}


def assert_same(stage: Stage, arrived: set[str], told: set[str]) -> None:
    assert (stage.places(arrived - told), stage.places(told - arrived)) == ([], []), "only sent, only told"


@pytest.fixture
def make(tmp_path: Path, home: Path, stub: StubAgents) -> Callable[[str, str], Stage]:
    return lambda client, case: Stage(client, CASES[case], tmp_path / "place", home, stub)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_resolver_says_what_arrives(make: Callable[[str, str], Stage], client: str, case: str) -> None:
    if (client, case) in IN_ANY_ORDER:
        pytest.skip("opencode loads copies of a skill in no fixed order, so either may arrive")
    stage = make(client, case)
    touched = (SOURCE, "src/source.py")
    arrived, told = stage.arrived(*touched), stage.told(*touched)
    assert_same(stage, set(arrived[0]), set(told[0]))
    assert_same(stage, arrived[1], told[1])
    if case in IN_ORDER:
        assert arrived[0] == told[0]


@pytest.mark.parametrize("case", ["everywhere", "no repository", "at the root", "AGENTS.md alone"])
@pytest.mark.parametrize("client", OTHERS)
def test_the_resolver_says_which_files_of_fixed_names_arrive(
    make: Callable[[str, str], Stage], client: str, case: str
) -> None:
    stage = make(client, case)
    arrived, told = stage.arrived(SOURCE), stage.told(SOURCE)
    assert arrived[0] == told[0]
    assert_same(stage, arrived[1], told[1])


@pytest.mark.parametrize("client", CLIENTS)
def test_tokens_are_those_of_the_text_that_arrives(make: Callable[[str, str], Stage], client: str) -> None:
    """The remark is a comment, which Claude Code leaves out and the others send."""
    stage = make(client, "whole texts")
    stage.arrived()
    request = json.dumps(stage.stub.main_requests()[0].body)
    context = context_of(stage.agent.agent, stage.version, stage.cwd, stage.home, environment=stage.agent.environment)
    files, counter = [file for file in context.files if " begins." in file.text], tokenizer()
    assert files
    for file in files:
        first, last = WORD.findall(file.text)
        (found,) = re.findall(f"{first}.*?{last}", request)
        sent = json.loads(f'"{found}"')
        assert sent == file.text.rstrip("\n")
        assert counter.count(file.text) - counter.count(sent) in {0, 1}  # what ends it


@pytest.mark.parametrize("case", ["everywhere", "AGENTS.md alone", "nested rules"])
@pytest.mark.parametrize("client", [client for client in CLIENTS if client.startswith("claude")])
def test_a_session_in_a_terminal_loads_the_same(make: Callable[[str, str], Stage], client: str, case: str) -> None:
    stage = make(client, case)
    arrived, told = stage.arrived(SOURCE, typed=True), stage.told(SOURCE)
    assert_same(stage, set(arrived[0]), set(told[0]))
    assert_same(stage, arrived[1], told[1])
