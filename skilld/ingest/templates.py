"""The texts of the prompt templates that a session can use.

Some clients log a template as if it had been typed; only its file shows that it was not. Files are read as they are
now: a template that was changed or deleted since is not recognized. The adapter says where templates are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skilld.agents.base import AgentInfo, mapping, objects, string
from skilld.agents.wrappers import TemplateLookup
from skilld.files import read_regular, read_start

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
