from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from skilld.batching import gate
from skilld.batching.gate import BUCKETS, Model, buckets, load, needs_classification, score
from skilld.scoring.loader import LabelledTurn, labelled_turn
from support.rows import for_each
from support.tables import table_texts
from tools import train_gate

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "eval" / "turns.dev.jsonl"


def test_plain_chatter_is_dropped() -> None:
    for text in table_texts("gate", "plain chatter"):
        assert needs_classification(text) is False


def test_possibly_lasting_turns_pass() -> None:
    for text in table_texts("gate", "what may be lasting"):
        assert needs_classification(text) is True


def test_a_small_task_alone_causes_no_call() -> None:
    for text in table_texts("gate", "small tasks"):
        assert needs_classification(text) is False


def test_a_task_long_enough_for_a_rule_passes() -> None:
    for text in table_texts("gate", "tasks with room for a rule"):
        assert needs_classification(text) is True


def test_a_rule_below_a_log_passes() -> None:
    assert needs_classification("2024-05-01 10:00:00 ERROR boom\nplease always retry twice") is True


def test_a_long_turn_passes_unread() -> None:
    assert needs_classification("thanks " * 1000) is True


def test_punctuation_is_no_word() -> None:
    assert buckets([], {"question"}).isdisjoint(buckets(["question"], ""))


def test_a_turn_without_a_hint_is_left_to_the_model() -> None:
    kept, floor = "the second column looks odd on a small screen", 0.0
    assert gate.decide(kept, 0.5, floor) is True
    assert gate.decide(kept, -0.5, floor) is False


@for_each("text", ["never again, whatever it looks like", "use spaces", "see above " * 50])
def test_a_hint_with_two_words_or_a_long_turn_passes_whatever_the_score(text: str) -> None:
    assert gate.decide(text, -100.0, 0.0) is True


def test_an_approval_is_dropped_whatever_the_score() -> None:
    assert gate.decide("yes please, go ahead", 100.0, 0.0) is False


def test_a_split_character_is_scored_like_any_other() -> None:
    assert gate.features("the word \ud83d stands at the end \ud83d")
    assert needs_classification("always keep \ud83d") is True


def test_the_score_is_the_bias_plus_the_mean_weight() -> None:
    found = buckets(["use", "tabs"], ".")
    weights = bytearray(BUCKETS)
    for bucket in found:
        weights[bucket] = 10
    model = Model(bias=-1.0, scale=0.5, floor=0.0, weights=memoryview(bytes(weights)).cast("b"))  # type: ignore[arg-type]
    count = len(found)
    assert score(model, found) == pytest.approx(-1.0 + 0.5 * 10 * count / (count + 1) ** 0.5)


def test_feature_buckets_depend_on_word_order() -> None:
    assert buckets(["tabs", "spaces"], "") != buckets(["spaces", "tabs"], "")


def test_weights_of_the_wrong_size_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"bias": 0, "scale": 1, "floor": 0, "weights": b64encode(bytes(3)).decode()}))
    with pytest.raises(ValueError, match="3 weights"):
        load(path)


def test_the_shipped_weights_record_their_training_data() -> None:
    stored = json.loads(Path(gate.__file__).with_name("gate_weights.json").read_text(encoding="utf-8"))
    assert [len(one) for one in stored["data_sha256"]] == [64, 64]
    assert stored["people"] > 100
    assert stored["figures_cross_validated"]["durable_passed"] >= 0.99
    assert stored["figures_cross_validated"]["chat_dropped"] >= 0.5
    assert len(json.dumps(stored)) < 300_000


def test_the_random_sample_passes_and_drops_at_the_promised_rates() -> None:
    if not DATA.exists():
        pytest.skip("the labelled turns are not on this machine")
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    passed = {
        label: [needs_classification(row["text"]) for row in rows if (row["sample"], row["label"]) == label]
        for label in (("random", "durable"), ("random", "chat"), ("enriched", "durable"))
    }
    share = {label: sum(found) / len(found) for label, found in passed.items()}
    assert share["random", "durable"] >= 0.99
    assert share["random", "chat"] <= 0.5
    assert share["enriched", "durable"] >= 0.95


LASTING = ("we ship from the stable line", "our names are in snake case", "the server has no network")
CHAT = ("it looks odd to me", "the page is blank today", "that one came up fine")


def turns(people: int) -> list[LabelledTurn]:
    rows: list[dict[str, Any]] = [
        {"id": f"{name}-{text}", "repo": f"{name}/{i % 2}", "text": text, "label": label, "sample": "random"}
        for name in (f"person{n}" for n in range(people))
        for label, texts in (("durable", LASTING), ("chat", CHAT))
        for i, text in enumerate(texts)
    ]
    return [labelled_turn(row) for row in rows]


def test_no_person_is_in_two_folds() -> None:
    folds: dict[str, set[int]] = {}
    for example in train_gate.prepare(turns(30)):
        folds.setdefault(train_gate.person(example.turn), set()).add(example.fold)
    assert len(folds) == 30
    assert all(len(own) == 1 for own in folds.values())
    assert len({fold for own in folds.values() for fold in own}) > 1


def test_the_order_of_rows_does_not_matter() -> None:
    rows = turns(4)
    one, other = (train_gate.fitted(train_gate.prepare(order)) for order in (rows, rows[::-1]))
    assert (one.bias, one.scale, one.weights) == (other.bias, other.scale, other.weights)


def test_the_model_learns_its_training_data() -> None:
    examples = train_gate.prepare(turns(4))
    model = train_gate.fitted(examples)
    scores = {e.turn.text: score(model, set(e.found)) for e in examples}
    assert min(scores[text] for text in LASTING) > max(scores[text] for text in CHAT)


def test_a_confident_label_of_a_lasting_turn_weighs_most() -> None:
    row = {"id": "1", "repo": "a/b", "text": "x", "sample": "random"}
    sure, unsure, chat, task = (
        train_gate.weight(labelled_turn(row | {"label": label, "confidence": certainty}))
        for label, certainty in (("durable", 0.9), ("durable", 0.5), ("chat", 0.9), ("one_off", 0.9))
    )
    assert sure > unsure > chat > task > 0


@for_each(
    "text",
    [
        "scratch what I said about tabs",
        "ignore what I said about emojis",
        "i take back what i said about pnpm",
        "was ich zu Tabs gesagt habe gilt nicht mehr",
        "drop what we said about semicolons",
    ],
)
def test_words_that_take_back_a_rule_are_no_chatter(text: str) -> None:
    assert needs_classification(text) is True
