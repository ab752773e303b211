from __future__ import annotations

from pathlib import Path

import pytest

from skilld.classify.backends.offline import Offline
from skilld.scoring.loader import LabelledTurn, labelled_turn, load
from skilld.scoring.turns import JudgedTurn, figures, outcome_rows
from skilld.types import Message

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "eval" / "turns.dev.jsonl"


def turn(name: str, label: str, **other: object) -> LabelledTurn:
    row = {"repo": "a/b", "lang": "en", "sample": "random", "stratum": "session_turn", "kind": None, "certainty": 0.9}
    return LabelledTurn(id=name, text=name, prev_assistant="", label=label, **{**row, **other})  # type: ignore[arg-type]


TURNS = [
    turn("hit", "durable", kind="preference"),
    turn("weak hit", "durable", kind="fact", certainty=0.5, repo="unresolved/quote-1", stratum="quoted_user_message"),
    turn("miss", "durable", kind="preference", sample="enriched", repo="c/d", lang="es"),
    turn("alarm", "one_off"),
    turn("quiet", "chat"),
    turn("quiet too", "chat", repo="unresolved/quote-2", stratum="quoted_user_message"),
]
SAID = {"hit": 0.8, "weak hit": 0.4, "alarm": 0.6}
JUDGED = [JudgedTurn(one, SAID.get(one.text, 0.0)) for one in TURNS]


def test_scores_of_a_known_detector() -> None:
    found = figures(JUDGED)
    assert found["kind"] == "turns"
    assert found["n"] == 6
    assert (found["precision"], found["recall"], found["f1"]) == (0.6667, 0.6667, 0.6667)
    assert found["false_alarms_per_100_random"] == 20.0
    assert (found["calls"], found["tokens"]) == (0, 0)
    assert found["by_lang"]["es"]["recall"] == 0.0
    assert found["by_lang"]["es"]["precision"] is None
    assert found["by_tag"]["preference"]["recall"] == 0.5
    assert found["by_tag"]["quoted_user_message"]["n"] == 2
    assert found["certain_labels"]["durable"] == 2
    assert found["certain_predictions"]["found"] == 1
    assert found["proposed_predictions"]["found"] == 2
    assert found["without_quoted"]["recall"] == 0.5
    assert found["macro_by_repo"] == {"precision": 0.75, "recall": 0.6667, "repos": 3}


def test_no_turns_give_no_shares() -> None:
    found = figures([])
    assert (found["precision"], found["recall"], found["false_alarms_per_100_random"]) == (None, None, 0.0)


def test_outcomes_contain_no_text() -> None:
    (row, *_) = outcome_rows(JUDGED)
    assert row == {"id": "hit", "label": "durable", "confidence": 0.8, "found": True}


def test_rows_are_read_with_missing_fields(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"id": 7, "text": "hi", "label": "chat"}\n\n', encoding="utf-8")
    (one,) = load([path], labelled_turn)
    assert (one.id, one.prev_assistant, one.certainty, one.durable) == ("7", "", 1.0, False)
    with pytest.raises(ValueError, match="label 'maybe' is not one of"):
        labelled_turn({"id": "1", "text": "hi", "label": "maybe"})
    with pytest.raises(TypeError, match="text is not a string"):
        labelled_turn({"id": "1", "text": 7, "label": "chat"})


def test_the_offline_backend_meets_its_targets_on_every_second_labelled_turn() -> None:
    if not DATA.exists():
        pytest.skip("the labelled turns are not on this machine")

    def predict(one: LabelledTurn) -> float:
        before = [Message(one.prev_assistant)] if one.prev_assistant else []
        updates = Offline().detect([*before, Message(one.text, turn=1)], [])
        return max((update.confidence for update in updates), default=0.0)

    found = figures([JudgedTurn(one, predict(one)) for one in load([DATA], labelled_turn)[::2]])
    assert found["precision"] >= 0.75
    assert found["recall"] >= 0.25
    assert found["false_alarms_per_100_random"] <= 0.5
