"""What an agent loads, on trees of files; tests/live/test_context.py compares it with real clients."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from skilld.__main__ import main
from skilld.agents import ADAPTERS
from skilld.agents.claude_code import INFO as CLAUDE_CODE
from skilld.context import Context, Disk, Kind, LoadTime, Scope, context_of, find_duplicates
from skilld.context.installed import installed_version
from skilld.context.markup import fence_after
from skilld.context.patterns import matches
from skilld.health.checks import surprises
from support.program import Program
from support.rows import for_each

NEW, OLD = "2.1.332", "2.1.197"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "repo/.git").mkdir(parents=True)
    return tmp_path / "repo"


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def context(
    agent: str, repo: Path, *touched: str, version: str = "", cwd: str = "", untouched: bool = True, **variables: str
) -> Context:
    home, files = repo.parent / "home", Disk()
    return context_of(
        agent, version, repo / cwd, home, touched, environment=variables, files=files, untouched=untouched
    )


def start_texts(found: Context, repo: Path) -> list[str]:
    """Return the files of the first request, in order, as the repository names them."""
    return [os.path.relpath(file.path, repo) for file in found.files if file.loaded is LoadTime.START]


def shown_files(found: Context, kind: Kind) -> list[tuple[str, str]]:
    return [(Path(one.path).name, one.why) for one in found.of(kind)]


def test_claude_code_loads_every_parent_and_agents_md_only_without_its_own_file(repo: Path) -> None:
    write(repo.parent, {"home/.claude/CLAUDE.md": "mine", "CLAUDE.md": "above", "repo/AGENTS.md": "team"})
    assert start_texts(context("claude-code", repo), repo) == ["../home/.claude/CLAUDE.md", "../CLAUDE.md"]
    (repo.parent / "CLAUDE.md").write_text("<!-- empty -->\n")
    assert start_texts(context("claude-code", repo), repo) == ["../home/.claude/CLAUDE.md", "AGENTS.md"]
    assert start_texts(context("claude-code", repo, version=OLD), repo) == ["../home/.claude/CLAUDE.md"]


def test_a_local_file_hides_the_shared_one(repo: Path) -> None:
    write(repo, {"AGENTS.md": "team", "CLAUDE.local.md": "mine"})
    found = context("claude-code", repo, version=NEW)
    assert start_texts(found, repo) == ["CLAUDE.local.md"]
    ((path, _),) = shown_files(found, Kind.HIDDEN)
    assert path == "AGENTS.md"
    assert found.surprises[0].by == str(repo / "CLAUDE.local.md")


@pytest.mark.parametrize(
    ("option", "files"),
    [("claude-md", ["CLAUDE.md"]), ("claude-md-and-agents-md", ["CLAUDE.md", "AGENTS.md"]), ("managed-only", [])],
)
def test_a_user_setting_decides_on_agents_md(repo: Path, option: str, files: list[str]) -> None:
    write(repo, {"AGENTS.md": "team", "CLAUDE.md": "ours"})
    plugin = '{"pluginConfigs": {"cc-plugin-agents-md@builtin": {"options": {"instructionFiles": "%s"}}}}'
    write(repo.parent, {"home/.claude/settings.json": plugin % option})
    assert start_texts(context("claude-code", repo), repo) == files


IMPORTS = {
    "- @a.md": True,
    "**@a.md**": True,
    "@./a.md": True,
    "@a.md#part": True,
    "see @a.md, and": False,
    "see @a.md.": False,
    "(@a.md)": False,
    "`@a.md`": False,
    "```\n@a.md\n```": False,
    "text\n\n    @a.md": False,
    "me@a.md": False,
    "<!-- @a.md -->": False,
    "@b\\ c.md": True,
    "@picture.png": False,
}


@pytest.mark.parametrize("line", IMPORTS)
def test_a_claude_code_import_is_a_separate_block(repo: Path, line: str) -> None:
    write(repo, {"CLAUDE.md": f"ours\n\n{line}\n", "a.md": "a", "b c.md": "b", "picture.png": "p"})
    found = context("claude-code", repo)
    imported = [file for file in found.files if file.via]
    assert bool(imported) is IMPORTS[line]
    assert {file.via for file in imported} <= {str(repo / "CLAUDE.md")}
    assert bool(found.of(Kind.DEAD)) == any(line.endswith(end) for end in (", and", "md."))


def test_imports_stop_after_four_hops_and_at_the_project_boundary(repo: Path) -> None:
    chain = {f"c{n}.md": f"c{n}\n@c{n + 1}.md\n" for n in range(1, 7)}
    write(repo, {"CLAUDE.md": "@c1.md\n@../out.md\n@gone.md\n@types/node\n", **chain})
    write(repo.parent, {"out.md": "out"})
    found = context("claude-code", repo)
    assert start_texts(found, repo) == ["CLAUDE.md", "c1.md", "c2.md", "c3.md", "c4.md"]
    assert [why.split()[0] for _, why in shown_files(found, Kind.DEAD)] == ["@c5.md", "@../out.md", "@gone.md"]
    approved = '{"projects": {"%s": {"hasClaudeMdExternalIncludesApproved": true}}}'
    write(repo.parent, {"home/.claude.json": approved % repo})
    assert "../out.md" in start_texts(context("claude-code", repo), repo)


def test_standalone_comments_and_front_matter_are_not_sent(repo: Path) -> None:
    write(
        repo, {"CLAUDE.md": "---\na: b\n---\nOne.\n\n<!-- no\nno -->\n\nTwo <!-- yes -->.\n\n```\n<!-- yes -->\n```\n"}
    )
    (file,) = context("claude-code", repo).files
    assert [(segment.line, segment.text) for segment in file.segments] == [
        (4, "One."),
        (9, "Two <!-- yes -->."),
        (11, "```\n<!-- yes -->\n```"),
    ]


@pytest.mark.parametrize(
    ("front", "always", "on_python"),
    [
        ("paths: src/*.py", False, True),
        ('paths: "**/*.{ts,py}"', False, True),
        ("paths: [docs/**, src/]", False, True),
        ("paths:\n  - docs/**", False, False),
        ("paths: a.py", False, True),
        ("paths:\n  - src/*.py\n  - '!src/a.py'", False, False),
        ("paths:\n  - src/**\n  - '!src/a.py'", False, True),  # the whole folder is taken
        ('paths: "**"', True, True),
        ("paths: []", True, True),
        ("paths: ./src/a.py", False, False),
        ("paths: ['src/**", False, False),
        ("globs: docs/**", True, True),
    ],
)
def test_a_rule_file_is_loaded_by_its_patterns(repo: Path, front: str, *, always: bool, on_python: bool) -> None:
    write(repo, {".claude/rules/deep/rule.md": f"---\n{front}\n---\nrule\n", "src/a.py": ""})
    assert bool(start_texts(context("claude-code", repo), repo)) is always
    touched = context("claude-code", repo, "src/a.py")
    assert any(file.entered for file in touched.files) is on_python
    assert bool(touched.of(Kind.IGNORED)) is front.startswith("globs")
    assert bool(touched.of(Kind.NEVER)) is ("./" in front or front.endswith("['src/**"))


def test_nested_files_are_loaded_with_the_files_touched(repo: Path) -> None:
    write(repo, {"CLAUDE.md": "top", "a/CLAUDE.md": "a", "a/b/CLAUDE.local.md": "b", "node_modules/x/CLAUDE.md": "x"})
    found = context("claude-code", repo, "a/b/c.py")
    nested = [
        (os.path.relpath(file.path, repo), file.entered) for file in found.files if file.loaded is LoadTime.ON_USE
    ]
    assert nested == [("a/CLAUDE.md", True), ("a/b/CLAUDE.local.md", True)]
    assert found.nearest is not None
    assert found.nearest.path == str(repo / "a/CLAUDE.md")
    assert not any(file.entered for file in context("claude-code", repo).files if file.loaded is LoadTime.ON_USE)
    assert [file.path for file in context("claude-code", repo, untouched=False).files] == [str(repo / "CLAUDE.md")]
    deep = context("claude-code", repo, "node_modules/x/y.js")
    assert deep.nearest is not None
    assert deep.nearest.path == str(repo / "node_modules/x/CLAUDE.md")


def test_a_link_out_of_the_project_is_not_the_nearest_file(repo: Path) -> None:
    write(repo.parent, {"dotfiles/CLAUDE.md": "shared"})
    (repo / "CLAUDE.md").symlink_to("../dotfiles/CLAUDE.md")
    found = context("claude-code", repo)
    assert start_texts(found, repo) == ["CLAUDE.md"]
    assert found.nearest is None


def test_a_worktree_uses_the_shared_file_of_the_main_checkout(repo: Path) -> None:
    write(repo, {"CLAUDE.md": "main", "CLAUDE.local.md": "mine", "trees/one/CLAUDE.md": "one"})
    write(repo, {"trees/one/.git": f"gitdir: {repo}/.git/worktrees/one\n"})
    found = context("claude-code", repo, cwd="trees/one")
    assert start_texts(found, repo) == ["CLAUDE.local.md", "trees/one/CLAUDE.md"]
    assert "CLAUDE.md" in start_texts(context("claude-code", repo, cwd="trees/one", version=OLD), repo)


def test_codex_truncates_the_deepest_file_and_an_empty_override_hides(repo: Path) -> None:
    write(
        repo, {"AGENTS.md": "x" * 32_000, "a/AGENTS.md": "y" * 1000, "a/b/AGENTS.override.md": "", "a/b/AGENTS.md": "z"}
    )
    found = context("codex", repo, cwd="a/b")
    assert [len(file.text) for file in found.files] == [32_000, 768]
    assert [name for name, _ in shown_files(found, Kind.CUT)] == ["AGENTS.md"]
    assert "which is empty" in shown_files(found, Kind.HIDDEN)[0][1]
    assert start_texts(context("codex", repo, cwd="a/b", CODEX_HOME="/nowhere"), repo) == ["AGENTS.md", "a/AGENTS.md"]


def test_codex_reads_file_names_from_its_settings(repo: Path) -> None:
    write(repo, {"CLAUDE.md": "c", "a/pyproject.toml": "", "a/CLAUDE.md": "a"})
    settings = 'project_doc_fallback_filenames = ["CLAUDE.md"]\nproject_root_markers = ["pyproject.toml"]\n'
    write(repo.parent, {"home/.codex/config.toml": settings})
    assert start_texts(context("codex", repo, cwd="a"), repo) == ["a/CLAUDE.md"]


def test_opencode_uses_one_file_name_for_the_whole_path(repo: Path) -> None:
    write(repo, {"AGENTS.md": "top", "a/CLAUDE.md": "a", "docs/style.md": "s"})
    write(repo, {"opencode.jsonc": '{"instructions": ["docs/*.md", ], // ours\n}'})
    write(repo.parent, {"home/.claude/CLAUDE.md": "mine", "home/.config/opencode/AGENTS.md": "own"})
    found = context("opencode", repo, cwd="a")
    assert start_texts(found, repo) == ["../home/.config/opencode/AGENTS.md", "AGENTS.md", "docs/style.md"]
    assert [Path(one.path).parts[-2:] for one in found.of(Kind.HIDDEN)] == [
        (".claude", "CLAUDE.md"),
        ("a", "CLAUDE.md"),
    ]
    assert start_texts(context("opencode", repo, cwd="a", OPENCODE_DISABLE_PROJECT_CONFIG="1"), repo)[0].startswith(
        "../home"
    )


FIRST = {
    "gemini-cli": ["GEMINI.md", "a/GEMINI.md"],
    "qwen-code": ["../QWEN.md", "AGENTS.md"],
    "copilot-cli": ["AGENTS.md", "GEMINI.md", "a/GEMINI.md", ".claude/rules/all.md"],
    "pi": ["../CLAUDE.md", "AGENTS.md", "a/CLAUDE.md"],
    "cursor": ["AGENTS.md"],
    "nobody": [],
}


@pytest.mark.parametrize("agent", FIRST)
def test_each_agent_has_its_own_file_names_and_search_path(repo: Path, agent: str) -> None:
    write(repo.parent, {"CLAUDE.md": "c", "QWEN.md": "q", "repo/AGENTS.md": "a", "repo/GEMINI.md": "g"})
    write(
        repo,
        {"a/GEMINI.md": "below", ".claude/rules/all.md": "r", "a/CLAUDE.md": "" if agent == "copilot-cli" else "x"},
    )
    found = context(agent, repo, cwd="a")
    assert sorted(start_texts(found, repo)) == sorted(FIRST[agent])


def test_qwen_code_reads_a_private_file_and_rules(repo: Path) -> None:
    rule = "---\npaths: {0}\n---\n<!-- why -->\nDo it.\n"
    patterns = {
        "list": "['src/**', docs/*.md]",
        "name": "a.py",
        "dotted": "./src/a.py",
        "every": '"**"',
        "folder": "src/",
        "commas": "docs/**, src/*.py",
        "open": '["src/**',
    }
    write(repo, {f".qwen/rules/deep/{name}.md": rule.format(paths) for name, paths in patterns.items()})
    write(repo.parent, {"home/.qwen/rules/mine.md": "mine", "linked.md": "theirs", "home/.qwen/QWEN.local.md": "no"})
    write(repo, {".qwen/rules/always.md": "ours", "in/.qwen/rules/no.md": "no", "in/.qwen/QWEN.local.md": "no"})
    write(repo, {"QWEN.md": "team", ".qwen/QWEN.local.md": "own", "QWEN.local.md": "no", "src/a.py": ""})
    (repo / ".qwen/rules/link.md").symlink_to("../../../linked.md")
    found = context("qwen-code", repo, "../src/a.py", cwd="in")
    rules = ["../home/.qwen/rules/mine.md", ".qwen/rules/always.md"]
    assert start_texts(found, repo) == ["QWEN.md", ".qwen/QWEN.local.md", *rules]
    assert start_texts(context("qwen-code", repo, cwd="in", version="0.15.10"), repo) == ["QWEN.md", *rules]
    on_use = {Path(file.path).stem: file for file in found.files if file.loaded is LoadTime.ON_USE}
    assert {name: file.entered for name, file in on_use.items()} == {
        "list": True,
        "dotted": True,
        "every": True,
        "name": False,
    }
    assert {file.text for file in on_use.values()} == {"Do it."}
    assert sorted(name for name, _ in shown_files(found, Kind.NEVER)) == ["commas.md", "folder.md", "open.md"]


FIXED = {
    "droid": ["in/CLAUDE.md", "in/AGENTS.md", "AGENTS.md", ".factory/AGENTS.md", "../home/.factory/AGENTS.md"],
    "kimi-code": ["../home/.kimi-code/AGENTS.md", ".kimi-code/AGENTS.md", "AGENTS.md", "in/AGENTS.md"],
    "kilo": [
        "../home/.config/kilo/AGENTS.md",
        "in/AGENTS.md",
        "AGENTS.md",
        "../home/.kilo/rules/b.md",
        "in/.kilo/rules/a.md",
    ],
    "continue": ["in/AGENTS.md", "in/.continue/rules/a.md", "../home/.continue/rules/b.md"],
    "cline": ["in/AGENTS.md"],
}


@pytest.mark.parametrize("agent", FIXED)
def test_an_agent_reads_its_fixed_names_in_its_own_folders(repo: Path, agent: str) -> None:
    write(repo, dict.fromkeys(("AGENTS.md", "in/AGENTS.md", "in/CLAUDE.md", "in/deep/AGENTS.md"), "team"))
    write(repo, dict.fromkeys((".kimi-code/AGENTS.md", ".factory/AGENTS.md", "in/.kilo/rules/a.md"), "own"))
    write(repo, {".kilo/rules/no.md": "not from a folder below", "in/.continue/rules/a.md": "own"})
    write(repo, {"in/.continue/rules/no.md": "---\nglobs: docs/**\n---\nown"})
    write(
        repo.parent,
        {"home/.config/kilo/AGENTS.md": "mine", "home/.kilo/rules/b.md": "mine", "home/.continue/rules/b.md": "mine"},
    )
    write(repo.parent, {f"home/{own}/AGENTS.md": "mine" for own in (".kimi-code", ".factory", ".continue", ".cline")})
    write(repo.parent, {"AGENTS.md": "above the repository"})
    found = context(agent, repo, "deep/a.py", cwd="in")
    assert start_texts(found, repo) == FIXED[agent]
    entered = [os.path.relpath(file.path, repo) for file in found.files if file.loaded is LoadTime.ON_USE]
    assert entered == (["in/deep/AGENTS.md"] if agent in {"droid", "kilo"} else [])


def test_listed_and_unlisted_skills_are_told_apart(repo: Path) -> None:
    skill = "---\nname: {0}\ndescription: {1}\n---\n# Body\n"
    for number in range(9):
        write(repo, {f".claude/skills/s{number}/SKILL.md": skill.format(f"s{number}", "d" * 1000)})
    write(
        repo,
        {
            ".claude/skills/same/SKILL.md": skill.format("same", "ours"),
            ".pi/skills/c/SKILL.md": skill.format("c", "a: b"),
        },
    )
    write(repo.parent, {"home/.claude/skills/same/SKILL.md": skill.format("same", "mine")})
    found = context("claude-code", repo)
    listed = [file.text for file in found.files if file.loaded is LoadTime.LISTING]
    assert listed[0] == "- same: mine"
    assert listed[-1] == "- s8"
    assert [name for name, _ in shown_files(found, Kind.UNLISTED)] == ["SKILL.md"] * 3
    assert [one.by for one in found.of(Kind.HIDDEN)] == [str(repo.parent / "home/.claude/skills/same/SKILL.md")]
    assert "unquoted colon" in shown_files(context("pi", repo), Kind.UNLISTED)[0][1]


def listed(found: Context, top: Path) -> list[str]:
    """Return the listed skills named `twin`, by their folder below the folder of the repository."""
    return [
        os.path.relpath(file.path, top).removesuffix("/twin/SKILL.md") for file in found.files if "/twin/" in file.path
    ]


@pytest.mark.parametrize(
    ("agent", "one", "other", "expected"),
    [
        ("copilot-cli", "repo/.claude", "repo/.agents", ["repo/.agents"]),
        ("copilot-cli", "repo/in/.claude", "repo/.agents", ["repo/.agents"]),
        ("copilot-cli", "repo/in/.agents", "repo/.github", ["repo/.github"]),
        ("copilot-cli", "home/.copilot", "repo/.claude", ["repo/.claude"]),
        ("opencode", "repo/.claude", "repo/.agents", ["repo/.agents"]),
        ("opencode", "repo/in/.agents", "repo/.claude", ["repo/.claude"]),
        ("opencode", "repo/in/.opencode", "repo/.agents", ["repo/in/.opencode"]),
        ("opencode", "home/.agents", "repo/in/.claude", ["repo/in/.claude"]),
        ("opencode", "home/.config/opencode", "repo/.agents", ["home/.config/opencode"]),
        ("gemini-cli", "repo/in/.gemini", "repo/in/.agents", ["repo/in/.agents"]),
        ("gemini-cli", "home/.gemini", "home/.agents", ["home/.agents"]),
        ("gemini-cli", "home/.agents", "repo/in/.gemini", ["repo/in/.gemini"]),
        ("codex", "repo/.agents", "home/.agents", ["repo/.agents", "home/.agents"]),
        ("claude-code", "repo/.claude", "home/.claude", ["home/.claude"]),
        ("claude-code", "repo/.claude", "repo/in/.claude", ["repo/in/.claude"]),
        ("qwen-code", "repo/in/.qwen", "home/.qwen", ["repo/in/.qwen"]),
    ],
)
def test_of_two_copies_of_a_skill_the_one_that_the_client_lists_is_named(
    repo: Path, agent: str, one: str, other: str, expected: list[str]
) -> None:
    skill = "---\nname: twin\ndescription: Do it.\n---\n"
    write(repo.parent, {f"{folder}/skills/twin/SKILL.md": skill for folder in (one, other)} | {"repo/in/a.txt": ""})
    found = context(agent, repo, cwd="in")
    assert listed(found, repo.parent) == [f"{folder}/skills" for folder in expected]
    hidden = [os.path.relpath(surprise.path, repo.parent) for surprise in found.of(Kind.HIDDEN)]
    assert hidden == [f"{name}/skills/twin/SKILL.md" for name in (one, other) if name not in expected]


def test_an_older_claude_code_lists_all_copies_of_a_skill(repo: Path) -> None:
    write(repo, {f"{folder}.claude/skills/twin/SKILL.md": "Do it.\n" for folder in ("", "in/")})
    assert listed(context("claude-code", repo, cwd="in", version=OLD), repo) == ["in/.claude/skills", ".claude/skills"]


@pytest.mark.parametrize(
    ("version", "files", "hidden"),
    [
        ("0.73.1", ["AGENTS.md", "trees/one/AGENTS.md"], ["CLAUDE.md", "CLAUDE.md"]),
        ("0.83.0", ["trees/one/AGENTS.md"], ["AGENTS.md", "CLAUDE.md"]),
        ("1.6.0", ["trees/one/AGENTS.override.md"], ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"]),
    ],
)
def test_pi_reads_an_override_and_in_a_worktree_no_second_copy(
    repo: Path, version: str, files: list[str], hidden: list[str]
) -> None:
    tree = dict.fromkeys(("AGENTS.md", "CLAUDE.md", "AGENTS.override.md"), "rules")
    write(repo / "trees/one", {**tree, ".git": f"gitdir: {repo}/.git/worktrees/one\n"})
    write(repo, tree)
    found = context("pi", repo, version=version, cwd="trees/one")
    assert start_texts(found, repo) == files
    assert [name for name, _ in shown_files(found, Kind.HIDDEN)] == hidden


def test_thousands_of_imports_are_not_followed(repo: Path) -> None:
    every = "".join(f"@a{number}.md\n" for number in range(150))
    write(repo, {"CLAUDE.md": every, **{f"a{number}.md": every for number in range(150)}})
    told = [why for name, why in shown_files(context("claude-code", repo), Kind.DEAD)]
    assert told.count("imports after the first 5,000 are not followed here") > 0
    assert len(told) < 5050


def test_copilot_follows_no_import_in_a_gemini_file(repo: Path) -> None:
    write(repo, {name: f"See @of{name}\n" for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md")})
    write(repo, {f"of{name}": "more" for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md")})
    expected = ["AGENTS.md", "ofAGENTS.md", "CLAUDE.md", "ofCLAUDE.md", "GEMINI.md"]
    assert start_texts(context("copilot-cli", repo), repo) == expected


def test_opencode_looks_up_a_relative_name_in_every_folder_up_to_the_root(repo: Path) -> None:
    write(repo, {"opencode.json": '{"instructions": ["TEAM.md", "notes/*.md"]}', "TEAM.md": "a", "in/TEAM.md": "b"})
    write(repo, {"in/notes/one.md": "c", "in/deep/OWN.md": "d", "OWN.md": "e"})
    write(repo.parent, {"TEAM.md": "outside", "home/.config/opencode/OWN.md": "not here", "home/mine.md": "f"})
    write(repo.parent, {"home/.config/opencode/opencode.json": '{"instructions": ["OWN.md", "~/mine.md"]}'})
    found = context("opencode", repo, cwd="in/deep")
    expected = ["in/deep/OWN.md", "OWN.md", "../home/mine.md", "in/TEAM.md", "TEAM.md", "in/notes/one.md"]
    assert start_texts(found, repo) == expected
    assert [file.scope for file in found.files] == [Scope.PROJECT] * 2 + [Scope.PERSONAL] + [Scope.PROJECT] * 3


def test_text_loaded_twice_is_reported(repo: Path) -> None:
    line = "Always run the tests with pytest -x before you commit anything."
    write(repo, {"QWEN.md": f"# One\n\n{line}\n", "AGENTS.md": f"# Two\n\n\n{line}\n"})
    (twice,) = find_duplicates(context("qwen-code", repo).files)
    assert (Path(twice.path).name, Path(twice.other).name, twice.line, twice.text) == ("QWEN.md", "AGENTS.md", 4, line)


def test_sibling_folders_do_not_count_as_loaded_twice(repo: Path) -> None:
    line = "Always run the tests with pytest -x before you commit anything.\n"
    write(repo, dict.fromkeys(("web/CLAUDE.md", "api/CLAUDE.md", "api/v2/CLAUDE.md"), line))
    found = [(twice.path, twice.other) for twice in find_duplicates(context("claude-code", repo).files)]
    assert found == [(str(repo / "api/CLAUDE.md"), str(repo / "api/v2/CLAUDE.md"))]


def test_changed_files_are_reread_and_unreadable_ones_are_absent(repo: Path) -> None:
    disk = Disk()
    for text in ("one", "two"):
        write(repo, {"CLAUDE.md": text})
        (file,) = context_of("claude-code", "", repo, repo.parent, files=disk).files
        assert file.text == text
    (repo / "CLAUDE.md").unlink()
    os.mkfifo(repo / "CLAUDE.md")
    assert context_of("claude-code", "", repo, repo.parent, files=disk).files == ()


@pytest.mark.parametrize("agent", ADAPTERS)
def test_no_input_breaks_a_resolver(repo: Path, agent: str) -> None:
    names = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".claude/rules/r.md", ".github/instructions/a.instructions.md")
    for text in ("@", "---\npaths: [\n", "<!--", "@../" * 300, "\0", "```\n@a", '{"a":' * 2000):
        write(repo, dict.fromkeys((*names, "opencode.json", ".codex/config.toml", ".gemini/settings.json"), text))
        write(repo, {".claude/skills/s/SKILL.md": text, ".cursor/rules/x.mdc": text})
        assert context(agent, repo, "src/a.py").agent == agent, text


@for_each(
    ("pattern", "path", "fits"),
    [
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("src/**", "src/a", True),
        ("docs/**", "src/a", False),
        ("src/**/a.py", "src/a.py", True),
        ("*.{ts,tsx}", "x/a.tsx", True),
        ("/a.py", "x/a.py", False),
        ("src", "x/src/a.py", True),
        ("src/a?.py", "src/a1.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("{a,b}{c,d}{e,f}" * 30, "ace", False),
        ("**/" * 400 + "x", "/".join("ab" * 200), False),
    ],
)
def test_glob_patterns_match_as_documented(pattern: str, path: str, *, fits: bool) -> None:
    assert matches([pattern], path) is fits


@pytest.mark.parametrize("shape", ["npm", "native", "unknown"])
def test_the_client_version_is_read_beside_the_program(tmp_path: Path, shape: str) -> None:
    if shape == "npm":
        write(tmp_path, {"lib/claude-code/package.json": '{"name": "@anthropic-ai/claude-code", "version": "2.1.200"}'})
    place = {"npm": "lib/claude-code/bin/cli.js", "native": "claude/versions/2.1.200", "unknown": "bin/claude-x"}[shape]
    write(tmp_path, {place: "#!/bin/sh\n"})
    (tmp_path / place).chmod(0o755)
    (tmp_path / "path").mkdir()
    (tmp_path / "path/claude").symlink_to(tmp_path / place)
    found = installed_version(CLAUDE_CODE, {"PATH": str(tmp_path / "path")})
    assert found == ("" if shape == "unknown" else "2.1.200")


def test_scopes_and_order_are_reported(repo: Path) -> None:
    write(repo, {"CLAUDE.md": "p", "CLAUDE.local.md": "l", ".claude/rules/r.md": "r", ".claude/CLAUDE.md": "q"})
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(repo))
    write(repo.parent, {f"home/.claude/projects/{slug}/memory/MEMORY.md": "m\n" * 300})
    found = context("claude-code", repo)
    assert [file.scope for file in found.files] == [Scope.PROJECT, Scope.PROJECT, Scope.RULE, Scope.LOCAL, Scope.MEMORY]
    assert [name for name, _ in shown_files(found, Kind.CUT)] == ["MEMORY.md"]


def test_the_command_and_the_doctor_report_the_same_problem(home: Path, repo: Path) -> None:
    write(repo, {"AGENTS.md": "team", "CLAUDE.local.md": "mine", "AGENT.md": "nobody's"})
    write(home, {".claude/settings.json": "{}", ".codex/config.toml": ""})
    program = Program(home)
    document = program.json("context", "--project", str(repo))
    assert set(document["agents"]) == {"claude-code", "codex"}
    assert document["unread"] == [str(repo / "AGENT.md")]
    claude = document["agents"]["claude-code"]
    assert {"version", "files", "tokens", "duplicates", "conflicts", "dead"} <= claude.keys()
    (file,) = claude["files"]
    expected = {"loaded": "start", "scope": "local", "tokens": 1, "via": ""}
    assert {key: file[key] for key in ("path", *expected)} == {"path": str(repo / "CLAUDE.local.md"), **expected}
    assert [file["path"] for file in document["agents"]["codex"]["files"]] == [str(repo / "AGENTS.md")]
    output = program.run("context", "--project", str(repo), "--agent", "claude-code").stdout
    assert "! AGENTS.md: it is used only if there is no CLAUDE.md (CLAUDE.local.md)" in output
    assert program.run("context", "--agent", "nobody").returncode == 2
    (check,) = surprises([context("claude-code", repo)])
    assert (check.verdict.value, check.name) == ("warn", "context claude-code")
    assert f"{repo / 'AGENTS.md'}: it is used only if there is no CLAUDE.md" in check.detail
    assert [check.verdict.value for check in surprises([context("codex", repo)])] == ["ok"]


def test_an_unknown_version_is_assumed_and_reported(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert context("claude-code", repo).is_assumed
    assert not context("claude-code", repo, version=OLD).is_assumed
    monkeypatch.setenv("PATH", "/nowhere")
    main(["context", "--agent", "claude-code", "--project", str(repo)])
    assert f"claude-code (version not found; assuming {NEW}): " in capsys.readouterr().out


@for_each(
    ("line", "above", "below"),
    [
        ("```sh", "", "```"),
        ("text", "```", "```"),
        ("```", "```", ""),
        ("`````", "```", ""),
        ("```", "````", "````"),
        ("~~~", "```", "```"),
        ("text", "", ""),
    ],
)
def test_a_fence_is_closed_by_one_of_its_kind_that_is_no_shorter(line: str, above: str, below: str) -> None:
    assert fence_after(line, above) == below


def test_a_file_that_two_agents_load_has_one_size(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repo, {"AGENTS.md": "x" * 352 + "\n"})
    monkeypatch.setenv("HOME", str(repo.parent / "home"))
    for agent in ("claude-code", "codex", "gemini-cli"):
        main_arguments = ["context", "--agent", agent, "--project", str(repo)]
        assert main(main_arguments) == 0
    told = capsys.readouterr().out
    assert told.count("88 tokens") == 2
