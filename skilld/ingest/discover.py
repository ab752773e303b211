"""Which folders hold transcripts on this machine, and which files in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.base import AgentInfo
from skilld.agents.homes import agent_homes, skill_folder
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
        """Whether nothing below the folder matters but what lies in it."""
        return bool(self.file) or ADAPTERS[self.agent].INFO.flat

    @property
    def changes_in_place(self) -> bool:
        """Whether its transcripts are databases, of which each look asks anew."""
        return bool(ADAPTERS[self.agent].INFO.queries)

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
        for base in (configured or {}).get(name) or agent_homes(info, home, environment):
            if base.name.endswith(info.suffixes):
                found.append(Root(name, base.parent, base.name))
            elif base.name in info.stores:
                found.append(Root(name, base))
            else:
                found += [Root(name, base / store) for store in info.stores]
        named = (environment.get(variable, "") for variable in info.file_variables)
        found += [Root(name, path.parent, path.name) for path in map(Path, named) if path.is_absolute()]
    return found


def _home_of(root: Path, info: AgentInfo) -> Path:
    """Return the agent's folder of a configured root, which may be a store in it, or one transcript."""
    folder = root.parent if root.name.endswith(info.suffixes) else root
    return folder.parent if folder.name in info.stores else folder


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
    info = ADAPTERS[root.agent].INFO
    source = source_of(info)
    if root.file:
        with suppress(OSError):
            yield root.folder / root.file, source.facts(root.folder / root.file)
        return
    stack = [root.folder]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not root.is_flat:
                            stack.append(Path(entry.path))
                    elif entry.name.endswith(info.suffixes) and entry.is_file(follow_symlinks=False):
                        path = Path(entry.path)
                        with suppress(FileNotFoundError):  # gone this moment; the others in the folder are not
                            if ADAPTERS[root.agent].is_transcript(path):
                                yield path, source.facts(entry)
        except OSError:
            continue
