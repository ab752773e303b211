from __future__ import annotations

from typing import Any

from skilld.batching.gate import score
from skilld.evaluate.loader import LabelledTurn, labelled_turn
from tools import train_gate

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
