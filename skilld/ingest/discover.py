"""Which folders on this machine hold transcripts, and which files in them."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from skilld.agents import ADAPTERS
from skilld.agents.base import AgentInfo, agent_homes, skill_folder
from skilld.files import FileFacts
from skilld.ingest.source import source_of
from skilld.skills import Places


@dataclass(frozen=True, slots=True)
class Host:
    """Whose machine this is: the home folder, the environment and the person's umask, read once by the program.

    `roots` are the folders that the settings name in place of an agent's usual ones.
    """

    home: Path
    environment: Mapping[str, str]
    umask: int = 0o022
    roots: Mapping[str, Sequence[Path]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Root:
    """One folder of one agent's transcripts; it need not exist yet. With a `file`, only that one in it."""

    agent: str
    folder: Path
    file: str = ""

    @property
    def is_flat(self) -> bool:
        """Whether nothing below the folder matters but what is in it."""
        return bool(self.file) or ADAPTERS[self.agent].INFO.flat

    @property
    def changes_in_place(self) -> bool:
        """Whether its transcripts are databases, of which each look asks again."""
        return bool(ADAPTERS[self.agent].INFO.queries)

    @property
    def is_sparse(self) -> bool:
        """Whether each session has a folder of its own in it: so many that only the newest are watched."""
        return bool(ADAPTERS[self.agent].INFO.session_place) and not self.is_flat

    def session_folder(self, transcript: Path) -> Path:
        """Return the folder that is a session's own, in a root that is sparse."""
        return transcript.parents[ADAPTERS[self.agent].INFO.session_place.count("/")]

    @property
    def has_parts(self) -> bool:
        """Whether a session's folder has folders with parts of it."""
        return ADAPTERS[self.agent].INFO.owner is not None

    def holds(self, path: Path) -> bool:
        """Whether a file or folder lies here in truth, links followed."""
        return path.resolve().is_relative_to((self.folder / self.file).resolve())

    def transcript(self, changed: Path) -> Path | None:
        """Return the transcript of this root that a file which has changed belongs to, if it does."""
        adapter = ADAPTERS[self.agent]
        if not changed.is_relative_to(self.folder):
            return None
        path = source_of(adapter.INFO).transcript(changed)
        if self.file:
            return path if path == self.folder / self.file else None
        if self.is_flat and path.parent != self.folder:
            return None
        return path if path.name.endswith(adapter.INFO.suffixes) and adapter.is_transcript(path) else None


def roots(
    home: Path, environment: Mapping[str, str], configured: Mapping[str, Sequence[Path]] | None = None
) -> list[Root]:
    """Return every transcript folder of every agent.

    A configured root may be the agent's folder, the store in it, or one transcript.
    """
    found = []
    for name, adapter in ADAPTERS.items():
        info = adapter.INFO
        usual = [] if info.asked_for else agent_homes(info, home, environment)
        for base in (configured or {}).get(name) or usual:
            if base.name.endswith(info.suffixes):
                found.append(Root(name, base.parent, base.name))
            elif _store_of(base, info):
                found.append(Root(name, base))
            else:
                found += [Root(name, base / store) for store in info.stores]
        named = (environment.get(variable, "") for variable in info.file_variables)
        found += [Root(name, path.parent, path.name) for path in map(Path, named) if path.is_absolute()]
    return found


def _home_of(root: Path, info: AgentInfo) -> Path:
    """Return the agent's folder of a configured root, which may be a store in it, or one transcript."""
    folder = root.parent if root.name.endswith(info.suffixes) else root
    store = _store_of(folder, info)
    return folder.parents[store.count("/")] if store else folder


def _store_of(folder: Path, info: AgentInfo) -> str:
    """Return the store that a folder is by its name, "" where it is none."""
    return next((store for store in info.stores if store and folder.match(store)), "")


def skill_places(
    agent: str, home: Path, environment: Mapping[str, str], configured: Mapping[str, Sequence[Path]] | None = None
) -> Places:
    """Return where the skills of an agent live; `configured` are the roots that the settings name."""
    info = ADAPTERS[agent].INFO
    homes = [_home_of(root, info) for root in (configured or {}).get(agent, ())]
    homes = homes or agent_homes(info, home, environment)
    own = [base / sub for base in homes for sub in info.skill_homes]
    own += filter(None, (skill_folder(folder, home, environment) for folder in info.skill_folders))
    linked = {sub for adapter in ADAPTERS.values() for sub in adapter.INFO.project_skills}
    return Places(info.project_skills, (*own, *(home / sub for sub in info.user_skills)), tuple(sorted(linked)))


def transcripts(root: Root) -> Iterator[tuple[Path, FileFacts]]:
    """Yield the transcripts below a root with their facts. Folders that vanish or cannot be read are passed over."""
    adapter = ADAPTERS[root.agent]
    if root.file:
        with suppress(OSError):
            yield root.folder / root.file, source_of(adapter.INFO).facts(root.folder / root.file)
        return
    stack = [str(root.folder)]
    while stack:
        with suppress(OSError):
            for name, facts in _inside(adapter.INFO, stack.pop()):
                if facts is not None:
                    if adapter.is_transcript(path := Path(name)):
                        yield path, facts
                elif not root.is_flat:
                    stack.append(name)


