"""Evaluation cases as values: what a worker is asked to run with and without an edit, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass

from skilld.classify.backends import Spec
from skilld.codec import TaggedUnion
from skilld.types import Usage

MAX_ANSWER = 12_000  # characters of an answer that are kept and judged


@dataclass(frozen=True, slots=True)
class TrialCase:
    """What is asked, and the statements about an answer that a judge decides."""

    request: str
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialPair:
    """One case to be run with the edit and without; `with_first` says in which order it is run and judged.

    `ours` and `theirs` are the answers with and without that an earlier run was given.
    """

    number: int
    case: int
    with_first: bool
    ours: str | None = None
    theirs: str | None = None


@dataclass(frozen=True, slots=True)
class Trial(TaggedUnion):
    """Pairs of runs: the skill's text with the edit and without, empty if there is none, and whom to ask."""

    backend: Spec
    judge: Spec
    ours: str
    theirs: str
    cases: tuple[TrialCase, ...]
    pairs: tuple[TrialPair, ...]


@dataclass(frozen=True, slots=True)
class TrialAnswer(TaggedUnion):
    """What one run answered, redacted; empty if that could not be used."""

    pair: int
    ours: bool
    answer: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class TrialVerdict(TaggedUnion):
    """Whether all statements hold of the answers of a pair; `unusable` says why the judge told nothing of it."""

    pair: int
    ours: bool
    theirs: bool
    model: str
    usage: Usage
    unusable: str = ""
