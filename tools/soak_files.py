"""Random things done to transcripts, against the model of tests/faults/files.py."""

from __future__ import annotations

from pathlib import Path

from faults.files import Files
from tools.soak_report import Part, dice_for

_STEPS = (5, 60)


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Take random steps for so long, each case on a machine of its own."""
    part = Part(seconds)
    number = 0
    while part.goes_on:
        case = f"{seed}/{number}"
        dice = dice_for(case)
        files = Files(folder / str(number), dice)
        try:
            for _ in range(dice.randint(*_STEPS)):
                files.step()
                part.count("steps")
            files.check()
        except Exception as error:  # noqa: BLE001 - whatever is raised is a finding
            part.find(f"files, seed {case}", error)
        part.count("cases")
        number += 1
    return part
