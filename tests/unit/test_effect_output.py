"""What `skilld effect` prints of one rule."""

from __future__ import annotations

import pytest

from skilld.cli.effect import _print_outcome
from skilld.effect.figures import Count, RuleState
from skilld.effect.outcomes import RuleOutcome
from skilld.effect.remedy_edits import RemedyPlan
from skilld.effect.rules import Effect, Origin, RepeatEvidence, Rule


def test_the_same_words_are_quoted_once(capsys: pytest.CaptureFixture[str]) -> None:
    rule = Rule("/p/CLAUDE.md", 3, "Use pnpm.", Origin.PERSON, 0.0)
    said = [("s1", "Use pnpm!"), ("s2", "Use pnpm!"), ("s3", "pnpm, please.")]
    evidence = tuple(RepeatEvidence(session, "1", quote, "claude-code", 1.0) for session, quote in said)
    effect = Effect(rule, Count(3, 0), Count(3, 3), RuleState.REPEATED, evidence)
    _print_outcome(RuleOutcome(effect, RemedyPlan(), ()), complete=True)
    told = [line.strip() for line in capsys.readouterr().out.splitlines() if "you: " in line]
    assert told == ["you: “Use pnpm!”", "you: “pnpm, please.”"]
