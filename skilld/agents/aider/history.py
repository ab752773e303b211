"""Reads Aider's list of what was typed, `.aider.input.history`: a time, then the lines, each behind a `+`."""

from __future__ import annotations

from dataclasses import dataclass

from skilld.agents.declared import local
from skilld.clock import seconds

_SAME = 0.01  # seconds within which nobody types the same again: `--message` writes its prompt twice in 60 µs


@dataclass(frozen=True, slots=True)
class Typed:
    """One entry: its words with blanks folded, its time as written, in UTC and as a Unix time; whether it is twice."""

    words: str
    time: str
    utc: str | None
    at: float
    twice: bool = False


def read_list(data: bytes) -> list[Typed]:
    """Return the entries in order, two of the same words at one time as one."""
    entries: list[Typed] = []
    time = ""
    lines: list[str] = []
    for line in [*data.decode("utf-8", "replace").splitlines(), "# "]:
        if line.startswith("# "):
            if time and lines:
                _add(entries, time, " ".join(" ".join(lines).split()))
            time, lines = line[2:].strip(), []
        elif line.startswith("+"):
            lines.append(line[1:])
    return entries


def _add(entries: list[Typed], time: str, words: str) -> None:
    utc = local(time)
    at = seconds(utc) or 0.0
    if entries and entries[-1].words == words and 0 <= at - entries[-1].at < _SAME:
        entries[-1] = Typed(words, entries[-1].time, entries[-1].utc, entries[-1].at, twice=True)
    else:
        entries.append(Typed(words, time, utc, at))
