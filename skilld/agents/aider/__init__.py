"""The adapter for Aider: a Markdown history in each project, and next to it the list of what was typed.

Seen: 0.86.2. Typed lines start with `#### `, Aider's own with `> `; the rest is the model's, which may write either. So
a block counts only if the list has it, in order; headless runs put their prompt into the list twice at one time. Only
the list and the heads have times and sessions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, ReadFile, hash_name, short
from skilld.agents.declared import local_time
from skilld.agents.skill_reads import use_of_path
from skilld.clock import parse_time
from skilld.types import Event, How, Ignored, Malformed, RawLine, Reply, SessionEnd, SkillUse, Span, Turn
from skilld.values import value_class

# Aider's list of what was typed, `.aider.input.history`: a time, then the lines, each after a `+`.

_DUPLICATE_SECONDS = 0.01  # nobody types the same again this fast: `--message` writes its prompt twice in 60 µs


@value_class
class TypedEntry:
    """One entry: words with folded blanks, time as written, in UTC and as Unix time; whether it is there twice."""

    words: str
    time: str
    utc: str | None
    at: float
    twice: bool = False


def read_typed_list(data: bytes) -> list[TypedEntry]:
    """Return the entries in order; two with the same words at one time count as one."""
    entries: list[TypedEntry] = []
    time = ""
    lines: list[str] = []
    for line in [*data.decode("utf-8", "replace").splitlines(), "# "]:
        if line.startswith("# "):
            if time and lines:
                _add_entry(entries, time, " ".join(" ".join(lines).split()))
            time, lines = line[2:].strip(), []
        elif line.startswith("+"):
            lines.append(line[1:])
    return entries


def _add_entry(entries: list[TypedEntry], time: str, words: str) -> None:
    utc = local_time(time)
    at = parse_time(utc) or 0.0
    if entries and entries[-1].words == words and 0 <= at - entries[-1].at < _DUPLICATE_SECONDS:
        entries[-1] = TypedEntry(words, entries[-1].time, entries[-1].utc, entries[-1].at, twice=True)
    else:
        entries.append(TypedEntry(words, time, utc, at))


_HISTORY = ".aider.chat.history.md"
_TYPED_LIST = ".aider.input.history"
_HEAD = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_HEADLESS = re.compile(r"> \S*aider(?:\.exe)?\s(?:.*\s)?(?:--message|--message-file|-m|-f)\b")
_SKILL_ADDED = re.compile(r"> Added (/.+/SKILL\.md) to (?:read-only files|the chat)\.\s*")
_COMMAND_WITH_WORDS = re.compile(r"/(?:ask|code|architect|context|help)\s+(.+)", re.DOTALL)
_MAX_AHEAD = 500  # entries: answers and commands are among them
_MAX_LENGTH = 4 << 20  # characters of one block


class AiderParser:
    """Reads one history, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state."""
        place, started, used = state.get("place"), state.get("started"), state.get("used")
        self._cwd = str(path.parent)
        self._place = place if isinstance(place, int) else 0
        self._started = short(started)
        self._used_until = float(used) if isinstance(used, int | float) else 0.0
        self._headless = state.get("headless") is True
        self._last_prompt = short(state.get("told"))
        self._typed: list[TypedEntry] | None = None
        self._block: list[str] = []
        self._reply: list[str] = []
        self._span = Span(0, 0)

    def read_side_files(self, read: ReadFile) -> None:
        """Read the list of what was typed."""
        data = read(_TYPED_LIST)
        self._typed = read_typed_list(data) if data is not None else []

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events that end with this line."""
        text = line.data.decode("utf-8", "replace")
        span = Span(line.start, line.end)
        if not self._started and not _HEAD.fullmatch(text):
            return [Malformed(span)] if text.strip() else []
        if text.startswith("#### ") or text.rstrip() == "####":
            events = [] if self._block else self._end_block()
            self._block.append(text[5:].removesuffix("  "))
            self._span = Span(self._span.start if len(self._block) > 1 else line.start, line.end)
            return events
        events = self._end_block() if self._block else []
        if head := _HEAD.fullmatch(text):
            events += self._end_block()
            events += [SessionEnd(self._session, span)] if self._started else []
            self._started, self._headless = head[1], False
        elif _HEADLESS.match(text):
            self._headless = True
        elif added := _SKILL_ADDED.fullmatch(text):
            use = use_of_path(added[1]) if self._last_prompt.startswith(("/read-only", "/add")) else None
            events += [SkillUse(self._session, *use, None, span, self._cwd)] if use else []
        elif text.strip() and not text.startswith("> ") and sum(map(len, self._reply)) < _MAX_LENGTH:
            self._reply.append(text)
            self._span = span
        return events

    def flush(self) -> list[Event]:
        """End the last block."""
        return self._end_block()

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than an unfinished block, and the state."""
        state = {"place": self._place, "started": self._started, "used": self._used_until, "headless": self._headless}
        return (self._span.start if self._block else end), {**state, "told": self._last_prompt.split(" ")[0]}

    @property
    def _session(self) -> str:
        return f"{hash_name(self._cwd)}-{self._started}"

    def _end_block(self) -> list[Event]:
        lines, said, span = self._block, self._reply, self._span
        self._block, self._reply = [], []
        if said:
            return [Reply(self._session, "\n".join(said), None, span)]
        return list(self._prompt("\n".join(lines), span)) if lines else []

    def _prompt(self, text: str, span: Span) -> Iterator[Event]:
        entry = self._find_entry(text)
        if self._headless or (entry is not None and entry.twice):
            yield Ignored("headless", span)
        elif self._typed is not None and entry is None:
            yield Ignored("not-typed", span)
        else:
            self._last_prompt = text
            self._used_until = entry.at if entry else self._used_until
            words = _COMMAND_WITH_WORDS.fullmatch(text.strip())
            if text.startswith(("/", "!")) and not words:
                yield Ignored("command", span)
                return
            typed, how = (words[1], How.COMMAND) if words else (text, How.TYPED)
            key = f"aider:{hash_name(self._cwd, entry.time if entry else self._started, typed)}"
            yield Turn(key, "aider", self._session, typed, entry.utc if entry else None, how, span, self._cwd)

    def _find_entry(self, text: str) -> TypedEntry | None:
        """Return the first entry with these words among the next ones after the entry used last."""
        same, typed = " ".join(text.split()), self._typed or []
        first = bisect_right(typed, self._used_until, key=lambda it: it.at)
        return next((it for it in typed[first : first + _MAX_AHEAD] if it.words == same), None)


INFO = AgentInfo(
    name="aider",
    title="Aider",
    home=".aider",
    stores=("",),
    suffixes=(_HISTORY,),
    flat=True,
    owner=lambda path: path.with_name(_HISTORY) if path.name == _TYPED_LIST else path,
    asked_for=True,
    project_files=(_HISTORY, _TYPED_LIST),
    project_skills=(".agents/skills",),
    skill_homes=(),
    wrappers=("answer of the model", "headless prompt"),
    instructions=("CONVENTIONS.md",),
    verified="0.86.2 on 2026-11-22",
)


def is_transcript(path: PurePath) -> bool:
    """Whether this is a project's history."""
    return path.name == _HISTORY


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> AiderParser:
    """Return a parser for one history, fresh or resumed with the state of a checkpoint."""
    return AiderParser(path, state or {})
