"""Finds the folders that hold transcripts on this machine, and the transcripts in them."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from stat import S_ISREG

from skilld.agents import ADAPTERS
from skilld.agents.base import AgentInfo, agent_homes, resolve_skill_folder
from skilld.files import FileFacts
from skilld.git.tracked import is_tracked
from skilld.ingest.source import source_of
from skilld.skills import Places
from skilld.store import Store
from skilld.text import pluralize
from skilld.values import value_class


@value_class
class Host:
    """The person's home folder, environment and umask, read once by the program.

    `find_roots` are the folders that the settings name instead of an agent's usual ones.
    """

    home: Path
    environment: Mapping[str, str]
    umask: int = 0o022
    roots: Mapping[str, Sequence[Path]] = field(default_factory=dict)


@value_class
class Root:
    """A folder with one agent's transcripts, which need not exist yet. With a `file`, only that file in it counts."""

    agent: str
    folder: Path
    file: str = ""

    @property
    def is_flat(self) -> bool:
        """Whether only files directly in the folder are transcripts."""
        return bool(self.file) or ADAPTERS[self.agent].INFO.flat

    @property
    def changes_in_place(self) -> bool:
        """Whether its transcripts are databases, which are queried again each time."""
        return bool(ADAPTERS[self.agent].INFO.queries)

    @property
    def is_sparse(self) -> bool:
        """Whether each session has its own folder in it: there are so many that only the newest are watched."""
        return bool(ADAPTERS[self.agent].INFO.session_place) and not self.is_flat

    def session_folder(self, transcript: Path) -> Path:
        """Return the session's own folder, in a sparse root."""
        return transcript.parents[ADAPTERS[self.agent].INFO.session_place.count("/")]

    @property
    def has_parts(self) -> bool:
        """Whether a session's folder has subfolders with parts of the session."""
        return ADAPTERS[self.agent].INFO.owner is not None

    def contains(self, path: Path) -> bool:
        """Whether a file or folder is in this root, links followed."""
        return path.resolve().is_relative_to((self.folder / self.file).resolve())

    def transcript(self, changed: Path) -> Path | None:
        """Return the transcript in this root that a changed file belongs to; None if there is none."""
        adapter = ADAPTERS[self.agent]
        if not changed.is_relative_to(self.folder):
            return None
        path = source_of(adapter.INFO, changed).transcript(changed)
        if self.file:
            return path if path == self.folder / self.file else None
        if self.is_flat and path.parent != self.folder:
            return None
        return path if path.name.endswith(adapter.INFO.suffixes) and adapter.is_transcript(path) else None


