"""Train the gate's linear model: labelled turns in, skilld/batching/gate_weights.json out.

Deterministic: the same data gives the same bytes. Every figure it prints and stores is cross-validated by person, so
that nobody's turns are judged by weights that saw that person; only the shipped weights saw all rows. Of the turns
nothing but weights and figures is stored.

    python -m tools.train_gate ../shared/data/eval/turns.dev.jsonl people.jsonl
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from array import array
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt
from pathlib import Path

from skilld.batching import gate
from skilld.batching.gate import BUCKETS, Model, score
from skilld.scoring.loader import LabelledTurn, labelled_turn, load

WEIGHTS = Path(gate.__file__).with_name("gate_weights.json")
PASSES = 12  # over all rows; the weights are the mean of those after each pass of the second half
STEP = 2.0
BIAS_BRAKE = 10  # the bias is in every row: it would swing with each of them
DECAY = 7e-5  # per row
TASK_WEIGHT = 0.03  # a task may be dropped, but what the gate is for is to tell lasting turns from chat
LASTING_WEIGHT = 8.0  # times the reader's certainty
FLOOR = -2.4  # on the curve printed below: well before a lasting turn of the random part is lost (-2.0)
FOLDS = 10
SET_ASIDE = frozenset({"specstoryai/tnyOffice", "badlogic/pi-mono"})


@dataclass(frozen=True, slots=True)
class Example:
    """One turn as the model sees it."""

    turn: LabelledTurn
    found: list[int]
    weight: float
    fold: int


def main(argv: Sequence[str]) -> int:
    """Train, write the weights file, print the curve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+")
    paths = parser.parse_args(argv).data
    examples = prepare(load(paths, labelled_turn))
    scores = cross_validated(examples)
    for floor in range(-40, 11, 2):
        print(floor / 10, outcome(examples, scores, floor / 10))
    print("set aside", outcome([e for e in examples if e.turn.repo in SET_ASIDE], scores, FLOOR))
    model = replace(fitted(examples), floor=FLOOR)
    stored = {
        "made_by": "tools/train_gate.py",
        "data_sha256": [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths],
        "turns": len(examples),
        "people": len({person(example.turn) for example in examples}),
        "cross_validated": f"{FOLDS} folds, nobody's turns in two of them",
        "figures_cross_validated": outcome(examples, scores, FLOOR),
        "bias": round(model.bias, 6),
        "scale": round(model.scale, 8),
        "floor": FLOOR,
        "weights": b64encode(model.weights.tobytes()).decode(),
    }
    WEIGHTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


def prepare(turns: Sequence[LabelledTurn]) -> list[Example]:
    """Return the turns as examples in an order of their own; a person weighs as the root of the number of turns."""
    sizes = Counter(person(turn) for turn in turns)
    shares = {name: 1 / sqrt(size) for name, size in sizes.items()}
    mean = sum(shares[person(turn)] for turn in turns) / len(turns)
    return [
        Example(
            turn,
            sorted(gate.features(turn.text)),
            shares[person(turn)] / mean * weight(turn),
            digest(person(turn)) % FOLDS,
        )
        for turn in sorted(turns, key=lambda turn: digest(turn.id))
    ]


def person(turn: LabelledTurn) -> str:
    """Return who is taken for the author of `turn`: the owner of its repository, or its document."""
    return turn.repo if turn.repo.startswith("unresolved/") else turn.repo.partition("/")[0]


def digest(name: str) -> int:
    """Return a number for `name`, the same on every machine."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def weight(turn: LabelledTurn) -> float:
    """Return how much the label of `turn` counts."""
    if turn.durable:
        return LASTING_WEIGHT * max(0.5, turn.certainty)
    return 1.0 if turn.label == "chat" else TASK_WEIGHT


def cross_validated(examples: Sequence[Example]) -> dict[str, float]:
    """Return the score of every turn under weights that saw nothing of its author."""
    out: dict[str, float] = {}
    for fold in range(FOLDS):
        model = fitted([example for example in examples if example.fold != fold])
        out |= {e.turn.id: score(model, set(e.found)) for e in examples if e.fold == fold}
    return out


def fitted(examples: Sequence[Example]) -> Model:
    """Return the model by gradient descent, one row at a time, with averaging; weights rounded to one byte."""
    weights, sums, bias, bias_sum = [0.0] * BUCKETS, [0.0] * BUCKETS, 0.0, 0.0
    seen, shrunk = 0, 1.0  # the true weight of a bucket is weights[bucket] * shrunk: decay in one multiplication
    for done in range(PASSES):
        for example in examples:
            step = STEP / (1 + STEP * DECAY * seen)
            root = sqrt(len(example.found) + 1)
            guess = bias + shrunk * sum([weights[bucket] for bucket in example.found]) / root
            error = (example.turn.durable - 1 / (1 + exp(-guess))) * example.weight
            shrunk *= 1 - step * DECAY
            change = step * error / (root * shrunk)
            for bucket in example.found:
                weights[bucket] += change
            bias += step * error / BIAS_BRAKE
            seen += 1
        if done >= PASSES // 2:
            sums = [total + shrunk * value for total, value in zip(sums, weights, strict=True)]
            bias_sum += bias
    count = PASSES - PASSES // 2
    scale = max(abs(total) for total in sums) / count / 127
    return Model(bias_sum / count, scale, FLOOR, array("b", [round(total / count / scale) for total in sums]))


def outcome(examples: Sequence[Example], scores: dict[str, float], floor: float) -> dict[str, float]:
    """Return the shares that the whole gate, rules and model, lets pass or drops with this floor."""

    def passed(mine: list[Example]) -> float:
        return sum(gate.decide(e.turn.text, scores[e.turn.id], floor) for e in mine) / max(1, len(mine))

    def of(label: str, *, random: bool = True) -> list[Example]:
        return [e for e in examples if e.turn.label == label and (e.turn.sample == "random") is random]

    return {
        "durable_passed": round(passed(of("durable")), 4),
        "durable_passed_enriched": round(passed(of("durable", random=False)), 4),
        "one_off_dropped": round(1 - passed(of("one_off")), 4),
        "chat_dropped": round(1 - passed(of("chat")), 4),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