def _inside(info: AgentInfo, folder: str) -> Iterator[tuple[str, FileFacts | None]]:
    """Yield the files in a folder that may be transcripts with their facts, and the folders in it without.

    For a folder that a session has to itself stands its transcript. Raises OSError.
    """
    source, place = source_of(info), info.session_place
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                own = f"{entry.path}/{place.replace('*', entry.name)}" if place else ""
                facts = _regular(own) if own else None
                yield (own, facts) if facts else (entry.path, None)
            elif entry.name.endswith(info.suffixes) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):  # gone this moment; the others in the folder are not
                    yield entry.path, source.facts(entry)


def _regular(path: str) -> FileFacts | None:
    """Return the facts of a regular file; None where there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return FileFacts(found.st_dev, found.st_ino, found.st_size, found.st_mtime) if S_ISREG(found.st_mode) else None


# Looking through folders for transcripts that changed, without a look at each file where nothing can have happened.
#
# A folder's own time changes when a file comes or goes, not when one grows. So between full sweeps a folder is
# passed over that has not changed and in which nothing grew lately: with 20,000 files a full sweep takes 130 ms of
# the processor, and this 10. What the watcher and this both miss, the next full sweep finds. Where each session has
# a folder of its own, only the folder around them is remembered, and which sessions are the newest.

# A file that comes within the same tick of a file system's clock as our look leaves the folder's time as it was.
_TICK = 2.0  # seconds, that of FAT, the coarsest
_PARTS = 256
_NEWEST = 32  # sessions of a root that are watched where each has a folder of its own


class FileStates:
    """How each file was when it was last looked at: of 20,000 files 0.4 MB, where a dict of numbers takes 2.

    Kept are 64-bit hashes of paths and states, in sorted arrays, so many that none grows long.
    """

    def __init__(self) -> None:
        self._parts = [(array("q"), array("q")) for _ in range(_PARTS)]

    def note(self, path: str, size: int, mtime: float) -> None:
        """Remember a file's state."""
        paths, states, at, known = self._find(path)
        if known:
            states[at] = hash((size, mtime))
        else:
            paths.insert(at, hash(path))
            states.insert(at, hash((size, mtime)))

    def forget(self, path: str) -> None:
        """Take a file for one that was never looked at."""
        paths, states, at, known = self._find(path)
        if known:
            del paths[at], states[at]

    def as_it_was(self, path: str, facts: FileFacts) -> bool:
        """Whether a file has not changed."""
        _, states, at, known = self._find(path)
        return known and states[at] == hash((facts.st_size, facts.st_mtime))

    def _find(self, path: str) -> tuple[array[int], array[int], int, bool]:
        """Return the arrays that a path belongs to, its place in them, and whether it is there."""
        number = hash(path)
        paths, states = self._parts[number % _PARTS]
        at = bisect_left(paths, number)
        return paths, states, at, at < len(paths) and paths[at] == number


@dataclass(slots=True)
class _Folder:
    """What the last look at a folder found: its own time (None: not to be relied on), the newest file's, folders."""

    changed: int | None
    newest: float
    below: tuple[str, ...]


class Folders:
    """Remembers of each folder when something happened in it.

    `newest` are, of a root whose sessions have folders of their own, the transcripts that were written last, each with
    its time.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Folder] = {}
        self.newest: dict[Root, dict[str, float]] = {}

    def changed(self, root: Root, seen: FileStates, now: float, *, quiet_since: float | None) -> Iterator[str]:
        """Yield the paths below `root` of files that are not as they were `seen` last.

        Folders that did not change, and in which nothing grew since the Unix time `quiet_since`, are passed over; None:
        none is. Folders that vanish or cannot be read are passed over too.
        """
        if root.file:
            path = root.folder / root.file
            with suppress(OSError):
                if not seen.as_it_was(str(path), source_of(ADAPTERS[root.agent].INFO).facts(path)):
                    yield str(path)
            return
        stack = [str(root.folder)]
        while stack:
            folder = stack.pop()
            try:
                facts = os.stat(folder)  # noqa: PTH116 - a Path for each of thousands costs more than the look
                known = self._known.get(folder)
                quiet = known and quiet_since is not None and known.newest < quiet_since
                if known is None or not quiet or known.changed != facts.st_mtime_ns:
                    before = known.below if known else ()
                    settled = facts.st_mtime < now - _TICK
                    found = _Found()
                    yield from self._look(root, folder, found, seen)
                    for new in set(found.below).difference(before):  # it may have been here before, and be another
                        self._known.pop(new, None)
                    known = _Folder(facts.st_mtime_ns if settled else None, found.newest, tuple(found.below))
                    self._known[folder] = known
                if not root.is_flat:
                    stack += known.below
            except OSError:
                self._known.pop(folder, None)

    def _look(self, root: Root, folder: str, found: _Found, seen: FileStates) -> Iterator[str]:
        info = ADAPTERS[root.agent].INFO
        newest = self.newest.setdefault(root, {}) if info.session_place else {}
        for path, facts in _inside(info, folder):
            if facts is None:
                found.below.append(path)
                continue
            found.newest = max(found.newest, facts.st_mtime)
            if info.session_place and path.rpartition("/")[0] != folder:
                newest[path] = facts.st_mtime
            if not seen.as_it_was(path, facts):
                yield path
        if len(newest) > _NEWEST:
            self.newest[root] = dict(sorted(newest.items(), key=lambda item: item[1])[-_NEWEST:])


@dataclass(slots=True)
class _Found:
    newest: float = 0.0
    below: list[str] = field(default_factory=list)


def is_text(path: Path) -> bool:
    """Whether a path can be written down as text."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
