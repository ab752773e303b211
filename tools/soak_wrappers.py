"""Forged contents in every wrapper of every agent (tests/support/forged.py), with other dice than the tests have."""

from __future__ import annotations

from pathlib import Path

from support.forged import CARRIERS, PROMPTS, check_carrier, forged_content
from tools.soak_report import Part, dice_for


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Forge for so long: each content goes into every wrapper there is."""
    del folder
    part = Part("wrappers", seconds)
    number = 0
    while part.goes_on:
        _case(f"{seed}/{number}", part)
        number += 1
    return part


def again(case: str, folder: Path) -> Part:
    """Forge the content of one case again."""
    del folder
    part = Part("wrappers")
    _case(case, part)
    return part


def _case(case: str, part: Part) -> None:
    dice = dice_for(case)
    content, prompt = forged_content(dice), dice.choice(PROMPTS)
    part.count("contents")
    part.count("characters of content", len(content))
    for agent, carriers in CARRIERS.items():
        for carrier in carriers:
            part.count("sessions")
            with part.finding(case):
                check_carrier(agent, carrier, content, prompt)
