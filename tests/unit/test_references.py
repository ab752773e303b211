"""Broken references: sixty labelled ones in tests/data/references, half of them scored once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skilld.context import Disk
from skilld.context.references import Project, dead_references

DATA = Path(__file__).parents[1] / "data" / "references"


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    for name, files in json.loads((DATA / "projects.json").read_text(encoding="utf-8")).items():
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text, encoding="utf-8")
    return tmp_path


def broken_references(root: Path, file: str, text: str) -> list[str]:
    return [one.name for one in dead_references(text, str(root / file), Project(str(root), Disk()))]


@pytest.mark.parametrize("half", ["held", "dev"])
def test_broken_references_are_told_apart_from_valid_and_unknowable_ones(half: str, projects: Path) -> None:
    lines = (DATA / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["half"] == half]
    assert (len(cases), sum(bool(case["dead"]) for case in cases)) == (30, 15)
    right = wrong = 0
    for case in cases:
        found = broken_references(projects / case["project"], case["file"], case["line"])
        right += case["dead"] in found
        wrong += sum(name != case["dead"] for name in found)
        if half == "dev" and found != ([case["dead"]] if case["dead"] else []):
            print(case, found)
    print(f"{half}: {right} of 15 found, {wrong} wrong")
    assert right / (right + wrong) >= 0.95
    assert right >= 10


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """Return a project whose `app` folder became `packages/api/src`."""
    for path in (
        *("packages/api/src/models/invoice.py", "packages/api/src/order_service.py", "packages/api/src/UserCard.tsx"),
        *("packages/api/src/models/index.ts", "packages/web/src/index.ts", "tools/lint/rules.py", "lint/rules.py"),
        *("scripts/check_all.py", "docs/readme.md"),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("text\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("app/models/invoice.py", "packages/api/src/models/invoice.py"),
        ("app/order_service.py", "packages/api/src/order_service.py"),
        ("app/ui/UserCard.tsx", "packages/api/src/UserCard.tsx"),
    ],
)
def test_a_file_that_was_moved_out_of_a_folder_that_is_gone_is_named(moved: Path, name: str, now: str) -> None:
    (found,) = dead_references(f"- Keep `{name}` short.\n", str(moved / "CLAUDE.md"), Project(str(moved), Disk()))
    assert (found.name, found.why, found.now) == (name, f"not found in the project, which has {now}", now)


@pytest.mark.parametrize(
    "name",
    [
        "other/src/index.ts",  # many projects have one
        "app/models/index.ts",
        "app/lint/rules.py",  # there are two, and which is meant is unknown
        "moved/scripts/check_all.py",  # written from above the project
        "app/invoice.py",  # its name alone proves nothing
        "numpy/core/umath.py",
        "packages/api/src/models/invoice.py",
        "docs/NAME.md",  # stands for any
        "tools/lint/TICKET-rules.py",
    ],
)
def test_what_may_be_another_projects_file_is_not(moved: Path, name: str) -> None:
    assert broken_references(moved, "CLAUDE.md", f"- Keep `{name}` short.\n") == []
