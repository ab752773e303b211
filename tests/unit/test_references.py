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
