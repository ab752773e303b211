from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skilld.proposals.results import proposal_from_json, proposal_to_json
from skilld.types import Evidence, Kind, Op, Operation
from support.proposals import COMMITTED, a_proposal

PROPOSAL = a_proposal(
    operations=(Operation(Op.INSERT_AFTER, "- a", "- b"), Operation(Op.DELETE, "- c")),
    kind=Kind.ADD_STEP,
    evidence=(Evidence("claude-code:t1", "always b"),),
    confidence=0.75,
    flags=("look at it",),
    **COMMITTED,
)


def test_a_proposal_comes_back_from_json_as_it_was() -> None:
    assert proposal_from_json(json.loads(json.dumps(proposal_to_json(PROPOSAL)))) == PROPOSAL


def test_the_json_has_the_promised_names() -> None:
    shown = proposal_to_json(PROPOSAL)
    promised = "id state skill path repo commit branch summary evidence confidence agent session_id model created_at"
    assert set(promised.split()) <= shown.keys()
    assert shown["state"] == "open"
    assert shown["evidence"] == ({"turn": "claude-code:t1", "quote": "always b"},)


@pytest.mark.parametrize("change", [{"state": "undecided"}, {"operations": [{"op": "insert_after"}]}, {"surplus": 1}])
def test_what_is_no_proposal_is_refused(change: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        proposal_from_json(proposal_to_json(replace(PROPOSAL)) | change)
