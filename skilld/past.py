"""What a past session shows of the rules its agent had loaded, as values. Imports nothing of skilld."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person corrected or demanded, redacted; `at` is a Unix time, 0 if the log has none."""

    turn: str
    at: float
    quote: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A line that the agent had loaded, and a correction which says the same; the line has stood there `since`."""

    turn: str
    quote: str
    path: str
    line: int
    text: str
    since: float


@dataclass(frozen=True, slots=True)
class Done:
    """What was done in a session, as far as its log tells: none of its words.

    `work` is the sort of work (`library.patterns.work_of`), `tools` the names of the tools that the agent called,
    `calls` how often and `failed` how often without success, `seconds` from the first turn to the last record. `passed`
    says how the last check (a test, a linter) came out; None where none ran.
    """

    work: str
    tools: tuple[str, ...]
    calls: int
    failed: int
    seconds: float
    passed: bool | None


@dataclass(frozen=True, slots=True)
class PastSession:
    """A session without its words: `work` are stems of what was asked, run and touched, `loaded` the files' paths.

    `at` is the Unix time of its first turn, 0 if the log has none: what was loaded later is not known. Of the rules
    with a key in `mattered` a model said that they could matter, of those in `idle` that they could not.
    """

    agent: str
    session_id: str
    cwd: str
    version: str
    at: float
    loaded: tuple[str, ...]
    work: tuple[str, ...]
    said: tuple[Correction, ...]
    repeats: tuple[Repeat, ...]
    mattered: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    done: Done | None = None