def find_roots(
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
            elif _matching_store(base, info):
                found.append(Root(name, base))
            else:
                found += [Root(name, base / store) for store in info.stores]
        named = (environment.get(variable, "") for variable in info.file_variables)
        found += [Root(name, path.parent, path.name) for path in map(Path, named) if path.is_absolute()]
    return found


def _agent_home(root: Path, info: AgentInfo) -> Path:
    """Return the agent's folder for a configured root, which may be a store in it or one transcript."""
    folder = root.parent if root.name.endswith(info.suffixes) else root
    store = _matching_store(folder, info)
    return folder.parents[store.count("/")] if store else folder


def _matching_store(folder: Path, info: AgentInfo) -> str:
    """Return the store that a folder is, judged by its name; "" if it is not one."""
    return next((store for store in info.stores if store and folder.match(store)), "")


def skill_places(
    agent: str, home: Path, environment: Mapping[str, str], configured: Mapping[str, Sequence[Path]] | None = None
) -> Places:
    """Return where the skills of an agent live; `configured` are the roots that the settings name."""
    info = ADAPTERS[agent].INFO
    homes = [_agent_home(root, info) for root in (configured or {}).get(agent, ())]
    homes = homes or agent_homes(info, home, environment)
    own = [base / sub for base in homes for sub in info.skill_homes]
    own += filter(None, (resolve_skill_folder(folder, home, environment) for folder in info.skill_folders))
    linked = {sub for adapter in ADAPTERS.values() for sub in adapter.INFO.project_skills}
    return Places(info.project_skills, (*own, *(home / sub for sub in info.user_skills)), tuple(sorted(linked)))


def find_transcripts(root: Root) -> Iterator[tuple[Path, FileFacts]]:
    """Yield the transcripts below a root with their facts. Folders that vanish or cannot be read are skipped."""
    adapter = ADAPTERS[root.agent]
    if root.file:
        with suppress(OSError):
            path = root.folder / root.file
            yield path, source_of(adapter.INFO, path).facts(path)
        return
    stack = [str(root.folder)]
    while stack:
        with suppress(OSError):
            for name, facts in _scan_folder(adapter.INFO, stack.pop()):
                if facts is not None:
                    if adapter.is_transcript(path := Path(name)):
                        yield path, facts
                elif not root.is_flat:
                    stack.append(name)


_MAX_LOOKS = 1000  # at entries behind a link


def find_links(root: Root) -> Iterator[Path]:
    """Yield the links below a root to transcripts outside it, or to folders with some. None is followed.

    A link could lead to what somebody else writes, or back to a folder above it.
    """
    is_transcript = ADAPTERS[root.agent].is_transcript
    suffixes = ADAPTERS[root.agent].INFO.suffixes

    def is_ours(name: str) -> bool:
        return name.endswith(suffixes) and is_transcript(Path(name))

    def hides(link: str) -> bool:
        below = (f"{here}/{name}" for here, _, names in os.walk(link) for name in names)
        found = islice(below, 0 if root.is_flat else _MAX_LOOKS) if Path(link).is_dir() else [link]
        return Path(link).exists() and any(map(is_ours, found)) and not root.contains(Path(link))

    stack = [] if root.file else [str(root.folder)]
    while stack:
        with suppress(OSError), os.scandir(stack.pop()) as entries:
            for entry in entries:
                if entry.is_symlink() and hides(entry.path):
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False) and not root.is_flat:
                    stack.append(entry.path)


def _scan_folder(info: AgentInfo, folder: str) -> Iterator[tuple[str, FileFacts | None]]:
    """Yield the possible transcripts in a folder with their facts, and its subfolders with None.

    A session's own folder is replaced by its transcript. Raises OSError.
    """
    source, place = source_of(info, Path(folder)), info.session_place
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                own = f"{entry.path}/{place.replace('*', entry.name)}" if place else ""
                facts = _regular_file_facts(own) if own else None
                yield (own, facts) if facts else (entry.path, None)
            elif entry.name.endswith(info.suffixes) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):  # just deleted; the other files remain
                    yield entry.path, source.facts(entry)


def _regular_file_facts(path: str) -> FileFacts | None:
    """Return the facts of a regular file; None if there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return FileFacts(found.st_dev, found.st_ino, found.st_size, found.st_mtime) if S_ISREG(found.st_mode) else None


# Scanning folders for changed transcripts, without checking each file where nothing can have changed.
#
# A folder's own time changes when a file is added or removed, not when one grows. So between full sweeps, folders are
# skipped that have not changed and in which nothing grew lately: with 20,000 files, a full sweep takes 130 ms of
# processor time and this takes 10. The next full sweep finds what both the watcher and this miss. Where each session
# has its own folder, only their parent is remembered, and the newest sessions.

# A file added within the same tick of the file system's clock as our scan does not change the folder's time.
_CLOCK_TICK_SECONDS = 2.0  # that of FAT, the coarsest
_BUCKETS = 256
_MAX_NEWEST = 32  # sessions that are watched in a sparse root


class FileStates:
    """The state of each file when it was last read. 20,000 files take 0.4 MB; a dict of numbers would take 2 MB.

    Holds 64-bit hashes of paths and states in sorted arrays, enough of them to keep each short.
    """

    def __init__(self) -> None:
        self._parts = [(array("q"), array("q")) for _ in range(_BUCKETS)]

    def record(self, path: str, size: int, mtime: float) -> None:
        """Record a file's state."""
        paths, states, at, known = self._find(path)
        if known:
            states[at] = hash((size, mtime))
        else:
            paths.insert(at, hash(path))
            states.insert(at, hash((size, mtime)))

    def forget(self, path: str) -> None:
        """Treat a file as never read."""
        paths, states, at, known = self._find(path)
        if known:
            del paths[at], states[at]

    def is_unchanged(self, path: str, facts: FileFacts) -> bool:
        """Whether a file has not changed since its state was recorded."""
        _, states, at, known = self._find(path)
        return known and states[at] == hash((facts.st_size, facts.st_mtime))

    def _find(self, path: str) -> tuple[array[int], array[int], int, bool]:
        """Return the arrays that a path belongs in, its index there, and whether it is present."""
        number = hash(path)
        paths, states = self._parts[number % _BUCKETS]
        at = bisect_left(paths, number)
        return paths, states, at, at < len(paths) and paths[at] == number


