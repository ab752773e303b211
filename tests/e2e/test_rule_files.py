"""Rules for some files go into a path rule, created where the active agents have such files."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_targets import GUIDE, Talk, make_project
from skilld.context import context_of
from skilld.targets.find import WorkingSession, find_targets
from skilld.targets.route import choose_target
from skilld.targets.scopes import RULE_FILES, find_scopes
from skilld.types import SkillRef, TargetKind
from support.in_process_daemon import InProcessDaemon
from support.program import Program
from support.rows import for_each
from support.session import CHATTER

ALL = tuple(TargetKind)
pytestmark = pytest.mark.usefixtures("scrubbed")


@for_each(
    ("text", "patterns"),
    [
        ("In the tests folder, always use fixtures.", ["tests/**"]),
        ("In `src/api` always check the input.", ["src/api/**"]),
        ("For *.sql files, write keywords in upper case.", ["**/*.sql"]),
        ("Always run prettier on TypeScript files.", ["**/*.ts", "**/*.tsx"]),
        ("Bei .py-Dateien immer ruff benutzen, im Ordner tests nicht.", ["tests/**"]),
        ("Use strict mode in every .ts file.", ["**/*.ts"]),
        ("Always use pnpm in this repository.", []),
        ("Never write to ../other/place again.", []),
        ("Put a shell script beside each tool.", []),
        ("Use and/or as little as you can.", []),
    ],
)
def test_the_files_a_statement_is_about_are_recognized(text: str, patterns: list[str]) -> None:
    assert [pattern for scope in find_scopes(text) for pattern in scope.patterns] == patterns


def _root(tmp_path: Path) -> Path:
    (tmp_path / "project/.git").mkdir(parents=True)
    (tmp_path / "project/tests").mkdir()
    (tmp_path / "project/CLAUDE.md").write_text("# P\n\n- Be brief.\n")
    (tmp_path / "project/AGENTS.md").write_text("# P\n\n- Be brief.\n")
    return tmp_path / "project"


def _choose_target(root: Path, text: str, agent: str, *others: str) -> SkillRef | None:
    return choose_target(
        text,
        find_targets(WorkingSession(agent, root, root.parent / "home", {}, others=others), ALL, find_scopes(text)).refs,
    )


@pytest.mark.parametrize(
    ("agents", "name"),
    [
        (("claude-code",), ".claude/rules/tests.md"),
        (("copilot-cli",), ".github/instructions/tests.instructions.md"),
        (("copilot-cli", "claude-code"), ".claude/rules/tests.md"),
        (("cursor",), ".cursor/rules/tests.mdc"),
        (("codex",), "AGENTS.md"),
        (("claude-code", "codex"), "CLAUDE.md"),
    ],
)
def test_the_rule_to_create_is_one_all_active_agents_read(tmp_path: Path, agents: tuple[str, ...], name: str) -> None:
    ref = _choose_target(_root(tmp_path), "In the tests folder, always use fixtures.", *agents)
    assert ref is not None
    assert ref.name == name


def test_an_existing_rule_is_used_unless_it_is_for_other_paths(tmp_path: Path) -> None:
    root = _root(tmp_path)
    rules = root / ".claude/rules"
    rules.mkdir(parents=True)
    (rules / "web.md").write_text('---\npaths: ["web/**"]\n---\n\n- Strict.\n')
    said = "In the tests folder, always use fixtures."
    ref = _choose_target(root, said, "claude-code")
    assert ref is not None
    assert (ref.name, ref.absent) == (".claude/rules/tests.md", True)
    (rules / "checks.md").write_text('---\npaths: ["tests/**", "e2e/**"]\n---\n\n- Fast.\n')
    ref = _choose_target(root, said, "claude-code")
    assert ref is not None
    assert (ref.name, ref.absent) == (".claude/rules/checks.md", False)
    general = _choose_target(root, "Always use pnpm.", "claude-code")
    assert general is not None
    assert general.name == "CLAUDE.md"


def test_no_rule_is_created_for_a_missing_folder(tmp_path: Path) -> None:
    ref = _choose_target(_root(tmp_path), "In the server folder, always use fixtures.", "claude-code")
    assert ref is not None
    assert ref.name == "CLAUDE.md"


@pytest.mark.parametrize(("agent", "kind"), [("claude-code", 1), ("copilot-cli", 0), ("copilot-cli", 1), ("cursor", 2)])
def test_the_front_matter_is_read_by_the_agent(tmp_path: Path, agent: str, kind: int) -> None:
    root = _root(tmp_path)
    (scope,) = find_scopes("For YAML files, two spaces.")
    path = root / RULE_FILES[kind].path(scope)
    path.parent.mkdir(parents=True)
    path.write_text(f"{RULE_FILES[kind].front(scope)}- Two spaces.\n")
    for touched, entered in (("a/b.yml", True), ("a/b.md", False)):
        context = context_of(agent, "", root, tmp_path / "home", [touched])
        (file,) = [file for file in context.files if file.path == str(path)]
        assert (file.paths, file.entered) == (("**/*.yaml", "**/*.yml"), entered)


def test_it_is_created_on_staging_with_its_front_matter_and_removed_again(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    """Issue 16, 2: place 3 of the list; said again it stands already, in a session that touched none of its files."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE, "tests/a.py": "1\n"})
    before = project.fingerprint()
    said = "From now on, in the tests folder, always use fixtures instead of mocks."
    Talk(home, project.root).type(said, *CHATTER[:4])
    (proposal,) = daemon.run()
    assert project.fingerprint() == before
    assert (proposal.relpath, proposal.target, proposal.creates) == (".claude/rules/tests.md", TargetKind.RULES, True)
    skilld, path = Program(home), project.root / ".claude/rules/tests.md"
    assert skilld.run("accept", proposal.id).returncode == 0
    head, _, body = path.read_text().partition("\n\n")
    assert head == '---\npaths:\n  - "tests/**"\n---'
    assert body.endswith("- In the tests folder, always use fixtures instead of mocks.\n")
    Talk(home, project.root).type("In the tests folder, always use fixtures instead of mocks!", *CHATTER[:4])
    assert daemon.run() == []
    assert skilld.run("revert", proposal.id).returncode == 0
    assert not path.exists()


def test_a_project_without_instructions_waits_for_a_second_session(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project = make_project(home, tmp_path, **{"tests/a.py": "1\n"})
    said = "From now on, in the tests folder, always use fixtures instead of mocks."
    Talk(home, project.root).type(said, *CHATTER[:4])
    assert daemon.run() == []
    (waits,) = daemon.store.learnings.all()
    assert waits.place == str(project.root / ".claude/rules/tests.md")
    Talk(home, project.root).type("Always use fixtures instead of mocks in the tests folder.", *CHATTER[:4])
    (proposal,) = daemon.run()
    assert proposal.relpath == ".claude/rules/tests.md"
