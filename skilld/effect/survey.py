"""Reads one whole transcript for what its sessions show of the loaded rules; of its words only quotes are kept.

What an agent had loaded is what it loads in that folder now, for the files that the session touched: of an old session
that is an estimate, which `since` of each line corrects.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from skilld.agents import ADAPTERS
from skilld.agents.base import short
from skilld.agents.tools import SEARCH_TOOLS, command_of, files_named, patched_by, record_reader, tools_of
from skilld.classify.again import corrections, says_again
from skilld.classify.backends import OFFLINE, make
from skilld.classify.offline.provenance import own_words
from skilld.clock import seconds
from skilld.context import Scope, context_of
from skilld.effect import asking
from skilld.effect.lines import came_in, rules_in, text_of
from skilld.errors import SkilldError, cause_of
from skilld.git.environment import scrub_environment
from skilld.ingest import side_files
from skilld.ingest.discover import skill_places
from skilld.ingest.source import source_of
from skilld.library.patterns import CHECKS
from skilld.library.patterns import work_of as work_of_prompt
from skilld.past import Correction, Done, PastSession, Repeat
from skilld.pipeline.documents import is_own, session_opt_out
from skilld.protocol import Survey, SurveyResult, Surveys, SurveysResult
from skilld.skills import find
from skilld.types import Event, Outcome, RawLine, Reply, SkillRef, SkillUse, ToolCall, ToolOutcome, ToolResult, Turn
from skilld.words import content_stems

_SECONDS, _MAX_SESSIONS = 0.5, 20  # of a job of several: a batch may be waiting, and the result is one line
_MAX_WORK = 64 * 1024  # characters of what was asked, run and touched that are looked at
_MAX_STEMS = 600
_MAX_SAID = 40  # corrections of a session
_MAX_REPLIES = 5  # of the agent's messages before a turn, in which its lines are looked for
_CLOCKS_APART = 3600.0, 7 * 86400.0  # seconds: less is work without a turn, more an old session
# What a suffix says of the work.
_KINDS = {
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
# What names a check, and is none.
_LOOKS = re.compile(r"\s*(?:cat|cp|echo|find|git|grep|head|less|ls|mkdir|mv|rg|rm|sed|tail|touch|wc)\b")
_MAX_TOOLS, _MAX_NAME = 50, 60  # of a session; characters
_PARTS = re.compile(r"[^\W_]+")
_SAFE = re.compile(r"[^\w.:/-]+")  # no part of the name of a tool


@dataclass(slots=True)
class _Read:
    """What is known of a session while its transcript is read."""

    turns: dict[str, Turn] = field(default_factory=dict)
    before: dict[str, tuple[str, ...]] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)
    uses: list[SkillUse] = field(default_factory=list)
    commands: dict[str, None] = field(default_factory=dict)
    files: dict[str, None] = field(default_factory=dict)
    version: str = ""
    newest: str = ""  # time that a record names: RFC 3339 in UTC, as text in order
    tools: dict[str, str] = field(default_factory=dict)  # by call
    outcomes: dict[str, ToolOutcome] = field(default_factory=dict)  # the same
    checks: dict[str, None] = field(default_factory=dict)  # calls

    def take(self, event: Event) -> None:
        self.newest = max(self.newest, getattr(event, "at", None) or "")
        match event:
            case Turn() if event.key not in self.turns:
                self.turns[event.key] = event
                self.before[event.key] = tuple(self.replies[-_MAX_REPLIES:])
            case Reply():
                self.replies.append(event.text)
            case SkillUse():
                self.uses.append(event)
            case _:
                pass

    def call(self, call: ToolCall) -> None:
        self.newest = max(self.newest, call.at or "")
        named = [] if call.name.lower() in SEARCH_TOOLS else [*files_named(call.input), *patched_by(call)]
        self.files |= dict.fromkeys(name for name in named if "\0" not in name)
        command = command_of(call)[:_MAX_COMMAND]
        self.commands[command] = None
        key = call.call_id or str(len(self.tools))
        self.tools[key] = call.name
        if CHECKS.search(command) and not _LOOKS.match(command):
            self.checks[key] = None

    def result(self, result: ToolResult) -> None:
        self.newest = max(self.newest, result.at or "")
        if self.outcomes.get(result.call_id, ToolOutcome.OK) is ToolOutcome.OK:
            self.outcomes[result.call_id] = result.outcome

    def done(self, redact: Callable[[str], str]) -> Done:
        """Return what was done, without a word of it."""
        turns = list(self.turns.values())
        first = next((at for turn in turns if (at := seconds(turn.at))), None)
        last = seconds(self.newest)
        used = dict.fromkeys(self.tools.values())
        failed = sum(self.outcomes.get(call) is ToolOutcome.FAILED for call in self.tools)
        ends = [self.outcomes[call] for call in self.checks if call in self.outcomes]
        known = [end is ToolOutcome.OK for end in ends if end in {ToolOutcome.OK, ToolOutcome.FAILED}]
        return Done(
            work=work_of_prompt("\n".join(turn.text[:_MAX_ASK] for turn in turns[:1])),
            tools=tuple(dict.fromkeys(redact(_SAFE.sub("", name)[:_MAX_NAME]) for name in used))[:_MAX_TOOLS],
            calls=len(self.tools),
            failed=failed,
            seconds=max(0.0, last - first) if first and last else 0.0,
            passed=known[-1] if known else None,
        )


def survey_some(job: Surveys, redact: Callable[[str], str]) -> SurveysResult:
    """Do the surveys of a job until it has taken half a second, the first one in any case. Raises only for bugs."""
    until, shown, sessions = time.monotonic() + _SECONDS, list[SurveyResult](), 0
    for one in job.surveys:
        if shown and (time.monotonic() >= until or sessions >= _MAX_SESSIONS):
            break
        shown.append(survey(one, redact))
        sessions += len(shown[-1].sessions)
    return SurveysResult(outcome=Outcome.NOTHING, shown=tuple(shown))


def survey(job: Survey, redact: Callable[[str], str]) -> SurveyResult:
    """Do the job and return its result; a transcript that cannot be read shows nothing. Raises only for bugs."""
    found: dict[str, _Read] = {}
    try:
        _read(job, found)
    except OSError as error:
        return SurveyResult(outcome=Outcome.FAILED, detail=cause_of(error))
    scrub_environment()
    sessions = {name: one for name, read in found.items() if read.turns and (one := _session(job, name, read, redact))}
    if job.backend.model == OFFLINE:
        return SurveyResult(outcome=Outcome.NOTHING, sessions=tuple(sessions.values()))
    backend = make(job.backend)
    asked = tuple(asking.asked(one, _shown(found[name]), backend, redact) for name, one in sessions.items())
    return SurveyResult(outcome=Outcome.NOTHING, sessions=asked, model=backend.name, usage=backend.usage)


def _read(job: Survey, found: dict[str, _Read]) -> None:
    adapter, path = ADAPTERS[job.agent], Path(job.path)
    source, session = source_of(adapter.INFO), ""
    parser, records, tools = adapter.parser(path), record_reader(adapter, path), tools_of(adapter)
    side_files.tell(parser, path, adapter.INFO)
    for item in source.whole(path):
        if not isinstance(item, RawLine):
            continue
        for event in parser.feed(item):
            session = getattr(event, "session_id", session)
            found.setdefault(session, _Read()).take(event)
        if session := source.session(item) or session:
            read = found.setdefault(session, _Read())
            for record, span in records(item):
                read.version = short(record.get("version")) or read.version
                for call in tools(record, session, span):
                    if isinstance(call, ToolCall):
                        read.call(call)
                    else:
                        read.result(call)
    for event in parser.flush():
        found.setdefault(getattr(event, "session_id", session), _Read()).take(event)


def _session(job: Survey, name: str, read: _Read, redact: Callable[[str], str]) -> PastSession | None:
    turns = list(read.turns.values())
    cwd = next((turn.cwd for turn in turns if turn.cwd), "")
    try:
        if not _is_plain(cwd) or session_opt_out(cwd):
            return None
    except SkilldError:
        return None  # what it says is not understood: rather not
    shift = _shift(job, read.newest)
    said = [
        Correction(turn.key, (seconds(turn.at) or -shift) + shift, redact(quote))
        for turn in turns
        for quote in corrections(turn.text, read.before[turn.key])
    ][:_MAX_SAID]
    files = _loaded(job, cwd, read) if job.home else []
    asks = [turn.text[:_MAX_ASK] for turn in turns]
    work = work_of([redact("\n".join((*asks, *read.commands))[:_MAX_WORK])], [redact(one) for one in read.files])
    return PastSession(
        agent=job.agent,
        session_id=name,
        cwd=cwd,
        version=read.version,
        at=next((at + shift for turn in turns if (at := seconds(turn.at))), 0.0),
        loaded=tuple(files),
        work=tuple(sorted(work)[:_MAX_STEMS]),
        said=tuple(said),
        repeats=tuple(heard(said, files, redact)),
        done=read.done(redact),
    )


def _shown(read: _Read) -> asking.SessionExcerpt:
    turns = [
        (turn.key, seconds(turn.at) or 0.0, own_words(turn.text, read.before[turn.key])) for turn in read.turns.values()
    ]
    return asking.SessionExcerpt(tuple(turns), tuple(read.commands), tuple(read.files))


def work_of(texts: Sequence[str], files: Sequence[str]) -> frozenset[str]:
    """Return the stems of a session's work: of what was asked and run, and of the files that were touched."""
    kinds = (_KINDS.get(PurePath(name).suffix[1:].lower(), "") for name in files)
    words = " ".join((*map(_parts, texts), *map(_parts, files), *kinds))
    return content_stems(words[: 2 * _MAX_WORK])


