"""The plugins only display: their files, what they may run, and what their script does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from skilld import __version__
from skilld.cli import permissions
from skilld.cli.parser import build_parser
from support.rows import for_each

ROOT = Path(__file__).parents[2]
SHOW = ROOT / "plugins/claude-code/show.sh"
MANIFESTS = {
    "plugins/claude-code/.claude-plugin/plugin.json": {"name", "version", "description", "author"},
    "plugins/gemini-cli/gemini-extension.json": {"name", "version", "description"},
    "plugins/skills/.codex-plugin/plugin.json": {"name", "version", "description", "skills", "interface"},
    "plugins/skills/plugin.json": {"name", "version", "description", "author", "skills"},
}
MARKETS = {
    ".claude-plugin/marketplace.json": "plugins/claude-code",
    ".agents/plugins/marketplace.json": "plugins/skills",
    ".github/plugin/marketplace.json": "plugins/skills",
}
PROMPTS = {
    f"plugins/{name.format(verb)}"
    for verb in ("review", "why")
    for name in (
        "claude-code/commands/{}.md",
        "gemini-cli/commands/skilld/{}.toml",
        "opencode/commands/skilld/{}.md",
        "skills/skills/{}/SKILL.md",
    )
}
DECIDES = re.compile(r"\b(?:accept|reject|revert|restore|merge|apply|cherry-pick)")
# A person is told of these, to be typed in a terminal of their own.
TOLD = {"review", "setup"}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_plugins_are_exactly_these_files_without_hooks_servers_or_programs() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "plugins").rglob("*") if path.is_file()}
    assert found == {*MANIFESTS, *PROMPTS, SHOW.relative_to(ROOT).as_posix()}


@for_each(("name", "keys"), MANIFESTS.items())
def test_a_manifest_adds_nothing_that_runs_by_itself(name: str, keys: set[str]) -> None:
    manifest = json.loads(text(name))
    assert manifest.keys() == keys
    assert (manifest["name"], manifest["version"]) == ("skilld", __version__)


@for_each(("name", "folder"), MARKETS.items())
def test_a_marketplace_lists_only_the_plugin(name: str, folder: str) -> None:
    (plugin,) = json.loads(text(name))["plugins"]
    source = plugin["source"] if isinstance(plugin["source"], str) else plugin["source"]["path"]
    assert source == f"./{folder}"
    assert (ROOT / folder).is_dir()


@for_each("name", sorted(PROMPTS))
def test_a_command_only_displays(name: str) -> None:
    said = text(name)
    assert not DECIDES.search(said)
    for verb in re.findall(r"skilld ([a-z]+)(?= FILE:LINE`|`)", said):
        only_shows = permissions.READ_ONLY.get(verb)
        assert verb in TOLD or (only_shows and only_shows(build_parser(verb).parse_args(example(verb)))), verb
    if "claude-code" in name:
        verb = Path(name).stem
        end = "why:*)" if verb == "why" else "review)"
        assert re.findall("^allowed-tools: (.*)$", said, re.MULTILINE) == [
            f'Bash(sh "${{CLAUDE_PLUGIN_ROOT}}/show.sh" {end}'
        ]
        assert "disable-model-invocation: true" in said
        assert re.findall("!`(.*)`", said) == [
            f'sh "${{CLAUDE_PLUGIN_ROOT}}/show.sh" {verb}' + (" '$ARGUMENTS'" if verb == "why" else "")
        ]
    else:
        assert "skilld is not installed" in " ".join(said.split())
        assert "pipx install ." in said


def example(verb: str) -> list[str]:
    return [verb, "SKILL.md:1"] if verb == "why" else [verb]


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """Return a folder with a program `skilld` that says what it was given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "skilld"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    program.chmod(0o755)
    return folder


def run_script(path: str, *arguments: str) -> tuple[int, str]:
    """Run the script with this PATH."""
    shell = shutil.which("sh") or "/bin/sh"
    result = subprocess.run([shell, SHOW, *arguments], env={"PATH": path}, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("review",), "proposals|"),
        (("why", "a b;c:1"), "why|a b;c:1|"),
        (("review", "accept", "--all"), "proposals|"),
        (("why", "a:1", "--accept"), "why|a:1|"),
    ],
)
def test_the_script_runs_two_commands(bin_folder: Path, arguments: tuple[str, ...], given: str) -> None:
    assert run_script(str(bin_folder), *arguments) == (0, given)


@pytest.mark.parametrize("arguments", [(), ("accept",), ("accept", "1"), ("reject", "--all"), ("config", "set")])
def test_the_script_runs_no_other_command(bin_folder: Path, arguments: tuple[str, ...]) -> None:
    assert run_script(str(bin_folder), *arguments) == (2, "")


def test_the_script_says_how_to_install_the_program(tmp_path: Path) -> None:
    code, said = run_script(str(tmp_path), "review")
    assert code == 0
    assert "skilld is not installed" in said
    assert "pipx install ." in said
