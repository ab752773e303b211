"""Past sessions, read from the transcripts as they lie: every person's turn once, whatever was forked or resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.ingest import prompt_log
from skilld.ingest.discover import Root, Surroundings, roots, transcripts
from skilld.ingest.inspect import guess_agent
from skilld.ingest.main_dir import Work
from skilld.ingest.source import source_of
from skilld.mining.log import Log
from skilld.mining.project import project_of
from skilld.pipeline.messages import as_messages
from skilld.types import Event, Message, RawLine, Reply, SkillUse, Turn


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript to be read; `changed` is a Unix time. `by_hand`: it lies in no agent's folder, somebody named it."""

    agent: str
    path: Path
    changed: float
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """One session, its messages redacted; `at` is the time of its last turn, empty where its log has none.

    `cwd` is where it was started, `main_dir` the folder in which most of its work was done, `project` the top of that
    one's repository, or `cwd` where it is not on this machine; `log` is what its own log tells of its cost and its end.
    `by_hand` as of its transcript.
    """

    agent: str
    id: str
    path: Path
    cwd: str
    main_dir: str
    at: str
    messages: tuple[Message, ...]
    uses: tuple[SkillUse, ...]
    log: Log = field(default_factory=Log)
    project: str = ""
    by_hand: bool = False

    @property
    def turns(self) -> list[Message]:
        """What the person said."""
        return [message for message in self.messages if message.by_person]


@dataclass(slots=True)
class _Read:
    """What is known of one session while its transcript is read."""

    events: list[Turn | Reply] = field(default_factory=list)
    uses: list[SkillUse] = field(default_factory=list)
    work: Work = field(default_factory=Work)
    log: Log = field(default_factory=Log)


def past(around: Surroundings, since: float) -> list[Transcript]:
    """Return the transcripts on this machine that changed after `since` (Unix seconds), the newest first.

    Where agents keep none, those are looked for that lie in the configured folders in some other order, as people keep
    copies.
    """
    return discover(roots(around.home, around.environment, around.roots), since) or [
        one for agent, bases in around.roots.items() for base in bases for one in below(base, since, agent)
    ]


def discover(places: Iterable[Root], since: float) -> list[Transcript]:
    """Return the transcripts that changed after `since` (Unix seconds), the newest first."""
    found = [
        Transcript(root.agent, path, facts.st_mtime)
        for root in places
        for path, facts in transcripts(root)
        if facts.st_mtime >= since
    ]
    return sorted(found, key=lambda one: -one.changed)


def below(folder: Path, since: float, agent: str | None = None) -> list[Transcript]:
    """Return the transcripts in a folder that no agent keeps like this, told by what their lines say, newest first.

    With `agent` only those of that one. A file given in place of a folder is looked at alone.
    """
    found = []
    for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        try:
            changed = path.stat().st_mtime
            if path.is_file() and changed >= since:
                name = guess_agent(path)
                if name is not None and agent in {None, name}:
                    found.append(Transcript(name, path, changed))
        except OSError:
            continue
    return sorted(found, key=lambda one: -one.changed)


class Reader:
    """Reads transcripts one by one; a turn that was in an earlier one is left out. `unreadable` counts files."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._known: set[str] = set()
        self.unreadable = 0

    def sessions(self, transcript: Transcript) -> list[Session]:
        """Return the sessions of one transcript in which somebody said something new."""
        by_id: dict[str, _Read] = {}
        try:
            for event in _events(transcript, by_id):
                self._take(event, by_id)
        except OSError:
            self.unreadable += 1
        return [
            self._session(transcript, name, read)
            for name, read in by_id.items()
            if any(isinstance(event, Turn) for event in read.events)
        ]

    def _take(self, event: Event, by_id: dict[str, _Read]) -> None:
        match event:
            case Turn() if event.key not in self._known:
                self._known.add(event.key)
                by_id.setdefault(event.session_id, _Read()).events.append(event)
            case Reply():
                by_id.setdefault(event.session_id, _Read()).events.append(event)
            case SkillUse():
                by_id.setdefault(event.session_id, _Read()).uses.append(event)
            case _:
                pass

    def _session(self, transcript: Transcript, name: str, read: _Read) -> Session:
        turns = [event for event in read.events if isinstance(event, Turn)]
        cwd = next((turn.cwd for turn in reversed(turns) if turn.cwd), "")
        main_dir = read.work.main_dir(cwd or None) or ""
        return Session(
            agent=transcript.agent,
            id=name,
            path=transcript.path,
            cwd=cwd,
            main_dir=main_dir,
            at=next((turn.at for turn in reversed(turns) if turn.at), ""),
            messages=tuple(as_messages(read.events, self._redact)),
            uses=tuple(read.uses),
            log=read.log,
            project=str(project_of(main_dir) or cwd or main_dir),
            by_hand=transcript.by_hand,
        )


def _events(transcript: Transcript, by_id: dict[str, _Read]) -> Iterator[Event]:
    """Yield the events of a transcript, and note under the session of each record what was worked on."""
    adapter = ADAPTERS[transcript.agent]
    source = source_of(adapter.INFO)
    session = ""
    parser = adapter.parser(transcript.path)
    prompt_log.tell(parser, transcript.path, adapter.INFO)
    for item in source.whole(transcript.path):
        if isinstance(item, RawLine):
            for event in parser.feed(item):
                session = getattr(event, "session_id", session)
                yield event
            if session := source.session(item) or session:
                read = by_id.setdefault(session, _Read())
                read.work.see(item.data)
                read.log.see(transcript.agent, item.data)
    yield from parser.flush()
