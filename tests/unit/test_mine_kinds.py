"""Kinds of action that sessions share in whatever order."""

from __future__ import annotations

from skilld.mining.actions import Action
from skilld.mining.procedure import find_procedure
from skilld.mining.similarity import ActionRun, common_path, shared_kinds
from skilld.mining.variables import Episode
from skilld.types import ToolOutcome
from support.rows import for_each


def _runs(session: str, *actions: str) -> list[ActionRun]:
    """Return the actions of a session: "~" before a changed file, "<" before one that was read."""
    return [
        ActionRun(session, "t", one.lstrip("~<"), edits=one[0] == "~", reads=one[0] == "<", reviewed=True)
        for one in actions
    ]


def _kinds(*sessions: tuple[str, ...]) -> list[set[str]]:
    done = {f"s{n}": _runs(f"s{n}", *actions) for n, actions in enumerate(sessions)}
    return [{one.text for one in column.values()} for column in shared_kinds(done)]


def test_commands_are_one_kind_wherever_they_run_in_a_session() -> None:
    assert _kinds(
        ("npm run lint", "kubectl get pods", "gh pr checks 7"),
        ("gh pr checks 8", "terraform plan", "npm run lint"),
        ("npm run lint", "gh pr checks 9"),
    ) == [{"npm run lint"}, {"gh pr checks 7", "gh pr checks 8", "gh pr checks 9"}]


def test_what_too_few_sessions_did_is_no_kind() -> None:
    others = [(f"tool{n} go",) for n in range(5)]
    assert _kinds(("make dist",), ("make dist",), *others) == []
    assert _kinds(("make dist",), ("make dist",), *others[:4]) == [{"make dist"}]


def test_other_files_of_one_folder_are_one_kind_and_the_same_file_is_its_own() -> None:
    assert _kinds(
        ("~notes/one.md", "~CHANGELOG.md"), ("~notes/two.md", "~CHANGELOG.md"), ("~src/a.py", "~CHANGELOG.md")
    ) == [{"notes/one.md", "notes/two.md"}, {"CHANGELOG.md"}]


def test_a_changed_file_is_of_one_kind_only() -> None:
    """By its folder, which more sessions changed one of, and not by its name, too."""
    assert _kinds(("~docs/plan.md",), ("~docs/notes.md",), ("~docs/todo.md",), ("~api/plan.md",)) == [
        {"docs/plan.md", "docs/notes.md", "docs/todo.md"}
    ]


def test_only_files_that_half_of_the_sessions_read_are_a_kind_and_reading_is_no_change() -> None:
    assert _kinds(("<docs/plan.md", "<a.py"), ("<docs/plan.md", "<b.py"), ("~docs/plan.md",), ("make all",)) == [
        {"docs/plan.md"}
    ]
    assert _kinds(("<docs/plan.md",), ("<docs/plan.md",), *[("make all",)] * 3) == [{"make all"}]


def test_a_file_that_is_read_and_then_changed_is_a_change() -> None:
    actions = (
        (Action("CHANGELOG.md", ToolOutcome.OK, 1, read_only=True, reads=True), "t"),
        (Action("CHANGELOG.md", ToolOutcome.OK, 2, edits=True), "t"),
        (Action("gh release create 1.2", ToolOutcome.OK, 3), "t"),
    )
    episodes = [Episode(session, "t", "release it", "release it", actions) for session in ("a", "b")]
    steps = find_procedure(episodes, reviewed=True).steps
    assert [(step.text, step.edits) for step in steps] == [("CHANGELOG.md", True), ("gh release create 1.2", False)]


@for_each(
    ("paths", "shared"),
    [
        (["notes/one.md", "notes/two.md"], "notes/….md"),
        (["specs/a/plan.md", "specs/b/plan.md"], "…/plan.md"),
        (["src/a.py", "web/b.ts"], ""),
        (["one.md", "two.md"], ""),
    ],
)
def test_the_common_part_of_paths_is_a_folder_or_a_name(paths: list[str], shared: str) -> None:
    assert common_path(paths) == shared
