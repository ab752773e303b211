"""Reads a whole transcript for evidence on the loaded rules; of its words only quotes are kept.

The loaded files are those the agent would load in that folder now, for the files that the session touched. For an old
session that is an estimate, corrected by `since` of each line.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from skilld.agents.base import short
from skilld.agents.tools import command_of, touched_files
from skilld.classify.backends import OFFLINE, make_backend
from skilld.classify.offline.detector import find_retractions
from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.retraction import without_retracted
from skilld.classify.rule_repeats import corrections, repeats_rule
from skilld.clock import parse_time
from skilld.context import Scope, context_of
from skilld.effect import model_questions
from skilld.effect.rule_lines import added_at, rules_in, text_of
from skilld.errors import SkilldError, cause_of
from skilld.ingest.discover import skill_places
from skilld.ingest.whole_transcript import read_transcript
from skilld.library.patterns import CHECK_PATTERN
from skilld.library.patterns import kind_of_work as work_of_prompt
from skilld.past import Correction, PastSession, Repeat, SessionWork
from skilld.pipeline.documents import is_own_file, session_opt_out
from skilld.protocol import SurveyRequest, SurveyResult, SurveysResult, SurveyTranscripts
from skilld.skills import find
from skilld.text import Redact
from skilld.types import (
    Event,
    Kind,
    Message,
    Outcome,
    Reply,
    SkillRef,
    SkillUse,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
    Turn,
    Update,
)
from skilld.words import content_stems

_MAX_SECONDS, _MAX_SESSIONS = 0.5, 20  # of a job of several: a batch may be waiting, and the result is one line
_MAX_WORK = 64 * 1024  # characters of a session's requests, commands and files that are considered
_MAX_STEMS = 600
_MAX_SAID = 40  # corrections of a session
_MAX_REPLIES = 5  # replies before a turn that are searched for quoted lines
_CLOCK_OFFSET_RANGE = 3600.0, 7 * 86400.0  # seconds: less is work without a turn, more an old session
# The terms of work that a file's suffix stands for.
_SUFFIX_TERMS = {
    "py": "python",
    "ts": "typescript",
    "tsx": "typescript react component",
    "js": "javascript",
    "jsx": "javascript react component",
    "md": "markdown docs documentation",
    "rs": "rust",
    "go": "golang",
    "sql": "sql database",
    "css": "css style",
    "scss": "css style",
    "yml": "yaml",
}
_MAX_ASK, _MAX_COMMAND = 1000, 500  # characters of one
# Commands that may name a check but are not checks.
_INSPECTION_COMMAND = re.compile(r"\s*(?:cat|cp|echo|find|git|grep|head|less|ls|mkdir|mv|rg|rm|sed|tail|touch|wc)\b")
_MAX_TOOLS, _MAX_NAME = 50, 60  # of a session; characters
_WORD = re.compile(r"[^\W_]+")
_UNSAFE = re.compile(r"[^\w.:/-]+")  # removed from the name of a tool


@dataclass(slots=True)
class _SessionState:
    """What has been read of a session so far."""

    turns: dict[str, Turn] = field(default_factory=dict)
    before: dict[str, tuple[str, ...]] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)
    uses: list[SkillUse] = field(default_factory=list)
    commands: dict[str, None] = field(default_factory=dict)
    files: dict[str, None] = field(default_factory=dict)
    version: str = ""
    newest: str = ""  # latest time of a record: RFC 3339 in UTC, which sorts as text
    tools: dict[str, str] = field(default_factory=dict)  # by call
    outcomes: dict[str, ToolOutcome] = field(default_factory=dict)  # the same
    checks: dict[str, None] = field(default_factory=dict)  # calls

    def add(self, item: Event | ToolEvent | Mapping[str, Any]) -> None:
        self.newest = max(self.newest, getattr(item, "at", None) or "")
        match item:
            case Turn() if item.key not in self.turns:
                self.turns[item.key] = item
                self.before[item.key] = tuple(self.replies[-_MAX_REPLIES:])
            case Reply():
                self.replies.append(item.text)
            case SkillUse():
                self.uses.append(item)
            case ToolCall():
                self._add_call(item)
            case ToolResult() if self.outcomes.get(item.call_id, ToolOutcome.OK) is ToolOutcome.OK:
                self.outcomes[item.call_id] = item.outcome
            case Mapping():
                self.version = short(item.get("version")) or self.version
            case _:
                pass

    def _add_call(self, call: ToolCall) -> None:
        self.files |= dict.fromkeys(touched_files(call))
        command = command_of(call)[:_MAX_COMMAND]
        self.commands[command] = None
        key = call.call_id or str(len(self.tools))
        self.tools[key] = call.name
        if CHECK_PATTERN.search(command) and not _INSPECTION_COMMAND.match(command):
            self.checks[key] = None

    def done(self, redact: Redact) -> SessionWork:
        """Return what was done, without any of its words."""
        turns = list(self.turns.values())
        first = next((at for turn in turns if (at := parse_time(turn.at))), None)
        last = parse_time(self.newest)
        used = dict.fromkeys(self.tools.values())
        failed = sum(self.outcomes.get(call) is ToolOutcome.FAILED for call in self.tools)
        ends = [self.outcomes[call] for call in self.checks if call in self.outcomes]
        known = [end is ToolOutcome.OK for end in ends if end in {ToolOutcome.OK, ToolOutcome.FAILED}]
        return SessionWork(
            work=work_of_prompt("\n".join(turn.text[:_MAX_ASK] for turn in turns[:1])),
            tools=tuple(dict.fromkeys(redact(_UNSAFE.sub("", name)[:_MAX_NAME]) for name in used))[:_MAX_TOOLS],
            calls=len(self.tools),
            failed=failed,
            seconds=max(0.0, last - first) if first and last else 0.0,
            passed=known[-1] if known else None,
        )


def survey_several(job: SurveyTranscripts, redact: Redact) -> SurveysResult:
    """Do the surveys of a job for half a second, but at least the first. Raises only for bugs."""
    until, shown, sessions = time.monotonic() + _MAX_SECONDS, list[SurveyResult](), 0
    for one in job.surveys:
        if shown and (time.monotonic() >= until or sessions >= _MAX_SESSIONS):
            break
        shown.append(survey(one, redact))
        sessions += len(shown[-1].sessions)
    return SurveysResult(outcome=Outcome.NOTHING, shown=tuple(shown))


def survey(job: SurveyRequest, redact: Redact) -> SurveyResult:
    """Do the job and return its result; a transcript that cannot be read shows nothing. Raises only for bugs."""
    found: dict[str, _SessionState] = {}
    try:
        for name, item in read_transcript(job.agent, Path(job.path)):
            found.setdefault(name, _SessionState()).add(item)
    except OSError as error:
        return SurveyResult(outcome=Outcome.FAILED, detail=cause_of(error))
    past = {name: one for name, read in found.items() if read.turns and (one := _past_session(job, name, read, redact))}
    if job.backend.model == OFFLINE:
        return SurveyResult(outcome=Outcome.NOTHING, sessions=tuple(past.values()))
    backend = make_backend(job.backend)
    asked = tuple(
        model_questions.ask_model(one, _session_excerpt(found[name]), backend, redact) for name, one in past.items()
    )
    return SurveyResult(outcome=Outcome.NOTHING, sessions=asked, model=backend.name, usage=backend.usage)


def _past_session(job: SurveyRequest, name: str, read: _SessionState, redact: Redact) -> PastSession | None:
    turns = list(read.turns.values())
    cwd = next((turn.cwd for turn in turns if turn.cwd), "")
    try:
        if not _is_plain_path(cwd) or session_opt_out(cwd):
            return None
    except SkilldError:
        return None  # the project's settings cannot be read: do not survey it
    shift = _clock_offset(job, read.newest)
    said = [
        Correction(turn.key, (parse_time(turn.at) or -shift) + shift, redact(quote))
        for turn, quote in _standing_corrections(turns, read.before)
    ]
    files = _loaded_files(job, cwd, read) if job.home else []
    asks = [turn.text[:_MAX_ASK] for turn in turns]
    work = work_of([redact("\n".join((*asks, *read.commands))[:_MAX_WORK])], [redact(one) for one in read.files])
    return PastSession(
        agent=job.agent,
        session_id=name,
        cwd=cwd,
        version=read.version,
        at=next((at + shift for turn in turns if (at := parse_time(turn.at))), 0.0),
        loaded=tuple(files),
        work=tuple(sorted(work)[:_MAX_STEMS]),
        said=tuple(said),
        repeats=tuple(find_repeats(said, files, redact)),
        done=read.done(redact),
    )


def _standing_corrections(turns: Sequence[Turn], before: Mapping[str, tuple[str, ...]]) -> list[tuple[Turn, str]]:
    """Return the first corrections of a session, with their turns, without those that the person took back in it."""
    found = [(turn, quote) for turn in turns for quote in corrections(turn.text, before[turn.key])][:_MAX_SAID]
    since = turns[turns.index(found[0][0]) :] if found else ()
    if not any(find_retractions(turn.text) for turn in since):
        return found
    numbers = {turn.key: number for number, turn in enumerate(since, 1)}
    said = [Update(None, "", quote, "", Kind.CORRECTION, numbers[turn.key], quote, 1.0) for turn, quote in found]
    messages = [Message(turn.text, number, turn.key) for number, turn in enumerate(since, 1)]
    standing = {id(one) for one in without_retracted(said, messages)}
    return [pair for pair, one in zip(found, said, strict=True) if id(one) in standing]


def _session_excerpt(read: _SessionState) -> model_questions.SessionExcerpt:
    turns = [
        (turn.key, parse_time(turn.at) or 0.0, own_words(turn.text, read.before[turn.key]))
        for turn in read.turns.values()
    ]
    return model_questions.SessionExcerpt(tuple(turns), tuple(read.commands), tuple(read.files))


def work_of(texts: Sequence[str], files: Sequence[str]) -> frozenset[str]:
    """Return the stems of a session's work: its requests and commands, and the touched files."""
    kinds = (_SUFFIX_TERMS.get(PurePath(name).suffix[1:].lower(), "") for name in files)
    words = " ".join((*map(_words_only, texts), *map(_words_only, files), *kinds))
    return content_stems(words[: 2 * _MAX_WORK])


