"""What a past session shows about the rules that its agent had loaded, as values. Imports nothing of skilld."""

from __future__ import annotations

from skilld.values import value_class


@value_class
class Correction:
    """What a person corrected or demanded, redacted; `at` is a Unix time, 0 if the log has none."""

    turn: str
    at: float
    quote: str


@value_class
class Repeat:
    """A loaded line and a correction that says the same; the line has existed `since` a Unix time."""

    turn: str
    quote: str
    path: str
    line: int
    text: str
    since: float


@value_class
class SessionWork:
    """The work done in a session, according to its log, without its words.

    `work` is the kind of work (`library.patterns.kind_of_work`), `tools` the names of the called tools, `calls` the
    number of calls and `failed` those that failed, `seconds` the time from the first turn to the last record. `passed`
    is the result of the last check (a test, a linter), None without one.
    """

    work: str
    tools: tuple[str, ...]
    calls: int
    failed: int
    seconds: float
    passed: bool | None


@value_class
class PastSession:
    """A session without its words: `work` are stems of requests, commands and files, `loaded` the loaded files' paths.

    `at` is the Unix time of its first turn, 0 if the log has none; files loaded later are unknown. A model said of the
    rules with keys in `mattered` that they could matter, of those in `idle` that they could not.
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
    done: SessionWork | None = None
