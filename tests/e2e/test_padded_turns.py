"""S2: a padded turn is judged like any other, and so is what was said beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session

PADDED = "From now on always sort the entries"


@pytest.mark.parametrize("run", [" " * 20_000, ", " * 10_000], ids=["blanks", "commas"])
def test_s2_a_padded_turn_is_judged_at_the_first_try(home: Path, project: Project, program: Program, run: str) -> None:
    program.run("run", "--once")  # from now on
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, f"{PADDED}{run}x", "ok", "thanks")
    # What is linear takes a hundredth of it; at the time of the finding, 6,000 blanks took 16 s and 20,000 had no end.
    program.environment |= {"SKILLD_WORKER__SECONDS": "60", "SKILLD_WORKER__ATTEMPTS": "1"}
    program.run("run", "--once")
    assert program.json("status")["batches"] == {"pending": 0, "done": 1, "parked": 0}
    quotes = {evidence["quote"] for proposal in program.json("proposals") for evidence in proposal["evidence"]}
    assert LASTING in quotes