def _clock_offset(job: SurveyRequest, newest: str) -> float:
    """Return how many seconds the clock of a log is behind this machine's.

    The file's time tells, if it was written after skilld was installed: an older file may be a copy.
    """
    last = parse_time(newest)
    if last is None or not job.is_live:
        return 0.0
    earliest, latest = _CLOCK_OFFSET_RANGE
    return job.mtime - last if earliest < job.mtime - last < latest else 0.0


def _loaded_files(job: SurveyRequest, cwd: str, read: _SessionState) -> list[str]:
    """Return the real paths of the files in the conversation, skills in use last."""
    version, home = read.version, Path(job.home)
    context = context_of(job.agent, version, cwd, home, tuple(read.files), environment=job.variables, untouched=False)
    entered = [one for one in context.files if one.entered and one.scope is not Scope.SKILL]
    loaded = dict.fromkeys(one.real for one in entered if is_own_file(one, context, job.home))
    roots = {agent: [*map(Path, folders)] for agent, folders in job.roots.items()}
    places = skill_places(job.agent, home, job.variables, roots)
    for use in read.uses:
        skill = find(use.name, use.path, use.cwd or cwd, places)
        if isinstance(skill, SkillRef):
            loaded[skill.path] = None
    return list(loaded)


def find_repeats(said: Sequence[Correction], files: Sequence[str], redact: Redact) -> Iterator[Repeat]:
    """Yield the corrections that repeat a line of a file, by words alone."""
    if not said:
        return
    for path in files:
        for line, text in rules_in(text_of(path)):
            for one in said:
                if repeats_rule(one.quote, text) and (since := added_at(path, line)) is not None:
                    yield Repeat(one.turn, one.quote, path, line, redact(text), since)


def _words_only(text: str) -> str:
    return " ".join(_WORD.findall(text))


def _is_plain_path(cwd: str) -> bool:
    return Path(cwd).is_absolute() and ".." not in Path(cwd).parts and "\0" not in cwd
