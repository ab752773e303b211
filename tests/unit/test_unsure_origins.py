"""A log that cannot tell a script from a person is named where a proposal rests on it."""

from __future__ import annotations

from skilld.cli.proposals import unsure_origins
from skilld.types import Evidence
from support.proposals import make_proposal

REMARK = "the log of Pi does not distinguish what a script passes to pi -p --continue from what you typed"


def test_what_was_said_to_pi_is_marked() -> None:
    said = (Evidence("claude-code:t1", "Use tabs."),)
    assert list(unsure_origins(make_proposal(agent="claude-code", evidence=said))) == []
    assert list(unsure_origins(make_proposal(agent="pi", evidence=(Evidence("pi:t1", "Use tabs."),)))) == [REMARK]
    assert list(unsure_origins(make_proposal(agent="codex", evidence=(*said, Evidence("pi:t1", "x"))))) == [REMARK]
    assert list(unsure_origins(make_proposal(agent="pi", evidence=()))) == []
