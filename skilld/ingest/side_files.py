"""Files next to a transcript: lists of typed prompts, facts about its session, the project's prompt templates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skilld.agents.base import AgentInfo, ConsultingParser, Listener, Parser, mapping, string
from skilld.agents.wrapped import ExpandingParser, Lookup
from skilld.files import read_plain

# The prompt templates that a session could call: of a transcript and a folder the texts of the template files.
#
# Some clients put a template into the log as if it had been typed; only its file tells. Files are read as they are
# now: one that was changed or deleted since is not known again. Knows no agent: where templates lie is the adapter's
# to say.

_MAX_TEMPLATE = 64 * 1024  # bytes of one template
_MAX_FILES = 500
_MAX_FOLDERS = 500
_MAX_PARENTS = 32


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
    for top in [place, *place.parents][:_MAX_PARENTS]:
        yield from (top / name for name in info.project_templates)
        for name in info.template_settings:
            yield from _listed(top / name, top)


def _listed(settings: Path, top: Path) -> Iterator[Path]:
    try:
        data = json.loads(read_plain(settings, _MAX_TEMPLATE)[0])
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
            if folders > _MAX_FOLDERS:
                return
            below.sort()
            yield from (Path(top, name) for name in sorted(names) if name.endswith(".md"))


def _read(paths: Iterable[Path]) -> list[str]:
    texts: list[str] = []
    for path in paths:
        if len(texts) >= _MAX_FILES:
            break
        try:
            texts.append(read_plain(path, _MAX_TEMPLATE)[0].decode(errors="replace"))
        except (OSError, ValueError):
            continue
    return texts


# What lies beside a transcript and tells typed words from others where it has no mark itself, told to its parser.
#
# Of a transcript the bytes of the list in which its client keeps what was typed, and the prompt templates that a
# session could call. The list forgets: most clients keep the newest entries only. Knows no agent; what an entry
# looks like is the adapter's to know.

_MAX_PROMPT_LOG = 8 << 20  # bytes; the lists seen hold 50 to a few hundred entries


def tell(parser: Parser, path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> None:
    """Hand the list and the templates that belong to the transcript at `path` to its parser, if that wants them."""
    if isinstance(parser, ConsultingParser):
        parser.consult(lambda place: _bytes_at(place, path, environment))
    if (info.typed_list or info.typed_place) and isinstance(parser, Listener):
        parser.listen(read(path, info, environment))
    if isinstance(parser, ExpandingParser):
        places = (_place(place, path, environment) for place in info.templates)
        parser.know(lookup(filter(None, places), info))


def read(path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> bytes | None:
    """Return the bytes of the list that belongs to the transcript at `path`; None if its owner has none."""
    told = info.typed_place(path, lambda place: _bytes_at(place, path, environment)) if info.typed_place else ""
    for place in filter(None, (*info.typed_list, told)):
        if (data := _bytes_at(place, path, environment)) is not None:
            return data
    return None


def _bytes_at(place: str, path: Path, environment: Mapping[str, str]) -> bytes | None:
    found = _place(place, path, environment)
    return _bytes_of_owner(found, path) if found is not None else None


def _place(place: str, path: Path, environment: Mapping[str, str]) -> Path | None:
    if place.startswith(("~/", "$")):
        variable, _, below = place.removeprefix("$").partition("/")
        top = environment.get("HOME" if variable == "~" else variable)
        return Path(top, below) if top and Path(top).is_absolute() else None
    return Path(os.path.normpath(path.parent / place))  # by name, not by link: that is how the client found it


def _bytes_of_owner(path: Path, transcript: Path) -> bytes | None:
    try:
        owner = transcript.stat().st_uid  # not always us: `inspect` may look at another's
        data, facts = read_plain(path, _MAX_PROMPT_LOG, links=False)
    except (OSError, ValueError):
        return None
    return data if facts.st_uid == owner else None