def _shift(job: Survey, newest: str) -> float:
    """Return by how many seconds the clock of a log is behind this machine's.

    That is told by its file, where that one has come since skilld is there: an older one may be a copy.
    """
    last = seconds(newest)
    if last is None or not job.is_live:
        return 0.0
    least, most = _CLOCKS_APART
    return job.mtime - last if least < job.mtime - last < most else 0.0


def _loaded(job: Survey, cwd: str, read: _Read) -> list[str]:
    """Return the real paths of the files that were in the conversation, skills in use last."""
    version, home = read.version, Path(job.home)
    context = context_of(job.agent, version, cwd, home, tuple(read.files), environment=job.variables, untouched=False)
    entered = [one for one in context.files if one.entered and one.scope is not Scope.SKILL]
    loaded = dict.fromkeys(one.real for one in entered if is_own(one, context, job.home))
    roots = {agent: [*map(Path, folders)] for agent, folders in job.roots.items()}
    places = skill_places(job.agent, home, job.variables, roots)
    for use in read.uses:
        skill = find(use.name, use.path, use.cwd or cwd, places)
        if isinstance(skill, SkillRef):
            loaded[skill.path] = None
    return list(loaded)


def heard(said: Sequence[Correction], files: Sequence[str], redact: Callable[[str], str]) -> Iterator[Repeat]:
    """Yield what says a line of a file again, by words alone."""
    if not said:
        return
    for path in files:
        for line, text in rules_in(text_of(path)):
            for one in said:
                if says_again(one.quote, text) and (since := came_in(path, line)) is not None:
                    yield Repeat(one.turn, one.quote, path, line, redact(text), since)


def _parts(text: str) -> str:
    return " ".join(_PARTS.findall(text))


def _is_plain(cwd: str) -> bool:
    return Path(cwd).is_absolute() and ".." not in Path(cwd).parts and "\0" not in cwd
