"""Random things done to transcripts, against the model of tests/faults/files.py."""

from __future__ import annotations

import shutil
from pathlib import Path

from faults.files import Files
from tools.soak_report import Part, dice_for

_STEPS = (5, 60)


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Take random steps for so long, each case on a machine of its own."""
    part = Part("files", seconds)
    number = 0
    while part.goes_on:
        _case(f"{seed}/{number}", folder / str(number), part)
        number += 1
    return part


def again(case: str, folder: Path) -> Part:
    """Do one case again."""
    part = Part("files")
    _case(case, folder / "0", part)
    return part


def _case(case: str, folder: Path, part: Part) -> None:
    dice = dice_for(case)
    with part.finding(case):
        files = Files(folder, dice)
        for _ in range(dice.randint(*_STEPS)):
            files.step()
            part.count("steps")
        files.check()
    part.count("cases")
    shutil.rmtree(folder)
