"""One transcript, read whole for what its sessions show of the rules that were loaded; of its words only quotes stay.

What an agent had loaded is what it loads in that folder now, for the files that the session touched: of an old session
that is an estimate, which `since` of each line corrects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from skilld.agents import ADAPTERS
from skilld.agents.base import short
from skilld.agents.tools import SEARCH_TOOLS, command_of, files_named, patched_by, record_reader, tools_of
from skilld.classify.backends import OFFLINE, Backend, make
from skilld.classify.backends.model import Model
from skilld.classify.offline.sections import Block, body_of, sections
from skilld.clock import seconds
from skilld.context import Scope, context_of
from skilld.effect.again import corrections, says_again
from skilld.errors import SkilldError
from skilld.git.environment import scrub_environment
from skilld.git.managed_repos import look
from skilld.git.objects import read_commit
from skilld.ingest import side_files
from skilld.ingest.discover import skill_places
from skilld.ingest.source import source_of
from skilld.past import Correction, PastSession, Repeat
from skilld.pipeline.documents import is_own, session_opt_out
from skilld.proposals.explain import why
from skilld.proposals.staging import private_repositories
from skilld.protocol import Survey, SurveyResult
from skilld.skills import find
from skilld.text import cut
from skilld.types import Event, Outcome, RawLine, Reply, SkillRef, SkillUse, ToolCall, Turn
from skilld.words import content_stems

_MOST_WORK = 64 * 1024  # characters of what was asked, run and touched that are looked at
_MOST_STEMS = 600
_MOST_SAID = 40  # corrections of a session
_MOST_REPLIES = 5  # of the agent's messages before a turn, in which its lines are looked for
_CLOCKS_APART = 3600.0, 7 * 86400.0  # seconds: less is work without a turn, more an old session
_MOST_ASKED, _MOST_RULES, _MOST_RULE = 12, 80, 200  # of one question to a model; the last in characters
_MOST_TEXT = 1 << 18  # characters of a file
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
_MOST_ASK, _MOST_COMMAND = 1000, 500  # characters of one
_PARTS = re.compile(r"[^\W_]+")


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

    def take(self, event: Event) -> None:
        self.newest = max(self.newest, getattr(event, "at", None) or "")
        match event:
            case Turn() if event.key not in self.turns:
                self.turns[event.key] = event
                self.before[event.key] = tuple(self.replies[-_MOST_REPLIES:])
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
        self.commands[command_of(call)[:_MOST_COMMAND]] = None


def survey(job: Survey, redact: Callable[[str], str]) -> SurveyResult:
    """Do the job and return its result; a transcript that cannot be read shows nothing. Raises only for bugs."""
    found: dict[str, _Read] = {}
    try:
        _read(job, found)
    except OSError as error:
        return SurveyResult(outcome=Outcome.FAILED, detail=error.strerror or type(error).__name__)
    scrub_environment()
    sessions = [one for name, read in found.items() if read.turns and (one := _session(job, name, read, redact))]
    if job.backend.model == OFFLINE:
        return SurveyResult(outcome=Outcome.NOTHING, sessions=tuple(sessions))
    backend = make(job.backend)
    asked = tuple(_asked(one, backend, redact) for one in sessions)
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
    ][:_MOST_SAID]
    files = _loaded(job, cwd, read)
    asks = [turn.text[:_MOST_ASK] for turn in turns]
    work = work_of([redact("\n".join((*asks, *read.commands))[:_MOST_WORK])], [redact(one) for one in read.files])
    return PastSession(
        agent=job.agent,
        session_id=name,
        cwd=cwd,
        version=read.version,
        at=next((at + shift for turn in turns if (at := seconds(turn.at))), 0.0),
        loaded=tuple(files),
        work=tuple(sorted(work)[:_MOST_STEMS]),
        said=tuple(said),
        repeats=tuple(_repeats(said, files, redact)),
    )


def work_of(texts: Sequence[str], files: Sequence[str]) -> frozenset[str]:
    """Return the stems of a session's work: of what was asked and run, and of the files that were touched."""
    kinds = (_KINDS.get(PurePath(name).suffix[1:].lower(), "") for name in files)
    words = " ".join((*map(_parts, texts), *map(_parts, files), *kinds))
    return content_stems(words[: 2 * _MOST_WORK])


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


def _repeats(said: Sequence[Correction], files: Sequence[str], redact: Callable[[str], str]) -> Iterator[Repeat]:
    if not said:
        return
    for path in files:
        for line, text in rules_in(text_of(path)):
            for one in said:
                if says_again(one.quote, text) and (since := came_in(path, line)) is not None:
                    yield Repeat(one.turn, one.quote, path, line, redact(text), since)


def _asked(session: PastSession, backend: Backend, redact: Callable[[str], str]) -> PastSession:
    """Return a session with what a model takes for repeats of what was said in words that do not tell."""
    told = {one.quote for one in session.repeats}
    said = [one for one in session.said if one.quote not in told][:_MOST_ASKED]
    rules = [(path, line, text) for path in session.loaded for line, text in rules_in(text_of(path))][:_MOST_RULES]
    if not said or not rules or not isinstance(backend, Model):
        return session
    try:
        pairs = backend.repeats([one.quote for one in said], [cut(redact(text), _MOST_RULE) for _, _, text in rules])
    except SkilldError:
        return session  # words alone, then: no rule is worth a second question
    found = []
    for one, rule in pairs:
        (path, line, text), correction = rules[rule - 1], said[one - 1]
        if (since := came_in(path, line)) is not None:
            found.append(Repeat(correction.turn, correction.quote, path, line, redact(text), since))
    return replace(session, repeats=(*session.repeats, *found))


def text_of(path: str) -> str:
    """Return the text of a file, as far as it can be read."""
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8-sig", errors="replace")[:_MOST_TEXT]
    return ""


def rules_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items and paragraphs of a text that may be rules, each with the number of its first line, from 1."""
    before = len(text.splitlines()) - len(body_of(text))
    for section in sections(text):
        for block in section.blocks:
            if block.kind is not Block.OTHER:
                yield before + block.first + 1, block.text


def came_in(path: str, line: int) -> float | None:
    """Return since when a line stands in a file (Unix time): by the commit that brought it, at the latest by the file.

    None where the file is gone.
    """
    file = Path(path)
    try:
        changed = file.stat().st_mtime
    except OSError:
        return None
    with suppress(SkilldError, OSError):
        private = private_repositories()
        if origin := why(file, line, private).commit:
            commit = read_commit(look(file, private).repo.git, origin)
            if commit is not None:
                return min(float(commit.committer.seconds), changed)  # a commit's clock may be anybody's
    return changed


def _parts(text: str) -> str:
    return " ".join(_PARTS.findall(text))


def _is_plain(cwd: str) -> bool:
    return Path(cwd).is_absolute() and ".." not in Path(cwd).parts and "\0" not in cwd
