"""What `skilld skills profile` counts as an instruction that the person gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.cli.skills.listing import _build_profile
from skilld.types import Evidence
from support.new_store import new_store
from support.proposals import make_proposal


def test_a_remedy_for_a_rule_is_not_an_instruction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = new_store(tmp_path / "skilld.db")
    said = Evidence("claude-code:1", "Always use pnpm.")
    store.proposals.add(make_proposal(id="a1", batch_id="b1", summary="Always use pnpm.", evidence=(said,)))
    remedy = make_proposal(
        id="a2", batch_id="effect-sharpen-r1", summary="Say this more clearly: Always use pnpm.", evidence=(said,)
    )
    store.proposals.add(remedy)
    monkeypatch.setattr("skilld.cli.common.store_or_empty", lambda: store)
    found = _build_profile(None)
    assert (found.total, [one.text for one in found.top]) == (1, ["Always use pnpm."])
