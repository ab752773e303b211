"""Files that belong to a transcript: lists of typed prompts, facts about its session, and prompt templates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skilld.agents.base import AgentInfo, Parser, mapping, objects, string
from skilld.agents.wrappers import TemplateLookup
from skilld.files import read_regular, read_start

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


# The texts of the prompt templates that a session can use.
#
# Some clients log a template as if it had been typed; only its file shows that it was not. Files are read as they are
# now: a template that was changed or deleted since is not recognized. The adapter says where templates are.

# Whoever writes a project decides how many templates it has, and how large they are.
_MAX_BYTES = 16 << 20  # of all templates of a session
_MAX_FILES = 5000
_MAX_FOLDERS = 2000
_MAX_SETTINGS = 1 << 20  # bytes
_MAX_PARENTS = 32


class _TooManyError(Exception):
    """There are more templates than are compared."""


def template_lookup(places: Iterable[Path], info: AgentInfo) -> TemplateLookup:
    """Return a function that looks up the templates for a session's folder, including those in `places`.

    A place is a template, a folder of them, or settings that name some. Each folder is read once.
    """
    known: dict[str | None, Sequence[str] | None] = {}
    homes = tuple(places)

    def templates(folder: str | None) -> Sequence[str] | None:
        if folder not in known:
            try:
                known[folder] = _read_templates(_template_files([*homes, *_project_templates(folder, info)]))
            except _TooManyError:
                known[folder] = None
        return known[folder]

    return templates


def _project_templates(folder: str | None, info: AgentInfo) -> Iterator[Path]:
    """Yield where a project may have templates: in the session's folder or above."""
    if not folder or not Path(folder).is_absolute() or "\0" in folder:
        return
    place = Path(folder)
    for top in [place, *place.parents][:_MAX_PARENTS]:
        yield from (top / name for name in info.project_templates)


def _named_templates(settings: Path) -> Iterator[Path]:
    """Yield what settings of Pi name, from their folder and from the project: templates and folders, and packages."""
    base = settings.parent
    data = _read_settings(settings)
    yield from (top / name for name in _texts(data.get("prompts")) for top in (base, base.parent))
    packages = data.get("packages")
    sources = [string(one.get("source")) for one in objects(packages)]
    for name in (*_texts(packages), *sources):
        kind, _, rest = name.partition(":")
        at = rest.rfind("@")
        package = base / "npm/node_modules" / (rest[:at] if at > 0 else rest) if kind == "npm" else base / name
        yield package
        wanted = mapping(_read_settings(package / "package.json").get("pi")).get("prompts")
        yield from (package / one for one in _texts(wanted))


def _read_settings(path: Path) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(read_regular(path, _MAX_SETTINGS)[0].decode("utf-8-sig")))
    except (OSError, ValueError, RecursionError):
        return {}


def _texts(value: object) -> list[str]:
    """Return the texts in a list that can be a path."""
    found = value if isinstance(value, list) else []
    return [os.path.expanduser(one) for one in found if isinstance(one, str) and one and "\0" not in one]  # noqa: PTH111 - never raises


def _template_files(places: Iterable[Path]) -> Iterator[Path]:
    """Yield the template files among `places`, and those in folders among them at any depth, through links as well.

    Raises _TooManyError for more folders than are searched.
    """
    seen = set[str]()
    for place in dict.fromkeys(places):
        if place.suffix == ".json":
            yield from _template_files(_named_templates(place))
            continue
        if place.suffix == ".md" and not place.is_dir():
            yield place
            continue
        for top, below, names in os.walk(place, followlinks=True):
            real = os.path.realpath(top)
            below[:] = [] if real in seen else sorted(name for name in below if name not in {"node_modules", ".git"})
            if real not in seen:
                yield from (Path(top, name) for name in sorted(names) if name.endswith(".md"))
            seen.add(real)
            if len(seen) > _MAX_FOLDERS:
                raise _TooManyError


def _read_templates(paths: Iterable[Path]) -> list[str]:
    """Return the texts of the files that can be read. Raises _TooManyError for more than are compared."""
    texts: list[str] = []
    left = _MAX_BYTES
    for path in paths:
        try:
            data = read_start(path, left + 1)
        except (OSError, ValueError):
            continue
        left -= len(data)
        if left < 0 or len(texts) == _MAX_FILES:
            raise _TooManyError
        texts.append(data.decode(errors="replace"))
    return texts
