"""Where a proposal's file is, as `skilld show` and `proposals` say it."""

from __future__ import annotations

import pytest

from skilld.cli.proposals import print_proposal
from skilld.proposals.explain import Applicability
from skilld.types import TargetKind
from support.proposals import make_proposal
from support.rows import for_each


@for_each(
    "target, relpath, line",
    [
        (TargetKind.RULES, ".claude/rules/web.md", "  /p/shop"),
        (TargetKind.INSTRUCTIONS, "api/CLAUDE.md", "  /p/shop/api"),
        (TargetKind.SKILL, ".claude/skills/notes/SKILL.md", "  /p/shop/.claude/skills/notes"),
    ],
)
def test_a_rule_is_located_by_its_project(
    capsys: pytest.CaptureFixture[str], target: TargetKind, relpath: str, line: str
) -> None:
    proposal = make_proposal(target=target, path=f"/p/shop/{relpath}", relpath=relpath, agents=())
    print_proposal(proposal, [], [], Applicability(), age="now", ways=False)
    assert line in capsys.readouterr().out.splitlines()
