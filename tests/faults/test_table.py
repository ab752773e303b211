"""The table of README.md: every fault has a row, every test that a row names is there, every test here is in a row."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from support.rows import for_each

HERE = Path(__file__).parent
TESTS = HERE.parent
FAULTS = [f"F-{number:02}" for number in range(1, 25)]
ROWS = re.findall(
    r"^\| (F-\d\d) [^|]+\| [^|]+\| ([^|]+) \|$", (HERE / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)


def _tests(file: str) -> set[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8")) if (TESTS / file).is_file() else ast.Module([], [])
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if node.name.startswith("test_")}


def _named(row: str) -> set[str]:
    """Return the tests that a row names, as file::name; a name that does not exist stays as it is."""
    found = set()
    for file, name in re.findall(r"`(\w+/test_\w+\.py)(?:::(test_\w+\*?))?`", row):
        pattern = name.replace("*", ".*") or ".*"
        fits = [test for test in _tests(file) if re.fullmatch(pattern, test)]
        found |= {f"{file}::{test}" for test in fits} or {f"{file}::{name} does not exist"}
    return found


def test_every_fault_has_one_row() -> None:
    assert [fault for fault, _ in ROWS] == FAULTS


@for_each(("fault", "row"), ROWS)
def test_the_tests_of_a_row_exist(fault: str, row: str) -> None:
    named = _named(row)
    assert named, f"{fault} names no test"
    assert {test for test in named if test.endswith("does not exist")} == set()
    of_the_fault = {test for test in named if test.startswith("faults/")}
    assert of_the_fault or fault == "F-24", "its test is in another folder"


def test_every_test_here_is_in_the_row_of_its_fault() -> None:
    rows = {fault: _named(row) for fault, row in ROWS}
    for path in HERE.glob("test_f*.py"):
        for test in _tests(f"faults/{path.name}"):
            if number := re.match(r"test_f(\d\d)_", test):
                assert f"faults/{path.name}::{test}" in rows[f"F-{number[1]}"]
