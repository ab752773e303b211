"""Evaluation runs as values: what a worker runs with and without an edit, and what it reports."""

from __future__ import annotations

from skilld.classify.backends import Spec
from skilld.codec import TaggedUnion
from skilld.types import Usage
from skilld.values import value_class

MAX_ANSWER = 12_000  # characters of an answer that are kept and judged


@value_class
class TrialCase:
    """A request, and the statements about its answer that a judge decides."""

    request: str
    statements: tuple[str, ...] = ()


@value_class
class TrialPair:
    """One case to run with and without the edit; `with_first` decides the order of running and judging.

    `ours` and `theirs` are the answers of an earlier run, with and without the edit.
    """

    number: int
    case: int
    with_first: bool
    ours: str | None = None
    theirs: str | None = None


@value_class
class Trial(TaggedUnion):
    """Pairs of runs: the skill's texts with and without the edit (may be empty), and the models to ask."""

    backend: Spec
    judge: Spec
    ours: str
    theirs: str
    cases: tuple[TrialCase, ...]
    pairs: tuple[TrialPair, ...]


@value_class
class TrialAnswer(TaggedUnion):
    """The redacted answer of one run; empty if it could not be used."""

    pair: int
    ours: bool
    answer: str
    model: str
    usage: Usage


@value_class
class TrialVerdict(TaggedUnion):
    """Whether all statements hold for each answer of a pair; `unusable` says why there is no verdict."""

    pair: int
    ours: bool
    theirs: bool
    model: str
    usage: Usage
    unusable: str = ""
