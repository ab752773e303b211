"""Train the gate's linear model: labelled turns in, skilld/window/gate_weights.json out.

Deterministic: the same data gives the same bytes. Every figure it prints and stores is cross-validated by repository,
so that a person's turns are never judged by weights that saw that person; only the shipped weights saw all rows.

    python -m tools.train_gate ../shared/data/eval/turns.dev.jsonl
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

from skilld.evaluate.loader import load
from skilld.evaluate.rows import LabelledTurn, labelled_turn
from skilld.window import gate
from skilld.window.gate_model import BUCKETS, Model, score
from tools.measure_signs import SET_ASIDE

WEIGHTS = Path(gate.__file__).with_name("gate_weights.json")
ROUNDS = 150
STEP = 2.0
DECAY = 0.002
POSITIVE_WEIGHT = 4.0
FLOOR = -3.2  # on the curve printed below: well before a lasting turn of the random part is lost (-2.6)
GROUPS = 3  # the many documents of one turn each are folded into this many


@dataclass(frozen=True, slots=True)
class Example:
    """One turn as the model sees it."""

    turn: LabelledTurn
    found: set[int]
    weight: float


def main(argv: Sequence[str]) -> int:
    """Train, write the weights file, print the curve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args(argv).data
    examples = prepare(load([data], labelled_turn))
    scores = cross_validated(examples)
    curve = {floor / 10: outcome(examples, scores, floor / 10) for floor in range(-40, -9, 2)}
    for floor, figures in curve.items():
        print(floor, figures)
    print("set aside", outcome([e for e in examples if e.turn.repo in SET_ASIDE], scores, FLOOR))
    model = replace(fitted(examples), floor=FLOOR)
    stored = {
        "made_by": "tools/train_gate.py",
        "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
        "turns": len(examples),
        "figures_cross_validated": outcome(examples, scores, FLOOR),
        "bias": round(model.bias, 6),
        "scale": round(model.scale, 8),
        "floor": FLOOR,
        "weights": b64encode(model.weights.tobytes()).decode(),
    }
    WEIGHTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


def prepare(turns: Sequence[LabelledTurn]) -> list[Example]:
    """Return the turns as examples; a repository weighs as the root of its size, so that no person outweighs all."""
    sizes = Counter(group(turn) for turn in turns)
    return [
        Example(turn, gate.features(turn.text), 1 / sqrt(sizes[group(turn)]) * (POSITIVE_WEIGHT if turn.durable else 1))
        for turn in turns
    ]


def group(turn: LabelledTurn) -> str:
    """Return the fold of `turn`: its repository, or one of a few for single documents of unknown repositories."""
    if not turn.repo.startswith("unresolved/"):
        return turn.repo
    digest = int(hashlib.sha256(turn.repo.encode()).hexdigest(), 16)
    return f"unresolved-{digest % GROUPS}"


def cross_validated(examples: Sequence[Example]) -> dict[str, float]:
    """Return the score of every turn under weights that saw nothing of its repository."""
    out: dict[str, float] = {}
    for fold in sorted({group(example.turn) for example in examples}):
        model = fitted([example for example in examples if group(example.turn) != fold])
        out |= {e.turn.id: score(model, e.found) for e in examples if group(e.turn) == fold}
    return out


def fitted(examples: Sequence[Example]) -> Model:
    """Return the model by gradient descent over all examples at once, weights rounded to one byte."""
    seen = Counter(bucket for example in examples for bucket in example.found)
    rows = [
        (sorted(b for b in e.found if seen[b] > 1), sqrt(len(e.found) + 1), e.turn.durable, e.weight) for e in examples
    ]
    total = sum(weight for *_, weight in rows)
    weights, bias = [0.0] * BUCKETS, 0.0
    for _ in range(ROUNDS):
        slope: dict[int, float] = {}
        lean = 0.0
        for found, root, durable, weight in rows:
            guess = 1 / (1 + exp(-bias - sum(weights[b] for b in found) / root))
            error = (durable - guess) * weight / total
            lean += error
            for bucket in found:
                slope[bucket] = slope.get(bucket, 0.0) + error / root
        bias += STEP * lean
        for bucket, change in slope.items():
            weights[bucket] += STEP * (BUCKETS**0.5 * change - DECAY * weights[bucket])
    scale = max(abs(weight) for weight in weights) / 127
    return Model(bias, scale, FLOOR, array("b", [round(weight / scale) for weight in weights]))


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
