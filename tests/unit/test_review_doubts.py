"""Decisions that an agent may have made with plain git take one line of the review, however many they are."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from skilld.cli import common
from skilld.clock import rfc3339
from skilld.store.proposals import MAYBE_AGENTS_PREFIX
from skilld.types import State
from support.proposals import make_proposal
from support.review_pilot import review_session


def test_several_doubtful_decisions_are_one_line(home: Path) -> None:
    names = ["0a1b2c3d", "1a1b2c3d", "2a1b2c3d"]
    with closing(common.store()) as store:
        for name in names:
            one = replace(make_proposal(id=name), batch_id=f"batch-{name}")
            store.proposals.add(one)
            store.proposals.decide(one, State.ACCEPTED, rfc3339(time.time()), who=f"{MAYBE_AGENTS_PREFIX}claude-code")
            if name == names[0]:
                (single,) = review_session(home).doubts()
    assert single.startswith("0a1b2c3d: accepted with plain git, by you or an agent (claude-code had an active session")
    (line,) = review_session(home).doubts()
    assert line.startswith("2 decisions this week were made with plain git, by you or an agent: ")
    assert line.endswith(" (skilld show ID)")
    assert all(name in line for name in names[1:])
    assert review_session(home).doubts() == [], "each is said once; skilld show has it for a week"
