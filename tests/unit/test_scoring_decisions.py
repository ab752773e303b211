"""`skilld eval decisions`: accepted and reverted proposals as labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.__main__ import main
from skilld.cli import common
from skilld.protocol import BatchJob
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.types import ClosedBy, Evidence, Kind, State
from support.proposals import make_proposal

AT = "2026-03-02T09:00:00Z"
ACCEPTED = make_proposal(
    id="a1",
    batch_id="b1",
    state=State.ACCEPTED,
    skill="bread",
    kind=Kind.PREFERENCE,
    evidence=(Evidence("t1", "always weigh the flour twice"),),
    confidence=0.8,
    agent="codex",
    model="offline",
    created_at=AT,
)
PROPOSALS = (
    ACCEPTED,
    replace(ACCEPTED, id="a2", skill="soup", evidence=(Evidence("t2", "the broth was a bit thin"),),
        model="some/model"),
    replace(ACCEPTED, id="r1", state=State.REJECTED, confidence=0.95, evidence=(Evidence("t3",
        "never salt the dough"),)),
    replace(ACCEPTED, id="r2", state=State.REVERTED, kind=Kind.FACT, confidence=0.4, evidence=(Evidence("t4",
        "it is Monday"),)),
    replace(ACCEPTED, id="o1", state=State.OPEN),
    replace(ACCEPTED, id="s1", state=State.STALE),
)  # fmt: skip


@pytest.fixture
def store() -> Iterator[Store]:
    opened = common.store()
    opened.batches.add(StoredBatch("b1", "codex", "s1", ClosedBy.FULL, "pending", BatchJob(), 0, AT), [])
    yield opened
    opened.close()


def test_decisions_are_labels_and_undecided_proposals_are_not(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for proposal in PROPOSALS:
        store.proposals.add(proposal)
    out = tmp_path / "out.jsonl"
    assert main(["eval", "decisions", "--json", "--out", str(out)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["n"], document["calls"], document["tokens"]) == ("decisions", 4, 0, 0)
    assert (document["accepted"], document["rejected"], document["reverted"], document["accepted_share"]) == (
        2,
        1,
        1,
        0.5,
    )
    # Heard today: the flour and the salt, of which one was accepted; the broth, accepted too, was not heard.
    assert document["heard_now"] == {"accepted": 1, "rejected": 1, "reverted": 0}
    assert not {"recall", "precision", "f1"} & set(document), "what nobody proposed is no miss that could be counted"
    bands = {name: (group["n"], group["accepted_share"]) for name, group in document["by_confidence"].items()}
    assert bands == {"below 0.5": (1, 0.0), "from 0.7": (2, 1.0), "from 0.9": (1, 0.0)}
    assert document["by_kind"]["fact"]["accepted_share"] == 0.0
    assert {model: group["n"] for model, group in document["by_model"].items()} == {"offline": 3, "some/model": 1}
    assert document["by_skill"]["soup"]["accepted_share"] == 1.0
    assert document["by_agent"]["codex"]["n"] == 4
    rows = [json.loads(line) for line in out.read_text(encoding="ascii").splitlines()]
    assert [(row["id"], row["state"], row["found"]) for row in rows] == [
        ("a1", "accepted", True),
        ("a2", "accepted", False),
        ("r1", "rejected", True),
        ("r2", "reverted", False),
    ]
    assert "flour" not in out.read_text(encoding="ascii")


def test_without_decisions_there_are_no_shares(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "decisions", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["n"], document["accepted_share"], document["by_confidence"], document["by_skill"]) == (
        0,
        None,
        {},
        {},
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["decisions", "--data", "cases.jsonl"], "Leave --data out"),
        (["turns"], "turns needs a file of cases"),
        (["decisions", "--backend", "gold"], "it works only with skilld eval batches"),
    ],
)
def test_files_are_only_for_kinds_that_read_them(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", *arguments]) == 2
    assert why in capsys.readouterr().err