@dataclass(slots=True)
class _Folder:
    """The last scan of a folder: its own time (None: not reliable), that of its newest file, and its subfolders."""

    changed: int | None = None
    newest: float = 0.0
    below: list[str] = field(default_factory=list)


class FolderScanner:
    """Scans folders for changed files, and remembers when something last happened in each.

    `newest` holds, for each sparse root, the transcripts that were written last, with their times.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Folder] = {}
        self.newest: dict[Root, dict[str, float]] = {}

    def changed_files(self, root: Root, seen: FileStates, now: float, *, quiet_since: float | None) -> Iterator[str]:
        """Yield the paths of the files below `root` that differ from the states in `seen`.

        Folders that did not change, and in which nothing grew since the Unix time `quiet_since`, are skipped; with None
        none is. Folders that vanish or cannot be read are skipped too.
        """
        if root.file:
            path = root.folder / root.file
            with suppress(OSError):
                if not seen.is_unchanged(str(path), source_of(ADAPTERS[root.agent].INFO, path).facts(path)):
                    yield str(path)
            return
        stack = [str(root.folder)]
        while stack:
            folder = stack.pop()
            try:
                facts = os.stat(folder)  # noqa: PTH116 - thousands of Paths would cost more than the calls
                known = self._known.get(folder)
                quiet = known and quiet_since is not None and known.newest < quiet_since
                if known is None or not quiet or known.changed != facts.st_mtime_ns:
                    before = known.below if known else ()
                    settled = facts.st_mtime < now - _CLOCK_TICK_SECONDS
                    known = _Folder(facts.st_mtime_ns if settled else None)
                    yield from self._scan(root, folder, known, seen)
                    for new in set(known.below).difference(before):  # one of this name may have been here before
                        self._known.pop(new, None)
                    self._known[folder] = known
                if not root.is_flat:
                    stack += known.below
            except OSError:
                self._known.pop(folder, None)

    def _scan(self, root: Root, folder: str, found: _Folder, seen: FileStates) -> Iterator[str]:
        info = ADAPTERS[root.agent].INFO
        newest = self.newest.setdefault(root, {}) if info.session_place else {}
        for path, facts in _scan_folder(info, folder):
            if facts is None:
                found.below.append(path)
                continue
            found.newest = max(found.newest, facts.st_mtime)
            if info.session_place and path.rpartition("/")[0] != folder:
                newest[path] = facts.st_mtime
            if not seen.is_unchanged(path, facts):
                yield path
        if len(newest) > _MAX_NEWEST:
            self.newest[root] = dict(sorted(newest.items(), key=lambda item: item[1])[-_MAX_NEWEST:])


def is_anybodys(agent: str, path: Path) -> bool | None:
    """Whether somebody else may have written a transcript: git tracks it, so it may have come with a pull.

    None if git cannot tell now.
    """
    names = ADAPTERS[agent].INFO.project_files
    return is_tracked(path.with_name(name) for name in names) if names else False


def is_utf8(path: Path) -> bool:
    """Whether a path can be encoded as UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


# Folders of transcripts that were read and are no longer there: the agent was moved, or told to use another one.


def gone_roots(store: Store, roots: Iterable[Root]) -> Iterator[tuple[Root, str]]:
    """Yield the roots with a folder that transcripts were read in and that is gone, each with words that say so."""
    for root in roots:
        folder = str(root.folder)
        if not os.path.lexists(folder) and (read := store.transcripts.count_below(root.agent, folder)):
            were = "was" if read == 1 else "were"
            yield root, f"{folder} is gone; {pluralize(read, 'session file')} {were} read there"


def gone_remedy(root: Root) -> str:
    """Return what to do if the agent's sessions are elsewhere now."""
    return f"If its sessions are elsewhere now: skilld config set roots.{root.agent} FOLDER"
