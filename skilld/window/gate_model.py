"""The gate's second opinion: a small linear model over hashed words, word pairs and outward signs.

Words and signs of one turn in, a score out: the higher, the more like a turn that holds something lasting. The weights
are one signed byte per bucket, made by tools/train_gate.py; the file says from which data and how well it does.
"""

from __future__ import annotations

import json
from array import array
from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from zlib import crc32

BUCKETS = 16384
_START, _END = 0x5354, 0x454E  # stand before the first and behind the last word
_SIGN = 0x5347  # tells a sign from the word that is written like it
_PAIR = 1000003  # a prime: makes the pair (a, b) another bucket than (b, a)


@dataclass(frozen=True, slots=True)
class Model:
    """A score is the bias plus the scaled weights of the buckets over the root of their number.

    Below `floor` a turn is chatter.
    """

    bias: float
    scale: float
    floor: float
    weights: array[int]


def buckets(words: Sequence[str], signs: Iterable[str]) -> set[int]:
    """Return the buckets of a turn: its words in lower case, their pairs, how it begins and ends, and its `signs`."""
    codes = [crc32(word.encode("utf-8", "surrogatepass")) for word in words]
    out = {code % BUCKETS for code in codes}
    before = _START
    for code in [*codes, _END]:
        out.add((before * _PAIR ^ code) % BUCKETS)
        before = code
    out.update((crc32(sign.encode("utf-8", "surrogatepass")) ^ _SIGN) % BUCKETS for sign in signs)
    return out


def score(model: Model, found: set[int]) -> float:
    """Return how much a turn with the buckets `found` is like one that holds something lasting."""
    weights = model.weights
    return model.bias + model.scale * sum([weights[bucket] for bucket in found]) / sqrt(len(found) + 1)


def load(path: Path) -> Model:
    """Read the weights file at `path`. Raises ValueError or KeyError where it is not one."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    weights = array("b", b64decode(stored["weights"]))
    if len(weights) != BUCKETS:
        raise ValueError(f"{path.name} has {len(weights)} weights, not {BUCKETS}")
    return Model(float(stored["bias"]), float(stored["scale"]), float(stored["floor"]), weights)
