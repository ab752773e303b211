"""Messages between processes survive a round trip; an invalid one is an error that names the field."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from skilld import codec
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.completion import Rates
from skilld.classify.partial_results import WindowResult, WindowUpdate
from skilld.protocol import (
    AnalyseBatch,
    BatchJob,
    BatchResult,
    FromWorker,
    GitResult,
    Job,
    JobEnd,
    KeepRequest,
    PastDecision,
    Plan,
    PriceResult,
    Source,
    StoredWords,
)
from skilld.types import (
    Changes,
    CommitChange,
    Evidence,
    How,
    Kind,
    Op,
    Operation,
    Outcome,
    Proposal,
    SkillRef,
    State,
    StateChange,
    Update,
    Usage,
)
from support.proposals import COMMIT_FIELDS, make_proposal
from support.rows import for_each

PROPOSAL = make_proposal(
    operations=(Operation(Op.INSERT_AFTER, "- a", "- b"), Operation(Op.DELETE, "- c")),
    kind=Kind.ADD_STEP,
    evidence=(Evidence("claude-code:t1", "always b \u2028 \ud83d"),),
    confidence=0.75,
    flags=("look at it",),
    updates=(Update(None, "", "Say b.", "", Kind.FACT, 1, "b"),),
    **COMMIT_FIELDS,
)
BATCH = BatchJob(
    batch="b1",
    turns=("t1",),
    sources=(Source("/s", 0, 9),),
    skills=(SkillRef("a", "/a", (1, 2)),),
    plan=Plan((PROPOSAL,)),
)
ANALYSE = AnalyseBatch(
    batch=BATCH,
    closed_at="2026-01-01T00:00:00Z",
    backend=Spec(OFFLINE, seconds=5),
    words=(StoredWords("t1", How.TYPED, "b"),),
    open=(PROPOSAL,),
    thresholds={"/a": {"fact": 0.5}},
    decided=(PastDecision("/a", State.REJECTED, ("b",), (), "s1"),),
)
JUDGED = BatchResult(
    outcome=Outcome.PROPOSED,
    proposals=(PROPOSAL,),
    usage=Usage(1, 2, 3, 0.5),
    changes=Changes(
        moved=(CommitChange("a", "1", "2"),), decisions=(StateChange("b", State.OPEN, State.STALE, note="x"),)
    ),
)
HEARD = WindowResult(window="w", model="m", usage=Usage(), updates=(WindowUpdate("t", "q", "c", Kind.FACT, 1.0),))
OBSERVED = GitResult(outcome=Outcome.NOTHING, missing={"a": None, "b": 1.5}, committed=(PROPOSAL,))
PRICED = PriceResult(outcome=Outcome.NOTHING, rates={"m": Rates(0.1, 0.2, 0.0, 0.0), "n": None})


def test_a_message_survives_a_round_trip() -> None:
    job = Job(ANALYSE, 0o077)
    assert codec.decode(Job, codec.encode(job)) == job
    ends = [JobEnd(result, stays=True, asked_models=False) for result in (JUDGED, OBSERVED, PRICED)]
    for message in (KeepRequest(JUDGED), KeepRequest(HEARD), *ends):
        assert codec.decode(FromWorker, codec.encode(message)) == message
        assert "\n" not in codec.encode(message)


@for_each(
    ("change", "told"),
    [
        ({"state": "undecided"}, "Proposal.state is not a valid State"),
        ({"operations": [{"op": "insert_after"}]}, "Proposal.operations[0].anchor is missing"),
        ({"operations": {}}, "Proposal.operations is not a list"),
        ({"confidence": "high"}, "Proposal.confidence is not a valid float"),
        ({"confidence": True}, "Proposal.confidence is not a valid float"),
        ({"summary": None}, "Proposal.summary is not a valid str"),
        ({"surplus": 1}, "Proposal has an unknown field, surplus"),
    ],
)
def test_an_invalid_message_names_the_field_and_no_value(change: dict[str, object], told: str) -> None:
    data = json.loads(codec.encode(PROPOSAL)) | change
    with pytest.raises(codec.DecodeError) as error:
        codec.decode(Proposal, json.dumps(data))
    assert str(error.value) == told


def test_a_row_of_another_version_is_read_without_unknown_fields() -> None:
    old = {"version": 1, "kind": "analyse", "batch": "b1", "sources": [{"path": "/s", "start": 0, "end": 9, "more": 1}]}
    old |= {"turns": ["t1"], "skills": [{"name": "a", "path": "/a"}], "surplus": 1}
    expected = BatchJob(batch="b1", sources=(Source("/s", 0, 9),), turns=("t1",), skills=(SkillRef("a", "/a"),))
    assert codec.decode(BatchJob, json.dumps(old), strict=False) == expected
    assert codec.decode(BatchJob, "{}") == BatchJob()


def test_the_public_json_has_the_promised_names() -> None:
    shown = asdict(replace(PROPOSAL, evidence=(Evidence("t1", "b"),)))
    promised = "id state skill path repo commit branch summary evidence confidence agent session_id model created_at"
    assert set(promised.split()) <= shown.keys()
    assert shown["state"] == "open"
    assert shown["evidence"] == ({"turn": "t1", "quote": "b"},)
