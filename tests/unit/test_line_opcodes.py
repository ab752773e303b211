"""Lines that repeat are compared in time that grows with their number, and the result is still right."""

from __future__ import annotations

import random

import pytest

from skilld.git import line_diff


def rebuilt(before: list[str], after: list[str]) -> list[str]:
    out: list[str] = []
    for tag, i, j, k, m in line_diff.opcodes(before, after):
        if tag == "equal":
            assert before[i:j] == after[k:m]
        out += before[i:j] if tag == "equal" else after[k:m]
    return out


@pytest.mark.parametrize("seed", range(20))
def test_s2_opcodes_make_one_of_the_other(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_diff, "_PAIRS", 4)
    dice = random.Random(seed)
    before = [dice.choice(["", "a", f"{n}"]) for n in range(40)]
    after = [line for line in before if dice.random() < 0.8]
    after.insert(dice.randrange(len(after)), "new")
    assert rebuilt(before, after) == after


def test_s2_ten_thousand_blank_lines_are_compared_at_once() -> None:
    before = [*[""] * 10_000, "a", *[""] * 10_000, "z"]
    after = [*[""] * 10_000, "a", "b", *[""] * 10_000, "z"]
    changed = [code for code in line_diff.opcodes(before, after) if code[0] != "equal"]
    assert [after[k:m] for _, _, _, k, m in changed] == [["b"]]
