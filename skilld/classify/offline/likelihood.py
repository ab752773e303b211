"""How likely a clause says something lasting: a linear model over its words and what the grammar finds in it.

The score is the bias plus the weights of the clause's features, each in a hashed bucket. tools/train_likelihood.py
makes the weights; docs/decisions/0091 says why there is a model at all, docs/measurements/quality.md how good it is.
"""

from __future__ import annotations

import json
import re
from array import array
from base64 import b64decode
from collections.abc import Iterator, Sequence
from functools import cache
from math import exp
from pathlib import Path

from skilld.batching.gate import buckets
from skilld.classify.offline.grammar import Cue, Language
from skilld.classify.offline.product import sentence_requires
from skilld.classify.offline.sentences import Clause
from skilld.text import fold
from skilld.values import value_class
from skilld.words import has_negation

BUCKETS = 65536
_MAX_TOKENS = 60  # of a clause
# Code, addresses, paths and names are all one word: what they are called says nothing.
_CODE = re.compile(r"`[^`]*`|(?<!\S)\S*[/\\]\S+|\b\w+\.\w{1,5}\b|\b[^\W_]+_\w+|\b[a-z]+[A-Z]\w*|(?<![\w-])--?\w[\w-]*")
_TOKEN = re.compile(r"§|[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+(?:'[^\W\d_]+)?|\d+|[?!:;,.…()\"-]")
_MIN_ENDED, _ENDING = 5, 3  # letters of a word whose ending is a feature, and of the ending
_MIN_BEGUN, _BEGINNING = 6, 4  # the same of its beginning


@value_class
class Model:
    """The weights of the buckets, in steps of `scale`."""

    bias: float
    scale: float
    weights: array[int]


def likelihood(found: set[int], model: Model | None = None) -> float:
    """Return how likely a clause with the features `found` says something lasting, 0 to 1."""
    used = model or _shipped()
    score = used.bias + used.scale * sum([used.weights[bucket] for bucket in found])
    return 1 / (1 + exp(-max(-30.0, min(30.0, score))))


def features(clause: Clause, heard: tuple[Cue, float] | None, languages: Sequence[Language]) -> set[int]:
    """Return the buckets of a clause; `heard` is the cue that the grammar found in it, with its strength."""
    tokens = _TOKEN.findall(_CODE.sub(" § ", clause.text).lower())[:_MAX_TOKENS]
    words = ["0" if token.isdigit() else token for token in tokens]
    return buckets(words, (*_affixes(words), *_signs(clause, heard, languages)), BUCKETS)


def _affixes(words: Sequence[str]) -> Iterator[str]:
    """Yield the endings and beginnings of long words."""
    for word in words:
        if len(word) >= _MIN_ENDED:
            yield f"-{word[-_ENDING:]}"
        if len(word) >= _MIN_BEGUN:
            yield f"{word[:_BEGINNING]}-"


def _signs(clause: Clause, heard: tuple[Cue, float] | None, languages: Sequence[Language]) -> Iterator[str]:
    """Yield what a clause is like, and what the grammar finds in it."""
    bare = fold(clause.text)
    yield f"length {len(bare.split()).bit_length()}"
    if clause.question:
        yield "a question"
    if clause.header:
        yield "below a header"
    if heard:
        yield from ("heard", f"heard {heard[0]}", f"heard {heard[1]:.1f}")
    required = sentence_requires(bare, languages)
    if required:
        yield "a requirement"
    if any(language.work.search(bare) for language in languages):
        yield "of the work"
    elif required or any(language.product.search(bare) for language in languages):
        yield "of a product"
    if has_negation(bare):
        yield "negated"


@cache
def _shipped() -> Model:
    return load(Path(__file__).with_name("likelihood.json"))


def load(path: Path) -> Model:
    """Load the weights file at `path`. Raises ValueError or KeyError if it is invalid."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    weights = array("b", b64decode(stored["weights"]))
    if len(weights) != BUCKETS:
        raise ValueError(f"{path.name} has {len(weights)} weights, not {BUCKETS}")
    return Model(float(stored["bias"]), float(stored["scale"]), weights)
