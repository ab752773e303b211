"""The prompt templates that a session could call: of a transcript and a folder the texts of the template files.

Some clients put a template into the log as if it had been typed; only its file tells. Files are read as they are now:
one that was changed or deleted since is not known again. Knows no agent: where templates lie is the adapter's to say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from skilld.agents.base import AgentInfo, mapping, string
from skilld.agents.expanded import Lookup
from skilld.files import read_plain

_LONGEST = 64 * 1024  # bytes of one template
_MOST_FILES = 500
_MOST_FOLDERS = 500
_MOST_PARENTS = 32


def lookup(places: Iterable[Path], info: AgentInfo) -> Lookup:
    """Return how to look up the templates of a session's folder, and those in `places`, which any session could call.

    Each folder is read once.
    """
    known: dict[str | None, Sequence[str]] = {}
    homes = tuple(places)

    def templates(folder: str | None) -> Sequence[str]:
        if folder not in known:
            known[folder] = _read(_files([*homes, *_in_project(folder, info)]))
        return known[folder]

    return templates


def _in_project(folder: str | None, info: AgentInfo) -> Iterator[Path]:
    """Yield where a project keeps templates: in the session's folder or above it, or where its settings say."""
    if not folder or not Path(folder).is_absolute() or "\0" in folder:
        return
    place = Path(folder)
    for top in [place, *place.parents][:_MOST_PARENTS]:
        yield from (top / name for name in info.project_templates)
        for name in info.template_settings:
            yield from _listed(top / name, top)


def _listed(settings: Path, top: Path) -> Iterator[Path]:
    try:
        data = json.loads(read_plain(settings, _LONGEST)[0])
    except (OSError, ValueError, RecursionError):
        return
    listed = mapping(data).get("prompts")
    for entry in listed if isinstance(listed, list) else []:
        name = string(entry)
        if name and "\0" not in name:
            yield from (settings.parent / name, top / name)


def _files(places: Iterable[Path]) -> Iterator[Path]:
    """Yield the template files in folders, at any depth, and those named themselves."""
    folders = 0
    for place in dict.fromkeys(places):
        if place.suffix == ".md":
            yield place
            continue
        for top, below, names in os.walk(place):
            folders += 1
            if folders > _MOST_FOLDERS:
                return
            below.sort()
            yield from (Path(top, name) for name in sorted(names) if name.endswith(".md"))


def _read(paths: Iterable[Path]) -> list[str]:
    texts: list[str] = []
    for path in paths:
        if len(texts) >= _MOST_FILES:
            break
        try:
            texts.append(read_plain(path, _LONGEST)[0].decode(errors="replace"))
        except (OSError, ValueError):
            continue
    return texts
