"""Files that belong to a transcript: lists of typed prompts, facts about its session, prompt templates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skilld.agents.base import AgentInfo, Parser, mapping, string
from skilld.agents.wrappers import TemplateLookup
from skilld.files import read_regular

# The texts of the prompt templates that a session can use.
#
# Some clients log a template as if it had been typed; only its file shows that it was not. Files are read as they are
# now: a template that was changed or deleted since is not recognized. The adapter says where templates are.

_MAX_TEMPLATE = 64 * 1024  # bytes of one template
_MAX_FILES = 500
_MAX_FOLDERS = 500
_MAX_PARENTS = 32


def template_lookup(places: Iterable[Path], info: AgentInfo) -> TemplateLookup:
    """Return a function that looks up the templates for a session's folder, including those in `places`.

    Each folder is read once.
    """
    known: dict[str | None, Sequence[str]] = {}
    homes = tuple(places)

    def templates(folder: str | None) -> Sequence[str]:
        if folder not in known:
            known[folder] = _read_templates(_template_files([*homes, *_project_templates(folder, info)]))
        return known[folder]

    return templates


def _project_templates(folder: str | None, info: AgentInfo) -> Iterator[Path]:
    """Yield where a project has templates: in the session's folder or above, or where its settings say."""
    if not folder or not Path(folder).is_absolute() or "\0" in folder:
        return
    place = Path(folder)
    for top in [place, *place.parents][:_MAX_PARENTS]:
        yield from (top / name for name in info.project_templates)
        for name in info.template_settings:
            yield from _listed_templates(top / name, top)


def _listed_templates(settings: Path, top: Path) -> Iterator[Path]:
    try:
        data = json.loads(read_regular(settings, _MAX_TEMPLATE)[0])
    except (OSError, ValueError, RecursionError):
        return
    listed = mapping(data).get("prompts")
    for entry in listed if isinstance(listed, list) else []:
        name = string(entry)
        if name and "\0" not in name:
            yield from (settings.parent / name, top / name)


def _template_files(places: Iterable[Path]) -> Iterator[Path]:
    """Yield the template files among `places`, and those in folders among them at any depth."""
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


def _read_templates(paths: Iterable[Path]) -> list[str]:
    texts: list[str] = []
    for path in paths:
        if len(texts) >= _MAX_FILES:
            break
        try:
            texts.append(read_regular(path, _MAX_TEMPLATE)[0].decode(errors="replace"))
        except (OSError, ValueError):
            continue
    return texts


# Files that distinguish typed words from others if the transcript does not, provided to its parser.
#
# Most clients keep only the newest entries in their list of typed prompts. The adapter knows what an entry looks like.

_MAX_PROMPT_LOG = 8 << 20  # bytes; the lists seen hold 50 to a few hundred entries


def provide(parser: Parser, path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> None:
    """Provide the parser of the transcript at `path` with the files, the list and the templates that it needs."""
    # This runs for every read, and isinstance with a protocol takes 20 us.
    if read_side_files := getattr(parser, "read_side_files", None):
        read_side_files(lambda place: _read_place(place, path, environment))
    if (info.typed_list or info.typed_place) and (set_typed_list := getattr(parser, "set_typed_list", None)):
        set_typed_list(read_typed_list(path, info, environment))
    if set_templates := getattr(parser, "set_templates", None):
        places = (_resolve_place(place, path, environment) for place in info.templates)
        set_templates(template_lookup(filter(None, places), info))


def read_typed_list(path: Path, info: AgentInfo, environment: Mapping[str, str] = os.environ) -> bytes | None:
    """Return the list of typed prompts for the transcript at `path`; None if its owner has none."""
    own_list = info.typed_place(path, lambda place: _read_place(place, path, environment)) if info.typed_place else ""
    for place in filter(None, (*info.typed_list, own_list)):
        if (data := _read_place(place, path, environment)) is not None:
            return data
    return None


def _read_place(place: str, path: Path, environment: Mapping[str, str]) -> bytes | None:
    found = _resolve_place(place, path, environment)
    return _read_owned(found, path) if found is not None else None


def _resolve_place(place: str, path: Path, environment: Mapping[str, str]) -> Path | None:
    if place.startswith(("~/", "$")):
        variable, _, below = place.removeprefix("$").partition("/")
        top = environment.get("HOME" if variable == "~" else variable)
        return Path(top, below) if top and Path(top).is_absolute() else None
    return Path(os.path.normpath(path.parent / place))  # by name, without following links, as the client does


def _read_owned(path: Path, transcript: Path) -> bytes | None:
    try:
        owner = transcript.stat().st_uid  # not always us: `inspect` may read another user's transcript
        data, facts = read_regular(path, _MAX_PROMPT_LOG, links=False)
    except (OSError, ValueError):
        return None
    return data if facts.st_uid == owner else None
